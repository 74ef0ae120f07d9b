// contact() of two objects, and what a frame's contacts report about groups and parts.
import {
  CollisionError,
  type CollisionService,
  type ContactDetail,
  type ContactPair,
  type ContactReport,
  createCollisionService,
  type FrameResult,
  type ObjectId,
  type ObjectOptions,
  type Shape,
} from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { boxMesh, icosphere, soup, transformed, waves } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const DETAILS = ['bounds', 'bones', 'any', 'manifold', 'triangles', 'full'] as const;

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

async function everyShape(random: Random): Promise<Shape[]> {
  const meshes = [icosphere(1, 2), soup(random, 20, 0.7, 0.7), boxMesh(1, 2, 1), waves(6)];
  const ids = await Promise.all(meshes.map((mesh) => service.addMesh(mesh)));
  return [
    ...ids.map((mesh) => ({ type: 'mesh', mesh }) as const),
    { type: 'sphere', radius: 0.8 },
    { type: 'box', halfExtents: [1, 0.4, 0.6] },
    { type: 'box', halfExtents: [3, 3, 3] },
    { type: 'capsule', radius: 0.3, from: [0, -1, 0], to: [0, 1, 0.5] },
  ];
}

function add(shape: Shape, position: Vector3 | Matrix4, options: Partial<ObjectOptions> = {}): ObjectId {
  const matrix = position instanceof Matrix4 ? position : new Matrix4().setPosition(position);
  return service.addObject({ shape, matrix: matrix.elements, ...options });
}

describe('contact()', () => {
  const BALL: Shape = { type: 'sphere', radius: 1 };
  const CRATE: Shape = { type: 'box', halfExtents: [2, 2, 2] };

  test(`is what the frame says, whatever the objects' own settings, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const shapes = await everyShape(random);
    let [contacts, apart] = [0, 0];
    for (let i = 0; i < 150; i++) {
      const [one, two] = [random.pick(shapes), random.pick(shapes)];
      const [from, to] = [random.placement(new Vector3()), random.placement(random.point(1.5))];
      const detail = random.pick(DETAILS);
      // The two see each other in the frame; the objects that never form a pair are at the same places.
      const seen = [one, two].map((shape, k) =>
        add(shape, [from, to][k], { layers: 2, collidesWith: 2, contacts: detail }),
      );
      const unseen = [
        add(one, from, { layers: 4, collidesWith: 0, group: 7, motion: 'static', contacts: 'none' }),
        add(two, to, { layers: 8, collidesWith: 0, group: 7, motion: 'static', contacts: 'none' }),
      ];
      const { contacts: found, frame } = await service.update();
      const [pair] = found.between(seen[0], seen[1]);
      const report = await service.contact(unseen[0], unseen[1], { detail });
      expect(report === null).toBe(pair === undefined);
      if (!report) {
        apart++;
        expect(await service.contact(unseen[1], unseen[0], { detail })).toBeNull();
      } else {
        contacts++;
        const { contained, points, normals, depths, triangles, segments, bones } = pair;
        expect(report).toEqual({
          ...{ a: unseen[0], b: unseen[1], contained, points, normals, depths, triangles, segments, bones, frame },
          ms: expect.any(Number),
        });
        expect(report.ms).toBeGreaterThanOrEqual(0);
        expect(report.ms).toBeLessThan(60_000);
        expectTurned(report, (await service.contact(unseen[1], unseen[0], { detail }))!);
      }
      for (const id of [...seen, ...unseen]) service.removeObject(id);
    }
    expect(Math.min(contacts, apart)).toBeGreaterThan(20);
  });

  function expectTurned(report: ContactReport, turned: ContactReport): void {
    expect([turned.a, turned.b]).toEqual([report.b, report.a]);
    expect(turned.contained).toBe([0, 2, 1][report.contained]);
    expect(turned.points).toEqual(report.points);
    expect(turned.depths).toEqual(report.depths);
    expect(Array.from(turned.normals, (of) => 0 - of)).toEqual(Array.from(report.normals, (of) => 0 + of));
    const crossings = ({ triangles, segments }: ContactReport) =>
      Array.from({ length: triangles.length / 2 }, (_, i) => {
        return [...triangles.subarray(2 * i, 2 * i + 2), ...segments.subarray(6 * i, 6 * i + 6)];
      });
    const expected = crossings(report).map(([a, b, ...segment]) => [b, a, ...segment]);
    expect(crossings(turned)).toEqual(expected.sort(([a, b], [c, d]) => a - c || b - d));
  }

  test('says which contains which, in the order that it is asked in', async () => {
    const ball = add(BALL, new Vector3());
    const crate = add(CRATE, new Vector3(0.5, 0, 0));
    await service.update();
    expect(await service.contact(ball, crate)).toMatchObject({ a: ball, b: crate, contained: 1 });
    expect(await service.contact(crate, ball)).toMatchObject({ a: crate, b: ball, contained: 2 });
    expect(await service.contact(crate, ball, { detail: 'bounds' })).toMatchObject({ contained: 0 });
  });

  test('sees every update() before it, says which frame it saw, and goes by what was sent', async () => {
    const [a, b] = [add(BALL, new Vector3()), add(BALL, new Vector3(9, 0, 0))];
    expect((await service.update()).frame).toBe(1);
    expect(await service.contact(a, b)).toBeNull();
    service.setTransform(b, new Matrix4().makeTranslation(1.5, 0, 0).elements);
    expect(await service.contact(a, b)).toBeNull(); // staged only
    const updates = [service.update()];
    const near = service.contact(a, b);
    service.setTransform(b, new Matrix4().makeTranslation(9, 0, 0).elements);
    updates.push(service.update());
    const far = service.contact(a, b);
    expect(await near).toMatchObject({ a, b, frame: 2 });
    expect(await far).toBeNull();
    expect((await Promise.all(updates)).map(({ frame }) => frame)).toEqual([2, 3]);
    // A query after the removal of one of the two is refused, one before it is answered.
    service.setTransform(b, new Matrix4().elements);
    const last = service.update();
    const asked = service.contact(a, b);
    service.removeObject(b);
    expect(await asked).toMatchObject({ frame: 4 });
    await expect(service.contact(a, b)).rejects.toMatchObject({ code: 'UNKNOWN_ID' });
    await last;
  });

  test('its default is a manifold, and each detail has what it says', async () => {
    const mesh = { type: 'mesh', mesh: await service.addMesh(boxMesh(2, 2, 2)) } as const;
    const [a, b, ball] = [add(mesh, new Vector3()), add(mesh, new Vector3(1, 1, 1)), add(BALL, new Vector3(0, 1, 0))];
    await service.update();
    const sizes = async (detail?: Exclude<ContactDetail, 'none'>, other = b) => {
      const { points, normals, depths, triangles, segments } = (await service.contact(a, other, detail && { detail }))!;
      expect([normals.length, points.length]).toEqual([3 * depths.length, 3 * depths.length]);
      expect(segments.length).toBe(3 * triangles.length);
      return { points: points.length, triangles: triangles.length / 2 };
    };
    expect(await sizes('bounds')).toEqual({ points: 0, triangles: 0 });
    expect(await sizes('any')).toEqual({ points: 0, triangles: 0 });
    const manifold = await sizes('manifold');
    expect(manifold.triangles).toBe(0);
    expect(await sizes()).toEqual(manifold);
    const triangles = await sizes('triangles');
    expect(triangles.points).toBe(0);
    expect(triangles.triangles).toBeGreaterThan(5);
    expect(await sizes('full')).toEqual({ points: manifold.points, triangles: triangles.triangles });
    expect((await sizes('triangles', ball)).triangles).toBe(0);
  });
});

describe('groups and parts', () => {
  const PART: Shape = { type: 'box', halfExtents: [1, 1, 1] };

  test(`between() finds the pairs of two sides, whichever is a, seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const shapes = await everyShape(random);
    const ids = Array.from({ length: 60 }, () =>
      add(random.pick(shapes), random.placement(random.point(3)), { group: random.integer(5) }),
    );
    const { contacts } = await service.update();
    const pairs = [...contacts];
    expect(pairs.length).toBeGreaterThan(100);
    const isOn = (side: ObjectId | { group: number }, id: number, group: number) =>
      typeof side === 'number' ? side === id : side.group === group;
    const side = () => (random.chance(0.5) ? random.pick(ids) : { group: 1 + random.integer(5) });
    let total = 0;
    for (let i = 0; i < 300; i++) {
      const [first, second] = [side(), random.chance(0.3) ? undefined : side()];
      const isBetween = ({ a, b, groupA, groupB }: ContactPair) => {
        const others = second === undefined ? [true, true] : [isOn(second, b, groupB), isOn(second, a, groupA)];
        return (isOn(first, a, groupA) && others[0]) || (isOn(first, b, groupB) && others[1]);
      };
      const expected = pairs.filter(isBetween);
      expect(contacts.between(first, second)).toEqual(expected);
      if (second !== undefined) expect(contacts.between(second, first)).toEqual(expected);
      total += expected.length;
    }
    expect(total).toBeGreaterThan(300);
  });

  test.each<[string, unknown[]]>([
    ['nothing', []],
    ['null', [null]],
    ['a name', ['gripper']],
    ['NaN', [Number.NaN]],
    ['half an id', [1.5]],
    ['a negative id', [-1]],
    ['no group', [{}]],
    ['group 0, which is none', [{ group: 0 }]],
    ['a group that is a name', [{ group: 'robot' }]],
    ['a group and more', [{ group: 1, layers: 2 }]],
    ['a list', [[1, 2]]],
    ['a bad second side', [1, { group: -1 }]],
    ['null as the second side', [1, null]],
  ])('between() refuses %s', async (_, sides) => {
    const { contacts } = await service.update();
    const call = () => (contacts.between as (...sides: unknown[]) => unknown)(...sides);
    expect(call).toThrow(CollisionError);
    expect(call).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(/^between: /) }),
    );
  });

  test('parts of one model make no pairs, two robots do, and the gripper is asked about the box alone', async () => {
    const [robotA, robotB] = [1, 2];
    const ROBOT = 1;
    const BOX = 2;
    const GRIPPER = 4;
    const robot = (group: number, x: number) =>
      [0, 1, 2].map((i) =>
        add(PART, new Vector3(x + i, i, 0), {
          group,
          layers: i === 2 ? GRIPPER : ROBOT,
          collidesWith: i === 2 ? BOX : ROBOT,
        }),
      );
    const [a, b] = [robot(robotA, 0), robot(robotB, 1)];
    const box = add(PART, new Vector3(3.5, 2.5, 0), { layers: BOX, collidesWith: GRIPPER });
    const { contacts } = await service.update();
    const keys = (pairs: ContactPair[]) => pairs.map((pair) => [pair.a, pair.b]);
    expect(keys(contacts.between({ group: robotA }, { group: robotA }))).toEqual([]);
    expect(keys(contacts.between({ group: robotA }, { group: robotB }))).toEqual([
      [a[0], b[0]],
      [a[0], b[1]],
      [a[1], b[0]],
      [a[1], b[1]],
    ]);
    // Both grippers reach the box, and nothing else does.
    expect(keys(contacts.between(box))).toEqual([
      [a[2], box],
      [b[2], box],
    ]);
    expect(keys(contacts.between(a[2]))).toEqual([[a[2], box]]);
    const [grip] = contacts.between({ group: robotA }, box);
    expect(grip).toMatchObject({ a: a[2], b: box, groupA: robotA, groupB: 0, begun: true, stale: false });
    // The box is gripped: it becomes part of the first robot.
    service.setObject(box, { group: robotA, collidesWith: 0xffffffff });
    const { contacts: gripped } = await service.update();
    expect(keys(gripped.between(box))).toEqual([[b[2], box]]);
    expect([...gripped.endedA, ...gripped.endedB]).toEqual([a[2], box]);
    expect([...gripped.endedGroupA, ...gripped.endedGroupB]).toEqual([robotA, 0]);
    const [still] = gripped.between(box);
    expect(still).toMatchObject({ groupA: robotB, groupB: robotA, begun: false });
  });
});

describe('frames with manifolds and triangles', () => {
  test('tell of a mesh of which the vertices moved', async () => {
    const ball = icosphere(1, 4);
    const mesh = await service.addMesh(ball);
    const shape = { type: 'mesh', mesh } as const;
    const [a, b] = [0, 1.5].map((x) => add(shape, new Vector3(x, 0, 0), { contacts: 'full' }));
    const told = async () => {
      const { contacts } = await service.update();
      const [pair] = contacts.between(a, b);
      const asked = await service.contact(a, b, { detail: 'full' });
      expect(asked === null).toBe(pair === undefined);
      if (pair) expect([pair.triangles, pair.segments]).toEqual([asked!.triangles, asked!.segments]);
      return pair?.triangles.slice();
    };
    const before = await told();
    expect(before?.length).toBeGreaterThan(20);
    await service.updateMesh(mesh, transformed(ball, (vertex) => vertex.multiplyScalar(0.9)).positions);
    const after = await told();
    expect(after?.length).toBeGreaterThan(10);
    expect(after).not.toEqual(before);
    await service.updateMesh(mesh, transformed(ball, (vertex) => vertex.multiplyScalar(0.5)).positions);
    expect(await told()).toBeUndefined();
    await service.updateMesh(mesh, ball.positions);
    expect(await told()).toEqual(before);
  });

  test('say of each pair what contact() says, also when what has triangles is gone', async () => {
    const breathe = await heap();
    const expectAsAsked = async ({ contacts }: FrameResult) => {
      const pairs = [...contacts];
      const starts = [0];
      for (const { a, b, points, triangles, segments } of pairs) {
        expect(await service.contact(a, b, { detail: 'full' })).toMatchObject({ points, triangles, segments });
        starts.push(starts.at(-1)! + triangles.length / 2);
      }
      expect([...contacts.triangleStart]).toEqual(starts);
      return { pairs: pairs.length, cut: pairs.filter(({ triangles }) => triangles.length > 0) };
    };
    breathe(10);
    const { cut } = await expectAsAsked(await service.update());
    expect(cut.length).toBeGreaterThan(20);
    for (const id of new Set(cut.flatMap(({ a, b }) => [a, b]))) service.removeObject(id);
    const rest = await expectAsAsked(await service.update());
    expect(rest.pairs).toBeGreaterThan(10);
    expect(rest.cut).toEqual([]);
  });

  /** Heaps that pulsate: all objects touch in the middle of each period, hardly any at its end. */
  async function heap(): Promise<(frame: number) => void> {
    const random = new Random(SEED);
    const shapes = await everyShape(random);
    const things = Array.from({ length: 80 }, () => {
      const matrix = random.placement(random.point(3));
      return { matrix, id: add(random.pick(shapes), matrix, { contacts: 'full', group: random.integer(3) }) };
    });
    return (frame) => {
      const size = 2 + Math.cos((frame * Math.PI) / 10);
      for (const { id, matrix } of things) {
        const position = new Vector3().setFromMatrixPosition(matrix).multiplyScalar(size);
        service.setTransform(id, matrix.clone().setPosition(position).elements);
      }
    };
  }

  test('allocate no buffers in the steady state', async () => {
    const breathe = await heap();
    let most = 0;
    for (let frame = 0; frame < 40; frame++) {
      breathe(frame);
      most = Math.max(most, (await service.update()).contacts.triangles.length);
    }
    expect(most).toBeGreaterThan(500);
    const { frameBuffers, memoryBytes } = service.stats;
    for (let frame = 40; frame < 300; frame++) {
      breathe(frame);
      await service.update();
    }
    expect(service.stats).toMatchObject({ frameBuffers, memoryBytes });
  });

  test('copy() keeps every array', async () => {
    const breathe = await heap();
    breathe(10);
    await service.update();
    breathe(6);
    const result = await service.update();
    const before = structuredClone({ ...result.contacts });
    expect(Math.min(before.endedGroupA.length, before.triangles.length)).toBeGreaterThan(0);
    expect(before.segments.length).toBe(3 * before.triangles.length);
    const kept = result.copy();
    for (let frame = 0; frame < 20; frame++) {
      breathe(frame);
      await service.update();
    }
    expect({ ...kept.contacts }).toEqual(before);
    expect(kept.contacts.between({ group: 1 }).length).toBeGreaterThan(0);
    expect(() => result.copy()).toThrow(CollisionError);
  });
});

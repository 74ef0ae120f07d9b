// The boxes that represent a mesh: read from its tree, checked, baked, inherited by objects, and restored after a loss.
import { CollisionError, type CollisionService, createCollisionService, type NamedBox } from 'collision-worker';
import { Matrix4, Quaternion, TorusKnotGeometry, Vector3 } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import { randomBoxes } from '../../fixtures/given-boxes.js';
import { KillableService } from '../../fixtures/mortal.js';
import { bumpyBall } from '../../oracle/lumps.js';
import { boxMesh, icosphere, soup, type Triangles, trianglesOf } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { trianglesUnder } from '../../oracle/triangle-pairs.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
  return () => service.dispose();
});

const IDENTITY = new Matrix4();
/** Points of a triangle that are tested: its corners, and some in its interior. */
const SAMPLES = 15;
const DOWN = { origin: [0, 10, 0], direction: [0, -1, 0] } as const;
const OBB = { precision: 'obb' } as const;
const HALVES: NamedBox[] = [
  { name: 'left', center: [-0.5, 0, 0], halfExtents: [0.5, 1, 1] },
  { name: 'right', center: [0.5, 0, 0], halfExtents: [0.5, 1, 1] },
];

/** Returns a test for points in one of some boxes, each enlarged by a slack. */
function holderOf(boxes: NamedBox[], slack: number): (point: Vector3) => boolean {
  const tests = boxes.map(({ center, halfExtents, rotation }) => {
    const middle = new Vector3(...(center ?? [0, 0, 0]));
    const back = new Quaternion(...(rotation ?? [0, 0, 0, 1])).invert();
    const half = new Vector3(...halfExtents).addScalar(slack);
    const own = new Vector3();
    return (point: Vector3) => {
      own.copy(point).sub(middle);
      if (own.length() > half.length()) return false;
      own.applyQuaternion(back);
      return Math.abs(own.x) <= half.x && Math.abs(own.y) <= half.y && Math.abs(own.z) <= half.z;
    };
  });
  return (point) => tests.some((test) => test(point));
}

/** Samples a mesh; returns whether a point of it is in no box, even if each is enlarged by a slack. */
function sampleSticksOut(random: Random, mesh: Triangles, boxes: NamedBox[], slack: number): boolean {
  const isHeld = holderOf(boxes, slack);
  const point = new Vector3();
  return trianglesUnder(mesh, IDENTITY).some(([a, b, c]) => {
    for (let i = 0; i < SAMPLES; i++) {
      const [u, v] = i < 3 ? [Number(i === 1), Number(i === 2)] : [random.range(0, 1), random.range(0, 1)];
      const [s, t] = u + v > 1 ? [1 - u, 1 - v] : [u, v];
      point
        .copy(a)
        .multiplyScalar(1 - s - t)
        .addScaledVector(b, s)
        .addScaledVector(c, t);
      if (!isHeld(point)) return true;
    }
    return false;
  });
}

const MESHES: [string, (random: Random) => Triangles][] = [
  ['a bumpy ball', (random) => bumpyBall(random, 5, 0.4)],
  ['a knot', () => trianglesOf(new TorusKnotGeometry(1, 0.3, 40, 8))],
  ['loose triangles', (random) => soup(random, 300, 0.3, 2)],
  ['two triangles', (random) => soup(random, 2, 0.5, 1)],
  ['a box', () => boxMesh(1, 2, 3)],
];

describe(`the boxes of the tree hold all of the mesh, seed ${SEED}`, () => {
  test.each(MESHES)('%s', async (_, make) => {
    const random = new Random(SEED);
    const data = make(random);
    for (const scale of [1, 1e-3, 1e3]) {
      const mesh = await service.addMesh({ ...data, positions: data.positions.map((each) => each * scale) });
      const counts: number[] = [];
      for (const level of [1, 2, 3, 4]) {
        const boxes = await service.meshBoxes(mesh, { level });
        counts.push(boxes.length);
        expect(boxes.length).toBeLessThanOrEqual(4 ** level);
        expect(boxes[0].name).toBe('box 1');
        expect(await service.checkBoxes(mesh, boxes)).toEqual({ conservative: true, triangles: 0, farthest: 0 });
        const unscaled = boxes.map((box) => scaled(box, 1 / scale));
        expect(sampleSticksOut(random, data, unscaled, 1e-5)).toBe(false);
      }
      expect([...counts].sort((a, b) => a - b)).toEqual(counts);
      service.removeMesh(mesh);
    }
  });
});

function scaled({ name, center, halfExtents, rotation }: NamedBox, scale: number): NamedBox {
  const times = (each: readonly number[]) => each.map((value) => value * scale) as [number, number, number];
  return { name, center: times(center!), halfExtents: times(halfExtents), rotation: rotation! };
}

test(`boxes are found conservative or not as samples say, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let [held, stuck] = [0, 0];
  for (let round = 0; round < 30; round++) {
    const data = round % 2 === 0 ? soup(random, 6, 0.7, 0.8) : bumpyBall(random, 2, 0.3);
    const mesh = await service.addMesh(data);
    const own = await service.meshBoxes(mesh, { level: 1 + random.integer(2) });
    // Boxes that are slightly too small, moved, or cut in halves that cover what the whole one did.
    const boxes = own.flatMap((box): NamedBox[] => {
      const kind = random.integer(round % 3 === 0 ? 2 : 8);
      if (kind === 0) return [scaledHalf(box, random.range(0.5, 0.99))];
      if (kind === 1) return halvesOf(box, random.integer(3));
      return [box];
    });
    const { conservative, triangles, farthest } = await service.checkBoxes(mesh, boxes);
    expect(conservative).toBe(triangles === 0);
    if (conservative) {
      held++;
      expect(farthest).toBe(0);
      expect(sampleSticksOut(random, data, boxes, 1e-9), `round ${round}`).toBe(false);
    } else {
      stuck++;
      // A mesh sticks out no farther than the farthest vertex may, and larger boxes cover it.
      const grown = boxes.map((box) => ({
        ...box,
        halfExtents: box.halfExtents.map((h) => h + 1.8 * farthest + 0.05),
      }));
      if (farthest > 0) expect(sampleSticksOut(random, data, grown as unknown as NamedBox[], 1e-9)).toBe(false);
    }
    if (sampleSticksOut(random, data, boxes, 1e-6)) expect(conservative, `round ${round}`).toBe(false);
    service.removeMesh(mesh);
  }
  expect(held).toBeGreaterThan(3);
  expect(stuck).toBeGreaterThan(3);
});

function scaledHalf(box: NamedBox, share: number): NamedBox {
  return { ...box, halfExtents: box.halfExtents.map((h) => h * share) as unknown as NamedBox['halfExtents'] };
}

function halvesOf(box: NamedBox, axis: number): NamedBox[] {
  return [-0.5, 0.5].map((side) => {
    const half = box.halfExtents.map((h, k) => (k === axis ? h / 2 : h)) as [number, number, number];
    const way = new Vector3().setComponent(axis, side * box.halfExtents[axis]);
    way.applyQuaternion(new Quaternion(...box.rotation!));
    const center = new Vector3(...box.center!).add(way).toArray();
    return { ...box, name: `${box.name} ${side}`, center, halfExtents: half };
  });
}

test('how far a vertex sticks out is told, and a triangle that two boxes hold together is held', async () => {
  const mesh = await service.addMesh(boxMesh(2, 2, 2));
  expect(await service.checkBoxes(mesh, HALVES)).toEqual({ conservative: true, triangles: 0, farthest: 0 });
  const [left, right] = HALVES;
  const low = { ...right, halfExtents: [0.5, 0.75, 1] } as const;
  const { conservative, triangles, farthest } = await service.checkBoxes(mesh, [left, low]);
  expect({ conservative, isSome: triangles > 0 }).toEqual({ conservative: false, isSome: true });
  expect(farthest).toBeCloseTo(0.25, 9);
  // A gap in the middle, where no vertex is.
  const gap = [left, { ...right, center: [0.55, 0, 0], halfExtents: [0.5, 1, 1] }] as const;
  expect(await service.checkBoxes(mesh, gap)).toMatchObject({ conservative: false });
});

test.each([0, 100])(
  'a box that is turned by a quarter holds what it holds, whatever rounding says, %d away',
  async (place) => {
    const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
    for (const axis of axes) {
      const turn = new Quaternion().setFromAxisAngle(axis, Math.PI / 2);
      const { positions, indices } = boxMesh(2, 4, 6);
      const mesh = await service.addMesh({ positions: positions.map((each) => each + place), indices });
      const size = new Vector3(1, 2, 3).applyQuaternion(turn);
      const half = size.toArray().map((each) => Math.round(Math.abs(each)));
      const rotation = turn.toArray() as [number, number, number, number];
      const check = (less: number) => {
        const halfExtents = half.map((each) => each - less) as [number, number, number];
        return service.checkBoxes(mesh, [{ name: 'all', center: [place, place, place], halfExtents, rotation }]);
      };
      expect(await check(0)).toEqual({ conservative: true, triangles: 0, farthest: 0 });
      const { conservative, farthest } = await check(1e-6);
      expect([conservative, farthest]).toEqual([false, expect.closeTo(Math.sqrt(3) * 1e-6, 9)]);
    }
  },
);

test('baked boxes come back, objects have them, and the file is the same without', async () => {
  const data = icosphere(1, 3);
  const mesh = await service.addMesh(data, { boxes: HALVES, features: true });
  const complete = HALVES.map((box) => ({ ...box, rotation: [0, 0, 0, 1] }));
  expect(service.meshInfo(mesh).boxes).toEqual(complete);
  const baked = await service.bakeMesh(mesh);
  const plain = await service.bakeMesh(mesh, { boxes: [] });
  expect(new Uint8Array(baked, 0, plain.byteLength)).toEqual(new Uint8Array(plain));
  expect(baked.byteLength).toBeGreaterThan(plain.byteLength);
  expect(baked.byteLength % 16).toBe(0);

  const again = await service.addMesh(baked);
  expect(service.meshInfo(again).boxes).toEqual(complete);
  expect(await service.bakeMesh(again)).toEqual(baked);
  const old = await service.addMesh(plain);
  expect(service.meshInfo(old).boxes).toEqual([]);
  const edited = [{ name: 'büchse', center: [0, 3, 0], halfExtents: [1, 1, 1] }] as const;
  const other = await service.addMesh(await service.bakeMesh(again, { boxes: edited }));
  expect(service.meshInfo(other).boxes).toMatchObject(edited);
  expect(service.meshInfo(again).boxes).toEqual(complete);
  const replaced = await service.addMesh(baked, { boxes: [] });
  expect(service.meshInfo(replaced).boxes).toEqual([]);

  const object = service.addObject({ shape: { type: 'mesh', mesh: other } });
  expect(await service.raycast(DOWN, OBB)).toMatchObject({ object, box: 'büchse', distance: 6 });
  service.setObject(object, {
    shape: { type: 'mesh', mesh: again },
    matrix: new Matrix4().makeTranslation(-0.5, 0, 0).elements,
  });
  expect(await service.raycast(DOWN, OBB)).toMatchObject({ object, box: 'right', bone: 1, distance: 9 });
  service.setObject(object, { group: 4 });
  expect(await service.raycast(DOWN, OBB)).toMatchObject({ box: 'right' });
  // The features for snapping that were baked are still there.
  expect(service.meshInfo(again)).toMatchObject({ triangles: service.meshInfo(mesh).triangles });
});

test('a file with boxes that was changed anywhere is refused, or what it was', async () => {
  const mesh = await service.addMesh(boxMesh(2, 2, 2), { boxes: HALVES });
  const baked = new Uint8Array(await service.bakeMesh(mesh));
  const plain = await service.bakeMesh(mesh, { boxes: [] });
  const random = new Random(SEED);
  for (let i = 0; i < 150; i++) {
    const damaged = baked.slice();
    const at = plain.byteLength + random.integer(baked.length - plain.byteLength);
    damaged[at] ^= 1 << random.integer(8);
    const loaded = await service.addMesh(damaged.buffer).catch((error: unknown) => error);
    if (typeof loaded === 'number') {
      expect(service.meshInfo(loaded).boxes, `bit of byte ${at}`).toEqual(service.meshInfo(mesh).boxes);
      service.removeMesh(loaded);
    } else expect(loaded).toMatchObject({ code: 'BAD_DATA' });
  }
  for (const length of [plain.byteLength + 16, baked.length - 16, baked.length - 1]) {
    await expect(service.addMesh(baked.slice(0, length).buffer)).rejects.toMatchObject({ code: 'BAD_DATA' });
  }
});

test('bad boxes are refused by name, and nothing is lost', async () => {
  const data = boxMesh(2, 2, 2);
  const mesh = await service.addMesh(data);
  const shape = { type: 'mesh', mesh } as const;
  const good = { name: 'a', halfExtents: [1, 1, 1] } as const;
  const many = Array.from({ length: 257 }, (_, i) => ({ ...good, name: `${i}` }));
  const cases: [unknown, RegExp][] = [
    [7, /boxes is 7, expected an array of boxes/],
    [[null], /boxes\[0\] is null/],
    [[{ ...good, size: 3 }], /boxes\[0\] has the unknown key "size"/],
    [[{ halfExtents: [1, 1, 1] }], /boxes\[0\]\.name is undefined, expected a string of 1 to 256 characters/],
    [[{ ...good, name: '' }], /boxes\[0\]\.name/],
    [[good, good], /boxes\[1\]\.name is "a", expected a name that no other box has/],
    [[{ ...good, center: [0, Number.NaN, 0] }], /boxes\[0\]\.center/],
    [[{ ...good, halfExtents: [1, -1, 1] }], /boxes\[0\]\.halfExtents .* expected three numbers >= 0/],
    [[{ ...good, halfExtents: [1, Number.POSITIVE_INFINITY, 1] }], /boxes\[0\]\.halfExtents/],
    [[{ ...good, rotation: [0, 0, 0, 2] }], /boxes\[0\]\.rotation .* expected a unit quaternion xyzw/],
    [[{ ...good, rotation: [0, 0, 1] }], /boxes\[0\]\.rotation/],
    [many, /the length of boxes is 257, expected at most 256/],
  ];
  for (const [boxes, message] of cases) {
    const given = boxes as NamedBox[];
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringMatching(message) };
    await expect(service.addMesh(data, { boxes: given })).rejects.toMatchObject(refused);
    await expect(service.bakeMesh(mesh, { boxes: given })).rejects.toMatchObject(refused);
    await expect(service.checkBoxes(mesh, given)).rejects.toMatchObject(refused);
    expect(() => service.addObject({ shape, boxes: given })).toThrow(expect.objectContaining(refused));
  }
  const ball = { type: 'sphere', radius: 1 } as const;
  expect(() => service.addObject({ shape: ball, boxes: [good] })).toThrow(/expected none, as the shape is no mesh/);
  const lines = { positions: Float32Array.of(0, 0, 0, 1, 0, 0), topology: 'lines' } as const;
  await expect(service.addMesh(lines, { boxes: [good] })).rejects.toThrow(/expected none for a mesh of lines/);
  const wires = await service.addMesh(lines);
  const wireShape = { type: 'mesh', mesh: wires } as const;
  expect(() => service.addObject({ shape: wireShape, boxes: [good] })).toThrow(/expected none for a mesh of lines/);
  await expect(service.meshBoxes(wires)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await expect(service.checkBoxes(wires, [good])).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  const bakedLines = await service.bakeMesh(wires);
  const before = service.stats.meshes;
  await expect(service.addMesh(bakedLines, { boxes: [good] })).rejects.toThrow(/expected none for a mesh of lines/);
  expect(service.stats.meshes).toBe(before);
  const skin = { bones: new Uint8Array(32), weights: new Float32Array(32).fill(0.25), boneCount: 1 };
  await expect(service.addMesh({ ...boxMesh(2, 2, 2), skin }, { boxes: [good] })).rejects.toThrow(
    /expected none for a mesh that bones or morph targets move/,
  );
  await expect(service.checkBoxes(mesh)).rejects.toThrow(/expected at least one, as mesh \d+ has none of its own$/);
  const boxed = await service.addMesh(data, { boxes: [good] });
  await expect(service.checkBoxes(boxed, [])).rejects.toThrow(/boxes is \[\], expected at least one$/);
  await expect(service.meshBoxes(mesh, { level: 5 })).rejects.toBeInstanceOf(CollisionError);
  await expect(service.meshBoxes(12345)).rejects.toMatchObject({ code: 'UNKNOWN_ID' });
  const object = service.addObject({ shape, boxes: [{ ...good, name: 'kept' }] });
  expect(() => service.setObject(object, { boxes: [good, good] })).toThrow(CollisionError);
  expect(await service.raycast(DOWN, OBB)).toMatchObject({ box: 'kept' });
});

test('another worker knows the boxes of meshes and of objects', async () => {
  const mortal = await KillableService.create();
  const mesh = await mortal.service.addMesh(icosphere(0.5, 2), { boxes: HALVES });
  const shape = { type: 'mesh', mesh } as const;
  const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
  const first = mortal.service.addObject({ shape, matrix: at(0.5) });
  const boxes = [{ name: 'own', halfExtents: [1, 2, 1] }] as const;
  const second = mortal.service.addObject({ shape, matrix: at(10), boxes });
  await mortal.service.update();
  await mortal.kill();
  expect(await mortal.service.raycast(DOWN, OBB)).toMatchObject({ object: first, box: 'left' });
  const far = { origin: [10, 10, 0], direction: [0, -1, 0] } as const;
  expect(await mortal.service.raycast(far, OBB)).toMatchObject({ object: second, box: 'own', distance: 8 });
  expect(mortal.service.meshInfo(mesh).boxes).toMatchObject(HALVES);
  expect(await mortal.service.checkBoxes(mesh)).toMatchObject({ conservative: true });
});

test('memory of boxes comes back with their last object', async () => {
  const mesh = await service.addMesh(icosphere(0.5, 1));
  const work = async () => {
    // The same each time, since pairs that meet take memory, too.
    const random = new Random(SEED);
    const ids = Array.from({ length: 40 }, (_, i) =>
      service.addObject({ shape: { type: 'mesh', mesh }, boxes: randomBoxes(random, 1 + (i % 5)), contacts: 'bounds' }),
    );
    await service.update();
    for (const id of ids) service.setObject(id, { boxes: randomBoxes(random, 2) });
    await service.update();
    for (const id of ids) service.removeObject(id);
    await service.update();
    await service.update();
    return service.stats.usedBytes;
  };
  await work();
  const used = await work();
  for (let i = 0; i < 3; i++) expect(await work()).toBe(used);
});

test('vertices that move leave the boxes as they are, and the check tells', async () => {
  const data = boxMesh(2, 2, 2);
  const mesh = await service.addMesh(data, { boxes: HALVES });
  const object = service.addObject({ shape: { type: 'mesh', mesh } });
  await service.updateMesh(
    mesh,
    data.positions.map((each) => 1.5 * each),
  );
  const { conservative, farthest } = await service.checkBoxes(mesh);
  expect(conservative).toBe(false);
  expect(farthest).toBeCloseTo(Math.hypot(0.5, 0.5, 0.5), 6);
  expect(await service.raycast({ ...DOWN, origin: [0.2, 10, 0] }, OBB)).toMatchObject({
    object,
    box: 'right',
    distance: 9,
  });
  expect(await service.raycast({ ...DOWN, origin: [0.2, 10, 0] })).toMatchObject({ object, distance: 8.5 });
});

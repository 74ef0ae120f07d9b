// Solid meshes: what lies inside them, against exact tests of all triangles and sums of all solid angles.

import type { MeshShape } from 'collision-worker';
import { BoxGeometry, Matrix4, TorusGeometry, TorusKnotGeometry, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../src/client/frame/frame-result.js';
import * as layout from '../../../src/shared/layout.js';
import { runToEnd } from '../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, type NearObject, NearScene, PLACES } from '../../fixtures/near-scene.js';
import { dragon } from '../../oracle/dragon.js';
import { type MeshWithParts, partsInside, surfacesIntersect } from '../../oracle/filled.js';
import { boxMesh, icosphere, merged, type Triangles, transformed, trianglesOf, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';
import { type AnyShape, frameOf, randomSolid } from '../../oracle/shapes.js';
import { minimumGap } from '../../oracle/solids.js';

const COUNT = 600;
/** For cases that take longer to bound. */
const FEWER = 250;
const DOUBT = 1e-5;

const turned = ({ positions, indices }: Triangles): Triangles => ({ positions, indices: indices.slice().reverse() });
const moved = (mesh: Triangles, x: number, y = 0, z = 0) =>
  transformed(mesh, (vertex) => vertex.add(new Vector3(x, y, z)));

/** All closed; made of connected parts that do not intersect. */
const MESHES: Record<string, Triangles[]> = {
  ball: [icosphere(1, 1)],
  'ball inside out': [turned(icosphere(1, 1))],
  box: [trianglesOf(new BoxGeometry(1, 2, 1.5))],
  torus: [welded(new TorusGeometry(1, 0.4, 7, 11))],
  knot: [welded(new TorusKnotGeometry(0.7, 0.2, 30, 5))],
  'hollow ball': [icosphere(1, 1), turned(icosphere(0.6, 1))],
  'ball in a ball': [icosphere(1, 1), icosphere(0.5, 0)],
  'ball in a hollow ball': [icosphere(1, 1), turned(icosphere(0.8, 1)), icosphere(0.3, 0)],
  'three balls': [-1.3, 0, 1.3].map((x) => moved(icosphere(0.6, 0), x)),
  'many boxes': Array.from({ length: 27 }, (_, i) =>
    moved(boxMesh(0.3, 0.3, 0.3), (i % 3) - 1, (Math.floor(i / 3) % 3) - 1, Math.floor(i / 9) - 1),
  ),
  scattered: Array.from({ length: 12 }, (_, i) =>
    moved(icosphere(0.02, 0), Math.sin(i), Math.cos(5 * i), Math.sin(9 * i)),
  ),
  'a triangle and its back': [
    { positions: Float32Array.of(0, 0, 0, 1, 0, 0.2, 0, 1, 0), indices: Uint32Array.of(0, 1, 2, 0, 2, 1) },
  ],
};
const NAMES = Object.keys(MESHES);

interface Placed extends MeshWithParts {
  name: string;
  solid: boolean;
  thing: NearObject;
}

class SolidScene extends NearScene {
  readonly #meshes = new Map<string, AnyShape>();

  static override async at(place: Vector3): Promise<SolidScene> {
    return new SolidScene((await NearScene.at(place)).core, place);
  }

  shape(name: string, solid: boolean): AnyShape {
    const known = this.#meshes.get(name) ?? this.mesh(merged(MESHES[name]));
    this.#meshes.set(name, known);
    const { mesh } = known.shape as MeshShape;
    return { shape: { type: 'mesh', mesh, solid }, triangles: known.triangles! };
  }

  put(name: string, solid: boolean, matrix: Matrix4, contacts = layout.CONTACTS_ANY): Placed {
    const shape = this.shape(name, solid);
    const thing = this.add(shape, matrix, { contacts });
    return { name, solid, thing, whole: shape.triangles!, parts: MESHES[name], matrix: thing.matrix };
  }

  /** `contained` by the two ids, of all pairs in contact. */
  frame(): Map<string, number> {
    const { contacts } = new FrameView(this.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
    return new Map([...contacts].map(({ a, b, contained }) => [`${a}:${b}`, contained]));
  }
}

/** Undefined if there is no contact. */
function expectedOf(a: Placed, b: Placed): number | undefined {
  if (surfacesIntersect(a, b)) return 0;
  const aInB = b.solid ? partsInside(a, b) : 0;
  const bInA = a.solid ? partsInside(b, a) : 0;
  if (aInB + bInA === 0) return undefined;
  return bInA === 0 && aInB === a.parts.length ? 1 : aInB === 0 && bInA === b.parts.length ? 2 : 0;
}

describe.each(PLACES)(`solid meshes %s, seed ${SEED}`, { timeout: 300_000 }, (_, place) => {
  test.each([1, 1e-3, 1e3])(`${COUNT} pairs of meshes of all kinds, scaled by %d, any of them solid`, async (scale) => {
    const random = new Random(SEED + 1000 * Math.log10(scale));
    const scene = await SolidScene.at(place);
    const pairs: [Placed, Placed][] = [];
    for (let i = 0; i < COUNT; i++) {
      const middle = new Vector3(i % 15, Math.floor(i / 15) % 15, Math.floor(i / 225)).multiplyScalar(64);
      // Two of three have one so small that the other may contain it, or that it may lie in a hole of the other.
      const small = random.chance(0.67) ? random.pick([0.03, 0.1, 0.3]) : 1;
      const away = random.direction().multiplyScalar(random.range(0, small < 1 ? 1.2 : 3));
      const form = { ...ANY_TRANSFORM, low: 0.3 * small, high: 3 * small };
      const matrices = [
        random.placement(middle, ANY_TRANSFORM).premultiply(new Matrix4().makeScale(scale, scale, scale)),
        random.placement(away.add(middle), form).premultiply(new Matrix4().makeScale(scale, scale, scale)),
      ];
      if (random.chance(0.5)) matrices.reverse();
      const put = (matrix: Matrix4) => scene.put(random.pick(NAMES), random.chance(0.7), matrix);
      pairs.push([put(matrices[0]), put(matrices[1])]);
    }
    const found = scene.frame();
    const counts = { none: 0, apartOrMeeting: 0, first: 0, second: 0, inPart: 0 };
    for (const [a, b] of pairs) {
      const expected = expectedOf(a, b);
      const [p, q] = [a.thing.id, b.thing.id];
      const contact = found.get(`${p}:${q}`);
      const message = `${a.name} (solid ${a.solid}) ${a.matrix.elements}, ${b.name} (solid ${b.solid}) ${b.matrix.elements}`;
      expect(contact, message).toBe(expected);
      expect(scene.core.pairs.contact(p, q, layout.CONTACTS_ANY)?.contained, message).toBe(expected);
      // With the order swapped, the answer is swapped.
      const back = expected === 1 ? 2 : expected === 2 ? 1 : expected;
      expect(scene.core.pairs.contact(q, p, layout.CONTACTS_MANIFOLD)?.contained, message).toBe(back);
      if (expected === undefined) counts.none++;
      else if (expected === 1) counts.first++;
      else if (expected === 2) counts.second++;
      else if (surfacesIntersect(a, b)) counts.apartOrMeeting++;
      else counts.inPart++;
    }
    console.log(counts);
    expect(Math.min(counts.none, counts.apartOrMeeting, counts.first, counts.second)).toBeGreaterThan(COUNT / 100);
    expect(counts.inPart).toBeGreaterThan(1);
  });

  test(`${FEWER} pairs of a solid mesh and a sphere, box or capsule`, async () => {
    const random = new Random(SEED);
    const scene = await SolidScene.at(place);
    const pairs: { mesh: Placed; other: NearObject; turned: boolean }[] = [];
    for (let i = 0; i < FEWER; i++) {
      const middle = new Vector3(i % 15, Math.floor(i / 15) % 15, Math.floor(i / 225)).multiplyScalar(64);
      const small = random.chance(0.8) ? random.pick([0.03, 0.1]) : 1;
      const away = random.direction().multiplyScalar(random.range(0, small < 1 ? 1.2 : 3));
      const form = { ...ANY_TRANSFORM, low: 0.3 * small, high: 3 * small };
      const mesh = () => scene.put(random.pick(NAMES), random.chance(0.8), random.placement(middle, ANY_TRANSFORM));
      const other = () => scene.add({ shape: randomSolid(random) }, random.placement(away.clone().add(middle), form));
      const turned = random.chance(0.5);
      if (turned) {
        const first = other();
        pairs.push({ mesh: mesh(), other: first, turned });
      } else pairs.push({ mesh: mesh(), other: other(), turned });
    }
    const found = scene.frame();
    const counts = { none: 0, meeting: 0, inside: 0, doubtful: 0 };
    for (const { mesh, other, turned } of pairs) {
      const contact = found.get([mesh.thing.id, other.id].sort((p, q) => p - q).join(':'));
      const message = `${mesh.name} (solid ${mesh.solid}), ${JSON.stringify(other.shape.shape)}`;
      const gap = minimumGap(mesh.thing.bodies, other.bodies, DOUBT);
      if (Math.abs(gap) < DOUBT) counts.doubtful++;
      else if (gap < 0) {
        counts.meeting++;
        expect(contact, message).not.toBe(undefined);
        expect(contact, message).not.toBe(turned ? 1 : 2);
      } else {
        const center = { ...mesh, parts: [pointMesh], whole: pointMesh, matrix: middleOf(other) };
        const isInside = mesh.solid && partsInside(center, mesh) === 1;
        counts[isInside ? 'inside' : 'none']++;
        expect(contact, message).toBe(isInside ? (turned ? 1 : 2) : undefined);
      }
      const { id } = mesh.thing;
      expect(scene.core.pairs.contact(Math.min(id, other.id), Math.max(id, other.id), 2)?.contained).toBe(contact);

      // The same, as queries.
      const asObject = overlapping(scene, other.shape, other.matrix, mesh.thing.id);
      const asQuery = overlapping(scene, mesh.thing.shape, mesh.matrix, other.id);
      if (Math.abs(gap) > DOUBT)
        expect([asObject, asQuery], message).toEqual([contact !== undefined, contact !== undefined]);
    }
    console.log(counts);
    expect(Math.min(counts.none, counts.meeting, counts.inside)).toBeGreaterThan(FEWER / 20);
    expect(counts.doubtful).toBeLessThan(FEWER / 200);
  });

  test('closestPoint: a point inside is its own nearest', async () => {
    const random = new Random(SEED);
    const scene = await SolidScene.at(place);
    let inside = 0;
    for (let i = 0; i < COUNT; i++) {
      const mesh = scene.put(random.pick(NAMES), random.chance(0.7), random.placement(random.point(1), ANY_TRANSFORM));
      const own = random.point(1.2);
      const point = scene.exactPoint(own.clone().applyMatrix4(mesh.matrix));
      const at = scene.point(point);
      const nearest = runToEnd(scene.core.volumes.closestPoint(at, Number.POSITIVE_INFINITY, ALL_FILTER))!;
      const isContained = runToEnd(scene.core.volumes.containing(at, ALL_FILTER)).length === 1;
      if (isContained && mesh.solid) {
        inside++;
        expect(nearest).toEqual({ object: mesh.thing.id, point: at, distance: 0, triangle: -1, element: -1 });
      } else {
        expect(nearest.distance, mesh.name).toBeGreaterThan(0);
        expect(nearest.triangle).toBeGreaterThanOrEqual(0);
      }
      scene.remove(mesh.thing);
    }
    expect(inside).toBeGreaterThan(COUNT / 20);
  });

  describe('touching, in frames turned anyhow', () => {
    beforeAll(() => {
      const cavity = [boxMesh(4, 4, 4), turned(boxMesh(2, 2, 2))];
      Object.assign(MESHES, { crate: [boxMesh(2, 2, 2)], cavity, small: [boxMesh(1, 1, 1)] });
    });

    /** If a crate touches a solid from outside, it is never inside; if it does not touch, it does not collide. */
    test.each<[string, string, string, Vector3]>([
      ['side by side', 'crate', 'crate', new Vector3(2, 0, 0)],
      ['edge at edge', 'crate', 'crate', new Vector3(2, 2, 0)],
      ['corner at corner', 'crate', 'crate', new Vector3(2, 2, 2)],
      ['side by side, moved', 'crate', 'crate', new Vector3(2, 0.3, -0.4)],
      ['filling the cavity', 'cavity', 'crate', new Vector3()],
      ['in a corner of the cavity', 'cavity', 'small', new Vector3(0.5, 0.5, 0.5)],
      ['at a wall of the cavity', 'cavity', 'small', new Vector3(0.1, 0.5, -0.2)],
    ])('%s: never contained', async (_, name, other, offset) => {
      const random = new Random(SEED);
      const scene = await SolidScene.at(place);
      const counts = [0, 0];
      for (let i = 0; i < 300; i++) {
        const form = random.placement(random.point(1), ANY_TRANSFORM);
        const a = scene.put(name, true, form);
        // With different rounding, half of the time.
        const same = form.clone().multiply(new Matrix4().setPosition(offset));
        const b = scene.put(other, true, random.chance(0.5) ? same : blurred(random, same));
        const contact = scene.core.pairs.contact(a.thing.id, b.thing.id, layout.CONTACTS_ANY);
        expect(contact?.contained ?? 0, `round ${i}`).toBe(0);
        counts[contact === null ? 0 : 1]++;
        scene.remove(a.thing);
        scene.remove(b.thing);
      }
      console.log(`${counts[1]} touch`);
    });

    test('from within: they touch, or one is inside, but always collide', async () => {
      const random = new Random(SEED);
      const scene = await SolidScene.at(place);
      const counts = [0, 0, 0];
      for (let i = 0; i < 500; i++) {
        const form = random.placement(random.point(1), ANY_TRANSFORM);
        const offset = random.pick([
          [0, 0, 0.5],
          [0.5, 0.5, 0],
          [0.5, 0.5, 0.5],
          [0.5, 0.1, -0.2],
          [-0.5, -0.5, 0.5],
        ]);
        const inner = blurred(random, form.clone().multiply(new Matrix4().setPosition(new Vector3(...offset))));
        const a = scene.put('crate', true, form);
        const b = scene.put('small', random.chance(0.5), inner);
        const contact = scene.core.pairs.contact(a.thing.id, b.thing.id, layout.CONTACTS_ANY);
        expect(contact, `round ${i}`).not.toBeNull();
        expect([0, 2]).toContain(contact!.contained);
        counts[contact!.contained]++;
        scene.remove(a.thing);
        scene.remove(b.thing);
      }
      console.log(`${counts} contained`);
    });

    test('in one and the same place two of a mesh touch', async () => {
      const random = new Random(SEED);
      const scene = await SolidScene.at(place);
      for (let i = 0; i < 300; i++) {
        const name = random.pick(NAMES);
        const form = random.placement(random.point(1), ANY_TRANSFORM);
        const [a, b] = [scene.put(name, true, form), scene.put(name, random.chance(0.5), form)];
        expect(scene.core.pairs.contact(a.thing.id, b.thing.id, layout.CONTACTS_ANY)?.contained, name).toBe(0);
        scene.remove(a.thing);
        scene.remove(b.thing);
      }
    });
  });

  test('exactly touching from within: surfaces meet, so neither is inside', async () => {
    const scene = await SolidScene.at(place);
    const outer = scene.put('box', true, new Matrix4());
    const inner = scene.put('box', true, new Matrix4().makeScale(0.5, 0.5, 0.5).setPosition(0.25, 0, 0));
    expect(scene.frame()).toEqual(new Map([[`${outer.thing.id}:${inner.thing.id}`, 0]]));
    scene.remove(inner.thing);
    const ball = scene.add({ shape: { type: 'sphere', radius: 0.5 } }, new Matrix4());
    expect(scene.frame()).toEqual(new Map([[`${outer.thing.id}:${ball.id}`, 0]]));
  });

  test('in the hole of a torus, in the cavity of a hollow ball: outside', async () => {
    const scene = await SolidScene.at(place);
    const tiny = new Matrix4().makeScale(0.1, 0.1, 0.1);
    const at = (i: number, x: number, y = 0) => tiny.clone().setPosition(20 * i + x, y, 0);
    const cases: [string, number, number | undefined][] = [
      ['torus', 0, undefined],
      ['torus', 1, 1],
      ['hollow ball', 0, undefined],
      ['hollow ball', 0.75, 1],
      ['ball in a ball', 0, 1],
      ['ball in a hollow ball', 0, 1],
      ['ball in a hollow ball', 0.5, undefined],
      ['ball', 0, 1],
      ['ball inside out', 0, 1],
      ['ball', 2, undefined],
    ];
    const expected = new Map<string, number>();
    cases.forEach(([name, x, contained], i) => {
      const inner = scene.put('ball', i % 2 === 0, at(i, x));
      const outer = scene.put(name, true, new Matrix4().setPosition(20 * i, 0, 0));
      if (contained !== undefined) expected.set(`${inner.thing.id}:${outer.thing.id}`, contained);
    });
    expect(scene.frame()).toEqual(expected);
  });

  test('a solid with the wall of a cavity inside of it is not inside of what has the cavity', async () => {
    const scene = await SolidScene.at(place);
    const hollow = scene.put('hollow ball', true, new Matrix4().makeScale(8, 8, 8));
    const contained = [true, false].map((solid) => {
      const ball = scene.put('ball', solid, new Matrix4().makeScale(6.2, 6.2, 6.2));
      return scene.core.pairs.contact(hollow.thing.id, ball.thing.id, layout.CONTACTS_MANIFOLD)?.contained;
    });
    expect(contained).toEqual([0, 2]);
  });

  test('nested: each in all that are around it', async () => {
    const scene = await SolidScene.at(place);
    const things = [8, 4, 2, 1].map((size) => scene.put('ball', true, new Matrix4().makeScale(size, size, size)));
    const ids = things.map(({ thing }) => thing.id);
    const pairs = ids.flatMap((a, i) => ids.slice(i + 1).map((b) => [`${a}:${b}`, 2] as const));
    expect(scene.frame()).toEqual(new Map(pairs));
  });

  test('a solid that is made a surface holds nothing, and the other way around', async () => {
    const scene = await SolidScene.at(place);
    const outer = scene.put('ball', false, new Matrix4().makeScale(2, 2, 2));
    const inner = scene.put('box', false, new Matrix4().makeScale(0.3, 0.3, 0.3));
    const key = `${outer.thing.id}:${inner.thing.id}`;
    expect(scene.frame()).toEqual(new Map());
    const set = (solid: boolean) =>
      scene.core.setObject(outer.thing.id, {
        ...scene.describe(scene.shape('ball', solid), new Matrix4().makeScale(2, 2, 2)),
      });
    set(true);
    expect(scene.frame()).toEqual(new Map([[key, 2]]));
    set(false);
    expect(scene.frame()).toEqual(new Map());
  });

  test('the parts of a mesh that is refitted, replaced, baked and freed', async () => {
    const scene = await SolidScene.at(place);
    const { core } = scene;
    const used = core.usedBytes;
    const outer = scene.put('ball', true, new Matrix4().makeScale(8, 8, 8));
    const inner = scene.put('three balls', false, new Matrix4());
    const contact = () => core.pairs.contact(outer.thing.id, inner.thing.id, layout.CONTACTS_ANY)?.contained;
    expect(contact()).toBe(2);
    const { mesh } = scene.shape('three balls', false).shape as MeshShape;
    const before = core.bakeMesh(mesh);
    expect(contact()).toBe(2);
    expect(core.bakeMesh(mesh)).toEqual(before);
    // The middle one stays, the others leave.
    const spread = transformed(inner.whole, (v) => v.setX(v.x + 20 * Math.sign(Math.round(v.x / 1.3))));
    core.refitMesh(mesh, spread.positions);
    expect(contact()).toBe(0);
    core.refitMesh(mesh, transformed(inner.whole, (v) => v.setX(v.x + 20)).positions);
    expect(contact()).toBe(undefined);
    const one = scene.mesh(MESHES.ball[0]).shape as MeshShape;
    core.replaceMesh(mesh, one.mesh);
    core.freeMesh(mesh);
    expect(contact()).toBe(2);
    scene.remove(inner.thing);
    scene.remove(outer.thing);
    core.freeMesh(one.mesh);
    core.freeMesh((scene.shape('ball', true).shape as MeshShape).mesh);
    expect(core.usedBytes).toBeLessThan(used + 64 * 1024);
  });
});

test(`a dragon and beads in and about it, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const random = new Random(SEED);
  const scene = await SolidScene.at(new Vector3());
  const triangles = transformed(dragon(11_102), (vertex) => vertex.multiplyScalar(10));
  MESHES.dragon = [triangles];
  const form = random.placement(new Vector3());
  const body = scene.put('dragon', true, form);
  const counts = { inside: 0, outside: 0, meeting: 0 };
  for (let i = 0; i < 120; i++) {
    const at = new Vector3().fromArray(triangles.positions, 3 * random.integer(triangles.positions.length / 3));
    const size = random.logRange(0.002, 0.02);
    const place = at.add(random.point(0.08)).applyMatrix4(form);
    const bead = scene.put('ball', false, random.placement(place, { low: size, high: size }));
    const contact = scene.core.pairs.contact(body.thing.id, bead.thing.id, layout.CONTACTS_ANY)?.contained;
    const expected = expectedOf(body, bead);
    expect(contact, `bead ${i}`).toBe(expected);
    counts[expected === undefined ? 'outside' : expected === 0 ? 'meeting' : 'inside']++;
    scene.remove(bead.thing);
  }
  console.log(counts);
  expect(Math.min(counts.inside, counts.outside, counts.meeting)).toBeGreaterThan(2);
});

/** One point, at the origin. */
const pointMesh: Triangles = { positions: new Float32Array(3), indices: new Uint32Array() };

/** Each number changed by one unit in the last place, up, down or not at all. */
function blurred(random: Random, matrix: Matrix4): Matrix4 {
  const blur = (x: number) => x * (1 + random.pick([-1, 0, 1]) * Number.EPSILON);
  return new Matrix4().fromArray(matrix.elements.map(blur));
}

function middleOf({ shape, matrix }: NearObject): Matrix4 {
  if (shape.triangles) throw new Error('a mesh has no middle of its own');
  return matrix.clone().multiply(frameOf(shape.shape).matrix);
}

function overlapping(scene: NearScene, shape: AnyShape, matrix: Matrix4, id: number): boolean {
  return runToEnd(scene.core.volumes.overlap(scene.describe(shape, matrix), ALL_FILTER)).includes(id);
}

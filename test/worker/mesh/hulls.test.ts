// Data that the core derives of convex meshes. Whether two of them intersect by their hulls must agree with their trees; contacts
// do not depend on how a solid is triangulated.
import { BoxGeometry, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import { type Core, createCore, type MeshAddress } from '../../../src/worker/binding/core.js';
import { bake, startCore, wasm } from '../../fixtures/core.js';
import { limitMemory } from '../../fixtures/limit-memory.js';
import { ANY_TRANSFORM, NearScene, PLACES } from '../../fixtures/near-scene.js';
import { randomHull } from '../../oracle/hulls.js';
import { boundsOf, boxMesh, icosphere, soup, type Triangles, transformed, welded } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

const COUNT = 1500;
const SKEW = new Matrix4().makeRotationX(0.7).multiply(new Matrix4().makeRotationY(0.3));

test(`how deep a dent is taken for rounding is the same along all axes, whatever corner faces begin with, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const core = await startCore();
  const indices = Uint32Array.of(0, 1, 4, 1, 2, 4, 2, 0, 4, 1, 0, 3, 2, 1, 3, 0, 2, 3);
  for (let i = 0; i < 4; i++) {
    // A tetrahedron, and a point of one of its faces, near its longest edge.
    const [x, y] = [random.range(-0.5, 0.5), random.range(0.5, 0.9)];
    const [near, far] = [random.range(-0.3, 0.3), random.range(0.03, 0.08)];
    const positions = Float32Array.of(-1, 0, 0, 1, 0, 0, x, y, 0, x, 0.4 * y, 1, near, far, 0);
    const bytesOf = (depth: number, axis: number, first: number) => {
      positions[14] = depth;
      return bake(core, {
        positions: positions.map((_, k) => positions[k - (k % 3) + ((k + axis) % 3)]),
        indices: indices.map((_, k) => indices[k - (k % 3) + ((k + first) % 3)]),
      }).byteLength;
    };
    const ofHull = bytesOf(0, 0, 0);
    const deepest = (axis: number, first: number) => {
      let [low, high] = [1e-8, 1e-2];
      while (high > 1.02 * low) {
        const depth = Math.sqrt(low * high);
        if (bytesOf(depth, axis, first) === ofHull) low = depth;
        else high = depth;
      }
      return low;
    };
    const depths = [0, 1, 2].flatMap((axis) => [0, 1, 2].map((first) => deepest(axis, first)));
    expect(Math.max(...depths), `depths: ${depths}`).toBeLessThan(1.05 * Math.min(...depths));
  }
});

describe.each(PLACES)(`${COUNT} pairs of convex meshes %s, seed ${SEED}`, { timeout: 120_000 }, (_, place) => {
  test('meet where their trees say so', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const hulls = Array.from({ length: 12 }, (_, i) => randomHull(random, i));
    const shapes = hulls.map((hull) => ({ closed: scene.mesh(hull), open: scene.mesh(opened(hull)) }));
    const count = { met: 0, parted: 0, apart: 0 };
    for (let i = 0; i < COUNT; i++) {
      const [a, b] = [random.pick(shapes), random.pick(shapes)];
      const from = random.placement(random.point(1), random.chance(0.5) ? ANY_TRANSFORM : {});
      // Small ones may be inside, where surfaces do not intersect.
      const size = random.chance(0.3) ? random.logRange(0.01, 1) : 1;
      let to = random
        .placement(random.point(1.5), random.chance(0.5) ? ANY_TRANSFORM : {})
        .scale(new Vector3().setScalar(size));
      const [p, q] = [scene.add(a.closed, from), scene.add(b.closed, to)];
      const contact = scene.core.pairs.contact(p.id, q.id, layout.CONTACTS_MANIFOLD);
      if (contact && random.chance(0.7)) {
        // Barely touching or barely separate.
        const length = contact.depths[0] * (1 + random.pick([-1, 1]) * random.logRange(1e-17, 0.1));
        const way = new Vector3().fromArray(contact.normals).multiplyScalar(length);
        to = to.clone().setPosition(new Vector3().setFromMatrixPosition(to).add(way));
      }
      const meet = (first: typeof a.closed, second: typeof a.closed) => {
        const things = [scene.add(first, from), scene.add(second, to)];
        const found = scene.core.pairs.contact(things[0].id, things[1].id, layout.CONTACTS_ANY);
        for (const thing of things) scene.remove(thing);
        return found !== null;
      };
      const expected = meet(a.open, b.open);
      expect(meet(a.closed, b.closed), `pair ${i}`).toBe(expected);
      expect(meet(b.closed, a.closed), `pair ${i}, turned`).toBe(meet(b.open, a.open));
      count[expected ? 'met' : contact ? 'parted' : 'apart']++;
      for (const thing of [p, q]) scene.remove(thing);
    }
    console.log(JSON.stringify(count));
    for (const each of Object.values(count)) expect(each).toBeGreaterThan(COUNT / 20);
  });
});

test(`a box a hair inside of another, or a hair out of it, meets it where their trees say so, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const box = boxMesh(2, 2, 2);
  const [closed, open] = [scene.mesh(box), scene.mesh(opened(box))];
  const count = { met: 0, apart: 0 };
  for (let i = 0; i < 900; i++) {
    const size = random.range(0.2, 0.9);
    // Flush with one side, or with any side.
    const only = random.integer(6);
    const sides = [0, 1, 2].map((axis) =>
      only > 2 ? random.pick([-1, 0, 1]) : axis === only ? random.pick([-1, 1]) : 0,
    );
    const gap = random.pick([0, -1, 1, 1]) * random.logRange(1e-16, random.pick([1e-13, 1e-6]));
    const to = new Matrix4()
      .makeScale(size, size, size)
      .setPosition(...(sides.map((side) => side * (1 - size - gap)) as [number, number, number]));
    const meet = (mesh: typeof closed, isTurned: boolean) => {
      const matrices = isTurned ? [to, new Matrix4()] : [new Matrix4(), to];
      const things = matrices.map((matrix) => scene.add(mesh, matrix));
      const found = scene.core.pairs.contact(things[0].id, things[1].id, layout.CONTACTS_ANY);
      for (const thing of things) scene.remove(thing);
      return found !== null;
    };
    for (const isTurned of [false, true]) {
      const isMet = meet(open, isTurned);
      expect(meet(closed, isTurned), `case ${i}: sides ${sides}, gap ${gap}`).toBe(isMet);
      count[isMet ? 'met' : 'apart']++;
    }
  }
  for (const each of Object.values(count)) expect(each).toBeGreaterThan(100);
});

describe('a box of whatever triangles', () => {
  const BOX = boxMesh(2, 1, 3);
  const turned = transformed(welded(new BoxGeometry(2, 1, 3, 20, 30, 40)), (vertex) => vertex.applyMatrix4(SKEW));
  const FORMS: [string, Triangles, Triangles][] = [
    ['a corner for each triangle', BOX, unwelded(BOX)],
    ['inside out', BOX, { ...BOX, indices: BOX.indices.slice().reverse() }],
    ['with edges split by triangles without an area', BOX, split(BOX)],
    ['faces of hundreds of triangles', BOX, welded(new BoxGeometry(2, 1, 3, 20, 30, 40))],
    ['faces of hundreds of triangles that float32 makes uneven', transformed(BOX, (v) => v.applyMatrix4(SKEW)), turned],
  ];

  test.each(FORMS)(`%s, seed ${SEED}`, async (_, plain, form) => {
    const random = new Random(SEED);
    const core = await startCore();
    const meshes = [plain, form].map((triangles) => core.loadMesh(bake(core, triangles)));
    const others = Array.from({ length: 10 }, (_, i) => core.loadMesh(bake(core, randomHull(random, i))));
    const pair = new Pair(core, meshes[0]);
    let found = 0;
    for (let i = 0; i < 300; i++) {
      const other = random.pick(others);
      const matrix = random.placement(random.point(2), random.chance(0.5) ? ANY_TRANSFORM : {});
      const [expected, contact] = meshes.map((mesh) => {
        pair.set(0, mesh, new Matrix4());
        pair.set(1, other, matrix);
        return pair.contact();
      });
      expect(contact === null, `case ${i}`).toBe(expected === null);
      if (!expected || !contact) continue;
      found++;
      expect(Math.abs(contact.depths[0] - expected.depths[0]), `case ${i}`).toBeLessThan(2e-6);
    }
    expect(found).toBeGreaterThan(50);
  });
});

test('a box stands on a plate with all of its face, however many corners that has, whichever of the two has them', async () => {
  const core = await startCore();
  const plate = core.loadMesh(bake(core, boxMesh(5, 5, 5)));
  const turns = [new Matrix4(), new Matrix4().makeRotationX(Math.PI / 2), new Matrix4().makeRotationZ(Math.PI / 2)];
  for (const cells of [1, 3, 6, 20]) {
    const box = core.loadMesh(bake(core, welded(new BoxGeometry(2, 2, 2, cells, cells, cells))));
    const pair = new Pair(core, box);
    for (const turn of [...turns, ...turns.map((each) => each.clone().invert())]) {
      for (const boxAt of [0, 1]) {
        pair.set(1 - boxAt, plate, new Matrix4());
        pair.set(boxAt, box, turn.clone().setPosition(0.3, 3.49, -0.2));
        const { points, depths } = pair.contact()!;
        expect(depths[0], `${cells} cells`).toBeCloseTo(0.01, 5);
        const { min, max } = boundsOf(points);
        const [low, high] = [new Vector3(-0.7, 2.5, -1.2), new Vector3(1.3, 2.5, 0.8)];
        expect(min.distanceTo(low), `${cells} cells, from ${min.toArray()}`).toBeLessThan(0.02);
        expect(max.distanceTo(high), `${cells} cells, to ${max.toArray()}`).toBeLessThan(0.02);
      }
    }
    pair.remove();
    core.freeMesh(box);
  }
});

test(`balls of tens of thousands of triangles, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const core = await startCore();
  const mesh = core.loadMesh(bake(core, icosphere(1, 40))); // 33,620
  const pair = new Pair(core, mesh);
  for (let i = 0; i < 30; i++) {
    const gap = random.logRange(2e-3, 1);
    const way = random.direction().multiplyScalar(2 - gap);
    const turn = new Matrix4().makeRotationFromQuaternion(random.rotation());
    pair.set(0, mesh, random.placement(new Vector3()));
    pair.set(1, mesh, turn.setPosition(way));
    const { depths, normals, points } = pair.contact()!;
    const depth = depths[0];
    expect(depth).toBeLessThan(gap + 1e-6);
    // Faces lie this far below the balls' surfaces.
    expect(depth).toBeGreaterThan(gap - 2 * 5e-4);
    const meetAfter = (length: number) => {
      pair.set(1, mesh, turn.setPosition(new Vector3().fromArray(normals).multiplyScalar(length).add(way)));
      return pair.contact(layout.CONTACTS_ANY) !== null;
    };
    expect(meetAfter(depth * 0.999 - 1e-6), `gap ${gap}`).toBe(true);
    expect(meetAfter(depth * 1.001 + 1e-6), `gap ${gap}`).toBe(false);
    expect(points.length).toBeGreaterThan(0);
    for (let k = 0; k < points.length; k += 3) {
      const point = new Vector3().fromArray(points, k);
      expect(point.length()).toBeLessThan(1 + 1e-6);
      expect(point.distanceTo(way)).toBeLessThan(1 + 1e-6);
    }
  }
});

describe('a convex mesh that changes', () => {
  const BALL = icosphere(1, 3);
  const FORMS: [string, (vertex: Vector3) => Vector3][] = [
    ['larger', (vertex) => vertex.multiplyScalar(1.5)],
    ['flatter', (vertex) => vertex.multiply(new Vector3(1, 0.3, 1))],
    ['no longer convex', (vertex) => vertex.multiplyScalar(1 - 0.3 * Math.abs(vertex.x))],
  ];

  test.each(FORMS)('%s', async (_, change) => {
    const changed = transformed(BALL, change);
    const core = await startCore();
    const mesh = core.loadMesh(bake(core, BALL));
    const pair = new Pair(core, mesh);
    const before = pair.contact()!.depths[0];
    expect(core.refitMesh(mesh, changed.positions)).toBe(true);
    const after = pair.contact()!.depths[0];
    expect(after).not.toBeCloseTo(before, 3);
    const fresh = await startCore();
    expect(after).toBeCloseTo(new Pair(fresh, fresh.loadMesh(bake(fresh, changed))).contact()!.depths[0], 5);
    // And back again.
    expect(core.refitMesh(mesh, BALL.positions)).toBe(true);
    expect(pair.contact()!.depths[0]).toBeCloseTo(before, 5);
  });
});

test('faces that come apart let through what they enclosed before', async () => {
  const core = await startCore();
  const box = unwelded(boxMesh(2, 2, 2));
  const mesh = core.loadMesh(bake(core, box));
  const rod = core.loadMesh(bake(core, boxMesh(2, 0.05, 0.05)));
  const pair = new Pair(core, mesh);
  pair.set(0, mesh, new Matrix4());
  // Across an edge.
  pair.set(1, rod, new Matrix4().makeRotationY(-Math.PI / 4).setPosition(1.15, 0.3, 1.15));
  expect(pair.contact(layout.CONTACTS_ANY)).not.toBeNull();
  const [p, q, r] = [new Vector3(), new Vector3(), new Vector3()];
  const moved = box.positions.slice();
  for (let i = 0; i < moved.length; i += 9) {
    p.fromArray(moved, i);
    q.fromArray(moved, i + 3).sub(p);
    const normal = q
      .cross(r.fromArray(moved, i + 6).sub(p))
      .normalize()
      .multiplyScalar(0.3);
    for (let k = 0; k < 9; k++) moved[i + k] += normal.getComponent(k % 3);
  }
  expect(core.refitMesh(mesh, moved)).toBe(true);
  expect(pair.contact(layout.CONTACTS_ANY)).toBeNull();
});

describe('memory', () => {
  const BALL = icosphere(1, 12);

  test('is given back with the mesh', async () => {
    const core = await startCore();
    const baked = bake(core, BALL);
    const dented = BALL.positions.map((x, i) => (i < 3 ? 0.5 * x : x));
    const use = () => {
      const mesh = core.loadMesh(baked);
      const pair = new Pair(core, mesh);
      // At first its hull is gone, and then it is stored behind the tree again.
      for (const positions of [dented, BALL.positions]) {
        expect(pair.contact()).not.toBeNull();
        expect(core.refitMesh(mesh, positions)).toBe(true);
      }
      expect(pair.contact()).not.toBeNull();
      const { bytes } = core.meshInfo(mesh);
      expect(bytes).toBe(baked.byteLength);
      pair.remove();
      core.freeMesh(mesh);
    };
    use();
    const before = core.usedBytes;
    use();
    expect(core.usedBytes).toBe(before);
  });

  test('of a hull that its mesh did not have when it was baked is given back, too', async () => {
    const core = await startCore();
    const dented = { ...BALL, positions: BALL.positions.map((x, i) => (i < 3 ? 0.5 * x : x)) };
    const baked = bake(core, dented);
    // Its planes and corners.
    const hullBytes = BALL.indices.length * (16 / 3) + BALL.positions.length * 4;
    const use = () => {
      const mesh = core.loadMesh(baked);
      const pair = new Pair(core, mesh);
      expect(core.refitMesh(mesh, BALL.positions)).toBe(true);
      expect(pair.contact()).not.toBeNull();
      expect(core.meshInfo(mesh).bytes).toBeGreaterThan(baked.byteLength + hullBytes);
      const bakedAnew = core.bakeMesh(mesh);
      expect(bakedAnew.byteLength).toBe(core.meshInfo(mesh).bytes);
      const copy = core.loadMesh(bakedAnew);
      expect(core.bakeMesh(copy)).toEqual(bakedAnew);
      core.freeMesh(copy);
      pair.remove();
      core.freeMesh(mesh);
    };
    use();
    const before = core.usedBytes;
    use();
    expect(core.usedBytes).toBe(before);
  });

  test('that runs out leaves everything as it was', async () => {
    const free = await startCore();
    const expected = new Pair(free, free.loadMesh(bake(free, BALL))).contact();
    const core = await createCore(limitMemory(wasm, 64));
    const pair = new Pair(core, core.loadMesh(bake(free, BALL)));
    // Allocates all of it, in small pieces.
    const pieces: MeshAddress[] = [];
    for (const triangles of [1000, 100, 10, 1]) {
      const piece = bake(free, soup(new Random(SEED), triangles, 1, 1));
      try {
        for (;;) pieces.push(core.loadMesh(piece));
      } catch (error) {
        expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
      }
    }
    let failures = 0;
    for (;;) {
      try {
        expect(pair.contact()).toEqual(expected);
        break;
      } catch (error) {
        expect(error).toMatchObject({ code: 'OUT_OF_MEMORY' });
      }
      failures++;
      core.freeMesh(pieces.pop()!);
    }
    expect(failures).toBeGreaterThan(3);
    expect(core.check()).toBeNull();
  });
});

/** Two objects; initially of one mesh, side by side. */
class Pair {
  readonly #core: Core;
  static readonly #IDS = [makeId(0, 1), makeId(1, 1)] as const;

  constructor(core: Core, mesh: MeshAddress) {
    this.#core = core;
    for (const i of [0, 1]) this.set(i, mesh, new Matrix4().makeRotationX(i).setPosition(0.4 * i, 0.3 * i, 0));
  }

  set(which: number, mesh: MeshAddress, { elements }: Matrix4): void {
    this.#core.addObjects(Uint32Array.of(Pair.#IDS[which]), {
      ...{ shape: layout.SHAPE_MESH, mesh, flags: 0, layers: 1, collidesWith: 1, group: 0 },
      ...{ contacts: layout.CONTACTS_MANIFOLD, center: [0, 0, 0], extent: [1, 1, 1], rotation: [0, 0, 0, 1] },
      ...{ radius: 0, matrix: elements },
    });
  }

  contact(detail: number = layout.CONTACTS_MANIFOLD) {
    return this.#core.pairs.contact(...Pair.#IDS, detail);
  }

  remove(): void {
    for (const id of Pair.#IDS) this.#core.removeObject(id);
  }
}

/** The same surface, but not closed: one triangle occurs twice. */
function opened({ positions, indices }: Triangles): Triangles {
  return { positions, indices: Uint32Array.of(...indices, ...indices.slice(0, 3)) };
}

function unwelded({ positions, indices }: Triangles): Triangles {
  return {
    positions: Float32Array.from([...indices].flatMap((i) => [...positions.slice(3 * i, 3 * i + 3)])),
    indices: indices.map((_, i) => i),
  };
}

/** Splits each edge of each triangle in half, by a triangle without an area. */
function split({ positions, indices }: Triangles): Triangles {
  const places = [...positions];
  const all = [...indices];
  for (let i = 0; i < indices.length; i++) {
    const [from, to] = [indices[i], indices[i % 3 === 2 ? i - 2 : i + 1]];
    if (from > to) continue;
    const middle = places.length / 3;
    for (let k = 0; k < 3; k++) places.push((positions[3 * from + k] + positions[3 * to + k]) / 2);
    // There via the midpoint, and back again.
    all.push(from, middle, to, to, middle, from);
  }
  return { positions: Float32Array.from(places), indices: Uint32Array.from(all) };
}

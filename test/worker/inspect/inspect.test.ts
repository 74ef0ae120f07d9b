// What `inspect` shows, against the triangles and places that were given: every triangle lies in boxes of each level, every
// object is counted in one cell, and states are those of the frame.
import { type CollisionService, createCollisionService, type ObjectId } from 'collision-worker';
import { Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { boxMesh, icosphere, soup, type Triangles } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

let service: CollisionService;
beforeEach(async () => {
  service = await createCollisionService();
});
afterEach(() => service.dispose());

type Boxes = Awaited<ReturnType<CollisionService['inspect']>>['trees'];

/** Box i as the map to the cube [-1, 1]³. */
function toCube({ frames }: { frames: Float32Array }, i: number, origin: readonly number[]): Matrix4 {
  const f = Array.from(frames.subarray(12 * i, 12 * i + 12));
  const [x, y, z] = origin;
  const matrix = new Matrix4().set(
    ...([f[0], f[3], f[6], f[9] + x] as const),
    ...([f[1], f[4], f[7], f[10] + y] as const),
    ...([f[2], f[5], f[8], f[11] + z] as const),
    ...([0, 0, 0, 1] as const),
  );
  return matrix.invert();
}

const isIn = (point: Vector3, cube: Matrix4, slack: number): boolean => {
  const { x, y, z } = point.clone().applyMatrix4(cube);
  return Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) <= 1 + slack;
};

function cornersOf({ positions, indices }: Triangles): Vector3[][] {
  return Array.from({ length: indices.length / 3 }, (_, i) =>
    [0, 1, 2].map((k) => new Vector3().fromArray(positions, 3 * indices[3 * i + k])),
  );
}

const indicesAt = (levels: Uint8Array, level: number) => [...levels.keys()].filter((i) => levels[i] === level);

/** Checks that each triangle is in boxes of each level, but for what ended in leaves above, and in a leaf. */
function expectHeld(triangles: Vector3[][], trees: Boxes, origin: readonly number[], slack: number): void {
  const cubes = Array.from({ length: trees.count }, (_, i) => toCube(trees, i, origin));
  const holds = (corners: Vector3[], boxes: number[]) =>
    boxes.filter((i) => corners.every((corner) => isIn(corner, cubes[i], slack)));
  const last = Math.max(...trees.levels);
  for (const corners of triangles) {
    const leaves: number[] = [];
    for (let level = 0; level <= last; level++) {
      const held = holds(corners, indicesAt(trees.levels, level));
      leaves.push(...held.filter((i) => trees.leaves[i] === 1));
      expect(held.length + leaves.length).toBeGreaterThan(0);
    }
    expect(leaves.length).toBeGreaterThan(0);
  }
}

describe.each([
  ['at the origin', 0],
  ['10⁶ units away', 1e6],
])(`%s, seed ${SEED}`, (_, far) => {
  test('boxes of each level hold all triangles, and leaves count each once', async () => {
    const random = new Random(SEED);
    const meshes = [icosphere(1, 3), boxMesh(1, 2, 3), soup(random, 300, 2, 0.3)];
    for (const mesh of meshes) {
      const place = new Vector3(far, -far, far);
      const matrix = random.placement(place, { low: 0.5, high: 3, mirrored: 0.5, sheared: 0.5 });
      const id = service.addObject({
        shape: { type: 'mesh', mesh: await service.addMesh({ ...mesh, positions: mesh.positions.slice() }) },
        matrix: matrix.elements,
      });
      await service.update();
      const { trees, cells, bounds, origin } = await service.inspect({ objects: [id] });
      expect([cells.count, bounds.count, trees.isCutOff]).toEqual([0, 0, false]);
      expect(new Set(trees.objects)).toEqual(new Set([id]));
      const sum = trees.counts.reduce((all, count) => all + count, 0);
      expect(sum).toBe(mesh.indices.length / 3);
      for (let i = 0; i < trees.count; i++) if (trees.leaves[i] === 0) expect(trees.counts[i]).toBe(0);
      const corners = cornersOf(mesh).map((each) => each.map((corner) => corner.applyMatrix4(matrix)));
      // float32 frames about the origin, and float64 corners far away.
      expectHeld(corners, trees, origin, 1e-5 + far * 1e-12);
      // Levels are a part of all, and edges those of the boxes.
      const part = await service.inspect({ objects: [id], levels: [1, 2], lines: true });
      expect([...new Set(part.trees.levels)].sort()).toEqual([1, 2].filter((level) => trees.levels.includes(level)));
      expect(part.trees.count).toBe([...trees.levels].filter((level) => level === 1 || level === 2).length);
      expectEdges(part.trees);
      service.removeObject(id);
    }
  });

  test('cells count each object once, and bounds are inside, crossing or outside as a frame says', async () => {
    const random = new Random(SEED);
    const mesh = await service.addMesh(icosphere(0.5, 1));
    const place = new Vector3(far, 0, -far);
    const shapes = [
      { type: 'mesh', mesh },
      { type: 'sphere', radius: 0.4 },
      { type: 'box', halfExtents: [0.2, 0.5, 0.3] },
    ] as const;
    const ids = Array.from({ length: 400 }, (_, i) =>
      service.addObject({
        shape: shapes[i % 3],
        motion: i % 2 === 0 ? 'static' : 'moving',
        matrix: random.placement(random.point(12).add(place), { low: 0.5, high: 2 }).elements,
      }),
    );
    const camera = new PerspectiveCamera(50, 1.5, 0.1, 30);
    camera.position.copy(place).add(new Vector3(0, 2, 14));
    camera.updateMatrixWorld();
    const { elements: projection } = camera.projectionMatrix;
    const viewport = { x: 0, y: 0, width: 300, height: 200 };
    service.setView({ projection, view: camera.matrixWorldInverse.elements, viewport });
    const { visible } = await service.update();
    const [inside, crossing] = [
      new Set(visible.ids.slice(0, visible.inside)),
      new Set(visible.ids.slice(visible.inside)),
    ];
    const { cells, bounds, origin } = await service.inspect({ octree: true, bounds: true, lines: true });
    expect(cells.counts.reduce((all, count) => all + count, 0)).toBe(ids.length);
    expect(Math.max(...cells.levels)).toBeGreaterThan(1);
    for (const moving of [0, 1]) {
      const own = [...cells.counts].filter((_, i) => cells.moving[i] === moving);
      expect(own.reduce((all, count) => all + count, 0)).toBe(ids.length / 2);
    }
    expect([...bounds.objects].sort()).toEqual([...ids].sort());
    const roots = indicesAt(cells.levels, 0);
    const cubes = roots.map((i) => toCube(cells, i, origin));
    for (const [i, id] of bounds.objects.entries()) {
      const at = ids.indexOf(id);
      expect(bounds.moving[i]).toBe(at % 2);
      expect(bounds.states[i]).toBe(inside.has(id) ? 2 : crossing.has(id) ? 1 : 0);
      // The root of its tree is around its bounds.
      const root = roots.findIndex((k) => cells.moving[k] === bounds.moving[i]);
      const centre = new Vector3().fromArray(bounds.frames, 12 * i + 9).add(new Vector3(...origin));
      expect(isIn(centre, cubes[root], 1e-5)).toBe(true);
    }
    expect([inside.size, crossing.size].every((size) => size > 5)).toBe(true);
    expectEdges(cells);
    expectEdges(bounds);
  });
});

/** Edges are twelve a box: each corner three times, at half axes from the centre. */
function expectEdges({ count, frames, lines }: { count: number; frames: Float32Array; lines: Float32Array }): void {
  expect(lines.length).toBe(72 * count);
  for (let i = 0; i < count; i++) {
    const corners = new Map<string, number>();
    const [x, y, z, centre] = [0, 3, 6, 9].map((k) => new Vector3().fromArray(frames, 12 * i + k));
    const sizes = [x, y, z].map((axis) => 2 * axis.length()).sort((a, b) => a - b);
    const lengths: number[] = [];
    for (let at = 72 * i; at < 72 * i + 72; at += 6) {
      const [from, to] = [0, 3].map((k) => new Vector3().fromArray(lines, at + k));
      for (const end of [from, to]) {
        const key = end.toArray().join();
        corners.set(key, (corners.get(key) ?? 0) + 1);
      }
      lengths.push(from.distanceTo(to));
    }
    lengths.sort((a, b) => a - b);
    for (let k = 0; k < 12; k++) expect(lengths[k]).toBeCloseTo(sizes[Math.floor(k / 4)], 3);
    if (sizes[0] > 1e-3) expect([...corners.values()]).toEqual(Array(8).fill(3));
    const middle = [...corners].reduce((sum, [key, times]) => {
      return sum.addScaledVector(new Vector3(...(key.split(',').map(Number) as [number, number, number])), times);
    }, new Vector3());
    expect(middle.divideScalar(24).distanceTo(centre)).toBeLessThan(1e-3 * (1 + centre.length()));
  }
}

test('a mesh that bones move shows the boxes of its pose', async () => {
  const mesh = icosphere(1, 2);
  const count = mesh.positions.length / 3;
  const bones = Uint8Array.from({ length: 4 * count }, (_, i) =>
    i % 4 === 0 && mesh.positions[3 * (i >> 2)] > 0 ? 1 : 0,
  );
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const id = service.addObject({
    shape: {
      type: 'mesh',
      mesh: await service.addMesh({
        ...mesh,
        positions: mesh.positions.slice(),
        skin: { bones, weights, boneCount: 2 },
      }),
    },
  });
  const right = new Matrix4().makeRotationZ(0.7).setPosition(3, 1, 0);
  const left = new Matrix4();
  for (const move of [new Matrix4(), right]) {
    service.setPose(id, { bones: Float32Array.of(...left.elements, ...move.elements) });
    await service.update();
    const { trees, origin } = await service.inspect({ objects: [id] });
    const corners = Array.from({ length: mesh.indices.length / 3 }, (_, i) =>
      [0, 1, 2].map((k) => {
        const vertex = mesh.indices[3 * i + k];
        const place = new Vector3().fromArray(mesh.positions, 3 * vertex);
        return place.applyMatrix4(bones[4 * vertex] === 1 ? move : left);
      }),
    );
    expectHeld(corners, trees, origin, 1e-4);
  }
});

test('points and lines are counted in their leaves; what is no mesh has one box', async () => {
  const random = new Random(SEED);
  const positions = Float32Array.from({ length: 3000 }, () => random.range(-1, 1));
  const ids: ObjectId[] = [];
  for (const topology of ['points', 'lines'] as const) {
    ids.push(
      service.addObject({
        shape: { type: 'mesh', mesh: await service.addMesh({ positions: positions.slice(), topology }) },
      }),
    );
  }
  ids.push(service.addObject({ shape: { type: 'capsule', radius: 1, from: [0, -1, 0], to: [0, 1, 0] } }));
  await service.update();
  const { trees } = await service.inspect({ objects: ids });
  const sums = ids.map((id) => trees.counts.reduce((all, count, i) => all + (trees.objects[i] === id ? count : 0), 0));
  expect(sums).toEqual([1000, 500, 0]);
  expect([...trees.objects].filter((id) => id === ids[2])).toHaveLength(1);
});

test('what is too much is cut off by level, said, and shared by the objects', async () => {
  const mesh = await service.addMesh(icosphere(1, 4));
  const ids = Array.from({ length: 3 }, () => service.addObject({ shape: { type: 'mesh', mesh } }));
  await service.update();
  const all = await service.inspect({ objects: ids });
  const some = await service.inspect({ objects: ids, octree: true, bounds: true, maxBoxes: 60 });
  expect([all.trees.isCutOff, some.trees.isCutOff]).toEqual([false, true]);
  expect([some.trees.count, some.bounds.isCutOff]).toEqual([60, false]);
  for (const id of ids) {
    const own = [...some.trees.objects.keys()].filter((i) => some.trees.objects[i] === id);
    expect(own.length).toBe(20);
    const whole = [...all.trees.objects.keys()].filter((i) => all.trees.objects[i] === id).slice(0, 20);
    expect(own.map((i) => some.trees.levels[i])).toEqual(whole.map((i) => all.trees.levels[i]));
  }
  expect((await service.inspect({ bounds: true, maxBoxes: 2 })).bounds).toMatchObject({ count: 2, isCutOff: true });
});

test('an empty scene has nothing inside; what cannot be asked is said', async () => {
  await service.update();
  const { trees, cells, bounds, origin } = await service.inspect({ octree: true, bounds: true, lines: true });
  expect([trees.count, cells.count, bounds.count, origin.every(Number.isFinite)]).toEqual([0, 0, 0, true]);
  const id = service.addObject({ shape: { type: 'sphere', radius: 1 } });
  const refused = (options: object, code: string, says: RegExp) =>
    expect(service.inspect(options), JSON.stringify(options)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(says),
    });
  await refused({ levels: [2, 1] }, 'INVALID_ARGUMENT', /levels\[1\] is 1, expected an integer in 2/);
  await refused({ levels: [0] }, 'INVALID_ARGUMENT', /levels\[1\]/);
  await refused({ levels: [0, 1, 2] }, 'INVALID_ARGUMENT', /levels/);
  await refused({ maxBoxes: 100_001 }, 'INVALID_ARGUMENT', /maxBoxes/);
  await refused({ view: 'none' }, 'INVALID_ARGUMENT', /view is "none"/);
  await refused({ octtree: true }, 'INVALID_ARGUMENT', /octtree/);
  await refused({ objects: [id, 12345] }, 'UNKNOWN_ID', /12345/);
  const abort = new AbortController();
  const answer = service.inspect({ octree: true, signal: abort.signal });
  abort.abort();
  await expect(answer).rejects.toMatchObject({ code: 'ABORTED' });
});

// Whether a mesh is closed, as reported by its build: against counts of all its edges.
import { createCollisionService, type MeshData } from 'collision-worker';
import { BoxGeometry, type BufferGeometry, SphereGeometry, TorusGeometry, TorusKnotGeometry } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import * as layout from '../../../src/shared/layout.js';
import type { Core } from '../../../src/worker/binding/core.js';
import { bake, startCore } from '../../fixtures/core.js';
import { BakedMesh } from '../../oracle/baked.js';
import { isClosed } from '../../oracle/closed.js';
import { dragon } from '../../oracle/dragon.js';
import { boxMesh, icosphere, merged, type Triangles, transformed, trianglesOf } from '../../oracle/meshes.js';
import { Random, SEED } from '../../oracle/random.js';

let core: Core;
beforeAll(async () => {
  core = await startCore();
});

function builtClosed(data: MeshData): boolean {
  const mesh = core.loadMesh(bake(core, data));
  const { closed } = core.meshInfo(mesh);
  core.freeMesh(mesh);
  return closed;
}

/** Unindexed: every triangle has corners of its own. */
function spread({ positions, indices }: Triangles): { positions: Float32Array } {
  return { positions: Float32Array.from([...indices].flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)])) };
}

/** Corners of the triangles, three each. */
const withFaces = ({ positions, indices }: Triangles, change: (faces: number[][]) => number[][]): Triangles => {
  const faces = Array.from({ length: indices.length / 3 }, (_, i) => [...indices.subarray(3 * i, 3 * i + 3)]);
  return { positions, indices: new Uint32Array(change(faces).flat()) };
};
const missing = (mesh: Triangles, face = 0) => withFaces(mesh, (faces) => faces.filter((_, i) => i !== face));
const turned = (mesh: Triangles, face?: number) =>
  withFaces(mesh, (faces) => faces.map(([a, b, c], i) => (face === undefined || i === face ? [a, c, b] : [a, b, c])));
const doubled = (mesh: Triangles, face: number) => withFaces(mesh, (faces) => [...faces, faces[face]]);
const plain = (geometry: BufferGeometry) => trianglesOf(geometry);

/** A grid of quads whose sides are glued, one pair as they are and the other reversed: a Klein bottle's triangles. */
function kleinBottle(columns: number, rows: number): Triangles {
  const positions: number[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) positions.push(Math.cos(column) * row, column * column, row);
  }
  const at = (column: number, row: number) => {
    const isBeyond = row === rows;
    return ((isBeyond ? 2 * columns - column : column) % columns) + (isBeyond ? 0 : row * columns);
  };
  const faces: number[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [a, b] = [at(column, row), at(column + 1, row)];
      const [c, d] = [at(column, row + 1), at(column + 1, row + 1)];
      faces.push(a, b, d, a, d, c);
    }
  }
  return { positions: new Float32Array(positions), indices: new Uint32Array(faces) };
}

/** One face of a tetrahedron is two triangles, whose common corner is on an edge of its neighbour. */
const tJunction: Triangles = {
  positions: Float32Array.of(0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 0, 0),
  indices: Uint32Array.of(0, 2, 1, 0, 4, 3, 4, 1, 3, 0, 3, 2, 1, 2, 3),
};

const triangle = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
const ball = icosphere(1, 3);
const box = plain(new BoxGeometry(1, 2, 3));

describe('a mesh is closed or not', () => {
  const CASES: [what: string, closed: boolean, data: () => MeshData][] = [
    ['an icosphere', true, () => ball],
    ['an icosphere without indices', true, () => spread(ball)],
    ['an icosphere inside out', true, () => turned(ball)],
    ["three's box, each side with corners of its own", true, () => box],
    ["three's box of many cells", true, () => plain(new BoxGeometry(1, 2, 3, 4, 5, 6))],
    ["three's torus, its seams welded", true, () => weldedPlaces(plain(new TorusGeometry(1, 0.4, 12, 24)))],
    ["three's sphere, whose poles have triangles without area", true, () => weldedPlaces(plain(new SphereGeometry()))],
    ['a knot', true, () => weldedPlaces(plain(new TorusKnotGeometry()))],
    ['two boxes apart', true, () => merged([box, transformed(box, (v) => v.addScalar(9))])],
    ['two boxes that share a side', true, () => merged([box, transformed(box, (v) => v.setX(v.x + 1))])],
    ['the dragon', true, () => dragon(47794)],
    ['a ball in a ball, turned', true, () => merged([ball, turned(icosphere(0.5, 2))])],
    ['two triangles back to back', true, () => ({ positions: triangle, indices: Uint32Array.of(0, 1, 2, 0, 2, 1) })],
    ['every triangle twice', true, () => merged([ball, ball])],
    ['every triangle and its back', true, () => merged([missing(ball), turned(missing(ball))])],
    ['a triangle of no area besides', true, () => withFaces(ball, (faces) => [...faces, [3, 3, 7]])],
    ['a box of a millimetre', true, () => transformed(box, (v) => v.multiplyScalar(1e-3))],
    ['a box of denormal numbers', true, () => transformed(box, (v) => v.multiplyScalar(1e-41))],
    ['the dragon, one face missing', false, () => missing(dragon(11102), 4711)],
    ['a triangle', false, () => ({ positions: triangle })],
    ['the same triangle twice', false, () => ({ positions: triangle, indices: Uint32Array.of(0, 1, 2, 1, 2, 0) })],
    ['the same 2¹⁶ times', false, () => ({ positions: triangle, indices: repeated([0, 1, 2], 65536) })],
    ['a face missing', false, () => missing(ball, 77)],
    ['a face missing of a box', false, () => missing(box)],
    ['a face turned', false, () => turned(ball, 5)],
    ['a face twice', false, () => doubled(ball, 5)],
    ['one face twice and another missing', false, () => doubled(missing(ball, 7), 5)],
    ['a T-junction', false, () => tJunction],
    [
      'a T-junction with a triangle of no area in it',
      true,
      () => withFaces(tJunction, (faces) => [...faces, [0, 1, 4]]),
    ],
    ['a Klein bottle', false, () => kleinBottle(8, 9)],
    ['a corner moved by the least there is', false, () => nudged(spread(ball))],
    ['a corner that is not a number', false, () => spoilt(spread(ball))],
  ];

  test.each(CASES)('%s: %s', (_, closed, make) => {
    const data = make();
    expect(isClosed(data), 'the oracle').toBe(closed);
    expect(builtClosed(data)).toBe(closed);
  });

  test('a triangle that is not finite is none: closed without it', () => {
    const { positions, indices } = ball;
    const bad = Float32Array.of(...positions, Number.NaN, 0, 0);
    expect(builtClosed({ positions: bad, indices: Uint32Array.of(...indices, 0, 1, bad.length / 3 - 1) })).toBe(true);
  });

  test('zeros of either sign are the same', () => {
    const signs = spread(boxMesh(2, 2, 2));
    const corner = transformedPositions(signs.positions, (x) => x + 1);
    expect(corner.filter((x) => x === 0).length).toBeGreaterThan(20);
    const random = new Random(SEED);
    const mixed = transformedPositions(corner, (x) => (x === 0 && random.chance(0.5) ? -0 : x));
    expect(mixed.some((x) => Object.is(x, -0))).toBe(true);
    expect(builtClosed({ positions: mixed })).toBe(true);
  });
});

describe(`random meshes, seed ${SEED}`, () => {
  const SEEDS: [string, (random: Random) => Triangles][] = [
    ['a ball', (random) => icosphere(1, random.integer(3))],
    ['a box', () => plain(new BoxGeometry())],
    ['a torus', () => weldedPlaces(plain(new TorusGeometry(1, 0.4, 4, 5)))],
    // Few possible positions, so that faces meet at random.
    ['on a small grid', (random) => onGrid(random, 1 + random.integer(12), 2)],
    ['flat, on a small grid', (random) => onGrid(random, 1 + random.integer(12), 1)],
  ];
  const CHANGES: ((random: Random, mesh: Triangles) => Triangles)[] = [
    (_, mesh) => mesh,
    (random, mesh) => missing(mesh, random.integer(mesh.indices.length / 3)),
    (random, mesh) => turned(mesh, random.integer(mesh.indices.length / 3)),
    (random, mesh) => doubled(mesh, random.integer(mesh.indices.length / 3)),
    (_, mesh) => merged([mesh, turned(mesh)]),
    (random, mesh) => merged([mesh, turned(missing(mesh, random.integer(mesh.indices.length / 3)))]),
    (random, mesh) => merged([mesh, SEEDS[random.integer(3)][1](random)]),
    (random, mesh) => withFaces(mesh, (faces) => faces.sort(() => random.next() - 0.5)),
    (random, mesh) =>
      withFaces(mesh, (faces) =>
        faces.map(([a, b, c]) =>
          random.pick([
            [a, b, c],
            [b, c, a],
          ]),
        ),
      ),
  ];

  test.each(SEEDS)('%s, changed: as counted', (_, make) => {
    const random = new Random(SEED);
    const counts = { open: 0, closed: 0 };
    for (let round = 0; round < 1000; round++) {
      let mesh = make(random);
      for (let i = random.integer(3); i >= 0; i--) mesh = random.pick(CHANGES)(random, mesh);
      if (!hasSurface(mesh)) continue;
      const data = random.chance(0.3) ? spread(mesh) : mesh;
      const expected = isClosed(data);
      expect(builtClosed(data), `round ${round}`).toBe(expected);
      counts[expected ? 'closed' : 'open']++;
    }
    console.log(counts);
    expect(Math.min(counts.open, counts.closed)).toBeGreaterThan(100);
  });
});

describe('a baked mesh says whether it is closed', () => {
  test.each([
    ['closed', ball, 1],
    ['open', missing(ball), 0],
  ])('%s', (_, mesh, word) => {
    const baked = new BakedMesh(bake(core, mesh));
    expect(baked.word(layout.MESH_CLOSED)).toBe(word);
    const copy = core.loadMesh(baked.buffer);
    expect(core.meshInfo(copy).closed).toBe(word === 1);
    expect(new BakedMesh(core.bakeMesh(copy)).word(layout.MESH_CLOSED)).toBe(word);
  });

  test.each([2, 0x80000000, 0xffffffff])('%i in the place of 0 or 1 is refused', (word) => {
    const forged = new BakedMesh(bake(core, ball)).setWord(layout.MESH_CLOSED, word).seal();
    expect(() => core.loadMesh(forged.buffer)).toThrow(
      expect.objectContaining({ code: 'BAD_DATA', message: expect.stringMatching(/header/) }),
    );
  });

  test('an older version is refused', () => {
    const old = new BakedMesh(bake(core, ball)).setWord(layout.MESH_VERSION, 2).seal();
    expect(() => core.loadMesh(old.buffer)).toThrow(
      expect.objectContaining({ code: 'BAD_DATA', message: expect.stringMatching(/another version/) }),
    );
  });
});

test('through the service: as it was built, until it is built again', async () => {
  const service = await createCollisionService();
  const mesh = await service.addMesh(spread(ball));
  expect(service.meshInfo(mesh).closed).toBe(true);
  // Every triangle separate: a refit keeps what the build found, and the tree that this makes necessary does not.
  const random = new Random(SEED);
  const { positions } = spread(ball);
  await service.updateMesh(mesh, nudged({ positions }).positions);
  expect(service.meshInfo(mesh)).toMatchObject({ closed: true, rebuilds: 0 });
  await service.updateMesh(
    mesh,
    transformedPositions(positions, () => random.range(-1, 1)),
  );
  await expect.poll(() => service.meshInfo(mesh)).toMatchObject({ closed: false, rebuilds: 1 });
  await service.updateMesh(mesh, positions);
  const copy = await service.addMesh(await service.bakeMesh(mesh));
  expect(service.meshInfo(copy).closed).toBe(service.meshInfo(mesh).closed);
  service.dispose();
});

function repeated(corners: number[], count: number): Uint32Array {
  return Uint32Array.from({ length: corners.length * count }, (_, i) => corners[i % corners.length]);
}

function transformedPositions(positions: Float32Array, change: (value: number) => number): Float32Array {
  return positions.map(change);
}

/** Changes one coordinate of one corner by one unit in the last place. */
function nudged({ positions }: { positions: Float32Array }): { positions: Float32Array } {
  const moved = positions.slice();
  new Uint32Array(moved.buffer)[100] ^= 1;
  return { positions: moved };
}

function spoilt({ positions }: { positions: Float32Array }): { positions: Float32Array } {
  return { positions: positions.map((x, i) => (i === 100 ? Number.NaN : x)) };
}

/** Merges positions that rounding separated. */
function weldedPlaces({ positions, indices }: Triangles): Triangles {
  return { positions: positions.map((x) => Math.round(x * 65536) / 65536), indices };
}

function onGrid(random: Random, faces: number, height: number): Triangles {
  const positions = Float32Array.from({ length: 24 }, (_, i) => [i & 3, (i >> 2) % 2, 0][i % 3]);
  for (let i = 0; i < 8; i++) positions.set([i & 1, (i >> 1) & 1, height === 1 ? 0 : i >> 2], 3 * i);
  const corners = Array.from({ length: faces * 3 }, () => random.integer(4 * height));
  return { positions, indices: new Uint32Array(corners) };
}

/** Returns whether one triangle at least has an area, which a build needs. */
function hasSurface({ positions, indices }: Triangles): boolean {
  for (let i = 0; i < indices.length; i += 3) {
    const places = new Set([0, 1, 2].map((k) => `${positions.subarray(3 * indices[i + k], 3 * indices[i + k] + 3)}`));
    if (places.size === 3) return true;
  }
  return false;
}

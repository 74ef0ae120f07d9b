// Two copies of one part were not duplicates if a triangle had a NaN corner, if the arrays had unused vertices or triangles
// without an area, or, with a tolerance of 0, if rounding had moved a far vertex past a near one, or one at zero.
import { createCollisionService, type MeshData } from 'collision-worker';
import { clash, type Part } from 'collision-worker/clash';
import { expect, test } from 'vitest';
import { boxMesh } from '../oracle/meshes.js';

const cube = boxMesh(1, 1, 1);
const at = (x: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1];

const copies = async (meshes: (MeshData | ArrayBuffer)[], tolerance: number, matrices: number[][] = []) => {
  const parts = meshes.map((mesh, i): Part => ({ id: `${i}`, mesh, matrix: matrices[i] ?? at(1e-4 * i) }));
  const { clashes, unread } = await clash(parts, null, [{ name: 'twice', kind: 'duplicates', tolerance }]);
  expect(unread).toEqual([]);
  return clashes.map(({ a, b }) => `${a.id} ${b.id}`).sort();
};

/** The cube with more vertices and triangles. */
function withMore(vertices: number[], triangles: number[]): MeshData {
  return {
    positions: Float32Array.from([...cube.positions, ...vertices]),
    indices: Uint32Array.from([...cube.indices, ...triangles]),
  };
}

test('copies are found whatever else their arrays have', async () => {
  const next = cube.positions.length / 3;
  const service = await createCollisionService();
  const baked = await service.bakeMesh(
    await service.addMesh({ positions: cube.positions.slice(), indices: cube.indices.slice() }),
  );
  service.dispose();
  const meshes = [
    cube,
    withMore([Number.NaN, 0, 0], [0, 1, next]),
    withMore([0, Number.POSITIVE_INFINITY, 0, 9, 9, 9], [0, next, next + 1]),
    withMore([5, 5, 5, -5, 0, 0], []),
    withMore([0.1, 0.2, 0.3], [next, next, next, 0, next, 0]),
    withMore([0, 0, 0, 0.125, 0.125, 0.125, 0.25, 0.25, 0.25], [next, next + 1, next + 2]),
    baked,
  ];
  const pairs = meshes.flatMap((_, i) => meshes.slice(i + 1).map((_, k) => `${i} ${i + 1 + k}`));
  expect(await copies(meshes, 1e-3)).toEqual(pairs);
  // Consecutive ones are 0.0001 apart.
  expect(await copies(meshes, 1.5e-4)).toEqual(pairs.filter((pair) => Number(pair[2]) - Number(pair[0]) === 1));
});

test('with a tolerance of 0, copies are told by what float64 has of them', async () => {
  const tall: MeshData = {
    positions: Float32Array.of(0, -1e6, 0, 0, 1e6, 0, 0, 0, 1, 1, 0, 0),
    indices: Uint32Array.of(0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2),
  };
  const rounded = at(0);
  rounded[4] = -5e-17;
  const other = at(0);
  other[4] = -5e-12;
  expect(await copies([tall, tall], 0, [at(0), rounded])).toEqual(['0 1']);
  expect(await copies([tall, tall], 0, [rounded, at(0)])).toEqual(['0 1']);
  expect(await copies([tall, tall], 0, [at(0), other])).toEqual([]);
});

test('copies whose places differ by rounding alone are found if one of their corners is at zero', async () => {
  const next = at(-1);
  next[12] += 2 ** -53; // the next number
  expect(1 + next[12]).not.toBe(0);
  const unit: MeshData = {
    positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0, 1),
    indices: Uint32Array.of(0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2),
  };
  expect(await copies([unit, unit], 0, [at(-1), next])).toEqual(['0 1']);
  expect(await copies([unit, unit], 0, [next, at(-1)])).toEqual(['0 1']);
  const places = [at(0), at(0.001), at(0.0011)];
  expect(await copies([unit, unit, unit], 0.001, places)).toEqual(['0 1', '1 2']);
});

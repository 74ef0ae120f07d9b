// Parts whose mesh was baked with features or named boxes, as for picks that snap, could not be read: what follows the mesh in
// its file was taken for damage.
import { createCollisionService, type MeshData } from 'collision-worker';
import { clash, type Part } from 'collision-worker/clash';
import { afterAll, expect, test } from 'vitest';
import { boxMesh } from '../oracle/meshes.js';

const service = await createCollisionService();
afterAll(() => service.dispose());

const boxes = [{ name: 'all', halfExtents: [1, 1, 1] }] as const;
const copy = ({ positions, indices }: MeshData) => ({ positions: positions.slice(), indices: indices!.slice() });
const cube = copy(boxMesh(1, 1, 1));
const plain = await service.bakeMesh(await service.addMesh(copy(cube)));
const withFeatures = await service.addMesh(copy(cube), { features: true });
const bakedMeshes: [string, ArrayBuffer][] = [
  ['features', await service.bakeMesh(withFeatures)],
  ['boxes', await service.bakeMesh(await service.addMesh(copy(cube)), { boxes })],
  ['features and boxes', await service.bakeMesh(withFeatures, { boxes })],
];

const check = (mesh: ArrayBuffer) => {
  const parts: Part[] = [
    { id: 'baked', mesh },
    { id: 'given', mesh: cube },
    { id: 'moved', mesh: cube, matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.25, 0, 0, 1] },
  ];
  return clash(parts, null, [
    { name: 'hard', kind: 'hard' },
    { name: 'twice', kind: 'duplicates' },
  ]);
};

test.each(bakedMeshes)('a mesh that was baked with %s clashes as one without', async (_, mesh) => {
  expect(mesh.byteLength).toBeGreaterThan(plain.byteLength);
  const report = await check(mesh);
  expect(report.unread).toEqual([]);
  expect(report.clashes).toHaveLength(4);
  expect(report).toEqual(await check(plain));
});

test.each(bakedMeshes)('a mesh with %s that is cut short is not read', async (_, mesh) => {
  for (const bytes of [mesh.byteLength - 16, plain.byteLength - 16]) {
    const { unread, clashes } = await check(mesh.slice(0, bytes));
    expect(unread.map(({ id }) => id)).toEqual(['baked']);
    expect(clashes).toHaveLength(1);
  }
});

test('a mesh that anything else follows is not read', async () => {
  const longer = new Uint8Array(plain.byteLength + 64);
  longer.set(new Uint8Array(plain));
  const { unread } = await check(longer.buffer);
  expect(unread.map(({ id }) => id)).toEqual(['baked']);
});

// One of many was looked for in a list, once for each of the many: what left the scene, the Meshes in a table, the
// geometries that reported their progress.
import { BufferGeometry, Float32BufferAttribute, Mesh, MeshBasicMaterial } from 'three';
import { expect, test } from 'vitest';
import { MeshPool } from '../../src/client/three/geometry/mesh-pool.js';
import { MeshTable } from '../../src/client/three/track/mesh-table.js';
import { type Placement, SceneObjects } from '../../src/client/three/track/scene-objects.js';
import { makeId } from '../../src/shared/ids.js';

/** Quadratic work on so many would take a minute and more. */
const MANY = 160_000;
const TIMEOUT = 20_000;

test('many objects leave the scene while a query is under way, and are found in its answer', {
  timeout: TIMEOUT,
}, () => {
  const objects = new SceneObjects();
  const object = new Mesh();
  const placements = Array.from({ length: MANY }, (_, i): Placement => {
    return { id: makeId(i, 1), object, instanceId: i, standIn: undefined as never };
  });
  for (const placement of placements) objects.add(placement);
  const first = objects.begin();
  for (const { id } of placements.slice(0, MANY / 2)) objects.remove(id);
  const second = objects.begin();
  for (const { id } of placements.slice(MANY / 2).reverse()) objects.remove(id);
  const { departed } = objects;
  expect(placements.every((placement) => objects.find(placement.id) === placement)).toBe(true);
  expect(placements.every((placement) => departed.get(placement.id) === placement)).toBe(true);
  objects.end(first);
  expect(placements.map(({ id }) => objects.find(id) !== undefined).indexOf(true)).toBe(MANY / 2);
  objects.end(second);
  expect(placements.some(({ id }) => objects.find(id) !== undefined)).toBe(false);
  expect(departed.size).toBe(MANY);
});

test('many Meshes leave a table and come back to it', { timeout: TIMEOUT }, () => {
  const table = new MeshTable();
  const geometry = new BufferGeometry();
  const material = new MeshBasicMaterial();
  const kind = { geometry, material, side: material.side, isDrawn: true, isVisible: true, layers: 1 };
  // What the table reads of a Mesh: so many of three's would take seconds.
  const like = { geometry, material, visible: true, layers: { mask: 1 }, matrixWorld: { elements: [] } };
  const owners = Array.from({ length: MANY }, () => ({ object: { ...like } as unknown as Mesh, place: -1 }));
  const set = (i: number) => table.set(owners[i], makeId(i, 1), { ...kind });
  for (let i = 0; i < MANY; i++) set(i);
  for (let i = MANY - 1; i >= 0; i -= 2) table.remove(owners[i]);
  expect(table.size).toBe(MANY / 2);
  for (let i = MANY - 1; i >= 0; i -= 2) set(i);
  expect(table.size).toBe(MANY);
  owners.forEach(({ place }, i) => {
    if (place !== i) expect(place).toBe(i);
  });
  const changed: unknown[] = [];
  table.findChanged(0, MANY, changed as never);
  expect(changed).toEqual([]);
  for (const i of [3, MANY - 1]) owners[i].object.visible = false;
  table.findChanged(0, MANY, changed as never);
  expect(changed).toEqual([owners[3], owners[MANY - 1]]);
});

test('many geometries report how far they are built', { timeout: TIMEOUT }, async () => {
  const reports: number[] = [];
  let meshes = 0;
  const service = {
    addMesh: async (_: unknown, { onProgress }: { onProgress: (fraction: number) => void }) => {
      await undefined; // as messages do
      for (const fraction of [0.1, 0.5, 1]) onProgress(fraction);
      return ++meshes;
    },
  };
  const pool = new MeshPool(service as never, () => reports.push(pool.fraction));
  const positions = new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3);
  const geometries = Array.from({ length: MANY / 8 }, () => new BufferGeometry().setAttribute('position', positions));
  const shared = geometries.map((geometry) => pool.acquire(geometry, null, 0, { isStatic: false, onMeshChange() {} }));
  expect(pool.fraction).toBeLessThan(1);
  await pool.built();
  expect(meshes).toBe(geometries.length);
  expect(reports.every((fraction, i) => fraction <= 1 && fraction >= (reports[i - 1] ?? 0))).toBe(true);
  expect(reports.at(-1)).toBe(1);
  for (const mesh of shared.slice(1)) pool.release(mesh);
  expect(pool.fraction).toBe(1);
});

// One of many was searched for in a list, once for each of the many: objects removed from the scene, Meshes in a
// table, geometries that reported their progress.
import { BufferGeometry, Float32BufferAttribute, type Mesh, MeshBasicMaterial, Object3D } from 'three';
import { expect, test } from 'vitest';
import { MeshPool } from '../../src/client/three/geometry/mesh-pool.js';
import { MeshTable } from '../../src/client/three/track/mesh-table.js';
import { SceneObjects, type StandInLike } from '../../src/client/three/track/scene-objects.js';
import { makeId } from '../../src/shared/ids.js';

/** Quadratic work on this many would take a minute and more. */
const MANY = 160_000;
const TIMEOUT = 20_000;

test('many objects leave the scene while a query is under way, and are found in its answer', {
  timeout: TIMEOUT,
}, () => {
  const objects = new SceneObjects();
  const ids = Uint32Array.from({ length: MANY }, (_, i) => makeId(i, 1));
  // One owner is enough: this many of three's objects are hundreds
  // of megabytes, which takes longer than the tested code.
  const owner = { object: new Object3D(), isInstanced: false, ids: new Uint32Array(0), reject() {} };
  const standIns = Array.from(ids, (): StandInLike => ({ owner, seenBy: () => null }));
  const one = (i: number) => ids.subarray(i, i + 1);
  standIns.forEach((standIn, i) => {
    objects.add(standIn, one(i), 0);
  });
  const first = objects.begin();
  for (let i = 0; i < MANY / 2; i++) objects.remove(standIns[i], one(i), 0);
  const second = objects.begin();
  for (let i = MANY - 1; i >= MANY / 2; i--) objects.remove(standIns[i], one(i), 0);
  const { departed } = objects;
  expect(ids.every((id, i) => objects.find(id)?.standIn === standIns[i])).toBe(true);
  expect(ids.every((id, i) => departed.get(id)?.standIn === standIns[i])).toBe(true);
  objects.end(first);
  expect(ids.findIndex((id) => objects.find(id) !== undefined)).toBe(MANY / 2);
  objects.end(second);
  expect(ids.some((id) => objects.find(id) !== undefined)).toBe(false);
  expect(ids.every((id, i) => departed.get(id)?.standIn === standIns[i])).toBe(true);
});

test('many Meshes leave a table and come back to it', { timeout: TIMEOUT }, () => {
  const table = new MeshTable();
  const geometry = new BufferGeometry();
  const material = new MeshBasicMaterial();
  const kind = { material, surface: material.side, isDrawn: true, isVisible: true, layers: 1 };
  // The properties that the table reads of a Mesh: this many of three's would take seconds.
  const like = { geometry, material, visible: true, layers: { mask: 1 }, matrixWorld: { elements: [] } };
  const owners = Array.from({ length: MANY }, () => {
    const drawn = { ...like } as unknown as Mesh;
    return { object: drawn, drawn, place: -1 };
  });
  const set = (i: number) => table.set(owners[i], makeId(i, 1), geometry, { ...kind });
  for (let i = 0; i < MANY; i++) set(i);
  for (let i = MANY - 1; i >= 0; i -= 2) table.remove(owners[i]);
  expect(table.size).toBe(MANY / 2);
  for (let i = MANY - 1; i >= 0; i -= 2) set(i);
  expect(table.size).toBe(MANY);
  // They are sorted once none has been added for a while.
  for (let n = 0; n < 20; n++) table.size;
  owners.forEach(({ place }, i) => {
    if (place !== i) expect(place).toBe(i);
  });
  const changed: unknown[] = [];
  table.findChanged(0, MANY, changed as never);
  expect(changed).toEqual([]);
  for (const i of [3, MANY - 1]) owners[i].drawn.visible = false;
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

// Models of all kinds on the page *Your model*: each is shown or refused with a message, soon, and the page keeps
// running meanwhile. `LARGE=1` tries one of 200 MB, too, and one of 5,000 parts instead of 2,000.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { type PerspectiveCamera, Vector3 } from 'three';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { ModelPage } from '../../demo/model/model-page.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Glb } from '../fixtures/glb.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';
import { cameraIn } from './camera.js';
import { longestTask, startTrace } from './work-of-ours.js';

declare global {
  interface Window {
    modelPage?: ModelPage;
  }
}

const PATIENCE = { timeout: 60_000, interval: 50 };
/** A model has to be shown within a minute. */
const LOADING = { timeout: 60_000, interval: 50 };
/** Parts along each side of the plate. */
const SIDE = process.env.LARGE === '1' ? { x: 100, z: 50 } : { x: 50, z: 40 };
const PARTS = SIDE.x * SIDE.z;
const FAR = 1e6;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());
beforeEach(async () => {
  ({ page, faults } = await demo.open({ width: 1440, height: 900 }, 'model.html?quality=low'));
  await demoStarted(page);
  await page.waitForFunction(() => window.modelPage !== undefined);
  return async () => {
    expect(faults).toEqual([]);
    await page.close();
  };
});

const named = () => page.locator('#hit-name').textContent();
const detail = () => page.locator('#hit-detail').textContent();

async function figures(expected: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(expected)) {
    const figure = () => page.locator(`#figures tr:has(th:text-is("${name}")) td`).textContent();
    await expect.poll(figure, PATIENCE).toBe(value);
  }
}

/** Gives a file to the page, and returns how long it takes to be shown; prints what blocked the main thread. */
async function show(name: string, file: Buffer): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'own-model-'));
  const path = join(folder, name);
  writeFileSync(path, file);
  await startTrace(demo.browser, page);
  const start = performance.now();
  await page.setInputFiles('#file', path);
  await expect.poll(() => page.evaluate(() => document.body.dataset.model), LOADING).toBe(name);
  const ms = performance.now() - start;
  await expect.poll(() => page.locator('#progress').isHidden(), PATIENCE).toBe(true);
  rmSync(folder, { recursive: true });
  console.log(name, `${Math.round(ms)} ms`, await longestTask(demo.browser, page));
  expect(await page.locator('#error').textContent()).toBe('');
  return ms;
}

async function pointAt(place: Vector3): Promise<void> {
  const { width, height } = page.viewportSize()!;
  const camera: PerspectiveCamera = await cameraIn(page, 'window.modelPage.camera');
  const at = place.clone().project(camera);
  await page.mouse.move(Math.round(((at.x + 1) / 2) * width), Math.round(((1 - at.y) / 2) * height));
}

/** A mesh of its own for each part, on a plate that the camera sees as a whole. */
function plate(): Buffer {
  const glb = new Glb();
  const { positions, indices } = boxMesh(0.4, 0.4, 0.4);
  const [meshes, nodes]: [unknown[], unknown[]] = [[], []];
  for (let x = 0; x < SIDE.x; x++) {
    for (let z = 0; z < SIDE.z; z++) {
      const own = positions.map((each, i) => (i % 3 === 1 ? each * (1 + 0.001 * x) : each));
      const attributes = { POSITION: glb.add(own, 'VEC3', true) };
      meshes.push({ primitives: [{ attributes, indices: glb.add(Uint16Array.from(indices), 'SCALAR') }] });
      nodes.push({ name: `part ${x} ${z}`, mesh: meshes.length - 1, translation: [x, 0, z] });
    }
  }
  Object.assign(glb.json, { meshes, nodes });
  return glb.write();
}

test(`${PARTS} parts`, async () => {
  await show('plate.glb', plate());
  await figures({ objects: PARTS.toLocaleString('en'), triangles: (12 * PARTS).toLocaleString('en') });
  for (const [x, z] of [
    [SIDE.x - 1, SIDE.z - 1],
    [SIDE.x / 2, SIDE.z / 2],
    [3, SIDE.z - 6],
  ]) {
    await pointAt(new Vector3(x, 0.2 * (1 + 0.001 * x), z));
    await expect.poll(named, PATIENCE).toBe(`part_${x}_${z}`);
  }
});

test('instances', async () => {
  const glb = new Glb();
  const { positions, indices } = icosphere(0.6, 6);
  const attributes = { POSITION: glb.add(Float32Array.from(positions), 'VEC3', true) };
  const places = Float32Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? i / 3 : 0));
  Object.assign(glb.json, {
    extensionsUsed: ['EXT_mesh_gpu_instancing'],
    meshes: [{ primitives: [{ attributes, indices: glb.add(Uint32Array.from(indices), 'SCALAR') }] }],
    nodes: [
      {
        name: 'balls',
        mesh: 0,
        extensions: { EXT_mesh_gpu_instancing: { attributes: { TRANSLATION: glb.add(places, 'VEC3') } } },
      },
    ],
  });
  await show('balls.glb', glb.write());
  await figures({ objects: '100' });
  await pointAt(new Vector3(70, 0, 0.5));
  await expect.poll(named, PATIENCE).toBe('balls');
  expect(await detail()).toMatch(/instance (69|70|71)/); // a nearer one may be in front of it
});

test('skinned, 10⁶ units away', async () => {
  const glb = new Glb();
  const { positions, indices } = boxMesh(0.5, 4, 0.5);
  const count = positions.length / 3;
  // The upper end follows the second bone, which is bent by a quarter turn.
  const isUpper = (i: number): boolean => positions[3 * i + 1] > 0;
  const joints = Uint8Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 && isUpper(i >> 2) ? 1 : 0));
  const weights = Float32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 0 ? 1 : 0));
  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const attributes = {
    POSITION: glb.add(Float32Array.from(positions), 'VEC3', true),
    JOINTS_0: glb.add(joints, 'VEC4'),
    WEIGHTS_0: glb.add(weights, 'VEC4'),
  };
  Object.assign(glb.json, {
    meshes: [{ primitives: [{ attributes, indices: glb.add(Uint16Array.from(indices), 'SCALAR') }] }],
    skins: [{ joints: [1, 2], inverseBindMatrices: glb.add(Float32Array.from([...identity, ...identity]), 'MAT4') }],
    nodes: [
      { name: 'arm', mesh: 0, skin: 0 },
      { name: 'root', children: [2], translation: [FAR, 0, 0] },
      { name: 'elbow', rotation: [0, 0, Math.SQRT1_2, Math.SQRT1_2] },
    ],
  });
  await show('arm.glb', glb.write());
  // Its upper end, at (0, 2, 0) at rest, is at (-2, 0, 0) beside the root.
  await pointAt(new Vector3(FAR - 1.9, 0, 0));
  await expect.poll(named, PATIENCE).toBe('arm');
  expect(await detail()).toMatch(/bone elbow/);
});

test('truncated', async () => {
  const whole = plate();
  await page.setInputFiles('#file', {
    name: 'cut.glb',
    mimeType: 'application/octet-stream',
    buffer: whole.subarray(0, whole.length / 2),
  });
  const error = () => page.locator('#error').textContent();
  await expect.poll(error, PATIENCE).toMatch(/cut\.glb could not be read/);
  expect(await page.evaluate(() => document.body.dataset.model)).toBe('dragon');
});

test.runIf(process.env.LARGE === '1')('200 MB', { timeout: 240_000 }, async () => {
  const glb = new Glb();
  const side = 2000;
  const count = (side + 1) ** 2;
  const positions = new Float32Array(3 * count);
  const normals = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) {
    const [x, z] = [i % (side + 1), Math.floor(i / (side + 1))];
    positions.set([x / 100, 0.3 * Math.sin(x / 90) * Math.cos(z / 70), z / 100], 3 * i);
    normals[3 * i + 1] = 1;
  }
  const indices = new Uint32Array(6 * side * side);
  for (let cell = 0; cell < side * side; cell++) {
    const a = (cell % side) + Math.floor(cell / side) * (side + 1);
    indices.set([a, a + side + 1, a + 1, a + 1, a + side + 1, a + side + 2], 6 * cell);
  }
  const attributes = { POSITION: glb.add(positions, 'VEC3', true), NORMAL: glb.add(normals, 'VEC3') };
  Object.assign(glb.json, {
    meshes: [{ primitives: [{ attributes, indices: glb.add(indices, 'SCALAR') }] }],
    nodes: [{ name: 'hills', mesh: 0 }],
  });
  const file = glb.write();
  console.log(`${(file.length / 2 ** 20).toFixed(0)} MB`);
  await show('hills.glb', file);
  await figures({ triangles: '8,000,000' });
  await pointAt(new Vector3(10, 0, 10));
  await expect.poll(named, PATIENCE).toBe('hills');
});

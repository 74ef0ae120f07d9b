import type { Page } from 'playwright';
import { type PerspectiveCamera, Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createBody } from '../../demo/characters/body.js';
import { Crowd } from '../../demo/characters/crowd.js';
import type { ModelPage } from '../../demo/model/model-page.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';
import { framesOf } from './live-truth.js';

declare global {
  interface Window {
    modelPage?: ModelPage;
  }
}

const PATIENCE = { timeout: 60_000, interval: 50 };
const FAR = 1e6;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());
afterEach(async () => {
  await page.close();
  expect(faults).toEqual([]);
});

async function open(device: { width: number; height: number; hasTouch?: boolean }): Promise<void> {
  ({ page, faults } = await demo.open(device, 'model.html?quality=low'));
  await demoStarted(page);
  await page.waitForFunction(() => window.modelPage !== undefined);
}

const named = () => page.locator('#hit-name').textContent();
const shown = () => page.evaluate(() => document.body.dataset.model);
const error = () => page.locator('#error').textContent();
const figure = (name: string) => page.locator(`#figures tr:has(th:text-is("${name}")) td`).textContent();
const give = (...files: { name: string; text: string | Buffer }[]) =>
  page.setInputFiles(
    '#file',
    files.map(({ name, text }) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) })),
  );

/** A pixel of the image, where a point of the world is drawn. */
async function pixelOf(place: Vector3): Promise<[x: number, y: number]> {
  const { width, height } = page.viewportSize()!;
  const camera: PerspectiveCamera = await cameraIn(page, 'window.modelPage.camera');
  const at = place.clone().project(camera);
  return [Math.round(((at.x + 1) / 2) * width), Math.round(((1 - at.y) / 2) * height)];
}

/** A glTF of cubes in a row along x, each with its name. */
function cubes(names: readonly string[], { buffer = '', x = 0 } = {}) {
  const corners = Float32Array.from({ length: 24 }, (_, i) => ((i / 3) & (1 << (i % 3)) ? 1 : -1));
  const faces = Uint16Array.from('032013 456576 014154 237372 026642 135573'.replaceAll(' ', ''), Number);
  // Two triangles per face; all that matters here is that they close the cube.
  const bytes = Buffer.concat([Buffer.from(corners.buffer), Buffer.from(faces.buffer)]);
  const uri = buffer || `data:application/octet-stream;base64,${bytes.toString('base64')}`;
  const json = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: names.map((_, i) => i) }],
    nodes: names.map((name, i) => ({ name, mesh: 0, translation: [x + 4 * i, 0, 0] })),
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
    buffers: [{ byteLength: bytes.length, uri }],
    bufferViews: [
      { buffer: 0, byteLength: 96 },
      { buffer: 0, byteOffset: 96, byteLength: faces.byteLength },
    ],
    accessors: [
      { bufferView: 0, componentType: 5126, count: 8, type: 'VEC3', min: [-1, -1, -1], max: [1, 1, 1] },
      { bufferView: 1, componentType: 5123, count: faces.length, type: 'SCALAR' },
    ],
  };
  return { text: JSON.stringify(json), bytes };
}

describe('at 1440 × 900', () => {
  beforeEach(() => open({ width: 1440, height: 900 }));

  test('a sample is there, and others agree about what is under the mouse', async () => {
    expect(await shown()).toBe('dragon');
    expect(await figure('triangles')).toBe('11,102');
    await page.getByLabel('Compare').check();
    await page.mouse.move(...(await pixelOf(new Vector3(-0.01, 0.13, 0))));
    await expect.poll(named, PATIENCE).toBe('dragon');
    await expect.poll(() => figure('three’s Raycaster'), PATIENCE).toMatch(/^\d+\.\d\d ms, same hit$/);
    expect(await figure('three-mesh-bvh')).toMatch(/^\d+\.\d\d ms, same hit$/);
    expect(await figure('mouse to answer')).toMatch(/ms$/);
    await page.mouse.move(700, 40);
    await expect.poll(named, PATIENCE).toBe('nothing');
    expect(await error()).toBe('');
  });

  test('the boxes of the tree are drawn, level by level, and the octree', async () => {
    const lines = () =>
      page.evaluate(async () => {
        for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
        const sizes: number[] = [];
        window.modelPage!.helper?.traverse((each) => {
          const { geometry } = each as unknown as { geometry?: { attributes: { position?: { count: number } } } };
          if (each.visible) sizes.push(geometry?.attributes.position?.count ?? 0);
        });
        return sizes.reduce((sum, size) => sum + size, 0);
      });
    const level = page.getByLabel('Boxes, level').and(page.locator('input'));
    const sizes: number[] = [];
    for (const each of [1, 3, 5]) {
      await level.fill(String(each));
      await level.press('Enter');
      let drawn = 0;
      const draw = async () => {
        drawn = await lines();
        return drawn;
      };
      await expect.poll(draw, PATIENCE).toBeGreaterThan(sizes.at(-1) ?? 0);
      sizes.push(drawn);
    }
    // At most four boxes of twelve edges below each box of the level above.
    expect(sizes[0]).toBeLessThanOrEqual(4 * 24);
    await level.fill('0');
    await level.press('Enter');
    await expect.poll(() => page.evaluate(() => window.modelPage!.helper === null), PATIENCE).toBe(true);
    await page.getByLabel('Octree').check();
    await expect.poll(lines, PATIENCE).toBeGreaterThanOrEqual(24);
    expect(await error()).toBe('');
  });

  test('a glTF of one’s own is picked by its parts; 10⁶ units away, too', async () => {
    for (const x of [0, FAR]) {
      await give({ name: `row ${x}.gltf`, text: cubes(['left', 'middle', 'right'], { x }).text });
      await expect.poll(shown, PATIENCE).toBe(`row ${x}.gltf`);
      await expect
        .poll(async () => [await figure('objects'), await figure('triangles')], PATIENCE)
        .toEqual(['3', '36']);
      await framesOf(page);
      for (const [i, name] of ['left', 'middle', 'right'].entries()) {
        await page.mouse.move(...(await pixelOf(new Vector3(x + 4 * i, 0, 0))));
        await expect.poll(named, PATIENCE).toBe(name);
      }
    }
  });

  test('a buffer beside the glTF is found; without it, it is said which one is missing', async () => {
    const { text, bytes } = cubes(['one'], { buffer: 'parts%20of.bin' });
    await give({ name: 'apart.gltf', text }, { name: 'parts of.bin', text: bytes });
    await expect.poll(shown, PATIENCE).toBe('apart.gltf');
    await give({ name: 'alone.gltf', text });
    await expect.poll(error, PATIENCE).toMatch(/alone\.gltf could not be read.*it needs parts of\.bin beside it/);
    expect(await shown()).toBe('apart.gltf');
    faults = faults.filter((fault) => !fault.includes('data:'));
  });

  test('OBJ, STL and PLY are read; what is broken, empty or of another kind is said, and what was shown stays', async () => {
    const corners = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n';
    await give({ name: 'a.obj', text: `${corners}o four\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n` });
    await expect.poll(shown, PATIENCE).toBe('a.obj');
    const facet = 'facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n';
    await give({ name: 'b.stl', text: `solid one\n${facet}endsolid one\n` });
    await expect.poll(shown, PATIENCE).toBe('b.stl');
    const header = 'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n';
    await give({ name: 'c.ply', text: `${header}end_header\n0 0 0\n1 0 0\n0 1 0\n` });
    await expect.poll(shown, PATIENCE).toBe('c.ply');
    await expect.poll(() => figure('points and lines'), PATIENCE).toBe('3');
    for (const [file, says] of [
      [{ name: 'broken.glb', text: 'glTF and no more' }, /broken\.glb could not be read/],
      [{ name: 'empty.glb', text: '' }, /empty\.glb is empty/],
      [{ name: 'none.gltf', text: JSON.stringify({ asset: { version: '2.0' } }) }, /none\.gltf could not be read/],
      [{ name: 'house.ifc', text: 'ISO-10303-21;' }, /house\.ifc: expected a model, \.glb/],
      [{ name: 'void.obj', text: '# nothing' }, /void\.obj could not be read: nothing in it is drawn/],
    ] as const) {
      await give(file);
      await expect.poll(error, PATIENCE).toMatch(says);
      expect(await shown()).toBe('c.ply');
    }
    await give({ name: 'a.obj', text: `${corners}f 1 3 2\n` });
    await expect.poll(shown, PATIENCE).toBe('a.obj');
    expect(await page.locator('#error').isHidden()).toBe(true);
  });

  test('samples can be chosen, and a rigged one says its bones', async () => {
    await page.getByLabel('Compare').check();
    await page.getByLabel('Move, if it can').uncheck();
    await page.locator('#controls-inside select').selectOption('Walkers, rigged');
    await expect.poll(shown, PATIENCE).toBe('walkers');
    await framesOf(page);
    const crowd = new Crowd('low', createBody('low'));
    crowd.root.updateMatrixWorld(true);
    // Another walker may be in front of one of them.
    const [{ mesh }] = crowd.walkers;
    await page.mouse.move(...(await pixelOf(new Vector3().setFromMatrixPosition(mesh.skeleton.bones[1].matrixWorld))));
    await expect.poll(() => page.locator('#hit-detail').textContent(), PATIENCE).toMatch(/bone \w+/);
    await expect.poll(() => figure('three-mesh-bvh'), PATIENCE).toBe('no tree of bones');
    expect(await error()).toBe('');
  });
});

test('a finger points on a phone', async () => {
  await open({ width: 390, height: 844, hasTouch: true });
  await page.touchscreen.tap(...(await pixelOf(new Vector3(-0.01, 0.13, 0))));
  await expect.poll(named, PATIENCE).toBe('dragon');
  expect(await error()).toBe('');
});

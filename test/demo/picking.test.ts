import type { Page } from 'playwright';
import { type Group, Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { METHODS } from '../../demo/picking/methods.js';
import { createObjects, poseObjects } from '../../demo/picking/objects.js';
import type { PaneRect } from '../../demo/picking/pane.js';
import type { PickingPage } from '../../demo/picking/picking-page.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';
import { cameraIn } from './camera.js';
import { dragonGeometry } from './dragon-geometry.js';
import { truthAt } from './picking-truth.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
const RADIUS = 20;

declare global {
  interface Window {
    pickingDemo?: PickingPage;
  }
}

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];
let objects: Group;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open({ width: 1280, height: 640 }, 'picking.html'));
  await demoStarted(page);
  objects = createObjects(dragonGeometry(), 12);
  poseObjects(objects, 1);
}, 180_000);
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
});

const rectOf = (pane: number) => page.evaluate<PaneRect>(`window.pickingDemo.panes[${pane}].rect`);
const textOf = async (selector: string): Promise<string> => (await page.locator(selector).textContent()) ?? '';

/** The panel's table: name and length of each method. */
const table = () =>
  page.evaluate(() => {
    const rows = [...document.querySelectorAll('#methods tr')];
    return rows.map(({ id, children: [, name, length] }) => ({
      id: id.replace('method-', ''),
      name: name.textContent,
      length: Number.parseFloat(length.textContent || '0'),
    }));
  });

/** Moves the mouse there and waits until the panel shows what three finds; then compares the hits with three's. */
async function point(pane: number, x: number, y: number) {
  const truth = truthAt(
    objects,
    await cameraIn(page, `window.pickingDemo.panes[${pane}].camera`),
    await rectOf(pane),
    x,
    y,
    RADIUS,
  );
  await page.mouse.move(x, y);
  const differences = async () => {
    return (await table()).flatMap(({ id, name, length }) => {
      const expected = truth[id] ?? { name: 'nothing', length: 0 };
      // Distances are shown with three digits, pixels with one.
      const isNear = Math.abs(length - expected.length) <= (id === 'screen' ? 0.0501 : 0.0015);
      return name === expected.name && isNear
        ? []
        : `${id}: ${name} ${length}, expected ${expected.name} ${expected.length}`;
    });
  };
  await expect.poll(differences, { ...PATIENCE, message: `at (${x}, ${y}) of pane ${pane}` }).toEqual([]);
  const hits = await page.evaluate(() => window.pickingDemo!.hits);
  return METHODS.map(({ id }, i) => ({ id, hit: hits[i], truth: truth[id] }));
}

test.each([
  ['the camera', 0, 16, 25],
  ['the second camera, beside it on the canvas', 1, 10, 10],
])(`under the mouse is what three finds there: %s, seed ${SEED}`, async (_, pane, count, spread) => {
  const random = new Random(SEED);
  const { x, y, width, height } = await rectOf(pane);
  const camera = await cameraIn(page, `window.pickingDemo.panes[${pane}].camera`);
  const found = new Map(METHODS.map(({ id }) => [id, 0]));
  for (let i = 0; i < count; i++) {
    // Near an object: around the centre of one of the thirty, within `spread` pixels.
    const centre = random.pick(objects.children).position.clone().project(camera);
    const near = (at: number, size: number) =>
      Math.round(Math.min(Math.max(at + random.range(-spread, spread), 2), size - 2));
    const px = x + near((0.5 + 0.5 * centre.x) * width, width);
    const py = y + near((0.5 - 0.5 * centre.y) * height, height);
    for (const { id, hit, truth } of await point(pane, px, py)) {
      if (!hit || !truth) continue;
      found.set(id, found.get(id)! + 1);
      if (truth.normal === null) continue;
      expect(new Vector3(...hit.normal).angleTo(truth.normal), `normal of ${id} at (${px}, ${py})`).toBeLessThan(0.02);
      const drawn = new Vector3(...hit.point).project(camera);
      expect((0.5 + 0.5 * drawn.x) * width + x, 'x of the hit on the screen').toBeCloseTo(px, 2);
      expect((0.5 - 0.5 * drawn.y) * height + y, 'y of the hit on the screen').toBeCloseTo(py, 2);
    }
  }
  for (const [id, times] of found) expect(times, `hits of ${id}`).toBeGreaterThan(count / 4);
  await demo.picture(page, `picking-${pane === 0 ? 'first' : 'second'}`);
});

/** A pixel of the first pane where that method, by three, finds an object of that kind, and one where none does. */
async function pixelsOf(method: string, kind: string) {
  const camera = await cameraIn(page, 'window.pickingDemo.panes[0].camera');
  const rect = await rectOf(0);
  let hit: { x: number; y: number; name: string } | undefined;
  let miss: { x: number; y: number } | undefined;
  for (let y = rect.y + 30; y < rect.y + rect.height && !(hit && miss); y += 23) {
    for (let x = rect.x + 30; x < rect.x + rect.width && !(hit && miss); x += 23) {
      const truth = truthAt(objects, camera, rect, x, y, RADIUS);
      const name = truth[method]?.name;
      if (name?.startsWith(kind)) hit ??= { x, y, name };
      if (Object.values(truth).every((each) => each === undefined)) miss ??= { x, y };
    }
  }
  return { hit: hit!, miss: miss! };
}

test('a click selects by the method of the controls, a drag turns the view and selects nothing', async () => {
  const { hit, miss } = await pixelsOf('mesh', 'dragon');
  await page.mouse.click(hit.x, hit.y);
  await expect.poll(() => textOf('#selection'), PATIENCE).toBe(`selected: ${hit.name}`);
  await page.mouse.click(miss.x, miss.y);
  await expect.poll(() => textOf('#selection'), PATIENCE).toBe('selected: nothing');

  await page.getByLabel('A click selects by').selectOption('ray, sphere');
  const { hit: around } = await pixelsOf('sphere', 'capsule');
  await page.mouse.click(around.x, around.y);
  await expect.poll(() => textOf('#selection'), PATIENCE).toBe(`selected: ${around.name}`);

  await page.mouse.move(miss.x, miss.y);
  await page.mouse.down();
  await page.mouse.move(miss.x + 80, miss.y + 30, { steps: 3 });
  await page.mouse.up();
  const { hit: turned } = await pixelsOf('obb', 'box');
  await point(0, turned.x, turned.y);
  expect(await textOf('#selection')).toBe(`selected: ${around.name}`);
  await demo.picture(page, 'picking-selected');
});

test('nothing is under a mouse that is on no view, and new poses are picked where they are', async () => {
  await page.mouse.move(100, 600);
  await expect
    .poll(async () => (await table()).map(({ name }) => name), PATIENCE)
    .toEqual(METHODS.map(() => 'nothing'));
  await page.getByRole('button', { name: 'New poses' }).click();
  poseObjects(objects, 2);
  const { hit } = await pixelsOf('mesh', 'sphere');
  await point(0, hit.x, hit.y);
});

import type { Page } from 'playwright';
import { type Mesh, type PerspectiveCamera, Raycaster, Vector2 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { createPieces } from '../../demo/selection/pieces.js';
import { createRadialEngine } from '../../demo/selection/radial-engine.js';
import type { SelectionPage } from '../../demo/selection/selection-page.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';
import { dragonGeometry } from './dragon-geometry.js';
import { isEnclosed, type ScreenBox, screenBox, touches } from './region-truth.js';

const SIZE = { width: 1100, height: 640 };
const PATIENCE = { timeout: 60_000, interval: 50 };

declare global {
  interface Window {
    selectionDemo?: SelectionPage;
  }
}

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];
let camera: PerspectiveCamera;
const engine = await createRadialEngine(16);
let parts = engine.children as Mesh[];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'selection.html'));
  await demoStarted(page);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  camera = await cameraIn(page, 'window.selectionDemo.camera');
}, 180_000);
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
});

type Test = (part: Mesh, camera: PerspectiveCamera, box: ScreenBox) => boolean;
const namesIn = (inRegion: Test, ...boxes: ScreenBox[]): string[] =>
  parts.filter((part) => boxes.some((box) => inRegion(part, camera, box))).map(({ name }) => name);

const listed = () => page.locator('#names li').allTextContents();
const eventuallyListed = (names: readonly string[]) => expect.poll(listed, PATIENCE).toEqual(names);
const count = () => page.locator('#count').textContent();

/** Drags with the left button from the first to the last point, and calls `during` before releasing it. */
async function drag(points: readonly [x: number, y: number][], during = async () => {}): Promise<void> {
  await page.mouse.move(...points[0]);
  await page.mouse.down();
  for (const point of points.slice(1)) await page.mouse.move(...point, { steps: 2 });
  await during();
  await page.mouse.up();
}

async function holding(key: 'Alt' | 'Shift' | 'Control', work: () => Promise<void>): Promise<void> {
  await page.keyboard.down(key);
  await work();
  await page.keyboard.up(key);
}

test('a rectangle to the right encloses parts, hidden ones too, and says so while it is dragged', async () => {
  const enclosed = namesIn(isEnclosed, screenBox(630, 40, 260, 300, SIZE));
  expect(enclosed.length).toBeGreaterThan(30);
  expect(enclosed).toContain('cylinder 1: piston');
  await drag(
    [
      [630, 40],
      [890, 340],
    ],
    async () => {
      await eventuallyListed(enclosed);
      await demo.picture(page, 'selection-enclose');
    },
  );
  await eventuallyListed(enclosed);
  expect(await count()).toBe(`${enclosed.length} of ${parts.length} parts`);
});

test('a rectangle to the left touches parts', async () => {
  const box = screenBox(890, 340, -260, -300, SIZE);
  const touched = namesIn(touches, box);
  expect(touched.length).toBeGreaterThan(namesIn(isEnclosed, box).length);
  await drag([
    [890, 340],
    [630, 40],
  ]);
  await eventuallyListed(touched);
});

test('the control says what a part must, whatever the direction', async () => {
  const box = screenBox(500, 120, 130, 110, SIZE);
  await page.getByLabel('A part must').selectOption('touch');
  await drag([
    [500, 120],
    [630, 230],
  ]);
  await eventuallyListed(namesIn(touches, box));
  await page.getByLabel('A part must').selectOption('enclose');
  await drag([
    [630, 230],
    [500, 120],
  ]);
  await eventuallyListed(namesIn(isEnclosed, box));
  await page.getByLabel('A part must').selectOption('by direction');
});

test('Shift adds, Ctrl removes, and without them a new selection takes the place of the old', async () => {
  const first = new Set(namesIn(isEnclosed, screenBox(640, 40, 140, 160, SIZE)));
  const second = new Set(namesIn(isEnclosed, screenBox(690, 90, 230, 260, SIZE)));
  const third = new Set(namesIn(touches, screenBox(740, 160, -60, -60, SIZE)));
  const named = (test: (name: string) => boolean) => parts.map(({ name }) => name).filter(test);
  await drag([
    [640, 40],
    [780, 200],
  ]);
  await eventuallyListed([...first]);
  await holding('Shift', () =>
    drag([
      [690, 90],
      [920, 350],
    ]),
  );
  await eventuallyListed(named((name) => first.has(name) || second.has(name)));
  await holding('Control', () =>
    drag([
      [740, 160],
      [680, 100],
    ]),
  );
  const left = named((name) => (first.has(name) || second.has(name)) && !third.has(name));
  expect(left.length).toBeLessThan(new Set([...first, ...second]).size);
  await eventuallyListed(left);
  await drag([
    [640, 40],
    [780, 200],
  ]);
  await eventuallyListed([...first]);
});

test('a lasso with Alt or by the control: an L touches what either of its arms does', async () => {
  // Clockwise from the upper left corner; it begins to the left, and so selects what it touches.
  const corner: [number, number][] = [
    [560, 60],
    [540, 60],
    [540, 420],
    [860, 420],
    [860, 300],
    [640, 300],
    [640, 60],
  ];
  const arms = [screenBox(540, 60, 100, 360, SIZE), screenBox(540, 300, 320, 120, SIZE)];
  const touched = namesIn(touches, ...arms);
  const whole = namesIn(touches, screenBox(540, 60, 320, 360, SIZE));
  expect(touched.length).toBeGreaterThan(30);
  expect(touched.length).toBeLessThan(whole.length);
  await holding('Alt', () =>
    drag(corner, async () => {
      await eventuallyListed(touched);
      await demo.picture(page, 'selection-lasso');
    }),
  );
  await eventuallyListed(touched);

  await page.getByLabel('Lasso').check();
  await drag([
    [700, 100],
    [690, 100],
    [690, 300],
    [850, 300],
    [850, 100],
  ]);
  await eventuallyListed(namesIn(touches, screenBox(690, 100, 160, 200, SIZE)));
  await page.getByLabel('Lasso').uncheck();
});

test('a click selects the part in front, on nothing it selects nothing', async () => {
  const raycaster = new Raycaster();
  const [x, y] = [700, 330];
  raycaster.setFromCamera(new Vector2((x / SIZE.width) * 2 - 1, 1 - (y / SIZE.height) * 2), camera);
  const [{ object }] = raycaster.intersectObject(engine);
  await page.mouse.click(x, y);
  await eventuallyListed([object.name]);
  await page.mouse.click(1050, 600);
  await eventuallyListed([]);
  expect(await count()).toBe('nothing');
});

test('one can see through what is not selected, and turn it with the right button', async () => {
  await drag([
    [630, 40],
    [890, 340],
  ]);
  const outlined = () =>
    page.evaluate(() => {
      const { outlines, selected } = window.selectionDemo!;
      const geometries = new Set([...selected].map(({ geometry }) => geometry));
      const hulls = outlines.root.children as Mesh[];
      return {
        right: hulls.every(({ geometry }) => geometries.has(geometry)),
        hulls: hulls.length,
        parts: selected.size,
      };
    });
  // The answer arrives after the drag, and outlines with the next render.
  await expect
    .poll(async () => {
      const { right, hulls, parts } = await outlined();
      return right && parts > 0 && hulls === parts;
    }, PATIENCE)
    .toBe(true);
  await page.getByLabel('See through').check();
  await expect.poll(async () => (await outlined()).hulls, PATIENCE).toBe(0);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await demo.picture(page, 'selection-see-through');
  await page.mouse.move(900, 560);
  await page.mouse.down({ button: 'right' });
  await page.mouse.move(700, 540, { steps: 3 });
  await page.mouse.up({ button: 'right' });
  await page.evaluate(() => new Promise(requestAnimationFrame));
  const before = camera;
  camera = await cameraIn(page, 'window.selectionDemo.camera');
  expect(camera.matrixWorld.equals(before.matrixWorld)).toBe(false);
  await drag([
    [900, 340],
    [640, 60],
  ]);
  await eventuallyListed(namesIn(touches, screenBox(900, 340, -260, -280, SIZE)));
});

test('the dragon in pieces', async () => {
  await page.getByLabel('Model', { exact: true }).selectOption('dragon');
  await page.waitForURL(/model=dragon/);
  await demoStarted(page);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  camera = await cameraIn(page, 'window.selectionDemo.camera');
  parts = createPieces(dragonGeometry(), 240).children as Mesh[];
  const enclosed = namesIn(isEnclosed, screenBox(560, 200, 200, 180, SIZE));
  expect(enclosed.length).toBeGreaterThan(20);
  await drag(
    [
      [560, 200],
      [760, 380],
    ],
    async () => {
      await eventuallyListed(enclosed);
      await demo.picture(page, 'selection-dragon');
    },
  );
  await drag([
    [760, 380],
    [560, 200],
  ]);
  await eventuallyListed(namesIn(touches, screenBox(760, 380, -200, -180, SIZE)));
});

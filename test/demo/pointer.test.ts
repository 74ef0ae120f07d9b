import type { Page } from 'playwright';
import { Raycaster, Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { ToyTable } from '../../demo/pointer/table.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
const SEGMENTS = 10;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
  await page.close();
});

/** The page with a turntable stopped at its start, and the same table here. */
async function open(device: { width: number; height: number; hasTouch?: boolean }): Promise<ToyTable> {
  ({ page, faults } = await demo.open(device, 'pointer.html?quality=low'));
  await demoStarted(page);
  await page.evaluate(async () => {
    window.pointerPage!.settings.move = false;
    window.pointerPage!.seconds = 0;
    for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  });
  const table = new ToyTable(SEGMENTS);
  table.pose(0);
  return table;
}

const named = () => page.locator('#hit-name').textContent();
const heard = (type: string) => page.evaluate((each) => window.pointerPage!.heard[each] ?? 0, type);

/** Where a toy's centre is in the image. */
async function pixelOf(table: ToyTable, name: string): Promise<[number, number]> {
  const camera = await cameraIn(page, 'window.pointerPage.camera');
  const { width, height } = page.viewportSize()!;
  const { x, y } = table.root.getObjectByName(name)!.getWorldPosition(new Vector3()).project(camera);
  return [Math.round(((x + 1) / 2) * width), Math.round(((1 - y) / 2) * height)];
}

test('the mouse is over what three says, on the table and on the map', async () => {
  const table = await open({ width: 1440, height: 900 });
  const raycaster = new Raycaster();
  const camera = await cameraIn(page, 'window.pointerPage.camera');
  const mapCamera = await cameraIn(page, 'window.pointerPage.mapCamera');
  const { mapRect } = await page.evaluate(() => ({ mapRect: window.pointerPage!.mapRect }));
  const views = [
    { camera, rect: { x: 0, y: 0, width: 1440, height: 900 }, says: 'on the table' },
    { camera: mapCamera, rect: mapRect, says: 'on the map' },
  ];
  let count = 0;
  for (const { name } of table.toys.slice(0, 6)) {
    for (const { camera, rect, says } of views) {
      const middle = table.root.getObjectByName(name)!.getWorldPosition(new Vector3()).project(camera);
      const x = Math.round(rect.x + ((middle.x + 1) / 2) * rect.width);
      const y = Math.round(rect.y + ((1 - middle.y) / 2) * rect.height);
      const [right, up] = [(2 * (x - rect.x)) / rect.width - 1, 1 - (2 * (y - rect.y)) / rect.height];
      // From the matrices alone: one of the cameras is orthographic.
      const near = new Vector3(right, up, -1).unproject(camera);
      raycaster.set(near, new Vector3(right, up, 1).unproject(camera).sub(near).normalize());
      const truth = raycaster.intersectObject(table.root)[0].object.name;
      await page.mouse.move(x, y);
      await expect.poll(named, PATIENCE).toBe(truth);
      await expect.poll(() => page.locator('#hit-detail').textContent(), PATIENCE).toContain(says);
      if (truth === name) count++;
    }
  }
  expect(count).toBeGreaterThan(6);
});

test('a toy goes where the mouse drags it, and a click paints it', async () => {
  const table = await open({ width: 1440, height: 900 });
  const toy = table.toys[0].name;
  const [x, y] = await pixelOf(table, toy);
  const place = () =>
    page.evaluate((name) => {
      const { toys } = window.pointerPage!;
      const found = toys.find((each) => each.name === name)!;
      return { x: found.position.x, z: found.position.z };
    }, toy);
  const before = await place();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 120, y, { steps: 4 });
  await page.mouse.up();
  // The camera looks along -z: moving right in the image is moving along x.
  await expect.poll(async () => (await place()).x, PATIENCE).toBeGreaterThan(before.x + 0.5);
  expect((await place()).z).toBeCloseTo(before.z, 1);
  // A different toy: a drag that begins and ends on the same toy may also be a click, as in the DOM.
  const other = table.toys[1].name;
  const color = () =>
    page.evaluate((name) => window.pointerPage!.toys.find((toy) => toy.name === name)!.userData.color, other);
  const painted = await color();
  await page.mouse.click(...(await pixelOf(table, other)));
  await expect.poll(color, PATIENCE).toBe((painted + 1) % 6);
});

test('toys that ride past a mouse that rests hear of it', async () => {
  const table = await open({ width: 1440, height: 900 });
  const [x, y] = await pixelOf(table, table.toys.at(-1)!.name);
  await page.mouse.move(x, y);
  await expect.poll(() => heard('pointerover'), PATIENCE).toBeGreaterThan(0);
  const before = await heard('pointerover');
  await page.evaluate(() => {
    window.pointerPage!.settings.move = true;
  });
  await expect.poll(() => heard('pointerover'), PATIENCE).toBeGreaterThan(before + 1);
});

test('two fingers drag two toys on a phone', async () => {
  const table = await open({ width: 390, height: 844, hasTouch: true });
  const [map, links] = await Promise.all([page.locator('#map').boundingBox(), page.locator('#pages').boundingBox()]);
  expect(map!.y, 'the map is below the links').toBeGreaterThan(links!.y + links!.height);
  const [first, second] = await Promise.all([table.toys[1], table.toys[8]].map(({ name }) => pixelOf(table, name)));
  const devtools = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number; id: number }[]) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
  const at = (moved: number) => [first, second].map(([x, y], id) => ({ x, y: y + moved, id }));
  await touch('touchStart', at(0));
  await expect.poll(() => page.evaluate(() => window.pointerPage!.drags.count), PATIENCE).toBe(2);
  await touch('touchMove', at(10));
  await touch('touchEnd', []);
  await expect.poll(() => page.evaluate(() => window.pointerPage!.drags.count), PATIENCE).toBe(0);
});

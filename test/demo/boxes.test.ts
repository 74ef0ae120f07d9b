// Boxes made by hand: what the page shows of them is what the saved
// file contains, also after they are moved by handles and keys.
import { readFile } from 'node:fs/promises';
import { createCollisionService } from 'collision-worker';
import type { Page } from 'playwright';
import { Vector3 } from 'three';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { BoxesPage } from '../../demo/boxes/boxes-page.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';

declare global {
  interface Window {
    boxesPage?: BoxesPage;
  }
}

const PATIENCE = { timeout: 60_000, interval: 50 };
const SIZE = { width: 1440, height: 900 };

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'boxes.html?quality=low'));
  await demoStarted(page);
});
afterAll(() => demo?.close());

const says = () => page.locator('#conservative').textContent();
const boxesOf = () => page.evaluate(() => window.boxesPage!.boxes);

/** The screen position of a box's centre, moved along the world's axes. */
async function pixelOf(index: number, by: [number, number, number] = [0, 0, 0]): Promise<[number, number]> {
  const camera = await cameraIn(page, 'window.boxesPage.camera');
  const { center } = (await boxesOf())[index];
  const at = new Vector3(...center!).add(new Vector3(...by)).project(camera);
  return [((at.x + 1) / 2) * SIZE.width, ((1 - at.y) / 2) * SIZE.height];
}

test('the boxes of the tree hold all; a box is chosen by a click, and moved by keys', async () => {
  await expect.poll(says, PATIENCE).toBe('yes');
  const [x, y] = await pixelOf(1);
  await page.mouse.move(x, y);
  await expect.poll(() => page.locator('#hit-name').textContent(), PATIENCE).toMatch(/^box \d$/);
  await page.mouse.click(x, y);
  const chosen = page.locator('#boxes button[aria-pressed="true"]');
  await expect.poll(() => chosen.count(), PATIENCE).toBe(1);
  const name = await chosen.textContent();
  const index = (await boxesOf()).findIndex((box) => box.name === name);
  const before = (await boxesOf())[index];
  await chosen.focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowLeft');
  const after = (await boxesOf())[index];
  expect(after.center![0]).toBeLessThan(before.center![0]);
  await expect.poll(says, PATIENCE).toBe('no');
  expect(await page.locator('#uncovered').textContent()).toMatch(/^[\d,]+ triangles stick out, by up to [\d.]+ % /);
});

test('a handle moves the box that is chosen', async () => {
  await page.locator('#boxes button').first().click();
  await page.locator('#modes [data-mode="translate"]').click();
  const before = (await boxesOf())[0];
  const [x, y] = await pixelOf(0);
  await page.mouse.move(x, y); // the centre of the gizmo moves it in the image plane
  await expect.poll(() => page.evaluate(() => window.boxesPage!.hovered), PATIENCE).not.toBeNull();
  await page.mouse.down();
  await page.mouse.move(x + 30, y - 20, { steps: 5 });
  await page.mouse.up();
  const after = (await boxesOf())[0];
  expect(new Vector3(...after.center!).distanceTo(new Vector3(...before.center!))).toBeGreaterThan(1e-3);
  expect(after.halfExtents).toEqual(before.halfExtents);
});

test('the saved file has the boxes under their names', async () => {
  await page.locator('#box-name').fill('paw');
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#save').click()]);
  const bytes = await readFile((await download.path())!);
  const service = await createCollisionService();
  const mesh = await service.addMesh(new Uint8Array(bytes).buffer);
  const { boxes, triangles } = service.meshInfo(mesh);
  expect(boxes).toEqual(await boxesOf());
  expect(boxes[0].name).toBe('paw');
  expect(triangles).toBe(11_102);
  const { conservative } = await service.checkBoxes(mesh);
  await expect.poll(says, PATIENCE).toBe(conservative ? 'yes' : 'no');
  service.dispose();
  expect(faults).toEqual([]);
});

// The page of a building: its section plane, what is under the pointer there, and what is clipped from the image.
import type { Page } from 'playwright';
import { Plane, Raycaster, Vector2, Vector3 } from 'three';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeBuilding } from '../../demo/building/building.js';
import { BuildingModel } from '../../demo/building/building-model.js';
import type { CutHandle } from '../../demo/building/cut-handle.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';
import { cameraIn } from './camera.js';

declare global {
  interface Window {
    cutHandle?: CutHandle;
  }
}

const PATIENCE = { timeout: 60_000, interval: 50 };
const SIZE = { width: 1440, height: 900 };
const FLOORS = 2;
/** The page's seed. */
const BUILDING_SEED = 7;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];
let model: BuildingModel;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, `building.html?quality=low&floors=${FLOORS}`));
  await demoStarted(page);
  model = new BuildingModel(makeBuilding({ floors: FLOORS, seed: BUILDING_SEED }));
  model.root.updateMatrixWorld(true);
});
afterAll(() => demo?.close());

const figure = (name: string) => page.locator(`#figures tr:has(th:text-is("${name}")) td`).textContent();
const named = () => page.locator('#hit-name').textContent();

/** The plane and its section, as soon as that is shown. */
async function section(): Promise<Shown> {
  await expect.poll(async () => (await shown()).worst, PATIENCE).toBeLessThan(1e-9);
  return shown();
}

interface Shown {
  plane: Plane;
  outlines: number;
  caps: number;
  /** Metres: the largest distance of the section's points from the plane. */
  worst: number;
}

async function shown(): Promise<Shown> {
  const found = await page.evaluate(() => {
    const { plane } = window.cutHandle!;
    const helper = window.livePage!.scene.children.find((each) => 'section' in each) as unknown as {
      section: { points: Float64Array; closed: Uint8Array; caps: Uint32Array };
    };
    const { points, closed, caps } = helper.section;
    let worst = 0;
    for (let i = 0; i < points.length; i += 3) {
      const { normal, constant } = plane;
      const off = normal.x * points[i] + normal.y * points[i + 1] + normal.z * points[i + 2] + constant;
      worst = Math.max(worst, Math.abs(off));
    }
    return {
      normal: plane.normal.toArray(),
      constant: plane.constant,
      outlines: closed.length,
      caps: caps.length,
      worst,
    };
  });
  return { ...found, plane: new Plane(new Vector3(...found.normal), found.constant) };
}

async function choose(cut: string): Promise<void> {
  await page.locator('#controls-inside select').selectOption(cut);
}

/** Compares what is under the mouse with three's hits, except clipped ones. */
async function compare(plane: Plane | null, count: number): Promise<void> {
  const camera = await cameraIn(page, 'window.livePage.camera');
  const random = new Random(SEED);
  const raycaster = new Raycaster();
  let hits = 0;
  for (let i = 0; i < count; i++) {
    const [x, y] = [500 + Math.floor(800 * random.next()), 300 + Math.floor(300 * random.next())];
    raycaster.setFromCamera(new Vector2((2 * x) / SIZE.width - 1, 1 - (2 * y) / SIZE.height), camera);
    const all = raycaster.intersectObject(model.root).filter(({ point }) => (plane?.distanceToPoint(point) ?? 0) >= 0);
    // Of two at one place, either may be returned.
    const first = all
      .filter(({ distance }) => distance < all[0].distance + 1e-6)
      .map((each) => model.partOf(each).name);
    await page.mouse.move(x, y);
    await expect.poll(named, PATIENCE).toMatch(first.length === 0 ? /^nothing$/ : new RegExp(`^(${first.join('|')})$`));
    hits += Math.min(1, first.length);
  }
  expect(hits).toBeGreaterThan(count / 4);
}

test('it is cut from the front first, with caps, and a mouse drags the plane', async () => {
  expect(await figure('parts')).toBe(model.parts.length.toLocaleString('en'));
  const before = await section();
  expect(before.outlines).toBeGreaterThan(100);
  expect(before.caps).toBeGreaterThan(300);
  expect(before.worst).toBeLessThan(1e-9);
  const handle = (await page.locator('#plane').boundingBox())!;
  const [x, y] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 5, y + 60, { steps: 6 });
  await page.mouse.up();
  const after = await section();
  expect(after.plane.constant).toBeGreaterThan(before.plane.constant + 1);
  expect(after.worst).toBeLessThan(1e-9);
});

test(`what is under the mouse is three's, and nothing that is cut away, seed ${SEED}`, async () => {
  await compare((await section()).plane, 10);
});

test('keys move the plane, and it can be cut from above', async () => {
  await choose('from above');
  const { plane } = await section();
  expect(plane.normal.y).toBe(-1);
  await page.locator('#plane').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  const moved = await section();
  expect(moved.plane.constant).toBeCloseTo(plane.constant - 1.1, 9);
  expect(moved.worst).toBeLessThan(1e-9);
  await compare(moved.plane, 6);
});

test('whole, what the facade hides is left out; layers go, and their parts are pointed at no more', async () => {
  await choose('nowhere');
  expect(await page.locator('#plane').isHidden()).toBe(true);
  await compare(null, 4);
  const hidden = async () => Number((await figure('of them hidden by others'))!.replaceAll(',', ''));
  await expect.poll(hidden, PATIENCE).toBeGreaterThan(100);
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('facade').uncheck();
  model.show('facade', false);
  model.root.remove(...model.root.children.filter(({ visible }) => !visible));
  await compare(null, 4);
  await page.getByLabel('facade').check();
});

test('a cursor snaps, and what lies between two clicks is measured', async () => {
  await page.getByRole('checkbox', { name: 'Measure' }).check();
  const text = (id: string) => page.locator(id).textContent();
  for (const [x, says] of [
    [900, /^from this (vertex|midpoint|center|edge|face)/],
    [1000, /^\d+\.\d{3} m/],
  ] as const) {
    // Down the image, until something is there.
    let y = 300;
    const snapped = async () => {
      y = y > 650 ? 300 : y + 10;
      await page.mouse.move(x, y);
      await page.waitForTimeout(150);
      return text('#snapped');
    };
    await expect.poll(snapped, PATIENCE).toMatch(/vertex|midpoint|center|edge|face/);
    const measured = async () => {
      await page.mouse.click(x, y);
      await page.waitForTimeout(300);
      const said = await text('#measured');
      y -= 5; // the snap target may be slightly above
      return said;
    };
    await expect.poll(measured, PATIENCE).toMatch(says);
  }
  await page.getByRole('checkbox', { name: 'Measure' }).uncheck();
});

test('what the fitters got wrong is listed, and flown to', async () => {
  await page.getByRole('button', { name: 'Find clashes' }).click();
  await expect.poll(() => page.locator('#clash-summary').textContent(), PATIENCE).toMatch(/^\d+ clashes, found in/);
  const items = await page.locator('#clashes button').allTextContents();
  expect(items.filter((item) => item.startsWith('ducts in beams: ')).length).toBeGreaterThan(2);
  expect(items.filter((item) => item.startsWith('there twice: ')).length).toBeGreaterThan(2);
  const copies = model.parts.filter(({ id }) => id.endsWith('-copy'));
  expect(items.filter((item) => item.startsWith('there twice: ')).length).toBe(copies.length);
  await page.locator('#clashes button').first().click();
  const target = await page.evaluate(() => window.livePage!.controls.target.toArray());
  const beam = model.parts.find(({ name }) => items[0].includes(`${name} – `))!;
  expect(model.boxOf(beam).distanceToPoint(new Vector3(...target))).toBeLessThan(0.5);
  expect(faults).toEqual([]);
});

import type { Page } from 'playwright';
import { type PerspectiveCamera, Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { Village } from '../../demo/points/village.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';
import { cameraIn } from './camera.js';
import { framesOf } from './live-truth.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
const COUNT = 120_000;
/** The page's own radius, in pixels. */
const RADIUS = 6;
/** A pixel off the image centre is nearer to the ray than one in the centre, at most by this factor. */
const ASIDE = 0.7;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];
const village = await Village.create(COUNT, 2);

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
  await page.close();
});

interface Seen {
  readonly thing: string;
  readonly index: number;
  readonly x: number;
  readonly y: number;
  readonly distance: number;
}

/** All points, with their positions in the image. */
async function seen(): Promise<Seen[]> {
  const camera: PerspectiveCamera = await cameraIn(page, 'window.livePage.camera');
  const { width, height } = page.viewportSize()!;
  const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
  return village.things.flatMap(({ name, geometry: { attributes } }) =>
    Array.from({ length: attributes.position.count }, (_, index) => {
      const point = new Vector3().fromBufferAttribute(attributes.position, index);
      const distance = point.distanceTo(eye);
      point.project(camera);
      return { thing: name, index, x: ((point.x + 1) / 2) * width, y: ((1 - point.y) / 2) * height, distance };
    }),
  );
}

async function open(device: { width: number; height: number; hasTouch?: boolean }): Promise<Seen[]> {
  ({ page, faults } = await demo.open(device, `points.html?quality=low&points=${COUNT}`));
  await demoStarted(page);
  await framesOf(page);
  return seen();
}

const named = () => page.locator('#hit-name').textContent();
const listed = () => page.locator('#names li').allTextContents();

test(`the point under the mouse is the nearest within the radius, seed ${SEED}`, async () => {
  const points = await open({ width: 1440, height: 900 });
  const random = new Random(SEED);
  for (let i = 0; i < 12; i++) {
    const aim = points[Math.floor(points.length * random.next())];
    const [x, y] = [Math.round(aim.x), Math.round(aim.y)];
    await page.mouse.move(x, y);
    await framesOf(page);
    await expect.poll(named, PATIENCE).not.toBe('nothing');
    const hit = await page.evaluate(() => {
      const { object, index, distance } = window.livePage!.hit!;
      return { thing: object.name, index, distance };
    });
    expect(await named()).toBe(hit.thing);
    const away = (point: Seen): number => Math.hypot(point.x - x, point.y - y);
    const own = points.find(({ thing, index }) => thing === hit.thing && index === hit.index)!;
    expect(away(own)).toBeLessThan(RADIUS / ASIDE);
    const near = points.filter((point) => away(point) < ASIDE * RADIUS);
    expect(near.length).toBeGreaterThan(0);
    expect(own.distance).toBeLessThan(Math.min(...near.map(({ distance }) => distance)) + 0.1);
  }
  await page.mouse.move(1300, 120);
  await expect.poll(named, PATIENCE).toBe('nothing');
});

test('a rectangle to the left selects what it touches, to the right what it encloses', async () => {
  const points = await open({ width: 1440, height: 900 });
  const [left, top, right, bottom] = [700, 330, 1010, 560];
  const isIn = ({ x, y }: Seen): boolean => x > left && x < right && y > top && y < bottom;
  const touched = new Set(points.filter(isIn).map(({ thing }) => thing));
  const cut = new Set(points.filter((point) => !isIn(point)).map(({ thing }) => thing));
  const inOrder = (isWanted: (name: string) => boolean): string[] =>
    village.things.map(({ name }) => name).filter(isWanted);
  const drag = async (from: [number, number], to: [number, number]): Promise<void> => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move(...to, { steps: 3 });
    await page.mouse.up();
  };
  await drag([right, bottom], [left, top]);
  await expect.poll(listed, PATIENCE).toEqual(inOrder((name) => touched.has(name)));
  await drag([left, top], [right, bottom]);
  const enclosed = inOrder((name) => touched.has(name) && !cut.has(name));
  expect(enclosed.length).toBeGreaterThan(3);
  expect(enclosed.length).toBeLessThan(touched.size);
  await expect.poll(listed, PATIENCE).toEqual(enclosed);
});

test('a finger selects a thing on a phone', async () => {
  const points = await open({ width: 390, height: 844, hasTouch: true });
  const tower = points.filter(({ thing }) => thing === 'church tower');
  const top = tower.reduce((a, b) => (a.y < b.y ? a : b));
  await page.touchscreen.tap(Math.round(top.x), Math.round(top.y));
  await expect.poll(listed, PATIENCE).toEqual(['church tower']);
});

import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { Parts } from '../../demo/batch/parts.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';
import { hitsAt, stopped } from './live-truth.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
const COUNT = 2_000;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];
let parts: Parts;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
  await page.close();
});

async function open(device: { width: number; height: number; hasTouch?: boolean }): Promise<void> {
  ({ page, faults } = await demo.open(device, `batch.html?quality=low&parts=${COUNT}`));
  await demoStarted(page);
  parts = await Parts.create(COUNT, 10);
  parts.pose(await stopped(page));
}

async function truthAt(x: number, y: number): Promise<number> {
  const [hit] = await hitsAt(page, parts.mesh, x, y);
  return hit?.batchId ?? -1;
}

const nameOf = (part: number): string => (part < 0 ? 'nothing' : parts.nameOf(part));
const named = () => page.locator('#hit-name').textContent();
const figure = async (name: string): Promise<string | null> =>
  page.locator(`#figures tr:has(th:text-is("${name}")) td`).textContent();

test(`the part under the mouse is three's, of all and of one kind, seed ${SEED}`, async () => {
  await open({ width: 1440, height: 900 });
  const random = new Random(SEED);
  const seen = new Set<number>();
  const point = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      const [x, y] = [480 + Math.floor(820 * random.next()), 230 + Math.floor(560 * random.next())];
      const part = await truthAt(x, y);
      await page.mouse.move(x, y);
      await expect.poll(named, { ...PATIENCE, message: `${x}, ${y}` }).toBe(nameOf(part));
      seen.add(part);
    }
  };
  await point(16);
  expect(seen.size).toBeGreaterThan(5);
  await page.getByLabel('Show').selectOption('gear');
  parts.showOnly('gear');
  await expect.poll(() => figure('of them shown'), PATIENCE).toBe(String(parts.shown));
  await point(8);
});

test('a click takes a part out, and what is behind it is under the pointer', async () => {
  await open({ width: 1440, height: 900 });
  let [x, y] = [900, 600];
  while ((await truthAt(x, y)) < 0) x += 3;
  await page.mouse.move(x, y);
  for (let i = 0; i < 3; i++) {
    const part = await truthAt(x, y);
    if (part < 0) break;
    await page.mouse.click(x, y);
    parts.takeOut(part);
    await expect.poll(named, PATIENCE).toBe(nameOf(await truthAt(x, y)));
  }
  expect(parts.out.size).toBeGreaterThan(0);
  await expect.poll(() => figure('taken out'), PATIENCE).toBe(String(parts.out.size));
  await page.getByText('Put all back').click();
  parts.putBack();
  await page.mouse.move(x, ++y);
  await expect.poll(named, PATIENCE).toBe(nameOf(await truthAt(x, y)));
});

test('a finger takes a part out on a phone', async () => {
  await open({ width: 390, height: 844, hasTouch: true });
  let x = 100;
  while ((await truthAt(x, 330)) < 0) x++;
  await page.touchscreen.tap(x, 330);
  await expect.poll(() => figure('taken out'), PATIENCE).toBe('1');
});

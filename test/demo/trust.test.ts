// What the page does to its worker and to itself, and the bench in the browser.
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { BenchTable } from '../../demo/trust/bench-table.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';

declare global {
  interface Window {
    benchTable?: BenchTable;
  }
}

const PATIENCE = { timeout: 40_000, interval: 50 };

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open({ width: 1440, height: 900 }, 'trust.html?quality=low'));
  await demoStarted(page);
});
afterAll(() => demo?.close());

const told = () => page.locator('#trials li').allTextContents();

/** Presses the button, and returns the page's messages about it, the newest first. */
async function tried(button: string): Promise<string[]> {
  const before = (await told()).length;
  await page.getByRole('button', { name: button }).click();
  await expect.poll(() => page.locator('#block').isEnabled(), PATIENCE).toBe(true);
  const after = await told();
  return after.slice(0, after.length - before);
}

test('the worker goes on while the page stands still', async () => {
  const [text] = await tried('Block the page');
  const [, still, rays, worked] = /still for (\d+) ms; the worker cast ([\d,]+) rays in (\d+) ms/.exec(text)!;
  expect(Number(still)).toBeGreaterThanOrEqual(1000);
  expect(rays).toBe('80,000');
  expect(Number(worked)).toBeGreaterThan(0);
  expect(text).toContain('all 40 answers');
});

test('10⁶ units away, picks meet the same triangles', async () => {
  const camera = () => page.evaluate(() => window.livePage!.camera.position.toArray());
  const before = await camera();
  const [text] = await tried('10⁶ units away');
  const [, hits, away, same, apart] = /: (\d+) hits and (\d+), (\d+) of them .* differ by (\S+) units/.exec(text)!;
  expect(Number(hits)).toBeGreaterThan(10);
  expect([away, same]).toEqual([hits, hits]);
  expect(Number(apart)).toBeGreaterThan(0);
  expect(Number(apart)).toBeLessThan(1e-7);
  // Everything is back where it was.
  (await camera()).forEach((value, i) => {
    expect(value).toBeCloseTo(before[i], 8);
  });
});

test('a lost worker is replaced, which answers all that the lost one was asked', async () => {
  const texts = await tried('Kill the worker');
  expect(texts.toReversed()).toEqual([
    expect.stringMatching(/^worker 1 is lost: /),
    expect.stringMatching(/^worker 2 knows all that the last one knew, \d+ ms later$/),
    '100 of 100 picks that the lost worker had are answered by worker 2',
  ]);
  expect(await page.locator('#kill').isEnabled()).toBe(false);
  // The dragon is in the middle of the area that the texts leave free.
  await page.mouse.move(870, 480);
  await expect.poll(() => page.locator('#hit-name').textContent(), PATIENCE).toBe('dragon');
});

test('the bench can be cancelled, and its engines hit the same triangles', async () => {
  await page.getByRole('button', { name: 'Run the bench' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect.poll(() => page.locator('#bench-said').textContent(), PATIENCE).toBe('Cancelled.');

  await page.getByRole('button', { name: 'Run the bench' }).click();
  await expect
    .poll(() => page.locator('#bench-said').textContent(), PATIENCE)
    .toBe('All three hit the same triangles.');
  const results = await page.evaluate(() => [...window.benchTable!.results]);
  expect(results.map(([name]) => name)).toEqual(['a dragon', '400 dragons', 'a knot of 200,000']);
  for (const [, row] of results) {
    const sums = Object.values(row).map(({ checksum }) => checksum);
    expect(sums).toHaveLength(3);
    expect(sums[0]).toBeGreaterThan(0);
    expect(new Set(sums).size).toBe(1);
  }
  expect(await page.locator('#bench tbody td').allTextContents()).toHaveLength(9);
  expect(await page.locator('#error').textContent()).toBe('');
  expect(faults).toEqual([]);
});

// The bench in the visitor's own browser: rows run there, with all peers beside them, and their results agree.
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { browseDemo } from '../../scripts/demo-page.mjs';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, hasTouch: true };
const PATIENCE = { timeout: 100_000 };

let demo: Awaited<ReturnType<typeof browseDemo>>;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());

/** Opens the page with some rows selected, and runs them; also returns errors. */
async function runRows(rows: string, device = DESKTOP): Promise<{ page: Page; faults: string[] }> {
  const { page, faults } = await demo.open(device, `bench/index.html?short&rows=${rows}`);
  await page.locator('#run:enabled').click(PATIENCE);
  await page.locator('#copy:visible').waitFor(PATIENCE);
  return { page, faults };
}

test('the rows that are chosen run, all peers beside them, and answers agree', { timeout: 120_000 }, async () => {
  const { page, faults } = await runRows('boxes-10k,pick-idle,sweep-boxes');
  expect(await page.locator('#said').textContent()).toBe('3 of 3 rows are done. All answers agree.');
  expect(await page.locator('h2').allTextContents()).toEqual(['boxes-10k', 'sweep-boxes', 'pick-idle']);
  const names = await page.locator('#row-sweep-boxes tbody th').allTextContents();
  for (const peer of ['collision-worker', 'Havok', 'Jolt', 'Rapier']) expect(names.join()).toContain(peer);
  // A median and quartiles for each, and ratios to the peers.
  const [ours, none, , ratio] = await page.locator('#row-boxes-10k tbody td').allTextContents();
  expect(ours).toMatch(/^[\d.,]+ – [\d.,]+$/);
  expect(none).toBe('');
  expect(ratio).toMatch(/^[\d.,]+ ×[\d.,]+ – [\d.,]+$/);
  expect(faults).toEqual([]);
  await page.close();
});

test('on a phone nothing is wider than the page', { timeout: 120_000 }, async () => {
  const { page } = await runRows('screen-100k', PHONE);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.width);
  await page.getByRole('button', { name: 'All' }).tap();
  expect(await page.locator('#rows input:not(:checked)').count()).toBe(0);
  await page.close();
});

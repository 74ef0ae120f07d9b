// The page with a walking character: by keys, a gamepad and
// touch; balls stay on the course, and the door waits for a foot.
import type { Page } from 'playwright';
import { Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';

const PATIENCE = { timeout: 60_000, interval: 50 };

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

async function open(device: { width: number; height: number; hasTouch?: boolean }): Promise<void> {
  ({ page, faults } = await demo.open(device, 'walk.html?quality=low', (opened) =>
    opened.addInitScript(() => {
      Object.assign(window, { pads: [] });
      navigator.getGamepads = () => (window as unknown as { pads: Gamepad[] }).pads;
    }),
  ));
  await demoStarted(page);
}

const place = async (): Promise<Vector3> => {
  const { x, y, z } = await page.evaluate(() => ({ ...window.walkPage!.hero.state.position }));
  return new Vector3(x, y, z);
};
const put = (...position: [number, number, number]) =>
  page.evaluate((to) => window.walkPage!.hero.set({ position: to }), position);

test('one walks by keys and a gamepad, jumps and throws; a ball is in nothing and off nothing, however fast', async () => {
  await open({ width: 1440, height: 900 });
  await expect.poll(() => page.locator('#ground').textContent(), PATIENCE).toBe('the floor');
  const start = await place();
  await page.keyboard.down('w');
  await expect.poll(async () => (await place()).distanceTo(start), PATIENCE).toBeGreaterThan(1);
  await page.keyboard.up('w');
  await page.keyboard.press(' ');
  await expect.poll(() => page.evaluate(() => window.walkPage!.hero.state.isStanding), PATIENCE).toBe(true);
  await page.keyboard.press('f');
  await expect.poll(() => page.evaluate(() => window.walkPage!.balls.count), PATIENCE).toBe(1);
  const before = await place();
  await page.evaluate(() => {
    const pad = { connected: true, axes: [1, 0, 0, 0], buttons: [{ pressed: true }] };
    Object.assign(window, { pads: [pad] });
  });
  await expect.poll(async () => (await place()).x - before.x, PATIENCE).toBeGreaterThan(0.5);
  await page.evaluate(() => Object.assign(window, { pads: [] }));
  // Beyond the fence are 12 m of nothing: whatever passed through it would fall.
  await page.evaluate(() => {
    const { balls, hero } = window.walkPage!;
    const from = hero.state.position.clone().setY(3);
    for (let i = 0; i < 12; i++) {
      const angle = (2 * Math.PI * i) / 12;
      balls.throw(from.clone(), from.clone().set(600 * Math.cos(angle), 0, 600 * Math.sin(angle)), hero.object!);
    }
  });
  await page.waitForTimeout(1500);
  expect(await page.evaluate(() => window.walkPage!.balls.lowest)).toBeGreaterThan(0.1);
});

/** Waits for frames of the page, however long each takes: motion only happens with frames. */
const someFrames = () =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        let left = 12;
        const next = () => (left-- > 0 ? requestAnimationFrame(next) : resolve());
        next();
      }),
  );

test('the door waits for a foot, and a finger walks', async () => {
  await open({ width: 390, height: 844, hasTouch: true });
  const isBlocked = () => page.evaluate(() => window.walkPage!.door.isBlocked);
  const x = () => page.evaluate(() => window.walkPage!.door.x);
  await expect.poll(x, PATIENCE).toBeLessThan(-10.5);
  await put(-8.6, 0.006, 0);
  await expect.poll(isBlocked, PATIENCE).toBe(true);
  // It comes up to the foot, which its last step may push by less than a step.
  const moved = async () => {
    const before = await x();
    await someFrames();
    return (await x()) - before;
  };
  await expect.poll(moved, PATIENCE).toBe(0);
  const [left, foot] = [await x(), (await place()).x];
  expect(Math.abs(foot + 8.6)).toBeLessThan(0.02);
  await someFrames();
  expect(await x()).toBe(left);
  expect((await place()).x).toBeCloseTo(foot, 2);
  await put(0, 0.006, 3);
  await expect.poll(x, PATIENCE).toBeGreaterThan(-9.01);
  const start = await place();
  const { x: ringX, y: ringY, width, height } = (await page.locator('#stick').boundingBox())!;
  await page.mouse.move(ringX + width / 2, ringY + height / 2);
  await page.mouse.down();
  await page.mouse.move(ringX + width / 2, ringY + 4);
  await expect.poll(async () => (await place()).distanceTo(start), PATIENCE).toBeGreaterThan(1);
  await page.mouse.up();
  await page.getByRole('button', { name: 'Throw' }).tap();
  await expect.poll(() => page.evaluate(() => window.walkPage!.balls.count), PATIENCE).toBe(1);
});

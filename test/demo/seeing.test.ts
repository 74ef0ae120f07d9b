import type { Page } from 'playwright';
import { Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { Courtyard } from '../../demo/seeing/courtyard.js';
import type { SeeingPage } from '../../demo/seeing/seeing-page.js';
import { STATES, type State } from '../../demo/seeing/states.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';
import { statesBy } from './sight-truth.js';

const SIZE = { width: 1100, height: 640 };
const PATIENCE = { timeout: 60_000, interval: 50 };
const NAMES = Object.keys(STATES) as State[];

declare global {
  interface Window {
    seeingDemo?: SeeingPage;
  }
}

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];
const courtyard = new Courtyard(5);
const visitors = courtyard.watched;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'seeing.html'));
  await demoStarted(page);
}, 180_000);
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
});

const countOf = async (state: State) => Number(await page.locator(`#state-${state} td`).textContent());
const events = () => page.locator('#events li').allTextContents();

/** The pixel of a point in the courtyard. */
async function pixelOf(x: number, y: number, z: number): Promise<[number, number]> {
  const ndc = new Vector3(x, y, z).project(await cameraIn(page, 'window.seeingDemo.camera'));
  return [(0.5 + 0.5 * ndc.x) * SIZE.width, (0.5 - 0.5 * ndc.y) * SIZE.height];
}

/** Waits for an answer about the current state, which is at rest. */
async function settled(): Promise<void> {
  const answers = () => page.evaluate(() => window.seeingDemo!.answers);
  const before = await answers();
  await expect.poll(answers, PATIENCE).toBeGreaterThan(before + 1);
}

/** What the page shows for every visitor, and what three finds with the page's transforms. */
async function bothSay(margin = 0) {
  await settled();
  const { states, matrices } = await page.evaluate(() => {
    const { states, courtyard } = window.seeingDemo!;
    return { states, matrices: courtyard.watched.map(({ matrixWorld }) => [...matrixWorld.elements]) };
  });
  visitors.forEach(({ matrixWorld }, i) => {
    matrixWorld.fromArray(matrices[i]);
  });
  const eye = await cameraIn(page, 'window.seeingDemo.courtyard.guard.camera');
  const truth = statesBy(eye, margin, visitors, courtyard.walls);
  return { states, truth };
}

async function compare(): Promise<State[]> {
  const { states, truth } = await bothSay();
  const described = (list: readonly State[]) => list.map((state, i) => `${visitors[i].name} ${state}`);
  expect(described(states)).toEqual(described(truth));
  for (const name of NAMES) expect(await countOf(name), name).toBe(truth.filter((state) => state === name).length);
  return truth;
}

test('the guard turns by itself: visitors enter the field of view, and leave it', async () => {
  await expect.poll(async () => (await events()).join('\n'), PATIENCE).toMatch(/(visitor|ball) \d+ entered/);
  await expect.poll(async () => (await events()).join('\n'), PATIENCE).toMatch(/(visitor|ball) \d+ left/);
  const counts = await Promise.all(NAMES.map(countOf));
  expect(counts.reduce((sum, each) => sum + each, 0)).toBe(visitors.length);
  await demo.picture(page, 'seeing-turning');
});

test('the guard looks where the mouse points, and sees there what three sees: all four states', async () => {
  await page.getByLabel('Visitors move').uncheck();
  await page.getByLabel('The guard turns').uncheck();
  const seen = new Set<State>();
  await page.mouse.move(...(await pixelOf(6, 0, 0)));
  await page.mouse.down();
  for (let i = 0; i < 12; i++) {
    const angle = (2 * Math.PI * i) / 12;
    const target = await pixelOf(6 * Math.cos(angle), 0, 6 * Math.sin(angle));
    await page.mouse.move(...target);
    for (const state of await compare()) seen.add(state);
    // The centre of the field of view is above the point.
    const ahead = await page.evaluate(() => {
      const { matrixWorld } = window.seeingDemo!.courtyard.guard.camera;
      return [-matrixWorld.elements[8], -matrixWorld.elements[10]];
    });
    expect(Math.cos(Math.atan2(ahead[1], ahead[0]) - angle)).toBeCloseTo(1, 3);
  }
  await page.mouse.up();
  expect([...seen].sort()).toEqual([...NAMES].sort());
  await demo.picture(page, 'seeing-pointed');
});

test('the thief is led to a jewel while the guard looks elsewhere, and begins anew when it is seen', async () => {
  const heist = () => page.locator('#heist').textContent();
  const before = Number(/seen (\d+)/.exec((await heist())!)![1]);
  const press = async (x: number, z: number) => {
    await page.mouse.move(...(await pixelOf(x, 0, z)));
    await page.mouse.down();
  };
  await press(6, 0);
  await settled();
  await page.mouse.up();
  const { x, z } = await page.evaluate(() => window.seeingDemo!.courtyard.heist.thief.position);
  await page.mouse.move(...(await pixelOf(x, 0.7, z)));
  await page.mouse.down();
  await settled();
  await page.mouse.move(...(await pixelOf(-5.6, 0, -3.2)), { steps: 3 });
  await expect.poll(heist, PATIENCE).toBe(`1 of 3 jewels, seen ${before} ${before === 1 ? 'time' : 'times'}`);
  await page.mouse.up();
  await demo.picture(page, 'seeing-thief');
  await press(-2.8, -1.6); // on the way there: a press on the thief would drag it
  await expect.poll(heist, PATIENCE).toMatch(new RegExp(`^0 of 3 jewels, seen ${before + 1} `));
  expect(await page.evaluate(() => window.seeingDemo!.courtyard.heist.isHome)).toBe(true);
  await page.mouse.up();
  expect((await events()).join('\n')).toMatch(/jewel 1 of 3 taken/);
});

test('the guard can be dragged elsewhere, but not into a wall', async () => {
  await page.mouse.move(...(await pixelOf(0, 0.6, 0)));
  await page.mouse.down();
  await settled();
  await page.mouse.move(...(await pixelOf(-2, 0, 1)), { steps: 5 });
  const place = () =>
    page.evaluate(() => {
      const { x, z } = window.seeingDemo!.courtyard.guard.root.position;
      return [x, z];
    });
  const [x, z] = await place();
  expect(Math.hypot(x + 2, z - 1)).toBeLessThan(0.05);
  await compare();
  await page.mouse.move(...(await pixelOf(-3, 0, 3)), { steps: 2 }); // the middle of a wall
  const [, nearWall] = await place();
  expect(nearWall).toBeLessThan(3 - 0.5);
  await page.mouse.up();
});

test('a margin lets the field of view have more', async () => {
  const outside = (states: readonly State[]) =>
    visitors.filter((_, i) => states[i] === 'outside').map(({ name }) => name);
  const before = outside(await compare());
  const field = page.getByLabel('Margin of the view').and(page.locator('input'));
  await field.fill('3');
  await field.press('Enter');
  const { states, truth } = await bothSay(3);
  expect(outside(states)).toEqual(outside(truth));
  expect(outside(states).length).toBeLessThan(before.length);
  await demo.picture(page, 'seeing-margin');
});

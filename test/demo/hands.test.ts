// Hands on keys: the keys reported as touched are those that the
// fingers reach, vertex by vertex, also after a hand was dragged.
import type { Page } from 'playwright';
import { Vector3 } from 'three';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { HandsExhibit } from '../../demo/hands/hands-exhibit.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';
import { framesOf } from './live-truth.js';

declare global {
  interface Window {
    hands?: HandsExhibit;
  }
}

const PATIENCE = { timeout: 60_000, interval: 50 };
const SIZE = { width: 1440, height: 900 };
/** Metres: the boxes of bones are this much larger than a finger. */
const SLACK = 0.008;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'hands.html?quality=low'));
  await demoStarted(page);
});
afterAll(() => demo?.close());

/** Which keys contain a vertex of a hand, or are near one, and which are reported as touched. */
function keys(): Promise<{ inside: string[]; near: string[]; said: string[] }> {
  return page.evaluate((slack) => {
    const { hands, keyboard, touching } = window.hands!;
    const [inside, near] = [new Set<string>(), new Set<string>()];
    for (const { mesh } of hands) {
      const point = mesh.position.clone();
      for (let i = 0; i < mesh.geometry.attributes.position.count; i++) {
        mesh.getVertexPosition(i, point).applyMatrix4(mesh.matrixWorld);
        for (const key of keyboard.keys) {
          const { width, height, depth } = key.geometry.parameters;
          const off = point.clone().applyMatrix4(key.matrixWorld.clone().invert());
          const out = Math.max(Math.abs(off.x) - width / 2, Math.abs(off.y) - height / 2, Math.abs(off.z) - depth / 2);
          if (out < 0) inside.add(key.name);
          if (out < slack) near.add(key.name);
        }
      }
    }
    return {
      inside: [...inside],
      near: [...near],
      said: [...new Set(touching.map((line) => line.split(' – ')[1]))],
    };
  }, SLACK);
}

async function settled(play: boolean): Promise<void> {
  await page.getByLabel('Play').setChecked(play);
  for (let i = 0; i < 3; i++) await framesOf(page);
}

async function compare(): Promise<void> {
  const { inside, near, said } = await keys();
  expect(inside.filter((key) => !said.includes(key))).toEqual([]);
  expect(said.filter((key) => !near.includes(key))).toEqual([]);
}

test('keys are touched where a finger is, and bones are named', async () => {
  let touched = 0;
  for (let i = 0; i < 6; i++) {
    await settled(true);
    await page.waitForTimeout(300);
    await settled(false);
    await compare();
    touched += (await keys()).said.length;
  }
  expect(touched).toBeGreaterThan(0);
  await page.getByLabel('Play').check();
  const line = () => page.locator('#touching li').first().textContent({ timeout: 1000 });
  await expect.poll(line, PATIENCE).toMatch(/^(left|right) .*(index|middle|ring|pinky) \w+.* – [A-G]♯?\d$/);
});

test('a hand is dragged along the keys, and its fingers are named', async () => {
  await settled(false);
  const camera = await cameraIn(page, 'window.livePage.camera');
  const place = await page.evaluate(() => {
    const { mesh } = window.hands!.hands[1];
    return mesh.skeleton.bones
      .find(({ name }) => name === 'middle-finger-metacarpal')!
      .getWorldPosition(mesh.position.clone());
  });
  const at = new Vector3(place.x, place.y, place.z).project(camera);
  const [x, y] = [((at.x + 1) / 2) * SIZE.width, ((1 - at.y) / 2) * SIZE.height];
  await page.mouse.move(x, y);
  const named = () => page.locator('#hit-name').textContent();
  await expect.poll(named, PATIENCE).toMatch(/^right hand: /);
  const handAt = () => page.evaluate(() => window.hands!.hands[1].root.position.x);
  const before = await handAt();
  await page.mouse.down();
  await page.waitForTimeout(500); // the worker reports the pressed keys
  await page.mouse.move(x + 60, y - 10, { steps: 5 });
  await page.mouse.up();
  expect(await handAt()).toBeGreaterThan(before + 0.01);
  await settled(false);
  await compare();
  expect(faults).toEqual([]);
});

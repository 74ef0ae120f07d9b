import type { Page } from 'playwright';
import { type BufferAttribute, type Intersection, type SkinnedMesh, Vector3, Vector4 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { createBody } from '../../demo/characters/body.js';
import { Crowd, nameOfBone } from '../../demo/characters/crowd.js';
import { LIMBS } from '../../demo/characters/figure.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';
import { cameraIn } from './camera.js';
import { framesOf, hitsAt, stopped } from './live-truth.js';

const PATIENCE = { timeout: 60_000, interval: 50 };
/** Two bones whose weights differ by less may be confused. */
const TIE = 1e-3;

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];
const crowd = new Crowd('low', createBody('low'));

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
});
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
  await page.close();
});

/** Opens the page, and stops it with some characters in mid-step. */
async function open(device: { width: number; height: number; hasTouch?: boolean }): Promise<void> {
  ({ page, faults } = await demo.open(device, 'characters.html?quality=low'));
  await demoStarted(page);
  crowd.pose(await stopped(page));
  crowd.root.updateMatrixWorld(true);
  for (const { mesh } of crowd.walkers) mesh.computeBoundingSphere();
}

/** A pixel of the image where a bone begins, whatever is in front of it. */
async function pixelOf(walker: number, bone: number): Promise<[x: number, y: number]> {
  const { width, height } = page.viewportSize()!;
  const at = new Vector3().setFromMatrixPosition(crowd.walkers[walker].mesh.skeleton.bones[bone].matrixWorld);
  at.project(await cameraIn(page, 'window.livePage.camera'));
  return [Math.round(((at.x + 1) / 2) * width), Math.round(((1 - at.y) / 2) * height)];
}

/** The bone with the greatest weight where three's Raycaster hits; null if two share it. */
function boneAt({ object, face, barycoord }: Intersection): number | null {
  const { skinIndex, skinWeight } = (object as SkinnedMesh).geometry.attributes as Record<string, BufferAttribute>;
  const shares = new Map<number, number>();
  [face!.a, face!.b, face!.c].forEach((vertex, i) => {
    const bones = new Vector4().fromBufferAttribute(skinIndex, vertex).toArray();
    const weights = new Vector4().fromBufferAttribute(skinWeight, vertex).toArray();
    bones.forEach((bone, k) => {
      shares.set(bone, (shares.get(bone) ?? 0) + barycoord!.getComponent(i) * weights[k]);
    });
  });
  const [[bone, most], [, next]] = [...shares, [-1, 0] as const].sort((a, b) => b[1] - a[1]);
  return most - next < TIE ? null : bone;
}

/** What the page should show for a pixel: the name of a bone, or nothing; null if ambiguous. */
async function truthAt(x: number, y: number): Promise<string | null> {
  const [hit] = await hitsAt(page, crowd.root, x, y);
  if (hit === undefined) return 'nothing';
  const bone = boneAt(hit);
  return bone === null ? null : nameOfBone({ object: hit.object, bone });
}

const named = () => page.locator('#hit-name').textContent();

test(`the bone under the mouse is the one that three's hit says, seed ${SEED}`, async () => {
  await open({ width: 1440, height: 900 });
  const random = new Random(SEED);
  const seen = new Set<string>();
  for (let i = 0; i < 24; i++) {
    const [x, y] = await pixelOf(
      Math.floor(crowd.walkers.length * random.next()),
      Math.floor(LIMBS.length * random.next()),
    );
    const truth = await truthAt(x, y);
    if (truth === null) continue;
    await page.mouse.move(x, y);
    await expect.poll(named, { ...PATIENCE, message: `${x}, ${y}` }).toBe(truth);
    seen.add(truth);
  }
  expect(seen.size).toBeGreaterThan(8);
});

test('those who walk come under a pointer that rests, and touch', async () => {
  await open({ width: 1440, height: 900 });
  await page.mouse.move(880, 470);
  await page.evaluate(() => {
    window.livePage!.settings.move = true;
  });
  const names = new Set<string | null>();
  await expect.poll(async () => names.add(await named()).size, { timeout: 40_000, interval: 20 }).toBeGreaterThan(3);
  const touching = page.locator('#figures tr:has(th:text-is("pairs that touch")) td');
  await expect.poll(async () => Number(await touching.textContent()), { timeout: 40_000 }).toBeGreaterThan(0);
});

test('a finger selects a bone on a phone', async () => {
  await open({ width: 390, height: 844, hasTouch: true });
  let truth: string | null = null;
  for (let walker = 0; truth === null || truth === 'nothing'; walker++) {
    const pixel = await pixelOf(walker, 2);
    truth = await truthAt(...pixel);
    if (truth !== null && truth !== 'nothing') await page.touchscreen.tap(...pixel);
  }
  await expect.poll(() => page.locator('#selection').textContent(), PATIENCE).toBe(`selected: ${truth}`);
  await framesOf(page);
});

// The city: what is drawn is what the camera sees, also while that is frozen.
import type { Page } from 'playwright';
import { type Camera, Frustum, type InstancedMesh, Matrix4, Raycaster, Vector2, Vector3 } from 'three';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { City } from '../../demo/cull/city.js';
import { planCity } from '../../demo/cull/city-plan.js';
import type { CullPage } from '../../demo/cull/cull-page.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';
import { cameraIn } from './camera.js';

declare global {
  interface Window {
    cullPage?: CullPage;
  }
}

const PATIENCE = { timeout: 60_000, interval: 50 };
const SIZE = { width: 1440, height: 900 };

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[] = [];
let city: City;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'cull.html?quality=low'));
  await demoStarted(page);
  city = new City(planCity({ buildings: 97_000, cars: 3_000 }));
});
afterAll(() => demo?.close());

const figure = (name: string) => page.locator(`#figures tr:has(th:text-is("${name}")) td`).textContent();
const seenFigure = async () => Number((await figure('seen, and drawn'))?.replace(/\(.*|,/g, ''));

/** Stops everything, and waits for the pending answers. */
async function stop(): Promise<void> {
  const seconds = await page.evaluate(async () => {
    const { settings } = window.cullPage!;
    settings.fly = settings.drive = false;
    for (let i = 0; i < 6; i++) await new Promise(requestAnimationFrame);
    return window.cullPage!.seconds;
  });
  city.drive(seconds);
}

/** The numbers of the visible instances, of buildings and of cars. */
const seen = (): Promise<number[][]> =>
  page.evaluate(() => window.cullPage!.seen.map(({ numbers, count }) => Array.from(numbers.subarray(0, count))));

/** How many instances three drew in the last render. */
const drawnCount = (): Promise<number> => page.evaluate(() => window.cullPage!.drawn);

/** How many instances that are certainly in view are missing, and how many that are certainly not are drawn. */
function compare(mesh: InstancedMesh, camera: Camera, numbers: number[]): { missing: number; tooMany: number } {
  const { planes } = new Frustum().setFromProjectionMatrix(
    new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse),
  );
  const has = new Set(numbers);
  const [matrix, corner] = [new Matrix4(), new Vector3()];
  let [missing, tooMany] = [0, 0];
  for (let i = 0; i < mesh.count; i++) {
    mesh.getMatrixAt(i, matrix);
    const inFront = planes.map(() => 0);
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? 0.5 : -0.5, k & 2 ? 1 : 0, k & 4 ? 0.5 : -0.5).applyMatrix4(matrix);
      planes.forEach((plane, p) => {
        if (plane.distanceToPoint(corner) > 1e-3) inFront[p]++;
      });
    }
    if (inFront.every((count) => count === 8) && !has.has(i)) missing++;
    if (inFront.some((count) => count === 0) && has.has(i)) tooMany++;
  }
  return { missing, tooMany };
}

test('flies over 100,000 objects of which a few are drawn', async () => {
  expect(await figure('objects')).toBe('100,000');
  await expect.poll(seenFigure, PATIENCE).toBeLessThan(20_000);
  expect(await seenFigure()).toBeGreaterThan(500);
  const before = await seenFigure();
  await expect.poll(seenFigure, PATIENCE).not.toBe(before);
});

test('what is drawn is what the camera sees', async () => {
  await stop();
  const [buildings, cars] = await seen();
  const camera = await cameraIn(page, 'window.cullPage.culler');
  expect(compare(city.buildings, camera, buildings)).toEqual({ missing: 0, tooMany: 0 });
  expect(compare(city.cars, camera, cars)).toEqual({ missing: 0, tooMany: 0 });
  expect(buildings.length).toBeGreaterThan(500);
  // three's own culling draws a few more than are in view, by their bounding spheres.
  expect(await drawnCount()).toBeGreaterThanOrEqual(buildings.length + cars.length);
  expect(await drawnCount()).toBeLessThan(1.2 * (buildings.length + cars.length) + 100);
});

test(`the building under the mouse is three's, seed ${SEED}`, async () => {
  const camera = await cameraIn(page, 'window.cullPage.camera');
  const random = new Random(SEED);
  const raycaster = new Raycaster();
  for (let i = 0; i < 6; i++) {
    const [x, y] = [400 + Math.floor(650 * random.next()), 400 + Math.floor(450 * random.next())];
    await page.mouse.move(x, y);
    raycaster.setFromCamera(new Vector2((2 * x) / SIZE.width - 1, 1 - (2 * y) / SIZE.height), camera);
    const [hit] = raycaster.intersectObjects([city.buildings, city.cars]);
    const expected = hit ? `${hit.object.name} ${hit.instanceId!.toLocaleString('en')}` : 'nothing';
    await expect.poll(() => page.locator('#hit-name').textContent(), PATIENCE).toBe(expected);
  }
});

test(`what nearer buildings hide is left out, and nothing that is seen, seed ${SEED}`, async () => {
  await stop();
  const all = await seen();
  const drawn = await drawnCount();
  await page.getByLabel('Leave out what is hidden').check();
  await stop();
  const rest = await seen();
  expect(rest[0].length).toBeLessThan(0.8 * all[0].length);
  expect(await drawnCount()).toBeLessThan(0.8 * drawn);
  expect(rest[0].filter((i) => !all[0].includes(i))).toEqual([]);
  const camera = await cameraIn(page, 'window.cullPage.culler');
  const random = new Random(SEED);
  const raycaster = new Raycaster();
  let hits = 0;
  for (let i = 0; i < 40; i++) {
    raycaster.setFromCamera(new Vector2(random.range(-1, 1), random.range(-1, 0.5)), camera);
    const [hit] = raycaster.intersectObjects([city.buildings, city.cars]);
    if (hit === undefined || hit.point.clone().project(camera).z > 1) continue; // behind the far plane
    hits++;
    expect(rest[hit.object === city.buildings ? 0 : 1]).toContain(hit.instanceId);
  }
  expect(hits).toBeGreaterThan(20);
  await page.getByLabel('Leave out what is hidden').uncheck();
  await stop();
  expect(await seen()).toEqual(all);
});

test('a frozen view keeps what is drawn while the camera goes elsewhere', async () => {
  const before = await seen();
  const from = await cameraIn(page, 'window.cullPage.camera');
  await page.getByLabel('Freeze the view').check();
  await page.mouse.move(800, 300);
  await page.mouse.down();
  await page.mouse.move(1000, 350, { steps: 4 });
  await page.mouse.up();
  await stop();
  const now = await cameraIn(page, 'window.cullPage.camera');
  expect(now.matrixWorld.equals(from.matrixWorld)).toBe(false);
  expect(await seen()).toEqual(before);

  await page.getByLabel('Freeze the view').uncheck();
  await stop();
  const culler = await cameraIn(page, 'window.cullPage.culler');
  const [buildings] = await seen();
  expect(compare(city.buildings, culler, buildings)).toEqual({ missing: 0, tooMany: 0 });
  expect(faults).toEqual([]);
});

import type { Page } from 'playwright';
import { Matrix4, type Mesh, Triangle, Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import type { Figures } from '../../demo/react/app.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { Random, SEED } from '../oracle/random.js';

const SIZE = { width: 900, height: 560 };
const PATIENCE = { timeout: 60_000, interval: 50 };
const BALL = 1.1;
/** For float32 coordinates. */
const ROUNDING = 1e-4;

declare global {
  interface Window {
    reactDemo?: Figures;
  }
}

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'react.html'));
  await demoStarted(page);
  await page.waitForFunction(() => window.reactDemo !== undefined);
}, 180_000);
afterAll(() => demo?.close());
afterEach(async () => {
  // fiber 9 creates three's Clock, which newer versions of three warn about.
  expect(faults.filter((fault) => !fault.includes('THREE.Clock'))).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
});

function setRolling(rolls: boolean): Promise<void> {
  return page.evaluate((rolls) => {
    window.reactDemo!.rolls = rolls;
  }, rolls);
}

const hovered = () => page.evaluate(() => window.reactDemo!.hovered);

/** Where an object's centre is on the page. */
function placeOf(name: string): Promise<[number, number]> {
  return page.evaluate((name) => {
    const { scene, camera, size } = window.reactDemo!.state!();
    const object = scene.getObjectByName(name)!;
    const { x, y } = object.position.clone().project(camera);
    return [((x + 1) / 2) * size.width, ((1 - y) / 2) * size.height];
  }, name);
}

/** A position that the ball's centre soon reaches, with nothing in front of it. */
function aheadOfBall(): Promise<[number, number]> {
  return page.evaluate(() => {
    const { scene, camera, size, raycaster } = window.reactDemo!.state!();
    const own = new (raycaster.constructor as new () => typeof raycaster)();
    const ball = scene.getObjectByName('ball')!;
    // After 0.35 it is clear of its current position; half a turn is enough to find a gap.
    for (let angle = 0.35; angle < 3; angle += 0.05) {
      const { x: right, y: height, z: depth } = ball.position;
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      const there = ball.position.clone().set(right * cosine - depth * sine, height, right * sine + depth * cosine);
      own.set(camera.position, there.clone().sub(camera.position).normalize());
      own.far = there.distanceTo(camera.position);
      if (own.intersectObject(scene).length > 0) continue;
      const { x, y } = there.project(camera);
      return [((x + 1) / 2) * size.width, ((1 - y) / 2) * size.height] as [number, number];
    }
    throw new Error('the ball comes to no place that is seen');
  });
}

/** What three's own Raycaster hits first there. */
function truthAt([x, y]: readonly [number, number]): Promise<string | null> {
  return page.evaluate(
    ([x, y]) => {
      const { scene, camera, size, raycaster } = window.reactDemo!.state!();
      const own = new (raycaster.constructor as new () => typeof raycaster)();
      const at = camera.position.clone().set((2 * x) / size.width - 1, 1 - (2 * y) / size.height, 0);
      own.setFromCamera(at as never, camera);
      return own.intersectObject(scene)[0]?.object.name ?? null;
    },
    [x, y] as const,
  );
}

test(`what lies under the mouse is what three says, seed ${SEED}`, async () => {
  await setRolling(false);
  const random = new Random(SEED);
  const seen = new Set<boolean>();
  for (let i = 0; i < 30; i++) {
    const at = [320 + Math.floor(570 * random.next()), 60 + Math.floor(480 * random.next())] as const;
    await page.mouse.move(...at);
    const truth = await truthAt(at);
    await expect.poll(hovered, { ...PATIENCE, message: `${at}` }).toEqual(truth === null ? [] : [truth]);
    expect(await page.locator('#hovered').textContent()).toBe(truth ?? 'nothing');
    seen.add(truth !== null);
  }
  expect(seen.size).toBe(2);
}, 120_000);

test('a click selects, another takes it back', async () => {
  const names = ['knot 171', 'knot 80'];
  const selected = () => page.evaluate(() => window.reactDemo!.selected);
  const hitNear = async (name: string): Promise<[number, number]> => {
    const [x, y] = await placeOf(name);
    for (let i = 0; i < 80; i++) {
      const at: [number, number] = [Math.round(x) + (i % 9) - 4, Math.round(y) + Math.floor(i / 9) - 4];
      if ((await truthAt(at)) === name) return at;
    }
    throw new Error(`${name} is not seen at its middle`);
  };
  const places = [await hitNear(names[0]), await hitNear(names[1])];
  for (const at of places) await page.mouse.click(...at);
  await expect.poll(selected, PATIENCE).toEqual(names);
  await page.mouse.click(...places[0]);
  await expect.poll(selected, PATIENCE).toEqual([names[1]]);
});

test('the ball comes under a pointer that stands still, and goes', async () => {
  const before = await placeOf('ball');
  await setRolling(true);
  await expect.poll(async () => Math.hypot(...difference(await placeOf('ball'), before)), PATIENCE).toBeGreaterThan(80);
  await setRolling(false);
  const there = await placeOf('ball');
  await page.mouse.move(5, SIZE.height - 5);
  await expect.poll(hovered, PATIENCE).toEqual([]);
  // The ball is hit, and then rolls away, without another pointer move.
  await page.mouse.move(...there);
  await expect.poll(hovered, PATIENCE).toEqual(['ball']);
  await setRolling(true);
  await expect.poll(async () => (await hovered()).includes('ball'), PATIENCE).toBe(false);
  // A whole turn would take it half a minute: the pointer waits slightly ahead.
  await setRolling(false);
  await page.mouse.move(...(await aheadOfBall()));
  await expect.poll(async () => (await hovered()).includes('ball'), PATIENCE).toBe(false);
  await setRolling(true);
  await expect.poll(async () => (await hovered()).includes('ball'), PATIENCE).toBe(true);
}, 120_000);

test('what the ball touches is what it touches by the distances of all triangles', async () => {
  for (let round = 0; round < 3; round++) {
    await setRolling(true);
    await page.waitForTimeout(700);
    await setRolling(false);
    await page.waitForTimeout(500);
    const { center, knots, index, positions } = await page.evaluate(() => {
      const { scene } = window.reactDemo!.state!();
      const knots: { name: string; matrix: number[] }[] = [];
      let mesh!: Mesh;
      scene.traverse((object) => {
        if (!object.name.startsWith('knot')) return;
        mesh = object as Mesh;
        knots.push({ name: object.name, matrix: [...object.matrixWorld.elements] });
      });
      const { geometry } = mesh;
      const center = scene.getObjectByName('ball')!.position.toArray();
      return { center, knots, index: [...geometry.index!.array], positions: [...geometry.attributes.position.array] };
    });
    const [sure, possible]: [string[], string[]] = [[], []];
    const ball = new Vector3(...center);
    for (const { name, matrix } of knots) {
      const toWorld = new Matrix4().fromArray(matrix);
      const at = (i: number) => new Vector3().fromArray(positions, 3 * index[i]).applyMatrix4(toWorld);
      let distance = Number.POSITIVE_INFINITY;
      for (let i = 0; i < index.length; i += 3) {
        const nearest = new Triangle(at(i), at(i + 1), at(i + 2)).closestPointToPoint(ball, new Vector3());
        distance = Math.min(distance, nearest.distanceTo(ball));
      }
      if (distance < BALL - ROUNDING) sure.push(name);
      if (distance < BALL + ROUNDING) possible.push(name);
    }
    const touched = await page.evaluate(() => window.reactDemo!.touched);
    expect(possible).toEqual(expect.arrayContaining(touched));
    expect(touched).toEqual(expect.arrayContaining(sure));
    expect(new Set(touched).size).toBe(touched.length);
    expect(sure.length).toBeGreaterThan(0);
  }
}, 120_000);

function difference([a, b]: readonly number[], [c, d]: readonly number[]): [number, number] {
  return [a - c, b - d];
}

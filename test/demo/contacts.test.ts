import type { Page } from 'playwright';
import { InstancedMesh, Mesh, Raycaster, Vector3 } from 'three';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import type { ContactsPage } from '../../demo/contacts/contacts-page.js';
import { Hall } from '../../demo/contacts/hall.js';
import { browseDemo, demoStarted } from '../../scripts/demo-page.mjs';
import { cameraIn } from './camera.js';
import { isNear, type Pair, pairsThatMeet, type Thing, thingsIn } from './contact-truth.js';
import { dragonGeometry } from './dragon-geometry.js';

const SIZE = { width: 1100, height: 640 };
const PATIENCE = { timeout: 60_000, interval: 50 };
/** For float32 coordinates of the hall. */
const ROUNDING = 1e-5;

declare global {
  interface Window {
    contactsDemo?: ContactsPage;
  }
}

let demo: Awaited<ReturnType<typeof browseDemo>>;
let page: Page;
let faults: string[];
let hall: Hall;

beforeAll(async () => {
  demo = await browseDemo(inject('demoUrl'));
  ({ page, faults } = await demo.open(SIZE, 'contacts.html'));
  await demoStarted(page);
  const [dragons, teapots] = await page.evaluate(() => {
    const { dragons, teapots } = window.contactsDemo!.hall.heap;
    return [dragons.count, teapots.count];
  });
  hall = await Hall.create(dragonGeometry(), dragons, teapots);
}, 180_000);
afterAll(() => demo?.close());
afterEach(async () => {
  expect(faults).toEqual([]);
  expect(await page.locator('#error').textContent()).toBe('');
});

const filterButton = (name: string) => page.locator(`#filters button[data-filter=${name}]`);
const countOn = async (name: string) => Number(await filterButton(name).locator('span').textContent());
const figure = async (name: string) => Number.parseFloat((await page.locator(`[data-figure=${name}]`).textContent())!);
const keyOf = (a: string, b: string) => [a, b].sort().join(' – ');
const keysOf = (pairs: readonly Pair[]) => pairs.map(([a, b]) => keyOf(a.label, b.label)).sort();

/** Sets the page's clock to a time, with a filter selected. */
async function seek(seconds: number, filter = 'all'): Promise<void> {
  await filterButton(filter).click();
  await page.evaluate((seconds) => window.contactsDemo!.seek(seconds), seconds);
  await settled();
  expect(await shownTime()).toBe(seconds);
}

function shownTime(): Promise<number> {
  return page.evaluate(() => window.contactsDemo!.shown!.seconds);
}

/** Waits until the page, paused, shows the current state. */
async function settled(): Promise<void> {
  await expect.poll(() => page.evaluate(() => window.contactsDemo!.isSettled), PATIENCE).toBe(true);
}

interface Listed {
  key: string;
  event: string | undefined;
  seconds: number;
  hidden: boolean;
}

function listed(list: 'touching' | 'events'): Promise<Listed[]> {
  return page.locator(`#${list} li`).evaluateAll((items) =>
    (items as HTMLElement[]).map(({ dataset, hidden }) => ({
      key: [dataset.a, dataset.b].sort().join(' – '),
      event: dataset.event,
      seconds: Number(dataset.seconds),
      hidden: hidden === true,
    })),
  );
}

const touching = async () => (await listed('touching')).map(({ key }) => key).sort();

/** The objects on the page with their transforms, as they are shown. */
async function thingsShown(): Promise<Thing[]> {
  const placed = await page.evaluate(() => {
    const found: { matrix: number[]; instances: number[] }[] = [];
    window.contactsDemo!.hall.root.traverse((object) => {
      if (!('isMesh' in object)) return;
      const instances = 'instanceMatrix' in object ? [...(object as InstancedMesh).instanceMatrix.array] : [];
      found.push({ matrix: [...object.matrixWorld.elements], instances });
    });
    return found;
  });
  hall.root.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    const { matrix, instances } = placed.shift()!;
    object.matrixWorld.fromArray(matrix);
    if (object instanceof InstancedMesh) object.instanceMatrix.array.set(instances);
  });
  return thingsIn(hall);
}

const pairsShown = async () => pairsThatMeet(hall, await thingsShown());

test('contacts begin and end by themselves, until the clock is paused', async () => {
  const happened = async (kind: string) => (await listed('events')).some(({ event }) => event === kind);
  await expect.poll(() => happened('began'), PATIENCE).toBe(true);
  await expect.poll(() => happened('ended'), PATIENCE).toBe(true);
  await demo.picture(page, 'contacts-running');
  await page.getByLabel('Pause').check();
  await settled();
  const time = await shownTime();
  await page.mouse.move(700, 400);
  await page.mouse.down();
  await page.mouse.move(704, 400, { steps: 2 }); // moving the camera is a new render of the same time
  await page.mouse.up();
  await settled();
  expect(await shownTime()).toBe(time);
});

test('the knot is dragged to the crate: what it touches there is listed, by exact arithmetic', async () => {
  await seek(0.3);
  await thingsShown();
  const camera = await cameraIn(page, 'window.contactsDemo.camera');
  const pixelOf = (point: Vector3): [number, number] => {
    const { x, y } = point.clone().project(camera);
    return [(0.5 + 0.5 * x) * SIZE.width, (0.5 - 0.5 * y) * SIZE.height];
  };
  // Towards a vertex of the knot, with nothing in front of it.
  const raycaster = new Raycaster();
  const { position } = hall.knot.geometry.attributes;
  const corner = hall.knot.localToWorld(new Vector3().fromBufferAttribute(position, 0));
  const eye = new Vector3().setFromMatrixPosition(camera.matrixWorld);
  raycaster.set(eye, corner.sub(eye).normalize());
  const [{ point, object }] = raycaster.intersectObject(hall.root);
  expect(object).toBe(hall.knot);
  await page.mouse.move(...pixelOf(point));
  await page.mouse.down();
  await expect.poll(() => page.evaluate(() => window.contactsDemo!.drag.held !== null), PATIENCE).toBe(true);
  const crate = hall.cell.crate.getWorldPosition(new Vector3());
  const way = crate.sub(hall.knot.position).setY(0);
  await page.mouse.move(...pixelOf(point.clone().add(way)), { steps: 4 });
  await settled();
  await page.mouse.up();
  expect(await touching()).toEqual(keysOf(await pairsShown()));
  expect(await touching()).toContain(keyOf('crate', 'knot'));
  await demo.picture(page, 'contacts-knot');
  const place = await page.evaluate(() => window.contactsDemo!.hall.knot.position.toArray());
  // A press beside it rotates the view, and leaves it where it is.
  await page.mouse.move(600, 60);
  await page.mouse.down();
  await page.mouse.move(640, 60, { steps: 2 });
  await page.mouse.up();
  await settled();
  expect(await page.evaluate(() => window.contactsDemo!.hall.knot.position.toArray())).toEqual(place);
  expect((await cameraIn(page, 'window.contactsDemo.camera')).matrixWorld.equals(camera.matrixWorld)).toBe(false);
});

test('the list is right, and so are its begins and ends, in every frame: by exact arithmetic', async () => {
  await seek(0.3);
  let before = keysOf(await pairsShown());
  expect(await touching()).toEqual(before);
  const seen = new Set(before);
  for (const time of [1.6, 2, 2.05, 2.5, 3.8, 4.2, 4.5, 6.2, 6.5, 8.1, 9.3, 9.8, 11.6, 13.3, 15.5, 18.3, 0.3]) {
    await seek(time);
    const now = keysOf(await pairsShown());
    expect(await touching(), `at ${time}`).toEqual(now);
    const events = (await listed('events')).filter(({ seconds }) => seconds === time);
    const newest = events.slice(0, symmetricDifference(before, now).length);
    const keys = (kind: string) => newest.flatMap(({ event, key }) => (event === kind ? key : [])).sort();
    expect(keys('began'), `at ${time}`).toEqual(now.filter((key) => !before.includes(key)));
    expect(keys('ended'), `at ${time}`).toEqual(before.filter((key) => !now.includes(key)));
    expect(await figure('pairs')).toBe(now.length);
    expect(await figure('time')).toBeCloseTo(time, 2);
    before = now;
    for (const key of now) seen.add(key);
  }
  // The chosen times are ones at which there is something to see.
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'Robot A / gripper / left finger – crate',
      'Robot B / gripper / right finger – crate',
      'back pedestal – crate',
    ]),
  );
  for (const kind of [
    /Robot A.*Robot B/,
    /Robot B.*Robot C/,
    /Robot C.*dragon/,
    /dragon \d+ – dragon/,
    /dragon.*teapot/,
  ]) {
    expect(
      [...seen].filter((key) => kind.test(key)),
      String(kind),
    ).not.toEqual([]);
  }
}, 180_000);

test('one step goes on by a twentieth of a second', async () => {
  await seek(2);
  await page.getByRole('button', { name: 'One step' }).click();
  await settled();
  expect(await shownTime()).toBe(2.05);
  expect(await touching()).toEqual(keysOf(await pairsShown()));
});

test('a filter is a click: robots against each other, the gripper against the crate, dragons', async () => {
  const has = ({ path }: Thing, name: string) => path.some((object) => object.name === name);
  const robots = ['Robot A', 'Robot B', 'Robot C'];
  const filters: Record<string, (a: Thing, b: Thing) => boolean> = {
    all: () => true,
    robots: (a, b) => [a, b].every((each) => robots.some((name) => has(each, name))),
    grippers: (a, b) => (has(a, 'gripper') && has(b, 'crate')) || (has(b, 'gripper') && has(a, 'crate')),
    dragons: (a, b) => has(a, 'dragon') || has(b, 'dragon'),
  };
  for (const time of [4.2, 11.6]) {
    await seek(time);
    const pairs = await pairsShown();
    for (const [name, isShown] of Object.entries(filters)) {
      await seek(time, name);
      const expected = keysOf(pairs.filter(([a, b]) => isShown(a, b)));
      expect(await touching(), `${name} at ${time}`).toEqual(expected);
      expect(await countOn(name), `${name} at ${time}`).toBe(expected.length);
      const shown = (await listed('events')).filter(({ hidden }) => !hidden);
      const newlyBegun = shown.filter(({ event, seconds }) => event === 'began' && seconds === time);
      for (const { key } of newlyBegun) expect(expected).toContain(key);
      if (time === 11.6) await demo.picture(page, `contacts-${name}`);
    }
  }
  await filterButton('grippers').click();
  const listedAs = (await listed('events')).filter(({ hidden }) => !hidden).map(({ key }) => key);
  expect(listedAs.length).toBeGreaterThan(0);
  for (const key of listedAs) expect(key).toMatch(/gripper.*crate/);
}, 180_000);

/** As the page draws them. */
function pointsShown() {
  return page.evaluate(() => {
    const { frame } = window.contactsDemo!.shown!;
    const { start, points, normals, depths } = frame.result.contacts;
    const name = ({ object, instanceId }: { object: { id: number }; instanceId: number | undefined }) =>
      `${object.id} ${instanceId}`;
    const pairs: { a: string; b: string; points: number[][]; normals: number[][]; depths: number[] }[] = [];
    const threes = (array: Float32Array, from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => [...array.subarray(3 * (from + i), 3 * (from + i) + 3)]);
    frame.forEachContact((a, b, i) => {
      const [from, to] = [start[i], start[i + 1]];
      pairs.push({
        a: name(a),
        b: name(b),
        points: threes(points, from, to),
        normals: threes(normals, from, to),
        depths: [...depths.subarray(from, to)],
      });
    });
    return pairs;
  });
}

test('points of contact are on or between the surfaces of both, with unit normals and depths', async () => {
  // Not the ids: those of the page and of the test are counted alike, but do not start alike.
  const names = await page.evaluate(() => {
    const ids: number[] = [];
    window.contactsDemo!.hall.root.traverse(({ id }) => ids.push(id));
    return ids;
  });
  const own: number[] = [];
  hall.root.traverse(({ id }) => own.push(id));
  for (const time of [4.2, 9.8, 11.6]) {
    await seek(time);
    const things = new Map<string, Thing>();
    for (const thing of await thingsShown()) {
      const object = thing.path.at(-1)!;
      const instance = object instanceof InstancedMesh ? Number(thing.label.split(' ').at(-1)) - 1 : undefined;
      things.set(`${names[own.indexOf(object.id)]} ${instance}`, thing);
    }
    const pairs = await pointsShown();
    let count = 0;
    for (const { a, b, points, normals, depths } of pairs) {
      const [first, second] = [things.get(a)!, things.get(b)!];
      const label = `${first.label} – ${second.label} at ${time}`;
      expect(points.length, label).toBeGreaterThan(0);
      points.forEach((point, i) => {
        expect(Math.hypot(...normals[i]), label).toBeCloseTo(1, 5);
        expect(depths[i], label).toBeGreaterThanOrEqual(0);
        const reach = 1.05 * depths[i] + ROUNDING;
        for (const thing of [first, second]) {
          expect(isNear(thing, new Vector3(...point), reach), `${label}: ${point} and ${thing.label}`).toBe(true);
        }
      });
      count += points.length;
    }
    expect(await figure('points')).toBe(count);
    expect(await page.evaluate(() => window.contactsDemo!.marks.count)).toBe(count);
  }
}, 180_000);

test('only what the filter leaves is drawn', async () => {
  await seek(11.6, 'grippers');
  const drawn = await page.evaluate(() => window.contactsDemo!.marks.count);
  expect(drawn).toBeGreaterThan(0);
  expect(drawn).toBeLessThan(await figure('points'));
});

test('yes or no: the same pairs without points', async () => {
  await seek(11.6);
  const pairs = await touching();
  const events = (await listed('events')).length;
  await page.getByLabel('Contacts').selectOption('yes or no');
  await settled();
  expect(await touching()).toEqual(pairs);
  expect((await listed('events')).length).toBe(events);
  expect(await figure('points')).toBe(0);
  await page.getByLabel('Contacts').selectOption('manifold');
  await settled();
  expect(await touching()).toEqual(pairs);
  expect(await figure('points')).toBeGreaterThan(0);
});

function symmetricDifference(first: readonly string[], second: readonly string[]): string[] {
  return [...first.filter((key) => !second.includes(key)), ...second.filter((key) => !first.includes(key))];
}

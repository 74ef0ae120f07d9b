// Queries of a view that are asked for before there is a view wait for the first one.
import { type CollisionService, createCollisionService } from 'collision-worker';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KillableService } from '../fixtures/mortal.js';

let service: CollisionService;
let box: number;
beforeEach(async () => {
  service = await createCollisionService();
  box = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
});
afterEach(() => service.dispose());

const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const FROM_5 = IDENTITY.with(14, -5);
/** A WebGL projection: 90 degrees of vertical field of view, from 1 to 100. */
const PERSPECTIVE = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -101 / 99, -1, 0, 0, -200 / 99, 0];
const setView = (name?: string) =>
  service.setView({ projection: PERSPECTIVE, view: FROM_5, viewport: { width: 100, height: 100 } }, name);

/** Returns whether a promise is settled once all earlier queries are answered. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  await service.raycast({ origin: [0, 0, 9], direction: [0, 0, -1] });
  return settled;
}

test('picks of every kind', async () => {
  const region = Float32Array.of(40, 40, 60, 40, 60, 60);
  const answers = [
    service.pick(50, 50),
    service.pick(50, 50, { latest: true }),
    service.pickAll(50, 50),
    service.pick(50, 50, { method: 'screen' }),
    service.pickRegion(region),
  ] as const;
  region.fill(1000); // the region is that at the time of the call
  expect(await isSettled(Promise.race(answers))).toBe(false);
  setView();
  const [hit, latest, all, near, drawn] = await Promise.all(answers);
  expect([hit?.object, latest?.object, all[0].object, near?.object, ...drawn]).toEqual([box, box, box, box, box]);
  expect(hit?.distance).toBeCloseTo(4, 6);
  // From now on, naming another view is an error.
  await expect(service.pick(50, 50, { view: 'map' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('are asked as they were at the call, whatever becomes of the objects that say so', async () => {
  const other = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] } });
  const rect = { x: 0, y: 0, width: 100, height: 100 };
  const ignore = [other];
  const drawn = service.pickRegion(rect, { ignore });
  const all = service.pickAll(50, 50, { ignore });
  rect.width = rect.height = 1;
  ignore[0] = box;
  service.removeObject(other);
  setView();
  expect([...(await drawn)]).toEqual([box]);
  expect(new Set((await all).map(({ object }) => object))).toEqual(new Set([box]));
});

test.each([5, {}, new Float32Array(4)])('a region that is none, as %o, is refused at the call', async (region) => {
  await expect(service.pickRegion(region as Float32Array)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('the newest of those with `latest` answers them, and one without answers none of them', async () => {
  setView();
  const waiting = service.pick(50, 50, { latest: true });
  // Outside the viewport there is nothing to ask the worker for.
  const beside = [service.pick(-50, 50), service.pickRegion({ x: -50, y: 0, width: 10, height: 10 })] as const;
  expect(await beside[0]).toBeNull();
  expect((await beside[1]).length).toBe(0);
  expect((await waiting)?.object).toBe(box);
  const older = service.pick(50, 50, { latest: true });
  const newest = service.pick(-50, 50, { latest: true });
  expect(await Promise.all([older, newest])).toEqual([null, null]);
});

test('for what is not the first one, too, with an error', async () => {
  const answer = service.pick(50, 50);
  setView('map');
  await expect(answer).rejects.toThrow('expected a view that was set: "map"');
});

test('arguments are checked at once', async () => {
  await expect(service.pick(Number.NaN, 50)).rejects.toThrow('pick: x is NaN');
  await expect(service.pickAll(50, 50, { radius: -1 })).rejects.toThrow('pickAll: radius is -1');
});

test('a signal ends it', async () => {
  const abort = new AbortController();
  const answers = [
    service.pick(50, 50, { signal: abort.signal }),
    service.pickAll(50, 50, { signal: abort.signal, latest: true }),
    service.pickRegion({ x: 0, y: 0, width: 9, height: 9 }, { signal: abort.signal }),
    service.pick(50, 50, { signal: AbortSignal.abort() }),
  ];
  abort.abort();
  for (const answer of answers) await expect(answer).rejects.toMatchObject({ code: 'ABORTED' });
});

test('so does the end of the service', async () => {
  const answer = service.pick(50, 50);
  service.dispose();
  await expect(answer).rejects.toMatchObject({ code: 'DISPOSED', message: expect.stringMatching(/^pick: /) });
});

test('they wait on when the worker is lost', async () => {
  const mortal = await KillableService.create();
  const { service: next } = mortal;
  const sphere = next.addObject({ shape: { type: 'sphere', radius: 1 } });
  const answer = next.pick(50, 50);
  await next.update();
  await mortal.kill();
  next.setView({ projection: PERSPECTIVE, view: FROM_5, viewport: { width: 100, height: 100 } });
  expect((await answer)?.object).toBe(sphere);
});

import type { FrameResult, ViewOptions } from 'collision-worker';
import { Vector3 } from 'three';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FormTwin, formMaker } from '../../../fixtures/forms.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, viewOf } from '../../../oracle/cameras.js';
import { Random, SEED } from '../../../oracle/random.js';

const VIEWS = 1000;
const OBJECTS = 200;

let twin: FormTwin;
let random: Random;
beforeEach(async () => {
  random = new Random(SEED);
  twin = await FormTwin.create();
  const form = formMaker(random);
  for (let i = 0; i < OBJECTS; i++) await twin.add(form(), random.placement(random.point(20)));
});
afterEach(() => twin.dispose());

function randomView(): ViewOptions {
  const [, make] = random.pick(CAMERA_KINDS);
  return viewOf(aimCamera(make(random), random, new Vector3()), DEPTHS[0][1]);
}

/** Expects every view's answer to be as if it were alone, with entered and left as the difference from `before`. */
async function expectRight(frame: FrameResult, views: Map<string, ViewOptions>, before?: FrameResult): Promise<void> {
  expect([...frame.views.keys()].sort()).toEqual([...views.keys()].sort());
  for (const [name, { ids, inside, entered, left }] of frame.views) {
    const alone = await twin.service.frustum(views.get(name)!);
    expect([[...ids], inside]).toEqual([[...alone.ids], alone.inside]);
    const now = new Set(ids);
    const then = new Set(before?.views.get(name)?.ids);
    const missing = (from: Set<number>, without: Set<number>) =>
      [...from].filter((id) => !without.has(id)).sort((a, b) => a - b);
    expect([...entered]).toEqual(missing(now, then));
    expect([...left]).toEqual(missing(then, now));
  }
}

test(`${VIEWS} views in a frame; they come, go and move, seed ${SEED}`, async () => {
  const views = new Map(Array.from({ length: VIEWS }, (_, i) => [`view ${i}`, randomView()]));
  for (const [name, view] of views) twin.service.setView(view, name);
  const first = (await twin.service.update()).copy();
  await expectRight(first, views);

  for (const name of [...views.keys()]) {
    if (random.chance(0.5)) continue;
    views.delete(name);
    twin.service.removeView(name);
  }
  for (let i = 0; i < 100; i++) {
    const name = random.chance(0.5) ? `new ${i}` : random.pick([...views.keys()]);
    views.set(name, randomView());
    twin.service.setView(views.get(name)!, name);
  }
  await expectRight(await twin.service.update(), views, first);

  for (const name of views.keys()) twin.service.removeView(name);
  expect((await twin.service.update()).views.size).toBe(0);
});

test(`what leaves is told while ever more objects come, seed ${SEED}`, async () => {
  const views = new Map(Array.from({ length: 20 }, (_, i) => [`view ${i}`, randomView()]));
  for (const [name, view] of views) twin.service.setView(view, name);
  let before = (await twin.service.update()).copy();
  const form = formMaker(random);
  for (let round = 0; round < 3; round++) {
    for (const id of twin.items.keys()) {
      if (random.chance(0.3)) twin.service.setTransform(id, random.placement(random.point(40)).elements);
    }
    for (let i = 0; i < OBJECTS; i++) await twin.add(form(), random.placement(random.point(20)));
    const frame = (await twin.service.update()).copy();
    await expectRight(frame, views, before);
    before = frame;
  }
});

test('a view that is removed while its frame waits is gone, and leaves nothing to the next in its place', async () => {
  const { service } = twin;
  const [a, b, c] = [randomView(), randomView(), randomView()];
  const running = service.update();
  service.setView(a, 'a');
  const waiting = service.update();
  service.removeView('a');
  const joined = service.update(); // the removal is sent ahead of the waiting frame
  await Promise.all([running, waiting]);
  expect((await joined).views.size).toBe(0);
  service.setView(b, 'b');
  const frame = await service.update();
  await expectRight(frame, new Map([['b', b]]));

  // The same with another view in its place at once.
  const then = frame.copy();
  const again = service.update();
  service.setView(a, 'a');
  const late = service.update();
  service.removeView('a');
  service.setView(c, 'c');
  const last = service.update();
  await Promise.all([again, late]);
  await expectRight(
    await last,
    new Map([
      ['b', b],
      ['c', c],
    ]),
    then,
  );
});

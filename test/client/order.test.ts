// Structural changes, frames, views and queries in every interleaving with frames that are delayed.
import { isDeepStrictEqual } from 'node:util';
import { createCollisionService, type ObjectOptions } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { GatedWorker } from '../fixtures/gated-worker.js';
import { HeldWorker } from '../fixtures/held-worker.js';
import { Random, SEED } from '../oracle/random.js';
import { FULL_VIEW } from '../suites/growing.js';

const STEPS = 4000;
const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [0.4, 0.4, 0.4] }, contacts: 'none' };
const VIEWS = { main: 1, second: 2, both: 3 };
const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
const down = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;

interface Thing {
  layers: number;
  /** Where it was last set to, and where it was at the last update(). */
  x: number;
  sent: number;
}

/** What views show, by their names; ids ascend. */
type Shown = Record<string, number[]>;

/** The objects after a change, by their layers, and the views removed since an update(). */
interface State {
  things: [id: number, layers: number][];
  gone: Set<string>;
}

// With slices that end at each check of the clock, the worker is sometimes in the midst of one, as on a busy machine.
const WORKERS = { 'at its own pace': () => new HeldWorker(), 'in slices': () => new GatedWorker() };

test.each(Object.entries(WORKERS))(`nothing is seen out of its order, %s, seed ${SEED}`, async (_, createWorker) => {
  const random = new Random(SEED);
  const worker = createWorker();
  let isBusy = false;
  worker.worker.on('message', ({ type }) => {
    isBusy ||= type === 'busy';
  });
  const service = await createCollisionService({ createWorker: () => worker });
  const alive = new Map<number, Thing>();
  // No position is ever reused: it belongs to one object forever.
  const ownerOf: number[] = [];
  const views = new Set<keyof typeof VIEWS>();
  /** All states since the last update(). */
  let states: State[] = [];
  const frames = new Map<number, { shown: Shown; possible: Shown[] }>();
  const pending: Promise<void>[] = [];
  let [hits, misses, removed] = [0, 0, 0];

  const place = (id: number) => ownerOf.push(id) - 1;
  const change = () => {
    const things = [...alive].map(([id, { layers }]): [number, number] => [id, layers]);
    const state = { things, gone: new Set(states.at(-1)?.gone) };
    states.push(state);
    return state;
  };
  const update = () => {
    for (const thing of alive.values()) thing.sent = thing.x;
    const wanted = [...views];
    states = [];
    change();
    const since = states;
    const answer = service.update().then(({ frame, views: seen }) => {
      const shown = Object.fromEntries(Array.from(seen, ([name, { ids }]) => [name, [...ids]]));
      // While the worker is in the midst of a slice, commands behind a waiting frame are sent ahead of it.
      const possible = (isBusy ? since : since.slice(0, 1)).map(({ things, gone }) => shownOf(things, wanted, gone));
      frames.set(frame, { shown, possible }); // of those that share a frame, the last one asked for counts
    });
    pending.push(answer);
  };
  const ask = (x: number) => {
    const owner = ownerOf[x];
    const wasAlive = alive.has(owner);
    const lastFrame = service.stats.frames;
    const question = service.raycast(down(x)).then((hit) => {
      if (!hit) {
        misses++;
        return;
      }
      hits++;
      expect([hit.object, wasAlive], `place ${x}`).toEqual([owner, true]);
      expect(hit.frame).toBeGreaterThanOrEqual(lastFrame);
    });
    pending.push(question);
  };

  for (let step = 0; step < STEPS; step++) {
    const roll = random.next();
    const ids = [...alive.keys()];
    if (roll < 0.2 || ids.length === 0) {
      const layers = 1 + random.integer(3);
      const x = ownerOf.length;
      const id = service.addObject({ ...BOX, layers, matrix: at(x) });
      place(id);
      alive.set(id, { layers, x, sent: x });
      change();
    } else if (roll < 0.32) {
      const id = random.pick(ids);
      service.removeObject(id);
      alive.delete(id);
      change();
      removed++;
      // Sometimes at once, in the old one's slot.
      if (random.chance(0.5)) {
        const x = ownerOf.length;
        const next = service.addObject({ ...BOX, matrix: at(x) });
        place(next);
        alive.set(next, { layers: 1, x, sent: x });
        change();
      }
    } else if (roll < 0.45) {
      const id = random.pick(ids);
      const x = place(id);
      service.setTransform(id, at(x));
      (alive.get(id) as Thing).x = x;
    } else if (roll < 0.5) {
      const name = random.pick(Object.keys(VIEWS) as (keyof typeof VIEWS)[]);
      if (views.delete(name)) {
        service.removeView(name);
        change().gone.add(name);
      } else {
        service.setView({ ...FULL_VIEW, layers: VIEWS[name] }, name);
        views.add(name);
      }
    } else if (roll < 0.7) {
      update();
    } else if (roll < 0.9) {
      ask(random.chance(0.5) ? (alive.get(random.pick(ids)) as Thing).sent : random.integer(ownerOf.length));
    } else if (random.chance(0.6)) {
      worker.hold();
    } else {
      await worker.letGo();
      if (random.chance(0.5)) await Promise.all(pending.splice(0));
    }
  }
  await worker.letGo();
  await Promise.all(pending);

  expect(Math.min(hits, misses, removed, frames.size)).toBeGreaterThan(100);
  for (const { shown, possible } of frames.values()) {
    const isPossible = possible.some((each) => isDeepStrictEqual(each, shown));
    if (!isPossible) expect(shown).toEqual(possible[0]);
  }
  update();
  await Promise.all(pending);
  await pending.at(-1);
  for (const [id, { x }] of alive) expect(await service.raycast(down(x))).toMatchObject({ object: id });
  expect(service.stats).toMatchObject({ objects: alive.size, pending: 0, queueDepth: 0 });
  service.dispose();
});

function shownOf(things: State['things'], views: (keyof typeof VIEWS)[], gone: Set<string>): Shown {
  const seen = (name: keyof typeof VIEWS) => things.filter(([, layers]) => layers & VIEWS[name]).map(([id]) => id);
  const left = views.filter((name) => !gone.has(name));
  return Object.fromEntries(left.map((name) => [name, seen(name).sort((a, b) => a - b)]));
}

// Structure, frames, views and questions in every interleaving with frames that are held up.
import { createCollisionService, type FrameResult, type ObjectOptions } from 'collision-worker';
import { Matrix4 } from 'three';
import { expect, test } from 'vitest';
import { HeldWorker } from '../fixtures/held-worker.js';
import { Random, SEED } from '../oracle/random.js';
import { EVERYTHING } from '../suites/growing.js';

const STEPS = 4000;
const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [0.4, 0.4, 0.4] }, contacts: 'none' };
const VIEWS = { main: 1, second: 2, both: 3 };
const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
const down = (x: number) => ({ origin: [x, 0, 10], direction: [0, 0, -1] }) as const;

interface Thing {
  layers: number;
  /** Where it was put last, and where it was when update() was called last. */
  x: number;
  sent: number;
}

test(`nothing is seen out of its order, seed ${SEED}`, { timeout: 120_000 }, async () => {
  const random = new Random(SEED);
  const worker = new HeldWorker();
  const service = await createCollisionService({ createWorker: () => worker });
  const alive = new Map<number, Thing>();
  // No place is ever used again: it belongs to one object for ever.
  const ownerOf: number[] = [];
  const views = new Set<keyof typeof VIEWS>();
  const frames = new Map<number, { shown: Record<string, number[]>; expected: Record<string, number[]> }>();
  const pending: Promise<void>[] = [];
  let [hits, misses, removed] = [0, 0, 0];

  const place = (id: number) => ownerOf.push(id) - 1;
  const expected = () =>
    Object.fromEntries(
      [...views].map((name) => {
        const seen = [...alive].filter(([, { layers }]) => layers & VIEWS[name]).map(([id]) => id);
        return [name, seen.sort((a, b) => a - b)];
      }),
    );
  const tell = ({ frame, views }: FrameResult, wanted: Record<string, number[]>) => {
    const shown = Object.fromEntries(Array.from(views, ([name, { ids }]) => [name, [...ids]]));
    frames.set(frame, { shown, expected: wanted }); // of those that share a frame, the last one asked for counts
  };
  const update = () => {
    const wanted = expected();
    for (const thing of alive.values()) thing.sent = thing.x;
    pending.push(service.update().then((result) => tell(result, wanted)));
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
    } else if (roll < 0.32) {
      const id = random.pick(ids);
      service.removeObject(id);
      alive.delete(id);
      removed++;
      // At once in the old one's slot, now and then.
      if (random.chance(0.5)) {
        const x = ownerOf.length;
        const next = service.addObject({ ...BOX, matrix: at(x) });
        place(next);
        alive.set(next, { layers: 1, x, sent: x });
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
      } else {
        service.setView({ ...EVERYTHING, layers: VIEWS[name] }, name);
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
  for (const { shown, expected } of frames.values()) expect(shown).toEqual(expected);
  update();
  await Promise.all(pending);
  await pending.at(-1);
  for (const [id, { x }] of alive) expect(await service.raycast(down(x))).toMatchObject({ object: id });
  expect(service.stats).toMatchObject({ objects: alive.size, pending: 0, queueDepth: 0 });
  service.dispose();
});

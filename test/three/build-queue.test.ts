// The builds of a tracker's meshes: a few at once, and only a list entry for each that waits.
import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { BuildQueue, type QueueItem } from '../../src/client/three/geometry/build-queue.js';
import { Random, SEED } from '../oracle/random.js';

class Item implements QueueItem {
  isBuilding = false;
  build = 0;
  isUnneeded = false;
  finish!: (result: string) => void;
}

function start() {
  const ran: Item[] = [];
  const ended: [Item, string][] = [];
  const queue = new BuildQueue<Item, string>(
    (item) => {
      ran.push(item);
      return new Promise((resolve) => {
        item.finish = resolve;
      });
    },
    (item, result) => ended.push([item, result]),
  );
  const add = (count: number) =>
    Array.from({ length: count }, () => {
      const item = new Item();
      queue.add(item);
      return item;
    });
  return { queue, ran, ended, add };
}

const turn = () => new Promise(setImmediate);
const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await turn();
};

test('builds run in the order in which they came, and few at once', async () => {
  const { ran, ended, add } = start();
  const items = add(300);
  await turns(70);
  const most = ran.length;
  expect(most).toBeLessThan(100);
  for (let i = 0; i < items.length; i++) {
    expect(ran).toEqual(items.slice(0, Math.min(most + i, items.length)));
    items[i].finish(`${i}`);
    await turn();
  }
  expect(ended).toEqual(items.map((item, i) => [item, `${i}`]));
  expect(items.some(({ isBuilding }) => isBuilding)).toBe(false);
  const [more] = add(1); // it restarts
  expect(ran.at(-1)).toBe(more);
});

test('no promise is made for one that waits', async () => {
  const { add } = start();
  add(100);
  await turns(70);
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) }).enable();
  add(1000);
  hook.disable();
  expect(promises).toBe(0);
});

test('what nobody needs any more ends as it is passed over, and is not run', async () => {
  const { queue, ran, add } = start();
  const items = add(200);
  await turns(70);
  for (const item of items.slice(100)) item.isUnneeded = true;
  let isOver = false;
  queue.ended().then(() => {
    isOver = true;
  });
  for (const item of items.slice(0, 99)) {
    item.finish('');
    await turn();
  }
  expect(isOver).toBe(false);
  items[99].finish('');
  await turn();
  expect(isOver).toBe(true);
  expect(ran).toEqual(items.slice(0, 100));
  expect(items.some(({ isBuilding }) => isBuilding)).toBe(false);
});

test(`who waits hears when what had begun by then has ended, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const { queue, ran, add } = start();
  const open = new Set<Item>();
  const updates = new Set<Item>();
  const waiters: { left: Set<Item>; isOver: boolean }[] = [];
  for (let step = 0; step < 600; step++) {
    if (random.chance(0.4)) for (const item of add(random.integer(4))) open.add(item);
    if (random.chance(0.1)) {
      const item = new Item();
      queue.begin(item);
      updates.add(item);
    }
    if (random.chance(0.1)) {
      const waiter = { left: new Set([...open, ...updates]), isOver: false };
      waiters.push(waiter);
      queue.ended().then(() => {
        waiter.isOver = true;
      });
    }
    const gone: Item[] = [];
    for (const item of ran) if (open.has(item) && random.chance(0.02)) gone.push(item);
    for (const item of gone) {
      item.finish('');
      open.delete(item);
    }
    for (const item of updates) {
      if (random.chance(0.7)) continue;
      queue.end(item);
      updates.delete(item);
      gone.push(item);
    }
    for (const { left } of waiters) for (const item of gone) left.delete(item);
    await turn();
    for (const { left, isOver } of waiters) expect(isOver, `step ${step}`).toBe(left.size === 0);
  }
  expect(waiters.filter(({ isOver }) => isOver).length).toBeGreaterThan(10);
});

// Taking the first of many waiting messages moved all others:
// with 100,000 behind a long task, each took 40 microseconds.
import { expect, test } from 'vitest';
import { Inbox } from '../../src/worker/inbox.js';
import { Queue } from '../../src/worker/queue.js';
import { afterMessages } from '../../src/worker/slices.js';

const MANY = 20_000;

/** Returns an inbox, and a function that sends it a message. */
function openable() {
  let listen!: (event: Event) => void;
  const endpoint = {
    addEventListener: (_: string, listener: (event: Event) => void) => {
      listen = listener;
    },
    removeEventListener: () => {},
    postMessage: () => {},
  };
  const inbox = new Inbox(endpoint as never);
  return { inbox, send: (data: number) => listen({ data } as unknown as Event) };
}

test('many messages that came during long work are answered in order', async () => {
  const { inbox, send } = openable();
  const heard: number[] = [];
  await new Promise<void>((resolve) => {
    const receive = (message: unknown) => {
      heard.push(message as number);
      if (heard.length === MANY) resolve();
    };
    inbox.open(receive, { run() {}, refuse() {} });
    inbox.pause();
    for (let i = 0; i < MANY; i++) send(i);
  });
  expect(heard.every((message, i) => message === i)).toBe(true);
});

test('much that waits for messages goes on in order', async () => {
  const order: number[] = [];
  await Promise.all(
    Array.from(
      { length: MANY },
      (_, i) => new Promise<void>((resolve) => afterMessages(() => resolve(void order.push(i)))),
    ),
  );
  expect(order.every((each, i) => each === i)).toBe(true);
});

// Every running task had a slice before a message was answered: behind 100 `raycastMany` a pick waited 300 ms.
test('a message waits for two slices at most, however much work is under way', async () => {
  const { inbox, send } = openable();
  const waited: number[] = [];
  let slices = 0;
  inbox.open((sentAt) => waited.push(slices - Number(sentAt)), { run() {}, refuse() {} });
  await new Promise<void>((resolve) => {
    const work = (): void => {
      slices++;
      if (slices % 77 === 0) send(slices);
      if (slices === 1000) resolve();
      if (slices >= 1000) return;
      inbox.pause();
      afterMessages(work);
    };
    for (let i = 0; i < 50; i++) work();
  });
  expect(waited).toHaveLength(12);
  expect(Math.max(...waited)).toBeLessThan(3);
});

// Quadratic work on this many would take minutes.
test('a million entries go through a queue', { timeout: 20_000 }, () => {
  const queue = new Queue<number>();
  for (let i = 0; i < 1_000_000; i++) queue.add(i);
  for (let i = 0; i < 1_000_000; i++) if (queue.take() !== i) expect.fail(`entry ${i} is out of order`);
});

test('a queue hands out what was put in, whatever comes in between', () => {
  const queue = new Queue<number>();
  let [added, taken] = [0, 0];
  for (let round = 0; round < 200; round++) {
    for (let i = 0; i < (round * 37) % 101; i++) queue.add(added++);
    for (let i = 0; i < (round * 53) % 97 && taken < added; i++) expect(queue.take()).toBe(taken++);
    expect(queue.length).toBe(added - taken);
  }
  while (taken < added) expect(queue.take()).toBe(taken++);
  expect(queue.take()).toBeUndefined();
  expect(queue.length).toBe(0);
});

// The order of event handlers that wait for answers, and which of them are skipped.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EventQueue, type QueuedEvent } from '../../src/client/pointer/event-queue.js';

type Done = { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void };

/** The calls, in order: `ask a`, `refresh a`, `handle a`. */
let happened: string[];
/** Errors that were reported as uncaught. */
let reported: unknown[];
const before = globalThis.reportError;
beforeEach(() => {
  happened = [];
  reported = [];
  globalThis.reportError = (error) => reported.push(error);
});
afterEach(() => {
  globalThis.reportError = before;
});

/** An event that waits for `asked` and then for `refreshed`, if given. */
function event(name: string, options: Partial<QueuedEvent> & { asked?: Done; refreshed?: Done } = {}): QueuedEvent {
  const { asked, refreshed, ...own } = options;
  const step = (what: string, done?: Done) => {
    happened.push(`${what} ${name}`);
    return done?.promise ?? null;
  };
  return {
    coalesced: null,
    ask: () => step('ask', asked),
    refresh: () => step('refresh', refreshed),
    handle: () => step('handle'),
    ...own,
  };
}

function pending(): Done {
  let [resolve, reject]: [() => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<void>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}

const handled = () => happened.filter((each) => each.startsWith('handle'));
const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('an event', () => {
  test('that needs no answer is handled at once', () => {
    const queue = new EventQueue();
    expect(queue.isEmpty).toBe(true);
    queue.push(event('a'));
    expect(happened).toEqual(['ask a', 'refresh a', 'handle a']);
    expect(queue.isEmpty).toBe(true);
  });

  test('waits for its answer, for the second one, and for all before it', async () => {
    const queue = new EventQueue();
    const [first, again, second] = [pending(), pending(), pending()];
    queue.push(event('a', { asked: first, refreshed: again }));
    queue.push(event('b', { asked: second }));
    queue.push(event('c'));
    expect(happened).toEqual(['ask a', 'ask b', 'ask c']);
    second.resolve();
    await settled();
    expect(happened.length).toBe(3);
    first.resolve();
    await settled();
    expect(happened.slice(3)).toEqual(['refresh a']);
    expect(queue.isEmpty).toBe(false);
    again.resolve();
    await settled();
    expect(happened.slice(4)).toEqual(['handle a', 'refresh b', 'handle b', 'refresh c', 'handle c']);
    expect(queue.isEmpty).toBe(true);
  });

  test('that a handler makes is handled behind it', () => {
    const queue = new EventQueue();
    const handle = () => {
      queue.push(event('b'));
      happened.push('handle a');
    };
    queue.push(event('a', { handle }));
    expect(handled()).toEqual(['handle a', 'handle b']);
    expect(queue.isEmpty).toBe(true);
  });

  test.each(['ask', 'refresh', 'handle'] as const)('whose %s throws is reported, and stops nothing', (what) => {
    const queue = new EventQueue();
    const error = new Error(what);
    queue.push(
      event('a', {
        [what]: () => {
          throw error;
        },
      }),
    );
    queue.push(event('b'));
    expect(reported).toEqual([error]);
    expect(happened.includes('handle a')).toBe(what !== 'handle');
    expect(happened.at(-1)).toBe('handle b');
  });

  test.each(['asked', 'refreshed'] as const)('of which what is %s fails is handled all the same', async (what) => {
    const queue = new EventQueue();
    const [answer, error] = [pending(), new Error(what)];
    queue.push(event('a', { [what]: answer }));
    queue.push(event('b'));
    answer.reject(error);
    await settled();
    expect(reported).toEqual([error]);
    expect(handled()).toEqual(['handle a', 'handle b']);
  });
});

describe('moves in a row', () => {
  test('are asked about one at a time, and the newest takes the place of one that waits', async () => {
    const queue = new EventQueue();
    const [first, last] = [pending(), pending()];
    queue.push(event('a', { coalesced: 'move', asked: first }));
    for (const name of ['b', 'c', 'd']) queue.push(event(name, { coalesced: 'move', asked: last }));
    expect(happened).toEqual(['ask a']);
    first.resolve();
    await settled();
    expect(happened.slice(1)).toEqual(['refresh a', 'handle a', 'ask d']);
    last.resolve();
    await settled();
    expect(happened.slice(4)).toEqual(['refresh d', 'handle d']);
  });

  test('are not left out for an event that is never left out, which has all of them asked about', async () => {
    const queue = new EventQueue();
    const first = pending();
    queue.push(event('a', { coalesced: 'move', asked: first }));
    queue.push(event('b', { coalesced: 'move' }));
    queue.push(event('c', { coalesced: 'other' }));
    expect(happened).toEqual(['ask a']);
    queue.push(event('d'));
    expect(happened).toEqual(['ask a', 'ask b', 'ask c', 'ask d']);
    queue.push(event('e', { coalesced: 'move' }));
    first.resolve();
    await settled();
    expect(handled()).toEqual(['handle a', 'handle b', 'handle c', 'handle d', 'handle e']);
  });

  test('of several fingers are asked about one at a time, the newest of each, in their order', async () => {
    const queue = new EventQueue();
    const first = pending();
    queue.push(event('a', { coalesced: 'left', asked: first }));
    for (let i = 0; i < 100; i++)
      for (const finger of ['left', 'right', 'third']) queue.push(event(`${finger} ${i}`, { coalesced: finger }));
    queue.push(event('left', { coalesced: 'left' }));
    expect(happened).toEqual(['ask a']);
    first.resolve();
    await settled();
    expect(handled()).toEqual(['handle a', 'handle right 99', 'handle third 99', 'handle left']);
  });

  test('are not left out once they have been asked about', async () => {
    const queue = new EventQueue();
    const first = pending();
    queue.push(event('a', { coalesced: 'move', asked: first }));
    queue.push(event('b', { coalesced: 'move' }));
    first.resolve();
    await settled();
    expect(handled()).toEqual(['handle a', 'handle b']);
  });
});

test('a move takes the place of the last one only, whatever waits before it', async () => {
  const queue = new EventQueue();
  const first = pending();
  queue.push(event('a', { asked: first }));
  queue.push(event('b'));
  for (const name of ['c', 'd']) queue.push(event(name, { coalesced: 'move' }));
  first.resolve();
  await settled();
  expect(handled()).toEqual(['handle a', 'handle b', 'handle d']);
});

test('a queue that is closed leaves out what waits, and what comes', async () => {
  const queue = new EventQueue();
  const first = pending();
  queue.push(event('a', { asked: first }));
  queue.push(event('b'));
  queue.close();
  expect(queue.isEmpty).toBe(true);
  queue.push(event('c'));
  first.resolve();
  await settled();
  expect(happened).toEqual(['ask a', 'ask b']);
});

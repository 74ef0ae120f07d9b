// Small calls that travel in one message: the worker is
// notified that nobody waits for them once that is true of all.
import { expect, test } from 'vitest';
import { CallBatch } from '../../src/client/link/call-batch.js';
import type { Deferred } from '../../src/client/link/worker-link.js';

/** An answer whose `settled` flag the test sets. */
function answer(log: string[], name: string) {
  return {
    settled: false,
    drop: undefined as (() => void) | undefined,
    resolve: (value: unknown) => log.push(`${name} is ${value}`),
    reject: () => log.push(`${name} fails`),
  };
}

test('it is told when nobody waits for any of them any more, once all of them are settled', () => {
  const dropped: number[] = [];
  const all = { settled: false, promise: new Promise<never>(() => {}), drop: () => dropped.push(1) };
  const link = { defer: () => all, answerWith: () => {} };
  let post = (): void => {};
  const batch = new CallBatch<number, string>(
    link as never,
    () => Promise.resolve([]),
    (each) => {
      post = each;
    },
  );
  const log: string[] = [];
  const answers = ['first', 'second'].map((name) => answer(log, name));
  for (const [i, each] of answers.entries()) batch.add('addMesh', i, each as unknown as Deferred<string>);
  post();
  answers[0].settled = true;
  answers[0].drop!();
  expect(dropped).toEqual([]);
  answers[1].settled = true;
  answers[1].drop!();
  expect(dropped).toEqual([1]);
  // The worker has answered by now.
  all.settled = true;
  answers[1].drop!();
  expect(dropped).toEqual([1]);
});

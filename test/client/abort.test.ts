// Waiters for one signal: as long as there is any, the signal has exactly one listener, shared by all.
import { expect, test } from 'vitest';
import { unlessAborted } from '../../src/client/link/abort.js';

test('one that has been answered leaves those that still wait the signal', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners: string[] = [];
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.push('added');
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.push('removed');
    remove(...given);
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  const both = [7, 8].map((value) => unlessAborted('raycast', Promise.resolve(value), signal));
  expect(await Promise.all(both)).toEqual([7, 8]);
  await settled();
  expect(listeners.splice(0)).toEqual(['added', 'removed']);
  const waiting = unlessAborted('pick', new Promise<never>(() => {}), signal);
  expect(await unlessAborted('raycast', Promise.resolve(9), signal)).toBe(9);
  await settled();
  expect(listeners).toEqual(['added']);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED', message: 'pick: aborted by its signal' });
});

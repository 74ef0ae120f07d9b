// The same in Node and in a browser: growing capacity, slow and fast workers.
import { expect, test } from 'vitest';
import { growWhileFramesRun } from './growing.js';
import { runFastWorker, runSlowWorker } from './paced.js';

export function testPaces(nextPicture: () => Promise<unknown>): void {
  test('200,000 objects come while frames run: each frame tells of its own', growWhileFramesRun);

  test('a worker that takes 50 ms a frame gets the newest state, and answers in between', () =>
    runSlowWorker(nextPicture));

  test('a fast worker answers before the next picture', async () => {
    const inTime = await runFastWorker(nextPicture, 100);
    console.log(`${inTime} of 100 frames were there before the next picture`);
    expect(inTime).toBeGreaterThan(0); // on an idle machine, nearly all of them
  });
}

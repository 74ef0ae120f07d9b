// The half of a tree that another builder builds: what it sends is
// kept until it is asked for, and a farewell does not count as a part.
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { SecondPart } from '../../src/worker/second-part.js';

function channel() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  return { part: new SecondPart(port1 as never), other: port2 };
}

test('parts are taken in the order in which they came; one without bytes is none', async () => {
  const { part, other } = channel();
  expect(part.takePart()).toBeUndefined();
  const sizes = [8, 0, 24, 16];
  for (const size of sizes) other.postMessage(new ArrayBuffer(size));
  const found: number[] = [];
  for (let i = 0; found.length < 3 && i < 1000; i++) {
    const taken = part.takePart();
    if (taken) found.push(taken.byteLength);
    else await new Promise(setImmediate);
  }
  expect(found).toEqual([8, 24, 16]);
  expect(part.takePart()).toBeUndefined();
});

test.each([true, false])('a mesh is handed over with its buffers, indexed: %s', async (isIndexed) => {
  const { part, other } = channel();
  const heard = once(other, 'message');
  const positions = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0);
  const indices = isIndexed ? Uint32Array.of(0, 1, 2) : undefined;
  part.send({ positions, indices } as never);
  expect(positions.length).toBe(0);
  expect(indices?.length ?? 0).toBe(0);
  const [source] = await heard;
  expect(source.positions).toEqual(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0));
  expect(source.indices).toEqual(isIndexed ? Uint32Array.of(0, 1, 2) : undefined);
});

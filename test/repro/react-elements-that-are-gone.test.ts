// An element that a pointer event was sent to was retained, with the part of the page that it was in, for as long as the canvas
// that heard the event. With an `eventSource` around a list, these are all rows that were ever under the pointer.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { forgiveCapture } from '../../src/client/pointer/event-snapshot.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Stands for an element of a page: its methods are those of its class. */
class Row {
  readonly cells = new Uint8Array(1000);
  setPointerCapture(): void {
    throw Object.assign(new Error(), { name: 'NotFoundError' });
  }
  releasePointerCapture(): void {}
}

test('an element whose captures are forgiven is released with its page', async () => {
  const kept = new Row();
  const undos = [forgiveCapture(kept as unknown as Element)];
  const gone = Array.from({ length: 10 }, () => {
    const row = new Row();
    undos.push(forgiveCapture(row as unknown as Element));
    row.setPointerCapture();
    return new WeakRef(row);
  });
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(gone.filter((each) => each.deref() !== undefined)).toEqual([]);
  kept.setPointerCapture();
  for (const undo of undos) undo();
  expect(Object.keys(kept)).toEqual(['cells']);
  expect(() => kept.setPointerCapture()).toThrow();
});

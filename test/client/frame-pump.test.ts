import { expect, test } from 'vitest';
import { FramePump } from '../../src/client/frame/frame-pump.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { ReplayLog } from '../../src/client/transforms/replay-log.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';
import { IN_EPOCH, IN_FRAME, IN_HEADER_BYTES } from '../../src/shared/layout.js';
import type { FrameMessage } from '../../src/shared/protocol.js';

function start() {
  const posted: unknown[] = [];
  const answer = { promise: null, reject: () => posted.push('rejected') };
  const link = { life: 1, post: (message: unknown) => posted.push(message), defer: () => answer };
  const table = new TransformTable();
  return { posted, pump: new FramePump(link as never, 0, new ViewTable(), new ReplayLog(table, true), table) };
}

const removal = (id: number) => ({ type: 'removeObject', id }) as const;

test('commands in a row go out as one message, and a query between them as its own', async () => {
  const { posted, pump } = start();
  pump.enqueue(removal(1));
  pump.enqueue(removal(2));
  expect(pump.lastCommand).toEqual(removal(2));
  pump.enqueue(() => posted.push('query'));
  expect(pump.lastCommand).toBeUndefined();
  pump.enqueue(removal(3));
  expect(posted).toEqual([]);
  await Promise.resolve();
  const commands = (...list: object[]) => ({ type: 'commands', list });
  expect(posted).toEqual([commands(removal(1), removal(2)), 'query', commands(removal(3))]);
  expect(pump.lastCommand).toBeUndefined();
});

test('nothing goes out after the end', async () => {
  const { posted, pump } = start();
  pump.enqueue(removal(1));
  pump.enqueue(() => posted.push('query'));
  pump.clear();
  expect(pump.lastCommand).toBeUndefined();
  await Promise.resolve();
  expect(posted).toEqual([]);
});

test('an answer to another frame, or of another worker, is passed over', () => {
  const { posted, pump } = start();
  const receive = (input: ArrayBuffer) => {
    const failure = { code: 'OUT_OF_MEMORY', message: 'no room' } as const;
    pump.receive({ type: 'result', input, out: undefined, failure, memoryBytes: 2, usedBytes: 1 });
  };
  receive(new ArrayBuffer(IN_HEADER_BYTES)); // to none at all
  pump.update();
  const { input } = posted.pop() as FrameMessage;
  for (const word of [IN_FRAME, IN_EPOCH]) {
    const other = input.slice(0);
    new DataView(other).setUint32(word, 7, true);
    receive(other);
  }
  expect([posted, pump.framesDone, pump.memory]).toEqual([[], 0, { memoryBytes: 0, usedBytes: 0 }]);
  receive(input);
  expect([posted, pump.framesDone, pump.memory]).toEqual([['rejected'], 1, { memoryBytes: 2, usedBytes: 1 }]);
});

import { expect, test } from 'vitest';
import { FramePump } from '../../src/client/frame/frame-pump.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { ReplayLog } from '../../src/client/transforms/replay-log.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';

function start() {
  const posted: unknown[] = [];
  const link = { life: 1, post: (message: unknown) => posted.push(message), defer: () => ({ promise: null }) };
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

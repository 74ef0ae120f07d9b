import { afterEach, expect, test, vi } from 'vitest';
import { FramePump } from '../../src/client/frame/frame-pump.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { ReplayLog } from '../../src/client/transforms/replay-log.js';
import { TransformTable } from '../../src/client/transforms/transform-table.js';
import { makeId } from '../../src/shared/ids.js';
import {
  IN_EPOCH,
  IN_FRAME,
  IN_HEADER_BYTES,
  IN_MATRICES,
  IN_MOVE_COUNT,
  IN_TRANSFORM_COUNT,
  MOVE_BY,
} from '../../src/shared/layout.js';
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
  const receive = (input: ArrayBuffer, frame = 1, epoch = 1) => {
    const failure = { code: 'OUT_OF_MEMORY', message: 'no room' } as const;
    pump.receive({ type: 'result', frame, epoch, input, out: undefined, failure, memoryBytes: 2, usedBytes: 1 });
  };
  receive(new ArrayBuffer(IN_HEADER_BYTES)); // down to none at all
  pump.update();
  const { input } = posted.pop() as FrameMessage;
  const header = new DataView(input);
  expect([IN_FRAME, IN_EPOCH].map((word) => header.getUint32(word, true))).toEqual([1, 1]);
  receive(input.slice(0), 7);
  receive(input.slice(0), 1, 7);
  expect([posted, pump.framesDone, pump.memory]).toEqual([[], 0, { memoryBytes: 0, usedBytes: 0 }]);
  receive(input);
  expect([posted, pump.framesDone, pump.memory]).toEqual([['rejected'], 1, { memoryBytes: 2, usedBytes: 1 }]);
});

const placed = (x: number) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1];

/** What a message carries: the positions that it gives an object, by their x. */
function placesIn(message: unknown): number[] {
  const { input } = message as FrameMessage;
  const header = new Uint32Array(input, 0, IN_HEADER_BYTES / 4);
  const matrices = new Float64Array(input, header[IN_MATRICES / 4], 12 * header[IN_TRANSFORM_COUNT / 4]);
  return Array.from({ length: matrices.length / 12 }, (_, i) => matrices[12 * i + 9]);
}

test('behind a frame that waits for long work everything goes ahead, after the transforms of that frame', async () => {
  const { posted, pump } = start();
  const typesPosted = () =>
    posted.splice(0).map((message) => (typeof message === 'string' ? message : (message as { type: string }).type));
  const query = () => posted.push('query');
  const id = makeId(1, 1);
  pump.update();
  pump.staging.setSingle(id, placed(1));
  pump.update();
  pump.enqueue(query);
  await Promise.resolve();
  expect(typesPosted()).toEqual(['frame']); // the query waits
  pump.hearBusy();
  await Promise.resolve();
  expect(placesIn(posted[0])).toEqual([1]);
  expect(typesPosted()).toEqual(['ahead', 'query']);
  pump.enqueue(query);
  pump.enqueue(removal(7));
  pump.enqueue(query);
  await Promise.resolve();
  expect(typesPosted()).toEqual(['query', 'commands', 'query']); // the worker has them already
  pump.staging.setSingle(id, placed(2));
  pump.update();
  await Promise.resolve();
  expect(typesPosted()).toEqual([]); // until there is a query
  pump.enqueue(removal(8));
  pump.update(); // joins the frame, whose command is sent ahead
  await Promise.resolve();
  expect(typesPosted()).toEqual(['commands']);
  pump.enqueue(query);
  await Promise.resolve();
  expect(placesIn(posted[0])).toEqual([2]);
  expect(typesPosted()).toEqual(['ahead', 'query']);
  // What a command sets ahead of the frame, the frame does not reset.
  pump.enqueue({ type: 'setObject', id, description: {} as never, matrix: placed(3) });
  await Promise.resolve();
  expect(typesPosted()).toEqual(['commands']);
  const failure = { code: 'OUT_OF_MEMORY', message: 'no room' } as const;
  const input = new ArrayBuffer(IN_HEADER_BYTES);
  pump.receive({ type: 'result', frame: 1, epoch: 1, input, out: undefined, failure, memoryBytes: 2, usedBytes: 1 });
  expect(placesIn(posted[0])).toEqual([3]);
  expect(typesPosted()).toEqual(['frame', 'rejected']);
  // The work was that of the frame that is done.
  pump.update();
  pump.enqueue(query);
  await Promise.resolve();
  expect(typesPosted()).toEqual([]);
});

test.each([true, false, undefined])('of a frame without an answer the moves are made: %s', (areMoved) => {
  const { posted, pump } = start();
  pump.staging.moves.add(0, MOVE_BY, [1, 2, 3], 0.5);
  pump.update();
  const { input } = posted.pop() as FrameMessage;
  const movesIn = (buffer: ArrayBufferLike) => new Uint32Array(buffer)[IN_MOVE_COUNT / 4];
  expect(movesIn(input)).toBe(1);
  const failure = { code: 'OUT_OF_MEMORY', message: 'no room' } as const;
  pump.receive({
    ...({ type: 'result', frame: 1, epoch: 1, memoryBytes: 2, usedBytes: 1 } as const),
    ...{ input, out: undefined, failure, areMoved },
  });
  pump.update();
  expect(movesIn((posted.at(-1) as FrameMessage).input)).toBe(areMoved ? 0 : 1);
});

afterEach(() => {
  vi.unstubAllGlobals();
});

test('frames are in memory that is shared where the worker may have it, and are handed over elsewhere', () => {
  vi.stubGlobal('crossOriginIsolated', true);
  const posted: { input: ArrayBuffer; isShared: boolean; isHandedOver: boolean }[] = [];
  const post = ({ input }: FrameMessage, transfer: Transferable[]) => {
    const isShared = (input as ArrayBufferLike) instanceof SharedArrayBuffer;
    posted.push({ input, isShared, isHandedOver: transfer.includes(input) });
  };
  const link = { life: 1, post, defer: () => ({ resolve() {}, reject() {} }) };
  const table = new TransformTable();
  const pump = new FramePump(link as never, 0, new ViewTable(), new ReplayLog(table, true), table);
  const ask = (x: number) => {
    pump.staging.setSingle(makeId(0, 1), placed(x));
    pump.update();
    return posted.at(-1)!;
  };
  const answer = (input: ArrayBuffer) => {
    const header = new DataView(input);
    const [frame, epoch] = [IN_FRAME, IN_EPOCH].map((word) => header.getUint32(word, true));
    const back = (input as ArrayBufferLike) instanceof SharedArrayBuffer ? undefined : input;
    const rest = { out: new ArrayBuffer(1024), failure: undefined, memoryBytes: 2, usedBytes: 1 };
    pump.receive({ type: 'result', frame, epoch, input: back, ...rest });
  };
  const handedOver = ask(1);
  expect(handedOver).toMatchObject({ isShared: false, isHandedOver: true });
  answer(handedOver.input);
  pump.sharesFrames = true;
  expect(ask(2)).toMatchObject({ isShared: false, isHandedOver: true }); // an existing buffer
  // Transforms staged while a frame is in the worker go into a buffer of their own.
  pump.staging.setSingle(makeId(0, 1), placed(3));
  pump.update();
  answer(posted.at(-1)!.input);
  const shared = posted.at(-1)!;
  expect(shared).toMatchObject({ isShared: true, isHandedOver: false });
  expect(placesIn(shared)).toEqual([3]);
  answer(shared.input);
  const { allocations } = pump;
  for (let x = 4; x < 8; x++) {
    const next = ask(x);
    expect(placesIn(next)).toEqual([x]);
    answer(next.input);
  }
  expect(pump.allocations).toBe(allocations);
  // Another worker may not get it.
  pump.sharesFrames = false;
  for (let x = 8; x < 10; x++) {
    const next = ask(x);
    expect(next).toMatchObject({ isShared: false, isHandedOver: true });
    expect(placesIn(next)).toEqual([x]);
    answer(next.input);
  }
});

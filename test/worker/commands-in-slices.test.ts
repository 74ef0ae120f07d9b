// Commands of many objects are run in slices: work begun before continues, later work waits and sees them.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import type { Command, ObjectDescription } from '../../src/shared/commands.js';
import { CollisionError } from '../../src/shared/errors.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import type { FromWorker, ToWorker } from '../../src/shared/protocol.js';
import type { Core } from '../../src/worker/binding/core.js';
import { Inbox } from '../../src/worker/inbox.js';
import { WorkerService } from '../../src/worker/service.js';
import { startCore } from '../fixtures/core.js';

const BOX: ObjectDescription = {
  ...{
    shape: layout.SHAPE_BOX,
    mesh: 0,
    flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE,
    layers: 1,
    collidesWith: 1,
  },
  ...{
    group: 0,
    contacts: layout.CONTACTS_ANY,
    center: [0, 0, 0],
    extent: [1, 1, 1],
    rotation: [0, 0, 0, 1],
    radius: 0,
  },
};
const FILTER = {
  ...{ layers: 0xffffffff, side: layout.SIDE_DOUBLE, precision: layout.PRECISION_OBB, ignore: new Uint32Array() },
};
const COUNT = 3000;

let core: Core;
let say: (message: object) => void;
/** What was done, in order. */
let done: string[];
/** The duration of commands, as each frame reports it. */
let took: number[];

beforeEach(async () => {
  core = await startCore();
  done = [];
  took = [];
  let send!: (event: Event) => void;
  const endpoint = {
    addEventListener: (_: string, listener: (event: Event) => void) => {
      send = listener;
    },
    removeEventListener() {},
    postMessage() {},
  };
  const inbox = new Inbox(endpoint as never);
  const post = (message: FromWorker) => {
    if (message.type === 'result' && message.out) {
      took.push(new DataView(message.out).getFloat64(layout.OUT_MS_COMMANDS, true));
    }
    done.push(message.type === 'result' ? (message.failure?.message ?? 'result') : message.type);
  };
  const service = new WorkerService(core, post, inbox);
  const receive = (message: ToWorker) => {
    done.push(message.type === 'frame' ? `frame sees ${objectsSeen()}` : `got ${message.type}`);
    service.receive(message);
  };
  inbox.open(receive, { run: () => done.push(`call sees ${objectsSeen()}`), refuse() {} });
  say = (data) => send({ data } as unknown as Event);
  // Every check of the clock is late.
  let time = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    time += 5;
    return time;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const call = [1, 'raycast', []];
const frame = (number: number) => ({ type: 'frame', input: new FrameBuilder().seal(number, 1), out: undefined });
const commands = (...list: Command[]) => ({ type: 'commands', list });
const ids = Array.from({ length: COUNT }, (_, slot) => makeId(slot, 1));

/** The number of objects hit by rays down their columns: object i stands at x = 3 i. */
function objectsSeen(): number {
  const rays = new Float32Array(8 * COUNT);
  for (let i = 0; i < COUNT; i++) rays.set([3 * i, 0, 10, 0, 0, 0, -1, Number.POSITIVE_INFINITY], 8 * i);
  return core.rays.raycastMany(rays, FILTER).objects.filter((id, i) => id === ids[i]).length;
}

function addAll(): Command {
  const matrices = ids.flatMap((_, i) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3 * i, 0, 0, 1]);
  return { type: 'addObjects', ids, description: BOX, matrices };
}

async function until(count: number, what: string): Promise<number> {
  let turns = 0;
  while (done.filter((each) => each.startsWith(what)).length < count) {
    if (turns++ > 1000) throw new Error(`${what} did not come: ${done}`);
    await new Promise(setImmediate);
  }
  return turns;
}

test('what comes behind them waits and sees all of them; timers and aborts pass', async () => {
  say(commands(addAll()));
  say({ type: 'abort', build: 7 });
  say(call);
  say(frame(1));
  expect(done).toEqual(['got commands']);
  // One step of 256 objects per slice.
  expect(await until(1, 'call')).toBeGreaterThan(COUNT / 256);
  expect(done.filter((each) => each !== 'alive').slice(0, 3)).toEqual([
    'got commands',
    'got abort',
    `call sees ${COUNT}`,
  ]);
  await until(1, 'result');
  // Of each slice, the time between two checks.
  expect(took).toEqual([5 * Math.ceil(COUNT / 256)]);

  done = [];
  say(
    commands(
      { type: 'setLayers', ids: Uint32Array.from(ids), layers: 2 },
      { type: 'removeObjects', ids: ids.slice(0, 2000) },
    ),
  );
  say(call);
  expect(await until(1, 'call')).toBeGreaterThan(COUNT / 256);
  expect(done).toContain(`call sees ${COUNT - 2000}`);
  say(frame(2));
  say(frame(3));
  await until(2, 'result');
  // What one command leaves of a slice belongs to the next one.
  expect(took.slice(1)).toEqual([5 * Math.floor((COUNT + 2000) / 256), 0]);
  expect(core.check()).toBeNull();
});

test('a frame that was begun goes on between them, and tells nothing of them', async () => {
  const pairs = Array.from({ length: 100 }, (_, i) => makeId(COUNT + i, 1));
  const description = { ...BOX, center: [0, 500, 0] };
  say(commands({ type: 'addObjects', ids: pairs, description, matrices: [] }));
  say(call);
  await until(1, 'call');
  done = [];
  say(frame(1));
  await until(1, 'busy');
  say(commands(addAll()));
  say(frame(2));
  await until(1, 'result');
  await until(2, 'result');
  const order = done.filter((each) => each !== 'busy' && each !== 'alive');
  expect(order).toEqual(['frame sees 0', 'got commands', 'result', `frame sees ${COUNT}`, 'result']);
  expect(objectsSeen()).toBe(COUNT);
});

test('where one of them fails, the rest is run, and the next frame tells', async () => {
  const { addObjects } = core;
  core.addObjects = (some, placed) => {
    if (some.includes(ids[1000])) throw new CollisionError('OUT_OF_MEMORY', 'there is no room');
    addObjects.call(core, some, placed);
  };
  const other = makeId(COUNT, 1);
  say(commands(addAll(), { type: 'setObject', id: ids[3], description: BOX, matrix: undefined }));
  say(commands({ type: 'addObjects', ids: [other], description: BOX, matrices: [] }));
  say(frame(1));
  say(call);
  await until(1, 'call');
  expect(done).toContain(`call sees 0`);
  expect(done.find((each) => each.includes('no room'))).toMatch(/adding 3000 objects failed before/);
  expect(core.rays.raycastMany(new Float32Array([0, 0, 9, 0, 0, 0, -1, 100]), FILTER).objects[0]).toBe(other);
});

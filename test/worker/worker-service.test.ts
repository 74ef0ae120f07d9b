// The worker's service and its inbox without a worker: their answers, and the order of these.
import { beforeEach, expect, test, vi } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import type { Command } from '../../src/shared/commands.js';
import { makeId } from '../../src/shared/ids.js';
import type { FromWorker, ResultMessage } from '../../src/shared/protocol.js';
import type { Core } from '../../src/worker/binding/core.js';
import { Inbox } from '../../src/worker/inbox.js';
import { WorkerService } from '../../src/worker/service.js';
import { bake, startCore } from '../fixtures/core.js';
import { boxMesh, icosphere } from '../oracle/meshes.js';

let core: Core;
let service: WorkerService;
let posted: FromWorker[];
beforeEach(async () => {
  core = await startCore();
  posted = [];
  service = new WorkerService(core, (message) => posted.push(message));
});

const SPHERE = {
  ...{ shape: 2, mesh: 0, flags: 6, layers: 1, collidesWith: 0xffffffff, group: 0, contacts: 2 },
  ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 1 },
};

/** Runs a frame behind commands, and returns its result. */
function resultBehind(...list: Command[]): ResultMessage {
  service.receive({ type: 'commands', list });
  service.receive({ type: 'frame', input: new FrameBuilder().seal(1, 1), out: undefined });
  return posted.pop() as ResultMessage;
}

const [ID, OTHER] = [makeId(0, 1), makeId(1, 1)];
const NOWHERE = { ...SPHERE, mesh: 77 };

test.each<[string, Command, string]>([
  ['of one object', { type: 'addObjects', ids: [ID], description: NOWHERE, matrices: [] }, `addObject ${ID}`],
  ['of more', { type: 'addObjects', ids: [ID, OTHER], description: NOWHERE, matrices: [] }, 'adding 2 objects'],
  ['that sets one', { type: 'setObject', id: ID, description: NOWHERE, matrix: undefined }, `setObject ${ID}`],
  ['that removes a mesh', { type: 'removeMesh', mesh: 77 }, 'removeMesh 77'],
])('a frame says which command failed before it: one %s', (_, command, name) => {
  const message = `${name} failed before: mesh is 77, which is not in the worker`;
  expect(resultBehind(command)).toMatchObject({ out: undefined, failure: { code: 'UNKNOWN_ID', message } });
  expect(resultBehind()).toMatchObject({ failure: undefined });
});

test('a frame that is shared is answered from where it is, and not handed back', () => {
  vi.stubGlobal('crossOriginIsolated', true);
  const handedBack: unknown[] = [];
  service = new WorkerService(core, (message, transfer) => handedBack.push(message, transfer));
  const own = new FrameBuilder().seal(1, 3);
  const shared = new FrameBuilder(undefined, () => true).seal(2, 4);
  expect(shared).toBeInstanceOf(SharedArrayBuffer);
  service.receive({ type: 'frame', input: own, out: undefined });
  service.receive({ type: 'frame', input: shared, out: undefined });
  vi.unstubAllGlobals();
  const [first, both, second, one] = handedBack as [ResultMessage, unknown[], ResultMessage, unknown[]];
  expect([first.input, both]).toEqual([own, [own, first.out]]);
  expect([second.input, second.failure, one]).toEqual([undefined, undefined, [second.out]]);
  expect([first, second].map(({ frame, epoch }) => [frame, epoch])).toEqual([
    [1, 3],
    [2, 4],
  ]);
});

test('a tree is handed back for the next worker, where there may be one', async () => {
  const [MESH, KEPT] = [2049, 2050];
  const baked = () => bake(core, icosphere(1, 2));
  expect((await service.loadMesh(MESH, baked(), false, false)).baked).toBeUndefined();
  const copies = [
    (await service.loadMesh(KEPT, baked(), true, false)).baked,
    (await service.replaceTree(KEPT, baked(), true)).baked,
    (await service.replaceTree(MESH, baked(), false)).baked,
    (await service.replaceTree(MESH, null, true)).baked,
  ];
  // Two buffers always count as equal; two byte arrays do not.
  const bytes = copies.map((copy) => copy && new Uint8Array(copy));
  const expected = new Uint8Array(baked());
  expect(bytes).toEqual([expected, expected, undefined, undefined]);
});

test('a mesh is checked, unless it is trusted', async () => {
  const damaged = bake(core, icosphere(1, 2));
  new Uint8Array(damaged)[damaged.byteLength - 1] ^= 1;
  await expect(service.loadMesh(2051, damaged, false, false)).rejects.toMatchObject({ name: 'BAD_DATA' });
  const load = { mesh: 2052, baked: damaged, isTrusted: false };
  expect(service.loadMeshes([load])[0].failure?.code).toBe('BAD_DATA');
  expect(service.loadMeshes([{ ...load, isTrusted: true }])[0].failure).toBeUndefined();
  expect((await service.loadMesh(2051, damaged, false, true)).info.triangles).toBe(icosphere(1, 2).indices.length / 3);
});

test('a new tree that is worse than the one before asks for another, of the newest vertices', async () => {
  const mesh = 2049;
  await service.loadMesh(mesh, bake(core, boxMesh(1, 1, 1)), false, false);
  const { positions, indices } = boxMesh(1, 1, 1);
  const { meshInfo } = core;
  core.meshInfo = (address) => ({ ...meshInfo.call(core, address), cost: 2 });
  expect((await service.updateMesh(mesh, positions)).rebuild).toEqual({ positions, indices, topology: 'triangles' });
  const newest = positions.map((x) => 2 * x);
  expect((await service.updateMesh(mesh, newest)).rebuild).toBeUndefined();
  expect((await service.replaceTree(mesh, bake(core, boxMesh(1, 1, 1)), false)).rebuild).toEqual({
    positions: newest,
    topology: 'triangles',
    indices,
  });
});

test('a call is dropped by what comes while all that waits is still taken in', async () => {
  let send!: (event: Event) => void;
  const endpoint = {
    addEventListener: (_: string, listener: (event: Event) => void) => {
      send = listener;
    },
    removeEventListener() {},
    postMessage() {},
  };
  const inbox = new Inbox(endpoint as never);
  const heard: string[] = [];
  const end = new Promise<void>((resolve) => {
    inbox.open(() => heard.push('message'), {
      run: () => resolve(void heard.push('call')),
      refuse: () => resolve(void heard.push('dropped call')),
    });
  });
  const say = (data: object) => send({ data } as unknown as Event);
  // As Node delivers them, many at once: the first part while there was work, the rest behind it.
  inbox.pause();
  say([1, 'raycast']);
  setImmediate(() => say({ type: 'drop', calls: [1] }));
  await end;
  expect(heard).toEqual(['dropped call']);
});

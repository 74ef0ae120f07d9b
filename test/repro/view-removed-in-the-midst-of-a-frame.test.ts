// A view that was removed while a frame was between two slices was missing in the frame's answer, which reported everything
// else as it was before: the scene had never been in such a state.
import { OrthographicCamera } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { makeId } from '../../src/shared/ids.js';
import type { FromWorker, ResultMessage } from '../../src/shared/protocol.js';
import { Inbox } from '../../src/worker/inbox.js';
import { WorkerService } from '../../src/worker/service.js';
import { startCore } from '../fixtures/core.js';

const SPHERE = {
  ...{ shape: 2, mesh: 0, flags: 6, layers: 1, collidesWith: 0xffffffff, group: 0, contacts: 3 },
  ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 1 },
};
const COUNT = 300;

test('a frame answers what its views see, also those that are removed between two of its slices', async () => {
  const core = await startCore();
  // As short as possible.
  const { stepFrame } = core;
  core.stepFrame = (_, ...others) => stepFrame.call(core, 0, ...others);
  let send!: (event: Event) => void;
  const endpoint = {
    addEventListener: (_: string, listener: (event: Event) => void) => {
      send = listener;
    },
    removeEventListener() {},
    postMessage() {},
  };
  const inbox = new Inbox(endpoint as never);
  let take!: (result: ResultMessage) => void;
  const post = (message: FromWorker) => {
    if (message.type === 'result') take(message);
  };
  const service = new WorkerService(core, post, inbox);
  inbox.open((message) => service.receive(message), { run() {}, refuse() {} });
  const say = (data: object) => send({ data } as unknown as Event);
  const views = new ViewTable();
  const names = () => views.names;
  let number = 0;
  const run = (...behind: object[]) => {
    const builder = new FrameBuilder();
    views.stage(builder);
    const asked = names();
    const result = new Promise<ResultMessage>((resolve) => {
      take = resolve;
    });
    say({ type: 'frame', input: builder.seal(++number, 1), out: undefined });
    for (const message of behind) say(message);
    return result.then(({ out }) => new FrameView(out!, asked).views);
  };

  const ids = Array.from({ length: COUNT }, (_, slot) => makeId(slot, 1));
  say({ type: 'commands', list: [{ type: 'addObjects', ids, description: SPHERE, matrices: [] }] });
  const projection = new OrthographicCamera(-5, 5, 5, -5, -10, 10).projectionMatrix.elements;
  const view = new OrthographicCamera().matrixWorldInverse.elements;
  const options = { projection, view, viewport: { width: 100, height: 100 } };
  for (const name of ['main', 'other']) views.set('setView', name, options);

  const all = (seen: Awaited<ReturnType<typeof run>>) => [...seen].map(([name, found]) => [name, found.ids.length]);
  const slot = views.slotOf('other')!;
  expect(all(await run({ type: 'commands', list: [{ type: 'removeView', slot }] }))).toEqual([
    ['main', COUNT],
    ['other', COUNT],
  ]);
  // The next frame does not include it, even if another view has its slot.
  views.delete('removeView', 'other');
  expect(all(await run())).toEqual([['main', COUNT]]);
  views.set('setView', 'third', { ...options, layers: 2 });
  expect(views.slotOf('third')).toBe(slot);
  expect(all(await run())).toEqual([
    ['main', COUNT],
    ['third', 0],
  ]);
});

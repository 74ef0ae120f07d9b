// What is sent to a worker that is starting, busy, failing, silent
// or lost, and to the next one: a transcript, as in frames.test.ts.
import { type CollisionServiceOptions, createCollisionService, type ObjectOptions } from 'collision-worker';
import { expect, onTestFinished, test, vi } from 'vitest';
import { OUT_BYTES, OUT_EPOCH, OUT_FRAME, OUT_HEADER_BYTES } from '../../../src/shared/layout.js';
import { ScriptedWorker } from '../../fixtures/scripted-worker.js';
import { Transcript } from '../../fixtures/transcript.js';
import { boxMesh } from '../../oracle/meshes.js';

const BALL: ObjectOptions = { shape: { type: 'sphere', radius: 0.5 } };
const at = (x: number, y = 0, z = 0) => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1];
const VIEW = { projection: at(0), view: at(0), viewport: { width: 100, height: 100 } };
const down = (x: number) => ({ origin: [x, 0, 9], direction: [0, 0, -1] }) as const;

/** An answer in which nothing is visible and nothing touches. */
function nothing(frame = 1, life = 1): ArrayBuffer {
  const out = new Uint32Array(256);
  out[OUT_FRAME / 4] = frame;
  out[OUT_EPOCH / 4] = life;
  out[OUT_BYTES / 4] = OUT_HEADER_BYTES;
  return out.buffer;
}

/** What was asked; frames by their numbers. */
class Answers {
  readonly all: Promise<unknown>[] = [];

  push(...promises: Promise<unknown>[]): void {
    for (const each of promises) {
      const answer = each.then((value) => (value as { frame?: number } | null)?.frame ?? value);
      answer.catch(() => {}); // it is awaited in the end
      this.all.push(answer);
    }
  }
}

function scripted(options: CollisionServiceOptions = {}) {
  const transcript = new Transcript();
  const workers: ScriptedWorker[] = [];
  const createWorker = () => {
    workers.push(new ScriptedWorker(transcript, workers.length === 0 ? '' : ` ${workers.length + 1}`));
    return workers.at(-1)!;
  };
  const starting = createCollisionService({ createWorker, builders: 0, ...options });
  starting.catch(() => {});
  onTestFinished(async () => (await starting.catch(() => null))?.dispose());
  return { transcript, workers, starting };
}

async function started(options: CollisionServiceOptions = {}) {
  const { transcript, workers, starting } = scripted(options);
  await workers[0].ready();
  const service = await starting;
  for (const type of ['lost', 'restored'] as const) {
    service.addEventListener(type, ({ error, final }) =>
      transcript.note(`* ${type}${final ? ', final' : ''} ${error?.message ?? ''}`),
    );
  }
  return { transcript, workers, service };
}

test('starts', async () => {
  const all = new Transcript();
  const faults: [string, (worker: ScriptedWorker) => Promise<void>][] = [
    ['ready', (worker) => worker.ready()],
    ['of another version', (worker) => worker.ready({ version: '9.9.9' })],
    ['of no version', (worker) => worker.ready({ version: undefined })],
    [
      'it cannot',
      (worker) => worker.say({ type: 'fault', failure: { code: 'UNSUPPORTED', message: 'there is no SIMD' } }),
    ],
    ['it throws', (worker) => worker.fail('error', 'it is broken')],
    ['it throws nothing', (worker) => worker.fail('error')],
    ['it cannot be read', (worker) => worker.fail('messageerror')],
  ];
  for (const [name, speak] of faults) {
    const { transcript, workers, starting } = scripted();
    await speak(workers[0]);
    all.note(`\n# ${name}`);
    await transcript.answer(async () => (await starting) && 'started');
    all.note(transcript.text);
  }
  for (const [name, createWorker] of [
    ['makes nothing', () => undefined],
    ['makes what is none', () => ({ postMessage() {} })],
    [
      'throws',
      () => {
        throw new Error('not today');
      },
    ],
    [
      'throws a text',
      () => {
        throw 'not today';
      },
    ],
    ['is no function', 7],
  ] as const) {
    await all.tell(`what ${name}`, () => createCollisionService({ createWorker: createWorker as never }));
  }
  for (const options of [
    { restart: 1 },
    { builders: -1 },
    { builders: 65 },
    { timeout: 0 },
    { contactBudget: 0 },
    { signal: {} },
    { other: 1 },
    7,
    null,
  ]) {
    await all.tell(`with ${JSON.stringify(options)}`, () => createCollisionService(options as never));
  }
  await all.tell('aborted before', () => createCollisionService({ signal: AbortSignal.abort('early') }));
  await all.tell('aborted meanwhile', () => {
    const controller = new AbortController();
    const { transcript, starting } = scripted({ signal: controller.signal });
    controller.abort('meanwhile');
    return starting.finally(() => all.note(transcript.text));
  });
  await all.check('link-starts');
});

test('frames and questions while the worker is busy', async () => {
  const { transcript, workers, service } = await started({ contactBudget: 2.5 });
  const [worker] = workers;
  const [a, b] = [service.addObject(BALL), service.addObject(BALL)];
  service.setView(VIEW);
  const answers = new Answers();
  const ask = async (heading: string, act: () => Promise<unknown>[]) => {
    transcript.note(`\n# ${heading}`);
    answers.push(...act());
    await new Promise(setImmediate);
  };
  await ask('one is under way', () => [service.update()]);
  await ask('a question behind it', () => [service.raycast(down(0))]);
  await ask('a second one, and a question that sees it', () => {
    service.setTransform(a, at(1));
    service.setView(VIEW, 'other');
    return [service.update(), service.raycast(down(1))];
  });
  await ask('a command behind it', () => {
    service.setObject(b, { matrix: at(2) });
    return [];
  });
  transcript.note('\n# it is busy');
  await worker.say({ type: 'busy', frame: 1 });
  await ask('a question goes ahead', () => [service.raycast(down(2))]);
  await ask('a command goes ahead', () => {
    service.removeView('other');
    service.addObject({ ...BALL, matrix: at(3) });
    return [];
  });
  await ask('the frame is joined', () => {
    service.setTransform(a, at(4));
    return [service.update(), service.raycast(down(4))];
  });
  await ask('one more question', () => [service.raycast(down(5))]);
  transcript.note('\n# answered');
  await worker.answer(nothing());
  await worker.answer(nothing(2));
  transcript.note('\n# one is under way');
  await ask('the third one', () => {
    service.setTransform(b, at(6));
    service.setTransform(a, at(6));
    return [service.update()];
  });
  await ask('a fourth one', () => {
    service.setTransform(a, at(7));
    return [service.update()];
  });
  transcript.note('\n# an answer of another frame, and of another life, is none');
  await worker.say({ type: 'result', frame: 9, epoch: 1 });
  await worker.say({ type: 'result', frame: 3, epoch: 9 });
  transcript.note('\n# it fails, and comes again with the next one');
  await worker.answer(undefined, { failure: { code: 'OUT_OF_MEMORY', message: 'there is no room' } });
  await worker.answer(nothing(4));
  for (let call = 1; call <= worker.call; call++) await worker.say([call, null]);
  await worker.say([1, 'twice']);
  await transcript.answers(answers.all);
  const { pending, queueDepth, frames, objects, frameBuffers, memoryBytes } = service.stats;
  transcript.note(JSON.stringify({ pending, queueDepth, frames, objects, frameBuffers, memoryBytes }));
  await transcript.check('link-busy');
});

/** The fields of a hit. */
const HIT = [7, 2.5, ...[0, 0, 1], ...[0, 0, 1], 3, 3, ...[0.5, 0.25, 0.25], -1, 4];

test('what a call answers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // no other worker is created
  onTestFinished(() => void vi.useRealTimers());
  const { transcript, workers, service } = await started();
  const [worker] = workers;
  const tell = (heading: string, say: (call: number) => object | null) =>
    transcript.tell(heading, async () => {
      const asked = service.raycastAll(down(0));
      asked.catch(() => {});
      await new Promise(setImmediate);
      const message = say(worker.call);
      if (message) await worker.say(message);
      return asked;
    });
  await tell('hits', (call) => [call, [...HIT, 0, ...HIT, { distanceToRay: 0.5 }]]);
  await tell('one hit in a typed array', (call) => [call, Float64Array.of(...HIT, 0)]);
  await tell('a declared error', (call) => [call, undefined, { name: 'OUT_OF_MEMORY', message: 'there is no room' }]);
  await tell('one that names the call', (call) => [call, undefined, { name: 'BAD_DATA', message: 'raycastAll: no' }]);
  await tell('of what has gone', (call) => [call, undefined, { name: 'UNKNOWN_ID', message: 'object 7' }]);
  transcript.note('\n# an error that only a bug can throw');
  const answers = transcript.answers([service.raycastAll(down(0)), service.update()]);
  await new Promise(setImmediate);
  await worker.say([worker.call, undefined, { name: 'TypeError', message: 'x is not a function' }]);
  service.dispose();
  await answers;
  await transcript.check('link-answers');
});

test('lost, again and again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { transcript, workers, service } = await started();
  const a = service.addObject({ ...BALL, continuous: true });
  const b = service.addObject(BALL);
  const ids = service.addInstances(BALL, 2);
  service.setView(VIEW);
  service.setView(VIEW, 'never asked about');
  service.removeView('never asked about');
  service.setTransform(a, at(1));
  service.setTransforms(ids, Float32Array.from([...at(3), ...at(4)]), at(0, 1));
  const answers = new Answers();
  answers.push(service.update());
  await workers[0].answer(nothing());
  service.setTransform(a, at(2));
  answers.push(service.update(), service.raycast(down(2)), service.update());
  await new Promise(setImmediate);
  const next = async () => {
    await vi.advanceTimersByTimeAsync(2_000);
    await new Promise(setImmediate);
  };
  transcript.note('\n# lost');
  await workers[0].fail('error', 'it is broken');
  transcript.note('\n# between two workers');
  service.setTransform(b, at(5));
  service.setObject(ids[1], { matrix: at(6) });
  answers.push(service.update(), service.raycast(down(5)));
  service.setView(VIEW, 'late');
  service.removeObject(ids[0]);
  const late = service.addObject(BALL);
  answers.push(service.update());
  await new Promise(setImmediate);
  transcript.note('\n# the next one');
  await next();
  await workers[1].ready();
  await workers[1].answer(nothing(4, 2));
  for (let call = 1; call <= workers[1].call; call++) await workers[1].say([call, null]);
  transcript.note('\n# which cannot be read');
  answers.push(service.raycast(down(late)));
  await new Promise(setImmediate);
  await workers[1].fail('messageerror');
  await next();
  transcript.note('\n# the third, which does not start');
  await workers[2].say({ type: 'fault', failure: { code: 'OUT_OF_MEMORY', message: 'there is no room' } });
  await next();
  transcript.note('\n# the fourth');
  await workers[3].ready();
  answers.push(service.update());
  await workers[3].fail('error', 'again');
  await transcript.answers(answers.all);
  await transcript.tell('after the end', () => service.update());
  await transcript.tell('a question', () => service.raycast(down(0)));
  await transcript.tell('an object', () => service.addObject(BALL));
  expect(workers.length).toBe(4);
  await transcript.check('link-lost');
});

test('not replaced', async () => {
  const { transcript, workers, service } = await started({ restart: false });
  service.addObject(BALL);
  const answers = new Answers();
  answers.push(service.update(), service.raycast(down(0)));
  await new Promise(setImmediate);
  await workers[0].fail('error', 'it is broken');
  await transcript.answers(answers.all);
  await transcript.tell('after the end', () => service.update());
  await transcript.check('link-not-replaced');
});

test('silent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { transcript, workers, service } = await started({ timeout: 320 });
  const wait = async (milliseconds: number) => {
    transcript.note(`# ${milliseconds} ms`);
    await vi.advanceTimersByTimeAsync(milliseconds);
    await new Promise(setImmediate);
  };
  await wait(1_000);
  const answers = new Answers();
  answers.push(service.raycast(down(0)), service.update());
  await wait(300);
  await workers[0].say({ type: 'alive', frame: 0 });
  await wait(310);
  await workers[0].answer(nothing());
  await wait(310);
  await wait(20);
  await wait(0);
  await workers[1].ready();
  await wait(310);
  await workers[1].say([workers[1].call, null]);
  await wait(1_000);
  answers.push(service.raycast(down(1)));
  await wait(330);
  await wait(250);
  await workers[2].ready();
  await wait(330);
  transcript.note('# between two workers');
  answers.push(service.raycast(down(2)));
  await wait(1_000);
  await wait(1_000);
  await workers[3].ready();
  await workers[3].say([workers[3].call, null]);
  await transcript.answers(answers.all);
  await transcript.check('link-silent');
});

test('the next worker is told of meshes', async () => {
  const transcript = new Transcript();
  const service = await transcript.service();
  const restored = () => new Promise((resolve) => service.addEventListener('restored', resolve, { once: true }));
  const { positions, indices } = boxMesh(1, 1, 1);
  const still = await service.addMesh({ positions, indices }, { boxes: [{ name: 'all', halfExtents: [1, 1, 1] }] });
  const moved = await service.addMesh({ positions, indices });
  const points = await service.addMesh({ positions, topology: 'points' });
  const gone = await service.addMesh({ positions, indices });
  await service.updateMesh(
    moved,
    positions.map((each) => 2 * each),
  );
  service.addObject({ shape: { type: 'mesh', mesh: still }, contacts: 'full' });
  service.addObject({ shape: { type: 'mesh', mesh: moved }, matrix: at(1), contacts: 'full' });
  service.addObject({ shape: { type: 'mesh', mesh: points }, matrix: at(2), layers: 2 });
  const hero = service.createCharacter({
    shape: { type: 'capsule', radius: 0.25, from: [0, 0, 0], to: [0, 1, 0] },
    position: [0, 9, 0],
  });
  hero.move([0, 1, 0]);
  service.setView(VIEW);
  service.removeMesh(gone);
  await service.update();
  for (let life = 2; life <= 3; life++) {
    transcript.note(`\n# life ${life}`);
    const again = restored();
    transcript.workers
      .at(-1)!
      .dispatchEvent(Object.assign(new Event('error', { cancelable: true }), { message: 'it is broken' }));
    await again;
    await transcript.tell('asked', () => service.raycastAll(down(0.25), { threshold: 0.5 }));
    await transcript.tell('updated', async () => {
      const { contacts, visible } = await service.update();
      return { begun: [...contacts.begun], entered: visible.entered, state: hero.state };
    });
  }
  await transcript.tell('moved there', () => service.updateMesh(moved, positions));
  await transcript.check('link-meshes');
});

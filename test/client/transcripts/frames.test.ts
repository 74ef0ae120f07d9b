// What frames send, and what is made of their answers. These transcripts show whoever restructures the client that its behaviour
// stays the same; after an intended change they are written anew (`vitest -u`), with the reason.
import type { CollisionService, FrameResult, ObjectOptions, ViewOptions } from 'collision-worker';
import { expect, test } from 'vitest';
import { Transcript } from '../../fixtures/transcript.js';
import { boxMesh } from '../../oracle/meshes.js';

const BOX: ObjectOptions = { shape: { type: 'box', halfExtents: [1, 0.5, 0.25] } };
const BALL: ObjectOptions = { shape: { type: 'sphere', radius: 0.5 } };
const at = (x: number, y = 0, z = 0, s = 1) => [s, 0, 0, 0, 0, s, 0, 0, 0, 0, s, 0, x, y, z, 1];
const IDENTITY = at(0);
/** Sees x and y from -8 to 8, and z from -2 to 2. */
const VIEW: ViewOptions = {
  projection: [0.125, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, -0.5, 0, 0, 0, 0, 1],
  view: IDENTITY,
  viewport: { width: 160, height: 80 },
};

function describeResult({ frame, visible, views, contacts, rejected }: FrameResult) {
  const { count, waiting, truncated, endedA, endedB, endedGroupA, endedGroupB } = contacts;
  const pairs = [...contacts];
  const ended = { endedA, endedB, endedGroupA, endedGroupB };
  return { frame, visible, views, rejected, count, waiting, truncated, pairs, ...ended };
}

async function told(): Promise<{
  transcript: Transcript;
  service: CollisionService;
  update: (heading: string) => Promise<void>;
}> {
  const transcript = new Transcript();
  const service = await transcript.service();
  const update = (heading: string) => transcript.tell(heading, async () => describeResult(await service.update()));
  return { transcript, service, update };
}

test('transforms', async () => {
  const { transcript, service, update } = await told();
  await update('nothing is there');
  const [a, b, c] = [BOX, BOX, BALL].map((options) => service.addObject(options));
  await update('three are there');
  service.setTransform(a, at(1));
  service.setTransform(a, at(2));
  service.setTransform(c, new Float32Array(at(0.1, 0.2, 0.3)));
  await update('the later one, and one of float32');
  service.setTransform(a, at(2));
  await update('what is known is not sent');
  service.setTransform(a, at(3));
  service.setTransform(a, at(2));
  await update('there and back');
  service.setTransform(b, at(1));
  service.removeObject(b);
  await update('what has gone is not sent');
  const d = service.addObject({ ...BOX, matrix: at(7) });
  service.setTransform(d, at(-0, -0, -0));
  await update('another in its place, at zeros with signs');
  service.setTransform(a, at(Number.NaN));
  service.setTransform(c, at(5, 0, 0, 0));
  service.setTransform(d, at(4));
  await update('what is refused');
  service.setTransform(c, at(5, 0, 0, 0));
  await update('what is refused again');
  service.setTransform(a, at(2));
  service.setTransform(c, at(0.1, 0.2, 0.3));
  await update('back to where they are');
  await transcript.tell('not affine', () => service.setTransform(a, at(0).with(3, 0.5)));
  service.setObject(a, { matrix: at(6) });
  await update('by setObject');
  service.setTransform(a, at(7));
  service.setObject(a, { matrix: at(8) });
  await update('setObject over an older transform');
  service.setObject(a, { matrix: at(9) });
  service.setTransform(a, at(10));
  await update('and under a newer one');
  await transcript.check('frames-transforms');
});

test('blocks', async () => {
  const { transcript, service, update } = await told();
  const ids = service.addInstances(BALL, 4);
  const single = service.addObject(BOX);
  const floats = Float32Array.from([1, 2, 3, 4].flatMap((x) => at(x)));
  await update('at the origin');
  service.setTransforms(ids, floats);
  await update('without a parent');
  service.setTransforms(ids, floats);
  await update('the same again');
  service.setTransforms(ids, floats, at(0, 1, 0, 2));
  await update('below a parent');
  service.setTransforms(ids, Float64Array.from(floats), at(0, 1, 0, 2));
  await update('of float64');
  service.setTransform(ids[1], at(9));
  service.setTransforms(ids, floats);
  await update('a block over a single');
  service.setTransforms(ids, floats);
  service.setTransform(ids[1], at(9));
  await update('a single over a block');
  service.setTransforms(ids.slice(0, 2), floats.slice(0, 32));
  service.setTransforms(ids.slice(2), floats.slice(32), at(1));
  await update('two blocks');
  service.setTransforms(ids.slice(0, 3), floats.slice(0, 48));
  service.setTransforms(ids.slice(2), floats.slice(32), at(1));
  await update('two that share one');
  service.setTransforms(Uint32Array.of(single, ids[0]), floats.slice(0, 32));
  service.setTransforms(Uint32Array.of(single, ids[0]), floats.slice(32, 64));
  await update('one twice');
  const bad = floats.slice();
  bad.set(Array(16).fill(0), 16);
  bad[47] = 2;
  service.setTransforms(ids, bad);
  await update('two are refused');
  service.setTransforms(ids, floats, at(0, 0, 0, 0));
  await update('all are refused, by their parent');
  service.removeObject(ids[0]);
  service.setTransforms(ids.slice(1), floats.slice(16));
  await update('without the one that has gone');
  service.setTransforms(new Uint32Array(0), new Float32Array(0));
  await update('of none');
  await transcript.check('frames-blocks');
});

test('blocks of an adapter', async () => {
  const { transcript, service, update } = await told();
  const [ids, others] = [service.addInstances(BALL, 3), service.addInstances(BOX, 2)];
  const floats = Float32Array.from([1, 2, 3].flatMap((x) => at(x)));
  await transcript.tell('placed at once', () => {
    service.placeInstances(ids, floats, at(0, 1));
  });
  await transcript.tell('and seen without an update', () =>
    service.raycast({ origin: [2, 1, 9], direction: [0, 0, -1] }),
  );
  service.moveInstances(ids, floats, at(0, 2));
  await update('moved, and written into since');
  floats[12] = 5;
  service.moveInstances(ids, floats, at(0, 2));
  service.moveInstances(others, floats.slice(0, 32), at(0, 3));
  await update('two');
  service.moveInstances(ids, floats, at(0, 2));
  service.setTransform(ids[1], at(9));
  await update('and a single');
  service.moveObjects(ids, [at(1), at(2), at(3)], 0, 2);
  await update('of a list, the first two');
  service.moveObjects(ids, [at(1), at(2), at(3)], 1, 3);
  await update('of a list, one of which is known');
  await transcript.tell('what is known of each', () =>
    [at(1), at(2), at(3)].map((m, i) => [service.isPlacedAs(ids[i], m), service.isPlacedAs(ids[i], at(7))]),
  );
  service.moveObjects(ids, [at(1), at(Number.NaN), at(0, 0, 0, 0)], 0, 3);
  await update('two that are refused');
  service.moveInstances(ids, floats, at(Number.NaN));
  await update('all are refused, by their parent');
  service.setTransform(others[1], at(4));
  service.setLayers(ids, 2);
  service.removeObjects(others);
  await update('hidden, and removed');
  service.setLayers(Uint32Array.of(others[0], ids[0]), 4);
  await update('ids that are gone are passed over');
  await transcript.check('frames-adapter');
});

test('many in a row', async () => {
  const { transcript, service, update } = await told();
  const ids = Uint32Array.from({ length: 40 }, (_, i) => service.addObject({ ...BALL, matrix: at(3 * i) }));
  await update('added one by one');
  const matrices = Array.from(ids, (_, i) => at(3 * i, 1));
  service.moveObjects(ids, matrices, 0, 40);
  await update('all of a run');
  service.moveObjects(
    ids,
    matrices.map((m) => m.with(13, 2)),
    0,
    40,
  );
  service.removeObject(ids[7]);
  await update('and without one that has gone');
  const left = ids.filter((_, i) => i !== 7);
  service.moveObjects(
    left.toReversed(),
    Array.from(left, (_, i) => at(i, 5)),
    0,
    39,
  );
  await update('backwards');
  const more = service.addInstances({ ...BALL, contacts: 'none' }, 4096);
  service.setLayers(more, 2);
  service.setLayers(more.subarray(1), 4);
  service.removeObjects(more);
  await update('so many that their ids are handed over, or one less');
  await transcript.check('frames-many');
});

test('views', async () => {
  const { transcript, service, update } = await told();
  for (let i = 0; i < 4; i++) service.addObject({ ...BALL, matrix: at(5 * i), layers: 1 + (i % 2) });
  service.addObject({ ...BALL, cullable: false });
  service.setView(VIEW);
  await update('one');
  service.setView(VIEW);
  await update('the same');
  service.setView({ ...VIEW, view: at(-5), depth: 'webgpu', reversed: true, layers: 2, margin: 0.5, minPixels: 1 });
  service.setView({ ...VIEW, viewport: { x: 3, y: 4, width: 16, height: 8 }, occlusion: true }, 'second');
  await update('all options');
  service.setView({ ...VIEW, occlusion: true, margin: 1 }, 'second');
  service.setView({ ...VIEW, occlusion: true, margin: 1, occlusionMargin: 0.25 }, 'third');
  service.setView({ ...VIEW, occlusionMargin: 0.25, occlusion: false, minPixels: 20 }, 'fourth');
  await update('margins');
  service.setView(
    { ...VIEW, viewport: { width: 0, height: 5 }, projection: Array(16).fill(Number.NaN), occlusion: true },
    'third',
  );
  service.setView({ ...VIEW, view: at(1) }, 'fourth');
  service.removeView('fourth');
  await update('an empty one, and without one');
  service.setView({ ...VIEW, view: at(-10) }, 'fifth');
  await update('another in its slot');
  for (const name of ['second', 'third', 'fifth', 'main']) service.removeView(name);
  await update('none');
  for (const name of ['main', 'second', 'third']) service.setView(VIEW, name);
  await update('again');
  await transcript.check('frames-views');
});

test('contacts', async () => {
  const { transcript, service, update } = await told();
  const mesh = await service.addMesh(boxMesh(1, 1, 1));
  const contacts = ['none', 'bounds', 'any', 'manifold', 'triangles', 'full'] as const;
  const solid = { type: 'mesh', mesh, solid: true } as const;
  const ids = contacts.map((each, i) => service.addObject({ shape: solid, contacts: each, matrix: at(4 * i) }));
  const other = service.addObject({ shape: solid, contacts: 'full', group: 3, matrix: at(-9) });
  await update('apart');
  for (let i = 0; i < ids.length; i++) {
    service.setTransform(other, at(4 * i + 0.75, 0.5, 0.25));
    await update(`with detail ${contacts[i]}`);
  }
  await update('the same again');
  service.setTransform(other, at(20));
  await update('inside of each other');
  service.setTransform(other, at(-9));
  await update('apart again');
  const ball = service.addObject({ ...BALL, contacts: 'manifold', clearance: 0.5, group: 7, matrix: at(0, 9) });
  const swift = service.addObject({ ...BALL, contacts: 'manifold', continuous: true, matrix: at(0, 18) });
  service.setTransform(ids[3], at(0, 7.75));
  await update('within a clearance');
  service.setTransform(swift, at(0, -18));
  await update('on the way');
  await transcript.tell('asked of the set', async () => {
    service.setTransform(swift, at(0, 9.25));
    const result = await service.update();
    const copy = result.copy();
    const { contacts: set } = copy;
    await service.update();
    await service.update();
    const [byGroup, bySide] = [set.between({ group: 7 }), set.between(ball, swift)];
    return { copy: describeResult(copy), byGroup, bySide, none: set.between({ group: 7 }, { group: 9 }) };
  });
  service.setObject(ball, { collidesWith: 0 });
  await update('it meets nobody any more');
  service.removeObject(swift);
  service.removeObject(other);
  await update('removed');
  await transcript.check('frames-contacts');
});

test('frames that are joined', async () => {
  const { transcript, service } = await told();
  const [worker] = transcript.workers;
  const [a, b] = [service.addObject(BOX), service.addObject(BALL)];
  service.setView(VIEW);
  await service.update();
  worker.hold();
  const answers = [1, 2, 3].map((x) => {
    transcript.note(`\n# to ${x}`);
    service.setTransform(a, at(x));
    if (x === 2) service.setTransform(b, at(0, 5));
    if (x === 2) service.setView({ ...VIEW, view: at(1) });
    return service.update();
  });
  const hits = [service.raycast({ origin: [3, 0, 9], direction: [0, 0, -1] })];
  const added = service.addObject({ ...BALL, matrix: at(0, -5) });
  service.setObject(a, { matrix: at(7) });
  service.setView(VIEW, 'late');
  service.removeView('late');
  hits.push(service.raycast({ origin: [7, 0, 9], direction: [0, 0, -1] }));
  const { queueDepth, pending, frames, objects } = service.stats;
  transcript.note(`${JSON.stringify({ queueDepth, pending, frames, objects })}`);
  transcript.note('\n# a fourth, behind them');
  service.setTransform(added, at(0, -6));
  answers.push(service.update());
  await new Promise(setImmediate);
  transcript.note('\n# answered');
  await worker.letGo();
  await transcript.answers([...answers.map((each) => each.then(describeResult)), ...hits]);
  expect(answers[1]).toBe(answers[2]);
  transcript.note(`${JSON.stringify({ ...service.stats, ms: 0, memoryBytes: 0, usedBytes: 0 })}`);
  await transcript.check('frames-joined');
});

test('after the end', async () => {
  const { transcript, service, update } = await told();
  const a = service.addObject(BOX);
  transcript.workers[0].hold();
  const pending = service.update();
  const waiting = service.update();
  const asked = service.raycast({ origin: [0, 0, 9], direction: [0, 0, -1] });
  const answers = transcript.answers([pending, waiting, asked]);
  service.dispose();
  service.dispose();
  await answers;
  expect(service.update()).toBe(service.update());
  await update('update');
  await transcript.tell('setTransform', () => service.setTransform(a, at(1)));
  await transcript.tell('setView', () => service.setView(VIEW));
  await transcript.tell('stats', () => {
    const { objects, meshes, pending: calls, queueDepth, frames } = service.stats;
    return { objects, meshes, calls, queueDepth, frames };
  });
  await transcript.check('frames-end');
});

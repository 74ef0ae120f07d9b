// What each query and each of its options sends, and its result: a transcript, as in frames.test.ts.
import type { CollisionService, ObjectId, PickOptions, QueryOptions, ViewOptions } from 'collision-worker';
import { beforeEach, test } from 'vitest';
import { flushMessages, Transcript } from '../../fixtures/transcript.js';
import { boxMesh } from '../../oracle/meshes.js';

const at = (x: number, y = 0, z = 0, s = 1) => [s, 0, 0, 0, 0, s, 0, 0, 0, 0, s, 0, x, y, z, 1];
/** A quarter turn about z. */
const turned = (x: number) => [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, x, 0, 0, 1];
/** From z = 10 along -z: the image is square, and as wide as twice the distance. */
const VIEW: ViewOptions = {
  projection: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1.5, -1, 0, 0, -2.5, 0],
  view: at(0, 0, -10),
  viewport: { x: 10, y: 20, width: 200, height: 100 },
};
const FLAT: ViewOptions = { ...VIEW, projection: [0.1, 0, 0, 0, 0, 0.2, 0, 0, 0, 0, -0.1, 0, 0, 0, -1, 1] };

let transcript: Transcript;
let service: CollisionService;
let ids: {
  box: ObjectId;
  ball: ObjectId;
  capsule: ObjectId;
  mesh: ObjectId;
  back: ObjectId;
  points: ObjectId;
  lines: ObjectId;
};

/** Along x, two units each: a box, a ball, a capsule, a mesh, one whose back faces count, points, and lines. */
beforeEach(async () => {
  transcript = new Transcript();
  service = await transcript.service();
  const mesh = await service.addMesh(boxMesh(1, 1, 1));
  const { positions } = boxMesh(1, 1, 1);
  const points = await service.addMesh({ positions, topology: 'points' });
  const lines = await service.addMesh({ positions, topology: 'lines' });
  const add = (shape: never, x: number, more = {}) => service.addObject({ shape, matrix: at(x), ...more });
  ids = {
    box: add({ type: 'box', halfExtents: [0.5, 0.5, 0.5] } as never, -6),
    ball: add({ type: 'sphere', radius: 0.5 } as never, -4, { layers: 2 }),
    capsule: add({ type: 'capsule', radius: 0.25, from: [0, -0.5, 0], to: [0, 0.5, 0] } as never, -2),
    mesh: add({ type: 'mesh', mesh, solid: true } as never, 0),
    back: add({ type: 'mesh', mesh } as never, 2, { side: 'back' }),
    points: add({ type: 'mesh', mesh: points } as never, 4),
    lines: add({ type: 'mesh', mesh: lines } as never, 6),
  };
  await service.update();
});

const FILTERS = (): [string, QueryOptions][] => [
  ['no options', {}],
  ['layers', { layers: 2 }],
  ['ignore', { ignore: [ids.mesh, ids.box, ids.mesh] }],
  ['side front', { side: 'front' }],
  ['side back', { side: 'back' }],
  ['side double', { side: 'double' }],
  ['precision sphere', { precision: 'sphere' }],
  ['precision aabb', { precision: 'aabb' }],
  ['precision obb', { precision: 'obb' }],
  ['threshold', { threshold: 0.25 }],
  ['clip', { clip: [1, 0, 0, 0.25, 0, 0, -4, 0] }],
  ['clipIntersection', { clip: [1, 0, 0, -1, 0, 0, 1, 0], clipIntersection: true }],
];

test('rays', async () => {
  const ray = { origin: [-9, 0.25, 0.125], direction: [2, 0, 0] } as const;
  for (const [name, options] of FILTERS()) {
    await transcript.tell(`raycast, ${name}`, () => service.raycast(ray, options));
    await transcript.tell(`raycastAll, ${name}`, () => service.raycastAll(ray, options));
    await transcript.tell(`lineOfSight, ${name}`, () =>
      service.lineOfSight([-1, 0.25, 0.125], [1, 0.25, 0.125], options),
    );
  }
  await transcript.tell('from tMin on', () => service.raycast({ ...ray, tMin: 2.5 }));
  await transcript.tell('exactly to it', () => service.raycastAll({ ...ray, tMin: 3.5, tMax: 8.5 }, { layers: 1 }));
  await transcript.tell('up to tMax', () => service.raycast({ ...ray, tMax: 2 }));
  await transcript.tell('at points and lines', () =>
    service.raycastAll({ origin: [9, 0.5, 0.625], direction: [-1, 0, 0] }, { threshold: 0.125 }),
  );
  await transcript.tell('lineOfSight from a place to itself', () => service.lineOfSight([1, 2, 3], [1, 2, 3]));
  await transcript.tell('lineOfSight, clear', () => service.lineOfSight([-9, 3, 0], [9, 3, 0]));
  const many = Float32Array.from([-5, 1, 2].flatMap((x) => [x, 0.25, 9, 0, 0, 0, -1, 99]));
  for (const [name, options] of FILTERS()) {
    await transcript.tell(`raycastMany, ${name}`, () => service.raycastMany(many, options));
  }
  await transcript.tell('raycastMany, of none', () => service.raycastMany(new Float32Array(0)));
  await transcript.check('queries-rays');
});

test('picks', async () => {
  const early = [
    service.pick(110, 70),
    service.pickAll(110, 70),
    service.pickRegion({ x: 10, y: 20, width: 200, height: 100 }),
  ];
  transcript.note('# before there is a view');
  service.setView(VIEW);
  await transcript.answers(early);
  service.setView(FLAT, 'flat');
  service.setView({ ...VIEW, viewport: { width: 0, height: 0 } }, 'empty');
  const options: [string, PickOptions][] = [
    ...FILTERS(),
    ['in another view', { view: 'flat' }],
    ['in an empty view', { view: 'empty' }],
    ['in no view', { view: 'none' }],
    ['within a radius', { radius: 6 }],
    ['on the screen', { method: 'screen' }],
    ['on the screen, within a radius', { method: 'screen', radius: 500 }],
    ['on the screen, in another view', { method: 'screen', view: 'flat', radius: 12 }],
    ['latest', { latest: true }],
    ['within a radius and a threshold', { radius: 6, threshold: 0.5 }],
    ['within no radius, and a threshold', { radius: 0, threshold: 0.5 }],
    ['on the screen, with a threshold', { method: 'screen', radius: 6, threshold: 0.5 }],
    ['less than no radius', { radius: -1 }],
    ['on the screen, less than no radius', { method: 'screen', radius: -1 }],
    ['by no method', { method: 'eye' as never }],
    ['latest or not', { latest: 1 as never }],
  ];
  for (const [name, each] of options) {
    await transcript.tell(`pick, ${name}`, () => service.pick(111, 69, each));
    await transcript.tell(`pickAll, ${name}`, () => service.pickAll(150, 70, each));
  }
  await transcript.tell('a corner of the viewport', () => service.pick(10, 20, { method: 'screen', radius: 1e6 }));
  await transcript.tell('outside of it', () => service.pick(9.5, 20, { method: 'screen', radius: 1e6 }));
  await transcript.tell('below it', () => service.pickAll(10, 120.5, { method: 'screen', radius: 1e6 }));
  const snaps = [['vertex'], ['midpoint'], ['center'], ['edge'], ['face'], ['vertex', 'midpoint', 'edge'], []] as const;
  for (const snap of snaps) {
    await transcript.tell(`snapping to ${snap.join(', ')}`, () => service.pick(114.5, 66, { snap, radius: 30 }));
  }
  await transcript.tell('snapping within ten pixels', () =>
    service.pick(114.5, 66, { snap: ['vertex', 'edge'], view: 'flat' }),
  );
  await transcript.tell('latest of three', () =>
    Promise.all([111, 112, 150].map((x) => service.pick(x, 69, { latest: true }))),
  );
  const latest = (x: number, signal?: AbortSignal) =>
    service.pick(x, 69, { latest: true, ...(signal && { signal }) }).then((hit) => hit?.object ?? null);
  await transcript.tell('while one is under way, two more, and another two', async () => {
    const all = [latest(111)];
    await flushMessages();
    all.push(latest(150), latest(112));
    await all[0];
    all.push(latest(111), latest(150));
    return Promise.all(all);
  });
  await transcript.tell('of which the newest is aborted', async () => {
    const ending = new AbortController();
    const all = [latest(111)];
    await flushMessages();
    all.push(latest(150), latest(112, ending.signal));
    ending.abort('enough');
    return (await Promise.allSettled(all)).map((each) => (each.status === 'fulfilled' ? each.value : each.reason));
  });
  await transcript.tell('latest of two that snap, and one that does not', () =>
    Promise.all([
      service.pick(111, 69, { latest: true, snap: ['face'] }),
      service.pick(150, 70, { latest: true }),
      service.pick(112, 69, { latest: true, snap: ['face'] }),
    ]),
  );
  await transcript.check('queries-picks');
});

test('regions', async () => {
  service.setView(VIEW);
  service.setView(FLAT, 'flat');
  const rect = { x: 60, y: 60, width: 60, height: 30 };
  for (const [name, options] of FILTERS()) {
    await transcript.tell(`touched, ${name}`, () => service.pickRegion(rect, options));
    await transcript.tell(`enclosed, ${name}`, () => service.pickRegion(rect, { ...options, mode: 'enclose' }));
    await transcript.tell(`frustum, ${name}`, () => service.frustum('flat', options));
    await transcript.tell(`sees, ${name}`, () =>
      service.sees('main', [ids.mesh, ids.ball, ids.back, ids.mesh], options),
    );
  }
  await transcript.tell('drawn the other way', () => service.pickRegion({ x: 120, y: 90, width: -60, height: -30 }));
  await transcript.tell('beside the viewport', () => service.pickRegion({ x: 0, y: 0, width: 9, height: 9 }));
  await transcript.tell('a triangle', () => service.pickRegion(Float32Array.of(10, 20, 210, 20, 110, 75)));
  await transcript.tell('a triangle that encloses', () =>
    service.pickRegion(Float32Array.of(10, 20, 210, 20, 110, 220), { mode: 'enclose', view: 'flat' }),
  );
  await transcript.tell('latest of three', () =>
    Promise.all([10, 60, 100].map((x) => service.pickRegion({ ...rect, x }, { latest: true }))),
  );
  await transcript.tell('frustum of a view that is given', () => service.frustum({ ...FLAT, layers: 2, margin: 1 }));
  await transcript.tell('frustum of planes', () => service.frustum(Float32Array.of(1, 0, 0, 3, -2, 0, 0, 1)));
  await transcript.tell('sees in a view that is given', () => service.sees(FLAT, Uint32Array.of(ids.capsule)));
  await transcript.tell('sees none', () => service.sees('main', []));
  await transcript.check('queries-regions');
});

test('volumes and distances', async () => {
  const ball = { type: 'sphere', radius: 3, center: [1, 0, 0] } as const;
  for (const [name, options] of FILTERS()) {
    await transcript.tell(`overlap, ${name}`, () => service.overlap(ball, at(-1), options));
    await transcript.tell(`containing, ${name}`, () => service.containing([-4, 0.25, 0], options));
    await transcript.tell(`closestPoint, ${name}`, () => service.closestPoint([-1.25, 2, 0.125], options));
  }
  await transcript.tell('overlap of a mesh', () => service.overlap({ type: 'mesh', mesh: service.meshOf(ids.mesh)! }));
  await transcript.tell('overlap of a solid one that is turned', () =>
    service.overlap({ type: 'mesh', mesh: service.meshOf(ids.mesh)!, solid: true }, turned(1)),
  );
  await transcript.tell('overlap of a box', () =>
    service.overlap({ type: 'box', halfExtents: [1, 2, 3], rotation: [0.6, 0, 0, 0.8] }),
  );
  await transcript.tell('overlap of a capsule', () =>
    service.overlap({ type: 'capsule', radius: 1, from: [-2, 0, 0], to: [2, 0, 0] }),
  );
  await transcript.tell('containing in a mesh', () => service.containing([0.25, 0.25, 0.25]));
  await transcript.tell('closestPoint within', () => service.closestPoint([0, 1.5, 0], { maxDistance: 1 }));
  await transcript.tell('closestPoint not within', () => service.closestPoint([0, 1.5, 0], { maxDistance: 0.99 }));
  for (const detail of ['bounds', 'any', 'manifold', 'triangles', 'full', 'bones'] as const) {
    await transcript.tell(`contact, ${detail}`, () => service.contact(ids.mesh, ids.back, { detail }));
  }
  service.setTransform(ids.back, at(0.75, 0.5, 0.25));
  await service.update();
  for (const detail of ['bounds', 'any', 'manifold', 'triangles', 'full', 'bones'] as const) {
    await transcript.tell(`contact, ${detail}`, () => service.contact(ids.mesh, ids.back, { detail }));
  }
  await transcript.tell('contact the other way round', () => service.contact(ids.back, ids.mesh));
  await transcript.tell('contact with itself', () => service.contact(ids.back, ids.back));
  await transcript.tell('distance', () => service.distance(ids.box, ids.mesh));
  await transcript.tell('distance the other way round', () => service.distance(ids.mesh, ids.box));
  await transcript.tell('distance within', () => service.distance(ids.ball, ids.capsule, { maxDistance: 1.25 }));
  await transcript.tell('distance not within', () => service.distance(ids.ball, ids.capsule, { maxDistance: 1.2 }));
  await transcript.tell('distance of two that meet', () => service.distance(ids.back, ids.mesh));
  await transcript.tell('distance of points', () => service.distance(ids.points, ids.mesh));
  await transcript.check('queries-volumes');
});

test('sweeps', async () => {
  const ball = { type: 'sphere', radius: 0.25 } as const;
  for (const [name, options] of FILTERS()) {
    await transcript.tell(`sweep, ${name}`, () => service.sweep(ball, at(-9), at(9), options));
    await transcript.tell(`sweepAll, ${name}`, () => service.sweepAll(ball, at(-9), at(9), options));
    await transcript.tell(`place, ${name}`, () => service.place(ball, at(-2, 0.5), options));
  }
  const rod = { type: 'box', halfExtents: [1.5, 0.125, 0.125] } as const;
  await transcript.tell('sweep while it turns', () => service.sweep(rod, at(-4, 2), turned(-4).with(13, 2)));
  await transcript.tell('sweep with a tolerance', () =>
    service.sweep(rod, at(-4, 2), turned(-4).with(13, 1), { tolerance: 0.125 }),
  );
  await transcript.tell('sweep of an object', () => service.sweep(ids.box, at(-6), at(9)));
  await transcript.tell('sweep of an object, ignoring another', () =>
    service.sweep(ids.mesh, at(0), at(-9), { ignore: [ids.capsule] }),
  );
  await transcript.tell('sweep from within', () => service.sweep(ball, at(-6, 0.375), at(-6, 3)));
  await transcript.tell('sweep of a half turn', () => {
    const back = [-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, -4, 2, 0, 1];
    return service.sweepAll(rod, at(-4, 2), back);
  });
  for (const to of [
    [0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 1],
    [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 5, 0, 1],
    [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 5, 0, 1],
  ]) {
    await transcript.tell('sweep to another turn', () => service.sweep(rod, at(0, 5), to));
  }
  await transcript.tell('place where it is free', () => service.place(ball, at(0, 5)));
  await transcript.tell('place of an object', () => service.place(ids.box, at(-4.25)));
  await transcript.tell('place without a matrix', () =>
    service.place({ type: 'sphere', radius: 0.25, center: [0, 0.625, 0] }),
  );
  const ways = Float64Array.from([-9, 9, 0].flatMap((x) => [x, 0, 0, 0, 0, 0, 1, -x, 0.25, 0, 0, 0, 0, 1]));
  await transcript.tell('sweepMany', () => service.sweepMany(ball, ways));
  await transcript.tell('sweepMany of float32, with options', () =>
    service.sweepMany(ball, Float32Array.from(ways), { tolerance: 0.25, layers: 2, side: 'front', ignore: [ids.box] }),
  );
  await transcript.tell('sweepMany of two shapes', () =>
    service.sweepMany([ball, rod, { type: 'mesh', mesh: service.meshOf(ids.mesh)! }], ways, {
      shapeOf: Uint8Array.of(1, 0, 2),
    }),
  );
  await transcript.tell('sweepMany of no ways', () => service.sweepMany(ball, new Float64Array(0)));
  await transcript.check('queries-sweeps');
});

test('sections and insides', async () => {
  const plane = [0, 2, 0, -0.5];
  for (const [name, options] of FILTERS())
    await transcript.tell(`section, ${name}`, () => service.section(plane, options));
  await transcript.tell('section with few points', () =>
    service.section(plane, { roundPoints: 3, caps: true, weld: 0.01 }),
  );
  await transcript.tell('section beside all', () => service.section([0, 1, 0, -9]));
  service.setView(FLAT);
  await transcript.tell('inspect nothing', () => service.inspect());
  await transcript.tell('inspect all', () =>
    service.inspect({
      octree: true,
      bounds: true,
      objects: [ids.mesh, ids.points, ids.box],
      views: ['main'],
      levels: [0, 1],
    }),
  );
  await transcript.tell('inspect lines, and few boxes', () =>
    service.inspect({
      octree: true,
      bounds: true,
      lines: true,
      origin: [1, 2, 3],
      maxBoxes: 2,
      levels: [1, Infinity],
      objects: [ids.mesh],
    }),
  );
  await transcript.check('queries-sections');
});

test('questions that are aborted', async () => {
  service.setView(VIEW);
  const over = AbortSignal.abort('before');
  const ray = { origin: [-9, 0, 0], direction: [1, 0, 0] } as const;
  const calls: [string, (signal: AbortSignal) => Promise<unknown>][] = [
    ['pick', (signal) => service.pick(111, 69, { signal })],
    ['pick, latest', (signal) => service.pick(111, 69, { signal, latest: true })],
    ['pickAll', (signal) => service.pickAll(111, 69, { signal })],
    ['pickRegion', (signal) => service.pickRegion({ x: 0, y: 0, width: 99, height: 99 }, { signal })],
    ['raycast', (signal) => service.raycast(ray, { signal })],
    ['raycastAll', (signal) => service.raycastAll(ray, { signal })],
    ['raycastMany', (signal) => service.raycastMany(new Float32Array(8).fill(1), { signal })],
    ['lineOfSight', (signal) => service.lineOfSight([0, 0, 0], [1, 1, 1], { signal })],
    ['frustum', (signal) => service.frustum('main', { signal })],
    ['sees', (signal) => service.sees('main', [ids.box], { signal })],
    ['overlap', (signal) => service.overlap({ type: 'sphere', radius: 1 }, undefined, { signal })],
    ['containing', (signal) => service.containing([0, 0, 0], { signal })],
    ['closestPoint', (signal) => service.closestPoint([0, 0, 0], { signal })],
    ['sweep', (signal) => service.sweep(ids.box, at(0), at(1), { signal })],
    ['sweepAll', (signal) => service.sweepAll(ids.box, at(0), at(1), { signal })],
    ['place', (signal) => service.place(ids.box, at(0), { signal })],
    ['sweepMany', (signal) => service.sweepMany({ type: 'sphere', radius: 1 }, new Float64Array(0), { signal })],
    ['contact', (signal) => service.contact(ids.box, ids.ball, { signal })],
    ['distance', (signal) => service.distance(ids.box, ids.ball, { signal })],
    ['section', (signal) => service.section([0, 1, 0, 0], { signal })],
    ['inspect', (signal) => service.inspect({ signal })],
  ];
  for (const [name, ask] of calls) {
    await transcript.tell(`${name}, aborted before`, () => ask(over));
    await transcript.tell(`${name}, aborted at once`, () => {
      const controller = new AbortController();
      const answer = ask(controller.signal);
      controller.abort(new Error('at once'));
      return answer;
    });
  }
  transcript.workers[0].holdAll();
  for (const [name, ask] of calls) {
    await transcript.tell(`${name}, aborted in the worker`, async () => {
      const controller = new AbortController();
      const answer = ask(controller.signal);
      answer.catch(() => {});
      await new Promise(setImmediate);
      controller.abort(new Error('there'));
      return answer;
    });
  }
  await transcript.check('queries-aborted');
});

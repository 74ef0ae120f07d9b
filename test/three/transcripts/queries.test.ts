// What the tracker's queries send, and their results: a transcript, as in test/client/transcripts/frames.test.ts.
import { measure, type SceneLineOptions, type ScenePickOptions, type SceneTarget } from 'collision-worker/three';
import {
  BackSide,
  BatchedMesh,
  BoxGeometry,
  BufferGeometry,
  DoubleSide,
  Float32BufferAttribute,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  OrthographicCamera,
  Plane,
  Points,
  PointsMaterial,
  REVISION,
  Scene,
  Sprite,
  SpriteMaterial,
  Vector3,
} from 'three';
import { test } from 'vitest';
import { SceneTranscript } from '../../fixtures/scene-transcript.js';
import { flushMessages, Transcript } from '../../fixtures/transcript.js';

const at = (x: number, y = 0, z = 0) => new Matrix4().setPosition(x, y, z);

function named<T extends Object3D>(name: string, object: T, x: number): T {
  object.name = name;
  object.position.x = x;
  return object;
}

/** Along x: Meshes whose front, back and both sides are drawn, two instances, points, lines and a Sprite. */
async function tracked() {
  const [front, back, both] = [undefined, BackSide, DoubleSide].map(
    (side) => new MeshBasicMaterial(side === undefined ? {} : { side }),
  );
  const box = new BoxGeometry();
  const places = new BufferGeometry().setAttribute(
    'position',
    new Float32BufferAttribute([0, 0, 0, 0, 1, 0, 0.5, 0, 0, 0.5, 1, 0], 3),
  );
  const [a, b, c] = [front, back, both].map((material, i) =>
    named(['front', 'back', 'both'][i], new Mesh(box, material), 2 * i - 6),
  );
  const many = named('many', new InstancedMesh(box, front, 3), 0);
  for (let i = 0; i < 3; i++) many.setMatrixAt(i, at(1.5 * i));
  const points = named('points', new Points(places, new PointsMaterial()), 6);
  const lines = named('lines', new LineSegments(places, new LineBasicMaterial()), 8);
  const sprite = named('sprite', new Sprite(new SpriteMaterial()), 10);
  const hidden = named('hidden', new Mesh(box, front), 12);
  hidden.visible = false;
  const scene = new Scene().add(a, b, c, many, points, lines, sprite, hidden);
  const all = await SceneTranscript.track(scene, {
    objectOptions: ({ name }) => ({ solid: name === 'both', weld: 0.001, contacts: 'full' }),
  });
  // It is ignored.
  all.serving.addObject({ shape: { type: 'sphere', radius: 0.25 }, matrix: at(-6, 0.25, 3).elements });
  await all.change('as it is');
  return { all, tracker: all.tracker, scene, a, b, c, many, points, lines, sprite, hidden };
}

type Tracked = Awaited<ReturnType<typeof tracked>>;

const FILTERS = ({ a, many }: Tracked): [string, SceneLineOptions][] => [
  ['no options', {}],
  ['layers', { layers: 2 }],
  ['ignore', { ignore: [a, { object: many, instanceId: 1 }] }],
  ['side front', { side: 'front' }],
  ['side double', { side: 'double' }],
  ['precision', { precision: 'sphere' }],
  ['clip', { clip: [1, 0, 0, 5] }],
  [
    'clip by planes',
    { clip: [new Plane(new Vector3(1, 0, 0), 5), new Plane(new Vector3(-1, 0, 0), 1)], clipIntersection: true },
  ],
];

test('rays', async () => {
  const scene = await tracked();
  const { all, tracker, points } = scene;
  const ray = { origin: [-9, 0.25, 0.125], direction: [2, 0, 0] } as const;
  for (const [name, options] of FILTERS(scene)) {
    await all.tell(`raycast, ${name}`, () => tracker.raycast(ray, options));
    await all.tell(`raycastAll, ${name}`, () => tracker.raycastAll(ray, options));
    await all.tell(`lineOfSight, ${name}`, () =>
      tracker.lineOfSight([-7, 0.25, 0.125], new Vector3(-3, 0.25, 0.125), options),
    );
  }
  await all.tell('of vectors, between two places', () =>
    tracker.raycastAll({
      origin: new Vector3(-9, 0.25, 0.125),
      direction: new Vector3(1, 0, 0),
      tMin: 2,
      tMax: 9,
    } as never),
  );
  await all.tell('near points and lines', () =>
    tracker.raycastAll(
      { origin: [6.0625, 0.5, 9], direction: [0, 0, -1] },
      { params: { Points: { threshold: 2 }, Line: { threshold: 3 } } as never },
    ),
  );
  await all.tell('of a bone', () => tracker.raycast(ray, { precision: 'obb' }));
  await all.tell('no ray', () => tracker.raycast({ origin: [0, 0, 0], direction: [0, 0, 0] }));
  await all.tell('none at all', () => tracker.raycast(undefined as never));
  await all.tell('an unknown option', () => tracker.raycastAll(ray, { far: 1 } as never));
  await all.tell('ignoring what is none', () => tracker.raycast(ray, { ignore: [7] as never }));
  await all.tell('ignoring an instance of none', () =>
    tracker.raycast(ray, { ignore: [{ object: points, instanceId: 1 }] }),
  );
  await all.tell('aborted', () => tracker.raycast(ray, { signal: AbortSignal.abort('early') }));
  await all.check('queries-rays');
});

test('picks', async () => {
  const scene = await tracked();
  const { all, tracker } = scene;
  tracker.setView(all.camera, { x: 0, y: 0, width: 20, height: 10 }, 'small');
  const more: [string, ScenePickOptions][] = [
    ['in another view', { view: 'small' }],
    ['in none', { view: 'other' }],
    ['on the screen', { method: 'screen' }],
    ['on the screen, within a radius', { method: 'screen', radius: 300 }],
    ['within a radius', { radius: 30 }],
    ['by params', { params: { Points: { threshold: 2 }, Line: { threshold: 3 } } as never }],
    ['latest', { latest: true }],
    ['layers', { layers: 1 }],
  ];
  for (const [name, options] of [...FILTERS(scene), ...more]) {
    await all.tell(`pick, ${name}`, () => tracker.pick(79.5, 51, options as ScenePickOptions));
    await all.tell(`pickAll, ${name}`, () => tracker.pickAll(133, 47, options as ScenePickOptions));
    await all.tell(`pickRegion, ${name}`, () => {
      const { radius, method, params, ...rest } = options as ScenePickOptions;
      return tracker.pickRegion({ x: 60, y: 40, width: 60, height: 20 }, rest);
    });
  }
  for (const x of [60, 80, 101, 130.5, 141, 150]) await all.tell(`pick at ${x}`, () => tracker.pick(x, 51));
  for (const snap of [['vertex'], ['midpoint'], ['edge'], ['face'], ['center']] as const) {
    await all.tell(`snapping to ${snap[0]}`, () => tracker.pick(81, 48, { snap, radius: 40 }));
  }
  await all.tell('snapping within ten pixels', () => tracker.pick(81, 48, { snap: ['vertex', 'edge', 'face'] }));
  await all.tell('instances', () => tracker.pickRegion({ x: 60, y: 40, width: 60, height: 20 }, { instances: true }));
  await all.tell('enclosed', () => tracker.pickRegion({ x: 60, y: 40, width: 60, height: 20 }, { mode: 'enclose' }));
  await all.tell('a polygon', () => tracker.pickRegion(Float32Array.of(0, 0, 100, 0, 0, 100)));
  await all.tell('latest of three', () => Promise.all([60, 80, 101].map((x) => tracker.pick(x, 51, { latest: true }))));
  await all.tell('latest regions', () =>
    Promise.all([60, 80].map((x) => tracker.pickRegion({ x, y: 40, width: 9, height: 20 }, { latest: true }))),
  );
  await all.tell('aborted', () => tracker.pick(60, 50, { signal: AbortSignal.abort('early') }));
  await all.tell('no place', () => tracker.pick(Number.NaN, 0));
  await all.check('queries-picks');
});

test('volumes and sweeps', async () => {
  const scene = await tracked();
  const { all, tracker, a, b, c, many, points, hidden } = scene;
  const ball = { type: 'sphere', radius: 1.5 } as const;
  for (const [name, { side, ...options }] of FILTERS(scene)) {
    await all.tell(`overlap, ${name}`, () => tracker.overlap(ball, at(0.5), options));
    await all.tell(`containing, ${name}`, () => tracker.containing(new Vector3(-2, 0.25, 0), options));
    await all.tell(`closestPoint, ${name}`, () => tracker.closestPoint([-5, 1.25, 0], options));
    await all.tell(`section, ${name}`, () => tracker.section([0, 1, 0, -0.25], options));
    await all.tell(`sweep, ${name}`, () => tracker.sweep(ball, at(-12), at(12), { ...options, ...(side && { side }) }));
    await all.tell(`place, ${name}`, () => tracker.place({ type: 'sphere', radius: 0.25 }, at(-2, 0.375), options));
  }
  await all.tell('overlap without a matrix', () => tracker.overlap(ball));
  await all.tell('closestPoint within', () => tracker.closestPoint([-5, 1.25, 0], { maxDistance: 0.1 }));
  await all.tell('section by a plane, filled', () =>
    tracker.section(new Plane(new Vector3(0, 0, 2), 0.5), { caps: true }),
  );
  await all.tell('sweepAll', () =>
    tracker.sweepAll({ type: 'sphere', radius: 0.25 }, at(-12), at(12).elements, { tolerance: 0.5 }),
  );
  await all.tell('sweep of an object', () => tracker.sweep(c, at(-2), at(9)));
  await all.tell('sweep of an instance', () => tracker.sweep({ object: many, instanceId: 0 }, at(0), at(-9)));
  await all.tell('sweep of what is hidden', () => tracker.sweep(hidden, at(0), at(-9)));
  await all.tell('sweep of what is not there', () => tracker.sweep(new Mesh(), at(0), at(-9)));
  await all.tell('sweep of all instances', () => tracker.sweep(many, at(0), at(-9)));
  await all.tell('place of an object', () => tracker.place(c, at(-3.75)));
  await all.tell('place of what is not there', () => tracker.place(new Mesh(), at(-3.75)));
  const one = (instanceId: number): SceneTarget => ({ object: many, instanceId });
  await all.change('one meets another', () => a.position.set(-1.25, 0.25, 0.25));
  for (const detail of ['bounds', 'any', 'manifold', 'triangles', 'full'] as const) {
    await all.tell(`contact, ${detail}`, () => tracker.contact(a, c, { detail }));
  }
  await all.tell('contact with an instance', () => tracker.contact(one(0), a));
  await all.tell('contact of two that do not touch', () => tracker.contact(b, one(2)));
  await all.tell('contact with itself', () => tracker.contact(a, a));
  await all.tell('contact with all instances', () => tracker.contact(a, many));
  await all.tell('contact with a scene', () => tracker.contact(a, scene.scene));
  await all.tell('contact with what is hidden', () => tracker.contact(a, hidden));
  await all.tell('distance', () => tracker.distance(b, one(2)));
  await all.tell('distance within', () => tracker.distance(b, one(2), { maxDistance: 1 }));
  await all.tell('distance to points', () => tracker.distance(b, points));
  await all.tell('distance to what is hidden', () => tracker.distance(b, hidden));
  await all.tell('sees', () => tracker.sees([a, many, one(1), hidden, c]));
  await all.tell('sees with options', () =>
    tracker.sees([a, many], { view: 'main', ignore: [c], side: 'double', layers: 1 }),
  );
  await all.tell('sees none', () => tracker.sees([]));
  await all.tell('sees a scene', () => tracker.sees([scene.scene]));
  await all.check('queries-volumes');
});

test('through a flat camera that is turned', async () => {
  const { tracker, a, c, many, sprite } = await tracked();
  // The values sent have the last bits of what three computes, which differ from version to version.
  const told = new Transcript();
  const flat = new OrthographicCamera(-20, 20, 10, -10, 1, 40);
  flat.quaternion.set(-0.2, 0.4, 0.4, 0.8);
  flat.position.set(7.2, 9.6, 9);
  flat.updateMatrixWorld();
  tracker.setView(flat, { x: 10, y: 20, width: 200, height: 100 }, 'flat');
  const [left, right] = [a, sprite].map(({ position }) => position.clone().project(flat));
  const pixelOf = ({ x, y }: Vector3): [number, number] => [10 + 100 * (1 + x), 20 + 50 * (1 - y)];
  for (const [name, place] of [
    ['a Mesh', left],
    ['a Sprite', right],
    ['an instance', new Vector3(1.5, 0.25, 0).project(flat)],
    ['points', new Vector3(6, 0, 0).project(flat)],
    ['a line', new Vector3(8, 0.5, 0).project(flat)],
  ] as const) {
    const [x, y] = pixelOf(place);
    for (const options of [
      {},
      { method: 'screen', radius: 9 },
      { radius: 6 },
      { snap: ['vertex', 'edge'], radius: 20 },
    ] as const) {
      await told.tell(`${name}, ${JSON.stringify(options)}`, () => tracker.pick(x, y, { view: 'flat', ...options }));
    }
    await told.tell(`all at ${name}`, () => tracker.pickAll(x, y, { view: 'flat' }));
    await told.tell(`about ${name}`, () =>
      tracker.pickRegion({ x: x - 9, y: y - 9, width: 18, height: 18 }, { view: 'flat' }),
    );
  }
  await told.tell('what it sees', () => tracker.sees([a, c, many, sprite], { view: 'flat' }));
  await told.tell('beside the view', () => tracker.pick(5, 5, { view: 'flat' }));
  flat.left = -4;
  flat.updateProjectionMatrix();
  await told.tell('the camera has changed, the view has not', () => tracker.pick(...pixelOf(left), { view: 'flat' }));
  await told.check('queries-flat');
});

/** It is as large as the view, and has events like a page's elements. */
class HoveredElement extends EventTarget {
  readonly ownerDocument = null;
  readonly [name: string]: unknown;

  constructor() {
    super();
    Object.assign(this, { clientLeft: 0, clientTop: 0, offsetWidth: 200, offsetHeight: 100 });
  }

  getBoundingClientRect() {
    return { left: 10, top: 20, width: 200, height: 100 };
  }

  send(type: string, x: number, y: number, more = {}): void {
    const places = { clientX: x + 10, clientY: y + 20, offsetX: x, offsetY: y };
    this.dispatchEvent(Object.assign(new Event(type), { pointerId: 1, isPrimary: true, ...places, ...more }));
  }
}

test('what a pointer is over', async () => {
  const { all, tracker, a } = await tracked();
  const element = new HoveredElement();
  // The order in which queries of pointers and of frames are sent is not recorded.
  const told = new Transcript();
  const note = async () => {
    for (let i = 0; i < 2; i++) await tracker.pick(0, 0);
    await flushMessages();
  };
  const listen = (options: object) =>
    tracker.hover(
      element as never,
      (hit, before) => {
        const [now, then] = [hit, before].map((each) => each && `${each.object.name} ${each.instanceId ?? ''}`);
        told.note(`  over ${now}, before ${then}`);
      },
      options,
    );
  const hear = async (heading: string, type: string, x: number, y: number, more = {}) => {
    told.note(`\n# ${heading}`);
    element.send(type, x, y, more);
    await note();
  };
  for (const options of [{}, { every: true }, { layers: 2 }]) {
    told.note(`\n## ${JSON.stringify(options)}`);
    const ending = new AbortController();
    const end = listen({ ...options, signal: ending.signal });
    await hear('it comes', 'pointerenter', 100, 51);
    await hear('it moves', 'pointermove', 101, 51);
    await hear('to another instance', 'pointermove', 116, 51);
    await hear('to another object', 'pointermove', 70, 51);
    await hear('to nothing', 'pointerdown', 5, 5);
    await hear('and back', 'pointermove', 70, 51);
    await hear('another finger', 'pointermove', 100, 51, { pointerId: 2, isPrimary: false });
    await hear('another finger goes', 'pointerleave', 70, 51, { pointerId: 2, isPrimary: false });
    told.note('\n# what it is over moves away');
    await all.change('', () => a.position.setY(5));
    await note();
    told.note('\n# and back');
    await all.change('', () => a.position.setY(0));
    await note();
    await hear('it goes', 'pointerleave', 70, 51);
    told.note('\n# nobody is there');
    await all.change('');
    await note();
    await hear('it comes again', 'pointermove', 100, 51);
    await hear('it is taken away', 'pointercancel', 100, 51);
    await hear('it comes again', 'pointermove', 100, 51);
    if ('every' in options) ending.abort();
    else end();
    await hear('nobody listens', 'pointermove', 70, 51);
  }
  for (const options of [{ every: 1 }, { signal: 7 }, { latest: true }, { radius: -1 }]) {
    await told.tell(`with ${JSON.stringify(options)}`, () => listen(options)());
  }
  await told.tell('no listener', () => tracker.hover(element as never, 7 as never));
  const gone = {
    addEventListener() {
      throw new TypeError('it is gone');
    },
  };
  await told.tell('no element', () => tracker.hover(gone as never, () => {}));
  await told.tell('of an aborted signal', () => listen({ signal: AbortSignal.abort() }));
  await hear('nobody listens', 'pointermove', 70, 51);
  await told.check('queries-hover');
});

// In older versions, their instances have numbers of their own.
test.skipIf(Number.parseInt(REVISION, 10) < 166)('what a target may be', async () => {
  const scene = await tracked();
  const { all, tracker, a, c, many } = scene;
  const batch = named('batch', new BatchedMesh(3, 100, 200, new MeshBasicMaterial()), 0);
  const box = batch.addGeometry(new BoxGeometry());
  for (let i = 0; i < 3; i++) batch.setMatrixAt(batch.addInstance(box), at(1.5 * i, 0.5, 0.25));
  const lod = named('lod', new LOD(), -6);
  const level = named('level', new Mesh(new BoxGeometry(), new MeshBasicMaterial()), 0);
  lod.addLevel(level).position.set(-6, 0.5, 0.25);
  await all.build(() => scene.scene.add(batch, lod));
  await all.change('as it is');
  const targets: [string, unknown][] = [
    ['a Mesh', a],
    ['a Mesh as an object', { object: a }],
    ['a Mesh with a number', { object: a, instanceId: 0 }],
    ['a Mesh with a number of a batch', { object: a, batchId: 0 }],
    ['all instances', many],
    ['an instance', { object: many, instanceId: 1 }],
    ['an instance that is not there', { object: many, instanceId: 7 }],
    ['one of a batch', { object: batch, batchId: 1 }],
    ['one of a batch, by the other name', { object: batch, instanceId: 1 }],
    ['one of a batch, by both', { object: batch, instanceId: 0, batchId: 2 }],
    ['all of a batch', { object: batch, batchId: undefined }],
    ['half an instance', { object: many, instanceId: 0.5 }],
    ['less than none', { object: batch, batchId: -1 }],
    ['a LOD', lod],
    ['its level', level],
    ['what only seems to be one', { isObject3D: false, object: a }],
    ['what has none', { object: { isObject3D: 1 } }],
    ['nothing', {}],
    ['null', null],
    ['a number', 7],
  ];
  for (const [name, target] of targets) {
    const given = target as SceneTarget;
    await all.tell(`ids of ${name}`, () => tracker.idsOf(given as never));
    await all.tell(`distance of ${name}`, () => tracker.distance(given, c));
    await all.tell(`contact of ${name}`, () => tracker.contact(given, a, { detail: 'any' }));
    await all.tell(`ignoring ${name}`, () =>
      tracker
        .raycastAll({ origin: [-9, 0.25, 0.25], direction: [1, 0, 0] }, { ignore: [given] })
        .then((hits) => hits.map(({ object, instanceId, batchId }) => `${object.name} ${instanceId ?? batchId ?? ''}`)),
    );
  }
  await all.check('queries-targets');
});

test('frames', async () => {
  const scene = await tracked();
  const { all, a, c, many } = scene;
  const frame = (await all.change('one meets two', () => c.position.set(0.75, 0.25, 0.25)))!;
  const contactsOf = (target: SceneTarget) =>
    frame.contactsOf(target).map((each) => {
      const { begun, contained, points, normals, depths, triangles } = each;
      return { begun, contained, points, normals, depths, triangles };
    });
  await all.tell('of one', () => contactsOf(c));
  await all.tell('of an instance', () => contactsOf({ object: many, instanceId: 1 }));
  await all.tell('of all', () => contactsOf(many).length);
  await all.tell('of one that touches nothing', () => contactsOf(a));
  await all.tell('between two', () => [
    frame.contactsBetween(c, many).length,
    frame.contactsBetween(many, c).length,
    frame.contactsBetween(many).length,
    frame.contactsBetween(a, c).length,
  ]);
  await all.tell('instances in view', () => {
    const target = new Uint32Array(5);
    return [frame.visibleInstances(many, target), target];
  });
  await all.tell('instances in no view', () => frame.visibleInstances(many, new Uint32Array(5), 'other'));
  await all.tell('just room', () => frame.visibleInstances(many, new Uint32Array(3)));
  await all.tell('too little room', () => frame.visibleInstances(many, new Uint32Array(2)));
  await all.tell('no function', () => frame.forEachVisible(7 as never));
  await all.tell('no function for contacts', () => frame.forEachContact(7 as never));
  await all.tell('of a scene', () => frame.contactsOf(scene.scene));
  await all.check('queries-frames');
});

test('characters', async () => {
  const { all, tracker, a, hidden } = await tracked();
  const floor = named('floor', new Mesh(new BoxGeometry(30, 1, 30), new MeshBasicMaterial()), 0);
  const figure = named('figure', new Mesh(new BoxGeometry(0.5, 2, 0.5), new MeshBasicMaterial()), 0);
  figure.position.set(-8, 0.5, 0);
  floor.position.y = -1;
  await all.change('a floor', () => all.scene.add(floor, figure));
  const capsule = { type: 'capsule', radius: 0.25, from: [0, -0.5, 0], to: [0, 0.5, 0] } as const;
  const hero = tracker.createCharacter({ object: figure, shape: capsule, ignore: [hidden] });
  await all.change('it falls', () => hero.advance([0, 0, 0], 0.5));
  await all.tell('its state', () => hero.state);
  await all.change('it walks', () => hero.advance([2, 0, 0], 1));
  await all.tell('its state', () => [hero.state, figure.position]);
  await all.change('it jumps, and is moved', () => {
    hero.jump(2);
    hero.move(new Vector3(0, 0, 1) as never);
    hero.advance([0, 0, 0], 0.1);
  });
  await all.tell('its state', () => hero.state);
  await all.change('it is put elsewhere', () => hero.set({ position: [5, 3, 5] as never }));
  await all.tell('its state', () => hero.state);
  await all.change('it leaves', () => hero.remove());
  await all.tell('without a shape', () => tracker.createCharacter({} as never));
  await all.tell('of an object alone', () => tracker.createCharacter(a).state);
  await all.tell('of none', () => tracker.createCharacter(7 as never));
  await all.check('queries-characters');
});

test('measures', async () => {
  const { all, tracker } = await tracked();
  const snaps = [
    await tracker.pick(81, 48, { snap: ['vertex'], radius: 40 }),
    await tracker.pick(81, 48, { snap: ['edge'], radius: 40 }),
    await tracker.pick(79.5, 51, { snap: ['face'], radius: 40 }),
  ].map((hit) => hit?.snap ?? null);
  for (const first of [0, 1, 2]) {
    for (const second of [0, 1, 2]) {
      await all.tell(`of ${first} and ${second}`, () => measure(snaps[first]!, snaps[second]!));
    }
  }
  await all.tell('of places', () => measure(new Vector3(0, 0, 0) as never, new Vector3(1, 2, 2) as never));
  await all.tell('of nothing', () => measure(undefined as never, snaps[0]!));
  await all.check('queries-measures');
});

// Below the public API: objects added to an existing tree find room
// in it, and all results are those of a world that is built at once.

import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { PlacedDescription } from '../../../../src/worker/binding/core.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { startCore } from '../../../fixtures/core.js';
import { Random, SEED } from '../../../oracle/random.js';

const FIRST = 3000;
const FILTER = { layers: 1, side: layout.SIDE_DOUBLE, precision: layout.PRECISION_MESH, ignore: new Uint32Array() };

const COMING: [name: string, position: (random: Random) => Vector3, size: (random: Random) => number][] = [
  ['everywhere', (random) => random.point(40), () => 0.8],
  ['in one corner', (random) => random.point(2).addScalar(38), () => 0.3],
  ['all in one point', () => new Vector3(3, 4, 5), () => 0.1],
  ['of any size', (random) => random.point(40), (random) => random.logRange(0.01, 30)],
  ['far outside', (random) => random.point(40).addScalar(random.pick([0, 100, 1e6])), () => 0.8],
];

describe(`adding to ${FIRST} objects, seed ${SEED}`, () => {
  test.each(COMING)('%s', async (_, position, size) => {
    const random = new Random(SEED);
    const core = await startCore();
    const alive = new Map<number, PlacedDescription>();
    let slots = 0;
    let frame = 0;
    const add = (place: Vector3, extent: number) => {
      const description = box(random, extent, random.placement(place));
      const id = makeId(slots++, 1);
      alive.set(id, description);
      core.addObjects(Uint32Array.of(id), description);
    };
    const run = (staging = new FrameBuilder()) => new FrameView(core.frame(staging.seal(++frame, 1), undefined), []);

    for (let i = 0; i < FIRST; i++) add(random.point(40), 0.8);
    run();
    for (let step = 0; step < 40; step++) {
      for (let i = random.integer(30); i > 0; i--) add(position(random), size(random));
      const ids = [...alive.keys()];
      for (let i = random.integer(20); i > 0; i--) {
        const id = random.pick(ids);
        core.removeObject(id);
        alive.delete(id);
      }
      const staging = new FrameBuilder();
      for (let i = random.integer(20); i > 0; i--) {
        const id = random.pick([...alive.keys()]);
        const { elements } = random.placement(position(random));
        staging.setSingle(id, elements);
        alive.set(id, { ...(alive.get(id) as PlacedDescription), matrix: elements });
      }
      run(staging);
      expect(core.check(), `step ${step}`).toBeNull();
    }

    const whole = await startCore();
    for (const [id, description] of alive) whole.addObjects(Uint32Array.of(id), description);
    const rays = raysThrough(random);
    expect(core.rays.raycastMany(rays, FILTER)).toEqual(whole.rays.raycastMany(rays, FILTER));
    const { contacts } = new FrameView(whole.frame(new FrameBuilder().seal(1, 1), undefined), []);
    const pairs = ({ a, b }: { a: Uint32Array; b: Uint32Array }) => [...a].map((id, i) => `${id} ${b[i]}`);
    const found = run().contacts;
    expect(found.count).toBeGreaterThan(10);
    expect(pairs(found)).toEqual(pairs(contacts));
  });
});

test('one more of a hundred thousand is no build of them all', async () => {
  const random = new Random(SEED);
  const core = await startCore();
  let slots = 0;
  const add = () => {
    const place = random.placement(random.point(1000));
    core.addObjects(Uint32Array.of(makeId(slots++, 1)), box(random, 0.5, place));
  };
  const run = () => new FrameView(core.frame(new FrameBuilder().seal(1, 1), undefined), []).ms.update;
  while (slots < 100_000) add();
  const building = run();
  const adding = Array.from({ length: 50 }, () => {
    add();
    return run();
  }).sort((a, b) => a - b)[25];
  console.log(`a tree of ${slots}: built in ${building.toFixed(2)} ms, with one more ready in ${adding.toFixed(3)} ms`);
  expect(core.check()).toBeNull();
});

test('an object as large as the world finds its place, whether the uppermost cell has room or none', async () => {
  const random = new Random(SEED);
  const core = await startCore();
  let slots = 0;
  const add = (place: Vector3, extent: number) => {
    const id = makeId(slots++, 1);
    core.addObjects(Uint32Array.of(id), box(random, extent, new Matrix4().setPosition(place)));
    return id;
  };
  const run = () => core.frame(new FrameBuilder().seal(1, 1), undefined);
  while (slots < FIRST) add(random.point(40), 0.1);
  run();
  for (let i = 0; i < 12; i++) {
    const id = add(random.point(1), 30);
    run();
    expect(core.check(), `${i} large ones`).toBeNull();
    expect(runToEnd(core.volumes.containing([0, 0, 0], FILTER)), `${i} large ones`).toContain(id);
  }
});

function box(random: Random, extent: number, { elements }: Matrix4): PlacedDescription {
  return {
    ...{ shape: layout.SHAPE_BOX, mesh: 0, layers: 1, collidesWith: 1, group: 0, contacts: layout.CONTACTS_ANY },
    flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE | (random.chance(0.3) ? layout.FLAG_STATIC : 0),
    ...{ center: [0, 0, 0], extent: [extent, extent, extent], rotation: [0, 0, 0, 1], radius: 0, matrix: elements },
  };
}

function raysThrough(random: Random): Float32Array {
  const rays = new Float32Array(8 * 500);
  for (let i = 0; i < rays.length; i += 8) {
    rays.set([...random.point(60).toArray(), 0, ...random.direction().toArray(), 1e7], i);
  }
  return rays;
}

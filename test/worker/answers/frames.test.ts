// Exact results of frames: pairs, contacts and their beginnings and ends are bit-identical to before. See README.md.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { makeId } from '../../../src/shared/ids.js';
import * as layout from '../../../src/shared/layout.js';
import type { PlacedDescription } from '../../../src/worker/binding/core.js';
import {
  Answers,
  ball,
  block,
  ExactRandom,
  frameAnswer,
  onClock,
  randomPrimitive,
  solid,
  surface,
  World,
} from '../../fixtures/exact-answers.js';
import { meshKinds } from '../../fixtures/exact-meshes.js';
import { ANY_TRANSFORM, PLACES } from '../../fixtures/near-scene.js';
import { icosphere, soup } from '../../oracle/meshes.js';

const FRAMES = 6;

/** Adds the octrees' boxes and the scene's counts. */
function structure(world: World): unknown {
  const { inspector, considered } = world.core;
  const steps = inspector.cells(4000);
  let step = steps.next();
  while (!step.done) step = steps.next();
  inspector.end();
  return [considered, inspector.scene(), step.value];
}

const FAR = new Vector3(-3e5, 7e5, 1e6);

const SCENES: [string, Vector3, (random: ExactRandom) => Vector3][] = [
  ['in a room', new Vector3(), (random) => random.point(3)],
  ['in a plane', new Vector3(), (random) => random.point(6).setY(0)],
  ['in one place', new Vector3(), (random) => random.point(0.1)],
  ['in two heaps far apart', new Vector3(), (random) => random.point(2).addScalar(random.pick([0, 1e5]))],
  ['far away', FAR, (random) => random.point(3)],
];

describe('of mixed things', () => {
  test.each(SCENES)('%s', async (_, place, position) => {
    const random = new ExactRandom(61);
    const answers = new Answers();
    const world = await World.create(place);
    const meshes = meshKinds(random)
      .slice(0, 19)
      .map(([, mesh]) => world.mesh(mesh));
    const points = world.mesh({ positions: soup(random, 20, 0.4, 1).positions, topology: 'points' });
    const any = (i: number): PlacedDescription => {
      if (i % 13 === 12) return surface(points);
      if (i % 3 > 0) return randomPrimitive(random);
      return (i % 2 ? solid : surface)(random.pick(meshes));
    };
    const options = (): Partial<PlacedDescription> => ({
      contacts: random.pick([0, 1, 3, 3, 4, 5, 6]),
      layers: 1 << random.integer(3),
      collidesWith: random.chance(0.7) ? 0xffffffff : 1 + random.integer(7),
      group: random.chance(0.3) ? 1 + random.integer(3) : 0,
    });
    const flagged = (described: PlacedDescription): PlacedDescription => ({
      ...described,
      flags: described.flags | (random.chance(0.3) ? layout.FLAG_STATIC : 0),
      ...(random.chance(0.2) && { clearance: 0.2 * random.next() }),
    });
    const placed = () =>
      random.placement(position(random), random.chance(0.5) ? { low: 0.3, high: 0.6 } : ANY_TRANSFORM);
    const put = (slot: number, generation: number) => {
      const described = flagged(any(slot));
      const clearance = described.clearance ? layout.FLAG_CLEARANCE : 0;
      world.put(makeId(slot, generation), { ...described, flags: described.flags | clearance }, placed(), options());
    };
    const alive = new Map<number, number>();
    for (let slot = 0; slot < 60; slot++) alive.set(slot, 1);
    for (const slot of alive.keys()) put(slot, 1);
    for (let frame = 0; frame < FRAMES; frame++) {
      for (const [slot, generation] of alive) {
        const id = makeId(slot, generation);
        const dice = random.next();
        if (dice < 0.05) {
          world.core.removeObject(id);
          put(slot, generation + 1);
          alive.set(slot, generation + 1);
        } else if (dice < 0.1) world.core.setObject(id, { ...flagged(any(slot)), ...options() });
        else if (dice < 0.15) world.core.setLayers(id, 1 << random.integer(3));
        else if (dice < 0.5) world.move(id, placed());
      }
      answers.add('frames', frameAnswer(world.frame()));
      answers.add('structure', structure(world));
      expect(world.core.check()).toBeNull();
    }
    for (const [slot, generation] of alive) world.core.removeObject(makeId(slot, generation));
    answers.add('nothing left', [frameAnswer(world.frame()), structure(world)]);
    answers.check();
  });
});

const CROWDS: [string, (random: ExactRandom) => Vector3, (random: ExactRandom) => number][] = [
  ['in space', (random) => random.point(14), () => 0.5],
  ['in a plane', (random) => random.point(40).setY(0), () => 0.4],
  ['of all sizes', (random) => random.point(30), (random) => random.logRange(0.03, 5)],
  ['in heaps', (random) => random.point(random.pick([1, 2, 30])), () => 0.1],
  ['from very near to very far', (random) => random.direction().multiplyScalar(random.logRange(1e-3, 1e6)), () => 0.3],
];

describe('of crowds', () => {
  test.each(CROWDS)('%s', async (_, position, size) => {
    const random = new ExactRandom(62);
    const answers = new Answers();
    const world = await World.create();
    const ids = Array.from({ length: 1500 }, (_, i) => {
      const shape = i % 2 === 0 ? ball(size(random)) : block([size(random), size(random), size(random)]);
      const contacts = i % 10 === 0 ? layout.CONTACTS_ANY : layout.CONTACTS_BOUNDS;
      const classes = { layers: 1 << (i % 3), collidesWith: i % 4 === 0 ? 1 << (i % 5) : 0xffffffff };
      const flags = shape.flags | (i % 7 === 0 ? layout.FLAG_STATIC : 0);
      return world.add(shape, new Matrix4().setPosition(position(random)), {
        contacts,
        flags,
        ...(i % 2 === 0 && classes),
      });
    });
    const blocks = new Float64Array(16 * 300);
    for (let frame = 0; frame < 5; frame++) {
      for (const id of ids.slice(300)) {
        if (frame === 2 || random.chance(0.1)) world.move(id, new Matrix4().setPosition(position(random)));
      }
      if (frame % 2 === 1) {
        for (let i = 0; i < 300; i++) {
          random.placement(position(random)).toArray(blocks as unknown as number[], 16 * i);
        }
        const parent = new Matrix4().makeScale(1, 2, 1).elements;
        const matrices = frame === 3 ? Float32Array.from(blocks) : blocks;
        world.staging.setBlock(Uint32Array.from(ids.slice(0, 300)), matrices, parent);
      }
      answers.add('frames', frameAnswer(frame === 3 ? onClock('late', () => world.frame(0)) : world.frame()));
      answers.add('structure', structure(world));
    }
    expect(world.core.check()).toBeNull();
    answers.check();
  });
});

describe.each(PLACES)('of continuous things, %s', (_, place) => {
  test.each([0.01, 1, 100])('of size %d', async (scale) => {
    const random = new ExactRandom(63);
    const answers = new Answers();
    const world = await World.create(place);
    const meshes = [icosphere(scale, 2), soup(random, 30, 0.4 * scale, scale)].map((mesh) => world.mesh(mesh));
    const sized = (described: PlacedDescription): PlacedDescription => ({
      ...described,
      radius: 0.3 * scale * described.radius,
      extent: Array.from(described.extent, (x) => 0.3 * scale * x),
      center: Array.from(described.center, (x) => 0.3 * scale * x),
    });
    const ids = Array.from({ length: 40 }, (_, i) => {
      const shape = i % 4 === 0 ? surface(random.pick(meshes)) : sized(randomPrimitive(random));
      const flags = shape.flags | (i % 3 > 0 ? layout.FLAG_CONTINUOUS : 0) | (i % 5 === 0 ? layout.FLAG_CLEARANCE : 0);
      const contacts = random.pick([3, 4, 6]);
      const clearance = i % 5 === 0 ? 0.1 * scale : 0;
      return world.add(shape, random.placement(random.point(4 * scale)), { flags, contacts, clearance });
    });
    for (let frame = 0; frame < 4; frame++) {
      for (const [i, id] of ids.entries()) {
        const form = i % 6 === 0 ? { low: 0.6, high: 1.6, mirrored: 0.2, sheared: 0.5 } : {};
        const matrix = random.placement(random.point(5 * scale), form);
        if (i % 2 === 0) matrix.makeRotationFromQuaternion(new Quaternion()).setPosition(random.point(5 * scale));
        if (random.chance(0.8)) world.move(id, matrix);
      }
      answers.add('frames', frameAnswer(world.frame()));
    }
    answers.check();
  });
});

test('with transforms that no one can have', async () => {
  const answers = new Answers();
  const world = await World.create();
  const ids = Array.from({ length: 20 }, (_, i) => world.add(block([1, 1, 1]), new Matrix4().setPosition(i, 0, 0)));
  const bad = [Number.NaN, Number.POSITIVE_INFINITY, 0, 1e-40, 1e31, 1e300, -1e-320, 1e25];
  for (let frame = 0; frame < 3; frame++) {
    for (const [i, id] of ids.entries()) {
      const matrix = new Matrix4().makeScale(1, 1, i % 3 === 0 ? bad[(i + frame) % 8]! : 1);
      world.move(id, i % 2 === 0 ? matrix.setPosition(bad[(i * 3 + frame) % 8]!, i, 0) : matrix.setPosition(i, 0, 0));
    }
    answers.add('frames', frameAnswer(world.frame()));
    answers.add('structure', structure(world));
  }
  answers.check();
});

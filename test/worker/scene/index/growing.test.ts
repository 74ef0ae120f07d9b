// Static objects are inserted into the index one by one, and in slices of a frame: whatever is added, removed and moved
// in between, and wherever it is, every ray hits what brute force hits, and the structure stays valid.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { Core, PlacedDescription } from '../../../../src/worker/binding/core.js';
import { startCore } from '../../../fixtures/core.js';
import { Random, SEED } from '../../../oracle/random.js';

const FILTER = { layers: 1, side: layout.SIDE_DOUBLE, precision: layout.PRECISION_MESH, ignore: new Uint32Array() };
const ROUNDS = 30;

interface Ball {
  centre: Vector3;
  radius: number;
  contacts: number;
}

/** Where added objects are, and how large. */
const PLACES: [name: string, centre: (random: Random) => Vector3, radius: (random: Random) => number][] = [
  ['everywhere', (random) => random.point(40), () => 0.5],
  ['in a plane', (random) => random.point(40).setZ(0), () => 0.3],
  ['in two heaps far apart', (random) => random.point(0.5).addScalar(random.chance(0.5) ? 900 : 0), () => 0.02],
  ['all in one point', () => new Vector3(3, 4, 5), (random) => random.logRange(0.1, 5)],
  ['of any size', (random) => random.point(40), (random) => random.logRange(0.001, 60)],
  ['outwards, each farther', (random) => random.point(random.logRange(0.01, 1e5)), () => 0.4],
  ['far from the origin', (random) => random.point(40).add(new Vector3(1e6, -2e6, 5e5)), () => 0.5],
  ['of no extent to speak of', (random) => random.point(1e-3), () => 1e-9],
];

/** A core with balls, most of them static, and the same balls in a list. */
class World {
  readonly balls = new Map<number, Ball>();
  readonly random: Random;
  readonly core: Core;
  #free: number[] = [];
  #slots = 0;
  #generation = 1;
  #frame = 0;

  constructor(core: Core, random: Random) {
    this.core = core;
    this.random = random;
  }

  get ids(): number[] {
    return [...this.balls.keys()];
  }

  add(centre: Vector3, radius: number): void {
    const id = makeId(this.#free.pop() ?? this.#slots++, this.#generation);
    const contacts = this.random.chance(0.7) ? layout.CONTACTS_NONE : layout.CONTACTS_ANY;
    this.balls.set(id, { centre, radius, contacts });
    this.core.addObjects(Uint32Array.of(id), this.#described(id));
  }

  remove(id: number): void {
    this.balls.delete(id);
    this.core.removeObject(id);
    this.#free.push(id >>> layout.GENERATION_BITS);
    this.#generation = (this.#generation % 2000) + 1;
  }

  /** Makes it an object that collides with nothing, or one that does: that moves it to another tree. */
  turn(id: number): void {
    const ball = this.balls.get(id)!;
    ball.contacts = ball.contacts === layout.CONTACTS_NONE ? layout.CONTACTS_ANY : layout.CONTACTS_NONE;
    this.core.setObject(id, this.#described(id));
  }

  move(staging: FrameBuilder, id: number, centre: Vector3): void {
    this.balls.get(id)!.centre = centre;
    staging.setSingle(id, new Matrix4().setPosition(centre).elements);
  }

  seal(staging: FrameBuilder): ArrayBuffer {
    return staging.seal(++this.#frame, 1);
  }

  /** Compares rays at balls, and past them, with brute force. */
  check(rays: number, when: string): void {
    const { random, balls } = this;
    const ids = this.ids;
    for (let i = 0; i < rays; i++) {
      const target =
        ids.length > 0 && random.chance(0.8) ? balls.get(random.pick(ids))! : { centre: random.point(50), radius: 1 };
      const direction = random.direction();
      const from = target.centre.clone().addScaledVector(direction, -random.logRange(1, 100) * target.radius);
      const aside = random.direction().multiplyScalar(random.range(0, 1.2) * target.radius);
      const origin = from.add(aside);
      const hit = this.core.rays.raycast(
        { origin: origin.toArray(), direction: direction.toArray(), tMin: 0, tMax: 1e9 },
        FILTER,
      );
      const best = nearest(balls, origin, direction);
      const scale = 1e-6 * (origin.length() * 1e-6 + target.radius);
      if (hit === null || best === null) {
        // A grazing ray may hit or miss.
        if (hit !== null || (best !== null && best.grazing > 1e-6)) expect(hit?.object, when).toBe(best?.id);
      } else if (hit.object !== best.id) {
        expect(Math.abs(hit.distance - best.distance), when).toBeLessThan(scale);
      }
    }
  }

  #described(id: number): PlacedDescription {
    const { centre, radius, contacts } = this.balls.get(id)!;
    return {
      ...{ shape: layout.SHAPE_SPHERE, mesh: 0, layers: 1, collidesWith: 1, group: 1, contacts, radius },
      flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE | (id % 16 === 0 ? 0 : layout.FLAG_STATIC),
      ...{ center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1] },
      matrix: new Matrix4().setPosition(centre).elements,
    };
  }
}

/** Finds the ball that a ray enters or leaves first; `grazing`: how deep the ray goes, in its radii. */
function nearest(balls: Map<number, Ball>, origin: Vector3, direction: Vector3) {
  let best: { id: number; distance: number; grazing: number } | null = null;
  for (const [id, { centre, radius }] of balls) {
    const to = centre.clone().sub(origin);
    const along = to.dot(direction);
    const off = to.addScaledVector(direction, -along).length();
    if (off > radius) continue;
    const half = Math.sqrt((radius - off) * (radius + off));
    const distance = along - half >= 0 ? along - half : along + half;
    if (distance < 0 || (best && (distance > best.distance || (distance === best.distance && id > best.id)))) continue;
    best = { id, distance, grazing: 1 - off / radius };
  }
  return best;
}

describe(`static objects come, go and move, seed ${SEED}`, () => {
  test.each(PLACES)('%s', async (_, centre, radius) => {
    const random = new Random(SEED);
    const world = new World(await startCore(), random);
    for (let round = 0; round < ROUNDS; round++) {
      const when = `round ${round}`;
      const isShrinking = round % 10 > 6;
      for (let i = random.integer(isShrinking ? 20 : 200); i > 0; i--) world.add(centre(random), radius(random));
      if (random.chance(0.5)) world.check(5, when); // they are inserted by now
      for (let i = random.integer(isShrinking ? 300 : 20); i > 0 && world.balls.size > 0; i--) {
        world.remove(random.pick(world.ids));
      }
      for (let i = random.integer(20); i > 0 && world.balls.size > 0; i--) world.turn(random.pick(world.ids));
      const staging = new FrameBuilder();
      const isAll = random.chance(0.1);
      for (const id of world.ids) if (isAll || random.chance(0.1)) world.move(staging, id, centre(random));
      world.core.frame(world.seal(staging), undefined);
      world.check(40, when);
      expect(world.core.check(), when).toBeNull();
    }
    for (const id of world.ids) world.remove(id);
    expect(world.core.check()).toBeNull();
    world.check(3, 'when all are gone');
    for (let i = 0; i < 100; i++) world.add(centre(random), radius(random));
    world.check(40, 'after that');
    expect(world.core.check()).toBeNull();
  });

  test('those that come and go over and over take hardly more memory than the first ones', async () => {
    const random = new Random(SEED);
    const world = new World(await startCore(), random);
    const places = Array.from({ length: 3000 }, () => random.point(40));
    // With some that stay, so that no tree is started anew.
    for (let i = 0; i < 50; i++) world.add(random.point(40), 0.3);
    const staying = new Set(world.ids);
    let most = 0;
    for (let round = 0; round < 150; round++) {
      for (const place of places) world.add(place, 0.3);
      world.core.frame(world.seal(new FrameBuilder()), undefined);
      for (const id of world.ids) if (!staying.has(id)) world.remove(id);
      world.core.frame(world.seal(new FrameBuilder()), undefined);
      if (round < 4) most = world.core.memoryBytes;
      else expect(world.core.memoryBytes, `round ${round}`).toBeLessThan(1.25 * most);
    }
    expect(world.core.check()).toBeNull();
  });

  test('instances that are added in one place, and told their own later', async () => {
    const random = new Random(SEED);
    const world = new World(await startCore(), random);
    for (let block = 0; block < 4; block++) {
      const before = new Set(world.ids);
      for (let i = 0; i < 1000; i++) world.add(new Vector3(), 0.2);
      if (block % 2 === 1) world.check(10, `block ${block}`); // they are inserted, all at one position
      const staging = new FrameBuilder();
      for (const id of world.ids) if (!before.has(id)) world.move(staging, id, random.point(20));
      world.core.frame(world.seal(staging), undefined);
      world.check(40, `block ${block}`);
      expect(world.core.check()).toBeNull();
    }
  });

  test('a frame that gives very many their places is left and gone on with, and asked meanwhile', async () => {
    const random = new Random(SEED);
    const world = new World(await startCore(), random);
    for (let i = 0; i < 20_000; i++) world.add(random.point(60), 0.5);
    const { core } = world;
    core.beginFrame(world.seal(new FrameBuilder()));
    let slices = 1;
    let out = core.stepFrame(0, undefined);
    for (; out === null; slices++) {
      if (slices === 20) world.check(20, 'between two slices');
      out = core.stepFrame(0, undefined);
    }
    expect(slices).toBeGreaterThan(20);
    expect(new FrameView(out, []).ms.update).toBeGreaterThan(0);
    world.check(30, 'after the frame');
    expect(core.check()).toBeNull();

    // There are no queries: every slice does the same amount of work.
    for (let i = 0; i < 20_000; i++) world.add(random.point(60), 0.5);
    core.beginFrame(world.seal(new FrameBuilder()));
    slices = 1;
    while (core.stepFrame(0, undefined) === null) slices++;
    expect(slices).toBeGreaterThan(50);
    world.check(30, 'after the second frame');
    expect(core.check()).toBeNull();
  });
});

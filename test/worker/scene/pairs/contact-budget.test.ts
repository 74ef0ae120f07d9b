// Frames that do not have the time to examine all pairs.
import { type ContactSet, createCollisionService } from 'collision-worker';
import { Matrix4, Vector3 } from 'three';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { Core, PlacedDescription } from '../../../../src/worker/binding/core.js';
import { bake, startCore } from '../../../fixtures/core.js';
import { pairKeys, replay } from '../../../oracle/events.js';
import { icosphere, rods, soup, type Triangles } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';

const IDENTITY = new Matrix4().elements;
const OBJECT: PlacedDescription = {
  ...{ shape: layout.SHAPE_MESH, mesh: 0, flags: 0, layers: 1, collidesWith: -1, group: 0 },
  ...{ contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [0.6, 0.5, 0.4], rotation: [0, 0, 0, 1] },
  ...{ radius: 0, matrix: IDENTITY },
};

/** One core and its frames. */
class World {
  readonly core: Core;
  readonly #staging = new FrameBuilder();
  #frame = 0;

  constructor(core: Core) {
    this.core = core;
  }

  move(id: number, matrix: Matrix4): void {
    this.#staging.setSingle(id, matrix.elements);
  }

  /** `budget` in milliseconds, 0 for none. */
  run(budget = 0): ContactSet {
    const input = this.#staging.seal(++this.#frame, 1, budget);
    const out = this.core.frame(input, undefined);
    this.#staging.restart(input);
    return new FrameView(out, []).contacts;
  }

  /** The same in slices of this many milliseconds, and the number of slices. */
  runInSlices(budget: number, slice: number): [contacts: ContactSet, slices: number] {
    const input = this.#staging.seal(++this.#frame, 1, budget);
    this.core.beginFrame(input);
    for (let slices = 1; ; slices++) {
      const out = this.core.stepFrame(slice, undefined);
      if (out) return [new FrameView(out, []).contacts, slices];
    }
  }
}

/** a · 2³² + b, so that keys sort as pairs do. */
const keyOf = (a: number, b: number) => a * 2 ** 32 + b;
const keysOf = ({ a, b }: ContactSet) => Array.from(a, (id, i) => keyOf(id, b[i]));
const idsOf = (key: number): [number, number] => [Math.floor(key / 2 ** 32), key % 2 ** 32];
const show = ({ count, a, b, groupA, groupB, begun, contained, stale, waiting, endedA, endedB }: ContactSet) => ({
  ...{ count, a, b, groupA, groupB, begun, contained, stale, waiting, endedA, endedB },
});

describe(`as a model of the queue says, by a clock that ticks when it is read, seed ${SEED}`, () => {
  beforeEach(() => {
    let time = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => time++);
  });
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ['few move', 0.05],
    ['half move', 0.5],
    ['all move', 1],
  ])('%s, while objects come and go, change layers and meshes', async (_, moving) => {
    const random = new Random(SEED);
    // Examined with a budget; and without one by shape, by bounds, and by bounds that are slightly larger.
    const cores = await Promise.all([startCore(), startCore(), startCore(), startCore()]);
    const worlds = cores.map((core) => new World(core));
    const [asked, byShape, byBounds, byLarger] = worlds;
    const larger = (matrix: Matrix4) => matrix.clone().scale(new Vector3().setScalar(1 + 1e-4));
    const shapes: Triangles[] = [icosphere(1, 1), soup(random, 15, 0.4, 1), rods(random, 3, 1)];
    const meshes = cores.map((core) => shapes.map((mesh) => core.loadMesh(bake(core, mesh))));
    const model = new QueueModel();
    const alive = new Map<number, { mesh: number; matrix: Matrix4; group: number }>();
    const touched = new Set<number>();
    const count = { stale: 0, waiting: 0, ended: 0 };

    const place = () => random.placement(random.point(2.5), { low: 0.5, high: 1.2 });
    const put = (id: number, mesh: number, matrix: Matrix4) => {
      const contacts = random.chance(0.1) ? layout.CONTACTS_NONE : layout.CONTACTS_ANY;
      const group = random.integer(3);
      const layers = random.chance(0.9) ? 1 : 2;
      for (const [i, world] of worlds.entries()) {
        const detail = contacts && world !== asked && world !== byShape ? layout.CONTACTS_BOUNDS : contacts;
        world.core.setObject(id, {
          ...{ ...OBJECT, mesh: meshes[i][mesh], contacts: detail, group, layers, collidesWith: 1 },
          ...{ flags: layout.FLAG_MATRIX, matrix: (world === byLarger ? larger(matrix) : matrix).elements },
        });
      }
      alive.set(id, { mesh, matrix, group });
      touched.add(id);
    };
    const move = (id: number, to: Matrix4) => {
      for (const world of worlds) world.move(id, world === byLarger ? larger(to) : to);
      alive.get(id)!.matrix = to;
      touched.add(id);
    };
    /** The pairs whose bounds overlap, once none is close to just touching: those may be found or not. */
    const settledBounds = (): number[] => {
      for (;;) {
        const near = keysOf(byBounds.run());
        const known = new Set(near);
        const doubtful = keysOf(byLarger.run()).filter((key) => !known.has(key));
        if (doubtful.length === 0) return near;
        for (const key of doubtful) move(idsOf(key)[0], place());
      }
    };
    for (let slot = 0; slot < 40; slot++) put(makeId(slot, 1), random.integer(3), place());

    for (let frame = 1; frame <= 150; frame++) {
      // Now and then nothing changes, and waiting pairs are examined all the same.
      if (!random.chance(0.2)) {
        for (const [id, { mesh, matrix }] of [...alive]) {
          const event = random.next();
          if (event < 0.01) {
            for (const core of cores) core.removeObject(id);
            alive.delete(id);
            touched.add(id);
            const generation = (id & layout.MAX_GENERATION) + 1;
            if (random.chance(0.9)) put(makeId(id >>> layout.GENERATION_BITS, generation), random.integer(3), place());
          } else if (event < 0.02) {
            put(id, mesh, matrix);
          } else if (random.chance(moving)) {
            const turned = matrix.clone().multiply(new Matrix4().makeRotationAxis(random.direction(), 0.2));
            move(id, random.chance(0.7) ? turned : place());
          }
        }
        if (random.chance(0.05)) {
          const which = random.integer(3);
          const moved = shapes[which].positions.map((x) => x * Math.fround(random.range(0.9, 1.1)));
          for (const [i, core] of cores.entries()) expect(core.refitMesh(meshes[i][which], moved)).toBe(true);
          for (const [id, { mesh }] of alive) if (mesh === which) touched.add(id);
        }
      }
      const looks = random.pick([1, 1, 2, 5, 20, Number.POSITIVE_INFINITY]);
      const near = settledBounds();
      const found = asked.run(looks === Number.POSITIVE_INFINITY ? random.pick([0, 1e9]) : looks);
      const expected = model.step(byShape.run(), near, touched, looks, (id) => alive.get(id)!.group);
      expect(show(found), `frame ${frame}`).toEqual(expected);
      expect(asked.core.check()).toBeNull();
      touched.clear();
      count.stale += found.stale.filter((of) => of === 1).length;
      count.waiting += found.waiting;
      count.ended += found.endedA.length;
    }
    for (const of of [count.stale, count.waiting, count.ended]) expect(of).toBeGreaterThan(30);
  });

  test('a budget counts what all slices of a frame took, and no more', async () => {
    let time = 1e6;
    vi.mocked(performance.now).mockImplementation(() => time++);
    const random = new Random(SEED);
    const [world, whole] = [new World(await startCore()), new World(await startCore())];
    for (let slot = 0; slot < 300; slot++) {
      const { elements } = random.placement(random.point(2));
      for (const { core } of [world, whole]) {
        const description = { ...OBJECT, shape: layout.SHAPE_BOX, matrix: elements };
        core.addObjects(Uint32Array.of(makeId(slot, 1)), description);
      }
    }
    const [contacts, slices] = world.runInSlices(1e5, 5);
    expect(slices).toBeGreaterThan(5);
    expect(contacts.waiting).toBe(0);
    expect(show(contacts)).toEqual(show(whole.run()));
  });

  test('shapes that are no meshes are looked at by sixteens', async () => {
    const world = new World(await startCore());
    const ids = Uint32Array.from({ length: 20 }, (_, slot) => makeId(slot, 1));
    world.core.addObjects(ids, { ...OBJECT, shape: layout.SHAPE_BOX });
    const pairs = 190;
    expect(world.run(1)).toMatchObject({ count: 16, waiting: pairs - 16 });
    expect(world.run(2)).toMatchObject({ count: 48, waiting: pairs - 48 });
    for (const id of ids) world.move(id, new Matrix4().makeRotationX(0.1));
    const contacts = world.run(1);
    expect(contacts).toMatchObject({ count: 64, waiting: pairs - 64 });
    expect([...contacts.stale]).toEqual([...Array(48).fill(1), ...Array(16).fill(0)]);
  });

  test('meshes of which one of two asks for no more than bounds are not looked at for it', async () => {
    const world = new World(await startCore());
    const mesh = world.core.loadMesh(bake(world.core, icosphere(1, 1)));
    const groups = [layout.CONTACTS_BOUNDS, layout.CONTACTS_ANY];
    for (let slot = 0; slot < 12; slot++) {
      const [group, contacts] = [1 + (slot % 2), groups[slot % 2]];
      world.core.addObjects(Uint32Array.of(makeId(slot, 1)), { ...OBJECT, mesh, group, contacts });
    }
    // As shapes that are no meshes: 16 at a time.
    expect(world.run(1)).toMatchObject({ count: 16, waiting: 20 });
  });
});

/** What the budget should do, on sets. */
class QueueModel {
  readonly #pairs = new Map<number, number>(); // `contained`, by key
  readonly #waiting = new Map<number, number>(); // since when, by key
  #frame = 0;

  step(
    byShape: ContactSet,
    near: readonly number[],
    touched: ReadonlySet<number>,
    looks: number,
    groupOf: (id: number) => number,
  ) {
    this.#frame++;
    const before = new Set(this.#pairs.keys());
    const isTouched = (key: number) => idsOf(key).some((id) => touched.has(id));
    const contained = new Map(keysOf(byShape).map((key, i) => [key, byShape.contained[i]]));
    const queue = near.filter((key) => isTouched(key) || this.#waiting.has(key));
    const since = (key: number) => this.#waiting.get(key) ?? this.#frame;
    queue.sort((p, q) => since(p) - since(q) || p - q);
    const left = new Map(queue.slice(looks).map((key) => [key, since(key)]));

    for (const key of before) if (isTouched(key) && !left.has(key)) this.#pairs.delete(key);
    for (const key of queue.slice(0, looks)) {
      this.#pairs.delete(key);
      if (contained.has(key)) this.#pairs.set(key, contained.get(key)!);
    }
    this.#waiting.clear();
    for (const [key, when] of left) this.#waiting.set(key, when);
    const pairs = [...this.#pairs.keys()].sort((p, q) => p - q);
    const ended = [...before].filter((key) => !this.#pairs.has(key)).sort((p, q) => p - q);
    const [a, b] = [0, 1].map((side) => Uint32Array.from(pairs, (key) => idsOf(key)[side]));
    return {
      count: pairs.length,
      a,
      b,
      groupA: a.map(groupOf),
      groupB: b.map(groupOf),
      begun: Uint8Array.from(pairs, (key) => (before.has(key) ? 0 : 1)),
      contained: Uint8Array.from(pairs, (key) => this.#pairs.get(key)!),
      stale: Uint8Array.from(pairs, (key) => (left.has(key) ? 1 : 0)),
      waiting: [...left.keys()].filter((key) => !this.#pairs.has(key)).length,
      endedA: Uint32Array.from(ended, (key) => idsOf(key)[0]),
      endedB: Uint32Array.from(ended, (key) => idsOf(key)[1]),
    };
  }
}

test.each([
  ['without a budget', 0],
  ['with one that is never used up', 1e9],
])(
  `few pairs of objects in slots far from each other are in the order of their ids, %s, seed ${SEED}`,
  async (_, budget) => {
    const random = new Random(SEED);
    const world = new World(await startCore());
    const SLOTS = 70_000;
    const PLACES = 20;
    // This few pairs of this many slots are radix-sorted digit by digit: each bit of a slot decides the order of some.
    const slots = new Set<number>();
    for (let bits = 1; 2 ** bits < SLOTS; bits++) slots.add(2 ** bits).add(2 ** bits - 1);
    while (slots.size < 200) {
      const slot = random.integer(SLOTS);
      slots.add(slot).add(slot + 1);
    }
    // A generation does not affect the order.
    const ids = [...slots].map((slot) => makeId(slot, 1 + random.integer(layout.MAX_GENERATION)));
    const sorted = ids.toSorted((a, b) => a - b);
    const matrixAt = (place: number) => new Matrix4().setPosition(5 * place, 0, 0);
    const places = new Map<number, number>();
    for (const [i, id] of ids.entries()) {
      places.set(id, i % PLACES);
      const own = { flags: layout.FLAG_MATRIX, matrix: matrixAt(i % PLACES).elements, group: 1 + sorted.indexOf(id) };
      world.core.setObject(id, { ...OBJECT, shape: layout.SHAPE_SPHERE, radius: 1, ...own });
    }
    for (let frame = 0; frame < 7; frame++) {
      const { a, b, groupA, groupB } = world.run(budget);
      const expected = sorted.flatMap((first) => {
        const others = sorted.filter((id) => id > first && places.get(id) === places.get(first));
        return others.map((second) => [first, second]);
      });
      expect(Array.from(a, (id, i) => [id, b[i]])).toEqual(expected);
      expect(Array.from(groupA, (group, i) => [sorted[group - 1], sorted[groupB[i] - 1]])).toEqual(expected);
      // Moving objects are searched for one by one, in any order; in the end all are alone.
      const isLast = frame === 6;
      const moving = isLast ? ids : Array.from({ length: 12 }, () => random.pick(ids));
      for (const [i, id] of moving.entries()) {
        places.set(id, isLast ? PLACES + i : random.integer(PLACES));
        world.move(id, matrixAt(places.get(id)!));
      }
    }
    expect(world.run(budget).count).toBe(0);
    // Two that are found in the wrong order.
    const [one, other, next] = sorted;
    world.move(next, matrixAt(places.get(one)! + 0.3));
    world.move(other, matrixAt(places.get(one)! - 0.3));
    expect(keysOf(world.run(budget))).toEqual([keyOf(one, other), keyOf(one, next)]);
  },
);

describe(`in the service, seed ${SEED}`, () => {
  /** Two services with the same heap of meshes and boxes: one examines a few pairs per frame, the other all. */
  async function start(contactBudget: number) {
    const random = new Random(SEED);
    const services = [await createCollisionService({ contactBudget }), await createCollisionService()] as const;
    const places = Array.from({ length: 60 }, () => random.placement(random.point(2.5)));
    let ids: number[] = [];
    for (const service of services) {
      const mesh = await service.addMesh(icosphere(1, 2));
      ids = places.map((matrix, i) => {
        const box = { type: 'box', halfExtents: [0.8, 0.7, 0.6] } as const;
        return service.addObject({ shape: i % 3 ? { type: 'mesh', mesh } : box, matrix: matrix.elements });
      });
    }
    const dispose = () => services.forEach((service) => void service.dispose());
    return { hurried: services[0], patient: services[1], ids, places, dispose };
  }

  test('when nothing moves, the set becomes that without a budget', async () => {
    const { hurried, patient, dispose } = await start(1e-9);
    const truth = (await patient.update()).contacts;
    const expected = pairKeys(truth.a, truth.b);
    expect(expected.length).toBeGreaterThan(200);
    let pairs: ReadonlySet<string> = new Set();
    let last = Number.POSITIVE_INFINITY;
    let frames = 0;
    for (; last > 0; frames++) {
      const { contacts } = await hurried.update();
      pairs = replay(pairs, contacts);
      expect([...pairs].every((key) => expected.includes(key))).toBe(true);
      expect(contacts.waiting).toBeLessThan(last);
      expect(contacts.stale.every((of) => of === 0)).toBe(true);
      last = contacts.waiting;
    }
    expect(frames).toBeGreaterThan(50);
    const { contacts } = await hurried.update();
    expect(pairKeys(contacts.a, contacts.b)).toEqual(expected);
    expect(contacts.contained).toEqual((await patient.update()).contacts.contained);
    dispose();
  });

  test('none starves while everything moves', async () => {
    const { hurried, patient, ids, places, dispose } = await start(1e-9);
    const random = new Random(SEED);
    const lastLook = new Map<string, number>();
    let longest = 0;
    let pairs: ReadonlySet<string> = new Set();
    let candidates = 0;
    for (let frame = 0; frame < 400; frame++) {
      for (const [i, id] of ids.entries()) {
        places[i].multiply(new Matrix4().makeRotationAxis(random.direction(), 0.01));
        for (const service of [hurried, patient]) service.setTransform(id, places[i].elements);
      }
      const { contacts: truth } = await patient.update();
      const { contacts } = await hurried.update();
      pairs = replay(pairs, contacts);
      candidates = Math.max(candidates, contacts.waiting + contacts.count);
      pairKeys(contacts.a, contacts.b).forEach((key, i) => {
        if (contacts.stale[i] === 0) lastLook.set(key, frame);
      });
      const touching = new Set(pairKeys(truth.a, truth.b));
      for (const key of lastLook.keys()) if (!touching.has(key) || !pairs.has(key)) lastLook.delete(key);
      for (const when of lastLook.values()) longest = Math.max(longest, frame - when);
    }
    expect(longest).toBeGreaterThan(10);
    expect(longest).toBeLessThanOrEqual(candidates); // since one is examined in each frame
    expect(lastLook.size).toBeGreaterThan(200);
    dispose();
  });

  test('a budget that is never used up changes nothing', async () => {
    const { hurried, patient, ids, places, dispose } = await start(1e9);
    const random = new Random(SEED);
    for (let frame = 0; frame < 30; frame++) {
      for (const [i, id] of ids.entries()) {
        if (!random.chance(frame % 2 ? 0.1 : 0.9)) continue;
        places[i].multiply(new Matrix4().makeRotationAxis(random.direction(), 0.1));
        for (const service of [hurried, patient]) service.setTransform(id, places[i].elements);
      }
      const [one, other] = await Promise.all([hurried.update(), patient.update()]);
      expect(show(one.contacts)).toEqual(show(other.contacts));
      expect(one.contacts.points).toEqual(other.contacts.points);
    }
    dispose();
  });

  test.each([0, -1, Number.NaN, '5', null])('contactBudget %s is refused', async (contactBudget) => {
    await expect(createCollisionService({ contactBudget: contactBudget as number })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^createCollisionService: contactBudget is .*, expected milliseconds > 0$/),
    });
  });
});

// What happens when the core's memory cannot grow any more: the call fails, and nothing else does.
import { Matrix4 } from 'three';
import { describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { FrameView } from '../../src/client/frame/frame-result.js';
import { ViewTable } from '../../src/client/frame/view-table.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import { type Core, createCore, type MeshAddress, type PlacedDescription } from '../../src/worker/binding/core.js';
import { runToEnd } from '../../src/worker/binding/steps.js';
import { bake, startCore, wasm } from '../fixtures/core.js';
import { OUT_OF_MEMORY, stackOf, VIEW } from '../fixtures/full-memory.js';
import { limitMemory } from '../fixtures/limit-memory.js';
import { ALL_FILTER } from '../fixtures/near-scene.js';
import { icosphere, soup } from '../oracle/meshes.js';
import { Random, SEED } from '../oracle/random.js';

const PAGES = 96;
/** Milliseconds for pairs; used up as soon as the first ones are processed. */
const HURRY = 1e-9;

const VIEW_RECORD = new ViewTable().recordOf('test', 'view', VIEW);

/** A core with a mesh, 200 objects, two views and two frames behind it. */
class World {
  readonly core: Core;
  readonly random = new Random(SEED);
  readonly mesh: MeshAddress;
  readonly ids: number[] = [];
  #slots = 0;
  #frame = 0;

  constructor(core: Core) {
    this.core = core;
    this.mesh = core.loadMesh(bake(core, icosphere(1, 2)));
    this.add(200, 10);
    this.run(VIEW);
    this.run({ ...VIEW, view: new Matrix4().makeTranslation(3, 0, -12).elements });
  }

  /** Adds this many objects in the slots behind the existing ones; what a failed call has added is set again. */
  add(count: number, halfSize: number, offset = 0): void {
    const random = new Random(SEED + this.#slots);
    const ids = Array.from({ length: count }, (_, i) => makeId(this.#slots + i, 1));
    for (const id of ids) {
      const isMesh = random.chance(0.3);
      const position = random.point(halfSize);
      position.x += offset;
      const withList = {
        flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE | layout.FLAG_FACE_SIDES,
        faceSides: Uint32Array.from({ length: 100 }, (_, k) => (k << layout.FACE_SHIFT) | (1 + random.integer(3))),
      };
      this.core.addObjects(Uint32Array.of(id), {
        ...{ shape: isMesh ? layout.SHAPE_MESH : layout.SHAPE_BOX, mesh: isMesh ? this.mesh : 0, layers: 1 },
        ...{ flags: layout.FLAG_PICKABLE | layout.FLAG_CULLABLE | (random.chance(0.3) ? layout.FLAG_STATIC : 0) },
        ...(isMesh && this.#slots > 0 && withList),
        ...{ collidesWith: 1, group: 0, contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [1, 0.5, 0.7] },
        ...{ rotation: [0, 0, 0, 1], radius: 0, matrix: random.placement(position).elements },
      } satisfies PlacedDescription);
    }
    this.ids.push(...ids);
    this.#slots += count;
  }

  /** Adds this many triangles as one object. */
  addStack(count: number): void {
    const indices = Uint32Array.from({ length: 3 * count }, (_, i) => i);
    const mesh = this.core.loadMesh(bake(this.core, { positions: stackOf(count), indices }));
    this.core.addObjects(Uint32Array.of(makeId(this.#slots++, 1)), {
      ...{ shape: layout.SHAPE_MESH, mesh, layers: 2, flags: layout.FLAG_PICKABLE, collidesWith: 0, group: 0 },
      ...{ contacts: layout.CONTACTS_ANY, center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1], radius: 0 },
      matrix: new Matrix4().elements,
    });
  }

  /**
   * Adds this many balls on a line, each overlapping its neighbours, that ask for full detail; returns their ids.
   */
  addRow(count: number, mesh = this.mesh): number[] {
    const ids = Array.from({ length: count }, (_, i) => makeId(this.#slots + i, 1));
    for (const [i, id] of ids.entries()) {
      this.core.addObjects(Uint32Array.of(id), {
        ...{ shape: layout.SHAPE_MESH, mesh, layers: 4, flags: layout.FLAG_PICKABLE, collidesWith: 4, group: 0 },
        ...{ contacts: layout.CONTACTS_FULL, center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1] },
        ...{ radius: 0, matrix: new Matrix4().makeTranslation(1.3 * i, 50, 0).elements },
      });
    }
    this.#slots += count;
    return ids;
  }

  remove(id: number): void {
    this.core.removeObject(id);
    this.ids.splice(this.ids.indexOf(id), 1);
  }

  input(view: typeof VIEW | undefined, moved = 0, budget = 0): ArrayBuffer {
    const staging = new FrameBuilder();
    if (view) {
      const views = new ViewTable();
      views.set('test', 'main', view);
      views.set('test', 'other', { ...view, margin: 1, occlusion: true });
      views.stage(staging);
    }
    const random = new Random(SEED + this.#frame);
    for (const id of this.ids.slice(0, moved)) staging.setSingle(id, random.placement(random.point(8)).elements);
    return staging.seal(++this.#frame, 1, budget);
  }

  /** A frame's result, as plain arrays. */
  show(input: ArrayBuffer) {
    const { views, contacts, rejected } = new FrameView(this.core.frame(input, undefined), ['main', 'other']);
    return {
      rejected: [...rejected],
      views: Array.from(views.values(), ({ ids, inside, entered, left, occluded }) => [
        [...ids],
        inside,
        [...entered],
        [...left],
        [...occluded],
      ]),
      pairs: [...contacts],
      waiting: contacts.waiting,
      ended: [[...contacts.endedA], [...contacts.endedB]],
    };
  }

  run(view?: typeof VIEW, moved = 0, budget = 0) {
    return this.show(this.input(view, moved, budget));
  }

  rays(precision: number = layout.PRECISION_MESH) {
    const random = new Random(SEED);
    const rays = new Float32Array(8 * 50);
    for (let i = 0; i < rays.length; i += 8) {
      rays.set([...random.direction().multiplyScalar(30).toArray(), 0, ...random.direction().toArray(), 100], i);
      for (let k = 0; k < 3; k++) rays[i + 4 + k] = random.range(-8, 8) - rays[i + k];
    }
    return this.core.rays.raycastMany(rays, { ...ALL_FILTER, precision });
  }
}

/** Fills memory except for small pieces. */
class Ballast {
  readonly #core: Core;
  readonly #pieces: MeshAddress[] = [];

  constructor(core: Core, source: Core) {
    this.#core = core;
    const random = new Random(SEED);
    for (const triangles of [3000, 300, 30, 1]) {
      const baked = bake(source, soup(random, triangles, 1, 1));
      try {
        while (true) this.#pieces.push(core.loadMesh(baked));
      } catch (error) {
        expect(error).toEqual(OUT_OF_MEMORY);
      }
    }
  }

  /** Frees a small piece, then larger ones. */
  drop(): void {
    expect(this.#pieces.length).toBeGreaterThan(0);
    this.#core.freeMesh(this.#pieces.pop()!);
  }

  dropAll(): void {
    for (const piece of this.#pieces.splice(0)) this.#core.freeMesh(piece);
  }
}

/** Tries until there is enough memory; each time with a little more, so that it runs out in another place. */
function insist<T>(
  ballast: Ballast,
  attempt: () => T,
  afterFailure: () => void = () => {},
): { answer: T; failures: number } {
  for (let failures = 0; ; failures++) {
    try {
      return { answer: attempt(), failures };
    } catch (error) {
      expect(error).toEqual(OUT_OF_MEMORY);
    }
    afterFailure();
    ballast.drop();
  }
}

const MESH = soup(new Random(SEED), 500, 0.3, 1);
const BAKED = bake(await startCore(), MESH);
const LARGE = bake(await startCore(), icosphere(1, 20));

describe(`a core that runs out of memory, seed ${SEED}`, () => {
  const twoWorlds = async () => ({
    limited: new World(await createCore(limitMemory(wasm, PAGES))),
    free: new World(await startCore()),
  });

  function expectSame(limited: World, free: World) {
    expect(limited.core.check()).toBeNull();
    expect(limited.rays()).toEqual(free.rays());
    const frame = limited.run(VIEW, 20);
    expect(frame).toEqual(free.run(VIEW, 20));
    expect(limited.run()).toEqual(free.run());
    expect(frame.pairs.length).toBeGreaterThan(10);
    expect(limited.core.check()).toBeNull();
  }

  type Action = (world: World) => unknown;
  const ACTIONS: [what: string, fewestFailures: number, prepare: (world: World) => Action][] = [
    [
      'building a mesh',
      5,
      () =>
        ({ core }) =>
          bake(core, MESH),
    ],
    [
      'loading a mesh',
      2,
      () =>
        ({ core }) =>
          core.freeMesh(core.loadMesh(BAKED)),
    ],
    ['adding objects', 3, () => (world) => world.add(600, 10)],
    [
      'the frame after objects were added',
      3,
      (world) => {
        world.add(400, 10);
        const input = world.input(undefined, 50);
        return () => world.show(input);
      },
    ],
    [
      'the frame after objects were added far away',
      3,
      (world) => {
        for (const id of world.ids.splice(0, 190)) world.core.removeObject(id);
        world.add(400, 10, 1e6);
        const input = world.input(undefined);
        return () => world.show(input);
      },
    ],
    [
      'a frame that moves everything together',
      3,
      (world) => {
        const staging = new FrameBuilder();
        for (const id of world.ids) staging.setSingle(id, new Matrix4().makeTranslation(id % 2, 0, 0).elements);
        const input = staging.seal(9, 1);
        return () => world.show(input);
      },
    ],
    [
      'a frame that has no time for all pairs, after another such',
      2,
      (world) => {
        world.add(300, 10);
        world.run(undefined, 100, HURRY);
        const input = world.input(undefined, 300, HURRY);
        return () => world.show(input);
      },
    ],
    [
      'a frame of which the contacts grow',
      3,
      (world) => {
        world.ids.push(...world.addRow(60));
        const input = world.input(undefined, 50);
        return () => {
          const frame = world.show(input);
          expect(frame.pairs.some(({ triangles }) => triangles.length > 10)).toBe(true);
          return frame;
        };
      },
    ],
    [
      'the contact of two meshes',
      2,
      (world) => {
        const [a, b] = world.addRow(2, world.core.loadMesh(LARGE));
        return () => {
          const contact = world.core.pairs.contact(a, b, layout.CONTACTS_FULL)!;
          expect(contact.triangles.length).toBeGreaterThan(200);
          return contact;
        };
      },
    ],
    ['many rays', 1, () => (world) => world.rays()],
    ['the first rays against bounding spheres', 2, () => (world) => world.rays(layout.PRECISION_SPHERE)],
    [
      'the frame after 300 views were set',
      2,
      (world) => {
        const staging = new FrameBuilder();
        const views = new ViewTable();
        for (let i = 0; i < 300; i++) views.set('test', i < 2 ? ['main', 'other'][i] : `view ${i}`, VIEW);
        views.stage(staging);
        const input = staging.seal(9, 1);
        return () => world.show(input);
      },
    ],
    [
      'a region of many vertices',
      2,
      () => (world) => {
        const polygon = Float64Array.from({ length: 2e4 }, (_, i) => (i % 2 ? Math.sin : Math.cos)(i / 3183));
        const region = { bounds: [-1, -1, 1, 1], polygon, mode: layout.REGION_TOUCH } as const;
        const ids = runToEnd(world.core.volumes.pickRegion(VIEW_RECORD, region, ALL_FILTER));
        expect(ids.length).toBeGreaterThan(10);
        return ids;
      },
    ],
    [
      'all centres drawn in the view',
      1,
      (world) => {
        world.add(2000, 10);
        return () => {
          const cursor = { x: 50, y: 50, radius: 1e4 };
          const hits = runToEnd(world.core.rays.pickScreenAll(VIEW_RECORD, cursor, ALL_FILTER));
          expect(hits.length).toBeGreaterThan(2000);
          return hits;
        };
      },
    ],
    [
      'all hits of a ray',
      2,
      (world) => {
        world.addStack(2000);
        return () => {
          const hits = runToEnd(world.core.rays.raycastAll({ origin: [0, 0, 10], direction: [0, 0, -1] }, ALL_FILTER));
          expect(hits.length).toBeGreaterThanOrEqual(2000);
          return hits;
        };
      },
    ],
  ];

  test.each(ACTIONS)('%s: fails whole, then succeeds', async (_, fewestFailures, prepare) => {
    const { limited, free } = await twoWorlds();
    const [act, actFreely] = [prepare(limited), prepare(free)];
    const ballast = new Ballast(limited.core, free.core);
    const { answer, failures } = insist(ballast, () => act(limited));
    expect(failures).toBeGreaterThanOrEqual(fewestFailures);
    expect(answer).toEqual(actFreely(free));
    ballast.dropAll();
    expectSame(limited, free);
  });

  test.each(ACTIONS)('%s: what is removed between failures is gone, and needs no memory', async (_, __, prepare) => {
    const { limited, free } = await twoWorlds();
    const [act, actFreely] = [prepare(limited), prepare(free)];
    const ballast = new Ballast(limited.core, free.core);
    const removed: number[] = [];
    insist(
      ballast,
      () => act(limited),
      () => {
        if (limited.ids.length < 100) return;
        const id = limited.random.pick(limited.ids);
        limited.remove(id);
        removed.push(id);
      },
    );
    expect(removed.length).toBeGreaterThan(0);
    ballast.dropAll();
    expect(limited.core.check()).toBeNull();
    // The other world does all of it at once. What the views and pairs reported on the way may differ by now.
    actFreely(free);
    for (const id of removed) free.remove(id);
    limited.run(VIEW, 20);
    free.run(VIEW, 20);
    expectSame(limited, free);
  });
});

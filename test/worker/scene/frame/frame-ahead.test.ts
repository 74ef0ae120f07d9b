// The scene changes while a frame's pairs are found and examined: the frame's result stays the same, and queries and the
// next frame see the changes.
import { Matrix4, Quaternion, Vector3 } from 'three';
import { beforeAll, describe, expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { ViewTable } from '../../../../src/client/frame/view-table.js';
import { PoseTable } from '../../../../src/client/skin/pose-table.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { MeshData } from '../../../../src/shared/types.js';
import type { Core, PlacedDescription } from '../../../../src/worker/binding/core.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { MeshTable } from '../../../../src/worker/mesh-table.js';
import { bake, startCore } from '../../../fixtures/core.js';
import { aimCamera, CAMERA_KINDS, DEPTHS, viewOf } from '../../../oracle/cameras.js';
import { icosphere, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { randomRig } from '../../../oracle/rigs.js';

/** Of a frame, in milliseconds: enough for one pair. */
const NO_TIME = 1e-9;
/** A budget that is never used up. */
const ALL_TIME = 1e9;
const FILTER = { layers: 0xffffffff, side: 3, precision: layout.PRECISION_MESH, ignore: new Uint32Array() };

const BINDS = new Float64Array([...new Matrix4().elements, ...new Matrix4().elements]);

let data: MeshData[];
let meshes: ArrayBuffer[];
/** How many of the meshes cannot be deformed: the first ones. */
let still: number;
beforeAll(async () => {
  const core = await startCore();
  const random = new Random(SEED);
  // The first two together have pairs that are interrupted halfway.
  data = [icosphere(1.2, 5), icosphere(1, 4), icosphere(1, 1), soup(random, 40, 0.4, 1)];
  still = data.length;
  const ball = icosphere(1.1, 5);
  data.push(
    randomRig(random, { bones: 3, targets: 1, triangles: ball }).data,
    randomRig(random, { bones: 3, targets: 1 }).data,
  );
  meshes = data.map((each) => bake(core, each));
});

/** A change that is made to both worlds. */
type Change = (world: World) => void;

class World {
  readonly core: Core;
  readonly meshes: MeshTable;
  readonly #views = new ViewTable();
  /** Names of views that were removed since the frame began. */
  removed: string[] = [];
  readonly #poses = new PoseTable();
  #builder = new FrameBuilder(this.#poses);
  #frame = 0;

  constructor(core: Core) {
    this.core = core;
    this.meshes = new MeshTable(core);
    for (const [i, mesh] of meshes.entries()) this.meshes.load(i, mesh);
  }

  put(id: number, description: PlacedDescription, mesh: number): void {
    this.core.setObject(id, { ...description, mesh: mesh < 0 ? 0 : this.meshes.addressOf(mesh) });
  }

  move(id: number, matrix: Matrix4): void {
    this.#builder.setSingle(id, matrix.elements);
  }

  /** Moves the bones of an object; does nothing if its mesh has none. */
  pose(id: number, bones: Float32Array, weight: number): void {
    this.#poses.set(id, { bones, binds: BINDS, morphs: [weight] });
  }

  setView(name: string, options: Parameters<ViewTable['set']>[2]): void {
    this.#views.set('setView', name, options);
  }

  removeView(name: string): void {
    const slot = this.#views.delete('removeView', name);
    this.#builder.dropView(slot);
    this.core.removeView(slot);
    this.removed.push(name);
  }

  /** Sends the core all moved transforms at once; the next frame sends them again. */
  placeAhead(): void {
    this.#builder.addPoses();
    this.core.placeAhead(this.#builder.copy(this.#frame + 1, 1));
  }

  begin(budget: number): void {
    this.#views.stage(this.#builder);
    this.#builder.addPoses();
    this.core.beginFrame(this.#builder.seal(++this.#frame, 1, budget));
    this.#builder = new FrameBuilder(this.#poses);
    this.removed = [];
  }

  step(sliceMs: number): FrameView | null {
    const out = this.core.stepFrame(sliceMs, undefined);
    return out && new FrameView(out, this.#views.names);
  }

  /** The hits of rays in all directions. */
  look(random: Random): unknown[] {
    return Array.from({ length: 20 }, () => {
      const origin = random.point(6).toArray();
      return runToEnd(this.core.rays.raycastAll({ origin, direction: random.direction().toArray() }, FILTER));
    });
  }
}

function everything({ contacts, views, rejected }: FrameView) {
  const { count, a, b, begun, contained, stale, waiting, endedA, endedB, start, triangleStart, ...rest } = contacts;
  return {
    ...{ count, a, b, begun, contained, stale, waiting, endedA, endedB, start, triangleStart, rejected },
    ...{ points: rest.points, normals: rest.normals, depths: rest.depths, time: rest.time },
    ...{ groupA: rest.groupA, groupB: rest.groupB, endedGroupA: rest.endedGroupA, endedGroupB: rest.endedGroupB },
    ...{ triangles: rest.triangles, segments: rest.segments },
    views: [...views].map(([name, { ids, inside, entered, left }]) => ({ name, ids, inside, entered, left })),
  };
}

/** The properties of a world. */
interface Scene {
  /** The maximum number of objects. */
  slots: number;
  /** How far they are from the centre. */
  spread: number;
  /** The share of meshes; and of objects that reach beyond their shape, by a clearance or a swept path. */
  meshShare: number;
  reaching?: number;
  /** The maximum number of changes before a frame; at once during it; and how often during it. */
  changes: number;
  late: number;
  times: number;
  details: number[];
}

/** Makes changes of all kinds, and keeps track of the objects and views. */
class Changes {
  readonly #random: Random;
  readonly #scene: Scene;
  readonly #generations: Uint32Array;
  readonly #alive: number[] = [];
  readonly #views: string[] = [];

  constructor(random: Random, scene: Scene) {
    this.#random = random;
    this.#scene = scene;
    this.#generations = new Uint32Array(scene.slots);
  }

  add(): Change {
    const slot = this.#random.integer(this.#scene.slots);
    const old = this.#alive.find((id) => id >>> layout.GENERATION_BITS === slot);
    const id = makeId(slot, ++this.#generations[slot]);
    if (old !== undefined) this.#alive.splice(this.#alive.indexOf(old), 1);
    this.#alive.push(id);
    const [description, mesh] = this.#description(this.#place());
    return (world) => {
      if (old !== undefined) world.core.removeObject(old);
      world.put(id, description, mesh);
    };
  }

  next(): Change {
    const random = this.#random;
    const what = random.next();
    if (this.#alive.length < this.#scene.slots / 3 || what < 0.15) return this.add();
    const id = random.pick(this.#alive);
    if (what < 0.25) {
      this.#alive.splice(this.#alive.indexOf(id), 1);
      return (world) => world.core.removeObject(id);
    }
    if (what < 0.35) {
      const [description, mesh] = this.#description(random.chance(0.5) ? this.#place() : undefined);
      return (world) => world.put(id, description, mesh);
    }
    if (what < 0.4) return (world) => world.move(id, new Matrix4().makeScale(0, 1, 1)); // which is refused
    if (what < 0.45) return this.#changeView();
    if (what < 0.6) return this.#changeMesh();
    if (what < 0.75) return this.#changePose(id);
    const matrix = this.#place();
    return (world) => world.move(id, matrix);
  }

  /** Moves the vertices of a mesh, sometimes with no effect, or replaces its tree. */
  #changeMesh(): Change {
    const random = this.#random;
    const mesh = random.integer(still);
    const isVain = random.chance(0.1);
    const low = random.range(0.8, 1);
    const { positions } = data[mesh];
    const moved = positions.map((x) => (isVain ? 0 : x * random.range(low, 1.1)));
    if (isVain || random.chance(0.7)) {
      return (world) => {
        if (isVain) expect(() => world.meshes.update(mesh, moved)).toThrow('area');
        else expect(world.meshes.update(mesh, moved).isInEffect).toBe(true);
      };
    }
    return (world) =>
      runToEnd(
        world.meshes.replaceInSlices(
          mesh,
          bake(world.core, { ...data[mesh], positions: moved }),
          Number.POSITIVE_INFINITY,
          () => true,
        ),
      );
  }

  #changePose(id: number): Change {
    const random = this.#random;
    const bones = new Float32Array(3 * 16);
    for (let bone = 0; bone < 3; bone++) {
      const rotation = new Quaternion().slerp(random.rotation(), 0.2);
      new Matrix4().compose(random.point(0.2), rotation, new Vector3(1, 1, 1)).toArray(bones, 16 * bone);
    }
    const weight = random.next();
    return (world) => world.pose(id, bones, weight);
  }

  #changeView(): Change {
    const random = this.#random;
    if (this.#views.length > 3 && random.chance(0.5)) {
      const [name] = this.#views.splice(random.integer(this.#views.length), 1);
      return (world) => world.removeView(name);
    }
    const name = `view ${random.integer(6)}`;
    if (!this.#views.includes(name)) this.#views.push(name);
    const [, make] = random.pick(CAMERA_KINDS);
    const view = viewOf(aimCamera(make(random), random, new Vector3()), DEPTHS[0][1]);
    return (world) => world.setView(name, view);
  }

  #place(): Matrix4 {
    return this.#random.placement(this.#random.point(this.#scene.spread), { low: 0.8, high: 1.3, mirrored: 0.2 });
  }

  #description(matrix: Matrix4 | undefined): [PlacedDescription, number] {
    const random = this.#random;
    const mesh = random.chance(this.#scene.meshShare) ? random.integer(meshes.length) : random.integer(3) - 3;
    const shapes = [layout.SHAPE_SPHERE, layout.SHAPE_BOX, layout.SHAPE_CAPSULE];
    const isReaching = random.chance(this.#scene.reaching ?? 0);
    const clearance = isReaching && random.chance(0.6) ? random.range(0, 0.4) : 0;
    const isContinuous = isReaching && (clearance === 0 || random.chance(0.3));
    const flags =
      6 |
      (random.chance(0.2) ? layout.FLAG_STATIC : 0) |
      (matrix ? layout.FLAG_MATRIX : 0) |
      (clearance > 0 ? layout.FLAG_CLEARANCE : 0) |
      (isContinuous ? layout.FLAG_CONTINUOUS : 0);
    return [
      {
        ...{ shape: mesh < 0 ? shapes[mesh + 3] : layout.SHAPE_MESH, mesh: 0, flags, layers: 1 + random.integer(3) },
        ...{ collidesWith: random.chance(0.8) ? -1 : 1, group: random.chance(0.7) ? 0 : 1 + random.integer(3) },
        ...{ contacts: random.pick(this.#scene.details), center: [0, -0.4, 0], extent: [0.6, 0.5, 0.7] },
        ...{ rotation: [0, 0, 0, 1], radius: 0.7, clearance, matrix: matrix?.elements },
      },
      mesh,
    ];
  }
}

/** How often the scene changed in the midst of a frame, and how often in that of its broad phase. */
interface Midst {
  count: number;
  ofBroadPhase: number;
}

async function goOn(seed: number, frames: number, scene: Scene, budgets: number[]): Promise<Midst> {
  const midst = { count: 0, ofBroadPhase: 0 };
  const random = new Random(seed);
  const changes = new Changes(random, scene);
  const [ahead, behind] = [new World(await startCore()), new World(await startCore())];
  const both = (change: Change) => [ahead, behind].forEach(change);
  for (let i = 0; i < scene.slots / 2; i++) both(changes.add());
  for (let frame = 0; frame < frames; frame++) {
    const count = random.integer(scene.changes);
    for (let i = 0; i < count; i++) both(changes.next());
    const budget = random.pick(budgets);
    for (const world of [ahead, behind]) world.begin(budget);
    const late: Change[] = [];
    let considered = Number.POSITIVE_INFINITY;
    let found = ahead.step(budget === NO_TIME ? Number.POSITIVE_INFINITY : 0);
    ahead.meshes.keep();
    while (found === null) {
      if (random.chance(0.3) && ahead.core.goAhead()) {
        midst.count++;
        considered = Math.min(considered, ahead.core.considered);
        const some = Array.from({ length: 1 + random.integer(scene.late) }, () => changes.next());
        const isTold = random.chance(0.5);
        late.push((world) => {
          for (const change of some) change(world);
          if (isTold) world.placeAhead();
        });
        // Another reader may begin.
        if (random.chance(0.3)) ahead.meshes.keep();
        late.at(-1)!(ahead);
      }
      ahead.core.rays.raycast({ origin: [9, 9, 9], direction: random.direction().toArray() }, FILTER);
      found = ahead.step(late.length < scene.times ? 0 : Number.POSITIVE_INFINITY);
    }
    if (ahead.core.considered > considered) midst.ofBroadPhase++;
    ahead.meshes.release();
    const expected = behind.step(Number.POSITIVE_INFINITY)!;
    // A removed view is not reported.
    const said = everything(expected);
    said.views = said.views.filter(({ name }) => !ahead.removed.includes(name));
    expect(everything(found), `frame ${frame}`).toEqual(said);
    for (const change of late) change(behind);
    for (const world of [ahead, behind]) world.placeAhead();
    const rays = random.integer(1 << 30);
    expect(ahead.look(new Random(rays)), `frame ${frame}`).toEqual(behind.look(new Random(rays)));
    expect([ahead.core.check(), behind.core.check()]).toEqual([null, null]);
    data.forEach((_, i) => {
      expect(ahead.core.bakeMesh(ahead.meshes.addressOf(i))).toEqual(behind.core.bakeMesh(behind.meshes.addressOf(i)));
    });
  }
  return midst;
}

describe.each([
  ['without a budget', [0]],
  ['with a budget that is used up now and then', [0, NO_TIME, ALL_TIME, ALL_TIME]],
])(
  `a frame in whose midst anything changes says what it says when all changes behind it, %s, seed ${SEED}`,
  (_, budgets) => {
    test('where contacts take long', async () => {
      const scene = {
        slots: 48,
        spread: 3,
        meshShare: 0.67,
        changes: 8,
        late: 1,
        times: Number.POSITIVE_INFINITY,
        details: [1, 2, 3, 3, 4, 5],
      };
      let count = 0;
      for (let run = 0; run < 12; run++) {
        const reaching = run % 2 === 0 ? 0 : 0.4;
        count += (await goOn(SEED + 1000 * run, 20, { ...scene, reaching }, budgets)).count;
      }
      expect(count).toBeGreaterThan(60);
    });

    // A few that change are searched for one by one; for many, all
    // pairs are found anew, those of a crowd by sweep and prune.
    test.each([
      ['few change', { slots: 400, spread: 3, changes: 90 }],
      ['many change', { slots: 400, spread: 3, changes: 400 }],
      ['many change in one place', { slots: 560, spread: 0.2, changes: 560 }],
    ])('where there are many pairs, of which %s', async (_, { slots, spread, changes }) => {
      const scene = { slots, spread, meshShare: 0.01, changes, late: 100, times: 2, details: [1, 1, 1, 1, 2, 3] };
      let ofBroadPhase = 0;
      // The duration of a broad phase decides whether the scene may change in its midst: on a fast machine it seldom may.
      for (let run = 0; run < 3 || (ofBroadPhase === 0 && run < 60); run++) {
        const seed = SEED + 1000 * run;
        ofBroadPhase += (await goOn(seed, 4, { ...scene, reaching: [0, 0.05, 0.3][run % 3] }, budgets)).ofBroadPhase;
      }
      expect(ofBroadPhase).toBeGreaterThan(0);
    });

    // Sorting, merging, comparing and writing are in slices of 4,096 or 8,192 pairs.
    test.each([
      ['few change', 6],
      ['all change', 600],
    ])('where pairs are so many that what is made of them takes slices, of which %s', async (_, changes) => {
      const scene = { slots: 500, spread: 0.05, meshShare: 0, changes, late: 4, times: 40, details: [1, 3, 3, 4] };
      const { count } = await goOn(SEED + changes, 4, { ...scene, reaching: 0.1 }, budgets);
      expect(count).toBeGreaterThan(20);
    });
  },
);

test('a frame in whose midst come, and go, many more objects than there were', async () => {
  const [ahead, behind] = [new World(await startCore()), new World(await startCore())];
  const worlds = [ahead, behind];
  const shape = { layers: 1, collidesWith: -1, group: 0, contacts: layout.CONTACTS_MANIFOLD, mesh: 0, clearance: 0 };
  const form = { center: [0, 0, 0], extent: [0.1, 0.1, 0.1], rotation: [0, 0, 0, 1], radius: 0.1 } as const;
  const at = (x: number, y: number) => ({
    flags: 6 | layout.FLAG_MATRIX,
    matrix: new Matrix4().setPosition(x, y, 0).elements,
  });
  const [, make] = CAMERA_KINDS[0];
  // A fixed seed: with some other seeds, the view sees none of the new objects.
  const view = viewOf(aimCamera(make(new Random(1)), new Random(1), new Vector3()), DEPTHS[0][1]);
  for (const world of worlds) {
    world.setView('view', view);
    for (let i = 0; i < 6; i++)
      world.put(makeId(i, 1), { ...shape, ...form, ...at(i / 4, 0), shape: layout.SHAPE_MESH }, i % 2);
  }
  const first = 6;
  const count = 4000;
  const ids = Array.from({ length: count }, (_, i) => makeId(first + i, 1));
  const changes: Change[] = [
    (world) => {
      const ball = { ...shape, ...form, shape: layout.SHAPE_SPHERE };
      for (const [i, id] of ids.entries())
        world.put(id, { ...ball, ...at((i % 63) - 31, Math.floor(i / 63) - 31) }, -1);
    },
    (world) => {
      for (let i = count - 1; i >= 0; i -= 3) world.core.removeObject(ids[i]);
    },
    () => {},
  ];
  const seen: number[] = [];
  for (const [frame, change] of changes.entries()) {
    for (const world of worlds) {
      for (let i = 0; i < 6; i++) world.move(makeId(i, 1), new Matrix4().setPosition(i / 4, frame / 9, 0));
      world.begin(0);
    }
    let found = ahead.step(0);
    while (found === null && !ahead.core.goAhead()) found = ahead.step(0);
    expect(found, 'a frame under way').toBeNull();
    change(ahead);
    found = ahead.step(Number.POSITIVE_INFINITY)!;
    const expected = behind.step(Number.POSITIVE_INFINITY)!;
    expect(everything(found)).toEqual(everything(expected));
    change(behind);
    expect([ahead.core.check(), behind.core.check()]).toEqual([null, null]);
    const [{ entered, left }] = [...found.views.values()];
    seen.push(entered.length, left.length);
  }
  expect(seen[2]).toBeGreaterThan(count / 10);
  expect(seen[5]).toBeGreaterThan(count / 40);
});

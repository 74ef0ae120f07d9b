// The stand-in for an object in the service: each call that it makes, to a service and a mesh pool that record them.
import { BufferGeometry, Mesh } from 'three';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Deformers } from '../../src/client/three/geometry/deformers.js';
import type { TriangleRun } from '../../src/client/three/geometry/geometry.js';
import type { BuiltMesh } from '../../src/client/three/geometry/shared-mesh.js';
import type { MaterialCut } from '../../src/client/three/track/material-cut.js';
import type { StandInPlan } from '../../src/client/three/track/material-plan.js';
import {
  MAX_BLOCK_SIZE,
  StandIn,
  type StandInOptions,
  type StandInOwner,
  type TrackerContext,
} from '../../src/client/three/track/stand-in.js';
import { CollisionError } from '../../src/shared/errors.js';
import type { Shape } from '../../src/shared/types.js';

const BOX = { type: 'box', halfExtents: [1, 1, 1] } as const;
const SPHERE = { type: 'sphere', radius: 1 } as const;
const RIGID: Deformers = { bones: 0, isMorphed: false };
const FRONT: StandInPlan = { groups: null, side: 'front', sides: null };
const CUT: MaterialCut = { planes: [], isIntersection: false, isExempt: false };
const OPTIONS: StandInOptions = { layers: 3 };

/** A mesh of the pool, whose properties a test sets. */
interface Shared {
  geometry: BufferGeometry;
  groups: readonly number[] | null;
  deformers: Deformers;
  built: BuiltMesh | null;
  error: CollisionError | null;
  isBuilding: boolean;
  isUnchanged: boolean;
}

const log: unknown[][] = [];
let uses: { mesh: Shared; asked: unknown[] }[] = [];
let closed = true;
let nextId = 1;
const held = new Map<unknown, number>();
const clips = {
  mixedCount: 0,
  hold(cut: MaterialCut | undefined): number {
    const number = cut === undefined ? 0 : 5;
    held.set(number, (held.get(number) ?? 0) + 1);
    return number;
  },
  release: (number: number) => held.set(number, held.get(number)! - 1),
};
const objects = {
  newestQuery: 0,
  oldestQuery: Number.POSITIVE_INFINITY,
  add: (_: unknown, ids: Uint32Array, first: number) => log.push(['added', Array.from(ids), first]),
  remove: (_: unknown, ids: Uint32Array, first: number) => log.push(['gone', Array.from(ids), first]),
};
const context = {
  service: {
    addInstances(options: object, count: number): Uint32Array {
      log.push(['addInstances', options, count]);
      return Uint32Array.from({ length: count }, () => nextId++);
    },
    removeObjects: (ids: Uint32Array) => log.push(['removeObjects', Array.from(ids)]),
    setObject: (id: number, options: object) => log.push(['setObject', id, options]),
    meshInfo: (id: number) => ({ id, closed, openEdges: 2, closingWeld: null }),
  },
  meshes: {
    acquire(geometry: BufferGeometry, groups: readonly number[] | null, ...asked: unknown[]) {
      const deformers = asked.at(-1) as Deformers;
      const mesh: Shared = {
        geometry,
        groups,
        deformers,
        built: null,
        error: null,
        isBuilding: true,
        isUnchanged: true,
      };
      const use = { mesh, asked };
      uses.push(use);
      return use;
    },
    release: (use: unknown) => log.push(['release', uses.indexOf(use as never)]),
  },
  ...{ objects, clips, moved: { forget: (ids: Uint32Array) => log.push(['forget', Array.from(ids)]) } },
} as unknown as TrackerContext;
const owner = { object: Object.assign(new Mesh(), { name: 'one' }), isInstanced: true } as unknown as StandInOwner;
const geometry = new BufferGeometry();

beforeEach(() => {
  log.length = 0;
  uses = [];
  closed = true;
  nextId = 1;
  held.clear();
  clips.mixedCount = 0;
  objects.newestQuery = 0;
  objects.oldestQuery = Number.POSITIVE_INFINITY;
});

const taken = () => log.splice(0);
const namesOf = (calls: readonly unknown[][]) => calls.map(([name]) => name);

/** Builds what was requested: the mesh of that use. */
function build(use: number, id = 10 + use, runs: TriangleRun[] = []): BuiltMesh {
  const { mesh } = uses[use];
  const built = {
    id,
    geometry: mesh.geometry,
    index: null,
    runs,
    primitive: 'triangles',
    bones: 0,
    morphs: 0,
  } as const;
  Object.assign(mesh, { built, isBuilding: false });
  return built;
}

function standing(count: number, shape: Shape | null = BOX, plan = FRONT, options = OPTIONS): StandIn {
  const standIn = new StandIn(context, owner, plan);
  standIn.retarget(plan, geometry, shape, 0, RIGID);
  standIn.advance();
  standIn.reconcile(count, options, false);
  return standIn;
}

describe('a shape that is given', () => {
  test('gets so many ids, with the options, the side and the clip set', () => {
    const standIn = standing(3);
    const described = { layers: 3, side: 'front', faceSides: null, clipSet: 0, shape: BOX };
    expect(taken()).toEqual([
      ['addInstances', described, 3],
      ['added', [1, 2, 3], 0],
    ]);
    expect(Array.from(standIn.ids)).toEqual([1, 2, 3]);
    expect([standIn.count, standIn.idAt(2)]).toEqual([3, 3]);
    expect([standIn.pending, standIn.isReady, standIn.error, standIn.standing]).toEqual([false, true, null, null]);
    standIn.reconcile(3, OPTIONS, false);
    expect(taken()).toEqual([]);
    standIn.reconcile(5, { ...OPTIONS, side: 'back' }, false);
    expect(taken()).toEqual([
      ['addInstances', { ...described, side: 'back' }, 2],
      ['added', [4, 5], 3],
    ]);
    expect(Array.from(standIn.ids)).toEqual([1, 2, 3, 4, 5]);
    expect(standIn.blocks.length).toBe(1);
  });

  test('loses the last ones', () => {
    const standIn = standing(5);
    const { ids } = standIn;
    taken();
    standIn.reconcile(3, OPTIONS, false);
    const last = [4, 5];
    expect(taken()).toEqual([
      ['removeObjects', last],
      ['forget', last],
      ['gone', last, 3],
    ]);
    expect(Array.from(standIn.ids)).toEqual([1, 2, 3]);
    expect(Array.from(ids)).toEqual([1, 2, 3, 4, 5]); // nobody writes into the answer
    standIn.reconcile(0, OPTIONS, false);
    expect([standIn.count, standIn.blocks.length]).toEqual([0, 0]);
  });

  test('has blocks of a fixed size, and goes block by block', () => {
    const standIn = standing(MAX_BLOCK_SIZE + 5);
    expect(standIn.blocks.map(({ length }) => length)).toEqual([MAX_BLOCK_SIZE, 5]);
    const asked = taken().filter(([name]) => name === 'addInstances');
    expect(asked.map(([, , count]) => count)).toEqual([MAX_BLOCK_SIZE, 5]);
    expect(standIn.idAt(MAX_BLOCK_SIZE + 4)).toBe(MAX_BLOCK_SIZE + 5);
    expect(standIn.ids).toEqual(Uint32Array.from({ length: MAX_BLOCK_SIZE + 5 }, (_, i) => i + 1));
    standIn.reconcile(2 * MAX_BLOCK_SIZE + 1, OPTIONS, false);
    expect(standIn.blocks.map(({ length }) => length)).toEqual([MAX_BLOCK_SIZE, MAX_BLOCK_SIZE, 1]);
    expect(
      taken()
        .filter(([name]) => name === 'added')
        .map(([, ids, first]) => [(ids as []).length, first]),
    ).toEqual([
      [MAX_BLOCK_SIZE - 5, MAX_BLOCK_SIZE + 5],
      [1, 2 * MAX_BLOCK_SIZE],
    ]);
    expect(standIn.remove(MAX_BLOCK_SIZE)).toBe(false);
    expect(standIn.count).toBe(MAX_BLOCK_SIZE + 1);
    expect(
      taken()
        .filter(([name]) => name === 'gone')
        .map(([, ids, first]) => [(ids as []).length, first]),
    ).toEqual([
      [1, 2 * MAX_BLOCK_SIZE],
      [MAX_BLOCK_SIZE - 1, MAX_BLOCK_SIZE + 1],
    ]);
    expect(standIn.remove(MAX_BLOCK_SIZE)).toBe(false);
    expect(standIn.remove(MAX_BLOCK_SIZE)).toBe(true);
    expect(standIn.count).toBe(0);
    expect(standing(2).remove(2)).toBe(true);
  });

  test('is set where it is another', () => {
    const standIn = standing(2);
    taken();
    standIn.retarget(FRONT, geometry, SPHERE, 0, RIGID);
    standIn.advance();
    standIn.reconcile(2, OPTIONS, false);
    const sides = { pickable: true, cullable: true, occluder: false, side: 'front', faceSides: null, clipSet: 0 };
    expect(taken()).toEqual([
      ...[1, 2].map((id) => ['setObject', id, { shape: SPHERE }]),
      // Properties that depend on the shape are sent again.
      ...[1, 2].map((id) => ['setObject', id, sides]),
    ]);
    expect(uses).toEqual([]);
  });
});

describe('options', () => {
  test('are told where they change', () => {
    const standIn = standing(1);
    taken();
    const told = { pickable: true, cullable: true, occluder: false, side: 'front', faceSides: null, clipSet: 0 };
    for (const [options, expected] of [
      [{ pickable: false }, { ...told, pickable: false }],
      [
        { pickable: false, cullable: false },
        { ...told, pickable: false, cullable: false },
      ],
      [
        { cullable: false, occluder: true },
        { ...told, cullable: false, occluder: true },
      ],
      [{}, told],
    ] as const) {
      standIn.reconcile(1, { ...OPTIONS, ...options }, false);
      expect(taken()).toEqual([['setObject', 1, expected]]);
      standIn.reconcile(1, { ...OPTIONS, ...options }, false);
      expect(taken()).toEqual([]);
    }
    // Those from a caller's function are sent once all has been forgotten.
    standIn.reconcile(1, { ...OPTIONS, group: 4 }, false);
    expect(taken()).toEqual([]);
    standIn.forgetOptions(false);
    const whole = {
      ...{
        motion: 'moving',
        collidesWith: 0xffffffff,
        group: 4,
        pickable: true,
        clearance: 0,
        continuous: false,
        boxes: [],
      },
      ...{ side: 'back', faceSides: null, clipSet: 0 },
    };
    standIn.reconcile(1, { ...OPTIONS, group: 4, side: 'back' }, false);
    expect(taken()).toEqual([['setObject', 1, whole]]);
    standIn.reconcile(1, { ...OPTIONS, group: 4 }, false);
    expect(taken()).toEqual([]);
  });

  test('of another plan are its side', () => {
    const standIn = standing(1);
    taken();
    standIn.retarget({ ...FRONT, side: 'double' }, geometry, BOX, 0, RIGID);
    standIn.reconcile(1, OPTIONS, false);
    expect(taken()).toEqual([]); // until it takes over
    standIn.advance();
    expect(standIn.plan.side).toBe('double');
    standIn.reconcile(1, OPTIONS, false);
    expect(taken()).toMatchObject([['setObject', 1, { side: 'double' }]]);
    const { plan } = standIn;
    standIn.retarget({ ...plan }, geometry, BOX, 0, RIGID);
    standIn.advance();
    expect(standIn.plan).toBe(plan);
  });
});

describe('a mesh', () => {
  test('is asked for once, stands when it is built, and is let go of', () => {
    const plan: StandInPlan = { ...FRONT, groups: [0, 2] };
    const standIn = new StandIn(context, owner, plan);
    standIn.retarget(plan, geometry, null, 0.5, RIGID);
    expect(uses[0]).toMatchObject({ mesh: { geometry, groups: [0, 2] }, asked: [0.5, owner, undefined, RIGID] });
    standIn.retarget({ ...plan }, geometry, null, 0.5, { ...RIGID });
    expect(uses.length).toBe(1);
    expect([standIn.pending, standIn.isReady]).toEqual([true, false]);
    standIn.advance();
    expect([standIn.pending, standIn.isReady]).toEqual([true, true]);
    standIn.reconcile(2, OPTIONS, false);
    expect([standIn.count, standIn.standsOn(geometry), taken()]).toEqual([0, false, []]);
    const built = build(0);
    expect(standIn.pending).toBe(true);
    standIn.reconcile(2, OPTIONS, false);
    expect(taken()[0]).toMatchObject([
      'addInstances',
      { shape: { type: 'mesh', mesh: 10, solid: false }, side: 'front' },
      2,
    ]);
    expect([standIn.pending, standIn.standing, standIn.standsOn(geometry)]).toEqual([false, built, true]);
    expect(standIn.standsOn(new BufferGeometry())).toBe(false);
    uses[0].mesh.isUnchanged = false;
    expect(standIn.standsOn(geometry)).toBe(false);
    uses[0].mesh.isBuilding = true;
    expect(standIn.pending).toBe(true);
    expect(standIn.remove(9)).toBe(true);
    expect(namesOf(taken())).toEqual(['removeObjects', 'forget', 'gone', 'release']);
  });

  test.each<[string, () => [StandInPlan, BufferGeometry, Shape | null, Deformers]]>([
    ['geometry', () => [FRONT, new BufferGeometry(), null, RIGID]],
    ['group', () => [{ ...FRONT, groups: [1] }, geometry, null, RIGID]],
    ['skeleton', () => [FRONT, geometry, null, { bones: 2, isMorphed: false }]],
  ])('of another %s takes over when it is built', (_, other) => {
    const standIn = standing(1, null);
    const before = build(0);
    standIn.reconcile(1, OPTIONS, false);
    taken();
    const [plan, of, shape, deformers] = other();
    standIn.retarget(plan, of, shape, 0, deformers);
    expect([uses.length, standIn.pending, standIn.isReady]).toEqual([2, true, false]);
    expect([standIn.standing, taken()]).toEqual([before, []]);
    const after = build(1);
    expect(standIn.isReady).toBe(true);
    standIn.advance();
    expect(taken()).toEqual([['release', 0]]);
    standIn.reconcile(1, OPTIONS, false);
    expect(taken()[0]).toEqual(['setObject', 1, { shape: { type: 'mesh', mesh: 11, solid: false } }]);
    expect(standIn.standing).toBe(after);
  });

  test('that is replaced before it took over is let go of, and so is one for a shape', () => {
    const standIn = standing(1, null);
    build(0);
    standIn.retarget(FRONT, new BufferGeometry(), null, 0, RIGID);
    standIn.retarget(FRONT, geometry, null, 0, RIGID);
    expect(uses.length).toBe(3);
    expect(taken()).toEqual([['release', 1]]);
    standIn.retarget(FRONT, geometry, BOX, 0, RIGID);
    expect([standIn.isReady, taken()]).toEqual([true, [['release', 2]]]);
    standIn.advance();
    expect(taken()).toEqual([['release', 0]]);
    standIn.reconcile(1, OPTIONS, false);
    standIn.retarget(FRONT, geometry, null, 0, RIGID);
    expect(standIn.remove(1)).toBe(true);
    expect(taken().at(-1)).toEqual(['release', 3]);
  });

  test('is asked for anew where its options are others, and of lines without a weld', () => {
    const standIn = standing(1, null);
    standIn.forgetOptions(false);
    standIn.retarget(FRONT, geometry, null, 2, RIGID);
    expect(uses.length).toBe(1);
    standIn.forgetOptions(true);
    standIn.forgetOptions(false);
    standIn.retarget({ ...FRONT, primitive: 'strip' }, geometry, null, 2, RIGID);
    expect(uses[1].asked).toEqual([0, owner, 'strip', RIGID]);
    standIn.retarget(FRONT, geometry, null, 2, RIGID);
    expect(uses.length).toBe(2);
  });

  test('that cannot be built, or is open and shall be solid, does not stand', () => {
    const standIn = standing(1, null);
    uses[0].mesh.error = new CollisionError('BAD_DATA', 'no');
    uses[0].mesh.isBuilding = false;
    expect([standIn.error, standIn.pending]).toEqual([uses[0].mesh.error, false]);
    uses[0].mesh.error = null;
    build(0);
    closed = false;
    standIn.reconcile(1, OPTIONS, true);
    expect(standIn.error).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(standIn.error!.message).toMatch(
      /^trackScene: the triangles of Mesh 'one' are open, expected closed ones as it shall be solid: 2 edges/,
    );
    expect([standIn.count, standIn.pending, standIn.standing]).toEqual([0, false, null]);
    standIn.reconcile(1, OPTIONS, false);
    expect([standIn.error, standIn.count]).toEqual([null, 1]);
    standIn.reconcile(1, OPTIONS, true);
    expect(standIn.count).toBe(0);
    closed = true;
    taken();
    standIn.reconcile(1, OPTIONS, true);
    expect(taken()[0]).toMatchObject(['addInstances', { shape: { solid: true } }, 1]);
  });

  test('is told of by queries as they saw it', () => {
    const standIn = standing(1, null);
    objects.newestQuery = 3;
    const first = build(0);
    standIn.reconcile(1, OPTIONS, false);
    expect(standIn.seenBy(1)).toBe(first); // it had no id before
    const change = (query: number, oldest: number): BuiltMesh => {
      objects.newestQuery = query;
      objects.oldestQuery = oldest;
      const built = build(0, 20 + query);
      standIn.reconcile(1, OPTIONS, false);
      return built;
    };
    const second = change(5, 2);
    expect([2, 5, 6].map((query) => standIn.seenBy(query))).toEqual([first, first, second]);
    const third = change(7, 5);
    expect([5, 6, 7, 8].map((query) => standIn.seenBy(query))).toEqual([first, second, second, third]);
    const fourth = change(9, 6);
    // No pending query needs the states up to query 5 any more.
    expect([5, 7, 8, 9, 10].map((query) => standIn.seenBy(query))).toEqual([second, second, third, third, fourth]);
  });

  test('of several materials has sides by faces, unless the caller gives one', () => {
    const plan: StandInPlan = { groups: [0, 1], side: 'double', sides: ['front', 'back'] };
    const standIn = standing(1, null, plan);
    build(0, 10, [
      { start: 0, end: 6, materialIndex: 0 },
      { start: 6, end: 9, materialIndex: 1 },
    ]);
    standIn.reconcile(1, OPTIONS, false);
    const faceSides = [
      { start: 0, count: 2, side: 'front' },
      { start: 2, count: 1, side: 'back' },
    ];
    expect(taken()[0]).toMatchObject(['addInstances', { side: 'double', faceSides }, 1]);
    standIn.forgetOptions(false);
    standIn.reconcile(1, { ...OPTIONS, side: 'front' }, false);
    expect(taken()).toMatchObject([['setObject', 1, { side: 'front', faceSides: null }]]);
  });
});

describe('clip sets', () => {
  test('are held while it has the plan, and let go of with it', () => {
    const plan: StandInPlan = { ...FRONT, cut: CUT };
    const standIn = standing(1, BOX, plan);
    expect(taken()[0]).toMatchObject(['addInstances', { clipSet: 5 }, 1]);
    expect([held.get(5), clips.mixedCount, standIn.materialClipSets]).toEqual([1, 0, null]);
    standIn.reconcile(1, OPTIONS, false);
    expect(held.get(5)).toBe(1);
    const mixed: StandInPlan = { ...FRONT, cuts: [CUT, undefined] };
    standIn.retarget(mixed, geometry, BOX, 0, RIGID);
    standIn.advance();
    standIn.reconcile(1, OPTIONS, false);
    expect(taken()).toMatchObject([['setObject', 1, { clipSet: 0 }]]);
    expect([held.get(5), held.get(0), clips.mixedCount, standIn.materialClipSets]).toEqual([1, 2, 1, [5, 0]]);
    expect(standIn.remove(1)).toBe(true);
    expect([held.get(5), held.get(0), clips.mixedCount]).toEqual([0, 0, 0]);
    expect(standIn.materialClipSets).toEqual([5, 0]); // for the answers that are on their way
    standIn.remove(1);
    expect(held.get(0)).toBe(0);
  });
});

// Frames whose pairs are examined in slices, with queries between them, have the same results as in one piece.

import { Matrix4 } from 'three';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import { makeId } from '../../../../src/shared/ids.js';
import * as layout from '../../../../src/shared/layout.js';
import type { ContactSet } from '../../../../src/shared/types.js';
import type { Core, MeshAddress, PlacedDescription } from '../../../../src/worker/binding/core.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { bake, startCore } from '../../../fixtures/core.js';
import { dragon } from '../../../oracle/dragon.js';
import { Random, SEED } from '../../../oracle/random.js';

const OBJECT: PlacedDescription = {
  ...{ shape: layout.SHAPE_MESH, mesh: 0, flags: 6, layers: 1, collidesWith: -1, group: 0 },
  ...{ contacts: layout.CONTACTS_MANIFOLD, center: [0, 0, 0], extent: [0, 0, 0], rotation: [0, 0, 0, 1] },
  ...{ radius: 0, matrix: undefined },
};
const FILTER = { layers: 0xffffffff, side: 3, precision: layout.PRECISION_MESH, ignore: new Uint32Array() };

const everything = ({ count, a, b, begun, contained, stale, waiting, endedA, start, ...rest }: ContactSet) => ({
  ...{ count, a, b, begun, contained, stale, waiting, endedA, start },
  ...{ points: rest.points, normals: rest.normals, depths: rest.depths },
  ...{ triangles: rest.triangles, segments: rest.segments },
});

let mesh: ArrayBuffer;
let vertices: Float32Array;
const low = [0, 0, 0];
const size = [0, 0, 0];
beforeAll(async () => {
  const triangles = dragon(47794);
  vertices = triangles.positions;
  mesh = bake(await startCore(), triangles);
  for (let axis = 0; axis < 3; axis++) {
    const along = vertices.filter((_, i) => i % 3 === axis);
    low[axis] = along.reduce((least, x) => Math.min(least, x));
    size[axis] = along.reduce((most, x) => Math.max(most, x)) - low[axis];
  }
});

/** A multiple of its size from the dragon's centre. */
const at = (x: number, y: number, z: number) =>
  new Matrix4().makeTranslation(...([x, y, z].map((f, i) => low[i] + (0.5 + f) * size[i]) as [number, number, number]));

class World {
  readonly core: Core;
  readonly address: MeshAddress;
  readonly #builder = new FrameBuilder();
  #frame = 0;

  constructor(core: Core) {
    this.core = core;
    this.address = core.loadMesh(mesh);
  }

  put(slot: number, description: Partial<PlacedDescription>, matrix: Matrix4): number {
    const id = makeId(slot, 1);
    const { elements } = matrix;
    this.core.setObject(id, { ...OBJECT, ...description, flags: OBJECT.flags | layout.FLAG_MATRIX, matrix: elements });
    return id;
  }

  move(id: number, matrix: Matrix4): void {
    this.#builder.setSingle(id, matrix.elements);
  }

  run(budget: number, between?: () => void): ContactSet {
    return this.frame(budget, between).contacts;
  }

  /** `between` is called between slices, which are as short as possible. */
  frame(budget: number, between?: () => void): FrameView {
    const input = this.#builder.seal(++this.#frame, 1, budget);
    let out: ArrayBuffer | null;
    if (between) {
      this.core.beginFrame(input);
      for (out = null; !out; ) {
        out = this.core.stepFrame(0, undefined);
        between();
      }
    } else {
      out = this.core.frame(input, undefined);
    }
    this.#builder.restart(input);
    return new FrameView(out, []);
  }
}

type Shape = (world: World) => Partial<PlacedDescription>;
const box: Shape = () => ({ shape: layout.SHAPE_BOX, extent: size.map((x) => 0.35 * x) });
const sphere: Shape = () => ({ shape: layout.SHAPE_SPHERE, radius: 0.35 * size[1] });
const capsule: Shape = () => ({
  ...{ shape: layout.SHAPE_CAPSULE, radius: 0.3 * size[1] },
  ...{ center: [0, -0.3 * size[1], 0], extent: [0, 0.3 * size[1], 0] },
});
const other: Shape = (world) => ({ mesh: world.address });

describe(`seed ${SEED}`, () => {
  test.each<[string, Shape, (random: Random) => Matrix4]>([
    ['a box', box, (random) => at(0.1, 0, 0).multiply(random.placement(random.point(0.01), { low: 1, high: 1 }))],
    ['a sphere', sphere, (random) => at(random.range(0, 0.1), 0, 0)],
    [
      'a capsule',
      capsule,
      (random) => at(0.1, 0, 0).multiply(random.placement(random.point(0.01), { low: 1, high: 1 })),
    ],
    ['another dragon', other, (random) => new Matrix4().makeRotationAxis(random.direction(), 0.05)],
  ])('a dragon and %s, with queries of all kinds between slices', async (_, shape, placement) => {
    const random = new Random(SEED);
    const [sliced, whole] = [new World(await startCore()), new World(await startCore())];
    const ids = [0, 1].map((slot) => makeId(slot, 1));
    for (const world of [sliced, whole]) {
      world.put(0, { mesh: world.address, contacts: layout.CONTACTS_MANIFOLD }, new Matrix4());
      world.put(1, shape(world), new Matrix4().makeTranslation(100, 0, 0));
      world.run(0);
    }
    for (let frame = 0; frame < 3; frame++) {
      const matrix = placement(random);
      for (const world of [sliced, whole]) world.move(ids[1], matrix);
      let slices = 0;
      const { pairs, rays, volumes } = sliced.core;
      const found = sliced.run(0, () => {
        slices++;
        const origin = [0, 1, 2].map((axis) => low[axis] + random.range(0, 1) * size[axis]) as [number, number, number];
        rays.raycast({ origin, direction: random.direction().toArray() }, FILTER);
        runToEnd(volumes.closestPoint(origin, Number.POSITIVE_INFINITY, FILTER));
        runToEnd(volumes.overlap({ ...OBJECT, ...sphere(sliced), radius: 0.05, matrix: at(0, 0, 0).elements }, FILTER));
        // The frame then restarts its own pair.
        if (slices === 8) pairs.contact(ids[0], ids[1], layout.CONTACTS_MANIFOLD);
      });
      expect(slices).toBeGreaterThan(4);
      const expected = whole.run(0);
      expect(expected.count).toBe(1);
      expect(everything(found)).toEqual(everything(expected));
    }
  });

  test('with a budget a pair goes on in later frames, though it moves in every one', async () => {
    const random = new Random(SEED);
    const world = new World(await startCore());
    const dragonId = world.put(0, { mesh: world.address }, new Matrix4());
    const boxId = world.put(1, box(world), new Matrix4().makeTranslation(100, 0, 0));
    world.run(0);
    const tiny = 1e-9;
    let fresh = 0;
    let waited = 0;
    let begun = 0;
    const { usedBytes } = world.core;
    for (let frame = 0; frame < 400 && fresh < 3; frame++) {
      world.move(boxId, at(random.range(0, 0.1), 0, 0));
      const contacts = world.run(tiny);
      expect([...contacts].map(({ a, b }) => [a, b])).toEqual(contacts.count ? [[dragonId, boxId]] : []);
      if (contacts.count === 0) {
        waited++;
        expect(contacts.waiting).toBe(1);
      } else {
        begun += contacts.begun[0];
        expect([...contacts.stale]).toEqual([1]);
        expect(contacts.waiting).toBe(0);
        expect(contacts.depths.length).toBeGreaterThan(0);
        if (frame > waited) fresh++;
      }
    }
    expect(waited).toBeGreaterThan(4);
    expect(begun).toBe(1);
    expect(world.core.usedBytes).toBeLessThan(usedBytes + 2 ** 24);
    // Once it stands still, the answer becomes that of a frame without a budget.
    const place = at(0.05, 0, 0);
    world.move(boxId, place);
    let contacts = world.run(tiny);
    for (let frame = 0; frame < 400 && contacts.stale[0] === 1; frame++) contacts = world.run(tiny);
    expect([...contacts.stale]).toEqual([0]);
    const whole = new World(await startCore());
    whole.put(0, { mesh: whole.address }, new Matrix4());
    whole.put(1, box(whole), place);
    const expected = whole.run(0);
    expect({ ...everything(contacts), begun: 0 }).toEqual({ ...everything(expected), begun: 0 });
  });

  test('a mesh that changes while a pair of it is left takes that pair from the beginning, and to its end', async () => {
    const world = new World(await startCore());
    world.put(0, { mesh: world.address }, new Matrix4());
    const boxId = world.put(1, box(world), at(0.1, 0, 0));
    let count = world.run(1e-9).count;
    expect(count).toBe(0);
    for (let frame = 0; frame < 3; frame++) {
      world.core.refitMesh(
        world.address,
        vertices.map((x) => x * Math.fround(1 + 1e-3 * frame)),
      );
      world.move(boxId, at(0.1 + 0.001 * frame, 0, 0));
      ({ count } = world.run(1e-9));
      if (count) break;
    }
    expect(count).toBe(1);
    expect(world.core.check()).toBeNull();
  });
});

test.each([
  ['in one go', undefined],
  ['in slices', () => {}],
])('an answer of thousands of pairs, written %s, has nothing of the one before', async (_, between) => {
  const world = new World(await startCore());
  const COUNT = 9000;
  const side = 0.1;
  // In rows of three, each overlapping the next one.
  const placeOf = (slot: number) => new Matrix4().setPosition(0.15 * (slot % 3), Math.floor(slot / 3), 0);
  const crate = { shape: layout.SHAPE_BOX, extent: [side, side, side] };
  const ids = Array.from({ length: COUNT }, (_, slot) => world.put(slot, crate, placeOf(slot)));
  for (const rows of [COUNT / 3, COUNT / 3 - 40, COUNT / 3 - 1000]) {
    for (let slot = 3 * rows; slot < COUNT; slot += 3) world.move(ids[slot]!, new Matrix4().setPosition(-9, slot, 0));
    const contacts = world.run(0, between);
    const expected = Array.from({ length: COUNT / 3 }, (_, row) => 3 * row).flatMap((slot) => [
      ...(slot < 3 * rows ? [[ids[slot], ids[slot + 1]]] : []),
      [ids[slot + 1], ids[slot + 2]],
    ]);
    expect(contacts.count).toBe(expected.length);
    expect(contacts.a).toEqual(Uint32Array.from(expected, ([a]) => a!));
    expect(contacts.b).toEqual(Uint32Array.from(expected, ([, b]) => b!));
    expect(contacts.triangleStart).toEqual(new Uint32Array(expected.length + 1));
    expect(contacts.boneStart).toEqual(new Uint32Array(expected.length + 1));
    expect([contacts.triangles.length, contacts.segments.length]).toEqual([0, 0]);
    const points = Array.from(expected, (_, i) => contacts.start[i + 1]! - contacts.start[i]!);
    expect(Math.min(...points)).toBe(4);
    expect(Math.max(...points)).toBe(4);
    expect([contacts.points.length, contacts.normals.length, contacts.depths.length]).toEqual(
      [12, 12, 4].map((each) => each * expected.length),
    );
    for (const depth of contacts.depths) if (Math.abs(depth - 0.05) > 1e-6) expect(depth).toBeCloseTo(0.05, 6);
  }
});

test('no part of a frame takes longer than the call, or the calls, of the frame', async () => {
  const random = new Random(SEED);
  const world = new World(await startCore());
  for (let slot = 0; slot < 50; slot++) world.put(slot, box(world), new Matrix4().setPosition(random.point(2)));
  for (const between of [undefined, () => {}]) {
    const start = performance.now();
    const { ms } = world.frame(0, between);
    const waited = performance.now() - start;
    for (const [part, took] of Object.entries(ms)) {
      expect(took, part).toBeGreaterThanOrEqual(0);
      expect(took, part).toBeLessThanOrEqual(waited);
    }
    expect(ms.update + ms.cull + ms.broadPhase + ms.narrowPhase).toBeLessThanOrEqual(waited);
    expect(ms.contacts).toBe(ms.broadPhase + ms.narrowPhase);
  }
});

describe('by a clock that moves by 1 ms at each look', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    ['in one slice', false],
    ['in slices', true],
  ])('the parts of a frame %s add up to all of its time', async (_, isSliced) => {
    const random = new Random(SEED);
    const world = new World(await startCore());
    for (let slot = 0; slot < 300; slot++) {
      world.put(slot, slot < 2 ? { mesh: world.address } : box(world), new Matrix4().setPosition(random.point(2)));
    }
    let looks = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => ++looks);
    let slices = 0;
    const { ms } = world.frame(0, isSliced ? () => void slices++ : undefined);
    // Before the broad phase the core checks the clock twice while it clears its lists. Between two slices the caller checks
    // once, and the core once when it continues.
    const aside = 1 + (isSliced ? 2 * (slices - 1) : 0);
    expect(ms.update + ms.cull + ms.broadPhase + ms.narrowPhase + ms.answer).toBe(ms.total);
    expect(ms.total).toBe(looks - 1 - aside);
    for (const part of ['update', 'broadPhase', 'narrowPhase', 'answer'] as const) {
      expect(ms[part], part).toBeGreaterThan(0);
    }
  });
});

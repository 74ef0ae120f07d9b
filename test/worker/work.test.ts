// How much work queries are, given the quality of trees and bounds: the number of slices if each ends as soon as it may. Results
// do not show whether distant geometry was skipped. These numbers are those of the time when this was written; less is better.
import { Matrix4, Vector3 } from 'three';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { FrameBuilder } from '../../src/client/frame/frame-builder.js';
import { checkMotion } from '../../src/client/query/sweep-options.js';
import { makeId } from '../../src/shared/ids.js';
import * as layout from '../../src/shared/layout.js';
import type { MeshData } from '../../src/shared/types.js';
import type { PlacedDescription } from '../../src/worker/binding/core.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene } from '../fixtures/near-scene.js';
import { dragon } from '../oracle/dragon.js';
import { icosphere, rods, soup, type Triangles, transformed } from '../oracle/meshes.js';
import { Random } from '../oracle/random.js';
import { type AnyShape, randomSolid } from '../oracle/shapes.js';

const CASES = 40;
const OBJECTS = 20_000;

let scene: NearScene;
let meshes: AnyShape[];
let count = 0;

/** Centred, with an extent of 2. */
function unit(mesh: Triangles): Triangles {
  const ends = [0, 1, 2].map((axis) => {
    const along = mesh.positions.filter((_, i) => i % 3 === axis);
    return [along.reduce((a, b) => Math.min(a, b)), along.reduce((a, b) => Math.max(a, b))] as const;
  });
  const size = Math.max(...ends.map(([low, high]) => high - low)) / 2;
  const middle = new Vector3(...ends.map(([low, high]) => (low + high) / 2));
  return transformed(mesh, (v) => v.sub(middle).divideScalar(size));
}

beforeAll(async () => {
  const random = new Random(1);
  scene = await NearScene.at(new Vector3());
  meshes = [unit(dragon(11102)), icosphere(1, 30), soup(random, 6000, 0.1, 1), rods(random, 500, 1)].map((each) =>
    scene.mesh(each),
  );
});

/** Adds an object that no oracle needs to know; returns its id. */
function add(to: NearScene, shape: AnyShape, matrix: Matrix4, options: Partial<PlacedDescription> = {}): number {
  const id = makeId(count++, 1);
  to.core.addObjects(Uint32Array.of(id), { ...to.describe(shape, matrix), ...options });
  return id;
}

/** Counts slices with a clock on which every check is late. */
function slicesOf<T>(begin: () => T | undefined, resume: () => T | undefined): number {
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => 0);
  try {
    let slices = 1;
    for (let answer = begin(); answer === undefined; answer = resume()) slices++;
    return slices;
  } finally {
    clock.mockRestore();
  }
}

/** Sums slices over pairs of a mesh and another thing at this distance. */
function overPairs(far: number, other: (random: Random) => AnyShape, ask: (a: number, b: number) => number): number[] {
  return meshes.map((mesh) => {
    const random = new Random(1);
    let sum = 0;
    for (let i = 0; i < CASES; i++) {
      const form = i % 2 === 0 ? { low: 1, high: 1 } : ANY_TRANSFORM;
      const things = [
        add(scene, mesh, random.placement(new Vector3(), form)),
        add(scene, other(random), random.placement(random.direction().multiplyScalar(far), form)),
      ] as const;
      sum += ask(...things);
      for (const id of things) scene.core.removeObject(id);
    }
    return sum;
  });
}

const anyMesh = (random: Random) => random.pick(meshes);
const solid = (random: Random) => ({ shape: randomSolid(random) });

describe('slices of', () => {
  test.each<[string, (random: Random) => AnyShape, detail: number, number[]]>([
    ['triangles of two meshes', anyMesh, layout.CONTACTS_TRIANGLES, [755, 766, 1459, 1020]],
    ['manifolds of two meshes', anyMesh, layout.CONTACTS_MANIFOLD, [484, 392, 1286, 721]],
    ['manifolds of a mesh and a solid', solid, layout.CONTACTS_MANIFOLD, [371, 45, 47320, 5299]],
  ])('%s', (_, other, detail, expected) => {
    const { pairs } = scene.core;
    const counts = overPairs(0.7, other, (a, b) =>
      slicesOf(
        () => pairs.beginContact(a, b, detail, 0),
        () => pairs.resumeContact(a, b, 0),
      ),
    );
    expect(counts).toEqual(expected);
  });

  test.each<[string, (random: Random) => AnyShape, far: number, number[]]>([
    ['distances of two meshes', anyMesh, 5, [457, 588, 150, 223]],
    ['distances of two meshes nearby', anyMesh, 2.2, [876, 631, 369, 151]],
    ['distances of a mesh and a solid', solid, 4, [139, 164, 58, 64]],
  ])('%s', (_, other, far, expected) => {
    const { pairs } = scene.core;
    const counts = overPairs(far, other, (a, b) =>
      slicesOf(
        () => pairs.beginDistance(a, b, Number.POSITIVE_INFINITY, 0),
        () => pairs.resumeDistance(a, b, 0),
      ),
    );
    expect(counts).toEqual(expected);
  });

  test.each<[string, (random: Random) => AnyShape, turns: boolean, cases: number, number[]]>([
    ['ways of meshes', anyMesh, false, CASES, [63, 73, 57, 61]],
    ['ways of meshes that turn', anyMesh, true, 1, [106, 151, 90, 78]],
    ['ways of solids', solid, false, CASES, [104, 103, 52, 53]],
    ['ways of solids that turn', solid, true, 12, [137, 200, 59, 68]],
  ])('%s', (_, other, turns, cases, expected) => {
    const { sweeps } = scene.core;
    const counts = meshes.map((mesh) => {
      const random = new Random(1);
      const id = add(scene, mesh, random.placement(new Vector3(), ANY_TRANSFORM));
      let sum = 0;
      for (let i = 0; i < cases; i++) {
        const one = new Vector3(1, 1, 1);
        const from = new Matrix4().compose(random.direction().multiplyScalar(6), random.rotation(), one);
        const to = turns ? new Matrix4().compose(new Vector3(), random.rotation(), one) : from.clone();
        to.setPosition(random.point(1));
        const { matrix, motion } = checkMotion('test', from.elements, to.elements, undefined);
        const kept = sweeps.keepSweep(
          { ...scene.describe(other(random), from), matrix },
          motion,
          ALL_FILTER,
          i % 3 === 0,
        );
        sum += slicesOf(
          () => sweeps.beginKeptSweep(kept, 0),
          () => sweeps.resumeSweep(0),
        );
      }
      scene.core.removeObject(id);
      return sum;
    });
    expect(counts).toEqual(expected);
  });

  test.each<[string, (random: Random) => Vector3, size: (random: Random) => number, number[]]>([
    ['frames of many', (random) => random.point(37), () => 0.3, [6, 4, 6]],
    ['frames of many in a plane', (random) => random.point(128).setY(0), () => 0.3, [11, 6, 13]],
    ['frames of many of all sizes', (random) => random.point(90), (random) => random.logRange(0.05, 6), [26, 15, 32]],
    ['frames of crowds', (random) => random.point(random.pick([2, 4, 60])), () => 0.1, [50, 27, 63]],
  ])('%s', async (_, place, size, expected) => {
    const random = new Random(1);
    const world = await NearScene.at(new Vector3());
    const builder = new FrameBuilder();
    const things = Array.from({ length: OBJECTS }, () => {
      const ball = { shape: { type: 'sphere', radius: size(random) } } as const;
      return add(world, ball, new Matrix4().setPosition(place(random)), { contacts: layout.CONTACTS_BOUNDS });
    });
    const counts = [1, 2, 3].map((frame) => {
      for (const id of things)
        if (frame !== 2 || random.chance(0.1)) builder.setSingle(id, new Matrix4().setPosition(place(random)).elements);
      const input = builder.seal(frame, 1);
      world.core.beginFrame(input);
      const count = slicesOf(
        () => world.core.stepFrame(0, undefined) ?? undefined,
        () => world.core.stepFrame(0, undefined) ?? undefined,
      );
      builder.restart(input);
      return count;
    });
    expect(counts).toEqual(expected);
  });

  test.each<[string, (random: Random) => MeshData, number[]]>([
    ['a mesh', () => unit(dragon(11102)), [86, 80, 11, 4, 24, 24]],
    ['a mesh of many parts', (random) => soup(random, 6000, 0.1, 1), [138, 135, 8, 2, 16, 15]],
    ['a mesh of large triangles', (random) => rods(random, 800, 1), [85, 79, 11, 4, 24, 24]],
    ['points', (random) => ({ positions: soup(random, 4000, 1, 1).positions, topology: 'points' }), [7, 7, 4, 1, 6]],
    ['lines', (random) => ({ positions: soup(random, 4000, 1, 1).positions, topology: 'lines' }), [5, 5, 4, 1, 6]],
  ])('%s: built, built fast, baked, loaded, moved and derived', async (_, make, expected) => {
    const { core } = await NearScene.at(new Vector3());
    const { positions, indices, topology = 'triangles' } = make(new Random(1));
    const until = <T extends { step(ms: number): unknown }>(work: T, isDone: (answer: unknown) => boolean) => {
      const step = () => (isDone(work.step(0)) ? work : undefined);
      counts.push(slicesOf(step, step));
      return work;
    };
    const counts: number[] = [];
    const isWhole = (answer: unknown) => (answer as number) >= 1;
    const isFast = topology === 'triangles';
    const baked = until(core.beginBuild(positions, indices, 0, topology, {}), isWhole).finish();
    until(core.beginBuild(positions, indices, 0, topology, {}, isFast), isWhole).finish();
    const mesh = until(core.beginLoad(baked), Boolean).finish();
    until(core.beginBake(mesh), isWhole).finish();
    const moved = positions.map((x, i) => x * (1 + 0.1 * (i % 3)));
    const refit = until(core.beginRefit(mesh, moved, true), (answer) => answer !== undefined);
    core.freeMesh(mesh);
    const shape = { shape: { type: 'mesh', mesh: refit.finish() } } as AnyShape;
    if (isFast) {
      const world = new NearScene(core, new Vector3());
      const [a, b] = [new Matrix4(), new Matrix4().setPosition(0.1, 0, 0)].map((at) => add(world, shape, at));
      core.pairs.contact(a!, b!, layout.CONTACTS_MANIFOLD);
      until({ step: () => !core.derive(0) }, Boolean);
    }
    expect(counts).toEqual(expected);
  });
});

test.each<[string, (random: Random) => Matrix4, number]>([
  ['in a room', (random) => random.placement(random.point(6), ANY_TRANSFORM), 37662],
  ['in a row', (random) => random.placement(new Vector3(random.range(-60, 60), 0, 0), ANY_TRANSFORM), 20337],
  ['at one size', (random) => random.placement(random.point(5), { low: 1, high: 1 }), 37517],
])('pairs whose boxes overlap, of things %s, are no more than they were', async (_, place, expected) => {
  const random = new Random(1);
  const world = await NearScene.at(new Vector3());
  const builder = new FrameBuilder();
  const shapes = [icosphere(1, 4), soup(random, 50, 0.5, 1)].map((each) => world.mesh(each));
  const things = Array.from({ length: 400 }, () =>
    add(world, random.chance(0.3) ? random.pick(shapes) : solid(random), place(random), {
      contacts: layout.CONTACTS_ANY,
    }),
  );
  for (let frame = 1; frame <= 5; frame++) {
    for (const id of things) if (random.chance(0.5)) builder.setSingle(id, place(random).elements);
    const input = builder.seal(frame, 1);
    world.core.frame(input, undefined);
    builder.restart(input);
  }
  expect(world.core.considered).toBe(expected);
});

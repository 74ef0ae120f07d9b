// Sweeps against `overlap`, which knows nothing of motions, where the result is known or given by other queries; random
// ones are in sweep-random.test.ts.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { checkMotion } from '../../../../src/client/query/sweep-options.js';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, type NearObject } from '../../../fixtures/near-scene.js';
import { SHAPE_KINDS, SweepWorld, WORLDS } from '../../../fixtures/sweep-world.js';
import { boxMesh, icosphere, transformed } from '../../../oracle/meshes.js';
import { SEED } from '../../../oracle/random.js';
import type { AnyShape, SolidShape } from '../../../oracle/shapes.js';

describe('a sweep', () => {
  const at = (x: number, y: number, z: number) => new Matrix4().makeTranslation(x, y, z);
  const box = (x: number, y: number, z: number): AnyShape => ({ shape: { type: 'box', halfExtents: [x, y, z] } });
  const ball: AnyShape = { shape: { type: 'sphere', radius: 0.5 } };
  const floor = transformed(boxMesh(1, 1, 1), (vertex) => vertex.multiply(new Vector3(20, 2, 20)).setY(vertex.y - 1));

  test.each([
    ['a box', box(0.5, 0.5, 0.5), 0.5],
    ['a ball', ball, 0.5],
    ['a capsule', { shape: { type: 'capsule', radius: 0.5, from: [0, 0, 0], to: [0, 1, 0] } } as const, 0.5],
  ] as const)('of %s that rests goes along and away, and not down', async (_, shape, height) => {
    for (const isMesh of [false, true]) {
      const world = await SweepWorld.at(new Vector3(), 1, 1);
      const under = isMesh ? world.scene.mesh(floor) : box(10, 1, 10);
      world.scene.add(under, at(0, isMesh ? 0 : -1, 0));
      for (const y of [height, height + 1e-12, height - 1e-12, height + 1e-3]) {
        for (const [x, z] of [
          [3, 0],
          [-2, 5],
          [0.1, 0.2],
        ]) {
          expect(world.sweep(shape, { from: at(0, y, 0), to: at(x, y, z) })).toBeNull();
          expect(world.sweep(shape, { from: at(0, y, 0), to: at(x, y + 1, z) })).toBeNull();
        }
        const hit = world.sweep(shape, { from: at(0, y, 0), to: at(0, y - 1, 0) })!;
        expect(hit.time).toBeCloseTo(Math.max(y - height, 0), 8);
        expect(hit.depth).toBeCloseTo(0, 9);
        expect(new Vector3(...hit.normal).distanceTo(new Vector3(0, 1, 0))).toBeLessThan(1e-6);
        expect(hit.point[1]).toBeCloseTo(0, 5);
      }
    }
  });

  test('says how deep the shape is at the start, and on which way it leaves', async () => {
    for (const isMesh of [false, true]) {
      const world = await SweepWorld.at(new Vector3(), 1, 1);
      world.scene.add(isMesh ? world.scene.mesh(floor) : box(10, 1, 10), at(0, isMesh ? 0 : -1, 0));
      for (const shape of [ball, box(0.5, 0.5, 0.5)]) {
        const hit = world.sweep(shape, { from: at(1, 0.3, 2), to: at(4, 8, 2) })!;
        expect(hit.time).toBe(0);
        expect(hit.depth).toBeCloseTo(0.2, 6);
        expect(hit.normal[1]).toBeCloseTo(1, 6);
        const turned = { from: at(1, 0.3, 2), to: at(4, 8, 2).multiply(new Matrix4().makeRotationX(1)) };
        const other = world.sweep({ shape: { ...shape.shape, center: [0, 0, 0] } as SolidShape }, turned)!;
        expect(other.depth).toBeCloseTo(0.2, 6);
      }
    }
    const world = await SweepWorld.at(new Vector3(), 1, 1);
    const solid = world.scene.mesh(icosphere(2, 6));
    world.scene.add({ ...solid, shape: { ...solid.shape, solid: true } as AnyShape['shape'] } as AnyShape, at(0, 0, 0));
    for (const [x, y, z] of [
      [1, 0, 0],
      [0.6, 0.8, 0],
      [0.5, -0.6, 0.62],
      [-0.3, 0.2, -0.93],
    ]) {
      const inside = world.sweep(
        { shape: { type: 'sphere', radius: 0.25 } },
        { from: at(x, y, z), to: at(x, y, z + 0.1) },
      )!;
      expect(inside.time).toBe(0);
      expect(inside.depth).toBeCloseTo(1.25, 1);
      // Outwards through a face that is nearly perpendicular.
      expect(new Vector3(...inside.normal).distanceTo(new Vector3(x, y, z).normalize())).toBeLessThan(0.1);
    }
    // A mesh is wholly out when its corner is, plus twice its radius; it may be off its own origin.
    const bead = world.scene.mesh(
      transformed(boxMesh(0.02, 0.02, 0.02), (vertex) => vertex.add(new Vector3(0.3, 0.4, 0.6))),
    );
    const meshInside = world.sweep(bead, { from: at(0.3, 0.2, 0.4), to: at(0.4, 0.2, 0.4) })!;
    const length = new Vector3(0.6, 0.6, 1).length();
    expect(meshInside.depth).toBeCloseTo(2 - length, 1);
    expect(new Vector3(...meshInside.normal).distanceTo(new Vector3(0.6, 0.6, 1).normalize())).toBeLessThan(0.1);
  });

  // A mesh with more triangles is left one triangle at a time.
  test.each(WORLDS)(
    `leaves what it is in by its depth along the normal, in a world %s, seed ${SEED}`,
    async (_, scale, place) => {
      const world = await SweepWorld.at(place, scale, SEED);
      const { random, scene } = world;
      const digits = 4e-16 * place.length();
      const counts = new Map<string, number>();
      for (let i = 0; i < 600; i++) {
        const a = random.pick(['sphere', 'capsule', 'box'] as const);
        const b = random.pick(['sphere', 'capsule', 'box', 'triangle'] as const);
        const corners = Float32Array.from({ length: 9 }, () => scale * random.range(-2, 2));
        const triangle = { positions: corners, indices: Uint32Array.of(0, 1, 2) };
        const form = b === 'triangle' ? scene.mesh(triangle) : world.shape(b);
        const thing = scene.add(form, random.placement(scene.exactPoint(random.point(0.5 * scale))));
        const shape = world.shape(a);
        const from = new Matrix4().compose(
          scene.exactPoint(random.point(scale)),
          random.rotation(),
          new Vector3(1, 1, 1),
        );
        const to = from.clone().premultiply(new Matrix4().makeTranslation(random.point(scale)));
        const hit = world.sweep(shape, { from, to });
        if (hit !== null && hit.depth > 0) {
          const message = `case ${i}, a ${a} in a ${b}`;
          const by = (distance: number) =>
            from
              .clone()
              .premultiply(new Matrix4().makeTranslation(new Vector3(...hit.normal).multiplyScalar(distance)));
          const some = 1e-5 * scale + 8 * digits;
          expect(new Vector3(...hit.normal).length(), message).toBeCloseTo(1, 6);
          expect(world.overlaps(shape, by(hit.depth + some)).length, message).toBe(0);
          // A capsule may leave a triangle sideways before it is beyond it along the normal.
          const isSideways = a === 'capsule' && b === 'triangle';
          if (isSideways)
            expect(Math.abs(wayBeyond(hit.normal, thing, shape, from) - hit.depth), message).toBeLessThan(some);
          else if (hit.depth > some) expect(world.overlaps(shape, by(hit.depth - some)).length, message).toBe(1);
          counts.set(`${a} ${b}`, (counts.get(`${a} ${b}`) ?? 0) + 1);
        }
        scene.remove(thing);
      }
      expect(counts.size).toBe(12);
    },
  );

  test('of no length, and of a huge one', async () => {
    const world = await SweepWorld.at(new Vector3(), 1, 1);
    world.scene.add(box(1, 1, 1), at(5, 0, 0));
    for (const shape of [ball, box(0.5, 0.5, 0.5), world.meshes[0]]) {
      expect(world.sweep(shape, { from: at(0, 0, 0), to: at(0, 0, 0) })).toBeNull();
      expect(world.sweep(shape, { from: at(5, 1.2, 0), to: at(5, 1.2, 0) })).toMatchObject({ time: 0 });
      const far = world.sweep(shape, { from: at(-1e9, 0, 0), to: at(1e9, 0, 0) })!;
      expect(-1e9 + 2e9 * far.time).toBeCloseTo(shape === world.meshes[0] ? 3 : 3.5, 2);
      expect(world.sweep(shape, { from: at(-1e9, 0, 4), to: at(1e9, 0, 4) })).toBeNull();
    }
  });

  test('meets the sides that are asked for', async () => {
    const world = await SweepWorld.at(new Vector3(), 1, 1);
    const wall = world.scene.mesh({
      positions: Float32Array.of(-5, -5, 0, 5, -5, 0, 0, 5, 0),
      indices: Uint32Array.of(0, 1, 2),
    });
    for (const mirror of [1, -1]) {
      const thing = world.scene.add(wall, at(0, 0, 0).scale(new Vector3(1, 1, mirror)));
      for (const from of [2, -2]) {
        const { matrix, motion } = checkMotion('test', at(0, 0, from).elements, at(0, 0, -from).elements, undefined);
        const isFront = from * mirror > 0;
        for (const [side, isMet] of [
          [layout.SIDE_FRONT, isFront],
          [layout.SIDE_BACK, !isFront],
          [layout.SIDE_DOUBLE, true],
        ] as const) {
          for (const shape of [ball, box(0.5, 0.5, 0.5)]) {
            const description = { ...world.scene.describe(shape, at(0, 0, from)), matrix };
            expect(world.scene.core.sweeps.sweep(description, motion, { ...ALL_FILTER, side }) !== null).toBe(isMet);
          }
        }
      }
      world.scene.remove(thing);
    }
  });

  test('finds the first of many, all of them, and the same by many', async () => {
    const world = await SweepWorld.at(new Vector3(), 1, SEED);
    const { random, scene } = world;
    for (let i = 0; i < 300; i++) {
      scene.add(world.shape(random.pick(SHAPE_KINDS)), random.placement(random.point(12), { low: 0.3, high: 1 }));
    }
    const large = scene.mesh(icosphere(1, 16));
    for (let i = 0; i < 20; i++) scene.add(large, random.placement(random.point(12)));
    const shapes = [world.shape('capsule'), world.shape('box'), world.shape('sphere')];
    const ways: number[] = [];
    const firsts: ReturnType<SweepWorld['sweep']>[] = [];
    /** For each path: a rotating shape hits within a tolerance, which depends on the hits found before. */
    const digits: number[] = [];
    const shapeOf = Uint32Array.from({ length: 60 }, () => random.integer(3));
    for (const which of shapeOf) {
      const [a, b] = [random.point(15), random.point(15)];
      const [p, q] = [random.rotation(), random.chance(0.5) ? random.rotation() : null];
      const one = new Vector3(1, 1, 1);
      const way = { from: new Matrix4().compose(a, p, one), to: new Matrix4().compose(b, q ?? p, one) };
      ways.push(...a.toArray(), ...p.toArray(), ...b.toArray(), ...(q ?? p).toArray());
      const first = world.sweep(shapes[which], way);
      firsts.push(first);
      digits.push(q ? 4 : 6);
      const { matrix, motion } = checkMotion('test', way.from.elements, way.to.elements, undefined);
      const description = { ...scene.describe(shapes[which], way.from), matrix };
      const all = scene.core.sweeps.sweepAll(description, motion, ALL_FILTER)!;
      expect(all.map(({ time }) => time)).toEqual(all.map(({ time }) => time).sort((x, y) => x - y));
      expect(new Set(all.map(({ object }) => object)).size).toBe(all.length);
      if (first === null) expect(all.length).toBe(0);
      else if (first.depth === 0) expect(all[0].time).toBeCloseTo(first.time, q ? 4 : 9);
      for (const hit of all) {
        const ignore = Uint32Array.from(scene.things.keys(), (id) => id)
          .filter((id) => id !== hit.object)
          .sort();
        const alone = scene.core.sweeps.sweep(description, motion, { ...ALL_FILTER, ignore });
        expect(alone).toEqual(hit);
      }
    }
    const placed = shapes.map((shape) => scene.describe(shape, new Matrix4()));
    const numbers = Float64Array.from(ways);
    const { sweeps } = scene.core;
    let left = 0;
    const { length } = firsts;
    const many = {
      ...{ objects: new Uint32Array(length), triangles: new Int32Array(length), points: new Float64Array(3 * length) },
      ...{ times: new Float64Array(length), depths: new Float64Array(length), normals: new Float32Array(3 * length) },
    };
    for (let from = 0; from < length; ) {
      const order = Uint32Array.from({ length: length - from }, (_, i) => from + i);
      const asked = { shapes: placed, ways: numbers, shapeOf, tolerance: 0, filter: ALL_FILTER };
      const answer = sweeps.sweepMany(asked, order, many);
      const done = answer < 0 ? -1 - answer : answer;
      for (let k = from; k < from + done; k++) {
        const first = firsts[k];
        expect(many.objects[k]).toBe(first?.object ?? 0xffffffff);
        // Of two triangles that are hit at once, either.
        expect(many.triangles[k] >= 0).toBe((first?.triangle ?? -1) >= 0);
        expect(many.depths[k]).toBeCloseTo(first?.depth ?? 0, 6);
        if (first === null) expect(many.times[k]).toBe(Number.POSITIVE_INFINITY);
        else expect(many.times[k]).toBeCloseTo(first.time, digits[k]);
      }
      from += done;
      if (from === length) break;
      // A sweep that may take long is begun alone.
      const way = numbers.subarray(14 * from, 14 * (from + 1));
      const kept = sweeps.keepWay(placed[shapeOf[from]], way, 0, ALL_FILTER);
      const [hit] = runToEnd(sweeps.beginKeptSweep(kept, Number.POSITIVE_INFINITY)!);
      expect(hit?.object).toBe(firsts[from]?.object);
      if (hit) expect(hit.time).toBeCloseTo(firsts[from]!.time, digits[from]);
      left++;
      from++;
    }
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(firsts.length);
  });
});

/** How far a capsule must move along a normal until it is beyond the plane of a triangle's outermost corner. */
function wayBeyond(
  normal: readonly number[],
  { shape: { triangles }, matrix }: NearObject,
  { shape }: AnyShape,
  place: Matrix4,
): number {
  const along = new Vector3(...normal);
  const { from, to, radius } = shape as Extract<SolidShape, { type: 'capsule' }>;
  const corners = [0, 3, 6].map((i) => new Vector3().fromArray(triangles!.positions, i).applyMatrix4(matrix));
  // Relative to one place: far from the origin all digits matter.
  const origin = corners[0].clone();
  const heights = corners.map((corner) => corner.sub(origin).dot(along));
  const ends = [from!, to!].map((end) => new Vector3(...end).applyMatrix4(place).sub(origin).dot(along));
  return Math.max(...heights) - Math.min(...ends) + radius;
}

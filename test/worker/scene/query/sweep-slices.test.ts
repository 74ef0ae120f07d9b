// Sweeps in slices find the same as sweeps in one piece, wherever they are interrupted.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { checkMotion } from '../../../../src/client/query/sweep-options.js';
import { makeId } from '../../../../src/shared/ids.js';
import {
  FACE_SHIFT,
  FLAG_FACE_SIDES,
  FLAG_PICKABLE,
  FLAG_SIDE,
  SIDE_BACK,
  SIDE_DOUBLE,
  SIDE_OWN,
} from '../../../../src/shared/layout.js';
import type { CoreSweepHit } from '../../../../src/worker/binding/hits.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, NearScene } from '../../../fixtures/near-scene.js';
import { icosphere, rods, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, randomSolid } from '../../../oracle/shapes.js';

const COUNT = 40;
/** Relative to the path: a rotating shape hits within a tolerance, which depends on the hits found before. */
const LATER = 1e-5;

describe(`sweeps in slices, seed ${SEED}`, { timeout: 240_000 }, () => {
  test.each([0, 0.05, Number.POSITIVE_INFINITY])('of %s ms', async (ms) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const { sweeps } = scene.core;
    const meshes = [icosphere(1, 12), soup(random, 400, 0.3, 1), rods(random, 20, 1)].map((each) => scene.mesh(each));
    const anyShape = (): AnyShape => (random.chance(0.6) ? random.pick(meshes) : { shape: randomSolid(random) });
    for (let i = 0; i < 30; i++) scene.add(anyShape(), random.placement(random.point(5), ANY_TRANSFORM));
    const seen = { hits: 0, left: 0 };
    for (let i = 0; i < COUNT; i++) {
      const shape = anyShape();
      const one = new Vector3(1, 1, 1);
      const from = new Matrix4().compose(random.point(8), random.rotation(), one);
      const to = new Matrix4().compose(random.point(8), random.rotation(), one);
      const isStraight = random.chance(0.5);
      if (isStraight) to.copy(from).setPosition(random.point(8));
      const { matrix, motion } = checkMotion('test', from.elements, to.elements, undefined);
      const description = { ...scene.describe(shape, from), matrix };
      const sliced = (all: boolean) => {
        let hits = sweeps.beginKeptSweep(sweeps.keepSweep(description, motion, ALL_FILTER, all), ms);
        for (; hits === undefined; hits = sweeps.resumeSweep(ms)) {
          seen.left++;
          // Queries in between disturb nothing.
          if (seen.left % 7 === 0) sweeps.sweepAll(description, motion, ALL_FILTER);
        }
        return runToEnd(hits);
      };
      expect(sliced(true), `case ${i}`).toEqual(sweeps.sweepAll(description, motion, ALL_FILTER));
      const hit = sweeps.sweep(description, motion, ALL_FILTER);
      if (isStraight) expect(sliced(false), `case ${i}`).toEqual(hit ? [hit] : []);
      else expectAlike(sliced(false), hit ? [hit] : [], `case ${i}`);
      if (hit) seen.hits++;
    }
    expect(seen.hits).toBeGreaterThan(COUNT / 4);
    expect(seen.left > 0).toBe(ms < Number.POSITIVE_INFINITY);
  });

  test('of objects that move, and go, meanwhile: they are swept at where they were', async () => {
    const scene = await NearScene.at(new Vector3());
    const { sweeps } = scene.core;
    const mesh = scene.mesh(icosphere(1, 12));
    const things = [2, 4, 6].map((x) => scene.add(mesh, new Matrix4().makeTranslation(x, 0, 0)));
    const at = (x: number) => new Matrix4().makeTranslation(x, 0, 0).elements;
    const { matrix, motion } = checkMotion('test', at(-4), at(10), undefined);
    const description = { ...scene.describe(mesh, new Matrix4()), matrix };
    const expected = sweeps.sweepAll(description, motion, ALL_FILTER)!;
    expect(expected.map(({ object }) => object)).toEqual(things.map(({ id }) => id));
    let hits = sweeps.beginKeptSweep(sweeps.keepSweep(description, motion, ALL_FILTER, true), 0);
    expect(hits).toBeUndefined();
    for (const thing of things) scene.remove(thing);
    while (hits === undefined) hits = sweeps.resumeSweep(0);
    expect(runToEnd(hits)).toEqual(expected);
    expect(sweeps.sweep(description, motion, ALL_FILTER)).toBeNull();
  });

  test('one that is given up, wherever that is, leaves no memory behind', async () => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const { sweeps, pairs } = scene.core;
    const mesh = scene.mesh(icosphere(1, 12));
    // Only the back faces of the first hundred triangles count: the object holds a list that says so.
    const faceSides = Uint32Array.of(SIDE_BACK, (100 << FACE_SHIFT) + SIDE_OWN);
    const matrices = Array.from({ length: 9 }, () => random.placement(random.point(4), ANY_TRANSFORM));
    const flags = FLAG_PICKABLE | FLAG_FACE_SIDES | (SIDE_DOUBLE * FLAG_SIDE);
    const start = new Matrix4().makeTranslation(-9, 0, 0);
    const end = new Matrix4().makeRotationX(1).setPosition(9, 0, 0);
    const { matrix, motion } = checkMotion('test', start.elements, end.elements, undefined);
    const description = { ...scene.describe({ shape: { type: 'box', halfExtents: [1, 2, 3] } }, start), matrix };
    const filter = { ...ALL_FILTER, side: SIDE_OWN };
    const ask = () => sweeps.beginKeptSweep(sweeps.keepSweep(description, motion, filter, true), 0);
    let generation = 0;
    /** Returns whether the sweep was abandoned after this many slices. */
    const giveUp = (slices: number): boolean => {
      generation++;
      const ids = matrices.map((_, slot) => makeId(slot, generation));
      for (const [i, each] of matrices.entries()) {
        scene.core.addObjects(Uint32Array.of(ids[i]!), { ...scene.describe(mesh, each), faceSides, flags });
      }
      let isLeft = ask() === undefined;
      for (let i = 0; i < slices && isLeft; i++) isLeft = sweeps.resumeSweep(0) === undefined;
      if (isLeft) pairs.giveUpQuestion();
      else expect(sweeps.sweepAll(description, motion, filter)!.length).toBeGreaterThan(2);
      expect(scene.core.check()).toBeNull();
      for (const id of ids) scene.core.removeObject(id);
      return isLeft;
    };
    // Its scratch memory exists from the first time on.
    while (giveUp(Infinity));
    const used = scene.core.usedBytes;
    for (let slices = 0; giveUp(slices); slices = Math.ceil(1.3 * slices + 1)) {
      expect(scene.core.usedBytes, `after ${slices} slices`).toBe(used);
    }
  });
});

/** Expects the same first hit of a rotating shape. The order in which objects are examined differs. */
function expectAlike(hits: CoreSweepHit[], expected: CoreSweepHit[], message: string): void {
  expect(
    hits.map(({ object, depth }) => [object, depth]),
    message,
  ).toEqual(expected.map(({ object, depth }) => [object, depth]));
  hits.forEach(({ time }, i) => {
    expect(Math.abs(time - expected[i].time), message).toBeLessThan(LATER);
  });
}

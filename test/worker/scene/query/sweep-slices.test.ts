// Sweeps in slices find what sweeps at one go find, whatever they are left in the midst of.
import { Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { checkMotion } from '../../../../src/client/query/sweep-options.js';
import { inOnePiece } from '../../../../src/worker/binding/steps.js';
import { ALL, ANY_FORM, NearScene } from '../../../fixtures/near-scene.js';
import { icosphere, rods, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, anySolid } from '../../../oracle/shapes.js';

const COUNT = 40;

describe(`sweeps in slices, seed ${SEED}`, { timeout: 240_000 }, () => {
  test.each([0, 0.05, Number.POSITIVE_INFINITY])('of %s ms', async (ms) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(new Vector3());
    const { sweeps } = scene.core;
    const meshes = [icosphere(1, 12), soup(random, 400, 0.3, 1), rods(random, 20, 1)].map((each) => scene.mesh(each));
    const anyShape = (): AnyShape => (random.chance(0.6) ? random.pick(meshes) : { shape: anySolid(random) });
    for (let i = 0; i < 30; i++) scene.add(anyShape(), random.placement(random.point(5), ANY_FORM));
    const seen = { hits: 0, left: 0 };
    for (let i = 0; i < COUNT; i++) {
      const shape = anyShape();
      const one = new Vector3(1, 1, 1);
      const from = new Matrix4().compose(random.point(8), random.rotation(), one);
      const to = new Matrix4().compose(random.point(8), random.rotation(), one);
      if (random.chance(0.5)) to.copy(from).setPosition(random.point(8));
      const { matrix, motion } = checkMotion('test', from.elements, to.elements, undefined);
      const description = { ...scene.describe(shape, from), matrix };
      const sliced = (all: boolean) => {
        let hits = sweeps.beginKeptSweep(sweeps.keepSweep(description, motion, ALL, all), ms);
        for (; hits === undefined; hits = sweeps.resumeSweep(ms)) {
          seen.left++;
          // What is asked in between disturbs nothing.
          if (seen.left % 7 === 0) sweeps.sweepAll(description, motion, ALL);
        }
        return inOnePiece(hits);
      };
      expect(sliced(true), `case ${i}`).toEqual(sweeps.sweepAll(description, motion, ALL));
      const hit = sweeps.sweep(description, motion, ALL);
      expect(sliced(false), `case ${i}`).toEqual(hit ? [hit] : []);
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
    const expected = sweeps.sweepAll(description, motion, ALL)!;
    expect(expected.map(({ object }) => object)).toEqual(things.map(({ id }) => id));
    let hits = sweeps.beginKeptSweep(sweeps.keepSweep(description, motion, ALL, true), 0);
    expect(hits).toBeUndefined();
    for (const thing of things) scene.remove(thing);
    while (hits === undefined) hits = sweeps.resumeSweep(0);
    expect(inOnePiece(hits)).toEqual(expected);
    expect(sweeps.sweep(description, motion, ALL)).toBeNull();
  });
});

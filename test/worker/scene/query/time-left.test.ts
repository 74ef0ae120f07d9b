// An interrupted query continues for as long as it is given: with enough time it ends in one go.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { checkMotion } from '../../../../src/client/query/sweep-options.js';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, NearScene } from '../../../fixtures/near-scene.js';
import { icosphere } from '../../../oracle/meshes.js';

/** Milliseconds, more than any of it takes. */
const LONG = 1e9;

async function twoBalls(apart: number) {
  const scene = await NearScene.at(new Vector3());
  const mesh = scene.mesh(icosphere(1, 16));
  const [a, b] = [0, apart].map((x) => scene.add(mesh, new Matrix4().makeTranslation(x, 0, 0)).id);
  return { core: scene.core, pairs: scene.core.pairs, scene, mesh, a, b };
}

test('a contact', async () => {
  const { pairs, a, b } = await twoBalls(0.01);
  const detail = layout.CONTACTS_TRIANGLES;
  const whole = pairs.contact(a, b, detail)!;
  expect(whole.triangles.length).toBeGreaterThan(100);
  const keep = () => pairs.keepContact(a, b, detail);
  expect(runToEnd(pairs.beginContact(a, b, detail, LONG)!)).toEqual(whole);
  expect(runToEnd(pairs.beginKeptContact(a, b, keep(), LONG)!)).toEqual(whole);
  for (const begin of [() => pairs.beginContact(a, b, detail, 0), () => pairs.beginKeptContact(a, b, keep(), 0)]) {
    expect(begin()).toBeUndefined();
    expect(runToEnd(pairs.resumeContact(a, b, LONG)!)).toEqual(whole);
    expect(begin()).toBeUndefined();
    expect(pairs.resumeContact(a, b, 0)).toBeUndefined();
    pairs.giveUpQuestion();
  }
});

test('a distance', async () => {
  const { pairs, a, b } = await twoBalls(9);
  const keep = () => pairs.keepContact(a, b, layout.CONTACTS_ANY);
  const limit = Number.POSITIVE_INFINITY;
  const whole = pairs.beginDistance(a, b, limit, LONG)!;
  expect(whole.distance).toBeCloseTo(7, 2);
  expect(pairs.beginKeptDistance(a, b, keep(), limit, LONG)).toEqual(whole);
  for (const begin of [
    () => pairs.beginDistance(a, b, limit, 0),
    () => pairs.beginKeptDistance(a, b, keep(), limit, 0),
  ]) {
    expect(begin()).toBeUndefined();
    expect(pairs.resumeDistance(a, b, LONG)).toEqual(whole);
  }
  expect(pairs.beginDistance(a, b, 1, LONG)).toBeNull();
});

test('a sweep', async () => {
  const { core, scene, mesh } = await twoBalls(0.5);
  const { sweeps } = core;
  const [from, to] = [-9, 9].map((x) => new Matrix4().makeTranslation(x, 0.1, 0));
  const { matrix, motion } = checkMotion('test', from.elements, to.elements, undefined);
  const description = { ...scene.describe(mesh, from), matrix };
  const whole = sweeps.sweepAll(description, motion, ALL_FILTER)!;
  expect(whole).toHaveLength(2);
  const keep = () => sweeps.keepSweep(description, motion, ALL_FILTER, true);
  expect(runToEnd(sweeps.beginKeptSweep(keep(), LONG)!)).toEqual(whole);
  expect(sweeps.beginKeptSweep(keep(), 0)).toBeUndefined();
  expect(runToEnd(sweeps.resumeSweep(LONG)!)).toEqual(whole);
});

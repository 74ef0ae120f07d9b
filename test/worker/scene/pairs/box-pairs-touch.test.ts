// Boxes that barely touch or barely do not, by far less than float32 resolves, with a corner on a face or crossed
// like beams: contact() and frames decide which.
import { Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { FrameBuilder } from '../../../../src/client/frame/frame-builder.js';
import { FrameView } from '../../../../src/client/frame/frame-result.js';
import * as layout from '../../../../src/shared/layout.js';
import { NearScene } from '../../../fixtures/near-scene.js';
import { Random, SEED } from '../../../oracle/random.js';
import type { AnyShape } from '../../../oracle/shapes.js';

const COUNT = 900;
const LONG = 300;
const CUBE: AnyShape = { shape: { type: 'box', halfExtents: [1, 1, 1] } };

test(`${COUNT} corners and beams on faces, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const expected = new Set<string>();
  for (let i = 0; i < COUNT; i++) {
    const lower = random.placement(new Vector3(), { low: 0.5, high: 2, sheared: 0.3, mirrored: 0.3 });
    // In the lower one's space: the lowest corner of the upper one over a face, or slightly below it.
    const [axis, side] = [random.integer(3), random.pick([-1, 1])];
    // Some are much longer than the other one is large, which costs digits.
    const isLong = random.chance(0.3);
    const gap = random.pick([-1, 1]) * random.logRange(isLong ? 1e-7 : 1e-12, 1e-4);
    const upper = random.placement(new Vector3(), { low: 0.3, high: 1, sheared: 0.3 });
    if (isLong) upper.premultiply(new Matrix4().makeScale(...longAlong(random.integer(3))));
    const columns = [0, 1, 2].map((k) => new Vector3().setFromMatrixColumn(upper, k));
    const corner = new Vector3();
    for (const column of columns) corner.addScaledVector(column, column.getComponent(axis) * side > 0 ? -1 : 1);
    const foot = random.point(0.7).setComponent(axis, side * (1 + gap));
    // Others lie across it: their centres are near each other, however long one is.
    if (isLong && random.chance(0.5)) {
      const angle = random.chance(0.7) ? random.logRange(1e-7, 1e-2) : random.range(0, 6.3);
      const turn = new Matrix4().makeRotationAxis(new Vector3().setComponent(axis, 1), angle);
      const form = longAlong((axis + 1 + random.integer(2)) % 3);
      upper.copy(turn.scale(new Vector3(...form).multiplyScalar(0.5)));
      corner.setScalar(0).setComponent(axis, -0.5 * side);
    }
    upper.setPosition(foot.sub(corner)).premultiply(lower);
    // Each pair far from all others, with the origin's digits for single queries.
    const forms = random.chance(0.5) ? [lower, upper] : [upper, lower];
    const [a, b] = forms.map((form) => scene.add(CUBE, form, { contacts: layout.CONTACTS_ANY }));
    const met = scene.core.pairs.contact(a.id, b.id, layout.CONTACTS_ANY) !== null;
    expect(met, `case ${i}: ${gap}`).toBe(gap < 0);
    scene.remove(a);
    scene.remove(b);
    const away = new Vector3(i % 10, Math.floor(i / 10) % 10, Math.floor(i / 100)).multiplyScalar(LONG * 16);
    const [p, q] = forms.map((form) => {
      const there = form.clone().setPosition(new Vector3().setFromMatrixPosition(form).add(away));
      return scene.add(CUBE, there, { contacts: layout.CONTACTS_ANY });
    });
    if (Math.abs(gap) < 1e-9) {
      // There rounding decides.
      scene.remove(p);
      scene.remove(q);
    } else if (gap < 0) expected.add(`${p.id}:${q.id}`);
  }
  const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
  expect(new Set([...contacts].map(({ a, b }) => `${a}:${b}`))).toEqual(expected);
});

function longAlong(axis: number): [number, number, number] {
  return new Vector3(1, 1, 1).setComponent(axis, LONG).toArray();
}

const BEAMS = 256;
const BEAM = 4096;

// The rounding error of all axes of a pair is bounded by its
// longest edge, and here a single component makes up that.
test.each([
  ['x', 0],
  ['y', 1],
  ['z', 2],
])(`${BEAMS} beams along %s on faces, by less than float32 has digits for, seed ${SEED}`, async (_, long) => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  const expected = new Set<string>();
  for (let i = 0; i < BEAMS; i++) {
    const axis = (long + 1 + random.integer(2)) % 3;
    const side = random.pick([-1, 1]);
    const gap = random.pick([-1, 1]) * random.logRange(1e-8, 1e-6);
    const angle = random.chance(0.5) ? 0 : random.logRange(1e-9, 1e-5);
    const beam = new Matrix4().makeRotationAxis(new Vector3().setComponent(axis, 1), angle);
    const [length, width, height] = [random.range(0.5, 1) * BEAM, random.range(0.1, 0.5), random.range(0.7, 1.3)];
    beam.scale(new Vector3(width, width, width).setComponent(long, length));
    const foot = random.point(0.6).setComponent(axis, side * (height + width + gap));
    // Far from all others, where positions have digits for the gap.
    const middle = new Vector3(i % 8, Math.floor(i / 8) % 8, Math.floor(i / 64)).multiplyScalar(4 * BEAM);
    const face = new Matrix4().makeScale(...new Vector3(1, 1, 1).setComponent(axis, height).toArray());
    const forms = [face, beam.setPosition(foot)].map((form) =>
      form.clone().setPosition(new Vector3().setFromMatrixPosition(form).add(middle)),
    );
    if (random.chance(0.5)) forms.reverse();
    const [a, b] = forms.map((form) => scene.add(CUBE, form, { contacts: layout.CONTACTS_ANY }));
    if (gap < 0) expected.add(`${a.id}:${b.id}`);
  }
  const { contacts } = new FrameView(scene.core.frame(new FrameBuilder().seal(1, 1), undefined), []);
  expect(new Set([...contacts].map(({ a, b }) => `${a}:${b}`))).toEqual(expected);
});

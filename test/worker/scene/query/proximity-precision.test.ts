// The stand-in for an object at each precision, in proximity
// queries: the same spheres and boxes, computed by the test.

import { Box3, Matrix4, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import * as layout from '../../../../src/shared/layout.js';
import { runToEnd } from '../../../../src/worker/binding/steps.js';
import { ALL_FILTER, ANY_TRANSFORM, type NearObject, NearScene, PLACES } from '../../../fixtures/near-scene.js';
import { boundsOf, soup } from '../../../oracle/meshes.js';
import { Random, SEED } from '../../../oracle/random.js';
import { type AnyShape, frameOf, randomSolid, type SolidShape } from '../../../oracle/shapes.js';
import { type ConvexSet, cubeBody, gapBetween, pointBody, roundBody, support } from '../../../oracle/solids.js';

const DOUBT = 1e-5;
const COUNT = 1000;

describe.each(PLACES)(`stand-ins %s, seed ${SEED}`, { timeout: 120_000 }, (_, place) => {
  test.each<[name: string, precision: number, standIn: (thing: NearObject) => ConvexSet]>([
    ['sphere', layout.PRECISION_SPHERE, sphereOf],
    ['aabb', layout.PRECISION_AABB, axisAlignedOf],
    ['obb', layout.PRECISION_OBB, orientedOf],
  ])(`${COUNT} × %s`, async (_, precision, standIn) => {
    const random = new Random(SEED);
    const scene = await NearScene.at(place);
    const mesh = scene.mesh(soup(random, 8, 0.5, 1));
    const filter = { ...ALL_FILTER, precision };
    const count = { met: 0, around: 0 };
    for (let i = 0; i < COUNT; i++) {
      const shape: AnyShape = random.chance(0.4) ? mesh : { shape: solidFor(random, precision) };
      const thing = scene.add(shape, random.placement(random.point(1), { ...ANY_TRANSFORM, low: 0.1 }));
      const body = standIn(thing);
      const point = scene.exactPoint(random.direction().multiplyScalar(random.range(0, 5)));
      const message = `case ${i}: ${JSON.stringify(shape.shape)}`;

      const { distance } = runToEnd(
        scene.core.volumes.closestPoint(scene.point(point), Number.POSITIVE_INFINITY, filter),
      )!;
      const gap = gapBetween(pointBody(point), body, 1e-7);
      expect(distance, message).toBeGreaterThan(gap.least - DOUBT);
      expect(distance, message).toBeLessThan(gap.most + DOUBT);

      const around = runToEnd(scene.core.volumes.containing(scene.point(point), filter)).length === 1;
      if (Math.abs(distance) > DOUBT || gap.most === 0) expect(around, message).toBe(distance === 0);

      const ball = scene.describe({ shape: { type: 'sphere', radius: 1 } }, new Matrix4().setPosition(point));
      const met = runToEnd(scene.core.volumes.overlap(ball, filter)).length === 1;
      if (Math.abs(distance - 1) > DOUBT) expect(met, message).toBe(distance < 1);
      if (met) count.met++;
      if (around) count.around++;
      scene.remove(thing);
    }
    expect(Math.min(count.met, COUNT - count.met)).toBeGreaterThan(COUNT / 10);
    expect(count.around).toBeGreaterThan(COUNT / 100);
  });
});

test(`columns that are all but at right angles: a bounding sphere is never too small, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const scene = await NearScene.at(new Vector3());
  for (let i = 0; i < 500; i++) {
    const form = random.placement(new Vector3(), { low: 0.5, high: 2 });
    const slant = random.logRange(1e-8, 1e-5);
    form.elements.forEach((value, k) => {
      if (k < 12 && k % 4 !== 3) form.elements[k] = value + slant * random.range(-1, 1);
    });
    const thing = scene.add({ shape: { type: 'sphere', radius: 1 } }, form);
    const filter = { ...ALL_FILTER, precision: layout.PRECISION_SPHERE };
    const radius = 5 - runToEnd(scene.core.volumes.closestPoint([0, 5, 0], Number.POSITIVE_INFINITY, filter))!.distance;
    const expected = stretchOf(form);
    expect(radius / expected, `case ${i}`).toBeGreaterThan(1 - 1e-14);
    expect(radius / expected, `case ${i}`).toBeLessThan(1 + 3e-7);
    scene.remove(thing);
  }
});

/** The rotation of a capsule's bounds about its axis is unspecified. */
function solidFor(random: Random, precision: number): SolidShape {
  const shape = randomSolid(random);
  return precision === layout.PRECISION_OBB && shape.type === 'capsule' ? solidFor(random, precision) : shape;
}

/** From the cube to the shape's own bounds. */
function boundsFrame({ shape, triangles }: AnyShape): Matrix4 {
  if (triangles) {
    const box = boundsOf(triangles.positions);
    const half = box.getSize(new Vector3()).multiplyScalar(0.5);
    return new Matrix4().makeScale(half.x, half.y, half.z).setPosition(box.getCenter(new Vector3()));
  }
  const { matrix, half } = frameOf(shape);
  return matrix.scale(new Vector3(1, 1, 1 + half));
}

function orientedOf({ matrix, shape }: NearObject): ConvexSet {
  return cubeBody(matrix.clone().multiply(boundsFrame(shape)));
}

/** For a mesh and a box around the oriented bounds, for a round shape around itself. */
function axisAlignedOf(thing: NearObject): ConvexSet {
  const { type } = thing.shape.shape;
  const body = type === 'mesh' || type === 'box' ? orientedOf(thing) : thing.bodies[0];
  const box = new Box3(new Vector3(), new Vector3());
  for (const axis of [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)]) {
    box.max.addScaledVector(axis, support(body, axis) - box.max.dot(axis));
    box.min.addScaledVector(axis, -support(body, axis.clone().negate()) - box.min.dot(axis));
  }
  const half = box.getSize(new Vector3()).multiplyScalar(0.5);
  return cubeBody(new Matrix4().makeScale(half.x, half.y, half.z).setPosition(box.getCenter(new Vector3())));
}

function sphereOf({ matrix, shape }: NearObject): ConvexSet {
  const frame = boundsFrame(shape);
  const center = new Vector3().setFromMatrixPosition(matrix.clone().multiply(frame));
  const linear = matrix.clone().setPosition(0, 0, 0);
  const radius = ownRadius(shape, frame) * stretchOf(linear);
  return roundBody(new Matrix4().makeScale(radius, radius, radius).setPosition(center), 0);
}

/** How far the shape reaches from the centre of its bounds, in its own space. */
function ownRadius({ shape, triangles }: AnyShape, frame: Matrix4): number {
  if (shape.type === 'box') return new Vector3().setFromMatrixScale(frame).length();
  if (!triangles) return new Vector3().setFromMatrixColumn(frame, 2).length();
  const middle = new Vector3().setFromMatrixPosition(frame);
  const corners = Array.from(triangles.indices, (i) => new Vector3().fromArray(triangles.positions, 3 * i));
  return Math.max(...corners.map((corner) => corner.distanceTo(middle)));
}

/** The largest singular value, by power iteration with repeated squaring. */
function stretchOf(linear: Matrix4): number {
  const square = linear.clone().transpose().multiply(linear);
  for (let i = 0; i < 30; i++) {
    square.multiplyScalar(1 / Math.max(...square.elements.slice(0, 11).map(Math.abs)));
    square.elements[15] = 1;
    square.multiply(square.clone());
  }
  const way = new Vector3(0.3, 0.5, 0.7).applyMatrix4(square.setPosition(0, 0, 0)).normalize();
  return way.applyMatrix4(linear).length();
}

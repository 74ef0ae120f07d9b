import { frustumMotion, type ViewOptions } from 'collision-worker';
import { PerspectiveCamera, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { PLACES } from '../fixtures/twin.js';
import { type AnyCamera, aimCamera, CAMERA_KINDS, DEPTHS, INFINITE_FAR, VIEWPORT, viewOf } from '../oracle/cameras.js';
import { frustumPlanes } from '../oracle/frustum.js';
import { Random, SEED } from '../oracle/random.js';

/** The corners at two depths in front of the eye, unprojected by three. */
function cornersOf(camera: AnyCamera, far: number): Vector3[] {
  return [camera.near, far].flatMap((depth) => {
    const { z } = new Vector3(0, 0, -depth).applyMatrix4(camera.projectionMatrix);
    return [-1, 1].flatMap((x) => [-1, 1].map((y) => new Vector3(x, y, z).unproject(camera)));
  });
}

function move<C extends AnyCamera>(camera: C, random: Random): C {
  const moved = camera.clone() as C;
  moved.position.add(random.point(0.5));
  moved.rotateOnAxis(random.direction(), random.range(0, 0.1));
  if (moved instanceof PerspectiveCamera) moved.fov *= random.range(0.95, 1.05);
  else moved.zoom = random.range(0.95, 1.05);
  moved.updateProjectionMatrix();
  moved.updateMatrixWorld();
  return moved;
}

describe.each(PLACES)(`the motion of a frustum, %s, seed ${SEED}`, (_, place) => {
  describe.each(CAMERA_KINDS)('%s', (_, make) => {
    test.each(DEPTHS)('%s: of its corners, and no point of it moves out of the margin', (_, depth) => {
      const random = new Random(SEED);
      for (let i = 0; i < 50; i++) {
        const before = aimCamera(make(random), random, place);
        const after = move(before, random);
        const views = [viewOf(before, depth), viewOf(after, depth)] as const;
        // Some with a far limit before, some with one behind the far plane.
        const reach = before.far === INFINITE_FAR || random.chance(0.5) ? random.logRange(10, 500) : undefined;
        const far = Math.min(before.far, reach ?? Infinity);
        const motion = frustumMotion(...views, reach);
        const [from, to] = [cornersOf(before, far), cornersOf(after, far)];
        const expected = Math.max(...from.map((corner, j) => corner.distanceTo(to[j])));
        expect(Math.abs(motion / expected - 1)).toBeLessThan(1e-6);

        const planes = frustumPlanes(views[0].projection, views[0].view, depth.depth);
        const point = to.reduce((mix, corner) => mix.clone().lerp(corner, random.next()));
        for (const plane of planes) expect(plane.distanceToPoint(point)).toBeGreaterThan(-motion - 1e-8);
      }
    });
  });
});

test('a frustum that stands still does not move, however large', () => {
  const random = new Random(SEED);
  for (const [, make] of CAMERA_KINDS) {
    const view = viewOf(aimCamera(make(random), random, new Vector3()), DEPTHS[0][1]);
    expect(frustumMotion(view, view, 1e20)).toBe(0);
  }
});

test('a far plane at infinity needs a reach', () => {
  const view: ViewOptions = {
    ...viewOf(aimCamera(new PerspectiveCamera(60, 1, 1, INFINITE_FAR), new Random(SEED), new Vector3()), DEPTHS[0][1]),
    viewport: VIEWPORT,
  };
  expect(() => frustumMotion(view, view)).toThrow(/^frustumMotion: reach is undefined, expected .*infinity/);
  expect(() => frustumMotion(view, view, -1)).toThrow(/^frustumMotion: reach is -1/);
  expect(frustumMotion(view, view, 100)).toBe(0);
});

test('a projection whose near plane meets no line of sight is said to be none', () => {
  const { projectionMatrix, matrixWorldInverse } = new PerspectiveCamera();
  // z is -w - 1 for any w.
  const projection = projectionMatrix.elements.with(10, 1).with(14, -1);
  const view = { projection, view: matrixWorldInverse.elements, viewport: VIEWPORT };
  expect(() => frustumMotion(view, view)).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^frustumMotion: projection is .*, expected one whose near plane meets/),
    }),
  );
});

test.each(['width', 'height'] as const)(
  'a view without pixels, of %s 0, sees nothing, and so nothing moves',
  (side) => {
    const camera = new PerspectiveCamera();
    const view: ViewOptions = {
      projection: camera.projectionMatrix.elements,
      view: camera.matrixWorldInverse.elements,
      viewport: { width: 10, height: 10 },
    };
    const empty = { ...view, viewport: { ...view.viewport, [side]: 0 } };
    expect([frustumMotion(view, empty), frustumMotion(empty, view), frustumMotion(empty, empty)]).toEqual([0, 0, 0]);
  },
);

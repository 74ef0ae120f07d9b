// What a camera draws, checked by points: what is outside its volume,
// how large a sphere is, and whether one volume contains another.
import { Box3, OrthographicCamera, PerspectiveCamera, Sphere, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { isContained, ViewVolume } from '../../src/client/three/culling/view-volume.js';
import { Random, SEED } from '../oracle/random.js';

function cameraOf(random: Random) {
  const camera = random.chance(0.5)
    ? new PerspectiveCamera(random.range(20, 100), random.range(0.5, 2), random.range(0.1, 1), random.range(5, 30))
    : new OrthographicCamera(-random.range(1, 4), random.range(1, 4), random.range(1, 4), -random.range(1, 4), 0.5, 20);
  camera.position.copy(random.point(3));
  camera.quaternion.copy(random.rotation());
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  return camera;
}

test(`a box is outside only where no corner is on the inner side of a plane, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let [outside, inside] = [0, 0];
  for (let round = 0; round < 400; round++) {
    const volume = new ViewVolume().set(cameraOf(random));
    const box = new Box3().setFromCenterAndSize(random.point(4), random.point(3).addScalar(3.2));
    const matrix = random.placement(random.point(10), { low: 0.1, high: 2, mirrored: 0.3, sheared: 0.3 });
    const corners = Array.from({ length: 8 }, (_, i) =>
      new Vector3(
        (i & 1 ? box.max : box.min).x,
        (i & 2 ? box.max : box.min).y,
        (i & 4 ? box.max : box.min).z,
      ).applyMatrix4(matrix),
    );
    const heights = volume.frustum.planes.map((plane) =>
      Math.max(...corners.map((corner) => plane.distanceToPoint(corner))),
    );
    const least = Math.min(...heights);
    if (Math.abs(least) < 1e-3) continue; // to within rounding
    expect(volume.isOutside(box, matrix)).toBe(least < 0);
    if (least < 0) outside++;
    else inside++;
  }
  expect(Math.min(outside, inside)).toBeGreaterThan(20);
});

test('a sphere is as many pixels across as its ends are apart', () => {
  const camera = new PerspectiveCamera(90, 1, 0.1, 100);
  camera.position.set(1, 2, 3);
  camera.rotation.set(0.3, 0.7, 0);
  camera.updateMatrixWorld();
  const volume = new ViewVolume().set(camera);
  const at = (depth: number, aside: number) => camera.localToWorld(new Vector3(aside, -aside, -depth));
  for (const depth of [0.5, 2, 10]) {
    for (const aside of [0, 1]) {
      expect(volume.pixelsOf(new Sphere(at(depth, aside), 0.25), 300)).toBeCloseTo((2 * 0.25 * 300) / depth, 9);
    }
  }
  expect(volume.pixelsOf(new Sphere(at(-1, 0), 1), 300)).toBe(Number.POSITIVE_INFINITY);
});

test('a frustum is the same only by all of its planes', () => {
  const volume = new ViewVolume().set(cameraOf(new Random(SEED)));
  expect(volume.isSame(volume.frustum.clone())).toBe(true);
  for (let i = 0; i < 6; i++) {
    for (const key of ['x', 'y', 'z', 'constant'] as const) {
      const other = volume.frustum.clone();
      if (key === 'constant') other.planes[i].constant += 1e-9;
      else other.planes[i].normal[key] += 1e-9;
      expect(volume.isSame(other), `${key} of plane ${i}`).toBe(false);
    }
  }
});

test(`what a camera draws is in another one's view where its corners are, seed ${SEED}`, () => {
  const random = new Random(SEED);
  let [within, out] = [0, 0];
  for (let round = 0; round < 300; round++) {
    const before = cameraOf(random);
    const after = before.clone();
    after.position.addScaledVector(random.direction(), random.range(0, 0.6));
    after.updateMatrixWorld();
    const margin = random.range(0.05, 1);
    const asked = { projection: before.projectionMatrix.elements, view: before.matrixWorldInverse.elements };
    const viewport = { width: 100, height: 100 };
    const corners = Array.from({ length: 8 }, (_, i) =>
      new Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1).unproject(after),
    );
    const { planes } = new ViewVolume().set(before).frustum;
    const least =
      Math.min(...corners.flatMap((corner) => planes.map((plane) => plane.distanceToPoint(corner)))) + margin;
    if (Math.abs(least) < 1e-3) continue;
    expect(isContained(after, { ...asked, viewport, margin })).toBe(least > 0);
    if (least > 0) within++;
    else out++;
    // Without a margin, only an identical one is.
    expect(isContained(before, { ...asked, viewport })).toBe(true);
    expect(isContained(after, { ...asked, viewport })).toBe(false);
  }
  expect(Math.min(within, out)).toBeGreaterThan(20);
});

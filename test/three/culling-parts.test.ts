// The decisions whether something is drawn, without an image: bounds, volumes, and instances one by one and many at once.
import {
  Box3,
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  FloatType,
  Frustum,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  RedFormat,
  Scene,
  Sphere,
  SphereGeometry,
  Vector3,
} from 'three';
import { describe, expect, test, vi } from 'vitest';
import { boundsOf } from '../../src/client/three/culling/geometry-bounds.js';
import { InstanceTest, keepWhere } from '../../src/client/three/culling/instance-test.js';
import { morphGrowth } from '../../src/client/three/culling/morph-bounds.js';
import { sceneOf } from '../../src/client/three/culling/scene-hooks.js';
import { ViewVolume } from '../../src/client/three/culling/view-volume.js';
import { isEqualDeep } from '../../src/client/three/track/object-settings.js';
import { Random, SEED } from '../oracle/random.js';

type AnyCamera = PerspectiveCamera | OrthographicCamera;

function cameraOf(random: Random): AnyCamera {
  const camera = random.chance(0.5)
    ? new PerspectiveCamera(random.range(20, 100), random.range(0.5, 2), 0.5, 40)
    : new OrthographicCamera(-8, 8, 6, -6, 0.5, 40);
  camera.position.copy(random.direction().multiplyScalar(random.range(5, 20)));
  camera.lookAt(random.point(3));
  camera.updateMatrixWorld();
  return camera;
}

function matrixOf(random: Random): Matrix4 {
  const scale = new Vector3(random.range(0.2, 3), random.range(0.2, 3), random.range(0.2, 3));
  const turned = new Matrix4().makeRotationFromQuaternion(random.rotation());
  return new Matrix4().compose(random.point(15), random.rotation(), scale).multiply(turned);
}

/** The corners of a transformed box. */
function cornersOf({ min, max }: Box3, matrix: Matrix4): Vector3[] {
  return Array.from({ length: 8 }, (_, i) =>
    new Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).applyMatrix4(matrix),
  );
}

test(`a box is outside where all of its corners are behind one plane, seed ${SEED}`, () => {
  const random = new Random(SEED);
  const counts = { inside: 0, outside: 0 };
  for (let i = 0; i < 2000; i++) {
    const volume = new ViewVolume().set(cameraOf(random));
    const box = new Box3().setFromPoints([random.point(3), random.point(3)]);
    const matrix = matrixOf(random);
    const corners = cornersOf(box, matrix);
    const farthest = volume.frustum.planes.map((plane) => Math.max(...corners.map((p) => plane.distanceToPoint(p))));
    if (Math.abs(Math.min(...farthest)) < 1e-3) continue; // rounding decides
    const isOutside = Math.min(...farthest) < 0;
    counts[isOutside ? 'outside' : 'inside']++;
    expect(volume.isOutside(box, matrix), `case ${i}`).toBe(isOutside);
  }
  expect(Math.min(counts.inside, counts.outside)).toBeGreaterThan(400);
});

test('a frustum is the same where all numbers of all planes are', () => {
  const volume = new ViewVolume().set(cameraOf(new Random(SEED)));
  expect(volume.isSame(new Frustum().copy(volume.frustum))).toBe(true);
  for (let i = 0; i < 6; i++) {
    for (const change of ['x', 'y', 'z', 'constant'] as const) {
      const other = new Frustum().copy(volume.frustum);
      const plane = other.planes[i];
      if (change === 'constant') plane.constant += 1e-9;
      else plane.normal[change] += 1e-9;
      expect(volume.isSame(other), `${change} of plane ${i}`).toBe(false);
    }
  }
});

describe('instances', () => {
  test(`are seen, and as large, as three tells of their spheres, and are in the order of their depths, seed ${SEED}`, () => {
    const random = new Random(SEED);
    let [seen, left] = [0, 0];
    for (let round = 0; round < 60; round++) {
      const camera = cameraOf(random);
      const volume = new ViewVolume().set(camera);
      const world = new Matrix4().compose(
        random.point(3),
        random.rotation(),
        new Vector3().setScalar(random.range(0.5, 2)),
      );
      const sphere = new Sphere(random.point(1), random.range(0.2, 2));
      const count = 40;
      const local = Array.from({ length: count }, () => matrixOf(random));
      const matrices = Float32Array.from(local.flatMap(({ elements }) => elements));
      const pixels = random.range(100, 1000);
      const tested = new InstanceTest();
      tested.begin(volume, camera, world, pixels, 0);
      const found = tested.begun(count);
      const numbers = Uint32Array.from({ length: count }, (_, i) => i);
      tested.findAmong(matrices, numbers, count, sphere);
      const those = Array.from(found.numbers.subarray(0, found.count));
      for (let i = 0; i < count; i++) {
        const matrix = new Matrix4().multiplyMatrices(world, new Matrix4().fromArray(matrices, 16 * i));
        const placed = sphere.clone().applyMatrix4(matrix);
        // The reach of the ellipsoid that the sphere becomes, along each plane's normal.
        const { elements: m } = matrix;
        const gaps = volume.frustum.planes.map(({ normal: n, constant }) => {
          const along = [0, 4, 8].map((k) => n.x * m[k] + n.y * m[k + 1] + n.z * m[k + 2]);
          return n.dot(placed.center) + constant + sphere.radius * Math.hypot(...along);
        });
        const nearest = Math.min(...gaps);
        if (Math.abs(nearest) > 1e-3) expect(those.includes(i), `instance ${i} of round ${round}`).toBe(nearest > 0);
        if (nearest > 0) seen++;
        else left++;
        // Its diameter, by the largest scale, at the depth that the projection gives it.
        const w =
          camera instanceof PerspectiveCamera ? -placed.center.clone().applyMatrix4(camera.matrixWorldInverse).z : 1;
        const scale = world.getMaxScaleOnAxis() * new Matrix4().fromArray(matrices, 16 * i).getMaxScaleOnAxis();
        const size = w > 0 ? (2 * sphere.radius * scale * pixels) / w : Number.POSITIVE_INFINITY;
        const own = tested.sizeOf(matrices, i, sphere);
        if (Number.isFinite(size) && w > 1e-3) expect(Math.abs(own / size - 1)).toBeLessThan(1e-4);
      }
      const forms = { spheres: [sphere], ranges: Int32Array.of(3, 30) } as never;
      tested.findDepths(matrices, forms, tested.eye);
      const depthOf = (i: number) =>
        -sphere.center
          .clone()
          .applyMatrix4(new Matrix4().fromArray(matrices, 16 * i))
          .applyMatrix4(world)
          .applyMatrix4(camera.matrixWorldInverse).z;
      // Depths are relative to an arbitrary position along the axis.
      those.forEach((i, n) => {
        const [own, truth] = [found.depths[n] - found.depths[0], depthOf(i) - depthOf(those[0])];
        expect(Math.abs(own - truth)).toBeLessThan(1e-4);
      });
      for (const direction of [1, -1] as const) {
        const listed = tested.list(forms, direction);
        const depths = Array.from(listed.numbers, depthOf);
        depths.slice(1).forEach((depth, n) => {
          expect(direction * (depth - depths[n])).toBeGreaterThan(-1e-4);
        });
        expect([listed.indices, ...new Set(listed.starts), ...new Set(listed.counts)]).toEqual(
          found.count === 0 ? [0] : [30 * found.count, 3, 30],
        );
      }
    }
    expect(Math.min(seen, left)).toBeGreaterThan(300);
  });

  test(`that touch the view are seen where three sees them, seed ${SEED}`, () => {
    const random = new Random(SEED);
    for (let round = 0; round < 400; round++) {
      const camera = cameraOf(random);
      camera.position.multiplyScalar(random.pick([1, 100])); // digits are lost far away
      camera.updateMatrixWorld();
      const volume = new ViewVolume().set(camera);
      const tested = new InstanceTest();
      tested.begin(volume, camera, new Matrix4(), 500, 0);
      const center = random.point(40);
      const gap = Math.min(...volume.frustum.planes.map((plane) => plane.distanceToPoint(center)));
      if (gap > 0) continue;
      const sphere = new Sphere(center, -gap);
      expect(volume.frustum.intersectsSphere(sphere)).toBe(true);
      expect(tested.maySee(new Matrix4().elements, 0, sphere), `round ${round}`).toBe(true);
      sphere.radius *= 0.99;
      expect(tested.maySee(new Matrix4().elements, 0, sphere), `round ${round}`).toBe(false);
    }
  });

  test('that are not kept go, and the others stay in their order', () => {
    const found = {
      count: 5,
      numbers: Uint32Array.of(7, 3, 9, 1, 4, 77),
      forms: Uint32Array.of(0, 1, 0, 1, 0, 77),
      depths: Float64Array.of(0.5, 1.5, 2.5, 3.5, 4.5, 77),
      matrices: null,
    };
    keepWhere(found, (instance, form) => instance !== 3 && !(instance === 4 && form === 0));
    expect(found.count).toBe(3);
    expect([...found.numbers.subarray(0, 3)]).toEqual([7, 9, 1]);
    expect([...found.forms.subarray(0, 3)]).toEqual([0, 0, 1]);
    expect([...found.depths.subarray(0, 3)]).toEqual([0.5, 2.5, 3.5]);
  });
});

describe('bounds', () => {
  test('are those of the vertices as they are now; a geometry without any has none', () => {
    const geometry = new BoxGeometry(2, 4, 6);
    expect(boundsOf(geometry)!.box).toEqual(new Box3(new Vector3(-1, -2, -3), new Vector3(1, 2, 3)));
    expect(boundsOf(geometry)).toBe(boundsOf(geometry));
    const { position } = geometry.attributes;
    position.setX(0, 50);
    position.needsUpdate = true;
    expect(boundsOf(geometry)!.box.max.x).toBe(50);
    expect(boundsOf(new BufferGeometry())).toBeNull();
    position.setY(0, Number.NaN);
    position.needsUpdate = true;
    expect(boundsOf(geometry)).toBeNull();
  });

  test('grow by the sphere of the app where that is larger, and not by that of a box', () => {
    const geometry = new BoxGeometry(2, 2, 2);
    geometry.boundingSphere = new Sphere(new Vector3(), Math.sqrt(3));
    expect(boundsOf(geometry)!.isLarger).toBeUndefined();
    geometry.boundingSphere = new Sphere(new Vector3(1, 0, 0), 9);
    const { sphere, isLarger } = boundsOf(geometry)!;
    expect(isLarger).toBe(true);
    expect(sphere.radius).toBe(10); // about its own centre
  });

  test.each([true, false])('of morphed instances hold all vertices, relative %s', (isRelative) => {
    const random = new Random(SEED);
    const geometry = new SphereGeometry(1, 6, 4);
    const { position } = geometry.attributes;
    const target = () =>
      new BufferAttribute(
        Float32Array.from(position.array, () => random.range(-1, 1)),
        3,
      );
    geometry.morphAttributes.position = [target(), target()];
    geometry.morphTargetsRelative = isRelative;
    const mesh = new InstancedMesh(geometry, new MeshBasicMaterial(), 5);
    expect(morphGrowth(mesh)).toBeNull(); // no instance has influences
    // As three lays them out: the weight of the base, then the influences.
    const rows = Array.from({ length: 5 }, () => {
      const influences = [random.range(-1, 1), random.range(-1, 1)];
      return [isRelative ? 1 : 1 - influences[0] - influences[1], ...influences];
    });
    mesh.morphTexture = new DataTexture(Float32Array.from(rows.flat()), 3, 5, RedFormat, FloatType);
    const growth = morphGrowth(mesh)!;
    rows.forEach(([base, ...influences], instance) => {
      const most = Math.max(
        ...Array.from({ length: position.count }, (_, i) => {
          const at = new Vector3().fromBufferAttribute(position as BufferAttribute, i).multiplyScalar(base);
          geometry.morphAttributes.position!.forEach((morph, k) => {
            at.addScaledVector(new Vector3().fromBufferAttribute(morph as BufferAttribute, i), influences[k]);
          });
          return at.length();
        }),
      );
      expect(1 + growth(instance)).toBeGreaterThanOrEqual(most - 1e-6);
      const reach = Math.abs(influences[0]) + Math.abs(influences[1]);
      expect(growth(instance)).toBeLessThan(3 * reach + 1e-6);
    });
    const empty = new InstancedMesh(new BufferGeometry(), new MeshBasicMaterial(), 1);
    empty.morphTexture = mesh.morphTexture;
    expect(morphGrowth(empty)).toBeNull();
  });
});

test('the scene of an object is the topmost one above it, or itself', () => {
  const [outer, inner, object] = [new Scene(), new Scene(), new Mesh()];
  expect(sceneOf(object)).toBeNull();
  expect(sceneOf(new Group().add(object))).toBeNull();
  inner.add(new Group().add(object));
  expect(sceneOf(object)).toBe(inner);
  outer.add(inner);
  expect(sceneOf(object)).toBe(outer);
  expect(sceneOf(outer)).toBe(outer);
});

test.each([
  [1, 1, true],
  [0, -0, false],
  [Number.NaN, Number.NaN, true],
  ['a', 'b', false],
  [null, null, true],
  [null, {}, false],
  [{}, null, false],
  [1, {}, false],
  [{}, 1, false],
  [{ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, true],
  [{ a: [1, { c: 2 }] }, { a: [1, { c: 3 }] }, false],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [[1, 2], [1, 2, 3], false],
  [Float32Array.of(1, 2), Float32Array.of(1, 2), true],
  [Float32Array.of(1, 2), Float32Array.of(1, 3), false],
])('wishes %o and %o are the same: %s', (a, b, isSame) => {
  expect(isEqualDeep(a, b)).toBe(isSame);
});

test('the bounds of a geometry follow its own sphere, wherever that is', () => {
  const geometry = new BoxGeometry();
  geometry.boundingSphere = new Sphere(new Vector3(), 10);
  expect(boundsOf(geometry)!.sphere.radius).toBe(10);
  geometry.boundingSphere.center.x = 100;
  expect(boundsOf(geometry)!.sphere.radius).toBe(110);
  geometry.boundingSphere = null;
  expect(boundsOf(geometry)!.sphere.radius).toBeCloseTo(Math.sqrt(0.75));
});

test('what has no bounds, as a vertex is NaN, is looked through once', () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {}); // three reports it each time
  const geometry = new BoxGeometry();
  geometry.attributes.position.setX(0, Number.NaN);
  geometry.computeBoundingSphere();
  expect(boundsOf(geometry)).toBe(null);
  const { length } = said.mock.calls;
  expect(boundsOf(geometry)).toBe(null);
  expect(said.mock.calls).toHaveLength(length);
  said.mockRestore();
});

// Instances that `culling` sorts, and draws in levels of detail: the images are those of meshes that are sorted and culled by
// slow code, and drawn by three alone.
import { type DetailLevel, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  ConeGeometry,
  IcosahedronGeometry,
  InstancedMesh,
  LOD,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  type PerspectiveCamera,
  Quaternion,
  type Scene,
  Vector3,
} from 'three';
import { expect, test, vi } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { forest, litScene, PICTURE, randomTransform, readPixels } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

withService();

const [matrix, centre, scale, turn] = [new Matrix4(), new Vector3(), new Vector3(), new Quaternion()];

/** Returns the image of a scene that is drawn by three. */
function drawn(scene: Scene, camera: PerspectiveCamera): Uint8ClampedArray {
  renderer.render(scene, camera);
  return readPixels(renderer);
}

function different(a: Uint8ClampedArray, b: Uint8ClampedArray): number {
  let count = 0;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) count++;
  return count;
}

/** The depth of an instance's centre in front of the camera. */
function depthOf(mesh: InstancedMesh, i: number, camera: PerspectiveCamera): number {
  mesh.geometry.computeBoundingSphere();
  mesh.getMatrixAt(i, matrix);
  centre.copy(mesh.geometry.boundingSphere!.center).applyMatrix4(matrix).applyMatrix4(mesh.matrixWorld);
  return -centre.applyMatrix4(camera.matrixWorldInverse).z;
}

/** The diameter in pixels of the sphere around an instance, if nothing is sheared. */
function pixelsAcross(mesh: InstancedMesh, i: number, camera: PerspectiveCamera): number {
  const depth = depthOf(mesh, i, camera);
  mesh.getMatrixAt(i, matrix);
  matrix.decompose(centre, turn, scale);
  const largest = Math.max(...scale.toArray().map(Math.abs));
  const focus = PICTURE.height / 2 / Math.tan((camera.fov * Math.PI) / 360);
  return depth <= 0 ? Infinity : (2 * mesh.geometry.boundingSphere!.radius * largest * focus) / depth;
}

/** Draws some instances of a mesh in their order. */
function only(mesh: InstancedMesh, numbers: readonly number[], geometry: BufferGeometry = mesh.geometry) {
  const some = new InstancedMesh(geometry, mesh.material, Math.max(1, numbers.length));
  some.count = numbers.length;
  numbers.forEach((i, n) => {
    mesh.getMatrixAt(i, matrix);
    some.setMatrixAt(n, matrix);
    some.instanceMatrix.array.set(mesh.instanceMatrix.array.subarray(16 * i, 16 * i + 16), 16 * n);
    if (mesh.instanceColor === null) return;
    some.setColorAt(n, FIRST);
    some.instanceColor!.array.set(mesh.instanceColor.array.subarray(3 * i, 3 * i + 3), 3 * n);
  });
  return some;
}
const FIRST = new MeshBasicMaterial().color;

test.each(['front-to-back', 'back-to-front'] as const)(
  `instances that shine through, %s, seed ${SEED}`,
  async (order) => {
    const random = new Random(SEED);
    const glass = new MeshLambertMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
    const crowd = forest(random, 300, glass);
    const scene = litScene(crowd);
    const camera = pictureCamera();
    const asked: InstancedMesh[] = [];
    const wish = (mesh: InstancedMesh) => {
      asked.push(mesh);
      return order;
    };
    const tracker = await trackScene(service, scene, { culling: { order: wish } });
    for (let frame = 0; frame < 12; frame++) {
      camera.rotation.y += 0.1;
      for (let n = 0; n < 20; n++) crowd.setMatrixAt(random.integer(300), randomTransform(random, 40));
      crowd.instanceMatrix.needsUpdate = true;
      crowd.boundingSphere = null;
      const picture = drawn(scene, camera);
      if (frame > 0) {
        const numbers = [...Array(300).keys()].sort((a, b) => depthOf(crowd, a, camera) - depthOf(crowd, b, camera));
        if (order === 'back-to-front') numbers.reverse();
        expect([frame, different(picture, drawn(litScene(only(crowd, numbers)), camera))]).toEqual([frame, 0]);
        expect(tracker.culled.instances).toBeGreaterThan(50);
      }
      await tracker.update(camera, PICTURE);
    }
    expect(asked).toEqual([crowd]);
    // The order matters: in the order of the instances' numbers the image is different.
    expect(
      different(drawn(scene, camera), drawn(litScene(only(crowd, [...Array(300).keys()])), camera)),
    ).toBeGreaterThan(100);
  },
);

test(`levels of detail of instances, in two views, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const trees = forest(random, 300);
  const levels: DetailLevel[] = [
    { pixels: 30, geometry: new ConeGeometry(0.5, 2, 4) },
    { pixels: 12, geometry: new BoxGeometry(0.6, 2, 0.6), hysteresis: 0.5 },
  ];
  const scene = litScene(trees);
  const cameras = { main: pictureCamera(), map: pictureCamera() };
  cameras.map.position.set(0, 30, 0);
  cameras.map.rotation.x = -1.2;
  const tracker = await trackScene(service, scene, {
    culling: { levels: (mesh) => (mesh === trees ? levels : undefined) },
  });
  const chosen = { main: new Uint8Array(300), map: new Uint8Array(300) };
  let kept = 0;
  for (let frame = 0; frame < 25; frame++) {
    cameras.main.rotation.y = 0.3 * Math.sin(frame / 4);
    cameras.main.position.z = 8 * Math.sin(frame / 5);
    for (const [name, camera] of Object.entries(cameras)) {
      const picture = drawn(scene, camera);
      if (frame === 0) continue;
      const level = chosen[name as 'main'];
      const parts: number[][] = [[], [], []];
      for (let i = 0; i < 300; i++) {
        const pixels = pixelsAcross(trees, i, camera);
        const plain = pixels < 12 ? 2 : pixels < 30 ? 1 : 0;
        // Coarser at once, finer only when it is larger by the hysteresis.
        let next = Math.max(plain, level[i]);
        if (next === 2 && pixels >= 12 * 1.5) next = 1;
        if (next === 1 && pixels >= 30 * 1.1) next = 0;
        if (next !== plain) kept++;
        level[i] = next;
        parts[next].push(i);
      }
      const geometries = [trees.geometry, ...levels.map(({ geometry }) => geometry!)];
      // Instances outside the image keep their level in the reference; their actual level does not matter until they come back.
      const expected = drawn(litScene(...parts.map((numbers, n) => only(trees, numbers, geometries[n]))), camera);
      expect([frame, name, different(picture, expected) < 60]).toEqual([frame, name, true]);
      expect(tracker.culled.triangles).toBeGreaterThan(0);
    }
    tracker.setView(cameras.map, PICTURE, 'map');
    await tracker.update(cameras.main, PICTURE);
  }
  expect(kept).toBeGreaterThan(10);
});

test('a LOD by its pixels, whatever its distances say, and with hysteresis', async () => {
  const lod = new LOD();
  const material = new MeshBasicMaterial();
  const parts = [new IcosahedronGeometry(1, 2), new IcosahedronGeometry(1, 1), new IcosahedronGeometry(1, 0)];
  for (const geometry of parts) lod.addLevel(new Mesh(geometry, material), 1e6 * lod.levels.length);
  const camera = pictureCamera();
  const scene = litScene(lod);
  const focus = PICTURE.height / 2 / Math.tan(Math.PI / 6);
  const tracker = await trackScene(service, scene, {
    culling: {
      levels: (object) => ('isLOD' in object ? [{ pixels: 40 }, { pixels: 20, hysteresis: 0.2 }] : undefined),
    },
  });
  const shown = async (pixels: number): Promise<number> => {
    camera.position.z = (2 * focus) / pixels;
    await tracker.update(camera, PICTURE);
    await tracker.update(camera, PICTURE);
    renderer.render(scene, camera);
    return lod.getCurrentLevel();
  };
  const levels: number[] = [];
  for (const pixels of [50, 39, 42, 45, 21, 19, 23, 25, 100, 5]) levels.push(await shown(pixels));
  expect(levels).toEqual([0, 1, 1, 0, 1, 2, 2, 1, 0, 2]);
  expect(lod.levels.map(({ object }) => object.visible)).toEqual([false, false, true]);
  expect(Object.hasOwn(lod, 'update')).toBe(false);
  // Zoomed in, it is larger.
  camera.zoom = 30;
  camera.updateProjectionMatrix();
  expect(await shown(5)).toBe(0);
  // Other cameras choose by distance.
  renderer.render(scene, camera.clone());
  expect(lod.getCurrentLevel()).toBe(0);
});

test('what is wrong with levels or an order is said once, and costs that mesh alone its levels', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const random = new Random(SEED);
  const meshes = [forest(random, 20), forest(random, 20), forest(random, 20)];
  meshes.forEach((mesh, i) => {
    mesh.name = `mesh ${i}`;
  });
  const wrong: unknown[] = [[{ pixels: -1, geometry: new BoxGeometry() }], [{ pixels: 3 }], 7];
  const tracker = await trackScene(service, litScene(...meshes), {
    culling: {
      levels: (mesh) => wrong[meshes.indexOf(mesh as InstancedMesh)] as DetailLevel[],
      order: (mesh) => (mesh === meshes[0] ? ('nearest' as never) : undefined),
    },
  });
  const scene = meshes[0].parent as Scene;
  const camera = pictureCamera();
  for (let frame = 0; frame < 3; frame++) {
    await tracker.update(camera, PICTURE);
    expect(different(drawn(scene, camera), drawn(scene, camera.clone()))).toBe(0);
  }
  const said = warn.mock.calls.map(([message]) => String(message));
  expect(said.filter((each) => each.includes('culling.levels[0].pixels is -1'))).toHaveLength(1);
  expect(said.filter((each) => each.includes('culling.levels[0].geometry is undefined'))).toHaveLength(1);
  expect(said.filter((each) => each.includes('culling.levels is 7'))).toHaveLength(1);
  expect(said.filter((each) => each.includes('"nearest"'))).toHaveLength(1);
  warn.mockRestore();
  await expect(trackScene(service, scene, { culling: { order: 'nearest' as never } })).rejects.toThrow('culling.order');
  await expect(trackScene(service, scene, { culling: { levels: [] as never } })).rejects.toThrow('culling.levels');
});

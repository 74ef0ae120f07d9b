// Images with `culling` are the images without it, to the last pixel: each is drawn twice, the second time by a camera
// that the tracker does not know, and so by three alone.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  Color,
  ConeGeometry,
  DirectionalLight,
  DoubleSide,
  Group,
  IcosahedronGeometry,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Quaternion,
  Vector3,
  WebGLRenderTarget,
} from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, flyAndCompare, forest, litScene, PICTURE, randomTransform } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

withService();

test(`a forest that stands still, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const trees = forest(random, 2000);
  const place = new Group();
  place.position.set(1, 0, -2);
  place.rotation.y = 0.4;
  place.scale.set(1.2, 1, 0.8);
  place.add(trees);
  const { instances, triangles } = await flyAndCompare(random, {
    service,
    painter: renderer,
    scene: litScene(place),
    camera: pictureCamera(),
  });
  expect(instances).toBeGreaterThan(40 * 800);
  expect(triangles).toBe(instances * (trees.geometry.index!.count / 3));
});

test(`a crowd of which all move, and some jump, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const crowd = forest(random, 1500, new MeshLambertMaterial({ transparent: true, opacity: 0.6, depthWrite: false }));
  const drift = Array.from({ length: 1500 }, () => random.direction().multiplyScalar(random.range(0, 0.5)));
  const [matrix, move] = [new Matrix4(), new Matrix4()];
  const step = (frame: number): void => {
    for (let i = 0; i < 1500; i++) {
      crowd.getMatrixAt(i, matrix);
      if (random.chance(0.01)) matrix.copy(randomTransform(random, 40));
      else matrix.premultiply(move.makeTranslation(drift[i].x, drift[i].y, drift[i].z));
      // One that is flat and one that is a point: three draws the first.
      if (i === 7) matrix.compose(new Vector3(0, 0, -6), new Quaternion(), new Vector3(4, 4, 0));
      if (i === 8) matrix.makeScale(0, 0, 0);
      crowd.setMatrixAt(i, matrix);
    }
    if (frame % 7 === 0) crowd.setColorAt(frame, new Color(1, 0, 0));
    if (crowd.instanceColor) crowd.instanceColor.needsUpdate = true;
    crowd.instanceMatrix.needsUpdate = true;
    crowd.boundingSphere = null;
    crowd.count = frame % 20 === 19 ? 900 : 1500;
  };
  const { instances } = await flyAndCompare(random, {
    service,
    painter: renderer,
    scene: litScene(crowd),
    camera: pictureCamera(),
    step,
  });
  expect(instances).toBeGreaterThan(40 * 400);
});

test(`meshes that come, go, move and change, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const geometries = [new BoxGeometry(1, 6, 1), new IcosahedronGeometry(1, 1), new PlaneGeometry(3, 0.2)];
  const material = new MeshLambertMaterial({ side: DoubleSide });
  const groups = [new Group(), new Group(), new Group()];
  const meshes = Array.from({ length: 250 }, () => {
    const mesh = new Mesh(geometries[random.integer(3)], material);
    randomTransform(random, 30).decompose(mesh.position, mesh.quaternion, mesh.scale);
    groups[random.integer(3)].add(mesh);
    return mesh;
  });
  const scene = litScene(...groups);
  const step = (): void => {
    for (const mesh of meshes) {
      if (random.chance(0.7)) continue;
      mesh.position.add(random.direction().multiplyScalar(random.range(0, 0.3)));
      mesh.rotateY(0.2);
      if (random.chance(0.02)) mesh.position.set(random.range(-9, 9), 0, random.range(-9, 9));
      if (random.chance(0.02)) mesh.geometry = geometries[random.integer(3)];
      if (random.chance(0.02)) mesh.visible = !mesh.visible;
      if (random.chance(0.02)) groups[random.integer(3)].add(mesh);
      if (random.chance(0.01)) mesh.removeFromParent();
    }
    groups[random.integer(3)].visible = random.chance(0.8);
    if (random.chance(0.2)) geometries[0].translate(random.range(-0.3, 0.3), 0, 0);
    if (random.chance(0.2)) geometries[0].computeBoundingSphere();
  };
  const { objects } = await flyAndCompare(random, {
    service,
    painter: renderer,
    scene,
    camera: pictureCamera(),
    step,
    frames: 100,
  });
  expect(objects).toBeGreaterThan(0);
});

test.each([
  ['sorted', { sortObjects: true, transparent: false }],
  ['transparent', { sortObjects: true, transparent: true }],
  ['in order', { sortObjects: false, transparent: true }],
])(`a batch that moves and changes, %s, seed ${SEED}`, async (_, { sortObjects, transparent }) => {
  const random = new Random(SEED);
  const material = new MeshLambertMaterial({ transparent, opacity: transparent ? 0.5 : 1, depthWrite: !transparent });
  const batch = new BatchedMesh(700, 16384, 16384, material);
  batch.sortObjects = sortObjects;
  const forms = [new BoxGeometry(1, 3, 1), new IcosahedronGeometry(1, 1), new ConeGeometry(1, 2, 7)].map((each) =>
    each.index === null ? each.setIndex([...each.attributes.position.array.keys()].slice(0, 240)) : each,
  );
  // three before r166 has one instance of each geometry.
  const areOne = typeof batch.addInstance !== 'function';
  const geometries = areOne ? [] : forms.map((each) => batch.addGeometry(each));
  const instances = Array.from({ length: areOne ? 60 : 600 }, () =>
    areOne ? batch.addGeometry(forms[random.integer(3)]) : batch.addInstance(geometries[random.integer(3)]),
  );
  for (const instance of instances) batch.setMatrixAt(instance, randomTransform(random, 30));
  batch.position.set(1, 0, 2);
  batch.rotation.y = 1;
  const step = (): void => {
    for (let n = 0; n < 40; n++)
      batch.setMatrixAt(instances[random.integer(instances.length)], randomTransform(random, 20));
    const some = () => instances[random.integer(instances.length)];
    batch.setVisibleAt(some(), random.chance(0.5));
    if (random.chance(0.5)) batch.setGeometryIdAt?.(some(), geometries[random.integer(3)]);
    // three before r170 cannot delete them.
    if (random.chance(0.3) && typeof batch.deleteInstance === 'function') {
      batch.deleteInstance(instances.splice(random.integer(instances.length), 1)[0]);
    }
    if (random.chance(0.3) && !areOne) {
      const added = batch.addInstance(geometries[random.integer(3)]);
      batch.setMatrixAt(added, randomTransform(random, 8));
      instances.push(added);
    }
  };
  const camera = pictureCamera();
  const given = { service, painter: renderer, scene: litScene(batch), camera, step, frames: 20 };
  const { instances: left } = await flyAndCompare(random, given);
  expect(left).toBeGreaterThan(areOne ? 20 * 10 : 20 * 100);
});

test(`shadows, a mirror and a second view, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  renderer.shadowMap.enabled = true;
  const trees = forest(random, 400);
  trees.castShadow = trees.receiveShadow = true;
  const floor = new Mesh(new PlaneGeometry(100, 100), new MeshLambertMaterial());
  floor.rotation.x = -Math.PI / 2;
  floor.position.y = -3;
  floor.receiveShadow = true;
  const scene = litScene(trees, floor);
  const sun = scene.children.find((each) => each instanceof DirectionalLight) as DirectionalLight;
  sun.castShadow = true;
  Object.assign(sun.shadow.camera, { left: -40, right: 40, top: 40, bottom: -40, far: 60 });
  sun.position.set(10, 20, 5);
  // It shows what a camera behind it sees, which is rendered during the render.
  const target = new WebGLRenderTarget(64, 64);
  const eye = new PerspectiveCamera(70, 1, 0.1, 80);
  eye.rotation.y = Math.PI;
  const mirror = new Mesh(new PlaneGeometry(6, 6), new MeshBasicMaterial({ map: target.texture }));
  mirror.position.set(0, 0, -8);
  mirror.onBeforeRender = () => {
    const before = renderer.getRenderTarget();
    mirror.visible = false;
    renderer.setRenderTarget(target);
    renderer.render(scene, eye);
    renderer.setRenderTarget(before);
    mirror.visible = true;
  };
  scene.add(mirror);
  const camera = pictureCamera();
  const map = new PerspectiveCamera(50, PICTURE.width / PICTURE.height, 0.1, 100);
  map.position.set(0, 60, 0);
  map.rotation.x = -Math.PI / 2;
  let mapped = 0;
  const step = (frame: number, tracker: SceneTracker): void => {
    map.position.x = Math.sin(frame / 10) * 30;
    if (frame > 0) {
      expect(compareCulling(renderer, scene, map).count).toBe(0);
      mapped += tracker.culled.instances;
    }
    tracker.setView(map, PICTURE, 'map');
    if (frame % 5 === 0) camera.lookAt(mirror.position);
  };
  const { instances } = await flyAndCompare(random, { service, painter: renderer, scene, camera, step, frames: 25 });
  expect(instances).toBeGreaterThan(25 * 100);
  expect(mapped).toBeGreaterThan(0);
});

test('what the app has is never written, and hooks of its own are called', async () => {
  const random = new Random(SEED);
  const trees = forest(random, 200);
  const box = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  const scene = litScene(trees, box);
  const called: string[] = [];
  scene.onBeforeRender = () => called.push('first');
  const written: string[] = [];
  let isWatching = false;
  for (const object of [trees, box] as object[]) {
    for (const key of ['visible', 'layers', 'count', 'instanceMatrix', 'instanceColor', 'geometry', 'children']) {
      if (!(key in object)) continue;
      let value = (object as Record<string, unknown>)[key];
      Object.defineProperty(object, key, {
        configurable: true,
        get: () => value,
        set: (next) => {
          if (isWatching) written.push(key);
          value = next;
        },
      });
    }
  }
  const camera = pictureCamera();
  const tracker = await trackScene(service, scene, { culling: true });
  scene.onAfterRender = () => called.push(`after ${trees.children.length}`);
  isWatching = true;
  for (let frame = 0; frame < 4; frame++) {
    renderer.render(scene, camera);
    expect(trees.children).toEqual([]);
    expect(trees.count).toBe(200);
    await tracker.update(camera, PICTURE);
  }
  expect(tracker.culled.instances).toBeGreaterThan(0);
  expect(written).toEqual([]);
  expect(called.filter((each) => each === 'first').length).toBe(4);
  expect(called.filter((each) => each === 'after 0').length).toBe(4);
  // A render that throws leaves nothing behind.
  box.onBeforeRender = () => {
    throw new Error('on purpose');
  };
  expect(() => renderer.render(scene, camera)).toThrow('on purpose');
  box.onBeforeRender = () => {};
  await tracker.update(camera, PICTURE);
  expect(trees.children).toEqual([]);
  tracker.dispose();
  expect(Object.hasOwn(scene, 'onBeforeRender')).toBe(true);
  called.length = 0;
  renderer.render(scene, camera);
  expect(called).toEqual(['first', 'after 0']);
});

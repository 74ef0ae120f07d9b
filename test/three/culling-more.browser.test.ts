// More of what `culling` leaves out without a differing pixel (culling.browser.test.ts): instances with morph targets, renders
// within renders, occlusion for cameras without a perspective, and occluded instances of a BatchedMesh.
import { type SceneTracker, trackScene } from 'collision-worker/three';
import {
  BatchedMesh,
  BoxGeometry,
  Float32BufferAttribute,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  OrthographicCamera,
  PerspectiveCamera,
  PlaneGeometry,
  WebGLRenderTarget,
} from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, flyAndCompare, forest, litScene, PICTURE, randomTransform } from '../fixtures/flights.js';
import { Random, SEED } from '../oracle/random.js';

withService();

test.each([true, false])(`instances with morph targets, relative ones: %s, seed ${SEED}`, async (isRelative) => {
  const random = new Random(SEED);
  const geometry = new IcosahedronGeometry(0.5, 1);
  const { array, count } = geometry.attributes.position;
  const target = (stretch: number) => {
    const moved = Float32Array.from(array, (each, i) => each * (i % 3 === 0 ? stretch : 1) - (isRelative ? each : 0));
    return new Float32BufferAttribute(moved, 3);
  };
  geometry.morphAttributes.position = [target(6), target(0.2)];
  geometry.morphTargetsRelative = isRelative;
  expect(count).toBeGreaterThan(100);
  const crowd = new InstancedMesh(geometry, new MeshLambertMaterial(), 300);
  const pose = new Mesh(geometry);
  const put = (i: number): void => {
    crowd.setMatrixAt(i, randomTransform(random, 40));
    pose.morphTargetInfluences = [random.range(-1, 1.5), random.range(0, 1)];
    crowd.setMorphAt(i, pose);
  };
  for (let i = 0; i < 300; i++) put(i);
  const step = (): void => {
    for (let n = 0; n < 15; n++) put(random.integer(300));
    crowd.instanceMatrix.needsUpdate = true;
    crowd.morphTexture!.needsUpdate = true;
    crowd.boundingSphere = null;
  };
  const { instances } = await flyAndCompare(random, {
    ...{ service, painter: renderer, scene: litScene(crowd), camera: pictureCamera(), step, frames: 25 },
    options: { culling: { occlusion: true } },
  });
  expect(instances).toBeGreaterThan(25 * 80);
});

test(`pictures within the picture, of a camera that is tracked and one that is not, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const glass = new MeshLambertMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
  const crowd = forest(random, 300, glass);
  const scene = litScene(crowd);
  const eyes = [-1, 1].map((side) => {
    const target = new WebGLRenderTarget(64, 64);
    const eye = new PerspectiveCamera(70, 1, 0.1, 80);
    eye.position.x = 5 * side;
    const mirror = new Mesh(new PlaneGeometry(4, 4), new MeshBasicMaterial({ map: target.texture }));
    mirror.position.set(2.5 * side, 0, -8);
    mirror.onBeforeRender = () => {
      const before = renderer.getRenderTarget();
      for (const each of eyes) each.mirror.visible = false;
      renderer.setRenderTarget(target);
      renderer.render(scene, eye);
      renderer.setRenderTarget(before);
      for (const each of eyes) each.mirror.visible = true;
    };
    scene.add(mirror);
    return { eye, mirror };
  });
  const step = (frame: number, tracker: SceneTracker): void => {
    for (const { eye } of eyes) eye.rotation.y = 1 + frame / 10;
    tracker.setView(eyes[0].eye, { width: 64, height: 64 }, 'mirror');
  };
  const fly = (camera: PerspectiveCamera, frame: number): void => {
    camera.rotation.y = 0.5 * Math.sin(frame / 5);
  };
  const { instances } = await flyAndCompare(random, {
    ...{ service, painter: renderer, scene, camera: pictureCamera(), step, fly, frames: 20 },
  });
  expect(instances).toBeGreaterThan(20 * 100);
});

/** A wall, and instances in front of it and behind it. */
function behindWalls(random: Random, kind: 'batch' | 'instances') {
  const wall = new Mesh(new BoxGeometry(60, 20, 1), new MeshLambertMaterial({ color: 0x775533 }));
  wall.position.z = -5;
  const material = new MeshLambertMaterial({ color: 0x33aaff });
  const forms = [new IcosahedronGeometry(0.5, 1), new IcosahedronGeometry(0.8, 0)];
  for (const form of forms)
    form.setIndex([...form.attributes.position.array.keys()].slice(0, form.attributes.position.count));
  const many =
    kind === 'batch' ? new BatchedMesh(500, 1000, 1000, material) : new InstancedMesh(forms[0], material, 500);
  const geometries = many instanceof BatchedMesh ? forms.map((form) => many.addGeometry(form)) : [];
  for (let i = 0; i < 500; i++) {
    if (many instanceof BatchedMesh) many.addInstance(geometries[i % 2]);
    many.setMatrixAt(i, randomTransform(random, 40));
  }
  return { wall, many, forms, geometries };
}

test(`instances of a BatchedMesh that are hidden, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const { wall, many, forms, geometries } = behindWalls(random, 'batch');
  const batch = many as BatchedMesh;
  const camera = pictureCamera();
  const { occluded } = await flyAndCompare(random, {
    ...{ service, painter: renderer, scene: litScene(wall, batch), camera, frames: 60 },
    options: { culling: { occlusion: true } },
    fly: (eye) => {
      if (random.chance(0.5)) eye.rotation.y += random.range(-0.1, 0.1);
      if (random.chance(0.1)) eye.position.set(random.range(-8, 8), 1, random.range(-3, 8));
    },
    step: (frame) => {
      wall.visible = frame % 24 !== 0;
      if (frame % 9 === 5) wall.position.y = wall.position.y === 0 ? 15 : 0;
      const some = random.integer(500);
      // Many come out from behind the wall, or go there: a late answer has not seen that.
      const side = frame % 8 === 1 ? 2 : -20;
      for (let i = 0; i < 60 && frame % 4 === 1; i++) {
        batch.setMatrixAt(i, new Matrix4().setPosition(random.range(-9, 9), random.range(-3, 3), side));
      }
      if (frame % 8 === 5) batch.setGeometryIdAt(some, random.pick(geometries));
      if (frame % 16 === 7) batch.setVisibleAt(some, false);
      if (frame % 16 === 15) batch.setVisibleAt(some, true);
      // Vertices that suddenly stick out over the wall.
      if (frame % 20 === 19) {
        forms[0].attributes.position.array[1] += 12;
        batch.setGeometryAt(geometries[0], forms[0]);
      }
    },
  });
  expect(occluded).toBeGreaterThan(60 * 3);
});

test('instances of a BatchedMesh that come from behind a wall before an answer tells of it', async () => {
  const { wall, many } = behindWalls(new Random(SEED), 'batch');
  const batch = many as BatchedMesh;
  const put = (z: number): void => {
    for (let i = 0; i < 60; i++)
      batch.setMatrixAt(i, new Matrix4().setPosition((i % 10) - 5, Math.floor(i / 10) - 3, z));
  };
  put(-20);
  const camera = pictureCamera();
  camera.position.z = 8;
  const scene = litScene(wall, batch);
  const tracker = await trackScene(service, scene, { culling: { occlusion: true } });
  for (let frame = 0; frame < 4; frame++) {
    expect(compareCulling(renderer, scene, camera).count).toBe(0);
    await tracker.update(camera, PICTURE);
  }
  expect(tracker.culled.occluded).toBeGreaterThan(60);
  put(2);
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  const late = tracker.update(camera, PICTURE);
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  await late;
  batch.setGeometryIdAt(70, 0);
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
  tracker.dispose();
});

test.each(['batch', 'instances'] as const)(`what is hidden from a parallel view, %s, seed ${SEED}`, async (kind) => {
  const random = new Random(SEED);
  const { wall, many } = behindWalls(random, kind);
  // A palisade.
  wall.scale.x = 0.06;
  const walls = [-14, -9, -4, 1, 6, 11, 16].map((x, i) => {
    const one = wall.clone();
    one.position.set(x, 0, 4 * Math.sin(i));
    return one;
  });
  const camera = new OrthographicCamera(-16, 16, 12, -12, 0.1, 100);
  camera.position.set(0, 0, 20);
  const { occluded } = await flyAndCompare(random, {
    ...{ service, painter: renderer, scene: litScene(...walls, many), camera, frames: 50 },
    options: { culling: { occlusion: true } },
    fly: (eye, frame) => {
      if (frame % 10 < 4) eye.position.x += 0.1;
      if (frame % 10 > 4 && random.chance(0.4)) eye.rotation.y = random.range(-0.3, 0.3);
      if (frame % 10 === 7) eye.position.z -= 6; // its near plane comes up to the walls, and beyond
      if (frame % 25 === 24) eye.position.z = 20;
    },
  });
  expect(occluded).toBeGreaterThan(50 * 5);
});

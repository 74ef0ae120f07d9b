// With `culling`, instances were drawn differently from three where the stand-in for an InstancedMesh should not be used, or was
// no exact copy: in a nested render, by a camera with the same frustum, there were none; a VSM shadow map had them in their
// levels of detail; a shader that reads instance numbers, and colours shared by two instances each, got the wrong ones; a
// callback did not find the mesh, or turned it after its instances had been culled; and the app's update ranges piled up.
import { type TrackOptions, trackScene } from 'collision-worker/three';
import {
  BoxGeometry,
  type BufferGeometry,
  InstancedBufferAttribute,
  InstancedMesh,
  type Material,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  type Object3D,
  PlaneGeometry,
  Scene,
  ShaderMaterial,
  SphereGeometry,
  VSMShadowMap,
  WebGLRenderTarget,
} from 'three';
import { expect, test } from 'vitest';
import { pictureCamera, renderer } from '../fixtures/each-renderer.js';
import { service, withService } from '../fixtures/each-service.js';
import { compareCulling, PICTURE } from '../fixtures/flights.js';
import { sunlitFloor } from '../fixtures/sunlit-floor.js';

withService();

const COUNT = 41;

function placed<T extends InstancedMesh>(mesh: T): T {
  for (let i = 0; i < COUNT; i++) mesh.setMatrixAt(i, new Matrix4().makeTranslation(2 * (i - (COUNT - 1) / 2), 0, -10));
  return mesh;
}

/** A row from side to side; the camera sees its middle. */
function row(material: Material = new MeshBasicMaterial(), geometry: BufferGeometry = new BoxGeometry()) {
  return placed(new InstancedMesh(geometry, material, COUNT));
}

/** Compares images with those of three, and returns what was culled from the last. */
async function seen(objects: readonly Object3D[], options: TrackOptions = { culling: true }) {
  const scene = new Scene().add(...objects);
  const camera = pictureCamera();
  const tracker = await trackScene(service, scene, options);
  for (let frame = 0; frame < 4; frame++) {
    const { count, painted } = compareCulling(renderer, scene, camera);
    expect([frame, count]).toEqual([frame, 0]);
    expect(painted).toBeGreaterThan(1000);
    await tracker.update(camera, PICTURE);
  }
  return tracker.culled.instances;
}

test('a picture within the picture, by a camera of the same frustum', async () => {
  const target = new WebGLRenderTarget(PICTURE.width, PICTURE.height);
  const screen = new Mesh(new PlaneGeometry(4, 4), new MeshBasicMaterial({ map: target.texture }));
  screen.position.set(0, 1, -12);
  screen.onBeforeRender = (own, scene, camera) => {
    if (own.getRenderTarget() === target) return;
    screen.visible = false;
    const twin = pictureCamera();
    twin.projectionMatrix.copy(camera.projectionMatrix);
    twin.updateMatrixWorld();
    own.setRenderTarget(target);
    own.clear();
    own.render(scene, twin);
    own.setRenderTarget(null);
    screen.visible = true;
  };
  expect(await seen([row(), screen])).toBeGreaterThan(20);
});

test('shadows of variance', async () => {
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = VSMShadowMap;
  const invisible = new MeshLambertMaterial({ colorWrite: false, depthWrite: false });
  const balls = row(invisible, new SphereGeometry(0.5, 32, 16));
  balls.receiveShadow = balls.castShadow = true;
  const { floor, sun, ambient } = sunlitFloor(20);
  const levels = (object: Object3D) => (object === balls ? [{ pixels: 1e6, geometry: new BoxGeometry(3, 3, 3) }] : []);
  expect(await seen([balls, floor, sun, ambient], { culling: { levels } })).toBeGreaterThan(20);
});

const SHADERS: Record<string, (material: Material) => void> = {
  'of its own': () => {},
  'changed before it is compiled': (material) => {
    material.onBeforeCompile = (shader) => {
      shader.vertexShader = `varying float number;\n${shader.vertexShader}`.replace(
        '#include <begin_vertex>',
        '#include <begin_vertex>\nnumber = float(gl_InstanceID) / 41.0;',
      );
      shader.fragmentShader = `varying float number;\n${shader.fragmentShader}`.replace(
        '#include <opaque_fragment>',
        '#include <opaque_fragment>\ngl_FragColor = vec4(number, 1.0 - number, 0.5, 1.0);',
      );
    };
  },
};

/** Writes the number of each instance. */
const numberMaterial = () =>
  new ShaderMaterial({
    vertexShader: `varying float number;
      void main() {
        number = float(gl_InstanceID) / 41.0;
        gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: 'varying float number; void main() { gl_FragColor = vec4(number, 1.0 - number, 0.5, 1.0); }',
  });

test.each(Object.keys(SHADERS))('a shader that reads numbers of instances, %s', async (which) => {
  const mesh = row(which === 'of its own' ? numberMaterial() : new MeshBasicMaterial());
  SHADERS[which](mesh.material as Material);
  expect(await seen([mesh])).toBe(0);
  // The caller may declare that it does not matter.
  const other = row(new MeshBasicMaterial());
  other.material = Object.assign(new MeshBasicMaterial(), { onBeforeCompile: () => 'gl_InstanceID' });
  expect(await seen([other], { culling: true, objectOptions: () => ({ cullable: true }) })).toBeGreaterThan(20);
});

test('a shader that reads numbers of instances, for all meshes of the scene', async () => {
  const scene = new Scene().add(row());
  const camera = pictureCamera();
  const tracker = await trackScene(service, scene, { culling: true });
  for (let frame = 0; frame < 4; frame++) {
    scene.overrideMaterial = numberMaterial();
    expect([frame, compareCulling(renderer, scene, camera).count]).toEqual([frame, 0]);
    scene.overrideMaterial = new MeshBasicMaterial();
    expect([frame, compareCulling(renderer, scene, camera).count]).toEqual([frame, 0]);
    await tracker.update(camera, PICTURE);
  }
  expect(tracker.culled.instances).toBeGreaterThan(20);
});

test('colours that are for two instances each', async () => {
  const mesh = row();
  mesh.instanceColor = new InstancedBufferAttribute(
    Float32Array.from({ length: 63 }, (_, i) => (i % 7) / 7),
    3,
    false,
    2,
  );
  expect(await seen([mesh])).toBe(0);
});

test('a callback that reads what nobody inherits', async () => {
  class Trees extends InstancedMesh {
    #calls = 0;
    override onBeforeRender = (): void => {};
    count_(): void {
      this.#calls++;
    }
    get calls(): number {
      return this.#calls;
    }
  }
  const mesh = placed(new Trees(new BoxGeometry(), new MeshBasicMaterial(), COUNT));
  mesh.onBeforeRender = mesh.onAfterRender = function (this: Object3D) {
    (this as Trees).count_();
  };
  expect(await seen([mesh], { culling: true, objectOptions: () => ({ cullable: true }) })).toBeGreaterThan(20);
  expect(mesh.calls).toBe(16); // with eight images
});

const CALLBACKS: Record<string, (mesh: InstancedMesh) => void> = {
  'places the mesh': (mesh) => mesh.matrixWorld.makeTranslation(20, 0, 0),
  'sets the count': (mesh) => {
    mesh.count = 20;
  },
};

test.each(Object.keys(CALLBACKS))('a callback that %s', async (which) => {
  const mesh = row();
  mesh.onBeforeRender = () => CALLBACKS[which](mesh);
  mesh.onAfterRender = () => {
    mesh.count = COUNT;
  };
  expect(await seen([mesh])).toBe(0);
});

test('a callback that places the mesh, with sorted instances', async () => {
  const mesh = new InstancedMesh(new BoxGeometry(), new MeshBasicMaterial(), 400);
  for (let i = 0; i < 400; i++) {
    // Some are flat, and one is a point.
    const matrix = new Matrix4().makeScale(1, i % 9 === 7 ? 0 : 1, i % 9 === 8 ? 0 : 1);
    mesh.setMatrixAt(i, (i === 7 ? matrix.makeScale(0, 0, 0) : matrix).setPosition(2 * (i - 200), 0, -10));
  }
  mesh.onBeforeRender = () => mesh.matrixWorld.makeTranslation(200, 0, 0);
  expect(await seen([mesh], { culling: { order: 'front-to-back', minPixels: 1 } })).toBe(0);
});

test('ranges that are to be sent', async () => {
  const mesh = row();
  const scene = new Scene().add(mesh);
  const camera = pictureCamera();
  const tracker = await trackScene(service, scene, { culling: true });
  const { instanceMatrix } = mesh;
  for (let frame = 0; frame < 100; frame++) {
    instanceMatrix.addUpdateRange(16 * (frame % COUNT), 16);
    instanceMatrix.needsUpdate = true;
    renderer.render(scene, camera);
    if (frame < 4) await tracker.update(camera, PICTURE);
  }
  expect(tracker.culled.instances).toBeGreaterThan(20);
  expect(instanceMatrix.updateRanges.length).toBeLessThanOrEqual(COUNT + 1);
  // Once three draws the mesh itself, it uploads all that the app has changed.
  instanceMatrix.addUpdateRange(0, 16);
  mesh.setMatrixAt(20, new Matrix4().makeTranslation(0, 1, -10));
  instanceMatrix.addUpdateRange(16 * 20, 16);
  instanceMatrix.needsUpdate = true;
  expect(compareCulling(renderer, scene, camera).count).toBe(0);
});

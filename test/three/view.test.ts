import { viewFromCamera } from 'collision-worker/three';
import {
  ArrayCamera,
  Camera,
  Group,
  Matrix4,
  OrthographicCamera,
  PerspectiveCamera,
  StereoCamera,
  Vector3,
  Vector4,
  WebGPUCoordinateSystem,
} from 'three';
import { expect, test } from 'vitest';

const SIZE = { width: 800, height: 600 };
const NEAR = 0.5;
const FAR = 70;

const CAMERAS: [string, () => PerspectiveCamera | OrthographicCamera][] = [
  ['perspective', () => new PerspectiveCamera(60, 4 / 3, NEAR, FAR)],
  ['orthographic', () => new OrthographicCamera(-4, 4, 3, -3, NEAR, FAR)],
  [
    'off-axis',
    () => {
      const camera = new PerspectiveCamera(60, 4 / 3, NEAR, FAR);
      camera.setViewOffset(1600, 1200, 700, 100, 800, 600);
      return camera;
    },
  ],
];

// `_reversedDepth` is what three's renderers set on a camera when their depth buffer is reversed. Older ones reverse
// copies of the projection instead.
const CAN_REVERSE = 'reversedDepth' in new Camera();
const DEPTHS = [
  { name: 'WebGL', settings: {}, depth: 'webgl', reversed: false, near: -1, far: 1 },
  {
    name: 'WebGPU',
    settings: { coordinateSystem: WebGPUCoordinateSystem },
    depth: 'webgpu',
    reversed: false,
    near: 0,
    far: 1,
  },
  { name: 'reversed', settings: { _reversedDepth: true }, depth: 'webgpu', reversed: true, near: 1, far: 0 },
].filter(({ reversed }) => CAN_REVERSE || !reversed);

for (const [kind, make] of CAMERAS) {
  test.each(DEPTHS)(
    `${kind}, $name: the depths of near and far are as the view says`,
    ({ settings, near, far, ...expected }) => {
      const camera = Object.assign(make(), settings);
      camera.updateProjectionMatrix();
      camera.position.set(3, -2, 8);
      camera.rotation.set(0.3, 1, -0.2);
      const view = viewFromCamera(camera, SIZE);
      expect(view).toMatchObject({ depth: expected.depth, reversed: expected.reversed });
      expect(depthAt(camera, view, NEAR)).toBeCloseTo(near, 6);
      expect(depthAt(camera, view, FAR)).toBeCloseTo(far, 6);
    },
  );
}

test('the world matrix is brought up to date, parents included', () => {
  const rig = new Group();
  const camera = new PerspectiveCamera();
  rig.add(camera);
  rig.position.set(0, 5, 0);
  camera.position.set(1, 0, 0);
  const { view } = viewFromCamera(camera, SIZE);
  expect(new Vector3(1, 5, -2).applyMatrix4(new Matrix4().fromArray(Array.from(view))).toArray()).toEqual([0, 0, -2]);
});

test.each([
  ['a parent that scales', new Vector3(3, 3, 3)],
  ['a parent that stretches', new Vector3(1, 4, 2)],
  ['a parent that mirrors', new Vector3(-1, 1, 1)],
])('%s: the view is the one that three draws', (_, scale) => {
  const rig = new Group();
  const camera = new PerspectiveCamera();
  rig.scale.copy(scale);
  rig.position.set(0, 5, 0);
  rig.rotation.set(0.2, 0.4, 0.1);
  rig.add(camera);
  camera.position.set(1, 2, 3);
  const view = Array.from(viewFromCamera(camera, SIZE).view);
  // As WebGLRenderer.render does it.
  const drawn = camera.clone();
  new Group().copy(rig, false).add(drawn).updateMatrixWorld();
  expect(view).toEqual(drawn.matrixWorldInverse.elements);
});

test('the cameras of an ArrayCamera are views, each with its part of the canvas', () => {
  const cameras = [0, 1].map((i) => {
    const camera = new PerspectiveCamera(50, 0.5, NEAR, FAR);
    camera.position.set(i, 0, 5);
    camera.updateMatrixWorld(); // three leaves it to the app
    return Object.assign(camera, { viewport: new Vector4(400 * i, 0, 400, 300) }); // y up
  });
  const array = new ArrayCamera(cameras);
  const views = array.cameras.map((camera) => {
    const { x, y, z: width, w: height } = (camera as (typeof cameras)[0]).viewport;
    return viewFromCamera(camera, { x, y: SIZE.height - y - height, width, height });
  });
  expect(views.map(({ viewport }) => viewport)).toEqual([
    { x: 0, y: 300, width: 400, height: 300 },
    { x: 400, y: 300, width: 400, height: 300 },
  ]);
  expect(views.map(({ view }) => view[12] + 0)).toEqual([0, -1]);
});

test('what renderer.xr draws is seen as it is posed there, below the parent of the camera', () => {
  const rig = new Group();
  rig.position.set(0, 7, 0);
  rig.updateMatrixWorld();
  const eyes = [new PerspectiveCamera(), new PerspectiveCamera()];
  const head = new ArrayCamera(eyes.map((eye) => Object.assign(eye, { viewport: new Vector4(0, 0, 400, 300) })));
  // As WebXRManager does it: these have no parent.
  for (const [i, camera] of [head, ...eyes].entries()) {
    camera.matrix.makeTranslation(i, 0, 5);
    camera.matrix.decompose(camera.position, camera.quaternion, camera.scale);
    camera.matrixWorld.multiplyMatrices(rig.matrixWorld, camera.matrix);
    camera.matrixWorldInverse.copy(camera.matrixWorld).invert();
  }
  for (const [i, camera] of [head, ...eyes].entries()) {
    expect(Array.from(viewFromCamera(camera, SIZE).view).slice(12, 15)).toEqual([0 - i, -7, -5]);
    expect(camera.matrixWorld.elements.slice(12, 15)).toEqual([i, 7, 5]);
  }
});

test('the cameras of a StereoCamera are seen as three draws them, from where its eyes are', () => {
  const camera = new PerspectiveCamera();
  camera.position.set(3, 1, 2);
  camera.updateMatrixWorld();
  const stereo = new StereoCamera();
  stereo.update(camera);
  for (const eye of [stereo.cameraL, stereo.cameraR]) {
    const other = eye.clone();
    other.matrixWorldNeedsUpdate = eye.matrixWorldNeedsUpdate;
    other.matrixWorld.copy(eye.matrixWorld);
    other.updateMatrixWorld(); // as WebGLRenderer.render does it
    const drawn = other.matrixWorld;
    const { view } = viewFromCamera(eye, SIZE);
    expect(eye.matrixWorld).toEqual(drawn);
    expect(Array.from(view)).toEqual(drawn.invert().elements);
  }
});

test('margin and minPixels are passed on', () => {
  expect(viewFromCamera(new PerspectiveCamera(), SIZE)).toMatchObject({ margin: 0, minPixels: 0 });
  expect(viewFromCamera(new PerspectiveCamera(), SIZE, { margin: 2, minPixels: 3 })).toMatchObject({
    margin: 2,
    minPixels: 3,
  });
});

test('layers are those of the camera, as an unsigned mask', () => {
  const camera = new PerspectiveCamera();
  expect(viewFromCamera(camera, SIZE).layers).toBe(1);
  camera.layers.enable(31);
  expect(viewFromCamera(camera, SIZE).layers).toBe(0x80000001);
});

test('the viewport is the size', () => {
  expect(viewFromCamera(new PerspectiveCamera(), SIZE).viewport).toEqual({ x: 0, y: 0, width: 800, height: 600 });
  const part = { x: 5, y: 7, width: 80, height: 60 };
  expect(viewFromCamera(new PerspectiveCamera(), part).viewport).toEqual(part);
});

function depthAt(camera: Camera, view: ReturnType<typeof viewFromCamera>, distance: number): number {
  const point = new Vector3(0, 0, -distance).applyMatrix4(camera.matrixWorld);
  const clip = new Vector4(point.x, point.y, point.z, 1)
    .applyMatrix4(new Matrix4().fromArray(Array.from(view.view)))
    .applyMatrix4(new Matrix4().fromArray(Array.from(view.projection)));
  return clip.z / clip.w;
}

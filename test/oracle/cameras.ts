import { Matrix4, OrthographicCamera, PerspectiveCamera, type Vector3 } from 'three';
import type { Random } from './random.js';

export type AnyCamera = PerspectiveCamera | OrthographicCamera;

/** In float64, a projection with this far plane equals one with a far plane at infinity. */
export const INFINITE_FAR = 1e30;

export const CAMERA_KINDS: [name: string, make: (random: Random) => AnyCamera][] = [
  ['perspective', perspective],
  ['orthographic', orthographic],
  ['off-axis perspective', (random) => offAxis(perspective(random), random)],
  ['off-axis orthographic', (random) => offAxis(orthographic(random), random)],
  ['perspective without a far plane', (random) => perspective(random, INFINITE_FAR)],
];

/**
 * Cameras whose eye or line of sight differs from that of three's Raycaster, though drawing and culling handle them like any
 * other.
 */
export const ODD_CAMERA_KINDS: [name: string, make: (random: Random) => AnyCamera][] = [
  ['oblique', oblique],
  ['perspective from beside', fromBeside],
];

interface Depth {
  depth: 'webgl' | 'webgpu';
  reversed: boolean;
  /** Converts its clip space to three's clip z, -1 … 1 from near to far. */
  clip: Matrix4;
}

export const DEPTHS: [name: string, Depth][] = [
  ['depth -1 … 1', { depth: 'webgl', reversed: false, clip: new Matrix4() }],
  [
    'depth 0 … 1',
    { depth: 'webgpu', reversed: false, clip: new Matrix4().makeScale(1, 1, 0.5).setPosition(0, 0, 0.5) },
  ],
  [
    'depth 1 … 0',
    { depth: 'webgpu', reversed: true, clip: new Matrix4().makeScale(1, 1, -0.5).setPosition(0, 0, 0.5) },
  ],
];

export const VIEWPORT = { x: 30, y: 40, width: 800, height: 600 };

export function viewOf(camera: AnyCamera, { depth, reversed, clip }: Depth) {
  const projection = clip.clone().multiply(camera.projectionMatrix).elements;
  return { projection, view: camera.matrixWorldInverse.elements, viewport: VIEWPORT, depth, reversed };
}

function perspective(random: Random, far = random.logRange(20, 1000)): PerspectiveCamera {
  const near = random.logRange(0.01, 5);
  return new PerspectiveCamera(random.range(10, 120), 4 / 3, near, far);
}

function orthographic(random: Random): OrthographicCamera {
  const [w, h] = [random.logRange(2, 30), random.logRange(2, 30)];
  const [near, far] = [random.range(0.1, 5), random.logRange(20, 200)];
  return new OrthographicCamera(-w * random.next(), w, h, -h * random.next(), near, far);
}

/** An oblique projection, as in drawings of buildings: lines of sight are parallel, but not perpendicular to the picture. */
function oblique(random: Random): OrthographicCamera {
  const shear = new Matrix4().makeShear(0, 0, 0, 0, random.range(-0.5, 0.5), random.range(-0.5, 0.5));
  return withFactor(orthographic(random), () => shear);
}

/** A camera whose eye is not at its position, as in a headset with one camera for both eyes. */
function fromBeside(random: Random): PerspectiveCamera {
  const camera = perspective(random);
  const offset = random.point(1);
  return withFactor(camera, () => new Matrix4().setPosition(offset.clone().multiplyScalar(camera.near)));
}

/** Multiplies the projection by another matrix whenever it is computed. */
function withFactor<C extends AnyCamera>(camera: C, factor: () => Matrix4): C {
  const updateProjection = camera.updateProjectionMatrix;
  camera.updateProjectionMatrix = () => {
    updateProjection.call(camera);
    camera.projectionMatrix.multiply(factor());
    camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
  };
  camera.updateProjectionMatrix();
  return camera;
}

/** Shows a random part of its picture. */
function offAxis<C extends AnyCamera>(camera: C, random: Random): C {
  const { width, height } = VIEWPORT;
  const [w, h] = [random.range(0.3, 1) * width, random.range(0.3, 1) * height];
  camera.setViewOffset(width, height, random.next() * (width - w), random.next() * (height - h), w, h);
  return camera;
}

/** Places a camera randomly around a position, looking at a point near it. */
export function aimCamera<C extends AnyCamera>(camera: C, random: Random, center: Vector3): C {
  camera.position.copy(random.point(30)).add(center);
  camera.up.copy(random.direction());
  camera.lookAt(random.point(20).add(center));
  camera.updateMatrixWorld();
  camera.updateProjectionMatrix();
  return camera;
}

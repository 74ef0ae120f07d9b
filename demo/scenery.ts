import {
  Box3,
  type Camera,
  CanvasTexture,
  CircleGeometry,
  Color,
  DirectionalLight,
  GridHelper,
  Group,
  HemisphereLight,
  MathUtils,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  type PerspectiveCamera,
  PlaneGeometry,
  Scene,
  ShadowMaterial,
  Vector3,
  WebGLRenderer,
} from 'three';
import { nextTurn } from './next-turn.js';
import type { Quality } from './quality.js';

/** Whether the visitor's system uses a light theme; style.css makes the same query. */
export const IS_LIGHT = globalThis.matchMedia?.('(prefers-color-scheme: light)').matches === true;
/** Colour of the background and of the fog. */
export const BACKGROUND = IS_LIGHT ? 0xdfe5ec : 0x10141b;
/** Colour of frustums. */
export const FRUSTUM_COLOR = IS_LIGHT ? 0x9a7414 : 0xffe08a;
/** Colours of grids: the lines through the centre, and the others. */
const GRID_COLORS: readonly [number, number] = IS_LIGHT ? [0xa9b5c4, 0xc6cfda] : [0x3a4658, 0x252e3b];
const FLOOR_COLOR = IS_LIGHT ? 0xf3f6f9 : 0x1b222d;
/** Width of the texts on the left, in CSS pixels. */
export const TEXT_WIDTH = 312;
/** Multiple of the distance at which a box fills the picture. */
const MARGIN = 1.06;
/** Screens on which the texts are below the picture instead, and the share that they cover; as in style.css. */
const SHEET = { query: '(max-width: 700px)', share: 0.36 };

export async function createRenderer(canvas: HTMLCanvasElement, quality: Quality): Promise<WebGLRenderer> {
  const renderer = new WebGLRenderer({ canvas, antialias: quality === 'high', powerPreference: 'high-performance' });
  renderer.setPixelRatio(Math.min(devicePixelRatio, quality === 'high' ? 2 : 1));
  renderer.shadowMap.enabled = quality === 'high';
  await nextTurn();
  return renderer;
}

/** Calls `frame` before each repaint, once the scene's shaders are compiled. */
export async function animate(
  renderer: WebGLRenderer,
  scene: Scene,
  camera: Camera,
  frame: (time: number) => void,
): Promise<void> {
  await compile(renderer, scene, camera, scene);
  renderer.setAnimationLoop(frame);
}

/**
 * Compiles the shaders that draw `object` in `scene` in parallel to the main thread if the driver can; otherwise the first frame
 * would compile them.
 */
export async function compile(renderer: WebGLRenderer, object: Object3D, camera: Camera, scene: Scene): Promise<void> {
  if (!renderer.extensions.has('KHR_parallel_shader_compile')) return;
  await renderer.compileAsync(object, camera, scene);
}

/** Creates an empty scene with the lights of all pages. */
export function createScene(): Scene {
  const scene = new Scene();
  // The sun from the front, the sky, and a rim light from behind that separates objects from the background.
  const sun = new DirectionalLight(0xfff1dc, 2.5);
  sun.position.set(-6, 12, 9);
  const rim = new DirectionalLight(0x9fc4ff, IS_LIGHT ? 0.5 : 1.1);
  rim.position.set(8, 5, -10);
  scene.background = new Color(BACKGROUND);
  scene.add(new HemisphereLight(0xbcd0f2, IS_LIGHT ? 0x8d8780 : 0x2c2622, IS_LIGHT ? 1.9 : 1.45), sun, rim);
  return scene;
}

/** Direction to the sun for objects away from the scene's centre. */
const SUN = new Vector3(-6, 12, 9).normalize();
/** Pixels along each side of the sun's shadow map. */
const SHADOW_SIZE = 2048;

/** Lets the objects under `root` and in `box` cast shadows on each other, if the quality allows it. */
export function addShadows(scene: Scene, quality: Quality, root: Object3D, { min, max }: Box3): void {
  if (quality === 'low') return;
  const center = new Box3(min, max).getCenter(new Vector3());
  const radius = min.distanceTo(max) / 2;
  const sun = scene.children.find((each): each is DirectionalLight => each instanceof DirectionalLight)!;
  sun.castShadow = true;
  sun.position
    .copy(SUN)
    .multiplyScalar(2 * radius)
    .add(center);
  sun.target.position.copy(center);
  sun.shadow.mapSize.setScalar(SHADOW_SIZE);
  sun.shadow.normalBias = radius / 400;
  const { camera } = sun.shadow;
  camera.left = camera.bottom = -radius;
  camera.right = camera.top = radius;
  [camera.near, camera.far] = [radius, 3 * radius];
  root.traverse((each) => {
    each.castShadow = each.receiveShadow = 'isMesh' in each;
  });
  scene.add(sun.target);
}

/** Shows the shadows of the objects in `box` on the floor. */
export function createShadowFloor({ min, max }: Box3): Mesh {
  const side = 2 * min.distanceTo(max);
  const floor = new Mesh(new PlaneGeometry(side, side), new ShadowMaterial({ opacity: 0.35, depthWrite: false }));
  floor.rotation.x = -Math.PI / 2;
  floor.position.set((min.x + max.x) / 2, min.y, (min.z + max.z) / 2);
  floor.receiveShadow = true;
  return floor;
}

/** A floor that fades out, with grid lines one unit apart; none if `cells` is 0. It is only drawn, not tracked. */
export function createFloor(radius: number, cells = 2 * radius): Group {
  const floor = new Group();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 256;
  const context = canvas.getContext('2d')!;
  const fade = context.createRadialGradient(128, 128, 0, 128, 128, 128);
  fade.addColorStop(0, '#ffff');
  fade.addColorStop(0.45, '#fffc');
  fade.addColorStop(1, '#fff0');
  context.fillStyle = fade;
  context.fillRect(0, 0, 256, 256);
  const material = new MeshBasicMaterial({
    color: FLOOR_COLOR,
    map: new CanvasTexture(canvas),
    transparent: true,
    depthWrite: false,
  });
  const disc = new Mesh(new CircleGeometry(1.5 * radius, 64).rotateX(-Math.PI / 2), material);
  disc.position.y = -0.01;
  disc.renderOrder = -1;
  floor.add(disc);
  if (cells > 0) floor.add(new GridHelper(2 * radius, cells, ...GRID_COLORS));
  return floor;
}

/** Shifts the centre of the picture to the centre of the area that the texts leave free. */
export function fitToCanvas(renderer: WebGLRenderer, camera: PerspectiveCamera): void {
  const { clientWidth: width, clientHeight: height } = renderer.domElement;
  const { aside, below } = textInsets(width);
  renderer.setSize(width, height, false);
  camera.aspect = width / height;
  camera.setViewOffset(width, height, -aside / 2, below / 2, width, height);
}

/** Returns the width of the area that the texts leave free, in multiples of the picture's height. */
export function freeWidth({ domElement }: WebGLRenderer): number {
  const { clientWidth, clientHeight } = domElement;
  return (clientWidth - textInsets(clientWidth).aside) / clientHeight;
}

/** Places a camera that was fitted to the canvas so that it shows the whole box next to the texts, from the given direction. */
export function showBox({ domElement }: WebGLRenderer, camera: PerspectiveCamera, box: Box3, direction: Vector3): void {
  const { clientWidth: width, clientHeight: height } = domElement;
  const { aside, below } = textInsets(width);
  const tanHalfFov = Math.tan(0.5 * MathUtils.degToRad(camera.fov));
  const [freeUp, freeAside] = [tanHalfFov * (1 - below / height), tanHalfFov * camera.aspect * (1 - aside / width)];
  const center = box.getCenter(new Vector3());
  camera.position.copy(direction);
  camera.lookAt(0, 0, 0);
  const toCamera = camera.quaternion.clone().invert();
  let distance = 0;
  for (let i = 0; i < 8; i++) {
    const corner = new Vector3(
      i & 1 ? box.max.x : box.min.x,
      i & 2 ? box.max.y : box.min.y,
      i & 4 ? box.max.z : box.min.z,
    );
    const { x, y, z } = corner.sub(center).applyQuaternion(toCamera);
    distance = Math.max(distance, z + Math.abs(x) / freeAside, z + Math.abs(y) / freeUp);
  }
  camera.position.setLength(MARGIN * distance).add(center);
  camera.near = distance / 50;
  camera.far = 10 * distance;
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
}

/** Returns how much of the canvas the texts cover, in CSS pixels. */
export function textInsets(width: number): { aside: number; below: number } {
  return {
    aside: width > 2.5 * TEXT_WIDTH ? TEXT_WIDTH : 0,
    below: matchMedia(SHEET.query).matches ? SHEET.share * innerHeight : 0,
  };
}

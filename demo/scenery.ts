import {
  type Box3,
  Color,
  DirectionalLight,
  HemisphereLight,
  MathUtils,
  type PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
} from 'three';
import type { Quality } from './quality.js';

export const BACKGROUND = 0x10141b;
/** Width of the texts on the left, in CSS pixels. */
export const SIDE = 312;
/** Times the distance from which a box fills the picture. */
const MARGIN = 1.06;
/** Where the texts lie below the picture instead, and how much of it they cover: style.css. */
const SHEET = { query: '(max-width: 700px)', share: 0.36 };

export function createRenderer(canvas: HTMLCanvasElement, quality: Quality): WebGLRenderer {
  const renderer = new WebGLRenderer({ canvas, antialias: quality === 'high', powerPreference: 'high-performance' });
  renderer.setPixelRatio(quality === 'high' ? Math.min(devicePixelRatio, 2) : 1);
  return renderer;
}

/** An empty room with the light of all pages. */
export function createScene(): Scene {
  const scene = new Scene();
  const sun = new DirectionalLight(0xfff1dc, 2.6);
  sun.position.set(-6, 12, 9);
  scene.background = new Color(BACKGROUND);
  scene.add(new HemisphereLight(0xaec6ee, 0x2c2622, 1.5), sun);
  return scene;
}

/** The middle of the picture is the middle of what the texts leave free. */
export function fitToCanvas(renderer: WebGLRenderer, camera: PerspectiveCamera): void {
  const { clientWidth: width, clientHeight: height } = renderer.domElement;
  const { aside, below } = textsOver(width);
  renderer.setSize(width, height, false);
  camera.aspect = width / height;
  camera.setViewOffset(width, height, -aside / 2, below / 2, width, height);
}

/** Answers how wide the part of the picture is that the texts leave free, in heights of the whole. */
export function freeWidth({ domElement }: WebGLRenderer): number {
  const { clientWidth, clientHeight } = domElement;
  return (clientWidth - textsOver(clientWidth).aside) / clientHeight;
}

/** Places a camera that was fitted to the canvas: it sees the whole box beside the texts, from that direction. */
export function showBox({ domElement }: WebGLRenderer, camera: PerspectiveCamera, box: Box3, from: Vector3): void {
  const { clientWidth: width, clientHeight: height } = domElement;
  const { aside, below } = textsOver(width);
  const up = Math.tan(0.5 * MathUtils.degToRad(camera.fov));
  const [freeUp, freeAside] = [up * (1 - below / height), up * camera.aspect * (1 - aside / width)];
  const centre = box.getCenter(new Vector3());
  camera.position.copy(from);
  camera.lookAt(0, 0, 0);
  const toCamera = camera.quaternion.clone().invert();
  let distance = 0;
  for (let i = 0; i < 8; i++) {
    const corner = new Vector3(
      i & 1 ? box.max.x : box.min.x,
      i & 2 ? box.max.y : box.min.y,
      i & 4 ? box.max.z : box.min.z,
    );
    const { x, y, z } = corner.sub(centre).applyQuaternion(toCamera);
    distance = Math.max(distance, z + Math.abs(x) / freeAside, z + Math.abs(y) / freeUp);
  }
  camera.position.setLength(MARGIN * distance).add(centre);
  camera.near = distance / 50;
  camera.far = 10 * distance;
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
}

/** How much of the canvas the texts cover, in CSS pixels. */
export function textsOver(width: number): { aside: number; below: number } {
  return {
    aside: width > 2.5 * SIDE ? SIDE : 0,
    below: matchMedia(SHEET.query).matches ? SHEET.share * innerHeight : 0,
  };
}

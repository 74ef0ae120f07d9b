import { Color, DirectionalLight, HemisphereLight, type PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import type { Quality } from './quality.js';

export const BACKGROUND = 0x10141b;
/** Width of the texts on the left, in CSS pixels. */
export const SIDE = 312;
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
  renderer.setSize(width, height, false);
  camera.aspect = width / height;
  const aside = width > 2.5 * SIDE ? SIDE / 2 : 0;
  const below = matchMedia(SHEET.query).matches ? (SHEET.share * innerHeight) / 2 : 0;
  camera.setViewOffset(width, height, -aside, below, width, height);
}

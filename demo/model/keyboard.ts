import { type PerspectiveCamera, Spherical, Vector3, type WebGLRenderer } from 'three';
import type { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { element } from '../panel.js';
import { textsOver } from '../scenery.js';

/** Radians of a key. */
const TURN = 0.06;
/** Times the distance. */
const ZOOM = 0.9;
/** How much each key turns about the model, and to or from its pole; and how it changes the distance. */
const KEYS: Record<string, readonly [around: number, up: number, zoom: number]> = {
  ArrowLeft: [-TURN, 0, 1],
  ArrowRight: [TURN, 0, 1],
  ArrowUp: [0, -TURN, 1],
  ArrowDown: [0, TURN, 1],
  '+': [0, 0, ZOOM],
  '-': [0, 0, 1 / ZOOM],
};

/** Turns what is in the picture under a cross in its middle, which points as the mouse does. */
export function followKeys(
  { domElement }: WebGLRenderer,
  camera: PerspectiveCamera,
  controls: OrbitControls,
  point: (at: { x: number; y: number } | null, time: number) => void,
): void {
  const cross = element('cross');
  domElement.addEventListener('keydown', (event) => {
    const key = KEYS[event.key];
    if (key === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const [around, up, zoom] = key;
    const offset = new Spherical().setFromVector3(new Vector3().subVectors(camera.position, controls.target));
    offset.set(offset.radius * zoom, offset.phi + up, offset.theta + around).makeSafe();
    camera.position.setFromSpherical(offset).add(controls.target);
    controls.update();
    const { clientWidth: width, clientHeight: height } = domElement;
    const { aside, below } = textsOver(width);
    const at = { x: (width + aside) / 2, y: (height - below) / 2 };
    cross.style.translate = `${at.x}px ${at.y}px`;
    cross.hidden = false;
    point(at, event.timeStamp);
  });
  for (const type of ['pointermove', 'pointerdown', 'blur']) {
    domElement.addEventListener(type, () => {
      cross.hidden = true;
    });
  }
}

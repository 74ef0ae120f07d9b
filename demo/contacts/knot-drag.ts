import type { SceneTracker } from 'collision-worker/three';
import { type Mesh, type PerspectiveCamera, Plane, Raycaster, Vector2, Vector3 } from 'three';
import type { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { showError } from '../panel.js';

/** Farther from the middle it is not dragged. */
const REACH = 6;

const UP = new Vector3(0, 1, 0);
const [LOWEST, HIGHEST] = [new Vector3(-REACH, 0, -REACH), new Vector3(REACH, REACH, REACH)];

/** A press on the knot drags it, at its height; elsewhere it turns the picture, as before. */
export class KnotDrag {
  /** Whether the pointer has hold of it. */
  isHeld = false;
  readonly #canvas: HTMLElement;
  readonly #camera: PerspectiveCamera;
  readonly #raycaster = new Raycaster();
  readonly #plane = new Plane();
  readonly #offset = new Vector3();

  constructor(
    canvas: HTMLElement,
    camera: PerspectiveCamera,
    controls: OrbitControls,
    tracker: SceneTracker,
    knot: Mesh,
    changed: () => void,
  ) {
    this.#canvas = canvas;
    this.#camera = camera;
    let pressed = 0;
    canvas.addEventListener('pointerdown', async (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      const press = ++pressed;
      try {
        const hit = await tracker.pick(event.offsetX, event.offsetY);
        if (press !== pressed || hit?.object !== knot) return;
        this.#plane.setFromNormalAndCoplanarPoint(UP, hit.point);
        this.#offset.subVectors(knot.position, hit.point);
        this.isHeld = true;
        controls.enabled = false;
      } catch (error) {
        showError(error);
      }
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!this.isHeld) return;
      const point = this.#pointAt(event);
      if (point === null) return;
      knot.position.addVectors(point, this.#offset);
      knot.position.clamp(LOWEST, HIGHEST);
      changed();
    });
    const release = (): void => {
      pressed++;
      this.isHeld = false;
      controls.enabled = true;
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
  }

  #pointAt({ offsetX, offsetY }: PointerEvent): Vector3 | null {
    const { clientWidth, clientHeight } = this.#canvas;
    const cursor = new Vector2((2 * offsetX) / clientWidth - 1, 1 - (2 * offsetY) / clientHeight);
    this.#raycaster.setFromCamera(cursor, this.#camera);
    return this.#raycaster.ray.intersectPlane(this.#plane, new Vector3());
  }
}

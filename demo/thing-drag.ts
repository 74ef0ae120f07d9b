import type { SceneTracker } from 'collision-worker/three';
import { type Box3, type Object3D, type PerspectiveCamera, Plane, Raycaster, Vector2, Vector3 } from 'three';
import type { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { showError } from './panel.js';

const UP = new Vector3(0, 1, 0);
/** A press on a draggable object drags it at its own height; elsewhere the camera orbits as usual. */
export class ThingDrag {
  /** The object that the pointer is dragging. */
  held: Object3D | null = null;
  readonly #canvas: HTMLElement;
  readonly #camera: PerspectiveCamera;
  readonly #raycaster = new Raycaster();
  readonly #plane = new Plane();
  readonly #offset = new Vector3();

  /** `things` maps each object that can be pressed to the one that it moves, which stays within a box. */
  constructor(
    canvas: HTMLElement,
    camera: PerspectiveCamera,
    controls: OrbitControls,
    tracker: SceneTracker,
    { things, within }: { things: ReadonlyMap<Object3D, Object3D>; within: Box3 },
    onChange: () => void,
  ) {
    this.#canvas = canvas;
    this.#camera = camera;
    let pressCount = 0;
    canvas.addEventListener('pointerdown', async (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      const pressId = ++pressCount;
      try {
        const hit = await tracker.pick(event.offsetX, event.offsetY);
        const thing = hit === null ? undefined : things.get(hit.object);
        if (pressId !== pressCount || thing === undefined) return;
        this.#plane.setFromNormalAndCoplanarPoint(UP, hit!.point);
        this.#offset.subVectors(thing.position, hit!.point);
        this.held = thing;
        controls.enabled = false;
      } catch (error) {
        showError(error);
      }
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.held === null) return;
      const point = this.#pointAt(event);
      if (point === null) return;
      this.held.position.addVectors(point, this.#offset).clamp(within.min, within.max);
      onChange();
    });
    const release = (): void => {
      pressCount++;
      this.held = null;
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

import type { SceneTracker } from 'collision-worker/three';
import { type Camera, Plane, Raycaster, Vector2, Vector3 } from 'three';
import { showError } from '../panel.js';
import type { Guard } from './guard.js';

const GROUND = new Plane(new Vector3(0, 1, 0), 0);

/** The left mouse button: on the guard it drags it along, elsewhere the guard looks to where the mouse is. */
export class GuardControl {
  /** Whether the mouse has hold of the guard. */
  isHeld = false;
  readonly #raycaster = new Raycaster();

  constructor(
    canvas: HTMLElement,
    camera: Camera,
    tracker: SceneTracker,
    guard: Guard,
    isFree: (x: number, z: number) => boolean,
  ) {
    let drag: 'move' | 'point' | null = null;
    const follow = ({ offsetX, offsetY }: PointerEvent): void => {
      const { clientWidth, clientHeight } = canvas;
      const cursor = new Vector2((offsetX / clientWidth) * 2 - 1, 1 - (offsetY / clientHeight) * 2);
      this.#raycaster.setFromCamera(cursor, camera);
      const point = this.#raycaster.ray.intersectPlane(GROUND, new Vector3());
      if (point === null) return;
      if (drag === 'point') guard.lookAt(point.x, point.z);
      else if (drag === 'move' && isFree(point.x, point.z)) guard.moveTo(point.x, point.z);
    };
    canvas.addEventListener('pointerdown', async (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.isHeld = true;
      try {
        const hit = await tracker.pick(event.offsetX, event.offsetY);
        drag = hit?.object.parent === guard.root ? 'move' : 'point';
        if (drag === 'point') follow(event);
        if (!this.isHeld) drag = null;
      } catch (error) {
        showError(error);
      }
    });
    canvas.addEventListener('pointermove', follow);
    const release = (): void => {
      this.isHeld = false;
      drag = null;
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
  }
}

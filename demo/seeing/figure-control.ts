import type { SceneTracker } from 'collision-worker/three';
import { type Camera, Plane, Raycaster, Vector2, Vector3 } from 'three';
import { showError } from '../panel.js';
import type { Courtyard } from './courtyard.js';

const GROUND = new Plane(new Vector3(0, 1, 0), 0);

/** The left button drags the guard and leads the thief; pressed elsewhere, it turns the guard towards the pointer. */
export class FigureControl {
  /** Whether the pointer is dragging the guard. */
  isHeld = false;
  readonly #raycaster = new Raycaster();

  constructor(canvas: HTMLElement, camera: Camera, tracker: SceneTracker, courtyard: Courtyard) {
    const { guard, heist } = courtyard;
    let drag: 'move' | 'lead' | 'point' | null = null;
    let isDown = false;
    const follow = ({ offsetX, offsetY }: PointerEvent): void => {
      const { clientWidth, clientHeight } = canvas;
      const cursor = new Vector2((offsetX / clientWidth) * 2 - 1, 1 - (offsetY / clientHeight) * 2);
      this.#raycaster.setFromCamera(cursor, camera);
      const point = this.#raycaster.ray.intersectPlane(GROUND, new Vector3());
      if (point === null) return;
      if (drag === 'point') guard.lookAt(point.x, point.z);
      else if (drag === 'lead') heist.lead(point.x, point.z);
      else if (drag === 'move' && courtyard.isFree(point.x, point.z)) guard.moveTo(point.x, point.z);
    };
    canvas.addEventListener('pointerdown', async (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      isDown = true;
      try {
        const hit = await tracker.pick(event.offsetX, event.offsetY);
        if (!isDown) return;
        if (hit?.object === heist.thief) drag = 'lead';
        else drag = hit?.object.parent === guard.root ? 'move' : 'point';
        this.isHeld = drag !== 'lead';
        if (drag === 'point') follow(event);
      } catch (error) {
        showError(error);
      }
    });
    canvas.addEventListener('pointermove', follow);
    const release = (): void => {
      isDown = this.isHeld = false;
      drag = null;
      heist.stop();
    };
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
  }
}

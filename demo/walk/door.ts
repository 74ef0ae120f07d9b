import type { SceneTracker } from 'collision-worker/three';
import type { Mesh } from 'three';
import { BALL_LAYER } from './course.js';

/** Half extents of the door's query box, a little smaller than the door, since it slides along the wall. */
const HALF_EXTENTS: [number, number, number] = [0.94, 1.28, 0.09];
/** Metres that it slides open, and its speed in metres per second. */
const SLIDE_DISTANCE = 1.9;
const SPEED = 1.2;
/** Seconds that it stays open, or closed. */
const REST_SECONDS = 1.5;

/** A door that slides open and closed, and waits while an object is in its way. */
export class Door {
  isBlocked = false;
  readonly #mesh: Mesh;
  readonly #tracker: SceneTracker;
  readonly #closedX: number;
  #direction = 1;
  #remainingRest = REST_SECONDS;
  #isAsking = false;

  constructor(mesh: Mesh, tracker: SceneTracker) {
    this.#mesh = mesh;
    this.#tracker = tracker;
    this.#closedX = mesh.position.x;
  }

  get x(): number {
    return this.#mesh.position.x;
  }

  async move(seconds: number): Promise<void> {
    this.#remainingRest -= seconds;
    if (this.#remainingRest > 0 || this.#isAsking) return;
    const { position, matrixWorld } = this.#mesh;
    const x = Math.min(
      this.#closedX,
      Math.max(this.#closedX - SLIDE_DISTANCE, position.x - this.#direction * SPEED * seconds),
    );
    // #region code
    this.#isAsking = true;
    const transform = matrixWorld.clone().setPosition(x, position.y, position.z);
    const blockers = await this.#tracker.overlap({ type: 'box', halfExtents: HALF_EXTENTS }, transform, {
      layers: 1 << BALL_LAYER,
    });
    this.isBlocked = blockers.length > 0;
    if (!this.isBlocked) position.x = x;
    this.#isAsking = false;
    // #endregion
    if (x !== this.#closedX && x !== this.#closedX - SLIDE_DISTANCE) return;
    if (this.isBlocked) return;
    this.#direction *= -1;
    this.#remainingRest = REST_SECONDS;
  }
}

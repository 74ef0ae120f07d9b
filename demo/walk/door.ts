import type { SceneTracker } from 'collision-worker/three';
import type { Mesh } from 'three';
import { BALLS } from './course.js';

/** Half extents of the door's query box, a little smaller than the door, since it slides along the wall. */
const HALF: [number, number, number] = [0.94, 1.28, 0.09];
/** Metres that it slides open, and its speed in metres per second. */
const WIDE = 1.9;
const SPEED = 1.2;
/** Seconds that it stays open, or closed. */
const REST = 1.5;

/** A door that slides open and closed, and waits while an object is in its way. */
export class Door {
  isBlocked = false;
  readonly #mesh: Mesh;
  readonly #tracker: SceneTracker;
  readonly #shut: number;
  #direction = 1;
  #rest = REST;
  #isAsking = false;

  constructor(mesh: Mesh, tracker: SceneTracker) {
    this.#mesh = mesh;
    this.#tracker = tracker;
    this.#shut = mesh.position.x;
  }

  get x(): number {
    return this.#mesh.position.x;
  }

  async move(seconds: number): Promise<void> {
    this.#rest -= seconds;
    if (this.#rest > 0 || this.#isAsking) return;
    const { position, matrixWorld } = this.#mesh;
    const x = Math.min(this.#shut, Math.max(this.#shut - WIDE, position.x - this.#direction * SPEED * seconds));
    // #region code
    this.#isAsking = true;
    const place = matrixWorld.clone().setPosition(x, position.y, position.z);
    const inTheWay = await this.#tracker.overlap({ type: 'box', halfExtents: HALF }, place, { layers: 1 << BALLS });
    this.isBlocked = inTheWay.length > 0;
    if (!this.isBlocked) position.x = x;
    this.#isAsking = false;
    // #endregion
    if (x !== this.#shut && x !== this.#shut - WIDE) return;
    if (this.isBlocked) return;
    this.#direction *= -1;
    this.#rest = REST;
  }
}

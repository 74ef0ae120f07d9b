import { MAX_BOXES } from './world.js';

/** What the collision work of a frame found, in the way that the stage draws it. */
export class Outcome {
  /** Numbers of the boxes that the culling camera sees: visible[0 … visibleCount). */
  readonly visible = new Uint32Array(MAX_BOXES);
  visibleCount = 0;
  readonly visibleDragons: boolean[] = [];
  /** 1 for boxes and dragons that touch something. */
  readonly touching = new Uint8Array(MAX_BOXES);
  readonly touchingDragons: boolean[] = [];
  pairs = 0;
  /** Time in the worker; 0 where there is none. */
  workerMs = 0;

  clear(): void {
    this.visibleCount = 0;
    this.visibleDragons.length = 0;
    this.touching.fill(0);
    this.touchingDragons.length = 0;
    this.pairs = 0;
    this.workerMs = 0;
  }

  /** Of everything. */
  get visibleObjects(): number {
    return this.visibleCount + this.visibleDragons.filter(Boolean).length;
  }
}

import { MAX_BOXES } from './world.js';

/** Results of a frame's collision work, in the form in which the stage draws them. */
export class Outcome {
  /** Indices of the boxes that the culling camera sees: visible[0 … visibleCount). */
  readonly visible = new Uint32Array(MAX_BOXES);
  visibleCount = 0;
  readonly visibleDragons: boolean[] = [];
  /** 1 for boxes and dragons that touch another object. */
  readonly touching = new Uint8Array(MAX_BOXES);
  readonly touchingDragons: boolean[] = [];
  pairs = 0;
  /** Time in the worker; 0 if there is no worker. */
  workerMs = 0;

  clear(): void {
    this.visibleCount = 0;
    this.visibleDragons.length = 0;
    this.touching.fill(0);
    this.touchingDragons.length = 0;
    this.pairs = 0;
    this.workerMs = 0;
  }

  /** Counts both boxes and dragons. */
  get visibleObjects(): number {
    return this.visibleCount + this.visibleDragons.filter(Boolean).length;
  }
}

import { Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { invalid, reading } from '../../check/validate.js';
import type { SceneTracker } from '../scene-tracker.js';
import type { SceneFrame } from '../view/scene-frame.js';

/**
 * What draws the answers of a tracker: it is told of each frame, asks one question at a time behind it, and says once in
 * the console what goes wrong. The tracker leaves it out, and nothing hits it.
 */
export abstract class SceneHelper extends Object3D {
  readonly isCollisionHelper = true;
  override readonly type: string;
  protected readonly tracker: SceneTracker;
  readonly #ending = new AbortController();
  readonly #leave: () => void;
  #isAsking = false;
  #complaint = '';

  /** Throws INVALID_ARGUMENT, and DISPOSED where the tracker is. */
  constructor(operation: string, tracker: SceneTracker) {
    super();
    this.type = operation;
    reading(operation, 'tracker', () => {
      if (typeof tracker?.witness !== 'function') invalid(operation, 'tracker', tracker, 'a SceneTracker');
    });
    this.tracker = tracker;
    this.#leave = tracker.witness(this);
  }

  /** Lets go of the tracker and of the renderer's memory, and leaves the scene. */
  override dispose(): void {
    this.#leave();
    this.end();
    this.removeFromParent();
  }

  /** @internal */
  end(): void {
    this.#ending.abort();
    this.release();
    this.clear();
  }

  /** @internal */
  abstract answered(frame: SceneFrame): void;

  /** Frees what its children have on the graphics card. */
  protected abstract release(): void;

  protected get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Asks a question and shows its answer, unless it is not visible, has asked one that is not answered, or is over. */
  protected async ask<T>(question: (signal: AbortSignal) => Promise<T>, show: (answer: T) => void): Promise<void> {
    if (!this.visible || this.#isAsking || this.isOver) return;
    this.#isAsking = true;
    try {
      const answer = await question(this.#ending.signal);
      if (!this.isOver) show(answer);
    } catch (error) {
      this.#complain(error);
    } finally {
      this.#isAsking = false;
    }
  }

  #complain(error: unknown): void {
    if (this.isOver) return;
    // An object may be gone since; the next frame asks for what there is.
    const passing = ['DISPOSED', 'WORKER_LOST', 'UNKNOWN_ID'];
    if ((CollisionError.is(error) && passing.includes(error.code)) || String(error) === this.#complaint) return;
    this.#complaint = String(error);
    console.warn(`${this.type}: ${this.#complaint}`);
  }
}

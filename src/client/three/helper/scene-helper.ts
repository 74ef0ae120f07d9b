import { Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { guardRead, throwInvalid } from '../../check/validate.js';
import type { SceneTracker } from '../scene-tracker.js';
import type { SceneFrame } from '../view/scene-frame.js';

/**
 * Base of helpers that draw the answers of a tracker: it is notified of each frame, asks one question at a time after it, and
 * reports an error once in the console. The tracker ignores it, and nothing hits it.
 */
export abstract class SceneHelper extends Object3D {
  readonly isCollisionHelper = true;
  override readonly type: string;
  protected readonly tracker: SceneTracker;
  readonly #controller = new AbortController();
  readonly #unsubscribe: () => void;
  #isAsking = false;
  #lastWarning = '';

  /** Throws INVALID_ARGUMENT, and DISPOSED if the tracker is disposed. */
  constructor(operation: string, tracker: SceneTracker) {
    super();
    this.type = operation;
    guardRead(operation, 'tracker', () => {
      if (typeof tracker?.witness !== 'function') throwInvalid(operation, 'tracker', tracker, 'a SceneTracker');
    });
    this.tracker = tracker;
    this.#unsubscribe = tracker.witness(this);
  }

  /** Releases the tracker and the renderer's memory, and leaves the scene. */
  override dispose(): void {
    this.#unsubscribe();
    this.end();
    this.removeFromParent();
  }

  /** @internal */
  end(): void {
    this.#controller.abort();
    this.release();
    this.clear();
  }

  /** @internal */
  abstract answered(frame: SceneFrame): void;

  /** Frees the memory of its children on the graphics card. */
  protected abstract release(): void;

  protected get isOver(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Asks a question and shows its answer, unless the helper is not visible, is disposed of, or still waits for an answer. */
  protected async ask<T>(query: (signal: AbortSignal) => Promise<T>, show: (answer: T) => void): Promise<void> {
    if (!this.visible || this.#isAsking || this.isOver) return;
    this.#isAsking = true;
    try {
      const answer = await query(this.#controller.signal);
      if (!this.isOver) show(answer);
    } catch (error) {
      this.#warn(error);
    } finally {
      this.#isAsking = false;
    }
  }

  #warn(error: unknown): void {
    if (this.isOver) return;
    // An object may have been removed since; the next frame asks for those that exist.
    const expectedCodes = ['DISPOSED', 'WORKER_LOST', 'UNKNOWN_ID'];
    if ((CollisionError.is(error) && expectedCodes.includes(error.code)) || String(error) === this.#lastWarning) return;
    this.#lastWarning = String(error);
    console.warn(`${this.type}: ${this.#lastWarning}`);
  }
}

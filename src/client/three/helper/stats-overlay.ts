import { throwInvalid } from '../../check/validate.js';
import type { SceneTracker } from '../scene-tracker.js';
import type { SceneFrame } from '../view/scene-frame.js';

/** Milliseconds between two changes of the figures. */
const UPDATE_INTERVAL_MS = 250;

/**
 * Shows the worker's and the main thread's milliseconds per frame, the queue, objects, pairs and memory in a small element: the
 * mean since the last change, four times a second.
 *
 * ```ts
 * const overlay = new StatsOverlay(tracker);
 * document.body.append(overlay.element);
 * ```
 */
export class StatsOverlay {
  readonly element: HTMLElement;
  readonly #tracker: SceneTracker;
  readonly #unsubscribe: () => void;
  #lastUpdate = 0;
  #frames = 0;
  #msWorker = 0;
  #msMain = 0;

  /** Throws INVALID_ARGUMENT, and DISPOSED if the tracker is disposed. */
  constructor(tracker: SceneTracker) {
    if (typeof tracker?.witness !== 'function') throwInvalid('StatsOverlay', 'tracker', tracker, 'a SceneTracker');
    this.#tracker = tracker;
    this.element = document.createElement('pre');
    this.element.style.cssText =
      'position:absolute;top:0;left:0;margin:0;padding:6px 8px;font:12px/1.4 monospace;color:#fff;' +
      'background:rgba(0,0,0,.65);pointer-events:none;z-index:1000';
    this.#unsubscribe = tracker.witness(this);
  }

  /** Removes the element from the page and releases the tracker. */
  dispose(): void {
    this.#unsubscribe();
    this.end();
  }

  /** @internal */
  end(): void {
    this.element.remove();
  }

  /** @internal */
  answered({ result }: SceneFrame, msMain: number): void {
    this.#frames++;
    this.#msWorker += result.ms.total;
    this.#msMain += msMain;
    const now = performance.now();
    if (now - this.#lastUpdate < UPDATE_INTERVAL_MS) return;
    const { objects, queueDepth, pending, usedBytes, memoryBytes } = this.#tracker.service.stats;
    const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
    this.element.textContent = [
      `worker  ${(this.#msWorker / this.#frames).toFixed(2)} ms`,
      `main    ${(this.#msMain / this.#frames).toFixed(2)} ms`,
      `queue   ${queueDepth} (${pending} pending)`,
      `objects ${objects}`,
      `pairs   ${result.contacts.count}`,
      `memory  ${megabytes(usedBytes)} of ${megabytes(memoryBytes)} MB`,
    ].join('\n');
    this.#lastUpdate = now;
    this.#frames = this.#msWorker = this.#msMain = 0;
  }
}

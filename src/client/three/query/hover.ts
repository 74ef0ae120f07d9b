import { checkBoolean, guardRead, throwInvalid } from '../../check/validate.js';
import { isServiceEnded } from '../track/ended.js';
import type { SceneIntersection } from './intersection.js';
import { LatestOnly } from './latest-only.js';
import { positionOn } from './position-on.js';
import { readQueryOptions } from './scene-options.js';
import { PICK_KEYS, type ScenePickOptions } from './scene-picks.js';

const KEYS = [...PICK_KEYS.filter((key) => key !== 'latest'), 'every'];

/** The options of `pick`; the signal ends the hovering. */
export interface HoverOptions extends Omit<ScenePickOptions, 'latest'> {
  /** Call back for each answer, even if the object is the same as before: the point on it may be another. Default false. */
  every?: boolean;
}

/**
 * Is notified of the object under the pointer; null if there is none, or the pointer has left. `before`: the last hit on the
 * previous object, null if none.
 */
export type HoverListener = (hit: SceneIntersection | null, before: SceneIntersection | null) => void;

type PickFunction = (x: number, y: number, options: ScenePickOptions) => Promise<SceneIntersection | null>;

interface Pointer {
  readonly id: number;
  /** Returns its position on the element; null if the element was removed. */
  readonly position: ReturnType<typeof positionOn>;
}

/**
 * Follows the pointer over an element, and asks what is under it whenever it moves, and in every frame, because the scene and the
 * camera may move under a pointer that does not.
 */
export class Hover {
  readonly #element: HTMLElement;
  readonly #listener: HoverListener;
  readonly #pick: PickFunction;
  readonly #options: ScenePickOptions;
  readonly #reportsEvery: boolean;
  readonly #controller = new AbortController();
  /** Its picks replace one another only: others may be of another view, or have other options. */
  readonly #newest = new LatestOnly<SceneIntersection | null>('hover');
  /** The error of the last failed pick, which is reported once in the console. */
  #lastWarning = '';
  /** Where the pointer is; null while there is none over the element. */
  #pointer: Pointer | null = null;
  #hit: SceneIntersection | null = null;
  /** Number of the newest pick; answers to picks up to `#lastDone` are discarded. */
  #newestPick = 0;
  #lastDone = 0;

  /** Throws INVALID_ARGUMENT. */
  constructor(element: HTMLElement, listener: HoverListener, given: HoverOptions, pick: PickFunction) {
    if (typeof listener !== 'function') throwInvalid('hover', 'listener', listener, 'a function');
    const { every = false, signal, ...options } = readQueryOptions('hover', given, KEYS);
    checkBoolean('hover', 'every', every);
    this.#element = element;
    this.#listener = listener;
    this.#pick = pick;
    this.#reportsEvery = every;
    this.#options = options;
    const listenerOptions = { signal: this.ended, passive: true };
    guardRead('hover', 'element', () => {
      if (typeof element?.addEventListener !== 'function') throwInvalid('hover', 'element', element, 'an HTMLElement');
      for (const type of ['enter', 'move', 'down', 'leave', 'cancel'] as const)
        element.addEventListener(`pointer${type}`, this.#receive, listenerOptions);
    });
    signal?.addEventListener('abort', () => this.end(), listenerOptions);
    if (signal?.aborted === true) this.end();
  }

  /** Is aborted when the hovering ends. */
  get ended(): AbortSignal {
    return this.#controller.signal;
  }

  /** Picks under the pointer's present position. */
  ask(): void {
    const position = this.#pointer?.position();
    // A browser does not report that a pointer leaves an element that is removed.
    if (!position) {
      this.#leave();
      return;
    }
    const { x, y } = position;
    const pickId = ++this.#newestPick;
    this.#newest
      .guard({ latest: true, signal: this.ended }, (signal) => this.#pick(x, y, { ...this.#options, signal: signal! }))
      .then(
        (hit) => {
          // Picks that wait are all answered by the newest one.
          if (pickId <= this.#lastDone) return;
          this.#lastDone = pickId;
          this.#notify(hit);
        },
        (error) => this.#handleError(error),
      );
  }

  /** Ends the hovering. The listener is not called any more. */
  end(): void {
    if (this.ended.aborted) return;
    this.#lastDone = Number.POSITIVE_INFINITY;
    this.#pointer = null;
    this.#controller.abort();
  }

  readonly #receive = (event: PointerEvent): void => {
    const { type, pointerId: id, isPrimary } = event ?? {}; // the caller's element may call without an event
    if (/leave|cancel/.test(type)) {
      if (id === this.#pointer?.id) this.#leave();
    } else if (isPrimary) {
      this.#pointer = { id, position: positionOn(this.#element, event) };
      this.ask();
    }
  };

  #leave(): void {
    this.#pointer = null;
    this.#lastDone = this.#newestPick;
    this.#notify(null);
  }

  #notify(hit: SceneIntersection | null): void {
    const before = this.#hit;
    this.#hit = hit;
    const isSame =
      hit?.object === before?.object && hit?.instanceId === before?.instanceId && hit?.batchId === before?.batchId;
    if (isSame && !(this.#reportsEvery && hit !== before)) return;
    // An error in the listener is the caller's, and is reported as uncaught.
    queueMicrotask(() => {
      if (!this.ended.aborted) this.#listener(hit, before);
    });
  }

  #handleError(error: unknown): void {
    if (this.ended.aborted) return;
    if (isServiceEnded(error)) {
      this.#notify(null);
      queueMicrotask(() => this.end());
    } else if (String(error) !== this.#lastWarning) {
      // The next pick may succeed: memory may be short, for example.
      this.#lastWarning = String(error);
      console.warn(`hover: ${this.#lastWarning}`);
    }
  }
}

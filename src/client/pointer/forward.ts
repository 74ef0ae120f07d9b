import {
  emitPointerEvent,
  type GetCamera,
  generateUniquePointerId,
  type IntersectionOptions,
  Pointer,
  type PointerOptions,
  WheelEvent as SceneWheelEvent,
} from '@pmndrs/pointer-events';
import type { Camera, Intersection, Object3D } from 'three';
import { CollisionError } from '../../shared/errors.js';
import { addTo } from '../../shared/lists-by-key.js';
import { checkSignal } from '../check/signal.js';
import {
  checkAtLeastZero,
  checkInteger,
  describeValue,
  guardRead,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { reportUncaught } from '../report-uncaught.js';
import { positionOn } from '../three/query/position-on.js';
import type { SceneTracker } from '../three/scene-tracker.js';
import type { ViewSize } from '../three/view/view.js';
import { EventQueue } from './event-queue.js';
import { EventSnapshot, isPointerGone } from './event-snapshot.js';
import { decideAtOnce } from './preventable.js';
import { type Answer, cameraSnapshot, isObjectHit, WorkerRay } from './worker-ray.js';

const OPERATION = 'forwardPointerEvents';
const MAX_VIEWS = 1000;
const KEYS = [
  ...['signal', 'view', 'preventDefault', 'radius', 'filter', 'customSort'],
  ...['clickThresholdMs', 'dblClickThresholdMs', 'contextMenuButton'],
];

/** The options of `forwardPointerEvents`. Those of a pointer are the ones of `@pmndrs/pointer-events`. */
export interface ForwardPointerOptions extends Omit<PointerOptions, 'clickThesholdMs'>, IntersectionOptions {
  /** Ends the forwarding. */
  signal?: AbortSignal | undefined;
  /**
   * The views of the tracker that the element shows; where they overlap, later ones in the list are on top: a pointer belongs to
   * the last one that contains it, and a pointer that an object has captured stays in the view where that happened. Default: the
   * one that `update` sets. `event.camera` says which it was.
   *
   * ```ts
   * tracker.setView(mapCamera, { x: 600, y: 0, width: 200, height: 150 }, 'map');
   * forwardPointerEvents(tracker, canvas, { view: ['main', 'map'] });
   * ```
   */
  view?: string | readonly string[];
  /**
   * Called synchronously to decide whether to prevent the browser's default action for an event, because listeners run too late
   * for that: true prevents it. It gets the newest known hit, that of the event before; null for nothing. Called for wheel,
   * contextmenu, click, dblclick, touchstart and touchmove.
   *
   * ```ts
   * forwardPointerEvents(tracker, canvas, { preventDefault: ({ type }, hit) => type === 'wheel' && hit !== null });
   * ```
   */
  preventDefault?: (event: Event, hit: Intersection | null) => boolean;
  /** Pixels within which lines and points are hit. Default 4. */
  radius?: number;
}

/**
 * Forwards the pointer events on an element to the objects of a tracked scene, for `mesh.addEventListener('click', …)`:
 * pointerover, pointerout, pointerenter, pointerleave, pointermove, pointerdown, pointerup, pointercancel, click, dblclick,
 * contextmenu and wheel. They bubble up the scene as in the DOM, and `pointerEvents`, `pointerEventsType`, `pointerEventsOrder`
 * and `setPointerCapture` of objects are those of `@pmndrs/pointer-events`; the worker casts the rays. A listener runs once the
 * answer is there, in the order in which the events happened. With each `tracker.update`, pointers that rest are tested again.
 * Returns a function that ends the forwarding; the signal and the end of the tracker end it, too.
 *
 * ```ts
 * mesh.addEventListener('click', ({ point }) => console.log(point));
 * const end = forwardPointerEvents(tracker, renderer.domElement);
 * ```
 *
 * Pixels of the `ViewSize` of `tracker.update` and `setView` are those of the element: x and y from its upper left corner. Call
 * it again for each other element, and for each other tracker on the same element. Throws INVALID_ARGUMENT, and DISPOSED for a
 * tracker that is disposed.
 */
export function forwardPointerEvents(
  tracker: SceneTracker,
  element: HTMLElement,
  options: ForwardPointerOptions = {},
): () => void {
  const given = readOptions(OPERATION, 'options', options, KEYS);
  const { clickThresholdMs, dblClickThresholdMs, radius, contextMenuButton } = given;
  checkSignal(OPERATION, given.signal);
  for (const name of ['preventDefault', 'filter', 'customSort'] as const) {
    const value: unknown = given[name];
    if (value !== undefined && typeof value !== 'function') throwInvalid(OPERATION, name, value, 'a function');
  }
  for (const [name, value] of Object.entries({ clickThresholdMs, dblClickThresholdMs, radius })) {
    if (value !== undefined) checkAtLeastZero(OPERATION, name, value);
  }
  const views = readViews(given.view);
  if (contextMenuButton !== undefined) checkInteger(OPERATION, 'contextMenuButton', contextMenuButton, 0, 31);
  guardRead(OPERATION, 'tracker', () => {
    if (typeof tracker?.follow !== 'function') throwInvalid(OPERATION, 'tracker', tracker, 'a SceneTracker');
  });
  guardRead(OPERATION, 'element', () => {
    if (typeof element?.setPointerCapture !== 'function') throwInvalid(OPERATION, 'element', element, 'an HTMLElement');
  });
  const forwarding = new Forwarding(tracker, element, views, given);
  return () => forwarding.end();
}

/** Returns the names of views, where undefined is the tracker's own. */
function readViews(view: unknown): readonly (string | undefined)[] {
  if (view === undefined) return [undefined];
  const expected = `the name of a view, or an array of 1 to ${MAX_VIEWS} such names`;
  return guardRead(OPERATION, 'view', () => {
    // The array is read by its indices, because an iterator of it may never end. A hole becomes undefined, which is not a name.
    const names = Array.isArray(view) ? Array.from(Array.prototype.slice.call(view, 0, MAX_VIEWS + 1)) : [view];
    if (names.length === 0 || names.length > MAX_VIEWS) throwInvalid(OPERATION, 'view', view, expected);
    return names.map((name) => (typeof name === 'string' ? name : throwInvalid(OPERATION, 'view', name, expected)));
  });
}

type Kind = 'enter' | 'move' | 'down' | 'up' | 'wheel' | 'still' | 'cancel' | 'leave';

const KINDS: Record<string, Kind> = {
  pointerenter: 'enter',
  pointermove: 'move',
  pointerdown: 'down',
  pointerup: 'up',
  pointercancel: 'cancel',
  pointerleave: 'leave',
  wheel: 'wheel',
};

/** One pointer of the browser. */
interface ForwardedPointer {
  readonly id: number;
  readonly pointer: Pointer;
  /** Returns its present position on the element; null while it is not over the element. */
  place: ReturnType<typeof positionOn> | null;
  /** The newest of its events, used for whatever moves under it. */
  newest: EventSnapshot<MouseEvent>;
  /** The view in which it was last seen, and that view's camera; null before. */
  view: string | undefined;
  eye: Camera | null;
  /** What is known of its newest event that was answered. */
  answer: Answer;
}

const UNSEEN: Answer = { view: undefined, eye: null, camera: null, isInside: false, x: 0, y: 0, hits: null };

/** The pointers of one element. */
class Forwarding {
  readonly #tracker: SceneTracker;
  readonly #element: HTMLElement;
  readonly #views: readonly (string | undefined)[];
  readonly #options: ForwardPointerOptions;
  readonly #endController = new AbortController();
  readonly #queue = new EventQueue();
  readonly #pointers = new Map<number, ForwardedPointer>();
  readonly #unfollow: () => void;
  /** True while listeners run, which may end the forwarding: pointers leave the objects only after all that happened before. */
  #isHandling = false;
  /** The answer for the event whose listeners run. */
  #answer = UNSEEN;
  #newestHit: Intersection | null = null;
  /** A wheel event belongs to the mouse, but does not have its pointer id. */
  #mousePointerId = 1;
  #lastWarning = '';
  /** Views that have been set, or that the console was warned about. */
  readonly #knownViews = new Set<string | undefined>();

  constructor(
    tracker: SceneTracker,
    element: HTMLElement,
    views: readonly (string | undefined)[],
    options: ForwardPointerOptions,
  ) {
    this.#tracker = tracker;
    this.#element = element;
    this.#views = views;
    this.#options = options;
    this.#unfollow = tracker.follow(this);
    const { signal, preventDefault } = options;
    const listenerOptions = { signal: this.#endController.signal, passive: true };
    for (const type of Object.keys(KINDS)) {
      element.addEventListener(type, (event) => this.#receive(KINDS[type], event as MouseEvent), listenerOptions);
    }
    if (preventDefault !== undefined) {
      const stopDeciding = decideAtOnce(element, (event) => preventDefault(event, this.#knownHitFor(event)));
      this.#endController.signal.addEventListener('abort', stopDeciding);
    }
    signal?.addEventListener('abort', () => this.end(), { signal: this.#endController.signal });
    if (signal?.aborted === true) this.end();
  }

  /** Asks again about the pointers that rest, because the scene or the camera may have moved. */
  ask(): void {
    if (!this.#queue.isEmpty) return; // waiting events ask about the newest state anyway, or the next frame does
    for (const forwarded of this.#pointers.values()) {
      const { pointer, newest, place } = forwarded;
      const position = place?.();
      if (position === undefined) continue;
      // A browser does not report that a pointer leaves an element that is removed.
      if (position === null) this.#receive('leave', newest.native);
      else if (pointer.getPointerCapture() === undefined) this.#push('still', forwarded, newest, position);
    }
  }

  /** Ends the forwarding. Objects under a pointer are notified that it leaves. */
  end(): void {
    if (this.#endController.signal.aborted) return;
    this.#endController.abort();
    this.#unfollow();
    this.#queue.close();
    if (!this.#isHandling) this.#exitAll();
  }

  #exitAll(): void {
    for (const { id, pointer, newest } of [...this.#pointers.values()]) {
      try {
        newest.during(() => pointer.exit(newest.native));
      } catch (error) {
        reportUncaught(error);
      }
      this.#removePointer(id);
    }
    this.#newestHit = null;
  }

  #receive(kind: Kind, native: MouseEvent): void {
    const { pointerId: id = this.#mousePointerId, pointerType = 'mouse' } = native as Partial<PointerEvent>;
    if (pointerType === 'mouse') this.#mousePointerId = id;
    const event = new EventSnapshot(native);
    let forwarded = this.#pointers.get(id);
    if (forwarded === undefined) {
      if (kind === 'cancel' || kind === 'leave') return;
      forwarded = this.#createForwarded(id, pointerType, event);
      this.#pointers.set(id, forwarded);
    }
    const place = positionOn(this.#element, native);
    if (kind !== 'wheel') {
      forwarded.place = kind === 'leave' || kind === 'cancel' ? null : place;
      forwarded.newest = event;
    }
    this.#push(kind, forwarded, event, place()!);
  }

  #push(
    kind: Kind,
    forwarded: ForwardedPointer,
    event: EventSnapshot<MouseEvent>,
    { x, y }: { x: number; y: number },
  ): void {
    const needsAnswer = kind !== 'cancel' && kind !== 'leave';
    let answer = UNSEEN;
    this.#queue.push({
      coalesced: kind === 'move' || kind === 'still' ? `${kind} ${forwarded.id} ${event.native.buttons}` : null,
      ask: () => {
        if (!needsAnswer) return null;
        return this.#pickAnswer(x, y, forwarded).then((result) => {
          answer = result;
        });
      },
      refresh: () => null,
      handle: () => {
        // Since the question, an object may have captured the pointer in another view.
        const isElsewhere = isCaptured(forwarded) && answer.view !== forwarded.view;
        this.#answer = isElsewhere ? this.#answerWithoutHits(forwarded.view, x, y) : answer;
        const isSeen = needsAnswer && this.#answer.camera !== null;
        this.#isHandling = true;
        try {
          event.during(() => this.#handle(kind, forwarded, event.native, isSeen));
        } finally {
          this.#isHandling = false;
          if (this.#endController.signal.aborted) this.#exitAll();
        }
      },
    });
  }

  async #pickAnswer(x: number, y: number, forwarded: ForwardedPointer): Promise<Answer> {
    const { radius } = this.#options;
    const view = isCaptured(forwarded) ? forwarded.view : this.#viewAt(x, y);
    const baseAnswer = this.#answerWithoutHits(view, x, y);
    try {
      const options = { ...(view !== undefined && { view }), ...(radius !== undefined && { radius }) };
      const hits = new Map<Object3D, Intersection[]>();
      for (const hit of await this.#tracker.pickAll(x, y, options)) addTo(hits, hit.object, hit);
      return { ...(baseAnswer.camera === null ? this.#answerWithoutHits(view, x, y) : baseAnswer), hits };
    } catch (error) {
      if (CollisionError.is(error) && error.code === 'DISPOSED') {
        this.end();
      } else if (baseAnswer.camera !== null && String(error) !== this.#lastWarning) {
        this.#lastWarning = String(error);
        console.warn(`${OPERATION}: ${this.#lastWarning}; rays are cast by three.js meanwhile`);
      }
      return baseAnswer;
    }
  }

  /** Returns the last of the views that contains a pixel; if none does, the first that is set. */
  #viewAt(x: number, y: number): string | undefined {
    const views = this.#views.filter((name) => this.#isSet(name));
    const containingViews = views.filter((name) => isWithin(this.#tracker.viewOf(name)!.options.viewport, x, y));
    return containingViews.length > 0 ? containingViews.at(-1) : (views[0] ?? this.#views[0]);
  }

  /** Returns whether a view of that name is set. Warns once in the console about one that was never set. */
  #isSet(name: string | undefined): boolean {
    const isSet = this.#tracker.viewOf(name) !== null;
    if (isSet) this.#knownViews.add(name);
    else if (this.#tracker.viewOf() !== null && !this.#knownViews.has(name)) {
      this.#knownViews.add(name);
      console.warn(
        `${OPERATION}: view is ${describeValue(name)}, which the tracker has not set; no pointer is in it until it is`,
      );
    }
    return isSet;
  }

  /** Returns how a pixel is seen in a view now. */
  #answerWithoutHits(name: string | undefined, x: number, y: number): Answer {
    const view = this.#tracker.viewOf(name);
    if (view === null) return UNSEEN;
    const { viewport } = view.options;
    const { x: left = 0, y: top = 0, width, height } = viewport;
    return {
      view: name,
      eye: view.camera,
      camera: cameraSnapshot(view.camera),
      isInside: isWithin(viewport, x, y),
      x: ((x - left) / width) * 2 - 1,
      y: 1 - ((y - top) / height) * 2,
      hits: null,
    };
  }

  #handle(kind: Kind, forwarded: ForwardedPointer, native: MouseEvent, isSeen: boolean): void {
    const { id, pointer, place } = forwarded;
    const { root } = this.#tracker;
    if (isSeen) forwarded.answer = this.#answer;
    if (kind === 'wheel') {
      if (isSeen) this.#emitWheel(pointer, root, native as WheelEvent);
      return;
    }
    if (isSeen) {
      forwarded.view = this.#answer.view;
      forwarded.eye = this.#answer.eye;
      pointer.setIntersection(pointer.computeIntersection('pointer', root, native));
      const intersection = pointer.getIntersection();
      this.#newestHit = isObjectHit(intersection) ? intersection : null;
      pointer.commit(native, kind === 'move');
      if (this.#endController.signal.aborted) return;
    }
    if (kind === 'down') pointer.down(native);
    else if (kind === 'up') pointer.up(native);
    else if (kind === 'cancel') pointer.cancel(native);
    else if (kind === 'leave') {
      pointer.exit(native);
      this.#newestHit = null;
      forwarded.answer = UNSEEN;
      // A finger has another id the next time. It may have come back while this event waited.
      if (place === null && (native as PointerEvent).pointerType !== 'mouse') this.#removePointer(id);
    }
  }

  #emitWheel(pointer: Pointer, root: Object3D, native: WheelEvent): void {
    const intersection = pointer.computeIntersection('wheel', root, native);
    const { eye } = this.#answer;
    emitPointerEvent(new StoppableWheelEvent(native, pointer, intersection, eye as ReturnType<GetCamera>));
  }

  /**
   * Returns the newest known hit. That of a move ignores objects that only listen to wheels, so for a wheel its rules are applied
   * to the newest answer.
   */
  #knownHitFor(event: Event): Intersection | null {
    const forwarded = event.type === 'wheel' ? this.#pointers.get(this.#mousePointerId) : undefined;
    if (forwarded === undefined || forwarded.answer.camera === null) return this.#newestHit;
    const handledAnswer = this.#answer;
    this.#answer = forwarded.answer;
    try {
      const intersection = forwarded.pointer.computeIntersection('wheel', this.#tracker.root, event);
      return isObjectHit(intersection) ? intersection : this.#newestHit;
    } finally {
      this.#answer = handledAnswer;
    }
  }

  #createForwarded(id: number, type: string, newest: EventSnapshot<MouseEvent>): ForwardedPointer {
    const pointer = this.#createPointer(id, type, () => forwarded.eye);
    const forwarded: ForwardedPointer = {
      id,
      pointer,
      place: null,
      newest,
      view: undefined,
      eye: null,
      answer: UNSEEN,
    };
    return forwarded;
  }

  #createPointer(id: number, type: string, eye: () => Camera | null): Pointer {
    const { customSort, clickThresholdMs, dblClickThresholdMs, contextMenuButton, filter } = this.#options;
    const ray = new WorkerRay(this.#tracker, () => this.#answer, customSort === undefined ? {} : { customSort });
    return new Pointer(
      generateUniquePointerId(),
      `screen-${type}`,
      undefined,
      ray,
      eye as GetCamera,
      undefined,
      () => this.#capture(id),
      () => {
        if (this.#element.hasPointerCapture(id)) this.#element.releasePointerCapture(id);
      },
      {
        ...(clickThresholdMs !== undefined && { clickThresholdMs }),
        ...(dblClickThresholdMs !== undefined && { dblClickThresholdMs }),
        ...(contextMenuButton !== undefined && { contextMenuButton }),
        ...(filter !== undefined && { filter }),
      },
    );
  }

  #capture(id: number): void {
    try {
      this.#element.setPointerCapture(id);
    } catch (error) {
      if (!isPointerGone(error)) throw error; // a finger was lifted
    }
  }

  #removePointer(id: number): void {
    const forwarded = this.#pointers.get(id);
    if (forwarded === undefined) return;
    this.#pointers.delete(id);
    globalThis.pointerEventspointerMap?.delete(forwarded.pointer.id);
  }
}

function isCaptured({ pointer }: ForwardedPointer): boolean {
  return pointer.getPointerCapture() !== undefined;
}

/** Returns whether a pixel is in a rectangle, by the same comparison as in picks. */
function isWithin({ x: left = 0, y: top = 0, width, height }: ViewSize, x: number, y: number): boolean {
  return width > 0 && height > 0 && x >= left && x <= left + width && y >= top && y <= top + height;
}

/** A wheel event whose copies, one for each ancestor that it bubbles to, share the stopped state; the library's copies do not. */
class StoppableWheelEvent extends SceneWheelEvent {
  override retarget(currentObject: Object3D): SceneWheelEvent {
    return Object.assign(super.retarget(currentObject), { propagationState: Reflect.get(this, 'propagationState') });
  }
}

import {
  type DomEvent,
  type EventManager,
  type Events,
  events as fiberEvents,
  getRootState,
  type Instance,
  type RootState,
  type RootStore,
} from '@react-three/fiber';
import type { Intersection, Object3D, Raycaster } from 'three';
import { readOptions, throwInvalid } from '../check/validate.js';
import { EventQueue, type QueuedEvent } from '../pointer/event-queue.js';
import { EventSnapshot, forgiveCapture } from '../pointer/event-snapshot.js';
import { decideAtOnce } from '../pointer/preventable.js';
import { afterTask, CanvasScene, type CanvasSceneOptions, checkService } from './canvas-scene.js';
import { type LayerQuestion, readLayers } from './layer-question.js';

const KEYS = ['service', 'track', 'onError', 'preventDefault'];

/** The options of `collisionEvents`. */
export interface CollisionEventsOptions extends CanvasSceneOptions {
  /**
   * Called synchronously to decide whether to prevent the browser's default action for an event, because handlers run too late
   * for that: true prevents it. It gets the newest known hits, those of the event before. Called for wheel, contextmenu, click,
   * dblclick, touchstart and touchmove.
   *
   * ```tsx
   * <Canvas events={collisionEvents({ preventDefault: ({ type }, hits) => type === 'wheel' && hits.length > 0 })}>
   * ```
   */
  preventDefault?: ((event: Event, hits: readonly Intersection[]) => boolean) | undefined;
}

/** The names of the handlers that make an object hoverable in fiber. */
const HOVER_HANDLERS = ['onPointerMove', 'onPointerOver', 'onPointerEnter', 'onPointerOut', 'onPointerLeave'] as const;

/**
 * Creates the events of a canvas of React Three Fiber whose rays are cast by the worker. All event props, portals,
 * `stopPropagation`, `onPointerMissed`, capture, layers and `events.filter` are fiber's own; a handler runs once its answer is
 * there, a few milliseconds later, in the order in which the events happened.
 *
 * ```tsx
 * <Canvas events={collisionEvents()}>
 *   <mesh onPointerOver={() => setHovered(true)} onClick={select} />
 * </Canvas>
 * ```
 *
 * Throws INVALID_ARGUMENT.
 */
export function collisionEvents(options: CollisionEventsOptions = {}): (store: RootStore) => EventManager<HTMLElement> {
  const operation = 'collisionEvents';
  const given = readOptions(operation, 'options', options, KEYS);
  for (const name of ['onError', 'preventDefault'] as const) {
    const value: unknown = given[name];
    if (value !== undefined && typeof value !== 'function') throwInvalid(operation, name, value, 'a function');
  }
  checkService(operation, given.service);
  return (store) => new CanvasEvents(store, given).manager;
}

type Handlers = { [K in keyof Events]: (event: DomEvent) => void };

/** The events of one canvas. */
class CanvasEvents {
  readonly manager: EventManager<HTMLElement>;
  readonly #store: RootStore;
  readonly #options: CollisionEventsOptions;
  /** fiber's handlers, which run once the answers are there. */
  readonly #handlers: Handlers;
  #queue = new EventQueue(rendered);
  #scene: CanvasScene | null = null;
  #disconnects: (() => void)[] = [];
  /** The layers of the newest event that was handled. */
  #newestLayers: readonly LayerQuestion[] = [];
  /** How often each pointer went down, counting only events whose handlers have run. */
  readonly #downCounts = new Map<number, number>();
  /** Pointers that were lifted while captured: their clicks still go to what captured them, as in fiber. */
  readonly #liftedPointers = new Set<number>();
  #forgiven = new WeakSet<EventTarget>();

  constructor(store: RootStore, options: CollisionEventsOptions) {
    this.#store = store;
    this.#options = options;
    const base = fiberEvents(store);
    this.#handlers = base.handlers as Handlers;
    const handlers = Object.fromEntries(
      Object.keys(this.#handlers).map((name) => [
        name,
        (event: DomEvent) => this.#receive(name as keyof Events, event),
      ]),
    );
    this.manager = {
      ...base,
      handlers: handlers as unknown as Events,
      connect: (target) => {
        base.connect?.(target); // also disconnects the previous target
        this.#connect(target);
      },
      disconnect: () => {
        base.disconnect?.();
        this.#disconnect();
      },
    };
  }

  #connect(target: HTMLElement): void {
    this.#queue = new EventQueue(rendered);
    this.#scene = CanvasScene.acquire(this.#store, this.#options);
    const { preventDefault } = this.#options;
    if (preventDefault === undefined) return;
    this.#disconnects.push(decideAtOnce(target, (event) => preventDefault(event, this.#newestHits())));
  }

  #disconnect(): void {
    if (this.#scene === null) return;
    this.#scene.release();
    this.#scene = null;
    this.#queue.close();
    for (const undo of this.#disconnects.splice(0)) undo();
    this.#forgiven = new WeakSet();
    this.#newestLayers = [];
  }

  /** Takes a native event. */
  #receive(name: keyof Events, native: DomEvent): void {
    const scene = this.#scene;
    if (scene === null) return;
    if (name === 'onPointerLeave' || name === 'onPointerCancel') {
      this.#queue.push(immediateEvent(() => this.#handlers[name](native))); // an app may call it without an event
    } else if (name === 'onLostPointerCapture') {
      this.#queue.push(immediateEvent(() => this.#onLostCapture(native as PointerEvent)));
    } else {
      const event = new EventSnapshot(native);
      const state = this.#store.getState();
      const run = (): void =>
        event.during(() => {
          this.#forgive(native.target); // in a shadow root, it is null at any other time
          makeCurrent(native);
          this.#handlers[name](native);
        });
      state.internal.lastEvent.current = native; // `events.update()` uses the newest event, whether or not it has been handled
      // Whether to prevent a wheel may depend on objects that do not listen to moves.
      const isHover = name === 'onPointerMove' && this.#options.preventDefault === undefined;
      const { interaction } = state.internal;
      const objects = isHover ? interaction.filter(isHoverable) : interaction;
      const layers = event.during(() => readLayers(scene, state, objects, native));
      const coalesced = name === 'onPointerMove' ? `${(native as PointerEvent).pointerId} ${native.buttons}` : null;
      this.#queue.push({
        coalesced,
        ask: () => askAll(layers, (layer) => layer.ask()),
        refresh: () => askAll(layers, (layer) => layer.refresh(this.#store.getState().internal.interaction)),
        handle: () => this.#handle(name, native, layers, run),
      });
    }
  }

  /** Runs fiber's handler for an event, while its raycasters return the hits that were answered. */
  #handle(name: keyof Events, native: DomEvent, layers: readonly LayerQuestion[], run: () => void): void {
    const { internal } = this.#store.getState();
    const { pointerId } = native as PointerEvent;
    if (name === 'onPointerDown' || name === 'onPointerMove') this.#endLiftedCapture(pointerId);
    const newestEvent = internal.lastEvent.current;
    if (name === 'onPointerDown') this.#downCounts.set(pointerId, (this.#downCounts.get(pointerId) ?? 0) + 1);
    this.#newestLayers = layers;
    const undo = layers.map((layer) => layer.restore());
    const restoreRaycasters = this.#substitute(layers);
    try {
      run();
    } finally {
      restoreRaycasters();
      for (const each of undo.reverse()) each();
      internal.lastEvent.current = newestEvent;
    }
    // The browser releases the capture of a pointer that was lifted, and may have done so before a handler has captured it.
    if (name !== 'onPointerUp' || !internal.capturedMap.has(pointerId)) return;
    this.#liftedPointers.add(pointerId);
    requestAnimationFrame(() => this.#queue.push(immediateEvent(() => this.#endLiftedCapture(pointerId))));
  }

  /**
   * Makes the raycasters return the known hits, and keeps their rays as they are, until fiber has asked all of them: handlers,
   * which run after that, find the raycasters unchanged. Returns a function that ends it in any case.
   */
  #substitute(layers: readonly LayerQuestion[]): () => void {
    const state = this.#store.getState();
    const managers = new Set<RootState['events']>([state.events]);
    for (const object of state.internal.interaction) {
      const rootState = getRootState(object);
      if (rootState) managers.add(rootState.events);
    }
    const byRaycaster = new Map(layers.map((layer) => [layer.raycaster, layer]));
    const undo: (() => void)[] = [];
    for (const [raycaster, layer] of byRaycaster) {
      undo.push(
        overrideProperty(raycaster, 'intersectObject', ((object: Object3D) =>
          layer.hitsOf(object)) as Raycaster['intersectObject']),
      );
    }
    const compute = (_: DomEvent, { raycaster }: RootState): void => {
      byRaycaster.get(raycaster)?.aim();
    };
    // A layer that was switched off at the time of the event has no hits.
    for (const events of managers)
      undo.push(overrideProperty(events, 'compute', compute), overrideProperty(events, 'enabled', true));
    const restoreRaycasters = (): void => {
      for (const each of undo.splice(0)) each();
    };
    const { filter } = state.events;
    undo.push(
      overrideProperty(state.events, 'filter', (hits, root) => {
        restoreRaycasters();
        return filter?.(hits, root) ?? hits;
      }),
    );
    return restoreRaycasters;
  }

  /** Returns the hits of the newest event that was handled, as fiber lists them for a wheel. */
  #newestHits(): readonly Intersection[] {
    const hits = this.#newestLayers
      .flatMap((layer) => layer.hits)
      .sort((a, b) => b.priority - a.priority || a.hit.distance - b.hit.distance)
      .map(({ hit }) => hit);
    const state = this.#store.getState();
    return state.events.filter?.(hits, state) ?? hits;
  }

  #onLostCapture({ pointerId }: PointerEvent): void {
    const { internal } = this.#store.getState();
    if (!internal.capturedMap.has(pointerId)) return;
    // It may come before the pointer's up event, which the capturing object must still receive; but a new capture is kept.
    const downCount = this.#downCounts.get(pointerId);
    requestAnimationFrame(() => {
      if (this.#downCounts.get(pointerId) === downCount)
        this.#queue.push(immediateEvent(() => this.#releaseCapture(pointerId)));
    });
  }

  /** Ends the captures of a pointer that was lifted, unless that has been done, or it is down again. */
  #endLiftedCapture(pointerId: number): void {
    if (this.#liftedPointers.delete(pointerId)) this.#releaseCapture(pointerId);
  }

  /** Ends the captures of a pointer, as fiber does when a capture is lost. */
  #releaseCapture(pointerId: number): void {
    const { internal } = this.#store.getState();
    if (!internal.capturedMap.delete(pointerId)) return;
    this.#handlers.onPointerCancel({} as DomEvent); // also ends all hovering
  }

  #forgive(target: EventTarget | null): void {
    if (!target || this.#forgiven.has(target)) return;
    this.#forgiven.add(target);
    this.#disconnects.push(forgiveCapture(target as Element)); // it may be of another document's class
  }
}

/** Ends that `window.event` is the event whose handlers have run. */
let restoreCurrentEvent = (): void => {};

/**
 * Makes an event the value of `window.event`, whose type tells React how soon to render what a handler has set: after a click,
 * before the next event.
 */
function makeCurrent(native: DomEvent): void {
  restoreCurrentEvent(); // of another canvas
  restoreCurrentEvent = overrideProperty(globalThis as { event?: unknown }, 'event', native);
}

/** Resolves once React has rendered what the handlers of an event have set. */
function rendered(): Promise<void> {
  return new Promise((resolve) =>
    afterTask(() => {
      restoreCurrentEvent();
      resolve();
    }),
  );
}

/** Creates an event that needs no answer. */
function immediateEvent(handle: () => void): QueuedEvent {
  return { coalesced: null, ask: () => null, refresh: () => null, handle };
}

/** Asks all layers; null if none has anything to ask. */
function askAll(
  layers: readonly LayerQuestion[],
  ask: (layer: LayerQuestion) => Promise<void> | null,
): Promise<void> | null {
  const answers = layers.flatMap((layer) => ask(layer) ?? []);
  return answers.length === 0 ? null : Promise.all(answers).then(() => {});
}

/** Overrides a property of an object; returns a function that restores it. */
function overrideProperty<T extends object, K extends keyof T>(object: T, key: K, value: T[K]): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  Object.defineProperty(object, key, { value, configurable: true, enumerable: true, writable: true });
  return () => {
    if (descriptor === undefined) delete object[key];
    else Object.defineProperty(object, key, descriptor);
  };
}

type Managed = { __r3f?: Pick<Instance, 'handlers'> };

function isHoverable(object: Object3D): boolean {
  const handlers = (object as unknown as Managed).__r3f?.handlers;
  return HOVER_HANDLERS.some((name) => handlers?.[name]);
}

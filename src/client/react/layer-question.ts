import { getRootState, type RootState } from '@react-three/fiber';
import { type Camera, type Intersection, type Object3D, Ray, type Raycaster, type Vector2 } from 'three';
import { addTo } from '../../shared/lists-by-key.js';
import { nextTask } from '../../shared/next-task.js';
import { isRaycastByThree } from '../pointer/raycast-by-three.js';
import type { SceneTracker } from '../three/scene-tracker.js';
import { beginSlice } from '../three/track/begin-slice.js';

/** What the questions of a layer need from the canvas. */
export interface LayerScene {
  trackView(
    root: Object3D,
    objects: readonly Object3D[],
    camera: Camera,
    size: { width: number; height: number },
  ): Promise<SceneTracker>;
  report(error: unknown): void;
}

/** Whether the worker has an object, is about to have it, or does not and will not have it. */
type Standing = 'yes' | 'soon' | 'no';

/** In fiber there may be no camera, which three's types do not allow. */
type AimableRaycaster = Omit<Raycaster, 'camera'> & { camera: Camera | null | undefined };

/** A new object is waited for no longer than this: a large one may take seconds to build. */
const MAX_WAIT_MS = 500;

/** Time slice on the main thread, or as long as this many objects take. */
const SLICE_MS = 3;
const MIN_SLICE_OBJECTS = 256;

/** Hits of the main thread's own tests, objects that the worker is about to have, and objects that exclude their descendants. */
interface LocalCast {
  readonly hits: readonly Intersection[];
  readonly coming: readonly Object3D[];
  readonly closed: ReadonlySet<Object3D>;
}

/** Objects that were waited for in vain: they are hit once the worker has them. */
const LATE_OBJECTS = new WeakSet<Object3D>();

/**
 * The hits of one raycaster of fiber: that of the canvas, or of a portal, with its ray at the time of the event. The worker is
 * asked. Objects with a `raycast` of their own, and objects that the worker does not have because they are invisible or of a
 * class that is not tracked, are tested here.
 */
export class LayerQuestion {
  readonly raycaster: Raycaster;
  readonly #scene: LayerScene;
  readonly #state: RootState;
  #objects: readonly Object3D[];
  readonly #ray = new Ray();
  readonly #pointer: Vector2;
  readonly #camera: Camera | null;
  /** The hits, each with the root of its object, nearest first. */
  #hits: { hit: Intersection; root: Object3D }[] = [];
  /** The same by object: each hit is listed for its object and all ancestors. */
  #byObject: Map<Object3D, Intersection[]> | null = null;

  /** Reads a layer whose ray has just been computed, with its interactive objects. */
  constructor(scene: LayerScene, state: RootState, objects: readonly Object3D[]) {
    const { raycaster, pointer } = state;
    this.raycaster = raycaster;
    this.#scene = scene;
    this.#state = state;
    this.#objects = objects;
    this.#ray.copy(raycaster.ray);
    this.#pointer = pointer.clone();
    this.#camera = (raycaster as AimableRaycaster).camera ?? null;
  }

  /** Returns the hits of the ray on an object and its descendants, nearest first. */
  hitsOf(object: Object3D): Intersection[] {
    this.#byObject ??= byObject(this.#hits);
    return this.#byObject.get(object)?.slice() ?? [];
  }

  /** The nearest hit of each object, instance and index on the layer's objects and their descendants, nearest first. */
  get hits(): { hit: Intersection; priority: number }[] {
    const { priority } = this.#state.events;
    const onObjects = new Set(this.#objects.flatMap((object) => this.hitsOf(object)));
    const ids = new Set<string>();
    return this.#hits.flatMap(({ hit }) => {
      const isNew = onObjects.has(hit) && ids.size < ids.add(`${hit.object.id} ${hit.index} ${hit.instanceId}`).size;
      return isNew ? { hit, priority } : [];
    });
  }

  /** Asks for the hits; null if there is nothing to ask the worker. */
  ask(): Promise<void> | null {
    this.#hits = [];
    this.#byObject = null;
    const { origin, direction } = this.#ray;
    // A canvas without a size has rays of NaN, which hit nothing.
    const isRay = [...origin.toArray(), ...direction.toArray()].every(Number.isFinite) && direction.lengthSq() > 0;
    if (this.#camera === null || !isRay || this.#objects.length === 0) return null;
    const byRoot = new Map<Object3D, Object3D[]>();
    // An object that was unmounted meanwhile is a tree of its own, which nobody would ever stop tracking.
    for (const object of this.#objects) if (getRootState(object)) addTo(byRoot, rootOf(object), object);
    return Promise.all(Array.from(byRoot, ([root, rootObjects]) => this.#askRoot(root, new Set(rootObjects)))).then(
      (answers) => {
        this.#hits = answers.flat().sort((a, b) => a.hit.distance - b.hit.distance);
      },
    );
  }

  /**
   * Asks again if an object that was hit has left the scene since: another one may have replaced it, which is among the objects
   * that are interactive now.
   */
  refresh(interaction: readonly Object3D[]): Promise<void> | null {
    if (this.#hits.every(({ hit, root }) => rootOf(hit.object) === root)) return null;
    this.#objects = interaction.filter((object) => getRootState(object)?.raycaster === this.raycaster);
    return this.ask();
  }

  /** Restores the layer's state at the time of the event; returns a function that undoes that. */
  restore(): () => void {
    const { pointer } = this.#state;
    const savedPointer = pointer.clone();
    const undo = this.aim();
    pointer.copy(this.#pointer);
    return () => {
      undo();
      pointer.copy(savedPointer);
    };
  }

  /** Points the raycaster as at the time of the event; returns a function that points it as it is now. */
  aim(): () => void {
    const raycaster = this.raycaster as AimableRaycaster;
    const { camera } = raycaster;
    const ray = raycaster.ray.clone();
    raycaster.ray.copy(this.#ray);
    raycaster.camera = this.#camera;
    return () => {
      raycaster.ray.copy(ray);
      raycaster.camera = camera;
    };
  }

  async #askRoot(root: Object3D, objects: ReadonlySet<Object3D>): Promise<{ hit: Intersection; root: Object3D }[]> {
    const { near, far, layers } = this.raycaster;
    const ray = { origin: this.#ray.origin, direction: this.#ray.direction, tMin: near, tMax: far };
    const hits: Intersection[] = [];
    try {
      const { mask } = layers;
      const { width, height } = this.#state.size;
      const tracker = await this.#scene.trackView(root, [...objects], this.#camera!, { width, height });
      const standingOf = (object: Object3D): Standing => tracker.standingOf(object);
      let localCast = await this.#castLocally(objects, standingOf);
      if (localCast.coming.length > 0) {
        await Promise.race([tracker.settled(), delay(MAX_WAIT_MS)]);
        localCast = await this.#castLocally(objects, standingOf);
        for (const object of localCast.coming) LATE_OBJECTS.add(object);
      }
      hits.push(...localCast.hits);
      const answer = await tracker.raycastAll(ray, { layers: mask, params: this.raycaster.params });
      // Objects with a `raycast` of their own are tracked, too, for all other queries.
      for (const hit of answer)
        if (isRaycastByThree(hit.object) && !isExcluded(hit.object, objects, localCast.closed)) hits.push(hit);
    } catch (error) {
      // Pointers still work without a worker, as in fiber.
      this.#scene.report(error);
      const localCast = await this.#castLocally(objects, () => 'no');
      hits.splice(0, hits.length, ...localCast.hits);
    }
    return hits.map((hit) => ({ hit, root }));
  }

  /**
   * Tests the objects and descendants that only this thread can answer for; lists objects that the worker is about to have, and
   * those that exclude their descendants. It does so in time slices: a model of 20,000 nodes takes 5 ms and more.
   */
  async #castLocally(objects: ReadonlySet<Object3D>, standingOf: (object: Object3D) => Standing): Promise<LocalCast> {
    const { raycaster } = this;
    const [hits, coming]: [Intersection[], Object3D[]] = [[], []];
    const closed = new Set<Object3D>();
    const stack = [...objects].reverse();
    let undo = this.aim();
    let isOver = beginSlice(SLICE_MS, MIN_SLICE_OBJECTS);
    try {
      for (let object = stack.pop(); object !== undefined; object = stack.pop()) {
        const isTestable = object.layers.test(raycaster.layers) && (object.raycast as unknown) !== null;
        const standing = isTestable && isRaycastByThree(object) ? standingOf(object) : 'no';
        if (standing === 'soon' && !LATE_OBJECTS.has(object)) coming.push(object);
        // An object whose `raycast` returns false excludes its children, as in three.
        if (isTestable && standing === 'no' && (object.raycast(raycaster, hits) as unknown) === false)
          closed.add(object);
        else {
          const { children } = object;
          // Children with handlers of their own are tested separately.
          for (let i = children.length - 1; i >= 0; i--) if (!objects.has(children[i])) stack.push(children[i]);
        }
        if (!isOver()) continue;
        undo();
        await nextTask();
        undo = this.aim();
        isOver = beginSlice(SLICE_MS, MIN_SLICE_OBJECTS);
      }
    } finally {
      undo();
    }
    return { hits, coming, closed };
  }
}

/** Computes the rays of all layers of a canvas for an event, as fiber does, and reads the layers. */
export function readLayers(
  scene: LayerScene,
  state: RootState,
  objects: readonly Object3D[],
  event: Parameters<NonNullable<RootState['events']['compute']>>[0],
): LayerQuestion[] {
  const layers = new Map<Raycaster, { state: RootState; objects: Object3D[] }>();
  const states = objects.map((object) => getRootState(object));
  for (const rootState of states) if (rootState) (rootState.raycaster as AimableRaycaster).camera = undefined;
  if (!state.previousRoot) state.events.compute?.(event, state);
  layers.set(state.raycaster, { state, objects: [] });
  objects.forEach((object, i) => {
    const rootState = states[i];
    if (!rootState?.events.enabled) return;
    const raycaster = rootState.raycaster as AimableRaycaster;
    if (raycaster.camera === undefined) {
      rootState.events.compute?.(event, rootState, rootState.previousRoot?.getState());
      raycaster.camera ??= null; // the layer does not exist for this event
    }
    if (raycaster.camera === null) return;
    const layer = layers.get(rootState.raycaster);
    if (layer === undefined) layers.set(rootState.raycaster, { state: rootState, objects: [object] });
    else layer.objects.push(object);
  });
  return [...layers.values()].map((layer) => new LayerQuestion(scene, layer.state, layer.objects));
}

function byObject(hits: readonly { hit: Intersection }[]): Map<Object3D, Intersection[]> {
  const map = new Map<Object3D, Intersection[]>();
  for (const { hit } of hits) {
    for (let object: Object3D | null = hit.object; object !== null; object = object.parent) addTo(map, object, hit);
  }
  return map;
}

/** Returns whether an ancestor excludes an object, with no object in between that has handlers of its own. */
function isExcluded(object: Object3D, objects: ReadonlySet<Object3D>, closed: ReadonlySet<Object3D>): boolean {
  const { parent } = object;
  if (closed.size === 0 || parent === null || objects.has(object)) return false;
  return closed.has(parent) || isExcluded(parent, objects, closed);
}

/** Returns the root of the tree that contains an object. */
export function rootOf(object: Object3D): Object3D {
  let root = object;
  while (root.parent !== null) root = root.parent;
  return root;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

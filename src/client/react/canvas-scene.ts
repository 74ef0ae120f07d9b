import { addAfterEffect, type RootStore } from '@react-three/fiber';
import type { Camera, Object3D } from 'three';
import { CollisionError } from '../../shared/errors.js';
import { slotOf } from '../../shared/ids.js';
import type { ContactDetail } from '../../shared/types.js';
import { guardRead, throwInvalid } from '../check/validate.js';
import { createCollisionService } from '../create.js';
import { reportUncaught } from '../report-uncaught.js';
import type { CollisionService } from '../service.js';
import type { SceneTracker } from '../three/scene-tracker.js';
import { isBelow } from '../three/track/is-below.js';
import { isShown } from '../three/track/is-shown.js';
import type { TrackOptions } from '../three/track-options.js';
import { trackScene } from '../three/track-scene.js';
import type { SceneFrame } from '../three/view/scene-frame.js';
import type { ViewSize } from '../three/view/view.js';
import { onCollisionProp, withProps } from './collision-prop.js';
import { rootOf } from './layer-question.js';

/** The options with which a canvas' scene is tracked. */
export interface CanvasSceneOptions {
  /** The service to use, which remains the caller's. Default: the canvas' own, which is disposed of with it. */
  service?: CollisionService | Promise<CollisionService> | undefined;
  /**
   * The options of `trackScene`. `shapeOf` and `objectOptions` apply to what the props `collision` of the objects leave open.
   * Default of `contacts`: 'none', and 'manifold' once there is a `useContact` in the canvas.
   */
  track?: Omit<TrackOptions, 'signal' | 'view' | 'updateMatrixWorld'> | undefined;
  /** Called with errors that nobody waits for: the service does not start, a frame fails. Default console.error. */
  onError?: ((error: unknown) => void) | undefined;
}

/** One tracked tree of objects: the canvas' scene, or that of a portal. */
interface TrackedRoot {
  readonly root: Object3D;
  readonly answer: Promise<SceneTracker>;
  readonly abort: AbortController;
  tracker: SceneTracker | null;
  /** Objects whose props changed before the tracker was there, which may have read them already. */
  readonly changed: Set<Object3D>;
  /** The objects of the portal's newest question. */
  objects: readonly Object3D[];
  /** How the root is seen; unknown before the first question of a portal. */
  camera: Camera | null;
  size: ViewSize;
}

const SCENES = new WeakMap<RootStore, CanvasScene>();

/**
 * The service of a canvas and the trackers of its scene and portals. There is one for each canvas, shared by all who `acquire`
 * it, and disposed of when the last has released it. That is done a task later, because React mounts twice in strict mode, and
 * fiber disconnects its events to connect them to another element.
 */
export class CanvasScene {
  readonly store: RootStore;
  #options: CanvasSceneOptions = {};
  #users = 0;
  /** Whether somebody listens to contacts, whatever the options are. */
  #isContactAsked = false;
  #service: Promise<CollisionService> | null = null;
  readonly #roots = new Map<Object3D, TrackedRoot>();
  readonly #reportedKinds = new Set<string>();
  #endFrames: (() => void) | null = null;
  #endProps: (() => void) | null = null;
  readonly #listeners = new Set<(frame: SceneFrame) => void>();
  /** The number of the frame that was reported last. */
  #lastReportedFrame = 0;
  /** The id of the visible object in each slot in the current frame, shared by all who ask; null until somebody does. */
  #visibleIds: VisibleIds | null = null;

  private constructor(store: RootStore) {
    this.store = store;
  }

  /** Returns the scene of a canvas, and adds a user. The options of its first user apply. */
  static acquire(requestedStore: RootStore, options: CanvasSceneOptions): CanvasScene {
    const store = outermostStore(requestedStore);
    let scene = SCENES.get(store);
    if (scene === undefined) {
      scene = new CanvasScene(store);
      SCENES.set(store, scene);
    }
    scene.#users++;
    if (scene.#service === null) scene.#start(options);
    else scene.compare(options);
    return scene;
  }

  release(): void {
    this.#users--;
    afterTask(() => {
      if (this.#users === 0) this.#stop();
    });
  }

  /**
   * The tracker of the canvas' own scene, once all objects that are there now are built. Throws DISPOSED if the canvas is not
   * mounted.
   */
  get tracker(): Promise<SceneTracker> {
    return this.#trackRoot(this.store.getState().scene).answer;
  }

  /**
   * Returns the tracker of a root once all objects that are there now are built. A portal is tracked until none of the objects,
   * and no interactive object, is in it. Its sprites turn to the camera.
   */
  async trackView(root: Object3D, objects: readonly Object3D[], camera: Camera, size: ViewSize): Promise<SceneTracker> {
    const tracked = Object.assign(this.#trackRoot(root), { objects, camera, size });
    return tracked.tracker ?? tracked.answer;
  }

  /** Calls `listener` with each frame of the canvas' own scene, and requests a frame; returns a function that ends it. */
  onFrame(listener: (frame: SceneFrame) => void): () => void {
    this.#listeners.add(listener);
    this.#requestFrame();
    return () => this.#listeners.delete(listener);
  }

  /** Returns whether an object, or one of its descendants, is visible in the current frame. */
  isSeen(frame: SceneFrame, object: Object3D): boolean {
    const { scene } = this.store.getState();
    const tracker = this.#roots.get(scene)?.tracker;
    if (!tracker || !isShown(object, scene)) return false;
    this.#visibleIds ??= idsBySlot(frame.result.views.get(tracker.viewName)!.ids);
    const { count, bySlot } = this.#visibleIds;
    let remaining = count;
    // A LOD hides the levels that it does not show.
    const isSubtreeVisible = (each: Object3D): boolean =>
      remaining-- > 0 &&
      each.visible &&
      (tracker.idsOf(each).some((id) => bySlot[slotOf(id)] === id) || each.children.some(isSubtreeVisible));
    let isSeen = isSubtreeVisible(object);
    // Fewer objects are visible than it has descendants: 20,000, none of them visible, would take 4 ms of each frame.
    if (!isSeen && remaining < 0) frame.forEachVisible(({ object: drawn }) => (isSeen ||= isBelow(drawn, object)));
    return isSeen;
  }

  /** Makes the trackers compute contacts from now on, unless the options and props say otherwise. */
  askContacts(): void {
    if (this.#isContactAsked) return;
    this.#isContactAsked = true;
    if (this.#options.track?.contacts !== undefined) return;
    for (const { root, tracker, changed } of this.#roots.values()) {
      if (tracker === null) changed.add(root);
      else tracker.changed(root);
    }
    this.#requestFrame();
  }

  /** Reports an error that nobody waits for; the same again, as in each frame, is reported once. */
  report(error: unknown): void {
    const code = CollisionError.is(error) && error.code;
    const kind = String(error);
    if (code === 'DISPOSED' || code === 'ABORTED' || this.#reportedKinds.has(kind)) return;
    this.#reportedKinds.add(kind);
    (this.#options.onError ?? console.error)(error);
  }

  /** Warns about options of another user that do not apply. */
  compare(options: CanvasSceneOptions): void {
    for (const name of ['service', 'track', 'onError'] as const) {
      if (options[name] === undefined || options[name] === this.#options[name] || this.#reportedKinds.has(name))
        continue;
      this.#reportedKinds.add(name);
      console.warn(
        `collision-worker: ${name} of <Collision> or collisionEvents is passed over, as the scene of the canvas is ` +
          'tracked already: say it in one of them, <Collision> above all hooks',
      );
    }
  }

  #start(options: CanvasSceneOptions): void {
    this.#options = options;
    this.#lastReportedFrame = 0;
    this.#isContactAsked = false;
    const service = Promise.resolve(options.service ?? createCollisionService());
    this.#service = service;
    service.catch((error) => this.report(error));
    this.#endFrames = addAfterEffect(() => {
      this.#update();
      return true;
    });
    this.#endProps = onCollisionProp((object) => {
      for (const { tracker, changed } of this.#roots.values()) {
        if (tracker === null) changed.add(object);
        else tracker.changed(object);
      }
    });
    const { scene } = this.store.getState();
    if (scene) this.#trackRoot(scene);
  }

  #stop(): void {
    this.#endFrames?.();
    this.#endFrames = null;
    this.#endProps?.();
    this.#endProps = null;
    for (const tracked of [...this.#roots.values()]) this.#releaseRoot(tracked);
    if (this.#options.service === undefined) {
      this.#service?.then(
        (service) => service.dispose(),
        () => {}, // it was reported
      );
    }
    this.#service = null;
    this.#reportedKinds.clear();
  }

  #trackRoot(root: Object3D): TrackedRoot {
    const existing = this.#roots.get(root);
    if (existing !== undefined) return existing;
    const service = this.#service;
    if (service === null) throw notMounted();
    const abort = new AbortController();
    const contacts = (): ContactDetail => (this.#isContactAsked ? 'manifold' : 'none');
    const track = withBuiltCallback(withProps(this.#options.track ?? {}, contacts), () => this.#requestFrame());
    const { signal } = abort;
    const answer = service.then((ready) =>
      trackScene(ready, root, { ...track, view: reserveViewName(ready, signal), signal }),
    );
    const size = { width: 0, height: 0 };
    const changed = new Set<Object3D>();
    const tracked: TrackedRoot = { root, answer, abort, tracker: null, changed, objects: [], camera: null, size };
    this.#roots.set(root, tracked);
    answer.then(
      (tracker) => {
        if (this.#roots.get(root) !== tracked) {
          tracker.dispose();
          return;
        }
        tracked.tracker = tracker;
        for (const object of tracked.changed) tracker.changed(object);
        tracked.changed.clear();
        this.#requestFrame();
      },
      (error) => {
        abort.abort();
        // The next question tries again.
        if (this.#roots.get(root) === tracked) this.#roots.delete(root);
        this.report(error);
      },
    );
    return tracked;
  }

  #releaseRoot(tracked: TrackedRoot): void {
    this.#roots.delete(tracked.root);
    tracked.abort.abort();
    tracked.tracker?.dispose();
  }

  /** Requests a frame: a canvas that draws on demand has none if only the worker has something new. */
  #requestFrame(): void {
    this.store.getState().invalidate();
  }

  /** Sends what has changed, after the frame that fiber has drawn. */
  #update(): void {
    const { scene, camera, size, internal } = this.store.getState();
    for (const tracked of this.#roots.values()) {
      const { root, tracker } = tracked;
      const isOwnScene = root === scene;
      const isInside = (object: Object3D): boolean => rootOf(object) === root;
      if (!isOwnScene && !tracked.objects.some(isInside) && !internal.interaction.some(isInside)) {
        this.#releaseRoot(tracked); // the portal was removed
        continue;
      }
      const viewCamera = isOwnScene ? camera : tracked.camera;
      if (tracker === null || viewCamera === null) continue;
      const frame = tracker.update(viewCamera, isOwnScene ? { width: size.width, height: size.height } : tracked.size);
      frame.then((sceneFrame) => isOwnScene && this.#notifyListeners(sceneFrame)).catch((error) => this.report(error));
    }
  }

  #notifyListeners(frame: SceneFrame): void {
    // Rendered frames that come faster than the worker's answers share one.
    if (frame.frame === this.#lastReportedFrame) return;
    this.#lastReportedFrame = frame.frame;
    for (const listener of [...this.#listeners]) {
      try {
        listener(frame);
      } catch (error) {
        reportUncaught(error);
      }
    }
    // Objects that leave the scene must not be retained.
    this.#visibleIds = null;
  }
}

/** Calls `callback` in a later task. */
export function afterTask(callback: () => void): void {
  if (typeof MessageChannel === 'undefined') {
    setTimeout(callback); // Jest's jsdom has none
    return;
  }
  // Not a timer: it would never fire if a test fakes time.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(null);
}

/**
 * Returns the outermost store whose scene contains that of a store: the store of the canvas, or of a portal. A portal has its own
 * store even if it leads into the scene around it.
 */
function outermostStore(store: RootStore): RootStore {
  const { scene } = store.getState();
  let result = store;
  for (let current = store; ; ) {
    const { previousRoot } = current.getState();
    if (previousRoot === undefined) return result;
    current = previousRoot;
    if (isBelow(scene, current.getState().scene)) result = current;
  }
}

/** Names of views in use, by service. Two canvases with the same name would each get what the other's camera sees. */
const VIEWS = new WeakMap<object, Set<string>>();

/** Reserves an unused name for a view of a service, until the signal releases it. */
function reserveViewName(service: CollisionService, signal: AbortSignal): string {
  const key: object = Object(service); // an invalid service is rejected where it is used
  const names = VIEWS.get(key) ?? new Set();
  VIEWS.set(key, names);
  let view = 'main';
  for (let n = 2; names.has(view); n++) view = `main ${n}`;
  if (!signal.aborted) names.add(view);
  signal.addEventListener('abort', () => names.delete(view));
  return view;
}

/** Ids by their slots. */
interface VisibleIds {
  readonly count: number;
  readonly bySlot: Uint32Array;
}

/** Indexes ids by their slots: 50,000 take 0.8 ms, while a Set of the objects takes 10. */
function idsBySlot(ids: Uint32Array): VisibleIds {
  const bySlot = new Uint32Array(1 + ids.reduce((max, id) => Math.max(max, slotOf(id)), 0));
  for (const id of ids) bySlot[slotOf(id)] = id;
  return { count: ids.length, bySlot };
}

/** Returns options with which `onBuilt` is called whenever nothing is left to be built. */
function withBuiltCallback(track: Omit<TrackOptions, 'signal'>, onBuilt: () => void): Omit<TrackOptions, 'signal'> {
  const { onProgress } = track;
  // A value that is not a function is passed on, and rejected there.
  if (onProgress !== undefined && typeof onProgress !== 'function') return track;
  return {
    ...track,
    onProgress: (fraction) => {
      if (fraction === 1) onBuilt();
      onProgress?.(fraction);
    },
  };
}

/** Checks a service, or a promise of one. Throws INVALID_ARGUMENT. */
export function checkService(operation: string, service: unknown): void {
  if (service === undefined) return;
  guardRead(operation, 'service', () => {
    const { addMesh, then } = (service ?? {}) as { addMesh?: unknown; then?: unknown };
    if (typeof addMesh !== 'function' && typeof then !== 'function') {
      throwInvalid(operation, 'service', service, 'a CollisionService, or a promise of one');
    }
  });
}

export function notMounted(): CollisionError {
  return new CollisionError('DISPOSED', 'the canvas is not mounted, expected a call from an effect or a handler on');
}

import { addAfterEffect, type RootStore } from '@react-three/fiber';
import type { Camera, Object3D } from 'three';
import { CollisionError } from '../../shared/errors.js';
import { slotOf } from '../../shared/ids.js';
import { addTo } from '../../shared/lists-by-key.js';
import type { ContactDetail } from '../../shared/types.js';
import { invalid, reading } from '../check/validate.js';
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

/** The view of a canvas' own scene, by its name. */
const MAIN = 'main';

/** What a canvas' scene is tracked with. */
export interface CanvasSceneOptions {
  /** The service to ask, which stays the caller's. Default: one of the canvas' own, which goes with it. */
  service?: CollisionService | Promise<CollisionService> | undefined;
  /**
   * What `trackScene` takes. `shapeOf` and `objectOptions` say what the props `collision` of the objects do not. Default of
   * `contacts`: 'none', and 'manifold' once there is a `useContact` in the canvas.
   */
  track?: Omit<TrackOptions, 'signal' | 'view' | 'updateMatrixWorld'> | undefined;
  /** It hears of what fails where nobody waits for it: the service does not start, a frame fails. Default console.error. */
  onError?: ((error: unknown) => void) | undefined;
}

/** One tracked tree of objects: the canvas' scene, or what a portal draws. */
interface TrackedRoot {
  readonly root: Object3D;
  readonly answer: Promise<SceneTracker>;
  readonly abort: AbortController;
  tracker: SceneTracker | null;
  /** Their props changed before there was a tracker, which may have asked for them. */
  readonly changed: Set<Object3D>;
  /** It is seen so; before the first question of a portal nobody knows. */
  camera: Camera | null;
  size: ViewSize;
}

const SCENES = new WeakMap<RootStore, CanvasScene>();

/**
 * The service of a canvas and the trackers of its scene and portals. There is one for each canvas, shared by all who
 * `acquire` it, and disposed of when the last has released it: a task later, as React mounts twice where it is strict,
 * and fiber disconnects its events to connect them to another element.
 */
export class CanvasScene {
  readonly store: RootStore;
  #options: CanvasSceneOptions = {};
  #users = 0;
  /** Somebody wants to hear of contacts, whatever the options say. */
  #isContactAsked = false;
  #service: Promise<CollisionService> | null = null;
  readonly #roots = new Map<Object3D, TrackedRoot>();
  #portals = 0;
  readonly #reported = new Set<string>();
  #endFrames: (() => void) | null = null;
  #endProps: (() => void) | null = null;
  readonly #listeners = new Set<(frame: SceneFrame) => void>();
  /** The number of the frame that was told last. */
  #told = 0;
  /** The id of what is visible in each slot in the frame that is told, which all who ask share; null until somebody does. */
  #seen: SeenIds | null = null;
  /** What has parted from what in the frame that is told; null until somebody asks. */
  #parted: Map<Object3D, Object3D[]> | null = null;

  private constructor(store: RootStore) {
    this.store = store;
  }

  /** Answers the one of a canvas, with one user more. The options of its first user count. */
  static acquire(store: RootStore, options: CanvasSceneOptions): CanvasScene {
    let scene = SCENES.get(store);
    if (scene === undefined) {
      scene = new CanvasScene(store);
      SCENES.set(store, scene);
    }
    scene.#users++;
    if (scene.#service === null) scene.#start(options);
    else scene.#compare(options);
    return scene;
  }

  release(): void {
    this.#users--;
    const stop = (): void => {
      if (this.#users === 0) this.#stop();
    };
    if (typeof MessageChannel === 'undefined') {
      setTimeout(stop); // Jest's jsdom has none
      return;
    }
    // Not a timer: where a test fakes time it would never come.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      stop();
    };
    port2.postMessage(null);
  }

  get service(): Promise<CollisionService> {
    return this.#service ?? Promise.reject(notMounted());
  }

  /** Answers the tracker of a root as soon as it is there. */
  get(root: Object3D): SceneTracker | null {
    return this.#roots.get(root)?.tracker ?? null;
  }

  /** Answers the tracker of a root when all stands that is there now. */
  async track(root: Object3D): Promise<SceneTracker> {
    if (this.#service === null) throw notMounted();
    return this.#tracked(root).answer;
  }

  /** Says how a portal is seen: its sprites turn to that camera. */
  setView(root: Object3D, camera: Camera, size: ViewSize): void {
    const tracked = this.#roots.get(root);
    if (tracked === undefined) return;
    tracked.camera = camera;
    tracked.size = size;
  }

  /** Has `listen` called with each frame of the canvas' own scene, and one drawn for it; answers what ends that. */
  onFrame(listen: (frame: SceneFrame) => void): () => void {
    this.#listeners.add(listen);
    this.#draw();
    return () => this.#listeners.delete(listen);
  }

  /** Tells whether an object, or anything below it, is visible in the frame that is told. */
  isSeen(frame: SceneFrame, object: Object3D): boolean {
    const { scene } = this.store.getState();
    const tracker = this.get(scene);
    if (tracker === null || !isShown(object, scene)) return false;
    this.#seen ??= idsBySlot(frame.result.views.get(MAIN)!.ids);
    const { count, bySlot } = this.#seen;
    let room = count;
    // A LOD hides the levels that are not its own now.
    const look = (each: Object3D): boolean =>
      room-- > 0 &&
      each.visible &&
      (tracker.idsOf(each).some((id) => bySlot[slotOf(id)] === id) || each.children.some(look));
    let isSeen = look(object);
    // Less is visible than there is below it: 20,000 of which none is seen would take 4 ms of each frame.
    if (!isSeen && room < 0) frame.forEachVisible(({ object: drawn }) => (isSeen ||= isBelow(drawn, object)));
    return isSeen;
  }

  /** Answers what has parted from an object in the frame that is told: for all who ask it is gone through once. */
  partedFrom(frame: SceneFrame, object: Object3D): readonly Object3D[] {
    this.#parted ??= partedIn(frame);
    return this.#parted.get(object) ?? [];
  }

  /** Has contacts looked at from now on, where the options and props do not say otherwise. */
  askContacts(): void {
    if (this.#isContactAsked) return;
    this.#isContactAsked = true;
    if (this.#options.track?.contacts !== undefined) return;
    for (const { root, tracker, changed } of this.#roots.values()) {
      if (tracker === null) changed.add(root);
      else tracker.changed(root);
    }
    this.#draw();
  }

  /** Says once of each kind what failed where nobody waits for it. */
  report(error: unknown): void {
    const kind = CollisionError.is(error) ? error.code : String(error);
    if (kind === 'DISPOSED' || kind === 'ABORTED' || this.#reported.has(kind)) return;
    this.#reported.add(kind);
    (this.#options.onError ?? console.error)(error);
  }

  /** Says which options of another user are not those that count. */
  #compare(options: CanvasSceneOptions): void {
    for (const name of ['service', 'track'] as const) {
      if (options[name] === undefined || options[name] === this.#options[name] || this.#reported.has(name)) continue;
      this.#reported.add(name);
      console.warn(
        `collision-worker: ${name} of <Collision> or collisionEvents is passed over, as the scene of the canvas is ` +
          'tracked already: say it in one of them, <Collision> above all hooks',
      );
    }
  }

  #start(options: CanvasSceneOptions): void {
    this.#options = options;
    this.#told = 0;
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
    if (scene) this.#tracked(scene);
  }

  #stop(): void {
    this.#endFrames?.();
    this.#endFrames = null;
    this.#endProps?.();
    this.#endProps = null;
    for (const tracked of [...this.#roots.values()]) this.#letGo(tracked);
    if (this.#options.service === undefined) {
      this.#service?.then(
        (service) => service.dispose(),
        () => {}, // it was reported
      );
    }
    this.#service = null;
    this.#reported.clear();
  }

  #tracked(root: Object3D): TrackedRoot {
    const known = this.#roots.get(root);
    if (known !== undefined) return known;
    const abort = new AbortController();
    const contacts = (): ContactDetail => (this.#isContactAsked ? 'manifold' : 'none');
    const view = root === this.store.getState().scene ? MAIN : `portal ${++this.#portals}`;
    const track = withBuilt(withProps(this.#options.track ?? {}, contacts), () => this.#draw());
    const options = { ...track, view, signal: abort.signal };
    const answer = this.#service!.then((service) => trackScene(service, root, options));
    const size = { width: 0, height: 0 };
    const tracked: TrackedRoot = { root, answer, abort, tracker: null, changed: new Set(), camera: null, size };
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
        this.#draw();
      },
      (error) => {
        // What comes next tries again.
        if (this.#roots.get(root) === tracked) this.#roots.delete(root);
        this.report(error);
      },
    );
    return tracked;
  }

  #letGo(tracked: TrackedRoot): void {
    this.#roots.delete(tracked.root);
    tracked.abort.abort();
    tracked.tracker?.dispose();
  }

  /** Asks for a frame, which a canvas that draws on demand has not otherwise where nothing but the worker has something new. */
  #draw(): void {
    this.store.getState().invalidate();
  }

  /** Sends what changed, behind the frame that fiber has drawn. */
  #update(): void {
    const { scene, camera, size } = this.store.getState();
    for (const tracked of this.#roots.values()) {
      const { root, tracker } = tracked;
      const isOwn = root === scene;
      if (!isOwn && root.children.length === 0) {
        this.#letGo(tracked); // the portal has gone
        continue;
      }
      const eye = isOwn ? camera : tracked.camera;
      if (tracker === null || eye === null) continue;
      const frame = tracker.update(eye, isOwn ? { width: size.width, height: size.height } : tracked.size);
      frame.then((each) => isOwn && this.#tell(each)).catch((error) => this.report(error));
    }
  }

  #tell(frame: SceneFrame): void {
    // Pictures that come faster than the worker's answers share one.
    if (frame.frame === this.#told) return;
    this.#told = frame.frame;
    for (const listen of [...this.#listeners]) {
      try {
        listen(frame);
      } catch (error) {
        reportUncaught(error);
      }
    }
    // What leaves the scene is not held.
    this.#seen = null;
    this.#parted = null;
  }
}

/** Ids, each in its slot. */
interface SeenIds {
  readonly count: number;
  readonly bySlot: Uint32Array;
}

/** Lists ids by their slots: 50,000 take 0.8 ms, where a Set of the objects takes 10. */
function idsBySlot(ids: Uint32Array): SeenIds {
  const bySlot = new Uint32Array(1 + ids.reduce((most, id) => Math.max(most, slotOf(id)), 0));
  for (const id of ids) bySlot[slotOf(id)] = id;
  return { count: ids.length, bySlot };
}

/** Lists what has parted from each object. */
function partedIn(frame: SceneFrame): Map<Object3D, Object3D[]> {
  const parted = new Map<Object3D, Object3D[]>();
  frame.forEachEnded(({ object: a }, { object: b }) => {
    addTo(parted, a, b);
    addTo(parted, b, a);
  });
  return parted;
}

/** Options with which `onBuilt` is called whenever nothing is being built any more. */
function withBuilt(track: Omit<TrackOptions, 'signal'>, onBuilt: () => void): Omit<TrackOptions, 'signal'> {
  const { onProgress } = track;
  // What is no function goes on to where it is refused.
  if (onProgress !== undefined && typeof onProgress !== 'function') return track;
  return {
    ...track,
    onProgress: (fraction) => {
      if (fraction === 1) onBuilt();
      onProgress?.(fraction);
    },
  };
}

/** Checks what is given as a service, or as a promise of one. Throws INVALID_ARGUMENT. */
export function checkService(operation: string, service: unknown): void {
  if (service === undefined) return;
  reading(operation, 'service', () => {
    const { addMesh, then } = (service ?? {}) as { addMesh?: unknown; then?: unknown };
    if (typeof addMesh !== 'function' && typeof then !== 'function') {
      invalid(operation, 'service', service, 'a CollisionService, or a promise of one');
    }
  });
}

export function notMounted(): CollisionError {
  return new CollisionError('DISPOSED', 'the canvas is not mounted, expected a call from an effect or a handler on');
}

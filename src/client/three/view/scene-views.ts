import { type Camera, Matrix4, Vector4 } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ViewOptions } from '../../../shared/types.js';
import { checkAtLeastZero, invalidArgument, readOptions, show } from '../../check/validate.js';
import { checkView, type View } from '../../frame/view-table.js';
import { named } from '../../link/worker-link.js';
import { FirstView } from '../../query/first-view.js';
import { cornersIn, FrustumCorners, motionBetween } from '../../query/frustum-motion.js';
import type { CollisionService } from '../../service.js';
import { isSameMatrix } from '../../transforms/affine.js';
import type { ClipSetTable } from '../track/clip-sets.js';
import { isAboutOneObject } from '../track/object-wishes.js';
import type { TrackerContext } from '../track/stand-in.js';
import { readCamera, type ViewSize } from './view.js';

export interface SceneViewOptions {
  /**
   * World units by which the frustum grows, for drawing one frame late. 'motion': twice the distance that the frustum has moved
   * since this view was last set, because it may continue to move, and 0 if the view was hidden then; throws INVALID_ARGUMENT for
   * a far plane at infinity. If objects move fast, give a number that includes how far they move in a frame. Default 0.
   */
  margin?: number | 'motion';
  /** Objects with fewer pixels across are not seen. Default 0. */
  minPixels?: number;
  /** Objects that nearer objects hide are not seen, as with `occlusion` of the service's views. Default false. */
  occlusion?: boolean;
  /** How far the eye may move, and objects relative to each other, for that to remain true. See `ViewOptions`. */
  occlusionMargin?: number;
}

const KEYS = ['margin', 'minPixels', 'occlusion', 'occlusionMargin'];

/** Reads the options of a view. Throws INVALID_ARGUMENT. */
export function readSceneView(given: SceneViewOptions): SceneViewOptions {
  return readOptions('setView', 'options', given, KEYS);
}

/** What the tracker knows of a camera that it has set as a view. */
export interface SceneView {
  readonly name: string;
  /** The camera that was passed, as it is now. */
  camera: Camera;
  /** The view as it was set, with copies of the matrices. */
  readonly options: ViewOptions;
  readonly layers: number;
  /** The corners of its frustum; null if its motion was not needed yet. */
  corners: FrustumCorners | null;
}

/** Asks a question about a view. Rejects as the question does, and with ABORTED by the signal while it waits. */
type AskAboutView = <T>(signal: AbortSignal | undefined, question: (view: SceneView) => Promise<T>) => Promise<T>;

/** State shared by the trackers of one service. */
interface Shared {
  /** The owner of each view, by name: trackers may set views of one name in turn. */
  readonly owners: Map<string, SceneViews>;
  /** Notified when the service has ended: a promise of the service would keep each tracker alive as long as the service. */
  readonly hearing: Set<SceneViews>;
}

const known = new WeakMap<CollisionService, Shared>();

function sharedBy(service: CollisionService): Shared {
  let shared = known.get(service);
  if (shared === undefined) {
    const hearing = new Set<SceneViews>();
    shared = { owners: new Map(), hearing };
    known.set(service, shared);
    service.ended.then((error) => {
      for (const each of hearing) each.end(error);
    });
  }
  return shared;
}

/** The views of a tracker in the service, by name. */
export class SceneViews {
  readonly #service: CollisionService;
  readonly #owners: Map<string, SceneViews>;
  readonly #hearing: Set<SceneViews>;
  readonly #onEnd: () => void;
  readonly #views = new Map<string, SceneView>();
  /** Name of the view that `update` sets; questions about it wait for that. */
  readonly #main: string;
  readonly #first = new FirstView();
  /** The default margin of views. */
  readonly #margin: number | 'motion';
  readonly #clips: ClipSetTable;
  /** Why there are no views any more; null while there may be some. */
  #ended: CollisionError | null = null;

  /** `onEnd` is called when the service has ended for good. */
  constructor(
    { service, clips }: Pick<TrackerContext, 'service' | 'clips'>,
    main: string,
    margin: number | 'motion',
    onEnd: () => void,
  ) {
    this.#service = service;
    const { owners, hearing } = sharedBy(service);
    this.#owners = owners;
    this.#hearing = hearing.add(this);
    this.#onEnd = onEnd;
    this.#main = main;
    this.#margin = margin;
    this.#clips = clips;
  }

  /** Sets a view, with options that were read by `readSceneView`. */
  set(name: string, camera: Camera, size: ViewSize, given: SceneViewOptions): void {
    const { margin = this.#margin, minPixels = 0, occlusion, occlusionMargin } = given;
    const options = readCamera(camera, size, 0, minPixels);
    // An object that the renderer's planes clip need not hide others, and the worker does not know these planes.
    if (occlusion !== undefined) options.occlusion = occlusion === true && this.#clips.cutAll ? false : occlusion;
    if (occlusionMargin !== undefined) options.occlusionMargin = occlusionMargin;
    const before = this.#views.get(name);
    let corners: FrustumCorners | null = null;
    let read: View | undefined;
    if (margin !== 'motion') options.margin = margin;
    else if (before !== undefined) {
      const isAskedFor = given.margin === 'motion';
      if (!isAskedFor && isSameCamera(before.options, options)) corners = before.corners;
      else {
        // The view that is read for its corners is passed on as read, because reading it takes longer than setting it.
        read = checkView('setView', options);
        corners = new FrustumCorners(read);
        options.margin = 2 * motionTo(corners, before, isAskedFor);
        checkAtLeastZero('setView', 'margin', options.margin);
        read.setMargins(options.margin, options.occlusion === true && !read.isEmpty, occlusionMargin);
      }
    }
    const isOwn = this.#owners.get(name) === this;
    if (isOwn && before?.options.margin === options.margin && isSameCamera(before!.options, options)) {
      before!.camera = camera;
      return;
    }
    this.#service.setView(options, name, read);
    this.#owners.set(name, this);
    // The matrices are the camera's own arrays.
    const { projection, view, layers = 0 } = options;
    const copies = { ...options, projection: Array.from(projection), view: Array.from(view) };
    this.#views.set(name, { name, camera, options: copies, layers, corners });
    if (name === this.#main) this.#first.set();
  }

  /**
   * Finds a view, and returns how to ask something about it as it is now. Questions about the main view wait until it is first
   * set. Throws INVALID_ARGUMENT.
   */
  find(operation: string, name: string): AskAboutView {
    if (name === this.#main && !this.#first.isSet) {
      return (signal, question) => this.#first.ask(operation, signal, () => question(this.get(operation, name)));
    }
    const view = this.get(operation, name);
    return (_, question) => question(view);
  }

  /** Returns all views, as they are now. */
  all(): ReadonlyMap<string, SceneView> {
    return new Map(this.#views);
  }

  /** Returns a view by its name; null if there is none yet. */
  peek(name: string): SceneView | null {
    return this.#views.get(name) ?? null;
  }

  /** Returns a view by its name. Throws INVALID_ARGUMENT. */
  get(operation: string, name: string): SceneView {
    const view = this.#views.get(name);
    if (view !== undefined) return view;
    // A question that has waited for the first view may run after the tracker was disposed in the same task.
    if (this.#ended !== null) throw named(operation, this.#ended);
    const known = [...this.#views.keys()].map(show).join(', ') || 'none yet';
    throw invalidArgument(`${operation}: view is ${show(name)}, expected one that the tracker has set: ${known}`);
  }

  remove(name: string): void {
    this.get('removeView', name);
    this.#views.delete(name);
    if (this.#owners.get(name) !== this) return; // another tracker has set it since
    this.#owners.delete(name);
    this.#service.removeView(name);
  }

  /** Notes why the service has ended. */
  end(error: CollisionError): void {
    this.#first.end(error);
    this.#onEnd();
  }

  /** Removes all views, for good. */
  clear(): void {
    this.#ended = new CollisionError('DISPOSED', 'the tracker is disposed, expected one in use');
    this.#first.end(this.#ended);
    this.#hearing.delete(this);
    for (const name of [...this.#views.keys()]) {
      try {
        this.remove(name);
      } catch (error) {
        // The service's own `removeView` was called for it.
        if (!isAboutOneObject(error)) throw error;
      }
    }
  }
}

/**
 * Returns how far a frustum has moved, or 0 if that is unknown: its far plane is at infinity, or was. Throws INVALID_ARGUMENT if
 * it is, and the caller has asked for the motion.
 */
function motionTo(now: FrustumCorners, before: SceneView, isAskedFor: boolean): number {
  try {
    before.corners ??= cornersIn(before.options);
    return motionBetween(before.corners, now);
  } catch {
    return isAskedFor ? motionBetween(now, now) : 0;
  }
}

const OF_VIEWPORT = ['x', 'y', 'width', 'height'] as const;
const OF_CAMERA = ['depth', 'reversed', 'layers', 'minPixels', 'occlusion', 'occlusionMargin'] as const;

/** Returns whether two views are the same except for their margins. */
function isSameCamera(a: ViewOptions, b: ViewOptions): boolean {
  return (
    isSameMatrix(a.projection, b.projection) &&
    isSameMatrix(a.view, b.view) &&
    OF_VIEWPORT.every((key) => a.viewport[key] === b.viewport[key]) &&
    OF_CAMERA.every((key) => a[key] === b[key])
  );
}

/** Returns the origin of a view's rays, or with w = 0 their direction. No frame needs it. */
export function eyeOf({ options }: SceneView): Vector4 {
  const { projection, view } = options;
  const { elements } = new Matrix4().fromArray(view as number[]).invert();
  // The projection's bottom row shows whether lines of sight meet in the eye or are parallel to its axis.
  if (projection[15] === 0) return new Vector4(elements[12], elements[13], elements[14], 1);
  return new Vector4(-elements[8], -elements[9], -elements[10], 0);
}

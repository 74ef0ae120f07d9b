import { type Camera, Matrix4, Vector4 } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import type { ViewOptions } from '../../../shared/types.js';
import { checkAtLeastZero, describeValue, invalidArgumentError, readOptions } from '../../check/validate.js';
import { checkView, type View } from '../../frame/view-table.js';
import { errorFromFailure } from '../../link/worker-link.js';
import { FirstView } from '../../query/first-view.js';
import { FrustumCorners, frustumCornersOf, motionBetween } from '../../query/frustum-motion.js';
import type { CollisionService } from '../../service.js';
import { isSameMatrix } from '../../transforms/affine.js';
import type { ClipSetTable } from '../track/clip-sets.js';
import { isAboutOneObject } from '../track/object-settings.js';
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

/** Runs a query on a view. Rejects as the query does, and with ABORTED by the signal while it waits. */
type ViewQuery = <T>(signal: AbortSignal | undefined, query: (view: SceneView) => Promise<T>) => Promise<T>;

/** State shared by the trackers of one service. */
interface SharedViews {
  /** The owner of each view, by name: trackers may set views of one name in turn. */
  readonly owners: Map<string, SceneViews>;
  /** Notified when the service has ended: a promise of the service would keep each tracker alive as long as the service. */
  readonly hearing: Set<SceneViews>;
}

const sharedByService = new WeakMap<CollisionService, SharedViews>();

function sharedViewsOf(service: CollisionService): SharedViews {
  let shared = sharedByService.get(service);
  if (shared === undefined) {
    const hearing = new Set<SceneViews>();
    shared = { owners: new Map(), hearing };
    sharedByService.set(service, shared);
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
  readonly #listeners: Set<SceneViews>;
  readonly #onEnd: () => void;
  readonly #views = new Map<string, SceneView>();
  /** Name of the view that `update` sets; questions about it wait for that. */
  readonly #main: string;
  readonly #firstView = new FirstView();
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
    const { owners, hearing } = sharedViewsOf(service);
    this.#owners = owners;
    this.#listeners = hearing.add(this);
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
    const previous = this.#views.get(name);
    let corners: FrustumCorners | null = null;
    let preparedView: View | undefined;
    if (margin !== 'motion') options.margin = margin;
    else if (previous !== undefined) {
      const isRequested = given.margin === 'motion';
      if (!isRequested && isSameCamera(previous.options, options)) corners = previous.corners;
      else {
        // The view that is read for its corners is passed on as read, because reading it takes longer than setting it.
        preparedView = checkView('setView', options);
        corners = new FrustumCorners(preparedView);
        options.margin = 2 * motionTo(corners, previous, isRequested);
        checkAtLeastZero('setView', 'margin', options.margin);
        preparedView.setMargins(options.margin, options.occlusion === true && !preparedView.isEmpty, occlusionMargin);
      }
    }
    const isOwner = this.#owners.get(name) === this;
    if (isOwner && previous?.options.margin === options.margin && isSameCamera(previous!.options, options)) {
      previous!.camera = camera;
      return;
    }
    this.#service.setView(options, name, preparedView);
    this.#owners.set(name, this);
    // The matrices are the camera's own arrays.
    const { projection, view, layers = 0 } = options;
    const copies = { ...options, projection: Array.from(projection), view: Array.from(view) };
    this.#views.set(name, { name, camera, options: copies, layers, corners });
    if (name === this.#main) this.#firstView.set();
  }

  /**
   * Finds a view, and returns how to ask something about it as it is now. Questions about the main view wait until it is first
   * set. Throws INVALID_ARGUMENT.
   */
  find(operation: string, name: string): ViewQuery {
    if (name === this.#main && !this.#firstView.isSet) {
      return (signal, query) => this.#firstView.ask(operation, signal, () => query(this.get(operation, name)));
    }
    const view = this.get(operation, name);
    return (_, query) => query(view);
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
    if (this.#ended !== null) throw errorFromFailure(operation, this.#ended);
    const viewNames = [...this.#views.keys()].map(describeValue).join(', ') || 'none yet';
    throw invalidArgumentError(
      `${operation}: view is ${describeValue(name)}, expected one that the tracker has set: ${viewNames}`,
    );
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
    this.#firstView.end(error);
    this.#onEnd();
  }

  /** Removes all views, for good. */
  clear(): void {
    this.#ended = new CollisionError('DISPOSED', 'the tracker is disposed, expected one in use');
    this.#firstView.end(this.#ended);
    this.#listeners.delete(this);
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
function motionTo(current: FrustumCorners, previous: SceneView, isRequested: boolean): number {
  try {
    previous.corners ??= frustumCornersOf(previous.options);
    return motionBetween(previous.corners, current);
  } catch {
    return isRequested ? motionBetween(current, current) : 0;
  }
}

const VIEWPORT_KEYS = ['x', 'y', 'width', 'height'] as const;
const CAMERA_KEYS = ['depth', 'reversed', 'layers', 'minPixels', 'occlusion', 'occlusionMargin'] as const;

/** Returns whether two views are the same except for their margins. */
function isSameCamera(a: ViewOptions, b: ViewOptions): boolean {
  return (
    isSameMatrix(a.projection, b.projection) &&
    isSameMatrix(a.view, b.view) &&
    VIEWPORT_KEYS.every((key) => a.viewport[key] === b.viewport[key]) &&
    CAMERA_KEYS.every((key) => a[key] === b[key])
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

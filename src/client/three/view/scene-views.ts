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
   * World units that the frustum is grown by, for drawing one frame late. 'motion': twice as far as the frustum moved
   * since this view was set the last time, as it may move on, and nothing where it was hidden then; throws
   * INVALID_ARGUMENT for a far plane at infinity. Add in a number what objects move in a frame, where they move fast.
   * Default 0.
   */
  margin?: number | 'motion';
  /** What has fewer pixels across is not seen. Default 0. */
  minPixels?: number;
  /** What nearer objects hide is not seen, as `occlusion` of the service's views has it. Default false. */
  occlusion?: boolean;
  /** How far the eye, and objects against one another, may move for that to stay true. See `ViewOptions`. */
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
  /** The camera that was handed over, as it is meanwhile. */
  camera: Camera;
  /** It is as it was set, with matrices of its own. */
  readonly options: ViewOptions;
  readonly layers: number;
  /** They are those of what it sees; null where its motion was not asked for yet. */
  corners: FrustumCorners | null;
}

/** Asks a question about a view. Rejects as the question does, and with ABORTED by the signal while it waits. */
type AskAboutView = <T>(signal: AbortSignal | undefined, question: (view: SceneView) => Promise<T>) => Promise<T>;

/** What the trackers of one service share. */
interface Shared {
  /** Whose each view is, by name: trackers may set views of one name in turn. */
  readonly owners: Map<string, SceneViews>;
  /** These hear that there is no service any more: a promise of it would keep each tracker for as long as there is one. */
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
  /** It names the view that `update` sets, and questions about it wait for that. */
  readonly #main: string;
  readonly #first = new FirstView();
  /** A view has this margin where none is given. */
  readonly #margin: number | 'motion';
  readonly #clips: ClipSetTable;
  /** It says why there are no views any more; null while there may be some. */
  #ended: CollisionError | null = null;

  /** `onEnd` is called when there is no service any more, and will be none. */
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
    // What a renderer's planes leave of an object need not hide others, which the worker does not know of.
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
        // What is read for its corners is handed over as it was read: to read it takes longer than to set it.
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
    // The matrices are the camera's own.
    const { projection, view, layers = 0 } = options;
    const copies = { ...options, projection: Array.from(projection), view: Array.from(view) };
    this.#views.set(name, { name, camera, options: copies, layers, corners });
    if (name === this.#main) this.#first.set();
  }

  /**
   * Finds a view, and answers how to ask something about it as it is now. What is asked of the main one before there is
   * any waits for it. Throws INVALID_ARGUMENT.
   */
  find(operation: string, name: string): AskAboutView {
    if (name === this.#main && !this.#first.isSet) {
      return (signal, question) => this.#first.ask(operation, signal, () => question(this.get(operation, name)));
    }
    const view = this.get(operation, name);
    return (_, question) => question(view);
  }

  /** Answers all views, as they are. */
  all(): ReadonlyMap<string, SceneView> {
    return new Map(this.#views);
  }

  /** Answers a view by its name; null where there is none yet. */
  peek(name: string): SceneView | null {
    return this.#views.get(name) ?? null;
  }

  /** Answers a view by its name. Throws INVALID_ARGUMENT. */
  get(operation: string, name: string): SceneView {
    const view = this.#views.get(name);
    if (view !== undefined) return view;
    // A question that waited for the first view may come after the tracker was disposed in the same task.
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

  /** Says why there is no service any more. */
  end(error: CollisionError): void {
    this.#first.end(error);
    this.#onEnd();
  }

  /** Removes all views; there will be none any more. */
  clear(): void {
    this.#ended = new CollisionError('DISPOSED', 'the tracker is disposed, expected one in use');
    this.#first.end(this.#ended);
    this.#hearing.delete(this);
    for (const name of [...this.#views.keys()]) {
      try {
        this.remove(name);
      } catch (error) {
        // The service's own `removeView` has removed it.
        if (!isAboutOneObject(error)) throw error;
      }
    }
  }
}

/**
 * Answers how far a frustum has moved, or 0 where nobody can tell: its far plane is at infinity, or was. Throws INVALID_ARGUMENT
 * where it is, and the caller has asked for the motion.
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

/** Tells whether two views are the same, but for their margins. */
function isSameCamera(a: ViewOptions, b: ViewOptions): boolean {
  return (
    isSameMatrix(a.projection, b.projection) &&
    isSameMatrix(a.view, b.view) &&
    OF_VIEWPORT.every((key) => a.viewport[key] === b.viewport[key]) &&
    OF_CAMERA.every((key) => a[key] === b[key])
  );
}

/** Answers where the rays of a view start, or with w = 0 the direction that they have. No frame asks for it. */
export function eyeOf({ options }: SceneView): Vector4 {
  const { projection, view } = options;
  const { elements } = new Matrix4().fromArray(view as number[]).invert();
  // The projection's bottom row tells whether lines of sight meet in the eye or run along its axis.
  if (projection[15] === 0) return new Vector4(elements[12], elements[13], elements[14], 1);
  return new Vector4(-elements[8], -elements[9], -elements[10], 0);
}

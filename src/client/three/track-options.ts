import type { BufferGeometry, InstancedMesh, LOD } from 'three';
import type { AddMeshOptions, ContactDetail, Shape } from '../../shared/types.js';
import { checkSignal } from '../check/signal.js';
import { checkAtLeastZero, checkBoolean, checkOneOf, invalid, readOptions, unreadable } from '../check/validate.js';
import { contactDetail } from '../scene/object-description.js';
import type { ClippingRenderer } from './track/clip-sets.js';
import {
  isAboutOneObject,
  type ObjectWishes,
  type SceneDrawable,
  type SceneObjectOptions,
} from './track/object-wishes.js';

const KEYS = [
  ...[
    'onProgress',
    'signal',
    'view',
    'updateMatrixWorld',
    'contacts',
    'culling',
    'quality',
    'renderer',
    'shapeOf',
    'objectOptions',
  ],
];
const CULLING_KEYS = ['margin', 'minPixels', 'occlusion', 'order', 'levels'];

/** How the instances of an InstancedMesh are sorted before they are drawn, by the centres of their bounds. */
export type InstanceOrder = 'front-to-back' | 'back-to-front';

/** A coarser level of detail of an InstancedMesh or a LOD. */
export interface DetailLevel {
  /** It is drawn where the sphere about the finest geometry has fewer pixels across than this. */
  pixels: number;
  /** An instance of an InstancedMesh is drawn with this then, in the mesh's own material. A LOD has its levels. */
  geometry?: BufferGeometry;
  /** What is drawn in this level is drawn in the finer one again once it is larger by this part of `pixels`. Default 0.1. */
  hysteresis?: number;
}

/** How what is not seen is left out of pictures. */
export interface CullingOptions {
  /**
   * World units that views are grown by, as `margin` of `update`: a camera that has moved farther than this since it was
   * asked about costs the page some more work, and no pixel. Default 'motion', and 0 for a far plane at infinity.
   */
  margin?: number | 'motion';
  /** What has fewer pixels across is not drawn. Default 0. */
  minPixels?: number;
  /**
   * What nearer objects hide is not drawn either, where a camera has not moved farther than it moves in two frames since it was
   * asked about; with a perspective it may turn. Not a pixel differs by that. Default false.
   */
  occlusion?: boolean;
  /**
   * In which order the instances of an InstancedMesh are drawn, by where they are in the very picture: from front to back,
   * which saves work where they hide each other, or from back to front, which is right of what shines through. A function is
   * asked once of each; undefined is the order of their numbers, as three's own is, and the default. BatchedMeshes have
   * `sortObjects`.
   */
  order?: InstanceOrder | ((mesh: InstancedMesh) => InstanceOrder | undefined);
  /**
   * It answers the coarser levels of detail of an InstancedMesh or a LOD, the finest of them first; it is asked once of each.
   * An instance is drawn in its level by its pixels in each view, and so is a LOD, of which the first level here is its second.
   * Shadows are cast by an InstancedMesh's own geometry, and other cameras draw that; of a LOD they go by its distances. Instances
   * that have levels hide no others (`occlusion`).
   */
  levels?: (object: InstancedMesh | LOD) => readonly DetailLevel[] | undefined;
}

/** The options of `trackScene`. */
export interface TrackOptions {
  /** It is called while the meshes are built, with the done part of them all, which rises from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Aborting before the promise resolves rejects it with ABORTED and leaves nothing behind. */
  signal?: AbortSignal;
  /**
   * It names the view that `update` sets from its camera. Default 'main'. Trackers of one service with cameras of their own need
   * names of their own: a view is what was set last.
   */
  view?: string;
  /**
   * Whether `update` brings the world matrices below the root up to date, as three's renderers do when they draw.
   * Default false: matrices are taken as they are, of the last `render` or `updateMatrixWorld`, so that nobody computes
   * them twice. Call `update` behind `render`, then they are those of the frame that is on the screen; before it, they
   * are one frame old. What has just come to the scene gets its world matrix in any case.
   */
  updateMatrixWorld?: boolean;
  /**
   * How much is found out about objects that touch; what `objectOptions` says of one goes before it. Default 'none': the
   * pairs of a whole scene are work without bound, and are not looked at unless somebody asks.
   */
  contacts?: ContactDetail;
  /**
   * Whether what the views of this tracker do not see is left out when three draws them: Meshes, and the instances of
   * InstancedMeshes and BatchedMeshes one by one. Not a pixel differs by that. Default false. See docs/culling.md.
   */
  culling?: boolean | CullingOptions;
  /** How the meshes of triangles are built: `quality` of `addMesh`. Default 'good'. */
  quality?: AddMeshOptions['quality'];
  /**
   * three's renderer, of which `clippingPlanes` and `localClippingEnabled` are read with each pick and region, as they
   * are then: what it cuts away is not hit. Without one, the planes of the materials cut and nothing else.
   */
  renderer?: ClippingRenderer;
  /**
   * A shape to stand for an object instead of its triangles, for each instance of it where there are many. Of a class that
   * is not tracked by itself (Points, Line) it is what stands at all. A capsule may stand for a character.
   * Asked again when its geometry is replaced.
   */
  shapeOf?: (object: SceneDrawable) => Shape | undefined;
  /** It says what the service shall know of an object beyond what the scene says, and is asked once per object. */
  objectOptions?: (object: SceneDrawable) => SceneObjectOptions | undefined;
}

/** Copies the options, checked. Throws INVALID_ARGUMENT. */
export function readTrackOptions(operation: string, options: TrackOptions): TrackOptions {
  const given = readOptions(operation, 'options', options, KEYS);
  const {
    onProgress,
    shapeOf,
    objectOptions,
    signal,
    view = 'main',
    updateMatrixWorld = false,
    contacts,
    culling = false,
    quality = 'good',
    renderer,
  } = given;
  for (const [name, value] of Object.entries({ onProgress, shapeOf, objectOptions })) {
    if (value !== undefined && typeof value !== 'function') invalid(operation, name, value, 'a function');
  }
  if (renderer !== undefined && (typeof renderer !== 'object' || renderer === null)) {
    invalid(operation, 'renderer', renderer, "one of three's renderers");
  }
  checkSignal(operation, signal);
  checkOneOf(operation, 'quality', quality, ['good', 'fast']);
  checkBoolean(operation, 'updateMatrixWorld', updateMatrixWorld);
  if (contacts !== undefined) contactDetail(operation, 'contacts', contacts);
  const wished = readCulling(operation, culling);
  if (typeof view !== 'string' || view === '') invalid(operation, 'view', view, 'a name');
  return { ...given, culling: wished };
}

function readCulling(operation: string, culling: boolean | CullingOptions): false | CullingOptions {
  if (typeof culling === 'boolean') return culling && {};
  const given = readOptions(operation, 'culling', culling, CULLING_KEYS);
  const { margin, minPixels, occlusion, order, levels } = given;
  if (order !== undefined && typeof order !== 'function') checkOrder(operation, 'culling.order', order);
  if (levels !== undefined && typeof levels !== 'function') invalid(operation, 'culling.levels', levels, 'a function');
  if (occlusion !== undefined) checkBoolean(operation, 'culling.occlusion', occlusion);
  if (margin !== undefined && margin !== 'motion') checkAtLeastZero(operation, 'culling.margin', margin);
  if (minPixels !== undefined) checkAtLeastZero(operation, 'culling.minPixels', minPixels);
  return given;
}

/** Throws INVALID_ARGUMENT. */
export function checkOrder(operation: string, name: string, order: unknown): void {
  if (order !== 'front-to-back' && order !== 'back-to-front') {
    invalid(operation, name, order, "'front-to-back' or 'back-to-front'");
  }
}

/** Answers what the caller wishes of objects. */
export function wishesOf({ contacts = 'none', shapeOf, objectOptions }: TrackOptions): ObjectWishes {
  return {
    contacts,
    shape: (object) => asking('shapeOf', () => shapeOf?.(object) ?? null),
    options: (object) => asking('objectOptions', () => objectOptions?.(object) ?? {}),
  };
}

/** Asks a function of the caller's about one object: whatever it throws is about that one. */
function asking<T>(name: string, ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    if (isAboutOneObject(cause)) throw cause;
    throw unreadable('trackScene', name, cause);
  }
}

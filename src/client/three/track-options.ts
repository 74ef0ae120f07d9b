import type { BufferGeometry, InstancedMesh, LOD } from 'three';
import type { AddMeshOptions, ContactDetail, Shape } from '../../shared/types.js';
import { checkSignal } from '../check/signal.js';
import {
  checkAtLeastZero,
  checkBoolean,
  checkOneOf,
  readOptions,
  throwInvalid,
  unreadableError,
} from '../check/validate.js';
import { contactDetail, OBJECT_KEYS } from '../scene/object-description.js';
import type { ClippingRenderer } from './track/clip-sets.js';
import {
  isAboutOneObject,
  type ObjectSettings,
  type SceneDrawable,
  type SceneObjectOptions,
} from './track/object-settings.js';

const KEYS = [
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
];
/** The keys of `SceneObjectOptions`: without the first two, shape and matrix, which the scene itself gives. */
const OPTION_KEYS = ['solid', 'weld', ...OBJECT_KEYS.slice(2)];
const CULLING_KEYS = ['margin', 'minPixels', 'occlusion', 'order', 'levels'];

/** How the instances of an InstancedMesh are sorted before they are drawn, by the centres of their bounds. */
export type InstanceOrder = 'front-to-back' | 'back-to-front';

/** A coarser level of detail of an InstancedMesh or a LOD. */
export interface DetailLevel {
  /** The level is drawn if the sphere around the finest geometry is fewer pixels across than this. */
  pixels: number;
  /** The geometry of an InstancedMesh's instances at this level, drawn with the mesh's own material. A LOD has its own levels. */
  geometry?: BufferGeometry;
  /** An object at this level returns to the finer one once it is larger by this fraction of `pixels`. Default 0.1. */
  hysteresis?: number;
}

/** The options of `culling`: what is not drawn, and how the rest is drawn. */
export interface CullingOptions {
  /**
   * World units by which views are grown, as `margin` of `update`. A camera that has moved farther than this since its frame
   * was requested costs the page more work, but no pixel. Default 'motion', and 0 for a far plane at infinity.
   */
  margin?: number | 'motion';
  /** Objects that are fewer pixels across are not drawn. Default 0. */
  minPixels?: number;
  /**
   * Also leaves out what nearer objects hide, as long as the camera has not moved farther since its frame was requested than it
   * moves in two frames; a perspective camera may turn. Not a pixel changes. Default false.
   */
  occlusion?: boolean;
  /**
   * The order in which the instances of an InstancedMesh are drawn, by their positions in the current picture: from front to
   * back, which saves work where they hide each other, or from back to front, which is right for transparent ones. A function
   * is called once for each mesh; undefined, the default, is the order of their numbers, as in three. BatchedMeshes have
   * `sortObjects`.
   */
  order?: InstanceOrder | ((mesh: InstancedMesh) => InstanceOrder | undefined);
  /**
   * Returns the coarser levels of detail of an InstancedMesh or a LOD, finest first; it is called once for each. Each view
   * draws an instance, or a LOD, at the level for its pixels in that view. (The first level here is a LOD's second.) Shadows
   * and other cameras use an InstancedMesh's own geometry, and a LOD's distances. Instances with levels hide no others
   * (`occlusion`).
   */
  levels?: (object: InstancedMesh | LOD) => readonly DetailLevel[] | undefined;
}

/** The options of `trackScene`. */
export interface TrackOptions {
  /** Called while the meshes are built, with the fraction that is done, which rises from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Aborting before the promise resolves rejects it with ABORTED and leaves nothing behind. */
  signal?: AbortSignal | undefined;
  /**
   * The name of the view that `update` sets from its camera. Default 'main'. Trackers of one service that have different
   * cameras need different names, because the last call that sets a view wins.
   */
  view?: string;
  /**
   * Whether `update` brings the world matrices below the root up to date, as three's renderers do when they draw. By default it
   * takes those of the last `render` or `updateMatrixWorld`, so that they are not computed twice: if you call `update` after
   * `render`, they are those of the frame on the screen; if before, they are one frame old. Objects that have just been added
   * to the scene get their world matrices in any case. Default false.
   */
  updateMatrixWorld?: boolean;
  /**
   * How much is computed about objects that touch; `objectOptions` overrides it for single objects. Default 'none', because the
   * pairs of a whole scene are unbounded work.
   */
  contacts?: ContactDetail;
  /**
   * Whether three skips what the views of this tracker do not see: Meshes, and the instances of InstancedMeshes and
   * BatchedMeshes one by one. Not a pixel changes. Default false. See docs/culling.md.
   */
  culling?: boolean | CullingOptions;
  /** How the meshes of triangles are built: `quality` of `addMesh`. Default 'good'. */
  quality?: AddMeshOptions['quality'];
  /**
   * three's renderer. Each pick and region reads its `clippingPlanes` and `localClippingEnabled`: parts that these cut away are
   * not hit. Without a renderer, only the planes of the materials cut. A WebGPURenderer draws neither: with it, only `clip` cuts.
   */
  renderer?: ClippingRenderer;
  /**
   * Returns a shape that replaces the triangles of an object, and of each of its instances. An object of a class that is not
   * tracked otherwise is tracked by its shape alone. A capsule may stand for a character. It is called again when the object's
   * geometry or material is replaced, when the object comes back to the scene, and after `changed`.
   */
  shapeOf?: (object: SceneDrawable) => Shape | undefined;
  /**
   * Returns options of an object that the scene itself does not specify. It is called when the object comes to the scene, and
   * again when it comes back, and after `changed`.
   */
  objectOptions?: (object: SceneDrawable) => SceneObjectOptions | undefined;
}

/** Returns a checked copy of the options. Throws INVALID_ARGUMENT. */
export function readTrackOptions(operation: string, options: TrackOptions): TrackOptions {
  const given = readOptions(operation, 'options', options, KEYS);
  const {
    onProgress,
    shapeOf,
    objectOptions,
    signal,
    view = 'main',
    updateMatrixWorld = false,
    contacts = 'none',
    culling = false,
    quality = 'good',
    renderer = {},
  } = given;
  for (const [name, value] of Object.entries({ onProgress, shapeOf, objectOptions })) {
    if (value !== undefined && typeof value !== 'function') throwInvalid(operation, name, value, 'a function');
  }
  if (typeof renderer !== 'object' || renderer === null) {
    throwInvalid(operation, 'renderer', renderer, "one of three's renderers");
  }
  checkSignal(operation, signal);
  checkOneOf(operation, 'quality', quality, ['good', 'fast']);
  checkBoolean(operation, 'updateMatrixWorld', updateMatrixWorld);
  contactDetail(operation, 'contacts', contacts);
  const cullingOptions = readCulling(operation, culling);
  if (typeof view !== 'string' || view === '') throwInvalid(operation, 'view', view, 'a name');
  return { ...given, culling: cullingOptions };
}

function readCulling(operation: string, culling: boolean | CullingOptions): false | CullingOptions {
  if (typeof culling === 'boolean') return culling && {};
  const given = readOptions(operation, 'culling', culling, CULLING_KEYS);
  const { margin = 'motion', minPixels = 0, occlusion = false, order, levels } = given;
  if (order !== undefined && typeof order !== 'function') checkOrder(operation, 'culling.order', order);
  if (levels !== undefined && typeof levels !== 'function')
    throwInvalid(operation, 'culling.levels', levels, 'a function');
  checkBoolean(operation, 'culling.occlusion', occlusion);
  if (margin !== 'motion') checkAtLeastZero(operation, 'culling.margin', margin);
  checkAtLeastZero(operation, 'culling.minPixels', minPixels);
  return given;
}

/** Checks an instance order. Throws INVALID_ARGUMENT. */
export function checkOrder(operation: string, name: string, order: unknown): void {
  if (order !== 'front-to-back' && order !== 'back-to-front') {
    throwInvalid(operation, name, order, "'front-to-back' or 'back-to-front'");
  }
}

/** Returns the options of the caller that concern single objects. */
export function settingsOf({ contacts = 'none', shapeOf, objectOptions }: TrackOptions): ObjectSettings {
  return {
    contacts,
    shape: (object) => callForObject('shapeOf', () => shapeOf?.(object) ?? null),
    options: (object) =>
      callForObject('objectOptions', (name) =>
        readOptions('trackScene', name, objectOptions?.(object) ?? {}, OPTION_KEYS),
      ),
  };
}

/** Calls a function of the caller's for one object: any error that it throws is an error of that object. */
function callForObject<T>(name: string, call: (name: string) => T): T {
  try {
    return call(name);
  } catch (cause) {
    if (isAboutOneObject(cause)) throw cause;
    throw unreadableError('trackScene', name, cause);
  }
}

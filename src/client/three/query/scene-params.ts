import { type RaycasterParameters, Ray as SceneRay, Sphere, Vector3 } from 'three';
import type { ObjectId, Ray } from '../../../shared/types.js';
import { checkAtLeastZero, invalid, reading } from '../../check/validate.js';
import type { AdapterQuery } from '../../query/query-options.js';
import type { SceneDrawable } from '../track/object-wishes.js';
import { isFatLine, type ThinObject, type TrackerContext } from '../track/stand-in.js';
import { type FatQuery, reachOf } from './fat-lines.js';

/** As three's `raycaster.params`: how near to a ray lines and points are hit, in world units. */
export type SceneParams = Partial<RaycasterParameters>;

/** The thresholds of three's Raycaster. */
export interface Thresholds {
  readonly lines: number;
  readonly points: number;
  /** Is added to the width of the lines of three's addons. */
  readonly fat: number;
}

/** Default threshold of three's Raycaster. */
const DEFAULT = 1;

/** Reads `params`; undefined if there are none. */
export function readParams(operation: string, params: SceneParams | undefined): Thresholds | undefined {
  if (params === undefined) return undefined;
  return reading(operation, 'params', () => {
    if (typeof params !== 'object' || params === null)
      invalid(operation, 'params', params, "three's `raycaster.params`");
    const { Line, Points, Line2 } = params as SceneParams & { Line2?: { threshold?: number } };
    const read = (name: string, of: { threshold?: number } | undefined, otherwise = DEFAULT): number =>
      checkAtLeastZero(operation, `params.${name}.threshold`, of?.threshold ?? otherwise);
    return { lines: read('Line', Line), points: read('Points', Points), fat: read('Line2', Line2, 0) };
  });
}

/** Computing a sphere around this many vertices takes a millisecond or two. */
const MOST_VERTICES = 100_000;

const SPHERE = new Sphere();

/** How near lines and points are hit: a threshold per object, and the query for lines that have a width. */
export interface NearRay extends Pick<AdapterQuery, 'ownThresholds'> {
  /** The service returns too many hits on lines with a width; this query selects among them. */
  readonly fat?: FatQuery;
}

/** Returns how near to the ray of a query each object is hit; without `thresholds`, only for lines that have a width. */
export function nearRay(
  { thin, fat }: Pick<TrackerContext, 'thin' | 'fat'>,
  thresholds: Thresholds | undefined,
  query: FatQuery,
): NearRay {
  const own = thresholds === undefined ? new Map<ObjectId, number>() : thresholdsOf(thin, thresholds, query.ray);
  if (fat.size === 0) return { ownThresholds: own };
  for (const each of thin) {
    try {
      if (each.count > 0 && isFatLine(each.object)) own.set(each.idAt(0), reachOf(each.object, query));
    } catch {} // a line that cannot be read has no width
  }
  return { ownThresholds: own, fat: query };
}

/**
 * Returns the threshold of each object that a ray may hit, as three's Raycaster does: it tests in an object's own space, with the
 * mean of its scale, if the ray meets the bounding sphere of its geometry.
 */
function thresholdsOf(
  objects: ReadonlySet<ThinObject>,
  { lines, points }: Thresholds,
  { origin, direction }: Ray,
): Map<ObjectId, number> {
  const own = new Map<ObjectId, number>();
  const ray = new SceneRay(new Vector3(...origin), new Vector3(...direction).normalize());
  for (const thin of objects) {
    if (thin.count === 0 || isFatLine(thin.object)) continue;
    try {
      const { isPoints } = thin.object as SceneDrawable & { readonly isPoints?: boolean };
      const local = localThreshold(thin.object as SceneDrawable, isPoints === true ? points : lines, ray);
      if (local === null || (Number.isNaN(local) && isPoints === true)) continue; // three compares with NaN, which never hits
      own.set(thin.idAt(0), local < Number.MAX_VALUE ? local : Number.MAX_VALUE);
    } catch {} // an unreadable object is hit only exactly
  }
  return own;
}

/** Returns a threshold in an object's own space; null if the ray misses the bounding sphere. */
function localThreshold(
  { geometry, matrixWorld, scale }: SceneDrawable,
  threshold: number,
  ray: SceneRay,
): number | null {
  // As three does, except that this thread must not scan millions of vertices for it.
  if (geometry?.boundingSphere === null && geometry.attributes.position?.count <= MOST_VERTICES) {
    geometry.computeBoundingSphere();
  }
  const sphere = geometry?.boundingSphere ?? null;
  if (sphere !== null) {
    SPHERE.copy(sphere).applyMatrix4(matrixWorld);
    SPHERE.radius += threshold;
    if (!ray.intersectsSphere(SPHERE)) return null;
  }
  return Math.abs(threshold / ((scale.x + scale.y + scale.z) / 3));
}

import { type RaycasterParameters, Ray as SceneRay, Sphere, Vector3 } from 'three';
import type { ObjectId, Ray } from '../../../shared/types.js';
import { checkAtLeastZero, guardRead, throwInvalid } from '../../check/validate.js';
import type { AdapterQuery } from '../../query/query-options.js';
import type { SceneDrawable } from '../track/object-settings.js';
import { isFatLine, type ThinObject, type TrackerContext } from '../track/stand-in.js';
import { type FatQuery, fatThresholdOf } from './fat-lines.js';

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
const DEFAULT_THRESHOLD = 1;

/** Reads `params`; undefined if there are none. */
export function readParams(operation: string, params: SceneParams | undefined): Thresholds | undefined {
  if (params === undefined) return undefined;
  return guardRead(operation, 'params', () => {
    if (typeof params !== 'object' || params === null)
      throwInvalid(operation, 'params', params, "three's `raycaster.params`");
    const { Line, Points, Line2 } = params as SceneParams & { Line2?: { threshold?: number } };
    const readThreshold = (
      name: string,
      parameters: { threshold?: number } | undefined,
      defaultThreshold = DEFAULT_THRESHOLD,
    ): number => checkAtLeastZero(operation, `params.${name}.threshold`, parameters?.threshold ?? defaultThreshold);
    return {
      lines: readThreshold('Line', Line),
      points: readThreshold('Points', Points),
      fat: readThreshold('Line2', Line2, 0),
    };
  });
}

/** Computing a sphere around this many vertices takes a millisecond or two. */
const MAX_VERTICES = 100_000;

const SCRATCH_SPHERE = new Sphere();

/** How near lines and points are hit: a threshold per object, and the query for lines that have a width. */
export interface RayTolerance extends Pick<AdapterQuery, 'ownThresholds'> {
  /** The service returns too many hits on lines with a width; this query selects among them. */
  readonly fat?: FatQuery;
}

/** Returns how near to the ray of a query each object is hit; without `thresholds`, only for lines that have a width. */
export function rayToleranceOf(
  { thin, fat }: Pick<TrackerContext, 'thin' | 'fat'>,
  thresholds: Thresholds | undefined,
  query: FatQuery,
): RayTolerance {
  const thresholdById =
    thresholds === undefined ? new Map<ObjectId, number>() : thresholdsOf(thin, thresholds, query.ray);
  if (fat.size === 0) return { ownThresholds: thresholdById };
  for (const thinObject of thin) {
    try {
      if (thinObject.count > 0 && isFatLine(thinObject.object))
        thresholdById.set(thinObject.idAt(0), fatThresholdOf(thinObject.object, query));
    } catch {} // a line that cannot be read has no width
  }
  return { ownThresholds: thresholdById, fat: query };
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
  const thresholdById = new Map<ObjectId, number>();
  const ray = new SceneRay(new Vector3(...origin), new Vector3(...direction).normalize());
  for (const thinObject of objects) {
    if (thinObject.count === 0 || isFatLine(thinObject.object)) continue;
    try {
      const { isPoints } = thinObject.object as SceneDrawable & { readonly isPoints?: boolean };
      const ownThreshold = ownThresholdOf(thinObject.object as SceneDrawable, isPoints === true ? points : lines, ray);
      if (ownThreshold === null || (Number.isNaN(ownThreshold) && isPoints === true)) continue; // three compares with NaN, which never hits
      thresholdById.set(thinObject.idAt(0), ownThreshold < Number.MAX_VALUE ? ownThreshold : Number.MAX_VALUE);
    } catch {} // an unreadable object is hit only exactly
  }
  return thresholdById;
}

/** Returns a threshold in an object's own space; null if the ray misses the bounding sphere. */
function ownThresholdOf(
  { geometry, matrixWorld, scale }: SceneDrawable,
  threshold: number,
  ray: SceneRay,
): number | null {
  // As three does, except that this thread must not scan millions of vertices for it.
  if (geometry?.boundingSphere === null && geometry.attributes.position?.count <= MAX_VERTICES) {
    geometry.computeBoundingSphere();
  }
  const sphere = geometry?.boundingSphere ?? null;
  if (sphere !== null) {
    SCRATCH_SPHERE.copy(sphere).applyMatrix4(matrixWorld);
    SCRATCH_SPHERE.radius += threshold;
    if (!ray.intersectsSphere(SCRATCH_SPHERE)) return null;
  }
  return Math.abs(threshold / ((scale.x + scale.y + scale.z) / 3));
}

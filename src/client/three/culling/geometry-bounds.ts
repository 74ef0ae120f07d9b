import { Box3, BufferGeometry, Sphere } from 'three';
import { versionOf } from '../geometry/geometry-version.js';
import { ROUNDING } from './view-volume.js';

/** Bounds of more vertices take too long to compute while a picture is drawn. */
const MAX_VERTICES = 1 << 16;

/** Bounds of a geometry's vertices. */
export interface Bounds {
  readonly box: Box3;
  readonly sphere: Sphere;
  /** Whether the bounds are the app's and larger than those of the vertices. */
  readonly isLarger?: boolean;
}

interface CachedBounds {
  readonly position: unknown;
  readonly version: number;
  /** A copy of the app's own sphere. */
  readonly given: Sphere;
  readonly bounds: Bounds | null;
}

const boundsByGeometry = new WeakMap<BufferGeometry, CachedBounds>();
const NO_SPHERE = new Sphere();

/**
 * Computes the bounds of a geometry's vertices, once for each version of them. The geometry's own bounds are the app's and may be
 * outdated once vertices have moved: they are used alone only for large geometries that never changed. Where the app's sphere is
 * larger, shaders may move vertices within it, because three culls by it: then the bounds enclose both. Null if there are none.
 */
export function boundsOf(geometry: BufferGeometry): Bounds | null {
  const { position } = geometry.attributes;
  const version = versionOf(position);
  const boundingSphere = geometry.boundingSphere;
  // A sphere of NaN, from vertices that are not finite, counts as none.
  const given = boundingSphere !== null && boundingSphere.radius >= 0 ? boundingSphere : NO_SPHERE;
  const cached = boundsByGeometry.get(geometry);
  // Makes no garbage, since it is called for each Mesh of a picture.
  if (cached && cached.position === position && cached.version === version && cached.given.equals(given))
    return cached.bounds;
  let bounds: Bounds | null = null;
  if (position !== undefined && position.count <= MAX_VERTICES) {
    const positionsOnly = new BufferGeometry().setAttribute('position', position);
    positionsOnly.computeBoundingBox();
    positionsOnly.computeBoundingSphere();
    bounds = { box: positionsOnly.boundingBox!, sphere: positionsOnly.boundingSphere! };
    const { box, sphere } = bounds;
    // A sphere around the box is not the app's own: loaders make it. An infinite one is the app's own.
    const size = box.min.distanceTo(box.max);
    if (given !== NO_SPHERE && !(Math.abs(2 * given.radius - size) <= ROUNDING * size)) {
      const radius = sphere.center.distanceTo(given.center) + given.radius;
      if (radius > sphere.radius * (1 + ROUNDING)) {
        sphere.radius = radius;
        bounds = { box: sphere.getBoundingBox(new Box3()), sphere, isLarger: true };
      }
    }
  } else if (version === 0 && given !== NO_SPHERE) {
    const sphere = given.clone();
    bounds = { box: geometry.boundingBox?.clone() ?? sphere.getBoundingBox(new Box3()), sphere };
  }
  // If a vertex is not finite, the bounds are unknown.
  if (bounds !== null && !(bounds.sphere.radius >= 0 && bounds.sphere.radius < Infinity)) bounds = null;
  boundsByGeometry.set(geometry, { position, version, given: given.clone(), bounds });
  return bounds;
}

/** Returns how many triangles of a geometry are drawn. */
export function drawnTriangleCount({ index, attributes, drawRange }: BufferGeometry): number {
  const total = index?.count ?? attributes.position?.count ?? 0;
  return Math.floor(Math.max(0, Math.min(total - drawRange.start, drawRange.count)) / 3);
}

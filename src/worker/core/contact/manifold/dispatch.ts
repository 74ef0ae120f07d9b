// Dispatches two touching objects to the contact routine of their shapes, depending on the requested level of detail.

import { CONTACTS_MANIFOLD, CONTACTS_TRIANGLES, SHAPE_MESH } from '../../../../shared/layout';
import { IS_INTERRUPTIBLE } from '../../checkpoint';
import { isConvex } from '../../mesh/topology/derived';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape } from '../../shape/placed-shape';
import { containmentContact } from './containment-contact';
import { convexConvexContact } from '../convex/convex-convex';
import { trianglePairs } from '../mesh/triangle-pairs';
import { primitiveMeshContact } from '../primitive/primitive-mesh';
import { meshMeshContact } from '../mesh/mesh-mesh';

/** Returns whether a level of detail includes points, which CONTACTS_MANIFOLD and CONTACTS_FULL do. */
// @ts-ignore: decorator
@inline
export function hasPoints(detail: i32): bool {
  return detail >= CONTACTS_MANIFOLD && detail != CONTACTS_TRIANGLES;
}

/** Adds what the detail requests of two solids that overlap: points, crossings or both. `contained` as in pairs. */
export function findContact(a: PlacedShape, b: PlacedShape, contained: i32, detail: i32): void {
  // Only the interruptible module handles meshes.
  if (!IS_INTERRUPTIBLE) {
    if (hasPoints(detail)) convexConvexContact(a, b);
  } else {
    if (hasPoints(detail)) findManifold(a, b, contained);
    if (detail < CONTACTS_TRIANGLES || contained != 0) return;
    if (a.shape == SHAPE_MESH && b.shape == SHAPE_MESH) trianglePairs(a, b);
  }
}

function findManifold(a: PlacedShape, b: PlacedShape, contained: i32): void {
  const isConvexA = a.shape != SHAPE_MESH || isConvex(changetype<Mesh>(a.mesh));
  const isConvexB = b.shape != SHAPE_MESH || isConvex(changetype<Mesh>(b.mesh));
  if (isConvexA && isConvexB) convexConvexContact(a, b);
  else if (contained != 0) containmentContact(a, b, contained);
  else if (a.shape != SHAPE_MESH) primitiveMeshContact(a, b, true);
  else if (b.shape != SHAPE_MESH) primitiveMeshContact(b, a, false);
  else meshMeshContact(a, b);
}

// What two objects that touch have to say about it, by the detail that is asked for.

import { CONTACTS_TRIANGLES, SHAPE_MESH } from '../../../../shared/layout';
import { isConvex } from '../../mesh/topology/convex';
import { Mesh } from '../../mesh/tree/layout';
import { Solid } from '../../shape/placed-shape';
import { containedContact } from './containment-contact';
import { convexContact } from '../convex/convex-convex';
import { addCrossings } from '../mesh/triangle-pairs';
import { solidSurfaceContact } from '../primitive/primitive-mesh';
import { surfaceContact } from '../mesh/mesh-mesh';

/** Adds the points of two solids that meet, and their crossings. `contained` as in pairs. */
export function findManifold(a: Solid, b: Solid, contained: i32, detail: i32): void {
  const isConvexA = a.shape != SHAPE_MESH || isConvex(changetype<Mesh>(a.mesh));
  const isConvexB = b.shape != SHAPE_MESH || isConvex(changetype<Mesh>(b.mesh));
  if (isConvexA && isConvexB) convexContact(a, b);
  else if (contained != 0) containedContact(a, b, contained);
  else if (a.shape != SHAPE_MESH) solidSurfaceContact(a, b, true);
  else if (b.shape != SHAPE_MESH) solidSurfaceContact(b, a, false);
  else surfaceContact(a, b);
  if (detail != CONTACTS_TRIANGLES || contained != 0) return;
  if (a.shape == SHAPE_MESH && b.shape == SHAPE_MESH) addCrossings(a, b);
}

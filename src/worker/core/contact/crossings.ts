// Pairs of triangles that meet, and where they cut each other.

import { Solid } from '../scene/solid';

/** Two meshes of which the surfaces meet: adds all pairs of triangles that do, sorted. */
export function addCrossings(a: Solid, b: Solid): void {
}

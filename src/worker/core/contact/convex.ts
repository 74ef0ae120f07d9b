// Contact of two convex shapes.

import { Solid } from '../scene/solid';

/** Two solids that meet, each a box, sphere, capsule or convex closed mesh: adds their points. */
export function convexContact(a: Solid, b: Solid): void {
}

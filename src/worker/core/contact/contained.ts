// Contact of a solid with what lies wholly inside of it.

import { Solid } from '../scene/solid';

/** Two solids of which one contains the other: adds a point with the way out. */
export function containedContact(a: Solid, b: Solid, contained: i32): void {
}

// Contact of two meshes, as surfaces.

import { Solid } from '../scene/solid';

/** Two meshes of which the surfaces meet: adds the points of each region of contact. */
export function surfaceContact(a: Solid, b: Solid): void {
}

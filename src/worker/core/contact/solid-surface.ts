// Contact of a box, sphere or capsule with a mesh's surface.

import { Solid } from '../scene/solid';

/** A solid that meets a mesh: adds the points of each region of contact. Normals lead to the mesh, or from it. */
export function solidSurfaceContact(solid: Solid, mesh: Solid, toMesh: bool): void {
}

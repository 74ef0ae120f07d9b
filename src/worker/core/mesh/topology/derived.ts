import { release } from '../../memory';
import { Mesh } from '../tree/layout';

/** Forgets what was computed of a mesh when somebody asked, and is none of its data. */
export function forgetDerived(mesh: Mesh): void {
  mesh.radius = 0;
  release(mesh.winding);
  mesh.winding = 0;
  release(mesh.parts);
  mesh.parts = 0;
  mesh.convex = 0;
  release(mesh.adjacency);
  mesh.adjacency = 0;
  release(mesh.hull);
  mesh.hull = 0;
}

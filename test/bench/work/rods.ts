import { BoxGeometry } from 'three';
import { merged, type Triangles, transformed, welded } from '../../oracle/meshes.js';
import type { Random } from '../../oracle/random.js';

const ROD = welded(new BoxGeometry(0.5, 0.002, 0.002, 3)); // 28 triangles
const PLATE = welded(new BoxGeometry(0.06, 0.03, 0.001, 2)); // 20 triangles

/** Thin rods and plates at random angles in a cube, tessellated along their length; 25 triangles each on average. */
export function rodsAndPlates(random: Random, count: number): Triangles {
  const pieces: Triangles[] = [];
  for (let i = 0; i < count; i++) {
    const matrix = random.placement(random.point(1));
    pieces.push(transformed(i < count * 0.625 ? ROD : PLATE, (vertex) => vertex.applyMatrix4(matrix)));
  }
  return merged(pieces);
}

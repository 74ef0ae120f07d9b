import { ExtrudeGeometry, Shape, TorusGeometry, type Vector3 } from 'three';
import { icosphere, type Triangles, transformed, welded } from './meshes.js';
import type { Random } from './random.js';

/** Closed and non-convex: a ball of radius about 1 with hills. */
export function bumpyBall(random: Random, detail: number, height: number): Triangles {
  const hills = Array.from({ length: 4 }, () => ({ way: random.direction(), turns: random.range(2, 6) }));
  const rise = (direction: Vector3) =>
    hills.reduce((sum, hill) => sum + Math.sin(hill.turns * hill.way.dot(direction)), 0);
  return transformed(icosphere(1, detail), (vertex) => vertex.multiplyScalar(1 + height * rise(vertex)));
}

/** A closed torus about z. */
export function torus(radius: number, tube: number, segments: number): Triangles {
  return welded(new TorusGeometry(radius, tube, segments, 2 * segments));
}

/** A closed L shape of about 20 triangles: two legs of the given length and of width 1. */
export function lShape(length: number): Triangles {
  return extrude([0, 0, length, 0, length, 1, 1, 1, 1, length, 0, length], 1);
}

/** A closed comb: a spine of height 1 with teeth of length 2 and width 1, and gaps of 1 between them. */
export function comb(teeth: number): Triangles {
  const outline = [2 * teeth - 1, 0, 2 * teeth - 1, 1, 0, 1];
  for (let tooth = 0; tooth < teeth; tooth++) {
    const toothX = 2 * tooth;
    if (tooth > 0) outline.push(toothX, 0);
    else outline.push(0, 0);
    outline.push(toothX, -2, toothX + 1, -2);
    if (tooth < teeth - 1) outline.push(toothX + 1, 0);
  }
  return extrude(outline, 1);
}

function extrude(outline: readonly number[], depth: number): Triangles {
  const shape = new Shape();
  for (let i = 0; i < outline.length; i += 2) {
    if (i === 0) shape.moveTo(outline[0], outline[1]);
    else shape.lineTo(outline[i], outline[i + 1]);
  }
  return welded(new ExtrudeGeometry(shape, { depth, bevelEnabled: false, steps: 1 }).center());
}

import type { FlatFace, Vec3 } from '../../shared/types.js';
import { runToEnd } from '../binding/steps.js';
import { type Features, featuresOf } from './features.js';
import { transformPoint } from './snap-view.js';
import { dot } from './vectors.js';

/**
 * The corners of the cube [-1, 1]³, and its triangles, counter-clockwise from outside; as in core/scene/snap/feature-table.ts.
 */
const CORNERS = Array.from({ length: 8 }, (_, i): Vec3 => [i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1]);
const QUADS = [
  [0, 4, 6, 2],
  [1, 3, 7, 5],
  [0, 1, 5, 4],
  [2, 6, 7, 3],
  [0, 2, 3, 1],
  [4, 5, 7, 6],
];
const TRIANGLES = QUADS.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]);

/** Finds the features of the unit cube, of which every box is an image under a map. */
export function cubeFeatures(): Features {
  const positions = Float32Array.from(TRIANGLES.flatMap((corner) => CORNERS[corner]));
  const slots = Uint32Array.from({ length: TRIANGLES.length / 3 }, (_, i) => i);
  return runToEnd(featuresOf({ size: 3, positions, slots }, 30));
}

/** Returns a corner of a triangle of the cube. */
export function cubeCorner(slot: number, corner: number): Vec3 {
  return CORNERS[TRIANGLES[3 * slot + corner]];
}

/** Returns the face of a box, the cube under a map, that contains a point. `normal`: the face's normal in the world. */
export function cubeFaceAt(transform: ArrayLike<number>, point: Vec3, normal: Vec3): FlatFace {
  // Distance of the point from the plane of each face, along the normal.
  const heightOf = (quad: number[]): number => {
    const corners = quad.map((corner) => transformPoint(transform, CORNERS[corner]));
    return Math.max(...corners.map((corner) => Math.abs(dot(normal, point) - dot(normal, corner))));
  };
  const heights = QUADS.map(heightOf);
  const [a, b, c, d] = QUADS[heights.indexOf(Math.min(...heights))];
  const corners = [a, b, c, a, c, d].flatMap((corner) => transformPoint(transform, CORNERS[corner]));
  return { normal, triangles: new Uint32Array(), corners: Float64Array.from(corners) };
}

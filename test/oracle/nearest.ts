// Distance of a point to objects of all kinds, and containment, by testing every element in float64.
import { type Matrix4, Vector3 } from 'three';
import { type ComposedObject, worldCorners } from '../fixtures/composed-scene.js';
import { frameOf } from './shapes.js';
import { gapBetween, pointBody, roundBody } from './solids.js';
import { windingNumber } from './winding.js';

const CORNERS: readonly Vector3[] = [0, 1, 2, 3, 4, 5, 6, 7].map(
  (i) => new Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1),
);
const FACES = [
  0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6,
];

/** World positions of the corners of a solid box's faces, relative to a place, nine numbers per triangle. */
export function boxCorners(matrix: Matrix4, origin: Vector3): Float64Array {
  const relativeMatrix = matrix.clone().setPosition(new Vector3().setFromMatrixPosition(matrix).sub(origin));
  return Float64Array.from(FACES.flatMap((i) => CORNERS[i].clone().applyMatrix4(relativeMatrix).toArray()));
}

/** Squared distance of a point from a segment of a list. */
function segmentDistanceSquared(s: ArrayLike<number>, a: number, b: number, x: number, y: number, z: number): number {
  const dx = s[b] - s[a];
  const dy = s[b + 1] - s[a + 1];
  const dz = s[b + 2] - s[a + 2];
  const px = x - s[a];
  const py = y - s[a + 1];
  const pz = z - s[a + 2];
  const lengthSquared = dx * dx + dy * dy + dz * dz;
  const t = lengthSquared > 0 ? Math.min(Math.max((px * dx + py * dy + pz * dz) / lengthSquared, 0), 1) : 0;
  return (px - t * dx) ** 2 + (py - t * dy) ** 2 + (pz - t * dz) ** 2;
}

/** The same for a triangle: to its interior if the point projects into it, otherwise to its edges. */
export function triangleDistanceSquared(s: ArrayLike<number>, a: number, x: number, y: number, z: number): number {
  const ux = s[a + 3] - s[a];
  const uy = s[a + 4] - s[a + 1];
  const uz = s[a + 5] - s[a + 2];
  const vx = s[a + 6] - s[a];
  const vy = s[a + 7] - s[a + 1];
  const vz = s[a + 8] - s[a + 2];
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const lengthSquared = nx * nx + ny * ny + nz * nz;
  const px = x - s[a];
  const py = y - s[a + 1];
  const pz = z - s[a + 2];
  let minSquared = Math.min(
    segmentDistanceSquared(s, a, a + 3, x, y, z),
    segmentDistanceSquared(s, a + 3, a + 6, x, y, z),
    segmentDistanceSquared(s, a + 6, a, x, y, z),
  );
  if (lengthSquared > 0) {
    const v = ((py * vz - pz * vy) * nx + (pz * vx - px * vz) * ny + (px * vy - py * vx) * nz) / lengthSquared;
    const w = ((uy * pz - uz * py) * nx + (uz * px - ux * pz) * ny + (ux * py - uy * px) * nz) / lengthSquared;
    if (v >= 0 && w >= 0 && v + w <= 1)
      minSquared = Math.min(minSquared, (px * nx + py * ny + pz * nz) ** 2 / lengthSquared);
  }
  return minSquared;
}

/** Distance of a point beyond the surface of a solid, in the space in which it is a cube or a ball; negative inside. */
export function excessOf({ shape, matrix }: ComposedObject, point: Vector3): number {
  const frame = frameOf(shape!);
  const { x, y, z } = point.clone().applyMatrix4(matrix.clone().multiply(frame.matrix).invert());
  if (shape!.type === 'box') return Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) - 1;
  return Math.hypot(x, y, z - Math.min(Math.max(z, -frame.half), frame.half)) - 1;
}

/** Distance of an object's surface, lines or points from a place, if it is less than `maxDistance`. */
export function surfaceDistance(
  thing: ComposedObject,
  point: Vector3,
  origin: Vector3,
  maxDistance = Infinity,
): number {
  const { x, y, z } = point.clone().sub(origin);
  let minSquared = maxDistance * maxDistance;
  if (thing.shape) {
    const frame = frameOf(thing.shape);
    const matrix = thing.matrix.clone().multiply(frame.matrix);
    if (thing.shape.type === 'box') {
      const corners = boxCorners(matrix, origin);
      for (let i = 0; i < corners.length; i += 9)
        minSquared = Math.min(minSquared, triangleDistanceSquared(corners, i, x, y, z));
      return Math.sqrt(minSquared);
    }
    matrix.setPosition(new Vector3().setFromMatrixPosition(matrix).sub(origin));
    const size = Math.hypot(...matrix.elements.slice(0, 12)) * (1 + frame.half);
    const distance = new Vector3(x, y, z).distanceTo(new Vector3().setFromMatrixPosition(matrix));
    if (distance - size > maxDistance) return maxDistance;
    return Math.min(
      maxDistance,
      gapBetween(pointBody(new Vector3(x, y, z)), roundBody(matrix, frame.half), 1e-9 * (size + distance)).most,
    );
  }
  const corners = worldCorners(thing, origin);
  if (thing.kind === 'lines') {
    for (let i = 0; i < corners.length; i += 6)
      minSquared = Math.min(minSquared, segmentDistanceSquared(corners, i, i + 3, x, y, z));
  } else if (thing.kind === 'points') {
    for (let i = 0; i < corners.length; i += 3)
      minSquared = Math.min(minSquared, segmentDistanceSquared(corners, i, i, x, y, z));
  } else {
    for (let i = 0; i < corners.length; i += 9) {
      if (!thing.flat.has(i / 9)) minSquared = Math.min(minSquared, triangleDistanceSquared(corners, i, x, y, z));
    }
  }
  return Math.sqrt(minSquared);
}

/** Winding number of a mesh around a point, regardless of its sign; 0 for all other objects. */
export function windingAt(thing: ComposedObject, point: Vector3): number {
  if (thing.shape || thing.kind === 'lines' || thing.kind === 'points') return 0;
  const localPoint = point.clone().applyMatrix4(thing.matrix.clone().invert());
  return Math.abs(
    windingNumber({ positions: thing.positions as Float32Array, indices: thing.indices as Uint32Array }, localPoint),
  );
}

// The Minkowski difference of two bodies: all a - b. The bodies overlap if it contains the origin. Moving b by v moves
// the difference by -v, so a translation that separates them is a vector from the origin out of it.

import { Support, findSupportPoint, supportX, supportY, supportZ } from './support';

/** A vertex of the difference, and the point of a from which it was made. */
@unmanaged
export class Vertex {
  x: f64; y: f64; z: f64;
  pointX: f64; pointY: f64; pointZ: f64;
}

export const VERTEX_BYTES: usize = offsetof<Vertex>();

/**
 * Sets the vertex of the difference that is farthest along a direction of any length but 0; without the balls of both if
 * `isCoreOnly`.
 */
export function setVertex(out: Vertex, a: Support, b: Support, x: f64, y: f64, z: f64, isCoreOnly: bool): void {
  findSupportPoint(a, x, y, z, isCoreOnly);
  const px = supportX, py = supportY, pz = supportZ;
  findSupportPoint(b, -x, -y, -z, isCoreOnly);
  out.pointX = px; out.pointY = py; out.pointZ = pz;
  out.x = px - supportX; out.y = py - supportY; out.z = pz - supportZ;
}

const vertex = changetype<Vertex>(memory.data(<i32>offsetof<Vertex>(), 16));

/** Returns how far the difference reaches along a unit direction: moving b this far along it separates the two. */
export function supportHeight(a: Support, b: Support, x: f64, y: f64, z: f64, isCoreOnly: bool): f64 {
  setVertex(vertex, a, b, x, y, z, isCoreOnly);
  return vertex.x * x + vertex.y * y + vertex.z * z;
}

// @ts-ignore: decorator
@inline
export function vertexAt(list: usize, i: u32): Vertex {
  return changetype<Vertex>(list + i * <u32>VERTEX_BYTES);
}

// @ts-ignore: decorator
@inline
export function isSame(p: Vertex, q: Vertex): bool {
  return p.x == q.x && p.y == q.y && p.z == q.z;
}

/** Copies a vertex as three vectors; memory.copy would be a call. */
// @ts-ignore: decorator
@inline
export function copyVertex(to: Vertex, from: Vertex): void {
  const p = changetype<usize>(to), q = changetype<usize>(from);
  v128.store(p, v128.load(q));
  v128.store(p, v128.load(q, 16), 16);
  v128.store(p, v128.load(q, 32), 32);
}

// The point of a Minkowski difference that is nearest to the origin (Gilbert, Johnson and Keerthi, "A fast procedure for
// computing the distance between complex objects in three-dimensional space", 1988). All sub-simplices are tried, so
// that no Voronoi region has to be chosen by a sign that depends on rounding.

import { Affine } from '../../math/affine';
import { Support } from './support';
import { Vertex, copyVertex, isSame, setVertex, vertexAt } from './minkowski-difference';
import { F64_BYTES } from '../../sizes';

/** The point of the difference that is nearest to the origin. */
export let nearestX: f64 = 0, nearestY: f64 = 0, nearestZ: f64 = 0;

const simplex: usize = memory.data(4 * <i32>offsetof<Vertex>(), 16); // of Vertex
// Per vertex of the simplex, f64 each.
const weights: usize = memory.data(4 * F64_BYTES, 16);
const bestWeights: usize = memory.data(4 * F64_BYTES, 16);
let count: u32 = 0;

const MAX_STEPS = 100;
/** Rounding error of squared coordinates, relative to the squared size: lengths are exact to 2⁻⁴⁹. */
const ROUNDING_SQUARED: f64 = 3.1554436208840472e-30;
const CONVERGENCE_TOLERANCE: f64 = 1e-12;

/**
 * Returns the distance of the Minkowski difference of a and b from the origin, 0 if a and b overlap. `size` is about the
 * size of both; `isCoreOnly` omits their balls.
 */
export function distanceBetween(a: Support, b: Support, size: f64, isCoreOnly: bool): f64 {
  count = 0;
  let x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  if (x == 0 && y == 0 && z == 0) x = 1;
  let distanceSquared: f64 = Infinity;
  const tolerance = ROUNDING_SQUARED * size * size;
  for (let step = 0; step < MAX_STEPS; step++) {
    const vertex = vertexAt(simplex, count);
    setVertex(vertex, a, b, -x, -y, -z, isCoreOnly);
    if (count != 0 && distanceSquared - (x * vertex.x + y * vertex.y + z * vertex.z) <= CONVERGENCE_TOLERANCE * distanceSquared)
      break;
    if (isInSimplex(vertex)) break;
    count++;
    const newDistanceSquared = reduce();
    // From here on there would be nothing but rounding noise.
    if (newDistanceSquared >= distanceSquared) break;
    distanceSquared = newDistanceSquared;
    x = nearestX; y = nearestY; z = nearestZ;
    if (count == 4 || distanceSquared <= tolerance) return 0;
  }
  nearestX = x; nearestY = y; nearestZ = z;
  return sqrt(distanceSquared);
}

/**
 * Returns whether a direction separates a and b without their balls: whether their whole Minkowski difference is farther
 * than `margin` from the origin along it, relative to the sum of the direction's magnitudes.
 */
export function isSeparating(a: Support, b: Support, x: f64, y: f64, z: f64, margin: f64): bool {
  const vertex = vertexAt(simplex, 0);
  setVertex(vertex, a, b, -x, -y, -z, true);
  return x * vertex.x + y * vertex.y + z * vertex.z > margin * (abs(x) + abs(y) + abs(z));
}

/**
 * Returns whether any direction separates a and b by the test of `isSeparating`, and if so sets the nearest point to that
 * direction. Tries (x, y, z) first, which must not be 0.
 */
export function findSeparatingDirection(a: Support, b: Support, x: f64, y: f64, z: f64, margin: f64): bool {
  count = 0;
  let distanceSquared: f64 = Infinity;
  for (let step = 0; step < MAX_STEPS; step++) {
    const vertex = vertexAt(simplex, count);
    setVertex(vertex, a, b, -x, -y, -z, true);
    if (x * vertex.x + y * vertex.y + z * vertex.z > margin * (abs(x) + abs(y) + abs(z))) {
      nearestX = x; nearestY = y; nearestZ = z;
      return true;
    }
    if (isInSimplex(vertex)) return false;
    count++;
    const newDistanceSquared = reduce();
    if (newDistanceSquared >= distanceSquared || count == 4 || newDistanceSquared <= margin * margin) return false;
    distanceSquared = newDistanceSquared;
    x = nearestX; y = nearestY; z = nearestZ;
  }
  return false;
}

/** Returns whether the last query ended with a tetrahedron that contains the origin; `simplexVertex` returns its corners. */
export function containsOrigin(): bool {
  return count == 4;
}

export function simplexVertex(i: u32): Vertex {
  return vertexAt(simplex, i);
}

/**
 * Maps the final simplex of the last query to another space: the vertices of the difference, and the points of a from
 * which they were made.
 */
export function transformSimplex(m: Affine): void {
  for (let i: u32 = 0; i < count; i++) {
    const vertex = vertexAt(simplex, i);
    const x = vertex.x, y = vertex.y, z = vertex.z, u = vertex.pointX, v = vertex.pointY, w = vertex.pointZ;
    vertex.x = m.xx * x + m.yx * y + m.zx * z;
    vertex.y = m.xy * x + m.yy * y + m.zy * z;
    vertex.z = m.xz * x + m.yz * y + m.zz * z;
    vertex.pointX = m.xx * u + m.yx * v + m.zx * w + m.tx;
    vertex.pointY = m.xy * u + m.yy * v + m.zy * w + m.ty;
    vertex.pointZ = m.xz * u + m.yz * v + m.zz * w + m.tz;
  }
}

/** The point of a that corresponds to the nearest point of the difference. */
export let commonX: f64 = 0, commonY: f64 = 0, commonZ: f64 = 0;

export function setCommonPoint(): void {
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const vertex = vertexAt(simplex, i);
    const weight = load<f64>(weights + (<usize>i << 3));
    x += weight * vertex.pointX; y += weight * vertex.pointY; z += weight * vertex.pointZ;
  }
  commonX = x; commonY = y; commonZ = z;
}

function isInSimplex(vertex: Vertex): bool {
  for (let i: u32 = 0; i < count; i++) if (isSame(vertexAt(simplex, i), vertex)) return true;
  return false;
}

/**
 * Reduces the simplex to the vertices whose hull has the nearest point in its interior. Returns the squared distance of
 * that point. The last vertex is one of them, since it brings the simplex nearer, except for rounding.
 */
function reduce(): f64 {
  minDistanceSquared = Infinity;
  bestSubset = 0;
  const lastBit = <u32>1 << (count - 1);
  // The whole simplex first: it often contains the origin, and then no sub-simplex can be nearer.
  for (let subset: u32 = 2 * lastBit - 1; subset >= lastBit && minDistanceSquared > 0; subset--) trySubset(subset);
  if (bestSubset == 0) for (let subset: u32 = 1; subset < lastBit; subset++) trySubset(subset);
  let to: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (!(bestSubset & (1 << i))) continue;
    if (to != i) copyVertex(vertexAt(simplex, to), vertexAt(simplex, i));
    store<f64>(weights + (<usize>to << 3), load<f64>(bestWeights + (<usize>to << 3)));
    to++;
  }
  count = to;
  return minDistanceSquared;
}

let minDistanceSquared: f64 = 0;
let bestSubset: u32 = 0;

function trySubset(subset: u32): void {
  const distanceSquared = nearestOfSubset(subset);
  if (distanceSquared >= minDistanceSquared) return;
  minDistanceSquared = distanceSquared;
  bestSubset = subset;
  nearestX = candidateX; nearestY = candidateY; nearestZ = candidateZ;
  v128.store(bestWeights, v128.load(candidateWeights));
  v128.store(bestWeights, v128.load(candidateWeights, 16), 16);
}

let candidateX: f64 = 0, candidateY: f64 = 0, candidateZ: f64 = 0;
const candidateWeights: usize = memory.data(4 * F64_BYTES, 16);

/**
 * Returns the squared distance from the origin to the hull of the vertices in a mask, if the nearest point of its plane
 * or line is inside the hull; Infinity otherwise.
 */
function nearestOfSubset(mask: u32): f64 {
  let remaining = mask;
  const p = vertexAt(simplex, ctz(remaining));
  remaining &= remaining - 1;
  if (remaining == 0) return setCandidate(p.x, p.y, p.z, 1, 0, 0, 0);
  const q = vertexAt(simplex, ctz(remaining));
  remaining &= remaining - 1;
  if (remaining == 0) return nearestOfTwo(p, q);
  const r = vertexAt(simplex, ctz(remaining));
  remaining &= remaining - 1;
  if (remaining == 0) return nearestOfThree(p, q, r);
  return nearestOfFour(p, q, r, vertexAt(simplex, ctz(remaining)));
}

function setCandidate(x: f64, y: f64, z: f64, weight0: f64, weight1: f64, weight2: f64, weight3: f64): f64 {
  candidateX = x; candidateY = y; candidateZ = z;
  store<f64>(candidateWeights, weight0);
  store<f64>(candidateWeights, weight1, 8);
  store<f64>(candidateWeights, weight2, 16);
  store<f64>(candidateWeights, weight3, 24);
  return x * x + y * y + z * z;
}

function nearestOfTwo(p: Vertex, q: Vertex): f64 {
  const ex = q.x - p.x, ey = q.y - p.y, ez = q.z - p.z;
  const t = -(p.x * ex + p.y * ey + p.z * ez) / (ex * ex + ey * ey + ez * ez);
  if (!(t > 0 && t < 1)) return Infinity;
  return setCandidate(p.x + t * ex, p.y + t * ey, p.z + t * ez, 1 - t, t, 0, 0);
}

function nearestOfThree(p: Vertex, q: Vertex, r: Vertex): f64 {
  const ex = q.x - p.x, ey = q.y - p.y, ez = q.z - p.z;
  const fx = r.x - p.x, fy = r.y - p.y, fz = r.z - p.z;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const normalLengthSquared = nx * nx + ny * ny + nz * nz;
  const u = nx * (q.y * r.z - q.z * r.y) + ny * (q.z * r.x - q.x * r.z) + nz * (q.x * r.y - q.y * r.x);
  const v = nx * (r.y * p.z - r.z * p.y) + ny * (r.z * p.x - r.x * p.z) + nz * (r.x * p.y - r.y * p.x);
  const w = nx * (p.y * q.z - p.z * q.y) + ny * (p.z * q.x - p.x * q.z) + nz * (p.x * q.y - p.y * q.x);
  if (!(u > 0 && v > 0 && w > 0 && normalLengthSquared > 0)) return Infinity;
  const normalScale = (nx * p.x + ny * p.y + nz * p.z) / normalLengthSquared;
  const reciprocal = 1.0 / (u + v + w);
  return setCandidate(nx * normalScale, ny * normalScale, nz * normalScale, u * reciprocal, v * reciprocal, w * reciprocal, 0);
}

function nearestOfFour(p: Vertex, q: Vertex, r: Vertex, s: Vertex): f64 {
  const totalVolume = volume(q.x - p.x, q.y - p.y, q.z - p.z, r.x - p.x, r.y - p.y, r.z - p.z, s.x - p.x, s.y - p.y, s.z - p.z);
  const first = volume(q.x, q.y, q.z, r.x, r.y, r.z, s.x, s.y, s.z) / totalVolume;
  const second = -volume(p.x, p.y, p.z, r.x, r.y, r.z, s.x, s.y, s.z) / totalVolume;
  const third = volume(p.x, p.y, p.z, q.x, q.y, q.z, s.x, s.y, s.z) / totalVolume;
  const fourth = -volume(p.x, p.y, p.z, q.x, q.y, q.z, r.x, r.y, r.z) / totalVolume;
  if (!(first > 0 && second > 0 && third > 0 && fourth > 0)) return Infinity;
  return setCandidate(0, 0, 0, first, second, third, fourth);
}

function volume(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64, cx: f64, cy: f64, cz: f64): f64 {
  return ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
}

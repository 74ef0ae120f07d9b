// Decides whether a point on a clipped triangle is inside the other mesh: by the side of the nearest segment, with a
// vote if several are equally near, in float64. If a mesh encloses no volume, one side of its surface counts as the
// inside.

import { reserve } from '../../memory';
import { IntersectionSegment, segmentAt, segmentCount } from './intersection-segments';
import { ClippedTriangle, NO_SEGMENT, Side, clippedAt, sideAt } from './clipped-triangles';

/** The orientation of both surfaces in each region, 1 or -1: two f64 each. */
let senses: usize = 0;

/**
 * Decides which side of a mesh that encloses no volume counts as its inside: the one with less of the other mesh, facing
 * away from the other's centre.
 */
export function findSenses(a: Side, b: Side, regionCount: u32): void {
  senses = reserve(senses, 0, <u64>regionCount << 4);
  for (let i: u32 = 0; i < regionCount; i++) v128.store(senses + (<usize>i << 4), f64x2.splat(0));
  if (a.facing == 0 || b.facing == 0) {
    for (let i: u32 = 0; i < segmentCount; i++) {
      const segment = segmentAt(i);
      const p = clippedAt(a, segment.a), q = clippedAt(b, segment.b);
      const x = 0.5 * (segment.px + segment.qx), y = 0.5 * (segment.py + segment.qy);
      const z = 0.5 * (segment.pz + segment.qz);
      const dx = segment.qx - segment.px, dy = segment.qy - segment.py, dz = segment.qz - segment.pz;
      const length = sqrt(dx * dx + dy * dy + dz * dz);
      const at = senses + (<usize>segment.region << 4);
      const ofA = (b.middleX - x) * p.nx + (b.middleY - y) * p.ny + (b.middleZ - z) * p.nz;
      const ofB = (a.middleX - x) * q.nx + (a.middleY - y) * q.ny + (a.middleZ - z) * q.nz;
      store<f64>(at, load<f64>(at) + length * ofA);
      store<f64>(at, load<f64>(at, 8) + length * ofB, 8);
    }
  }
  for (let i: u32 = 0; i < regionCount; i++) {
    const at = senses + (<usize>i << 4);
    store<f64>(at, a.facing == 0 && load<f64>(at) < 0 ? -1 : 1);
    store<f64>(at, b.facing == 0 && load<f64>(at, 8) < 0 ? -1 : 1, 8);
  }
}

/** Gives a region the senses of another one, whose number is at least as high. */
export function moveSenses(to: u32, from: u32): void {
  v128.store(senses + (<usize>to << 4), v128.load(senses + (<usize>from << 4)));
}

/** Returns 1, or -1 if a side's normals at a segment point to what counts as its inside. */
// @ts-ignore: decorator
@inline
export function senseOf(segment: IntersectionSegment, side: u32): f64 {
  return load<f64>(senses + (<usize>segment.region << 4) + (<usize>side << 3));
}

/** The segment that decided the last call of `isInside`. */
export let nearest: u32 = NO_SEGMENT;
/** Whether no segment decided, because all votes cancel out. */
export let isUndecided: bool = false;

/** Squared distances whose ratio is no greater than this are considered equal up to rounding. */
const SAME: f64 = 1 + 1e-9;
/** A sum of votes that is less than this, relative to the largest vote, is zero up to rounding. */
const EVEN: f64 = 1e-9;
/**
 * The squared sine of the angle to a plane below which a point counts as on the plane: on the curve itself nothing
 * decides.
 */
const ON_PLANE: f64 = 1e-12;

/**
 * Returns whether a point on a clipped triangle is inside the other mesh: by the nearest of the triangle's segments. If
 * several are equally near, because they end in the same point or overlap, each votes with the distance of the point
 * from its line: at a sharp corner, the point may be in front of one line and behind the other, and is on the side of
 * the line that is farther away. If the votes cancel out, as at the two sides of a fin of no thickness, segments farther
 * away decide.
 */
export function isInside(own: u32, triangle: ClippedTriangle, x: f64, y: f64, z: f64): bool {
  isUndecided = false;
  const first = triangle.firstSegment, only = segmentAt(first);
  // A single segment decides, since no other can be nearer: a third of all calls for two dragons end here.
  if ((own == 0 ? only.nextA : only.nextB) == NO_SEGMENT) {
    const side = sideOf(own, triangle, first, x - only.px, y - only.py, z - only.pz);
    nearest = first;
    if (abs(side) > 0) return side > 0;
  }
  let from = -1.0;
  while (true) {
    let least = Infinity;
    let sum: f64 = 0, most: f64 = 0;
    let found = NO_SEGMENT;
    // The nearest segment so far, as long as no other is equally near: it votes when one is found, or at the end.
    let alone = NO_SEGMENT;
    let aloneX: f64 = 0, aloneY: f64 = 0, aloneZ: f64 = 0;
    for (let i = triangle.firstSegment; i != NO_SEGMENT; ) {
      const segment = segmentAt(i);
      const dx = segment.qx - segment.px, dy = segment.qy - segment.py, dz = segment.qz - segment.pz;
      const wx = x - segment.px, wy = y - segment.py, wz = z - segment.pz;
      const whole = square(dx, dy, dz);
      const t = whole > 0 ? min(max((wx * dx + wy * dy + wz * dz) / whole, 0.0), 1.0) : 0.0;
      const rx = wx - t * dx, ry = wy - t * dy, rz = wz - t * dz;
      const distance = rx * rx + ry * ry + rz * rz;
      if (distance > from && distance <= least * SAME) {
        if (distance * SAME < least) {
          sum = most = 0;
          found = alone = i;
          aloneX = rx; aloneY = ry; aloneZ = rz;
        } else {
          if (alone != NO_SEGMENT) {
            sum = voteOf(own, triangle, alone, aloneX, aloneY, aloneZ);
            most = abs(sum);
            alone = NO_SEGMENT;
          }
          const vote = voteOf(own, triangle, i, rx, ry, rz);
          sum += vote;
          most = max(most, abs(vote));
          if (found == NO_SEGMENT || vote > 0) found = i;
        }
        least = min(least, distance);
      }
      i = own == 0 ? segment.nextA : segment.nextB;
    }
    nearest = found;
    if (alone != NO_SEGMENT) sum = sideOf(own, triangle, alone, aloneX, aloneY, aloneZ);
    if (abs(sum) > most * EVEN) return sum > 0;
    if (least == Infinity) {
      isUndecided = true;
      return false;
    }
    from = least * SAME;
  }
}

/**
 * Returns the distance of a point on a triangle from the line of one of its segments, negative if the point is outside
 * of what the segment's other triangle bounds; 0 if it is on that triangle's plane. (rx, ry, rz) is the vector to it
 * from the nearest point of the segment.
 */
// @ts-ignore: decorator
@inline
function voteOf(own: u32, triangle: ClippedTriangle, index: u32, rx: f64, ry: f64, rz: f64): f64 {
  const segment = segmentAt(index);
  const plane = clippedAt(sideAt(1 - own), own == 0 ? segment.b : segment.a);
  const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * senseOf(segment, 1 - own);
  const sine = height * height > square(rx, ry, rz) * ON_PLANE ? sineOf(triangle, plane) : 0;
  return sine > 0 ? -height / sine : 0;
}

/** Returns a number of the same sign as `voteOf`, including 0, for a vote that is not compared with others. */
// @ts-ignore: decorator
@inline
function sideOf(own: u32, triangle: ClippedTriangle, index: u32, rx: f64, ry: f64, rz: f64): f64 {
  const segment = segmentAt(index);
  const plane = clippedAt(sideAt(1 - own), own == 0 ? segment.b : segment.a);
  const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * senseOf(segment, 1 - own);
  return height * height > square(rx, ry, rz) * ON_PLANE && squaredSineOf(triangle, plane) > 0 ? -height : 0;
}

/**
 * Returns the sine of the angle at which two triangles intersect: the height of a point of one triangle above the
 * other's plane, divided by its distance from their segment.
 */
export function sineOf(p: ClippedTriangle, q: ClippedTriangle): f64 {
  return sqrt(squaredSineOf(p, q));
}

// @ts-ignore: decorator
@inline
function squaredSineOf(p: ClippedTriangle, q: ClippedTriangle): f64 {
  return square(p.ny * q.nz - p.nz * q.ny, p.nz * q.nx - p.nx * q.nz, p.nx * q.ny - p.ny * q.nx);
}

// @ts-ignore: decorator
@inline
export function square(x: f64, y: f64, z: f64): f64 {
  return x * x + y * y + z * z;
}

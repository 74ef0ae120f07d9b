// Decides whether a point on a clipped triangle is inside the other mesh: by the side of the nearest segment, with a
// vote if several are equally near, in float64. If a mesh encloses no volume, one side of its surface counts as the
// inside.

import { reserve } from '../../memory';
import { IntersectionSegment, segmentAt, segmentCount } from './intersection-segments';
import { ClippedTriangle, NO_SEGMENT, Side, clippedAt, sideAt } from './clipped-triangles';

/** The orientation of both surfaces in each region, 1 or -1: two f64 each. */
let orientations: usize = 0;

/**
 * Decides which side of a mesh that encloses no volume counts as its inside: the one with less of the other mesh, facing
 * away from the other's centre.
 */
export function findOrientations(a: Side, b: Side, regionCount: u32): void {
  orientations = reserve(orientations, 0, <u64>regionCount << 4);
  for (let i: u32 = 0; i < regionCount; i++) v128.store(orientations + (<usize>i << 4), f64x2.splat(0));
  if (a.facing == 0 || b.facing == 0) {
    for (let i: u32 = 0; i < segmentCount; i++) {
      const segment = segmentAt(i);
      const p = clippedAt(a, segment.a), q = clippedAt(b, segment.b);
      const x = 0.5 * (segment.px + segment.qx), y = 0.5 * (segment.py + segment.qy);
      const z = 0.5 * (segment.pz + segment.qz);
      const dx = segment.qx - segment.px, dy = segment.qy - segment.py, dz = segment.qz - segment.pz;
      const length = sqrt(dx * dx + dy * dy + dz * dz);
      const at = orientations + (<usize>segment.region << 4);
      const ofA = (b.centerX - x) * p.nx + (b.centerY - y) * p.ny + (b.centerZ - z) * p.nz;
      const ofB = (a.centerX - x) * q.nx + (a.centerY - y) * q.ny + (a.centerZ - z) * q.nz;
      store<f64>(at, load<f64>(at) + length * ofA);
      store<f64>(at, load<f64>(at, 8) + length * ofB, 8);
    }
  }
  for (let i: u32 = 0; i < regionCount; i++) {
    const at = orientations + (<usize>i << 4);
    store<f64>(at, a.facing == 0 && load<f64>(at) < 0 ? -1 : 1);
    store<f64>(at, b.facing == 0 && load<f64>(at, 8) < 0 ? -1 : 1, 8);
  }
}

/** Gives a region the orientations of another one, whose index is at least as high. */
export function copyOrientations(to: u32, from: u32): void {
  v128.store(orientations + (<usize>to << 4), v128.load(orientations + (<usize>from << 4)));
}

/** Returns 1, or -1 if a side's normals at a segment point to what counts as its inside. */
// @ts-ignore: decorator
@inline
export function orientationOf(segment: IntersectionSegment, side: u32): f64 {
  return load<f64>(orientations + (<usize>segment.region << 4) + (<usize>side << 3));
}

/** The segment that decided the last call of `isInside`. */
export let decidingSegment: u32 = NO_SEGMENT;
/** Whether no segment decided, because all votes cancel out. */
export let isUndecided: bool = false;

/** Squared distances whose ratio is no greater than this are considered equal up to rounding. */
const SAME_DISTANCE_RATIO: f64 = 1 + 1e-9;
/** A sum of votes that is less than this, relative to the largest vote, is zero up to rounding. */
const VOTE_TOLERANCE: f64 = 1e-9;
/**
 * The squared sine of the angle to a plane below which a point counts as on the plane: on the curve itself nothing
 * decides.
 */
const ON_PLANE_SINE_SQUARED: f64 = 1e-12;

/**
 * Returns whether a point on a clipped triangle is inside the other mesh: by the nearest of the triangle's segments. If
 * several are equally near, because they end in the same point or overlap, each votes with the distance of the point
 * from its line: at a sharp corner, the point may be in front of one line and behind the other, and is on the side of
 * the line that is farther away. If the votes cancel out, as at the two sides of a fin of no thickness, segments farther
 * away decide.
 */
export function isInside(sideIndex: u32, triangle: ClippedTriangle, x: f64, y: f64, z: f64): bool {
  isUndecided = false;
  const first = triangle.firstSegment, onlySegment = segmentAt(first);
  // A single segment decides, since no other can be nearer: a third of all calls for two dragons end here.
  if ((sideIndex == 0 ? onlySegment.nextA : onlySegment.nextB) == NO_SEGMENT) {
    const onlyVote = unscaledVote(sideIndex, triangle, first, x - onlySegment.px, y - onlySegment.py, z - onlySegment.pz);
    decidingSegment = first;
    if (abs(onlyVote) > 0) return onlyVote > 0;
  }
  let excludedDistanceSquared = -1.0;
  while (true) {
    let minDistanceSquared = Infinity;
    let voteSum: f64 = 0, maxVote: f64 = 0;
    let nearestSegment = NO_SEGMENT;
    // The nearest segment so far, as long as no other is equally near: it votes when one is found, or at the end.
    let soleNearest = NO_SEGMENT;
    let soleX: f64 = 0, soleY: f64 = 0, soleZ: f64 = 0;
    for (let i = triangle.firstSegment; i != NO_SEGMENT; ) {
      const segment = segmentAt(i);
      const dx = segment.qx - segment.px, dy = segment.qy - segment.py, dz = segment.qz - segment.pz;
      const wx = x - segment.px, wy = y - segment.py, wz = z - segment.pz;
      const segmentLengthSquared = lengthSquaredOf(dx, dy, dz);
      const t = segmentLengthSquared > 0 ? min(max((wx * dx + wy * dy + wz * dz) / segmentLengthSquared, 0.0), 1.0) : 0.0;
      const rx = wx - t * dx, ry = wy - t * dy, rz = wz - t * dz;
      const distanceSquared = rx * rx + ry * ry + rz * rz;
      if (distanceSquared > excludedDistanceSquared && distanceSquared <= minDistanceSquared * SAME_DISTANCE_RATIO) {
        if (distanceSquared * SAME_DISTANCE_RATIO < minDistanceSquared) {
          voteSum = maxVote = 0;
          nearestSegment = soleNearest = i;
          soleX = rx; soleY = ry; soleZ = rz;
        } else {
          if (soleNearest != NO_SEGMENT) {
            voteSum = voteOf(sideIndex, triangle, soleNearest, soleX, soleY, soleZ);
            maxVote = abs(voteSum);
            soleNearest = NO_SEGMENT;
          }
          const vote = voteOf(sideIndex, triangle, i, rx, ry, rz);
          voteSum += vote;
          maxVote = max(maxVote, abs(vote));
          if (nearestSegment == NO_SEGMENT || vote > 0) nearestSegment = i;
        }
        minDistanceSquared = min(minDistanceSquared, distanceSquared);
      }
      i = sideIndex == 0 ? segment.nextA : segment.nextB;
    }
    decidingSegment = nearestSegment;
    if (soleNearest != NO_SEGMENT) voteSum = unscaledVote(sideIndex, triangle, soleNearest, soleX, soleY, soleZ);
    if (abs(voteSum) > maxVote * VOTE_TOLERANCE) return voteSum > 0;
    if (minDistanceSquared == Infinity) {
      isUndecided = true;
      return false;
    }
    excludedDistanceSquared = minDistanceSquared * SAME_DISTANCE_RATIO;
  }
}

/**
 * Returns the distance of a point on a triangle from the line of one of its segments, negative if the point is outside
 * of what the segment's other triangle bounds; 0 if it is on that triangle's plane. (rx, ry, rz) is the vector to it
 * from the nearest point of the segment.
 */
// @ts-ignore: decorator
@inline
function voteOf(sideIndex: u32, triangle: ClippedTriangle, index: u32, rx: f64, ry: f64, rz: f64): f64 {
  const segment = segmentAt(index);
  const plane = clippedAt(sideAt(1 - sideIndex), sideIndex == 0 ? segment.b : segment.a);
  const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * orientationOf(segment, 1 - sideIndex);
  const sine = height * height > lengthSquaredOf(rx, ry, rz) * ON_PLANE_SINE_SQUARED ? sineOf(triangle, plane) : 0;
  return sine > 0 ? -height / sine : 0;
}

/** Returns a number of the same sign as `voteOf`, including 0, for a vote that is not compared with others. */
// @ts-ignore: decorator
@inline
function unscaledVote(sideIndex: u32, triangle: ClippedTriangle, index: u32, rx: f64, ry: f64, rz: f64): f64 {
  const segment = segmentAt(index);
  const plane = clippedAt(sideAt(1 - sideIndex), sideIndex == 0 ? segment.b : segment.a);
  const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * orientationOf(segment, 1 - sideIndex);
  return height * height > lengthSquaredOf(rx, ry, rz) * ON_PLANE_SINE_SQUARED && sineSquaredOf(triangle, plane) > 0
    ? -height : 0;
}

/**
 * Returns the sine of the angle at which two triangles intersect: the height of a point of one triangle above the
 * other's plane, divided by its distance from their segment.
 */
export function sineOf(p: ClippedTriangle, q: ClippedTriangle): f64 {
  return sqrt(sineSquaredOf(p, q));
}

// @ts-ignore: decorator
@inline
function sineSquaredOf(p: ClippedTriangle, q: ClippedTriangle): f64 {
  return lengthSquaredOf(p.ny * q.nz - p.nz * q.ny, p.nz * q.nx - p.nx * q.nz, p.nx * q.ny - p.ny * q.nx);
}

// @ts-ignore: decorator
@inline
export function lengthSquaredOf(x: f64, y: f64, z: f64): f64 {
  return x * x + y * y + z * z;
}

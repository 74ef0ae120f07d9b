// What is inside of a mesh, for places on a triangle that the other mesh clips: the side of the nearest segment, with a vote
// where several are as near, in float64. Of a mesh that encloses nothing, one side of its surface counts as the inside.

import { reserve } from '../../memory';
import { IntersectionSegment, segmentAt, segmentCount } from './intersection-segments';
import { ClippedTriangle, NO_SEGMENT, Side, clippedAt, sideAt } from './clipped-triangles';

/** Which way both surfaces face in each region, 1 or -1: two f64 each. */
let senses: usize = 0;

/**
 * Finds which side of a mesh that encloses nothing counts as its inside: the one on which less of the other mesh is,
 * away from the other's middle.
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

/** Gives a region the senses of another one, which has no lower number. */
export function moveSenses(to: u32, from: u32): void {
  v128.store(senses + (<usize>to << 4), v128.load(senses + (<usize>from << 4)));
}

/** Answers 1, or -1 where a side's normals at a segment lead to what counts as its inside. */
// @ts-ignore: decorator
@inline
export function senseOf(segment: IntersectionSegment, side: u32): f64 {
  return load<f64>(senses + (<usize>segment.region << 4) + (<usize>side << 3));
}

/** The segment that decided where `isInside` was asked. */
export let nearest: u32 = NO_SEGMENT;
/** Whether no segment decided, as all votes cancel out. */
export let isUndecided: bool = false;

/** Squared distances whose ratio is no greater than this differ by rounding alone. */
const SAME: f64 = 1 + 1e-9;
/** Votes whose sum is less than this, relative to the largest vote, cancel out but for rounding. */
const EVEN: f64 = 1e-9;
/**
 * The squared sine of the angle with a plane up to which a place is on the plane: on the curve itself nothing decides.
 */
const ON_PLANE: f64 = 1e-12;

/**
 * Tells whether a place on a clipped triangle is inside of the other mesh: by the nearest of the triangle's segments.
 * Where several are as near, as they end at the same place or lie on one another, each counts by how far the place
 * is from its line: at a sharp corner, the place may be before one line and behind the other, and is on the side of
 * the one farther off. Where they cancel out, as at the two sides of a fin without a thickness, segments farther away
 * decide.
 */
export function isInside(own: u32, triangle: ClippedTriangle, x: f64, y: f64, z: f64): bool {
  isUndecided = false;
  const first = triangle.firstSegment, only = segmentAt(first);
  // The only segment decides, as no other can be nearer: a third of what is asked about two dragons ends here.
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
    // The nearest one so far, while no other is as near: it votes when one comes, or at the end.
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
 * Answers how far a place on a triangle is from the line of one of its segments, negative where it is outside of what the
 * other triangle of the segment bounds; 0 where it is on its plane. (rx, ry, rz) is where it is, from the nearest place of
 * the segment on.
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

/** Answers a number of the same sign as that of `voteOf`, 0 as well: no other vote is to be weighed against it. */
// @ts-ignore: decorator
@inline
function sideOf(own: u32, triangle: ClippedTriangle, index: u32, rx: f64, ry: f64, rz: f64): f64 {
  const segment = segmentAt(index);
  const plane = clippedAt(sideAt(1 - own), own == 0 ? segment.b : segment.a);
  const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * senseOf(segment, 1 - own);
  return height * height > square(rx, ry, rz) * ON_PLANE && squaredSineOf(triangle, plane) > 0 ? -height : 0;
}

/**
 * Answers the sine of the angle at which two triangles intersect: the height over the one is this part of the distance
 * from the segment in the other.
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

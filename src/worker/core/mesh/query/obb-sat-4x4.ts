// Tests a node's four boxes against another's four for overlap: the separating-axis test over 15 axes (Gottschalk, Lin
// and Manocha, "OBBTree", 1996), four boxes at a time. The map between the two frames may scale and shear, so the axes
// of an edge of one box and the faces of the other are computed from cofactors instead of a rotation's own entries.
//
// It is conservative: overlapping boxes are always found, and a comparison with NaN counts as an overlap as well.
// Products of up to three entries of the map and a length would leave float32's range if one tree is 10¹³ times larger
// than the other. So everything is measured in a unit given by the larger tree, a power of two: no entry and no length
// is above 4 then, except for distances of boxes that are far apart, and what underflows is small compared to the
// padding of the larger tree's boxes (BOX_PADDING).

import { Affine } from '../../math/affine';
import { cross, lane0, lane1, lane2, lane3, minus, plus, times, yzx, zxy } from '../../math/lanes';
import { Rotation, rotationAt } from '../../math/quaternion';
import { exponentFor, scaleFor } from '../tree/tree-space';
import { Node, childMask, maxBounds, isRotated, minBounds } from '../tree/layout';
import { VECTOR_BYTES } from '../../sizes';

/** The map from tree B to tree A in float32, both in the unit of the larger one. */
@unmanaged
export class Relation {
  x: v128; // the coefficients of x in A for the coordinates of B, and x of B's origin
  y: v128;
  z: v128;
  /** Half of the unit's reciprocal, for boxes of A and of B. */
  halfA: v128;
  halfB: v128;
}

/** Distances are clamped to this in float32: 2⁶⁰ units, where no product overflows and every box is separated. */
const MAX_DISTANCE: f64 = 1152921504606846976.0;
/** Beyond this, the power of two of a length has no reciprocal: 2¹⁰²². */
const MAX_LENGTH: f64 = 4.49423283715579e307;

/**
 * Sets the relation from a map of B's coordinates to A's. If the map exceeds float64's range, all boxes count as
 * overlapping.
 */
export function setRelation(relation: Relation, m: Affine): void {
  const x = max(max(abs(m.xx), abs(m.xy)), abs(m.xz));
  const y = max(max(abs(m.yx), abs(m.yy)), abs(m.yz));
  const z = max(max(abs(m.zx), abs(m.zy)), abs(m.zz));
  const largest = max(max(x, y), z);
  // Scales the largest entry to 1 to 2: shrinks the space of A, or the frame of B.
  const scale = largest < MAX_LENGTH ? scaleFor(exponentFor(largest)) : NaN;
  const scaleA = min(scale, 1.0);
  relation.x = f32x4(<f32>(m.xx * scale), <f32>(m.yx * scale), <f32>(m.zx * scale), clampedPosition(m.tx * scaleA));
  relation.y = f32x4(<f32>(m.xy * scale), <f32>(m.yy * scale), <f32>(m.zy * scale), clampedPosition(m.ty * scaleA));
  relation.z = f32x4(<f32>(m.xz * scale), <f32>(m.yz * scale), <f32>(m.zz * scale), clampedPosition(m.tz * scaleA));
  relation.halfA = f32x4.splat(<f32>(0.5 * scaleA));
  relation.halfB = f32x4.splat(<f32>(0.5 * min(1.0 / scale, 1.0)));
}

// @ts-ignore: decorator
@inline
function clampedPosition(position: f64): f32 {
  return <f32>max(min(position, MAX_DISTANCE), -MAX_DISTANCE);
}

const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
// A's four boxes, a lane each: their low and high bounds, centres and half extents; then the radii along B's face
// normals, and along each pair of edges.
const boxesA: usize = memory.data((12 + 3 + 9) * VECTOR_BYTES, 16);
const MAXES: usize = 3 * 16;
const CENTERS: usize = 6 * 16;
const HALVES: usize = 9 * 16;
const FACES: usize = 12 * 16;
const EDGES: usize = 15 * 16;

// @ts-ignore: decorator
@inline
function entry(offset: usize): v128 { return v128.load32_splat(changetype<usize>(rotation) + offset); }
// @ts-ignore: decorator
@inline
function sum(a: v128, b: v128, c: v128): v128 { return f32x4.add(f32x4.add(a, b), c); }
/**
 * The rounding error of an entry of G, relative to the largest one: two rotations and the map's own rounding, some 60 ·
 * 2⁻²⁴.
 */
const ENTRY_ROUNDING: f32 = 4e-6;
/**
 * The rounding error of B's centres in frame A, relative to their distances from its origin: twelve products and sums,
 * less than 2⁻²⁰. The padding of the boxes covers it if the map is nearly a similarity. If it stretches one axis 1,000
 * times as much as another, too little of the padding remains along the others. Adding the error takes 2 % of the time
 * in which all pairs of triangles of two dragons are found.
 */
const POSITION_ROUNDING: f32 = 9.5367431640625e-7;

/** The bits of the pairs of the first child of b with each child of a: 0, 4, 8 and 12. */
export const COLUMN: u32 = 0x1111;

/** Spreads the first four bits to every fourth bit. */
// @ts-ignore: decorator
@inline
export function spreadToRows(bits: u32): u32 {
  return (bits | (bits << 3) | (bits << 6) | (bits << 9)) & COLUMN;
}

/** Loads a number of one box into all lanes. */
// @ts-ignore: decorator
@inline
function box(address: usize): v128 { return v128.load32_splat(address); }
/** Returns a mask of the lanes in which an axis certainly separates. */
// @ts-ignore: decorator
@inline
function isSeparated(distance: v128, radius: v128): v128 { return f32x4.gt(f32x4.abs(distance), radius); }
// @ts-ignore: decorator
@inline
function anyOf(a: v128, b: v128, c: v128): v128 { return v128.or(v128.or(a, b), c); }

/**
 * Returns which boxes of `a` may overlap which of `b`, among those in the masks: bit 4 i + j for child i of a and j of
 * b. Without edges only the face normals are tested, which leaves some separated pairs.
 */
export function obbOverlap4x4(
  m: Relation, a: Node, b: Node, maskA: u32, maskB: u32, withEdges: bool = true,
): u32 {
  // G maps frame B to frame A: G = rotation of a · m · rotation of bᵀ.
  let px = m.x, py = m.y, pz = m.z;
  if (isRotated(a)) {
    rotationAt(rotation, changetype<usize>(a) + offsetof<Node>('quaternion'));
    px = sum(times(entry(0), m.x), times(entry(4), m.y), times(entry(8), m.z));
    py = sum(times(entry(12), m.x), times(entry(16), m.y), times(entry(20), m.z));
    pz = sum(times(entry(24), m.x), times(entry(28), m.y), times(entry(32), m.z));
  }
  let g0 = px, g1 = py, g2 = pz;
  if (isRotated(b)) {
    rotationAt(rotation, changetype<usize>(b) + offsetof<Node>('quaternion'));
    const x = f32x4(rotation.xx, rotation.yx, rotation.zx, 0);
    const y = f32x4(rotation.xy, rotation.yy, rotation.zy, 0);
    const z = f32x4(rotation.xz, rotation.yz, rotation.zz, 0);
    g0 = sum(times(lane0(px), x), times(lane1(px), y), times(lane2(px), z));
    g1 = sum(times(lane0(py), x), times(lane1(py), y), times(lane2(py), z));
    g2 = sum(times(lane0(pz), x), times(lane1(pz), y), times(lane2(pz), z));
  }

  const halfA = m.halfA, halfB = m.halfB, unitA = plus(halfA, halfA);
  const minX = minBounds(b, 0), maxX = maxBounds(b, 0);
  const minY = minBounds(b, 1), maxY = maxBounds(b, 1);
  const minZ = minBounds(b, 2), maxZ = maxBounds(b, 2);
  const bx = times(plus(minX, maxX), halfB), ux = times(minus(maxX, minX), halfB);
  const by = times(plus(minY, maxY), halfB), uy = times(minus(maxY, minY), halfB);
  const bz = times(plus(minZ, maxZ), halfB), uz = times(minus(maxZ, minZ), halfB);
  for (let axis: usize = 0; axis < 3; axis++) {
    const boxMin = minBounds(a, axis), boxMax = maxBounds(a, axis), to = boxesA + (axis << 4);
    v128.store(to, times(boxMin, unitA));
    v128.store(to, times(boxMax, unitA), MAXES);
    v128.store(to, times(plus(boxMin, boxMax), halfA), CENTERS);
    v128.store(to, times(minus(boxMax, boxMin), halfA), HALVES);
  }

  const g00 = lane0(g0), g01 = lane1(g0), g02 = lane2(g0);
  const g10 = lane0(g1), g11 = lane1(g1), g12 = lane2(g1);
  const g20 = lane0(g2), g21 = lane1(g2), g22 = lane2(g2);
  // It is added to |G|, so that near-parallel edges cannot separate by rounding alone.
  const size0 = f32x4.abs(g0), size1 = f32x4.abs(g1), size2 = f32x4.abs(g2);
  const sizes = f32x4.pmax(f32x4.pmax(size0, size1), size2);
  const largest = f32x4.pmax(f32x4.pmax(lane0(sizes), lane1(sizes)), lane2(sizes));
  const slackG = times(largest, f32x4.splat(ENTRY_ROUNDING));
  const n00 = plus(f32x4.abs(g00), slackG), n01 = plus(f32x4.abs(g01), slackG), n02 = plus(f32x4.abs(g02), slackG);
  const n10 = plus(f32x4.abs(g10), slackG), n11 = plus(f32x4.abs(g11), slackG), n12 = plus(f32x4.abs(g12), slackG);
  const n20 = plus(f32x4.abs(g20), slackG), n21 = plus(f32x4.abs(g21), slackG), n22 = plus(f32x4.abs(g22), slackG);

  // Face normals of A. B's centres in frame A, and B's radii along its axes.
  const ex = plus(sum(times(g00, bx), times(g01, by), times(g02, bz)), lane3(px));
  const ey = plus(sum(times(g10, bx), times(g11, by), times(g12, bz)), lane3(py));
  const ez = plus(sum(times(g20, bx), times(g21, by), times(g22, bz)), lane3(pz));
  const farthest = f32x4.pmax(f32x4.pmax(lane3(f32x4.abs(px)), lane3(f32x4.abs(py))), lane3(f32x4.abs(pz)));
  const maxLength = plus(times(largest, sum(f32x4.abs(bx), f32x4.abs(by), f32x4.abs(bz))), farthest);
  const positionError = times(maxLength, f32x4.splat(POSITION_ROUNDING));
  const rx = plus(sum(times(n00, ux), times(n01, uy), times(n02, uz)), positionError);
  const ry = plus(sum(times(n10, ux), times(n11, uy), times(n12, uz)), positionError);
  const rz = plus(sum(times(n20, ux), times(n21, uy), times(n22, uz)), positionError);
  const minEX = minus(ex, rx), minEY = minus(ey, ry), minEZ = minus(ez, rz);
  const maxEX = plus(ex, rx), maxEY = plus(ey, ry), maxEZ = plus(ez, rz);
  let bits = spreadToRows(maskA & childMask(a)) * (maskB & childMask(b));
  // Always all four children of A, without an unpredictable branch on which of them are in the mask.
  for (let row = 0; row < 16; row += 4) {
    const at = boxesA + row;
    const below = anyOf(
      f32x4.gt(minEX, box(at + MAXES)), f32x4.gt(minEY, box(at + MAXES + 16)), f32x4.gt(minEZ, box(at + MAXES + 32)),
    );
    const above = anyOf(f32x4.lt(maxEX, box(at)), f32x4.lt(maxEY, box(at + 16)), f32x4.lt(maxEZ, box(at + 32)));
    bits &= ~(<u32>i32x4.bitmask(v128.or(below, above)) << row);
  }
  if (bits == 0) return 0;

  // Face normals of B, which are the columns of the cofactors C of G.
  const k0 = cross(yzx(g1), zxy(g1), yzx(g2), zxy(g2));
  const k1 = cross(yzx(g2), zxy(g2), yzx(g0), zxy(g0));
  const k2 = cross(yzx(g0), zxy(g0), yzx(g1), zxy(g1));
  const c00 = lane0(k0), c01 = lane1(k0), c02 = lane2(k0);
  const c10 = lane0(k1), c11 = lane1(k1), c12 = lane2(k1);
  const c20 = lane0(k2), c21 = lane1(k2), c22 = lane2(k2);
  const slackC = times(largest, slackG);
  const m00 = plus(f32x4.abs(c00), slackC), m01 = plus(f32x4.abs(c01), slackC), m02 = plus(f32x4.abs(c02), slackC);
  const m10 = plus(f32x4.abs(c10), slackC), m11 = plus(f32x4.abs(c11), slackC), m12 = plus(f32x4.abs(c12), slackC);
  const m20 = plus(f32x4.abs(c20), slackC), m21 = plus(f32x4.abs(c21), slackC), m22 = plus(f32x4.abs(c22), slackC);
  const volume = plus(f32x4.abs(sum(times(g00, c00), times(g01, c01), times(g02, c02))), times(largest, slackC));
  // The effect of the rounding error of a cofactor, or of an edge, on the distance of two overlapping boxes, and of that
  // distance's own rounding.
  const edgeError = plus(times(slackC, sum(ux, uy, uz)), times(times(largest, f32x4.splat(3)), positionError));
  const faceError = times(largest, edgeError);
  const hx = v128.load(boxesA, HALVES), hy = v128.load(boxesA, HALVES + 16), hz = v128.load(boxesA, HALVES + 32);
  v128.store(boxesA + FACES, sum(times(m00, hx), times(m10, hy), times(m20, hz)));
  v128.store(boxesA + FACES, sum(times(m01, hx), times(m11, hy), times(m21, hz)), 16);
  v128.store(boxesA + FACES, sum(times(m02, hx), times(m12, hy), times(m22, hz)), 32);
  const fx = plus(times(volume, ux), faceError), fy = plus(times(volume, uy), faceError), fz = plus(times(volume, uz), faceError);
  let remaining = bits;
  while (remaining != 0) {
    const row = ctz(remaining) & 12, at = boxesA + row;
    remaining &= ~(15 << row);
    const dx = minus(ex, box(at + CENTERS)), dy = minus(ey, box(at + CENTERS + 16)), dz = minus(ez, box(at + CENTERS + 32));
    const apart = anyOf(
      isSeparated(sum(times(c00, dx), times(c10, dy), times(c20, dz)), plus(fx, box(at + FACES))),
      isSeparated(sum(times(c01, dx), times(c11, dy), times(c21, dz)), plus(fy, box(at + FACES + 16))),
      isSeparated(sum(times(c02, dx), times(c12, dy), times(c22, dz)), plus(fz, box(at + FACES + 32))),
    );
    bits &= ~(<u32>i32x4.bitmask(apart) << row);
  }
  if (bits == 0) return 0;

  if (!withEdges) return bits;

  // Edge i of A with edge j of B: eᵢ × Gⱼ; the radii of B are computed from cofactors.
  v128.store(boxesA + EDGES, plus(times(n20, hy), times(n10, hz)));
  v128.store(boxesA + EDGES, plus(times(n21, hy), times(n11, hz)), 16);
  v128.store(boxesA + EDGES, plus(times(n22, hy), times(n12, hz)), 32);
  v128.store(boxesA + EDGES, plus(times(n20, hx), times(n00, hz)), 48);
  v128.store(boxesA + EDGES, plus(times(n21, hx), times(n01, hz)), 64);
  v128.store(boxesA + EDGES, plus(times(n22, hx), times(n02, hz)), 80);
  v128.store(boxesA + EDGES, plus(times(n10, hx), times(n00, hy)), 96);
  v128.store(boxesA + EDGES, plus(times(n11, hx), times(n01, hy)), 112);
  v128.store(boxesA + EDGES, plus(times(n12, hx), times(n02, hy)), 128);
  const r00 = sum(times(m02, uy), times(m01, uz), edgeError);
  const r01 = sum(times(m02, ux), times(m00, uz), edgeError);
  const r02 = sum(times(m01, ux), times(m00, uy), edgeError);
  const r10 = sum(times(m12, uy), times(m11, uz), edgeError);
  const r11 = sum(times(m12, ux), times(m10, uz), edgeError);
  const r12 = sum(times(m11, ux), times(m10, uy), edgeError);
  const r20 = sum(times(m22, uy), times(m21, uz), edgeError);
  const r21 = sum(times(m22, ux), times(m20, uz), edgeError);
  const r22 = sum(times(m21, ux), times(m20, uy), edgeError);
  remaining = bits;
  while (remaining != 0) {
    const row = ctz(remaining) & 12, at = boxesA + row;
    remaining &= ~(15 << row);
    const dx = minus(ex, box(at + CENTERS)), dy = minus(ey, box(at + CENTERS + 16)), dz = minus(ez, box(at + CENTERS + 32));
    const apart = anyOf(
      anyOf(
        isSeparated(minus(times(g10, dz), times(g20, dy)), plus(r00, box(at + EDGES))),
        isSeparated(minus(times(g11, dz), times(g21, dy)), plus(r01, box(at + EDGES + 16))),
        isSeparated(minus(times(g12, dz), times(g22, dy)), plus(r02, box(at + EDGES + 32))),
      ),
      anyOf(
        isSeparated(minus(times(g20, dx), times(g00, dz)), plus(r10, box(at + EDGES + 48))),
        isSeparated(minus(times(g21, dx), times(g01, dz)), plus(r11, box(at + EDGES + 64))),
        isSeparated(minus(times(g22, dx), times(g02, dz)), plus(r12, box(at + EDGES + 80))),
      ),
      anyOf(
        isSeparated(minus(times(g00, dy), times(g10, dx)), plus(r20, box(at + EDGES + 96))),
        isSeparated(minus(times(g01, dy), times(g11, dx)), plus(r21, box(at + EDGES + 112))),
        isSeparated(minus(times(g02, dy), times(g12, dx)), plus(r22, box(at + EDGES + 128))),
      ),
    );
    bits &= ~(<u32>i32x4.bitmask(apart) << row);
  }
  return bits;
}

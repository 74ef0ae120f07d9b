// Where a line enters and leaves a convex solid, in the solid's own space. t is in units of the direction's length,
// whatever that is; the normals point outwards.

export let entryT: f64 = 0;
export let entryX: f64 = 0, entryY: f64 = 0, entryZ: f64 = 0;
export let exitT: f64 = 0;
export let exitX: f64 = 0, exitY: f64 = 0, exitZ: f64 = 0;

/**
 * Finds where the line enters and leaves the cube [-1, 1]³, by its slabs (Kay and Kajiya, "Ray Tracing Complex Scenes",
 * 1986). Returns false if it misses the cube. It is branch-free, because it is unpredictable which slab decides.
 */
export function intersectCube(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64): bool {
  const xy = f64x2(x, y), zz = f64x2.splat(z), alongXy = f64x2(dx, dy), alongZ = f64x2.splat(dz);
  const nearXy = slabEntries(xy, alongXy), farXy = f64x2.neg(slabEntries(f64x2.neg(xy), alongXy));
  const near = maxLane(f64x2.pmax(nearXy, slabEntries(zz, alongZ)));
  const far = f64x2.neg(maxLane(f64x2.pmax(f64x2.neg(farXy), slabEntries(f64x2.neg(zz), alongZ))));
  entryT = f64x2.extract_lane(near, 0);
  exitT = f64x2.extract_lane(far, 0);
  entryAxis = ctz(i64x2.bitmask(f64x2.eq(nearXy, near)) | 4);
  exitAxis = ctz(i64x2.bitmask(f64x2.eq(farXy, far)) | 4);
  return !(entryT > exitT);
}

/**
 * Returns the t from which on a line from o along d is between -1 and 1, a lane for each of two axes; the line leaves at
 * minus the result for -o. A line parallel to the slab is always inside, or never.
 */
function slabEntries(o: v128, d: v128): v128 {
  const one = f64x2.splat(1);
  const t = f64x2.pmin(f64x2.div(f64x2.sub(f64x2.neg(one), o), d), f64x2.div(f64x2.sub(one, o), d));
  const parallelEntry = v128.bitselect(f64x2.splat(-Infinity), f64x2.splat(Infinity), f64x2.le(f64x2.abs(o), one));
  return v128.bitselect(parallelEntry, t, f64x2.eq(d, f64x2.splat(0)));
}

/** Returns the greater of two lanes in both. */
// @ts-ignore: decorator
@inline
function maxLane(v: v128): v128 {
  return f64x2.pmax(v, v128.shuffle<f64>(v, v, 1, 0));
}

// The axes of the faces: 0 x, 1 y, 2 z; the first of several that are hit at once.
let entryAxis: u32 = 0, exitAxis: u32 = 0;

/**
 * Finds the normals where the line of the last `intersectCube` enters and leaves, which most callers do not need. The direction
 * must be the same.
 */
export function findCubeNormals(dx: f64, dy: f64, dz: f64): void {
  entryX = -component(entryAxis == 0, dx);
  entryY = -component(entryAxis == 1, dy);
  entryZ = -component(entryAxis == 2, dz);
  exitX = component(exitAxis == 0, dx);
  exitY = component(exitAxis == 1, dy);
  exitZ = component(exitAxis == 2, dz);
}

/** Returns a component of a normal along an axis; with integer arithmetic, because the axis is unpredictable. */
// @ts-ignore: decorator
@inline
function component(isAlong: bool, d: f64): i32 {
  return <i32>isAlong * ((<i32>(d > 0) << 1) - 1);
}

/**
 * Finds where the line enters and leaves the set of points no farther than 1 from the segment from -half to half on the z
 * axis: a capsule, or the unit sphere if half is 0. A line's part in the capsule is the union of its parts in the two balls
 * and in the cylinder between them, so no comparison has to decide on which of them a point lies. Returns false if the line
 * misses the capsule.
 */
export function intersectCapsule(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, half: f64): bool {
  // Directions whose squared length would overflow or underflow are scaled to about 1 first.
  const lengthSquared = dx * dx + dy * dy + dz * dz;
  const largest = lengthSquared > 1e-200 && lengthSquared < 1e200 ? 1.0 : max(max(abs(dx), abs(dy)), abs(dz));
  const ux = dx / largest, uy = dy / largest, uz = dz / largest;
  entryT = Infinity;
  exitT = -Infinity;
  if (intersectBall(x, y, z - half, ux, uy, uz)) extendInterval(near, far);
  if (half > 0) {
    if (intersectBall(x, y, z + half, ux, uy, uz)) extendInterval(near, far);
    // The cylinder is a disc in x and y, bounded at the balls' centres.
    if (intersectBall(x, y, 0, ux, uy, 0)) {
      if (uz != 0) {
        const t0 = (-half - z) / uz, t1 = (half - z) / uz;
        extendInterval(max(near, min(t0, t1)), min(far, max(t0, t1)));
      } else if (abs(z) <= half) extendInterval(near, far);
    }
  }
  entryT /= largest;
  exitT /= largest;
  return entryT <= exitT;
}

/** Extends the known inner part of the line by another part, if that is not empty. */
function extendInterval(from: f64, to: f64): void {
  if (!(from <= to)) return;
  if (from < entryT) {
    entryT = from;
    entryX = midpointX - halfChordX;
    entryY = midpointY - halfChordY;
    entryZ = midpointZ - halfChordZ;
  }
  if (to > exitT) {
    exitT = to;
    exitX = midpointX + halfChordX;
    exitY = midpointY + halfChordY;
    exitZ = midpointZ + halfChordZ;
  }
}

// The part of the line in a ball: its ends, its midpoint, and half of its chord.
let near: f64 = 0, far: f64 = 0;
let midpointX: f64 = 0, midpointY: f64 = 0, midpointZ: f64 = 0;
let halfChordX: f64 = 0, halfChordY: f64 = 0, halfChordZ: f64 = 0;

/**
 * Finds where the line enters and leaves the unit ball about the origin; with z and dz 0, the unit disc, which contains a
 * line without direction entirely or not at all. The chord is computed from the line's point closest to the centre, and the
 * end that would be a difference of two similar numbers from the product of both (Haines, Günther and Akenine-Möller,
 * "Precision Improvements for Ray/Sphere Intersection", Ray Tracing Gems, 2019; Press et al., Numerical Recipes, 5.6): far
 * from a ball and close to its surface, the ends are as accurate as the inputs.
 */
function intersectBall(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64): bool {
  const product = x * x + y * y + z * z - 1;
  if (!(product < Infinity)) return false; // 10^154 radii away
  const lengthSquared = dx * dx + dy * dy + dz * dz;
  if (lengthSquared == 0) {
    near = -Infinity;
    far = Infinity;
    midpointX = x; midpointY = y; midpointZ = z;
    halfChordX = halfChordY = halfChordZ = 0;
    return product <= 0;
  }
  const along = -(x * dx + y * dy + z * dz);
  const t = along / lengthSquared;
  midpointX = x + t * dx;
  midpointY = y + t * dy;
  midpointZ = z + t * dz;
  const halfChordSquared = 1 - (midpointX * midpointX + midpointY * midpointY + midpointZ * midpointZ);
  if (!(halfChordSquared >= 0)) return false;
  const root = sqrt(lengthSquared * halfChordSquared);
  const q = along < 0 ? along - root : along + root;
  const firstRoot = q / lengthSquared;
  const secondRoot = q == 0 ? 0 : product / q; // both are 0 if the line touches the ball at its start
  near = min(firstRoot, secondRoot);
  far = max(firstRoot, secondRoot);
  const half = root / lengthSquared;
  halfChordX = half * dx;
  halfChordY = half * dy;
  halfChordZ = half * dz;
  return true;
}

// Where a line enters and leaves a convex solid, in the solid's own space. t is in units of the direction's length,
// whatever that is; the normals point outwards.

export let enterT: f64 = 0;
export let enterX: f64 = 0, enterY: f64 = 0, enterZ: f64 = 0;
export let leaveT: f64 = 0;
export let leaveX: f64 = 0, leaveY: f64 = 0, leaveZ: f64 = 0;

/**
 * Finds where the line enters and leaves the cube [-1, 1]³, by its slabs (Kay and Kajiya, "Ray Tracing Complex Scenes",
 * 1986). Returns false if it misses the cube. It is branch-free, because it is unpredictable which slab decides.
 */
export function crossCube(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64): bool {
  const xy = f64x2(x, y), zz = f64x2.splat(z), alongXy = f64x2(dx, dy), alongZ = f64x2.splat(dz);
  const nearXy = entries(xy, alongXy), farXy = f64x2.neg(entries(f64x2.neg(xy), alongXy));
  const near = greatest(f64x2.pmax(nearXy, entries(zz, alongZ)));
  const far = f64x2.neg(greatest(f64x2.pmax(f64x2.neg(farXy), entries(f64x2.neg(zz), alongZ))));
  enterT = f64x2.extract_lane(near, 0);
  leaveT = f64x2.extract_lane(far, 0);
  enterAxis = ctz(i64x2.bitmask(f64x2.eq(nearXy, near)) | 4);
  leaveAxis = ctz(i64x2.bitmask(f64x2.eq(farXy, far)) | 4);
  return !(enterT > leaveT);
}

/**
 * Returns the t from which on a line from o along d is between -1 and 1, a lane for each of two axes; the line leaves at
 * minus the result for -o. A line parallel to the slab is always inside, or never.
 */
function entries(o: v128, d: v128): v128 {
  const one = f64x2.splat(1);
  const t = f64x2.pmin(f64x2.div(f64x2.sub(f64x2.neg(one), o), d), f64x2.div(f64x2.sub(one, o), d));
  const along = v128.bitselect(f64x2.splat(-Infinity), f64x2.splat(Infinity), f64x2.le(f64x2.abs(o), one));
  return v128.bitselect(along, t, f64x2.eq(d, f64x2.splat(0)));
}

/** Returns the greater of two lanes in both. */
// @ts-ignore: decorator
@inline
function greatest(v: v128): v128 {
  return f64x2.pmax(v, v128.shuffle<f64>(v, v, 1, 0));
}

// The axes of the faces: 0 x, 1 y, 2 z; the first of several that are hit at once.
let enterAxis: u32 = 0, leaveAxis: u32 = 0;

/**
 * Finds the normals where the line of the last `crossCube` enters and leaves, which most callers do not need. The direction
 * must be the same.
 */
export function findCubeNormals(dx: f64, dy: f64, dz: f64): void {
  enterX = -component(enterAxis == 0, dx);
  enterY = -component(enterAxis == 1, dy);
  enterZ = -component(enterAxis == 2, dz);
  leaveX = component(leaveAxis == 0, dx);
  leaveY = component(leaveAxis == 1, dy);
  leaveZ = component(leaveAxis == 2, dz);
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
export function crossCapsule(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64, half: f64): bool {
  // Directions whose squared length would overflow or underflow are scaled to about 1 first.
  const square = dx * dx + dy * dy + dz * dz;
  const largest = square > 1e-200 && square < 1e200 ? 1.0 : max(max(abs(dx), abs(dy)), abs(dz));
  const ux = dx / largest, uy = dy / largest, uz = dz / largest;
  enterT = Infinity;
  leaveT = -Infinity;
  if (crossBall(x, y, z - half, ux, uy, uz)) join(near, far);
  if (half > 0) {
    if (crossBall(x, y, z + half, ux, uy, uz)) join(near, far);
    // The cylinder is a disc in x and y, bounded at the balls' centres.
    if (crossBall(x, y, 0, ux, uy, 0)) {
      if (uz != 0) {
        const t0 = (-half - z) / uz, t1 = (half - z) / uz;
        join(max(near, min(t0, t1)), min(far, max(t0, t1)));
      } else if (abs(z) <= half) join(near, far);
    }
  }
  enterT /= largest;
  leaveT /= largest;
  return enterT <= leaveT;
}

/** Extends the known inner part of the line by another part, if that is not empty. */
function join(from: f64, to: f64): void {
  if (!(from <= to)) return;
  if (from < enterT) {
    enterT = from;
    enterX = middleX - chordX;
    enterY = middleY - chordY;
    enterZ = middleZ - chordZ;
  }
  if (to > leaveT) {
    leaveT = to;
    leaveX = middleX + chordX;
    leaveY = middleY + chordY;
    leaveZ = middleZ + chordZ;
  }
}

// The part of the line in a ball: its ends, its midpoint, and half of its chord.
let near: f64 = 0, far: f64 = 0;
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
let chordX: f64 = 0, chordY: f64 = 0, chordZ: f64 = 0;

/**
 * Finds where the line enters and leaves the unit ball about the origin; with z and dz 0, the unit disc, which contains a
 * line without direction entirely or not at all. The chord is computed from the line's point closest to the centre, and the
 * end that would be a difference of two similar numbers from the product of both (Haines, Günther and Akenine-Möller,
 * "Precision Improvements for Ray/Sphere Intersection", Ray Tracing Gems, 2019; Press et al., Numerical Recipes, 5.6): far
 * from a ball and close to its surface, the ends are as accurate as the inputs.
 */
function crossBall(x: f64, y: f64, z: f64, dx: f64, dy: f64, dz: f64): bool {
  const product = x * x + y * y + z * z - 1;
  if (!(product < Infinity)) return false; // 10^154 radii away
  const square = dx * dx + dy * dy + dz * dz;
  if (square == 0) {
    near = -Infinity;
    far = Infinity;
    middleX = x; middleY = y; middleZ = z;
    chordX = chordY = chordZ = 0;
    return product <= 0;
  }
  const along = -(x * dx + y * dy + z * dz);
  const t = along / square;
  middleX = x + t * dx;
  middleY = y + t * dy;
  middleZ = z + t * dz;
  const rest = 1 - (middleX * middleX + middleY * middleY + middleZ * middleZ);
  if (!(rest >= 0)) return false;
  const root = sqrt(square * rest);
  const q = along < 0 ? along - root : along + root;
  const one = q / square;
  const other = q == 0 ? 0 : product / q; // both are 0 if the line touches the ball at its start
  near = min(one, other);
  far = max(one, other);
  const half = root / square;
  chordX = half * dx;
  chordY = half * dy;
  chordZ = half * dz;
  return true;
}

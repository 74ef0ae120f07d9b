// The part of a ray that is in a box, in float64, and helpers to continue in float32.

/** Minimum magnitude of a unit direction's component, so that no reciprocal is infinite. */
const TINY: f32 = 8.673617379884035e-19; // 2^-60

/**
 * Returns the part of a ray from one t to another as a vector: its beginning, and its negated end, so that a single maximum
 * narrows both. (min and max of scalars branch; those of vectors do not.)
 */
// @ts-ignore: decorator
@inline
export function interval(from: f64, to: f64): v128 {
  return f64x2(from, -to);
}

/** Clips the part to where the ray is between two planes of one axis. */
export function clip(part: v128, origin: f64, direction: f64, lower: f64, upper: f64): v128 {
  return clipInlined(part, origin, direction, lower, upper);
}

/** The same, inlined for hot loops. */
// @ts-ignore: decorator
@inline
export function clipInlined(part: v128, origin: f64, direction: f64, lower: f64, upper: f64): v128 {
  if (direction == 0) return origin < lower || origin > upper ? f64x2.splat(Infinity) : part;
  const t = f64x2.div(f64x2.sub(f64x2(lower, upper), f64x2.splat(origin)), f64x2.splat(direction));
  const swapped = v128.shuffle<f64>(t, t, 1, 0);
  const near = f64x2.pmin(t, swapped), far = f64x2.pmax(t, swapped);
  return f64x2.pmax(part, v128.shuffle<f64>(near, f64x2.neg(far), 0, 2));
}

// @ts-ignore: decorator
@inline
export function intervalStart(part: v128): f64 {
  return f64x2.extract_lane(part, 0);
}

// @ts-ignore: decorator
@inline
export function intervalEnd(part: v128): f64 {
  return -f64x2.extract_lane(part, 1);
}

/** Factor and addend that increase a value so much that rounding it to float32 does not make it smaller. */
export const UPWARD_FACTOR: f64 = 1.0000005;
export const UPWARD_ADDEND: f64 = 1e-30;

/** Returns a float32 that is not smaller than the value. */
// @ts-ignore: decorator
@inline
export function roundUp(value: f64): f32 {
  return <f32>(value * UPWARD_FACTOR + UPWARD_ADDEND);
}

/** Returns the reciprocal of each component of a unit direction; a component below TINY counts as TINY. */
// @ts-ignore: decorator
@inline
export function reciprocals(v: v128): v128 {
  const tiny = f32x4.splat(TINY);
  return f32x4.div(f32x4.splat(1), v128.bitselect(v, tiny, f32x4.ge(f32x4.abs(v), tiny)));
}

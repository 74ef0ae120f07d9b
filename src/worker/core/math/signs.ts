// The signs of three values, without branches: the side of a plane on which a corner lies is unpredictable.

/** Returns which of three values are positive, a bit each. */
// @ts-ignore: decorator
@inline
export function positives(a: f64, b: f64, c: f64): u32 {
  return <u32>(a > 0) | (<u32>(b > 0) << 1) | (<u32>(c > 0) << 2);
}

/** Returns whether three values are all positive or all negative. */
// @ts-ignore: decorator
@inline
export function isOneSide(a: f64, b: f64, c: f64): bool {
  return positives(a, b, c) == 7 || positives(-a, -b, -c) == 7;
}

// Sums and products of two float64 with their exact rounding errors: TwoSum (Knuth, The Art of Computer Programming 2,
// 4.2.2) and TwoProduct by splitting (Dekker, "A Floating-Point Technique for Extending the Available Precision",
// 1971). Nothing may overflow, nor a product's error underflow: no factor is above 2⁹⁹⁰.

const SPLITTER: f64 = 134217729.0; // 2^27 + 1

/** The rounding error of the last operation. */
export let roundingError: f64 = 0;

// @ts-ignore: decorator
@inline
export function twoSum(a: f64, b: f64): f64 {
  const sum = a + b;
  const virtualB = sum - a;
  roundingError = a - (sum - virtualB) + (b - virtualB);
  return sum;
}

// @ts-ignore: decorator
@inline
export function twoProduct(a: f64, b: f64): f64 {
  const product = a * b;
  let c = SPLITTER * a;
  const aHigh = c - (c - a);
  const aLow = a - aHigh;
  c = SPLITTER * b;
  const bHigh = c - (c - b);
  const bLow = b - bHigh;
  roundingError = aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
  return product;
}

/**
 * Returns a coordinate of a ray's point at t relative to `center`: origin + t · direction - center. The direction is
 * given as two terms. The result is rounded as if it were computed with twice the digits, however far the origin is.
 */
export function coordinateAt(origin: f64, center: f64, t: f64, direction: f64, directionLow: f64): f64 {
  const product = twoProduct(t, direction);
  let errorSum = roundingError + t * directionLow;
  const from = twoSum(origin, -center);
  errorSum += roundingError;
  const sum = twoSum(from, product);
  return sum + (errorSum + roundingError);
}

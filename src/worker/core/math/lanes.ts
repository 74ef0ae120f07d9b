// Short names for arithmetic on four float32; broadcasts of one lane to all four; cross products of vectors with x,
// y, z in the first three lanes.

// @ts-ignore: decorator
@inline
export function plus(a: v128, b: v128): v128 { return f32x4.add(a, b); }
// @ts-ignore: decorator
@inline
export function minus(a: v128, b: v128): v128 { return f32x4.sub(a, b); }
// @ts-ignore: decorator
@inline
export function times(a: v128, b: v128): v128 { return f32x4.mul(a, b); }

// @ts-ignore: decorator
@inline
export function lane0(v: v128): v128 { return v128.shuffle<f32>(v, v, 0, 0, 0, 0); }
// @ts-ignore: decorator
@inline
export function lane1(v: v128): v128 { return v128.shuffle<f32>(v, v, 1, 1, 1, 1); }
// @ts-ignore: decorator
@inline
export function lane2(v: v128): v128 { return v128.shuffle<f32>(v, v, 2, 2, 2, 2); }
// @ts-ignore: decorator
@inline
export function lane3(v: v128): v128 { return v128.shuffle<f32>(v, v, 3, 3, 3, 3); }

// @ts-ignore: decorator
@inline
export function yzx(v: v128): v128 { return v128.shuffle<f32>(v, v, 1, 2, 0, 3); }
// @ts-ignore: decorator
@inline
export function zxy(v: v128): v128 { return v128.shuffle<f32>(v, v, 2, 0, 1, 3); }

/** Computes the cross product a × b of vectors given as yzx and zxy. */
// @ts-ignore: decorator
@inline
export function cross(aYzx: v128, aZxy: v128, bYzx: v128, bZxy: v128): v128 {
  return f32x4.sub(f32x4.mul(aYzx, bZxy), f32x4.mul(aZxy, bYzx));
}

/** Returns 2 / |q|² of a quaternion, in all lanes. */
// @ts-ignore: decorator
@inline
export function twiceOverNormSquared(q: v128): v128 {
  const squares = f32x4.mul(q, q), pairs = f32x4.add(squares, v128.shuffle<f32>(squares, squares, 1, 0, 3, 2));
  return f32x4.div(f32x4.splat(2), f32x4.add(pairs, v128.shuffle<f32>(pairs, pairs, 2, 3, 0, 1)));
}

/**
 * Rotates a vector by a quaternion that need not be unit, given as yzx, zxy, w in all lanes and `twiceOverNormSquared`:
 * v + 2 / |q|² · q × (q × v + w v), as its matrix does (quaternion.ts).
 */
// @ts-ignore: decorator
@inline
export function rotate(v: v128, qYzx: v128, qZxy: v128, w: v128, twice: v128): v128 {
  const a = f32x4.add(cross(qYzx, qZxy, yzx(v), zxy(v)), f32x4.mul(w, v));
  return f32x4.add(v, f32x4.mul(twice, cross(qYzx, qZxy, yzx(a), zxy(a))));
}

/** Copies whole vectors, because memory.copy is a call. */
// @ts-ignore: decorator
@inline
export function copyVectors(to: usize, from: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 16) v128.store(to + i, v128.load(from + i));
}

/** Transposes four vectors: writes lane k of the four as vector k. */
// @ts-ignore: decorator
@inline
export function transpose(to: usize, r0: v128, r1: v128, r2: v128, r3: v128): void {
  const low01 = v128.shuffle<f32>(r0, r1, 0, 4, 1, 5), low23 = v128.shuffle<f32>(r2, r3, 0, 4, 1, 5);
  const high01 = v128.shuffle<f32>(r0, r1, 2, 6, 3, 7), high23 = v128.shuffle<f32>(r2, r3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f64>(low01, low23, 0, 2));
  v128.store(to, v128.shuffle<f64>(low01, low23, 1, 3), 16);
  v128.store(to, v128.shuffle<f64>(high01, high23, 0, 2), 32);
  v128.store(to, v128.shuffle<f64>(high01, high23, 1, 3), 48);
}

/** Returns the index of the greatest f32 at `keys` among those whose bit is set: the first of equals. */
// @ts-ignore: decorator
@inline
export function indexOfMax(keys: usize, bits: u32): u32 {
  let index = ctz(bits);
  for (let remaining = bits & (bits - 1); remaining != 0; remaining &= remaining - 1) {
    if (load<f32>(keys + (<usize>ctz(remaining) << 2)) > load<f32>(keys + (<usize>index << 2))) index = ctz(remaining);
  }
  return index;
}

/** Returns the index of the least one. */
// @ts-ignore: decorator
@inline
export function indexOfMin(keys: usize, bits: u32): u32 {
  let index = ctz(bits);
  for (let remaining = bits & (bits - 1); remaining != 0; remaining &= remaining - 1) {
    if (load<f32>(keys + (<usize>ctz(remaining) << 2)) < load<f32>(keys + (<usize>index << 2))) index = ctz(remaining);
  }
  return index;
}

// @ts-ignore: decorator
@inline
export function minLane(v: v128): f32 {
  const pairs = f32x4.pmin(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return min(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

// @ts-ignore: decorator
@inline
export function maxLane(v: v128): f32 {
  const pairs = f32x4.pmax(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return max(f32x4.extract_lane(pairs, 0), f32x4.extract_lane(pairs, 1));
}

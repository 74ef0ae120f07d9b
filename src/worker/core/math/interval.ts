// The part of a ray that lies in a box, in float64, and what float32 needs to go on from there.

/** The part that `clip` has left. */
export let enter: f64 = 0;
export let leave: f64 = 0;

/** Smallest component that a unit direction is given, so that no reciprocal is infinite. */
export const TINY: f32 = 8.673617379884035e-19; // 2^-60

// @ts-ignore: decorator
@inline
export function startInterval(from: f64, to: f64): void {
  enter = from;
  leave = to;
}

/** Narrows it to where the ray is between two planes of one axis. */
// @ts-ignore: decorator
@inline
export function clip(origin: f64, direction: f64, low: f64, high: f64): void {
  if (direction == 0) {
    if (origin < low || origin > high) leave = -Infinity;
    return;
  }
  const t0 = (low - origin) / direction;
  const t1 = (high - origin) / direction;
  enter = max(enter, min(t0, t1));
  leave = min(leave, max(t0, t1));
}

/** A float32 that is no smaller. */
// @ts-ignore: decorator
@inline
export function upward(value: f64): f32 {
  return <f32>(value * 1.0000005 + 1e-30);
}

/** 1 / a component of a unit direction. */
// @ts-ignore: decorator
@inline
export function reciprocal(component: f32): f32 {
  return <f32>1.0 / (abs(component) < TINY ? TINY : component);
}

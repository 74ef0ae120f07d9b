// Up to four of many points, chosen for the area that they span across a direction.

import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { reserve } from '../memory';

let points: usize = 0; // f64: x, y, z, and the places across the direction
let count: u32 = 0;
const POINT_BYTES: usize = 40;

/** The four, and how many of them there are. */
export const chosen: usize = memory.data(4 * 24, 16);
export let chosenCount: u32 = 0;

export function clearSpread(): void {
  count = 0;
}

/** Throws OUT_OF_MEMORY. */
export function addSpread(x: f64, y: f64, z: f64): void {
  const used = <usize>count * POINT_BYTES;
  points = reserve(points, used, <u64>used + POINT_BYTES);
  store<f64>(points + used, x);
  store<f64>(points + used, y, 8);
  store<f64>(points + used, z, 16);
  count++;
}

/** Chooses: one that is far from the middle, the farthest from it, then the farthest to each side of both. */
export function chooseSpread(nx: f64, ny: f64, nz: f64): void {
  chosenCount = 0;
  if (count == 0) return;
  setBasis(nx, ny, nz);
  let middleU: f64 = 0, middleV: f64 = 0;
  for (let at = points, end = points + <usize>count * POINT_BYTES; at < end; at += POINT_BYTES) {
    const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
    const u = firstX * x + firstY * y + firstZ * z, v = secondX * x + secondY * y + secondZ * z;
    store<f64>(at, u, 24);
    store<f64>(at, v, 32);
    middleU += u;
    middleV += v;
  }
  const first = farthestFrom(middleU / <f64>count, middleV / <f64>count);
  choose(first);
  const u = load<f64>(first, 24), v = load<f64>(first, 32);
  const second = farthestFrom(u, v);
  const du = load<f64>(second, 24) - u, dv = load<f64>(second, 32) - v;
  const square = du * du + dv * dv;
  if (square == 0) return;
  choose(second);
  // Of what is in line with the two there is no area.
  let left = 1e-9 * square, right = -left;
  let third: usize = 0, fourth: usize = 0;
  for (let at = points, end = points + <usize>count * POINT_BYTES; at < end; at += POINT_BYTES) {
    const area = du * (load<f64>(at, 32) - v) - dv * (load<f64>(at, 24) - u);
    if (area > left) {
      left = area;
      third = at;
    } else if (area < right) {
      right = area;
      fourth = at;
    }
  }
  if (third != 0) choose(third);
  if (fourth != 0) choose(fourth);
}

function farthestFrom(u: f64, v: f64): usize {
  let best = points, square: f64 = -1;
  for (let at = points, end = points + <usize>count * POINT_BYTES; at < end; at += POINT_BYTES) {
    const du = load<f64>(at, 24) - u, dv = load<f64>(at, 32) - v;
    if (du * du + dv * dv > square) {
      square = du * du + dv * dv;
      best = at;
    }
  }
  return best;
}

function choose(at: usize): void {
  memory.copy(chosen + <usize>(chosenCount++) * 24, at, 24);
}

// Up to four of many places of a plane that span a large area: those that reach farthest in one of 16 directions, then
// the two of them that are farthest apart, and on each side of these the one that is farthest off.

/** In the plane, and in space. */
@unmanaged
class Place {
  reach: f64;
  u: f64; v: f64;
  x: f64; y: f64; z: f64;
}

const PLACE_BYTES: usize = 48;
const DIRECTIONS: usize = 16;
const places: usize = memory.data(48 * 16, 16);
const cosines = memory.data<f64>([
  1, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898, 0, -0.3826834323650898, -0.7071067811865476,
  -0.9238795325112867,
]);

const chosen: usize = memory.data(4 * 4, 16);
export let widestCount: u32 = 0;

// @ts-ignore: decorator
@inline
function placeAt(i: usize): Place {
  return changetype<Place>(places + i * PLACE_BYTES);
}

// @ts-ignore: decorator
@inline
function chosenAt(i: usize): Place {
  return placeAt(load<u32>(chosen + (i << 2)));
}

export function widestX(i: u32): f64 { return chosenAt(i).x; }
export function widestY(i: u32): f64 { return chosenAt(i).y; }
export function widestZ(i: u32): f64 { return chosenAt(i).z; }

export function beginWidest(): void {
  for (let i: usize = 0; i < DIRECTIONS; i++) placeAt(i).reach = -Infinity;
}

export function isWidestEmpty(): bool {
  return placeAt(0).reach == -Infinity;
}

export function offerPlace(u: f64, v: f64, x: f64, y: f64, z: f64): void {
  for (let i: usize = 0; i < 8; i++) {
    const along = u * load<f64>(cosines + (i << 3)) + v * load<f64>(cosines + (((i + 4) & 7) << 3)) * (i < 4 ? -1 : 1);
    if (along > placeAt(i).reach) setPlace(i, along, u, v, x, y, z);
    if (-along > placeAt(i + 8).reach) setPlace(i + 8, -along, u, v, x, y, z);
  }
}

function setPlace(i: usize, reach: f64, u: f64, v: f64, x: f64, y: f64, z: f64): void {
  const place = placeAt(i);
  place.reach = reach;
  place.u = u;
  place.v = v;
  place.x = x;
  place.y = y;
  place.z = z;
}

/** Chooses among what was offered, which is something; places no farther apart than `same` are one. */
export function chooseWidest(same: f64): void {
  let first: usize = 0, second: usize = 0, most: f64 = same * same;
  for (let i: usize = 1; i < DIRECTIONS; i++) {
    for (let j: usize = 0; j < i; j++) {
      const u = placeAt(i).u - placeAt(j).u, v = placeAt(i).v - placeAt(j).v;
      const square = u * u + v * v;
      if (!(square > most)) continue;
      most = square;
      first = j;
      second = i;
    }
  }
  store<u32>(chosen, <u32>first);
  widestCount = 1;
  if (first == second) return;
  // On each side of the line through both.
  const p = placeAt(first), q = placeAt(second);
  const eu = q.u - p.u, ev = q.v - p.v;
  let left: usize = first, right: usize = first, high: f64 = same * sqrt(most), low: f64 = -high;
  for (let i: usize = 0; i < DIRECTIONS; i++) {
    const off = eu * (placeAt(i).v - p.v) - ev * (placeAt(i).u - p.u);
    if (off > high) {
      high = off;
      left = i;
    }
    if (off < low) {
      low = off;
      right = i;
    }
  }
  if (left != first) choose(left);
  choose(second);
  if (right != first) choose(right);
}

function choose(i: usize): void {
  store<u32>(chosen + (<usize>widestCount << 2), <u32>i);
  widestCount++;
}

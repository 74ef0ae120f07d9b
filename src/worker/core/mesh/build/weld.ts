// Welds points that are nearer to each other than a distance: a cluster is everything that chains of such points
// connect. By single linkage in a hash grid (Teschner, Heidelberger, Müller, Pomeranets and Gross, "Optimized Spatial
// Hashing for Collision Detection of Deformable Objects", 2003) and union-find.
//
// A cell is so small that all points in it are one cluster, and only pairs of cells are compared, one pair of points at
// a time, until the first pair that is near; points that are far from the bounds of the other cell's points are skipped.
// So coincident points cost no more than others, and the time is linear also if a cell has most of them. Distances are
// exact except for the rounding of float64. It works in steps.

import { mix } from '../../math/hash';
import { rootOf, unite } from '../../math/union-find';
import { allocate, release } from '../../memory';
import { emptyMax, emptyMin } from './binned-sah';

@unmanaged
export class Weld {
  /** The address of the points, f32 xyz each. */
  points: usize;
  count: u32;
  /**
   * For each point: a point of a lower number in the same cluster, or its own number; NOT_WELDED for points that are not
   * welded.
   */
  parent: usize;
  /** For each point: the next point in the same cell, NONE for the last. */
  next: usize;
  /** The first points of cells by the hash of the cell, NONE if empty. */
  cells: usize;
  cellMask: u32;
  cursor: u32;
  phase: u32;
  pad: u32;
  cellsPerUnit: f64;
  /** The squared distance. */
  distanceSquared: f64;
}

const NONE: u32 = 0xffffffff;
const NOT_WELDED: u32 = 0xffffffff;

const PHASE_GATHER = 0;
const PHASE_COMPARE = 1;
const PHASE_DONE = 2;

/** The edge of a cell, relative to the distance: slightly less than 1 / √3, so that its diagonal is shorter. */
const CELL_EDGE: f64 = 0.577;
/** Cells within the distance are at most two cells away along each axis, since 1 / CELL_EDGE < 2. */
const CELL_RANGE = 2;
/** The squared distance, in units of a cell's edge. */
const DISTANCE_SQUARED_IN_CELLS: f64 = 1.0 / (CELL_EDGE * CELL_EDGE);
/** No two float32 are nearer than 2^-149; a smaller distance would weld nothing, and make cells overflow. */
export const MIN_WELD_DISTANCE: f64 = 1.401298464324817e-45;

/** Allocates a weld of `count` points. Throws OUT_OF_MEMORY; `freeWeld` undoes it. */
export function reserveWeld(count: u32): Weld {
  const weld = changetype<Weld>(allocate(offsetof<Weld>()));
  memory.fill(changetype<usize>(weld), 0, offsetof<Weld>());
  weld.count = count;
  let size: u32 = 16;
  while (<u64>size * 3 < <u64>count * 4) size <<= 1; // at most three quarters full
  weld.cellMask = size - 1;
  return weld;
}

/**
 * Allocates the tables. This is separate from `reserveWeld` so that running out of memory can be undone. Throws
 * OUT_OF_MEMORY.
 */
export function reserveTables(weld: Weld): void {
  weld.parent = allocate(<u64>weld.count << 2);
  weld.next = allocate(<u64>weld.count << 2);
  weld.cells = allocate(<u64>(weld.cellMask + 1) << 2);
}

export function freeWeld(weld: Weld): void {
  if (changetype<usize>(weld) == 0) return;
  release(weld.parent);
  release(weld.next);
  release(weld.cells);
  release(changetype<usize>(weld));
}

/** Begins a weld in which every point takes part (`addsAllPoints`), or none until `addPoint`. */
export function beginWeld(weld: Weld, points: usize, distance: f64, addsAllPoints: bool): void {
  weld.points = points;
  weld.cellsPerUnit = 1.0 / (CELL_EDGE * distance);
  weld.distanceSquared = distance * distance;
  weld.cursor = 0;
  weld.phase = PHASE_GATHER;
  memory.fill(weld.cells, 0xff, (<usize>weld.cellMask + 1) << 2);
  if (addsAllPoints) for (let i: u32 = 0; i < weld.count; i++) addPoint(weld, i);
  else memory.fill(weld.parent, 0xff, <usize>weld.count << 2);
}

/** Makes a point take part. */
// @ts-ignore: decorator
@inline
export function addPoint(weld: Weld, i: u32): void {
  store<u32>(weld.parent + (<usize>i << 2), i);
}

/** A step takes as many points, or slots of the table: some 2 ms at most. */
const WORK_PER_STEP: u32 = 2048;
/** How many points were visited while cells were compared, since the step began; and after how many it ends with a cell. */
let visits: u32 = 0;
const VISITS_PER_STEP: u32 = 65536;

/** Does a step of the work. Returns whether all is done. */
export function stepWeld(weld: Weld): bool {
  visits = 0;
  if (weld.phase == PHASE_GATHER) {
    const end = min<u32>(weld.cursor + WORK_PER_STEP, weld.count);
    for (let i = weld.cursor; i < end; i++) {
      if (isAdded(weld, i)) gather(weld, i);
    }
    weld.cursor = end;
    if (end < weld.count) return false;
    weld.cursor = 0;
    weld.phase = PHASE_COMPARE;
    return false;
  }
  if (weld.phase == PHASE_COMPARE) {
    const end = min<u32>(weld.cursor + WORK_PER_STEP, weld.cellMask + 1);
    let slot = weld.cursor;
    for (; slot < end && visits < VISITS_PER_STEP; slot++) {
      const first = load<u32>(weld.cells + (<usize>slot << 2));
      if (first != NONE) compareNeighbours(weld, first);
    }
    weld.cursor = slot;
    if (slot <= weld.cellMask) return false;
    weld.phase = PHASE_DONE;
  }
  return true;
}

/** Returns whether a point takes part. */
// @ts-ignore: decorator
@inline
export function isAdded(weld: Weld, i: u32): bool {
  return load<u32>(weld.parent + (<usize>i << 2)) != NOT_WELDED;
}

/** Returns the lowest number in the point's cluster. */
export function clusterOf(weld: Weld, i: u32): u32 {
  return rootOf(weld.parent, i);
}

// @ts-ignore: decorator
@inline
function coordinateOf(weld: Weld, i: u32, axis: usize): f64 {
  return <f64>load<f32>(weld.points + <usize>i * 12 + (axis << 2));
}

/** Returns a coordinate of the point's cell. Zeros have no sign here, since cells are compared bitwise. */
// @ts-ignore: decorator
@inline
function cellOf(weld: Weld, i: u32, axis: usize): f64 {
  return floor(coordinateOf(weld, i, axis) * weld.cellsPerUnit) + 0.0;
}

/** Returns the slot of the cell's first point in the table, or the empty slot for it. */
function slotOf(weld: Weld, x: f64, y: f64, z: f64): u32 {
  const hash = mix(mix(mix(reinterpret<u64>(x)) + reinterpret<u64>(y)) + reinterpret<u64>(z));
  let slot = <u32>hash & weld.cellMask;
  while (true) {
    const first = load<u32>(weld.cells + (<usize>slot << 2));
    if (first == NONE) return slot;
    if (cellOf(weld, first, 0) == x && cellOf(weld, first, 1) == y && cellOf(weld, first, 2) == z) return slot;
    slot = (slot + 1) & weld.cellMask;
  }
}

/** Inserts a point into its cell, whose points are one cluster. */
function gather(weld: Weld, i: u32): void {
  const at = weld.cells + (<usize>slotOf(weld, cellOf(weld, i, 0), cellOf(weld, i, 1), cellOf(weld, i, 2)) << 2);
  const first = load<u32>(at);
  if (first == NONE) {
    store<u32>(at, i);
    store<u32>(weld.next + (<usize>i << 2), NONE);
    return;
  }
  unite(weld.parent, first, i);
  store<u32>(weld.next + (<usize>i << 2), load<u32>(weld.next + (<usize>first << 2)));
  store<u32>(weld.next + (<usize>first << 2), i);
}

/** Unites a cell with those of its neighbours that have a point near one of its own; each pair of cells once. */
function compareNeighbours(weld: Weld, first: u32): void {
  const x = cellOf(weld, first, 0), y = cellOf(weld, first, 1), z = cellOf(weld, first, 2);
  const isAlone = load<u32>(weld.next + (<usize>first << 2)) == NONE;
  for (let dz = 0; dz <= CELL_RANGE; dz++) {
    for (let dy = dz == 0 ? 0 : -CELL_RANGE; dy <= CELL_RANGE; dy++) {
      for (let dx = dz == 0 && dy == 0 ? 1 : -CELL_RANGE; dx <= CELL_RANGE; dx++) {
        if (isAlone && isBeyond(weld, first, x, y, z, dx, dy, dz)) continue;
        const slot = slotOf(weld, x + <f64>dx + 0.0, y + <f64>dy + 0.0, z + <f64>dz + 0.0);
        const other = load<u32>(weld.cells + (<usize>slot << 2));
        if (other == NONE || clusterOf(weld, first) == clusterOf(weld, other)) continue;
        if (areNear(weld, first, other)) unite(weld.parent, first, other);
      }
    }
  }
}

/** Returns whether all of a neighbouring cell is too far away from a point. */
// @ts-ignore: decorator
@inline
function isBeyond(weld: Weld, i: u32, x: f64, y: f64, z: f64, dx: i32, dy: i32, dz: i32): bool {
  const gx = gapTo(coordinateOf(weld, i, 0) * weld.cellsPerUnit - x, dx);
  const gy = gapTo(coordinateOf(weld, i, 1) * weld.cellsPerUnit - y, dy);
  const gz = gapTo(coordinateOf(weld, i, 2) * weld.cellsPerUnit - z, dz);
  return gx * gx + gy * gy + gz * gz > DISTANCE_SQUARED_IN_CELLS * 1.000001; // more than the rounding error
}

/** Returns how far a point in [0, 1) is from the interval [step, step + 1). */
// @ts-ignore: decorator
@inline
function gapTo(value: f64, step: i32): f64 {
  return step > 0 ? <f64>step - value : step < 0 ? value - <f64>(step + 1) : 0;
}

/** Returns whether a point of one cell is near a point of another. */
function areNear(weld: Weld, first: u32, other: u32): bool {
  let low = emptyMin(), high = emptyMax();
  for (let k = other; k != NONE; k = load<u32>(weld.next + (<usize>k << 2))) {
    const point = pointOf(weld, k);
    low = f32x4.pmin(low, point);
    high = f32x4.pmax(high, point);
    visits++;
  }
  for (let i = first; i != NONE; i = load<u32>(weld.next + (<usize>i << 2))) {
    const point = pointOf(weld, i);
    visits++;
    // The nearest position within the bounds of the other points.
    if (!isNear(weld, point, f32x4.pmax(low, f32x4.pmin(high, point)))) continue;
    for (let k = other; k != NONE; k = load<u32>(weld.next + (<usize>k << 2))) {
      visits++;
      if (isNear(weld, point, pointOf(weld, k))) return true;
    }
  }
  return false;
}

/** Returns a point; the fourth lane is undefined. */
// @ts-ignore: decorator
@inline
function pointOf(weld: Weld, i: u32): v128 {
  return v128.load(weld.points + <usize>i * 12);
}

/** Returns whether two points are nearer to each other than the distance. */
function isNear(weld: Weld, p: v128, q: v128): bool {
  const dx = <f64>f32x4.extract_lane(q, 0) - <f64>f32x4.extract_lane(p, 0);
  const dy = <f64>f32x4.extract_lane(q, 1) - <f64>f32x4.extract_lane(p, 1);
  const dz = <f64>f32x4.extract_lane(q, 2) - <f64>f32x4.extract_lane(p, 2);
  return dx * dx + dy * dy + dz * dz < weld.distanceSquared;
}

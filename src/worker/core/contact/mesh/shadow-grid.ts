// A uniform grid over the area where the projections of two sets of triangles overlap. A cell lists the triangles of one
// set above it, and the greatest height of any of them there. This gives each triangle of the other set an upper bound
// of its depth; only those whose bound exceeds the best depth so far are compared, the one of the greatest bound first.
// If a triangle is above many cells, its height in each is bounded by its plane.

import { reserve } from '../../memory';
import { assumeSufficientDepth, bestDepth, sufficientDepth } from './triangle-depth';
import {
  MARGIN, SHADOW_BYTES, Shadow, beginComparing, compareShadows, overlapsBounds, minHeightSum, originH, originU, originV,
  marginMax, marginMin, setMarginBounds, unit, windowMax, windowMin,
} from './shadows';
import { Projected, Source, project, sourceAt } from './triangle-projection';

/** The greatest height of any triangle in the cell, and the first entry of its list, 0 at the end. */
@unmanaged
class Cell {
  top: f64;
  first: u32;
}

const CELL_BYTES: usize = offsetof<Cell>();

@unmanaged
class Entry {
  shadow: u32;
  next: u32;
}

const ENTRY_BYTES: usize = offsetof<Entry>();

let grid: usize = 0; // Cell each
let entries: usize = 0; // Entry each

// The grid over the common area of both sets.
let minU: f64 = 0, minV: f64 = 0, maxU: f64 = 0, maxV: f64 = 0;
let cellsU: i32 = 1, cellsV: i32 = 1;
let cellsPerU: f64 = 0, cellsPerV: f64 = 0; // cells per length
let halfCellU: f64 = 0, halfCellV: f64 = 0; // half of a cell's size

/** The most cells along a side of the grid: it is cleared for each direction. */
const MAX_CELLS: f64 = 96;
/**
 * The most entries that are read along a direction, which take some 0.3 s. Of two fans, all triangles are in the cell of the hub:
 * to compare all 10,000 of each with all took 8 s.
 */
const MAX_READS: u32 = 1 << 22;
let readEntries: u32 = 0;

/** For each shadow of the set that is not in the cells: an upper bound of its depth with any shadow in its cells. */
let depthBounds: usize = 0; // f64 each
const projected = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));

/**
 * Compares the shadows of both sides, which must overlap the window, by the cells of a grid. Ends as soon as a
 * sufficient depth is found, or takes that depth if it would need too many comparisons. Throws OUT_OF_MEMORY.
 */
export function searchGrid(shadows0: usize, count0: u32, shadows1: usize, count1: u32): void {
  // The smaller set is put into the cells.
  const isSwapped = count0 < count1;
  const shadows = isSwapped ? shadows1 : shadows0, count = isSwapped ? count1 : count0;
  const otherShadows = isSwapped ? shadows0 : shadows1, otherCount = isSwapped ? count0 : count1;
  const source = sourceAt(isSwapped ? 1 : 0), otherSource = sourceAt(isSwapped ? 0 : 1);
  minU = <f64>f32x4.extract_lane(windowMin, 0);
  minV = <f64>f32x4.extract_lane(windowMin, 1);
  maxU = <f64>f32x4.extract_lane(windowMax, 0);
  maxV = <f64>f32x4.extract_lane(windowMax, 1);
  chooseCells(shadows, count, otherShadows, otherCount);
  setCellSide(isSwapped ? 0 : 1);
  fillCells(otherSource, otherShadows, otherCount);
  setCellSide(isSwapped ? 1 : 0);
  depthBounds = reserve(depthBounds, 0, <u64>count << 3);
  let first: usize = 0;
  let maxBound = minHeightSum;
  const end = shadows + <usize>count * SHADOW_BYTES;
  let to = depthBounds;
  for (let at = shadows; at < end; at += SHADOW_BYTES, to += 8) {
    const depthBound = depthBoundOf(source, changetype<Shadow>(at));
    store<f64>(to, depthBound);
    if (!(depthBound > maxBound)) continue;
    maxBound = depthBound;
    first = at;
  }
  if (first == 0) return;
  readEntries = 0;
  // The one of the greatest bound first, since its depth rules out most others.
  compareInCells(source, otherSource, changetype<Shadow>(first), isSwapped);
  let from = depthBounds;
  for (let at = shadows; at < end && bestDepth < sufficientDepth; at += SHADOW_BYTES, from += 8) {
    if (load<f64>(from) > minHeightSum && at != first) compareInCells(source, otherSource, changetype<Shadow>(at), isSwapped);
  }
}

/**
 * The number of cells per triangle in them. Frames of 64 dragons in a loose heap take 1.03 of the time with twice as
 * many.
 */
const CELLS_PER_TRIANGLE: f64 = 0.25;
/**
 * The greatest ratio of length to width that is used for the grid, so that a very thin area still has some cells across
 * it.
 */
const MAX_ASPECT: f64 = 16;
/** The most cells per triangle, on average. */
const MAX_CELLS_PER_TRIANGLE: f64 = 4;

/**
 * Chooses as many cells as pay off for the triangles in them, and fewer if the triangles are so wide that each covers
 * many.
 */
function chooseCells(shadows: usize, count: u32, otherShadows: usize, otherCount: u32): void {
  const width = maxU - minU, height = maxV - minV;
  const cellTarget = max(CELLS_PER_TRIANGLE * <f64>otherCount, 1.0);
  const aspect = width > 0 && height > 0 ? min(max(width / height, 1.0 / MAX_ASPECT), MAX_ASPECT) : 1.0;
  let u = min(sqrt(cellTarget * aspect), MAX_CELLS), v = min(sqrt(cellTarget / aspect), MAX_CELLS);
  widthSumU = widthSumV = areaSum = 0;
  const overlapCount = sumWidths(shadows, count);
  const ownWidthSumU = widthSumU, ownWidthSumV = widthSumV, ownAreaSum = areaSum;
  widthSumU = widthSumV = areaSum = 0;
  const otherOverlapCount = sumWidths(otherShadows, otherCount);
  let entryCount: f64 = 0;
  for (;;) {
    cellsU = max(<i32>u, 1);
    cellsV = max(<i32>v, 1);
    cellsPerU = width > 0 ? <f64>cellsU / width : 0;
    cellsPerV = height > 0 ? <f64>cellsV / height : 0;
    entryCount = <f64>otherOverlapCount + cellsPerU * widthSumU + cellsPerV * widthSumV + cellsPerU * cellsPerV * areaSum;
    const readCount = <f64>overlapCount + cellsPerU * ownWidthSumU + cellsPerV * ownWidthSumV +
      cellsPerU * cellsPerV * ownAreaSum;
    if (cellsU * cellsV == 1 || entryCount + readCount <= MAX_CELLS_PER_TRIANGLE * <f64>(count + otherCount)) break;
    u *= 0.5;
    v *= 0.5;
  }
  halfCellU = cellsPerU > 0 ? 0.5 / cellsPerU : 0;
  halfCellV = cellsPerV > 0 ? 0.5 / cellsPerV : 0;
  // A triangle covers one cell more in each direction than its width, and possibly another one, depending on where it
  // begins.
  const maxEntries = entryCount + 3.0 * <f64>otherOverlapCount + cellsPerU * widthSumU + cellsPerV * widthSumV;
  entries = reserve(entries, 0, (<u64>maxEntries + 64) * ENTRY_BYTES);
}

// Widths of triangles within the common area: sums of both widths, and of their product.
let widthSumU: f64 = 0, widthSumV: f64 = 0, areaSum: f64 = 0;

/** Returns a shadow's least u and v, minus the margin. */
// @ts-ignore: decorator
@inline
function minOf(at: usize): v128 {
  return f64x2.sub(f64x2.promote_low_f32x4(v128.load64_zero(at)), f64x2.splat(MARGIN));
}

// @ts-ignore: decorator
@inline
function maxOf(at: usize): v128 {
  return f64x2.add(f64x2.promote_low_f32x4(v128.load64_zero(at, offsetof<Shadow>('maxU'))), f64x2.splat(MARGIN));
}

/** Sums up the widths of the shadows within the common bounds. Returns how many of them overlap these bounds. */
function sumWidths(shadows: usize, count: u32): u32 {
  const lower = f64x2(minU, minV), upper = f64x2(maxU, maxV);
  let sum = f64x2.splat(0), area: f64 = 0;
  let overlapCount: u32 = 0;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const widths = f64x2.sub(f64x2.pmin(maxOf(at), upper), f64x2.pmax(minOf(at), lower));
    if (!i64x2.all_true(f64x2.ge(widths, f64x2.splat(0)))) continue;
    sum = f64x2.add(sum, widths);
    area += f64x2.extract_lane(widths, 0) * f64x2.extract_lane(widths, 1);
    overlapCount++;
  }
  widthSumU = f64x2.extract_lane(sum, 0);
  widthSumV = f64x2.extract_lane(sum, 1);
  areaSum = area;
  return overlapCount;
}

// The cells that a triangle covers; none if it is outside of the common area.
let fromU: i32 = 0, fromV: i32 = 0, toU: i32 = 0, toV: i32 = 0;
/** Whether it covers so many cells that the triangle's height is bounded in each of them. */
let isWide: bool = false;
let slopeU: f64 = 0, slopeV: f64 = 0;
/** A corner of the wide triangle in the shadows' unit, relative to their origin. */
let cornerU: f64 = 0, cornerV: f64 = 0, cornerH: f64 = 0;
/** The height of the shadows' origin from the point of view of the side whose cells are set. */
let sideOriginH: f64 = 0;

/** Sets the side whose triangles' cells are computed. */
function setCellSide(side: u32): void {
  sideOriginH = side == 0 ? originH : -originH;
}

/**
 * Sets the cells that a shadow covers, and the slopes of its triangle if these are many. Returns false if there are
 * none.
 */
// @ts-ignore: decorator
@inline
function setCells(source: Source, s: Shadow): bool {
  const shadowMin = minOf(changetype<usize>(s)), shadowMax = maxOf(changetype<usize>(s));
  const lower = f64x2(minU, minV);
  const isWithin = v128.and(f64x2.ge(shadowMax, lower), f64x2.le(shadowMin, f64x2(maxU, maxV)));
  if (!i64x2.all_true(isWithin)) return false;
  const cellsPerLength = f64x2(cellsPerU, cellsPerV), last = f64x2(<f64>(cellsU - 1), <f64>(cellsV - 1)), zero = f64x2.splat(0);
  const from = i32x4.trunc_sat_f64x2_s_zero(f64x2.pmin(
    f64x2.pmax(f64x2.mul(f64x2.sub(shadowMin, lower), cellsPerLength), zero), last));
  const to = i32x4.trunc_sat_f64x2_s_zero(f64x2.pmin(
    f64x2.pmax(f64x2.mul(f64x2.sub(shadowMax, lower), cellsPerLength), zero), last));
  fromU = i32x4.extract_lane(from, 0);
  fromV = i32x4.extract_lane(from, 1);
  toU = i32x4.extract_lane(to, 0);
  toV = i32x4.extract_lane(to, 1);
  isWide = toU - fromU + toV - fromV > 1;
  if (isWide) {
    project(projected, source, s.triangle);
    setSlope(projected);
    cornerU = (projected.au - originU) * unit;
    cornerV = (projected.av - originV) * unit;
    cornerH = (projected.ah - sideOriginH) * unit;
  }
  return true;
}

/** A triangle counts as edge-on up to this area, relative to the products from which the area is computed. */
const EDGE_ON: f64 = 1e-6;

/** Sets a triangle's slopes along u and v; Infinity or NaN if it is edge-on. */
function setSlope(s: Projected): void {
  const eu = s.bu - s.au, ev = s.bv - s.av, eh = s.bh - s.ah, fu = s.cu - s.au, fv = s.cv - s.av, fh = s.ch - s.ah;
  const area = eu * fv - ev * fu;
  const isFlat = abs(area) <= EDGE_ON * (abs(eu * fv) + abs(ev * fu));
  slopeU = isFlat ? Infinity : (eh * fv - ev * fh) / area;
  slopeV = isFlat ? Infinity : (eu * fh - eh * fu) / area;
}

/** Half a cell is enlarged by this factor against rounding. */
const CELL_ENLARGEMENT: f64 = 1.000001;

/** Returns the greatest height that a triangle can have in one of its cells, after `setCells`. */
// @ts-ignore: decorator
@inline
function topIn(s: Shadow, u: i32, v: i32): f64 {
  const top = <f64>s.top;
  if (!isWide) return top;
  const centerU = minU + (2 * u + 1) * halfCellU, centerV = minV + (2 * v + 1) * halfCellV;
  const centerHeight = cornerH + slopeU * (centerU - cornerU) + slopeV * (centerV - cornerV);
  const maxHeight = centerHeight + abs(slopeU) * halfCellU * CELL_ENLARGEMENT + abs(slopeV) * halfCellV * CELL_ENLARGEMENT;
  return maxHeight < top ? maxHeight : top; // top if it is NaN
}

// @ts-ignore: decorator
@inline
function cellAt(u: i32, v: i32): Cell {
  return changetype<Cell>(grid + <usize>(v * cellsU + u) * CELL_BYTES);
}

function fillCells(source: Source, shadows: usize, count: u32): void {
  const bytes = <usize>(cellsU * cellsV) * CELL_BYTES;
  grid = reserve(grid, 0, bytes);
  for (let at = grid, end = grid + bytes; at < end; at += CELL_BYTES) {
    changetype<Cell>(at).top = -Infinity;
    changetype<Cell>(at).first = 0;
  }
  let entry = entries;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    if (!setCells(source, s)) continue;
    for (let v = fromV; v <= toV; v++) {
      for (let u = fromU; u <= toU; u++, entry += ENTRY_BYTES) {
        const cell = cellAt(u, v);
        changetype<Entry>(entry).shadow = <u32>at;
        changetype<Entry>(entry).next = cell.first;
        cell.first = <u32>entry;
        const top = topIn(s, u, v);
        if (top > cell.top) cell.top = top;
      }
    }
  }
}

function depthBoundOf(source: Source, s: Shadow): f64 {
  let maxBound = -Infinity;
  if (!setCells(source, s)) return maxBound;
  for (let v = fromV; v <= toV; v++) {
    for (let u = fromU; u <= toU; u++) {
      const depthBound = topIn(s, u, v) + cellAt(u, v).top;
      if (depthBound > maxBound) maxBound = depthBound;
    }
  }
  return maxBound;
}

/** Compares a triangle with all triangles in its cells with which it may be deeper than the best depth so far. */
function compareInCells(source: Source, otherSource: Source, p: Shadow, isSwapped: bool): void {
  setCells(source, p);
  beginComparing(source, p);
  setMarginBounds(changetype<usize>(p));
  const lower = marginMin, upper = marginMax;
  for (let v = fromV; v <= toV; v++) {
    for (let u = fromU; u <= toU; u++) {
      const cell = cellAt(u, v);
      if (!(topIn(p, u, v) + cell.top > minHeightSum)) continue;
      for (let at = cell.first; at != 0; at = changetype<Entry>(at).next) {
        const q = changetype<Shadow>(changetype<Entry>(at).shadow);
        if (++readEntries > MAX_READS) {
          assumeSufficientDepth();
          return;
        }
        if (!(<f64>(p.top + q.top) > minHeightSum) || q.comparedWith == changetype<u32>(p)) continue;
        if (!overlapsBounds(lower, upper, changetype<usize>(q))) continue;
        q.comparedWith = changetype<u32>(p);
        compareShadows(otherSource, p, q, isSwapped);
        if (bestDepth >= sufficientDepth) return;
      }
    }
  }
}

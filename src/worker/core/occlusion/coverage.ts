// Draws the triangles of one object that face one way into the tiles of depth-tiles.ts, conservatively: a pixel counts as
// covered only if all of it certainly is, and at the farthest depth that the object may have in it.
//
// No single triangle has to cover a pixel. The border of the area that the triangles cover together consists of edges
// that have no triangle on one side: around a vertex or an edge with triangles on all sides, everything is covered. So a
// pixel that no such outline crosses is covered entirely or not at all, and its centre decides. Outlines are drawn thick,
// by more than rounding or a graphics card's subpixel grid may move them; so centres may be off by a hundredth of a
// pixel. Positions are float64, in pixels of the tiles.

import { TILE_HEIGHT, TILE_WIDTH, centres, columns, farthest, outlines, pixelsHigh, pixelsWide, rows } from './depth-tiles';
import { VECTOR_BYTES } from '../sizes';

/** How far outside of a triangle a centre may be and still count as covered: much less than the thickness of outlines. */
const CENTRE_TOLERANCE: f64 = 0.01;

/** The tiles that the bounds of a triangle, or of an object, overlap. */
export let firstColumn: i32 = 0;
export let lastColumn: i32 = 0;
export let firstRow: i32 = 0;
export let lastRow: i32 = 0;

/** Finds the tiles that a rectangle overlaps. Returns false if it is outside of the image. */
export function findTiles(minX: f64, minY: f64, maxX: f64, maxY: f64): bool {
  if (!(maxX >= 0 && maxY >= 0 && minX <= <f64>pixelsWide && minY <= <f64>pixelsHigh)) return false;
  firstColumn = <i32>max(minX, 0.0) / TILE_WIDTH;
  firstRow = <i32>max(minY, 0.0) / TILE_HEIGHT;
  lastColumn = min(<i32>min(maxX, <f64>pixelsWide) / TILE_WIDTH, columns - 1);
  lastRow = min(<i32>min(maxY, <f64>pixelsHigh) / TILE_HEIGHT, rows - 1);
  return firstColumn <= lastColumn && firstRow <= lastRow;
}

/** Minimum height of a triangle relative to its extent for which its depths are interpolated: 2⁻¹⁰. */
const MIN_HEIGHT_RATIO: f64 = 0.0009765625;

/** Draws a triangle, given by positions and depths. `slack` is how much depths are lowered, relative to their size. */
export function coverTriangle(
  ax: f64, ay: f64, a: f64, bx: f64, by: f64, b: f64, cx: f64, cy: f64, c: f64, slack: f64,
): void {
  const minX = min(min(ax, bx), cx), maxX = max(max(ax, bx), cx);
  const minY = min(min(ay, by), cy), maxY = max(max(ay, by), cy);
  if (!findTiles(minX - 0.25, minY - 0.25, maxX + 0.25, maxY + 0.25)) return;
  // The depth is linear in screen space.
  const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  const extent = max(maxX - minX, maxY - minY);
  let dx: f64 = 0, dy: f64 = 0;
  let minDepth = min(min(a, b), c);
  minDepth -= abs(minDepth) * slack;
  let depthAtOrigin = minDepth;
  if (abs(area) > extent * extent * MIN_HEIGHT_RATIO) {
    dx = ((b - a) * (cy - ay) - (c - a) * (by - ay)) / area;
    dy = ((bx - ax) * (c - a) - (cx - ax) * (b - a)) / area;
    // The depth at that corner of the first tile that is farthest.
    const x = <f64>(dx > 0 ? 0 : TILE_WIDTH), y = <f64>(dy > 0 ? 0 : TILE_HEIGHT);
    depthAtOrigin = a + dx * (x - ax) + dy * (y - ay);
    depthAtOrigin -= slack * max(max(abs(a), abs(b)), abs(c));
  }
  const c0 = firstColumn, c1 = lastColumn, r1 = lastRow;
  for (let row = firstRow; row <= r1; row++) {
    const y = <f64>(row * TILE_HEIGHT);
    // The extent of the triangle within this row of tiles.
    const from = y - 0.25, to = y + <f64>TILE_HEIGHT + 0.25;
    spanMin = Infinity;
    spanMax = -Infinity;
    addSpan(ax, ay, bx, by, from, to);
    addSpan(bx, by, cx, cy, from, to);
    addSpan(cx, cy, ax, ay, from, to);
    if (spanMin > spanMax) continue;
    const left = max(<i32>max(spanMin - 0.25, 0.0) / TILE_WIDTH, c0);
    const right = min(<i32>min(max(spanMax + 0.25, -1.0), <f64>pixelsWide) / TILE_WIDTH, c1);
    const rowOffset = <usize>(row * columns) << 2;
    const depth = depthAtOrigin + dy * y;
    for (let column = left & ~3; column <= right; column += 4) {
      const at = rowOffset + (<usize>column << 2);
      const base = depth + dx * <f64>(column * TILE_WIDTH), step = dx * <f64>TILE_WIDTH;
      const minDepths = f64x2.splat(minDepth);
      const depths01 = f64x2.pmax(f64x2.replace_lane(f64x2.splat(base), 1, base + step), minDepths);
      const depths23 = f64x2.pmax(f64x2.replace_lane(f64x2.splat(base + 2.0 * step), 1, base + 3.0 * step), minDepths);
      const depths = v128.shuffle<f32>(f32x4.demote_f64x2_zero(depths01), f32x4.demote_f64x2_zero(depths23), 0, 1, 4, 5);
      const previous = v128.load(farthest + at);
      const lanes = i32x4.add(i32x4.splat(column), i32x4(0, 1, 2, 3));
      const inside = v128.and(i32x4.ge_s(lanes, i32x4.splat(left)), i32x4.le_s(lanes, i32x4.splat(right)));
      v128.store(farthest + at, v128.bitselect(f32x4.pmin(depths, previous), previous, inside));
    }
    coverCentres(ax, ay, bx, by, cx, cy, row);
  }
}

let spanMin: f64 = 0, spanMax: f64 = 0;

/** Extends the span by the part of an edge between two heights. */
function addSpan(ax: f64, ay: f64, bx: f64, by: f64, from: f64, to: f64): void {
  const bottom = max(min(ay, by), from), top = min(max(ay, by), to);
  if (bottom > top) return;
  let x0 = ax, x1 = bx;
  if (ay != by) {
    const slope = (bx - ax) / (by - ay);
    const left = min(ax, bx), right = max(ax, bx);
    x0 = min(max(ax + slope * (bottom - ay), left), right);
    x1 = min(max(ax + slope * (top - ay), left), right);
  }
  spanMin = min(spanMin, min(x0, x1));
  spanMax = max(spanMax, max(x0, x1));
}

// Spans of the centres of four rows of pixels inside of a triangle: the first two rows, and the others.
let min01: v128 = i32x4.splat(0), min23: v128 = i32x4.splat(0);
let max01: v128 = i32x4.splat(0), max23: v128 = i32x4.splat(0);

const firstColumns: usize = memory.data(VECTOR_BYTES, 16);
const lastColumns: usize = memory.data(VECTOR_BYTES, 16);

/** Marks the pixels of a row of tiles whose centres are in a triangle. */
function coverCentres(ax: f64, ay: f64, bx: f64, by: f64, cx: f64, cy: f64, row: i32): void {
  min01 = min23 = f64x2.splat(Infinity);
  max01 = max23 = f64x2.splat(-Infinity);
  const y = <f64>(row * TILE_HEIGHT);
  const y01 = f64x2(0.5, 1.5), y23 = f64x2(2.5, 3.5);
  const baseY = f64x2.splat(y);
  cross(ax, ay, bx, by, f64x2.add(baseY, y01), f64x2.add(baseY, y23));
  cross(bx, by, cx, cy, f64x2.add(baseY, y01), f64x2.add(baseY, y23));
  cross(cx, cy, ax, ay, f64x2.add(baseY, y01), f64x2.add(baseY, y23));
  fill(
    centres, row,
    columnsOf(f64x2.ceil(f64x2.sub(min01, f64x2.splat(0.5 + CENTRE_TOLERANCE))), f64x2.ceil(f64x2.sub(min23, f64x2.splat(0.5 + CENTRE_TOLERANCE)))),
    columnsOf(f64x2.floor(f64x2.sub(max01, f64x2.splat(0.5 - CENTRE_TOLERANCE))), f64x2.floor(f64x2.sub(max23, f64x2.splat(0.5 - CENTRE_TOLERANCE)))),
  );
}

// @ts-ignore: decorator
@inline
function columnsOf(columns01: v128, columns23: v128): v128 {
  return v128.shuffle<i32>(i32x4.trunc_sat_f64x2_s_zero(columns01), i32x4.trunc_sat_f64x2_s_zero(columns23), 0, 1, 4, 5);
}

/** Records where an edge crosses the heights; a height at an end of the edge belongs to the lower side. */
// @ts-ignore: decorator
@inline
function cross(ax: f64, ay: f64, bx: f64, by: f64, h01: v128, h23: v128): void {
  if (ay == by) return;
  const slope = f64x2.splat((bx - ax) / (by - ay));
  const x = f64x2.splat(ax), y = f64x2.splat(ay), endY = f64x2.splat(by);
  const isCrossed01 = v128.xor(f64x2.le(y, h01), f64x2.le(endY, h01)),
    isCrossed23 = v128.xor(f64x2.le(y, h23), f64x2.le(endY, h23));
  const x01 = f64x2.add(x, f64x2.mul(slope, f64x2.sub(h01, y))), x23 = f64x2.add(x, f64x2.mul(slope, f64x2.sub(h23, y)));
  min01 = v128.bitselect(f64x2.pmin(min01, x01), min01, isCrossed01);
  min23 = v128.bitselect(f64x2.pmin(min23, x23), min23, isCrossed23);
  max01 = v128.bitselect(f64x2.pmax(max01, x01), max01, isCrossed01);
  max23 = v128.bitselect(f64x2.pmax(max23, x23), max23, isCrossed23);
}

/** Marks the pixels in a row of tiles between two columns, for each of its four rows of pixels. */
function fill(masks: usize, row: i32, from: v128, to: v128): void {
  from = i32x4.max_s(from, i32x4.splat(0));
  to = i32x4.min_s(to, i32x4.splat(pixelsWide - 1));
  const isFilled = i32x4.le_s(from, to);
  if (!v128.any_true(isFilled)) return;
  v128.store(firstColumns, from);
  v128.store(lastColumns, to);
  const rowAddress = masks + (<usize>(row * columns) << 2);
  // Tiles that are filled entirely.
  let fullStart: i32 = 0, fullEnd: i32 = 0;
  if (i32x4.all_true(isFilled)) {
    for (let r: usize = 0; r < 16; r += 4) {
      const first = (load<i32>(firstColumns + r) + 7) >> 3, last = (load<i32>(lastColumns + r) + 1) >> 3;
      fullStart = r == 0 ? first : max(fullStart, first);
      fullEnd = r == 0 ? last : min(fullEnd, last);
    }
    for (let tile = fullStart; tile < fullEnd; tile++) store<u32>(rowAddress + (<usize>tile << 2), 0xffffffff);
  }
  for (let r: i32 = 0; r < 4; r++) {
    const x0 = load<i32>(firstColumns + (<usize>r << 2)), x1 = load<i32>(lastColumns + (<usize>r << 2));
    if (x0 > x1) continue;
    for (let tile = x0 >> 3, last = x1 >> 3; tile <= last; tile++) {
      if (tile == fullStart && fullStart < fullEnd) {
        tile = fullEnd - 1;
        continue;
      }
      const left = max(x0 - (tile << 3), 0), right = min(x1 - (tile << 3), 7);
      const bits: u32 = ((0xff << left) & (0xff >> (7 - right))) << (r << 3);
      const at = rowAddress + (<usize>tile << 2);
      store<u32>(at, load<u32>(at) | bits);
    }
  }
}

/** Marks all pixels within `radius` of a line. */
export function drawOutline(ax: f64, ay: f64, bx: f64, by: f64, radius: f64): void {
  const minX = min(ax, bx), maxX = max(ax, bx), minY = min(ay, by), maxY = max(ay, by);
  if (!findTiles(minX - radius, minY - radius, maxX + radius, maxY + radius)) return;
  const slope = ay == by ? 0 : (bx - ax) / (by - ay);
  // A level line has no slope: all of it is in each row that it is close to.
  const isLevel = !(maxY - minY > 1e-9);
  const last = lastRow;
  for (let row = firstRow; row <= last; row++) {
    const y = <f64>(row * TILE_HEIGHT);
    let from = i32x4.splat(1), to = i32x4.splat(0);
    for (let half = 0; half < 2; half++) {
      const bottom = f64x2.add(f64x2.splat(y), half == 0 ? f64x2(0, 1) : f64x2(2, 3));
      const lower = f64x2.pmax(f64x2.sub(bottom, f64x2.splat(radius)), f64x2.splat(minY));
      const upper = f64x2.pmin(f64x2.add(bottom, f64x2.splat(1.0 + radius)), f64x2.splat(maxY));
      let x0 = f64x2.splat(minX), x1 = f64x2.splat(maxX);
      if (!isLevel) {
        const xAtLower = f64x2.add(f64x2.splat(ax), f64x2.mul(f64x2.splat(slope), f64x2.sub(lower, f64x2.splat(ay))));
        const xAtUpper = f64x2.add(f64x2.splat(ax), f64x2.mul(f64x2.splat(slope), f64x2.sub(upper, f64x2.splat(ay))));
        const left = f64x2.pmin(xAtLower, xAtUpper), right = f64x2.pmax(xAtLower, xAtUpper);
        x0 = f64x2.pmin(f64x2.pmax(x0, left), x1);
        x1 = f64x2.pmax(f64x2.pmin(f64x2.splat(maxX), right), f64x2.splat(minX));
      }
      // A level line that reaches a row only by its thickness counts, too.
      const isNear = v128.and(
        f64x2.le(f64x2.sub(f64x2.splat(minY), f64x2.splat(radius)), f64x2.add(bottom, f64x2.splat(1))),
        f64x2.ge(f64x2.add(f64x2.splat(maxY), f64x2.splat(radius)), bottom),
      );
      x0 = v128.bitselect(f64x2.floor(f64x2.sub(x0, f64x2.splat(radius))), f64x2.splat(1e9), isNear);
      x1 = v128.bitselect(f64x2.floor(f64x2.add(x1, f64x2.splat(radius))), f64x2.splat(-1e9), isNear);
      const a = i32x4.trunc_sat_f64x2_s_zero(x0), b = i32x4.trunc_sat_f64x2_s_zero(x1);
      from = half == 0 ? a : v128.shuffle<i32>(from, a, 0, 1, 4, 5);
      to = half == 0 ? b : v128.shuffle<i32>(to, b, 0, 1, 4, 5);
    }
    fill(outlines, row, from, to);
  }
}

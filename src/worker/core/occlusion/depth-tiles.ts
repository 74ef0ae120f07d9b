// A depth buffer of tiles (Hasselgren, Andersson and Akenine-Möller, "Masked Software Occlusion Culling", 2016): each tile of
// 8 × 4 pixels has a depth at which all of it is known to be covered, and a second, nearer depth for the pixels of a mask,
// which replaces the first when the mask is full. Depths increase towards the eye, so that each is a lower bound: an object
// is hidden if its nearest point is farther than that.
//
// Occluders are first drawn to a second set of tiles, object by object: which pixels are covered, which ones an outline
// crosses, and the farthest depth (coverage.ts).

import { allocate } from '../memory';
import { WORD_BYTES } from '../sizes';

export const TILE_WIDTH: i32 = 8;
export const TILE_HEIGHT: i32 = 4;
const FULL: u32 = 0xffffffff;

/** Maximum number of tiles that a buffer is sized for: some 512 × 288 pixels, or as many in another shape. */
const MOST_TILES: f64 = 4608;
/** Rows of tiles are whole vectors of four, and this is the maximum length of a buffer in one direction. */
const MOST_COLUMNS: i32 = 256;
const CAPACITY: u32 = 8192;
/** A word per tile. */
const LIST_BYTES: u32 = CAPACITY * WORD_BYTES;

export let columns: i32 = 0;
export let rows: i32 = 0;
export let pixelsWide: i32 = 0;
export let pixelsHigh: i32 = 0;

/** Per tile: the depth at which all of it is covered, f32. */
let covered: usize = 0;
/** Per tile: the depth at which the pixels of the mask are covered, f32, and the mask. */
let nearer: usize = 0;
let nearerMasks: usize = 0;
/**
 * Per tile, for the current object: the pixels whose centre is covered, those that an outline crosses, and the farthest
 * depth.
 */
export let centres: usize = 0;
export let outlines: usize = 0;
export let farthest: usize = 0;

/** Begins an image with the shape of a viewport, and at most as many pixels. `nothing` is a depth below all others. */
export function beginTiles(width: f64, height: f64, nothing: f32): void {
  if (covered == 0) {
    covered = allocate(6 * LIST_BYTES);
    nearer = covered + LIST_BYTES;
    nearerMasks = nearer + LIST_BYTES;
    centres = nearerMasks + LIST_BYTES;
    outlines = centres + LIST_BYTES;
    farthest = outlines + LIST_BYTES;
  }
  const scale = min(1.0, sqrt(MOST_TILES * <f64>(TILE_WIDTH * TILE_HEIGHT) / (width * height)));
  columns = size(width * scale / <f64>TILE_WIDTH + 3.0) & ~3;
  columns = max(columns, 4);
  rows = min(size(height * scale / <f64>TILE_HEIGHT + 0.5), <i32>CAPACITY / columns);
  pixelsWide = columns * TILE_WIDTH;
  pixelsHigh = rows * TILE_HEIGHT;
  for (let at: usize = 0, end = <usize>(columns * rows) << 2; at < end; at += 16) {
    v128.store(covered + at, f32x4.splat(nothing));
    v128.store(nearerMasks + at, i32x4.splat(0));
  }
}

function size(tiles: f64): i32 {
  return max(1, min(MOST_COLUMNS, <i32>min(tiles, <f64>MOST_COLUMNS)));
}

/** Clears the tiles of the current object, from column c0 to c1 and from row r0 to r1. */
export function beginCoverage(c0: i32, c1: i32, r0: i32, r1: i32): void {
  const from = c0 & ~3;
  for (let row = r0; row <= r1; row++) {
    for (let column = from; column <= c1; column += 4) {
      const at = <usize>(row * columns + column) << 2;
      v128.store(centres + at, i32x4.splat(0));
      v128.store(outlines + at, i32x4.splat(0));
      v128.store(farthest + at, f32x4.splat(Infinity));
    }
  }
}

/** Merges the object's tiles into the depth buffer: pixels that are covered and that no outline crosses. */
export function endCoverage(c0: i32, c1: i32, r0: i32, r1: i32): void {
  const from = c0 & ~3;
  for (let row = r0; row <= r1; row++) {
    for (let column = from; column <= c1; column += 4) {
      const at = <usize>(row * columns + column) << 2;
      const masks = v128.andnot(v128.load(centres + at), v128.load(outlines + at));
      if (!v128.any_true(masks)) continue;
      const depths = v128.load(farthest + at), before = v128.load(covered + at);
      // Whole tiles need no mask.
      const whole = v128.and(i32x4.eq(masks, i32x4.splat(-1)), f32x4.gt(depths, before));
      v128.store(covered + at, v128.bitselect(depths, before, whole));
      let bits = i32x4.bitmask(v128.andnot(v128.and(i32x4.ne(masks, i32x4.splat(0)), f32x4.gt(depths, before)), whole));
      for (; bits != 0; bits &= bits - 1) {
        const tile = at + (<usize>ctz(bits) << 2);
        merge(tile, load<u32>(centres + tile) & ~load<u32>(outlines + tile), load<f32>(farthest + tile));
      }
    }
  }
}

function merge(tile: usize, mask: u32, depth: f32): void {
  const first = load<f32>(covered + tile);
  let before = load<u32>(nearerMasks + tile);
  const second = load<f32>(nearer + tile);
  if (before != 0 && second <= first) before = 0; // the first is in front of it
  let joined = depth;
  // A depth much nearer than the second replaces it, because joining the two would lose it.
  if (before != 0 && depth - second <= second - first) {
    if ((mask & ~before) == 0 && depth <= second) return;
    mask |= before;
    joined = min(depth, second);
  }
  if (mask == FULL) {
    store<f32>(covered + tile, joined);
    mask = 0;
  }
  store<f32>(nearer + tile, joined);
  store<u32>(nearerMasks + tile, mask);
}

/** Returns whether all pixels of a rectangle in the image, both ends included, are covered nearer than a depth. */
export function isCovered(x0: i32, y0: i32, x1: i32, y1: i32, depth: f32): bool {
  const c0 = x0 >> 3, c1 = x1 >> 3, r0 = y0 >> 2, r1 = y1 >> 2;
  const wanted = f32x4.splat(depth);
  for (let row = r0; row <= r1; row++) {
    for (let column = c0 & ~3; column <= c1; column += 4) {
      const at = <usize>(row * columns + column) << 2;
      let open = ~i32x4.bitmask(f32x4.gt(v128.load(covered + at), wanted)) & 15;
      if (column < c0) open &= -1 << (c0 - column);
      if (column + 3 > c1) open &= 15 >> (column + 3 - c1);
      for (; open != 0; open &= open - 1) {
        const lane = ctz(open), tile = at + (<usize>lane << 2);
        if (!(load<f32>(nearer + tile) > depth)) return false;
        if (rectangleMask(x0, y0, x1, y1, column + lane, row) & ~load<u32>(nearerMasks + tile)) return false;
      }
    }
  }
  return true;
}

/** Returns the mask of a tile's pixels that are in a rectangle. */
function rectangleMask(x0: i32, y0: i32, x1: i32, y1: i32, column: i32, row: i32): u32 {
  const left = max(x0 - column * TILE_WIDTH, 0), right = min(x1 - column * TILE_WIDTH, 7);
  const low = max(y0 - row * TILE_HEIGHT, 0), high = min(y1 - row * TILE_HEIGHT, 3);
  const line: u32 = (0xff << left) & (0xff >> (7 - right));
  const all = line * 0x01010101;
  return all & (FULL << (low << 3)) & (FULL >> ((3 - high) << 3));
}

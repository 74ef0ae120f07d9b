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
const MAX_TILES: f64 = 4608;
/** Rows of tiles are whole vectors of four, and this is the maximum length of a buffer in one direction. */
const MAX_COLUMNS: i32 = 256;
const CAPACITY: u32 = 8192;
/** A word per tile. */
const LIST_BYTES: u32 = CAPACITY * WORD_BYTES;

export let columns: i32 = 0;
export let rows: i32 = 0;
export let pixelsWide: i32 = 0;
export let pixelsHigh: i32 = 0;

/** Per tile: the depth at which all of it is covered, f32. */
let tileDepths: usize = 0;
/** Per tile: the depth at which the pixels of the mask are covered, f32, and the mask. */
let maskDepths: usize = 0;
let depthMasks: usize = 0;
/**
 * Per tile, for the current object: the pixels whose centre is covered, those that an outline crosses, and the farthest
 * depth.
 */
export let centres: usize = 0;
export let outlines: usize = 0;
export let farthest: usize = 0;

/** Begins an image with the shape of a viewport, and at most as many pixels. `emptyDepth` is a depth below all others. */
export function beginTiles(width: f64, height: f64, emptyDepth: f32): void {
  if (tileDepths == 0) {
    tileDepths = allocate(6 * LIST_BYTES);
    maskDepths = tileDepths + LIST_BYTES;
    depthMasks = maskDepths + LIST_BYTES;
    centres = depthMasks + LIST_BYTES;
    outlines = centres + LIST_BYTES;
    farthest = outlines + LIST_BYTES;
  }
  const scale = min(1.0, sqrt(MAX_TILES * <f64>(TILE_WIDTH * TILE_HEIGHT) / (width * height)));
  columns = clampTileCount(width * scale / <f64>TILE_WIDTH + 3.0) & ~3;
  columns = max(columns, 4);
  rows = min(clampTileCount(height * scale / <f64>TILE_HEIGHT + 0.5), <i32>CAPACITY / columns);
  pixelsWide = columns * TILE_WIDTH;
  pixelsHigh = rows * TILE_HEIGHT;
  for (let at: usize = 0, end = <usize>(columns * rows) << 2; at < end; at += 16) {
    v128.store(tileDepths + at, f32x4.splat(emptyDepth));
    v128.store(depthMasks + at, i32x4.splat(0));
  }
}

function clampTileCount(tiles: f64): i32 {
  return max(1, min(MAX_COLUMNS, <i32>min(tiles, <f64>MAX_COLUMNS)));
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
      const depths = v128.load(farthest + at), previousDepths = v128.load(tileDepths + at);
      // Whole tiles need no mask.
      const isFull = v128.and(i32x4.eq(masks, i32x4.splat(-1)), f32x4.gt(depths, previousDepths));
      v128.store(tileDepths + at, v128.bitselect(depths, previousDepths, isFull));
      let bits = i32x4.bitmask(v128.andnot(v128.and(i32x4.ne(masks, i32x4.splat(0)), f32x4.gt(depths, previousDepths)), isFull));
      for (; bits != 0; bits &= bits - 1) {
        const tile = at + (<usize>ctz(bits) << 2);
        merge(tile, load<u32>(centres + tile) & ~load<u32>(outlines + tile), load<f32>(farthest + tile));
      }
    }
  }
}

function merge(tile: usize, mask: u32, depth: f32): void {
  const first = load<f32>(tileDepths + tile);
  let previousMask = load<u32>(depthMasks + tile);
  const second = load<f32>(maskDepths + tile);
  if (previousMask != 0 && second <= first) previousMask = 0; // the first is in front of it
  let mergedDepth = depth;
  // A depth much nearer than the second replaces it, because joining the two would lose it.
  if (previousMask != 0 && depth - second <= second - first) {
    if ((mask & ~previousMask) == 0 && depth <= second) return;
    mask |= previousMask;
    mergedDepth = min(depth, second);
  }
  if (mask == FULL) {
    store<f32>(tileDepths + tile, mergedDepth);
    mask = 0;
  }
  store<f32>(maskDepths + tile, mergedDepth);
  store<u32>(depthMasks + tile, mask);
}

/** Returns whether all pixels of a rectangle in the image, both ends included, are covered nearer than a depth. */
export function isCovered(x0: i32, y0: i32, x1: i32, y1: i32, depth: f32): bool {
  const c0 = x0 >> 3, c1 = x1 >> 3, r0 = y0 >> 2, r1 = y1 >> 2;
  const depthLanes = f32x4.splat(depth);
  for (let row = r0; row <= r1; row++) {
    for (let column = c0 & ~3; column <= c1; column += 4) {
      const at = <usize>(row * columns + column) << 2;
      let uncovered = ~i32x4.bitmask(f32x4.gt(v128.load(tileDepths + at), depthLanes)) & 15;
      if (column < c0) uncovered &= -1 << (c0 - column);
      if (column + 3 > c1) uncovered &= 15 >> (column + 3 - c1);
      for (; uncovered != 0; uncovered &= uncovered - 1) {
        const lane = ctz(uncovered), tile = at + (<usize>lane << 2);
        if (!(load<f32>(maskDepths + tile) > depth)) return false;
        if (rectangleMask(x0, y0, x1, y1, column + lane, row) & ~load<u32>(depthMasks + tile)) return false;
      }
    }
  }
  return true;
}

/** Returns the mask of a tile's pixels that are in a rectangle. */
function rectangleMask(x0: i32, y0: i32, x1: i32, y1: i32, column: i32, row: i32): u32 {
  const left = max(x0 - column * TILE_WIDTH, 0), right = min(x1 - column * TILE_WIDTH, 7);
  const bottom = max(y0 - row * TILE_HEIGHT, 0), top = min(y1 - row * TILE_HEIGHT, 3);
  const rowMask: u32 = (0xff << left) & (0xff >> (7 - right));
  const columnMask = rowMask * 0x01010101;
  return columnMask & (FULL << (bottom << 3)) & (FULL >> ((3 - top) << 3));
}

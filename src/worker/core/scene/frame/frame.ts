// One frame: the buffer in is applied, views and pairs are found, the buffer out is written.

import {
  BLOCK_COUNT, BLOCK_FLOAT_BYTES, BLOCK_IDS, BLOCK_MATRICES, BLOCK_NEXT, BLOCK_PARENT, IN_BLOCKS, IN_BLOCK_COUNT,
  IN_CONTACT_BUDGET, IN_EPOCH, IN_FRAME, IN_IDS, IN_MATRICES, IN_TRANSFORM_COUNT, IN_VIEWS, IN_VIEW_COUNT, MATRIX_BYTES,
  OUT_BYTES, OUT_EPOCH, OUT_FRAME, OUT_MS_CONTACTS, OUT_MS_CULL, OUT_MS_TOTAL, OUT_MS_UPDATE, OUT_REJECTED,
  OUT_REJECTED_COUNT, VIEW_BYTES, VIEW_SLOT,
} from '../../../../shared/layout';
import { now } from '../../host';
import { Affine, isIdentity, multiply } from '../../math/affine';
import { reserve } from '../../memory';
import { cull } from '../view/cull';
import { UNPLACED, boxAt, isAlive, slotCount, slotOf } from '../objects';
import { candidateAt, laneAt, treeOf } from '../index/octree';
import { append, beginOut, out, outUsed, reserveOut } from './out';
import { PAIRS_OUT_PARTS, pairsOutBytes, writePairs } from './out-pairs';
import { viewsOutBytes, viewsOutParts, writeViews } from './out-views';
import { findPairs, takePairs } from '../pairs/pairs';
import { moveObject, updateTrees } from '../scene';
import { setView, viewAt, viewCount } from '../view/views';

let rejected: usize = 0;
let rejectedCount: u32 = 0;

const parent = changetype<Affine>(memory.data(96, 16));
const instance = changetype<Affine>(memory.data(96, 16));
const world = changetype<Affine>(memory.data(96, 16));

/** Runs the frame at `input`; answers where the buffer out is. */
export function runFrame(input: usize): usize {
  const start = now();
  rejectedCount = 0;
  applyViews(input);
  applyBlocks(input);
  applyTransforms(input);
  updateTrees();
  const updated = now();
  for (let i: u32 = 0; i < viewCount; i++) if (viewAt(i).active) cull(viewAt(i));
  const culled = now();
  const budget = load<f64>(input, IN_CONTACT_BUDGET);
  findPairs(budget > 0 ? culled + budget : Infinity);
  const paired = now();

  // The frame before is forgotten while this is written, so nothing may fail from there on.
  const bytes = viewsOutBytes() + pairsOutBytes() + (<u64>rejectedCount << 2);
  reserveOut(bytes, viewsOutParts() + PAIRS_OUT_PARTS + 1);
  takePairs();
  beginOut();
  store<u32>(out, load<u32>(input, IN_FRAME), OUT_FRAME);
  store<u32>(out, load<u32>(input, IN_EPOCH), OUT_EPOCH);
  writeViews();
  writePairs();
  writeRejected();
  store<u32>(out, <u32>outUsed, OUT_BYTES);
  store<f64>(out, updated - start, OUT_MS_UPDATE);
  store<f64>(out, culled - updated, OUT_MS_CULL);
  store<f64>(out, paired - culled, OUT_MS_CONTACTS);
  store<f64>(out, now() - start, OUT_MS_TOTAL);
  return out;
}

/** Takes a frame's views and transforms over without making one. */
export function placeFrame(input: usize): void {
  rejectedCount = 0;
  applyViews(input);
  applyBlocks(input);
  applyTransforms(input);
}

// --- in ---

function applyViews(input: usize): void {
  const count = load<u32>(input, IN_VIEW_COUNT);
  for (let i: u32 = 0; i < count; i++) {
    const record = input + load<u32>(input, IN_VIEWS) + i * VIEW_BYTES;
    setView(load<u32>(record, VIEW_SLOT), record);
  }
}

function apply(id: u32, matrix: Affine): void {
  // An object that was removed while its transform was under way is none of our business.
  if (isAlive(id) && !moveObject(slotOf(id), matrix)) reject(id);
}

function reject(id: u32): void {
  rejected = reserve(rejected, rejectedCount << 2, <u64>(rejectedCount + 1) << 2);
  let at = rejectedCount;
  while (at > 0 && load<u32>(rejected + (<usize>(at - 1) << 2)) > id) at--;
  if (at > 0 && load<u32>(rejected + (<usize>(at - 1) << 2)) == id) return;
  memory.copy(rejected + (<usize>(at + 1) << 2), rejected + (<usize>at << 2), <usize>(rejectedCount - at) << 2);
  store<u32>(rejected + (<usize>at << 2), id);
  rejectedCount++;
}

function applyTransforms(input: usize): void {
  const count = load<u32>(input, IN_TRANSFORM_COUNT);
  const ids = input + load<u32>(input, IN_IDS);
  const matrices = input + load<u32>(input, IN_MATRICES);
  for (let i: u32 = 0; i < count; i++) {
    if ((i & 63) == 0) readAhead(ids + (<usize>i << 2), min<u32>(count - i, 64));
    apply(load<u32>(ids + (<usize>i << 2)), changetype<Affine>(matrices + i * MATRIX_BYTES));
  }
}

function applyBlocks(input: usize): void {
  let block = input + load<u32>(input, IN_BLOCKS);
  for (let n = load<u32>(input, IN_BLOCK_COUNT); n > 0; n--) {
    const count = load<u32>(block, BLOCK_COUNT);
    const ids = input + load<u32>(block, BLOCK_IDS);
    const matrices = input + load<u32>(block, BLOCK_MATRICES);
    const wide = load<u32>(block, BLOCK_FLOAT_BYTES) == 8;
    columns64(parent, block + BLOCK_PARENT);
    const alone = isIdentity(parent);
    for (let i: u32 = 0; i < count; i++) {
      if ((i & 63) == 0) readAhead(ids + (<usize>i << 2), min<u32>(count - i, 64));
      const id = load<u32>(ids + (<usize>i << 2));
      const at = matrices + <usize>i * (wide ? 128 : 64);
      if (!(wide ? isAffine64(at) : isAffine32(at))) {
        if (isAlive(id)) reject(id);
        continue;
      }
      if (wide) columns64(instance, at);
      else columns32(instance, at);
      if (!alone) multiply(world, parent, instance);
      apply(id, alone ? instance : world);
    }
    block = input + load<u32>(block, BLOCK_NEXT);
  }
}

let ahead: u32 = 0;

/**
 * Reads where many objects are going to be written in their trees, as the caches are what that waits for, and so for
 * all at once: frames of 10,000 rotating boxes take 0.88 of the time.
 */
function readAhead(ids: usize, count: u32): void {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const slot = slotOf(load<u32>(ids + (<usize>i << 2)));
    if (slot >= slotCount) continue;
    const box = boxAt(slot);
    if (box.position == UNPLACED) continue;
    const tree = treeOf(box.tree);
    const at = changetype<usize>(candidateAt(tree, box.position)), lane = laneAt(tree, box.position);
    sum += load<u32>(at) + load<u32>(at, 64) + load<u32>(at, 128) + load<u32>(lane) + load<u32>(lane, 64);
  }
  ahead = sum;
}

/** Whether the bottom row of a 4×4 column-major matrix is 0, 0, 0, 1; the last may be rounded, as inverting does. */
function isAffine64(at: usize): bool {
  if (load<f64>(at, 24) != 0 || load<f64>(at, 56) != 0 || load<f64>(at, 88) != 0) return false;
  return Math.abs(load<f64>(at, 120) - 1) < 1e-9;
}

/** Of f32. */
function isAffine32(at: usize): bool {
  if (load<f32>(at, 12) != 0 || load<f32>(at, 28) != 0 || load<f32>(at, 44) != 0) return false;
  return Math.abs(<f64>load<f32>(at, 60) - 1) < 1e-9;
}

/** The upper three rows of a 4×4 column-major matrix of f64. */
function columns64(map: Affine, from: usize): void {
  const to = changetype<usize>(map);
  v128.store(to, v128.load(from));
  v128.store(to, v128.shuffle<f64>(v128.load(from, 16), v128.load(from, 32), 0, 2), 16);
  v128.store(to, v128.load(from, 40), 32);
  v128.store(to, v128.load(from, 64), 48);
  v128.store(to, v128.shuffle<f64>(v128.load(from, 80), v128.load(from, 96), 0, 2), 64);
  v128.store(to, v128.load(from, 104), 80);
}

/** Of f32. */
function columns32(map: Affine, from: usize): void {
  const to = changetype<usize>(map);
  const x = v128.load(from), y = v128.load(from, 16), z = v128.load(from, 32), t = v128.load(from, 48);
  v128.store(to, f64x2.promote_low_f32x4(x));
  v128.store(to, f64x2.promote_low_f32x4(v128.shuffle<f32>(x, y, 2, 4, 2, 4)), 16);
  v128.store(to, f64x2.promote_low_f32x4(v128.shuffle<f32>(y, y, 1, 2, 1, 2)), 32);
  v128.store(to, f64x2.promote_low_f32x4(z), 48);
  v128.store(to, f64x2.promote_low_f32x4(v128.shuffle<f32>(z, t, 2, 4, 2, 4)), 64);
  v128.store(to, f64x2.promote_low_f32x4(v128.shuffle<f32>(t, t, 1, 2, 1, 2)), 80);
}

// --- out ---

function writeRejected(): void {
  const list = append(rejectedCount << 2);
  memory.copy(out + list, rejected, <usize>rejectedCount << 2);
  store<u32>(out, rejectedCount, OUT_REJECTED_COUNT);
  store<u32>(out, list, OUT_REJECTED);
}

// One frame: the buffer in is applied, views and pairs are found, the buffer out is written.

import {
  BLOCK_COUNT, BLOCK_FLOAT_BYTES, BLOCK_IDS, BLOCK_MATRICES, BLOCK_NEXT, BLOCK_PARENT, IN_BLOCKS, IN_BLOCK_COUNT,
  IN_EPOCH, IN_FRAME, IN_IDS, IN_MATRICES, IN_TRANSFORM_COUNT, IN_VIEWS, IN_VIEW_COUNT, MATRIX_BYTES,
  OUT_BYTES, OUT_DEPTHS, OUT_ENDED_A, OUT_ENDED_B, OUT_ENDED_COUNT, OUT_EPOCH, OUT_FRAME, OUT_HEADER_BYTES,
  OUT_MS_CONTACTS, OUT_MS_CULL, OUT_MS_TOTAL, OUT_MS_UPDATE, OUT_NORMALS, OUT_PAIR_A, OUT_PAIR_B, OUT_PAIR_BEGUN,
  OUT_PAIR_CONTAINED, OUT_PAIR_COUNT, OUT_PAIR_START, OUT_POINTS, OUT_POINT_COUNT, OUT_REJECTED, OUT_REJECTED_COUNT,
  OUT_VIEWS, OUT_VIEW_BYTES, OUT_VIEW_COUNT, OUT_VIEW_COUNT_IDS, OUT_VIEW_ENTERED, OUT_VIEW_ENTERED_COUNT,
  OUT_VIEW_IDS, OUT_VIEW_INSIDE, OUT_VIEW_LEFT, OUT_VIEW_LEFT_COUNT, OUT_VIEW_SLOT, VIEW_BYTES, VIEW_SLOT,
} from '../../../shared/layout';
import { now } from '../host';
import { Affine, isIdentity, multiply } from '../math/affine';
import { reserve } from '../memory';
import { cull } from './cull';
import { idAt, isAlive, slotOf } from './objects';
import { countPairs, ended, endedCount, findPairs, pairCount, pairIn, pairs, takePairs } from './pairs';
import { moveObject, updateTrees } from './scene';
import { countView, setView, viewAt, viewCount } from './views';

/** Of the answer: each ends at a multiple of 16. */
const PARTS = 11;
const VIEW_PARTS = 3;

let out: usize = 0;
let outUsed: usize = 0;
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
  findPairs();
  const paired = now();

  reserveOut();
  takePairs();
  outUsed = 0;
  append(OUT_HEADER_BYTES);
  memory.fill(out, 0, OUT_HEADER_BYTES);
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
  if (!isAlive(id)) return;
  if (moveObject(slotOf(id), matrix)) return;
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
      if (wide) columns64(instance, matrices + <usize>i * 128);
      else columns32(instance, matrices + <usize>i * 64);
      if (!alone) multiply(world, parent, instance);
      apply(load<u32>(ids + (<usize>i << 2)), alone ? instance : world);
    }
    block = input + load<u32>(block, BLOCK_NEXT);
  }
}

/** The upper three rows of a 4×4 column-major matrix of f64. */
function columns64(to: Affine, from: usize): void {
  for (let column: usize = 0; column < 4; column++) {
    const at = changetype<usize>(to) + column * 24;
    v128.store(at, v128.load(from + (column << 5)));
    store<f64>(at, load<f64>(from + (column << 5), 16), 16);
  }
}

/** Of f32. */
function columns32(to: Affine, from: usize): void {
  for (let column: usize = 0; column < 4; column++) {
    const at = changetype<usize>(to) + column * 24;
    const values = v128.load(from + (column << 4));
    v128.store(at, f64x2.promote_low_f32x4(values));
    store<f64>(at, <f64>f32x4.extract_lane(values, 2), 16);
  }
}

// --- out ---

/** Room for all of the answer. The frame before is forgotten while it is written, so nothing may fail from there on. */
function reserveOut(): void {
  const pairs = <u64>countPairs();
  let bytes = <u64>OUT_HEADER_BYTES + pairs * 14 + 4 + <u64>endedCount * 8 + <u64>rejectedCount * 4 + 16 * PARTS;
  for (let i: u32 = 0; i < viewCount; i++) {
    const view = viewAt(i);
    if (!view.active) continue;
    countView(view);
    const ids = <u64>view.insideCount + view.crossingCount + view.enteredCount + view.leftCount;
    bytes += OUT_VIEW_BYTES + ids * 4 + 16 * VIEW_PARTS;
  }
  out = reserve(out, 0, bytes);
}

/** `bytes` more, 16-aligned; answers their offset. */
function append(bytes: usize): u32 {
  const offset = outUsed;
  outUsed = (offset + bytes + 15) & ~15;
  return <u32>offset;
}

function writeViews(): void {
  let count: u32 = 0;
  for (let i: u32 = 0; i < viewCount; i++) if (viewAt(i).active) count++;
  const entries = append(count * OUT_VIEW_BYTES);
  store<u32>(out, count, OUT_VIEW_COUNT);
  store<u32>(out, entries, OUT_VIEWS);
  let entry = entries;
  for (let i: u32 = 0; i < viewCount; i++) {
    if (!viewAt(i).active) continue;
    writeView(i, entry);
    entry += OUT_VIEW_BYTES;
  }
}

function writeView(slot: u32, entry: usize): void {
  const view = viewAt(slot);
  const words = view.words;
  const inside = view.insideCount, crossing = view.crossingCount, entered = view.enteredCount, left = view.leftCount;
  const ids = append((inside + crossing) << 2);
  const enteredIds = append(entered << 2);
  const leftIds = append(left << 2);
  let at = listBits(view.inside, words, out + ids);
  listBits(view.crossing, words, at);
  // The bitmaps turn into those of the frame before; on the way they are the differences.
  for (let w: usize = 0; w < words; w++) {
    const now = load<u32>(view.inside + (w << 2)) | load<u32>(view.crossing + (w << 2));
    const then = load<u32>(view.before + (w << 2));
    store<u32>(view.inside + (w << 2), now & ~then);
    store<u32>(view.crossing + (w << 2), then & ~now);
    store<u32>(view.before + (w << 2), now);
  }
  listBits(view.inside, words, out + enteredIds);
  at = listBits(view.crossing, words, out + leftIds);
  insertSorted(out + leftIds, left - view.goneCount, view.gone, view.goneCount);
  view.goneCount = 0;

  const record = out + entry;
  store<u32>(record, slot, OUT_VIEW_SLOT);
  store<u32>(record, inside + crossing, OUT_VIEW_COUNT_IDS);
  store<u32>(record, inside, OUT_VIEW_INSIDE);
  store<u32>(record, ids, OUT_VIEW_IDS);
  store<u32>(record, entered, OUT_VIEW_ENTERED_COUNT);
  store<u32>(record, enteredIds, OUT_VIEW_ENTERED);
  store<u32>(record, left, OUT_VIEW_LEFT_COUNT);
  store<u32>(record, leftIds, OUT_VIEW_LEFT);
}

/** Writes the ids of all set slots, in order; answers where they end. */
function listBits(bitmap: usize, words: u32, to: usize): usize {
  for (let w: u32 = 0; w < words; w++) {
    let bits = load<u32>(bitmap + (<usize>w << 2));
    while (bits != 0) {
      store<u32>(to, idAt((w << 5) + ctz(bits)));
      to += 4;
      bits &= bits - 1;
    }
  }
  return to;
}

/** Merges a few unsorted ids into a sorted list that has room for them. */
function insertSorted(list: usize, count: u32, added: usize, addedCount: u32): void {
  for (let i: u32 = 0; i < addedCount; i++) {
    const id = load<u32>(added + (<usize>i << 2));
    let at = list + (count++ << 2);
    while (at > list && load<u32>(at - 4) > id) {
      store<u32>(at, load<u32>(at - 4));
      at -= 4;
    }
    store<u32>(at, id);
  }
}

function writePairs(): void {
  const a = append(pairCount << 2), b = append(pairCount << 2);
  const begun = append(pairCount), contained = append(pairCount);
  const start = append((pairCount + 1) << 2);
  const endedA = append(endedCount << 2), endedB = append(endedCount << 2);
  const none = append(0);
  for (let i: u32 = 0; i < pairCount; i++) {
    const pair = pairIn(pairs, i);
    store<u32>(out + a + (<usize>i << 2), pair.a);
    store<u32>(out + b + (<usize>i << 2), pair.b);
    store<u8>(out + begun + i, <u8>pair.begun);
    store<u8>(out + contained + i, <u8>pair.contained);
  }
  memory.fill(out + start, 0, <usize>(pairCount + 1) << 2); // pairs without points
  for (let i: u32 = 0; i < endedCount; i++) {
    const pair = pairIn(ended, i);
    store<u32>(out + endedA + (<usize>i << 2), pair.a);
    store<u32>(out + endedB + (<usize>i << 2), pair.b);
  }
  store<u32>(out, pairCount, OUT_PAIR_COUNT);
  store<u32>(out, a, OUT_PAIR_A);
  store<u32>(out, b, OUT_PAIR_B);
  store<u32>(out, begun, OUT_PAIR_BEGUN);
  store<u32>(out, contained, OUT_PAIR_CONTAINED);
  store<u32>(out, start, OUT_PAIR_START);
  store<u32>(out, endedCount, OUT_ENDED_COUNT);
  store<u32>(out, endedA, OUT_ENDED_A);
  store<u32>(out, endedB, OUT_ENDED_B);
  store<u32>(out, 0, OUT_POINT_COUNT);
  store<u32>(out, none, OUT_POINTS);
  store<u32>(out, none, OUT_NORMALS);
  store<u32>(out, none, OUT_DEPTHS);
}

function writeRejected(): void {
  const list = append(rejectedCount << 2);
  memory.copy(out + list, rejected, <usize>rejectedCount << 2);
  store<u32>(out, rejectedCount, OUT_REJECTED_COUNT);
  store<u32>(out, list, OUT_REJECTED);
}

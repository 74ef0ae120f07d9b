// What the views see, in the output buffer.

import {
  OUT_VIEWS, OUT_VIEW_BYTES, OUT_VIEW_COUNT, OUT_VIEW_COUNT_IDS, OUT_VIEW_ENTERED, OUT_VIEW_ENTERED_COUNT,
  OUT_VIEW_IDS, OUT_VIEW_INSIDE, OUT_VIEW_LEFT, OUT_VIEW_LEFT_COUNT, OUT_VIEW_OCCLUDED, OUT_VIEW_OCCLUDED_COUNT,
  OUT_VIEW_OCCLUDERS, OUT_VIEW_OCCLUDER_COUNT, OUT_VIEW_SLOT,
} from '../../../../shared/layout';
import { idsOfFrame } from '../frame-snapshot';
import { append, out, writeIds } from './out';
import { lastIds, updateLastIds } from '../view/last-ids';
import { countView, enteredBits, leftBits, viewAt, viewCount } from '../view/views';

const PARTS_OF_VIEW = 5;

export function viewsOutParts(): u32 {
  return 1 + PARTS_OF_VIEW * viewCount;
}

export function viewsOutBytes(): u64 {
  let bytes: u64 = 0;
  for (let i: u32 = 0; i < viewCount; i++) {
    const view = viewAt(i);
    if (!view.active) continue;
    countView(view);
    const ids =
      <u64>view.insideCount + view.crossingCount + view.enteredCount + view.leftCount + view.occludedCount +
      view.occluderCount;
    bytes += OUT_VIEW_BYTES + ids * 4;
  }
  return bytes;
}

/** Writes what each view sees, and makes this frame the one that the next frame is compared with. */
export function writeViews(): void {
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
  updateLastIds();
}

function writeView(slot: u32, entry: usize): void {
  const view = viewAt(slot);
  const words = view.words;
  const currentIds = idsOfFrame();
  const insideCount = view.insideCount, crossingCount = view.crossingCount, enteredCount = view.enteredCount,
    leftCount = view.leftCount;
  const ids = append((insideCount + crossingCount) << 2);
  const enteredIds = append(enteredCount << 2);
  const leftIds = append(leftCount << 2);
  const occludedIds = append(view.occludedCount << 2);
  const occluderIds = append(view.occluderCount << 2);
  const crossingIds = writeIds(view.inside, words, currentIds, out + ids);
  writeIds(view.crossing, words, currentIds, crossingIds);
  // The bitmaps become those of the last frame; in between they hold the differences.
  for (let at: usize = 0, end = <usize>words << 2; at < end; at += 8) {
    const currentBits = load<u64>(view.inside + at) | load<u64>(view.crossing + at);
    const previousBits = load<u64>(view.previous + at);
    store<u64>(view.inside + at, enteredBits(currentBits, previousBits, at));
    store<u64>(view.crossing + at, leftBits(currentBits, previousBits, at));
    store<u64>(view.previous + at, currentBits);
  }
  writeIds(view.inside, words, currentIds, out + enteredIds);
  writeIds(view.crossing, words, lastIds, out + leftIds);
  if (view.hasOcclusion) {
    writeIds(view.occluded, words, currentIds, out + occludedIds);
    writeIds(view.occluders, words, currentIds, out + occluderIds);
  }

  const record = out + entry;
  store<u32>(record, slot, OUT_VIEW_SLOT);
  store<u32>(record, insideCount + crossingCount, OUT_VIEW_COUNT_IDS);
  store<u32>(record, insideCount, OUT_VIEW_INSIDE);
  store<u32>(record, ids, OUT_VIEW_IDS);
  store<u32>(record, enteredCount, OUT_VIEW_ENTERED_COUNT);
  store<u32>(record, enteredIds, OUT_VIEW_ENTERED);
  store<u32>(record, leftCount, OUT_VIEW_LEFT_COUNT);
  store<u32>(record, leftIds, OUT_VIEW_LEFT);
  store<u32>(record, view.occludedCount, OUT_VIEW_OCCLUDED_COUNT);
  store<u32>(record, occludedIds, OUT_VIEW_OCCLUDED);
  store<u32>(record, view.occluderCount, OUT_VIEW_OCCLUDER_COUNT);
  store<u32>(record, occluderIds, OUT_VIEW_OCCLUDERS);
}

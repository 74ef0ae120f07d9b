// Views: a frustum as planes, and which objects it held in the frame before, a bit per slot.

import {
  VIEW_LAYERS, VIEW_MARGIN, VIEW_MATRIX, VIEW_MIN_PIXELS, VIEW_PROJECTION, VIEW_VIEWPORT,
} from '../../../../shared/layout';
import { PLANE_BYTES, Plane, combineUnit } from '../../math/plane';
import { release, reserve } from '../../memory';
import { beforeFar, beyondNear, clipW, clipX, clipY, setLens } from './projection';
import { idAt, isAlive, slotOf } from '../objects';

@unmanaged
export class View {
  active: u32;
  layers: u32;
  planeCount: u32;
  words: u32; // in each of the bitmaps
  inside: usize; // bitmap by slot, of the frame that is made
  crossing: usize;
  before: usize; // inside or crossing in the frame before
  gone: usize; // ids that were removed since and are to be listed as left
  goneCount: u32;
  leftCount: u32; // how many ids the frame that is made lists as left, and of the others
  insideCount: u32;
  crossingCount: u32;
  enteredCount: u32;
  pad: u32;
  minPixels: f64;
  /** Pixels of a unit length in the world at clip w = 1; where pixels are not square, the more of them. */
  pixelsPerUnit: f64;
  /** Clip w of a point. */
  wx: f64; wy: f64; wz: f64; ww: f64;
  /** Unit normals inwards. Six follow one another, and where it stands alone up to 32. */
  plane: f64;
}

const VIEW_STRIDE: usize = offsetof<View>('plane') + 6 * PLANE_BYTES;
let views: usize = 0;
/** Slots that may be in use: all below. */
export let viewCount: u32 = 0;

/** What a query asks about; it is in no frame. */
export const asked = changetype<View>(memory.data(104 + 32 * 32, 16));

// @ts-ignore: decorator
@inline
export function viewAt(slot: u32): View {
  return changetype<View>(views + slot * <u32>VIEW_STRIDE);
}

// @ts-ignore: decorator
@inline
export function planeOf(view: View, i: u32): Plane {
  return changetype<Plane>(changetype<usize>(view) + offsetof<View>('plane') + i * <u32>PLANE_BYTES);
}

/** Takes over a view record (layout.ts, VIEW_*) for the frames to come. Throws OUT_OF_MEMORY, with nothing changed. */
export function setView(slot: u32, record: usize): void {
  if (slot >= viewCount) {
    const used = viewCount * <u32>VIEW_STRIDE;
    const bytes = <u64>(slot + 1) * VIEW_STRIDE;
    views = reserve(views, used, bytes);
    memory.fill(views + used, 0, <usize>bytes - used);
    viewCount = slot + 1;
  }
  describeView(viewAt(slot), record);
}

export function describeView(view: View, record: usize): void {
  setLens(record);
  view.active = 1;
  view.layers = load<u32>(record, VIEW_LAYERS);
  // Gribb and Hartmann, "Fast Extraction of Viewing Frustum Planes", 2001.
  const margin = load<f64>(record, VIEW_MARGIN);
  view.planeCount = 0;
  addPlane(view, 1, clipX, 1, margin);
  addPlane(view, -1, clipX, 1, margin);
  addPlane(view, 1, clipY, 1, margin);
  addPlane(view, -1, clipY, 1, margin);
  addPlane(view, 1, beyondNear, 0, margin);
  addPlane(view, 1, beforeFar, 0, margin);

  view.minPixels = load<f64>(record, VIEW_MIN_PIXELS);
  view.pixelsPerUnit = max(pixelsPerUnit(record, 0), pixelsPerUnit(record, 1));
  view.wx = clipW.x;
  view.wy = clipW.y;
  view.wz = clipW.z;
  view.ww = clipW.w;
}

/** Along x or y. */
function pixelsPerUnit(record: usize, axis: usize): f64 {
  const size = load<f64>(record + (axis << 3), VIEW_VIEWPORT + 16);
  const focus = load<f64>(record + axis * 40, VIEW_PROJECTION);
  // 1 but for a view that scales.
  const row = record + (axis << 3);
  const x = load<f64>(row, VIEW_MATRIX), y = load<f64>(row, VIEW_MATRIX + 32), z = load<f64>(row, VIEW_MATRIX + 64);
  return 0.5 * size * abs(focus) * sqrt(x * x + y * y + z * z);
}

/** The plane sign · value + w · clip w ≥ 0. One without a normal, as the far plane at infinity, is none. */
function addPlane(view: View, sign: f64, value: Plane, w: f64, margin: f64): void {
  const plane = planeOf(view, view.planeCount);
  if (!combineUnit(plane, sign, value, w, clipW)) return;
  plane.w += margin;
  view.planeCount++;
}

/** One that never came in a frame is not there. */
export function removeView(slot: u32): void {
  if (slot >= viewCount) return;
  const view = viewAt(slot);
  release(view.inside);
  release(view.crossing);
  release(view.before);
  release(view.gone);
  memory.fill(changetype<usize>(view), 0, VIEW_STRIDE);
  while (viewCount > 0 && !viewAt(viewCount - 1).active) viewCount--;
}

/** Bitmaps large enough for all slots, those of the new frame cleared. */
export function beginView(view: View, slots: u32): void {
  const words = (slots + 31) >> 5;
  const bytes: u64 = max<u64>(<u64>words << 2, 64);
  view.inside = reserve(view.inside, 0, bytes);
  view.crossing = reserve(view.crossing, 0, bytes);
  view.before = reserve(view.before, view.words << 2, bytes);
  if (words > view.words) {
    memory.fill(view.before + (<usize>view.words << 2), 0, <usize>(words - view.words) << 2);
    view.words = words;
  }
  memory.fill(view.inside, 0, <usize>words << 2);
  memory.fill(view.crossing, 0, <usize>words << 2);
}

/**
 * Counts what the frame that is made will list, and makes room for what will be removed after it: forgetting an object
 * must not need memory.
 */
export function countView(view: View): void {
  let inside: u32 = 0, crossing: u32 = 0, entered: u32 = 0;
  let left = view.goneCount;
  for (let w: usize = 0; w < view.words; w++) {
    const i = load<u32>(view.inside + (w << 2)), c = load<u32>(view.crossing + (w << 2));
    const b = load<u32>(view.before + (w << 2));
    inside += popcnt(i);
    crossing += popcnt(c);
    entered += popcnt((i | c) & ~b);
    left += popcnt(b & ~(i | c));
  }
  view.insideCount = inside;
  view.crossingCount = crossing;
  view.enteredCount = entered;
  view.leftCount = left;
  view.gone = reserve(view.gone, view.goneCount << 2, <u64>max(view.goneCount, inside + crossing) << 2);
}

/** What a view saw in a frame that another core made. */
export function setSeen(slot: u32, ids: usize, count: u32, slots: u32): void {
  if (slot >= viewCount || !viewAt(slot).active) return;
  const view = viewAt(slot);
  beginView(view, slots);
  view.gone = reserve(view.gone, 0, <u64>count << 2);
  for (let i: usize = 0; i < count; i++) {
    const id = load<u32>(ids + (i << 2));
    if (isAlive(id)) setBit(view.before, slotOf(id));
    else store<u32>(view.gone + (view.goneCount++ << 2), id);
  }
}

// @ts-ignore: decorator
@inline
export function setBit(bitmap: usize, slot: u32): void {
  const at = bitmap + (<usize>(slot >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (slot & 31)));
}

/** An object goes: views that held it will list it as left. To be called while its id is still there. */
export function forgetInViews(slot: u32): void {
  for (let i: u32 = 0; i < viewCount; i++) {
    const view = viewAt(i);
    if (!view.active || slot >> 5 >= view.words) continue;
    const at = view.before + (<usize>(slot >> 5) << 2);
    const bit: u32 = 1 << (slot & 31);
    if (!(load<u32>(at) & bit)) continue;
    store<u32>(view.gone + (view.goneCount++ << 2), idAt(slot));
    store<u32>(at, load<u32>(at) & ~bit);
  }
}

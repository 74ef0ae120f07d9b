// Views: a frustum as planes (Gribb and Hartmann, "Fast Extraction of Viewing Frustum Planes from the World-View-Projection
// Matrix", 2001), and which objects it contained in the previous frame, one bit per slot. Planes are float64, in world units.

import {
  OCCLUSION_NONE, VIEW_LAYERS, VIEW_MARGIN, VIEW_MATRIX, VIEW_MIN_PIXELS, VIEW_OCCLUSION, VIEW_PROJECTION, VIEW_VIEWPORT,
} from '../../../../shared/layout';
import { PLANE_BYTES, Plane, combineUnit } from '../../math/plane';
import { allocate, release, reserve } from '../../memory';
import { farPlane, nearPlane, clipW, clipX, clipY, setProjection } from './projection';
import { OCCLUSION_CAMERA_BYTES, OcclusionCamera, setOcclusionCamera } from './occlusion-camera';
import { lastSlotCount, restoreLastId, replacedBits } from './last-ids';
import { slotOf } from '../objects';
import { wordsFor } from '../slot-set';

@unmanaged
export class View {
  active: u32;
  layers: u32;
  planeCount: u32;
  words: u32; // of each bitmap, an even number
  inside: usize; // bitmap by slot, of the current frame
  crossing: usize;
  previous: usize; // inside or crossing in the previous frame
  camera: usize; // an OcclusionCamera (occlusion-camera.ts) if occlusion was ever requested, else 0
  hasOcclusion: u32;
  occluded: usize; // bitmaps, if occlusion is requested
  occluders: usize;
  occludedCount: u32;
  occluderCount: u32;
  leftCount: u32; // how many ids the current frame lists as left, and likewise the others
  insideCount: u32;
  crossingCount: u32;
  enteredCount: u32;
  minPixels: f64;
  /** The pixels of a unit length in the world at clip w = 1; if pixels are not square, the larger number. */
  pixelsPerUnit: f64;
  /** The function that maps a world point to its clip w. */
  wx: f64; wy: f64; wz: f64; ww: f64;
  /** The planes, with unit normals inwards: six, or up to 32 in the separate view of queries. */
  plane: f64;
}

const VIEW_STRIDE: usize = offsetof<View>('plane') + 6 * PLANE_BYTES;
let views: usize = 0;
/** The number of slots that may be in use: all used slots are below it. */
export let viewCount: u32 = 0;

/** The most planes that a query may give. */
const MAX_PLANES = 32;

/** The view of a query; it is in no frame. */
export const queryView = changetype<View>(memory.data(<i32>offsetof<View>('plane') + MAX_PLANES * <i32>PLANE_BYTES, 16));

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

/** Takes over a view record (layout.ts, VIEW_*) for the following frames. Throws OUT_OF_MEMORY, with nothing changed. */
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
  const hasOcclusion = load<u32>(record, VIEW_OCCLUSION) != OCCLUSION_NONE;
  if (hasOcclusion && view.camera == 0) view.camera = allocate(OCCLUSION_CAMERA_BYTES);
  setProjection(record);
  view.hasOcclusion = u32(hasOcclusion);
  if (hasOcclusion) setOcclusionCamera(changetype<OcclusionCamera>(view.camera), record);
  view.active = 1;
  view.layers = load<u32>(record, VIEW_LAYERS);
  // Gribb and Hartmann, "Fast Extraction of Viewing Frustum Planes", 2001.
  const margin = load<f64>(record, VIEW_MARGIN);
  view.planeCount = 0;
  addPlane(view, 1, clipX, 1, margin);
  addPlane(view, -1, clipX, 1, margin);
  addPlane(view, 1, clipY, 1, margin);
  addPlane(view, -1, clipY, 1, margin);
  addPlane(view, 1, nearPlane, 0, margin);
  addPlane(view, 1, farPlane, 0, margin);

  view.minPixels = load<f64>(record, VIEW_MIN_PIXELS);
  view.pixelsPerUnit = max(pixelsPerUnit(record, 0), pixelsPerUnit(record, 1));
  view.wx = clipW.x;
  view.wy = clipW.y;
  view.wz = clipW.z;
  view.ww = clipW.w;
}

/** Returns the pixels of a unit length along x or y at clip w = 1. */
function pixelsPerUnit(record: usize, axis: usize): f64 {
  const size = load<f64>(record + (axis << 3), VIEW_VIEWPORT + 16);
  const focus = load<f64>(record + axis * 40, VIEW_PROJECTION);
  // 1 unless the view matrix scales.
  const row = record + (axis << 3);
  const x = load<f64>(row, VIEW_MATRIX), y = load<f64>(row, VIEW_MATRIX + 32), z = load<f64>(row, VIEW_MATRIX + 64);
  return 0.5 * size * abs(focus) * sqrt(x * x + y * y + z * z);
}

/** Adds the plane sign · value + w · clip w ≥ 0. Skips a plane without a normal, such as a far plane at infinity. */
function addPlane(view: View, sign: f64, value: Plane, w: f64, margin: f64): void {
  const plane = planeOf(view, view.planeCount);
  if (!combineUnit(plane, sign, value, w, clipW)) return;
  plane.w += margin;
  view.planeCount++;
}

/** Removes a view. Does nothing if no frame has brought it. */
export function removeView(slot: u32): void {
  if (slot >= viewCount) return;
  const view = viewAt(slot);
  release(view.inside);
  release(view.crossing);
  release(view.previous);
  release(view.camera);
  release(view.occluded);
  release(view.occluders);
  memory.fill(changetype<usize>(view), 0, VIEW_STRIDE);
  while (viewCount > 0 && !viewAt(viewCount - 1).active) viewCount--;
}

/**
 * Makes the bitmaps large enough for all slots, and clears those of the new frame. They never shrink: a call for fewer slots
 * than an earlier one leaves the others empty. Throws OUT_OF_MEMORY.
 */
export function beginView(view: View, slotCount: u32): void {
  const words = max(wordsFor(slotCount), view.words);
  const bytes: u64 = max<u64>(<u64>words << 2, 64);
  view.inside = reserve(view.inside, 0, bytes);
  view.crossing = reserve(view.crossing, 0, bytes);
  view.previous = reserve(view.previous, view.words << 2, bytes);
  if (view.hasOcclusion) {
    view.occluded = reserve(view.occluded, 0, bytes);
    view.occluders = reserve(view.occluders, 0, bytes);
    memory.fill(view.occluded, 0, <usize>words << 2);
    memory.fill(view.occluders, 0, <usize>words << 2);
  }
  if (words > view.words) {
    memory.fill(view.previous + (<usize>view.words << 2), 0, <usize>(words - view.words) << 2);
    view.words = words;
  }
  memory.fill(view.inside, 0, <usize>words << 2);
  memory.fill(view.crossing, 0, <usize>words << 2);
}

/** Counts the ids that the frame will list for a view. */
export function countView(view: View): void {
  let inside: u32 = 0, crossing: u32 = 0, entered: u32 = 0, left: u32 = 0;
  for (let at: usize = 0, end = <usize>view.words << 2; at < end; at += 8) {
    const i = load<u64>(view.inside + at), c = load<u64>(view.crossing + at), b = load<u64>(view.previous + at);
    inside += <u32>popcnt(i);
    crossing += <u32>popcnt(c);
    entered += <u32>popcnt(enteredBits(i | c, b, at));
    left += <u32>popcnt(leftBits(i | c, b, at));
  }
  view.insideCount = inside;
  view.crossingCount = crossing;
  view.enteredCount = entered;
  view.leftCount = left;
  view.occludedCount = view.hasOcclusion ? countBits(view.occluded, view.words) : 0;
  view.occluderCount = view.hasOcclusion ? countBits(view.occluders, view.words) : 0;
}

function countBits(bitmap: usize, words: u32): u32 {
  let count: u32 = 0;
  for (let at = bitmap, end = bitmap + (<usize>words << 2); at < end; at += 8) count += <u32>popcnt(load<u64>(at));
  return count;
}

/**
 * Selects objects that are seen now and were not in the last frame, of 64 bits of both bitmaps; `at` is their byte offset.
 */
// @ts-ignore: decorator
@inline
export function enteredBits(current: u64, previous: u64, at: usize): u64 {
  return current & (~previous | replacedBits(at));
}

/** Selects objects that were seen in the last frame and are not now. */
// @ts-ignore: decorator
@inline
export function leftBits(current: u64, previous: u64, at: usize): u64 {
  return previous & (~current | replacedBits(at));
}

/** Sets what a view saw in the last frame, which another core made. Throws OUT_OF_MEMORY. */
export function setSeen(slot: u32, ids: usize, count: u32): void {
  if (slot >= viewCount || !viewAt(slot).active) return;
  const view = viewAt(slot);
  for (let i: usize = 0; i < count; i++) restoreLastId(load<u32>(ids + (i << 2)));
  beginView(view, lastSlotCount);
  for (let i: usize = 0; i < count; i++) setBit(view.previous, slotOf(load<u32>(ids + (i << 2))));
}

// @ts-ignore: decorator
@inline
export function setBit(bitmap: usize, slot: u32): void {
  addBit(bitmap, slot, 1);
}

/** Sets a bit if `bit` is 1, and does nothing if it is 0. */
// @ts-ignore: decorator
@inline
export function addBit(bitmap: usize, slot: u32, bit: u32): void {
  const at = bitmap + (<usize>(slot >> 5) << 2);
  store<u32>(at, load<u32>(at) | (bit << (slot & 31)));
}

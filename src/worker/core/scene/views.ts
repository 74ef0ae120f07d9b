// Views: a frustum as six planes, and which objects it held in the frame before, a bit per slot.

import {
  MAX_VIEWS, VIEW_DEPTH, VIEW_LAYERS, VIEW_MARGIN, VIEW_MATRIX, VIEW_MIN_PIXELS, VIEW_PROJECTION, VIEW_VIEWPORT,
} from '../../../shared/layout';
import { release, reserve } from '../memory';
import { idAt } from './objects';

@unmanaged
export class Plane {
  x: f64; y: f64; z: f64; w: f64; // unit normal inwards; x·p + w ≥ 0 inside
}

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
  leftCount: u32;
  planes: u64; // six planes follow from here
  p00: f64; p01: f64; p02: f64; p03: f64;
  p10: f64; p11: f64; p12: f64; p13: f64;
  p20: f64; p21: f64; p22: f64; p23: f64;
  p30: f64; p31: f64; p32: f64; p33: f64;
  p40: f64; p41: f64; p42: f64; p43: f64;
  p50: f64; p51: f64; p52: f64; p53: f64;
  minPixels: f64;
  /** Pixels of a unit length in the world at clip w = 1; where pixels are not square, the more of them. */
  pixelsPerUnit: f64;
  /** The row of projection · view that gives clip w. */
  wx: f64; wy: f64; wz: f64; ww: f64;
  // How many ids the frame that is made lists; leftCount is above.
  insideCount: u32;
  crossingCount: u32;
  enteredCount: u32;
}

const VIEW_STRIDE: usize = 320;
const views: usize = memory.data(64 * 320, 16);
const product: usize = memory.data(128, 16);

// @ts-ignore: decorator
@inline
export function viewAt(slot: u32): View {
  return changetype<View>(views + slot * <u32>VIEW_STRIDE);
}

// @ts-ignore: decorator
@inline
export function planeOf(view: View, i: u32): Plane {
  return changetype<Plane>(changetype<usize>(view) + offsetof<View>('p00') + (<usize>i << 5));
}

// @ts-ignore: decorator
@inline
function entry(m: usize, row: i32, column: i32): f64 {
  return load<f64>(m + ((column * 4 + row) << 3));
}

/** Of the linear part: 1 but for a view that scales. */
function rowLength(m: usize, row: i32): f64 {
  const x = entry(m, row, 0), y = entry(m, row, 1), z = entry(m, row, 2);
  return sqrt(x * x + y * y + z * z);
}

/** Takes over a view record (layout.ts, VIEW_*). */
export function setView(slot: u32, record: usize): void {
  const view = viewAt(slot);
  view.active = 1;
  view.layers = load<u32>(record, VIEW_LAYERS);
  const projection = record + VIEW_PROJECTION;
  const matrix = record + VIEW_MATRIX;
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 4; column++) {
      let sum: f64 = 0;
      for (let k = 0; k < 4; k++) sum += entry(projection, row, k) * entry(matrix, k, column);
      store<f64>(product + ((column * 4 + row) << 3), sum);
    }
  }
  // Gribb and Hartmann, "Fast Extraction of Viewing Frustum Planes", 2001. A reversed depth range swaps near and
  // far, which changes nothing here.
  const margin = load<f64>(record, VIEW_MARGIN);
  view.planeCount = 0;
  for (let axis = 0; axis < 2; axis++) {
    addPlane(view, axis, 1, 1, margin);
    addPlane(view, axis, -1, 1, margin);
  }
  if (load<u32>(record, VIEW_DEPTH) == 0) addPlane(view, 2, 1, 1, margin);
  else addPlane(view, 2, 1, 0, margin);
  addPlane(view, 2, -1, 1, margin);

  view.minPixels = load<f64>(record, VIEW_MIN_PIXELS);
  view.pixelsPerUnit = 0.5 * max(
    load<f64>(record, VIEW_VIEWPORT + 16) * abs(entry(projection, 0, 0)) * rowLength(matrix, 0),
    load<f64>(record, VIEW_VIEWPORT + 24) * abs(entry(projection, 1, 1)) * rowLength(matrix, 1),
  );
  view.wx = entry(product, 3, 0);
  view.wy = entry(product, 3, 1);
  view.wz = entry(product, 3, 2);
  view.ww = entry(product, 3, 3);
}

/** The plane sign · row + w · (row 3) ≥ 0. One without a normal, as the far plane at infinity, is none. */
function addPlane(view: View, row: i32, sign: f64, w: f64, margin: f64): void {
  const x = sign * entry(product, row, 0) + w * entry(product, 3, 0);
  const y = sign * entry(product, row, 1) + w * entry(product, 3, 1);
  const z = sign * entry(product, row, 2) + w * entry(product, 3, 2);
  const d = sign * entry(product, row, 3) + w * entry(product, 3, 3);
  const length = sqrt(x * x + y * y + z * z);
  const terms =
    abs(entry(product, row, 0)) + abs(entry(product, row, 1)) + abs(entry(product, row, 2)) +
    w * (abs(entry(product, 3, 0)) + abs(entry(product, 3, 1)) + abs(entry(product, 3, 2)));
  if (!(length > terms * 1e-14)) return;
  const plane = planeOf(view, view.planeCount++);
  plane.x = x / length;
  plane.y = y / length;
  plane.z = z / length;
  plane.w = d / length + margin;
}

export function removeView(slot: u32): void {
  const view = viewAt(slot);
  release(view.inside);
  release(view.crossing);
  release(view.before);
  release(view.gone);
  memory.fill(changetype<usize>(view), 0, VIEW_STRIDE);
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

// @ts-ignore: decorator
@inline
export function setBit(bitmap: usize, slot: u32): void {
  const at = bitmap + (<usize>(slot >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (slot & 31)));
}

/** An object goes: views that held it will list it as left. To be called while its id is still there. */
export function forgetInViews(slot: u32): void {
  for (let i: u32 = 0; i < <u32>MAX_VIEWS; i++) {
    const view = viewAt(i);
    if (!view.active || slot >> 5 >= view.words) continue;
    const at = view.before + (<usize>(slot >> 5) << 2);
    const bit: u32 = 1 << (slot & 31);
    if (!(load<u32>(at) & bit)) continue;
    store<u32>(view.gone + (view.goneCount++ << 2), idAt(slot));
    store<u32>(at, load<u32>(at) & ~bit);
  }
}

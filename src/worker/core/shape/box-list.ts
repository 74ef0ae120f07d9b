// User-defined boxes that stand for an object: a list (shared-lists.ts) in object space, shared by objects with equal boxes.
// Rays with PRECISION_OBB hit them, and contacts of detail 'bounds' use them. float64.

import { OBJECT_CENTER } from '../../../shared/layout';
import { invert } from '../math/affine';
import { reserve } from '../memory';
import { contentOf, holdList } from '../shared-lists';
import { HIT_BOX_BYTES, HitBox } from '../skin/hit-boxes';
import { setBoxMap } from './box-map';

/** Header before the boxes. */
@unmanaged
export class BoxList {
  /** The bounds of all boxes, along the axes. */
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
  count: u32;
  pad0: u32; pad1: u32; pad2: u32;
}

const HEADER_BYTES: usize = offsetof<BoxList>();
/** A centre, half sizes and a rotation, as in a description (layout.ts, OBJECT_CENTER and what follows). */
const RECORD_BYTES: usize = 80;
/** Where a list is made before it is known whether an equal one exists. */
let scratch: usize = 0;

// @ts-ignore: decorator
@inline
export function boxList(list: usize): BoxList {
  return changetype<BoxList>(contentOf(list));
}

/** Returns the i-th box of a list. Its `bone` is i. */
// @ts-ignore: decorator
@inline
export function boxInList(list: usize, i: u32): HitBox {
  return changetype<HitBox>(contentOf(list) + HEADER_BYTES + <usize>i * HIT_BOX_BYTES);
}

/**
 * Returns the list of these boxes, ten f64 each: an existing one, or a new one. It is held for the caller, who must drop it.
 * Throws OUT_OF_MEMORY.
 */
export function holdBoxes(records: usize, count: u32): usize {
  const bytes = HEADER_BYTES + <usize>count * HIT_BOX_BYTES;
  scratch = reserve(scratch, 0, bytes);
  const content = scratch;
  memory.fill(content, 0, bytes);
  const header = changetype<BoxList>(content);
  header.count = count;
  header.minX = header.minY = header.minZ = Infinity;
  header.maxX = header.maxY = header.maxZ = -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    const box = changetype<HitBox>(content + HEADER_BYTES + <usize>i * HIT_BOX_BYTES);
    setBoxMap(box.map(), records + <usize>i * RECORD_BYTES - OBJECT_CENTER);
    invert(box.inverse(), box.map());
    box.bone = i;
    const x = abs(box.xx) + abs(box.yx) + abs(box.zx), y = abs(box.xy) + abs(box.yy) + abs(box.zy);
    const z = abs(box.xz) + abs(box.yz) + abs(box.zz);
    header.minX = min(header.minX, box.tx - x); header.maxX = max(header.maxX, box.tx + x);
    header.minY = min(header.minY, box.ty - y); header.maxY = max(header.maxY, box.ty + y);
    header.minZ = min(header.minZ, box.tz - z); header.maxZ = max(header.maxZ, box.tz + z);
  }
  return holdList(content, <u32>bytes);
}

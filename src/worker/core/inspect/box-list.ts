// The list of boxes that one question about the insides finds: oriented boxes as three half axes and a centre, in float32
// about a place that the asker gives, so that they are as exact far from the origin as at it.

import {
  BOX_COUNT, BOX_KIND, BOX_LEVEL, BOX_OWNER, INSPECTED_BOX_BYTES,
} from '../../../shared/layout';
import { Affine } from '../math/affine';
import { reserve } from '../memory';

let boxes: usize = 0;
export let boxCount: u32 = 0;
/** Whether there are more than the asker wanted. */
export let isCutOff: bool = false;
let most: u32 = 0;
let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;

export function beginBoxes(limit: u32, x: f64, y: f64, z: f64): void {
  boxCount = 0;
  isCutOff = false;
  most = limit;
  originX = x; originY = y; originZ = z;
}

/** Lets so many boxes be found in all. */
export function setMost(limit: u32): void {
  most = limit;
}

/**
 * Adds a box, given as the map that makes it of the cube [-1, 1]³ in the world. Answers false where there are enough.
 * Throws OUT_OF_MEMORY.
 */
export function addBox(map: Affine, owner: u32, level: u32, count: u32, kind: u32): bool {
  if (boxCount >= most) {
    isCutOff = true;
    return false;
  }
  const bytes = <usize>INSPECTED_BOX_BYTES;
  boxes = reserve(boxes, boxCount * <u32>bytes, <u64>(boxCount + 1) * bytes);
  const at = boxes + boxCount * <u32>bytes;
  for (let k: usize = 0; k < 9; k++) store<f32>(at + (k << 2), <f32>load<f64>(changetype<usize>(map) + (k << 3)));
  store<f32>(at, <f32>(map.tx - originX), 36);
  store<f32>(at, <f32>(map.ty - originY), 40);
  store<f32>(at, <f32>(map.tz - originZ), 44);
  store<u32>(at, owner, BOX_OWNER);
  store<u32>(at, level, BOX_LEVEL);
  store<u32>(at, count, BOX_COUNT);
  store<u32>(at, kind, BOX_KIND);
  boxCount++;
  return true;
}

/** Answers the address of the boxes: BOX_* each, in the order in which they were found. */
export function foundBoxes(): usize {
  return boxes;
}

/** Tells whether the boxes end before all were found. */
export function boxesAreCutOff(): bool {
  return isCutOff;
}

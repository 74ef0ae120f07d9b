// The hit boxes of a posed object: for each bone the oriented box of the vertices that no other bone moves more, taken
// from the mesh at rest and moved by the bone alone. Neither morph targets nor a vertex's other bones move it. A bone
// without such vertices has no hit box, and neither has one that collapses its box to a plane, a line or a point, as a
// bone of scale 0 does, which hides a limb. They are computed on first use, once per pose.

import { Affine, invert, multiply, multiplyScaled, isUsable } from '../math/affine';
import { allocate } from '../memory';
import { BoneBox, boneBoxAt, deformOf } from '../mesh/tree/deform-layout';
import { Mesh } from '../mesh/tree/layout';
import { Pose, UNKNOWN, boneMapAt, isPosed, poseOf } from './pose';

/** The map from the cube [-1, 1]³ to the object's space, and its inverse. */
@unmanaged
export class HitBox {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  inverseXx: f64; inverseXy: f64; inverseXz: f64;
  inverseYx: f64; inverseYy: f64; inverseYz: f64;
  inverseZx: f64; inverseZy: f64; inverseZz: f64;
  inverseTx: f64; inverseTy: f64; inverseTz: f64;
  bone: u32;
  pad0: u32; pad1: u32; pad2: u32;

  // @ts-ignore: decorator
  @inline
  map(): Affine {
    return changetype<Affine>(changetype<usize>(this));
  }

  // @ts-ignore: decorator
  @inline
  inverse(): Affine {
    return changetype<Affine>(changetype<usize>(this) + offsetof<HitBox>('inverseXx'));
  }
}

export const HIT_BOX_BYTES: usize = offsetof<HitBox>();

/** Returns whether bones move a mesh, so that it may have hit boxes. */
export function hasBones(mesh: Mesh): bool {
  return isPosed(mesh) && poseOf(mesh).hasBones != 0;
}

/**
 * Returns the number of hit boxes of a mesh that `hasBones`; they are ordered by their bones' numbers. Throws
 * OUT_OF_MEMORY.
 */
export function countHitBoxes(mesh: Mesh): u32 {
  const pose = poseOf(mesh);
  if (pose.hitBoxCount == UNKNOWN) makeHitBoxes(pose);
  return pose.hitBoxCount;
}

/** Returns the i-th hit box of a mesh whose hit boxes were counted. */
// @ts-ignore: decorator
@inline
export function hitBoxAt(mesh: Mesh, i: u32): HitBox {
  return changetype<HitBox>(<usize>poseOf(mesh).hitBoxes + <usize>i * HIT_BOX_BYTES);
}

const boxToObject = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

function makeHitBoxes(pose: Pose): void {
  const deform = deformOf(changetype<Mesh>(<usize>pose.base));
  if (pose.hitBoxes == 0) {
    let maxCount: u32 = 0;
    for (let bone: u32 = 0; bone < deform.boneCount; bone++) maxCount += boneBoxAt(deform, bone).hasHitBox;
    if (maxCount != 0) pose.hitBoxes = <u32>allocate(<u64>maxCount * HIT_BOX_BYTES);
  }
  let count: u32 = 0;
  for (let bone: u32 = 0; bone < deform.boneCount; bone++) {
    const box = boneBoxAt(deform, bone);
    if (!box.hasHitBox) continue;
    const hitBox = changetype<HitBox>(<usize>pose.hitBoxes + <usize>count * HIT_BOX_BYTES);
    setHitBoxMap(hitBox.map(), boneMapAt(pose, bone), box);
    if (!isUsable(hitBox.map())) continue;
    invert(hitBox.inverse(), hitBox.map());
    hitBox.bone = bone;
    count++;
  }
  pose.hitBoxCount = count;
}

function setHitBoxMap(to: Affine, map: Affine, box: BoneBox): void {
  multiply(boxToObject, map, changetype<Affine>(changetype<usize>(box)));
  multiplyScaled(
    to, boxToObject,
    0.5 * (box.hitMaxX - box.hitMinX), 0.5 * (box.hitMaxY - box.hitMinY), 0.5 * (box.hitMaxZ - box.hitMinZ),
    0.5 * (box.hitMaxX + box.hitMinX), 0.5 * (box.hitMaxY + box.hitMinY), 0.5 * (box.hitMaxZ + box.hitMinZ),
  );
}

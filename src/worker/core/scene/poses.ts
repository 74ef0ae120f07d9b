// Applies the poses of frames to objects, and finds the bone that was hit.

import {
  BINDS_BIND, BINDS_INVERSE, POSE_BINDS, POSE_BONES, POSE_BONE_COUNT, POSE_MORPHS, POSE_TARGET_COUNT, SHAPE_MESH,
} from '../../../shared/layout';
import { Affine } from '../math/affine';
import { deformOf, isDeformable } from '../mesh/tree/deform-layout';
import { Mesh } from '../mesh/tree/layout';
import { boneAt } from '../skin/bone-at';
import { baseOf, draftOf, draftPose, isPosed, applyDraft, retire } from '../skin/pose';
import { isAlive, itemAt, slotOf } from './objects';
import { refreshBounds } from './scene';

const bind = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const bindInverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Applies the pose of a record (layout.ts, POSE_*) of the frame at `input` to the object in a slot. `isRead`: whether
 * an unfinished computation still reads poses. Returns false if the pose is invalid. A pose for another mesh than the
 * object's is skipped. Throws OUT_OF_MEMORY.
 */
export function poseObject(slot: u32, record: usize, input: usize, isRead: bool): bool {
  const item = itemAt(slot);
  if (item.shape != SHAPE_MESH) return true;
  const mesh = changetype<Mesh>(item.mesh), base = baseOf(mesh);
  if (!isDeformable(base)) return true;
  const boneCount = load<u32>(record, POSE_BONE_COUNT), targetCount = load<u32>(record, POSE_TARGET_COUNT);
  const deform = deformOf(base);
  if (boneCount != 0 && boneCount != deform.boneCount) return true;
  if (targetCount != 0 && targetCount != deform.targetCount) return true;
  const bones: usize = boneCount == 0 ? 0 : input + load<u32>(record, POSE_BONES);
  const morphs: usize = targetCount == 0 ? 0 : input + load<u32>(record, POSE_MORPHS);
  const binds = input + load<u32>(record, POSE_BINDS);
  readColumns(bind, binds + BINDS_BIND);
  readColumns(bindInverse, binds + BINDS_INVERSE);
  if (!draftOf(base, bones, bind, bindInverse, morphs)) return false;
  if (draftPose().hasBones || draftPose().hasMorphs) item.mesh = <u32>changetype<usize>(applyDraft(mesh, isRead));
  else {
    if (isPosed(mesh)) retire(mesh);
    item.mesh = <u32>changetype<usize>(base);
  }
  refreshBounds(slot);
  return true;
}

/** Reads the upper three rows of a column-major 4×4 matrix of f64. */
function readColumns(map: Affine, from: usize): void {
  const to = changetype<usize>(map);
  for (let column: usize = 0; column < 4; column++) memory.copy(to + column * 24, from + (column << 5), 24);
}

/**
 * Returns the bone that has the most weight at a point of an object's triangle, given by barycentric coordinates; -1 if
 * the object has no skin.
 */
export function boneOfHit(id: u32, triangle: i32, u: f64, v: f64, w: f64): i32 {
  if (triangle < 0 || !isAlive(id)) return -1;
  const item = itemAt(slotOf(id));
  return item.shape == SHAPE_MESH ? boneAt(changetype<Mesh>(item.mesh), <u32>triangle, u, v, w) : -1;
}

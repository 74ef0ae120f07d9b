// Validates the data for deformation of a baked mesh: no number in it leads elsewhere, and all are finite. It does not
// prove that boxes and ranges are large enough: vertices that leave their mesh's bounds are clamped to them
// (skin/deform.ts).

import {
  BONE_BOX_BYTES, BoneBox, DEFORM_BYTES, Deform, RANGE_BYTES, REST_BYTES, SHIFT_BYTES, WEIGHTS_BYTES, boneBoxAt, bonesAt,
  deformBytes, deformOf, isDeformable, targetPositionsAt, rangeAt, restVertexAt, shiftsAt, weightsAt,
} from './deform-layout';
import { Mesh } from './layout';
import { MeshCheck, RANGE_HALVES, addFloats, addNumbers } from './mesh-check';

/** The limit of hit boxes in the cube of their bone's box, within which they lie except for rounding. */
const MAX_HIT_BOX: f64 = 1.000000001;

/** Returns whether the counts agree with the bytes, and with the mesh. */
export function isDeformConsistent(mesh: Mesh): bool {
  if (!isDeformable(mesh)) return true;
  if (<usize>mesh.deformBytes < DEFORM_BYTES) return false;
  const deform = deformOf(mesh);
  return (
    deform.vertexCount == mesh.vertexCount && deform.boneCount <= 0x10000 && deform.pad == 0 && deform.areAbsolute <= 1 &&
    (deform.boneCount > 0 || deform.targetCount > 0) && deform.targetCount < 0x1000000 &&
    deformBytes(deform.vertexCount, deform.boneCount, deform.targetCount, deform.areAbsolute) == mesh.deformBytes
  );
}

/**
 * Adds ranges so that all numbers must be finite, and all bones exist. Returns false if a fault is found immediately.
 * The counts must agree.
 */
export function checkDeform(check: MeshCheck, mesh: Mesh): bool {
  if (!isDeformable(mesh)) return true;
  const deform = deformOf(mesh);
  addFinite(check, restVertexAt(deform, 0), <usize>deform.vertexCount * REST_BYTES);
  return checkSkin(check, deform) && checkTargets(check, deform);
}

function addFinite(check: MeshCheck, start: usize, bytes: usize): void {
  addFloats(check, start, start + bytes, f32.MAX_VALUE);
}

function checkSkin(check: MeshCheck, deform: Deform): bool {
  if (deform.boneCount == 0) return true;
  if (!(deform.maxWeightSum >= 0 && deform.maxWeightSum < Infinity)) return false;
  if (!(deform.minWeightDeficit >= -f32.MAX_VALUE && deform.minWeightDeficit <= deform.maxWeightDeficit)) return false;
  if (!(deform.maxWeightDeficit <= f32.MAX_VALUE)) return false;
  addFinite(check, weightsAt(deform, 0), <usize>deform.vertexCount * WEIGHTS_BYTES);
  addNumbers(check, RANGE_HALVES, bonesAt(deform, 0), bonesAt(deform, deform.vertexCount), deform.boneCount);
  for (let bone: u32 = 0; bone < deform.boneCount; bone++) if (!isBoxSound(boneBoxAt(deform, bone))) return false;
  return true;
}

function isBoxSound(box: BoneBox): bool {
  const at = changetype<usize>(box), end = at + offsetof<BoneBox>('isUsed');
  for (let i = at; i < at + offsetof<BoneBox>('hitMinX'); i += 8) if (!(abs(load<f64>(i)) < 1e300)) return false;
  for (let i = at + offsetof<BoneBox>('hitMinX'); i < at + offsetof<BoneBox>('hitMaxX'); i += 8) {
    const minValue = load<f64>(i), maxValue = load<f64>(i, 24);
    if (!(minValue >= -MAX_HIT_BOX && maxValue <= MAX_HIT_BOX && minValue <= maxValue)) return false;
  }
  return box.isUsed <= 1 && box.hasHitBox <= box.isUsed && (box.pad0 | box.pad1) == 0 && end + 16 - at == BONE_BOX_BYTES;
}

function checkTargets(check: MeshCheck, deform: Deform): bool {
  const count = deform.targetCount;
  if (count == 0) return deform.areAbsolute == 0;
  const bytes = <u64>count * deform.vertexCount * SHIFT_BYTES;
  addFinite(check, rangeAt(deform, 0), <usize>count * RANGE_BYTES);
  addFinite(check, shiftsAt(deform, 0), <usize>((bytes + 31) & ~15));
  if (deform.areAbsolute != 0) addFinite(check, targetPositionsAt(deform, 0), <usize>((bytes + 15) & ~15));
  return true;
}

// Validates what deforms a baked mesh: no number in it leads elsewhere, and none is other than finite. That boxes and
// ranges are large enough it does not prove: vertices that leave their mesh's bounds are held there (skin/deform.ts).

import {
  BONES_BYTES, BONE_BOX_BYTES, BoneBox, DEFORM_BYTES, Deform, RANGE_BYTES, REST_BYTES, SHIFT_BYTES, WEIGHTS_BYTES, boneBoxAt,
  bonesAt, deformBytes, deformOf, isDeformable, placesAt, rangeAt, restAt, shiftsAt, weightsAt,
} from './deform-layout';
import { Mesh } from './layout';

/** How far hit boxes reach in the cube of their bone's box, which they are within but for rounding. */
const MOST_HIT: f64 = 1.000000001;

/** Tells whether the counts agree with the bytes, and with the mesh. */
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

/** Tells whether all numbers are finite, and all bones there. The counts must agree. */
export function isDeformSound(mesh: Mesh): bool {
  if (!isDeformable(mesh)) return true;
  const deform = deformOf(mesh);
  if (!areFinite(restAt(deform, 0), <usize>deform.vertexCount * REST_BYTES)) return false;
  return isSkinSound(deform) && areMorphsSound(deform);
}

function isSkinSound(deform: Deform): bool {
  if (deform.boneCount == 0) return true;
  if (!(deform.reach >= 0 && deform.reach < Infinity)) return false;
  if (!(deform.leastRest >= -f32.MAX_VALUE && deform.leastRest <= deform.greatestRest)) return false;
  if (!(deform.greatestRest <= f32.MAX_VALUE)) return false;
  if (!areFinite(weightsAt(deform, 0), <usize>deform.vertexCount * WEIGHTS_BYTES)) return false;
  const end = bonesAt(deform, deform.vertexCount);
  for (let at = bonesAt(deform, 0); at < end; at += BONES_BYTES) {
    for (let k: usize = 0; k < BONES_BYTES; k += 2) if (<u32>load<u16>(at + k) >= deform.boneCount) return false;
  }
  for (let bone: u32 = 0; bone < deform.boneCount; bone++) if (!isBoxSound(boneBoxAt(deform, bone))) return false;
  return true;
}

function isBoxSound(box: BoneBox): bool {
  const at = changetype<usize>(box), end = at + offsetof<BoneBox>('isUsed');
  for (let i = at; i < at + offsetof<BoneBox>('hitLowX'); i += 8) if (!(abs(load<f64>(i)) < 1e300)) return false;
  for (let i = at + offsetof<BoneBox>('hitLowX'); i < at + offsetof<BoneBox>('hitHighX'); i += 8) {
    const low = load<f64>(i), high = load<f64>(i, 24);
    if (!(low >= -MOST_HIT && high <= MOST_HIT && low <= high)) return false;
  }
  return box.isUsed <= 1 && box.hasHit <= box.isUsed && (box.pad0 | box.pad1) == 0 && end + 16 - at == BONE_BOX_BYTES;
}

function areMorphsSound(deform: Deform): bool {
  const count = deform.targetCount;
  if (count == 0) return deform.areAbsolute == 0;
  const bytes = <u64>count * deform.vertexCount * SHIFT_BYTES;
  if (!areFinite(rangeAt(deform, 0), <usize>count * RANGE_BYTES)) return false;
  if (!areFinite(shiftsAt(deform, 0), <usize>((bytes + 31) & ~15))) return false;
  return deform.areAbsolute == 0 || areFinite(placesAt(deform, 0), <usize>((bytes + 15) & ~15));
}

/** Tells whether all f32 in so many bytes, a multiple of 16, are finite. */
function areFinite(start: usize, bytes: usize): bool {
  let finite = i32x4.splat(-1);
  for (let at = start; at < start + bytes; at += 16) {
    finite = v128.and(finite, f32x4.le(f32x4.abs(v128.load(at)), f32x4.splat(f32.MAX_VALUE)));
  }
  return i32x4.all_true(finite);
}

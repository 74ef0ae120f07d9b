import type { Bone, SkinnedMesh } from 'three';
import { hitObject, type Placement, seenBy } from '../track/scene-objects.js';

/** Two bones whose boxes meet; null for the one of two objects that has no bones and is represented by its shape. */
export interface BoneContact {
  readonly boneA: Bone | null;
  readonly boneB: Bone | null;
}

/** Two boxes, by their names, that meet and represent their objects; null for the one of two objects that has no boxes. */
export interface BoxContact {
  readonly boxA: string | null;
  readonly boxB: string | null;
}

/**
 * Names the parts of two objects that meet, by pairs of numbers of a's and b's parts: boxes if one of them has boxes, otherwise
 * bones.
 */
export function namedParts(
  partIndices: Int32Array,
  a: Placement | undefined,
  b: Placement | undefined,
  queryId: number,
): { bones: BoneContact[]; boxes: BoxContact[] } {
  const [boxesA, boxesB] = [a, b].map((placement) => placement?.standIn.owner.boxes ?? []);
  // An object with boxes has no bones, and a number is that of an object with either.
  const areBoxes = partIndices.length > 0 && (partIndices[0] >= 0 ? boxesA : boxesB).length > 0;
  if (!areBoxes) return { bones: namedBones(partIndices, a, b, queryId), boxes: [] };
  const boxes: BoxContact[] = [];
  for (let i = 0; i < partIndices.length; i += 2) {
    boxes.push({ boxA: boxesA[partIndices[i]]?.name ?? null, boxB: boxesB[partIndices[i + 1]]?.name ?? null });
  }
  return { bones: [], boxes };
}

/** Names bones of two objects, by pairs of numbers of a's and b's bones. */
function namedBones(
  boneIndices: Int32Array,
  a: Placement | undefined,
  b: Placement | undefined,
  queryId: number,
): BoneContact[] {
  const [bonesA, bonesB] = [a, b].map((placement) => (placement === undefined ? [] : bonesOf(placement, queryId)));
  const contacts: BoneContact[] = [];
  for (let i = 0; i < boneIndices.length; i += 2) {
    contacts.push({ boneA: bonesA[boneIndices[i]] ?? null, boneB: bonesB[boneIndices[i + 1]] ?? null });
  }
  return contacts;
}

function bonesOf(placement: Placement, queryId: number): readonly Bone[] {
  const drawn = hitObject(placement, seenBy(placement, queryId)) as SkinnedMesh;
  return drawn.isSkinnedMesh === true ? drawn.skeleton.bones : [];
}

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
  numbers: Int32Array,
  a: Placement | undefined,
  b: Placement | undefined,
  query: number,
): { bones: BoneContact[]; boxes: BoxContact[] } {
  const [first, second] = [a, b].map((each) => each?.standIn.owner.boxes ?? []);
  // An object with boxes has no bones, and a number is that of an object with either.
  const areBoxes = numbers.length > 0 && (numbers[0] >= 0 ? first : second).length > 0;
  if (!areBoxes) return { bones: namedBones(numbers, a, b, query), boxes: [] };
  const boxes: BoxContact[] = [];
  for (let i = 0; i < numbers.length; i += 2) {
    boxes.push({ boxA: first[numbers[i]]?.name ?? null, boxB: second[numbers[i + 1]]?.name ?? null });
  }
  return { bones: [], boxes };
}

/** Names bones of two objects, by pairs of numbers of a's and b's bones. */
function namedBones(
  numbers: Int32Array,
  a: Placement | undefined,
  b: Placement | undefined,
  query: number,
): BoneContact[] {
  const [first, second] = [a, b].map((each) => (each === undefined ? [] : bonesOf(each, query)));
  const named: BoneContact[] = [];
  for (let i = 0; i < numbers.length; i += 2) {
    named.push({ boneA: first[numbers[i]] ?? null, boneB: second[numbers[i + 1]] ?? null });
  }
  return named;
}

function bonesOf(placement: Placement, query: number): readonly Bone[] {
  const drawn = hitObject(placement, seenBy(placement, query)) as SkinnedMesh;
  return drawn.isSkinnedMesh === true ? drawn.skeleton.bones : [];
}

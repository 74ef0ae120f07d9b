import type { Bone, SkinnedMesh } from 'three';
import { hitObject, type Placement, seenBy } from '../track/scene-objects.js';

/** Two bones whose boxes meet; null for the one of two objects that has no bones, which its shape stands for. */
export interface BoneContact {
  readonly boneA: Bone | null;
  readonly boneB: Bone | null;
}

/** Two boxes that meet and stand for their objects, by their names; null for the one of two objects that has no boxes. */
export interface BoxContact {
  readonly boxA: string | null;
  readonly boxB: string | null;
}

/** Names what meets of two objects besides triangles, by pairs of numbers of a's and b's: boxes where one has some, else bones. */
export function namedParts(
  numbers: Int32Array,
  a: Placement | undefined,
  b: Placement | undefined,
  query: number,
): { bones: BoneContact[]; boxes: BoxContact[] } {
  const [first, second] = [a, b].map((each) => each?.standIn.owner.boxes ?? []);
  // What has boxes has no bones, and a number is of what has either.
  const areBoxes = numbers.length > 0 && (numbers[0] >= 0 ? first : second).length > 0;
  if (!areBoxes) return { bones: namedBones(numbers, a, b, query), boxes: [] };
  const boxes: BoxContact[] = [];
  for (let i = 0; i < numbers.length; i += 2) {
    boxes.push({ boxA: first[numbers[i]]?.name ?? null, boxB: second[numbers[i + 1]]?.name ?? null });
  }
  return { bones: [], boxes };
}

/** Names bones of two objects, by pairs of numbers of a's and b's. */
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

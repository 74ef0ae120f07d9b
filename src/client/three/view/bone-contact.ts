import type { Bone, SkinnedMesh } from 'three';
import { hitObject, type Placement, seenBy } from '../track/scene-objects.js';

/** Two bones whose boxes meet; null for the one of two objects that has no bones, which its shape stands for. */
export interface BoneContact {
  readonly boneA: Bone | null;
  readonly boneB: Bone | null;
}

/** Names bones of two objects, by pairs of numbers of a's and b's. */
export function namedBones(
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

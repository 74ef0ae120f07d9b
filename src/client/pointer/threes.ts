import { BatchedMesh, InstancedMesh, Line, LOD, Mesh, Object3D, Points, SkinnedMesh, Sprite } from 'three';

const THREES: readonly { readonly prototype: Object3D }[] = [
  ...[Mesh, Object3D, InstancedMesh, BatchedMesh, SkinnedMesh, LOD, Sprite, Points, Line],
];

/** Returns whether three's own code raycasts an object. */
export function isThrees({ raycast }: Object3D): boolean {
  for (const { prototype } of THREES) if (prototype.raycast === raycast) return true;
  return false;
}

import { BatchedMesh, InstancedMesh, Line, LOD, Mesh, Object3D, Points, SkinnedMesh, Sprite } from 'three';

const THREE_CLASSES: readonly { readonly prototype: Object3D }[] = [
  ...[Mesh, Object3D, InstancedMesh, BatchedMesh, SkinnedMesh, LOD, Sprite, Points, Line],
];

/** Returns whether three's own code raycasts an object. */
export function isRaycastByThree({ raycast }: Object3D): boolean {
  for (const { prototype } of THREE_CLASSES) if (prototype.raycast === raycast) return true;
  return false;
}

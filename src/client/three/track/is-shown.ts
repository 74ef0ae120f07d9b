import type { Object3D } from 'three';

/** Returns whether an object is in the scene, and is visible with all its ancestors. */
export function isShown(object: Object3D, scene: Object3D): boolean {
  for (let ancestor: Object3D | null = object; ancestor !== null; ancestor = ancestor.parent) {
    if (!ancestor.visible) return false;
    if (ancestor === scene) return true;
  }
  return false;
}

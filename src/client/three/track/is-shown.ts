import type { Object3D } from 'three';

/** Returns whether an object is in the scene, and is visible with all its ancestors. */
export function isShown(object: Object3D, scene: Object3D): boolean {
  for (let each: Object3D | null = object; each !== null; each = each.parent) {
    if (!each.visible) return false;
    if (each === scene) return true;
  }
  return false;
}

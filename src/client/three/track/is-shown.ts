import type { Object3D } from 'three';

/** Tells whether an object is in the scene, and visible with all that it is below. */
export function isShown(object: Object3D, scene: Object3D): boolean {
  for (let each: Object3D | null = object; each !== null; each = each.parent) {
    if (!each.visible) return false;
    if (each === scene) return true;
  }
  return false;
}

import type { Object3D } from 'three';

/** Answers whether an object is `ancestor` or below it. */
export function isBelow(object: Object3D, ancestor: Object3D): boolean {
  let node: Object3D | null = object;
  while (node !== null && node !== ancestor) node = node.parent;
  return node !== null;
}

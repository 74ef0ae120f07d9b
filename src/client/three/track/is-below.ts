import type { Object3D } from 'three';

/** Answers whether an object is `ancestor` or below it. */
export function isBelow(object: Object3D, ancestor: Object3D): boolean {
  let node: Object3D | null = object;
  while (node !== null && node !== ancestor) node = node.parent;
  return node !== null;
}

/** Tells whether it is, and whether all parents on the way list what is below them: an app may have taken it out by hand. */
export function isListedBelow(object: Object3D, root: Object3D): boolean {
  if (object === root) return true;
  try {
    const { parent } = object;
    return parent !== null && isListedBelow(parent, root) && parent.children.includes(object);
  } catch {
    return false;
  }
}

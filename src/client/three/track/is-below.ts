import type { Object3D } from 'three';

/** Returns whether an object is `ancestor` or a descendant of it. */
export function isBelow(object: Object3D, ancestor: Object3D): boolean {
  let node: Object3D | null = object;
  while (node !== null && node !== ancestor) node = node.parent;
  return node !== null;
}

/**
 * Where each list's last search found its child: the next one is mostly the one before it. Without this, each of 20,000
 * searched all.
 */
const lastIndices = new WeakMap<readonly Object3D[], number>();

/** Returns whether an object is `root` or below it, and every parent on the way lists its child: an app may remove one by hand. */
export function isListedBelow(object: Object3D, root: Object3D): boolean {
  if (object === root) return true;
  try {
    const { parent } = object;
    return parent !== null && isListedBelow(parent, root) && isListed(parent.children, object);
  } catch {
    return false;
  }
}

function isListed(children: readonly Object3D[], object: Object3D): boolean {
  let index = children.lastIndexOf(object, lastIndices.get(children) ?? -1);
  if (index < 0) index = children.lastIndexOf(object);
  lastIndices.set(children, index);
  return index >= 0;
}

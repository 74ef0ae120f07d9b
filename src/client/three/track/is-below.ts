import type { Object3D } from 'three';

/** Answers whether an object is `ancestor` or below it. */
export function isBelow(object: Object3D, ancestor: Object3D): boolean {
  let node: Object3D | null = object;
  while (node !== null && node !== ancestor) node = node.parent;
  return node !== null;
}

/** Where a child was found last in a list: the next one is mostly the one before it, and all of 20,000 were looked through for each. */
const places = new WeakMap<readonly Object3D[], number>();

/** Tells whether it is, and whether all parents on the way list what is below them: an app may have taken it out by hand. */
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
  let place = children.lastIndexOf(object, places.get(children) ?? -1);
  if (place < 0) place = children.lastIndexOf(object);
  places.set(children, place);
  return place >= 0;
}

import type { Object3D } from 'three';
import type { SceneEntry } from './scene-entry.js';

/** What the tracker knows of one object under the root, drawn or not: its place in the scene, and what it was seen to be. */
export class SceneNode {
  readonly object: Object3D;
  parent: SceneNode | null = null;
  /** The children are a list, the newest first. */
  first: SceneNode | null = null;
  next: SceneNode | null = null;
  previous: SceneNode | null = null;
  /** The object's children as they were when they were last gone through; null before. */
  children: readonly Object3D[] | null = null;
  /** It knows what is drawn there. */
  entry: SceneEntry | null = null;
  /** The LOD that this belongs to instead: it has one entry with all its levels. */
  lod: SceneNode | null = null;
  /** It has this number in the order of turns; -1 where it is gone. */
  turn = -1;
  /** They tell whether the object was visible when it was seen last, and whether all above it were, too. */
  isVisible: boolean;
  isShown = false;
  /** Its visibility is looked at in every frame, as something below it is. */
  isWatched = false;

  constructor(object: Object3D) {
    this.object = object;
    this.isVisible = object.visible;
  }

  /** Puts it below another one, or nowhere. */
  moveTo(parent: SceneNode | null): void {
    const before = this.parent;
    if (before !== null) {
      if (this.previous === null) before.first = this.next;
      else this.previous.next = this.next;
      if (this.next !== null) this.next.previous = this.previous;
    }
    this.parent = parent;
    this.previous = null;
    this.next = parent === null ? null : parent.first;
    if (this.next !== null) this.next.previous = this;
    if (parent !== null) parent.first = this;
  }
}

/** Lists the nodes right below one. */
export function childrenOf(node: SceneNode): SceneNode[] {
  const children: SceneNode[] = [];
  for (let child = node.first; child !== null; child = child.next) children.push(child);
  return children;
}

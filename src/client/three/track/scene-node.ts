import type { Object3D } from 'three';
import type { ChildRound } from './child-round.js';
import type { SceneEntry } from './scene-entry.js';

/** What the tracker knows of one object under the root, drawn or not: its place in the scene, and what it was seen to be. */
export class SceneNode {
  readonly object: Object3D;
  parent: SceneNode | null = null;
  /** The children are a list, the oldest first. They leave from its end (scene-graph.ts). */
  first: SceneNode | null = null;
  last: SceneNode | null = null;
  next: SceneNode | null = null;
  previous: SceneNode | null = null;
  /** The object's children as they were when they were last gone through; null before. */
  children: readonly Object3D[] | null = null;
  /** Those of thousands are gone through by turns; and in this round of its parent's it was seen there. */
  round: ChildRound | null = null;
  seenIn = 0;
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
    this.isVisible = visibleOf(object);
  }

  /** Puts it below another one, or nowhere. */
  moveTo(parent: SceneNode | null): void {
    const { parent: before, next, previous } = this;
    if (before !== null) {
      if (previous === null) before.first = next;
      else previous.next = next;
      if (next === null) before.last = previous;
      else next.previous = previous;
    }
    this.parent = parent;
    this.next = null;
    this.previous = parent === null ? null : parent.last;
    if (parent === null) return;
    if (parent.last === null) parent.first = this;
    else parent.last.next = this;
    parent.last = this;
  }
}

/** Tells whether an object is visible by itself; what cannot be read is not. */
export function visibleOf(object: Object3D): boolean {
  try {
    return object.visible;
  } catch {
    return false;
  }
}

/** Reads something of an object; undefined where it cannot be read. */
export function peek<T, K extends keyof T>(object: T, key: K): T[K] | undefined {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

/** Lists the nodes right below one. */
export function childrenOf(node: SceneNode): SceneNode[] {
  const children: SceneNode[] = [];
  for (let child = node.first; child !== null; child = child.next) children.push(child);
  return children;
}

import type { Object3D } from 'three';
import type { ChildRound } from './child-round.js';
import type { SceneEntry } from './scene-entry.js';

/** The tracker's node of one object under the root, drawn or not: its place in the scene, and its last known state. */
export class SceneNode {
  readonly object: Object3D;
  parent: SceneNode | null = null;
  /** The children are a linked list, the oldest first. They are removed from its end (scene-graph.ts). */
  first: SceneNode | null = null;
  last: SceneNode | null = null;
  next: SceneNode | null = null;
  previous: SceneNode | null = null;
  /** The object's children when they were last compared; null if they are to be compared in any case. */
  children: readonly Object3D[] | null = null;
  /**
   * The round in which thousands of children are visited in turn; and the round of the parent in which this node was last seen.
   */
  round: ChildRound | null = null;
  seenIn = 0;
  /** The entry of what is drawn there, if anything. */
  entry: SceneEntry | null = null;
  /** The LOD that this node belongs to instead: one entry represents all its levels. */
  lod: SceneNode | null = null;
  /** Its index in the order of turns; -1 once it is removed. */
  turn = -1;
  /** Whether the object was visible at the last check, and whether it and all its ancestors were. */
  isVisible: boolean;
  isShown = false;
  /** Whether its visibility is checked in every frame, because an object below it is. */
  isWatched = false;

  constructor(object: Object3D) {
    this.object = object;
    this.isVisible = visibleOf(object);
  }

  /** Puts it below another node, or nowhere. */
  moveTo(parent: SceneNode | null): void {
    const { parent: previousParent, next, previous } = this;
    if (previousParent) {
      previousParent.children = null; // an app may have listed it there a second time
      if (!previous) previousParent.first = next;
      else previous.next = next;
      if (!next) previousParent.last = previous;
      else next.previous = previous;
    }
    this.parent = parent;
    this.next = null;
    this.previous = parent === null ? null : parent.last;
    if (!parent) return;
    if (!parent.last) parent.first = this;
    else parent.last.next = this;
    parent.last = this;
  }
}

/** Returns whether an object itself is visible; one that cannot be read is not. */
export function visibleOf(object: Object3D): boolean {
  try {
    return object.visible;
  } catch {
    return false;
  }
}

/** Reads a property of an object; undefined if it cannot be read. */
export function peek<T, K extends keyof T>(object: T, key: K): T[K] | undefined {
  try {
    return object[key];
  } catch {
    return undefined;
  }
}

/** Lists the children of a node. */
export function childrenOf(node: SceneNode): SceneNode[] {
  const children: SceneNode[] = [];
  for (let child = node.first; child !== null; child = child.next) children.push(child);
  return children;
}

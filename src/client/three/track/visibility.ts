import type { Object3D } from 'three';
import { type SceneNode, visibleOf } from './scene-node.js';

/**
 * Which nodes are shown, that is, visible with all their ancestors. A node's visibility is checked when its turn comes, and in
 * every frame if a moving object is below it. Hiding is passed to all descendants at once, and showing in slices, as additions
 * are.
 */
export class Visibility {
  /** Nodes whose visibility is checked in every frame. */
  readonly #watched = new Set<SceneNode>();
  /** Nodes with children that are still to be shown; and the child of the first of them after which to continue. */
  readonly #showing = new Set<SceneNode>();
  #resumeChild: SceneNode | null = null;
  /** Whether all ancestors of the root are visible. */
  #areAncestorsVisible = true;
  readonly #onFail: (node: SceneNode, cause: unknown) => void;

  /** `onFail` is called with a node whose object could not be read. */
  constructor(onFail: (node: SceneNode, cause: unknown) => void) {
    this.#onFail = onFail;
  }

  /** Checks the ancestors of the root, whose node is given if there is one. */
  lookAbove(root: Object3D, node: SceneNode | undefined): void {
    let areVisible = true;
    root.traverseAncestors((ancestor) => {
      areVisible &&= ancestor.visible;
    });
    if (areVisible === this.#areAncestorsVisible) return;
    this.#areAncestorsVisible = areVisible;
    if (node !== undefined) this.see(node);
  }

  /** Sets whether a new node is shown. */
  begin(node: SceneNode): void {
    node.isShown = this.#shouldBeShown(node);
  }

  #shouldBeShown({ isVisible, parent }: SceneNode): boolean {
    return isVisible && (parent === null ? this.#areAncestorsVisible : parent.isShown);
  }

  /** Makes the visibility of all ancestors of a node be checked in every frame. */
  watchAbove(node: SceneNode): void {
    for (let ancestor = node.parent; ancestor !== null && !ancestor.isWatched; ancestor = ancestor.parent) {
      ancestor.isWatched = true;
      this.#watched.add(ancestor);
    }
  }

  /** Checks the nodes that are checked in every frame. */
  lookAtWatched(): void {
    for (const node of this.#watched) this.look(node);
  }

  /** Checks a node, and takes over its visibility if that has changed. */
  look(node: SceneNode): void {
    if (visibleOf(node.object) !== node.isVisible) this.see(node);
  }

  /**
   * Takes over the visibility of a node, which all its descendants share: they are hidden at once, but showing the descendants
   * is left to `showBelow`.
   */
  see(node: SceneNode): void {
    node.isVisible = visibleOf(node.object);
    const isShown = this.#shouldBeShown(node);
    if (isShown === node.isShown) return;
    if (isShown) this.#show(node);
    else this.#hide(node);
  }

  /** Lists objects with children that are still to be shown, with all descendants of these. */
  get showing(): readonly Object3D[] {
    return Array.from(this.#showing, ({ object }) => object);
  }

  /** Whether anything is still to be shown. */
  get isShowing(): boolean {
    return this.#showing.size > 0;
  }

  /**
   * Shows the children of shown nodes, one after the other, until `isOver`, which gets the number of instances of each. Returns
   * whether all are shown.
   */
  showBelow(isOver: (instances?: number) => boolean): boolean {
    for (const node of this.#showing) {
      let child = this.#resumeChild?.parent === node ? this.#resumeChild : node.first;
      for (; child !== null && node.isShown; child = child.next) {
        if (!child.isVisible || child.isShown) continue;
        this.#show(child);
        if (!isOver(child.entry?.count)) continue;
        this.#resumeChild = child;
        return false;
      }
      this.#showing.delete(node);
      this.#resumeChild = null;
    }
    return true;
  }

  #show(node: SceneNode): void {
    this.#setShown(node, true);
    if (node.first !== null) this.#showing.add(node);
  }

  #setShown(node: SceneNode, isShown: boolean): void {
    node.isShown = isShown;
    try {
      node.entry?.show(isShown);
    } catch (cause) {
      this.#onFail(node, cause);
    }
  }

  /** Hides a node and its descendants. Below a node that is not shown, nothing is. */
  #hide(node: SceneNode): void {
    this.#resumeChild = null; // children that were shown may not be any more
    let each: SceneNode | null = node;
    while (each !== null) {
      let firstChild: SceneNode | null = null;
      if (each.isShown) {
        this.#setShown(each, false);
        firstChild = each.first;
      }
      each = firstChild ?? nextAfterSubtree(each, node);
    }
  }

  forget(node: SceneNode): void {
    this.#watched.delete(node);
    this.#showing.delete(node);
    if (this.#resumeChild === node) this.#resumeChild = null;
  }

  clear(): void {
    this.#watched.clear();
    this.#showing.clear();
    this.#resumeChild = null;
  }
}

/** Returns the node after another one and its descendants, in depth-first order; null at the end of the subtree of `root`. */
function nextAfterSubtree(node: SceneNode, root: SceneNode): SceneNode | null {
  for (let each: SceneNode = node; each !== root; each = each.parent!) if (each.next !== null) return each.next;
  return null;
}

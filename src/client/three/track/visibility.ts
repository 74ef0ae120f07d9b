import type { Object3D } from 'three';
import { type SceneNode, visibleOf } from './scene-node.js';

/**
 * What is to be seen by itself and by all above it. A node's visibility is looked at when its turn comes, and in every frame where
 * something moving is below it; that something is hidden is handed down to all below at once, and that it
 * is shown in slices: it comes as what is added does.
 */
export class Visibility {
  /** The visibility of these is looked at in every frame. */
  readonly #watched = new Set<SceneNode>();
  /** Some right below these are to be shown, too; and below the first of them the next one is behind this one. */
  readonly #showing = new Set<SceneNode>();
  #next: SceneNode | null = null;
  /** Tells whether all above the root is visible. */
  #above = true;
  readonly #onFail: (node: SceneNode, cause: unknown) => void;

  /** `onFail` is called with a node of which the object could not be read. */
  constructor(onFail: (node: SceneNode, cause: unknown) => void) {
    this.#onFail = onFail;
  }

  /** Looks at what is above the root, whose node is given where there is one. */
  lookAbove(root: Object3D, node: SceneNode | undefined): void {
    let above = true;
    root.traverseAncestors((ancestor) => {
      above &&= ancestor.visible;
    });
    if (above === this.#above) return;
    this.#above = above;
    if (node !== undefined) this.see(node);
  }

  /** Notes whether a new node is to be seen. */
  begin(node: SceneNode): void {
    node.isShown = this.#isToBeSeen(node);
  }

  #isToBeSeen({ isVisible, parent }: SceneNode): boolean {
    return isVisible && (parent === null ? this.#above : parent.isShown);
  }

  /** Has the visibility of all above a node be looked at in every frame. */
  watchAbove(node: SceneNode): void {
    for (let above = node.parent; above !== null && !above.isWatched; above = above.parent) {
      above.isWatched = true;
      this.#watched.add(above);
    }
  }

  /** Looks at those that are to be looked at in every frame. */
  lookAtWatched(): void {
    for (const node of this.#watched) this.look(node);
  }

  /** Looks at a node, where it is another than before. */
  look(node: SceneNode): void {
    if (visibleOf(node.object) !== node.isVisible) this.see(node);
  }

  /**
   * Takes over the visibility of a node, which all below it share: what is hidden is so at once, and of what is shown,
   * that which is below the node is left to `showBelow`.
   */
  see(node: SceneNode): void {
    node.isVisible = visibleOf(node.object);
    const isShown = this.#isToBeSeen(node);
    if (isShown === node.isShown) return;
    if (isShown) this.#show(node);
    else this.#hide(node);
  }

  /** Lists objects of which some right below are still to be shown, with all below these. */
  get showing(): readonly Object3D[] {
    return Array.from(this.#showing, ({ object }) => object);
  }

  /** Tells whether something is still to be shown. */
  get isShowing(): boolean {
    return this.#showing.size > 0;
  }

  /**
   * Shows what is below those that are shown, one after the other, until `isOver`, which gets the instances of each. Tells
   * whether all is shown.
   */
  showBelow(isOver: (instances?: number) => boolean): boolean {
    for (const node of this.#showing) {
      let child = this.#next?.parent === node ? this.#next : node.first;
      for (; child !== null && node.isShown; child = child.next) {
        if (!child.isVisible || child.isShown) continue;
        this.#show(child);
        if (!isOver(child.entry?.count)) continue;
        this.#next = child;
        return false;
      }
      this.#showing.delete(node);
      this.#next = null;
    }
    return true;
  }

  #show(node: SceneNode): void {
    this.#tell(node, true);
    if (node.first !== null) this.#showing.add(node);
  }

  #tell(node: SceneNode, isShown: boolean): void {
    node.isShown = isShown;
    try {
      node.entry?.show(isShown);
    } catch (cause) {
      this.#onFail(node, cause);
    }
  }

  /** Hides a node and all below it. Nothing below one that is not shown is. */
  #hide(node: SceneNode): void {
    this.#next = null; // what was shown already is not any more
    let each: SceneNode | null = node;
    while (each !== null) {
      let below: SceneNode | null = null;
      if (each.isShown) {
        this.#tell(each, false);
        below = each.first;
      }
      each = below ?? afterAllOf(each, node);
    }
  }

  forget(node: SceneNode): void {
    this.#watched.delete(node);
    this.#showing.delete(node);
    if (this.#next === node) this.#next = null;
  }

  clear(): void {
    this.#watched.clear();
    this.#showing.clear();
    this.#next = null;
  }
}

/** Answers the node that comes after another and all below it; null at the end of what is below `root`. */
function afterAllOf(node: SceneNode, root: SceneNode): SceneNode | null {
  for (let each: SceneNode = node; each !== root; each = each.parent!) if (each.next !== null) return each.next;
  return null;
}

import type { Object3D } from 'three';
import type { SceneNode } from './scene-node.js';

/**
 * What is to be seen by itself and by all above it. A node's visibility is looked at when its turn comes, and in every frame where
 * something moving is below it; what becomes of it is handed down to all below at once.
 */
export class Visibility {
  /** The visibility of these is looked at in every frame. */
  readonly #watched = new Set<SceneNode>();
  /** Tells whether all above the root is visible. */
  #above = true;

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
    const { parent } = node;
    node.isShown = node.isVisible && (parent === null ? this.#above : parent.isShown);
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
    if (node.object.visible !== node.isVisible) this.see(node);
  }

  /** Takes over the visibility of a node, which all below it share. */
  see(node: SceneNode): void {
    node.isVisible = node.object.visible;
    const below = [node];
    for (let each = below.pop(); each !== undefined; each = below.pop()) {
      const isShown = each.isVisible && (each.parent === null ? this.#above : each.parent.isShown);
      if (isShown === each.isShown) continue;
      each.isShown = isShown;
      each.entry?.show(isShown);
      for (let child = each.first; child !== null; child = child.next) below.push(child);
    }
  }

  forget(node: SceneNode): void {
    this.#watched.delete(node);
  }

  clear(): void {
    this.#watched.clear();
  }
}

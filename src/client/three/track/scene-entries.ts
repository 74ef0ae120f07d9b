import type { BatchedMesh, InstancedMesh, LOD, Mesh, Sprite } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { type Drawable, isDrawable } from './is-drawable.js';
import { type ObjectSettings, objectErrorOf, type SceneDrawable } from './object-settings.js';
import type { SceneEntry } from './scene-entry.js';
import { childrenOf, type SceneNode } from './scene-node.js';
import { isFatLine, type TrackerContext } from './stand-in.js';
import { TrackedBatch } from './tracked-batch.js';
import { TrackedFatLine } from './tracked-fat-line.js';
import { TrackedInstances } from './tracked-instances.js';
import { TrackedLod } from './tracked-lod.js';
import { TrackedObject } from './tracked-object.js';
import { TrackedSprite } from './tracked-sprite.js';
import { UntrackedObject } from './untracked-object.js';
import type { Visibility } from './visibility.js';
import { warnLeftOut } from './warn-left-out.js';

/**
 * The entries of drawn objects, which represent them in the service: each such node has an entry, or belongs to that of a LOD.
 */
export class SceneEntries {
  /** Entries of objects that were removed from the scene; they are removed from the service in slices of their own. */
  readonly ending: SceneEntry[] = [];
  readonly #context: TrackerContext;
  readonly #settings: ObjectSettings;
  readonly #visibility: Visibility;

  constructor(context: TrackerContext, settings: ObjectSettings, visibility: Visibility) {
    this.#context = context;
    this.#settings = settings;
    this.#visibility = visibility;
  }

  /** Checks the visibility of a node, and its entry. */
  update(node: SceneNode): void {
    this.#visibility.look(node);
    const { entry } = node;
    if (entry === null) return;
    this.#context.stale.delete(entry);
    if (entry instanceof UntrackedObject) {
      if (entry.isDue()) this.#addEntry(node);
      return;
    }
    entry.update(node.isShown);
    if (entry instanceof TrackedLod && entry.takeChange()) this.#adoptAll(childrenOf(node));
  }

  /** Gives a new node its entry. */
  begin(node: SceneNode): void {
    this.#notifyLod(node); // which may have another level now
    this.#adopt(node);
  }

  /** Handles a node that has another parent: it may belong to another LOD now. */
  move(node: SceneNode): void {
    const { lod } = node;
    const newLod = lodAbove(node);
    for (const each of new Set([lod, newLod])) if (each !== null) this.#rearrangeLod(each);
    if (lod !== null || newLod !== null) this.#adoptAll([node]);
  }

  /** Ends the entry of a node that was removed from the scene. */
  end(node: SceneNode): void {
    this.dismiss(node.entry);
    if (node.lod !== null && isDrawable(node.object)) this.#rearrangeLod(node.lod);
  }

  /** Removes an entry from the service, as much of it as can be removed at once. */
  dismiss(entry: SceneEntry | null): void {
    if (entry?.remove() === false) this.ending.push(entry);
  }

  /** Calls the caller's functions again for the object of a node. */
  askAgain(node: SceneNode): void {
    const entry = node.entry!;
    if (entry instanceof UntrackedObject) {
      this.#addEntry(node);
      return;
    }
    try {
      entry.askAgain();
      this.#context.meshes.review((entry.object as Mesh).geometry);
    } catch (thrown) {
      this.leaveOut(node, thrown);
      return;
    }
    if (!entry.isStatic) this.#visibility.watchAbove(node);
    this.update(node);
  }

  #addEntry(node: SceneNode): void {
    const { object } = node;
    try {
      node.entry = this.#createEntry(object);
    } catch (thrown) {
      this.leaveOut(node, thrown);
      return;
    }
    if (!node.entry.isStatic) this.#visibility.watchAbove(node);
    this.update(node);
  }

  #createEntry(object: Drawable): SceneEntry {
    if (object.isBatchedMesh === true) return new TrackedBatch(this.#context, object as BatchedMesh, this.#settings);
    if (object.isLOD === true) return new TrackedLod(this.#context, object as LOD, this.#settings);
    if (object.isSprite === true) return new TrackedSprite(this.#context, object as Sprite, this.#settings);
    if (isFatLine(object)) return new TrackedFatLine(this.#context, object, this.#settings);
    if ('isInstancedMesh' in object)
      return new TrackedInstances(this.#context, object as InstancedMesh, this.#settings);
    return new TrackedObject(this.#context, object as SceneDrawable, this.#settings, object as Mesh);
  }

  /**
   * Leaves out an object for which the caller's functions failed, or that cannot be read. Rethrows errors that do not concern
   * it.
   */
  leaveOut(node: SceneNode, thrown: unknown): void {
    const { object, entry } = node;
    const error = objectErrorOf(object, thrown);
    warnLeftOut(object, error, entry?.error?.message ?? '');
    this.dismiss(entry);
    node.entry = new UntrackedObject(object, error, !CollisionError.is(thrown));
  }

  /**
   * Makes the LOD that a node may belong to search for its levels again, if it matters to it that the node was added or
   * removed.
   */
  #notifyLod(node: SceneNode): void {
    const lod = lodAbove(node);
    if (lod !== null && (isDrawable(node.object) || node.object.parent === lod.object)) this.#rearrangeLod(lod);
  }

  #rearrangeLod(lod: SceneNode): void {
    if (lod.turn < 0) return; // it is being removed
    (lod.entry as TrackedLod).rearrange();
    this.update(lod);
  }

  /** Gives a node an entry of its own, or assigns it to the LOD that it belongs to. */
  #adopt(node: SceneNode): void {
    const lod = lodAbove(node);
    if (lod !== null && (lod.entry as TrackedLod).owns(node.object)) {
      if (node.lod === lod) return;
      node.lod = lod;
      this.dismiss(node.entry);
      node.entry = null;
      // The LOD itself is an ancestor of what is checked, the level.
      if (node.parent === lod && !lod.entry!.isStatic) this.#visibility.watchAbove(node);
      return;
    }
    node.lod = null;
    if (node.entry === null && isDrawable(node.object)) this.#addEntry(node);
  }

  /** Adopts nodes and all their descendants. */
  #adoptAll(nodes: readonly SceneNode[]): void {
    for (const node of nodes) {
      this.#adopt(node);
      this.#adoptAll(childrenOf(node));
    }
  }
}

/** Returns the LOD that a node may belong to: its parent, or the LOD that its parent belongs to. */
function lodAbove({ parent }: SceneNode): SceneNode | null {
  if (parent === null) return null;
  return parent.lod ?? (parent.entry instanceof TrackedLod ? parent : null);
}

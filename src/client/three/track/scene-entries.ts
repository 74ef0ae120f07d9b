import type { BatchedMesh, InstancedMesh, LOD, Mesh, Sprite } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { complain } from './complain.js';
import { type Drawable, isDrawable } from './is-drawable.js';
import { faultOf, type ObjectWishes, type SceneDrawable } from './object-wishes.js';
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

/** What stands in the service for what is drawn: each node of the scene has an entry, or belongs to that of a LOD. */
export class SceneEntries {
  /** What has gone from the scene, and goes from the service in slices of its own. */
  readonly ending: SceneEntry[] = [];
  readonly #context: TrackerContext;
  readonly #wishes: ObjectWishes;
  readonly #visibility: Visibility;

  constructor(context: TrackerContext, wishes: ObjectWishes, visibility: Visibility) {
    this.#context = context;
    this.#wishes = wishes;
    this.#visibility = visibility;
  }

  /** Looks at a node, and at what is drawn there. */
  update(node: SceneNode): void {
    this.#visibility.look(node);
    const { entry } = node;
    if (entry === null) return;
    this.#context.stale.delete(entry);
    if (entry instanceof UntrackedObject) {
      if (entry.isDue()) this.#enter(node);
      return;
    }
    entry.update(node.isShown);
    if (entry instanceof TrackedLod && entry.takeChange()) this.#adoptAll(childrenOf(node));
  }

  /** Gives a new node its entry. */
  begin(node: SceneNode): void {
    this.#tellLod(node); // which may have another level now
    this.#adopt(node);
  }

  /** Looks at a node that has another parent: it may be of another LOD. */
  move(node: SceneNode): void {
    const { lod } = node;
    const next = lodAbove(node);
    for (const each of new Set([lod, next])) if (each !== null) this.#rearrange(each);
    if (lod !== null || next !== null) this.#adoptAll([node]);
  }

  /** Ends the entry of a node that is gone from the scene. */
  end(node: SceneNode): void {
    this.dismiss(node.entry);
    if (node.lod !== null && isDrawable(node.object)) this.#rearrange(node.lod);
  }

  /** Removes an entry from the service, as much of it as goes at once. */
  dismiss(entry: SceneEntry | null): void {
    if (entry?.remove() === false) this.ending.push(entry);
  }

  /** Asks the caller's functions again for what is drawn at a node. */
  askAgain(node: SceneNode): void {
    const entry = node.entry!;
    if (entry instanceof UntrackedObject) {
      this.#enter(node);
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

  #enter(node: SceneNode): void {
    const { object } = node;
    try {
      node.entry = this.#track(object);
    } catch (thrown) {
      this.leaveOut(node, thrown);
      return;
    }
    if (!node.entry.isStatic) this.#visibility.watchAbove(node);
    this.update(node);
  }

  #track(object: Drawable): SceneEntry {
    if (object.isBatchedMesh === true) return new TrackedBatch(this.#context, object as BatchedMesh, this.#wishes);
    if (object.isLOD === true) return new TrackedLod(this.#context, object as LOD, this.#wishes);
    if (object.isSprite === true) return new TrackedSprite(this.#context, object as Sprite, this.#wishes);
    if (isFatLine(object)) return new TrackedFatLine(this.#context, object, this.#wishes);
    if ('isInstancedMesh' in object) return new TrackedInstances(this.#context, object as InstancedMesh, this.#wishes);
    return new TrackedObject(this.#context, object as SceneDrawable, this.#wishes, object as Mesh);
  }

  /** Leaves out an object of which the caller's functions failed, or that cannot be read. Throws what is not about the object. */
  leaveOut(node: SceneNode, thrown: unknown): void {
    const { object, entry } = node;
    const error = faultOf(object, thrown);
    complain(object, error, entry?.error?.message ?? '');
    this.dismiss(entry);
    node.entry = new UntrackedObject(object, error, !CollisionError.is(thrown));
  }

  /** Has the LOD that a node may belong to look for its levels again, where it matters to it that the node came or went. */
  #tellLod(node: SceneNode): void {
    const lod = lodAbove(node);
    if (lod !== null && (isDrawable(node.object) || node.object.parent === lod.object)) this.#rearrange(lod);
  }

  #rearrange(lod: SceneNode): void {
    if (lod.turn < 0) return; // it is on its way out
    (lod.entry as TrackedLod).rearrange();
    this.update(lod);
  }

  /** Gives a node an entry of its own, or to the LOD that it belongs to. */
  #adopt(node: SceneNode): void {
    const lod = lodAbove(node);
    if (lod !== null && (lod.entry as TrackedLod).owns(node.object)) {
      if (node.lod === lod) return;
      node.lod = lod;
      this.dismiss(node.entry);
      node.entry = null;
      // It is the LOD that is looked at by what is above the level.
      if (node.parent === lod && !lod.entry!.isStatic) this.#visibility.watchAbove(node);
      return;
    }
    node.lod = null;
    if (node.entry === null && isDrawable(node.object)) this.#enter(node);
  }

  /** Does it for nodes and all below them. */
  #adoptAll(nodes: readonly SceneNode[]): void {
    for (const node of nodes) {
      this.#adopt(node);
      this.#adoptAll(childrenOf(node));
    }
  }
}

/** Answers the LOD that a node may belong to: the nearest one above, or what that belongs to itself. */
function lodAbove({ parent }: SceneNode): SceneNode | null {
  if (parent === null) return null;
  return parent.lod ?? (parent.entry instanceof TrackedLod ? parent : null);
}

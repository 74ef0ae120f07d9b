import type { Mesh, Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { isBelow } from './is-below.js';
import type { TrackerContext } from './stand-in.js';
import { type ObjectWishes, TrackedObject } from './tracked-object.js';
import type { UnchangedRuns } from './unchanged-runs.js';

/** What the tracker knows of one object that three draws. */
export interface SceneEntry {
  readonly object: Object3D;
  /** The ids that it has in public, by instance. */
  readonly ids: Uint32Array;
  readonly pending: boolean;
  /** Why it is not in the service. */
  readonly error: CollisionError | null;
  /** Sends what changed, once a frame; `visible`: the object and all its ancestors are. */
  update(visible: boolean): void;
  /** Notes what to compare the next time, under its number. */
  remember(unchanged: UnchangedRuns, number: number): void;
  remove(): void;
}

/** Places in the order where objects have come or gone: beyond so many, all of it is made anew. */
const MOST_CHANGES = 32;

/**
 * Goes through the scene once a frame and compares it with the entries of the last time, which are in the same order.
 * three tells nobody when an ancestor turns invisible or (before r163) when a child comes or goes, and the walk must be
 * made for the matrices anyway: that the order still holds costs one comparison per object. What comes or goes in a few
 * places is mended there: a frame of 100,000 objects takes 7 ms then, as any other, and 50 where all of it is made
 * anew.
 */
export class SceneWalk {
  readonly #root: Object3D;
  readonly #context: TrackerContext;
  readonly #wishes: ObjectWishes;
  #entries: SceneEntry[] = [];
  #byObject = new Map<Object3D, SceneEntry>();
  #next = 0;
  #changes = 0;
  #revision = -1;

  constructor(root: Object3D, context: TrackerContext, wishes: ObjectWishes) {
    this.#root = root;
    this.#context = context;
    this.#wishes = wishes;
  }

  get entries(): readonly SceneEntry[] {
    return this.#entries;
  }

  entryOf(object: Object3D): SceneEntry | undefined {
    return this.#byObject.get(object);
  }

  update(): void {
    let visible = true;
    this.#root.traverseAncestors((ancestor) => {
      visible &&= ancestor.visible;
    });
    const { meshes, unchanged, moved, service } = this.#context;
    if (meshes.revision !== this.#revision) unchanged.forget();
    this.#revision = meshes.revision;
    if (!this.#walk(visible) || !this.#leave(this.#entries.length)) {
      this.#collect();
      unchanged.forget(); // and what is gone is not held
      this.#walk(visible);
    }
    moved.send(service);
  }

  /** Removes everything from the service. */
  clear(): void {
    for (const entry of this.#entries) entry.remove();
    this.#entries = [];
    this.#byObject.clear();
  }

  #walk(visible: boolean): boolean {
    this.#next = 0;
    this.#changes = 0;
    this.#context.unchanged.beginWalk();
    this.#context.moved.clear();
    return this.#follow(this.#root, visible);
  }

  /** Updates the entries of `node` and below; false as soon as the scene is not what they were made from. */
  #follow(node: Object3D, above: boolean): boolean {
    const { unchanged, moved } = this.#context;
    const visible = above && node.visible;
    if (isDrawable(node)) {
      const entry = this.#arrive(node);
      if (entry === null) return false;
      entry.update(visible);
      entry.remember(unchanged, this.#next);
      this.#next++;
    }
    const { children } = node;
    for (let i = 0; i < children.length; i++) {
      const followed = unchanged.follow(children, i, this.#next, visible, moved);
      this.#next += followed;
      i += followed;
      if (i < children.length && !this.#follow(children[i], visible)) return false;
    }
    return true;
  }

  /** Answers the entry of what is drawn next, new or not; null where the order is another one than before. */
  #arrive(node: Object3D): SceneEntry | null {
    const next = this.#next;
    const entries = this.#entries;
    if (next < entries.length && entries[next].object === node) return entries[next];
    const known = this.#byObject.get(node);
    // What was before it has left.
    if (known !== undefined) return this.#leave(entries.indexOf(known, next)) ? known : null;
    const isLast = next === entries.length;
    if (!isLast && ++this.#changes > MOST_CHANGES) return null;
    const entry = this.#enter(node); // may throw what the caller's functions throw
    if (!isLast) this.#context.unchanged.insert(next);
    entries.splice(next, 0, entry);
    this.#byObject.set(node, entry);
    return entry;
  }

  /**
   * Removes what comes next, before `end`; false where some of it is still in the scene, or all is better made anew.
   */
  #leave(end: number): boolean {
    const next = this.#next;
    if (end === next) return true;
    const entries = this.#entries;
    if (end < next || ++this.#changes > MOST_CHANGES) return false;
    for (let i = next; i < end; i++) if (isBelow(entries[i].object, this.#root)) return false;
    this.#context.unchanged.remove(next, end - next);
    for (const entry of entries.splice(next, end - next)) {
      this.#byObject.delete(entry.object);
      entry.remove();
    }
    return true;
  }

  #collect(): void {
    const before = this.#byObject;
    const now = new Map<Object3D, SceneEntry>();
    this.#root.traverse((node) => {
      if (isDrawable(node)) now.set(node, before.get(node) ?? this.#enter(node));
    });
    for (const [object, entry] of before) {
      if (!now.has(object)) entry.remove();
    }
    this.#byObject = now;
    this.#entries = [...now.values()];
  }

  #enter(object: Object3D): SceneEntry {
    const { isMesh, isSkinnedMesh, isBatchedMesh } = object as Drawable;
    if (isMesh === true && isSkinnedMesh !== true && isBatchedMesh !== true) {
      return new TrackedObject(this.#context, object as Mesh, this.#wishes);
    }
    return new UntrackedObject(object);
  }
}

/** What is drawn, but is no Mesh or InstancedMesh. */
class UntrackedObject implements SceneEntry {
  readonly object: Object3D;
  readonly ids = new Uint32Array(0);
  readonly pending = false;
  readonly error: CollisionError;

  constructor(object: Object3D) {
    const name = object.name === '' ? object.type : `${object.type} "${object.name}"`;
    this.object = object;
    this.error = new CollisionError(
      'UNSUPPORTED',
      `trackScene: found the ${name}, expected a Mesh or an InstancedMesh`,
    );
  }

  update(): void {}

  remember(unchanged: UnchangedRuns, number: number): void {
    unchanged.remember(number, null, null, 0);
  }

  remove(): void {}
}

interface Drawable extends Object3D {
  readonly isMesh?: boolean;
  readonly isSkinnedMesh?: boolean;
  readonly isBatchedMesh?: boolean;
  readonly isLine?: boolean;
  readonly isPoints?: boolean;
  readonly isSprite?: boolean;
}

function isDrawable(object: Drawable): boolean {
  return object.isMesh === true || object.isLine === true || object.isPoints === true || object.isSprite === true;
}

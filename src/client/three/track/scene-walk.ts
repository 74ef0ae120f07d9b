import { type BatchedMesh, type LOD, type Mesh, Object3D, type Sprite } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { nextTask } from '../../../shared/next-task.js';
import { reading } from '../../check/validate.js';
import { Turns } from '../turns.js';
import { HAS_CHILD_EVENTS } from './child-events.js';
import { ChildRound, MOST_AT_ONCE } from './child-round.js';
import { isListedBelow } from './is-below.js';
import { type Drawable, isDrawable } from './is-drawable.js';
import type { TableOwner } from './mesh-table.js';
import { nameOf } from './name-of.js';
import { isAboutOneObject, type ObjectWishes, type SceneDrawable } from './object-wishes.js';
import type { SceneEntry } from './scene-entry.js';
import { childrenOf, SceneNode } from './scene-node.js';
import { sliceOf } from './slice.js';
import { isFatLine, type TrackerContext, type Updatable } from './stand-in.js';
import { TrackedBatch } from './tracked-batch.js';
import { TrackedFatLine } from './tracked-fat-line.js';
import { TrackedLod } from './tracked-lod.js';
import { TrackedObject } from './tracked-object.js';
import { TrackedSprite } from './tracked-sprite.js';
import { UntrackedObject } from './untracked-object.js';
import { Visibility } from './visibility.js';

/** For so many milliseconds, what comes, goes and was built is done at once; the rest is done in tasks of their own. */
const SLICE_MS = 4;
/** As long at least, where to look at what is there takes longer than a slice by itself. */
const LEAST_SLICE_MS = 1;
/** So many are done in a frame in any case: a few objects more are there in the very frame, whatever the clock says. */
const FEWEST = 128;
/** So many meshes are removed in a slice: to hand over thousands of commands takes as long as to make them. */
const MOST_SWEPT = 512;

/**
 * Keeps what the tracker knows of the scene in step with it. Nothing goes through the whole scene in a frame: three
 * tells what comes and goes, and what is looked at in every frame is in flat tables. By turns, within a second,
 * everything is looked at that nobody told of. What comes, and what goes, is taken in slices.
 *
 * Before r163 three told nobody: the children of all objects are compared in every frame there.
 */
export class SceneWalk {
  readonly #root: Object3D;
  readonly #context: TrackerContext;
  readonly #wishes: ObjectWishes;
  /** The caller has all matrices updated in every frame. */
  readonly #hasMatrices: boolean;
  readonly #isTold: boolean;
  readonly #nodes = new Map<Object3D, SceneNode>();
  /** It has all nodes in the order of their turns. */
  readonly #order: SceneNode[] = [];
  readonly #turns = new Turns();
  /** The number of these became lower than the one whose turn comes next. */
  readonly #overtaken: SceneNode[] = [];
  readonly #stillTurns = new Turns();
  /** These have so many children that they are gone through by turns; and these of them have not all come yet. */
  readonly #crowds = new Set<SceneNode>();
  readonly #coming = new Set<SceneNode>();
  readonly #visibility = new Visibility();
  /** These may have another parent than before. */
  readonly #touched = new Set<Object3D>();
  /** The caller asks to look at the one; the other is what is left of it, each with all below it. */
  readonly #requested = new Set<Object3D>();
  readonly #unseen = new Set<SceneNode>();
  /** These are to come, the next ones last; and those are to go. */
  readonly #arriving: Arrival[] = [];
  readonly #leaving: SceneNode[] = [];
  /** What has gone from here, and goes from the service in slices of its own. */
  readonly #ending: SceneEntry[] = [];
  readonly #changed: TableOwner[] = [];
  /** What an object of the scene has thrown in a task of ours, where nobody waits for it. */
  #failure: { readonly cause: unknown } | null = null;
  #isWorking = false;
  #isCleared = false;
  /** The last frame took so many milliseconds to look at what was there: its slice and that are one task. */
  #lookMs = 0;

  constructor(root: Object3D, context: TrackerContext, wishes: ObjectWishes, hasMatrices: boolean) {
    this.#root = root;
    this.#context = context;
    this.#wishes = wishes;
    this.#hasMatrices = hasMatrices;
    // Another copy of three may be an older one.
    this.#isTold = HAS_CHILD_EVENTS && root instanceof Object3D;
    this.#arriving.push({ objects: [root], next: 0, parent: null });
  }

  get entries(): readonly SceneEntry[] {
    return Array.from(this.#nodes.values()).flatMap(({ entry }) => entry ?? []);
  }

  /** Lists objects that are to come, or to be shown, with all that is below them. */
  get arriving(): readonly Object3D[] {
    return [...this.#arriving.flatMap(({ objects, next }) => objects.slice(next)), ...this.#visibility.showing];
  }

  entryOf(object: Object3D): SceneEntry | undefined {
    const node = this.#nodes.get(object);
    return node?.entry ?? node?.lod?.entry ?? undefined;
  }

  /**
   * Tells whether the service can answer for what three would hit of an object: 'yes' also where there is nothing to hit,
   * 'soon' where it has just come or is being built, 'no' where it is left out or invisible.
   */
  standingOf(object: Object3D): 'yes' | 'soon' | 'no' {
    this.finishRequests();
    const node = this.#nodes.get(object);
    if (node === undefined) return 'soon';
    if (node.lod !== null) return 'yes'; // the LOD above is hit as one of its levels
    const { entry } = node;
    if (entry === null) return 'yes';
    if (entry.error !== null || !object.visible || !node.isShown) return 'no';
    return entry.pending && entry.count === 0 ? 'soon' : 'yes';
  }

  /** Notes that another worker has taken the place of one that was lost. */
  onRestore(): void {
    for (const { entry } of this.#nodes.values()) entry?.onRestore();
    this.#context.layers.flush();
  }

  /** Has the next `update` look at an object and all below it. */
  request(object: Object3D): void {
    this.#requested.add(object);
  }

  update(): void {
    const { always, meshes, moving, still, moved, layers, removed, service } = this.#context;
    const begun = performance.now();
    this.#tellFailure();
    meshes.refresh();
    this.#visibility.lookAbove(this.#root, this.#nodes.get(this.#root));
    if (!this.#isTold) for (let i = 0; i < this.#order.length; i++) this.#compareChildren(this.#order[i]);
    this.#settle();
    this.#visibility.lookAtWatched();
    let start = performance.now();
    this.#work(FEWEST, Math.max(LEAST_SLICE_MS, SLICE_MS - this.#lookMs - (start - begun)));
    start = performance.now();
    const changed = this.#changed;
    moving.findChanged(0, moving.size, changed);
    this.#updateChanged();
    for (const { object } of always) this.#updateOne(this.#nodes.get(object)!);
    if (this.#requested.size > 0) this.#beginRequests();
    for (const node of this.#overtaken) if (node.turn >= 0) this.#takeTurn(node);
    this.#overtaken.length = 0;
    this.#turns.take(this.#order.length, (first, end) => {
      // What goes meanwhile makes the list shorter.
      for (let i = first; i < end && i < this.#order.length; i++) this.#takeTurn(this.#order[i]);
    });
    for (const node of this.#crowds) this.#takeChildTurns(node);
    this.#stillTurns.take(still.size, (first, end) => {
      still.findChanged(first, end, changed);
      this.#updateChanged();
      if (still.size > first) still.send(service, first, end);
    });
    // Few that were only found just now are shown in the very frame.
    if (this.#visibility.isShowing) this.#visibility.showBelow(sliceOf(0, FEWEST));
    removed.flush();
    layers.flush();
    moving.send(service, 0, moving.size);
    moving.wake();
    still.wake();
    moved.send(service);
    this.#lookMs = performance.now() - start;
    if (this.#hasWork) this.#workOn();
  }

  /** Waits until all that has come stands, as far as it is built, and all that has gone is removed. */
  async settled(): Promise<void> {
    while (this.#hasWork) {
      await nextTask();
      this.#workOnce();
    }
  }

  /** Removes everything from the service, a slice now and the rest in tasks of their own. Nothing else is done any more. */
  clear(): void {
    this.#isCleared = true;
    this.#arriving.length = 0;
    this.#leaving.length = 0;
    this.#unseen.clear();
    this.#nodes.clear();
    this.#visibility.clear();
    this.#overtaken.length = 0;
    this.#crowds.clear();
    try {
      this.#work(FEWEST);
    } catch (error) {
      this.#letGo();
      throw error;
    }
    if (this.#hasWork) this.#workOn();
  }

  /** Lets go of the scene where the service is gone, and all that is in it. */
  #letGo(): void {
    for (const { object } of this.#order) this.#listen(object, false);
    this.#order.length = 0;
    this.#ending.length = 0;
  }

  // --- what comes and goes ---

  readonly #onChild = ({ child }: { child: Object3D }): void => {
    this.#touched.add(child);
  };

  #listen(object: Object3D, isListening: boolean): void {
    if (!this.#isTold) return;
    for (const type of ['childadded', 'childremoved'] as const) {
      if (isListening) object.addEventListener(type, this.#onChild);
      else object.removeEventListener(type, this.#onChild);
    }
  }

  /** Brings what was told of to its place, as far as that is one step. */
  #settle(): void {
    for (const object of this.#touched) this.#place(object);
    this.#touched.clear();
  }

  #place(object: Object3D): void {
    if (object === this.#root) return;
    const node = this.#nodes.get(object);
    const parent = object.parent === null ? undefined : this.#nodes.get(object.parent);
    if (node === undefined) {
      if (parent !== undefined) this.#arriving.push({ objects: [object], next: 0, parent });
    } else if (parent === undefined) {
      this.#leave(node);
    } else if (parent !== node.parent) {
      this.#moveTo(node, parent);
    }
  }

  #moveTo(node: SceneNode, parent: SceneNode): void {
    node.moveTo(parent);
    if (this.#unseen.size > 0) this.#unseen.add(node); // it may have been below one of these
    if (node.isWatched || node.entry?.isStatic === false) this.#visibility.watchAbove(node);
    this.#visibility.see(node);
    const { lod } = node;
    const next = lodAbove(node);
    for (const each of new Set([lod, next])) if (each !== null) this.#rearrange(each);
    if (lod !== null || next !== null) this.#adoptAll([node]);
  }

  #leave(node: SceneNode): void {
    node.moveTo(null);
    this.#leaving.push(node);
  }

  /** Takes the next one that leaves: what is below one that is gone goes one after the other. */
  #nextToLeave(): SceneNode {
    const last = this.#leaving[this.#leaving.length - 1];
    const below = last.turn < 0 ? last.first : null;
    if (below === null) return this.#leaving.pop()!;
    below.moveTo(null);
    return below;
  }

  /** Compares an object's children with those that it had, for what three has not told. */
  #compareChildren(node: SceneNode): void {
    const { children } = node.object;
    if (areSame(children, node.children)) return;
    node.children = children.slice();
    this.#compareAll(node);
  }

  #compareAll(node: SceneNode): void {
    const { children } = node.object;
    const present = new Set(children);
    for (let child = node.first; child !== null; ) {
      const { next, object } = child;
      if (present.has(object)) {
        child = next;
        continue;
      }
      if (object.parent === node.object) this.#leave(child);
      else this.#touched.add(object);
      child = next;
    }
    for (let i = 0; i < children.length; i++) this.#seeChild(node, children[i]);
  }

  /** Looks at one of an object's children: whether that is known. */
  #seeChild(node: SceneNode, object: Object3D): void {
    const known = this.#nodes.get(object);
    if (known?.parent === node) node.round?.see(known);
    else if (object.parent === node.object) this.#touched.add(object);
    else if (known === undefined) this.#arriving.push({ objects: [object], next: 0, parent: node });
  }

  /** Looks at those children of one that has thousands whose turn it is, and at all where some were not met in a round. */
  #takeChildTurns(node: SceneNode): void {
    const { children } = node.object;
    if (node.turn < 0 || children.length <= MOST_AT_ONCE) {
      this.#crowds.delete(node);
      node.round = null;
      return;
    }
    const noted = node.children as Object3D[];
    let missed = 0;
    node.round!.take(
      node,
      children.length,
      (first, end) => {
        for (let i = first; i < end && i < children.length; i++) {
          this.#seeChild(node, children[i]);
          noted[i] = children[i];
        }
        if (noted.length > children.length) noted.length = children.length; // what is gone is not held
      },
      (child) => {
        // Another one that went before it may have moved it to where nobody looked any more.
        if (++missed > MOST_MISSED || children.includes(child.object)) return;
        if (child.object.parent === node.object) this.#leave(child);
        else this.#touched.add(child.object);
      },
    );
    if (missed > MOST_MISSED) this.#compareAll(node);
  }

  get #hasWork(): boolean {
    const { stale, meshes } = this.#context;
    if (this.#ending.length > 0 || meshes.hasRetired) return true;
    if (this.#isCleared) return this.#order.length > 0;
    if (this.#visibility.isShowing) return true;
    return this.#unseen.size + this.#leaving.length + this.#arriving.length + stale.size > 0;
  }

  /** Does what is left in tasks of their own, a slice in each. */
  async #workOn(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      await this.settled();
    } catch (error) {
      // What is about the service the next frame says by itself; what an object of the scene has thrown it is to say, too.
      if (this.#isCleared) this.#letGo();
      else if (!CollisionError.is(error)) this.#failure = { cause: error };
    } finally {
      this.#isWorking = false;
    }
  }

  #tellFailure(): void {
    if (this.#failure === null) return;
    const { cause } = this.#failure;
    this.#failure = null;
    throw cause;
  }

  #workOnce(): void {
    if (!this.#isCleared) this.#settle();
    this.#work(1);
    this.#context.layers.flush();
  }

  /** Does one slice of what is to be done, `fewest` of it whatever the clock says. */
  #work(fewest: number, ms = SLICE_MS): void {
    this.#context.isInSlice = true;
    try {
      this.#workFor(ms, fewest);
    } finally {
      this.#context.isInSlice = false;
    }
    this.#context.removed.flush();
  }

  #workFor(ms: number, fewest: number): void {
    const { stale, meshes } = this.#context;
    const isOver = sliceOf(ms, fewest);
    while (this.#isCleared && this.#order.length > 0) {
      const node = this.#order.pop()!;
      const instances = node.entry?.count;
      this.#forget(node);
      if (isOver(instances)) return;
    }
    while (this.#ending.length > 0) {
      const entry = this.#ending[this.#ending.length - 1];
      const { count } = entry;
      if (entry.remove()) this.#ending.pop();
      if (isOver(count - entry.count)) return;
    }
    if (!this.#visibility.showBelow(isOver)) return;
    for (const node of this.#unseen) {
      this.#answerRequest(node);
      if (isOver()) return;
    }
    if (!this.#isCleared) this.#settle(); // what was found that had come by hand
    while (this.#leaving.length > 0) {
      const node = this.#nextToLeave();
      // It may have come back meanwhile, or be about to: below something that is new.
      const instances = node.entry?.count;
      if (node.parent === null && node.turn >= 0 && !isListedBelow(node.object, this.#root)) this.#remove(node);
      if (isOver(instances)) return;
    }
    while (this.#arriving.length > 0) {
      const arrival = this.#arriving[this.#arriving.length - 1];
      const { objects, parent } = arrival;
      const object = objects[arrival.next++];
      if (arrival.next === objects.length) {
        this.#arriving.pop();
        if (parent !== null && objects.length > MOST_AT_ONCE) this.#coming.delete(parent);
      }
      if (parent === null || parent.turn >= 0) this.#arrive(object, parent);
      // What is built is there before all the rest has come.
      const built = stale.values().next().value;
      if (built !== undefined) this.#updateStale(built);
      if (isOver(built?.count)) return;
    }
    for (const entry of this.#isCleared ? NO_ENTRIES : stale) {
      this.#updateStale(entry);
      if (isOver(entry.count)) return;
    }
    this.#context.removed.flush();
    for (let n = 0; meshes.hasRetired && n < MOST_SWEPT; n++) {
      meshes.sweepOne();
      if (isOver()) return;
    }
  }

  #arrive(object: Object3D, parent: SceneNode | null): void {
    if ((object as { isCollisionHelper?: boolean }).isCollisionHelper === true) return; // it only draws what is there
    const known = this.#nodes.get(object);
    if (known !== undefined) {
      const isLoose = known.parent === null || known.parent.turn < 0;
      if (isLoose && parent !== null) this.#moveTo(known, parent); // else it was told of twice
      return;
    }
    const node = new SceneNode(object);
    node.moveTo(parent);
    node.turn = this.#order.push(node) - 1;
    this.#nodes.set(object, node);
    this.#listen(object, true);
    // What was never drawn has no place yet. three respects this flag of a child's only.
    if (!this.#hasMatrices && object.matrixWorldAutoUpdate !== false) object.updateWorldMatrix(parent === null, false);
    this.#visibility.begin(node);
    const { children } = object;
    node.children = children.length === 0 ? NO_CHILDREN : children.slice();
    if (children.length > 0) this.#arriving.push({ objects: node.children, next: 0, parent: node });
    if (children.length > MOST_AT_ONCE) this.#coming.add(node);
    this.#tellLod(node); // which may have another level now
    this.#adopt(node);
  }

  /** Has the LOD that a node may belong to look for its levels again, where it matters to it that the node came or went. */
  #tellLod(node: SceneNode): void {
    const lod = lodAbove(node);
    if (lod !== null && (isDrawable(node.object) || node.object.parent === lod.object)) this.#rearrange(lod);
  }

  #rearrange(lod: SceneNode): void {
    if (lod.turn < 0) return; // it is on its way out
    (lod.entry as TrackedLod).rearrange();
    this.#updateOne(lod);
  }

  #remove(node: SceneNode): void {
    const { object, turn } = node;
    const last = this.#order.pop()!;
    if (last !== node) {
      this.#order[turn] = last;
      last.turn = turn;
      if (turn < this.#turns.next) this.#overtaken.push(last);
    }
    this.#nodes.delete(object);
    this.#visibility.forget(node);
    this.#forget(node);
    if (node.lod !== null && isDrawable(object)) this.#rearrange(node.lod);
    if (node.first !== null) this.#leaving.push(node); // for what is below it
  }

  #forget(node: SceneNode): void {
    const { entry, object } = node;
    node.turn = -1;
    this.#listen(object, false);
    if (entry?.remove() === false) this.#ending.push(entry);
  }

  #enter(node: SceneNode): void {
    const { object } = node;
    try {
      node.entry = reading('trackScene', nameOf(object), () => this.#track(object));
    } catch (error) {
      this.#leaveOut(node, error);
      return;
    }
    if (!node.entry.isStatic) this.#visibility.watchAbove(node);
    this.#updateOne(node);
  }

  /** Gives a node an entry of its own, or to the LOD that it belongs to. */
  #adopt(node: SceneNode): void {
    const lod = lodAbove(node);
    if (lod !== null && (lod.entry as TrackedLod).owns(node.object)) {
      if (node.lod === lod) return;
      node.lod = lod;
      if (node.entry?.remove() === false) this.#ending.push(node.entry);
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

  /** Leaves out an object of which the caller's functions failed. Throws what is not about the object. */
  #leaveOut(node: SceneNode, error: unknown): void {
    if (!isAboutOneObject(error)) throw error;
    console.warn(`trackScene: the ${nameOf(node.object)} is left out: ${error.message}`);
    node.entry = new UntrackedObject(node.object, error);
  }

  #track(object: Drawable): SceneEntry {
    if (object.isBatchedMesh === true) return new TrackedBatch(this.#context, object as BatchedMesh, this.#wishes);
    if (object.isLOD === true) return new TrackedLod(this.#context, object as LOD, this.#wishes);
    if (object.isSprite === true) return new TrackedSprite(this.#context, object as Sprite, this.#wishes);
    if (isFatLine(object)) return new TrackedFatLine(this.#context, object, this.#wishes);
    return new TrackedObject(this.#context, object as SceneDrawable, this.#wishes, object as Mesh);
  }

  // --- what is looked at ---

  #updateOne(node: SceneNode): void {
    this.#visibility.look(node);
    const { entry } = node;
    if (entry === null) return;
    this.#context.stale.delete(entry);
    entry.update(node.isShown);
    if (entry instanceof TrackedLod && entry.takeChange()) this.#adoptAll(childrenOf(node));
  }

  #updateStale(entry: Updatable): void {
    const node = this.#nodes.get(entry.object);
    if (node?.entry === entry) this.#updateOne(node);
    else this.#context.stale.delete(entry); // it is on its way out
  }

  #updateChanged(): void {
    for (const { object } of this.#changed) this.#updateOne(this.#nodes.get(object)!);
    this.#changed.length = 0;
  }

  #takeTurn(node: SceneNode): void {
    const { entry, object } = node;
    if (node.parent === null && object !== this.#root) this.#leaving.push(node);
    if (this.#isTold) this.#lookAtChildren(node);
    this.#visibility.look(node);
    if (entry?.isDue() !== true) return;
    // What was built since is added in slices: of 20,000 geometries, a frame that takes long added thousands by turns.
    if (entry.count === 0 && this.#context.stale.has(entry)) return;
    this.#updateOne(node);
  }

  /** Compares the children of a node, or has that begin where they are thousands. */
  #lookAtChildren(node: SceneNode): void {
    if (node.object.children.length <= MOST_AT_ONCE) this.#compareChildren(node);
    else if (node.round === null && !this.#coming.has(node)) {
      node.children = [];
      node.round = new ChildRound();
      this.#crowds.add(node);
    }
  }

  /**
   * Looks at what was asked for: at as much of it as a slice takes, and at where all the rest is and whether it is to be
   * seen. What else may have changed there is looked at in slices, or by `finishRequests`.
   */
  #beginRequests(): void {
    for (const object of this.#requested) {
      this.#touched.add(object); // it may have come by hand
      const node = this.#nodes.get(object);
      if (node !== undefined) this.#unseen.add(node.lod ?? node);
    }
    this.#requested.clear();
    this.#settle();
    this.#work(FEWEST);
    if (this.#unseen.size > 0) this.#glance();
  }

  /** Looks at what is left of what was asked for, and shows what is left to be shown, for a question that is about to be asked. */
  finishRequests(): void {
    if (this.#unseen.size === 0 && !this.#visibility.isShowing) return;
    for (const node of this.#unseen) this.#answerRequest(node);
    this.#visibility.showBelow(() => false);
    this.#context.removed.flush();
    this.#context.layers.flush();
  }

  /** Looks at where everything is and whether it is to be seen, table by table: that of thousands takes milliseconds. */
  #glance(): void {
    const { still, service } = this.#context;
    for (const node of this.#order) this.#visibility.look(node);
    still.findChanged(0, still.size, this.#changed);
    this.#updateChanged();
    // What goes meanwhile makes the list shorter.
    for (let i = 0; i < this.#order.length; i++)
      if (this.#order[i].entry?.isDue() === true) this.#updateOne(this.#order[i]);
    still.send(service, 0, still.size);
  }

  /** Looks at a node, and has what is right below it be looked at later. */
  #answerRequest(node: SceneNode): void {
    this.#unseen.delete(node);
    if (node.turn < 0) return; // it has gone meanwhile
    this.#compareChildren(node);
    if (node.entry !== null) this.#askAgain(node);
    else this.#visibility.look(node);
    for (let child = node.first; child !== null; child = child.next) this.#unseen.add(child);
  }

  #askAgain(node: SceneNode): void {
    const entry = node.entry!;
    try {
      reading('trackScene', nameOf(node.object), () => entry.askAgain());
    } catch (error) {
      if (!entry.remove()) this.#ending.push(entry);
      this.#leaveOut(node, error);
      return;
    }
    if (entry instanceof UntrackedObject) {
      this.#enter(node);
      return;
    }
    this.#context.meshes.review((entry.object as Mesh).geometry);
    if (!entry.isStatic) this.#visibility.watchAbove(node);
    this.#updateOne(node);
  }
}

/** Where more children than these were missed in a round, all are compared at once: each is looked for among all others. */
const MOST_MISSED = 64;

/** Objects below a parent that are to come, those from number `next` on. There may be thousands. */
interface Arrival {
  readonly parent: SceneNode | null;
  readonly objects: readonly Object3D[];
  next: number;
}

const NO_CHILDREN: readonly Object3D[] = [];
const NO_ENTRIES: ReadonlySet<Updatable> = new Set();

function areSame(a: readonly Object3D[], b: readonly Object3D[] | null): boolean {
  if (b === null || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Answers the LOD that a node may belong to: the nearest one above, or what that belongs to itself. */
function lodAbove({ parent }: SceneNode): SceneNode | null {
  if (parent === null) return null;
  return parent.lod ?? (parent.entry instanceof TrackedLod ? parent : null);
}

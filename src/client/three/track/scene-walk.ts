import type { Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { nextTask } from '../../../shared/next-task.js';
import { Turns } from '../turns.js';
import type { TableOwner } from './mesh-table.js';
import type { ObjectWishes } from './object-wishes.js';
import { SceneEntries } from './scene-entries.js';
import type { SceneEntry } from './scene-entry.js';
import { SceneGraph } from './scene-graph.js';
import type { SceneNode } from './scene-node.js';
import { INSTANCES_OF_A_BUILD, sliceOf } from './slice.js';
import type { TrackerContext, Updatable } from './stand-in.js';
import { bindAgain } from './teleport.js';
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
 * Keeps what the tracker knows of the scene in step with it: what is looked at in every frame is in flat tables, and by turns,
 * within a second, everything is looked at that nobody told of. What comes, and what goes, is taken in slices.
 */
export class SceneWalk {
  readonly #root: Object3D;
  readonly #context: TrackerContext;
  /** The caller has all matrices updated in every frame. */
  readonly #hasMatrices: boolean;
  readonly #visibility = new Visibility((node, cause) => this.#entries.leaveOut(node, cause));
  readonly #graph: SceneGraph;
  readonly #entries: SceneEntries;
  readonly #stillTurns = new Turns();
  /** The caller asks to look at the one; the other is what is left of it, each with all below it. */
  readonly #requested = new Set<Object3D>();
  readonly #unseen = new Set<SceneNode>();
  /** What leaves and is still looked at: each with all below it, and those before it below its parent. The last one is the next. */
  readonly #leaving: SceneNode[] = [];
  readonly #changed: TableOwner[] = [];
  /** They have changed, and were too many to be looked at in that frame. */
  readonly #late = new Set<TableOwner>();
  /** What an object of the scene has thrown in a task of ours, where nobody waits for it. */
  #failure: { readonly cause: unknown } | null = null;
  #isWorking = false;
  /** So many are done in a frame in any case. `trackScene` waits for all that is there at first: until then, slices are as short as any. */
  #fewest = 1;
  #isCleared = false;
  /** The last slice was over before all was looked at that is asked for. */
  #hasLookedLong = false;
  /** The last frame took so many milliseconds to look at what was there: its slice and that are one task. */
  #lookMs = 0;

  constructor(root: Object3D, context: TrackerContext, wishes: ObjectWishes, hasMatrices: boolean) {
    this.#root = root;
    this.#context = context;
    this.#hasMatrices = hasMatrices;
    this.#graph = new SceneGraph(
      root,
      (node) => this.#begin(node),
      (node, isBack) => this.#move(node, isBack),
      (node) => this.#leaving.push(node),
    );
    this.#entries = new SceneEntries(context, wishes, this.#visibility);
  }

  *entries(): Generator<SceneEntry> {
    for (const { entry } of this.#graph.nodes.values()) if (entry !== null) yield entry;
  }

  /** Lists objects that are to come, or to be shown, with all that is below them. */
  get arriving(): readonly Object3D[] {
    return [...new Set([...this.#graph.arriving, ...this.#visibility.showing])]; // it may be told of twice
  }

  entryOf(object: Object3D): SceneEntry | undefined {
    const node = this.#graph.nodes.get(object);
    return node?.entry ?? node?.lod?.entry ?? undefined;
  }

  /**
   * Tells whether the service can answer for what three would hit of an object: 'yes' also where there is nothing to hit,
   * 'soon' where it has just come or is being built, 'no' where it is left out or invisible.
   */
  standingOf(object: Object3D): 'yes' | 'soon' | 'no' {
    this.finishRequests();
    const node = this.#graph.nodes.get(object);
    if (node === undefined) return 'soon';
    if (node.lod !== null) return 'yes'; // the LOD above is hit as one of its levels
    const { entry } = node;
    if (entry === null) return 'yes';
    if (entry.error !== null || !object.visible || !node.isShown) return 'no';
    return entry.count === 0 && entry.pending ? 'soon' : 'yes';
  }

  /** Notes that another worker has taken the place of one that was lost. */
  onRestore(): void {
    for (const { entry } of this.#graph.nodes.values()) entry?.onRestore();
    this.#context.layers.flush();
  }

  /** Has the next `update` look at an object and all below it. */
  request(object: Object3D): void {
    this.#requested.add(object);
  }

  /** Brings all world matrices up to date as three does; where it stops at one object, those of all others one by one. */
  updateMatrices(): void {
    try {
      this.#root.updateMatrixWorld(this.#root.parent !== null);
    } catch {
      this.#updateBelow(this.#root);
    }
  }

  #updateBelow(object: Object3D): void {
    try {
      if (object.matrixWorldAutoUpdate !== false) object.updateWorldMatrix(false, false);
      for (const child of object.children) this.#updateBelow(child);
    } catch {} // what is wrong is said where the object is looked at
  }

  update(): void {
    const { always, meshes, moving, still, moved, layers, service } = this.#context;
    const { nodes } = this.#graph;
    const begun = performance.now();
    this.#tellFailure();
    meshes.refresh();
    this.#visibility.lookAbove(this.#root, nodes.get(this.#root));
    this.#graph.lookAtAll();
    this.#graph.settle();
    this.#visibility.lookAtWatched();
    let start = performance.now();
    const ms = SLICE_MS - this.#lookMs - (start - begun);
    if (ms > LEAST_SLICE_MS || !this.#isWorking) this.#work(this.#fewest, Math.max(LEAST_SLICE_MS, ms));
    start = performance.now();
    const changed = this.#changed;
    moving.findChanged(0, moving.size, changed);
    this.#updateChanged();
    for (const { object } of always) this.#look(nodes.get(object)!);
    if (this.#requested.size > 0) this.#beginRequests();
    this.#graph.takeTurns(this.#takeTurn);
    this.#stillTurns.take(still.size, (first, end) => {
      still.findChanged(first, end, changed);
      this.#updateChanged();
      still.send(service, first, end); // its size is not asked for: that would close holes, and move lines to where nobody looks
    });
    // Few that were only found just now are shown in the very frame.
    if (this.#visibility.isShowing) this.#visibility.showBelow(sliceOf(0, FEWEST));
    layers.flush();
    moving.send(service, 0, moving.size);
    moving.wake();
    still.wake();
    moved.send(service);
    this.#lookMs = performance.now() - start;
    this.wake();
  }

  /** Waits until all that has come stands, as far as it is built, and all that has gone is removed. */
  async settled(): Promise<void> {
    while (this.#hasWork) {
      await nextTask();
      this.#workOnce();
    }
    this.#fewest = FEWEST;
  }

  /**
   * Does what there is to do in tasks of their own, if there is anything. Call it when something was built: who draws on demand may
   * ask for no other frame.
   */
  wake(): void {
    if (!this.#isWorking && this.#hasWork) this.#workOn();
  }

  /** Removes everything from the service, a slice now and the rest in tasks of their own. Nothing else is done any more. */
  clear(): void {
    this.#isCleared = true;
    this.#graph.clear();
    this.#unseen.clear();
    this.#late.clear();
    this.#leaving.length = 0;
    this.#visibility.clear();
    try {
      this.#work(FEWEST);
    } catch (error) {
      this.#letGo();
      throw error;
    }
    this.wake();
  }

  /** Has the scene tell nothing any more, where the service is gone: it would keep the tracker, and that what leaves. */
  unlisten(): void {
    this.#graph.unlisten();
  }

  /** Lets go of the scene where the service is gone, and all that is in it. */
  #letGo(): void {
    this.#graph.letGo();
    this.#entries.ending.length = 0;
  }

  /** Looks at what it is to a node to be below another one, perhaps when it was about to go. */
  #move(node: SceneNode, isBack: boolean): void {
    this.#leaving.length = 0; // it may be one of these, and what is before it now stays
    if (isBack) this.#requested.add(node.object);
    if (this.#unseen.size > 0) this.#unseen.add(node); // it may have been below one of these
    if (node.isWatched || node.entry?.isStatic === false) this.#visibility.watchAbove(node);
    this.#visibility.see(node);
    try {
      this.#entries.move(node);
    } catch (cause) {
      this.#entries.leaveOut(node, cause);
    }
  }

  // --- what is done in slices ---

  get #hasWork(): boolean {
    const { stale, meshes } = this.#context;
    const { order, isArriving, isLeaving } = this.#graph;
    if (this.#entries.ending.length > 0 || meshes.hasRetired) return true;
    if (this.#isCleared) return order.length > 0;
    const count = this.#unseen.size + this.#late.size + stale.size;
    return isArriving || isLeaving || this.#visibility.isShowing || count > 0;
  }

  /** Does what is left in tasks of their own, a slice in each. */
  async #workOn(): Promise<void> {
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
    if (!this.#isCleared) this.#graph.settle();
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
  }

  #workFor(ms: number, fewest: number): void {
    const { stale, meshes } = this.#context;
    const graph = this.#graph;
    const { order } = graph;
    const { ending } = this.#entries;
    const isOver = sliceOf(ms, fewest);
    while (this.#isCleared && order.length > 0) {
      const node = order.pop()!;
      const instances = node.entry?.count;
      graph.forget(node);
      this.#entries.dismiss(node.entry);
      if (isOver(instances)) return;
    }
    while (ending.length > 0) {
      const entry = ending[ending.length - 1];
      const { count } = entry;
      if (entry.remove()) ending.pop();
      if (isOver(count - entry.count)) return;
    }
    // What took the last slice does not take this one, too: else what comes would wait for as long as all is asked for again.
    const isLookedAtFirst = !this.#hasLookedLong;
    if (isLookedAtFirst && !this.#lookForWhatIsAsked(isOver)) return;
    this.#hasLookedLong = false;
    // A look at 50,000 Meshes is most of a frame, and it takes many frames until they have all gone.
    while (this.#leaving.length > 0) {
      this.#leave(this.#leaving.pop()!);
      if (isOver()) return;
    }
    while (graph.isLeaving) {
      const node = graph.takeLeaving();
      const instances = node?.entry?.count;
      if (node !== null) this.#remove(node);
      if (isOver(instances)) return;
    }
    while (graph.isArriving) {
      const node = graph.takeArriving();
      if (node !== null) this.#begin(node);
      // What is built is there before all the rest has come.
      const built = stale.values().next().value;
      if (built !== undefined) this.#updateStale(built);
      const isToBuild = node?.entry?.count === 0 && node.entry.pending;
      if (isOver(isToBuild ? INSTANCES_OF_A_BUILD : built?.count)) return;
    }
    for (const entry of this.#isCleared ? NO_ENTRIES : stale) {
      this.#updateStale(entry);
      if (isOver(entry.count)) return;
    }
    for (let n = 0; meshes.hasRetired && n < MOST_SWEPT; n++) {
      meshes.sweepOne();
      if (isOver()) return;
    }
    if (!isLookedAtFirst) this.#lookForWhatIsAsked(isOver);
  }

  /** Looks at what is to be shown, at what was asked for and at what may have changed; tells whether that was all. */
  #lookForWhatIsAsked(isOver: (instances?: number) => boolean): boolean {
    this.#hasLookedLong = true;
    if (!this.#visibility.showBelow(isOver)) return false;
    for (const node of this.#unseen) {
      this.#answerRequest(node);
      if (isOver()) return false;
    }
    for (const owner of this.#late) {
      this.#lookLate(owner);
      if (isOver()) return false;
    }
    this.#hasLookedLong = false;
    if (!this.#isCleared) this.#graph.settle(); // what was found that had come by hand
    return true;
  }

  #begin(node: SceneNode): void {
    const { object, parent } = node;
    this.#visibility.begin(node);
    try {
      // What was never drawn has no place yet. three respects this flag of a child's only.
      if (!this.#hasMatrices && object.matrixWorldAutoUpdate !== false) {
        object.updateWorldMatrix(parent === null, false);
        bindAgain(object);
      }
      this.#entries.begin(node);
    } catch (cause) {
      this.#entries.leaveOut(node, cause);
    }
  }

  /** Has nobody look any more at a node that leaves. Those below it are next, the newest first, and then those before it. */
  #leave(node: SceneNode): void {
    if (node.previous !== null) this.#leaving.push(node.previous);
    if (node.last !== null) this.#leaving.push(node.last);
    node.entry?.leave();
  }

  #remove(node: SceneNode): void {
    this.#graph.remove(node);
    this.#visibility.forget(node);
    this.#entries.end(node);
  }

  // --- what is looked at ---

  /** Looks at a node. What is wrong with its object leaves that out, and nothing else. */
  #look(node: SceneNode): void {
    try {
      this.#entries.update(node);
    } catch (cause) {
      this.#entries.leaveOut(node, cause);
    }
  }

  #updateStale(entry: Updatable): void {
    const node = this.#graph.nodes.get(entry.object);
    if (node?.entry === entry) this.#look(node);
    else this.#context.stale.delete(entry); // it is on its way out
  }

  /**
   * Looks at what was found to have changed. A material that 20,000 share changes all of them: some are looked at now, and the
   * others in slices, or by `finishRequests`.
   */
  #updateChanged(): void {
    const isOver = sliceOf(this.#late.size > 0 ? 0 : SLICE_MS, FEWEST);
    let isLate = false;
    for (const owner of this.#changed) {
      if (isLate) this.#late.add(owner);
      else {
        this.#lookLate(owner);
        isLate = isOver();
      }
    }
    this.#changed.length = 0;
  }

  #lookLate(owner: TableOwner): void {
    this.#late.delete(owner);
    // Else it has left meanwhile, or is looked at in every frame.
    if (owner.place >= 0) this.#look(this.#graph.nodes.get(owner.object)!);
  }

  readonly #takeTurn = (node: SceneNode): void => {
    const { entry } = node;
    this.#visibility.look(node);
    if (entry?.isDue() !== true || this.#graph.isAboutToGo(node)) return;
    // What was built since is added in slices: of 20,000 geometries, a frame that takes long added thousands by turns.
    if (entry.count === 0 && this.#context.stale.has(entry)) return;
    this.#look(node);
  };

  /**
   * Looks at what was asked for: at as much of it as a slice takes, and at where all the rest is and whether it is to be
   * seen. What else may have changed there is looked at in slices, or by `finishRequests`.
   */
  #beginRequests(): void {
    for (const object of this.#requested) {
      this.#graph.touch(object); // it may have come by hand
      const node = this.#graph.nodes.get(object);
      if (node !== undefined) this.#unseen.add(node.lod ?? node);
    }
    this.#requested.clear();
    this.#graph.settle();
    this.#work(FEWEST);
    if (this.#unseen.size > 0) this.#glance();
  }

  /** Looks at what is left of what was asked for, and shows what is left to be shown, for a question that is about to be asked. */
  finishRequests(): void {
    if (this.#unseen.size + this.#late.size === 0 && !this.#visibility.isShowing) return;
    for (const node of this.#unseen) this.#answerRequest(node);
    for (const owner of this.#late) this.#lookLate(owner);
    this.#visibility.showBelow(() => false);
    this.#context.layers.flush();
  }

  /** Looks at where everything is and whether it is to be seen, table by table: that of thousands takes milliseconds. */
  #glance(): void {
    const { still, service } = this.#context;
    const { order } = this.#graph;
    for (const node of order) this.#visibility.look(node);
    still.findChanged(0, still.size, this.#changed);
    this.#updateChanged();
    // What goes meanwhile makes the list shorter.
    for (let i = 0; i < order.length; i++) {
      if (order[i].entry?.isDue() === true && !this.#graph.isAboutToGo(order[i])) this.#look(order[i]);
    }
    still.send(service, 0, still.size);
  }

  /** Looks at a node, and has what is right below it be looked at later. */
  #answerRequest(node: SceneNode): void {
    this.#unseen.delete(node);
    if (node.turn < 0) return; // it has gone meanwhile
    this.#graph.compareChildren(node);
    if (node.entry !== null) this.#entries.askAgain(node);
    else this.#visibility.look(node);
    for (let child = node.first; child !== null; child = child.next) this.#unseen.add(child);
  }
}

const NO_ENTRIES: ReadonlySet<Updatable> = new Set();

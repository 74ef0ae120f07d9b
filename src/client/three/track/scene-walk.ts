import type { Object3D } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { nextTask } from '../../../shared/next-task.js';
import { Turns } from '../turns.js';
import { beginSlice, INSTANCES_PER_BUILD } from './begin-slice.js';
import type { TableOwner } from './mesh-table.js';
import type { ObjectSettings } from './object-settings.js';
import { SceneEntries } from './scene-entries.js';
import type { SceneEntry } from './scene-entry.js';
import { SceneGraph } from './scene-graph.js';
import type { SceneNode } from './scene-node.js';
import type { TrackerContext, Updatable } from './stand-in.js';
import { rebind } from './teleport.js';
import { Visibility } from './visibility.js';

/** Milliseconds in which additions, removals and finished builds are handled at once; the rest is handled in later tasks. */
const SLICE_MS = 4;
/** A slice has at least this long, even if the checks of existing objects alone take longer than a slice. */
const MIN_SLICE_MS = 1;
/** This many are handled in a frame in any case: a few new objects are there in that very frame, whatever the clock says. */
const MIN_PER_FRAME = 128;
/** Meshes that are removed in a slice at most: to hand over thousands of commands takes as long as to make them. */
const MAX_SWEPT_MESHES = 512;

/**
 * Keeps what the tracker knows of the scene in step with it: objects that are checked in every frame are in flat tables, and
 * everything is checked in turn, within a second, for changes that nobody reported. Additions and removals are handled in
 * slices.
 */
export class SceneWalk {
  readonly #root: Object3D;
  readonly #context: TrackerContext;
  /** Whether the caller has all matrices updated in every frame. */
  readonly #updatesMatrices: boolean;
  readonly #visibility = new Visibility((node, cause) => this.#entries.leaveOut(node, cause));
  readonly #graph: SceneGraph;
  readonly #entries: SceneEntries;
  readonly #stillTurns = new Turns();
  /** Objects that the caller asked to check; and nodes that are left of these, each with its descendants. */
  readonly #requested = new Set<Object3D>();
  readonly #requestedNodes = new Set<SceneNode>();
  /**
   * Stack of nodes that are being removed and whose subtrees are still to be visited: each node stands for itself, its
   * descendants and its previous siblings.
   */
  readonly #leavingNodes: SceneNode[] = [];
  readonly #changed: TableOwner[] = [];
  /** Changed objects that were too many to be checked in their frame. */
  readonly #deferred = new Set<TableOwner>();
  /** What an object of the scene has thrown in a task of ours, which nobody awaits. */
  #failure: { readonly cause: unknown } | null = null;
  #isWorking = false;
  /**
   * How many are handled in a frame in any case. `trackScene` waits for the whole initial scene: until then, slices need no
   * minimum.
   */
  #minPerFrame = 1;
  #isCleared = false;
  /** Whether the last slice was over before all requested checks were done. */
  #areChecksUnfinished = false;
  /** Milliseconds that the last frame took to check existing objects: these checks and its slice are one task. */
  #checkMs = 0;

  constructor(root: Object3D, context: TrackerContext, settings: ObjectSettings, updatesMatrices: boolean) {
    this.#root = root;
    this.#context = context;
    this.#updatesMatrices = updatesMatrices;
    this.#graph = new SceneGraph(
      root,
      (node) => this.#begin(node),
      (node, wasLeaving) => this.#move(node, wasLeaving),
      (node) => this.#leavingNodes.push(node),
    );
    this.#entries = new SceneEntries(context, settings, this.#visibility);
  }

  *entries(): Generator<SceneEntry> {
    for (const { entry } of this.#graph.nodes.values()) if (entry) yield entry;
  }

  /** Lists objects that are to be added, or to be shown, with all their descendants. */
  get arriving(): readonly Object3D[] {
    return [...new Set([...this.#graph.arriving, ...this.#visibility.showing])]; // an object may be in both
  }

  entryOf(object: Object3D): SceneEntry | undefined {
    const node = this.#graph.nodes.get(object);
    return node?.entry ?? node?.lod?.entry ?? undefined;
  }

  /**
   * Returns whether the service can answer for what three would hit of an object: 'yes' also if there is nothing to hit, 'soon'
   * if it was just added or is being built, 'no' if it is left out or invisible.
   */
  standingOf(object: Object3D): 'yes' | 'soon' | 'no' {
    this.finishRequests();
    const node = this.#graph.nodes.get(object);
    if (!node) return 'soon';
    if (node.lod) return 'yes'; // the LOD above is hit as one of its levels
    const { entry } = node;
    if (!entry) return 'yes';
    if (entry.error || !object.visible || !node.isShown) return 'no';
    return entry.count === 0 && entry.pending ? 'soon' : 'yes';
  }

  /** Notes that another worker has replaced a lost one. */
  onRestore(): void {
    for (const { entry } of this.#graph.nodes.values()) entry?.onRestore();
    this.#context.layers.flush();
  }

  /** Makes the next `update` check an object and its descendants. */
  request(object: Object3D): void {
    this.#requested.add(object);
  }

  /** Updates all world matrices as three does; if an object makes that fail, updates those of all others one by one. */
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
    } catch {} // the check of the object reports what is wrong
  }

  update(): void {
    const { always, meshes, moving, still, moved, layers, service } = this.#context;
    const { nodes } = this.#graph;
    const updateStart = performance.now();
    this.#throwFailure();
    meshes.refresh();
    this.#visibility.lookAbove(this.#root, nodes.get(this.#root));
    this.#graph.lookAtAll();
    this.#graph.settle();
    this.#visibility.lookAtWatched();
    let start = performance.now();
    const ms = SLICE_MS - this.#checkMs - (start - updateStart);
    if (ms > MIN_SLICE_MS || !this.#isWorking) this.#workSlice(this.#minPerFrame, Math.max(MIN_SLICE_MS, ms));
    start = performance.now();
    const changed = this.#changed;
    moving.findChanged(0, moving.size, changed);
    this.#updateChanged();
    for (const { object } of always) this.#checkNode(nodes.get(object)!);
    if (this.#requested.size > 0) this.#beginRequests();
    this.#graph.takeTurns(this.#takeTurn);
    this.#stillTurns.take(still.size, (first, end) => {
      still.findChanged(first, end, changed);
      this.#updateChanged();
      still.send(service, first, end); // without reading its size: that would close holes, and move lines past the turns
    });
    // If only a few were found just now, they are shown in this very frame.
    if (this.#visibility.isShowing) this.#visibility.showBelow(beginSlice(0, MIN_PER_FRAME));
    layers.flush();
    moving.send(service, 0, moving.size);
    moving.wake();
    still.wake();
    moved.send(service);
    this.#checkMs = performance.now() - start;
    this.wake();
  }

  /** Waits until all new objects are in the service, as far as they are built, and all removed objects are removed from it. */
  async settled(): Promise<void> {
    while (this.#hasWork) {
      await nextTask();
      this.#workOneSlice();
    }
    this.#minPerFrame = MIN_PER_FRAME;
  }

  /**
   * Does pending work in later tasks, if there is any. Call it when something was built: an app that draws on demand may
   * request no further frame.
   */
  wake(): void {
    if (!this.#isWorking && this.#hasWork) this.#workInLaterTasks();
  }

  /** Removes everything from the service, a slice now and the rest in later tasks. Nothing else is done any more. */
  clear(): void {
    this.#isCleared = true;
    this.#graph.clear();
    this.#requestedNodes.clear();
    this.#deferred.clear();
    this.#leavingNodes.length = 0;
    this.#visibility.clear();
    try {
      this.#workSlice(MIN_PER_FRAME);
    } catch (error) {
      this.#releaseScene();
      throw error;
    }
    this.wake();
  }

  /**
   * Stops listening to the scene, because the service is gone: its objects would keep the tracker alive, and the tracker
   * removed ones.
   */
  unlisten(): void {
    this.#graph.unlisten();
  }

  /** Releases the scene and everything in it, because the service is gone. */
  #releaseScene(): void {
    this.#graph.letGo();
    this.#entries.ending.length = 0;
  }

  /** Handles a node that has another parent; `wasLeaving`: it was about to be removed. */
  #move(node: SceneNode, wasLeaving: boolean): void {
    this.#leavingNodes.length = 0; // it may be one of these, and its previous siblings now stay
    if (wasLeaving) this.#requested.add(node.object);
    if (this.#requestedNodes.size > 0) this.#requestedNodes.add(node); // it may have been below one of these
    if (node.isWatched || node.entry?.isStatic === false) this.#visibility.watchAbove(node);
    this.#visibility.see(node);
    try {
      this.#entries.move(node);
    } catch (cause) {
      this.#entries.leaveOut(node, cause);
    }
  }

  // --- work in slices ---

  get #hasWork(): boolean {
    const { stale, meshes } = this.#context;
    const { order, isArriving, isLeaving } = this.#graph;
    if (this.#entries.ending.length > 0 || meshes.hasRetired) return true;
    if (this.#isCleared) return order.length > 0;
    const count = this.#requestedNodes.size + this.#deferred.size + stale.size;
    return isArriving || isLeaving || this.#visibility.isShowing || count > 0;
  }

  /** Does the remaining work in later tasks, one slice in each. */
  async #workInLaterTasks(): Promise<void> {
    this.#isWorking = true;
    try {
      await this.settled();
    } catch (error) {
      // The next frame notices errors of the service itself; it must be told what an object of the scene has thrown.
      if (this.#isCleared) this.#releaseScene();
      else if (!CollisionError.is(error)) this.#failure = { cause: error };
    } finally {
      this.#isWorking = false;
    }
  }

  #throwFailure(): void {
    if (!this.#failure) return;
    const { cause } = this.#failure;
    this.#failure = null;
    throw cause;
  }

  #workOneSlice(): void {
    if (!this.#isCleared) this.#graph.settle();
    this.#workSlice(1);
    this.#context.layers.flush();
  }

  /** Does one slice of the pending work, at least `minCount` of it whatever the clock says. */
  #workSlice(minCount: number, ms = SLICE_MS): void {
    this.#context.isInSlice = true;
    try {
      this.#workFor(ms, minCount);
    } finally {
      this.#context.isInSlice = false;
    }
  }

  #workFor(ms: number, minCount: number): void {
    const { stale, meshes } = this.#context;
    const graph = this.#graph;
    const { order } = graph;
    const { ending } = this.#entries;
    const isOver = beginSlice(ms, minCount);
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
    // Checks that took up the last slice do not come first in this one: else new objects would wait until all are done.
    const areChecksFirst = !this.#areChecksUnfinished;
    if (areChecksFirst && !this.#doRequestedChecks(isOver)) return;
    this.#areChecksUnfinished = false;
    // To visit 50,000 Meshes takes most of a frame, and it takes many frames until they are all removed.
    while (this.#leavingNodes.length > 0) {
      this.#leave(this.#leavingNodes.pop()!);
      if (isOver()) return;
    }
    while (graph.isLeaving) {
      const node = graph.takeLeaving();
      const instances = node?.entry?.count;
      if (node) this.#remove(node);
      if (isOver(instances)) return;
    }
    while (graph.isArriving) {
      const node = graph.takeArriving();
      if (node) this.#begin(node);
      // Objects that are built enter the service before all others have arrived.
      const builtEntry = stale.values().next().value;
      if (builtEntry) this.#updateStale(builtEntry);
      const needsBuild = node?.entry?.count === 0 && node.entry.pending;
      if (isOver(needsBuild ? INSTANCES_PER_BUILD : builtEntry?.count)) return;
    }
    for (const entry of this.#isCleared ? NO_ENTRIES : stale) {
      this.#updateStale(entry);
      if (isOver(entry.count)) return;
    }
    for (let n = 0; meshes.hasRetired && n < MAX_SWEPT_MESHES; n++) {
      meshes.sweepOne();
      if (isOver()) return;
    }
    if (!areChecksFirst) this.#doRequestedChecks(isOver);
  }

  /** Shows pending nodes, checks requested nodes and changed objects; returns whether all of that is done. */
  #doRequestedChecks(isOver: (instances?: number) => boolean): boolean {
    this.#areChecksUnfinished = true;
    if (!this.#visibility.showBelow(isOver)) return false;
    for (const node of this.#requestedNodes) {
      this.#checkRequested(node);
      if (isOver()) return false;
    }
    for (const owner of this.#deferred) {
      this.#checkDeferred(owner);
      if (isOver()) return false;
    }
    this.#areChecksUnfinished = false;
    if (!this.#isCleared) this.#graph.settle(); // places children that were found to be added by hand
    return true;
  }

  #begin(node: SceneNode): void {
    const { object, parent } = node;
    this.#visibility.begin(node);
    try {
      // An object that was never drawn has no world matrix yet. three respects this flag of children only.
      if (!this.#updatesMatrices && object.matrixWorldAutoUpdate !== false) {
        object.updateWorldMatrix(parent === null, false);
        rebind(object);
      }
      this.#entries.begin(node);
    } catch (cause) {
      this.#entries.leaveOut(node, cause);
    }
  }

  /** Ends the checks of a node that is being removed. Its descendants are next, the newest first, then its previous siblings. */
  #leave(node: SceneNode): void {
    if (node.previous) this.#leavingNodes.push(node.previous);
    if (node.last) this.#leavingNodes.push(node.last);
    node.entry?.leave();
  }

  #remove(node: SceneNode): void {
    this.#graph.remove(node);
    this.#visibility.forget(node);
    this.#entries.end(node);
  }

  // --- checks ---

  /** Checks a node. An error of its object leaves out that object, and nothing else. */
  #checkNode(node: SceneNode): void {
    try {
      this.#entries.update(node);
    } catch (cause) {
      this.#entries.leaveOut(node, cause);
    }
  }

  #updateStale(entry: Updatable): void {
    const node = this.#graph.nodes.get(entry.object);
    if (node?.entry === entry) this.#checkNode(node);
    else this.#context.stale.delete(entry); // it is being removed
  }

  /**
   * Checks objects that were found to have changed. A material that 20,000 share changes all of them: some are checked now, and
   * the others in slices, or by `finishRequests`.
   */
  #updateChanged(): void {
    const isOver = beginSlice(this.#deferred.size > 0 ? 0 : SLICE_MS, MIN_PER_FRAME);
    let isDeferring = false;
    for (const owner of this.#changed) {
      if (isDeferring) this.#deferred.add(owner);
      else {
        this.#checkDeferred(owner);
        isDeferring = isOver();
      }
    }
    this.#changed.length = 0;
  }

  #checkDeferred(owner: TableOwner): void {
    this.#deferred.delete(owner);
    // Else it was removed meanwhile, or is checked in every frame.
    if (owner.place >= 0) this.#checkNode(this.#graph.nodes.get(owner.object)!);
  }

  readonly #takeTurn = (node: SceneNode): void => {
    const { entry } = node;
    this.#visibility.look(node);
    if (entry?.isDue() !== true || this.#graph.isAboutToGo(node)) return;
    // Objects that are built enter in slices: with 20,000 geometries, a long frame added thousands in their turns.
    if (entry.count === 0 && this.#context.stale.has(entry)) return;
    this.#checkNode(node);
  };

  /**
   * Handles requests: checks as many objects as a slice allows, and of all others only positions and visibility. Other changes
   * are found in slices, or by `finishRequests`.
   */
  #beginRequests(): void {
    for (const object of this.#requested) {
      this.#graph.touch(object); // it may have been added by hand
      const node = this.#graph.nodes.get(object);
      if (node) this.#requestedNodes.add(node.lod ?? node);
    }
    this.#requested.clear();
    this.#graph.settle();
    this.#workSlice(MIN_PER_FRAME);
    if (this.#requestedNodes.size > 0) this.#checkTables();
  }

  /** Finishes requests, and shows what is left to be shown, for a query that is about to be sent. */
  finishRequests(): void {
    if (this.#requestedNodes.size + this.#deferred.size === 0 && !this.#visibility.isShowing) return;
    for (const node of this.#requestedNodes) this.#checkRequested(node);
    for (const owner of this.#deferred) this.#checkDeferred(owner);
    this.#visibility.showBelow(() => false);
    this.#context.layers.flush();
  }

  /** Checks the positions and the visibility of everything, table by table: for thousands, that takes milliseconds. */
  #checkTables(): void {
    const { still, service } = this.#context;
    const { order } = this.#graph;
    for (const node of order) this.#visibility.look(node);
    still.findChanged(0, still.size, this.#changed);
    this.#updateChanged();
    // Removals meanwhile make the list shorter.
    for (let i = 0; i < order.length; i++) {
      if (order[i].entry?.isDue() === true && !this.#graph.isAboutToGo(order[i])) this.#checkNode(order[i]);
    }
    still.send(service, 0, still.size);
  }

  /** Checks a node, and schedules its children to be checked later. */
  #checkRequested(node: SceneNode): void {
    this.#requestedNodes.delete(node);
    if (node.turn < 0) return; // it was removed meanwhile
    this.#graph.compareChildren(node);
    if (node.entry) this.#entries.askAgain(node);
    else this.#visibility.look(node);
    for (let child = node.first; child !== null; child = child.next) this.#requestedNodes.add(child);
  }
}

const NO_ENTRIES: ReadonlySet<Updatable> = new Set();

import { Object3D } from 'three';
import { reasonOf } from '../../check/validate.js';
import { Turns } from '../turns.js';
import { HAS_CHILD_EVENTS } from './child-events.js';
import { ChildRound, MAX_CHILDREN_AT_ONCE } from './child-round.js';
import { isListedBelow } from './is-below.js';
import { nameOf } from './name-of.js';
import { peek, SceneNode } from './scene-node.js';

/** Up to this many new parents of moved objects are added at once per task, the others in slices, as all new objects are. */
const MAX_PARENTS_AT_ONCE = 128;

/** If more children than these were missed in a round, all are compared at once: a search for each would visit all the others. */
const MAX_MISSED = 64;

const NO_CHILDREN: readonly Object3D[] = [];
/** The children of an object whose children cannot be read. */
const UNREADABLE: readonly Object3D[] = [];

/** Objects to be added below a parent, from index `next` on. There may be thousands. */
interface Arrival {
  readonly parent: SceneNode | null;
  readonly objects: readonly Object3D[];
  next: number;
}

/** Returns whether an object is still a child of a node, perhaps put there by hand, and then most likely at the same index. */
function isChildOf(object: Object3D, { object: parent }: SceneNode, index: number): boolean {
  try {
    return object.parent === parent || parent.children[index] === object || parent.children.includes(object);
  } catch {
    return true; // an object that cannot be read is left out when it is checked
  }
}

/**
 * The tracker's nodes for the objects below a root, and the queues of additions and removals. No frame walks the whole scene:
 * three's events report added and removed children, and other changes are found in turn, within a second.
 *
 * Before r163 three had no such events: then, the children of all objects are compared in every frame.
 */
export class SceneGraph {
  readonly root: Object3D;
  readonly nodes = new Map<Object3D, SceneNode>();
  /** All nodes, in the order of their turns. */
  readonly order: SceneNode[] = [];
  #hasChildEvents: boolean;
  readonly #onAdd: (node: SceneNode) => void;
  readonly #onMove: (node: SceneNode, wasLeaving: boolean) => void;
  readonly #onLeave: (node: SceneNode) => void;
  readonly #turns = new Turns();
  /** Nodes whose index became lower than that of the next turn. */
  readonly #overtaken: SceneNode[] = [];
  /** Nodes with so many children that these are visited in turn; and nodes whose many children are not all added yet. */
  readonly #crowdedNodes = new Set<SceneNode>();
  readonly #partlyAdded = new Set<SceneNode>();
  /** Objects that may have another parent than before, or other children. */
  readonly #reparented = new Set<Object3D>();
  /** Objects to be added, the next one last; and nodes to be removed. */
  readonly #arrivals: Arrival[] = [];
  readonly #leaving: SceneNode[] = [];
  /** New parents that were added at once since the last `settle`. */
  #parentsAddedAtOnce = 0;

  /**
   * `onAdd` is called with each new node that is added at once, and so is not returned by `takeArriving`; `onMove` with each
   * node that gets another parent, and whether it was about to be removed; `onLeave` with each node that is about to be removed
   * together with its descendants.
   */
  constructor(
    root: Object3D,
    onAdd: (node: SceneNode) => void,
    onMove: (node: SceneNode, wasLeaving: boolean) => void,
    onLeave: (node: SceneNode) => void,
  ) {
    this.root = root;
    this.#onAdd = onAdd;
    this.#onMove = onMove;
    this.#onLeave = onLeave;
    // Another copy of three may be an older one.
    this.#hasChildEvents = HAS_CHILD_EVENTS && root instanceof Object3D;
    this.#arrivals.push({ objects: [root], next: 0, parent: null });
    const reparented = this.#reparented;
    // three has one event for all children: it names none if a listener before this one has added another.
    this.#onChild = function (this: Object3D, event) {
      reparented.add(event?.child ?? this);
    };
  }

  /** Lists objects that are to be added, with all their descendants. */
  get arriving(): readonly Object3D[] {
    return this.#arrivals.flatMap(({ objects, next }) => objects.slice(next));
  }

  get isArriving(): boolean {
    return this.#arrivals.length > 0;
  }

  get isLeaving(): boolean {
    return this.#leaving.length > 0;
  }

  /** Notes that an object may have another parent than before. */
  touch(object: Object3D): void {
    this.#reparented.add(object);
  }

  /** Brings reported objects to their places, as far as that takes one step. */
  settle(): void {
    this.#parentsAddedAtOnce = 0;
    for (const object of this.#reparented) this.#settleObject(object);
    this.#reparented.clear();
  }

  /** Returns whether a node, or one of its ancestors, is about to be removed. */
  isAboutToGo(node: SceneNode): boolean {
    return this.isLeaving && this.#isDetached(node);
  }

  #isDetached(node: SceneNode): boolean {
    let top = node;
    while (top.parent !== null) top = top.parent;
    return top.object !== this.root;
  }

  /** Queues the removal of a node and its descendants. */
  leave(node: SceneNode): void {
    node.moveTo(null);
    this.#leaving.push(node);
    this.#onLeave(node);
  }

  /**
   * Takes the next node to be removed; the descendants of a removed node follow one after the other. The newest goes first, so
   * that tables lose their last lines: the longest slice of 50,000 Meshes takes 10 ms of processor time, and 14 if the oldest
   * goes first. Null for a node that has come back meanwhile, or is about to come back below a new object.
   */
  takeLeaving(): SceneNode | null {
    const last = this.#leaving[this.#leaving.length - 1];
    const descendant = last.turn < 0 ? last.last : null;
    if (!descendant) this.#leaving.pop();
    else descendant.moveTo(null);
    const node = descendant ?? last;
    return node.parent === null && node.turn >= 0 && !isListedBelow(node.object, this.root) ? node : null;
  }

  /** Takes the next object to be added, and creates its node; null if it has one, or if it or its parent was removed again. */
  takeArriving(): SceneNode | null {
    const arrival = this.#arrivals[this.#arrivals.length - 1];
    const { objects, parent } = arrival;
    const index = arrival.next++;
    const object = objects[index];
    if (arrival.next === objects.length) {
      this.#arrivals.pop();
      if (parent && objects.length > MAX_CHILDREN_AT_ONCE) this.#partlyAdded.delete(parent);
    }
    if (parent && parent.turn < 0) return null;
    if (isHelper(object)) return null;
    if (parent && !isChildOf(object, parent, index)) return null; // it was removed before it was added
    const existing = this.nodes.get(object);
    if (!existing) return this.#add(object, parent);
    if (existing.parent === parent) return null; // it was reported twice
    if ((existing.parent?.turn ?? -1) < 0) this.#moveNode(existing, parent!);
    else parent!.children = null; // another parent lists it, too
    return null;
  }

  /** Removes a node; its descendants are next. */
  remove(node: SceneNode): void {
    const { turn } = node;
    const last = this.order.pop()!;
    if (last !== node) {
      this.order[turn] = last;
      last.turn = turn;
      if (turn < this.#turns.next) this.#overtaken.push(last);
    }
    this.nodes.delete(node.object);
    this.forget(node);
    if (node.first) this.#leaving.push(node);
  }

  /** Marks a node as removed, and stops listening to its object. */
  forget(node: SceneNode): void {
    node.turn = -1;
    this.#listen(node.object, false);
  }

  /** Calls `visit` with each node whose turn it is. */
  takeTurns(visit: (node: SceneNode) => void): void {
    const visitNode = (node: SceneNode): void => {
      // A pending addition may bring it back: until then, it would be searched for in the whole scene again and again.
      if (!node.parent && node.object !== this.root && !this.isArriving) this.#leaving.push(node);
      if (this.#hasChildEvents) this.#checkChildren(node);
      visit(node);
    };
    for (const node of this.#overtaken) if (node.turn >= 0) visitNode(node);
    this.#overtaken.length = 0;
    this.#turns.take(this.order.length, (first, end) => {
      // Removals meanwhile make the list shorter.
      for (let i = first; i < end && i < this.order.length; i++) visitNode(this.order[i]);
    });
    for (const node of this.#crowdedNodes) this.#takeChildTurns(node);
  }

  /** Compares the children of all nodes if three does not report them. */
  lookAtAll(): void {
    if (!this.#hasChildEvents) for (let i = 0; i < this.order.length; i++) this.compareChildren(this.order[i]);
  }

  /** Compares an object's children with the previous ones, to find changes that three has not reported. */
  compareChildren(node: SceneNode): void {
    try {
      const { children } = node.object;
      if (areSameObjects(children, node.children)) return;
      node.children = children.slice();
      this.#compareAllChildren(node, children);
    } catch (cause) {
      this.#leaveOutChildren(node, cause);
    }
  }

  /** Treats the children of an object that cannot be read as none, and warns once. */
  #leaveOutChildren(node: SceneNode, cause: unknown): void {
    if (node.children === UNREADABLE) return;
    console.warn(`trackScene: what is below the ${nameOf(node.object)} is left out: ${reasonOf(cause)}`);
    this.#compareAllChildren(node, UNREADABLE);
    node.children = UNREADABLE;
  }

  /** Drops all pending additions and removals; there are no more turns. */
  clear(): void {
    this.#arrivals.length = 0;
    this.#leaving.length = 0;
    this.#overtaken.length = 0;
    this.#crowdedNodes.clear();
    this.nodes.clear();
  }

  /** Releases whatever of the scene is still known. */
  letGo(): void {
    this.unlisten();
    this.order.length = 0;
  }

  /** Stops listening to three's events. */
  unlisten(): void {
    for (const { object } of this.order) this.#listen(object, false);
    this.#hasChildEvents = false;
    this.#reparented.clear();
  }

  readonly #onChild: (event?: { child?: Object3D | null }) => void;

  #listen(object: Object3D, isListening: boolean): void {
    if (!this.#hasChildEvents) return;
    try {
      for (const type of ['childadded', 'childremoved'] as const) {
        if (isListening) object.addEventListener(type, this.#onChild);
        else object.removeEventListener(type, this.#onChild);
      }
    } catch {} // an object that cannot be read reports nothing
  }

  #add(object: Object3D, parent: SceneNode | null): SceneNode {
    const node = new SceneNode(object);
    node.moveTo(parent);
    node.turn = this.order.push(node) - 1;
    this.nodes.set(object, node);
    try {
      this.#listen(object, true);
      const { children } = object;
      node.children = children.length === 0 ? NO_CHILDREN : children.slice();
      if (children.length > 0) this.#arrivals.push({ objects: node.children, next: 0, parent: node });
      if (children.length > MAX_CHILDREN_AT_ONCE) this.#partlyAdded.add(node);
    } catch (cause) {
      this.#leaveOutChildren(node, cause);
    }
    return node;
  }

  #settleObject(object: Object3D): void {
    const node = this.nodes.get(object);
    const parentObject = peek(object, 'parent');
    const parent = node === undefined ? this.nodes.get(parentObject!) : this.#parentNodeOf(parentObject);
    if (!node) {
      if (parent) this.#arrivals.push({ objects: [object], next: 0, parent });
    } else if (object === this.root || parent === node.parent) {
      this.compareChildren(node);
    } else if (!parent) {
      this.leave(node);
    } else {
      this.#moveNode(node, parent);
    }
  }

  /** Returns the parent's node of an object that moves. A new parent is added at once, so that the object need not be removed. */
  #parentNodeOf(parentObject: Object3D | null | undefined): SceneNode | undefined {
    const existing = this.nodes.get(parentObject!);
    if (existing || this.#parentsAddedAtOnce >= MAX_PARENTS_AT_ONCE) return existing;
    if (!parentObject || isHelper(parentObject) || !isListedBelow(parentObject, this.root)) return undefined;
    const parent = this.#parentNodeOf(parentObject.parent);
    if (!parent) return undefined;
    this.#parentsAddedAtOnce++;
    const node = this.#add(parentObject, parent);
    this.#onAdd(node);
    return node;
  }

  #moveNode(node: SceneNode, parent: SceneNode): void {
    if (!this.#canMoveBelow(parent, node)) {
      this.leave(node); // its parents form a ring, which is not in the scene
      return;
    }
    const wasLeaving = this.#isDetached(node);
    node.moveTo(parent);
    parent.children = null; // an app may have removed it there by hand
    this.#onMove(node, wasLeaving);
  }

  /**
   * Returns whether a node may be put below `parent`. If `parent` is still below the node, because the two have changed places,
   * the node between them that is elsewhere now is detached, and is placed afterwards.
   */
  #canMoveBelow(parent: SceneNode, node: SceneNode): boolean {
    let detached: SceneNode | null = null;
    for (let ancestor = parent; ancestor !== node; ancestor = ancestor.parent) {
      if (!ancestor.parent) return true;
      if (peek(ancestor.object, 'parent') !== ancestor.parent.object) detached = ancestor;
    }
    if (!detached) return false;
    detached.moveTo(null);
    this.#reparented.delete(detached.object);
    this.touch(detached.object);
    return true;
  }

  #isCrowded({ object }: SceneNode): boolean {
    return (peek(object, 'children')?.length ?? 0) > MAX_CHILDREN_AT_ONCE;
  }

  /** Compares the children of a node, or starts a round of them if there are thousands. */
  #checkChildren(node: SceneNode): void {
    const isCrowded = this.#isCrowded(node);
    if (isCrowded && (node.round || this.#partlyAdded.has(node))) return;
    if (!isCrowded || !node.children) this.compareChildren(node);
    else {
      const knownChildren = node.children.slice();
      node.children = knownChildren;
      node.round = new ChildRound(knownChildren);
      this.#crowdedNodes.add(node);
    }
  }

  #compareAllChildren(node: SceneNode, children: readonly Object3D[]): void {
    const present = new Set(children);
    for (let child = node.first; child !== null; ) {
      const { next, object } = child;
      if (!present.has(object)) this.#handleMissing(child, node);
      child = next;
    }
    for (let i = 0; i < children.length; i++) this.#checkChild(node, children[i]);
  }

  /** Handles a node that is not among its parent's children. */
  #handleMissing(child: SceneNode, parent: SceneNode): void {
    if (peek(child.object, 'parent') === parent.object) this.leave(child);
    else this.touch(child.object);
  }

  /** Checks whether one of an object's children is known. */
  #checkChild(node: SceneNode, object: Object3D): void {
    const childNode = this.nodes.get(object);
    if (childNode?.parent === node) childNode.seenIn = node.round?.number ?? 0;
    else if (peek(object, 'parent') === node.object) this.touch(object);
    else if (!childNode) this.#arrivals.push({ objects: [object], next: 0, parent: node });
    else node.children = null; // another parent lists it, too
  }

  /** Visits those of a node's thousands of children whose turn it is; compares all of them if many were missed in a round. */
  #takeChildTurns(node: SceneNode): void {
    if (node.turn < 0 || !this.#isCrowded(node)) {
      this.#crowdedNodes.delete(node);
      node.round = null;
      return;
    }
    const { children } = node.object;
    const round = node.round!;
    round.take(
      children,
      (child) => this.#checkChild(node, child),
      (object) => {
        const child = this.nodes.get(object);
        if (child?.parent === node) child.seenIn = 0;
      },
      (displaced) => {
        const unseen = displaced.filter((object) => {
          const child = this.nodes.get(object);
          return child?.parent === node && child.seenIn !== round.number;
        });
        if (unseen.length > MAX_MISSED) this.#compareAllChildren(node, children);
        else {
          for (const object of unseen) {
            const child = this.nodes.get(object);
            if (child && !children.includes(object)) this.#handleMissing(child, node);
          }
        }
        return unseen;
      },
    );
  }
}

/** Returns whether an object is a helper, which only draws what is there. */
function isHelper(object: Object3D): boolean {
  return peek(object as { isCollisionHelper?: boolean }, 'isCollisionHelper') === true;
}

function areSameObjects(a: readonly Object3D[], b: readonly Object3D[] | null): boolean {
  if (a.length !== b?.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

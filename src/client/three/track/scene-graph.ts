import { Object3D } from 'three';
import { reasonOf } from '../../check/validate.js';
import { Turns } from '../turns.js';
import { HAS_CHILD_EVENTS } from './child-events.js';
import { ChildRound, MOST_AT_ONCE } from './child-round.js';
import { isListedBelow } from './is-below.js';
import { nameOf } from './name-of.js';
import { peek, SceneNode } from './scene-node.js';

/** So many parents of what has another one come at once, in a task; the others in slices, as all does that comes. */
const MOST_PARENTS_AT_ONCE = 128;

/** Where more children than these were missed in a round, all are compared at once: each is looked for among all others. */
const MOST_MISSED = 64;

const NO_CHILDREN: readonly Object3D[] = [];
/** These are those of an object of which they cannot be read. */
const UNREAD: readonly Object3D[] = [];

/** Objects below a parent that are to come, those from number `next` on. There may be thousands. */
interface Arrival {
  readonly parent: SceneNode | null;
  readonly objects: readonly Object3D[];
  next: number;
}

/** Tells whether an object is still a child of a node's, perhaps by hand, and then most likely at the same place in the list. */
function isBelow(object: Object3D, { object: parent }: SceneNode, index: number): boolean {
  try {
    return object.parent === parent || parent.children[index] === object || parent.children.includes(object);
  } catch {
    return true; // what cannot be read is left out where it is looked at
  }
}

/**
 * The tracker's nodes for the objects below a root, and which of them are to come and to go. Nothing goes through the whole scene in
 * a frame: three tells what comes and goes, and what nobody told of is found by turns, within a second.
 *
 * Before r163 three told nobody: the children of all objects are compared in every frame there.
 */
export class SceneGraph {
  readonly root: Object3D;
  readonly nodes = new Map<Object3D, SceneNode>();
  /** It has all nodes in the order of their turns. */
  readonly order: SceneNode[] = [];
  #isTold: boolean;
  readonly #onCome: (node: SceneNode) => void;
  readonly #onMove: (node: SceneNode, isBack: boolean) => void;
  readonly #onLeave: (node: SceneNode) => void;
  readonly #turns = new Turns();
  /** The number of these became lower than the one whose turn comes next. */
  readonly #overtaken: SceneNode[] = [];
  /** These have so many children that they are gone through by turns; and these of them have not all come yet. */
  readonly #crowds = new Set<SceneNode>();
  readonly #coming = new Set<SceneNode>();
  /** These may have another parent than before. */
  readonly #touched = new Set<Object3D>();
  /** These are to come, the next ones last; and those are to go. */
  readonly #arriving: Arrival[] = [];
  readonly #leaving: SceneNode[] = [];
  /** So many have come at once since `settle` was called last. */
  #hurried = 0;

  /**
   * `onCome` is called with each new node that `takeArriving` does not answer, as it came at once; `onMove` with each that is below
   * another parent than before, and whether it was about to go; `onLeave` with each that is about to, with all below it.
   */
  constructor(
    root: Object3D,
    onCome: (node: SceneNode) => void,
    onMove: (node: SceneNode, isBack: boolean) => void,
    onLeave: (node: SceneNode) => void,
  ) {
    this.root = root;
    this.#onCome = onCome;
    this.#onMove = onMove;
    this.#onLeave = onLeave;
    // Another copy of three may be an older one.
    this.#isTold = HAS_CHILD_EVENTS && root instanceof Object3D;
    this.#arriving.push({ objects: [root], next: 0, parent: null });
  }

  /** Lists objects that are to come, with all that is below them. */
  get arriving(): readonly Object3D[] {
    return this.#arriving.flatMap(({ objects, next }) => objects.slice(next));
  }

  get isArriving(): boolean {
    return this.#arriving.length > 0;
  }

  get isLeaving(): boolean {
    return this.#leaving.length > 0;
  }

  /** Notes that an object may have another parent than before. */
  touch(object: Object3D): void {
    this.#touched.add(object);
  }

  /** Brings what was told of to its place, as far as that is one step. */
  settle(): void {
    this.#hurried = 0;
    for (const object of this.#touched) this.#place(object);
    this.#touched.clear();
  }

  /** Tells whether a node is about to go, as it is, or what is above it. */
  isAboutToGo(node: SceneNode): boolean {
    return this.isLeaving && this.#isLoose(node);
  }

  #isLoose(node: SceneNode): boolean {
    let top = node;
    while (top.parent !== null) top = top.parent;
    return top.object !== this.root;
  }

  /** Has a node go, with all below it. */
  leave(node: SceneNode): void {
    node.moveTo(null);
    this.#leaving.push(node);
    this.#onLeave(node);
  }

  /**
   * Takes the next one that leaves, as what is below one that is gone goes one after the other. The newest goes first, so that tables
   * lose their last lines: the longest slice of 50,000 Meshes takes 10 ms of processor time, and 14 where the oldest does. Null for one
   * that has come back meanwhile, or is about to: below something that is new.
   */
  takeLeaving(): SceneNode | null {
    const last = this.#leaving[this.#leaving.length - 1];
    const below = last.turn < 0 ? last.last : null;
    if (below === null) this.#leaving.pop();
    else below.moveTo(null);
    const node = below ?? last;
    return node.parent === null && node.turn >= 0 && !isListedBelow(node.object, this.root) ? node : null;
  }

  /** Takes the next object that comes, and makes its node; null where it has one, where it has gone again, and where its parent has. */
  takeArriving(): SceneNode | null {
    const arrival = this.#arriving[this.#arriving.length - 1];
    const { objects, parent } = arrival;
    const index = arrival.next++;
    const object = objects[index];
    if (arrival.next === objects.length) {
      this.#arriving.pop();
      if (parent !== null && objects.length > MOST_AT_ONCE) this.#coming.delete(parent);
    }
    if (parent !== null && parent.turn < 0) return null;
    if (isHelper(object)) return null;
    if (parent !== null && !isBelow(object, parent, index)) return null; // it has gone again before it came
    const known = this.nodes.get(object);
    if (known === undefined) return this.#add(object, parent);
    const isLoose = known.parent === null || known.parent.turn < 0;
    if (isLoose && parent !== null) this.#moveTo(known, parent); // else it was told of twice
    return null;
  }

  /** Removes a node; what is below it is to leave. */
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
    if (node.first !== null) this.#leaving.push(node);
  }

  /** Takes note of a node that is gone. */
  forget(node: SceneNode): void {
    node.turn = -1;
    this.#listen(node.object, false);
  }

  /** Calls `visit` with each node whose turn it is. */
  takeTurns(visit: (node: SceneNode) => void): void {
    const take = (node: SceneNode): void => {
      // What is to come may bring it back: it would be looked for among all again and again, before that comes.
      if (node.parent === null && node.object !== this.root && !this.isArriving) this.#leaving.push(node);
      if (this.#isTold) this.#lookAtChildren(node);
      visit(node);
    };
    for (const node of this.#overtaken) if (node.turn >= 0) take(node);
    this.#overtaken.length = 0;
    this.#turns.take(this.order.length, (first, end) => {
      // What goes meanwhile makes the list shorter.
      for (let i = first; i < end && i < this.order.length; i++) take(this.order[i]);
    });
    for (const node of this.#crowds) this.#takeChildTurns(node);
  }

  /** Looks at the children of all nodes where three does not tell of them. */
  lookAtAll(): void {
    if (!this.#isTold) for (let i = 0; i < this.order.length; i++) this.compareChildren(this.order[i]);
  }

  /** Compares an object's children with those that it had, for what three has not told. */
  compareChildren(node: SceneNode): void {
    try {
      const { children } = node.object;
      if (areSame(children, node.children)) return;
      node.children = children.slice();
      this.#compareAll(node, children);
    } catch (cause) {
      this.#fail(node, cause);
    }
  }

  /** Takes the children of an object for none, as they cannot be read, and says so once. */
  #fail(node: SceneNode, cause: unknown): void {
    if (node.children === UNREAD) return;
    node.children = UNREAD;
    console.warn(`trackScene: what is below the ${nameOf(node.object)} is left out: ${reasonOf(cause)}`);
    this.#compareAll(node, UNREAD);
  }

  /** Lets go of all that is to come and to go, and has no turns any more. */
  clear(): void {
    this.#arriving.length = 0;
    this.#leaving.length = 0;
    this.#overtaken.length = 0;
    this.#crowds.clear();
    this.nodes.clear();
  }

  /** Lets go of the scene, whatever of it is still known. */
  letGo(): void {
    this.unlisten();
    this.order.length = 0;
  }

  /** Has three tell of nothing any more. */
  unlisten(): void {
    for (const { object } of this.order) this.#listen(object, false);
    this.#isTold = false;
    this.#touched.clear();
  }

  readonly #onChild = (event?: { child?: Object3D }): void => {
    if (event?.child !== undefined) this.touch(event.child); // what is no object of three's may tell nothing
  };

  #listen(object: Object3D, isListening: boolean): void {
    if (!this.#isTold) return;
    try {
      for (const type of ['childadded', 'childremoved'] as const) {
        if (isListening) object.addEventListener(type, this.#onChild);
        else object.removeEventListener(type, this.#onChild);
      }
    } catch {} // what cannot be read tells nothing
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
      if (children.length > 0) this.#arriving.push({ objects: node.children, next: 0, parent: node });
      if (children.length > MOST_AT_ONCE) this.#coming.add(node);
    } catch (cause) {
      this.#fail(node, cause);
    }
    return node;
  }

  #place(object: Object3D): void {
    if (object === this.root) return;
    const node = this.nodes.get(object);
    const above = peek(object, 'parent');
    const parent = node === undefined ? this.nodes.get(above!) : this.#nodeAbove(above);
    if (node === undefined) {
      if (parent !== undefined) this.#arriving.push({ objects: [object], next: 0, parent });
    } else if (parent === undefined) {
      this.leave(node);
    } else if (parent !== node.parent) {
      this.#moveTo(node, parent);
    }
  }

  /** Answers the node of what is above one that moves. If it is still to come, it does so at once: what moves need not leave. */
  #nodeAbove(above: Object3D | null | undefined): SceneNode | undefined {
    const known = this.nodes.get(above!);
    if (known !== undefined || this.#hurried >= MOST_PARENTS_AT_ONCE) return known;
    if (!above || isHelper(above) || !isListedBelow(above, this.root)) return undefined;
    const parent = this.#nodeAbove(above.parent);
    if (parent === undefined) return undefined;
    this.#hurried++;
    const node = this.#add(above, parent);
    this.#onCome(node);
    return node;
  }

  #moveTo(node: SceneNode, parent: SceneNode): void {
    if (!this.#isFree(parent, node)) return;
    const isBack = this.#isLoose(node);
    node.moveTo(parent);
    this.#onMove(node, isBack);
  }

  /**
   * Tells whether a parent may have a node below it. Where the parent is still below that, as the two have changed places, what lies
   * between them and is elsewhere now is taken off, and is placed behind it.
   */
  #isFree(parent: SceneNode, node: SceneNode): boolean {
    let moved: SceneNode | null = null;
    for (let each = parent; each !== node; each = each.parent) {
      if (each.parent === null) return true;
      if (peek(each.object, 'parent') !== each.parent.object) moved = each;
    }
    if (moved === null) return false;
    moved.moveTo(null);
    this.#touched.delete(moved.object);
    this.touch(moved.object);
    return true;
  }

  #isCrowd({ object }: SceneNode): boolean {
    return (peek(object, 'children')?.length ?? 0) > MOST_AT_ONCE;
  }

  /** Compares the children of a node, or has that begin where they are thousands. */
  #lookAtChildren(node: SceneNode): void {
    if (!this.#isCrowd(node)) this.compareChildren(node);
    else if (node.round === null && !this.#coming.has(node)) {
      const noted = node.children!.slice();
      node.children = noted;
      node.round = new ChildRound(noted);
      this.#crowds.add(node);
    }
  }

  #compareAll(node: SceneNode, children: readonly Object3D[]): void {
    const present = new Set(children);
    for (let child = node.first; child !== null; ) {
      const { next, object } = child;
      if (!present.has(object)) this.#miss(child, node);
      child = next;
    }
    for (let i = 0; i < children.length; i++) this.#seeChild(node, children[i]);
  }

  /** Takes note of a node that is not among its parent's children. */
  #miss(child: SceneNode, parent: SceneNode): void {
    if (peek(child.object, 'parent') === parent.object) this.leave(child);
    else this.touch(child.object);
  }

  /** Looks at one of an object's children: whether that is known. */
  #seeChild(node: SceneNode, object: Object3D): void {
    const known = this.nodes.get(object);
    if (known?.parent === node) known.seenIn = node.round?.number ?? 0;
    else if (peek(object, 'parent') === node.object) this.touch(object);
    else if (known === undefined) this.#arriving.push({ objects: [object], next: 0, parent: node });
  }

  /** Looks at those children of one that has thousands whose turn it is, and at all where many have gone in a round. */
  #takeChildTurns(node: SceneNode): void {
    if (node.turn < 0 || !this.#isCrowd(node)) {
      this.#crowds.delete(node);
      node.round = null;
      return;
    }
    const { children } = node.object;
    const round = node.round!;
    round.take(
      children,
      (child) => this.#seeChild(node, child),
      (object) => {
        const child = this.nodes.get(object);
        if (child?.parent === node) child.seenIn = 0;
      },
      (lost) => {
        const unseen = lost.filter((object) => {
          const child = this.nodes.get(object);
          return child?.parent === node && child.seenIn !== round.number;
        });
        if (unseen.length > MOST_MISSED) this.#compareAll(node, children);
        else {
          for (const object of unseen) {
            const child = this.nodes.get(object);
            if (child && !children.includes(object)) this.#miss(child, node);
          }
        }
        return unseen;
      },
    );
  }
}

/** Tells whether an object only draws what is there. */
function isHelper(object: Object3D): boolean {
  return peek(object as { isCollisionHelper?: boolean }, 'isCollisionHelper') === true;
}

function areSame(a: readonly Object3D[], b: readonly Object3D[] | null): boolean {
  if (b === null || a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

import type { InstancedMesh, Object3D } from 'three';
import type { FrameResult, ObjectId, VisibleSet } from '../../../shared/types.js';
import { checkTypedArray } from '../../check/binary.js';
import { invalid, show } from '../../check/validate.js';
import { isBelow } from '../track/is-below.js';
import type { DepartedObjects, SceneObject, SceneObjects } from '../track/scene-objects.js';

/** Two objects of the scene in contact. */
export interface SceneContact {
  readonly a: SceneObject;
  readonly b: SceneObject;
  /** The pair's place in `result.contacts`. */
  readonly index: number;
  /** `a` is the pair's b there: its normals are from `b` to `a`, and `contained` 1 is b inside a. */
  readonly swapped: boolean;
}

/**
 * A frame's result in terms of the scene. Nothing is copied for it: ids are looked up as you walk. Like
 * `result`, it is valid until the next `update()` resolves. Objects that left the scene meanwhile are passed over, but
 * for the pairs that ended; those that others added to the service always are.
 */
export class SceneFrame {
  /** As the service gave it. */
  readonly result: FrameResult;
  readonly #objects: SceneObjects;
  /** What left the scene before this was answered. */
  readonly #departed: DepartedObjects;
  readonly #view: string;

  constructor(result: FrameResult, objects: SceneObjects, view: string) {
    this.result = result;
    this.#objects = objects;
    this.#departed = objects.departed;
    this.#view = view;
  }

  get frame(): number {
    return this.result.frame;
  }

  /**
   * Calls `visit` for all that a view (default: the tracked camera) sees: first what is wholly `inside`, then what
   * crosses its border.
   */
  forEachVisible(visit: (seen: SceneObject, inside: boolean) => void, view = this.#view): void {
    checkVisit('forEachVisible', visit);
    const { ids, inside } = this.#seenBy('forEachVisible', view);
    for (let i = 0; i < ids.length; i++) {
      const seen = this.#objects.get(ids[i]);
      if (seen !== undefined) visit(seen, i < inside);
    }
  }

  /**
   * Writes the numbers of the instances of `mesh` that a view sees into `target`, and answers how many they are:
   * a draw list. Throws INVALID_ARGUMENT when `target` has no room for them.
   */
  visibleInstances(mesh: InstancedMesh, target: Uint32Array, view = this.#view): number {
    const operation = 'visibleInstances';
    const { ids } = this.#seenBy(operation, view);
    const { length } = checkTypedArray<Uint32Array>(operation, 'target', target, ['Uint32Array']);
    let count = 0;
    for (let i = 0; i < ids.length; i++) {
      const instance = this.#objects.instanceOf(ids[i], mesh);
      if (instance < 0) continue;
      if (count === length) invalid(operation, 'the length of target', length, 'room for all instances in view');
      target[count++] = instance;
    }
    return count;
  }

  /** Calls `visit` for all pairs in contact; `index` is the pair's place in `result.contacts`. */
  forEachContact(visit: (a: SceneObject, b: SceneObject, index: number) => void): void {
    checkVisit('forEachContact', visit);
    const { a, b, count } = this.result.contacts;
    for (let i = 0; i < count; i++) {
      const first = this.#objects.get(a[i]);
      const second = this.#objects.get(b[i]);
      if (first !== undefined && second !== undefined) visit(first, second, i);
    }
  }

  /**
   * Lists the pairs between `first` or what is below it and `second` or what is below that; without a second, between
   * the first and anything else. `a` is on the side of `first`. A robot is a Group, and so is its gripper:
   *
   * ```ts
   * const areTouching = frame.contactsBetween(robotA, robotB).length > 0;
   * for (const { a, b } of frame.contactsBetween(robotA)) console.log(`${a.object.name} touches ${b.object.name}`);
   * for (const { index } of frame.contactsBetween(gripper, box)) {
   *   const { start, depths } = frame.result.contacts;
   *   console.log(depths.subarray(start[index], start[index + 1]));
   * }
   * ```
   *
   * Pairs inside of `first` are among them, but the parts of one model have none where they share a `group`:
   *
   * ```ts
   * const robots = [robotA, robotB];
   * const tracker = await trackScene(service, scene, {
   *   objectOptions: ({ id }) => ({ group: 1 + robots.findIndex((robot) => robot.getObjectById(id)) }),
   * });
   * ```
   */
  contactsBetween(first: Object3D, second?: Object3D): SceneContact[] {
    const isSecond = (object: Object3D): boolean => second === undefined || isBelow(object, second);
    const found: SceneContact[] = [];
    this.forEachContact((a, b, index) => {
      if (isBelow(a.object, first) && isSecond(b.object)) found.push({ a, b, index, swapped: false });
      else if (isBelow(b.object, first) && isSecond(a.object)) found.push({ a: b, b: a, index, swapped: true });
    });
    return found;
  }

  /**
   * Calls `visit` for all pairs that were in contact in the frame before and are not any more; also when one was
   * removed.
   */
  forEachEnded(visit: (a: SceneObject, b: SceneObject) => void): void {
    checkVisit('forEachEnded', visit);
    const { endedA, endedB } = this.result.contacts;
    for (let i = 0; i < endedA.length; i++) {
      const first = this.#everKnown(endedA[i]);
      const second = this.#everKnown(endedB[i]);
      if (first !== undefined && second !== undefined) visit(first, second);
    }
  }

  #everKnown(id: ObjectId): SceneObject | undefined {
    return this.#objects.find(id) ?? this.#departed.get(id);
  }

  #seenBy(operation: string, view: string): VisibleSet {
    const { views } = this.result;
    return views.get(view) ?? invalid(operation, 'view', view, `one of ${[...views.keys()].map(show).join(', ')}`);
  }
}

function checkVisit(operation: string, visit: unknown): void {
  if (typeof visit !== 'function') invalid(operation, 'visit', visit, 'a function');
}

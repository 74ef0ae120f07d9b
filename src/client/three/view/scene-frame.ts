import type { BatchedMesh, InstancedMesh, LOD, Object3D } from 'three';
import { addTo } from '../../../shared/lists-by-key.js';
import { swappedPairs } from '../../../shared/swapped-pairs.js';
import type { FrameResult, ObjectId, VisibleSet } from '../../../shared/types.js';
import { checkTypedArray } from '../../check/binary.js';
import { describeValue, throwInvalid } from '../../check/validate.js';
import type { Culled } from '../culling/culled.js';
import { hasFacesInOrder, toFaceIndices } from '../geometry/geometry.js';
import { isOrHasLevel, readDrawnTarget, type SceneTarget } from '../scene-target.js';
import { isBelow } from '../track/is-below.js';
import {
  type DepartedObjects,
  type Placement,
  type SceneObject,
  type SceneObjects,
  seenBy,
} from '../track/scene-objects.js';
import { type BoneContact, type BoxContact, namedParts } from './bone-contact.js';

/**
 * Number of queries by object in a frame that scan all pairs; later ones use an index of the pairs by object. Building that index
 * takes as long as four to seven scans: 2,000 balls that all touch, each asked for separately, take 5 ms instead of 420.
 */
const MAX_SCANS = 5;

/** Two objects of the scene in contact, seen from `a`. Like the frame, it is valid until the next `update()` resolves. */
export interface SceneContact {
  readonly a: SceneObject;
  readonly b: SceneObject;
  /** The pair's index in `result.contacts`. */
  readonly index: number;
  /**
   * True if `a` is the pair's b in `result.contacts`, where normals are then from `b` to `a`, and `contained` 1 is b inside a.
   * Not so here.
   */
  readonly swapped: boolean;
  /** New in this frame. */
  readonly begun: boolean;
  /** The result is an earlier frame's, because `contactBudget` was used up. */
  readonly stale: boolean;
  /** 1; less if they met only on their way from the frame before, one being `continuous`: then the time when they met. */
  readonly time: number;
  /** 0, 1: a inside b, 2: b inside a. */
  readonly contained: 0 | 1 | 2;
  /** xyz each, world; up to four for each region of contact. Empty unless the detail is 'manifold' or 'full'. */
  readonly points: Float32Array;
  /** xyz each, world, unit, from a to b. */
  readonly normals: Float32Array;
  /** One for each point: moved by this along the normal, b separates from a there; below 0 where they are apart: the gap. */
  readonly depths: Float32Array;
  /**
   * Two numbers of faces, a's and b's, as `faceIndex` of three's Intersection, for each pair of triangles that meet. Empty unless
   * the detail is 'triangles' or 'full'. Meaningless for a `stale` pair if one of its geometries has been replaced since it was
   * tested.
   */
  readonly triangles: Uint32Array;
  /** Six numbers for each such pair of triangles: the ends of the segment that they share, world. */
  readonly segments: Float32Array;
  /** The bones of a and b that meet, sorted by their numbers in the skeletons. Empty unless the detail is 'bones'. */
  readonly bones: readonly BoneContact[];
  /** The boxes of a and b that meet, as `objectOptions` name them, in the order of the lists. Empty unless the detail is 'bounds'. */
  readonly boxes: readonly BoxContact[];
}

/**
 * A frame's result in terms of the scene. Nothing is copied for it: ids are looked up while you iterate. Like `result`, it is
 * valid until the next `update()` resolves. Objects that have left the scene meanwhile are skipped, except in pairs that ended;
 * objects that others added to the service are always skipped.
 */
export class SceneFrame {
  /** The result as the service returned it. */
  readonly result: FrameResult;
  /**
   * What `culling` left out of the picture that was drawn last before the `update` that this frame answers, as the tracker's own
   * `culled`; zeros without `culling`.
   */
  readonly culled: Culled;
  readonly #objects: SceneObjects;
  /** Objects that left the scene before this frame was answered. */
  readonly #departed: DepartedObjects;
  readonly #view: string;
  /** The frame sees what a query of this id sees (scene-objects.ts). */
  readonly #queryId: number;
  /** How often contacts of an object were asked for. */
  #contactQueries = 0;
  /** The pairs of each object; null until contacts have been asked for more than `MAX_SCANS` times. */
  #pairs: Map<Object3D, number[]> | null = null;

  constructor(result: FrameResult, culled: Culled, objects: SceneObjects, view: string, queryId: number) {
    this.result = result;
    this.culled = culled;
    this.#objects = objects;
    this.#departed = objects.departed;
    this.#view = view;
    this.#queryId = queryId;
  }

  /** The number of the frame, from 1 on. */
  get frame(): number {
    return this.result.frame;
  }

  /**
   * Calls `visit` for all objects and instances that a view (default: the tracked camera) sees: first those wholly `inside`, then
   * those that cross its border.
   */
  forEachVisible(visit: (seen: SceneObject, inside: boolean) => void, view = this.#view): void {
    checkVisit('forEachVisible', visit);
    const { ids, inside } = this.#visibleSetOf('forEachVisible', view);
    for (let i = 0; i < ids.length; i++) {
      const sceneObject = this.#objects.get(ids[i]);
      if (sceneObject !== undefined) visit(sceneObject, i < inside);
    }
  }

  /**
   * Writes the numbers of the instances of `mesh` that a view sees into `target`, and returns how many there are: a draw list.
   * Throws INVALID_ARGUMENT if `target` has no room for them.
   */
  visibleInstances(mesh: InstancedMesh | BatchedMesh, target: Uint32Array, view = this.#view): number {
    const operation = 'visibleInstances';
    const { ids } = this.#visibleSetOf(operation, view);
    const { length } = checkTypedArray<Uint32Array>(operation, 'target', target, ['Uint32Array']);
    const count = this.#objects.instancesOf(mesh, ids, target, length);
    if (count > length) throwInvalid(operation, 'the length of target', length, 'room for all instances in view');
    return count;
  }

  /**
   * Calls `visit` for all pairs in contact; `index` is the pair's index in `result.contacts`. `contact` is the same object for
   * all pairs, and its properties are computed only when they are read: it is valid during the call.
   *
   * ```ts
   * frame.forEachContact((a, b, _, { begun, depths }) => {
   *   if (begun) console.log(a.object.name, 'hits', b.object.name, Math.max(...depths));
   * });
   * ```
   */
  forEachContact(visit: (a: SceneObject, b: SceneObject, index: number, contact: SceneContact) => void): void {
    checkVisit('forEachContact', visit);
    const { a, b, count } = this.result.contacts;
    const contact = new FrameContact(this.result, this.#queryId);
    for (let i = 0; i < count; i++) {
      const first = this.#objects.get(a[i]);
      const second = this.#objects.get(b[i]);
      if (first !== undefined && second !== undefined) visit(first, second, i, contact.set(first, second, i, false));
    }
  }

  /**
   * Lists the pairs of one object, for an InstancedMesh with all of its instances, or of one instance of it. It is the `a` of
   * each of them: normals point away from it. For the descendants of an object, use `contactsBetween`. An object that is not in
   * the scene, or not built yet, has no pairs.
   *
   * ```ts
   * for (const { b, points, normals, depths } of frame.contactsOf(ball)) {
   *   ball.position.addScaledVector(new Vector3().fromArray(normals), -depths[0]); // out of b
   * }
   * ```
   *
   * Throws INVALID_ARGUMENT for an object that can have no triangles, for example a Group.
   */
  contactsOf(target: SceneTarget): SceneContact[] {
    const { object, instanceId } = readDrawnTarget('contactsOf', 'target', target);
    const isTarget = (each: SceneObject): boolean =>
      isOrHasLevel(each.object, object) && (instanceId === undefined || each.instanceId === instanceId);
    let root = object; // a level has the contacts of its LOD
    object.traverseAncestors((ancestor) => {
      if ((ancestor as LOD).isLOD) root = ancestor;
    });
    return this.#contacts(root, undefined, (a, b) => (isTarget(a) ? 1 : isTarget(b) ? -1 : 0));
  }

  /**
   * Lists the pairs between `first` or its descendants and `second` or its descendants; without a second, between the first and
   * anything else. `a` is on the side of `first`. A robot is a Group, and so is its gripper:
   *
   * ```ts
   * const areTouching = frame.contactsBetween(robotA, robotB).length > 0;
   * for (const { a, b } of frame.contactsBetween(robotA)) console.log(`${a.object.name} touches ${b.object.name}`);
   * for (const { begun, depths } of frame.contactsBetween(gripper, box)) if (begun) console.log(depths);
   * ```
   *
   * Pairs inside of `first` are included, but the parts of one model have none if they share a `group`:
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
    return this.#contacts(first, second, ({ object: a }, { object: b }) => {
      if (isBelow(a, first) && isSecond(b)) return 1;
      return isBelow(b, first) && isSecond(a) ? -1 : 0;
    });
  }

  /**
   * Calls `visit` for all pairs that were in contact in the frame before and no longer are; also if one of the objects was
   * removed.
   */
  forEachEnded(visit: (a: SceneObject, b: SceneObject) => void): void {
    checkVisit('forEachEnded', visit);
    const { endedA, endedB } = this.result.contacts;
    for (let i = 0; i < endedA.length; i++) {
      const first = this.#findWithDeparted(endedA[i]);
      const second = this.#findWithDeparted(endedB[i]);
      if (first !== undefined && second !== undefined) visit(first, second);
    }
  }

  /**
   * Lists the pairs for which `order` returns 1, and, swapped, those for which it returns -1. Only pairs with descendants of
   * `first`, and of `second`, can be among them.
   */
  #contacts(
    first: Object3D,
    second: Object3D | undefined,
    order: (a: SceneObject, b: SceneObject) => 1 | 0 | -1,
  ): SceneContact[] {
    const { a, b } = this.result.contacts;
    const contacts: SceneContact[] = [];
    const pairs =
      ++this.#contactQueries > MAX_SCANS
        ? (this.#findPairsBelow(first) ?? (second && this.#findPairsBelow(second)))
        : null;
    for (const i of pairs ?? a.keys()) {
      const placementA = this.#objects.get(a[i]);
      const placementB = this.#objects.get(b[i]);
      if (placementA === undefined || placementB === undefined) continue;
      const side = order(placementA, placementB);
      if (side === 0) continue;
      const contact = new FrameContact(this.result, this.#queryId);
      contacts.push(
        side > 0 ? contact.set(placementA, placementB, i, false) : contact.set(placementB, placementA, i, true),
      );
    }
    return contacts;
  }

  /** Returns the pairs of an object and its descendants, ascending; null if that would take longer than to scan all pairs. */
  #findPairsBelow(root: Object3D): Uint32Array | null {
    this.#pairs ??= this.#pairsByObject();
    const pairs = this.#pairs;
    const pairIndices = new Set<number>();
    let remaining = this.result.contacts.count;
    const visit = (object: Object3D): boolean => {
      for (const i of pairs.get(object) ?? []) pairIndices.add(i);
      return remaining-- > 0 && object.children.every(visit);
    };
    return visit(root) ? Uint32Array.from(pairIndices).sort() : null;
  }

  #pairsByObject(): Map<Object3D, number[]> {
    const { a, b, count } = this.result.contacts;
    const pairs = new Map<Object3D, number[]>();
    for (let i = 0; i < count; i++) {
      for (const id of [a[i], b[i]]) {
        const placement = this.#objects.get(id);
        if (placement !== undefined) addTo(pairs, placement.object, i);
      }
    }
    return pairs;
  }

  #findWithDeparted(id: ObjectId): SceneObject | undefined {
    return this.#objects.find(id) ?? this.#departed.get(id);
  }

  #visibleSetOf(operation: string, view: string): VisibleSet {
    const { views } = this.result;
    return (
      views.get(view) ??
      throwInvalid(operation, 'view', view, `one of ${[...views.keys()].map(describeValue).join(', ')}`)
    );
  }
}

function checkVisit(operation: string, visit: unknown): void {
  if (typeof visit !== 'function') throwInvalid(operation, 'visit', visit, 'a function');
}

/** A pair of a frame. Everything except its objects and index is read from the frame on demand. */
class FrameContact implements SceneContact {
  a!: Placement;
  b!: Placement;
  index = 0;
  swapped = false;
  readonly #result: FrameResult;
  readonly #queryId: number;

  constructor(result: FrameResult, queryId: number) {
    this.#result = result;
    this.#queryId = queryId;
  }

  set(a: Placement, b: Placement, index: number, swapped: boolean): this {
    this.a = a;
    this.b = b;
    this.index = index;
    this.swapped = swapped;
    return this;
  }

  get begun(): boolean {
    return this.#result.contacts.begun[this.index] === 1;
  }

  get stale(): boolean {
    return this.#result.contacts.stale[this.index] === 1;
  }

  get time(): number {
    return this.#result.contacts.time[this.index];
  }

  get contained(): 0 | 1 | 2 {
    const contained = this.#result.contacts.contained[this.index] as 0 | 1 | 2;
    return this.swapped && contained !== 0 ? ((3 - contained) as 1 | 2) : contained;
  }

  get points(): Float32Array {
    const { start, points } = this.#result.contacts;
    return points.subarray(3 * start[this.index], 3 * start[this.index + 1]);
  }

  get normals(): Float32Array {
    const { start, normals } = this.#result.contacts;
    const pairNormals = normals.subarray(3 * start[this.index], 3 * start[this.index + 1]);
    return this.swapped ? pairNormals.map((each) => 0 - each) : pairNormals;
  }

  get depths(): Float32Array {
    const { start, depths } = this.#result.contacts;
    return depths.subarray(start[this.index], start[this.index + 1]);
  }

  get triangles(): Uint32Array {
    const { triangleStart, triangles } = this.#result.contacts;
    const pairTriangles = triangles.subarray(2 * triangleStart[this.index], 2 * triangleStart[this.index + 1]);
    const runs = [this.a, this.b].map((placement) => seenBy(placement, this.#queryId)?.runs ?? []);
    if (!this.swapped && runs.every(hasFacesInOrder)) return pairTriangles;
    const faceIndices = this.swapped ? pairTriangles.map((_, i) => pairTriangles[i ^ 1]) : pairTriangles.slice();
    runs.forEach((each, offset) => {
      toFaceIndices(each, faceIndices, offset, 2);
    });
    return faceIndices;
  }

  get segments(): Float32Array {
    const { triangleStart, segments } = this.#result.contacts;
    return segments.subarray(6 * triangleStart[this.index], 6 * triangleStart[this.index + 1]);
  }

  get bones(): BoneContact[] {
    return this.#parts.bones;
  }

  get boxes(): BoxContact[] {
    return this.#parts.boxes;
  }

  get #parts(): { bones: BoneContact[]; boxes: BoxContact[] } {
    const { boneStart, bones } = this.#result.contacts;
    const pairBones = bones.subarray(2 * boneStart[this.index], 2 * boneStart[this.index + 1]);
    return namedParts(this.swapped ? swappedPairs(pairBones) : pairBones, this.a, this.b, this.#queryId);
  }
}

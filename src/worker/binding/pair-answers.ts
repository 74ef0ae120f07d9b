import { CollisionError } from '../../shared/errors.js';
import * as layout from '../../shared/layout.js';
import { swappedPairs } from '../../shared/swapped-pairs.js';
import type { Distance, ObjectId } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import { vectorAt } from './hits.js';
import type { CoreMemory } from './memory.js';
import { type Steps, TASKS_PER_STEP } from './steps.js';

export type CoreDistance = Omit<Distance, 'frame'>;

export interface CoreContact {
  contained: 0 | 1 | 2;
  points: Float32Array<ArrayBuffer>;
  normals: Float32Array<ArrayBuffer>;
  depths: Float32Array<ArrayBuffer>;
  triangles: Uint32Array<ArrayBuffer>;
  segments: Float32Array<ArrayBuffer>;
  bones: Int32Array<ArrayBuffer>;
}

/** The core's return value for two objects that do not touch, or are farther apart than the limit. */
const NO_CONTACT = -1;
/** The core's return values if the first or the second object, by their ids, is a mesh of points or lines. */
const FIRST_UNMEASURED = -3;
const SECOND_UNMEASURED = -4;

/** Returns the distance that the core has found, from a to b; undefined if it is not known yet. Throws UNSUPPORTED. */
export function readDistance(
  wasm: CoreExports,
  memory: CoreMemory,
  a: ObjectId,
  b: ObjectId,
  outcome: number,
): CoreDistance | null | undefined {
  if (outcome === FIRST_UNMEASURED || outcome === SECOND_UNMEASURED) {
    const id = outcome === FIRST_UNMEASURED ? Math.min(a, b) : Math.max(a, b);
    const expected = 'expected a mesh of triangles, a box, a sphere or a capsule';
    throw new CollisionError('UNSUPPORTED', `distance: object ${id} has a mesh of points or lines; ${expected}`);
  }
  if (outcome < 0) return outcome === NO_CONTACT ? null : undefined;
  const at = wasm.measuredDistance() >>> 0;
  const { view } = memory;
  const points = [vectorAt(view, at + layout.DISTANCE_POINT_A), vectorAt(view, at + layout.DISTANCE_POINT_B)];
  const triangles = [layout.DISTANCE_TRIANGLE_A, layout.DISTANCE_TRIANGLE_B].map((field) =>
    view.getInt32(at + field, true),
  );
  if (a > b) {
    points.reverse();
    triangles.reverse();
  }
  return {
    distance: view.getFloat64(at + layout.DISTANCE_VALUE, true),
    pointA: points[0],
    pointB: points[1],
    triangleA: triangles[0],
    triangleB: triangles[1],
  };
}

/** Returns the contact that the core has found, from a to b, in steps; undefined if it is not known yet. */
export function readContact(
  wasm: CoreExports,
  memory: CoreMemory,
  a: ObjectId,
  b: ObjectId,
  outcome: number,
): Steps<CoreContact | null> | undefined {
  return outcome < 0 && outcome !== NO_CONTACT ? undefined : readOrderedContact(wasm, memory, a > b, outcome);
}

function* readOrderedContact(
  wasm: CoreExports,
  memory: CoreMemory,
  isSwapped: boolean,
  outcome: number,
): Steps<CoreContact | null> {
  if (outcome === NO_CONTACT) return null;
  const contact = yield* readForwardContact(wasm, memory, outcome as 0 | 1 | 2);
  return isSwapped ? yield* swapObjects(contact) : contact;
}

function* readForwardContact(wasm: CoreExports, memory: CoreMemory, contained: 0 | 1 | 2): Steps<CoreContact> {
  const points = { at: wasm.contactPoints() >>> 0, count: wasm.contactPointCount() >>> 0 };
  const crossings = { at: wasm.contactCrossings() >>> 0, count: wasm.contactCrossingCount() >>> 0 };
  const pairs = memory.copyWords(wasm.contactBonePairs() >>> 0, (wasm.contactBonePairCount() >>> 0) * BONE_PAIR_WORDS);
  const pointField = (offset: number, count: number) =>
    copyField(memory, points, layout.CONTACT_POINT_BYTES, offset, count);
  const crossingField = (offset: number, count: number) =>
    copyField(memory, crossings, layout.CROSSING_BYTES, offset, count);
  return {
    contained,
    points: asFloats(yield* pointField(layout.CONTACT_POINT, 3)),
    normals: asFloats(yield* pointField(layout.CONTACT_NORMAL, 3)),
    depths: asFloats(yield* pointField(layout.CONTACT_DEPTH, 1)),
    triangles: yield* crossingField(layout.CROSSING_A, 2),
    segments: asFloats(yield* crossingField(layout.CROSSING_SEGMENT, 6)),
    bones: new Int32Array(pairs.buffer),
  };
}

const BONE_PAIR_WORDS = layout.BONE_PAIR_BYTES / 4;

/**
 * Copies `count` words of each record, beginning at `offset`. It uses one type of array, since loops over two types are slow.
 * The memory may grow meanwhile.
 */
function* copyField(
  memory: CoreMemory,
  records: { at: number; count: number },
  recordBytes: number,
  offset: number,
  count: number,
): Steps<Uint32Array<ArrayBuffer>> {
  const copy = new Uint32Array(records.count * count);
  let from = (records.at + offset) / 4;
  for (let to = 0; to < copy.length; ) {
    if (to > 0) yield;
    const { words } = memory;
    for (const end = Math.min(to + TASKS_PER_STEP * count, copy.length); to < end; from += recordBytes / 4) {
      for (let k = 0; k < count; k++) copy[to++] = words[from + k];
    }
  }
  return copy;
}

function asFloats({ buffer }: Uint32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return new Float32Array(buffer);
}

/** Returns the contact with the two objects swapped. */
function* swapObjects(contact: CoreContact): Steps<CoreContact> {
  const { contained, normals } = contact;
  const order = yield* orderBySecond(contact.triangles);
  const triangles = contact.triangles.slice();
  const segments = contact.segments.slice();
  for (let to = 0; to < order.length; to++) {
    const from = order[to];
    triangles[2 * to] = contact.triangles[2 * from + 1];
    triangles[2 * to + 1] = contact.triangles[2 * from];
    for (let k = 0; k < 6; k++) segments[6 * to + k] = contact.segments[6 * from + k];
    if (to % TASKS_PER_STEP === TASKS_PER_STEP - 1) yield;
  }
  const bones = swappedPairs(contact.bones);
  const swappedContained = contained === 0 ? 0 : contained === 1 ? 2 : 1;
  return { ...contact, contained: swappedContained, normals: normals.map((each) => -each), triangles, segments, bones };
}

/** Sorts pairs by their second triangle: a counting sort, which keeps them in order of the first. */
function* orderBySecond(triangles: Uint32Array): Steps<Uint32Array> {
  const order = new Uint32Array(triangles.length / 2);
  let maxTriangle = 0;
  for (let i = 0; i < order.length; i++) {
    maxTriangle = Math.max(maxTriangle, triangles[2 * i + 1]);
    if (i % TASKS_PER_STEP === TASKS_PER_STEP - 1) yield;
  }
  const starts = new Uint32Array(maxTriangle + 2);
  for (let i = 0; i < order.length; i++) {
    starts[triangles[2 * i + 1] + 1]++;
    if (i % TASKS_PER_STEP === TASKS_PER_STEP - 1) yield;
  }
  for (let i = 0; i < maxTriangle; i++) starts[i + 1] += starts[i];
  for (let i = 0; i < order.length; i++) {
    order[starts[triangles[2 * i + 1]]++] = i;
    if (i % TASKS_PER_STEP === TASKS_PER_STEP - 1) yield;
  }
  return order;
}

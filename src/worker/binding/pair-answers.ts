import { CollisionError } from '../../shared/errors.js';
import * as layout from '../../shared/layout.js';
import { turnedOrder, turnedPairs } from '../../shared/turned-pairs.js';
import type { Distance, ObjectId } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import { vectorAt } from './hits.js';
import type { CoreMemory } from './memory.js';

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

/** The core's answer for two objects without a contact, or farther from each other than was asked. */
const NO_CONTACT = -1;
/** The core's answers where the first or the second object, by their ids, is of points or lines. */
const FIRST_UNMEASURED = -3;
const SECOND_UNMEASURED = -4;

/** Answers the distance that the core has found, from a to b; undefined where it is not known yet. Throws UNSUPPORTED. */
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
  const triangles = [layout.DISTANCE_TRIANGLE_A, layout.DISTANCE_TRIANGLE_B].map((each) =>
    view.getInt32(at + each, true),
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

/** Answers the contact that the core has found, from a to b; undefined where it is not known yet. */
export function readContact(
  wasm: CoreExports,
  memory: CoreMemory,
  a: ObjectId,
  b: ObjectId,
  outcome: number,
): CoreContact | null | undefined {
  if (outcome < 0) return outcome === NO_CONTACT ? null : undefined;
  const contact = foundContact(wasm, memory, outcome as 0 | 1 | 2);
  return a > b ? turned(contact) : contact;
}

function foundContact(wasm: CoreExports, { buffer }: CoreMemory, contained: 0 | 1 | 2): CoreContact {
  const points = new Uint32Array(
    buffer,
    wasm.contactPoints() >>> 0,
    ((wasm.contactPointCount() >>> 0) * layout.CONTACT_POINT_BYTES) / 4,
  );
  const crossings = new Uint32Array(
    buffer,
    wasm.contactCrossings() >>> 0,
    ((wasm.contactCrossingCount() >>> 0) * layout.CROSSING_BYTES) / 4,
  );
  const bonePairs = new Uint32Array(
    buffer,
    wasm.contactBonePairs() >>> 0,
    ((wasm.contactBonePairCount() >>> 0) * layout.BONE_PAIR_BYTES) / 4,
  );
  return {
    contained,
    points: floats(picked(points, layout.CONTACT_POINT_BYTES, layout.CONTACT_POINT, 3)),
    normals: floats(picked(points, layout.CONTACT_POINT_BYTES, layout.CONTACT_NORMAL, 3)),
    depths: floats(picked(points, layout.CONTACT_POINT_BYTES, layout.CONTACT_DEPTH, 1)),
    triangles: picked(crossings, layout.CROSSING_BYTES, layout.CROSSING_A, 2),
    segments: floats(picked(crossings, layout.CROSSING_BYTES, layout.CROSSING_SEGMENT, 6)),
    bones: new Int32Array(bonePairs.slice().buffer),
  };
}

/** Copies `count` words of each record, which begin at `offset`: of one type of array, as loops of two are slow. */
function picked(records: Uint32Array, recordBytes: number, offset: number, count: number): Uint32Array<ArrayBuffer> {
  const stride = recordBytes / 4;
  const picked = new Uint32Array((records.length / stride) * count);
  for (let i = offset / 4, to = 0; to < picked.length; i += stride) {
    for (let k = 0; k < count; k++) picked[to++] = records[i + k];
  }
  return picked;
}

function floats({ buffer }: Uint32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return new Float32Array(buffer);
}

/** Answers the contact with the other object as the first. */
function turned(contact: CoreContact): CoreContact {
  const { contained, normals } = contact;
  const order = turnedOrder(contact.triangles);
  const triangles = turnedPairs(contact.triangles, order);
  const segments = contact.segments.slice();
  order.forEach((from, to) => {
    segments.set(contact.segments.subarray(6 * from, 6 * from + 6), 6 * to);
  });
  const bones = turnedPairs(contact.bones);
  const turnedContained = contained === 0 ? 0 : contained === 1 ? 2 : 1;
  return { ...contact, contained: turnedContained, normals: normals.map((each) => -each), triangles, segments, bones };
}

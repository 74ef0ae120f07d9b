import type { ObjectId } from './ids.js';

/**
 * How much is computed for a pair, from the coarsest to the finest:
 * - 'none': nothing, the two never make a pair;
 * - 'bounds': whether the oriented bounds overlap; for an object with `boxes`, whether one of these does, and which;
 * - 'bones': which bones meet, by the boxes that rays hit with `precision: 'obb'`; an object without bones is tested by its
 *   shape. No triangles of an object with bones are tested. If neither has bones, the detail is 'any';
 * - 'any': whether the shapes overlap or touch;
 * - 'manifold': also up to four points for each region of contact, with a normal and a depth;
 * - 'triangles': no points, but every pair of triangles of two meshes that meet, and the segment where they cut each other;
 * - 'full': both, the points of 'manifold' and the list of 'triangles'.
 *
 * A pair takes the coarser of its two objects' details in this order: 'manifold' and 'triangles' make 'manifold', which
 * gives points and no list. If one of the two is not a mesh, there are no triangles to list.
 */
export type ContactDetail = 'none' | 'bounds' | 'bones' | 'any' | 'manifold' | 'triangles' | 'full';

export interface ContactPair {
  a: ObjectId;
  b: ObjectId;
  /** The `group` of each; 0 for none. */
  groupA: number;
  groupB: number;
  /** True if the pair is new in this frame. */
  begun: boolean;
  /** True if the answer is that of an earlier frame, because `contactBudget` was used up. */
  stale: boolean;
  /**
   * 1 if they touch where this frame has them. Less than 1 if they only met on their way from the previous frame (0), for which
   * at least one of them is `continuous`: the time when they first met; point, normal and depth are of that time.
   */
  time: number;
  /** 1: a is inside b, 2: b is inside a, 0: neither; always 0 with detail 'bounds' and for pairs of bones. */
  contained: 0 | 1 | 2;
  /**
   * xyz each, world. Up to four for each region of contact, which follow one another and share normal and depth. Empty
   * unless the detail is 'manifold' or 'full'. Two objects that are apart, within their clearances, have one point: halfway
   * between their nearest points, half of the depth away from each along the normal.
   */
  points: Float32Array;
  /** xyz each, world, unit, from a to b. */
  normals: Float32Array;
  /**
   * One for each point, in world units: moved by this along the normal, b separates from a there. Negative if they are apart,
   * within their clearances: the gap.
   */
  depths: Float32Array;
  /**
   * Two numbers for each pair of triangles that meet, a's and b's, sorted. Empty unless the detail is 'triangles' or
   * 'full'.
   */
  triangles: Uint32Array;
  /**
   * Six numbers for each pair in `triangles`: the ends of the segment in which they intersect, world; for coplanar
   * triangles, the longest extent of their intersection.
   */
  segments: Float32Array;
  /**
   * Two numbers for each pair of bones that meet, a's and b's, sorted; -1 for the object without bones. With detail 'bounds'
   * the same for `boxes`, by their indices in the list; for two objects that met on their way, the boxes that met first. Empty
   * with other details.
   */
  bones: Int32Array;
}

/** An object by its id, or the parts of a model by their group. */
export type ContactSide = ObjectId | { group: number };

export interface ContactSet extends Iterable<ContactPair> {
  count: number;
  /** a < b; pairs are sorted by a, then b. */
  a: Uint32Array;
  b: Uint32Array;
  /** 1 if the pair is new in this frame. */
  begun: Uint8Array;
  /** When they met: 1, or less if they only met on their way; see `time` of a contact pair. */
  time: Float32Array;
  /** 0: neither, 1: a inside b, 2: b inside a. */
  contained: Uint8Array;
  /** The groups of the two objects; 0 for none. */
  groupA: Uint32Array;
  groupB: Uint32Array;
  /** 1 if the answer is that of an earlier frame, because `contactBudget` was used up. */
  stale: Uint8Array;
  /**
   * The number of pairs of which only the bounds were tested, because `contactBudget` was used up. They come first in the
   * next frame.
   */
  waiting: number;
  /**
   * True if the bounds of more than 1,048,576 pairs overlap, as those of 1,500 objects in one place do. A frame stops
   * at the object whose pairs reach that number; once there are fewer again, it finds all.
   */
  truncated: boolean;
  endedA: Uint32Array;
  endedB: Uint32Array;
  endedGroupA: Uint32Array;
  endedGroupB: Uint32Array;
  /** count + 1; the points of pair i are start[i] … start[i + 1]. */
  start: Uint32Array;
  points: Float32Array;
  normals: Float32Array;
  depths: Float32Array;
  /** count + 1; the triangle pairs of pair i are triangleStart[i] … triangleStart[i + 1]. */
  triangleStart: Uint32Array;
  /** Two for each pair of triangles that meet, with contacts 'triangles' or 'full'. */
  triangles: Uint32Array;
  /** Six for each pair of triangles. */
  segments: Float32Array;
  /** count + 1; the pairs of bones of pair i are boneStart[i] … boneStart[i + 1]. */
  boneStart: Uint32Array;
  /** Two for each pair of bones that meet, with contacts 'bones', or of boxes, with 'bounds'; -1 for an object without any. */
  bones: Int32Array;
  /**
   * Lists the pairs between two sides, in whichever order they are a and b; without a second side, all pairs of the first.
   *
   * ```ts
   * const isTouching = contacts.between({ group: robotA }, { group: robotB }).length > 0;
   * const grip = contacts.between(gripper, box);
   * ```
   */
  between(first: ContactSide, second?: ContactSide): ContactPair[];
}

export interface ContactOptions {
  /** Overrides the two objects' own `contacts`. Default 'manifold'. */
  detail?: Exclude<ContactDetail, 'none'>;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}

/** The contact of two objects; the arrays are as in {@link ContactPair}. */
export interface ContactReport {
  /**
   * The objects in the order in which they were given, whichever id is lower: normals point from a to b, and triangles and
   * bones are a's and b's, sorted.
   */
  a: ObjectId;
  b: ObjectId;
  /** 0: neither, 1: a inside b, 2: b inside a. */
  contained: 0 | 1 | 2;
  points: Float32Array;
  normals: Float32Array;
  depths: Float32Array;
  triangles: Uint32Array;
  segments: Float32Array;
  bones: Int32Array;
  /** The frame whose state the answer is based on. */
  frame: number;
  /** The time that the worker spent, in milliseconds. */
  ms: number;
}

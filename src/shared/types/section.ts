import type { QueryOptions } from './query.js';

export interface SectionOptions extends QueryOptions {
  /**
   * World units within which open ends of an object's outlines are joined: for seams of meshes whose vertices there differ in
   * their last bits. At least 0, finite; default a millionth of the radius of each object's bounds.
   */
  weld?: number;
  /** How many points the outline of a sphere or a capsule has, from 3 to 4,096; default 64. */
  roundPoints?: number;
  /** Triangulates the cut faces, too: `caps`. Default false. */
  caps?: boolean;
}

/**
 * Where a plane cuts objects: outlines, sorted by object. A vertex on the plane counts as in front of it, so that a closed
 * mesh that stands on the plane is not cut, and one that hangs below it is cut along its top. All arrays are the caller's
 * to keep.
 */
export interface Section {
  /** The object of each outline. */
  objects: Uint32Array;
  /** One more than there are outlines: outline i has the points `starts[i]` to `starts[i + 1] - 1`. */
  starts: Uint32Array;
  /**
   * 1 if the last point is joined to the first: every outline of a closed mesh. These turn counter-clockwise, seen from
   * in front of the plane, around the cut face, and clockwise around a hole in it. For others, the side behind the triangles'
   * faces is to the left.
   */
  closed: Uint8Array;
  /** The closed outline of the same object directly around each closed one; -1 for none. */
  parents: Int32Array;
  /** xyz of each point, in the world. */
  points: Float64Array;
  /**
   * For each point, the triangle of its object's mesh in which the segment to the next point lies; -1 for the last point of
   * an open outline, across a joined seam, and for other shapes.
   */
  triangles: Int32Array;
  /**
   * With `caps`, triangles of the cut faces, three indices into `points` each, counter-clockwise from in front of the plane:
   * closed outlines without their holes. One of more than 1,500 points, holes included, is not filled if it crosses itself.
   */
  caps: Uint32Array;
  /** The frame whose state the answer is based on. */
  frame: number;
  /** The time that the worker spent, in milliseconds. */
  ms: number;
}

import type { ObjectId, Vec3 } from './ids.js';
import type { QueryOptions } from './query.js';

export interface SweepOptions extends QueryOptions {
  /**
   * How near to an object a turning shape may be when it counts as meeting it, in world units: the time is never late, and at
   * that time the shape is no farther away than this. A shape that does not turn is exact. Default a ten-thousandth of the
   * shape's size, and a ten-millionth of it at least.
   */
  tolerance?: number;
}

export interface SweepManyOptions extends SweepOptions {
  /** For each way, the index of the shape that is swept along it. */
  shapeOf?: Uint32Array | Uint16Array | Uint8Array;
}

/** The first contact of a shape on its way. */
export interface SweepHit {
  object: ObjectId;
  /** 0 at the start, 1 at the end; 0 where they overlap at the start. */
  time: number;
  /** The point of contact, on the object, world. */
  point: Vec3;
  /** World, unit, from the object to the shape. */
  normal: Vec3;
  /** Index into the object's mesh as it was given; -1 for other shapes. */
  triangle: number;
  /**
   * More than 0 if they overlap at the start: moved by this along the normal, the shape is free. For a mesh, it is free of
   * the one triangle that requires the most; inside a solid mesh, the normal is the shortest way out. World units.
   */
  depth: number;
  /** The frame whose state the answer is based on. */
  frame: number;
}

/** A free place, and how a shape was moved there. */
export interface Placement {
  /** 16 numbers, column-major: the matrix that was given, moved. */
  matrix: number[];
  /** The vector by which it was moved, world; 0 if it was free. */
  way: Vec3;
  /** The objects that it was pushed out of, ascending. */
  objects: Uint32Array;
  /** The frame whose state the answer is based on. */
  frame: number;
}

/** Answers in the order of the ways. */
export interface SweepHits {
  /** NO_OBJECT if nothing was met. */
  objects: Uint32Array;
  /** Infinity if nothing was met. */
  times: Float64Array;
  /** Three per way, world. */
  points: Float64Array;
  /** Three per way. */
  normals: Float32Array;
  /** -1 if nothing was met or it is not a mesh. */
  triangles: Int32Array;
  depths: Float64Array;
  /** The frame whose state the answer is based on. */
  frame: number;
  /** The time that the worker spent, in milliseconds. */
  ms: number;
}

import type { ObjectId, Vec3 } from './ids.js';

/** The nearest point of an object: on a mesh's surface, lines or points, or in the solid of another shape or a solid mesh. */
export interface ClosestPoint {
  object: ObjectId;
  /** World; the given point itself if that is inside a solid. */
  point: Vec3;
  /** World units; 0 inside a solid. */
  distance: number;
  /** Index into the mesh as it was given; -1 for other shapes and inside a solid mesh. */
  triangle: number;
  /** Index of the triangle, line or point; -1 if there is none. */
  element: number;
  /** The frame whose state the answer is based on. */
  frame: number;
}

/** How far two objects are from each other, and where they are nearest. */
export interface Distance {
  /** World units; 0 if they meet, or if one is inside a solid. */
  distance: number;
  /** World; if they meet, both are the same point of both objects. */
  pointA: Vec3;
  pointB: Vec3;
  /** Index into the mesh as it was given; -1 for other shapes, and if one is inside the other. */
  triangleA: number;
  triangleB: number;
  /** The frame whose state the answer is based on. */
  frame: number;
}

export interface DistanceOptions {
  /** World units: objects farther apart give null; the smaller this is, the sooner. Default Infinity. */
  maxDistance?: number;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}

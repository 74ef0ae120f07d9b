import type { ObjectId, Vec3 } from './ids.js';

/** The nearest point of an object: of a mesh's surface, lines or points, or of the solid that another shape or a solid mesh is. */
export interface ClosestPoint {
  object: ObjectId;
  /** World; the point asked about itself where that is inside of a solid. */
  point: Vec3;
  /** World units; 0 inside of a solid. */
  distance: number;
  /** Index into the mesh as it was given; -1 for other shapes and inside of a solid mesh. */
  triangle: number;
  /** Index of the triangle, line or point; -1 where there is none. */
  element: number;
  frame: number;
}

/** How far two objects are from each other, and where they are nearest. */
export interface Distance {
  /** World units; 0 where they meet, or where one is inside of a solid. */
  distance: number;
  /** World; where they meet a point of both, twice. */
  pointA: Vec3;
  pointB: Vec3;
  /** Index into the mesh as it was given; -1 for other shapes, and where one is inside of the other. */
  triangleA: number;
  triangleB: number;
  frame: number;
}

export interface DistanceOptions {
  /** World units: what is farther apart is null, which is known the sooner the smaller this is. Default Infinity. */
  maxDistance?: number;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

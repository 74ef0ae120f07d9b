import type { ObjectId, Vec3 } from './ids.js';

/**
 * What a pick may snap to:
 * - 'vertex': an end of a feature edge, and of a line; a point;
 * - 'midpoint': the middle of a feature edge, and of a line;
 * - 'center': the centre of a circle that feature edges lie on, as a whole one or as an arc;
 * - 'edge': a feature edge or a line, where it is drawn nearest to the cursor;
 * - 'face': the flat face that the ray hits.
 */
export type SnapKind = 'vertex' | 'midpoint' | 'center' | 'edge' | 'face';

/** A feature near the cursor. Everything is world, in float64. */
export interface Snap {
  kind: SnapKind;
  /** The object that the feature is of. */
  object: ObjectId;
  /** Where it is drawn nearest to the cursor. */
  point: Vec3;
  /** How far from the cursor that is drawn; 0 of a face. */
  pixels: number;
  /**
   * Of an edge and a midpoint, the ends of the edge: all of it, where several edges of the mesh are one straight line. Of a
   * vertex and of a face, the point twice. Of a centre, the ends of the arc; of a whole circle, one of its vertices twice.
   */
  a: Vec3;
  b: Vec3;
  /** The triangle, line or point of the mesh that the feature is of: one of those beside an edge. -1 of other shapes. */
  element: number;
  /** Of a centre: the circle's; where the matrix makes an ellipse of it, the longer one of its half axes. */
  radius?: number;
  /** Of a centre: unit, at right angles to the circle. */
  axis?: Vec3;
  /** Of a face: where it is. */
  face?: FlatFace;
}

/** A flat part of a mesh's surface: the triangles about one that lie in its plane and hang together by their edges. */
export interface FlatFace {
  /** Unit; by the winding of the triangle that was hit. */
  normal: Vec3;
  /** The triangles, by their numbers in the mesh, ascending. */
  triangles: Uint32Array;
  /** Nine for each triangle: its corners, world. */
  corners: Float64Array;
}

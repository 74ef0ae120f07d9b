import type { ObjectId, Vec3 } from './ids.js';

/**
 * A feature that a pick may snap to:
 * - 'vertex': an end of a feature edge, and of a line; a point;
 * - 'midpoint': the middle of a feature edge, and of a line;
 * - 'center': the centre of a circle or an arc that is made of feature edges;
 * - 'edge': a feature edge or a line, where it is drawn nearest to the cursor;
 * - 'face': the flat face that the ray hits.
 */
export type SnapKind = 'vertex' | 'midpoint' | 'center' | 'edge' | 'face';

/** A feature near the cursor. All coordinates are world, in float64. */
export interface Snap {
  kind: SnapKind;
  /** The object that has the feature. */
  object: ObjectId;
  /** The point of the feature that is drawn nearest to the cursor. */
  point: Vec3;
  /** How far from the cursor that point is drawn; 0 for a face. */
  pixels: number;
  /**
   * For an edge and a midpoint, the ends of the edge: of the whole edge, if several edges of the mesh form one straight line. A
   * pose may bend that line: then they are those of the one edge of the mesh. For a vertex and a face, the point twice. For a
   * centre, the ends of the arc, or one vertex of a whole circle twice.
   */
  a: Vec3;
  b: Vec3;
  /** The triangle, line or point of the mesh that has the feature; for an edge, one of those beside it. -1 for other shapes. */
  element: number;
  /** The radius of a centre's circle; if the matrix makes an ellipse of it, its longer half axis. */
  radius?: number;
  /** The unit normal of a centre's circle. */
  axis?: Vec3;
  /** For a face, its description. */
  face?: FlatFace;
}

/** A flat part of a mesh's surface: the triangles in the plane of one, connected to it by their edges. */
export interface FlatFace {
  /** Unit; by the winding of the triangle that was hit. */
  normal: Vec3;
  /** The triangles, by their indices in the mesh, ascending. */
  triangles: Uint32Array;
  /** Nine for each triangle: its corners, world. */
  corners: Float64Array;
}

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

/** A feature near the cursor. All coordinates are world, in float64. */
export interface Snap {
  kind: SnapKind;
  /** The object that has the feature. */
  object: ObjectId;
  /** The place where it is drawn nearest to the cursor. */
  point: Vec3;
  /** How far from the cursor that is drawn; 0 for a face. */
  pixels: number;
  /**
   * For an edge and a midpoint, the ends of the edge: all of it, where several edges of the mesh are one straight line. A pose
   * may bend that: then they are those of the one edge of the mesh. For a vertex and a face, the point twice. For a centre,
   * the ends of the arc, or one vertex of a whole circle twice.
   */
  a: Vec3;
  b: Vec3;
  /** The triangle, line or point of the mesh that has the feature: one of those beside an edge. -1 for other shapes. */
  element: number;
  /** The radius of a centre's circle; if the matrix makes an ellipse of it, its longer half axis. */
  radius?: number;
  /** A unit vector at right angles to a centre's circle. */
  axis?: Vec3;
  /** It is there for a face, and says where that is. */
  face?: FlatFace;
}

/** A flat part of a mesh's surface: the triangles in the plane of one, connected to it by their edges. */
export interface FlatFace {
  /** Unit; by the winding of the triangle that was hit. */
  normal: Vec3;
  /** The triangles, by their numbers in the mesh, ascending. */
  triangles: Uint32Array;
  /** Nine for each triangle: its corners, world. */
  corners: Float64Array;
}

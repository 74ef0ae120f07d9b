import type { ObjectId, Vec3 } from './ids.js';
import type { Snap, SnapKind } from './snap.js';

export interface QueryOptions {
  /** Only objects in one of these layers, a bit each. Default all. */
  layers?: number;
  /** Objects that this query does not see. */
  ignore?: readonly ObjectId[] | Uint32Array;
  /**
   * Which side of a face can be hit, like three's material sides; of a solid, 'front' where a ray enters it and 'back' where
   * it leaves. By default each object's own `side` decides, and 'double' for mode 'enclose' of a region.
   */
  side?: 'front' | 'back' | 'double';
  /**
   * What stands for an object: its exact shape ('mesh', the default), its oriented bounds, the box around these along the
   * world's axes (for a sphere or capsule, around itself), or the sphere around the centre of the shape's own bounds that
   * reaches to its farthest point, scaled by the matrix's greatest stretch. All but 'mesh' are solid.
   *
   * By 'obb', rays and picks hit an object moved by bones at the boxes of its bones. Each is the oriented box of the
   * vertices that no other bone moves more (of several, the first), moved by the bone alone and by no morph target. Such
   * vertices are never outside their box, but others may stick out where several bones bend a joint. Regions, frusta and views
   * use the bounds of the whole pose. An object with `boxes` is hit at these in the same way.
   */
  precision?: 'sphere' | 'aabb' | 'obb' | 'mesh';
  /**
   * How near to a ray lines and points are hit, in world units: a line no farther from it than this, a point nearer, as in
   * three's Raycaster. It applies to rays, picks, `lineOfSight` and `sees`, and to exact shapes; without it, points are not
   * hit and hide nothing. At least 0, finite; default 0.
   */
  threshold?: number;
  /**
   * Planes in the world, 4 numbers each, at most 16: parts that they cut away do not exist for the query. They keep
   * n · p + d ≥ 0, like three's `Plane` with its normal and constant; n may have any length but zero. Rays and lines pass
   * through parts that are cut away, and through cut solids as through surfaces: their insides are not filled. Regions and
   * frusta see the part of an object that is kept, and `enclose` requires all of that part; picks by method 'screen' and `sees`
   * use no point that is cut away, and `containing` finds nothing there. `overlap`, `closestPoint`, `section`, `place` and
   * sweeps reject it (UNSUPPORTED).
   */
  clip?: ArrayLike<number>;
  /** Cuts away only parts that all planes of `clip` cut, like three's `Material.clipIntersection`. Default false. */
  clipIntersection?: boolean;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}

export interface PickOptions extends QueryOptions {
  /** Name of the view. Default 'main'. */
  view?: string;
  /**
   * 'ray', the default: what the ray through the point hits. 'screen': the objects whose centres of bounds are drawn near
   * the point, nearest on the screen first; `side` and `precision` do not matter to it.
   */
  method?: 'ray' | 'screen';
  /**
   * Pixels. Method 'screen': how far from the point centres may be; default 20. Method 'ray': lines and points drawn within
   * this many pixels of the point are hit, however far away they are, a line where it is drawn nearest to it; default 0, with
   * which `threshold` decides. Not both.
   */
  radius?: number;
  /**
   * The kinds of features that the hit's `snap` may be, only for `pick` with method 'ray' and precision 'mesh'. The one
   * drawn nearest to the point, within `radius` (then 10 by default), that is not hidden is chosen. A vertex, midpoint or
   * centre within the radius wins over every edge, because an edge is as near as its own vertices, and an edge over a face.
   * Default none.
   */
  snap?: readonly SnapKind[];
  /**
   * While this pick waits to be sent, a newer one with `latest` replaces it, and answers both; picks with and without
   * `snap` do not replace each other.
   */
  latest?: boolean;
}

export interface RegionOptions extends QueryOptions {
  /** Name of the view. Default 'main'. */
  view?: string;
  /** 'touch', the default: any part of an object is in the region. 'enclose': all of it. */
  mode?: 'touch' | 'enclose';
  /** While this one waits to be sent, a newer one with `latest` replaces it, and answers both. */
  latest?: boolean;
}

/** Lengths are world units, whatever the length of `direction`. */
export interface Ray {
  origin: Vec3;
  /** Any length but zero. */
  direction: Vec3;
  /** Default 0. */
  tMin?: number;
  /** Default Infinity. */
  tMax?: number;
}

export interface Hit {
  object: ObjectId;
  /** From the ray's origin (the camera, for picks), in world units. */
  distance: number;
  /** World, on the ray; for a line, the point on the line. */
  point: Vec3;
  /** World, unit: of the face by its winding, or of the shape's surface; for lines and points, back along the ray. */
  normal: Vec3;
  /** Index into the mesh as it was given; -1 for other shapes, and for bounds that stand for a mesh by `precision`. */
  triangle: number;
  /** Index of the triangle, line or point into the mesh as it was given; -1 if there is none. */
  element: number;
  /** How far an element of lines or points is from the ray, in world units. */
  distanceToRay?: number;
  /** Weights of the triangle's three corners; zeros if there is none. */
  barycentric: Vec3;
  /**
   * For a mesh with a skin, the bone with the greatest weight where it was hit (of several, the first); by `precision`
   * 'obb', the bone whose box was hit, or, for an object with `boxes`, the number of the box in that list; else -1.
   */
  bone: number;
  /** The name of the box that was hit, by `precision` 'obb' of an object with `boxes`. */
  box?: string;
  /** The frame whose state the answer is based on. */
  frame: number;
  /** Method 'screen': how far from the cursor the centre of bounds is drawn, which is the `point` then. */
  pixels?: number;
  /**
   * With the option `snap`: the feature near the cursor, null without any. It may belong to another object. If the ray itself
   * hits nothing, the hit is that of the feature: `point` is its point, and `object` its object.
   */
  snap?: Snap | null;
}

/** Which targets can be seen, and how much of them. */
export interface Sight {
  /** The targets with at least one point in sight, in the order in which they were asked for. */
  ids: Uint32Array;
  /**
   * For every target, how many of nine points are in sight: the centre of its oriented bounds, and the points halfway from
   * there to the corners.
   */
  points: Uint8Array;
  /** The frame whose state the answer is based on. */
  frame: number;
}

/** Answers in the order of the rays. */
export interface RayHits {
  /** NO_OBJECT if missed. */
  objects: Uint32Array;
  /** Infinity if missed. */
  distances: Float64Array;
  /** -1 if missed or not a mesh. */
  triangles: Int32Array;
  /** Of the triangle, line or point; -1 if missed or not a mesh. */
  elements: Int32Array;
  /** Like a hit's `bone`; -1 if missed, or without a skin or boxes. */
  bones: Int32Array;
  /** Three per ray. */
  barycentrics: Float32Array;
  /** The frame whose state the answer is based on. */
  frame: number;
  /** The time that the worker spent, in milliseconds. */
  ms: number;
}

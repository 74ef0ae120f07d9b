import type { ObjectId, Vec3 } from './ids.js';
import type { Snap, SnapKind } from './snap.js';

export interface QueryOptions {
  /** Only objects in one of these layers. Default all. */
  layers?: number;
  /** Objects that are not there for this query. */
  ignore?: readonly ObjectId[];
  /**
   * Which side of a face can be hit, as three's material sides; of a solid, 'front' where a ray enters it and 'back'
   * where it leaves. Default: of each object its own `side`; by mode 'enclose' of a region, 'double'.
   */
  side?: 'front' | 'back' | 'double';
  /**
   * What stands for an object: its exact shape (the default, 'mesh'), its oriented bounds, the box of the world's axes
   * about these (of a sphere or capsule, about itself), or the sphere about the middle of the shape's own bounds that
   * reaches to its farthest point, scaled by the matrix's greatest stretch. All but 'mesh' are solid.
   *
   * By 'obb', rays and picks hit an object that bones move by the boxes of its bones: each is the oriented box of the
   * vertices that no other bone moves more, of several the first, moved by the bone alone and by no morph target. Such
   * vertices have no gap to their box, but others may stick out where several bones bend a joint. Regions, frusta and
   * views take the bounds of the whole pose. An object with `boxes` is hit by these likewise.
   */
  precision?: 'sphere' | 'aabb' | 'obb' | 'mesh';
  /**
   * How near to a ray lines and points are hit, in world units: a line no farther from it than this, a point nearer, as by
   * three's Raycaster. It is of rays, picks, `lineOfSight` and `sees`, and of exact shapes; without it, points are not hit
   * and hide nothing. At least 0, finite; default 0.
   */
  threshold?: number;
  /**
   * Planes, 4 numbers each, 16 at most, in the world: what they cut away is not there. n · p + d ≥ 0 is kept, as three's
   * `Plane` has its normal and constant; n is of any length but zero. Rays and lines go through what is cut away, and
   * through cut solids as through surfaces: their insides are not filled. Regions and frusta see what is kept of an
   * object, and `enclose` all of that; picks by method 'screen' and `sees` take no point that is cut away, and
   * `containing` finds nothing there. `overlap`, `closestPoint`, `section` and sweeps reject it (UNSUPPORTED).
   */
  clip?: ArrayLike<number>;
  /** Cut away is only what all planes of `clip` agree on, as by three's `Material.clipIntersection`. Default false. */
  clipIntersection?: boolean;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal;
}

export interface PickOptions extends QueryOptions {
  /** Name of the view. Default 'main'. */
  view?: string;
  /**
   * 'ray', the default: what the ray through the point hits. 'screen': the objects of which the centre of bounds is
   * drawn near the point, the nearest on the screen first; `side` and `precision` do not matter to it.
   */
  method?: 'ray' | 'screen';
  /**
   * Pixels. Method 'screen': how far from the point centres may be; default 20. Method 'ray': lines and points are hit
   * that are drawn within so many pixels of the point, however far away they are, a line where it is drawn nearest to it;
   * default 0, with which `threshold` decides. Not both.
   */
  radius?: number;
  /**
   * Kinds of features that the hit's `snap` may be of; only of `pick`, with method 'ray' and precision 'mesh'. It is the one drawn
   * nearest to the point, within the `radius`, which is 10 by default then, and not hidden. A vertex, midpoint or centre within
   * the radius goes before every edge, as an edge is as near as its own vertices, and an edge before a face. Default none.
   */
  snap?: readonly SnapKind[];
  /**
   * While this pick waits to be sent, a newer one with `latest` takes its place, and answers both; picks that `snap` and those
   * that do not are told apart.
   */
  latest?: boolean;
}

export interface RegionOptions extends QueryOptions {
  /** Name of the view. Default 'main'. */
  view?: string;
  /** 'touch', the default: any part of an object is in the region. 'enclose': all of it. */
  mode?: 'touch' | 'enclose';
  /** While this one waits to be sent, a newer one with `latest` takes its place, and answers both. */
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
  /** World. On the ray; of a line the place on the line. */
  point: Vec3;
  /** World, unit; of the face by its winding, or of the shape's surface; of lines and points the way back along the ray. */
  normal: Vec3;
  /** Index into the mesh as it was given; -1 for other shapes, and for what stands for a mesh by `precision`. */
  triangle: number;
  /** Index of the triangle, line or point into the mesh as it was given; -1 where there is none. */
  element: number;
  /** Of lines and points: how far the element is from the ray, in world units. */
  distanceToRay?: number;
  /** Weights of the triangle's three corners; zeros where there is none. */
  barycentric: Vec3;
  /**
   * Of a mesh with a skin, the bone with the greatest weight where it was hit, of several the first; by `precision` 'obb'
   * the bone whose box was hit, of an object with `boxes` the number of the box in that list; else -1.
   */
  bone: number;
  /** The name of the box that was hit, by `precision` 'obb' of an object with `boxes`. */
  box?: string;
  /** The frame that the answer saw. */
  frame: number;
  /** Method 'screen': how far from the cursor the centre of bounds is drawn, which is the `point` then. */
  pixels?: number;
  /**
   * With the option `snap`: the feature near the cursor, null without any. It may be of another object. Where the ray itself hits
   * nothing, the hit is of the feature: `point` is its point, and `object` its object.
   */
  snap?: Snap | null;
}

/** Which targets can be seen, and how much of them. */
export interface Sight {
  /** The targets of which at least one point is in sight, in the order in which they were asked for. */
  ids: Uint32Array;
  /**
   * For every target, how many of nine points are in sight: the middle of its oriented bounds, and those halfway from
   * there to the corners.
   */
  points: Uint8Array;
  frame: number;
}

/** Answers in the order of the rays. */
export interface RayHits {
  /** NO_OBJECT where missed. */
  objects: Uint32Array;
  /** Infinity where missed. */
  distances: Float64Array;
  /** -1 where missed or not a mesh. */
  triangles: Int32Array;
  /** Of the triangle, line or point; -1 where missed or not a mesh. */
  elements: Int32Array;
  /** As a hit's `bone`; -1 where missed, or without a skin or boxes. */
  bones: Int32Array;
  /** Three per ray. */
  barycentrics: Float32Array;
  frame: number;
  /** The worker's own time. */
  ms: number;
}

import type { Face, Matrix4, Vector3 } from 'three';
import type { ContactReport, QueryOptions, SweepOptions } from '../../../shared/types.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { BoneContact, BoxContact } from '../view/bone-contact.js';
import type { SceneQueryOptions } from './scene-options.js';
import type { SceneParams } from './scene-params.js';

// Options and answers of a scene's queries: the service's, with objects of three.

/** three's Matrix4, or 16 numbers, column-major. */
export type SceneMatrix = ArrayLike<number> | { readonly elements: ArrayLike<number> };

/** The service's options, with objects of the scene instead of ids. */
export interface SceneRayOptions extends SceneQueryOptions {
  /** The default is the side of each object's own material. */
  side?: 'front' | 'back' | 'double';
  /**
   * three's `raycaster.params`: lines and points are hit this near to the ray, in world units, as three does. Thresholds that are
   * not given are three's own, 1. Without `params` a ray hits no lines and points, except LineSegments2 and Line2 with a width in
   * world units.
   */
  params?: SceneParams;
}

/** The service's options, with objects of the scene instead of ids. */
export interface SceneLineOptions extends SceneQueryOptions, Pick<QueryOptions, 'side'> {}

/** The service's options, with objects of the scene instead of ids. */
export interface SceneClosestOptions extends SceneQueryOptions {
  /** The distance in world units at which the search ends. Default Infinity. */
  maxDistance?: number;
}

/** The service's options, with objects of the scene instead of ids. They apply to objects that may block the sight. */
export interface SceneSightOptions extends SceneLineOptions {
  /** Name of a view of the tracker. The default is the one that `update` sets. */
  view?: string;
  /** The default is the layers of the camera. */
  layers?: number;
}

/** The nearest point of an object of the scene. */
export interface SceneClosestPoint extends SceneObject {
  /** In world space; the given point itself if that is inside of a solid. */
  readonly point: Vector3;
  /** In world units; 0 inside of a solid. */
  readonly distance: number;
  /** As in three's Intersection; null inside of a solid, and where a shape replaces the triangles. */
  readonly face: Face | null;
  readonly faceIndex: number | null;
}

/** The service's options, with objects of the scene instead of ids. */
export interface SceneSweepOptions extends SceneQueryOptions, Pick<SweepOptions, 'side' | 'tolerance'> {}

/** The first contact of a moving shape with an object of the scene. */
export interface SceneSweepHit extends SceneObject {
  /** Between 0 at the start and 1 at the end; 0 if they overlap at the start. */
  readonly time: number;
  /** The point of contact, on the object, in world space. */
  readonly point: Vector3;
  /** Unit vector from the object to the shape, in world space. */
  readonly normal: Vector3;
  /** More than 0 if they overlap at the start: the shape is free once it is moved this far along the normal. World units. */
  readonly depth: number;
  /** As in three's Intersection; null where a shape replaces the triangles. */
  readonly face: Face | null;
  readonly faceIndex: number | null;
}

/** A free place in the scene, and how a shape was moved there. */
export interface ScenePlacement {
  /** The matrix that was asked about, moved. */
  readonly matrix: Matrix4;
  /** How far it was moved, in world space. */
  readonly way: Vector3;
  /** The objects that the shape was pushed out of. */
  readonly objects: SceneObject[];
}

/** An object or instance in sight. */
export interface SceneSight extends SceneObject {
  /** How many of nine points are in sight, 1 to 9: the centre of its oriented bounds, and those halfway from there to the corners. */
  readonly points: number;
}

/** The contact of two objects of the scene: normals point from `a` to `b`. The arrays are as in the service's report. */
export interface SceneContactReport extends Omit<ContactReport, 'a' | 'b' | 'bones'> {
  readonly a: SceneObject;
  readonly b: SceneObject;
  /** Two for each pair of triangles that meet, a's and b's: numbers of faces, as `faceIndex` of three's Intersection. */
  triangles: Uint32Array;
  /** The bones of a and b that meet, sorted by their numbers in the skeletons. Empty unless the detail is 'bones'. */
  bones: BoneContact[];
  /** The boxes of a and b that meet, as `objectOptions` name them. Empty unless the detail is 'bounds'. */
  boxes: BoxContact[];
}

/** The distance of two objects of the scene, and where they are nearest. */
export interface SceneDistance {
  readonly a: SceneObject;
  readonly b: SceneObject;
  /** In world units; 0 where they meet. */
  readonly distance: number;
  /** In world space; the same point twice where they meet. */
  readonly pointA: Vector3;
  readonly pointB: Vector3;
  /** As `faceIndex` of three's Intersection; null where a shape replaces the triangles, and inside of a solid. */
  readonly faceIndexA: number | null;
  readonly faceIndexB: number | null;
  readonly frame: number;
}

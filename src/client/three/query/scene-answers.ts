import type { Face, Matrix4, Vector3 } from 'three';
import type { ContactReport, QueryOptions, SweepOptions } from '../../../shared/types.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { BoneContact, BoxContact } from '../view/bone-contact.js';
import type { SceneQueryOptions } from './scene-options.js';
import type { SceneParams } from './scene-params.js';

// What a scene is asked with, and what it answers: the service's options and answers, in objects of three.

/** three's Matrix4, or 16 numbers, column-major. */
export type SceneMatrix = ArrayLike<number> | { readonly elements: ArrayLike<number> };

/** They are the service's, with objects of the scene instead of ids. */
export interface SceneRayOptions extends SceneQueryOptions {
  /** The default is the side of each object's own material. */
  side?: 'front' | 'back' | 'double';
  /**
   * three's `raycaster.params`: lines and points are hit this near to the ray, in world units, as three does. What it does
   * not name has three's own threshold, 1. Without `params` a ray hits no lines and points, but LineSegments2 and Line2 of
   * a width in world units.
   */
  params?: SceneParams;
}

/** They are the service's, with objects of the scene instead of ids. */
export interface SceneLineOptions extends SceneQueryOptions, Pick<QueryOptions, 'side'> {}

/** They are the service's, with objects of the scene instead of ids. */
export interface SceneClosestOptions extends SceneQueryOptions {
  /** It is in world units. Default Infinity. */
  maxDistance?: number;
}

/** They are the service's, with objects of the scene instead of ids, and about what may be in the way. */
export interface SceneSightOptions extends SceneLineOptions {
  /** It names a view of the tracker. The default is the one that `update` sets. */
  view?: string;
  /** The default is the layers of the camera. */
  layers?: number;
}

/** The nearest point of an object of the scene. */
export interface SceneClosestPoint extends SceneObject {
  /** It is in world space; the point asked about itself where that is inside of a solid. */
  readonly point: Vector3;
  /** It is in world units; 0 inside of a solid. */
  readonly distance: number;
  /** It is as in three's Intersection; null inside of a solid, and where a shape stands for the triangles. */
  readonly face: Face | null;
  readonly faceIndex: number | null;
}

/** They are the service's, with objects of the scene instead of ids. */
export interface SceneSweepOptions extends SceneQueryOptions, Pick<SweepOptions, 'side' | 'tolerance'> {}

/** The first contact of a shape on its way with an object of the scene. */
export interface SceneSweepHit extends SceneObject {
  /** It is 0 at the start, 1 at the end; 0 where they overlap at the start. */
  readonly time: number;
  /** Where they touch, on the object, in world space. */
  readonly point: Vector3;
  /** It is a unit vector from the object to the shape, in world space. */
  readonly normal: Vector3;
  /** It is more than 0 where they overlap at the start: so far along the normal, the shape is free. World units. */
  readonly depth: number;
  /** It is as in three's Intersection; null where a shape stands for the triangles. */
  readonly face: Face | null;
  readonly faceIndex: number | null;
}

/** A free place in the scene, and how a shape came there. */
export interface ScenePlacement {
  /** It is the matrix that was asked about, moved. */
  readonly matrix: Matrix4;
  /** How far it was moved, in world space. */
  readonly way: Vector3;
  /** What it was pushed out of. */
  readonly objects: SceneObject[];
}

/** An object or instance in sight. */
export interface SceneSight extends SceneObject {
  /**
   * How many of nine points are in sight, 1 to 9: the middle of its oriented bounds, and those halfway from there to
   * the corners.
   */
  readonly points: number;
}

/** The contact of two objects of the scene: normals lead from `a` to `b`. The arrays are as in the service's. */
export interface SceneContactReport extends Omit<ContactReport, 'a' | 'b' | 'bones'> {
  readonly a: SceneObject;
  readonly b: SceneObject;
  /** Two for each two triangles that meet, a's and b's: numbers of faces, as `faceIndex` of three's Intersection. */
  triangles: Uint32Array;
  /** The bones of a and b that meet, sorted by their numbers in the skeletons. Empty unless the detail is 'bones'. */
  bones: BoneContact[];
  /** The boxes of a and b that meet, as `objectOptions` name them. Empty unless the detail is 'bounds'. */
  boxes: BoxContact[];
}

/** How far two objects of the scene are from each other, and where they are nearest. */
export interface SceneDistance {
  readonly a: SceneObject;
  readonly b: SceneObject;
  /** It is in world units; 0 where they meet. */
  readonly distance: number;
  /** They are in world space; one point twice where they meet. */
  readonly pointA: Vector3;
  readonly pointB: Vector3;
  /** They are as `faceIndex` of three's Intersection; null where a shape stands for the triangles, and inside of a solid. */
  readonly faceIndexA: number | null;
  readonly faceIndexB: number | null;
  readonly frame: number;
}

import type { Vec3 } from './ids.js';

/** Triangles, lines or points of a mesh, in its own space. */
export interface MeshData {
  /** xyz of each vertex. */
  positions: Float32Array;
  /**
   * Three per triangle, counter-clockwise seen from the front; two per line; one per point. Absent: every three vertices
   * are a triangle, every two a line, each one a point.
   */
  indices?: Uint32Array | Uint16Array;
  /**
   * What the vertices form. Lines and points have no surface: rays hit them within the `threshold` of the query, picks also
   * within `radius` pixels; regions, frusta, `overlap` and `closestPoint` take them as they are. They touch nothing, so
   * their objects make no contacts, and they contain nothing. A line whose ends coincide is a point. Default 'triangles'.
   */
  topology?: 'triangles' | 'lines' | 'points';
  /** Lets bones move its vertices; `setPose` sets them for each object. */
  skin?: MeshSkin;
  /** Lets morph targets move its vertices, before bones do; `setPose` sets their weights for each object. */
  morphs?: MeshMorphs;
}

/** The bones that move a vertex, like three's attributes skinIndex and skinWeight. */
export interface MeshSkin {
  /** Four per vertex, each below `boneCount` where its weight is not 0. */
  bones: Uint8Array | Uint16Array;
  /** Four per vertex. They are used as they are, whatever their sum. */
  weights: Float32Array;
  /** How many bones a pose has: 1 … 65,536. */
  boneCount: number;
}

export interface MeshMorphs {
  /** xyz per vertex each, like three's morphAttributes.position. */
  targets: Float32Array[];
  /** Whether targets are offsets of the vertices, or else their new positions. */
  relative: boolean;
}

/** How bones and morph targets move the vertices of one object, targets first. Options that are not given move nothing. */
export interface Pose {
  /** 16 per bone, column-major: bone · inverse bind, which three's `skeleton.boneMatrices` are. */
  bones?: Float32Array;
  /**
   * 16 numbers, column-major; only with `bones`. A vertex becomes bindInverse · Σ weight · bone · bind · vertex, and then
   * the object's matrix places it. Default the identity.
   */
  bind?: ArrayLike<number>;
  bindInverse?: ArrayLike<number>;
  /** A weight per morph target. */
  morphs?: ArrayLike<number>;
}

export interface AddMeshOptions {
  /** Called with the finished fraction of the build, rising from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Aborting rejects with ABORTED and frees what was built. */
  signal?: AbortSignal | undefined;
  /** Transfers the arrays' buffers instead of copying them; they are detached afterwards. Default false. */
  transfer?: boolean;
  /**
   * Vertices nearer to each other than this are merged, in the mesh's own units, also those connected by a chain of such
   * vertices: the merged vertex lies where the first of them is given, and moves with it in `updateMesh`. It is for seams that
   * are open by rounding, as those of three's spheres, cylinders and tori: 1e-6 closes these at the size of 1
   * (`meshInfo(mesh).closingWeld` is the least that does). Triangles that lose their area by it are `degenerate`. Baking
   * keeps it. At least 0, finite; default 0, and no other for lines and points.
   */
  weld?: number;
  /**
   * Whether fast rays matter more ('good') or a fast build ('fast'), which takes about 70 % of the time for a tree of
   * which a ray visits some 8 % more. Answers are the same. New trees for vertices that moved are built in the same way. Not for
   * a baked mesh; lines and points have only 'good'. Default 'good'.
   */
  quality?: 'good' | 'fast';
  /**
   * Finds the features that picks with `snap` snap to while the mesh is built, and bakes them with the mesh. `angle`, in degrees
   * from 0 to 180: edges at which the surface is bent by more than this are feature edges; default 35, so that the sides of a
   * cylinder of eleven or more are not. Without it, the first pick that comes near an object of the mesh finds its features by
   * the default angle, and only that pick waits for it. Not for a baked mesh.
   */
  features?: boolean | FeatureOptions;
  /**
   * At most 256 boxes that stand for a mesh of triangles without bones or morph targets: for all objects that have it as
   * their shape and no `boxes` of their own. `bakeMesh` writes them, and a baked mesh has those that it was baked with if
   * none are given. `meshBoxes` lists the tree's own to start from, and `checkBoxes` checks whether boxes hold all of the
   * mesh.
   */
  boxes?: readonly NamedBox[];
}

export interface UpdateMeshOptions {
  /** Transfers the positions' buffer instead of copying it; it is detached afterwards. Default false. */
  transfer?: boolean;
}

/** A box in the space of a mesh, in any rotation, with a name. */
export interface NamedBox {
  /** 1 to 256 characters, unique in the list. */
  name: string;
  /** Default the origin. */
  center?: Vec3;
  halfExtents: Vec3;
  /** Unit quaternion xyzw. Default the identity. */
  rotation?: readonly [number, number, number, number];
}

export interface BakeOptions {
  /** Boxes to bake instead of the mesh's own, which stay as they are; an empty list bakes none. */
  boxes?: readonly NamedBox[];
}

export interface MeshBoxesOptions {
  /** The level of the tree's boxes, from 1 to 4: at most 4^level boxes. Default 2. */
  level?: number;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}

/** Whether boxes hold all of a mesh. */
export interface BoxCheck {
  /** Whether no part of any triangle is outside of the boxes together, but for rounding: 2⁻⁴⁰ of the largest coordinate. */
  conservative: boolean;
  /** How many triangles stick out. */
  triangles: number;
  /**
   * A lower bound of how far the parts that stick out are from the nearest box, in the mesh's units: the largest distance of
   * the corners and the centres of the pieces of triangles that no box holds. It is exact if vertices stick out farthest, and
   * 0 if nothing does.
   */
  farthest: number;
}

export interface FeatureOptions {
  /** The angle, in degrees from 0 to 180: edges at which the surface is bent by more are feature edges. Default 35. */
  angle?: number;
}

/** An edge without an opposite edge. */
export interface OpenEdge {
  triangle: number;
  /** Which of the triangle's edges: 0 from its first corner to its second, 1 to its third, 2 back to its first. */
  edge: number;
  /** Its ends, in the mesh's own space. */
  from: Vec3;
  to: Vec3;
}

export interface MeshInfo {
  topology: 'triangles' | 'lines' | 'points';
  /** Triangles, lines or points, as given. */
  elements: number;
  /** As given; 0 for lines and points. */
  triangles: number;
  /**
   * Triangles that have no area or a vertex that is not finite, and lines and points with such a vertex: no ray hits them
   * and nothing touches them.
   */
  degenerate: number;
  vertices: number;
  /** How many bones and morph targets can move its vertices; 0 for none. */
  bones: number;
  morphs: number;
  /**
   * Whether it was closed when its tree was built: every edge has as many triangles on one side as on the other, by the
   * positions of its ends; triangles without an area count. Such a mesh can be `solid`. `updateMesh` does not change this,
   * unless a new tree is built. False for lines and points, which have no edges.
   */
  closed: boolean;
  /**
   * How many edges keep it open: those with more triangles on one side than on the other; 0 if it is closed. Like `closed`,
   * this and the next two properties are as they were when its tree was built.
   */
  openEdges: number;
  /** One of the open edges; null for a closed mesh. */
  openEdge: OpenEdge | null;
  /**
   * The smallest `weld` of `addMesh` that would close it, to about one part in fifty; null for a closed mesh, and if there
   * is none: holes are not drawn together, and none is searched beyond a thousandth of its size or for more than 65,536
   * open edges.
   */
  closingWeld: number | null;
  /** The boxes that stand for it, with all properties; empty if none were given. */
  boxes: readonly Required<NamedBox>[];
  /** The worker's memory for the mesh: tree and triangles, lines or points. */
  bytes: number;
  /**
   * The cost of traversing the tree relative to when it was built, by the areas of its boxes: 1 until vertices move.
   * At 2 a new tree is built.
   */
  cost: number;
  /** How many trees were built for moved vertices and replaced the old one. */
  rebuilds: number;
}

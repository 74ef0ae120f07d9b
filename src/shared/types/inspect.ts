import type { ObjectId, Vec3 } from './ids.js';
import type { MeshInfo } from './mesh.js';

/** What `inspect` lists; by default only the numbers of the scene. */
export interface InspectOptions {
  /** Whether to list the cells of the octrees. Default false. */
  octree?: boolean;
  /** Objects whose trees of boxes are listed. Default none. */
  objects?: ArrayLike<ObjectId>;
  /**
   * The first and the last level of these trees. Level 0 is the object's oriented bounds, the boxes of the root's children
   * are level 1. Default [0, Infinity], all.
   */
  levels?: readonly [number, number];
  /** Whether to list the bounds of all objects. Default false. */
  bounds?: boolean;
  /** Names of views whose visibility states are listed with `bounds`. Default none. */
  views?: readonly string[];
  /** The most boxes of each tree, of the cells and of the bounds; a longer list is `cut`. At most 1,048,576; default 65,536. */
  maxBoxes?: number;
  /** Whether to list the boxes' edges, too, as `lines`. Default false. */
  lines?: boolean;
  /** What `lines` are relative to, world. Default a place near the middle of the scene. */
  origin?: Vec3;
  /** Aborting rejects with ABORTED. */
  signal?: AbortSignal | undefined;
}

/**
 * Boxes in the world. All numbers are float64, so a box 10⁶ units away is as exact as one at the origin.
 */
export interface InspectedBoxes {
  /** Twelve for each box: three half axes, xyz each, then the centre; the axes are at right angles unless an object is sheared. */
  boxes: Float64Array;
  /** Whether there are more boxes than `maxBoxes`. */
  cut: boolean;
  /** With `lines`: the twelve edges of each box, two ends each, xyz, relative to the `origin`; 72 numbers for each box. */
  lines?: Float32Array;
}

/** The tree of an object's mesh, in its current place and pose. Other shapes have only a box of level 0. */
export interface InspectedTree extends InspectedBoxes {
  object: ObjectId;
  /** The frame of the tree: trees are listed in slices, between which frames are run. A tree that has begun stays as it was. */
  frame: number;
  topology: MeshInfo['topology'] | null;
  /** Nodes of four boxes, leaves, and the level of the deepest boxes; all 0 for a shape without a mesh. */
  nodes: number;
  leaves: number;
  depth: number;
  /** Triangles, lines or points in the tree: without the degenerate ones. */
  elements: number;
  /** Bytes of the mesh, which all its objects share, and of this object's own pose. */
  bytes: number;
  poseBytes: number;
  /** The level of each box, ascending, and the index of its parent box, -1 if that is not listed. */
  levels: Uint8Array;
  parents: Int32Array;
  /**
   * The elements in leaves by their indices in the mesh: those of box i are leafElements[leafStart[i]] …
   * leafElements[leafStart[i + 1] - 1], none if it is not a leaf.
   */
  leafStart: Uint32Array;
  leafElements: Uint32Array;
}

/** The non-empty cells of the octrees, parents before children: the bounds of their contents. */
export interface InspectedCells extends InspectedBoxes {
  levels: Uint8Array;
  /** The index of the parent cell, -1 for a root. */
  parents: Int32Array;
  /** How many objects are in a cell itself and not in one of its descendants. */
  counts: Uint32Array;
  /** The octree: 0 for moving objects, 1 for static ones, 2 for static ones that make no pairs. */
  trees: Uint8Array;
}

/** The oriented bounds of objects, by id. */
export interface InspectedBounds extends InspectedBoxes {
  ids: Uint32Array;
  /** 1 if the object is static. */
  static: Uint8Array;
  /** 1 if it is not static, and nothing of it changed in the last frame or since: its pairs are the previous ones. */
  asleep: Uint8Array;
  /** For each of `views`, for each object: 0 if it is outside or not listed, 1 crossing the border, 2 inside, 3 occluded. */
  states: Uint8Array[];
}

/** The worker's contents, as `inspect` lists them. All arrays are the caller's to keep. */
export interface Inspection {
  /** The frame of the numbers. Cells, bounds and trees are listed in slices, each as it is at its turn. */
  frame: number;
  /** What `lines` are relative to, world. */
  origin: Vec3;
  /** The number of all objects, of moving ones, of static ones, and of the static ones that make no pairs. */
  objects: number;
  moving: number;
  static: number;
  passive: number;
  /** Cells of all octrees, empty ones included. */
  cellCount: number;
  /** In the order of `objects`. An object that is removed while others are listed is left out. */
  trees: InspectedTree[];
  /** Null unless asked for. */
  cells: InspectedCells | null;
  bounds: InspectedBounds | null;
}

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
  /** Names of views, to say how each sees what `bounds` lists. Default none. */
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
  /** Whether there are more of them than `maxBoxes`. */
  cut: boolean;
  /** With `lines`: the twelve edges of each box, two ends each, xyz, relative to the `origin`; 72 numbers for each box. */
  lines?: Float32Array;
}

/** The tree of an object's mesh, in its current place and pose. Other shapes have only a box of level 0. */
export interface InspectedTree extends InspectedBoxes {
  object: ObjectId;
  /** The frame of the tree: trees are listed in slices, between which frames go on. One that has begun stays as it was. */
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
  /** Each box has its level, ascending, and the number of the box that it is in, -1 if that is not listed. */
  levels: Uint8Array;
  parents: Int32Array;
  /**
   * The elements in leaves by their indices in the mesh: those of box i are leafElements[leafStart[i]] …
   * leafElements[leafStart[i + 1] - 1], none if it is no leaf.
   */
  leafStart: Uint32Array;
  leafElements: Uint32Array;
}

/** The cells of the octrees with something in them, parents before children: the bounds of what is in them. */
export interface InspectedCells extends InspectedBoxes {
  levels: Uint8Array;
  /** The number of the cell above, -1 for a root. */
  parents: Int32Array;
  /** How many objects are in a cell and in none below it. */
  counts: Uint32Array;
  /** The octree: 0 for moving objects, 1 for static ones, 2 for static ones that make no pairs. */
  trees: Uint8Array;
}

/** The oriented bounds of objects, by id. */
export interface InspectedBounds extends InspectedBoxes {
  ids: Uint32Array;
  /** 1 where the object is static. */
  static: Uint8Array;
  /** 1 where it is not static, and nothing of it changed in the last frame or since: its pairs are the previous ones. */
  asleep: Uint8Array;
  /** For each of `views`, for each object: 0 where it is outside or not listed, 1 crossing the border, 2 inside, 3 occluded. */
  states: Uint8Array[];
}

/** What the worker has, as `inspect` lists it. All arrays are the caller's to keep. */
export interface Inspection {
  /** The frame of the numbers. Cells, bounds and trees are listed in slices, and are as they are at their turns. */
  frame: number;
  /** What `lines` are relative to, world. */
  origin: Vec3;
  /** All objects; the moving ones, the static ones, and those of the latter that make no pairs. */
  objects: number;
  moving: number;
  static: number;
  passive: number;
  /** Cells of all octrees, empty ones included. */
  cellCount: number;
  /** In the order of `objects`. One that is removed while others are listed is left out. */
  trees: InspectedTree[];
  /** Null unless asked for. */
  cells: InspectedCells | null;
  bounds: InspectedBounds | null;
}

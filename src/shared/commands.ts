// Changes of the scene that are sent to the worker between frames, in order with them.

import type { PackedBoxes } from './baked-boxes.js';
import type { MeshId, ObjectId } from './types.js';

/** Structural changes, in the order in which they were requested. */
export type Command =
  | AddObjects
  | PlaceObjects
  | { type: 'setObject'; id: ObjectId; description: ObjectDescription; matrix: number[] | undefined }
  /** Ids of removed objects are skipped. */
  | { type: 'setLayers'; ids: Uint32Array; layers: number }
  | { type: 'removeObject'; id: ObjectId }
  | { type: 'removeObjects'; ids: ObjectId[] | Uint32Array }
  | { type: 'removeMesh'; mesh: MeshId }
  | { type: 'removeView'; slot: number }
  | { type: 'putCharacter'; id: number; description: CharacterDescription }
  | { type: 'removeCharacter'; id: number };

/** A character's options, complete and checked. */
export interface CharacterDescription {
  from: ArrayLike<number>;
  to: ArrayLike<number>;
  radius: number;
  /** Of length 1. */
  up: ArrayLike<number>;
  skin: number;
  /** The cosine of the steepest slope. */
  slope: number;
  stepHeight: number;
  snap: number;
  gravity: number;
  step: number;
  position: ArrayLike<number>;
  /** Along `up`, in units per second. */
  speed: number;
  /** Seconds that do not make up a step yet. */
  time: number;
  layers: number;
  /** 0 for none. */
  object: ObjectId;
  /** Ascending. */
  ignore: Uint32Array;
  /** layout.ts, CHARACTER_IS_*. */
  flags: number;
  /** The rest of its state, as a frame of the last worker had it: from OUT_CHARACTER_DEPTH on. */
  state?: ArrayBufferLike;
}

/** Adds objects that differ only in their matrices. */
export interface AddObjects {
  type: 'addObjects';
  /** Single objects that are added in a row are collected in an array; instances have an array of their own. */
  ids: number[] | Uint32Array;
  description: ObjectDescription;
  /** Column-major: 16 numbers for each object, or 16 for all, or none for the identity. */
  matrices: number[];
}

/** A frame in (layout.ts), of which only the transforms are applied, at once. The buffer is transferred. */
export interface PlaceObjects {
  type: 'placeObjects';
  input: ArrayBuffer;
}

/** An object's options, complete and checked. Enums and flags are those of layout.ts. */
export interface ObjectDescription {
  shape: number;
  /** 0 for other shapes. */
  mesh: MeshId;
  flags: number;
  layers: number;
  collidesWith: number;
  group: number;
  contacts: number;
  center: ArrayLike<number>;
  extent: ArrayLike<number>;
  rotation: ArrayLike<number>;
  radius: number;
  /** World units; FLAG_CLEARANCE is set if it is not 0. Absent or 0 for none. */
  clearance?: number | undefined;
  /** The number of its clip set, whose planes come with each query. Absent or 0 for none. */
  clipSet?: number | undefined;
  /**
   * The triangles from which on other sides than the object's are shown: ascending, a triangle << FACE_SHIFT | SIDE_* each.
   * Absent if all triangles show the same side.
   */
  faceSides?: Uint32Array | undefined;
  /** Boxes that stand for its mesh; FLAG_BOXES is set with them. */
  boxes?: PackedBoxes | undefined;
}

// The changes of a scene that the worker is told of, between frames and in order with them.

import type { PackedBoxes } from './baked-boxes.js';
import type { MeshId, ObjectId } from './types.js';

/** Structural changes, in the order in which they were asked for. */
export type Command =
  | AddObjects
  | PlaceObjects
  | { type: 'setObject'; id: ObjectId; description: ObjectDescription; matrix: number[] | undefined }
  /** Ids that are gone are passed over. */
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
  /** It has length 1. */
  up: ArrayLike<number>;
  skin: number;
  /** The cosine of the steepest slope. */
  slope: number;
  stepHeight: number;
  snap: number;
  gravity: number;
  step: number;
  position: ArrayLike<number>;
  /** Along the way up. */
  speed: number;
  /** Seconds that are not yet a step. */
  time: number;
  layers: number;
  /** 0 for none. */
  object: ObjectId;
  /** Ascending. */
  ignore: Uint32Array;
  /** layout.ts, CHARACTER_IS_*. */
  flags: number;
}

/** Objects that differ in no more than their matrices. */
export interface AddObjects {
  type: 'addObjects';
  /** A list of single objects grows; instances are an array of their own. */
  ids: number[] | Uint32Array;
  description: ObjectDescription;
  /** Column-major: 16 numbers for each object, or 16 for all, or none for the identity. */
  matrices: number[];
}

/** layout.ts's frame in, of which only the transforms are taken over, at once. The buffer is transferred. */
export interface PlaceObjects {
  type: 'placeObjects';
  input: ArrayBuffer;
}

/** An object's options, complete and checked. Enums and flags are layout.ts's. */
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
  /** World units; FLAG_CLEARANCE is set where it is not 0. Absent or 0 for none. */
  clearance?: number | undefined;
  /** The number of its clip set, of which queries bring the planes. Absent or 0 for none. */
  clipSet?: number | undefined;
  /**
   * Where its triangles show other sides than the object: ascending, a triangle << FACE_SHIFT | SIDE_* each. Absent
   * where all show the same.
   */
  faceSides?: Uint32Array | undefined;
  /** Boxes that stand for its mesh; FLAG_BOXES is set then. */
  boxes?: PackedBoxes | undefined;
}

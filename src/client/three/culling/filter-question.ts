// What the filter is asked, and what it answers.
import type { Sphere } from 'three';

/**
 * So many instances are asked about at once: their matrices, four kilobytes, are in the nearest cache until they have been looked
 * at. Of 100,000 that are out of the caches, of which a tenth is seen, it takes 0.51 ms; by 128 it takes 0.65, by 2,048 0.73, by 32
 * 0.88.
 */
export const CHUNK = 64;

/**
 * What a camera sees, in the space in which the matrices place instances: six planes as three orders them, four numbers each,
 * n · x + d ≥ 0 inside; and the rows of the matrix to clip space that tell x, y and w, four numbers each. The first two planes
 * are w - x and w + x, times something, and the next two w + y and w - y.
 */
export interface Sight {
  readonly planes: Float64Array;
  readonly rows: Float64Array;
}

/** How depths are told: along the direction in which the eye looks, or how far from it. */
export const BY_AXIS = 1;
export const BY_AIR = 2;

/** The eye and where it looks, in the space in which the matrices place instances. */
export interface Eye {
  readonly by: typeof BY_AXIS | typeof BY_AIR;
  readonly position: ArrayLike<number>;
  readonly forward: ArrayLike<number>;
}

/** What instances are: the spheres of the forms, and where the triangles of each begin and how many indices they have. */
export interface Forms {
  readonly spheres: readonly Sphere[];
  readonly ranges: Int32Array;
}

/** What may be seen: the numbers of instances, ascending, their forms, and their depths where these were asked for. */
export interface Found {
  count: number;
  numbers: Uint32Array;
  forms: Uint32Array;
  depths: Float64Array;
  /** Their matrices, where these were collected. */
  readonly matrices: Float32Array | null;
}

/** The same in the order in which it is to be drawn: numbers, and for each where its triangles begin and how many indices it has. */
export interface Listed {
  readonly numbers: Uint32Array;
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  /** How many indices all have. */
  readonly indices: number;
  /** The same of these. */
  readonly matrices: Float32Array | null;
}

/** What is listed is sorted by depth, ascending or descending, or by number. */
export type Direction = 1 | -1 | 0;

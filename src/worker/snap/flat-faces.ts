import type { FlatFace, Vec3 } from '../../shared/types.js';
import { type MemoryGetter, readCorners } from './corners.js';
import type { ElementReader } from './faces.js';
import { findFlatFaces } from './feature-edges.js';
import { boundsOf, NOISE } from './features.js';
import { transformPoint } from './snap-view.js';
import { weldCorners } from './vertices.js';

const ITEMS_PER_STEP = 8192;
/** Triangles of a result between two rests: some 0.3 ms. */
const TRIANGLES_PER_STEP = 512;

/** The flat faces of a mesh of triangles. */
export interface FlatFaces {
  /** The face of each triangle, by its number in the mesh; triangles that are not in the tree have face 0. */
  faceOfTriangle: Uint32Array;
  /**
   * One entry more than there are faces: face i has the triangles in the slots `slots[starts[i]]` to `slots[starts[i + 1] - 1]`,
   * ascending by their numbers.
   */
  starts: Uint32Array;
  slots: Uint32Array;
}

/** Finds the flat faces of a mesh; it may rest after each step. */
export function* flatFacesOf(getMemory: MemoryGetter, mesh: number, reader: ElementReader): Generator<void, FlatFaces> {
  const corners = yield* readCorners(getMemory, mesh);
  const bounds = yield* boundsOf(corners.positions);
  const vertices = yield* weldCorners(corners.positions, NOISE * Math.max(...bounds.map(Math.abs)));
  const roots = yield* findFlatFaces(corners, vertices);
  const faceNumbers = new Uint32Array(roots.length);
  let count = 0;
  let maxTriangle = 0;
  for (let i = 0; i < roots.length; i++) {
    // A root is the first triangle of its face.
    faceNumbers[i] = roots[i] === i ? count++ : faceNumbers[roots[i]];
    maxTriangle = Math.max(maxTriangle, reader.elementIndex(corners.slots[i]));
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const starts = new Uint32Array(count + 2);
  const faceOfTriangle = new Uint32Array(maxTriangle + 1);
  const slotOf = new Uint32Array(maxTriangle + 1); // a slot plus 1, or 0
  for (let i = 0; i < roots.length; i++) {
    const triangle = reader.elementIndex(corners.slots[i]);
    starts[faceNumbers[i] + 2]++;
    faceOfTriangle[triangle] = faceNumbers[i];
    slotOf[triangle] = corners.slots[i] + 1;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  for (let i = 2; i < starts.length; i++) starts[i] += starts[i - 1];
  const slots = new Uint32Array(roots.length);
  for (let i = 0; i <= maxTriangle; i++) {
    if (slotOf[i] > 0) slots[starts[faceOfTriangle[i] + 1]++] = slotOf[i] - 1;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return { faceOfTriangle, starts: starts.subarray(0, count + 1), slots };
}

/** Returns the face that a triangle belongs to, in the world. It may rest after each step. */
export function* faceOf(
  { faceOfTriangle, starts, slots }: FlatFaces,
  triangle: number,
  reader: ElementReader,
  transform: ArrayLike<number>,
  normal: Vec3,
): Generator<void, FlatFace> {
  const face = faceOfTriangle[triangle];
  const triangles = slots.slice(starts[face], starts[face + 1]);
  const corners = new Float64Array(9 * triangles.length);
  for (let i = 0; i < triangles.length; i++) {
    for (let k = 0; k < 3; k++) corners.set(transformPoint(transform, reader.corner(triangles[i], k)), 9 * i + 3 * k);
    triangles[i] = reader.elementIndex(triangles[i]);
    if (i % TRIANGLES_PER_STEP === TRIANGLES_PER_STEP - 1) yield;
  }
  return { normal, triangles, corners };
}

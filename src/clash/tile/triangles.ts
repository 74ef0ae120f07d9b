// The triangles of a mesh, from its arrays or from a baked mesh.

import { CollisionError, type MeshData } from 'collision-worker';
import {
  BLOCK_BYTES,
  BLOCK_TRIANGLES,
  MESH_BLOCK_COUNT,
  MESH_BLOCKS,
  MESH_BYTES,
  MESH_EXPONENT,
  MESH_MAGIC,
  MESH_MAGIC_VALUE,
  MESH_MAX,
  MESH_MIN,
  MESH_OFFSET,
  MESH_TRIANGLE_COUNT,
  MESH_VERSION,
  MESH_VERSION_VALUE,
} from '../../shared/layout.js';
import { type Box, boxOfPoints } from '../plan/bounds.js';

/** Returns the corners of all triangles that have an area, nine numbers each, in the mesh's own space. */
export function trianglesOf(mesh: MeshData | ArrayBuffer): Float64Array {
  return mesh instanceof ArrayBuffer ? trianglesOfBaked(mesh) : trianglesOfData(mesh);
}

function trianglesOfData(mesh: MeshData): Float64Array {
  const count = countOf(mesh);
  const corners = new Float64Array(9 * count);
  let end = 0;
  for (let i = 0; i < count; i++) if (copyTriangle(mesh, i, corners, end)) end += 9;
  return corners.subarray(0, end);
}

function countOf({ positions, indices }: MeshData): number {
  return Math.floor(indices ? indices.length / 3 : positions.length / 9);
}

/** Copies the corners of a triangle; returns whether it has an area. */
function copyTriangle({ positions, indices }: MeshData, triangle: number, to: Float64Array, at: number): boolean {
  for (let k = 0; k < 9; k++) {
    const corner = 3 * triangle + Math.floor(k / 3);
    to[at + k] = positions[3 * (indices ? indices[corner] : corner) + (k % 3)];
  }
  return hasArea(to, at);
}

/** Returns whether three corners are finite and not collinear; for float32 numbers of similar sizes, float64 decides it exactly. */
function hasArea(corners: Float64Array, at: number): boolean {
  const offset = (corner: number, axis: number): number => corners[at + 3 * corner + axis] - corners[at + axis];
  let isFlat = true;
  for (let u = 0; u < 3; u++) {
    const v = (u + 1) % 3;
    const area = offset(1, u) * offset(2, v) - offset(1, v) * offset(2, u);
    if (!Number.isFinite(area)) return false;
    if (area !== 0) isFlat = false;
  }
  return !isFlat;
}

function trianglesOfBaked(mesh: ArrayBuffer): Float64Array {
  const view = new DataView(mesh);
  const scale = 2 ** -view.getInt32(MESH_EXPONENT, true);
  const offset = vectorAt(view, MESH_OFFSET);
  const blockCount = view.getUint32(MESH_BLOCK_COUNT, true);
  const corners = new Float64Array(9 * 4 * blockCount);
  let end = 0;
  let at = view.getUint32(MESH_BLOCKS, true);
  for (let block = 0; block < blockCount; block++, at += BLOCK_BYTES) {
    for (let lane = at; lane < at + 16; lane += 4) {
      if (view.getInt32(lane + BLOCK_TRIANGLES, true) < 0) continue;
      for (let i = 0; i < 9; i++) corners[end++] = view.getFloat32(lane + 16 * i, true) * scale + offset[i % 3];
    }
  }
  return corners.subarray(0, end);
}

/**
 * Returns the vertices of a mesh, but only those used by triangles that have an area, perhaps several times:
 * exporters write the vertices of many meshes into one array. A mesh without any such triangle, which the service will refuse,
 * is returned as it is.
 */
function pointsOfData(mesh: MeshData): ArrayLike<number> {
  const { positions } = mesh;
  if (areAllUsed(mesh)) return positions;
  const corners = trianglesOfData(mesh);
  return corners.length > 0 ? corners : positions;
}

/** Returns whether each vertex belongs to a triangle that has an area, and so is finite. */
function areAllUsed(mesh: MeshData): boolean {
  const { positions, indices } = mesh;
  const isUsed = new Uint8Array(positions.length / 3);
  const corners = new Float64Array(9);
  for (let i = 0; i < 3 * countOf(mesh); i += 3) {
    if (!copyTriangle(mesh, i / 3, corners, 0)) continue;
    for (let k = i; k < i + 3; k++) isUsed[indices ? indices[k] : k] = 1;
  }
  return !isUsed.includes(0);
}

/** The properties of a mesh that are known before it is loaded. */
export interface MeshFacts {
  /** The bounding box in the mesh's own space. */
  box: Box;
  triangles: number;
  /** Returns points whose bounding box is that of the mesh, xyz each, in the mesh's own space. */
  points: () => ArrayLike<number>;
}

/** Reads the facts of a mesh. Throws BAD_DATA if it is not a baked mesh of triangles, or has no finite vertex. */
export function factsOf(mesh: MeshData | ArrayBuffer): MeshFacts {
  if (!(mesh instanceof ArrayBuffer)) {
    if (!mesh?.positions) {
      const type = mesh?.constructor?.name ?? mesh;
      throw new CollisionError('BAD_DATA', `clash: the mesh is ${type}, expected the arrays of one, or a baked one`);
    }
    const points = pointsOfData(mesh);
    const box = boxOfPoints(points);
    if (!(box[0] <= box[3])) throw new CollisionError('BAD_DATA', 'clash: the mesh has no finite vertex');
    return { box, triangles: countOf(mesh), points: () => points };
  }
  const view = new DataView(mesh);
  // Features and named boxes may follow the mesh; the service checks them when it loads the mesh.
  const isBaked =
    mesh.byteLength > MESH_MAX + 24 &&
    view.getUint32(MESH_MAGIC, true) === MESH_MAGIC_VALUE &&
    view.getUint32(MESH_VERSION, true) === MESH_VERSION_VALUE &&
    view.getUint32(MESH_BYTES, true) <= mesh.byteLength;
  if (!isBaked) {
    throw new CollisionError('BAD_DATA', 'clash: the mesh is no baked one of triangles, of this version, as a whole');
  }
  const box = [...vectorAt(view, MESH_MIN), ...vectorAt(view, MESH_MAX)];
  return { box, triangles: view.getUint32(MESH_TRIANGLE_COUNT, true), points: () => trianglesOfBaked(mesh) };
}

function vectorAt(view: DataView, at: number): number[] {
  return [0, 8, 16].map((offset) => view.getFloat64(at + offset, true));
}

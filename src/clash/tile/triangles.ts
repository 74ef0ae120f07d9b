// The triangles of a mesh, of its arrays or of a baked one.

import { CollisionError, type MeshData } from 'collision-worker';
import {
  BLOCK_BYTES,
  BLOCK_TRIANGLES,
  MESH_BLOCK_COUNT,
  MESH_BLOCKS,
  MESH_BYTES,
  MESH_EXPONENT,
  MESH_HIGH,
  MESH_LOW,
  MESH_MAGIC,
  MESH_MAGIC_VALUE,
  MESH_OFFSET,
  MESH_TRIANGLE_COUNT,
  MESH_VERSION,
  MESH_VERSION_VALUE,
} from '../../shared/layout.js';
import { type Box, boxOfPoints } from '../plan/bounds.js';

/** Answers the corners of all triangles that have an area, nine numbers each, in the mesh's own space. */
export function trianglesOf(mesh: MeshData | ArrayBuffer): Float64Array {
  return mesh instanceof ArrayBuffer ? trianglesOfBaked(mesh) : trianglesOfData(mesh);
}

function trianglesOfData({ positions, indices }: MeshData): Float64Array {
  const count = (indices ?? positions).length;
  const corners = new Float64Array(indices ? 3 * count : count);
  let end = 0;
  for (let i = 0; i + 9 <= corners.length; i += 9) {
    for (let k = 0; k < 9; k++) {
      const at = i + k;
      corners[end + k] = positions[indices ? 3 * indices[Math.floor(at / 3)] + (k % 3) : at];
    }
    if (hasArea(corners, end)) end += 9;
  }
  return corners.subarray(0, end);
}

/** Tells whether three corners are finite and not in one line; of float32 numbers of like sizes, float64 tells it exactly. */
function hasArea(corners: Float64Array, at: number): boolean {
  const along = (corner: number, axis: number): number => corners[at + 3 * corner + axis] - corners[at + axis];
  let isFlat = true;
  for (let u = 0; u < 3; u++) {
    const v = (u + 1) % 3;
    const area = along(1, u) * along(2, v) - along(1, v) * along(2, u);
    if (!Number.isFinite(area)) return false;
    if (area !== 0) isFlat = false;
  }
  return !isFlat;
}

function trianglesOfBaked(mesh: ArrayBuffer): Float64Array {
  const view = new DataView(mesh);
  const blocks = view.getUint32(MESH_BLOCKS, true);
  const scale = 2 ** -view.getInt32(MESH_EXPONENT, true);
  const offset = [0, 8, 16].map((at) => view.getFloat64(MESH_OFFSET + at, true));
  const corners: number[] = [];
  for (let block = 0; block < view.getUint32(MESH_BLOCK_COUNT, true); block++) {
    const at = blocks + block * BLOCK_BYTES;
    for (let lane = 0; lane < 4; lane++) {
      if (view.getInt32(at + BLOCK_TRIANGLES + 4 * lane, true) < 0) continue;
      for (let i = 0; i < 9; i++) corners.push(view.getFloat32(at + 16 * i + 4 * lane, true) * scale + offset[i % 3]);
    }
  }
  return Float64Array.from(corners);
}

/**
 * Answers the vertices of a mesh, and of those alone of which its triangles that have an area are made, perhaps several times:
 * exporters write the vertices of many meshes into one array. What the service is to refuse comes as it is.
 */
function pointsOfData(mesh: MeshData): ArrayLike<number> {
  const { positions } = mesh;
  if (areAllUsed(mesh)) return positions;
  const corners = trianglesOfData(mesh);
  return corners.length > 0 ? corners : positions;
}

/** Tells whether each vertex is one of a triangle that has an area, and so finite. */
function areAllUsed({ positions, indices }: MeshData): boolean {
  const count = positions.length / 3;
  const isUsed = new Uint8Array(count);
  const corners = new Float64Array(9);
  const end = indices ? indices.length : count;
  for (let i = 0; i + 3 <= end; i += 3) {
    for (let k = 0; k < 9; k++) {
      const vertex = indices ? indices[i + Math.floor(k / 3)] : i + Math.floor(k / 3);
      corners[k] = positions[3 * vertex + (k % 3)];
    }
    if (!hasArea(corners, 0)) continue;
    for (let k = 0; k < 3; k++) isUsed[indices ? indices[i + k] : i + k] = 1;
  }
  return !isUsed.includes(0);
}

/** What is known of a mesh before it is loaded. */
export interface MeshFacts {
  /** It is in the mesh's own space. */
  box: Box;
  triangles: number;
  /** Answers points of which the box is the one about the mesh, xyz each, in the mesh's own space. */
  points: () => ArrayLike<number>;
}

/** Reads the facts of a mesh. Throws BAD_DATA for what is no baked mesh of triangles, and for no finite vertex. */
export function factsOf(mesh: MeshData | ArrayBuffer): MeshFacts {
  if (typeof mesh !== 'object' || mesh === null) {
    throw new CollisionError('BAD_DATA', `clash: the mesh is ${mesh}, expected the arrays of one, or a baked one`);
  }
  if (!(mesh instanceof ArrayBuffer)) {
    const points = pointsOfData(mesh);
    const box = boxOfPoints(points);
    if (!(box[0] <= box[3])) throw new CollisionError('BAD_DATA', 'clash: the mesh has no finite vertex');
    return { box, triangles: (mesh.indices ?? mesh.positions).length / (mesh.indices ? 3 : 9), points: () => points };
  }
  const view = new DataView(mesh);
  const isBaked =
    mesh.byteLength > MESH_HIGH + 24 &&
    view.getUint32(MESH_MAGIC, true) === MESH_MAGIC_VALUE &&
    view.getUint32(MESH_VERSION, true) === MESH_VERSION_VALUE &&
    view.getUint32(MESH_BYTES, true) === mesh.byteLength;
  if (!isBaked) {
    throw new CollisionError('BAD_DATA', 'clash: the mesh is no baked one of triangles, of this version, as a whole');
  }
  const box = Float64Array.from({ length: 6 }, (_, i) => {
    return view.getFloat64((i < 3 ? MESH_LOW : MESH_HIGH) + 8 * (i % 3), true);
  });
  return { box, triangles: view.getUint32(MESH_TRIANGLE_COUNT, true), points: () => trianglesOfBaked(mesh) };
}

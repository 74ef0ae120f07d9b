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
  if (!indices) return Float64Array.from(positions);
  const corners = new Float64Array(3 * indices.length);
  for (let i = 0; i < indices.length; i++) {
    for (let axis = 0; axis < 3; axis++) corners[3 * i + axis] = positions[3 * indices[i] + axis];
  }
  return corners;
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

/** Answers points that a box about the mesh is a box of, xyz each, in the mesh's own space. */
export function pointsOf(mesh: MeshData | ArrayBuffer): ArrayLike<number> {
  return mesh instanceof ArrayBuffer ? trianglesOfBaked(mesh) : mesh.positions;
}

/** What is known of a mesh before it is loaded. */
export interface MeshFacts {
  /** It is in the mesh's own space. */
  box: Box;
  triangles: number;
}

/** Reads the facts of a mesh. Throws BAD_DATA for what is no baked mesh of triangles, and for no finite vertex. */
export function factsOf(mesh: MeshData | ArrayBuffer): MeshFacts {
  if (!(mesh instanceof ArrayBuffer)) {
    const box = boxOfPoints(mesh.positions);
    if (!(box[0] <= box[3])) throw new CollisionError('BAD_DATA', 'clash: the mesh has no finite vertex');
    return { box, triangles: (mesh.indices ?? mesh.positions).length / (mesh.indices ? 3 : 9) };
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
  return { box, triangles: view.getUint32(MESH_TRIANGLE_COUNT, true) };
}

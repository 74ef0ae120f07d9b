// The phase of a build that puts a tree, its triangles and its indices into one relocatable piece.

import { MESH_MAGIC_VALUE, MESH_VERSION_VALUE, MESH_HEADER_BYTES } from '../../../../shared/layout';
import { allocate } from '../../memory';
import { treeCost } from '../tree/cost';
import { NEIGHBOURS_BYTES } from '../topology/derived-layout';
import { deformBytes } from '../tree/deform-layout';
import { BLOCK_BYTES, DIPOLE_BYTES, Mesh, NODE_BYTES, dipolesOffset } from '../tree/layout';
import { SPACE_BYTES, scaleFor } from '../tree/tree-space';
import { DeformBuild, areAbsolute } from './bake-deform';
import { Build, spaceOf, freeTreeScratch } from './build-state';

/** Bytes per block that are reserved behind the mesh for the derived data: its neighbours, and some for far ones. */
const DERIVED_ROOM: u64 = 4 * NEIGHBOURS_BYTES + 4;

/**
 * Allocates one relocatable piece: header, nodes, blocks, indices, and room for the dipoles and the data for
 * deformation.
 */
export function assemble(build: Build): void {
  const nodeBytes = build.nodeCount * <u32>NODE_BYTES;
  const blockBytes = build.blockCount * <u32>BLOCK_BYTES;
  const indexBytes: u32 = build.indices == 0 ? 0 : build.triangleCount * 12;
  const dipoles = dipolesOffset(
    build.nodeCount, build.blockCount, build.indices == 0 ? 0 : 1, build.triangleCount,
  );
  const d = changetype<DeformBuild>(build.deform);
  const deform: u64 = build.deform == 0 ? 0 : deformBytes(d.vertexCount, d.boneCount, d.targetCount, areAbsolute(d));
  const bytes = dipoles + <u64>build.nodeCount * DIPOLE_BYTES + deform;
  const address = allocate(bytes + <u64>build.blockCount * DERIVED_ROOM);
  const mesh = changetype<Mesh>(address);
  build.mesh = address;
  memory.fill(address, 0, MESH_HEADER_BYTES);
  mesh.magic = MESH_MAGIC_VALUE;
  mesh.version = MESH_VERSION_VALUE;
  mesh.bytes = <u32>bytes;
  mesh.nodeCount = build.nodeCount;
  mesh.blockCount = build.blockCount;
  mesh.triangleCount = build.triangleCount;
  mesh.keptCount = build.keptCount - build.flatKeptCount;
  mesh.vertexCount = build.vertexCount;
  mesh.indexed = build.indices == 0 ? 0 : 1;
  mesh.nodes = MESH_HEADER_BYTES;
  mesh.blocks = mesh.nodes + nodeBytes;
  mesh.indices = mesh.blocks + blockBytes;
  mesh.dipoles = <u32>dipoles;
  mesh.deformBytes = <u32>deform;
  mesh.exponent = build.exponent;
  memory.copy(address + offsetof<Mesh>('offsetX'), changetype<usize>(spaceOf(build)), SPACE_BYTES);
  mesh.builtCost = treeCost(spaceOf(build), scaleFor(build.exponent), build.areas);
  mesh.cost = mesh.builtCost;
  memory.copy(address + mesh.nodes, build.nodes, nodeBytes);
  memory.copy(address + mesh.blocks, build.blocks, blockBytes);
  if (indexBytes > 0) memory.copy(address + mesh.indices, build.indices, indexBytes);
  memory.fill(address + mesh.indices + indexBytes, 0, <usize>dipoles - mesh.indices - indexBytes);
  freeTreeScratch(build);
}

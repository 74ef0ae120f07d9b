// Moves the vertices of a mesh. The tree keeps its nodes, their rotations and which triangles are in which block; tree
// space, corners, boxes and dipoles become what a build would make of them, so that moving back gives the same bytes.
// Nodes are numbered so that children come after their parents, and a subtree's blocks lie side by side (build.ts).

import { hasArea } from '../../math/collinear-triangles';
import { treeCost } from './cost';
import { SURFACE_SUMS_BYTES, SurfaceSums, sumNodes, takeSums } from './dipoles';
import { SUBTREE_BYTES, refitNode } from '../build/fit-rotation';
import { Block, Mesh, blockAt, nodeAt } from './layout';
import {
  SPACE_BYTES, Space, chooseOffset, clearBounds, exponentFor, include, largestCoordinate, scaleFor,
} from './tree-space';

export const REFIT_OK = 0;
/** A coordinate is not finite; `culprit` is a vertex of a triangle in the tree. */
export const REFIT_NOT_FINITE = 1;
/** No triangle has an area. */
export const REFIT_EMPTY = 2;
/** A triangle that has an area now was left out of the tree when it was built. */
export const REFIT_NOT_IN_TREE = 3;

export let culprit: u32 = 0;

/**
 * Stands for a lane without a triangle; and the mark in front of the number of a triangle that has no area for the time
 * being.
 */
const NONE: u32 = 0xffffffff;
const FLAT: u32 = 0x80000000;

const sums = changetype<SurfaceSums>(memory.data(<i32>offsetof<SurfaceSums>(), 16));
const space = changetype<Space>(memory.data(<i32>offsetof<Space>(), 16)); // as it will be
let vertices: usize = 0; // f32 xyz each
let inTree: usize = 0; // a bit per triangle
let solid: usize = 0; // a bit per triangle in the tree that has an area
let solidCount: u32 = 0;

// One triangle's corners, in mesh space.
let ax: f64 = 0, ay: f64 = 0, az: f64 = 0;
let bx: f64 = 0, by: f64 = 0, bz: f64 = 0;
let cx: f64 = 0, cy: f64 = 0, cz: f64 = 0;

/** Answers how many bytes of scratch memory `refit` works in. */
export function refitBytes(mesh: Mesh): usize {
  return max<usize>(mesh.nodeCount * <u32>SUBTREE_BYTES, 2 * bitmapBytes(mesh));
}

function bitmapBytes(mesh: Mesh): usize {
  return (<usize>mesh.triangleCount + 31) >> 5 << 2;
}

/** Moves the vertices to `positions`. Answers REFIT_*; but for REFIT_OK the mesh is as it was. Allocates nothing. */
export function refit(mesh: Mesh, positions: usize, scratch: usize): u32 {
  vertices = positions;
  inTree = scratch;
  solid = scratch + bitmapBytes(mesh);
  const fault = survey(mesh);
  if (fault != REFIT_OK) return fault;
  chooseOffset(space);
  const largest = largestCoordinate(space);
  mesh.exponent = exponentFor(largest);
  mesh.keptCount = solidCount;
  memory.copy(changetype<usize>(mesh) + offsetof<Mesh>('offsetX'), changetype<usize>(space), SPACE_BYTES);
  const scale = scaleFor(mesh.exponent);
  for (let index: u32 = 0; index < mesh.blockCount; index++) writeBlock(mesh, blockAt(mesh, index), scale);
  mesh.cost = treeCost(space, scale, fitNodes(mesh, scratch, <f32>(largest * scale)));
  memory.fill(changetype<usize>(sums), 0, SURFACE_SUMS_BYTES);
  sumNodes(mesh, sums, 0, mesh.nodeCount);
  takeSums(mesh, sums);
  return REFIT_OK;
}

// --- the triangles where they shall be ---

function survey(mesh: Mesh): u32 {
  memory.fill(inTree, 0, 2 * bitmapBytes(mesh));
  clearBounds(space);
  solidCount = 0;
  let found: u32 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      const word = laneOf(block, lane);
      if (word == NONE) continue;
      const t = word & ~FLAT;
      found++;
      setBit(inTree, t);
      loadTriangle(mesh, t);
      if (!isFinite()) {
        culprit = !finite(ax + ay + az) ? cornerOf(mesh, t, 0) : cornerOf(mesh, t, finite(bx + by + bz) ? 2 : 1);
        return REFIT_NOT_FINITE;
      }
      if (!hasArea(ax, ay, az, bx, by, bz, cx, cy, cz)) continue;
      setBit(solid, t);
      solidCount++;
      include(space, ax, ay, az, bx, by, bz, cx, cy, cz);
    }
  }
  if (found < mesh.triangleCount) {
    for (let t: u32 = 0; t < mesh.triangleCount; t++) {
      if (hasBit(inTree, t)) continue;
      loadTriangle(mesh, t);
      if (isFinite() && hasArea(ax, ay, az, bx, by, bz, cx, cy, cz)) return REFIT_NOT_IN_TREE;
    }
  }
  return solidCount == 0 ? REFIT_EMPTY : REFIT_OK;
}

// @ts-ignore: decorator
@inline
function laneOf(block: Block, lane: i32): u32 {
  return load<u32>(changetype<usize>(block) + (<usize>lane << 2), offsetof<Block>('triangle0'));
}

function cornerOf(mesh: Mesh, triangle: u32, k: u32): u32 {
  const i = triangle * 3 + k;
  return mesh.indexed ? load<u32>(changetype<usize>(mesh) + mesh.indices + (<usize>i << 2)) : i;
}

function loadTriangle(mesh: Mesh, triangle: u32): void {
  const a = vertices + <usize>cornerOf(mesh, triangle, 0) * 12;
  const b = vertices + <usize>cornerOf(mesh, triangle, 1) * 12;
  const c = vertices + <usize>cornerOf(mesh, triangle, 2) * 12;
  ax = <f64>load<f32>(a); ay = <f64>load<f32>(a, 4); az = <f64>load<f32>(a, 8);
  bx = <f64>load<f32>(b); by = <f64>load<f32>(b, 4); bz = <f64>load<f32>(b, 8);
  cx = <f64>load<f32>(c); cy = <f64>load<f32>(c, 4); cz = <f64>load<f32>(c, 8);
}

// @ts-ignore: decorator
@inline
function finite(value: f64): bool {
  return value - value == 0.0;
}

function isFinite(): bool {
  return finite(ax + ay + az + bx + by + bz + cx + cy + cz);
}

function setBit(bits: usize, i: u32): void {
  const at = bits + (<usize>(i >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (i & 31)));
}

function hasBit(bits: usize, i: u32): bool {
  return (load<u32>(bits + (<usize>(i >> 5) << 2)) & (1 << (i & 31))) != 0;
}

// --- the tree around them ---

/**
 * Writes the corners of a block's triangles. A triangle without an area becomes a point that nothing hits, within the
 * bounds of the others, as its own corners need not be.
 */
function writeBlock(mesh: Mesh, block: Block, scale: f64): void {
  for (let lane = 0; lane < 4; lane++) {
    const word = laneOf(block, lane);
    const t = (word == NONE ? laneOf(block, 0) : word) & ~FLAT;
    const isSolid = hasBit(solid, t);
    loadTriangle(mesh, t);
    if (!isSolid) {
      ax = max(min(ax, space.highX), space.lowX);
      ay = max(min(ay, space.highY), space.lowY);
      az = max(min(az, space.highZ), space.lowZ);
    }
    if (!isSolid || word == NONE) {
      bx = ax; by = ay; bz = az;
      cx = ax; cy = ay; cz = az;
    }
    const at = changetype<usize>(block) + (<usize>lane << 2);
    store<f32>(at, <f32>((ax - space.offsetX) * scale));
    store<f32>(at, <f32>((ay - space.offsetY) * scale), 16);
    store<f32>(at, <f32>((az - space.offsetZ) * scale), 32);
    store<f32>(at, <f32>((bx - space.offsetX) * scale), 48);
    store<f32>(at, <f32>((by - space.offsetY) * scale), 64);
    store<f32>(at, <f32>((bz - space.offsetZ) * scale), 80);
    store<f32>(at, <f32>((cx - space.offsetX) * scale), 96);
    store<f32>(at, <f32>((cy - space.offsetY) * scale), 112);
    store<f32>(at, <f32>((cz - space.offsetZ) * scale), 128);
    if (word != NONE) store<u32>(at, isSolid ? t : t | FLAT, offsetof<Block>('triangle0'));
  }
}

/** Fits the boxes of all nodes anew. Answers half of the area of all boxes. */
function fitNodes(mesh: Mesh, subtrees: usize, extent: f32): f64 {
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  let areas: f64 = 0;
  for (let index = mesh.nodeCount; index-- > 0; ) {
    areas += refitNode(nodeAt(mesh, index), index, blocks, subtrees, extent);
  }
  return areas;
}

// Moves the vertices of a mesh. The tree keeps its nodes, their rotations and the assignment of triangles to blocks;
// tree space, corners, boxes and dipoles become what a build would compute from the new vertices, so moving back yields
// the same bytes. Children have higher indices than their parents, and a subtree's blocks are contiguous (build.ts).

import { hasArea } from '../../math/collinear-triangles';
import { treeCost } from './cost';
import { SURFACE_SUMS_BYTES, SurfaceSums, sumNodes, applySums } from './dipoles';
import { refitNode, setFitting } from '../build/fit-rotation';
import { SUBTREE_BYTES } from '../build/node-boxes';
import { Block, Mesh, blockAt, nodeAt } from './layout';
import {
  SPACE_BYTES, Space, chooseOffset, clearBounds, exponentFor, includeTriangle, largestCoordinate, scaleFor,
} from './tree-space';

export const REFIT_OK = 0;
/** A coordinate is not finite; `culprit` is a vertex of a triangle in the tree. */
export const REFIT_NOT_FINITE = 1;
/** No triangle has an area. */
export const REFIT_EMPTY = 2;
/** A triangle that was left out of the tree by the build has an area now. */
export const REFIT_NOT_IN_TREE = 3;

export let culprit: u32 = 0;

/** Marks a lane without a triangle; and the flag in the number of a triangle that currently has no area. */
const NONE: u32 = 0xffffffff;
const FLAT: u32 = 0x80000000;

const PHASE_SURVEY: u32 = 0;
const PHASE_LEFT_OUT: u32 = 1;
const PHASE_HEADER: u32 = 2;
const PHASE_BLOCKS: u32 = 3;
const PHASE_NODES: u32 = 4;
const PHASE_SUMS: u32 = 5;
const PHASE_DONE: u32 = 6;

// The work between two checks of the clock takes about a tenth of a millisecond.
const BLOCKS_PER_STEP: u32 = 512;
const TRIANGLES_PER_STEP: u32 = 32768;
const NODES_PER_STEP: u32 = 512;

/** A refit in progress. The new tree space and the sums over the triangles follow in memory. */
@unmanaged
export class Refit {
  mesh: u32;
  positions: u32;
  scratch: u32;
  phase: u32;
  /** How many blocks, triangles or nodes the current phase has processed. */
  cursor: u32;
  /** The number of triangles in blocks, and of those with an area. */
  triangleCount: u32;
  nonFlatCount: u32;
  pad: u32;
  /** Half the total area of all boxes so far. */
  areas: f64;
}

const SPACE_AT: usize = (offsetof<Refit>() + 15) & ~15;
const SUMS_AT: usize = (SPACE_AT + SPACE_BYTES + 15) & ~15;
export const REFIT_BYTES: usize = SUMS_AT + SURFACE_SUMS_BYTES;

const syncRefit = changetype<Refit>(memory.data(<i32>REFIT_BYTES, 16));

// The data of the current step.
let space = changetype<Space>(changetype<usize>(syncRefit) + SPACE_AT); // the new one
let vertices: usize = 0; // f32 xyz each
let inTreeBits: usize = 0; // a bit per triangle
let hasAreaBits: usize = 0; // a bit per triangle in the tree that has an area

// The corners of one triangle, in mesh space.
let ax: f64 = 0, ay: f64 = 0, az: f64 = 0;
let bx: f64 = 0, by: f64 = 0, bz: f64 = 0;
let cx: f64 = 0, cy: f64 = 0, cz: f64 = 0;

/** Returns how many bytes of scratch memory `refit` needs. */
export function refitBytes(mesh: Mesh): usize {
  return max<usize>(mesh.nodeCount * <u32>SUBTREE_BYTES, 2 * bitmapBytes(mesh));
}

function bitmapBytes(mesh: Mesh): usize {
  return (<usize>mesh.triangleCount + 31) >> 5 << 2;
}

/**
 * Moves the vertices to `positions`. Returns REFIT_*; unless that is REFIT_OK, the mesh is unchanged. Allocates nothing.
 */
export function refit(mesh: Mesh, positions: usize, scratch: usize): u32 {
  beginRefit(syncRefit, mesh, positions, scratch);
  let fault = REFIT_OK;
  while (fault == REFIT_OK && !isRefitDone(syncRefit)) fault = stepRefit(syncRefit);
  return fault;
}

/** Begins to move the vertices of a mesh, which nobody may read meanwhile. */
export function beginRefit(r: Refit, mesh: Mesh, positions: usize, scratch: usize): void {
  memory.fill(changetype<usize>(r), 0, REFIT_BYTES);
  r.mesh = <u32>changetype<usize>(mesh);
  r.positions = <u32>positions;
  r.scratch = <u32>scratch;
  memory.fill(scratch, 0, 2 * bitmapBytes(mesh));
  clearBounds(changetype<Space>(changetype<usize>(r) + SPACE_AT));
}

// @ts-ignore: decorator
@inline
export function isRefitDone(r: Refit): bool {
  return r.phase == PHASE_DONE;
}

/** Does one step of a refit. Returns REFIT_OK, or the fault that ends it; the mesh is unchanged then. */
export function stepRefit(r: Refit): u32 {
  const mesh = changetype<Mesh>(<usize>r.mesh);
  space = changetype<Space>(changetype<usize>(r) + SPACE_AT);
  vertices = r.positions;
  inTreeBits = r.scratch;
  hasAreaBits = inTreeBits + bitmapBytes(mesh);
  const phase = r.phase, start = r.cursor;
  if (phase == PHASE_SURVEY) {
    const end = min(start + BLOCKS_PER_STEP, mesh.blockCount);
    const fault = survey(r, mesh, start, end);
    if (fault != REFIT_OK) return fault;
    advance(r, end, mesh.blockCount);
  } else if (phase == PHASE_LEFT_OUT) {
    const end = r.triangleCount < mesh.triangleCount ? min(start + TRIANGLES_PER_STEP, mesh.triangleCount) : mesh.triangleCount;
    if (r.triangleCount < mesh.triangleCount && isMissingFromTree(mesh, start, end)) return REFIT_NOT_IN_TREE;
    advance(r, end, mesh.triangleCount);
  } else if (phase == PHASE_HEADER) {
    if (r.nonFlatCount == 0) return REFIT_EMPTY;
    chooseOffset(space);
    mesh.exponent = exponentFor(largestCoordinate(space));
    mesh.keptCount = r.nonFlatCount;
    memory.copy(changetype<usize>(mesh) + offsetof<Mesh>('offsetX'), changetype<usize>(space), SPACE_BYTES);
    advance(r, 0, 0);
  } else {
    stepTree(r, mesh, start);
  }
  return REFIT_OK;
}

/**
 * Does one step of writing blocks, nodes or dipoles. Children have higher indices than their parents, so the last nodes
 * are first.
 */
function stepTree(r: Refit, mesh: Mesh, start: u32): void {
  const phase = r.phase, scale = scaleFor(mesh.exponent);
  if (phase == PHASE_BLOCKS) {
    const end = min(start + BLOCKS_PER_STEP, mesh.blockCount);
    for (let index = start; index < end; index++) writeBlock(mesh, blockAt(mesh, index), scale);
    advance(r, end, mesh.blockCount);
    return;
  }
  const count = mesh.nodeCount, end = min(start + NODES_PER_STEP, count);
  if (phase == PHASE_NODES) {
    r.areas += fitNodes(mesh, r.scratch, <f32>(largestCoordinate(space) * scale), count - end, count - start);
    if (end == count) mesh.cost = treeCost(space, scale, r.areas);
  } else {
    const sums = changetype<SurfaceSums>(changetype<usize>(r) + SUMS_AT);
    sumNodes(mesh, sums, count - end, count - start);
    if (end == count) applySums(mesh, sums);
  }
  advance(r, end, count);
}

/** Continues at `end`, or with the next phase if this one is complete. */
function advance(r: Refit, end: u32, count: u32): void {
  r.cursor = end < count ? end : 0;
  if (end >= count) r.phase++;
}

// --- the triangles at their new positions ---

function survey(r: Refit, mesh: Mesh, start: u32, end: u32): u32 {
  for (let index = start; index < end; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      const word = laneOf(block, lane);
      if (word == NONE) continue;
      const t = word & ~FLAT;
      r.triangleCount++;
      setBit(inTreeBits, t);
      loadTriangle(mesh, t);
      if (!isFinite()) {
        culprit = !finite(ax + ay + az) ? vertexOfCorner(mesh, t, 0) : vertexOfCorner(mesh, t, finite(bx + by + bz) ? 2 : 1);
        return REFIT_NOT_FINITE;
      }
      if (hasArea(ax, ay, az, bx, by, bz, cx, cy, cz)) {
        setBit(hasAreaBits, t);
        r.nonFlatCount++;
      } else if (mesh.deformBytes == 0) continue;
      includeTriangle(space, ax, ay, az, bx, by, bz, cx, cy, cz);
    }
  }
  return REFIT_OK;
}

/** Returns whether a triangle that is not in the tree has an area now. */
function isMissingFromTree(mesh: Mesh, start: u32, end: u32): bool {
  for (let t = start; t < end; t++) {
    if (hasBit(inTreeBits, t)) continue;
    loadTriangle(mesh, t);
    if (isFinite() && hasArea(ax, ay, az, bx, by, bz, cx, cy, cz)) return true;
  }
  return false;
}

// @ts-ignore: decorator
@inline
function laneOf(block: Block, lane: i32): u32 {
  return load<u32>(changetype<usize>(block) + (<usize>lane << 2), offsetof<Block>('triangle0'));
}

function vertexOfCorner(mesh: Mesh, triangle: u32, k: u32): u32 {
  const i = triangle * 3 + k;
  return mesh.indexed ? load<u32>(changetype<usize>(mesh) + mesh.indices + (<usize>i << 2)) : i;
}

function loadTriangle(mesh: Mesh, triangle: u32): void {
  const a = vertices + <usize>vertexOfCorner(mesh, triangle, 0) * 12;
  const b = vertices + <usize>vertexOfCorner(mesh, triangle, 1) * 12;
  const c = vertices + <usize>vertexOfCorner(mesh, triangle, 2) * 12;
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
 * bounds of the mesh, since its own corners may be outside of them.
 */
function writeBlock(mesh: Mesh, block: Block, scale: f64): void {
  for (let lane = 0; lane < 4; lane++) {
    const word = laneOf(block, lane);
    const t = (word == NONE ? laneOf(block, 0) : word) & ~FLAT;
    const isNonFlat = hasBit(hasAreaBits, t);
    loadTriangle(mesh, t);
    if (!isNonFlat) {
      ax = max(min(ax, space.maxX), space.minX);
      ay = max(min(ay, space.maxY), space.minY);
      az = max(min(az, space.maxZ), space.minZ);
    }
    if (!isNonFlat || word == NONE) {
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
    if (word != NONE) store<u32>(at, isNonFlat ? t : t | FLAT, offsetof<Block>('triangle0'));
  }
}

/** Recomputes the boxes of nodes from `end` - 1 down to `start`. Returns half the area of their boxes. */
function fitNodes(mesh: Mesh, subtrees: usize, extent: f32, start: u32, end: u32): f64 {
  setFitting(changetype<usize>(mesh) + mesh.blocks, subtrees, 0);
  let areas: f64 = 0;
  for (let index = end; index-- > start; ) {
    areas += refitNode(nodeAt(mesh, index), index, extent);
  }
  return areas;
}

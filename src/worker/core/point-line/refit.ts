// Moves the vertices of a mesh of points or lines. The elements stay in their blocks; tree space, coordinates and boxes
// become what a build would produce.

import { BOUNDS_BYTES, costOf, fitNode } from './fit';
import {
  MIN_RADIUS, NO_ELEMENT, PointLine, blockOf, elementsPerBlock, exponentOf, elementIn, storeLine, storePoint, vertexOf,
} from './layout';
import { REFIT_NOT_FINITE, REFIT_NOT_IN_TREE, REFIT_OK } from '../mesh/tree/refit';
import {
  SPACE_BYTES, Space, chooseOffset, clearBounds, includeTriangle, largestCoordinate, scaleFor,
} from '../mesh/tree/tree-space';

/** With REFIT_NOT_FINITE, a vertex of an element in the tree. */
export let culprit: u32 = 0;

const PHASE_SURVEY: u32 = 0;
const PHASE_KEPT: u32 = 1;
const PHASE_HEADER: u32 = 2;
const PHASE_BLOCKS: u32 = 3;
const PHASE_NODES: u32 = 4;
const PHASE_DONE: u32 = 5;

// The work between two readings of the clock takes a tenth of a millisecond or so.
const ELEMENTS_PER_STEP: u32 = 16384;
const BLOCKS_PER_STEP: u32 = 1024;
const NODES_PER_STEP: u32 = 512;

/** A refit under way. The future space of the tree follows in memory. */
@unmanaged
export class PointLineRefit {
  mesh: u32;
  positions: u32;
  scratch: u32;
  phase: u32;
  /** How many elements, blocks or nodes the phase has done. */
  cursor: u32;
  /** How many elements have finite vertices. */
  finiteCount: u32;
  /** Half the area of all boxes so far. */
  areas: f64;
  /** The squared maximum distance of a vertex from the centre so far. */
  radiusSquared: f64;
}

const SPACE_AT: usize = (offsetof<PointLineRefit>() + 15) & ~15;
export const POINT_LINE_REFIT_BYTES: usize = (SPACE_AT + SPACE_BYTES + 15) & ~15;

const syncRefit = changetype<PointLineRefit>(memory.data(<i32>POINT_LINE_REFIT_BYTES, 16));

// Inputs of the current step.
let space = changetype<Space>(changetype<usize>(syncRefit) + SPACE_AT); // the future one
let vertices: usize = 0; // f32 xyz each

/** Returns the size of a refit's scratch memory in bytes. */
export function refitPointLineBytes(mesh: PointLine): usize {
  return mesh.nodeCount * <u32>BOUNDS_BYTES;
}

/**
 * Moves the vertices to `positions`. Returns REFIT_*; unless it is REFIT_OK, the mesh is unchanged. Allocates nothing.
 */
export function refitPointLine(mesh: PointLine, positions: usize, scratch: usize): u32 {
  beginPointLineRefit(syncRefit, mesh, positions, scratch);
  let fault = REFIT_OK;
  while (fault == REFIT_OK && !isPointLineRefitDone(syncRefit)) fault = stepPointLineRefit(syncRefit);
  return fault;
}

/** Begins to move the vertices of a mesh that nobody reads meanwhile. */
export function beginPointLineRefit(r: PointLineRefit, mesh: PointLine, positions: usize, scratch: usize): void {
  memory.fill(changetype<usize>(r), 0, POINT_LINE_REFIT_BYTES);
  r.mesh = <u32>changetype<usize>(mesh);
  r.positions = <u32>positions;
  r.scratch = <u32>scratch;
  clearBounds(changetype<Space>(changetype<usize>(r) + SPACE_AT));
}

// @ts-ignore: decorator
@inline
export function isPointLineRefitDone(r: PointLineRefit): bool {
  return r.phase == PHASE_DONE;
}

/** Runs a step of a refit. Returns REFIT_OK, or the fault that ends the refit, in which case the mesh is unchanged. */
export function stepPointLineRefit(r: PointLineRefit): u32 {
  const mesh = changetype<PointLine>(<usize>r.mesh);
  space = changetype<Space>(changetype<usize>(r) + SPACE_AT);
  vertices = r.positions;
  const phase = r.phase, start = r.cursor;
  if (phase == PHASE_SURVEY) {
    const end = min(start + ELEMENTS_PER_STEP, mesh.elementCount);
    r.finiteCount += survey(mesh, start, end);
    advance(r, end, mesh.elementCount);
  } else if (phase == PHASE_KEPT) {
    // If all elements are in the tree and finite, no block has to be checked.
    const areAllInTree = r.finiteCount == mesh.elementCount && mesh.keptCount == r.finiteCount;
    const end = areAllInTree ? mesh.blockCount : min(start + BLOCKS_PER_STEP, mesh.blockCount);
    if (!areAllInTree && !areKeptFinite(mesh, start, end)) return REFIT_NOT_FINITE;
    if (end == mesh.blockCount && r.finiteCount > mesh.keptCount) return REFIT_NOT_IN_TREE;
    advance(r, end, mesh.blockCount);
  } else if (phase == PHASE_HEADER) {
    chooseOffset(space);
    mesh.exponent = exponentOf(largestCoordinate(space));
    memory.copy(changetype<usize>(mesh) + offsetof<PointLine>('offsetX'), changetype<usize>(space), SPACE_BYTES);
    advance(r, 0, 0);
  } else if (phase == PHASE_BLOCKS) {
    const end = min(start + BLOCKS_PER_STEP, mesh.blockCount);
    r.radiusSquared = f64.max(r.radiusSquared, writeBlocks(mesh, scaleFor(mesh.exponent), start, end));
    if (end == mesh.blockCount) mesh.radius = f64.max(sqrt(r.radiusSquared), MIN_RADIUS);
    advance(r, end, mesh.blockCount);
  } else {
    fitStep(r, mesh, start);
  }
  return REFIT_OK;
}

/** Continues at `end`, or with the next phase if that is the end of this one. */
function advance(r: PointLineRefit, end: u32, count: u32): void {
  r.cursor = end < count ? end : 0;
  if (end >= count) r.phase++;
}

/** Refits some boxes. Children come after their parents, so the last nodes are done first. */
function fitStep(r: PointLineRefit, mesh: PointLine, start: u32): void {
  const largest = largestCoordinate(space);
  const extent: f32 = largest == 0 ? 1 : <f32>(largest * scaleFor(mesh.exponent));
  const nodes = changetype<usize>(mesh) + mesh.nodes, blocks = changetype<usize>(mesh) + mesh.blocks;
  const count = mesh.nodeCount, end = min(start + NODES_PER_STEP, count);
  for (let index = count - start; index-- > count - end; ) {
    r.areas += fitNode(nodes, index, blocks, mesh.size, r.scratch, extent);
  }
  if (end == count) mesh.cost = costOf(mesh, r.areas, <f64>extent);
  advance(r, end, count);
}

// @ts-ignore: decorator
@inline
function vertexPosition(mesh: PointLine, element: u32, k: u32): usize {
  return vertices + <usize>vertexOf(mesh, element, k) * 12;
}

// @ts-ignore: decorator
@inline
function isFinite(at: usize): bool {
  const sum = <f64>load<f32>(at) + <f64>load<f32>(at, 4) + <f64>load<f32>(at, 8);
  return sum - sum == 0.0;
}

/**
 * Examines the new positions of elements. Returns how many of these have finite vertices, which are included in the
 * space.
 */
function survey(mesh: PointLine, start: u32, end: u32): u32 {
  const last = mesh.size - 1;
  let finiteCount: u32 = 0;
  for (let e = start; e < end; e++) {
    const a = vertexPosition(mesh, e, 0), b = vertexPosition(mesh, e, last);
    if (!isFinite(a) || !isFinite(b)) continue;
    finiteCount++;
    const ax = <f64>load<f32>(a), ay = <f64>load<f32>(a, 4), az = <f64>load<f32>(a, 8);
    includeTriangle(space, ax, ay, az, <f64>load<f32>(b), <f64>load<f32>(b, 4), <f64>load<f32>(b, 8), ax, ay, az);
  }
  return finiteCount;
}

/**
 * Returns whether all elements in blocks have finite vertices; if not, `culprit` is the first vertex that is not
 * finite.
 */
function areKeptFinite(mesh: PointLine, start: u32, end: u32): bool {
  const blockCapacity = elementsPerBlock(mesh.size);
  for (let index = start; index < end; index++) {
    const block = blockOf(mesh, index);
    for (let lane: u32 = 0; lane < blockCapacity; lane++) {
      const e = elementIn(block, lane, mesh.size);
      if (e == NO_ELEMENT) continue;
      for (let k: u32 = 0; k < mesh.size; k++) {
        if (isFinite(vertexPosition(mesh, e, k))) continue;
        culprit = vertexOf(mesh, e, k);
        return false;
      }
    }
  }
  return true;
}

/** Writes the coordinates of blocks. Returns the squared maximum distance of a vertex from the centre. */
function writeBlocks(mesh: PointLine, scale: f64, start: u32, end: u32): f64 {
  const size = mesh.size, blockCapacity = elementsPerBlock(size);
  const x = 0.5 * (space.minX + space.maxX), y = 0.5 * (space.minY + space.maxY), z = 0.5 * (space.minZ + space.maxZ);
  let radiusSquared: f64 = 0;
  for (let index = start; index < end; index++) {
    const block = blockOf(mesh, index);
    for (let lane: u32 = 0; lane < blockCapacity; lane++) {
      let e = elementIn(block, lane, size);
      if (e == NO_ELEMENT) e = elementIn(block, 0, size);
      const at = block + (<usize>lane << 2);
      const a = vertexPosition(mesh, e, 0), b = vertexPosition(mesh, e, size - 1);
      radiusSquared = f64.max(radiusSquared, f64.max(distanceSquaredFrom(a, x, y, z), distanceSquaredFrom(b, x, y, z)));
      if (size == 1) storePoint(at, toTreeSpace(a, scale));
      else storeLine(at, toTreeSpace(a, scale), toTreeSpace(b, scale));
    }
  }
  return radiusSquared;
}

// @ts-ignore: decorator
@inline
function toTreeSpace(at: usize, scale: f64): v128 {
  const x = <f32>((<f64>load<f32>(at) - space.offsetX) * scale);
  const y = <f32>((<f64>load<f32>(at, 4) - space.offsetY) * scale);
  const z = <f32>((<f64>load<f32>(at, 8) - space.offsetZ) * scale);
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(x), 1, y), 2, z);
}

// @ts-ignore: decorator
@inline
function distanceSquaredFrom(at: usize, x: f64, y: f64, z: f64): f64 {
  const dx = <f64>load<f32>(at) - x, dy = <f64>load<f32>(at, 4) - y, dz = <f64>load<f32>(at, 8) - z;
  return dx * dx + dy * dy + dz * dz;
}

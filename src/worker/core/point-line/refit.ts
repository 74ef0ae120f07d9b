// Moves the vertices of a mesh of points or lines. The elements stay in their blocks; tree space, coordinates and boxes
// become what a build would produce.

import { BOUNDS_BYTES, costOf, fitNode } from './fit';
import {
  LEAST_RADIUS, NO_ELEMENT, PointLine, blockOf, elementsABlock, exponentOf, numberIn, storeLine, storePoint, vertexOf,
} from './layout';
import { REFIT_NOT_FINITE, REFIT_NOT_IN_TREE, REFIT_OK } from '../mesh/tree/refit';
import { SPACE_BYTES, Space, chooseOffset, clearBounds, include, largestCoordinate, scaleFor } from '../mesh/tree/tree-space';

/** With REFIT_NOT_FINITE, a vertex of an element in the tree. */
export let culprit: u32 = 0;

const PHASE_SURVEY: u32 = 0;
const PHASE_KEPT: u32 = 1;
const PHASE_HEADER: u32 = 2;
const PHASE_BLOCKS: u32 = 3;
const PHASE_NODES: u32 = 4;
const PHASE_DONE: u32 = 5;

// The work between two readings of the clock takes a tenth of a millisecond or so.
const STEP_ELEMENTS: u32 = 16384;
const STEP_BLOCKS: u32 = 1024;
const STEP_NODES: u32 = 512;

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
  finite: u32;
  /** Half the area of all boxes so far. */
  areas: f64;
  /** The squared maximum distance of a vertex from the centre so far. */
  square: f64;
}

const SPACE_AT: usize = (offsetof<PointLineRefit>() + 15) & ~15;
export const POINT_LINE_REFIT_BYTES: usize = (SPACE_AT + SPACE_BYTES + 15) & ~15;

const whole = changetype<PointLineRefit>(memory.data(<i32>POINT_LINE_REFIT_BYTES, 16));

// Inputs of the current step.
let space = changetype<Space>(changetype<usize>(whole) + SPACE_AT); // the future one
let vertices: usize = 0; // f32 xyz each

/** Returns the size of a refit's scratch memory in bytes. */
export function refitPointLineBytes(mesh: PointLine): usize {
  return mesh.nodeCount * <u32>BOUNDS_BYTES;
}

/**
 * Moves the vertices to `positions`. Returns REFIT_*; unless it is REFIT_OK, the mesh is unchanged. Allocates nothing.
 */
export function refitPointLine(mesh: PointLine, positions: usize, scratch: usize): u32 {
  beginPointLineRefit(whole, mesh, positions, scratch);
  let fault = REFIT_OK;
  while (fault == REFIT_OK && !isPointLineRefitDone(whole)) fault = stepPointLineRefit(whole);
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
    const end = min(start + STEP_ELEMENTS, mesh.elementCount);
    r.finite += survey(mesh, start, end);
    goOn(r, end, mesh.elementCount);
  } else if (phase == PHASE_KEPT) {
    // If all elements are in the tree and finite, no block has to be checked.
    const isAll = r.finite == mesh.elementCount && mesh.keptCount == r.finite;
    const end = isAll ? mesh.blockCount : min(start + STEP_BLOCKS, mesh.blockCount);
    if (!isAll && !areKeptFinite(mesh, start, end)) return REFIT_NOT_FINITE;
    if (end == mesh.blockCount && r.finite > mesh.keptCount) return REFIT_NOT_IN_TREE;
    goOn(r, end, mesh.blockCount);
  } else if (phase == PHASE_HEADER) {
    chooseOffset(space);
    mesh.exponent = exponentOf(largestCoordinate(space));
    memory.copy(changetype<usize>(mesh) + offsetof<PointLine>('offsetX'), changetype<usize>(space), SPACE_BYTES);
    goOn(r, 0, 0);
  } else if (phase == PHASE_BLOCKS) {
    const end = min(start + STEP_BLOCKS, mesh.blockCount);
    r.square = f64.max(r.square, writeBlocks(mesh, scaleFor(mesh.exponent), start, end));
    if (end == mesh.blockCount) mesh.radius = f64.max(sqrt(r.square), LEAST_RADIUS);
    goOn(r, end, mesh.blockCount);
  } else {
    fitSome(r, mesh, start);
  }
  return REFIT_OK;
}

/** Continues at `end`, or with the next phase if that is the end of this one. */
function goOn(r: PointLineRefit, end: u32, count: u32): void {
  r.cursor = end < count ? end : 0;
  if (end >= count) r.phase++;
}

/** Refits some boxes. Children come after their parents, so the last nodes are done first. */
function fitSome(r: PointLineRefit, mesh: PointLine, start: u32): void {
  const largest = largestCoordinate(space);
  const extent: f32 = largest == 0 ? 1 : <f32>(largest * scaleFor(mesh.exponent));
  const nodes = changetype<usize>(mesh) + mesh.nodes, blocks = changetype<usize>(mesh) + mesh.blocks;
  const count = mesh.nodeCount, end = min(start + STEP_NODES, count);
  for (let index = count - start; index-- > count - end; ) {
    r.areas += fitNode(nodes, index, blocks, mesh.size, r.scratch, extent);
  }
  if (end == count) mesh.cost = costOf(mesh, r.areas, <f64>extent);
  goOn(r, end, count);
}

// @ts-ignore: decorator
@inline
function placeOf(mesh: PointLine, element: u32, k: u32): usize {
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
  let finite: u32 = 0;
  for (let e = start; e < end; e++) {
    const a = placeOf(mesh, e, 0), b = placeOf(mesh, e, last);
    if (!isFinite(a) || !isFinite(b)) continue;
    finite++;
    const ax = <f64>load<f32>(a), ay = <f64>load<f32>(a, 4), az = <f64>load<f32>(a, 8);
    include(space, ax, ay, az, <f64>load<f32>(b), <f64>load<f32>(b, 4), <f64>load<f32>(b, 8), ax, ay, az);
  }
  return finite;
}

/**
 * Returns whether all elements in blocks have finite vertices; if not, `culprit` is the first vertex that is not
 * finite.
 */
function areKeptFinite(mesh: PointLine, start: u32, end: u32): bool {
  const per = elementsABlock(mesh.size);
  for (let index = start; index < end; index++) {
    const block = blockOf(mesh, index);
    for (let lane: u32 = 0; lane < per; lane++) {
      const e = numberIn(block, lane, mesh.size);
      if (e == NO_ELEMENT) continue;
      for (let k: u32 = 0; k < mesh.size; k++) {
        if (isFinite(placeOf(mesh, e, k))) continue;
        culprit = vertexOf(mesh, e, k);
        return false;
      }
    }
  }
  return true;
}

/** Writes the coordinates of blocks. Returns the squared maximum distance of a vertex from the centre. */
function writeBlocks(mesh: PointLine, scale: f64, start: u32, end: u32): f64 {
  const size = mesh.size, per = elementsABlock(size);
  const x = 0.5 * (space.lowX + space.highX), y = 0.5 * (space.lowY + space.highY), z = 0.5 * (space.lowZ + space.highZ);
  let square: f64 = 0;
  for (let index = start; index < end; index++) {
    const block = blockOf(mesh, index);
    for (let lane: u32 = 0; lane < per; lane++) {
      let e = numberIn(block, lane, size);
      if (e == NO_ELEMENT) e = numberIn(block, 0, size);
      const at = block + (<usize>lane << 2);
      const a = placeOf(mesh, e, 0), b = placeOf(mesh, e, size - 1);
      square = f64.max(square, f64.max(squareFrom(a, x, y, z), squareFrom(b, x, y, z)));
      if (size == 1) storePoint(at, inTree(a, scale));
      else storeLine(at, inTree(a, scale), inTree(b, scale));
    }
  }
  return square;
}

// @ts-ignore: decorator
@inline
function inTree(at: usize, scale: f64): v128 {
  const x = <f32>((<f64>load<f32>(at) - space.offsetX) * scale);
  const y = <f32>((<f64>load<f32>(at, 4) - space.offsetY) * scale);
  const z = <f32>((<f64>load<f32>(at, 8) - space.offsetZ) * scale);
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(x), 1, y), 2, z);
}

// @ts-ignore: decorator
@inline
function squareFrom(at: usize, x: f64, y: f64, z: f64): f64 {
  const dx = <f64>load<f32>(at) - x, dy = <f64>load<f32>(at, 4) - y, dz = <f64>load<f32>(at, 8) - z;
  return dx * dx + dy * dy + dz * dz;
}

// The state of a build between two of its steps.

import { release } from '../../memory';
import { Derivation, freeDerivation } from '../topology/derivation-state';
import { Space } from '../tree/tree-space';
import { OpenEdges, freeOpenEdges } from './open-edges';
import { Weld, freeWeld } from './weld';
import { DeformBuild, freeDeform } from './bake-deform';

export const PHASE_SELECT = 0;
export const PHASE_WELD = 1;
export const PHASE_JOIN = 2;
export const PHASE_SCAN = 3;
export const PHASE_PLACE = 4;
export const PHASE_SORT = 5;
export const PHASE_CELLS = 6;
export const PHASE_SPLIT = 7;
export const PHASE_FIT = 8;
export const PHASE_DEFORM = 9;
export const PHASE_SUM = 10;
export const PHASE_DERIVE = 11;
export const PHASE_OPEN = 12;
export const PHASE_DONE = 13;

export const BUILD_BAD_INDEX = 1;
export const BUILD_EMPTY = 2;

/** A build in progress. */
@unmanaged
export class Build {
  positions: usize; // f32 xyz per vertex
  indices: usize; // u32, three per triangle; 0 if there are none
  vertexCount: u32;
  triangleCount: u32;
  isFast: u32; // 1 if a quick build matters more than the quickest rays
  error: u32; // BUILD_*, with the culprit beside it
  culprit: u32;
  phase: u32;
  cursor: u32;
  keptCount: u32;
  placedCount: u32; // triangles that are in a leaf already
  primitives: usize;
  order: usize; // KeyedTriangle by Morton code, if there are cells
  spare: usize; // the same, during sorting; then the primitives in this order
  digits: usize; // counts of the digits of the codes
  sortPass: u32;
  cells: usize; // as primitives
  cellCount: u32;
  belowCells: usize; // primitives of the current range inside cells
  groups: usize; // like cells: groups of consecutive cells
  groupCount: u32;
  groupEnd: u32; // end of the last group in the order
  belowGroups: usize; // cells of the current range inside groups
  nodes: usize;
  nodeCount: u32;
  blocks: usize;
  corners: usize; // u32, three per lane of a block: the vertices of its triangle; 0 if there are no indices
  blockCount: u32;
  subtrees: usize;
  extremes: usize;
  stack: usize;
  stackCount: u32;
  mesh: usize;
  exponent: i32;
  welding: usize; // Weld, 0 if nothing is welded
  open: usize; // OpenEdges, 0 for a closed mesh
  weld: f64;
  extent: f32; // the largest coordinate in tree space
  areas: f64; // half the area of all boxes
  derivedFraction: f64; // completed fraction of the derivation
  offsetX: f64; offsetY: f64; offsetZ: f64; // Space
  minX: f64; minY: f64; minZ: f64;
  maxX: f64; maxY: f64; maxZ: f64;
  sums: usize;
  derivation: usize;
  deform: usize; // DeformBuild, 0 if the mesh cannot be deformed
  /** The number of kept triangles without an area, since a pose may give them one. */
  flatKeptCount: u32;
  /** The finite triangles without an area, whether they are kept or not: u32 each. */
  flatCount: u32;
  flatTriangles: usize;
  /** The greatest fraction that was reported. */
  reportedFraction: f64;
  // If two builders make the tree (parted-build.ts):
  part: u32; // WHOLE, FIRST or SECOND
  cut: u32; // progress: NOT_CUT, CUT, FITTED or JOINED
  topRanges: u32; // while a range of the first part is split, more ranges than this are pending
  cutNodes: u32; // how many nodes the first part has; in the second part, how many stand for nodes of the first
  cutBlocks: u32;
  cutPlaced: u32;
  lateNodes: usize; // u32 each: nodes above both parts, then the first nodes of the second part
  lateCount: u32;
  pathCount: u32; // how many are above both parts
  second: usize; // the second part
  firstPartBoxes: usize; // in the second part: the bounds of the first part's ranges, low and high
  firstPartBoxCount: u32;
}

// Build.part.
export const WHOLE: u32 = 0;
export const FIRST: u32 = 1;
export const SECOND: u32 = 2;

// Build.cut, in this order.
export const NOT_CUT: u32 = 0;
/** The second part begins. */
export const CUT: u32 = 1;
/** All nodes of the first part are fitted, except for those above both parts. */
export const FITTED: u32 = 2;
/** The second part was joined. */
export const JOINED: u32 = 3;

// @ts-ignore: decorator
@inline
export function spaceOf(build: Build): Space {
  return changetype<Space>(changetype<usize>(build) + offsetof<Build>('offsetX'));
}

export function freeDeforming(build: Build): void {
  if (build.deform == 0) return;
  freeDeform(changetype<DeformBuild>(build.deform));
  release(build.deform);
  build.deform = 0;
}

/** Frees the ranges and primitives, after splitting. */
export function freeRanges(build: Build): void {
  release(build.primitives);
  release(build.cells);
  release(build.belowCells);
  release(build.groups);
  release(build.belowGroups);
  build.primitives = build.cells = build.belowCells = build.groups = build.belowGroups = 0;
}

/** Frees what was needed to make the tree. */
export function freeTreeScratch(build: Build): void {
  freeWelding(build);
  freeRanges(build);
  release(build.order);
  release(build.spare);
  release(build.digits);
  release(build.nodes);
  release(build.blocks);
  release(build.subtrees);
  release(build.extremes);
  release(build.stack);
  release(build.lateNodes);
  build.lateNodes = 0;
  build.order = build.spare = build.digits = 0;
  build.nodes = build.blocks = build.subtrees = build.extremes = build.stack = 0;
}

export function freeScratch(build: Build): void {
  freeTreeScratch(build);
  freeOpen(build);
  release(build.flatTriangles);
  release(build.corners);
  release(build.sums);
  release(build.second);
  release(build.firstPartBoxes);
  if (build.derivation != 0) freeDerivation(changetype<Derivation>(build.derivation));
  build.flatTriangles = build.corners = build.sums = build.second = build.firstPartBoxes = build.derivation = 0;
}

export function freeWelding(build: Build): void {
  freeWeld(changetype<Weld>(build.welding));
  build.welding = 0;
}

function freeOpen(build: Build): void {
  if (build.open == 0) return;
  freeOpenEdges(changetype<OpenEdges>(build.open));
  release(build.open);
  build.open = 0;
}

// @ts-ignore: decorator
@inline
export function vertexOfCorner(build: Build, triangle: u32, k: u32): u32 {
  const i = triangle * 3 + k;
  return build.indices == 0 ? i : load<u32>(build.indices + (<usize>i << 2));
}

// @ts-ignore: decorator
@inline
export function vertexAt(build: Build, vertex: u32): usize {
  return build.positions + <usize>vertex * 12;
}

// @ts-ignore: decorator
@inline
export function coordinate(build: Build, vertex: u32, axis: usize): f64 {
  return <f64>load<f32>(vertexAt(build, vertex) + (axis << 2));
}

/** Triangles that are taken, joined or scanned between two checks of the clock. */
export const TRIANGLES_PER_STEP: u32 = 4096;

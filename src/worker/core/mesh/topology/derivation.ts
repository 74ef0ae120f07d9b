// Computes the derived data of a mesh in steps, so that the caller can do other work in between: welds corners, unites
// parts, matches edges, decides whether the mesh is convex, and writes all of it as one piece of memory
// (derived-layout.ts).

import { now } from '../../host';
import { allocate, reserveExactly } from '../../memory';
import { Mesh } from '../tree/layout';
import { beginMatching, beginNeighbours, mustRematch, matchBlocks, writeNeighbours } from './adjacency';
import { beginConvex, testBlocks } from './convex';
import { Derivation, STEP, freeScratch, meshOf, resultOf } from './derivation-state';
import {
  DERIVED_BYTES, FAR_NEIGHBOUR_BYTES, NEIGHBOURS_BYTES, PART_BYTES, derivedBytes, farNeighboursAt, partsAt,
} from './derived-layout';
import { beginHull, clustersFor, endHull, writeClusters, writePlanes } from './hull';
import { freePart, joinPart, markShared, packPart } from './join-parts';
import { beginLocal, testEdges, windsOnce } from './locally-convex';
import { beginWeld, weldBlocks } from './weld';

const PHASE_WELD: u32 = 0;
const PHASE_MATCH: u32 = 1;
const PHASE_NEIGHBOURS: u32 = 2;
const PHASE_EDGES: u32 = 3;
const PHASE_CONVEX: u32 = 4;
const PHASE_RESULT: u32 = 5;
const PHASE_CLUSTERS: u32 = 6;
const PHASE_PLANES: u32 = 7;
const PHASE_DONE: u32 = 8;

/** How many blocks are processed per step whose faces search the tree, each for a microsecond or so. */
const BLOCKS_PER_CONVEX_STEP: u32 = 32;

/** Begins a derivation; the mesh must not change until its end. Throws OUT_OF_MEMORY. */
export function beginDerivation(mesh: Mesh): Derivation {
  const d = changetype<Derivation>(allocate(offsetof<Derivation>()));
  memory.fill(changetype<usize>(d), 0, offsetof<Derivation>());
  d.mesh = <u32>changetype<usize>(mesh);
  return d;
}

/**
 * Works until the clock reaches `deadline`, or the derivation waits. Returns the completed fraction. Throws OUT_OF_MEMORY;
 * the derivation is unusable then.
 */
export function stepDerivation(d: Derivation, deadline: f64): f64 {
  while (d.phase != PHASE_DONE) {
    runStep(d);
    if (d.isWaiting || d.isAtCut) break;
    if (deadline != Infinity && now() >= deadline) break;
  }
  return d.phase == PHASE_DONE ? 1 : fraction(d);
}

/**
 * Joins the second part, which another builder has derived, while `isAtCut` is set. Throws OUT_OF_MEMORY like
 * `joinPart`.
 */
export function joinDerived(d: Derivation, part: usize): void {
  joinPart(d, part);
  d.isAtCut = 0;
  d.phase = PHASE_MATCH;
  d.cursor = 0;
}

/** Returns the completed fraction; all phases count as equally long. */
function fraction(d: Derivation): f64 {
  return (<f64>d.phase + <f64>d.cursor / <f64>lengthOf(d)) / <f64>PHASE_DONE;
}

function lengthOf(d: Derivation): u32 {
  return d.phase == PHASE_CLUSTERS ? resultOf(d).clusterCount : meshOf(d).blockCount;
}

function runStep(d: Derivation): void {
  const phase = d.phase;
  const start = d.cursor;
  if (start == 0) beginPhase(d);
  let end = min(start + (phase == PHASE_CONVEX ? BLOCKS_PER_CONVEX_STEP : STEP), lengthOf(d));
  if (phase == PHASE_WELD && start < d.cutBlock && end >= d.cutBlock) {
    end = d.cutBlock;
    d.isAtCut = 1;
  }
  if (phase == PHASE_WELD) weldBlocks(d, start, end);
  else if (phase == PHASE_MATCH) matchBlocks(d, start, end);
  else if (phase == PHASE_NEIGHBOURS) writeNeighbours(d, start, end);
  else if (phase == PHASE_EDGES) testEdges(d, start, end);
  else if (phase == PHASE_CONVEX) testBlocks(d, start, end);
  else if (phase == PHASE_CLUSTERS) writeClusters(d, start, end);
  else if (phase == PHASE_PLANES) writePlanes(d, start, end);
  d.cursor = end;
  const isDecided = phase == PHASE_EDGES ? d.isUncertain : phase == PHASE_CONVEX ? d.isConcave : u32(phase == PHASE_RESULT);
  if (end == lengthOf(d) || isDecided) endPhase(d);
}

function beginPhase(d: Derivation): void {
  if (d.phase == PHASE_WELD) beginWeld(d);
  else if (d.phase == PHASE_MATCH) {
    if (d.isPart) markShared(d);
    beginMatching(d);
  }
  else if (d.phase == PHASE_NEIGHBOURS) beginNeighbours(d);
  else if (d.phase == PHASE_EDGES) beginLocal(d);
  else if (d.phase == PHASE_CONVEX) beginConvex(d);
  else if (d.phase == PHASE_RESULT) makeResult(d);
  else if (d.phase == PHASE_CLUSTERS) beginHull(d);
}

/**
 * Ends a phase and begins the next. If its edges prove that a mesh is convex, the search is skipped, and only convex
 * meshes have the last two phases.
 */
function endPhase(d: Derivation): void {
  if (d.phase == PHASE_MATCH) {
    if (d.isPart) {
      d.result = packPart(d);
      d.phase = PHASE_DONE;
      freeScratch(d);
      return;
    }
    const wasJoined = d.secondPart != 0;
    if (wasJoined) freePart(d);
    if (mustRematch(d, wasJoined)) {
      d.cursor = 0;
      return;
    }
  }
  if (d.phase == PHASE_PLANES) endHull(d);
  if (d.phase == PHASE_NEIGHBOURS) d.isWaiting = d.asksWhetherClosed;
  if (d.phase == PHASE_EDGES && !d.isUncertain && windsOnce(d)) d.phase = PHASE_CONVEX;
  const isLast = d.phase == PHASE_PLANES || (d.phase == PHASE_RESULT && resultOf(d).clusterCount == 0);
  d.phase = isLast ? PHASE_DONE : d.phase + 1;
  d.cursor = 0;
  if (isLast) freeScratch(d);
}

/** Writes the rest of the data after the neighbours. */
function makeResult(d: Derivation): void {
  const mesh = meshOf(d);
  const isConvex = !d.isConcave && d.side != 0;
  const clusterCount = isConvex ? clustersFor(d.vertexCount) : 0;
  const bytes = derivedBytes(mesh, d.farCount, d.partCount, clusterCount);
  const end = DERIVED_BYTES + <usize>mesh.blockCount * 4 * NEIGHBOURS_BYTES;
  d.result = reserveExactly(d.result, end, bytes);
  const derived = resultOf(d);
  // Clears the header and the other sections, so that no old contents of the memory are baked.
  memory.fill(d.result, 0, DERIVED_BYTES);
  memory.fill(d.result + end, 0, <usize>derivedBytes(mesh, d.farCount, d.partCount, 0) - end);
  derived.bytes = <u32>bytes;
  derived.isConvex = isConvex ? 1 : 0;
  derived.farCount = d.farCount;
  derived.partCount = d.partCount;
  derived.clusterCount = clusterCount;
  memory.copy(farNeighboursAt(mesh, derived), d.farNeighbours, <usize>d.farCount * FAR_NEIGHBOUR_BYTES);
  memory.copy(partsAt(mesh, derived), d.parts, <usize>d.partCount * PART_BYTES);
}

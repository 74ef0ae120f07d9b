// Builds a baked mesh in steps, so that the caller can do other work in between.

import { now } from '../../host';
import { allocate, release } from '../../memory';
import { beginDerivation, stepDerivation } from '../topology/derivation';
import { Derivation } from '../topology/derivation-state';
import { appendDerived } from '../topology/pack';
import { SURFACE_SUMS_BYTES, SurfaceSums, sumNodes, applySums } from '../tree/dipoles';
import { Mesh, NODE_BYTES, Node } from '../tree/layout';
import { clearBounds } from '../tree/tree-space';
import { MIN_WELD_DISTANCE, reserveTables, reserveWeld } from './weld';
import { fitNode, setFitting } from './fit-rotation';
import { DeformBuild, reserveDeform, stepDeform } from './bake-deform';
import { PRIMITIVE_BYTES } from './binned-sah';
import {
  PHASE_SELECT, PHASE_WELD, PHASE_JOIN, PHASE_SCAN, PHASE_PLACE, PHASE_SORT, PHASE_CELLS, PHASE_SPLIT, PHASE_FIT, PHASE_DEFORM,
  PHASE_SUM, PHASE_DERIVE, PHASE_OPEN, PHASE_DONE, CUT, FIRST, JOINED, SECOND, Build, spaceOf, freeDeforming, freeScratch,
} from './build-state';
import { subtreeAt } from './node-boxes';
import { ANY_RANGES, assembleSecond, continueAlone, isFittedNow, joinSums, mayJoin, sumCosts, sumsOf } from './parted-build';
import { sortStep } from './morton-order';
import { OPEN_EDGES_BYTES, OpenEdges, beginOpenEdges, writeOpenEdges, stepOpenEdges } from './open-edges';
import { selectPoints, weld, join, scan } from './scan';
import { gatherStep, mapBoundsToTree, splitStep } from './split-ranges';
import { assemble } from './assemble';

/**
 * Begins the build of a whole tree, or of its FIRST or SECOND part. Next, call `reserveBuild`, then fill positions and
 * indices, then call `stepBuild`. Throws OUT_OF_MEMORY.
 */
export function beginBuild(vertexCount: u32, triangleCount: u32, weld: f64, isFast: bool, part: u32): Build {
  const build = changetype<Build>(allocate(offsetof<Build>()));
  memory.fill(changetype<usize>(build), 0, offsetof<Build>());
  build.vertexCount = vertexCount;
  build.triangleCount = triangleCount;
  build.weld = weld;
  build.isFast = isFast ? 1 : 0;
  build.part = part;
  build.topRanges = ANY_RANGES;
  build.phase = weld > MIN_WELD_DISTANCE ? PHASE_SELECT : PHASE_SCAN;
  clearBounds(spaceOf(build));
  return build;
}

/**
 * Allocates the arrays for the input. This is separate from beginBuild so that running out of memory can be undone.
 * Throws OUT_OF_MEMORY.
 */
export function reserveBuild(build: Build, indexed: bool): void {
  build.positions = allocate(<u64>build.vertexCount * 12 + 16);
  if (indexed) build.indices = allocate(<u64>build.triangleCount * 12);
  build.primitives = allocate(<u64>build.triangleCount * PRIMITIVE_BYTES);
  if (build.phase == PHASE_SCAN) return;
  const welding = reserveWeld(build.vertexCount);
  build.welding = changetype<usize>(welding);
  reserveTables(welding);
}

/** Allocates the further arrays that the caller must fill for a deformable mesh. Throws OUT_OF_MEMORY. */
export function reserveBuildDeform(build: Build, boneCount: u32, targetCount: u32, areRelative: bool): void {
  build.deform = allocate(offsetof<DeformBuild>());
  const deform = changetype<DeformBuild>(build.deform);
  reserveDeform(deform, build.vertexCount, boneCount, targetCount, areRelative);
  deform.positions = build.positions;
}

export function freeBuild(build: Build): void {
  freeDeforming(build);
  release(build.positions);
  release(build.indices);
  freeScratch(build);
  release(build.mesh);
  release(changetype<usize>(build));
}

/**
 * Works until the clock reaches `deadline`, or the first part of the tree is done, so that the second may be joined.
 * Returns the completed fraction, or -1 if the data are invalid.
 */
export function stepBuild(build: Build, deadline: f64): f64 {
  let phase: u32 = 0;
  do {
    phase = build.phase;
    stepPhase(build, deadline);
    if (build.error != 0) return -1;
    // The second part may be joined.
    if ((phase == PHASE_FIT && build.phase == PHASE_SPLIT) || (phase == PHASE_DERIVE && mayJoin(build))) break;
  } while (build.phase != PHASE_DONE && now() < deadline);
  if (build.part == SECOND) return build.phase == PHASE_DONE ? 1 : 0;
  // Work done alone may be discarded when the second part comes.
  build.reportedFraction = max(build.reportedFraction, fraction(build));
  return build.reportedFraction;
}

function stepPhase(build: Build, deadline: f64): void {
  const phase = build.phase;
  if (phase == PHASE_SELECT) selectPoints(build);
  else if (phase == PHASE_WELD) weld(build);
  else if (phase == PHASE_JOIN) join(build);
  else if (phase == PHASE_SCAN) scan(build);
  else if (phase == PHASE_PLACE) mapBoundsToTree(build);
  else if (phase == PHASE_SORT) sortStep(build);
  else if (phase == PHASE_CELLS) gatherStep(build);
  else if (phase == PHASE_SPLIT) splitStep(build);
  else if (phase == PHASE_FIT) fitStep(build);
  else if (phase == PHASE_DEFORM) deformStep(build);
  else if (phase == PHASE_SUM) sumStep(build);
  else if (phase == PHASE_DERIVE) deriveStep(build, deadline);
  else if (phase == PHASE_OPEN) findOpenEdges(build);
}

function fraction(build: Build): f64 {
  const n = <f64>build.triangleCount;
  if (build.phase < <u32>PHASE_SCAN) return 0;
  if (build.phase == PHASE_SCAN) return (0.05 * <f64>build.cursor) / n;
  if (build.phase == PHASE_PLACE) return 0.05 + 0.05 * (1.0 - <f64>build.cursor / <f64>build.keptCount);
  if (build.phase < <u32>PHASE_SPLIT) return 0.1;
  const split = <f64>build.placedCount / <f64>build.keptCount;
  if (build.phase == PHASE_SPLIT) return 0.1 + 0.3 * split + 0.35 * <f64>build.cutPlaced / <f64>build.keptCount;
  if (build.phase == PHASE_FIT) return 0.1 + (0.3 + 0.35 * (1.0 - <f64>build.cursor / <f64>build.nodeCount)) * split;
  if (build.phase == PHASE_DEFORM) return 0.75;
  if (build.phase == PHASE_SUM) return 0.75 + 0.05 * (1.0 - <f64>build.cursor / <f64>build.nodeCount);
  return build.phase == PHASE_DONE ? 1 : 0.8 + 0.19 * build.derivedFraction;
}

function fitStep(build: Build): void {
  const stop = build.cursor > 64 ? build.cursor - 64 : 0;
  setFitting(build.blocks, build.subtrees, build.extremes);
  while (build.cursor > stop) {
    const index = --build.cursor;
    if (!isFittedNow(build, index)) continue;
    const node = changetype<Node>(build.nodes + index * <u32>NODE_BYTES);
    subtreeAt(index).cost = fitNode(node, index, build.extent, !build.isFast);
  }
  if (build.cursor > 0) return;
  if (build.cut == CUT && build.part == FIRST) {
    continueAlone(build);
    return;
  }
  sumCosts(build);
  if (build.part == SECOND) assembleSecond(build);
  else assemble(build);
  if (build.deform == 0) beginSums(build);
  else build.phase = PHASE_DEFORM;
}

function deformStep(build: Build): void {
  const deform = changetype<DeformBuild>(build.deform);
  const isDone = stepDeform(deform, changetype<Mesh>(build.mesh));
  build.error = deform.error;
  build.culprit = deform.culprit;
  if (!isDone) return;
  freeDeforming(build);
  beginSums(build);
}

function beginSums(build: Build): void {
  build.sums = allocate(SURFACE_SUMS_BYTES);
  memory.fill(build.sums, 0, SURFACE_SUMS_BYTES);
  build.phase = PHASE_SUM;
  build.cursor = build.nodeCount;
  if (build.cut != JOINED) return;
  joinSums(build);
  build.cursor = build.cutNodes;
}

/** How many nodes are summed up between two checks of the clock: each takes less than a microsecond. */
const SUM_STEP: u32 = 128;

function sumStep(build: Build): void {
  const mesh = changetype<Mesh>(build.mesh), sums = changetype<SurfaceSums>(build.sums);
  const end = build.part == SECOND ? build.cutNodes : 0;
  const start = build.cursor > end + SUM_STEP ? build.cursor - SUM_STEP : end;
  sumNodes(mesh, sums, start, build.cursor);
  build.cursor = start;
  if (start > end) return;
  if (build.part == SECOND) {
    memory.copy(sumsOf(mesh), build.sums, SURFACE_SUMS_BYTES);
    build.phase = PHASE_DONE;
    return;
  }
  applySums(mesh, sums);
  const d = beginDerivation(mesh);
  d.asksWhetherClosed = 1;
  d.corners = build.corners;
  d.areIndices = build.corners != 0 ? 1 : 0;
  build.corners = 0;
  d.cutBlock = build.cut == JOINED ? build.cutBlocks : 0;
  build.derivation = changetype<usize>(d);
  build.phase = PHASE_DERIVE;
}

/**
 * Computes the rest of the derived data, and packs everything into one piece. Meanwhile, the open edges of the mesh are
 * analysed.
 */
function deriveStep(build: Build, deadline: f64): void {
  const d = changetype<Derivation>(build.derivation);
  d.isAtCut = 0;
  build.derivedFraction = stepDerivation(d, deadline);
  if (d.isWaiting) beginOpen(build, d);
  if (build.derivedFraction < 1) return;
  if (build.part == SECOND) {
    build.mesh = d.result;
    d.result = 0;
    build.phase = PHASE_DONE;
    return;
  }
  build.mesh = appendDerived(d);
  freeScratch(build);
  build.phase = PHASE_DONE;
}

function beginOpen(build: Build, d: Derivation): void {
  d.isWaiting = 0;
  const mesh = changetype<Mesh>(build.mesh);
  // If no triangle lacks an area, the mesh is closed if each edge has another triangle across it.
  mesh.closed = d.openCount == 0 && build.flatCount == 0 ? 1 : 0;
  if (mesh.closed) return;
  build.open = allocate(OPEN_EDGES_BYTES);
  memory.fill(build.open, 0, OPEN_EDGES_BYTES);
  const space = spaceOf(build);
  const extent = max(max(space.maxX - space.minX, space.maxY - space.minY), space.maxZ - space.minZ);
  const open = changetype<OpenEdges>(build.open);
  beginOpenEdges(open, build.positions, build.indices, d, build.flatTriangles, build.flatCount, extent);
  build.phase = PHASE_OPEN;
}

function findOpenEdges(build: Build): void {
  const open = changetype<OpenEdges>(build.open);
  if (!stepOpenEdges(open)) return;
  writeOpenEdges(open, changetype<Mesh>(build.mesh));
  build.phase = PHASE_DERIVE;
}

// The first phases of a build: what welds vertices, which triangles have an area, and what keeps the mesh open.

import { allocate } from '../../memory';
import { hasArea } from '../../math/collinear-triangles';
import { addEdges, isClosed } from '../topology/closed';
import { chooseOffset, exponentFor, include, largestCoordinate, scaleFor } from '../tree/tree-space';
import { OPEN_EDGES_BYTES, OpenEdges, beginOpenEdges, stepOpenEdges } from './open-edges';
import { Weld, beginWeld, clusterOf, isTaken, stepWeld, takePoint } from './weld';
import {
  PHASE_WELD, PHASE_JOIN, PHASE_SCAN, PHASE_OPEN, PHASE_PLACE, BUILD_BAD_INDEX, BUILD_EMPTY, Build, spaceOf, edgesOf,
  freeWelding, corner, vertexAt, coordinate, TRIANGLES_A_STEP,
} from './build-state';

/**
 * Lets the finite vertices of triangles be welded, and no others: nothing is to be joined by way of vertices without a
 * place.
 */
export function take(build: Build): void {
  const welding = changetype<Weld>(build.welding);
  if (build.cursor == 0) beginWeld(welding, build.positions, build.weld, false);
  const end = min<u32>(build.cursor + TRIANGLES_A_STEP, build.triangleCount);
  for (let t = build.cursor; t < end; t++) {
    for (let k: u32 = 0; k < 3; k++) {
      const vertex = corner(build, t, k);
      if (vertex >= build.vertexCount) continue; // which the scan will say
      const sum = coordinate(build, vertex, 0) + coordinate(build, vertex, 1) + coordinate(build, vertex, 2);
      if (sum - sum == 0.0) takePoint(welding, vertex);
    }
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  build.cursor = 0;
  build.phase = PHASE_WELD;
}

export function weld(build: Build): void {
  if (stepWeld(changetype<Weld>(build.welding), TRIANGLES_A_STEP)) build.phase = PHASE_JOIN;
}

/**
 * Gives every corner the first vertex of its cluster, so that all that is made of the mesh sees it welded: the tree,
 * what is closed, connected or inside, and vertices that move later. Hits are off by no more than vertices are moved.
 */
export function join(build: Build): void {
  const welding = changetype<Weld>(build.welding);
  const end = min<u32>(build.cursor + TRIANGLES_A_STEP, build.triangleCount);
  for (let i: usize = <usize>build.cursor * 3; i < <usize>end * 3; i++) {
    const vertex = load<u32>(build.indices + (i << 2));
    if (vertex >= build.vertexCount || !isTaken(welding, vertex)) continue;
    store<u32>(build.indices + (i << 2), clusterOf(welding, vertex));
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  freeWelding(build);
  build.cursor = 0;
  build.phase = PHASE_SCAN;
}

export function findOpenEdges(build: Build): void {
  if (!stepOpenEdges(changetype<OpenEdges>(build.open))) return;
  build.phase = PHASE_PLACE;
  build.cursor = build.kept;
}

/** Begins to look for the edges that keep the mesh open. */
function beginOpen(build: Build): void {
  build.open = allocate(OPEN_EDGES_BYTES);
  memory.fill(build.open, 0, OPEN_EDGES_BYTES);
  const space = spaceOf(build);
  const extent = max(max(space.highX - space.lowX, space.highY - space.lowY), space.highZ - space.lowZ);
  const open = changetype<OpenEdges>(build.open);
  beginOpenEdges(open, build.positions, build.indices, build.vertexCount, build.triangleCount, extent);
  build.phase = PHASE_OPEN;
}

/**
 * Finds the triangles that have an area, and the bounds of those; their indices wait where primitives will be. Whether
 * the mesh is closed, those without an area say as well.
 */
export function scan(build: Build): void {
  const end = min<u32>(build.cursor + TRIANGLES_A_STEP, build.triangleCount);
  for (let t = build.cursor; t < end; t++) {
    const a = corner(build, t, 0), b = corner(build, t, 1), c = corner(build, t, 2);
    if (max(max(a, b), c) >= build.vertexCount) {
      build.error = BUILD_BAD_INDEX;
      build.culprit = t * 3 + (a >= build.vertexCount ? 0 : b >= build.vertexCount ? 1 : 2);
      return;
    }
    const ax = coordinate(build, a, 0), ay = coordinate(build, a, 1), az = coordinate(build, a, 2);
    const bx = coordinate(build, b, 0), by = coordinate(build, b, 1), bz = coordinate(build, b, 2);
    const cx = coordinate(build, c, 0), cy = coordinate(build, c, 1), cz = coordinate(build, c, 2);
    const total = ax + ay + az + bx + by + bz + cx + cy + cz;
    if (total - total != 0.0) continue;
    addEdges(edgesOf(build), vertexAt(build, a), vertexAt(build, b), vertexAt(build, c));
    const isFlat = !hasArea(ax, ay, az, bx, by, bz, cx, cy, cz);
    if (isFlat && build.deform == 0) continue;
    store<u32>(build.primitives + (build.kept++ << 2), t);
    if (isFlat) {
      build.flat++;
      continue;
    }
    include(spaceOf(build), ax, ay, az, bx, by, bz, cx, cy, cz);
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  if (build.kept == build.flat) {
    build.error = BUILD_EMPTY;
    return;
  }
  chooseOffset(spaceOf(build));
  const largest = largestCoordinate(spaceOf(build));
  build.exponent = exponentFor(largest);
  build.extent = <f32>(largest * scaleFor(build.exponent));
  build.phase = PHASE_PLACE;
  build.cursor = build.kept;
  if (!isClosed(edgesOf(build))) beginOpen(build);
}

// The first phases of a build: welding vertices, and finding the triangles that have an area.

import { reserve } from '../../memory';
import { hasArea } from '../../math/collinear-triangles';
import { chooseOffset, exponentFor, includeBox, largestCoordinate, scaleFor } from '../tree/tree-space';
import { emptyMax, emptyMin, primitiveAt, setTag } from './binned-sah';
import { Weld, beginWeld, clusterOf, isAdded, stepWeld, addPoint } from './weld';
import {
  PHASE_WELD, PHASE_JOIN, PHASE_SCAN, PHASE_PLACE, BUILD_BAD_INDEX, BUILD_EMPTY, Build, spaceOf,
  freeWelding, vertexOfCorner, vertexAt, coordinate, TRIANGLES_PER_STEP,
} from './build-state';

/**
 * Selects the finite vertices of triangles for welding, and no others: nothing may be joined through vertices that are
 * not finite.
 */
export function selectPoints(build: Build): void {
  const welding = changetype<Weld>(build.welding);
  if (build.cursor == 0) beginWeld(welding, build.positions, build.weld, false);
  const end = min<u32>(build.cursor + TRIANGLES_PER_STEP, build.triangleCount);
  for (let t = build.cursor; t < end; t++) {
    for (let k: u32 = 0; k < 3; k++) {
      const vertex = vertexOfCorner(build, t, k);
      if (vertex >= build.vertexCount) continue; // the scan will report it
      const sum = coordinate(build, vertex, 0) + coordinate(build, vertex, 1) + coordinate(build, vertex, 2);
      if (sum - sum == 0.0) addPoint(welding, vertex);
    }
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  build.cursor = 0;
  build.phase = PHASE_WELD;
}

export function weld(build: Build): void {
  if (stepWeld(changetype<Weld>(build.welding))) build.phase = PHASE_JOIN;
}

/**
 * Gives every corner the first vertex of its cluster, so that everything derived from the mesh is welded: the tree, what
 * is closed, connected or inside, and vertices that move later. Hits are off by no more than vertices are moved.
 */
export function join(build: Build): void {
  const welding = changetype<Weld>(build.welding);
  const end = min<u32>(build.cursor + TRIANGLES_PER_STEP, build.triangleCount);
  for (let i: usize = <usize>build.cursor * 3; i < <usize>end * 3; i++) {
    const vertex = load<u32>(build.indices + (i << 2));
    if (vertex >= build.vertexCount || !isAdded(welding, vertex)) continue;
    store<u32>(build.indices + (i << 2), clusterOf(welding, vertex));
  }
  build.cursor = end;
  if (end < build.triangleCount) return;
  freeWelding(build);
  build.cursor = 0;
  build.phase = PHASE_SCAN;
}

/**
 * Finds the triangles that have an area, and the bounds of each and of all. Triangles without an area are listed, since
 * they may close the mesh.
 */
export function scan(build: Build): void {
  const end = min<u32>(build.cursor + TRIANGLES_PER_STEP, build.triangleCount);
  let boundsMin = emptyMin(), boundsMax = emptyMax();
  for (let t = build.cursor; t < end; t++) {
    const a = vertexOfCorner(build, t, 0), b = vertexOfCorner(build, t, 1), c = vertexOfCorner(build, t, 2);
    if (max(max(a, b), c) >= build.vertexCount) {
      build.error = BUILD_BAD_INDEX;
      build.culprit = t * 3 + (a >= build.vertexCount ? 0 : b >= build.vertexCount ? 1 : 2);
      return;
    }
    const pa = v128.load(vertexAt(build, a)), pb = v128.load(vertexAt(build, b)), pc = v128.load(vertexAt(build, c));
    if (!areFinite(pa, pb, pc)) continue;
    const isFlat = !hasArea(
      <f64>f32x4.extract_lane(pa, 0), <f64>f32x4.extract_lane(pa, 1), <f64>f32x4.extract_lane(pa, 2),
      <f64>f32x4.extract_lane(pb, 0), <f64>f32x4.extract_lane(pb, 1), <f64>f32x4.extract_lane(pb, 2),
      <f64>f32x4.extract_lane(pc, 0), <f64>f32x4.extract_lane(pc, 1), <f64>f32x4.extract_lane(pc, 2),
    );
    if (isFlat) {
      addFlatTriangle(build, t);
      if (build.deform == 0) continue;
      build.flatKeptCount++; // a pose may give it an area, and finds its bounds from those of the mesh
    }
    // Bounds of the given coordinates: mapped to tree space, they equal the bounds of the mapped corners.
    const p = primitiveAt(build.primitives, build.keptCount++);
    p.min = setTag(f32x4.pmin(f32x4.pmin(pa, pb), pc), t);
    p.max = f32x4.pmax(f32x4.pmax(pa, pb), pc);
    boundsMin = f32x4.min(f32x4.min(f32x4.min(boundsMin, pa), pb), pc);
    boundsMax = f32x4.max(f32x4.max(f32x4.max(boundsMax, pa), pb), pc);
  }
  includeBox(spaceOf(build), boundsMin, boundsMax);
  build.cursor = end;
  if (end < build.triangleCount) return;
  if (build.keptCount == build.flatKeptCount) {
    build.error = BUILD_EMPTY;
    return;
  }
  chooseOffset(spaceOf(build));
  const largest = largestCoordinate(spaceOf(build));
  build.exponent = exponentFor(largest);
  build.extent = <f32>(largest * scaleFor(build.exponent));
  build.phase = PHASE_PLACE;
  build.cursor = build.keptCount;
}

/** Returns whether the first three lanes of each vector are finite. */
// @ts-ignore: decorator
@inline
function areFinite(a: v128, b: v128, c: v128): bool {
  const zero = f32x4.splat(0);
  const sum = f32x4.add(f32x4.add(f32x4.mul(a, zero), f32x4.mul(b, zero)), f32x4.mul(c, zero));
  return (i32x4.bitmask(f32x4.eq(sum, zero)) & 7) == 7;
}

function addFlatTriangle(build: Build, t: u32): void {
  const used = <usize>(build.flatCount++) << 2;
  build.flatTriangles = reserve(build.flatTriangles, used, <u64>used + 4);
  store<u32>(build.flatTriangles + used, t);
}

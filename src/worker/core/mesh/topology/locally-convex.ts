// Certifies that a mesh is convex by its edges alone: a closed surface that has one point behind all of its faces, winds
// around it once and is not concave at any edge bounds a convex solid (Mehlhorn, Näher, Seel, Seidel, Schilz, Schirra
// and Uhrig, "Checking Geometric Programs or Verification of Geometric Structures", 1999). Exact, on the float32
// coordinates of tree space. A mesh that rounding has made concave, however slightly, is not certified; convex.ts
// decides it.

import { orient3d } from '../../math/predicates';
import { windingNumberAt } from '../query/winding-number';
import { dipoleAt } from '../tree/dipoles';
import { blockAt, filledLanes } from '../tree/layout';
import { NO_NEIGHBOUR, matchOf } from './adjacency';
import { Derivation, meshOf, vertexOf } from './derivation-state';

export function beginLocal(d: Derivation): void {
  d.side = 0;
  d.isUncertain = meshOf(d).closed == 0 || d.openCount > 0 ? 1 : 0;
}

/** Sets `isUncertain` depending on the faces and edges of blocks from `start` to `end`. */
export function testEdges(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  for (let index = start; index < end; index++) {
    for (let lanes = filledLanes(blockAt(mesh, index)); lanes != 0; lanes &= lanes - 1) {
      if (d.isUncertain) return;
      if (!testTriangle(d, (index << 2) + <u32>ctz(lanes))) d.isUncertain = 1;
    }
  }
}

// @ts-ignore: decorator
@inline
function positionOf(d: Derivation, vertex: u32): usize {
  return d.vertices + (<usize>vertex << 4);
}

/** Returns on which side of a triangle a point is, like `orient3d`. */
function sideOf(a: usize, b: usize, c: usize, x: f64, y: f64, z: f64): f64 {
  return orient3d(
    <f64>load<f32>(a), <f64>load<f32>(a, 4), <f64>load<f32>(a, 8), <f64>load<f32>(b), <f64>load<f32>(b, 4),
    <f64>load<f32>(b, 8), <f64>load<f32>(c), <f64>load<f32>(c, 4), <f64>load<f32>(c, 8), x, y, z,
  );
}

/** Returns whether the centre is behind a triangle, and all neighbours are behind it or in its plane. */
function testTriangle(d: Derivation, slot: u32): bool {
  const center = dipoleAt(meshOf(d), 0);
  const i = vertexOf(d, slot, 0), j = vertexOf(d, slot, 1), k = vertexOf(d, slot, 2);
  const a = positionOf(d, i), b = positionOf(d, j), c = positionOf(d, k);
  const inside = sideOf(a, b, c, <f64>center.x, <f64>center.y, <f64>center.z);
  const side: i32 = inside > 0 ? 1 : inside < 0 ? -1 : 0;
  if (side == 0 || d.side == -side) return false;
  d.side = side;
  for (let edge: u32 = 0; edge < 3; edge++) {
    const other = matchOf(d, slot, edge);
    if (other == NO_NEIGHBOUR) return false;
    // Each edge once.
    if (other < slot) continue;
    const opposite = oppositeVertex(d, other, i, j, k);
    if (opposite == NO_VERTEX) return false;
    const p = positionOf(d, opposite);
    if (sideOf(a, b, c, <f64>load<f32>(p), <f64>load<f32>(p, 4), <f64>load<f32>(p, 8)) * <f64>side < 0) return false;
  }
  return true;
}

const NO_VERTEX: u32 = 0xffffffff;

/** Returns the vertex of a slot's triangle that is not among three others. */
function oppositeVertex(d: Derivation, slot: u32, i: u32, j: u32, k: u32): u32 {
  for (let corner: u32 = 0; corner < 3; corner++) {
    const vertex = vertexOf(d, slot, corner);
    if (vertex != i && vertex != j && vertex != k) return vertex;
  }
  return NO_VERTEX;
}

/** Below this winding number a surface winds around a point once, with a margin for the sum's error; twice is 2. */
const MAX_SINGLE_WINDING: f64 = 1.5;

/** Returns whether the surface winds around its centre once, given that all faces have the centre behind them. */
export function windsOnce(d: Derivation): bool {
  const center = dipoleAt(meshOf(d), 0);
  return abs(windingNumberAt(meshOf(d), <f64>center.x, <f64>center.y, <f64>center.z)) < MAX_SINGLE_WINDING;
}

// Projects an occluder and draws it (coverage.ts): its triangles that face the eye, or those that face away if these are drawn as
// well. Parts in front of the near plane are clipped; the cut is an outline.
//
// An image is given by functions of a world point: its position and depth on the screen are x, y and z over w, and points with n
// < 0 are not drawn.

import { Affine, determinant } from '../math/affine';
import { Plane, pullBack } from '../math/plane';
import { reserve } from '../memory';
import { coverTriangle, drawOutline, findTiles, firstColumn, firstRow, lastColumn, lastRow } from './coverage';
import { beginCoverage, endCoverage } from './depth-tiles';
import { OccluderShape, VERTEX_BYTES, edgeOf, vertexOf, verticesOf } from './occluder-shape';

export const screenX = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const screenY = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const screenZ = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const screenW = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
export const screenNear = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

const localX = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const localY = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const localZ = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const localW = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const localNear = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

/** A vertex: x, y, z and w as the functions give them, n, and its position on the screen if n is not negative. */
@unmanaged
class ProjectedVertex {
  x: f64; y: f64; z: f64; w: f64;
  near: f64;
  pixelX: f64; pixelY: f64; depth: f64;
}

/** An object that extends farther on the screen cannot be drawn to pixel precision, and is not used as an occluder. */
const MAX_COORDINATE: f64 = 1e7;
/** A determinant smaller than this, relative to its terms, may be rounding: the triangle's orientation is unknown. */
const FLAT: f64 = 1e-11;
/** How much depths are lowered, relative to their size, for the rounding of float32 here and on the graphics card. */
export const DEPTH_SLACK: f64 = 4e-6;

let vertices: usize = 0; // a ProjectedVertex each
let drawnTriangles: usize = 0; // u16 each: the triangles with the requested orientation
let edgeSides: usize = 0; // u8 per edge: which of its sides have a triangle

// @ts-ignore: decorator
@inline
function vertexAt(i: u32): ProjectedVertex {
  return changetype<ProjectedVertex>(vertices + i * <u32>offsetof<ProjectedVertex>());
}

/** Bounds of positions on the screen. */
let minX: f64 = 0, minY: f64 = 0, maxX: f64 = 0, maxY: f64 = 0;

/**
 * Draws a shape that `map` places in the world: faces turned to the eye, or away if `isBack`. Outlines are drawn with a thickness
 * of `outlineRadius` to either side, in pixels. Throws OUT_OF_MEMORY.
 */
export function drawOccluder(shape: OccluderShape, map: Affine, isBack: bool, outlineRadius: f64): void {
  const count = shape.vertexCount, triangles = shape.triangleCount;
  vertices = reserve(vertices, 0, <u64>count * offsetof<ProjectedVertex>());
  drawnTriangles = reserve(drawnTriangles, 0, <u64>triangles << 1);
  edgeSides = reserve(edgeSides, 0, <u64>shape.edgeCount);
  memory.fill(edgeSides, 0, shape.edgeCount);
  const isCut = project(shape, map);
  // Seen from outside, triangles are counterclockwise, unless the map mirrors them.
  const winding: f64 = (determinant(map) < 0) == isBack ? 1 : -1;
  let drawnCount: u32 = 0;
  minX = minY = Infinity;
  maxX = maxY = -Infinity;
  for (let t: u32 = 0; t < triangles; t++) {
    const a = vertexAt(vertexOf(shape, t, 0)), b = vertexAt(vertexOf(shape, t, 1)), c = vertexAt(vertexOf(shape, t, 2));
    if (!hasWinding(a, b, c, winding)) continue;
    store<u16>(drawnTriangles + (<usize>drawnCount << 1), <u16>t);
    drawnCount++;
    for (let k: usize = 0; k < 3; k++) {
      const edge = edgeOf(shape, t, k), at = edgeSides + (edge >> 1);
      store<u8>(at, <u8>(<u32>load<u8>(at) | ((<u32>1) << (edge & 1))));
    }
    includeEdge(a, b);
    includeEdge(b, c);
    includeEdge(c, a);
  }
  if (!(minX > -MAX_COORDINATE && minY > -MAX_COORDINATE && maxX < MAX_COORDINATE && maxY < MAX_COORDINATE)) return;
  if (!findTiles(minX - 1, minY - 1, maxX + 1, maxY + 1)) return;
  const c0 = firstColumn, c1 = lastColumn, r0 = firstRow, r1 = lastRow;
  beginCoverage(c0, c1, r0, r1);
  for (let i: u32 = 0; i < drawnCount; i++) {
    const t = load<u16>(drawnTriangles + (<usize>i << 1));
    const a = vertexAt(vertexOf(shape, t, 0)), b = vertexAt(vertexOf(shape, t, 1)), c = vertexAt(vertexOf(shape, t, 2));
    if (isCut) coverCut(a, b, c, outlineRadius);
    else cover(a, b, c);
    for (let k: usize = 0; k < 3; k++) {
      const sideBits = load<u8>(edgeSides + (edgeOf(shape, t, k) >> 1));
      if (sideBits == 3) continue;
      outline(k == 0 ? a : k == 1 ? b : c, k == 0 ? b : k == 1 ? c : a, outlineRadius);
    }
  }
  endCoverage(c0, c1, r0, r1);
}

/** Projects all vertices. Returns whether one is in front of the near plane. */
function project(shape: OccluderShape, map: Affine): bool {
  pullBack(localX, screenX, map);
  pullBack(localY, screenY, map);
  pullBack(localZ, screenZ, map);
  pullBack(localW, screenW, map);
  pullBack(localNear, screenNear, map);
  let isCut = false;
  const from = verticesOf(shape);
  for (let i: u32 = 0; i < shape.vertexCount; i++) {
    const at = from + i * <u32>VERTEX_BYTES;
    const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
    const v = vertexAt(i);
    v.x = localX.x * x + localX.y * y + localX.z * z + localX.w;
    v.y = localY.x * x + localY.y * y + localY.z * z + localY.w;
    v.z = localZ.x * x + localZ.y * y + localZ.z * z + localZ.w;
    v.w = localW.x * x + localW.y * y + localW.z * z + localW.w;
    v.near = localNear.x * x + localNear.y * y + localNear.z * z + localNear.w;
    if (v.near < 0) isCut = true;
    else perspectiveDivide(v);
  }
  return isCut;
}

// @ts-ignore: decorator
@inline
function perspectiveDivide(v: ProjectedVertex): void {
  const scale = 1.0 / v.w;
  v.pixelX = v.x * scale;
  v.pixelY = v.y * scale;
  v.depth = v.z * scale;
}

/**
 * Returns whether a triangle has a given winding on the screen (Olano and Greer, "Triangle Scan Conversion using 2D Homogeneous
 * Coordinates", 1997).
 */
function hasWinding(a: ProjectedVertex, b: ProjectedVertex, c: ProjectedVertex, winding: f64): bool {
  const x = b.y * c.w - c.y * b.w, y = b.x * c.w - c.x * b.w, w = b.x * c.y - c.x * b.y;
  const value = a.x * x - a.y * y + a.w * w;
  const terms =
    abs(a.x) * (abs(b.y * c.w) + abs(c.y * b.w)) + abs(a.y) * (abs(b.x * c.w) + abs(c.x * b.w)) +
    abs(a.w) * (abs(b.x * c.y) + abs(c.x * b.y));
  return value * winding > terms * FLAT;
}

const cutA = changetype<ProjectedVertex>(memory.data(<i32>offsetof<ProjectedVertex>(), 16));
const cutB = changetype<ProjectedVertex>(memory.data(<i32>offsetof<ProjectedVertex>(), 16));

/** Sets `out` to where the edge intersects the near plane. The same ends in either order give the same point. */
function cut(out: ProjectedVertex, inside: ProjectedVertex, outside: ProjectedVertex): void {
  const t = inside.near / (inside.near - outside.near);
  out.x = inside.x + (outside.x - inside.x) * t;
  out.y = inside.y + (outside.y - inside.y) * t;
  out.z = inside.z + (outside.z - inside.z) * t;
  out.w = inside.w + (outside.w - inside.w) * t;
  perspectiveDivide(out);
}

function includeEdge(a: ProjectedVertex, b: ProjectedVertex): void {
  if (a.near >= 0) include(a);
  if ((a.near >= 0) == (b.near >= 0)) return;
  if (a.near >= 0) cut(cutA, a, b);
  else cut(cutA, b, a);
  include(cutA);
}

function include(v: ProjectedVertex): void {
  minX = min(minX, v.pixelX);
  maxX = max(maxX, v.pixelX);
  minY = min(minY, v.pixelY);
  maxY = max(maxY, v.pixelY);
}

// @ts-ignore: decorator
@inline
function cover(a: ProjectedVertex, b: ProjectedVertex, c: ProjectedVertex): void {
  coverTriangle(
    a.pixelX, a.pixelY, a.depth, b.pixelX, b.pixelY, b.depth, c.pixelX, c.pixelY, c.depth, DEPTH_SLACK,
  );
}

/** Draws the part of a triangle that is behind the near plane, and the cut's outline. */
function coverCut(a: ProjectedVertex, b: ProjectedVertex, c: ProjectedVertex, outlineRadius: f64): void {
  const count = i32(a.near >= 0) + i32(b.near >= 0) + i32(c.near >= 0);
  if (count == 0) return;
  if (count == 3) {
    cover(a, b, c);
    return;
  }
  // The corner that is alone on its side, and the two others.
  const isAlone = count == 1;
  const lone = (a.near >= 0) == isAlone ? a : (b.near >= 0) == isAlone ? b : c;
  const second = lone == a ? b : lone == b ? c : a, third = lone == a ? c : lone == b ? a : b;
  if (isAlone) {
    cut(cutA, lone, second);
    cut(cutB, lone, third);
    cover(lone, cutA, cutB);
  } else {
    cut(cutA, second, lone);
    cut(cutB, third, lone);
    cover(cutA, second, third);
    cover(cutA, third, cutB);
  }
  drawOutline(cutA.pixelX, cutA.pixelY, cutB.pixelX, cutB.pixelY, outlineRadius);
}

function outline(a: ProjectedVertex, b: ProjectedVertex, outlineRadius: f64): void {
  if (a.near >= 0 && b.near >= 0) {
    drawOutline(a.pixelX, a.pixelY, b.pixelX, b.pixelY, outlineRadius);
    return;
  }
  if (a.near < 0 && b.near < 0) return;
  const inside = a.near >= 0 ? a : b;
  cut(cutA, inside, inside == a ? b : a);
  drawOutline(inside.pixelX, inside.pixelY, cutA.pixelX, cutA.pixelY, outlineRadius);
}

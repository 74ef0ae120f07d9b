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
class Projected {
  x: f64; y: f64; z: f64; w: f64;
  near: f64;
  placeX: f64; placeY: f64; depth: f64;
}

/** An object that extends farther on the screen cannot be drawn to pixel precision, and is not used as an occluder. */
const FARTHEST: f64 = 1e7;
/** A determinant smaller than this, relative to its terms, may be rounding: the triangle's orientation is unknown. */
const FLAT: f64 = 1e-11;
/** How much depths are lowered, relative to their size, for the rounding of float32 here and on the graphics card. */
export const DEPTH_SLACK: f64 = 4e-6;

let vertices: usize = 0; // Projected each
let drawn: usize = 0; // u16 each: the triangles with the requested orientation
let sides: usize = 0; // u8 per edge: which of its sides have a triangle

// @ts-ignore: decorator
@inline
function vertexAt(i: u32): Projected {
  return changetype<Projected>(vertices + i * <u32>offsetof<Projected>());
}

/** Bounds of positions on the screen. */
let lowX: f64 = 0, lowY: f64 = 0, highX: f64 = 0, highY: f64 = 0;

/**
 * Draws a shape that `map` places in the world: faces turned to the eye, or away if `isBack`. Outlines are drawn with a thickness
 * of `reach` to either side, in pixels. Throws OUT_OF_MEMORY.
 */
export function drawOccluder(shape: OccluderShape, map: Affine, isBack: bool, reach: f64): void {
  const count = shape.vertexCount, triangles = shape.triangleCount;
  vertices = reserve(vertices, 0, <u64>count * offsetof<Projected>());
  drawn = reserve(drawn, 0, <u64>triangles << 1);
  sides = reserve(sides, 0, <u64>shape.edgeCount);
  memory.fill(sides, 0, shape.edgeCount);
  const isCut = project(shape, map);
  // Seen from outside, triangles are counterclockwise, unless the map mirrors them.
  const turn: f64 = (determinant(map) < 0) == isBack ? 1 : -1;
  let drawnCount: u32 = 0;
  lowX = lowY = Infinity;
  highX = highY = -Infinity;
  for (let t: u32 = 0; t < triangles; t++) {
    const a = vertexAt(vertexOf(shape, t, 0)), b = vertexAt(vertexOf(shape, t, 1)), c = vertexAt(vertexOf(shape, t, 2));
    if (!isTurned(a, b, c, turn)) continue;
    store<u16>(drawn + (<usize>drawnCount << 1), <u16>t);
    drawnCount++;
    for (let k: usize = 0; k < 3; k++) {
      const edge = edgeOf(shape, t, k), at = sides + (edge >> 1);
      store<u8>(at, <u8>(<u32>load<u8>(at) | ((<u32>1) << (edge & 1))));
    }
    includePlaces(a, b);
    includePlaces(b, c);
    includePlaces(c, a);
  }
  if (!(lowX > -FARTHEST && lowY > -FARTHEST && highX < FARTHEST && highY < FARTHEST)) return;
  if (!findTiles(lowX - 1, lowY - 1, highX + 1, highY + 1)) return;
  const c0 = firstColumn, c1 = lastColumn, r0 = firstRow, r1 = lastRow;
  beginCoverage(c0, c1, r0, r1);
  for (let i: u32 = 0; i < drawnCount; i++) {
    const t = load<u16>(drawn + (<usize>i << 1));
    const a = vertexAt(vertexOf(shape, t, 0)), b = vertexAt(vertexOf(shape, t, 1)), c = vertexAt(vertexOf(shape, t, 2));
    if (isCut) coverCut(a, b, c, reach);
    else cover(a, b, c);
    for (let k: usize = 0; k < 3; k++) {
      const both = load<u8>(sides + (edgeOf(shape, t, k) >> 1));
      if (both == 3) continue;
      outline(k == 0 ? a : k == 1 ? b : c, k == 0 ? b : k == 1 ? c : a, reach);
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
    else place(v);
  }
  return isCut;
}

// @ts-ignore: decorator
@inline
function place(v: Projected): void {
  const scale = 1.0 / v.w;
  v.placeX = v.x * scale;
  v.placeY = v.y * scale;
  v.depth = v.z * scale;
}

/**
 * Returns whether a triangle has a given winding on the screen (Olano and Greer, "Triangle Scan Conversion using 2D Homogeneous
 * Coordinates", 1997).
 */
function isTurned(a: Projected, b: Projected, c: Projected, turn: f64): bool {
  const x = b.y * c.w - c.y * b.w, y = b.x * c.w - c.x * b.w, w = b.x * c.y - c.x * b.y;
  const value = a.x * x - a.y * y + a.w * w;
  const terms =
    abs(a.x) * (abs(b.y * c.w) + abs(c.y * b.w)) + abs(a.y) * (abs(b.x * c.w) + abs(c.x * b.w)) +
    abs(a.w) * (abs(b.x * c.y) + abs(c.x * b.y));
  return value * turn > terms * FLAT;
}

const cutA = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));
const cutB = changetype<Projected>(memory.data(<i32>offsetof<Projected>(), 16));

/** Sets `out` to where the edge intersects the near plane. The same ends in either order give the same point. */
function cut(out: Projected, inside: Projected, outside: Projected): void {
  const t = inside.near / (inside.near - outside.near);
  out.x = inside.x + (outside.x - inside.x) * t;
  out.y = inside.y + (outside.y - inside.y) * t;
  out.z = inside.z + (outside.z - inside.z) * t;
  out.w = inside.w + (outside.w - inside.w) * t;
  place(out);
}

function includePlaces(a: Projected, b: Projected): void {
  if (a.near >= 0) include(a);
  if ((a.near >= 0) == (b.near >= 0)) return;
  if (a.near >= 0) cut(cutA, a, b);
  else cut(cutA, b, a);
  include(cutA);
}

function include(v: Projected): void {
  lowX = min(lowX, v.placeX);
  highX = max(highX, v.placeX);
  lowY = min(lowY, v.placeY);
  highY = max(highY, v.placeY);
}

// @ts-ignore: decorator
@inline
function cover(a: Projected, b: Projected, c: Projected): void {
  coverTriangle(
    a.placeX, a.placeY, a.depth, b.placeX, b.placeY, b.depth, c.placeX, c.placeY, c.depth, DEPTH_SLACK,
  );
}

/** Draws the part of a triangle that is behind the near plane, and the cut's outline. */
function coverCut(a: Projected, b: Projected, c: Projected, reach: f64): void {
  const count = i32(a.near >= 0) + i32(b.near >= 0) + i32(c.near >= 0);
  if (count == 0) return;
  if (count == 3) {
    cover(a, b, c);
    return;
  }
  // The corner that is alone on its side, and the two others.
  const isAlone = count == 1;
  const one = (a.near >= 0) == isAlone ? a : (b.near >= 0) == isAlone ? b : c;
  const two = one == a ? b : one == b ? c : a, three = one == a ? c : one == b ? a : b;
  if (isAlone) {
    cut(cutA, one, two);
    cut(cutB, one, three);
    cover(one, cutA, cutB);
  } else {
    cut(cutA, two, one);
    cut(cutB, three, one);
    cover(cutA, two, three);
    cover(cutA, three, cutB);
  }
  drawOutline(cutA.placeX, cutA.placeY, cutB.placeX, cutB.placeY, reach);
}

function outline(a: Projected, b: Projected, reach: f64): void {
  if (a.near >= 0 && b.near >= 0) {
    drawOutline(a.placeX, a.placeY, b.placeX, b.placeY, reach);
    return;
  }
  if (a.near < 0 && b.near < 0) return;
  const inside = a.near >= 0 ? a : b;
  cut(cutA, inside, inside == a ? b : a);
  drawOutline(inside.placeX, inside.placeY, cutA.placeX, cutA.placeY, reach);
}

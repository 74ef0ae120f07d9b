// Draws what an open mesh hides by its relief (relief.ts), for an eye and for objects that move within a margin.
//
// Heights are lowered, and taken of so many cells around, that whatever is within the margin of what is drawn is below the
// mesh as well. It hides what is behind it from an eye that comes into the prism above the mesh: one that is in it, with nothing
// of the mesh about it or above it; or one outside, of which the lines of sight go over the heights at the border. For those a
// corner of what is drawn must be beyond a plane through the eye and that border, for each side of the rectangle that the
// eye is beyond. Triangles with another corner are not drawn.

import { Affine, invert, multiply, setIdentity } from '../math/affine';
import { reserve } from '../memory';
import { meshMeetsCube } from '../mesh/query/mesh-pair';
import { Mesh, placeTree } from '../mesh/tree/layout';
import { drawOccluder } from './draw-occluder';
import { CORNER_BYTES, OccluderShape, VERTEX_BYTES, cornersOf, verticesOf } from './occluder-shape';
import { Relief, highBound, highsOf, lowBound, lowsOf } from './relief';

/** What an eye and a near plane have to do with it. */
@unmanaged
export class ReliefEye {
  x: f64; y: f64; z: f64;
  /** The eye, and what hides others or is hidden, move by no more than this. */
  margin: f64;
  /** What is nearer than this may be before the near plane. */
  nearest: f64;
  /** How many pixels of the depth buffer the whole mesh is across; Infinity where the eye is at it. */
  pixels: f64;
  /** How thick outlines are to either side, in pixels. */
  reach: f64;
}

/** Cells smaller than this are taken together, in pixels. */
const SMALLEST_CELL: f64 = 4;
/** The greatest step of cells that are taken together. */
const MOST_TOGETHER: u32 = 32;
/** Of a flat mesh it takes no more than so many steps along a side. */
const FLAT_STEPS: u32 = 4;
/** Less than this, in tree space, is rounding of heights. */
const HEIGHT_SLACK: f64 = 1e-6;
/** Part of a place's terms that is rounding. */
const ROUNDING: f64 = 1e-9;

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const box = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const placed = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toMesh = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// The eye in tree space, by columns, rows and heights; and how far a unit of the world reaches along each.
let eyeA: f64 = 0, eyeB: f64 = 0, eyeH: f64 = 0;
let unitA: f64 = 0, unitB: f64 = 0, unitH: f64 = 0;
/** 1, or -1 where it is seen from lesser heights: all heights are times this. */
let sign: f64 = 1;
let margin: f64 = 0;
let columns: u32 = 0;
let lows: usize = 0;

/** Places along columns, and along rows: u32 cells. Vertices are where they meet. */
let alongA: usize = 0, alongB: usize = 0;
let least: usize = 0; // f64 by place along columns, and by row of cells
let shapeAddress: usize = 0;
let isUsed: usize = 0; // u8 for each vertex

/**
 * Draws the relief of a mesh that `world` places, as it is seen from the side that its fronts are turned to (`isFront`), or from
 * the other one. Answers how many triangles were looked at, 0 where nothing is hidden for sure. Throws OUT_OF_MEMORY.
 */
export function drawRelief(relief: Relief, mesh: Mesh, world: Affine, isFront: bool, eye: ReliefEye): u32 {
  placeTree(map, mesh, world);
  invert(inverse, map);
  const axis = relief.axis, across = (axis + 1) % 3, along = (axis + 2) % 3;
  sign = (relief.winding > 0) == isFront ? 1 : -1;
  margin = eye.margin;
  unitA = unitOf(across);
  unitB = unitOf(along);
  unitH = unitOf(axis);
  eyeA = placeOf(across, eye);
  eyeB = placeOf(along, eye);
  eyeH = sign * placeOf(axis, eye);
  columns = relief.columns;
  lows = sign > 0 ? lowsOf(relief) : highsOf(relief);
  const sizeA = (highBound(relief, across) - lowBound(relief, across)) / <f64>columns;
  const sizeB = (highBound(relief, along) - lowBound(relief, along)) / <f64>relief.rows;
  const top = sign > 0 ? highBound(relief, axis) : -lowBound(relief, axis);
  // What is drawn is that far within the rectangle.
  const aroundA = cellsIn(margin * unitA / sizeA), aroundB = cellsIn(margin * unitB / sizeB);
  if ((aroundA << 1) >= relief.endColumn - relief.firstColumn || (aroundB << 1) >= relief.endRow - relief.firstRow) return 0;
  const isBeyond = beginSides(relief, sizeA, sizeB);
  if (isBeyond == AT_SIDE || meetsEye(relief, mesh, eye, isBeyond == INSIDE ? top : -Infinity)) return 0;
  let together: u32 = 1;
  const most = max(relief.columns, relief.rows);
  while (together < MOST_TOGETHER && eye.pixels * <f64>together < SMALLEST_CELL * <f64>most) together <<= 1;
  if (highBound(relief, axis) - lowBound(relief, axis) <= HEIGHT_SLACK) together = max(together, most / FLAT_STEPS);
  const countA = places(true, relief.firstColumn + aroundA, relief.endColumn - aroundA, together);
  const countB = places(false, relief.firstRow + aroundB, relief.endRow - aroundB, together);
  setShape(relief, countA, countB, aroundA, aroundB, sizeA, sizeB);
  const shape = changetype<OccluderShape>(shapeAddress);
  if (shape.triangleCount == 0) return 0;
  drawOccluder(shape, map, false, eye.reach);
  return shape.triangleCount;
}

// @ts-ignore: decorator
@inline
function cellsIn(part: f64): u32 {
  return part > ROUNDING ? <u32>ceil(min(part, 65536.0)) : 0;
}

/** Answers how far a unit of the world reaches along an axis of tree space. */
function unitOf(axis: u32): f64 {
  const at = changetype<usize>(inverse) + (<usize>axis << 3);
  const x = load<f64>(at), y = load<f64>(at, offsetof<Affine>('yx')), z = load<f64>(at, offsetof<Affine>('zx'));
  return sqrt(x * x + y * y + z * z);
}

function placeOf(axis: u32, eye: ReliefEye): f64 {
  const at = changetype<usize>(inverse) + (<usize>axis << 3);
  return load<f64>(at) * eye.x + load<f64>(at, offsetof<Affine>('yx')) * eye.y + load<f64>(at, offsetof<Affine>('zx')) * eye.z +
    load<f64>(at, offsetof<Affine>('tx'));
}

/** Tells whether the mesh is within the nearest distance of the eye, or above it up to `top`. */
function meetsEye(relief: Relief, mesh: Mesh, eye: ReliefEye, top: f64): bool {
  const radius = eye.nearest + margin;
  const a = radius * unitA + abs(eyeA) * ROUNDING, b = radius * unitB + abs(eyeB) * ROUNDING;
  const h = radius * unitH + abs(eyeH) * ROUNDING;
  const low = eyeH - h, high = max(eyeH + h, top + HEIGHT_SLACK);
  setIdentity(box);
  placeTree(toMesh, mesh, box);
  setBoxAxis((relief.axis + 1) % 3, a, eyeA);
  setBoxAxis((relief.axis + 2) % 3, b, eyeB);
  setBoxAxis(relief.axis, 0.5 * (high - low), sign * 0.5 * (high + low));
  multiply(placed, toMesh, box);
  invert(placed, placed);
  return meshMeetsCube(mesh, placed);
}

function setBoxAxis(axis: u32, half: f64, middle: f64): void {
  const at = changetype<usize>(box) + (<usize>axis << 3);
  store<f64>(at + axis * offsetof<Affine>('yx'), half);
  store<f64>(at, middle, offsetof<Affine>('tx'));
}

// --- the sides of the rectangle ---

const INSIDE: u32 = 0;
const OUTSIDE: u32 = 1;
/** The eye may be on either side of one, and not above what is there. */
const AT_SIDE: u32 = 2;

/** Of each side that the eye may be beyond: which of the four it is, where it is, and the greatest height there. */
let sideCount: u32 = 0;
const sides: usize = memory.data(4 * 4, 16);
const sidePlaces: usize = memory.data(4 * 8, 16);
const sideHeights: usize = memory.data(4 * 8, 16);

/** Finds the sides that the eye may be beyond: the first and the last column, the first and the last row. */
function beginSides(relief: Relief, sizeA: f64, sizeB: f64): u32 {
  const across = (relief.axis + 1) % 3, along = (relief.axis + 2) % 3;
  const lowA = lowBound(relief, across), lowB = lowBound(relief, along);
  sideCount = 0;
  let found = INSIDE;
  for (let side: u32 = 0; side < 4; side++) {
    const isA = side < 2, isEnd = (side & 1) == 1;
    const cell = isA ? (isEnd ? relief.endColumn : relief.firstColumn) : isEnd ? relief.endRow : relief.firstRow;
    const place = isA ? lowA + <f64>cell * sizeA : lowB + <f64>cell * sizeB;
    const eye = isA ? eyeA : eyeB;
    const reach = margin * (isA ? unitA : unitB) + abs(eye) * ROUNDING;
    const inwards = isEnd ? place - eye : eye - place;
    if (inwards > reach) continue;
    const height = greatestAt(relief, isA, isEnd ? cell - 1 : cell) + HEIGHT_SLACK;
    found = max(found, OUTSIDE);
    if (inwards > -reach && eyeH - margin * unitH < height) return AT_SIDE;
    store<u32>(sides + (<usize>sideCount << 2), side);
    store<f64>(sidePlaces + (<usize>sideCount << 3), place);
    store<f64>(sideHeights + (<usize>sideCount << 3), height);
    sideCount++;
  }
  return found;
}

/** Answers the greatest height of the rectangle's cells in a column, or in a row. */
function greatestAt(relief: Relief, isColumn: bool, cell: u32): f64 {
  const heights = sign > 0 ? highsOf(relief) : lowsOf(relief);
  let most = -Infinity;
  const from = isColumn ? relief.firstRow : relief.firstColumn, to = isColumn ? relief.endRow : relief.endColumn;
  for (let i = from; i < to; i++) {
    const at = isColumn ? i * columns + cell : cell * columns + i;
    most = max(most, sign * <f64>load<f32>(heights + (<usize>at << 2)));
  }
  return most;
}

/**
 * Tells whether lines of sight to a point go over the heights of all sides that the eye is beyond, wherever the two are within
 * the margin: where the line meets the side it is at eyeH + (h - eyeH) (place - eye) / (p - eye).
 */
function comesFromAbove(a: f64, b: f64, h: f64): bool {
  const marginH = margin * unitH;
  for (let i: u32 = 0; i < sideCount; i++) {
    const side = load<u32>(sides + (<usize>i << 2)), isA = side < 2, isEnd = (side & 1) == 1;
    const place = load<f64>(sidePlaces + (<usize>i << 3)), height = load<f64>(sideHeights + (<usize>i << 3));
    const marginP = margin * (isA ? unitA : unitB);
    // From the side inwards.
    const p = isEnd ? place - (isA ? a : b) : (isA ? a : b) - place;
    const eye = isEnd ? place - (isA ? eyeA : eyeB) : (isA ? eyeA : eyeB) - place;
    // Affine in the eye, and in the point: (h - eyeH) (-eye) + (eyeH - height) (p - eye).
    const value = (height - h) * eye + (eyeH - height) * p;
    const terms = (abs(height) + abs(h)) * abs(eye) + (abs(eyeH) + abs(height)) * abs(p);
    const least = marginH * (abs(eye) + abs(p) + 2 * marginP) + marginP * (abs(height - h) + abs(eyeH - height) + 2 * marginH);
    if (!(value > least + terms * ROUNDING)) return false;
  }
  return true;
}

// --- what is drawn ---

/** Lists places from one cell's beginning to another's, some together. Answers how many. */
function places(isA: bool, from: u32, to: u32, together: u32): u32 {
  const list = reserve(isA ? alongA : alongB, 0, <u64>(to - from + 2) << 2);
  if (isA) alongA = list;
  else alongB = list;
  let count: usize = 0;
  for (let at = from; at < to; at += together) {
    store<u32>(list + (count << 2), at);
    count++;
  }
  store<u32>(list + (count << 2), to);
  return <u32>count + 1;
}

// @ts-ignore: decorator
@inline
function placeAlong(list: usize, i: u32): u32 {
  return load<u32>(list + (<usize>i << 2));
}

function setShape(relief: Relief, countA: u32, countB: u32, aroundA: u32, aroundB: u32, sizeA: f64, sizeB: f64): void {
  const vertexCount = countA * countB, most = 2 * (countA - 1) * (countB - 1);
  shapeAddress = reserve(shapeAddress, 0, 16 + <u64>vertexCount * VERTEX_BYTES + <u64>most * CORNER_BYTES);
  isUsed = reserve(isUsed, 0, vertexCount);
  const shape = changetype<OccluderShape>(shapeAddress);
  shape.vertexCount = vertexCount;
  const across = countA * countB, along = 2 * across;
  shape.edgeCount = 3 * vertexCount;
  findLeast(relief, countA, countB, aroundA, aroundB);
  const lowA = lowBound(relief, (relief.axis + 1) % 3), lowB = lowBound(relief, (relief.axis + 2) % 3);
  const axisA = <usize>((relief.axis + 1) % 3) << 3, axisB = <usize>((relief.axis + 2) % 3) << 3, axisH = <usize>relief.axis << 3;
  const lowered = margin * unitH + HEIGHT_SLACK;
  for (let l: u32 = 0; l < countB; l++) {
    const b = lowB + <f64>placeAlong(alongB, l) * sizeB;
    for (let k: u32 = 0; k < countA; k++) {
      const i = l * countA + k;
      const a = lowA + <f64>placeAlong(alongA, k) * sizeA;
      const h = load<f64>(least + (<usize>i << 3)) - lowered;
      const at = verticesOf(shape) + i * <u32>VERTEX_BYTES;
      store<f64>(at + axisA, a);
      store<f64>(at + axisB, b);
      store<f64>(at + axisH, sign * h);
      store<u8>(isUsed + i, u8(comesFromAbove(a, b, h)));
    }
  }
  let count: u32 = 0;
  for (let l: u32 = 0; l + 1 < countB; l++) {
    for (let k: u32 = 0; k + 1 < countA; k++) {
      const i = l * countA + k, j = i + countA;
      if (!load<u8>(isUsed + i) || !load<u8>(isUsed + j + 1)) continue;
      // Each vertex has the edges to the next along columns, to the next along rows, and to the one after both.
      if (load<u8>(isUsed + i + 1)) setTriangle(shape, count++, i, i + 1, j + 1, i, along + i + 1, across + i);
      if (load<u8>(isUsed + j)) setTriangle(shape, count++, i, j + 1, j, across + i, j, along + i);
    }
  }
  shape.triangleCount = count;
}

/** Sets a triangle with vertices a, b and c and its edges from each to the next; turned where it is seen from lesser heights. */
function setTriangle(shape: OccluderShape, triangle: u32, a: u32, b: u32, c: u32, ab: u32, bc: u32, ca: u32): void {
  const to = cornersOf(shape) + triangle * <u32>CORNER_BYTES;
  const isTurned = sign < 0;
  const second = isTurned ? c : b, third = isTurned ? b : c;
  const first = isTurned ? ca : ab, last = isTurned ? ab : ca;
  store<u16>(to, <u16>a);
  store<u16>(to, <u16>second, 2);
  store<u16>(to, <u16>third, 4);
  store<u16>(to, <u16>((first << 1) | u32(a > second)), 6);
  store<u16>(to, <u16>((bc << 1) | u32(second > third)), 8);
  store<u16>(to, <u16>((last << 1) | u32(third > a)), 10);
}

/** Finds the least height about each vertex: of the cells at it, up to the next vertices, and so many around. */
function findLeast(relief: Relief, countA: u32, countB: u32, aroundA: u32, aroundB: u32): void {
  const firstRow = relief.firstRow, rows = relief.endRow - firstRow;
  least = reserve(least, 0, <u64>(countA * (countB + rows)) << 3);
  const byRow = least + (<usize>(countA * countB) << 3);
  for (let row: u32 = 0; row < rows; row++) {
    const cells = lows + (<usize>((firstRow + row) * columns) << 2);
    for (let k: u32 = 0; k < countA; k++) {
      const from = max(<i32>placeAlong(alongA, k == 0 ? 0 : k - 1) - <i32>aroundA, <i32>relief.firstColumn);
      const to = min(placeAlong(alongA, min(k + 1, countA - 1)) + aroundA, relief.endColumn);
      let low = Infinity;
      for (let cell = <u32>from; cell < to; cell++) low = min(low, sign * <f64>load<f32>(cells + (<usize>cell << 2)));
      store<f64>(byRow + (<usize>(row * countA + k) << 3), low);
    }
  }
  for (let l: u32 = 0; l < countB; l++) {
    const from = max(<i32>placeAlong(alongB, l == 0 ? 0 : l - 1) - <i32>aroundB, <i32>firstRow) - <i32>firstRow;
    const to = min(placeAlong(alongB, min(l + 1, countB - 1)) + aroundB, relief.endRow) - firstRow;
    for (let k: u32 = 0; k < countA; k++) {
      let low = Infinity;
      for (let row = <u32>from; row < to; row++) low = min(low, load<f64>(byRow + (<usize>(row * countA + k) << 3)));
      store<f64>(least + (<usize>(l * countA + k) << 3), low);
    }
  }
}

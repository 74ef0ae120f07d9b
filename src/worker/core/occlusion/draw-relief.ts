// Draws what an open mesh occludes by its relief (relief.ts), for an eye and objects that move within a margin.
//
// Heights are lowered, and taken as minima over so many cells around, that everything within the margin of the drawn surface is
// below the mesh as well. The mesh occludes what is behind the surface from an eye in the prism above the mesh: either the eye
// is in it, with no part of the mesh around or above it; or the eye is outside, and its lines of sight pass over the heights at
// the border. For the latter, each drawn corner must be beyond a plane through the eye and that border, for each side of the
// rectangle that the eye is beyond. Triangles with any other corner are not drawn.
//
// The surface is drawn in square patches, each as a separate object: if a hill stood in front of another one in the same object,
// their outlines and depths would be mixed up. Patches are the leaves of a quadtree, with as many cells each: the farther they
// are, the more cells of the grid are merged. They overlap, so that the outline of each patch is covered by others.

import { Affine, invert, multiply, setIdentity } from '../math/affine';
import { Plane, pullBack } from '../math/plane';
import { reserve } from '../memory';
import { meshMeetsCube } from '../mesh/query/mesh-pair';
import { Mesh, composeTreeMap } from '../mesh/tree/layout';
import { pixelsHigh, pixelsWide } from './depth-tiles';
import { drawOccluder, screenNear, screenW, screenX, screenY } from './draw-occluder';
import { TRIANGLE_BYTES, OccluderShape, VERTEX_BYTES, cornersOf, verticesOf } from './occluder-shape';
import { F64_BYTES, WORD_BYTES } from '../sizes';
import { Relief, maxBound, maxHeightsOf, minBound, minHeightsOf } from './relief';

/** The eye and the near plane, as far as a relief depends on them. */
@unmanaged
export class ReliefEye {
  x: f64; y: f64; z: f64;
  /** The eye, the occluders and the hidden objects move by no more than this. */
  margin: f64;
  /** Points closer than this may be in front of the near plane. */
  nearRadius: f64;
  /** Size of a unit in pixels of the depth buffer, at a distance of 1. */
  pixelsPerUnit: f64;
  /** Thickness of outlines to either side, in pixels. */
  outlineRadius: f64;
}

/** Cells along a side of a patch, and beyond it on each side if there are more. */
const PATCH: u32 = 8;
const OVERLAP: u32 = 1;
/** Maximum number of vertices along a side: the last one ends the last cell. */
const MAX_SIDE_VERTICES: i32 = <i32>(PATCH + 2 * OVERLAP + 1);
/** A patch is divided if it is this many pixels across, or more if that would give too many patches. */
const MAX_PATCH_PIXELS: f64 = 40;
const COARSER: f64 = 1.5;
const MAX_PATCHES: u32 = 40;
/** Size of the stack of patches: each division adds three, for at most as many levels as a grid has. */
const STACK_SIZE: u32 = 64;
/** Rounding error of heights, in tree space. */
const HEIGHT_SLACK: f64 = 1e-6;
/** Rounding error of a position, relative to its terms. */
const ROUNDING: f64 = 1e-9;

const treeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const worldToTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const box = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const meshToBox = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const toMesh = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

// The eye in tree space, along columns, rows and heights; and the extent of a unit of the world along each.
let eyeA: f64 = 0, eyeB: f64 = 0, eyeH: f64 = 0;
let unitA: f64 = 0, unitB: f64 = 0, unitH: f64 = 0;
/** 1, or -1 if it is seen from smaller heights: all heights are multiplied by this. */
let sign: f64 = 1;
let margin: f64 = 0;
let columns: u32 = 0;
let minHeights: usize = 0;
/** Origin and size of the cells. */
let minA: f64 = 0, minB: f64 = 0, sizeA: f64 = 0, sizeB: f64 = 0;
let minH: f64 = 0, maxH: f64 = 0;
let axisA: u32 = 0, axisB: u32 = 0, axisH: u32 = 0;
/** The drawn cells begin and end here; the heights of this many more cells around are taken into account. */
let firstA: u32 = 0, endA: u32 = 0, firstB: u32 = 0, endB: u32 = 0;
let marginCellsA: u32 = 0, marginCellsB: u32 = 0;

/**
 * Draws the relief of a mesh that `world` places, as seen from the front side of its triangles (`isFront`), or from the back.
 * Returns how many triangles were processed, 0 if nothing is certainly hidden. Throws OUT_OF_MEMORY.
 */
export function drawRelief(relief: Relief, mesh: Mesh, world: Affine, isFront: bool, eye: ReliefEye): u32 {
  composeTreeMap(treeToWorld, mesh, world);
  invert(worldToTree, treeToWorld);
  axisH = relief.axis;
  axisA = (axisH + 1) % 3;
  axisB = (axisH + 2) % 3;
  sign = (relief.winding > 0) == isFront ? 1 : -1;
  margin = eye.margin;
  unitA = unitExtent(axisA);
  unitB = unitExtent(axisB);
  unitH = unitExtent(axisH);
  eyeA = eyeCoordinate(axisA, eye);
  eyeB = eyeCoordinate(axisB, eye);
  eyeH = sign * eyeCoordinate(axisH, eye);
  columns = relief.columns;
  minHeights = sign > 0 ? minHeightsOf(relief) : maxHeightsOf(relief);
  minA = minBound(relief, axisA);
  minB = minBound(relief, axisB);
  sizeA = (maxBound(relief, axisA) - minA) / <f64>columns;
  sizeB = (maxBound(relief, axisB) - minB) / <f64>relief.rows;
  minH = sign > 0 ? minBound(relief, axisH) : -maxBound(relief, axisH);
  maxH = sign > 0 ? maxBound(relief, axisH) : -minBound(relief, axisH);
  // The drawn part is this far within the rectangle.
  marginCellsA = cellCount((margin * unitA) / sizeA);
  marginCellsB = cellCount((margin * unitB) / sizeB);
  if ((marginCellsA << 1) >= relief.endColumn - relief.firstColumn || (marginCellsB << 1) >= relief.endRow - relief.firstRow)
    return 0;
  firstA = relief.firstColumn + marginCellsA;
  endA = relief.endColumn - marginCellsA;
  firstB = relief.firstRow + marginCellsB;
  endB = relief.endRow - marginCellsB;
  const eyeRegion = beginSides(relief);
  if (eyeRegion == AT_SIDE || meetsEye(mesh, eye, eyeRegion == INSIDE ? maxH : -Infinity)) return 0;
  setTreeFrustum();
  // A flat relief is as good in one patch.
  let maxPatchPixels = maxH - minH <= HEIGHT_SLACK ? Infinity : MAX_PATCH_PIXELS;
  while (!findPatches(maxPatchPixels, eye.pixelsPerUnit)) maxPatchPixels *= COARSER;
  let triangles: u32 = 0;
  for (let i: u32 = 0; i < patchCount; i++) {
    const patch = patchAt(i);
    if (!setShape(relief, patch)) continue;
    const shape = changetype<OccluderShape>(shapeAddress);
    drawOccluder(shape, treeToWorld, false, eye.outlineRadius);
    triangles += shape.triangleCount;
  }
  return triangles;
}

// --- the patches ---

/**
 * A square of cells: where it begins, how many of the grid's cells are one cell of the patch, and its squared distance from the
 * eye.
 */
@unmanaged
class Patch {
  a: u32; b: u32;
  step: u32;
  pad: u32;
  distanceSquared: f64;
}

const PATCH_BYTES: usize = offsetof<Patch>();
const patches: usize = memory.data(<i32>(MAX_PATCHES * <u32>PATCH_BYTES), 16);
let patchCount: u32 = 0;
const stack: usize = memory.data(<i32>(STACK_SIZE * <u32>PATCH_BYTES), 16);

// @ts-ignore: decorator
@inline
function patchAt(i: u32): Patch {
  return changetype<Patch>(patches + i * <u32>PATCH_BYTES);
}

/** The functions of the view frustum, in tree space: each is at least 0 for a point in the image. */
const left = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const right = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const bottom = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const top = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const front = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));
const depth = changetype<Plane>(memory.data(<i32>offsetof<Plane>(), 16));

function setTreeFrustum(): void {
  pullBack(left, screenX, treeToWorld);
  pullBack(bottom, screenY, treeToWorld);
  pullBack(front, screenNear, treeToWorld);
  pullBack(depth, screenW, treeToWorld);
  subtract(right, depth, <f64>pixelsWide, left);
  subtract(top, depth, <f64>pixelsHigh, bottom);
}

function subtract(out: Plane, w: Plane, size: f64, from: Plane): void {
  out.x = size * w.x - from.x;
  out.y = size * w.y - from.y;
  out.z = size * w.z - from.z;
  out.w = size * w.w - from.w;
}

/** Finds the patches that may be in the image, nearest first; returns false if there are too many. */
function findPatches(maxPatchPixels: f64, pixelsPerUnit: f64): bool {
  patchCount = 0;
  let step: u32 = 1;
  while (step * PATCH < max(endA - firstA, endB - firstB)) step <<= 1;
  let stackSize: u32 = 1;
  push(0, firstA, firstB, step);
  while (stackSize > 0) {
    stackSize--;
    const patch = changetype<Patch>(stack + stackSize * <u32>PATCH_BYTES);
    const a = patch.a, b = patch.b, patchStep = patch.step, side = patchStep * PATCH;
    if (a >= endA || b >= endB || !isInImage(a, b, side)) continue;
    const distanceSquared = squaredDistanceTo(a, b, side);
    const size = max((<f64>side * sizeA) / unitA, (<f64>side * sizeB) / unitB);
    if (patchStep > 1 && size * pixelsPerUnit > maxPatchPixels * sqrt(distanceSquared)) {
      const half = patchStep >> 1, next = half * PATCH;
      for (let k: u32 = 0; k < 4; k++) push(stackSize++, a + (k & 1) * next, b + (k >> 1) * next, half);
      continue;
    }
    if (patchCount == MAX_PATCHES) return false;
    let i = patchCount++;
    for (; i > 0 && patchAt(i - 1).distanceSquared > distanceSquared; i--) {
      memory.copy(changetype<usize>(patchAt(i)), changetype<usize>(patchAt(i - 1)), PATCH_BYTES);
    }
    const at = patchAt(i);
    at.a = a;
    at.b = b;
    at.step = patchStep;
    at.distanceSquared = distanceSquared;
  }
  return true;
}

function push(at: u32, a: u32, b: u32, step: u32): void {
  const patch = changetype<Patch>(stack + at * <u32>PATCH_BYTES);
  patch.a = a;
  patch.b = b;
  patch.step = step;
}

/** Returns the approximate squared distance of the eye from a square of cells, in the world. */
function squaredDistanceTo(a: u32, b: u32, side: u32): f64 {
  const x = distanceToInterval(eyeA, minA + <f64>a * sizeA, minA + <f64>(a + side) * sizeA) / unitA;
  const y = distanceToInterval(eyeB, minB + <f64>b * sizeB, minB + <f64>(b + side) * sizeB) / unitB;
  const z = distanceToInterval(eyeH, minH, maxH) / unitH;
  return x * x + y * y + z * z;
}

function distanceToInterval(value: f64, lower: f64, upper: f64): f64 {
  return max(max(lower - value, value - upper), 0.0);
}

function isInImage(a: u32, b: u32, side: u32): bool {
  const fromA = minA + <f64>a * sizeA, toA = minA + <f64>(a + side) * sizeA;
  const fromB = minB + <f64>b * sizeB, toB = minB + <f64>(b + side) * sizeB;
  const fromH = min(sign * minH, sign * maxH), toH = max(sign * minH, sign * maxH);
  return (
    isPositiveInBox(left, fromA, toA, fromB, toB, fromH, toH) && isPositiveInBox(right, fromA, toA, fromB, toB, fromH, toH) &&
    isPositiveInBox(bottom, fromA, toA, fromB, toB, fromH, toH) && isPositiveInBox(top, fromA, toA, fromB, toB, fromH, toH) &&
    isPositiveInBox(front, fromA, toA, fromB, toB, fromH, toH)
  );
}

/** Returns whether a function is at least 0 at some point of a box. */
function isPositiveInBox(plane: Plane, fromA: f64, toA: f64, fromB: f64, toB: f64, fromH: f64, toH: f64): bool {
  const at = changetype<usize>(plane);
  const a = load<f64>(at + (<usize>axisA << 3)), b = load<f64>(at + (<usize>axisB << 3)), h = load<f64>(at + (<usize>axisH << 3));
  return max(a * fromA, a * toA) + max(b * fromB, b * toB) + max(h * fromH, h * toH) + plane.w >= 0;
}

// @ts-ignore: decorator
@inline
function cellCount(cells: f64): u32 {
  return cells > ROUNDING ? <u32>ceil(min(cells, 65536.0)) : 0;
}

/** Returns the extent of a unit of the world along an axis of tree space. */
function unitExtent(axis: u32): f64 {
  const at = changetype<usize>(worldToTree) + (<usize>axis << 3);
  const x = load<f64>(at), y = load<f64>(at, offsetof<Affine>('yx')), z = load<f64>(at, offsetof<Affine>('zx'));
  return sqrt(x * x + y * y + z * z);
}

function eyeCoordinate(axis: u32, eye: ReliefEye): f64 {
  const at = changetype<usize>(worldToTree) + (<usize>axis << 3);
  return load<f64>(at) * eye.x + load<f64>(at, offsetof<Affine>('yx')) * eye.y + load<f64>(at, offsetof<Affine>('zx')) * eye.z +
    load<f64>(at, offsetof<Affine>('tx'));
}

/** Returns whether the mesh is within the nearest distance of the eye, or above it up to a height. */
function meetsEye(mesh: Mesh, eye: ReliefEye, upTo: f64): bool {
  const radius = eye.nearRadius + margin;
  const a = radius * unitA + abs(eyeA) * ROUNDING, b = radius * unitB + abs(eyeB) * ROUNDING;
  const h = radius * unitH + abs(eyeH) * ROUNDING;
  const minHeight = eyeH - h, maxHeight = max(eyeH + h, upTo + HEIGHT_SLACK);
  setIdentity(box);
  composeTreeMap(toMesh, mesh, box);
  setBoxAxis(axisA, a, eyeA);
  setBoxAxis(axisB, b, eyeB);
  setBoxAxis(axisH, 0.5 * (maxHeight - minHeight), sign * 0.5 * (maxHeight + minHeight));
  multiply(meshToBox, toMesh, box);
  invert(meshToBox, meshToBox);
  return meshMeetsCube(mesh, meshToBox);
}

function setBoxAxis(axis: u32, half: f64, center: f64): void {
  const at = changetype<usize>(box) + (<usize>axis << 3);
  store<f64>(at + axis * offsetof<Affine>('yx'), half);
  store<f64>(at, center, offsetof<Affine>('tx'));
}

// --- the sides of the rectangle ---

const SIDES: i32 = 4;
const INSIDE: u32 = 0;
const OUTSIDE: u32 = 1;
/** The eye may be on either side of one, and not above the heights there. */
const AT_SIDE: u32 = 2;

/** For each side that the eye may be beyond: which of the four it is, its position, and the maximum height there. */
let sideCount: u32 = 0;
const sides: usize = memory.data(SIDES * WORD_BYTES, 16);
const sidePositions: usize = memory.data(SIDES * F64_BYTES, 16);
const sideHeights: usize = memory.data(SIDES * F64_BYTES, 16);

/** Finds the sides that the eye may be beyond: the first and the last column, the first and the last row. */
function beginSides(relief: Relief): u32 {
  sideCount = 0;
  let eyeRegion = INSIDE;
  for (let side: u32 = 0; side < <u32>SIDES; side++) {
    const isA = side < 2, isEnd = (side & 1) == 1;
    const cell = isA ? (isEnd ? relief.endColumn : relief.firstColumn) : isEnd ? relief.endRow : relief.firstRow;
    const position = isA ? minA + <f64>cell * sizeA : minB + <f64>cell * sizeB;
    const eye = isA ? eyeA : eyeB;
    const eyeMargin = margin * (isA ? unitA : unitB) + abs(eye) * ROUNDING;
    const inwards = isEnd ? position - eye : eye - position;
    if (inwards > eyeMargin) continue;
    const height = maxHeightAt(relief, isA, isEnd ? cell - 1 : cell) + HEIGHT_SLACK;
    eyeRegion = max(eyeRegion, OUTSIDE);
    if (inwards > -eyeMargin && eyeH - margin * unitH < height) return AT_SIDE;
    store<u32>(sides + (<usize>sideCount << 2), side);
    store<f64>(sidePositions + (<usize>sideCount << 3), position);
    store<f64>(sideHeights + (<usize>sideCount << 3), height);
    sideCount++;
  }
  return eyeRegion;
}

/** Returns the maximum height of the rectangle's cells in a column, or in a row. */
function maxHeightAt(relief: Relief, isColumn: bool, cell: u32): f64 {
  const heights = sign > 0 ? maxHeightsOf(relief) : minHeightsOf(relief);
  let maxHeight = -Infinity;
  const from = isColumn ? relief.firstRow : relief.firstColumn, to = isColumn ? relief.endRow : relief.endColumn;
  for (let i = from; i < to; i++) {
    const at = isColumn ? i * columns + cell : cell * columns + i;
    maxHeight = max(maxHeight, sign * <f64>load<f32>(heights + (<usize>at << 2)));
  }
  return maxHeight;
}

/**
 * Returns whether lines of sight to a point pass over the heights of all sides that the eye is beyond, wherever the eye and the
 * point are within the margin: the line crosses the side at height eyeH + (h - eyeH) (position - eye) / (p - eye).
 */
function isSeenFromAbove(a: f64, b: f64, h: f64): bool {
  const marginH = margin * unitH;
  for (let i: u32 = 0; i < sideCount; i++) {
    const side = load<u32>(sides + (<usize>i << 2)), isA = side < 2, isEnd = (side & 1) == 1;
    const position = load<f64>(sidePositions + (<usize>i << 3)), height = load<f64>(sideHeights + (<usize>i << 3));
    const marginP = margin * (isA ? unitA : unitB);
    // Measured from the side inwards.
    const p = isEnd ? position - (isA ? a : b) : (isA ? a : b) - position;
    const eye = isEnd ? position - (isA ? eyeA : eyeB) : (isA ? eyeA : eyeB) - position;
    // Affine in the eye, and in the point: (h - eyeH) (-eye) + (eyeH - height) (p - eye).
    const value = (height - h) * eye + (eyeH - height) * p;
    const terms = (abs(height) + abs(h)) * abs(eye) + (abs(eyeH) + abs(height)) * abs(p);
    const minValue = marginH * (abs(eye) + abs(p) + 2 * marginP) + marginP * (abs(height - h) + abs(eyeH - height) + 2 * marginH);
    if (!(value > minValue + terms * ROUNDING)) return false;
  }
  return true;
}

// --- what is drawn of a patch ---

/** The cells at which a patch's grid lines begin along columns, and along rows: u32. Vertices are their intersections. */
const linesA: usize = memory.data(MAX_SIDE_VERTICES * WORD_BYTES, 16);
const linesB: usize = memory.data(MAX_SIDE_VERTICES * WORD_BYTES, 16);
/** The minimum heights: f64 for each grid line along columns in each row of cells, and for each vertex. */
let rowMinima: usize = 0;
const vertexMinima: usize = memory.data(MAX_SIDE_VERTICES * MAX_SIDE_VERTICES * F64_BYTES, 16);
const isUsed: usize = memory.data(MAX_SIDE_VERTICES * MAX_SIDE_VERTICES, 16);
let shapeAddress: usize = 0;

/** Lists the grid lines of a patch from its first cell on, between a first and an end. Returns their number. */
function listGridLines(list: usize, from: u32, step: u32, first: u32, end: u32): u32 {
  const before = OVERLAP * step, last = min(from + (PATCH + OVERLAP) * step, end);
  let count: usize = 0;
  for (let at = from >= first + before ? from - before : first; at < last; at += step) {
    store<u32>(list + (count << 2), at);
    count++;
  }
  store<u32>(list + (count << 2), last);
  return <u32>count + 1;
}

// @ts-ignore: decorator
@inline
function gridLineAt(list: usize, i: u32): u32 {
  return load<u32>(list + (<usize>i << 2));
}

/** Makes the shape of a patch. Returns whether it has any triangle. */
function setShape(relief: Relief, patch: Patch): bool {
  const countA = listGridLines(linesA, patch.a, patch.step, firstA, endA),
    countB = listGridLines(linesB, patch.b, patch.step, firstB, endB);
  const vertexCount = countA * countB, maxTriangles = 2 * (countA - 1) * (countB - 1);
  shapeAddress = reserve(shapeAddress, 0, 16 + <u64>vertexCount * VERTEX_BYTES + <u64>maxTriangles * TRIANGLE_BYTES);
  const shape = changetype<OccluderShape>(shapeAddress);
  shape.vertexCount = vertexCount;
  const diagonalEdges = vertexCount, rowEdges = 2 * vertexCount;
  shape.edgeCount = 3 * vertexCount;
  findMinHeights(relief, countA, countB);
  const heightMargin = margin * unitH + HEIGHT_SLACK;
  for (let l: u32 = 0; l < countB; l++) {
    const b = minB + <f64>gridLineAt(linesB, l) * sizeB;
    for (let k: u32 = 0; k < countA; k++) {
      const i = l * countA + k;
      const a = minA + <f64>gridLineAt(linesA, k) * sizeA;
      const h = load<f64>(vertexMinima + (<usize>i << 3)) - heightMargin;
      const at = verticesOf(shape) + i * <u32>VERTEX_BYTES;
      store<f64>(at + (<usize>axisA << 3), a);
      store<f64>(at + (<usize>axisB << 3), b);
      store<f64>(at + (<usize>axisH << 3), sign * h);
      store<u8>(isUsed + i, u8(isSeenFromAbove(a, b, h)));
    }
  }
  let count: u32 = 0;
  for (let l: u32 = 0; l + 1 < countB; l++) {
    for (let k: u32 = 0; k + 1 < countA; k++) {
      const i = l * countA + k, j = i + countA;
      if (!load<u8>(isUsed + i) || !load<u8>(isUsed + j + 1)) continue;
      // Each vertex has the edges to the next along columns, to the next along both, and to the next along rows.
      if (load<u8>(isUsed + i + 1)) setTriangle(shape, count++, i, i + 1, j + 1, i, rowEdges + i + 1, diagonalEdges + i);
      if (load<u8>(isUsed + j)) setTriangle(shape, count++, i, j + 1, j, diagonalEdges + i, j, rowEdges + i);
    }
  }
  shape.triangleCount = count;
  return count > 0;
}

/**
 * Sets a triangle with vertices a, b and c and its edges from each to the next; its winding is reversed if it is seen from
 * smaller heights.
 */
function setTriangle(shape: OccluderShape, triangle: u32, a: u32, b: u32, c: u32, ab: u32, bc: u32, ca: u32): void {
  const to = cornersOf(shape) + triangle * <u32>TRIANGLE_BYTES;
  const isReversed = sign < 0;
  const second = isReversed ? c : b, third = isReversed ? b : c;
  const first = isReversed ? ca : ab, last = isReversed ? ab : ca;
  store<u16>(to, <u16>a);
  store<u16>(to, <u16>second, 2);
  store<u16>(to, <u16>third, 4);
  store<u16>(to, <u16>((first << 1) | u32(a > second)), 6);
  store<u16>(to, <u16>((bc << 1) | u32(second > third)), 8);
  store<u16>(to, <u16>((last << 1) | u32(third > a)), 10);
}

/**
 * Finds the minimum height about each vertex: of its adjacent cells, up to the next vertices, and of the margin's cells around.
 */
function findMinHeights(relief: Relief, countA: u32, countB: u32): void {
  const firstRow = cellsFrom(linesB, 0, marginCellsB, relief.firstRow);
  const rows = cellsTo(linesB, countB - 1, countB, marginCellsB, relief.endRow) - firstRow;
  rowMinima = reserve(rowMinima, 0, <u64>(countA * rows) << 3);
  for (let row: u32 = 0; row < rows; row++) {
    const cells = minHeights + (<usize>((firstRow + row) * columns) << 2);
    for (let k: u32 = 0; k < countA; k++) {
      const to = cellsTo(linesA, k, countA, marginCellsA, relief.endColumn);
      let minHeight = Infinity;
      for (let cell = cellsFrom(linesA, k, marginCellsA, relief.firstColumn); cell < to; cell++) {
        minHeight = min(minHeight, sign * <f64>load<f32>(cells + (<usize>cell << 2)));
      }
      store<f64>(rowMinima + (<usize>(row * countA + k) << 3), minHeight);
    }
  }
  for (let l: u32 = 0; l < countB; l++) {
    const from = cellsFrom(linesB, l, marginCellsB, relief.firstRow) - firstRow;
    const to = cellsTo(linesB, l, countB, marginCellsB, relief.endRow) - firstRow;
    for (let k: u32 = 0; k < countA; k++) {
      let minHeight = Infinity;
      for (let row = from; row < to; row++) minHeight = min(minHeight, load<f64>(rowMinima + (<usize>(row * countA + k) << 3)));
      store<f64>(vertexMinima + (<usize>(l * countA + k) << 3), minHeight);
    }
  }
}

/** Returns the first cell that counts for a grid line: from the previous line on, and the margin's cells before. */
function cellsFrom(list: usize, i: u32, marginCells: u32, first: u32): u32 {
  const at = gridLineAt(list, i == 0 ? 0 : i - 1);
  return at > first + marginCells ? at - marginCells : first;
}

/** Returns the end of the cells that count for a grid line. */
function cellsTo(list: usize, i: u32, count: u32, marginCells: u32, end: u32): u32 {
  return min(gridLineAt(list, min(i + 1, count - 1)) + marginCells, end);
}

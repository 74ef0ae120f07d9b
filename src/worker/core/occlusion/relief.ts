// What an open mesh hides from a moving eye, as a terrain hides the valley behind a hill: a height field beneath the mesh, along
// one of its axes.
//
// Take the prism over a rectangle, infinite along that axis, that no border of the mesh passes through. The border consists of
// the edges whose triangles on both sides do not cancel. Between two points in the prism, every path within it crosses the mesh
// as often from front to back, minus the crossings from back to front, as any other such path does (the intersection number;
// Guillemin and Pollack, "Differential Topology", 1974). Below all of the mesh that number, counted from above all of it, is the
// winding number of the border about the rectangle. If it is not 0, no line of sight from above that stays in the prism reaches a
// point below without crossing the mesh. The space below is stored as the minimum height of each cell of a grid; draw-relief.ts
// draws it, for an eye within a margin.
//
// Whether a cell has a border is determined by a sum over the directed edges in it, of a random function of their ends that
// changes its sign with the direction: cancelling edges sum to 0. The chance of an error is 2⁻⁶⁴ per cell.

import { mix } from '../math/hash';
import { allocate, release, reserve } from '../memory';
import { Block, Mesh, blockAt, triangleOf } from '../mesh/tree/layout';
import { findOrAddOccluder } from './occluder-table';

/**
 * Heights of cells, in tree space, in rows along one axis; the axes are 0 to 2. The minima follow the header, then the maxima.
 */
@unmanaged
export class Relief {
  phase: u32;
  /** The next block of triangles. */
  next: u32;
  /** Number of axes that were tried before. */
  triedCount: u32;
  /** Heights are along this axis, columns are spaced along the next one and rows along the one after that. */
  axis: u32;
  columns: u32;
  rows: u32;
  // The rectangle; the ends are exclusive.
  firstColumn: u32; endColumn: u32;
  firstRow: u32; endRow: u32;
  /** Positive if the front sides of the triangles face greater heights. */
  winding: i32;
  minX: f32; minY: f32; minZ: f32;
  maxX: f32; maxY: f32; maxZ: f32;
}

const BOUNDING: u32 = 0;
const FILLING: u32 = 1;
const WINDING: u32 = 2;
const DONE: u32 = 3;
const NONE: u32 = 4;

const HEADER_BYTES: usize = 80;
/** Cells along a side of a square: a cell of a terrain of 500,000 triangles has 4 × 4 of its quads. */
const CELLS_PER_SIDE: f64 = 128;
const MAX_CELLS_PER_SIDE: f64 = 512;
/** Meshes with few triangles have fewer cells; this is the minimum along a side. */
const MIN_CELLS_PER_SIDE: f64 = 16;
/** Rounding error of a cell's border, in cells. */
const PAD: f64 = 1e-6;
/** A steeper triangle is a wall: its slope is not used. */
const MAX_SLOPE: f64 = 1e4;
/** Minimum share of the cells that a rectangle must have to be worthwhile. */
const MIN_SHARE: f64 = 0.02;

// @ts-ignore: decorator
@inline
export function minHeightsOf(relief: Relief): usize {
  return changetype<usize>(relief) + HEADER_BYTES;
}

// @ts-ignore: decorator
@inline
export function maxHeightsOf(relief: Relief): usize {
  return minHeightsOf(relief) + ((relief.columns * relief.rows) << 2);
}

// @ts-ignore: decorator
@inline
function sumsOf(relief: Relief): usize {
  return minHeightsOf(relief) + ((relief.columns * relief.rows) << 3);
}

// @ts-ignore: decorator
@inline
export function minBound(relief: Relief, axis: u32): f64 {
  return <f64>load<f32>(changetype<usize>(relief) + (<usize>axis << 2), offsetof<Relief>('minX'));
}

// @ts-ignore: decorator
@inline
export function maxBound(relief: Relief, axis: u32): f64 {
  return <f64>load<f32>(changetype<usize>(relief) + (<usize>axis << 2), offsetof<Relief>('maxX'));
}

/** The work that `reliefOf` has done, in triangles; the caller resets it to 0. */
let reliefWork: u32 = 0;

export function beginReliefs(): void {
  reliefWork = 0;
}

/**
 * Returns the relief of a mesh; null if there is none, or if it is not known yet: each call computes a part of it, as long as
 * `reliefWork` is below `maxWork`. Throws OUT_OF_MEMORY.
 */
export function reliefOf(mesh: Mesh, maxWork: u32): Relief | null {
  const entry = findOrAddOccluder(<u32>changetype<usize>(mesh));
  if (entry.relief == 0) {
    if (reliefWork >= maxWork) return null;
    const newRelief = changetype<Relief>(allocate(HEADER_BYTES));
    memory.fill(changetype<usize>(newRelief), 0, HEADER_BYTES);
    newRelief.minX = newRelief.minY = newRelief.minZ = Infinity;
    newRelief.maxX = newRelief.maxY = newRelief.maxZ = -Infinity;
    entry.relief = changetype<usize>(newRelief);
  }
  let relief = changetype<Relief>(entry.relief);
  while (relief.phase < DONE && reliefWork < maxWork) {
    if (relief.next < mesh.blockCount) {
      processBlock(relief, blockAt(mesh, relief.next++));
      continue;
    }
    relief.next = 0;
    if (relief.phase == FILLING && findRectangle(relief)) relief.phase = WINDING;
    else if (relief.phase == WINDING && relief.winding != 0) {
      relief.phase = DONE;
      relief = dropSums(relief);
      entry.relief = changetype<usize>(relief);
    } else {
      relief = beginAxis(relief, mesh);
      entry.relief = changetype<usize>(relief);
    }
  }
  return relief.phase == DONE ? relief : null;
}

/** Begins with the next axis, those along which the mesh is flat first. The relief moves to a new address. */
function beginAxis(previous: Relief, mesh: Mesh): Relief {
  const triedCount = previous.phase == BOUNDING ? 0 : previous.triedCount + 1;
  if (triedCount > 2) {
    previous.phase = NONE;
    return previous;
  }
  const axis = axisAt(previous, triedCount), columnAxis = (axis + 1) % 3, rowAxis = (axis + 2) % 3;
  const a = maxBound(previous, columnAxis) - minBound(previous, columnAxis),
    b = maxBound(previous, rowAxis) - minBound(previous, rowAxis);
  let columns: u32 = 0, rows: u32 = 0;
  if (a > 0 && b > 0 && a + b < Infinity) {
    const side = max(min(CELLS_PER_SIDE, 2 * sqrt(<f64>mesh.keptCount)), MIN_CELLS_PER_SIDE);
    columns = <u32>max(1, min(MAX_CELLS_PER_SIDE, side * sqrt(a / b)));
    rows = <u32>max(1, min(MAX_CELLS_PER_SIDE, side * sqrt(b / a)));
  }
  const relief = changetype<Relief>(allocate(HEADER_BYTES + (<u64>(columns * rows) << 4)));
  memory.copy(changetype<usize>(relief), changetype<usize>(previous), HEADER_BYTES);
  release(changetype<usize>(previous));
  relief.phase = FILLING;
  relief.triedCount = triedCount;
  relief.axis = axis;
  relief.columns = columns;
  relief.rows = rows;
  relief.winding = 0;
  if (columns == 0) relief.next = mesh.blockCount;
  for (let i: u32 = 0; i < columns * rows; i++) {
    store<f32>(minHeightsOf(relief) + (<usize>i << 2), Infinity);
    store<f32>(maxHeightsOf(relief) + (<usize>i << 2), -Infinity);
    store<u64>(sumsOf(relief) + (<usize>i << 3), 0);
  }
  return relief;
}

/** Moves it to memory that only has space for its heights. */
function dropSums(previous: Relief): Relief {
  const bytes = HEADER_BYTES + (<usize>(previous.columns * previous.rows) << 3);
  const relief = allocate(bytes);
  memory.copy(relief, changetype<usize>(previous), bytes);
  release(changetype<usize>(previous));
  return changetype<Relief>(relief);
}

/** Returns the axis with the smallest extent, the middle one, or the largest. */
function axisAt(relief: Relief, order: u32): u32 {
  for (let axis: u32 = 0; axis < 3; axis++) {
    const axisExtent = maxBound(relief, axis) - minBound(relief, axis);
    let smallerCount: u32 = 0;
    for (let other: u32 = 0; other < 3; other++) {
      const otherExtent = maxBound(relief, other) - minBound(relief, other);
      if (otherExtent < axisExtent || (otherExtent == axisExtent && other < axis)) smallerCount++;
    }
    if (smallerCount == order) return axis;
  }
  return 0;
}

// The columns, rows and heights of the current block.
let offsetA: usize = 0, offsetB: usize = 0, offsetH: usize = 0;
let minA: f64 = 0, minB: f64 = 0, maxA: f64 = 0, maxB: f64 = 0;
let scaleA: f64 = 0, scaleB: f64 = 0;

function setAxes(relief: Relief): void {
  const columnAxis = (relief.axis + 1) % 3, rowAxis = (relief.axis + 2) % 3;
  offsetH = <usize>relief.axis << 4;
  offsetA = <usize>columnAxis << 4;
  offsetB = <usize>rowAxis << 4;
  minA = minBound(relief, columnAxis);
  minB = minBound(relief, rowAxis);
  maxA = maxBound(relief, columnAxis);
  maxB = maxBound(relief, rowAxis);
  scaleA = <f64>relief.columns / (maxA - minA);
  scaleB = <f64>relief.rows / (maxB - minB);
}

function processBlock(relief: Relief, block: Block): void {
  if (relief.phase != BOUNDING) setAxes(relief);
  for (let lane = 0; lane < 4; lane++) {
    if (triangleOf(block, lane) < 0) continue;
    const at = changetype<usize>(block) + (<usize>lane << 2);
    if (relief.phase == BOUNDING) {
      for (let k: usize = 0; k < 3; k++) includeCorner(relief, at + k * 48);
    } else if (relief.phase == FILLING) fillCells(relief, at);
    else {
      for (let k: usize = 0; k < 3; k++) addWinding(relief, at + k * 48, at + (k + 1) % 3 * 48);
    }
  }
  reliefWork++; // work beyond this is added where it is done
}

function includeCorner(relief: Relief, at: usize): void {
  const x = load<f32>(at), y = load<f32>(at, 16), z = load<f32>(at, 32);
  relief.minX = min(relief.minX, x); relief.minY = min(relief.minY, y); relief.minZ = min(relief.minZ, z);
  relief.maxX = max(relief.maxX, x); relief.maxY = max(relief.maxY, y); relief.maxZ = max(relief.maxZ, z);
}

// @ts-ignore: decorator
@inline
function cellOf(coordinate: f64, count: u32): u32 {
  return <u32>max(0.0, min(coordinate, <f64>count - 1));
}

/** Adds a triangle's heights to the cells that it may overlap, and its edges to the sums of theirs. */
function fillCells(relief: Relief, at: usize): void {
  const a0 = <f64>load<f32>(at + offsetA), a1 = <f64>load<f32>(at + offsetA, 48), a2 = <f64>load<f32>(at + offsetA, 96);
  const b0 = <f64>load<f32>(at + offsetB), b1 = <f64>load<f32>(at + offsetB, 48), b2 = <f64>load<f32>(at + offsetB, 96);
  const h0 = <f64>load<f32>(at + offsetH), h1 = <f64>load<f32>(at + offsetH, 48), h2 = <f64>load<f32>(at + offsetH, 96);
  const c0 = cellOf((min(min(a0, a1), a2) - minA) * scaleA - PAD, relief.columns);
  const c1 = cellOf((max(max(a0, a1), a2) - minA) * scaleA + PAD, relief.columns);
  const r0 = cellOf((min(min(b0, b1), b2) - minB) * scaleB - PAD, relief.rows);
  const r1 = cellOf((max(max(b0, b1), b2) - minB) * scaleB + PAD, relief.rows);
  const minHeight = min(min(h0, h1), h2), maxHeight = max(max(h0, h1), h2);
  const minHeights = minHeightsOf(relief), maxHeights = maxHeightsOf(relief);
  reliefWork += 2 + (((c1 - c0 + 1) * (r1 - r0 + 1)) >> 3);
  // The plane's heights are h0 + slopeA · (a - a0) + slopeB · (b - b0).
  const area = (a1 - a0) * (b2 - b0) - (a2 - a0) * (b1 - b0);
  const slopeA = ((h1 - h0) * (b2 - b0) - (h2 - h0) * (b1 - b0)) / area;
  const slopeB = ((a1 - a0) * (h2 - h0) - (a2 - a0) * (h1 - h0)) / area;
  const isSloped = (c0 < c1 || r0 < r1) && abs(slopeA) + abs(slopeB) < MAX_SLOPE;
  const spread = isSloped ? (0.5 + PAD) * (abs(slopeA) / scaleA + abs(slopeB) / scaleB) : 0;
  for (let row = r0; row <= r1; row++) {
    for (let column = c0; column <= c1; column++) {
      let cellMin = minHeight, cellMax = maxHeight;
      if (isSloped) {
        const center = h0 + slopeA * (minA + (<f64>column + 0.5) / scaleA - a0) +
          slopeB * (minB + (<f64>row + 0.5) / scaleB - b0);
        cellMin = max(cellMin, center - spread);
        cellMax = min(cellMax, center + spread);
      }
      const cell = <usize>(row * relief.columns + column) << 2;
      store<f32>(minHeights + cell, min(load<f32>(minHeights + cell), <f32>cellMin));
      store<f32>(maxHeights + cell, max(load<f32>(maxHeights + cell), <f32>cellMax));
    }
  }
  const hash0 = hashOf(at), hash1 = hashOf(at + 48), hash2 = hashOf(at + 96);
  addEdge(relief, hash0, hash1, a0, b0, a1, b1);
  addEdge(relief, hash1, hash2, a1, b1, a2, b2);
  addEdge(relief, hash2, hash0, a2, b2, a0, b0);
}

function hashOf(at: usize): u64 {
  // -0 is 0.
  const x = reinterpret<u32>(load<f32>(at) + 0), y = reinterpret<u32>(load<f32>(at, 16) + 0);
  const z = reinterpret<u32>(load<f32>(at, 32) + 0);
  return mix(mix((<u64>x | (<u64>y << 32)) + 0x9e3779b97f4a7c15) + z);
}

function addEdge(relief: Relief, from: u64, to: u64, fromA: f64, fromB: f64, toA: f64, toB: f64): void {
  if (from == to) return;
  // Edges on the border of the grid are in no prism.
  if (fromA == toA && (fromA == minA || fromA == maxA)) return;
  if (fromB == toB && (fromB == minB || fromB == maxB)) return;
  const c0 = cellOf((min(fromA, toA) - minA) * scaleA - PAD, relief.columns);
  const c1 = cellOf((max(fromA, toA) - minA) * scaleA + PAD, relief.columns);
  const r0 = cellOf((min(fromB, toB) - minB) * scaleB - PAD, relief.rows);
  const r1 = cellOf((max(fromB, toB) - minB) * scaleB + PAD, relief.rows);
  const edge = mix(mix(min(from, to)) + max(from, to));
  const sum = from < to ? edge : 0 - edge;
  const sums = sumsOf(relief);
  for (let row = r0; row <= r1; row++) {
    for (let column = c0; column <= c1; column++) {
      const cell = sums + (<usize>(row * relief.columns + column) << 3);
      store<u64>(cell, load<u64>(cell) + sum);
    }
  }
}

/**
 * Adds an edge's contribution to the winding number about the rectangle's middle cell: whether it crosses the half-line along
 * rows, and in which direction.
 */
function addWinding(relief: Relief, from: usize, to: usize): void {
  const column = (relief.firstColumn + relief.endColumn) >> 1, row = (relief.firstRow + relief.endRow) >> 1;
  const a = minA + (<f64>column + 0.5) / scaleA, b = minB + (<f64>row + 0.5) / scaleB;
  const fromB = <f64>load<f32>(from + offsetB), toB = <f64>load<f32>(to + offsetB);
  if ((fromB > b) == (toB > b)) return;
  const fromA = <f64>load<f32>(from + offsetA), toA = <f64>load<f32>(to + offsetA);
  const isUp = toB > fromB;
  // The same for both directions, to the last bit.
  const t = isUp ? (b - fromB) / (toB - fromB) : (b - toB) / (fromB - toB);
  const crossing = isUp ? fromA + (toA - fromA) * t : toA + (fromA - toA) * t;
  if (crossing > a) relief.winding += isUp ? 1 : -1;
}

/** For each column, the number of free cells from the current row downwards: u32. Then the columns on the stack. */
let runs: usize = 0;

/**
 * Finds the largest rectangle of cells that contain triangles and no border: row by row, the largest rectangle under the
 * histogram of free cells, with a stack of open columns. Returns whether it is large enough.
 */
function findRectangle(relief: Relief): bool {
  const columns = relief.columns, rows = relief.rows;
  runs = reserve(runs, 0, <u64>(2 * columns + 1) << 2);
  memory.fill(runs, 0, columns << 2);
  const stack = runs + (<usize>columns << 2);
  let maxArea: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    let stackDepth: usize = 0;
    for (let column: u32 = 0; column <= columns; column++) {
      const at = runs + (<usize>column << 2);
      let run: u32 = 0;
      if (column < columns) {
        run = isFreeCell(relief, row * columns + column) ? load<u32>(at) + 1 : 0;
        store<u32>(at, run);
      }
      // Heights increase along the stack.
      while (stackDepth > 0) {
        const height = load<u32>(runs + (<usize>load<u32>(stack + ((stackDepth - 1) << 2)) << 2));
        if (column < columns && height < run) break;
        stackDepth--;
        const first: u32 = stackDepth == 0 ? 0 : load<u32>(stack + ((stackDepth - 1) << 2)) + 1;
        const area = height * (column - first);
        if (area <= maxArea) continue;
        maxArea = area;
        relief.firstColumn = first;
        relief.endColumn = column;
        relief.firstRow = row + 1 - height;
        relief.endRow = row + 1;
      }
      if (column < columns) store<u32>(stack + (stackDepth++ << 2), column);
    }
  }
  return maxArea > 0 && <f64>maxArea >= MIN_SHARE * <f64>(columns * rows);
}

function isFreeCell(relief: Relief, cell: u32): bool {
  return load<u64>(sumsOf(relief) + (<usize>cell << 3)) == 0 && load<f32>(minHeightsOf(relief) + (<usize>cell << 2)) < Infinity;
}

import { hashOf } from './hash.js';

/** Steps between two rests: some 0.5 ms. */
const CORNERS_PER_STEP = 4096;
/**
 * The size of a cell in tolerances: most vertices are far from their cell's borders, and no cell has more than 512. With 32,
 * points close together, far from the origin, took 12 times as long.
 */
const CELL_TOLERANCES = 8;

/** Welded vertices, by their positions. */
export interface Vertices {
  /** The vertex of each corner. */
  vertexOfCorner: Uint32Array;
  /** The first corner of each vertex. */
  corners: Uint32Array;
  count: number;
}

/**
 * Welds corners: each corner becomes the first vertex found that is no farther from it than the tolerance along each axis.
 * Vertices are found by their cells in a grid.
 */
export function* weldCorners(positions: Float32Array, tolerance: number): Generator<void, Vertices> {
  const cornerCount = positions.length / 3;
  const vertexOfCorner = new Uint32Array(cornerCount);
  const corners = new Uint32Array(cornerCount);
  /** The next vertex in the same bucket of the hash table, plus 1; or 0. */
  let next = new Uint32Array(1024);
  let buckets = new Uint32Array(1024);
  let count = 0;
  const cellSize = tolerance > 0 ? CELL_TOLERANCES * tolerance : 1;
  const cellOf = (value: number): number => Math.floor(value / cellSize) | 0;
  const findInCell = (corner: number, x: number, y: number, z: number): number => {
    for (let i = buckets[hashOf(x, y, z) & (buckets.length - 1)]; i !== 0; i = next[i - 1]) {
      const at = 3 * corners[i - 1];
      const isNear =
        Math.abs(positions[at] - positions[3 * corner]) <= tolerance &&
        Math.abs(positions[at + 1] - positions[3 * corner + 1]) <= tolerance &&
        Math.abs(positions[at + 2] - positions[3 * corner + 2]) <= tolerance;
      if (isNear) return i - 1;
    }
    return -1;
  };
  /** Searches all cells within the tolerance. */
  const findNear = (corner: number): number => {
    const px = positions[3 * corner];
    const py = positions[3 * corner + 1];
    const pz = positions[3 * corner + 2];
    for (let x = cellOf(px - tolerance); x <= cellOf(px + tolerance); x++) {
      for (let y = cellOf(py - tolerance); y <= cellOf(py + tolerance); y++) {
        for (let z = cellOf(pz - tolerance); z <= cellOf(pz + tolerance); z++) {
          const nearVertex = findInCell(corner, x, y, z);
          if (nearVertex >= 0) return nearVertex;
        }
      }
    }
    return -1;
  };
  const insert = (vertex: number): void => {
    const at = 3 * corners[vertex];
    const bucket =
      hashOf(cellOf(positions[at]), cellOf(positions[at + 1]), cellOf(positions[at + 2])) & (buckets.length - 1);
    next[vertex] = buckets[bucket];
    buckets[bucket] = vertex + 1;
  };
  for (let corner = 0; corner < cornerCount; corner++) {
    if (corner % CORNERS_PER_STEP === CORNERS_PER_STEP - 1) yield;
    const nearVertex = findNear(corner);
    if (nearVertex >= 0) {
      vertexOfCorner[corner] = nearVertex;
      continue;
    }
    corners[count] = corner;
    vertexOfCorner[corner] = count++;
    if (count > next.length) {
      const old = next;
      next = new Uint32Array(2 * old.length);
      next.set(old);
    }
    if (count <= buckets.length) {
      insert(count - 1);
      continue;
    }
    buckets = new Uint32Array(4 * buckets.length);
    for (let i = 0; i < count; i++) {
      insert(i);
      if (i % CORNERS_PER_STEP === CORNERS_PER_STEP - 1) yield;
    }
  }
  return { vertexOfCorner, corners: corners.slice(0, count), count };
}

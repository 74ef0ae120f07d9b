// Tiles of space: a k-d tree splits the parts' boxes at medians until the data of a tile fits into a worker. A part that crosses
// a border is in both tiles. A pair belongs to the one tile that contains its reference point, the greatest of both low
// corners (Dittrich and Seeger, "Data Redundancy and Duplicate Detection in Spatial Join Processing", 2000), so that it is
// checked once.

/** Parts that are checked together. */
export interface Tile {
  /** The region of the reference points of its pairs: low corner inclusive, high corner exclusive. */
  cell: readonly number[];
  /** Parts by their number in the plan, ascending. */
  parts: readonly number[];
  /** Parts before this index are checked only against those from it on; 0 if all are checked against all. */
  split: number;
}

export interface TileLimits {
  /** The most parts of a tile. */
  parts: number;
  /** The most bytes of a tile's meshes; if one of them is larger, half as many again as that has. */
  bytes: number;
}

/**
 * Returns how many parts a tile has: enough tiles for all workers and for progress, but not more, since parts on borders are
 * checked twice.
 */
export function maxPartsPerTile(parts: number, workers: number): number {
  return Math.min(4096, Math.max(MIN_PARTS_PER_WORKER, Math.ceil((BORDER_FACTOR * parts) / (8 * workers))));
}

/** Tiles have this many times their share of the parts: without room for parts on borders, each would be split again. */
const BORDER_FACTOR = 1.2;

/** A second worker does not pay with fewer parts than this. */
export const MIN_PARTS_PER_WORKER = 256;

/** A frame lists 1,048,576 pairs whose boxes overlap. This many parts have fewer, even if all are in one place. */
const MAX_OVERLAPPING_PARTS = 1448;

/** The meshes of a tile may take this many times the bytes of its largest one: each tile about a large mesh needs that mesh. */
const LARGEST_MESH_FACTOR = 1.5;

/** A cut that leaves more than this fraction of the parts on one side is rejected. */
const MAX_CUT_FRACTION = 0.9;

const WHOLE_SPACE = [-1, -1, -1, 1, 1, 1].map((sign) => sign * Number.MAX_VALUE);

/** Splits parts, by their indices, into tiles. `padded` has a box for each part. Yields after each step. */
export function* makeTiles(
  list: readonly number[],
  parts: readonly { mesh: number }[],
  padded: Float64Array,
  bytesOf: (mesh: number) => number,
  limits: TileLimits,
): Generator<void, Tile[]> {
  const tiles: Tile[] = [];
  const singlePartTiles: Tile[] = [];
  const fits = (list: readonly number[]): boolean => {
    if (list.length > limits.parts) return false;
    let [sum, largest] = [0, 0];
    for (const mesh of new Set(list.map((part) => parts[part].mesh))) {
      sum += bytesOf(mesh);
      largest = Math.max(largest, bytesOf(mesh));
    }
    return sum <= Math.max(limits.bytes, LARGEST_MESH_FACTOR * largest);
  };
  function* divide(list: readonly number[], cell: readonly number[]): Generator<void> {
    yield;
    if (list.length < 2) {
      if (list.length === 1) singlePartTiles.push({ cell, parts: list, split: 0 });
      return;
    }
    if (list.length === 2 || fits(list)) {
      tiles.push({ cell, parts: list, split: 0 });
      return;
    }
    const cut = bestCut(list, padded);
    if (cut) {
      const { axis, at, low, high } = cut;
      yield* divide(low, cell.with(3 + axis, at));
      yield* divide(high, cell.with(axis, at));
    } else yield* divideList({ cell, parts: list, split: 0 });
  }
  /** Splits parts that lie in one place. */
  function* divideList(tile: Tile): Generator<void> {
    yield;
    const { parts } = tile;
    if (parts.length < 2) return;
    if (parts.length === 2 || (parts.length <= MAX_OVERLAPPING_PARTS && fits(parts))) tiles.push(tile);
    else for (const smaller of halvesOf(tile)) yield* divideList(smaller);
  }
  yield* divide(list, WHOLE_SPACE);
  if (singlePartTiles.length > 0) {
    // A part that is in no other tile has no pairs, but is loaded, too: perhaps it cannot be read.
    const tiledParts = new Set(tiles.flatMap(({ parts }) => parts));
    for (const tile of singlePartTiles) {
      const [part] = tile.parts;
      if (tiledParts.has(part)) continue;
      tiledParts.add(part);
      tiles.push(tile);
    }
  }
  return tiles;
}

/**
 * Splits a tile into tiles that together have its pairs: each half of the parts by itself, then one half against the other; or each
 * half of a side of its split against each half of the other side.
 */
export function halvesOf({ cell, parts, split }: Tile): Tile[] {
  const [firstHalf, secondHalf] = split > 0 ? [parts.slice(0, split), parts.slice(split)] : halves(parts);
  if (split === 0) {
    return [
      { cell, parts: firstHalf, split },
      { cell, parts: secondHalf, split },
      { cell, parts, split: firstHalf.length },
    ];
  }
  return halves(firstHalf).flatMap((quarterA) => {
    return halves(secondHalf).map((quarterB) => ({ cell, parts: [...quarterA, ...quarterB], split: quarterA.length }));
  });
}

/** Halves a list; a list of one part stays as it is. */
function halves(list: readonly number[]): (readonly number[])[] {
  const middle = list.length >> 1;
  return middle > 0 ? [list.slice(0, middle), list.slice(middle)] : [list];
}

interface Cut {
  axis: number;
  at: number;
  low: number[];
  high: number[];
}

/** The median is taken of at most this many low corners, since sorting all of them took half of the planning. */
const MAX_SAMPLES = 1023;

/** Returns the median of the low corners of some boxes along an axis; 0 for none. */
export function medianLow(list: readonly number[], boxes: Float64Array, axis: number): number {
  const stride = Math.ceil(list.length / MAX_SAMPLES);
  const corners = new Float64Array(Math.ceil(list.length / stride) || 1);
  for (let i = 0; i * stride < list.length; i++) corners[i] = boxes[6 * list[i * stride] + axis];
  return corners.sort()[corners.length >> 1];
}

/**
 * Finds the cut at the median of the low corners, which include the reference points, with the smallest larger side; null for none.
 */
function bestCut(list: readonly number[], padded: Float64Array): Cut | null {
  let best: { axis: number; at: number } | null = null;
  let smallestLarger = MAX_CUT_FRACTION * list.length;
  for (let axis = 0; axis < 3; axis++) {
    const at = medianLow(list, padded, axis);
    let [lowCount, highCount] = [0, 0];
    for (const part of list) {
      if (padded[6 * part + axis] < at) lowCount++;
      if (padded[6 * part + axis + 3] >= at) highCount++;
    }
    const larger = Math.max(lowCount, highCount);
    if (larger >= smallestLarger) continue;
    smallestLarger = larger;
    best = { axis, at };
  }
  if (best === null) return null;
  const { axis, at } = best;
  const low = list.filter((part) => padded[6 * part + axis] < at);
  const high = list.filter((part) => padded[6 * part + axis + 3] >= at);
  return { axis, at, low, high };
}

/** Returns whether the pair of two boxes of a list belongs to a cell. */
export function isInCell(cell: readonly number[], boxes: Float64Array, a: number, b: number): boolean {
  for (let axis = 0; axis < 3; axis++) {
    const at = Math.max(boxes[6 * a + axis], boxes[6 * b + axis]);
    if (at < cell[axis] || at >= cell[axis + 3]) return false;
  }
  return true;
}

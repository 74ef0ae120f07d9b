// Tiles of space: a k-d tree splits the parts' boxes at medians until what a tile needs fits a worker. A part that lies
// on a border is in both tiles. A pair is of the one tile in which its reference point is, the greatest of both low
// corners (Dittrich and Seeger, "Data Redundancy and Duplicate Detection in Spatial Join Processing", 2000), so that it is
// looked at once.

/** What is looked at together. */
export interface Tile {
  /** Where the reference points of its pairs are: low corner inclusive, high corner exclusive. */
  cell: readonly number[];
  /** Parts by their number in the plan, ascending. */
  parts: readonly number[];
  /** Parts before this one are looked at with those from it on alone; 0 where all are looked at with all. */
  split: number;
}

export interface TileLimits {
  /** Most parts of a tile. */
  parts: number;
  /** Most bytes of a tile's meshes; with a larger one among them, half as many again as that has. */
  bytes: number;
}

/**
 * Chooses how many parts a tile has: enough tiles for all workers and for progress, but not more, as what lies on borders is
 * looked at twice.
 */
export function partsOfTile(parts: number, workers: number): number {
  return Math.min(4096, Math.max(LEAST_PARTS, Math.ceil((ON_BORDERS * parts) / (8 * workers))));
}

/** Tiles have so many times their share of the parts: without room for what lies on borders, each would be split again. */
const ON_BORDERS = 1.2;

/** Fewer parts are no work for two. */
export const LEAST_PARTS = 256;

/** A frame lists 1,048,576 pairs whose boxes overlap. So many parts have fewer, though all are in one place. */
const MOST_IN_ONE_PLACE = 1448;

/** So much of the largest mesh of a tile is all of its meshes at least: each tile about a large one needs that one. */
const BESIDE_LARGEST = 1.5;

/** A cut that leaves more than this share of the parts on one side is none. */
const WORTH = 0.9;

const WHOLE = [-1, -1, -1, 1, 1, 1].map((sign) => sign * Number.MAX_VALUE);

/** Splits parts, by their numbers, into tiles. `padded` has a box for each part. It may rest after each step. */
export function* makeTiles(
  list: readonly number[],
  parts: readonly { mesh: number }[],
  padded: Float64Array,
  bytesOf: (mesh: number) => number,
  limits: TileLimits,
): Generator<void, Tile[]> {
  const tiles: Tile[] = [];
  const alone: Tile[] = [];
  const fits = (list: readonly number[]): boolean => {
    if (list.length > limits.parts) return false;
    let [sum, largest] = [0, 0];
    for (const mesh of new Set(list.map((part) => parts[part].mesh))) {
      sum += bytesOf(mesh);
      largest = Math.max(largest, bytesOf(mesh));
    }
    return sum <= Math.max(limits.bytes, BESIDE_LARGEST * largest);
  };
  function* divide(list: readonly number[], cell: readonly number[]): Generator<void> {
    yield;
    if (list.length < 2) {
      if (list.length === 1) alone.push({ cell, parts: list, split: 0 });
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
  /** Divides parts that lie in one place. */
  function* divideList(tile: Tile): Generator<void> {
    yield;
    const { parts } = tile;
    if (parts.length < 2) return;
    if (parts.length === 2 || (parts.length <= MOST_IN_ONE_PLACE && fits(parts))) tiles.push(tile);
    else for (const smaller of halvesOf(tile)) yield* divideList(smaller);
  }
  yield* divide(list, WHOLE);
  if (alone.length > 0) {
    // A part that is in no other tile has no pairs, but is looked at, too: perhaps it cannot be read.
    const others = new Set(tiles.flatMap(({ parts }) => parts));
    for (const tile of alone) {
      const [part] = tile.parts;
      if (others.has(part)) continue;
      others.add(part);
      tiles.push(tile);
    }
  }
  return tiles;
}

/**
 * Divides a tile into such that have its pairs together: each half of the parts by itself, then the one with the other; or each half
 * of a side of its split with each half of the other side.
 */
export function halvesOf({ cell, parts, split }: Tile): Tile[] {
  const [low, high] = split > 0 ? [parts.slice(0, split), parts.slice(split)] : halves(parts);
  if (split === 0) {
    return [
      { cell, parts: low, split },
      { cell, parts: high, split },
      { cell, parts, split: low.length },
    ];
  }
  return halves(low).flatMap((one) => {
    return halves(high).map((other) => ({ cell, parts: [...one, ...other], split: one.length }));
  });
}

/** Halves a list; one of one part stays as it is. */
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

/** A median is that of so many low corners at most, as to sort all of them took half of the planning. */
const MOST_SAMPLES = 1023;

/**
 * Finds the median of the low corners, which reference points are among, that leaves least on both sides; null for none.
 */
function bestCut(list: readonly number[], padded: Float64Array): Cut | null {
  let best: { axis: number; at: number } | null = null;
  let least = WORTH * list.length;
  const stride = Math.ceil(list.length / MOST_SAMPLES);
  const corners = new Float64Array(Math.ceil(list.length / stride));
  for (let axis = 0; axis < 3; axis++) {
    for (let i = 0; i < corners.length; i++) corners[i] = padded[6 * list[i * stride] + axis];
    const at = corners.sort()[corners.length >> 1];
    let [low, high] = [0, 0];
    for (const part of list) {
      if (padded[6 * part + axis] < at) low++;
      if (padded[6 * part + axis + 3] >= at) high++;
    }
    const larger = Math.max(low, high);
    if (larger >= least) continue;
    least = larger;
    best = { axis, at };
  }
  if (best === null) return null;
  const { axis, at } = best;
  const low = list.filter((part) => padded[6 * part + axis] < at);
  const high = list.filter((part) => padded[6 * part + axis + 3] >= at);
  return { axis, at, low, high };
}

/** Tells whether the pair of two boxes of a list is of a cell. */
export function isOfCell(cell: readonly number[], boxes: Float64Array, a: number, b: number): boolean {
  for (let axis = 0; axis < 3; axis++) {
    const at = Math.max(boxes[6 * a + axis], boxes[6 * b + axis]);
    if (at < cell[axis] || at >= cell[axis + 3]) return false;
  }
  return true;
}

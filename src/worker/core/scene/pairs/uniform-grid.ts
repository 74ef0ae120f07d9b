// A uniform grid (Ericson, Real-Time Collision Detection, 2005, 7.1) of moving objects of similar sizes. Cells are at least as
// long as any object, so that every object that overlaps another lies in the same cell or in a neighbour of it. A counting sort
// puts the objects in the order of their cells; three cells in a row are then one range.
//
// The bounds of an object are a polytope of seven directions (Klosowski et al., "Efficient Collision Detection Using Bounding
// Volume Hierarchies of k-DOPs", 1998): the axes and the four diagonals of a cube. Each bound is a byte, in steps so small that
// the bounds of two overlapping objects differ by less than half of a byte's range; then the difference is right although the
// steps themselves wrap around. One vector subtraction tests two objects for overlap. Objects that are apart may seem to overlap
// because of the wrapping: the separating axes decide that.

import { laneCompaction } from '../../math/lane-compaction';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { BLOCK_BYTES, HOLE, Tree, blockAt, cellAt, maxLane, laneAt, proxyAt, slotAt } from '../index/octree';
import { isAnyReaching } from '../motions';

/** Fewer objects need no grid. More are not put in one, since that is not done in slices and would take more than 3 ms. */
const MIN_OBJECTS: u32 = 128;
const MAX_OBJECTS: u32 = 1 << 16;
/**
 * How many pairs in the same cell there may be per object, for similar and for dissimilar sizes: cells are as large as the
 * longest object. The broad phase of 10,000 turned boxes takes 0.70 of the time of the trees if each meets 1.3 others, and 0.58
 * to 0.75 if they are 2 to 8 times as dense; with ten of 10,000 eight times as long as the others it would take 9 times as long.
 * If more objects are together, 256 are near each, and the trees skip whole classes (near-runs.ts).
 */
const MAX_CELL_PAIRS_SIMILAR: u32 = 4;
const MAX_CELL_PAIRS: u32 = 1;
/** Sizes are similar if the longest edge of any bounds is no more than this many times the mean. */
const SIMILAR_SIZE_RATIO: f32 = 2.5;
/**
 * A cell is longer than the longest object by at least this factor, so that rounding leaves neighbours in neighbouring cells.
 */
const CELL_MARGIN: f32 = 1.001;
/** The most cells along an axis, and the most cells per object. */
const MAX_CELLS_PER_AXIS: f32 = 1000;
const MAX_CELLS_PER_OBJECT: f32 = 3;
/**
 * The most steps of the longest object: two such lengths must be less than 127, and each bound may be up to 1.15 too far out.
 */
const MAX_OBJECT_STEPS: f32 = 61;
/** The most steps of the scene along a diagonal, so that float32 resolves 1/32 of a step there. */
const MAX_SCENE_STEPS: f32 = 262144;
/** The length of a diagonal of the unit cube, rounded up. */
const DIAGONAL: f32 = 1.7320509;
/** Half a step for rounding to the nearest step, plus the possible rounding error. */
const ROUNDING_STEPS: f32 = 0.65;
/** The last bit of floats from this number on is a step: their last byte is the number of steps from the centre. */
const STEPS_BASE: f32 = 12582912; // 1.5 · 2^23
/** The last bit of floats from this number on is a unit. */
const UNITS_BASE: f32 = 8388608; // 2^23
const UNITS_MASK: i32 = 0x7fffff;
/** How many frames use the trees after one whose objects do not suit a grid. */
const FRAMES_WITHOUT_GRID: u32 = 16;
/** How many objects are swept between two readings of the clock. */
const OBJECTS_PER_READING: u32 = 1024;

/** The bounds of all objects, minima and then the negatives of maxima; and the addresses of proxies. Both are sorted by cells. */
let bounds: usize = 0;
export let gridProxies: usize = 0;
export let gridCount: u32 = 0;
/** The index of each cell's first object; the range ends where that of the next cell begins. */
let cellStarts: usize = 0;
let cellCount: u32 = 0;
/** The cell number of empty positions. */
let emptyCell: u32 = 0;
/** The difference of cell numbers from a row to the next, and from a plane to the next. */
let rowStride: u32 = 0;
let planeStride: u32 = 0;
/** The address of the entry of `cellStarts` before that of each object's cell, sorted by cells. */
let startAddresses: usize = 0;
/** The cell number of each position. */
let cellOfPosition: usize = 0;
let nextObject: u32 = 0;
let framesWithoutGrid: u32 = 0;

/**
 * The rows of cells that an object is swept over, its own and four later ones: the offsets of their starts from that of its cell.
 */
const ROW_OFFSETS_BYTES: i32 = 5 * 4;
const rowOffsets: usize = memory.data(ROW_OFFSETS_BYTES, 16);

/** Puts the objects of a tree in a grid. Returns false if that would not pay. Throws OUT_OF_MEMORY. */
export function fillGrid(tree: Tree): bool {
  if (framesWithoutGrid > 0) {
    framesWithoutGrid--;
    return false;
  }
  gridCount = tree.count - tree.holes;
  if (gridCount < MIN_OBJECTS || tree.positions > MAX_OBJECTS) return false;
  if (layOutCells(tree) && countCells(tree)) {
    sortByCells(tree);
    nextObject = 0;
    return true;
  }
  framesWithoutGrid = FRAMES_WITHOUT_GRID;
  return false;
}

let maxCellPairs: u32 = 0;
let inverseCellLength: f32 = 0;
let scale: f32 = 0;
let diagonalScale: f32 = 0;

function layOutCells(tree: Tree): bool {
  let maxEdges = f32x4.splat(0), maxSums = maxEdges, total = maxEdges;
  for (let block = tree.blocks, end = blockAt(tree, tree.positions); block < end; block += BLOCK_BYTES) {
    // -Infinity for an empty lane.
    const x = f32x4.sub(v128.load(block, 48), v128.load(block));
    const y = f32x4.sub(v128.load(block, 64), v128.load(block, 16));
    const z = f32x4.sub(v128.load(block, 80), v128.load(block, 32));
    maxEdges = f32x4.pmax(maxEdges, f32x4.pmax(f32x4.pmax(x, y), z));
    const sum = f32x4.add(f32x4.add(x, y), z);
    maxSums = f32x4.pmax(maxSums, sum);
    total = f32x4.add(total, f32x4.pmax(f32x4.splat(0), sum));
  }
  const longest = maxLane(maxEdges), sum = maxLane(maxSums);
  const root = cellAt(tree, 0);
  const x = root.maxX - root.minX, y = root.maxY - root.minY, z = root.maxZ - root.minZ;
  const size = max(max(x, y), z);
  const maxReach = isAnyReaching ? maxReachIn(tree) : 0;
  if (!(longest > 0 && size < 1e18 && maxReach < 1e18)) return false;
  const count = <f32>gridCount;
  const mean = (f32x4.extract_lane(total, 0) + f32x4.extract_lane(total, 1) + f32x4.extract_lane(total, 2) + f32x4.extract_lane(total, 3)) / (3 * count);
  maxCellPairs = gridCount * (longest <= SIMILAR_SIZE_RATIO * mean ? MAX_CELL_PAIRS_SIMILAR : MAX_CELL_PAIRS);
  let length = max(longest * CELL_MARGIN, size / (MAX_CELLS_PER_AXIS - 3));
  let nx: f32 = 0, ny: f32 = 0, nz: f32 = 0;
  for (; ; length *= 1.2) {
    nx = ceil<f32>(x / length) + 2;
    ny = ceil<f32>(y / length) + 2;
    nz = ceil<f32>(z / length) + 1;
    if (nx * ny * nz <= (count + 256) * MAX_CELLS_PER_OBJECT) break;
  }
  inverseCellLength = 1 / length;
  const maxScale = MAX_SCENE_STEPS / (3 * size);
  scale = min(MAX_OBJECT_STEPS / longest, maxScale);
  // The reach beyond a shape extends along diagonals as well. For 10,000 continuous boxes, 14,300 pairs are then left to the
  // separating axes, instead of 18,500 without diagonals, and the broad phase takes 0.92 of the time.
  diagonalScale = min(MAX_OBJECT_STEPS / (sum + 2 * DIAGONAL * maxReach), maxScale);
  rowStride = <u32>nx;
  planeStride = rowStride * <u32>ny;
  cellCount = planeStride * <u32>nz;
  return true;
}

/** Returns the farthest reach of any object of a tree beyond its shape. */
function maxReachIn(tree: Tree): f32 {
  let maxReach: f32 = 0;
  for (let position: u32 = 0; position < tree.positions; position++) {
    if (slotAt(tree, position) != HOLE) maxReach = max(maxReach, proxyAt(tree, position).reach);
  }
  return maxReach;
}

/**
 * Finds the cells of all objects and the number of objects in each. Returns false if too many share a cell. Throws OUT_OF_MEMORY.
 */
function countCells(tree: Tree): bool {
  const positions = tree.positions;
  // The first entry is no cell, so that each cell has an entry before it. The runs of the last cells extend a plane beyond. The
  // entry behind that is for empty positions.
  emptyCell = cellCount + planeStride + rowStride + 5;
  const words = <u64>emptyCell + 3;
  cellStarts = reserve(cellStarts, 0, words << 2);
  memory.fill(cellStarts, 0, <usize>words << 2);
  cellOfPosition = reserve(cellOfPosition, 0, <u64>positions << 2);
  const root = cellAt(tree, 0);
  const twiceMinX = f32x4.splat(2 * root.minX), twiceMinY = f32x4.splat(2 * root.minY), twiceMinZ = f32x4.splat(2 * root.minZ);
  const half = f32x4.splat(0.5 * inverseCellLength);
  const rows = f32x4.splat(<f32>rowStride), planes = f32x4.splat(<f32>planeStride), noCell = i32x4.splat(<i32>emptyCell);
  let at = cellOfPosition, cellPairs: u32 = 0;
  for (let block = tree.blocks, end = blockAt(tree, positions); block < end; block += BLOCK_BYTES) {
    const x = cellAlong(v128.load(block), v128.load(block, 48), twiceMinX, half);
    const y = cellAlong(v128.load(block, 16), v128.load(block, 64), twiceMinY, half);
    const z = cellAlong(v128.load(block, 32), v128.load(block, 80), twiceMinZ, half);
    const cell = f32x4.add(f32x4.add(x, f32x4.mul(y, rows)), f32x4.add(f32x4.mul(z, planes), f32x4.splat(UNITS_BASE + 1)));
    const isOccupied = f32x4.le(v128.load(block), v128.load(block, 48));
    v128.store(at, v128.bitselect(v128.and(cell, i32x4.splat(UNITS_MASK)), noCell, isOccupied));
    for (const vectorEnd = at + 16; at < vectorEnd; at += 4) {
      // Written two entries later, so that the sums are the beginnings of cells while these are being filled.
      const to = cellStarts + (<usize>load<u32>(at) << 2);
      const previousCount = load<u32>(to, 8);
      store<u32>(to, previousCount + 1, 8);
      cellPairs += previousCount;
    }
  }
  const empty = load<u32>(cellStarts + (<usize>emptyCell << 2), 8);
  cellPairs -= <u32>((<u64>empty * (empty - 1)) >> 1);
  return cellPairs <= maxCellPairs;
}

// @ts-ignore: decorator
@inline
function cellAlong(minBounds: v128, maxBounds: v128, twiceOrigin: v128, half: v128): v128 {
  const at = f32x4.mul(f32x4.sub(f32x4.add(minBounds, maxBounds), twiceOrigin), half);
  return f32x4.sub(f32x4.add(at, f32x4.splat(UNITS_BASE)), f32x4.splat(UNITS_BASE));
}

/** Writes the bounds and proxies of all objects in the order of their cells. Throws OUT_OF_MEMORY. */
function sortByCells(tree: Tree): void {
  const positions = tree.positions;
  // Whole vectors are read, four at once.
  bounds = reserve(bounds, 0, <u64>(positions + 4) << 4);
  gridProxies = reserve(gridProxies, 0, <u64>(positions + 4) << 2);
  startAddresses = reserve(startAddresses, 0, <u64>positions << 2);
  store<u32>(rowOffsets, rowStride << 2, 4);
  store<u32>(rowOffsets, (planeStride - rowStride) << 2, 8);
  store<u32>(rowOffsets, planeStride << 2, 12);
  store<u32>(rowOffsets, (planeStride + rowStride) << 2, 16);
  let sum: u32 = 0;
  for (let at = cellStarts + 8, end = cellStarts + (<usize>emptyCell << 2); at < end; at += 4) {
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  const root = cellAt(tree, 0);
  const origin = f32x4(root.minX, root.minY, root.minZ, 0);
  const originX = sceneOriginX + root.minX, originY = sceneOriginY + root.minY, originZ = sceneOriginZ + root.minZ;
  const steps = f32x4.splat(scale), diagonalSteps = f32x4.splat(diagonalScale);
  const rounding = f32x4.splat(ROUNDING_STEPS), stepsBase = f32x4.splat(STEPS_BASE);
  for (let position: u32 = 0; position < positions; position++) {
    const cell = load<u32>(cellOfPosition + (<usize>position << 2));
    if (cell == emptyCell) continue;
    const start = cellStarts + (<usize>cell << 2);
    const index = <usize>load<u32>(start, 4);
    store<u32>(start, <u32>index + 1, 4);
    const proxy = proxyAt(tree, position), lane = laneAt(tree, position), edges = changetype<usize>(proxy) + offsetof<Proxy>('edgeXx');
    let minBounds = v128.load32_lane(lane + 32, v128.load32_lane(lane + 16, v128.load32_zero(lane), 1), 2);
    let maxBounds = v128.load32_lane(lane + 80, v128.load32_lane(lane + 64, v128.load32_zero(lane, 48), 1), 2);
    minBounds = f32x4.sub(f32x4.mul(f32x4.sub(minBounds, origin), steps), rounding);
    maxBounds = f32x4.sub(f32x4.mul(f32x4.sub(origin, maxBounds), steps), rounding);
    const centre = alongDiagonals(
      f32x4.splat(<f32>(proxy.x - originX)), f32x4.splat(<f32>(proxy.y - originY)), f32x4.splat(<f32>(proxy.z - originZ)),
    );
    const extent = f32x4.add(
      f32x4.add(f32x4.add(edgeAlong(edges), edgeAlong(edges + 12)), edgeAlong(edges + 24)), f32x4.splat(DIAGONAL * proxy.reach),
    );
    const minDiagonal = f32x4.sub(f32x4.mul(f32x4.sub(centre, extent), diagonalSteps), rounding);
    const maxDiagonal = f32x4.sub(f32x4.mul(f32x4.neg(f32x4.add(centre, extent)), diagonalSteps), rounding);
    const minBytes = lastBytes(f32x4.add(minBounds, stepsBase), f32x4.add(minDiagonal, stepsBase));
    const maxBytes = lastBytes(f32x4.add(maxBounds, stepsBase), f32x4.add(maxDiagonal, stepsBase));
    v128.store(bounds + (index << 4), v128.shuffle<i64>(minBytes, maxBytes, 0, 2));
    store<u32>(gridProxies + (index << 2), <u32>changetype<usize>(proxy));
    store<u32>(startAddresses + (index << 2), <u32>start - 4);
  }
}

/** Returns the last bytes of the lanes of a, then of b, in the first half of a vector. */
// @ts-ignore: decorator
@inline
function lastBytes(a: v128, b: v128): v128 {
  return v128.shuffle<i8>(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
}

/** Returns the projections of a vector on the four diagonals of a cube. */
// @ts-ignore: decorator
@inline
function alongDiagonals(x: v128, y: v128, z: v128): v128 {
  return f32x4.add(
    f32x4.add(x, f32x4.mul(y, f32x4(1, 1, -1, -1))), f32x4.mul(z, f32x4(1, -1, 1, -1)),
  );
}

// @ts-ignore: decorator
@inline
function edgeAlong(edge: usize): v128 {
  return f32x4.abs(alongDiagonals(v128.load32_splat(edge), v128.load32_splat(edge, 4), v128.load32_splat(edge, 8)));
}

/** Returns whether objects are still to be swept. */
export function hasUnswept(): bool {
  return nextObject < gridCount;
}

/**
 * Sweeps objects over their neighbours until this many bytes are listed, or until OBJECTS_PER_READING objects are swept.
 * Writes the proxies of pairs with overlapping bounds to two lists; beyond `bytes`, these must have room for as many entries
 * as there are objects in the grid, and a vector. Returns the bytes of each list.
 */
export function sweepGrid(proxiesA: usize, proxiesB: usize, bytes: usize): usize {
  let listedBytes: usize = 0, i = nextObject;
  for (const endObject = min(gridCount, i + OBJECTS_PER_READING); i < endObject && listedBytes < bytes; i++) {
    const ownBounds = v128.load(bounds + (<usize>i << 4));
    const negatedBounds = i8x16.neg(v128.shuffle<i64>(ownBounds, ownBounds, 1, 0));
    const first = v128.load32_splat(gridProxies + (<usize>i << 2));
    const cell = <usize>load<u32>(startAddresses + (<usize>i << 2));
    for (let run = rowOffsets; run < rowOffsets + ROW_OFFSETS_BYTES; run += 4) {
      // In its own row, only later objects: objects in other rows are all later.
      const start = cell + <usize>load<u32>(run);
      let k = <usize>max(load<u32>(start), i + 1);
      const end = <usize>load<u32>(start, 12);
      // Nearly all runs have four objects or fewer, so none is tested for being empty.
      do {
        const four = bounds + (k << 4);
        const p = compare(negatedBounds, four), q = compare(negatedBounds, four + 32);
        const apart = v128.or(v128.shuffle<i32>(p, q, 0, 2, 4, 6), v128.shuffle<i32>(p, q, 1, 3, 5, 7));
        const isApart = v128.and(apart, i32x4.splat(<i32>0x80808080));
        const bits = i32x4.bitmask(i32x4.eq(isApart, i32x4.splat(0))) & ~(-1 << <i32>min<isize>(end - k, 4));
        v128.store(proxiesA + listedBytes, first);
        v128.store(proxiesB + listedBytes, v128.swizzle(v128.load(gridProxies + (k << 2)), laneCompaction(bits)));
        listedBytes += <usize>popcnt(bits) << 2;
        k += 4;
      } while (k < end);
    }
  }
  nextObject = i;
  return listedBytes;
}

/**
 * Combines the halves of two comparisons: the first lanes of one and then of the other, where both halves of each are merged.
 */
// @ts-ignore: decorator
@inline
function compare(negatedBounds: v128, two: usize): v128 {
  const p = i8x16.sub(negatedBounds, v128.load(two)), q = i8x16.sub(negatedBounds, v128.load(two, 16));
  return v128.or(v128.shuffle<i64>(p, q, 0, 2), v128.shuffle<i64>(p, q, 1, 3));
}

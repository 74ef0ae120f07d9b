// A uniform grid (Ericson, Real-Time Collision Detection, 2005, 7.1) of moving objects of like sizes. Cells are no shorter than
// any object, so that what overlaps an object lies in its own cell or in one beside that. Objects are put in the order of their cells
// by counting; three cells in a row are one range then.
//
// The bounds of an object are a polytope of seven directions (Klosowski et al., "Efficient Collision Detection Using Bounding
// Volume Hierarchies of k-DOPs", 1998): the axes and the four diagonals of a cube. Each bound is a byte, in steps so small that two
// objects that overlap are less than half of a byte's range from each other; then the difference is right though the steps
// themselves wrap around. Whether two objects overlap is one subtraction of vectors. What is apart and wraps around may seem to
// overlap: the separating axes tell.

import { laneCompaction } from '../../math/lane-compaction';
import { reserve } from '../../memory';
import { Proxy } from '../../shape/proxy';
import { sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { BLOCK_BYTES, HOLE, Tree, blockAt, cellAt, highest, laneAt, proxyAt, slotAt } from '../index/octree';
import { isAnyReaching } from '../ways';

/** Fewer objects have no need of a grid; more are not put in one, as that is not done in slices and would take more than 3 ms. */
const FEWEST: u32 = 128;
const MOST: u32 = 1 << 16;
/**
 * How many pairs of one cell there may be for each object, where sizes are alike and where they are not: cells are as large as
 * the longest object. The broad phase of 10,000 turned boxes takes 0.70 of the time that it takes by the trees where each meets 1.3
 * others, 0.58 to 0.75 where they are 2 to 8 times as dense; with ten of 10,000 eight times as long as the others it would take
 * 9 times as long. Where more are together, 256 are near each, and the trees pass over whole classes (near-runs.ts).
 */
const MOST_TOGETHER_ALIKE: u32 = 4;
const MOST_TOGETHER: u32 = 1;
/** Sizes are alike where the longest edge of bounds is no more than so many times the mean. */
const ALIKE: f32 = 2.5;
/** A cell is longer than the longest object by so much at least, so that rounding leaves neighbours beside each other. */
const LONGER: f32 = 1.001;
/** How many cells there may be along an axis; and for each object. */
const MOST_ALONG: f32 = 1000;
const MOST_CELLS: f32 = 3;
/** The steps of the longest object at most, as two of these are to be less than 127, and each bound is up to 1.15 too far. */
const MOST_STEPS: f32 = 61;
/** The steps of the scene along a diagonal at most, so that float32 has 1/32 of a step there. */
const ALL_STEPS: f32 = 262144;
/** How long a diagonal of the unit cube is, rounded up. */
const DIAGONAL: f32 = 1.7320509;
/** Half a step, as the nearest is taken, and what rounding may take away. */
const OUTWARD: f32 = 0.65;
/** The last bit of floats from this number on is a step: their last byte is the number of steps from the middle. */
const STEPS: f32 = 12582912; // 1.5 · 2^23
/** The last bit of floats from this number on is a unit. */
const UNITS: f32 = 8388608; // 2^23
const UNITS_MASK: i32 = 0x7fffff;
/** Frames that are found by the trees after one whose objects suit no grid. */
const FRAMES_WITHOUT: u32 = 16;
/** How many objects are swept between two looks at the clock. */
const OBJECTS_AT_ONCE: u32 = 1024;

/** In the order of cells: the bounds of each object, low and then the negative of high; and the addresses of proxies. */
let bounds: usize = 0;
export let gridProxies: usize = 0;
export let gridCount: u32 = 0;
/** Where the objects of each cell begin; its end is where those of the next begin. */
let starts: usize = 0;
let cellCount: u32 = 0;
/** The number that stands for the cell of an empty position. */
let nowhere: u32 = 0;
/** The numbers of cells from a row to the next, and from a plane to the next. */
let row: u32 = 0;
let plane: u32 = 0;
/** In the order of cells: the address of the start before that of the object's cell. */
let startsOf: usize = 0;
/** By position: the number of the cell. */
let cellsOf: usize = 0;
let nextObject: u32 = 0;
let framesWithout: u32 = 0;

/** The rows of cells that an object is swept over, its own and four that come later: how far their starts are from its cell's. */
const RUNS_BYTES: i32 = 5 * 4;
const runs: usize = memory.data(RUNS_BYTES, 16);

/** Puts the objects of a tree in a grid. Answers false where that would not pay. Throws OUT_OF_MEMORY. */
export function fillGrid(tree: Tree): bool {
  if (framesWithout > 0) {
    framesWithout--;
    return false;
  }
  gridCount = tree.count - tree.holes;
  if (gridCount < FEWEST || tree.positions > MOST) return false;
  if (layOutCells(tree) && countCells(tree)) {
    sortByCells(tree);
    nextObject = 0;
    return true;
  }
  framesWithout = FRAMES_WITHOUT;
  return false;
}

let mostTogether: u32 = 0;
let inverse: f32 = 0;
let scale: f32 = 0;
let diagonalScale: f32 = 0;

function layOutCells(tree: Tree): bool {
  let most = f32x4.splat(0), mostSum = most, total = most;
  for (let block = tree.blocks, end = blockAt(tree, tree.positions); block < end; block += BLOCK_BYTES) {
    // Of an empty lane it is -Infinity.
    const x = f32x4.sub(v128.load(block, 48), v128.load(block));
    const y = f32x4.sub(v128.load(block, 64), v128.load(block, 16));
    const z = f32x4.sub(v128.load(block, 80), v128.load(block, 32));
    most = f32x4.pmax(most, f32x4.pmax(f32x4.pmax(x, y), z));
    const sum = f32x4.add(f32x4.add(x, y), z);
    mostSum = f32x4.pmax(mostSum, sum);
    total = f32x4.add(total, f32x4.pmax(f32x4.splat(0), sum));
  }
  const longest = highest(most), sum = highest(mostSum);
  const root = cellAt(tree, 0);
  const x = root.highX - root.lowX, y = root.highY - root.lowY, z = root.highZ - root.lowZ;
  const size = max(max(x, y), z);
  const farthest = isAnyReaching ? farthestReach(tree) : 0;
  if (!(longest > 0 && size < 1e18 && farthest < 1e18)) return false;
  const count = <f32>gridCount;
  const mean = (f32x4.extract_lane(total, 0) + f32x4.extract_lane(total, 1) + f32x4.extract_lane(total, 2) + f32x4.extract_lane(total, 3)) / (3 * count);
  mostTogether = gridCount * (longest <= ALIKE * mean ? MOST_TOGETHER_ALIKE : MOST_TOGETHER);
  let length = max(longest * LONGER, size / (MOST_ALONG - 3));
  let nx: f32 = 0, ny: f32 = 0, nz: f32 = 0;
  for (; ; length *= 1.2) {
    nx = ceil<f32>(x / length) + 2;
    ny = ceil<f32>(y / length) + 2;
    nz = ceil<f32>(z / length) + 1;
    if (nx * ny * nz <= (count + 256) * MOST_CELLS) break;
  }
  inverse = 1 / length;
  const mostScale = ALL_STEPS / (3 * size);
  scale = min(MOST_STEPS / longest, mostScale);
  // What reaches beyond its shape does so along diagonals as well. Of 10,000 continuous boxes 14,300 pairs are left to the
  // separating axes then, where 18,500 would be without diagonals, and the broad phase takes 0.92 of the time.
  diagonalScale = min(MOST_STEPS / (sum + 2 * DIAGONAL * farthest), mostScale);
  row = <u32>nx;
  plane = row * <u32>ny;
  cellCount = plane * <u32>nz;
  return true;
}

/** Answers the most that an object of a tree reaches beyond its shape. */
function farthestReach(tree: Tree): f32 {
  let farthest: f32 = 0;
  for (let position: u32 = 0; position < tree.positions; position++) {
    if (slotAt(tree, position) != HOLE) farthest = max(farthest, proxyAt(tree, position).reach);
  }
  return farthest;
}

/** Finds the cells of all objects and how many are in each. Answers false where too many are in one. Throws OUT_OF_MEMORY. */
function countCells(tree: Tree): bool {
  const positions = tree.positions;
  // The first is no cell, so that each has one before it; the runs of the last ones go a plane beyond; behind that is one for
  // empty positions.
  nowhere = cellCount + plane + row + 5;
  const words = <u64>nowhere + 3;
  starts = reserve(starts, 0, words << 2);
  memory.fill(starts, 0, <usize>words << 2);
  cellsOf = reserve(cellsOf, 0, <u64>positions << 2);
  const root = cellAt(tree, 0);
  const lowX = f32x4.splat(2 * root.lowX), lowY = f32x4.splat(2 * root.lowY), lowZ = f32x4.splat(2 * root.lowZ);
  const half = f32x4.splat(0.5 * inverse);
  const rows = f32x4.splat(<f32>row), planes = f32x4.splat(<f32>plane), noCell = i32x4.splat(<i32>nowhere);
  let at = cellsOf, together: u32 = 0;
  for (let block = tree.blocks, end = blockAt(tree, positions); block < end; block += BLOCK_BYTES) {
    const x = cellAlong(v128.load(block), v128.load(block, 48), lowX, half);
    const y = cellAlong(v128.load(block, 16), v128.load(block, 64), lowY, half);
    const z = cellAlong(v128.load(block, 32), v128.load(block, 80), lowZ, half);
    const cell = f32x4.add(f32x4.add(x, f32x4.mul(y, rows)), f32x4.add(f32x4.mul(z, planes), f32x4.splat(UNITS + 1)));
    const isThere = f32x4.le(v128.load(block), v128.load(block, 48));
    v128.store(at, v128.bitselect(v128.and(cell, i32x4.splat(UNITS_MASK)), noCell, isThere));
    for (const last = at + 16; at < last; at += 4) {
      // Two further on, so that the sums are where cells begin while these are filled.
      const to = starts + (<usize>load<u32>(at) << 2);
      const before = load<u32>(to, 8);
      store<u32>(to, before + 1, 8);
      together += before;
    }
  }
  const empty = load<u32>(starts + (<usize>nowhere << 2), 8);
  together -= <u32>((<u64>empty * (empty - 1)) >> 1);
  return together <= mostTogether;
}

// @ts-ignore: decorator
@inline
function cellAlong(low: v128, high: v128, twiceOrigin: v128, half: v128): v128 {
  const at = f32x4.mul(f32x4.sub(f32x4.add(low, high), twiceOrigin), half);
  return f32x4.sub(f32x4.add(at, f32x4.splat(UNITS)), f32x4.splat(UNITS));
}

/** Writes the bounds and proxies of all objects in the order of their cells. Throws OUT_OF_MEMORY. */
function sortByCells(tree: Tree): void {
  const positions = tree.positions;
  // Whole vectors are read, four at once.
  bounds = reserve(bounds, 0, <u64>(positions + 4) << 4);
  gridProxies = reserve(gridProxies, 0, <u64>(positions + 4) << 2);
  startsOf = reserve(startsOf, 0, <u64>positions << 2);
  store<u32>(runs, row << 2, 4);
  store<u32>(runs, (plane - row) << 2, 8);
  store<u32>(runs, plane << 2, 12);
  store<u32>(runs, (plane + row) << 2, 16);
  let sum: u32 = 0;
  for (let at = starts + 8, end = starts + (<usize>nowhere << 2); at < end; at += 4) {
    sum += load<u32>(at);
    store<u32>(at, sum);
  }
  const root = cellAt(tree, 0);
  const middle = f32x4(root.lowX, root.lowY, root.lowZ, 0);
  const originX = sceneOriginX + root.lowX, originY = sceneOriginY + root.lowY, originZ = sceneOriginZ + root.lowZ;
  const steps = f32x4.splat(scale), diagonalSteps = f32x4.splat(diagonalScale);
  const outward = f32x4.splat(OUTWARD), inSteps = f32x4.splat(STEPS);
  for (let position: u32 = 0; position < positions; position++) {
    const cell = load<u32>(cellsOf + (<usize>position << 2));
    if (cell == nowhere) continue;
    const start = starts + (<usize>cell << 2);
    const place = <usize>load<u32>(start, 4);
    store<u32>(start, <u32>place + 1, 4);
    const proxy = proxyAt(tree, position), lane = laneAt(tree, position), edges = changetype<usize>(proxy) + offsetof<Proxy>('edgeXx');
    let low = v128.load32_lane(lane + 32, v128.load32_lane(lane + 16, v128.load32_zero(lane), 1), 2);
    let high = v128.load32_lane(lane + 80, v128.load32_lane(lane + 64, v128.load32_zero(lane, 48), 1), 2);
    low = f32x4.sub(f32x4.mul(f32x4.sub(low, middle), steps), outward);
    high = f32x4.sub(f32x4.mul(f32x4.sub(middle, high), steps), outward);
    const centre = alongDiagonals(
      f32x4.splat(<f32>(proxy.x - originX)), f32x4.splat(<f32>(proxy.y - originY)), f32x4.splat(<f32>(proxy.z - originZ)),
    );
    const reach = f32x4.add(
      f32x4.add(f32x4.add(edgeAlong(edges), edgeAlong(edges + 12)), edgeAlong(edges + 24)), f32x4.splat(DIAGONAL * proxy.reach),
    );
    const lowD = f32x4.sub(f32x4.mul(f32x4.sub(centre, reach), diagonalSteps), outward);
    const highD = f32x4.sub(f32x4.mul(f32x4.neg(f32x4.add(centre, reach)), diagonalSteps), outward);
    const lows = lastBytes(f32x4.add(low, inSteps), f32x4.add(lowD, inSteps));
    const highs = lastBytes(f32x4.add(high, inSteps), f32x4.add(highD, inSteps));
    v128.store(bounds + (place << 4), v128.shuffle<i64>(lows, highs, 0, 2));
    store<u32>(gridProxies + (place << 2), <u32>changetype<usize>(proxy));
    store<u32>(startsOf + (place << 2), <u32>start - 4);
  }
}

/** Answers the last bytes of the lanes of a, then of b, in the first half of a vector. */
// @ts-ignore: decorator
@inline
function lastBytes(a: v128, b: v128): v128 {
  return v128.shuffle<i8>(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
}

/** Answers how far a vector reaches along the four diagonals of a cube. */
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

/** Tells whether objects are still to be swept. */
export function hasRest(): bool {
  return nextObject < gridCount;
}

/**
 * Sweeps objects over their neighbours until so many bytes are listed, or for a while. Writes the proxies of pairs whose bounds
 * overlap to two lists, which have room for as many as there are in the grid behind that, and a vector. Answers the bytes of each.
 */
export function sweepGrid(firsts: usize, seconds: usize, bytes: usize): usize {
  let listed: usize = 0, i = nextObject;
  for (const last = min(gridCount, i + OBJECTS_AT_ONCE); i < last && listed < bytes; i++) {
    const own = v128.load(bounds + (<usize>i << 4));
    const against = i8x16.neg(v128.shuffle<i64>(own, own, 1, 0));
    const first = v128.load32_splat(gridProxies + (<usize>i << 2));
    const cell = <usize>load<u32>(startsOf + (<usize>i << 2));
    for (let run = runs; run < runs + RUNS_BYTES; run += 4) {
      // In its own row, only what comes later: those of the other rows do.
      const start = cell + <usize>load<u32>(run);
      let k = <usize>max(load<u32>(start), i + 1);
      const end = <usize>load<u32>(start, 12);
      // Nearly all runs are four or less, so that none is asked whether it is empty.
      do {
        const four = bounds + (k << 4);
        const p = compare(against, four), q = compare(against, four + 32);
        const apart = v128.or(v128.shuffle<i32>(p, q, 0, 2, 4, 6), v128.shuffle<i32>(p, q, 1, 3, 5, 7));
        const isApart = v128.and(apart, i32x4.splat(<i32>0x80808080));
        const bits = i32x4.bitmask(i32x4.eq(isApart, i32x4.splat(0))) & ~(-1 << <i32>min<isize>(end - k, 4));
        v128.store(firsts + listed, first);
        v128.store(seconds + listed, v128.swizzle(v128.load(gridProxies + (k << 2)), laneCompaction(bits)));
        listed += <usize>popcnt(bits) << 2;
        k += 4;
      } while (k < end);
    }
  }
  nextObject = i;
  return listed;
}

/** Answers the halves of two comparisons, the first lanes of one and then of the other, with both halves of each as one. */
// @ts-ignore: decorator
@inline
function compare(against: v128, two: usize): v128 {
  const p = i8x16.sub(against, v128.load(two)), q = i8x16.sub(against, v128.load(two, 16));
  return v128.or(v128.shuffle<i64>(p, q, 0, 2), v128.shuffle<i64>(p, q, 1, 3));
}

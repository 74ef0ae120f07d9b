import type { Outlines } from './binding/sections.js';
import { type Steps, sorted, TASKS_PER_STEP } from './binding/steps.js';
import { axesOf, cross, project, ROUNDING } from './plane-coordinates.js';

/**
 * The closed outlines of one object, in the plane's own two coordinates. Those of the next object are read into the same arrays.
 */
class Loops {
  count = 0;
  edgeCount = 0;
  /** Index of each loop's outline. */
  outlines = new Int32Array();
  /** Where the edges of each loop begin: one entry more than there are loops. */
  starts = new Int32Array();
  /** Edges from (u, v) to (s, t), four numbers each. */
  ends = new Float64Array();
  /** Minimum u and v, then maximum u and v of each loop. */
  bounds = new Float64Array();
  /** Twice the signed area of each loop, positive if it is counter-clockwise. */
  areas = new Float64Array();
  /** The loops from the largest to the smallest; and the rank of each in this order. */
  order = new Int32Array();
  ranks = new Int32Array();
  /** The loop directly around each loop, or -1; and how many loops are around it. */
  parents = new Int32Array();
  depths = new Int32Array();
  /** Crossings that are no farther apart than this may be the same one. */
  tolerance = 0;
  /** A point inside of a loop, set by `findInside`. */
  u = 0;
  v = 0;

  reserve(loopCount: number, edgeCount: number): void {
    if (loopCount >= this.starts.length) {
      const capacity = 2 * loopCount;
      for (const name of ['outlines', 'order', 'ranks', 'parents', 'depths'] as const)
        this[name] = new Int32Array(capacity);
      this.starts = new Int32Array(capacity + 1);
      this.bounds = new Float64Array(4 * capacity);
      this.areas = new Float64Array(capacity);
    }
    if (4 * edgeCount > this.ends.length) this.ends = new Float64Array(Math.max(4 * edgeCount, 2 * this.ends.length));
  }
}

/**
 * Returns for each outline the outline of the same object that it is directly inside of, or -1. Reverses closed outlines so that,
 * seen from in front of the plane, they are counter-clockwise around cut material and clockwise around a hole. `plane` is four
 * numbers, n · p + d.
 *
 * Each loop is tested with a point inside of it, as points on it may lie on other loops that touch it. Enclosing loops are
 * larger. If few loops and edges are to be examined, each larger loop, the smallest first, is tested by the parity of its
 * crossings with the ray to the left of the point. If many, the nearest edge of a larger loop to the left decides (a sweep's
 * question, as Preparata and Shamos, "Computational Geometry", 1985, put it): the point is inside of that edge's loop, or beside
 * it inside of the same parent. Edges are kept in rows that are about as high as they are, so that n edges take about n log n.
 * Where outlines cross each other, as those of self-intersecting meshes do, the answer is what these points see.
 *
 * Yields often, so that the work can be abandoned in the middle.
 */
export function* nest(outlines: Outlines, plane: ArrayLike<number>): Steps<Int32Array<ArrayBuffer>> {
  const { objects, starts } = outlines;
  const parents = new Int32Array(objects.length).fill(-1);
  const axes = axesOf(plane);
  const normal = cross(...axes);
  const loops = new Loops();
  let lastYield = 0;
  for (let first = 0; first < objects.length; ) {
    let end = first + 1;
    while (end < objects.length && objects[end] === objects[first]) end++;
    if (end - first > 1) {
      yield* readLoops(loops, outlines, first, end, axes);
      if (loops.count * loops.edgeCount <= FEW_TESTS) nestFew(loops);
      else yield* nestMany(loops);
      finish(loops, outlines, parents);
    } else if (isLoop(outlines, first) && signedArea(outlines, first, normal) < 0) {
      reverseOutline(outlines, starts[first], starts[end]);
    }
    if (end - lastYield >= OUTLINES_PER_YIELD) {
      lastYield = end;
      yield;
    }
    first = end;
  }
  return parents;
}

/** Returns whether an outline encloses an area. */
function isLoop({ starts, closed }: Outlines, i: number): boolean {
  return closed[i] === 1 && starts[i + 1] - starts[i] > 2;
}

/** Returns twice the signed area of a loop about its first point, as seen from in front of the plane. */
function signedArea({ points, starts }: Outlines, loop: number, [nx, ny, nz]: number[]): number {
  const first = 3 * starts[loop];
  const end = 3 * starts[loop + 1];
  let area = 0;
  let ax = points[first + 3] - points[first];
  let ay = points[first + 4] - points[first + 1];
  let az = points[first + 5] - points[first + 2];
  for (let i = first + 6; i < end; i += 3) {
    const bx = points[i] - points[first];
    const by = points[i + 1] - points[first + 1];
    const bz = points[i + 2] - points[first + 2];
    area += nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx);
    ax = bx;
    ay = by;
    az = bz;
  }
  return area;
}

/** Reads the loops of an object, relative to the first loop's first point, which keeps digits far from the origin. */
function* readLoops(
  loops: Loops,
  outlines: Outlines,
  first: number,
  end: number,
  axes: [number[], number[]],
): Steps<void> {
  const { points, starts } = outlines;
  loops.reserve(end - first, starts[end] - starts[first]);
  const { ends, bounds, areas } = loops;
  let loop = 0;
  let edge = 0;
  let origin = -1;
  for (let i = first; i < end; i++) {
    if (!isLoop(outlines, i)) continue;
    if (origin < 0) origin = starts[i];
    project(points, starts[i], starts[i + 1], origin, axes, ends, 4 * edge, 4);
    loops.outlines[loop] = i;
    loops.starts[loop] = edge;
    const from = 4 * edge;
    edge += starts[i + 1] - starts[i];
    const u = ends[from];
    const v = ends[from + 1];
    let minU = u;
    let minV = v;
    let maxU = u;
    let maxV = v;
    let area = 0;
    for (let at = from, next = from + 4; at < 4 * edge; at = next, next += 4) {
      if (next === 4 * edge) next = from;
      const a = ends[at];
      const b = ends[at + 1];
      const s = ends[next];
      const t = ends[next + 1];
      ends[at + 2] = s;
      ends[at + 3] = t;
      if (a < minU) minU = a;
      else if (a > maxU) maxU = a;
      if (b < minV) minV = b;
      else if (b > maxV) maxV = b;
      area += (a - u) * (t - v) - (s - u) * (b - v);
      if (next % (4 * EDGES_PER_YIELD) === 0) yield;
      if (next === from) break;
    }
    bounds[4 * loop] = minU;
    bounds[4 * loop + 1] = minV;
    bounds[4 * loop + 2] = maxU;
    bounds[4 * loop + 3] = maxV;
    areas[loop++] = area;
  }
  loops.starts[loop] = edge;
  loops.count = loop;
  loops.edgeCount = edge;
  if (origin < 0) return;
  let farthest = 0;
  for (let k = 0; k < 3; k++) farthest = Math.max(farthest, Math.abs(points[3 * origin + k]));
  for (let i = 0; i < 4 * loop; i++) farthest = Math.max(farthest, Math.abs(bounds[i]));
  loops.tolerance = ROUNDING * farthest;
}

/**
 * Compares loops by size, the largest first. An enclosing loop has larger bounds or, if these are equal but for rounding, a
 * larger area, of which a small part decides. Areas alone would not do: those of a self-crossing loop cancel out.
 */
function bySize({ bounds, areas }: Loops): (a: number, b: number) => number {
  const sizeOf = (i: number): number =>
    (bounds[4 * i + 2] - bounds[4 * i]) * (bounds[4 * i + 3] - bounds[4 * i + 1]) + Math.abs(areas[i]) / 1024;
  return (a, b) => sizeOf(b) - sizeOf(a);
}

/**
 * If all loops of an object together test no more edges than this, each tests all of them, in at most half a millisecond: most
 * objects are cut to a few short loops, and building rows for these took a fifth of a section.
 */
const FEW_TESTS = 1 << 18;

/** Finds the loop directly around each loop by testing all edges of the larger ones. */
function nestFew(loops: Loops): void {
  const { count, order, parents, depths } = loops;
  for (let i = 0; i < count; i++) order[i] = i;
  order.subarray(0, count).sort(bySize(loops));
  for (let rank = 0; rank < count; rank++) {
    const loop = order[rank];
    let parent = -1;
    if (rank > 0) findInside(loops, loop);
    // The smallest enclosing loop is the innermost one.
    for (let i = rank - 1; i >= 0 && parent < 0; i--) if (isAround(loops, order[i])) parent = order[i];
    parents[loop] = parent;
    depths[loop] = parent < 0 ? 0 : depths[parent] + 1;
  }
}

/**
 * Finds a point inside of a loop: at the height of the middle of its tallest edge, halfway between the first two crossings there.
 */
function findInside(loops: Loops, loop: number): void {
  const { ends, starts, bounds } = loops;
  const end = 4 * starts[loop + 1];
  let tallest = -1;
  let v = 0;
  for (let at = 4 * starts[loop]; at < end; at += 4) {
    const height = Math.abs(ends[at + 3] - ends[at + 1]);
    if (height <= tallest) continue;
    tallest = height;
    v = (ends[at + 1] + ends[at + 3]) / 2;
  }
  let first = Number.POSITIVE_INFINITY;
  let second = Number.POSITIVE_INFINITY;
  for (let at = 4 * starts[loop]; at < end; at += 4) {
    if (ends[at + 1] <= v === ends[at + 3] <= v) continue;
    const crossing = crossingWith(ends, at, v);
    if (crossing < first) {
      second = first;
      first = crossing;
    } else if (crossing < second) {
      second = crossing;
    }
  }
  // A loop without height has no such point.
  loops.u = second < Number.POSITIVE_INFINITY ? (first + second) / 2 : bounds[4 * loop];
  loops.v = v;
}

/**
 * Returns whether a loop encloses the point that was found: whether it crosses the ray to the left of it an odd number of times.
 */
function isAround({ ends, starts, bounds, u, v }: Loops, loop: number): boolean {
  if (v < bounds[4 * loop + 1] || v > bounds[4 * loop + 3] || u > bounds[4 * loop + 2]) return false;
  let isOdd = false;
  const end = 4 * starts[loop + 1];
  for (let at = 4 * starts[loop]; at < end; at += 4) {
    if (ends[at + 1] <= v === ends[at + 3] <= v) continue;
    if (crossingWith(ends, at, v) <= u) isOdd = !isOdd;
  }
  return isOdd;
}

/** Writes the parent of each loop to `outlineParents`, and reverses loops where needed. */
function finish(
  { count, outlines: outlineOfLoop, areas, parents, depths }: Loops,
  outlines: Outlines,
  outlineParents: Int32Array,
): void {
  const { starts } = outlines;
  for (let i = 0; i < count; i++) {
    const outline = outlineOfLoop[i];
    if (parents[i] >= 0) outlineParents[outline] = outlineOfLoop[parents[i]];
    const isHole = depths[i] % 2 === 1;
    if (areas[i] > 0 === isHole && areas[i] !== 0) reverseOutline(outlines, starts[outline], starts[outline + 1]);
  }
}

// --- many loops ---

/** Rows of edges: those of row r are `edges[starts[r] … starts[r + 1] - 1]`, sorted by their right end within the row. */
interface Rows {
  minV: number;
  rowsPerUnit: number;
  starts: Uint32Array;
  edges: Uint32Array;
  /** How far each entry reaches to the right within its row. */
  rightEnds: Float64Array;
  /** The largest width of an entry within each row. */
  widths: Float64Array;
}

/** Finds the loop directly around each loop by the nearest edge to the left. */
function* nestMany(loops: Loops): Steps<void> {
  const { count, starts, order, ranks, parents, depths } = loops;
  order.set(
    yield* sorted(
      Array.from({ length: count }, (_, i) => i),
      bySize(loops),
    ),
  );
  for (let i = 0; i < count; i++) ranks[order[i]] = i;
  const loopOfEdge = new Int32Array(loops.edgeCount);
  for (let i = 0; i < count; i++) loopOfEdge.fill(i, starts[i], starts[i + 1]);
  const rows = yield* rowsOf(loops);
  for (let rank = 0; rank < count; rank++) {
    if (rank % LOOPS_PER_YIELD === 0) yield;
    const loop = order[rank];
    findInside(loops, loop);
    const edge = edgeToTheLeft(loops, rows, loopOfEdge, rank);
    const leftLoop = edge < 0 ? -1 : loopOfEdge[edge];
    const parent = edge < 0 || opensLoop(loops, edge, leftLoop) ? leftLoop : parents[leftLoop];
    parents[loop] = parent;
    depths[loop] = parent < 0 ? 0 : depths[parent] + 1;
  }
}

/**
 * Returns whether the region to the right of an edge is inside of its loop: the left sides of a counter-clockwise loop lead
 * downwards.
 */
function opensLoop({ ends, areas }: Loops, edge: number, loop: number): boolean {
  return ends[4 * edge + 3] < ends[4 * edge + 1] === areas[loop] > 0;
}

/** Rows have at most this many entries per edge. */
const ENTRIES_PER_EDGE = 4;
/** Outlines between two yields. */
const OUTLINES_PER_YIELD = 256;
/**
 * Edges, which are sorted, between two yields; and loops that each search a row, which takes up to a millisecond if edges are
 * long and cross.
 */
const EDGES_PER_YIELD = 1 << 12;
const LOOPS_PER_YIELD = 4;

function* rowsOf({ ends, edgeCount: count }: Loops): Steps<Rows> {
  let minV = Number.POSITIVE_INFINITY;
  let maxV = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let at = 0; at < 4 * count; at += 4) {
    minV = Math.min(minV, ends[at + 1]);
    maxV = Math.max(maxV, ends[at + 1]);
    sum += Math.abs(ends[at + 3] - ends[at + 1]);
  }
  const extent = maxV - minV;
  const maxRowCount = sum > 0 ? ((ENTRIES_PER_EDGE - 2) * count * extent) / sum : 1;
  const rowCount = Math.max(1, Math.min(count, Math.floor(maxRowCount)));
  const rowsPerUnit = extent > 0 ? rowCount / extent : 0;
  const rowOf = (v: number): number => Math.min(rowCount - 1, Math.max(0, Math.floor((v - minV) * rowsPerUnit)));
  const starts = new Uint32Array(rowCount + 1);
  const eachRow = function* (visit: (row: number, edge: number) => void): Steps<void> {
    for (let e = 0; e < count; e++) {
      if (e % TASKS_PER_STEP === 0) yield;
      const a = ends[4 * e + 1];
      const b = ends[4 * e + 3];
      if (a === b) continue; // a ray to the left never crosses it
      const last = rowOf(Math.max(a, b));
      for (let row = rowOf(Math.min(a, b)); row <= last; row++) visit(row, e);
    }
  };
  yield* eachRow((row) => starts[row + 1]++);
  for (let row = 0; row < rowCount; row++) starts[row + 1] += starts[row];
  const total = starts[rowCount];
  const unsorted = new Uint32Array(total);
  const next = starts.slice(0, rowCount);
  yield* eachRow((row, edge) => {
    unsorted[next[row]++] = edge;
  });
  const edges = new Uint32Array(total);
  const rightEnds = new Float64Array(total);
  const widths = new Float64Array(rowCount);
  const edgeRightEnd = new Float64Array(count);
  let lastYield = 0;
  for (let row = 0; row < rowCount; row++) {
    if (starts[row] + row - lastYield >= EDGES_PER_YIELD) {
      lastYield = starts[row] + row;
      yield;
    }
    const rowMinV = minV + (rowsPerUnit > 0 ? row / rowsPerUnit : 0);
    const rowMaxV = minV + (rowsPerUnit > 0 ? (row + 1) / rowsPerUnit : 0);
    const rowEdges = unsorted.subarray(starts[row], starts[row + 1]);
    for (const edge of rowEdges) {
      const crossingAtMinV = crossingWith(ends, 4 * edge, rowMinV);
      const crossingAtMaxV = crossingWith(ends, 4 * edge, rowMaxV);
      edgeRightEnd[edge] = Math.max(crossingAtMinV, crossingAtMaxV);
      widths[row] = Math.max(widths[row], Math.abs(crossingAtMinV - crossingAtMaxV));
    }
    rowEdges.sort((a, b) => edgeRightEnd[a] - edgeRightEnd[b]);
    for (let i = 0; i < rowEdges.length; i++) {
      edges[starts[row] + i] = rowEdges[i];
      rightEnds[starts[row] + i] = edgeRightEnd[rowEdges[i]];
    }
  }
  return { minV, rowsPerUnit, starts, edges, rightEnds, widths };
}

/** Returns where the edge whose numbers begin at index `at` crosses a height, or the nearer end if it does not. */
function crossingWith(ends: Float64Array, at: number, v: number): number {
  const fraction = (v - ends[at + 1]) / (ends[at + 3] - ends[at + 1]);
  return ends[at] + (ends[at + 2] - ends[at]) * Math.min(1, Math.max(0, fraction));
}

/**
 * Returns the nearest edge to the left of the point that was found, among loops of lower ranks; -1 if there is none. Where loops
 * touch, several edges coincide: an edge that opens its loop is taken, of the innermost loop; else one that closes the outermost.
 */
function edgeToTheLeft(
  loops: Loops,
  { minV, rowsPerUnit, starts, edges, rightEnds, widths }: Rows,
  loopOfEdge: Int32Array,
  rank: number,
): number {
  const { ends, ranks, u, v, tolerance } = loops;
  const row = Math.min(starts.length - 2, Math.max(0, Math.floor((v - minV) * rowsPerUnit)));
  // Behind the last entry that may reach to the point's left.
  let below = starts[row];
  let above = starts[row + 1];
  while (below < above) {
    const middle = (below + above) >> 1;
    if (rightEnds[middle] <= u + widths[row]) below = middle + 1;
    else above = middle;
  }
  let nearest = -1;
  let maxCrossing = Number.NEGATIVE_INFINITY;
  let precedence = 0;
  for (let i = below - 1; i >= starts[row] && rightEnds[i] >= maxCrossing - tolerance; i--) {
    const edge = edges[i];
    const at = 4 * edge;
    const loop = loopOfEdge[edge];
    if (ranks[loop] >= rank || ends[at + 1] <= v === ends[at + 3] <= v) continue;
    const crossing = crossingWith(ends, at, v);
    if (crossing > u || crossing < maxCrossing - tolerance) continue;
    const edgePrecedence = opensLoop(loops, edge, loop) ? ranks[loop] + 1 : -ranks[loop] - 1;
    if (crossing > maxCrossing + tolerance || edgePrecedence > precedence) {
      nearest = edge;
      precedence = edgePrecedence;
    }
    maxCrossing = Math.max(maxCrossing, crossing);
  }
  return nearest;
}

/** Reverses a loop's direction; the triangle of a point is that of the segment that begins there. */
function reverseOutline({ points, triangles }: Outlines, start: number, end: number): void {
  for (let i = start, j = end - 1; i < j; i++, j--) {
    for (let c = 0; c < 3; c++) {
      const coordinate = points[3 * i + c];
      points[3 * i + c] = points[3 * j + c];
      points[3 * j + c] = coordinate;
    }
  }
  triangles.subarray(start, end - 1).reverse();
}

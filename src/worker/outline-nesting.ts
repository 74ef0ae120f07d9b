import type { Outlines } from './binding/sections.js';
import { axesOf, cross, project } from './plane-coordinates.js';

/** Edges of closed outlines of one object, in the plane's own two coordinates. */
interface Edges {
  /** From (u, v) to (s, t), four numbers each. */
  ends: Float64Array;
  /** The loop of each. */
  loops: Int32Array;
  count: number;
}

/**
 * Answers which outline each is directly inside of, of the same object, or -1; and turns closed ones so that from in
 * front of the plane they are counter-clockwise where what is inside is cut, clockwise where it is a hole. `plane` is four
 * numbers, n · p + d.
 *
 * Each loop asks at its leftmost point which edge is next to the left (a sweep's question, as Preparata and Shamos,
 * "Computational Geometry", 1985, put it): it is inside of that edge's loop, or beside it inside of the same one. Edges
 * are found in rows of about as many as the edges are high, so that n edges take about n log n. Where outlines cross each
 * other, as those of meshes that pass through themselves, the answer is what these points see.
 *
 * Yields often, so that the work can be left in the midst of it.
 */
export function* nest(outlines: Outlines, plane: ArrayLike<number>): Generator<void, Int32Array<ArrayBuffer>> {
  const { objects, starts, closed } = outlines;
  const parents = new Int32Array(objects.length).fill(-1);
  const axes = axesOf(plane);
  const normal = cross(...axes);
  let yielded = 0;
  for (let first = 0; first < objects.length; ) {
    let end = first + 1;
    while (end < objects.length && objects[end] === objects[first]) end++;
    const isLoop = (i: number): boolean => closed[i] === 1 && starts[i + 1] - starts[i] > 2;
    if (end - first > 1) {
      const loops: number[] = [];
      for (let i = first; i < end; i++) if (isLoop(i)) loops.push(i);
      yield* nestLoops(outlines, loops, axes, parents);
    } else if (isLoop(first) && areaAlone(outlines, first, normal) < 0) {
      turn(outlines, starts[first], starts[end]);
    }
    if (end - yielded >= PER_YIELD) {
      yielded = end;
      yield;
    }
    first = end;
  }
  return parents;
}

function* nestLoops(
  outlines: Outlines,
  loops: number[],
  axes: [number[], number[]],
  parents: Int32Array,
): Generator<void, void> {
  if (loops.length === 0) return;
  const { starts } = outlines;
  const edges = edgesOf(outlines, loops, axes);
  const areas = areasOf(edges, loops.length);
  const depths = new Int32Array(loops.length);
  const { parents: found, order } = yield* findParents(edges, loops.length, areas);
  for (const loop of order) {
    const parent = found[loop];
    if (parent < 0) continue;
    parents[loops[loop]] = loops[parent];
    depths[loop] = depths[parent] + 1;
  }
  for (let i = 0; i < loops.length; i++) {
    const isHole = depths[i] % 2 === 1;
    if (areas[i] > 0 === isHole && areas[i] !== 0) turn(outlines, starts[loops[i]], starts[loops[i] + 1]);
  }
}

/** Answers twice the signed area of a loop about its first point, from in front of the plane. */
function areaAlone({ points, starts }: Outlines, loop: number, [nx, ny, nz]: number[]): number {
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

/** Writes the edges of loops in the plane, about the first one's first point, which keeps digits far from the origin. */
function edgesOf({ points, starts }: Outlines, loops: number[], axes: [number[], number[]]): Edges {
  let count = 0;
  for (const loop of loops) count += starts[loop + 1] - starts[loop];
  const ends = new Float64Array(4 * count);
  const ofLoop = new Int32Array(count);
  const origin = starts[loops[0]];
  let edge = 0;
  for (let i = 0; i < loops.length; i++) {
    const start = starts[loops[i]];
    const end = starts[loops[i] + 1];
    const first = edge;
    edge += end - start;
    project(points, start, end, origin, axes, ends.subarray(4 * first), 4);
    ofLoop.fill(i, first, edge);
    for (let e = first; e < edge; e++) {
      const next = e + 1 === edge ? first : e + 1;
      ends[4 * e + 2] = ends[4 * next];
      ends[4 * e + 3] = ends[4 * next + 1];
    }
  }
  return { ends, loops: ofLoop, count };
}

/** Answers twice the signed area of each loop, positive where it is counter-clockwise. */
function areasOf({ ends, loops, count }: Edges, loopCount: number): Float64Array {
  const areas = new Float64Array(loopCount);
  // About each loop's own first point.
  const u = new Float64Array(loopCount);
  const v = new Float64Array(loopCount);
  for (let e = 0; e < count; e++) {
    const loop = loops[e];
    const at = 4 * e;
    if (e === 0 || loops[e - 1] !== loop) {
      u[loop] = ends[at];
      v[loop] = ends[at + 1];
    }
    areas[loop] +=
      (ends[at] - u[loop]) * (ends[at + 3] - v[loop]) - (ends[at + 2] - u[loop]) * (ends[at + 1] - v[loop]);
  }
  return areas;
}

/** Rows of edges: those of row r are `edges[from[r] … from[r + 1] - 1]`, by how far to the right they reach in it. */
interface Rows {
  low: number;
  perRow: number;
  from: Uint32Array;
  edges: Uint32Array;
  /** How far each entry reaches to the right within its row. */
  rights: Float64Array;
  /** The widest that an entry of a row is within it. */
  widths: Float64Array;
}

/**
 * Where each loop can look at all edges by so many tests together, some 0.02 ms, there are no rows: most objects are cut to a few
 * short loops, and rows for these took a fifth of a section.
 */
const FEW_TESTS = 4096;

/** Answers the loop directly around each, or -1, and the order in which parents come before what is in them. */
function* findParents(
  edges: Edges,
  loopCount: number,
  areas: Float64Array,
): Generator<void, { parents: Int32Array; order: number[] }> {
  const { ends, loops, count } = edges;
  const leftmost = new Int32Array(loopCount).fill(-1);
  for (let e = 0; e < count; e++) {
    const found = leftmost[loops[e]];
    if (found < 0 || ends[4 * e] < ends[4 * found]) leftmost[loops[e]] = e;
  }
  const order = Array.from(leftmost.keys()).sort((a, b) => ends[4 * leftmost[a]] - ends[4 * leftmost[b]] || a - b);
  const rankOf = new Int32Array(loopCount);
  for (let i = 0; i < loopCount; i++) rankOf[order[i]] = i;
  const rows = loopCount * count > FEW_TESTS ? yield* rowsOf(edges) : undefined;
  const parents = new Int32Array(loopCount).fill(-1);
  for (const [i, loop] of order.entries()) {
    if (i % PER_YIELD === 0) yield;
    const at = 4 * leftmost[loop];
    const rank = rankOf[loop];
    const edge = rows
      ? edgeToTheLeft(edges, rows, ends[at], ends[at + 1], rankOf, rank)
      : edgeToTheLeftOfAll(edges, ends[at], ends[at + 1], rankOf, rank);
    if (edge < 0) continue;
    const other = loops[edge];
    // The left sides of a counter-clockwise loop lead downwards.
    const isDown = ends[4 * edge + 3] < ends[4 * edge + 1];
    parents[loop] = isDown === areas[other] > 0 ? other : parents[other];
  }
  return { parents, order };
}

/** The entries of rows are at most so many times the edges. */
const ENTRIES_PER_EDGE = 4;
/** Rows or loops between two chances to leave the work. */
const PER_YIELD = 256;

function* rowsOf({ ends, count }: Edges): Generator<void, Rows> {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (let at = 0; at < 4 * count; at += 4) {
    low = Math.min(low, ends[at + 1]);
    high = Math.max(high, ends[at + 1]);
    sum += Math.abs(ends[at + 3] - ends[at + 1]);
  }
  const extent = high - low;
  const most = sum > 0 ? ((ENTRIES_PER_EDGE - 2) * count * extent) / sum : 1;
  const rowCount = Math.max(1, Math.min(count, Math.floor(most)));
  const perRow = extent > 0 ? rowCount / extent : 0;
  const rowOf = (v: number): number => Math.min(rowCount - 1, Math.max(0, Math.floor((v - low) * perRow)));
  const from = new Uint32Array(rowCount + 1);
  const eachRow = (visit: (row: number, edge: number) => void): void => {
    for (let e = 0; e < count; e++) {
      const a = ends[4 * e + 1];
      const b = ends[4 * e + 3];
      if (a === b) continue; // a ray to the left never crosses it
      const last = rowOf(Math.max(a, b));
      for (let row = rowOf(Math.min(a, b)); row <= last; row++) visit(row, e);
    }
  };
  yield;
  eachRow((row) => from[row + 1]++);
  yield;
  for (let row = 0; row < rowCount; row++) from[row + 1] += from[row];
  const total = from[rowCount];
  const unsorted = new Uint32Array(total);
  const next = from.slice(0, rowCount);
  eachRow((row, edge) => {
    unsorted[next[row]++] = edge;
  });
  const edges = new Uint32Array(total);
  const rights = new Float64Array(total);
  const widths = new Float64Array(rowCount);
  const reach = new Float64Array(count);
  for (let row = 0; row < rowCount; row++) {
    if (row % PER_YIELD === 0) yield;
    const rowLow = low + (perRow > 0 ? row / perRow : 0);
    const rowHigh = low + (perRow > 0 ? (row + 1) / perRow : 0);
    const own = unsorted.subarray(from[row], from[row + 1]);
    for (const edge of own) {
      const one = crossingWith(ends, edge, rowLow);
      const other = crossingWith(ends, edge, rowHigh);
      reach[edge] = Math.max(one, other);
      widths[row] = Math.max(widths[row], Math.abs(one - other));
    }
    own.sort((a, b) => reach[a] - reach[b]);
    for (let i = 0; i < own.length; i++) {
      edges[from[row] + i] = own[i];
      rights[from[row] + i] = reach[own[i]];
    }
  }
  return { low, perRow, from, edges, rights, widths };
}

/** Answers where an edge is at a height, or at its nearer end. */
function crossingWith(ends: Float64Array, edge: number, v: number): number {
  const at = 4 * edge;
  const share = (v - ends[at + 1]) / (ends[at + 3] - ends[at + 1]);
  return ends[at] + (ends[at + 2] - ends[at]) * Math.min(1, Math.max(0, share));
}

/**
 * Answers the edge next to the left of a point, of the loops that begin farther to the left than the asking one does; -1
 * if there is none.
 */
function edgeToTheLeft(
  { ends, loops }: Edges,
  { low, perRow, from, edges, rights, widths }: Rows,
  u: number,
  v: number,
  rankOf: Int32Array,
  rank: number,
): number {
  const row = Math.min(from.length - 2, Math.max(0, Math.floor((v - low) * perRow)));
  // Behind the last entry that may reach to the point's left.
  let below = from[row];
  let above = from[row + 1];
  while (below < above) {
    const middle = (below + above) >> 1;
    if (rights[middle] <= u + widths[row]) below = middle + 1;
    else above = middle;
  }
  let nearest = -1;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = below - 1; i >= from[row] && rights[i] >= most; i--) {
    const edge = edges[i];
    const at = 4 * edge;
    if (rankOf[loops[edge]] >= rank || ends[at + 1] <= v === ends[at + 3] <= v) continue;
    const crossing = crossingWith(ends, edge, v);
    if (crossing <= u && crossing > most) {
      most = crossing;
      nearest = edge;
    }
  }
  return nearest;
}

/** Answers the same as `edgeToTheLeft` by all edges. */
function edgeToTheLeftOfAll(
  { ends, loops, count }: Edges,
  u: number,
  v: number,
  rankOf: Int32Array,
  rank: number,
): number {
  let nearest = -1;
  let most = Number.NEGATIVE_INFINITY;
  for (let edge = 0; edge < count; edge++) {
    const at = 4 * edge;
    if (ends[at + 1] <= v === ends[at + 3] <= v || rankOf[loops[edge]] >= rank) continue;
    const crossing = crossingWith(ends, edge, v);
    if (crossing <= u && crossing > most) {
      most = crossing;
      nearest = edge;
    }
  }
  return nearest;
}

/** Turns a loop's direction round; the triangle of a point is that of the segment that begins there. */
function turn({ points, triangles }: Outlines, start: number, end: number): void {
  for (let i = start, j = end - 1; i < j; i++, j--) {
    for (let c = 0; c < 3; c++) {
      const kept = points[3 * i + c];
      points[3 * i + c] = points[3 * j + c];
      points[3 * j + c] = kept;
    }
  }
  triangles.subarray(start, end - 1).reverse();
}

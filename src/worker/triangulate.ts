import { type Steps, sorted, TASKS_PER_STEP } from './binding/steps.js';

/** A point of the chain below an interval. */
interface ChainPoint {
  readonly point: number;
  /** The chain's points at its left and right. */
  0?: ChainPoint | undefined;
  1?: ChainPoint | undefined;
}

/** A part of the sweep line that is inside of the polygon. What has two sides is a list: left, then right. */
interface Interval {
  /** An edge has the number of the point where it begins: the left one leads downwards, the right one upwards. */
  edges: [number, number];
  /** The chain's ends: the lower ends of both edges. */
  ends: [ChainPoint, ChainPoint];
  /** The chain's highest point. */
  top: ChainPoint;
  block: Interval[];
}

/** Intervals are kept from left to right, in blocks of at most this many. */
const MAX_BLOCK = 128;

/** The line's slope. Few edges have it; along others, rounding leaves the order of points as it is. */
const SLOPE = 0.2357;

/** At most this part of the triangles' area may face the wrong way, where edges cross by a little. */
const MAX_FLIPPED = 2 ** -10;

/**
 * Triangulates a polygon: a counter-clockwise outer ring and clockwise holes. `flat` is x and y of each point; the points of each
 * hole begin at one of `holeStarts`. Points no farther than `tolerance` from an edge may be on either side of it, and those as
 * close to the previous point of their ring are left out. Returns three points per triangle, in either direction; or undefined
 * if the polygon crosses itself by more than a little. Yields often.
 *
 * A line sweeps over the points, as in Hertel and Mehlhorn, "Fast triangulation of simple polygons", 1983. Below each of its
 * intervals inside the polygon, all is triangulated up to a chain of points, from edge to edge, at each of which it bends down
 * or goes straight on. Each point that the line meets cuts off the triangles between it and the part of the chain that it sees.
 * Thus n points take some n log n.
 */
export function* triangulate(
  flat: Float64Array,
  holeStarts: readonly number[],
  tolerance: number,
): Steps<number[] | undefined> {
  const count = flat.length / 2;
  const next = new Uint32Array(count);
  const previous = new Uint32Array(count);
  const triangles: number[] = [];
  /** The interval beside each edge that crosses the line. */
  const intervals = new Array<Interval | undefined>(count);
  /** The first one stands for what is to the left of the polygon. */
  const blocks: Interval[][] = [[]];
  blocks[0].push({ edges: [], block: blocks[0] } as unknown as Interval);
  let area = 0;
  let covered = 0;
  let tasks = 0;

  const heightOf = (i: number) => flat[2 * i + 1] + SLOPE * flat[2 * i];
  const distance = (a: number, b: number) =>
    Math.abs(flat[2 * a] - flat[2 * b]) + Math.abs(flat[2 * a + 1] - flat[2 * b + 1]);

  /**
   * Cuts off triangles between a point above a chain and the chain, from one of its points on to one side, as long as the point
   * sees the next one. Returns the one that it does not see past.
   */
  function* cut(point: number, from: ChainPoint, side: 0 | 1, isAll = false): Steps<ChainPoint> {
    let at = from;
    for (;;) {
      const beyond: ChainPoint | undefined = at[side];
      if (beyond === undefined) return at;
      const turn = turnOf(flat, at.point, beyond.point, point) * (side ? 1 : -1);
      if (!isAll && turn <= 0) {
        // Edges that lie one upon the other, but for rounding, are cut off, too.
        const near = distance(point, at.point);
        const far = distance(at.point, beyond.point);
        if (turn < -tolerance * (near + far) || distance(point, beyond.point) > Math.max(near, far) + tolerance)
          return at;
      }
      triangles.push(at.point, beyond.point, point);
      area += turn;
      covered += Math.abs(turn);
      at = beyond;
      if (++tasks % TASKS_PER_STEP === 0) yield;
    }
  }

  /**
   * Returns the last interval whose left edge is to the left of a point. If the point is on the edge, but for rounding, the edges
   * above it decide; and if the edge ends there, so does `side`, which is -1 for the right side of the point.
   */
  function find(point: number, side: number): Interval {
    const isLeft = ({ edges: [edge] }: Interval) => {
      const sideOf = (i: number) => {
        const turn = turnOf(flat, edge, next[edge], i);
        return Math.abs(turn) <= tolerance * distance(edge, next[edge]) ? 0 : turn;
      };
      return !((sideOf(point) || (distance(edge, point) <= tolerance ? side : sideOf(previous[point]))) < 0);
    };
    return lastOf(
      lastOf(blocks, ([each]) => isLeft(each)),
      isLeft,
    );
  }

  /** Inserts an interval to the right of another one. */
  function insert(left: Interval): Interval {
    const { block } = left;
    const interval = { ...left };
    block.splice(block.indexOf(left) + 1, 0, interval);
    if (block.length > MAX_BLOCK) {
      const half = block.splice(MAX_BLOCK / 2);
      for (const each of half) each.block = half;
      blocks.splice(blocks.indexOf(block) + 1, 0, half);
    }
    return interval;
  }

  function remove(interval: Interval): void {
    const { block } = interval;
    block.splice(block.indexOf(interval), 1);
    if (block.length === 0) blocks.splice(blocks.indexOf(block), 1);
  }

  /** Adds a point to the chains of the intervals at its left and right, which become one; or begins an interval. */
  function* add(point: number, left?: Interval, right?: Interval): Steps<void> {
    const top: ChainPoint = { point };
    const interval = left ?? right ?? insert(find(point, -1));
    if (left) link(yield* cut(point, left.ends[1], 0), top);
    if (right) link(top, yield* cut(point, right.ends[0], 1));
    interval.edges = [left?.edges[0] ?? previous[point], right?.edges[1] ?? point];
    interval.ends = [left?.ends[0] ?? top, right?.ends[1] ?? top];
    interval.top = top;
    for (const edge of interval.edges) intervals[edge] = interval;
  }

  // Joins the points of each ring, without those that repeat another.
  const points: number[] = [];
  let first = 0;
  for (const end of [...holeStarts, count]) {
    const from = points.length;
    let before = end - 1;
    for (; first < end; first++) {
      if (first % TASKS_PER_STEP === 0) yield;
      if (distance(first, before) <= tolerance) continue;
      next[before] = first;
      previous[first] = before;
      points.push(first);
      before = first;
    }
    next[before] = points[from];
    previous[points[from]] = before;
  }
  for (const point of yield* sorted(points, (a, b) => heightOf(a) - heightOf(b))) {
    // The intervals beside the edges that end here.
    const left = intervals[previous[point]];
    const right = intervals[point];
    if (++tasks % TASKS_PER_STEP === 0) yield;
    if (left && left === right) {
      yield* cut(point, left.ends[0], 1, true);
    } else if (left || right || turnOf(flat, previous[point], point, next[point]) >= 0) {
      yield* add(point, left, right);
    } else {
      // The point splits the interval around it, and the chain at its top.
      const around = find(point, 0);
      const { top, ends } = around;
      if (!top) return undefined;
      const copy: ChainPoint = { point: top.point };
      if (top[1]) link(copy, top[1]);
      const rest = insert(around);
      rest.ends = [copy, ends[1] === top ? copy : ends[1]];
      top[1] = undefined;
      ends[1] = top;
      yield* add(point, around);
      yield* add(point, undefined, rest);
    }
    if (left && right) remove(right);
  }
  return covered - area <= MAX_FLIPPED * covered ? triangles : undefined;
}

function link(left: ChainPoint, right: ChainPoint): void {
  left[1] = right;
  right[0] = left;
}

/** Returns twice the area of a triangle, positive if it is counter-clockwise. */
export function turnOf(flat: Float64Array, a: number, b: number, c: number): number {
  const [x, y] = [flat[2 * a], flat[2 * a + 1]];
  return (flat[2 * b] - x) * (flat[2 * c + 1] - y) - (flat[2 * c] - x) * (flat[2 * b + 1] - y);
}

/** Returns the last item that passes a test, which the first one passes, and none behind one that fails. */
function lastOf<T>(items: readonly T[], test: (item: T) => boolean): T {
  let last = 0;
  for (let end = items.length; end - last > 1; ) {
    const middle = (last + end) >> 1;
    if (test(items[middle])) last = middle;
    else end = middle;
  }
  return items[last];
}

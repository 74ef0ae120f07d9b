import type { EdgeList } from './feature-edges.js';

const ITEMS_PER_STEP = 8192;

/** Two edges continue straight if they turn by less than this, as a sine: a 17th of a degree. */
const STRAIGHT_SINE = 2 ** -10;

/** Flags: the edge begins, or ends, at an end of its run. */
export const STARTS_RUN = 1;
export const ENDS_RUN = 2;

/** Runs: maximal straight chains of edges, joined at vertices where no other edge ends. */
export interface Runs {
  count: number;
  /** The run of each edge. */
  runOfEdge: Uint32Array;
  /** Which ends of each edge are ends of its run: STARTS_RUN, ENDS_RUN. */
  flags: Uint8Array;
  /** The two end vertices of each run; the same vertex twice if the run is closed. */
  ends: Uint32Array;
  /** The edge that contains the midpoint of each run, and how far along it that is: 0 … 1. */
  middleEdges: Uint32Array;
  middles: Float64Array;
}

/** The edges at each vertex: those of vertex i are `edges[starts[i]]` to `edges[starts[i + 1] - 1]`. */
export interface Stars {
  starts: Uint32Array;
  edges: Uint32Array;
}

export function* findStars({ count, ends }: EdgeList, vertexCount: number): Generator<void, Stars> {
  const starts = new Uint32Array(vertexCount + 2);
  for (let i = 0; i < 2 * count; i++) {
    starts[ends[i] + 2]++;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  for (let i = 2; i < starts.length; i++) {
    starts[i] += starts[i - 1];
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const edges = new Uint32Array(2 * count);
  for (let i = 0; i < 2 * count; i++) {
    edges[starts[ends[i] + 1]++] = i >> 1;
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return { starts: starts.subarray(0, vertexCount + 1), edges };
}

/**
 * Joins edges to runs. `points`: xyz of each vertex; `noise`: how far rounding may have moved a vertex. Without `isJoined`, each
 * edge is a run of its own.
 */
export function* findRuns(
  edges: EdgeList,
  { starts, edges: edgesAtVertices }: Stars,
  points: Float32Array,
  noise: number,
  isJoined: boolean,
): Generator<void, Runs> {
  const { count, ends } = edges;
  const isStraight = new Uint8Array(starts.length - 1);
  for (let vertex = 0; isJoined && vertex < isStraight.length; vertex++) {
    if (starts[vertex + 1] - starts[vertex] === 2) {
      const [s, t] = [edgesAtVertices[starts[vertex]], edgesAtVertices[starts[vertex] + 1]];
      isStraight[vertex] = continuesStraight(
        points,
        otherEnd(ends, s, vertex),
        vertex,
        otherEnd(ends, t, vertex),
        noise,
      )
        ? 1
        : 0;
    }
    if (vertex % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const runOfEdge = new Uint32Array(count);
  const flags = new Uint8Array(count);
  const runEnds: number[] = [];
  const middleEdges: number[] = [];
  const middles: number[] = [];
  const isVisited = new Uint8Array(count);
  const chain: number[] = [];
  for (let first = 0; first < count; first++) {
    if (first % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    if (isVisited[first]) continue;
    // Goes back to where the run begins, then along it.
    let edge = first;
    let vertex = ends[2 * first];
    while (isStraight[vertex]) {
      edge = otherEdge(edgesAtVertices, starts[vertex], edge);
      vertex = otherEnd(ends, edge, vertex);
      if (edge === first) break;
    }
    const start = vertex;
    chain.length = 0;
    let length = 0;
    let end = vertex;
    do {
      chain.push(edge);
      isVisited[edge] = 1;
      runOfEdge[edge] = middleEdges.length;
      const nextVertex = otherEnd(ends, edge, end);
      length += distance(points, end, nextVertex);
      end = nextVertex;
      if (!isStraight[end] || end === start) break;
      edge = otherEdge(edgesAtVertices, starts[end], edge);
    } while (chain.length < count);
    flags[chain[0]] |= ends[2 * chain[0]] === start ? STARTS_RUN : ENDS_RUN;
    flags[edge] |= ends[2 * edge] === end ? STARTS_RUN : ENDS_RUN;
    runEnds.push(start, end);
    const [middleEdge, fraction] = midpointOf(chain, ends, points, start, length);
    middleEdges.push(middleEdge);
    middles.push(fraction);
  }
  return {
    count: middleEdges.length,
    runOfEdge,
    flags,
    ends: Uint32Array.from(runEnds),
    middleEdges: Uint32Array.from(middleEdges),
    middles: Float64Array.from(middles),
  };
}

/** Finds the edge that contains the midpoint of a chain, and how far along that edge it is. */
function midpointOf(
  chain: number[],
  ends: Uint32Array,
  points: Float32Array,
  start: number,
  length: number,
): [edge: number, fraction: number] {
  let remaining = length / 2;
  let from = start;
  for (let i = 0; ; i++) {
    const edge = chain[i];
    const to = otherEnd(ends, edge, from);
    const edgeLength = distance(points, from, to);
    if (remaining <= edgeLength || i === chain.length - 1) {
      const fraction = edgeLength > 0 ? Math.min(remaining / edgeLength, 1) : 0.5;
      return [edge, ends[2 * edge] === from ? fraction : 1 - fraction];
    }
    remaining -= edgeLength;
    from = to;
  }
}

export function otherEnd(ends: Uint32Array, edge: number, vertex: number): number {
  return ends[2 * edge] === vertex ? ends[2 * edge + 1] : ends[2 * edge];
}

function otherEdge(edgesAtVertices: Uint32Array, start: number, edge: number): number {
  return edgesAtVertices[start] === edge ? edgesAtVertices[start + 1] : edgesAtVertices[start];
}

function distance(points: Float32Array, s: number, t: number): number {
  return Math.hypot(
    points[3 * t] - points[3 * s],
    points[3 * t + 1] - points[3 * s + 1],
    points[3 * t + 2] - points[3 * s + 2],
  );
}

/** Returns whether the chain from s to v continues straight to t. */
export function continuesStraight(points: Float32Array, s: number, v: number, t: number, noise: number): boolean {
  const [ax, ay, az] = [0, 1, 2].map((k) => points[3 * v + k] - points[3 * s + k]);
  const [bx, by, bz] = [0, 1, 2].map((k) => points[3 * t + k] - points[3 * v + k]);
  if (ax * bx + ay * by + az * bz <= 0) return false;
  const cross = Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
  if (cross <= STRAIGHT_SINE * Math.hypot(ax, ay, az) * Math.hypot(bx, by, bz)) return true;
  return cross <= noise * Math.hypot(ax + bx, ay + by, az + bz);
}

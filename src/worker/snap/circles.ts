import { addTo } from '../../shared/lists-by-key.js';
import type { Vec3 } from '../../shared/types.js';
import type { EdgeList } from './feature-edges.js';
import { continuesStraight, otherEnd, type Stars } from './runs.js';
import { cross, dot, minus } from './vectors.js';

const ITEMS_PER_STEP = 1024;

/** Adjacent edges of an arc turn by less than this: the cosine of 45.6°, so that a whole circle of eight edges counts. */
const MIN_COSINE = 0.7;
/** Minimum number of edges of an arc. */
const MIN_EDGES = 4;
/**
 * Maximum number of bends of an arc. An arc that turns once has no more, or runs.ts takes it for straight. All edges of a screw
 * thread belong to one arc, which is examined in one piece.
 */
const MAX_BENDS = 1 << 13;
/** Maximum distance of the next point from the circle through three points, relative to their sagitta. */
const MAX_DEVIATION = 0.05;
/** Maximum distance of an arc's vertices from its circle, relative to the radius. */
const FIT_TOLERANCE = 2 ** -10;
/** Arcs end at vertices with more feature edges than this. */
const MAX_EDGES_AT_VERTEX = 8;

/** Circles on which feature edges lie, complete ones or arcs. */
export interface Circles {
  count: number;
  /** Seven numbers each: centre, unit axis, radius. */
  records: Float64Array;
  /** The two end vertices of each arc; for a complete circle, one of its vertices twice. */
  ends: Uint32Array;
  /** Where the edges of each circle begin, one entry more than there are circles; then these edges. */
  edgeStarts: Uint32Array;
  edges: Uint32Array;
}

/** A circle through three points. */
interface Circle {
  center: Vec3;
  axis: Vec3;
  radius: number;
}

/** Two edges that meet at a vertex with a bend: from s through v to t. */
interface Bend {
  s: number;
  v: number;
  t: number;
  first: number;
  second: number;
  /** Union-find link towards the representative of its arc. */
  parent: number;
}

/**
 * Finds arcs of four edges or more: if two successive edges of a chain bend alike, they belong to one arc, and an arc counts if
 * all of its vertices lie on one circle within a thousandth of the radius. A circle is fitted by least squares (Kåsa, "A circle
 * fitting procedure and its error analysis", 1976). `noise`: how far rounding may have moved a vertex. A circle counts only if
 * its centre is within the bounds of the mesh, minimum xyz and maximum xyz.
 */
export function* findCircles(
  edges: EdgeList,
  stars: Stars,
  points: Float32Array,
  noise: number,
  bounds: readonly number[],
): Generator<void, Circles> {
  const bends = yield* findBends(edges, stars, points, noise);
  yield* joinBends(bends, edges.count, points, noise);
  const arcs = new Map<number, number[]>();
  for (let i = 0; i < bends.items.length; i++) {
    addTo(arcs, rootOf(bends.items, i), i);
    if (i % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  const records: number[] = [];
  const ends: number[] = [];
  const edgeStarts = [0];
  const arcEdges: number[] = [];
  for (const arc of arcs.values()) {
    yield;
    if (arc.length < MIN_EDGES - 1 || arc.length > MAX_BENDS) continue;
    const fit = fitArc(
      arc.map((i) => bends.items[i]),
      points,
      noise,
    );
    if (!fit || !isWithin(fit.circle.center, bounds, noise)) continue;
    const { circle } = fit;
    records.push(...circle.center, ...circle.axis, circle.radius);
    ends.push(...fit.ends);
    arcEdges.push(...fit.edges);
    edgeStarts.push(arcEdges.length);
  }
  return {
    count: edgeStarts.length - 1,
    records: Float64Array.from(records),
    ends: Uint32Array.from(ends),
    edgeStarts: Uint32Array.from(edgeStarts),
    edges: Uint32Array.from(arcEdges),
  };
}

interface Bends {
  items: Bend[];
  /** The bends at each end of each edge. */
  byEdgeEnd: Map<number, number[]>;
}

/** Finds the vertices at which two feature edges bend into each other. */
function* findBends(
  { ends }: EdgeList,
  { starts, edges }: Stars,
  points: Float32Array,
  noise: number,
): Generator<void, Bends> {
  const items: Bend[] = [];
  const byEdgeEnd: Bends['byEdgeEnd'] = new Map();
  for (let v = 0; v < starts.length - 1; v++) {
    if (v % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    if (starts[v + 1] - starts[v] > MAX_EDGES_AT_VERTEX) continue;
    for (let i = starts[v]; i < starts[v + 1]; i++) {
      for (let k = i + 1; k < starts[v + 1]; k++) {
        const [first, second] = [edges[i], edges[k]];
        const [s, t] = [otherEnd(ends, first, v), otherEnd(ends, second, v)];
        if (!isBend(points, s, v, t, noise)) continue;
        for (const edge of [first, second]) addTo(byEdgeEnd, 2 * edge + (ends[2 * edge] === v ? 0 : 1), items.length);
        items.push({ s, v, t, first, second, parent: items.length });
      }
    }
  }
  return { items, byEdgeEnd };
}

/** Joins bends that share an edge and bend alike into arcs, by union-find. */
function* joinBends(
  { items, byEdgeEnd }: Bends,
  edgeCount: number,
  points: Float32Array,
  noise: number,
): Generator<void, void> {
  for (let edge = 0; edge < edgeCount; edge++) {
    if (edge % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    for (const bend of byEdgeEnd.get(2 * edge) ?? []) {
      for (const next of byEdgeEnd.get(2 * edge + 1) ?? []) {
        if (!areOnOneCircle(points, edge, items[bend], items[next], noise)) continue;
        const [a, b] = [rootOf(items, bend), rootOf(items, next)];
        items[Math.max(a, b)].parent = Math.min(a, b);
      }
    }
  }
}

function rootOf(bends: Bend[], bend: number): number {
  let root = bend;
  while (bends[root].parent !== root) {
    bends[root].parent = bends[bends[root].parent].parent;
    root = bends[root].parent;
  }
  return root;
}

/** Returns whether a point is in a box. The centre of half a disc lies on the border of its bounds, which rounding may exceed. */
function isWithin(point: Vec3, bounds: readonly number[], noise: number): boolean {
  return point.every((value, k) => value >= bounds[k] - noise && value <= bounds[3 + k] + noise);
}

function isBend(points: Float32Array, s: number, v: number, t: number, noise: number): boolean {
  const [p, q, r] = [pointAt(points, s), pointAt(points, v), pointAt(points, t)];
  const [a, b] = [minus(q, p), minus(r, q)];
  if (!(dot(a, b) >= MIN_COSINE * Math.hypot(...a) * Math.hypot(...b))) return false;
  if (continuesStraight(points, s, v, t, noise)) return false;
  // A bend within the rounding error does not determine a circle.
  return sagitta(p, q, r) > 4 * noise;
}

/**
 * Returns whether two bends that share an edge lie on one circle: whether the circle through each one's points contains the
 * other's last.
 */
function areOnOneCircle(points: Float32Array, edge: number, a: Bend, b: Bend, noise: number): boolean {
  const previousVertex = a.first === edge ? a.t : a.s;
  const nextVertex = b.first === edge ? b.t : b.s;
  if (previousVertex === nextVertex) return false;
  const [p, q, r, s] = [previousVertex, a.v, b.v, nextVertex].map((vertex) => pointAt(points, vertex));
  return isOnCircle(s, p, q, r, noise) && isOnCircle(p, s, r, q, noise);
}

function isOnCircle(point: Vec3, p: Vec3, q: Vec3, r: Vec3, noise: number): boolean {
  const circle = circleThrough(p, q, r);
  return circle !== null && distanceFrom(circle, point) <= MAX_DEVIATION * sagitta(p, q, r) + 8 * noise;
}

/** Fits a circle to the vertices of an arc; null if they are not on one. */
function fitArc(
  arc: Bend[],
  points: Float32Array,
  noise: number,
): { circle: Circle; ends: number[]; edges: number[] } | null {
  const edges = [...new Set(arc.flatMap(({ first, second }) => [first, second]))].sort((a, b) => a - b);
  if (edges.length < MIN_EDGES) return null;
  const counts = new Map<number, number>();
  for (const { s, v, t } of arc) for (const vertex of [s, v, t]) counts.set(vertex, counts.get(vertex) ?? 0);
  for (const { v } of arc) counts.set(v, counts.get(v)! + 1);
  const vertices = [...counts.keys()].sort((a, b) => a - b);
  // The arc must not branch, and has two ends or none.
  const endVertices = vertices.filter((vertex) => counts.get(vertex) === 0);
  if ([...counts.values()].some((count) => count > 1) || (endVertices.length !== 2 && endVertices.length !== 0))
    return null;
  const positions = vertices.map((vertex) => pointAt(points, vertex));
  const normal = normalOf(arc, points);
  const circle = normal && fitCircle(positions, normal);
  if (!circle) return null;
  const maxDistance = FIT_TOLERANCE * circle.radius + 2 * noise;
  if (positions.some((position) => distanceFrom(circle, position) > maxDistance)) return null;
  return { circle, ends: endVertices.length === 2 ? endVertices : [vertices[0], vertices[0]], edges };
}

/** Returns the axis of an arc: the sum of its bends' normals, all with the same orientation. */
function normalOf(arc: Bend[], points: Float32Array): Vec3 | null {
  let sum: Vec3 = [0, 0, 0];
  for (const { s, v, t } of arc) {
    const [p, q, r] = [pointAt(points, s), pointAt(points, v), pointAt(points, t)];
    const bendNormal = cross(minus(q, p), minus(r, q));
    const sign = dot(bendNormal, sum) < 0 ? -1 : 1;
    sum = [sum[0] + sign * bendNormal[0], sum[1] + sign * bendNormal[1], sum[2] + sign * bendNormal[2]];
  }
  const length = Math.hypot(...sum);
  return length > 0 ? [sum[0] / length, sum[1] / length, sum[2] / length] : null;
}

/** Fits a circle about an axis to points by algebraic least squares. */
function fitCircle(positions: Vec3[], axis: Vec3): Circle | null {
  const { length } = positions;
  const centroid = [0, 1, 2].map(
    (k) => positions.reduce((sum, position) => sum + position[k], 0) / length,
  ) as unknown as Vec3;
  const u = perpendicular(axis);
  const v = cross(axis, u);
  let [xx, xy, yy, xz, yz] = [0, 0, 0, 0, 0];
  const projected = positions.map((position) => {
    const offset = minus(position, centroid);
    return [dot(offset, u), dot(offset, v)] as const;
  });
  const mean = projected.reduce((sum, [x, y]) => sum + x * x + y * y, 0) / length;
  for (const [x, y] of projected) {
    xx += x * x;
    xy += x * y;
    yy += y * y;
    const z = x * x + y * y - mean;
    xz += x * z;
    yz += y * z;
  }
  const determinant = xx * yy - xy * xy;
  if (!(determinant > 0)) return null;
  const [x, y] = [(xz * yy - yz * xy) / (2 * determinant), (yz * xx - xz * xy) / (2 * determinant)];
  const radius = projected.reduce((sum, [s, t]) => sum + Math.hypot(s - x, t - y), 0) / length;
  const center = [0, 1, 2].map((k) => centroid[k] + x * u[k] + y * v[k]) as unknown as Vec3;
  return { center, axis, radius };
}

function circleThrough(p: Vec3, q: Vec3, r: Vec3): Circle | null {
  const [a, b] = [minus(q, p), minus(r, p)];
  const normal = cross(a, b);
  const lengthSquared = dot(normal, normal);
  if (!(lengthSquared > 0)) return null;
  const [aa, bb] = [dot(a, a), dot(b, b)];
  const scaledOffset = cross([aa * b[0] - bb * a[0], aa * b[1] - bb * a[1], aa * b[2] - bb * a[2]], normal);
  const offset: Vec3 = [
    scaledOffset[0] / (2 * lengthSquared),
    scaledOffset[1] / (2 * lengthSquared),
    scaledOffset[2] / (2 * lengthSquared),
  ];
  const unit = 1 / Math.sqrt(lengthSquared);
  return {
    center: [p[0] + offset[0], p[1] + offset[1], p[2] + offset[2]],
    axis: [normal[0] * unit, normal[1] * unit, normal[2] * unit],
    radius: Math.hypot(...offset),
  };
}

/** Distance of a point from a circle. */
function distanceFrom({ center, axis, radius }: Circle, point: Vec3): number {
  const offset = minus(point, center);
  const height = dot(offset, axis);
  const radialDistance = Math.hypot(
    offset[0] - height * axis[0],
    offset[1] - height * axis[1],
    offset[2] - height * axis[2],
  );
  return Math.hypot(height, radialDistance - radius);
}

/** Distance of q from the line through p and r. */
function sagitta(p: Vec3, q: Vec3, r: Vec3): number {
  const chord = minus(r, p);
  return Math.hypot(...cross(minus(q, p), chord)) / Math.hypot(...chord);
}

function perpendicular(axis: Vec3): Vec3 {
  const [x, y, z] = axis.map(Math.abs);
  const reference: Vec3 = x <= y && x <= z ? [1, 0, 0] : y <= z ? [0, 1, 0] : [0, 0, 1];
  const normal = cross(axis, reference);
  const length = Math.hypot(...normal);
  return [normal[0] / length, normal[1] / length, normal[2] / length];
}

function pointAt(points: Float32Array, i: number): Vec3 {
  return [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
}

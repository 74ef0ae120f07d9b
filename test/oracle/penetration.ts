import { type Matrix4, Vector3 } from 'three';
import { ConvexHull, type Face } from 'three/examples/jsm/math/ConvexHull.js';
import { type AnyShape, frameOf } from './shapes.js';

const CUBE = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => new Vector3(x, y, z))));

/**
 * A convex solid in world space: the hull of points, optionally with the image of a unit ball around each of them (a Minkowski
 * sum).
 */
export class ConvexSolid {
  readonly points: Vector3[];
  /** Columns of the ball's matrix. */
  readonly ball: Vector3[] | null;
  readonly #signedDistance: (point: Vector3) => number;
  #sides: { normals: Vector3[]; edges: Vector3[] } | undefined;

  constructor(shape: AnyShape, matrix: Matrix4) {
    const { triangles } = shape;
    if (triangles) {
      const count = triangles.positions.length / 3;
      const vertex = (i: number) => new Vector3().fromArray(triangles.positions, 3 * i).applyMatrix4(matrix);
      this.points = Array.from({ length: count }, (_, i) => vertex(i));
      this.ball = null;
      const hull = new ConvexHull().setFromPoints(this.points);
      const planes = hull.faces.map(({ normal, constant }: Face) => ({ normal, constant }));
      this.#signedDistance = (point) => Math.max(...planes.map(({ normal, constant }) => normal.dot(point) - constant));
      return;
    }
    const { matrix: frame, half } = frameOf(shape.shape);
    const placed = matrix.clone().multiply(frame);
    const columns = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(placed, i));
    const inverse = placed.clone().invert();
    const rows = [0, 1, 2].map(
      (i) => new Vector3(inverse.elements[i], inverse.elements[4 + i], inverse.elements[8 + i]),
    );
    const isBox = shape.shape.type === 'box';
    const ends = half > 0 ? [-half, half] : [0];
    this.points = (isBox ? CUBE : ends.map((z) => new Vector3(0, 0, z))).map((corner) =>
      corner.clone().applyMatrix4(placed),
    );
    this.ball = isBox ? null : columns;
    this.#signedDistance = (point) => {
      const localPoint = point.clone().applyMatrix4(inverse);
      if (isBox) return Math.max(...localPoint.toArray().map((value, i) => (Math.abs(value) - 1) / rows[i].length()));
      localPoint.z -= Math.min(Math.max(localPoint.z, -half), half);
      // By the gradient: how much the distance in the solid's own space grows per world unit, in the steepest direction.
      const [u, v, w] = localPoint.toArray();
      const gradient = new Vector3()
        .addScaledVector(rows[0], u)
        .addScaledVector(rows[1], v)
        .addScaledVector(rows[2], w);
      const length = localPoint.length();
      return length > 0
        ? ((length - 1) * length) / gradient.length()
        : -1 / Math.max(...rows.map((row) => row.length()));
    };
  }

  /** Support function: its extent along a unit direction. */
  support(x: number, y: number, z: number): number {
    let maxDot = -Infinity;
    for (const point of this.points) maxDot = Math.max(maxDot, x * point.x + y * point.y + z * point.z);
    if (!this.ball) return maxDot;
    const [u, v, w] = this.ball.map((column) => x * column.x + y * column.y + z * column.z);
    return maxDot + Math.sqrt(u * u + v * v + w * w);
  }

  /** Distance of a point outside the solid, near its surface; negative inside. */
  outside(point: Vector3): number {
    return this.#signedDistance(point);
  }

  /** For solids without a ball: normals of faces, and edges, in either direction. */
  get sides(): { normals: Vector3[]; edges: Vector3[] } {
    this.#sides ??= sidesOf(new ConvexHull().setFromPoints(this.points));
    return this.#sides;
  }
}

function sidesOf({ faces }: ConvexHull) {
  const edges: Vector3[] = [];
  for (const { edge } of faces) {
    let halfEdge = edge;
    do {
      edges.push(halfEdge.head().point.clone().sub(halfEdge.tail().point).normalize());
      halfEdge = halfEdge.next;
    } while (halfEdge !== edge);
  }
  return { normals: uniqueLines(faces.map(({ normal }: Face) => normal)), edges: uniqueLines(edges) };
}

function uniqueLines(lines: Vector3[]): Vector3[] {
  const unique: Vector3[] = [];
  const product = new Vector3();
  // Uses a cross product: a cosine only depends on the square of a small angle.
  const isKnown = (line: Vector3) => unique.some((other) => product.crossVectors(other, line).lengthSq() < 1e-26);
  for (const line of lines) if (!isKnown(line)) unique.push(line);
  return unique;
}

/** How far b must be moved along a unit direction to separate it from a. */
export function depthAlong(a: ConvexSolid, b: ConvexSolid, x: number, y: number, z: number): number {
  return a.support(x, y, z) + b.support(-x, -y, -z);
}

/**
 * The shortest translation that separates the two. Faces of the Minkowski difference of two polytopes have normals of the
 * polytopes' faces, or are spanned by an edge of each: all are tried. If one is round, the search starts from many directions,
 * and its result is too large if it ends at a ridge.
 */
export function penetration(a: ConvexSolid, b: ConvexSolid): number {
  return a.ball || b.ball ? searchDepth(a, b) : enumerateDepth(a, b);
}

function enumerateDepth(a: ConvexSolid, b: ConvexSolid): number {
  let best = Infinity;
  const tryDirection = (x: number, y: number, z: number) => {
    const length = Math.sqrt(x * x + y * y + z * z);
    if (length < 1e-12) return;
    const [u, v, w] = [x / length, y / length, z / length];
    best = Math.min(best, depthAlong(a, b, u, v, w), depthAlong(a, b, -u, -v, -w));
  };
  for (const { x, y, z } of [...a.sides.normals, ...b.sides.normals]) tryDirection(x, y, z);
  for (const p of a.sides.edges) {
    for (const q of b.sides.edges) tryDirection(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x);
  }
  return best;
}

// A Fibonacci lattice on the sphere.
const DIRECTIONS = Array.from({ length: 1500 }, (_, i) => {
  const z = 1 - (2 * i + 1) / 1500;
  const angle = i * Math.PI * (3 - Math.sqrt(5));
  const r = Math.sqrt(1 - z * z);
  return new Vector3(r * Math.cos(angle), r * Math.sin(angle), z);
});

function searchDepth(a: ConvexSolid, b: ConvexSolid): number {
  const candidates = DIRECTIONS.map((direction) => ({
    way: direction,
    length: depthAlong(a, b, direction.x, direction.y, direction.z),
  }));
  candidates.sort((p, q) => p.length - q.length);
  const starts: Vector3[] = [];
  for (const { way: direction } of candidates) {
    if (starts.length < 10 && starts.every((other) => other.dot(direction) < 0.98)) starts.push(direction);
  }
  const ends = starts.map((start) => descend(a, b, start)).sort((p, q) => p.length - q.length);
  return Math.min(...ends.slice(0, 3).map(({ way: direction }) => refineDepth(a, b, direction)));
}

interface SeparatingDirection {
  way: Vector3;
  length: number;
}

/** Descends by steps in the plane perpendicular to the direction, and halves them when none of eight directions leads down. */
function descend(a: ConvexSolid, b: ConvexSolid, start: Vector3): SeparatingDirection {
  let direction = start.clone();
  let length = depthAlong(a, b, direction.x, direction.y, direction.z);
  let startAngle = 0;
  for (let step = 0.1; step > 1e-4; ) {
    const [u, v] = perpendiculars(direction);
    let isImproved = false;
    for (let i = 0; i < 8 && !isImproved; i++) {
      const angle = startAngle + (i * Math.PI) / 4;
      const next = tilt(direction, u, step * Math.cos(angle), v, step * Math.sin(angle));
      const nextDepth = depthAlong(a, b, next.x, next.y, next.z);
      if (nextDepth >= length) continue;
      [direction, length] = [next, nextDepth];
      isImproved = true;
    }
    startAngle += 1;
    if (!isImproved) step /= 2;
  }
  return { way: direction, length };
}

/** The minimum near a direction, where the function is unimodal: nested searches in shrinking ranges. */
function refineDepth(a: ConvexSolid, b: ConvexSolid, start: Vector3): number {
  let direction = start;
  let minDepth = Infinity;
  for (const range of [0.03, 3e-4, 3e-6]) {
    const from = direction;
    const [u, v] = perpendiculars(from);
    const lengthAt = (s: number, t: number) => {
      const next = tilt(from, u, s, v, t);
      const length = depthAlong(a, b, next.x, next.y, next.z);
      if (length < minDepth) [minDepth, direction] = [length, next];
      return length;
    };
    findMinimum((s) => findMinimum((t) => lengthAt(s, t), range), range);
  }
  return minDepth;
}

function perpendiculars(direction: Vector3): [Vector3, Vector3] {
  const u = new Vector3(...(Math.abs(direction.x) < 0.7 ? [1, 0, 0] : [0, 1, 0])).cross(direction).normalize();
  return [u, new Vector3().crossVectors(direction, u)];
}

function tilt(direction: Vector3, u: Vector3, s: number, v: Vector3, t: number): Vector3 {
  return direction.clone().addScaledVector(u, s).addScaledVector(v, t).normalize();
}

/** Minimum of a unimodal function between -reach and reach, by golden section search (Kiefer, 1953). */
function findMinimum(value: (x: number) => number, range: number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [min, max] = [-range, range];
  let [x, y] = [max - ratio * (max - min), min + ratio * (max - min)];
  let [valueX, valueY] = [value(x), value(y)];
  while (max - min > range * 1e-3) {
    if (valueX < valueY) {
      [max, y, valueY] = [y, x, valueX];
      x = max - ratio * (max - min);
      valueX = value(x);
    } else {
      [min, x, valueX] = [x, y, valueY];
      y = min + ratio * (max - min);
      valueY = value(y);
    }
  }
  return Math.min(valueX, valueY);
}

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
  readonly #reach: (point: Vector3) => number;
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
      this.#reach = (point) => Math.max(...planes.map(({ normal, constant }) => normal.dot(point) - constant));
      return;
    }
    const { matrix: frame, half } = frameOf(shape.shape);
    const placed = matrix.clone().multiply(frame);
    const columns = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(placed, i));
    const back = placed.clone().invert();
    const rows = [0, 1, 2].map((i) => new Vector3(back.elements[i], back.elements[4 + i], back.elements[8 + i]));
    const isBox = shape.shape.type === 'box';
    const ends = half > 0 ? [-half, half] : [0];
    this.points = (isBox ? CUBE : ends.map((z) => new Vector3(0, 0, z))).map((each) =>
      each.clone().applyMatrix4(placed),
    );
    this.ball = isBox ? null : columns;
    this.#reach = (point) => {
      const own = point.clone().applyMatrix4(back);
      if (isBox) return Math.max(...own.toArray().map((value, i) => (Math.abs(value) - 1) / rows[i].length()));
      own.z -= Math.min(Math.max(own.z, -half), half);
      // By the gradient: how much the distance in the solid's own space grows per world unit, in the steepest direction.
      const [u, v, w] = own.toArray();
      const growth = new Vector3().addScaledVector(rows[0], u).addScaledVector(rows[1], v).addScaledVector(rows[2], w);
      const length = own.length();
      return length > 0 ? ((length - 1) * length) / growth.length() : -1 / Math.max(...rows.map((row) => row.length()));
    };
  }

  /** Support function: its extent along a unit direction. */
  support(x: number, y: number, z: number): number {
    let most = -Infinity;
    for (const point of this.points) most = Math.max(most, x * point.x + y * point.y + z * point.z);
    if (!this.ball) return most;
    const [u, v, w] = this.ball.map((column) => x * column.x + y * column.y + z * column.z);
    return most + Math.sqrt(u * u + v * v + w * w);
  }

  /** Distance of a point outside the solid, near its surface; negative inside. */
  outside(point: Vector3): number {
    return this.#reach(point);
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
    let each = edge;
    do {
      edges.push(each.head().point.clone().sub(each.tail().point).normalize());
      each = each.next;
    } while (each !== edge);
  }
  return { normals: distinct(faces.map(({ normal }: Face) => normal)), edges: distinct(edges) };
}

function distinct(lines: Vector3[]): Vector3[] {
  const found: Vector3[] = [];
  const apart = new Vector3();
  // Uses a cross product: a cosine only depends on the square of a small angle.
  const isKnown = (line: Vector3) => found.some((other) => apart.crossVectors(other, line).lengthSq() < 1e-26);
  for (const line of lines) if (!isKnown(line)) found.push(line);
  return found;
}

/** How far b must be moved along a unit direction to separate it from a. */
export function wayAlong(a: ConvexSolid, b: ConvexSolid, x: number, y: number, z: number): number {
  return a.support(x, y, z) + b.support(-x, -y, -z);
}

/**
 * The shortest translation that separates the two. Faces of the Minkowski difference of two polytopes have normals of the
 * polytopes' faces, or are spanned by an edge of each: all are tried. If one is round, the search starts from many directions,
 * and its result is too large if it ends at a ridge.
 */
export function penetration(a: ConvexSolid, b: ConvexSolid): number {
  return a.ball || b.ball ? searched(a, b) : enumerated(a, b);
}

function enumerated(a: ConvexSolid, b: ConvexSolid): number {
  let best = Infinity;
  const look = (x: number, y: number, z: number) => {
    const length = Math.sqrt(x * x + y * y + z * z);
    if (length < 1e-12) return;
    const [u, v, w] = [x / length, y / length, z / length];
    best = Math.min(best, wayAlong(a, b, u, v, w), wayAlong(a, b, -u, -v, -w));
  };
  for (const { x, y, z } of [...a.sides.normals, ...b.sides.normals]) look(x, y, z);
  for (const p of a.sides.edges) {
    for (const q of b.sides.edges) look(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x);
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

function searched(a: ConvexSolid, b: ConvexSolid): number {
  const ways = DIRECTIONS.map((way) => ({ way, length: wayAlong(a, b, way.x, way.y, way.z) }));
  ways.sort((p, q) => p.length - q.length);
  const starts: Vector3[] = [];
  for (const { way } of ways) {
    if (starts.length < 10 && starts.every((other) => other.dot(way) < 0.98)) starts.push(way);
  }
  const ends = starts.map((start) => descended(a, b, start)).sort((p, q) => p.length - q.length);
  return Math.min(...ends.slice(0, 3).map(({ way }) => settled(a, b, way)));
}

interface Way {
  way: Vector3;
  length: number;
}

/** Descends by steps in the plane perpendicular to the direction, and halves them when none of eight directions leads down. */
function descended(a: ConvexSolid, b: ConvexSolid, start: Vector3): Way {
  let way = start.clone();
  let length = wayAlong(a, b, way.x, way.y, way.z);
  let turn = 0;
  for (let step = 0.1; step > 1e-4; ) {
    const [u, v] = across(way);
    let found = false;
    for (let i = 0; i < 8 && !found; i++) {
      const angle = turn + (i * Math.PI) / 4;
      const next = tilted(way, u, step * Math.cos(angle), v, step * Math.sin(angle));
      const other = wayAlong(a, b, next.x, next.y, next.z);
      if (other >= length) continue;
      [way, length] = [next, other];
      found = true;
    }
    turn += 1;
    if (!found) step /= 2;
  }
  return { way, length };
}

/** The minimum near a direction, where the function is unimodal: nested searches in shrinking ranges. */
function settled(a: ConvexSolid, b: ConvexSolid, start: Vector3): number {
  let way = start;
  let least = Infinity;
  for (const reach of [0.03, 3e-4, 3e-6]) {
    const from = way;
    const [u, v] = across(from);
    const lengthAt = (s: number, t: number) => {
      const next = tilted(from, u, s, v, t);
      const length = wayAlong(a, b, next.x, next.y, next.z);
      if (length < least) [least, way] = [length, next];
      return length;
    };
    leastOf((s) => leastOf((t) => lengthAt(s, t), reach), reach);
  }
  return least;
}

function across(way: Vector3): [Vector3, Vector3] {
  const u = new Vector3(...(Math.abs(way.x) < 0.7 ? [1, 0, 0] : [0, 1, 0])).cross(way).normalize();
  return [u, new Vector3().crossVectors(way, u)];
}

function tilted(way: Vector3, u: Vector3, s: number, v: Vector3, t: number): Vector3 {
  return way.clone().addScaledVector(u, s).addScaledVector(v, t).normalize();
}

/** Minimum of a unimodal function between -reach and reach, by golden section search (Kiefer, 1953). */
function leastOf(value: (x: number) => number, reach: number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [-reach, reach];
  let [x, y] = [high - ratio * (high - low), low + ratio * (high - low)];
  let [atX, atY] = [value(x), value(y)];
  while (high - low > reach * 1e-3) {
    if (atX < atY) {
      [high, y, atY] = [y, x, atX];
      x = high - ratio * (high - low);
      atX = value(x);
    } else {
      [low, x, atX] = [x, y, atY];
      y = low + ratio * (high - low);
      atY = value(y);
    }
  }
  return Math.min(atX, atY);
}

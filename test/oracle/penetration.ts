import { type Matrix4, Vector3 } from 'three';
import { ConvexHull, type Face } from 'three/examples/jsm/math/ConvexHull.js';
import { type AnyShape, frameOf } from './shapes.js';

const CUBE = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => new Vector3(x, y, z))));

/** A convex solid in the world: the hull of points, and about each of them perhaps the image of a unit ball. */
export class ConvexSolid {
  readonly points: Vector3[];
  /** Columns of the ball's image. */
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
    const least = Math.min(...columns.map((column) => column.length()));
    const isBox = shape.shape.type === 'box';
    const ends = half > 0 ? [-half, half] : [0];
    this.points = (isBox ? CUBE : ends.map((z) => new Vector3(0, 0, z))).map((each) =>
      each.clone().applyMatrix4(placed),
    );
    this.ball = isBox ? null : columns;
    this.#reach = (point) => {
      const own = point.clone().applyMatrix4(back);
      if (isBox) return (Math.max(...own.toArray().map(Math.abs)) - 1) * least;
      own.z -= Math.min(Math.max(own.z, -half), half);
      return (own.length() - 1) * least;
    };
  }

  /** How far it reaches along a unit direction. */
  support(x: number, y: number, z: number): number {
    let most = -Infinity;
    for (const point of this.points) most = Math.max(most, x * point.x + y * point.y + z * point.z);
    if (!this.ball) return most;
    const [u, v, w] = this.ball.map((column) => x * column.x + y * column.y + z * column.z);
    return most + Math.sqrt(u * u + v * v + w * w);
  }

  /** Roughly how far a point is outside of it; negative inside. */
  outside(point: Vector3): number {
    return this.#reach(point);
  }

  /** Of what has no ball: normals of faces, and edges, each either way. */
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
  for (const line of lines) if (!found.some((other) => Math.abs(other.dot(line)) > 1 - 1e-14)) found.push(line);
  return found;
}

/** How far b must be moved along a unit direction until it is apart from a. */
export function wayAlong(a: ConvexSolid, b: ConvexSolid, x: number, y: number, z: number): number {
  return a.support(x, y, z) + b.support(-x, -y, -z);
}

/**
 * The shortest way that parts the two. Faces of the Minkowski difference of two polytopes have normals of their faces,
 * or are spanned by an edge of each: all are tried. Where one is round, it is searched for from many directions; the
 * result is too great, if anything.
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

// A Fibonacci lattice.
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
  return Math.min(...starts.map((start) => descended(a, b, start)));
}

/** Steps in the plane across the direction, half as long where none in eight directions leads down. */
function descended(a: ConvexSolid, b: ConvexSolid, start: Vector3): number {
  let way = start.clone();
  let least = wayAlong(a, b, way.x, way.y, way.z);
  let turn = 0;
  for (let step = 0.1; step > 1e-9; ) {
    const u = new Vector3(...(Math.abs(way.x) < 0.7 ? [1, 0, 0] : [0, 1, 0])).cross(way).normalize();
    const v = new Vector3().crossVectors(way, u);
    let found = false;
    for (let i = 0; i < 8; i++) {
      const angle = turn + (i * Math.PI) / 4;
      const next = way
        .clone()
        .addScaledVector(u, step * Math.cos(angle))
        .addScaledVector(v, step * Math.sin(angle))
        .normalize();
      const length = wayAlong(a, b, next.x, next.y, next.z);
      if (length >= least) continue;
      least = length;
      way = next;
      found = true;
      break;
    }
    turn += 1;
    if (!found) step /= 2;
  }
  return least;
}

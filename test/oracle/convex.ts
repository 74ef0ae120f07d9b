import { Box3, type Matrix4, Vector3 } from 'three';

/** What could separate a body from another (Gottschalk, Lin and Manocha, OBBTree, 1996). */
interface Axes {
  /** Of the faces, either way; for a triangle those of its three sides too, within its plane. */
  normals: Vector3[];
  edges: Vector3[];
}

/** Whether two boxes are nearer to each other than so much, in every coordinate. */
export function isNear({ min, max }: Box3, other: Box3, distance: number): boolean {
  return (
    min.x - distance <= other.max.x &&
    other.min.x - distance <= max.x &&
    min.y - distance <= other.max.y &&
    other.min.y - distance <= max.y &&
    min.z - distance <= other.max.z &&
    other.min.z - distance <= max.z
  );
}

/** A convex body in the world. */
export class Convex {
  readonly vertices: Vector3[];
  readonly aabb: Box3;
  readonly #axesOf: () => Axes;
  #axes: Axes | undefined;

  constructor(vertices: Vector3[], axesOf: () => Axes) {
    this.vertices = vertices;
    this.aabb = new Box3().setFromPoints(vertices);
    this.#axesOf = axesOf;
  }

  get axes(): Axes {
    this.#axes ??= this.#axesOf();
    return this.#axes;
  }
}

const CUBE = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => new Vector3(x, y, z))));

/** The parallelepiped that the matrix makes of the cube of half size 1. */
export function box(matrix: Matrix4): Convex {
  const vertices = CUBE.map((corner) => corner.clone().applyMatrix4(matrix));
  return new Convex(vertices, () => {
    const [x, y, z] = [0, 1, 2].map((i) => new Vector3().setFromMatrixColumn(matrix, i));
    return { normals: [cross(y, z), cross(z, x), cross(x, y)], edges: [x, y, z] };
  });
}

export function triangle(a: Vector3, b: Vector3, c: Vector3): Convex {
  return new Convex([a, b, c], () => {
    const edges = [b.clone().sub(a), c.clone().sub(b), a.clone().sub(c)];
    const normal = cross(edges[0], edges[1]);
    return { normals: [normal, ...edges.map((edge) => cross(edge, normal))], edges };
  });
}

/**
 * How far the two are apart along the best of the axes that could separate them; not more than their distance.
 * Zero where they touch. Negative where they overlap: minus the shortest way that parts them. No other axis is tried
 * where one parts them by more than `enough`.
 */
export function separation(a: Convex, b: Convex, enough = Infinity): number {
  let best = -Infinity;
  for (const { x, y, z } of a.axes.normals) {
    best = Math.max(best, gap(a, b, x, y, z));
    if (best > enough) return best;
  }
  for (const { x, y, z } of b.axes.normals) {
    best = Math.max(best, gap(a, b, x, y, z));
    if (best > enough) return best;
  }
  for (const u of a.axes.edges) {
    for (const v of b.axes.edges) {
      best = Math.max(best, gap(a, b, u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x));
      if (best > enough) return best;
    }
  }
  return best;
}

/** The least distance of any of the points to a face of the box; negative when one is outside. */
export function depthInside(points: readonly Vector3[], container: Convex): number {
  let depth = Infinity;
  for (const normal of container.axes.normals) {
    if (normal.length() === 0) return -Infinity; // a flat box holds nothing
    const heights = container.vertices.map((vertex) => normal.dot(vertex));
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    for (const point of points) {
      const height = normal.dot(point);
      depth = Math.min(depth, (height - low) / normal.length(), (high - height) / normal.length());
    }
  }
  return depth;
}

/** Between the two bodies' shadows on an axis of any length; negative where the shadows overlap. */
function gap(a: Convex, b: Convex, x: number, y: number, z: number): number {
  const length = Math.sqrt(x * x + y * y + z * z);
  if (length === 0) return -Infinity;
  const origin = a.vertices[0]; // rounding grows with the distance from it
  let [lowA, highA, lowB, highB] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const v of a.vertices) {
    const height = (v.x - origin.x) * x + (v.y - origin.y) * y + (v.z - origin.z) * z;
    if (height < lowA) lowA = height;
    if (height > highA) highA = height;
  }
  for (const v of b.vertices) {
    const height = (v.x - origin.x) * x + (v.y - origin.y) * y + (v.z - origin.z) * z;
    if (height < lowB) lowB = height;
    if (height > highB) highB = height;
  }
  return Math.max(lowB - highA, lowA - highB) / length;
}

function cross(a: Vector3, b: Vector3): Vector3 {
  return new Vector3().crossVectors(a, b);
}

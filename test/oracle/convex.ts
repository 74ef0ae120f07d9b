import { Box3, type Matrix4, Vector3 } from 'three';

/** Candidates for separating axes of a body (Gottschalk, Lin and Manocha, OBBTree, 1996): three numbers per axis. */
interface Axes {
  /** Normals of the faces, in either direction; for a triangle also those of its three edges, within its plane. */
  normals: number[];
  edges: number[];
}

/** A convex body in world space. Expensive properties are computed on demand. */
export class Convex {
  readonly vertices: Vector3[];
  readonly #axesOf: () => Axes;
  #aabb: Box3 | undefined;
  #wideAabb: Box3 | undefined;
  #axes: Axes | undefined;

  constructor(vertices: Vector3[], axesOf: () => Axes) {
    this.vertices = vertices;
    this.#axesOf = axesOf;
  }

  get aabb(): Box3 {
    this.#aabb ??= new Box3().setFromPoints(this.vertices);
    return this.#aabb;
  }

  /** Expanded by a millionth of its diagonal on each side. */
  get wideAabb(): Box3 {
    const { min, max } = this.aabb;
    this.#wideAabb ??= this.aabb.clone().expandByScalar(1e-6 * min.distanceTo(max));
    return this.#wideAabb;
  }

  get axes(): Axes {
    this.#axes ??= this.#axesOf();
    return this.#axes;
  }
}

const CUBE = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => new Vector3(x, y, z))));

/** The parallelepiped that is the image of the cube of half size 1 under the matrix. */
export function box(matrix: Matrix4): Convex {
  const vertices = CUBE.map((corner) => corner.clone().applyMatrix4(matrix));
  return new Convex(vertices, () => {
    const [ax, ay, az, , bx, by, bz, , cx, cy, cz] = matrix.elements;
    return {
      // biome-ignore format: an axis a line
      normals: [
        by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx,
        cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax,
        ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx,
      ],
      edges: [ax, ay, az, bx, by, bz, cx, cy, cz],
    };
  });
}

export function triangle(a: Vector3, b: Vector3, c: Vector3): Convex {
  return new Convex([a, b, c], () => {
    const ux = b.x - a.x;
    const uy = b.y - a.y;
    const uz = b.z - a.z;
    const vx = c.x - b.x;
    const vy = c.y - b.y;
    const vz = c.z - b.z;
    const wx = a.x - c.x;
    const wy = a.y - c.y;
    const wz = a.z - c.z;
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    return {
      // biome-ignore format: an axis a line
      normals: [
        x, y, z,
        uy * z - uz * y, uz * x - ux * z, ux * y - uy * x,
        vy * z - vz * y, vz * x - vx * z, vx * y - vy * x,
        wy * z - wz * y, wz * x - wx * z, wx * y - wy * x,
      ],
      edges: [ux, uy, uz, vx, vy, vz, wx, wy, wz],
    };
  });
}

/**
 * Distance of the two along the best of the separating axes; a lower bound of their distance. Zero if they touch. Negative if
 * they overlap: minus the shortest translation that separates them. It stops at the first axis that separates them by more than
 * `limit`.
 */
export function separation(a: Convex, b: Convex, limit = Infinity): number {
  let maxGap = -Infinity;
  for (const { axes } of [a, b]) {
    const { normals } = axes;
    for (let i = 0; i < normals.length; i += 3) {
      maxGap = Math.max(maxGap, gap(a, b, normals[i], normals[i + 1], normals[i + 2]));
      if (maxGap > limit) return maxGap;
    }
  }
  const u = a.axes.edges;
  const v = b.axes.edges;
  for (let i = 0; i < u.length; i += 3) {
    const ux = u[i];
    const uy = u[i + 1];
    const uz = u[i + 2];
    for (let j = 0; j < v.length; j += 3) {
      const vx = v[j];
      const vy = v[j + 1];
      const vz = v[j + 2];
      maxGap = Math.max(maxGap, gap(a, b, uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx));
      if (maxGap > limit) return maxGap;
    }
  }
  return maxGap;
}

/** The minimum distance of the points to the faces of the box; negative if one is outside. */
export function depthInside(points: readonly Vector3[], container: Convex): number {
  let depth = Infinity;
  const { normals } = container.axes;
  for (let i = 0; i < normals.length; i += 3) {
    const normal = new Vector3().fromArray(normals, i);
    const length = normal.length();
    if (length === 0) return -Infinity; // a flat box contains nothing
    let [min, max] = [Infinity, -Infinity];
    for (const vertex of container.vertices) {
      const height = normal.dot(vertex);
      min = Math.min(min, height);
      max = Math.max(max, height);
    }
    for (const point of points) {
      const height = normal.dot(point);
      depth = Math.min(depth, (height - min) / length, (max - height) / length);
    }
  }
  return depth;
}

/** Gap between the two bodies' projections onto an axis of any length; negative if they overlap. */
function gap(a: Convex, b: Convex, x: number, y: number, z: number): number {
  const length = Math.sqrt(x * x + y * y + z * z);
  if (length === 0) return -Infinity;
  const origin = a.vertices[0]; // rounding errors grow with the distance from it
  let [minA, maxA, minB, maxB] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const v of a.vertices) {
    const height = (v.x - origin.x) * x + (v.y - origin.y) * y + (v.z - origin.z) * z;
    if (height < minA) minA = height;
    if (height > maxA) maxA = height;
  }
  for (const v of b.vertices) {
    const height = (v.x - origin.x) * x + (v.y - origin.y) * y + (v.z - origin.z) * z;
    if (height < minB) minB = height;
    if (height > maxB) maxB = height;
  }
  return Math.max(minB - maxA, minA - maxB) / length;
}

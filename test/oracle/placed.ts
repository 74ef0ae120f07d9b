import { type Box3, Matrix4, Quaternion, Vector3 } from 'three';
import { box, type Convex, isNear, triangle } from './convex.js';
import { boundsOf, type Triangles } from './meshes.js';

/** What an object is made of: triangles, or a solid box. */
export interface OracleShape {
  mesh: Triangles | null;
  /** From the cube of half size 1 to the shape's bounds, in the object's space. */
  bounds: Matrix4;
}

export function meshShape(mesh: Triangles): OracleShape {
  const box = boundsOf(mesh.positions);
  const half = box.getSize(new Vector3()).multiplyScalar(0.5);
  return { mesh, bounds: new Matrix4().compose(box.getCenter(new Vector3()), new Quaternion(), half) };
}

export function boxShape(halfExtents: Vector3, center = new Vector3(), rotation = new Quaternion()): OracleShape {
  return { mesh: null, bounds: new Matrix4().compose(center, rotation, halfExtents) };
}

/** A shape under a matrix, in float64. What costs something is computed when first asked for. */
export class Placed {
  readonly id: number;
  readonly shape: OracleShape;
  readonly matrix: Matrix4;
  #bounds: Convex | undefined;
  #vertices: Vector3[] | undefined;
  readonly #triangles: Convex[] = [];

  constructor(id: number, shape: OracleShape, matrix: Matrix4) {
    this.id = id;
    this.shape = shape;
    this.matrix = matrix;
  }

  /** The parallelepiped that the shape's bounds become in the world. */
  get bounds(): Convex {
    this.#bounds ??= box(this.matrix.clone().multiply(this.shape.bounds));
    return this.#bounds;
  }

  /** In the world: a mesh's vertices, a box's corners. */
  get vertices(): Vector3[] {
    this.#vertices ??= this.shape.mesh
      ? pointsOf(this.shape.mesh.positions).map((vertex) => vertex.applyMatrix4(this.matrix))
      : this.bounds.vertices;
    return this.#vertices;
  }

  /** In the world: a mesh's triangles, or the one box. */
  get parts(): Convex[] {
    const { mesh } = this.shape;
    if (!mesh) return [this.bounds];
    return Array.from({ length: mesh.indices.length / 3 }, (_, i) => this.#triangle(mesh, i));
  }

  /** The parts nearer to a box than so much, in every coordinate. Of a mesh, only these are made. */
  partsNear(box: Box3, distance: number): Convex[] {
    const { mesh } = this.shape;
    if (!mesh) return isNear(this.bounds.aabb, box, distance) ? [this.bounds] : [];
    const found: Convex[] = [];
    for (let i = 0; i < mesh.indices.length / 3; i++) {
      const [a, b, c] = this.#corners(mesh, i);
      if (Math.min(a.x, b.x, c.x) - distance > box.max.x || Math.max(a.x, b.x, c.x) + distance < box.min.x) continue;
      if (Math.min(a.y, b.y, c.y) - distance > box.max.y || Math.max(a.y, b.y, c.y) + distance < box.min.y) continue;
      if (Math.min(a.z, b.z, c.z) - distance > box.max.z || Math.max(a.z, b.z, c.z) + distance < box.min.z) continue;
      found.push(this.#triangle(mesh, i));
    }
    return found;
  }

  #corners({ indices }: Triangles, i: number): [Vector3, Vector3, Vector3] {
    const { vertices } = this;
    return [vertices[indices[3 * i]], vertices[indices[3 * i + 1]], vertices[indices[3 * i + 2]]];
  }

  #triangle(mesh: Triangles, i: number): Convex {
    this.#triangles[i] ??= triangle(...this.#corners(mesh, i));
    return this.#triangles[i];
  }
}

function pointsOf(positions: Float32Array): Vector3[] {
  return Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
}

/** The vertex that the index number `i` names. */
export function cornerOf(mesh: Triangles, i: number): Vector3 {
  return new Vector3().fromArray(mesh.positions, 3 * mesh.indices[i]);
}

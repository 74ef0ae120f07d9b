import { Matrix4, Quaternion, Vector3 } from 'three';
import { box, type Convex, triangle } from './convex.js';
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
  #parts: Convex[] | undefined;

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
    this.#parts ??= this.shape.mesh ? this.#triangles(this.shape.mesh) : [this.bounds];
    return this.#parts;
  }

  #triangles({ indices }: Triangles): Convex[] {
    const corner = (i: number) => this.vertices[indices[i]];
    return Array.from({ length: indices.length / 3 }, (_, i) =>
      triangle(corner(3 * i), corner(3 * i + 1), corner(3 * i + 2)),
    );
  }
}

function pointsOf(positions: Float32Array): Vector3[] {
  return Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
}

/** The vertex that the index number `i` names. */
export function cornerOf(mesh: Triangles, i: number): Vector3 {
  return new Vector3().fromArray(mesh.positions, 3 * mesh.indices[i]);
}

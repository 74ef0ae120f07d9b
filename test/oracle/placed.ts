import { type Box3, Matrix4, Quaternion, Vector3 } from 'three';
import { box, type Convex, triangle } from './convex.js';
import { boundsOf, type Triangles } from './meshes.js';

/** The geometry of an object: triangles, or a solid box. */
export interface OracleShape {
  mesh: Triangles | null;
  /** Matrix from the cube of half size 1 to the shape's bounds, in the object's space. */
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

/** A shape under a matrix, in float64. Expensive properties are computed on demand. */
export class PlacedShape {
  readonly id: number;
  readonly shape: OracleShape;
  readonly matrix: Matrix4;
  #bounds: Convex | undefined;
  #vertices: Vector3[] | undefined;
  #partBoxes: Float64Array | undefined;
  readonly #triangles: Convex[] = [];

  constructor(id: number, shape: OracleShape, matrix: Matrix4) {
    this.id = id;
    this.shape = shape;
    this.matrix = matrix;
  }

  /** The parallelepiped of the shape's bounds in world space. */
  get bounds(): Convex {
    this.#bounds ??= box(this.matrix.clone().multiply(this.shape.bounds));
    return this.#bounds;
  }

  /** In world space: a mesh's vertices, or a box's corners. */
  get vertices(): Vector3[] {
    this.#vertices ??= this.shape.mesh
      ? pointsOf(this.shape.mesh.positions).map((vertex) => vertex.applyMatrix4(this.matrix))
      : this.bounds.vertices;
    return this.#vertices;
  }

  /** Part number `i` in world space: a mesh's triangle, or the single box. */
  part(i: number): Convex {
    const { mesh } = this.shape;
    if (!mesh) return this.bounds;
    const { vertices } = this;
    const corner = (k: number) => vertices[mesh.indices[3 * i + k]];
    this.#triangles[i] ??= triangle(corner(0), corner(1), corner(2));
    return this.#triangles[i];
  }

  /** Axis-aligned boxes of the parts in world space: minimum x, y and z of each, then maximum. */
  get partBoxes(): Float64Array {
    this.#partBoxes ??= this.shape.mesh ? this.#boxesOf(this.shape.mesh) : numbersOf(this.bounds.aabb);
    return this.#partBoxes;
  }

  /** The parts within this distance of a box, in every coordinate. */
  partsNear({ min, max }: Box3, distance: number): number[] {
    const boxes = this.partBoxes;
    const parts: number[] = [];
    for (let i = 0; i < boxes.length; i += 6) {
      if (boxes[i] - distance > max.x || boxes[i + 3] + distance < min.x) continue;
      if (boxes[i + 1] - distance > max.y || boxes[i + 4] + distance < min.y) continue;
      if (boxes[i + 2] - distance > max.z || boxes[i + 5] + distance < min.z) continue;
      parts.push(i / 6);
    }
    return parts;
  }

  #boxesOf({ indices }: Triangles): Float64Array {
    const { vertices } = this;
    const boxes = new Float64Array(2 * indices.length);
    for (let i = 0; i < indices.length; i += 3) {
      const [a, b, c] = [vertices[indices[i]], vertices[indices[i + 1]], vertices[indices[i + 2]]];
      boxes[2 * i] = Math.min(a.x, b.x, c.x);
      boxes[2 * i + 1] = Math.min(a.y, b.y, c.y);
      boxes[2 * i + 2] = Math.min(a.z, b.z, c.z);
      boxes[2 * i + 3] = Math.max(a.x, b.x, c.x);
      boxes[2 * i + 4] = Math.max(a.y, b.y, c.y);
      boxes[2 * i + 5] = Math.max(a.z, b.z, c.z);
    }
    return boxes;
  }
}

function pointsOf(positions: Float32Array): Vector3[] {
  return Array.from({ length: positions.length / 3 }, (_, i) => new Vector3().fromArray(positions, 3 * i));
}

function numbersOf({ min, max }: Box3): Float64Array {
  return Float64Array.of(min.x, min.y, min.z, max.x, max.y, max.z);
}

/** The vertex at index number `i`. */
export function cornerOf(mesh: Triangles, i: number): Vector3 {
  return new Vector3().fromArray(mesh.positions, 3 * mesh.indices[i]);
}

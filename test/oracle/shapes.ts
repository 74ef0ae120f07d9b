import type { BoxShape, CapsuleShape, MeshShape, SphereShape } from 'collision-worker';
import { Matrix4, Quaternion, Vector3 } from 'three';
import type { Triangles } from './meshes.js';
import type { Random } from './random.js';
import { type ConvexSet, cubeBody, meshBodies, roundBody } from './solids.js';

export type SolidShape = SphereShape | BoxShape | CapsuleShape;
/** A shape, with its triangles if it is a mesh. */
export type AnyShape = { shape: SolidShape; triangles?: undefined } | { shape: MeshShape; triangles: Triangles };

export function randomSolid(random: Random): SolidShape {
  const center = random.point(0.5).toArray();
  switch (random.integer(4)) {
    case 0:
      return { type: 'sphere', radius: random.logRange(0.2, 2), center };
    case 1: {
      const halfExtents = [random.logRange(0.1, 2), random.logRange(0.1, 2), random.logRange(0.1, 2)] as const;
      return { type: 'box', halfExtents, center, rotation: random.rotation().toArray() };
    }
    case 2:
      return { type: 'capsule', radius: random.logRange(0.01, 1), from: center, to: random.point(2).toArray() };
    default:
      return { type: 'capsule', radius: random.logRange(0.1, 1), from: center, to: center };
  }
}

/** Matrix from the space in which the solid is the cube, the unit ball or a capsule of radius 1 about z to its own space. */
export function frameOf(shape: SolidShape): { matrix: Matrix4; half: number } {
  const identity = new Quaternion();
  switch (shape.type) {
    case 'sphere': {
      const size = new Vector3().setScalar(shape.radius);
      return { matrix: new Matrix4().compose(vector(shape.center), identity, size), half: 0 };
    }
    case 'box': {
      const rotation = shape.rotation ? new Quaternion(...shape.rotation) : identity;
      return { matrix: new Matrix4().compose(vector(shape.center), rotation, vector(shape.halfExtents)), half: 0 };
    }
    case 'capsule': {
      const [from, to] = [vector(shape.from), vector(shape.to)];
      const length = from.distanceTo(to);
      const direction = length === 0 ? new Vector3(0, 0, 1) : to.clone().sub(from).divideScalar(length);
      const rotation = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), direction);
      const size = new Vector3().setScalar(shape.radius);
      const matrix = new Matrix4().compose(from.add(to).multiplyScalar(0.5), rotation, size);
      return { matrix, half: length / 2 / shape.radius };
    }
  }
}

/** The convex sets of a shape under a matrix: one for a solid, one per triangle for a mesh. */
export function bodiesOf({ shape, triangles }: AnyShape, matrix: Matrix4): ConvexSet[] {
  if (triangles) return meshBodies(triangles, matrix);
  const frame = frameOf(shape);
  const placed = matrix.clone().multiply(frame.matrix);
  return [shape.type === 'box' ? cubeBody(placed) : roundBody(placed, frame.half)];
}

function vector(numbers: readonly number[] = [0, 0, 0]): Vector3 {
  return new Vector3().fromArray(numbers as number[]);
}

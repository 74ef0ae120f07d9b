import { Box3, Matrix3, Matrix4, Quaternion, type Ray, Sphere, Vector3 } from 'three';

/**
 * A convex body: a shape in its own space, under a matrix. A ray's crossings are found by search instead of in closed form: the
 * height of a point, in units of the shape, is a convex function along a ray.
 */
export class Body {
  readonly matrix: Matrix4;
  readonly shape: BodyShape;
  readonly #inverse: Matrix3;

  constructor(matrix: Matrix4, shape: BodyShape) {
    this.matrix = matrix;
    this.shape = shape;
    this.#inverse = new Matrix3().setFromMatrix4(matrix).invert();
  }

  /** Where a ray, of any t, enters and leaves; null if it misses. `depth`: how deep inside it gets, 0 … 1. */
  crossings(ray: Ray): { enter: number; leave: number; depth: number } | null {
    const origin = ray.origin.clone().sub(new Vector3().setFromMatrixPosition(this.matrix)).applyMatrix3(this.#inverse);
    const direction = ray.direction.clone().applyMatrix3(this.#inverse);
    const point = new Vector3();
    const height = (t: number) => this.shape.height(point.copy(origin).addScaledVector(direction, t));
    const { middle, radius } = this.shape;
    const tNearest = middle.clone().sub(origin).dot(direction) / direction.lengthSq();
    if (origin.clone().addScaledVector(direction, tNearest).distanceTo(middle) > 1.001 * radius) return null;
    const tRange = (1.01 * radius) / direction.length();
    const tLowest = findMinimum(height, tNearest - tRange, tNearest + tRange);
    const depth = -height(tLowest);
    if (depth < 0) return null;
    return {
      enter: findRoot(height, tNearest - tRange, tLowest),
      leave: findRoot(height, tNearest + tRange, tLowest),
      depth,
    };
  }

  /** Normals of all faces that a surface point is on, within a tolerance. */
  normals(point: Vector3): Vector3[] {
    const local = point.clone().sub(new Vector3().setFromMatrixPosition(this.matrix)).applyMatrix3(this.#inverse);
    const normalMatrix = new Matrix3().getNormalMatrix(this.matrix);
    return this.shape.normals(local).map((normal) => normal.applyNormalMatrix(normalMatrix));
  }
}

interface BodyShape {
  /** Centre of a bounding ball. */
  middle: Vector3;
  radius: number;
  /** At most 0 inside, -1 at the centre. */
  height(point: Vector3): number;
  /** In any order, of any length. */
  normals(point: Vector3): Vector3[];
}

export function ballOf(radius: number, center = new Vector3()): BodyShape {
  return capsuleOf(radius, center, center);
}

export function capsuleOf(radius: number, from: Vector3, to: Vector3): BodyShape {
  const axis = to.clone().sub(from);
  const offset = (point: Vector3, out = new Vector3()) => {
    out.copy(point).sub(from);
    const along = axis.lengthSq() === 0 ? 0 : out.dot(axis) / axis.lengthSq();
    return out.addScaledVector(axis, -Math.min(Math.max(along, 0), 1));
  };
  const scratch = new Vector3();
  return {
    middle: from.clone().lerp(to, 0.5),
    radius: radius + axis.length() / 2,
    height: (point) => offset(point, scratch).length() / radius - 1,
    normals: (point) => [offset(point)],
  };
}

/** Gives flat shapes the thickness that the service gives them. */
export function thickenHalfSize(half: Vector3): Vector3 {
  return half.clone().max(new Vector3(1e-9, 1e-9, 1e-9).multiplyScalar(Math.max(...half.toArray())));
}

/** Flat boxes are thickened. */
export function boxOf(half: Vector3, center = new Vector3(), rotation = new Quaternion()): BodyShape {
  const size = thickenHalfSize(half);
  const inverseRotation = rotation.clone().invert();
  const relative = (point: Vector3, out = new Vector3()) => {
    return out.copy(point).sub(center).applyQuaternion(inverseRotation).divide(size);
  };
  const scratch = new Vector3();
  return {
    middle: center,
    radius: size.length(),
    height: (point) => {
      const { x, y, z } = relative(point, scratch);
      return Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) - 1;
    },
    normals: (point) => {
      const heights = relative(point).toArray();
      return [0, 1, 2]
        .filter((axis) => Math.abs(Math.abs(heights[axis]) - 1) * size.getComponent(axis) < 1e-6 * size.length())
        .map((axis) => new Vector3().setComponent(axis, Math.sign(heights[axis])).applyQuaternion(rotation));
    },
  };
}

/** The body of an axis-aligned box in world space. */
export function boxBody(box: Box3): Body {
  const half = box.getSize(new Vector3()).multiplyScalar(0.5);
  return new Body(new Matrix4().setPosition(box.getCenter(new Vector3())), boxOf(half));
}

export function ballBody({ center, radius }: Sphere): Body {
  return new Body(new Matrix4().setPosition(center), ballOf(radius));
}

/** The bounding box of a capsule under a matrix: the extent of its ends, by the support function of the ball about them. */
export function capsuleBox(radius: number, from: Vector3, to: Vector3, matrix: Matrix4): Box3 {
  const rows = new Matrix3().setFromMatrix4(matrix).transpose().elements;
  const extents = [0, 3, 6].map((at) => radius * Math.hypot(rows[at], rows[at + 1], rows[at + 2]));
  const ends = [from, to].map((end) => end.clone().applyMatrix4(matrix));
  return new Box3().setFromPoints(ends).expandByVector(new Vector3(...extents));
}

/** Rotation to the capsule's space: the shortest one from the nearer half of the z axis to its segment. */
export function capsuleFrame(from: Vector3, to: Vector3): Quaternion {
  const axis = to.clone().sub(from);
  if (axis.lengthSq() === 0) return new Quaternion();
  return new Quaternion().setFromUnitVectors(
    new Vector3(0, 0, 1),
    axis.normalize().multiplyScalar(axis.z < 0 ? -1 : 1),
  );
}

/** The sphere under any matrix, scaled by the greatest stretch; without shear, three computes the same. */
export function scaleSphere(sphere: Sphere, matrix: Matrix4): Sphere {
  const linear = new Matrix3().setFromMatrix4(matrix);
  const gram = new Matrix3().multiplyMatrices(linear.clone().transpose(), linear);
  // Power iteration by squaring: 2^40 steps from every axis.
  for (let i = 0; i < 40; i++) {
    gram.multiply(gram.clone());
    gram.multiplyScalar(1 / Math.max(...gram.elements.map(Math.abs)));
  }
  const stretches = [0, 3, 6].map((at) => {
    const vector = new Vector3().fromArray(gram.elements, at);
    return vector.lengthSq() === 0 ? 0 : vector.normalize().applyMatrix3(linear).length();
  });
  return new Sphere(sphere.center.clone().applyMatrix4(matrix), sphere.radius * Math.max(...stretches));
}

/** Minimum of a convex function, by golden section search. */
function findMinimum(height: (t: number) => number, min: number, max: number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [a, b] = [min, max];
  let [p, q] = [b - ratio * (b - a), a + ratio * (b - a)];
  let [heightP, heightQ] = [height(p), height(q)];
  for (let i = 0; i < 80; i++) {
    if (heightP < heightQ) {
      [b, q, heightQ] = [q, p, heightP];
      p = b - ratio * (b - a);
      heightP = height(p);
    } else {
      [a, p, heightP] = [p, q, heightQ];
      q = a + ratio * (b - a);
      heightQ = height(q);
    }
  }
  return (a + b) / 2;
}

/** Root by bisection: positive at `outside`, negative at `inside`. */
function findRoot(height: (t: number) => number, outside: number, inside: number): number {
  let [outer, inner] = [outside, inside];
  for (let i = 0; i < 70; i++) {
    const midpoint = (outer + inner) / 2;
    if (height(midpoint) > 0) outer = midpoint;
    else inner = midpoint;
  }
  return (outer + inner) / 2;
}

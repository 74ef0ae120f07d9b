import { Matrix3, type Matrix4, Ray, Triangle, Vector3 } from 'three';
import { cornerOf, type PlacedShape } from './placed.js';

export interface OracleHit {
  id: number;
  /** -1 for a box. */
  triangle: number;
  distance: number;
  /** By the winding in the object's own space, as in three: a mirrored matrix does not flip faces. */
  front: boolean;
  /** In world space. */
  point: Vector3;
  normal: Vector3;
}

/** Every hit of the ray, nearest first. The direction must have length 1. */
export function rayHits(items: Iterable<PlacedShape>, ray: Ray): OracleHit[] {
  const candidates = [...items].filter(({ bounds }) => ray.intersectsBox(bounds.wideAabb));
  const hits = candidates.flatMap((item) => (item.shape.mesh ? meshHits(item, ray) : boxHits(item, ray)));
  return hits.sort((a, b) => a.distance - b.distance);
}

/** Möller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997, on every triangle. */
function meshHits(item: PlacedShape, ray: Ray): OracleHit[] {
  const mesh = item.shape.mesh!;
  const { origin, direction } = localRay(ray, item.matrix);
  const hits: OracleHit[] = [];
  const [a, ab, ac, ao] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
  const [p, q] = [new Vector3(), new Vector3()];
  for (let triangle = 0; triangle < mesh.indices.length / 3; triangle++) {
    a.fromArray(mesh.positions, 3 * mesh.indices[3 * triangle]);
    ab.fromArray(mesh.positions, 3 * mesh.indices[3 * triangle + 1]).sub(a);
    ac.fromArray(mesh.positions, 3 * mesh.indices[3 * triangle + 2]).sub(a);
    ao.subVectors(origin, a);
    p.crossVectors(direction, ac);
    q.crossVectors(ao, ab);
    const determinant = ab.dot(p);
    if (determinant === 0) continue;
    const u = ao.dot(p) / determinant;
    const v = direction.dot(q) / determinant;
    const distance = ac.dot(q) / determinant;
    if (u < 0 || v < 0 || u + v > 1 || distance < 0) continue;
    const [b, c] = [cornerOf(mesh, 3 * triangle + 1), cornerOf(mesh, 3 * triangle + 2)];
    const normal = Triangle.getNormal(a, b, c, new Vector3());
    hits.push(worldHit(item.id, item.matrix, ray, triangle, distance, determinant > 0, normal));
  }
  return hits;
}

/**
 * Slab test by Kay and Kajiya (Ray tracing complex scenes, 1986) in the box's own space: it enters by a front face, and leaves by
 * a back face.
 */
function boxHits(item: PlacedShape, ray: Ray): OracleHit[] {
  const matrix = item.matrix.clone().multiply(item.shape.bounds);
  const { origin, direction } = localRay(ray, matrix);
  let [enter, leave, enterAxis, leaveAxis] = [-Infinity, Infinity, 0, 0];
  for (let axis = 0; axis < 3; axis++) {
    const [o, d] = [origin.getComponent(axis), direction.getComponent(axis)];
    if (d === 0 && Math.abs(o) > 1) return [];
    if (d === 0) continue;
    const [near, far] = [(-Math.sign(d) - o) / d, (Math.sign(d) - o) / d];
    if (near > enter) [enter, enterAxis] = [near, axis];
    if (far < leave) [leave, leaveAxis] = [far, axis];
  }
  if (enter > leave) return [];
  const outward = (axis: number, sign: number) =>
    new Vector3().setComponent(axis, sign * Math.sign(direction.getComponent(axis)));
  return [
    worldHit(item.id, matrix, ray, -1, enter, true, outward(enterAxis, -1)),
    worldHit(item.id, matrix, ray, -1, leave, false, outward(leaveAxis, 1)),
  ].filter((hit) => hit.distance >= 0);
}

/** The direction is not normalized again, so distances along it are those of world space. */
function localRay(ray: Ray, matrix: Matrix4): Ray {
  const inverse = matrix.clone().invert();
  const origin = ray.origin.clone().applyMatrix4(inverse);
  return new Ray(origin, ray.direction.clone().applyMatrix4(inverse.setPosition(0, 0, 0)));
}

function worldHit(
  id: number,
  matrix: Matrix4,
  ray: Ray,
  triangle: number,
  distance: number,
  front: boolean,
  localNormal: Vector3,
): OracleHit {
  const normal = localNormal.applyNormalMatrix(new Matrix3().getNormalMatrix(matrix));
  return { id, triangle, distance, front, point: ray.at(distance, new Vector3()), normal };
}

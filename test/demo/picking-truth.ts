// What three.js finds under a pixel, for each method of the picking page.
import {
  Box3,
  type BufferGeometry,
  CapsuleGeometry,
  DoubleSide,
  type Group,
  type Material,
  Matrix3,
  Mesh,
  type PerspectiveCamera,
  type Ray,
  Raycaster,
  Sphere,
  SphereGeometry,
  Vector2,
  Vector3,
} from 'three';
import type { PaneRect } from '../../demo/picking/pane.js';

export interface Truth {
  name: string;
  /** In world units, or in pixels for screen picks. */
  length: number;
  /** In world space; null for screen picks. */
  normal: Vector3 | null;
}

type Method = (object: Mesh, ray: Ray) => { point: Vector3; normal: Vector3 } | null;

const METHODS: Record<string, Method> = { mesh: hitShape, obb: hitOriented, aabb: hitAligned, sphere: hitBounding };

/** By the methods' ids; undefined for nothing. */
export function truthAt(
  root: Group,
  camera: PerspectiveCamera,
  rect: PaneRect,
  x: number,
  y: number,
  radius: number,
): Record<string, Truth | undefined> {
  const raycaster = new Raycaster();
  const cursor = new Vector2(((x - rect.x) / rect.width) * 2 - 1, 1 - ((y - rect.y) / rect.height) * 2);
  raycaster.setFromCamera(cursor, camera);
  const { ray } = raycaster;
  const objects = root.children as Mesh[];
  const truth: Record<string, Truth | undefined> = {};
  for (const [id, method] of Object.entries(METHODS)) {
    const hits = objects.flatMap((object): Truth[] => {
      const hit = method(object, ray);
      return hit === null ? [] : [{ name: object.name, length: hit.point.distanceTo(ray.origin), normal: hit.normal }];
    });
    truth[id] = hits.sort((a, b) => a.length - b.length)[0];
  }
  const centres = objects.map((object): Truth => {
    const centre = object.geometry.boundingBox!.getCenter(new Vector3()).applyMatrix4(object.matrixWorld);
    const { x: right, y: up } = centre.project(camera);
    const length = Math.hypot(
      (0.5 * right + 0.5) * rect.width + rect.x - x,
      (0.5 - 0.5 * up) * rect.height + rect.y - y,
    );
    return { name: object.name, length, normal: null };
  });
  truth.screen = centres.filter(({ length }) => length <= radius).sort((a, b) => a.length - b.length)[0];
  return truth;
}

/** Transforms the ray to the object's space, and a hit there back. */
function inObject(object: Mesh, ray: Ray, hit: (local: Ray) => { point: Vector3; normal: Vector3 } | null) {
  const local = ray.clone().applyMatrix4(object.matrixWorld.clone().invert());
  local.direction.normalize();
  const found = hit(local);
  if (found === null) return null;
  const toWorld = new Matrix3().getNormalMatrix(object.matrixWorld);
  return {
    point: found.point.applyMatrix4(object.matrixWorld),
    normal: found.normal.applyMatrix3(toWorld).normalize(),
  };
}

function hitShape(object: Mesh, ray: Ray) {
  const { geometry } = object;
  if (geometry instanceof SphereGeometry) {
    const sphere = new Sphere(new Vector3(), geometry.parameters.radius);
    return inObject(object, ray, (local) => hitSphere(sphere, local));
  }
  const raycaster = new Raycaster(ray.origin, ray.direction);
  const finer = new Mesh(finely(geometry), object.material);
  (finer.material as Material).side = DoubleSide;
  finer.matrixWorld.copy(object.matrixWorld);
  const [hit] = raycaster.intersectObject(finer);
  if (hit === undefined) return null;
  const normal = (hit.face!.normal as Vector3).clone().applyMatrix3(new Matrix3().getNormalMatrix(finer.matrixWorld));
  return { point: hit.point, normal: normal.normalize() };
}

function hitOriented(object: Mesh, ray: Ray) {
  return inObject(object, ray, (local) => hitBox(object.geometry.boundingBox!, local));
}

function hitAligned({ geometry, matrixWorld }: Mesh, ray: Ray) {
  const { radius, ends } = roundForm(geometry);
  if (ends.length === 0) return hitBox(geometry.boundingBox!.clone().applyMatrix4(matrixWorld), ray);
  // The reach along an axis of an ellipsoid about an end: the length of that row of the matrix.
  const m = matrixWorld.elements;
  const reach = new Vector3(...[0, 1, 2].map((row) => radius * Math.hypot(m[row], m[row + 4], m[row + 8])));
  const box = new Box3().setFromPoints(ends.map((end) => end.applyMatrix4(matrixWorld)));
  return hitBox(new Box3(box.min.sub(reach), box.max.add(reach)), ray);
}

/** Points no farther than the radius from the ends or from between them; without ends, the geometry is not round. */
function roundForm(geometry: BufferGeometry): { radius: number; ends: Vector3[] } {
  if (geometry instanceof SphereGeometry) return { radius: geometry.parameters.radius, ends: [new Vector3()] };
  if (!(geometry instanceof CapsuleGeometry)) return { radius: 0, ends: [] };
  const { radius, height } = geometry.parameters;
  return { radius, ends: [new Vector3(0, -height / 2, 0), new Vector3(0, height / 2, 0)] };
}

function hitBounding({ geometry, matrixWorld }: Mesh, ray: Ray) {
  return hitSphere(geometry.boundingSphere!.clone().applyMatrix4(matrixWorld), ray);
}

function hitSphere(sphere: Sphere, ray: Ray) {
  const point = ray.intersectSphere(sphere, new Vector3());
  return point && { point, normal: new Vector3().subVectors(point, sphere.center).normalize() };
}

function hitBox(box: Box3, ray: Ray) {
  const point = ray.intersectBox(box, new Vector3());
  if (point === null) return null;
  const [x, y, z] = point.toArray();
  const sides: [distance: number, normal: Vector3][] = [
    [Math.abs(x - box.min.x), new Vector3(-1, 0, 0)],
    [Math.abs(x - box.max.x), new Vector3(1, 0, 0)],
    [Math.abs(y - box.min.y), new Vector3(0, -1, 0)],
    [Math.abs(y - box.max.y), new Vector3(0, 1, 0)],
    [Math.abs(z - box.min.z), new Vector3(0, 0, -1)],
    [Math.abs(z - box.max.z), new Vector3(0, 0, 1)],
  ];
  return { point, normal: sides.sort((a, b) => a[0] - b[0])[0][1] };
}

const FINER = new Map<BufferGeometry, BufferGeometry>();

/** A capsule of so many triangles that they equal its closed form, to within the compared precision. */
function finely(geometry: BufferGeometry): BufferGeometry {
  if (!(geometry instanceof CapsuleGeometry)) return geometry;
  const { radius, height } = geometry.parameters;
  const finer = FINER.get(geometry) ?? new CapsuleGeometry(radius, height, 64, 256);
  FINER.set(geometry, finer);
  return finer;
}

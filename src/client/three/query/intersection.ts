import {
  type BatchedMesh,
  type BufferAttribute,
  type Face,
  type InstancedMesh,
  type InterleavedBufferAttribute,
  type Intersection,
  Matrix3,
  Matrix4,
  Mesh,
  type Object3D,
  type Sprite,
  Triangle,
  Vector2,
  Vector3,
  type Vector4,
} from 'three';
import type { FlatFace, Hit, SnapKind } from '../../../shared/types.js';
import { findTriangle } from '../geometry/geometry.js';
import type { BuiltMesh } from '../geometry/shared-mesh.js';
import { readInstanceMatrix } from '../track/batch-contents.js';
import { hitObject, type Placement, type SceneObject, seenBy } from '../track/scene-objects.js';
import { isFatLine } from '../track/stand-in.js';
import { type FatQuery, fatIntersection } from './fat-lines.js';

type Attribute = BufferAttribute | InterleavedBufferAttribute;

/** three's Intersection; with method 'screen' it has no more than distance, point, object, its instance's number, and `pixels`. */
export interface SceneIntersection extends Intersection {
  /**
   * Method 'screen': distance on the screen, in pixels, between the cursor and the centre of the object's bounds, which is then
   * the `point`.
   */
  pixels?: number;
  /** For a SkinnedMesh, the number in `skeleton.bones` of the bone with the greatest weight at the hit, or whose box was hit. */
  bone?: number;
  /** With `precision` 'obb', the name of the box that was hit, for an object with `boxes`. */
  box?: string;
  /**
   * With the option `snap` of a pick: the feature near the cursor, null if there is none. It may belong to another object. If the
   * ray itself hits nothing, the intersection is that of the feature.
   */
  snap?: SceneSnap | null;
}

/** A feature near the cursor, as the service's `Snap`, in terms of the scene. */
export interface SceneSnap {
  kind: SnapKind;
  object: Object3D;
  /** The number of the instance of an InstancedMesh or a BatchedMesh. */
  instanceId?: number;
  point: Vector3;
  pixels: number;
  /** The ends of an edge, or of a midpoint's edge; for a centre, the ends of the arc; otherwise the point. */
  a: Vector3;
  b: Vector3;
  /**
   * A face of the geometry beside the feature, or the segment of a LineSegments2 or Line2. Other lines and points have an
   * `index` instead, and shapes none.
   */
  faceIndex?: number;
  /** Undefined for points whose index array was freed. */
  index?: number | undefined;
  /** Only for a centre. */
  radius?: number;
  axis?: Vector3;
  /** Only for a face, in numbers of the world. Its `triangles` are faces like `faceIndex`, in the order of `corners`. */
  face?: FlatFace;
}

/**
 * Reports a hit as three's Raycaster does: `face.normal` and `normal` in the object's space, `uv`, `uv1` and `normal`
 * interpolated, `normal` turned towards the ray. Where a shape replaces the triangles (`mesh` null, or the bounds by `precision`)
 * there is no face, and `normal` is the shape's; where the geometry's arrays were freed after their upload, or have fewer
 * vertices by now, it is the triangle's. Lines and points have an `index` instead (points none if its array was freed), points
 * also `distanceToRay`: three's with `params`, otherwise in world units. A LineSegments2 has its segment as `faceIndex`.
 *
 * `eye` is the origin of the ray, or with w = 0 its direction.
 */
export function intersectionOf(
  hit: Hit,
  { object, instanceId }: SceneObject,
  mesh: BuiltMesh | null,
  eye: Vector4,
): SceneIntersection {
  const point = new Vector3(...hit.point);
  const intersection: SceneIntersection = { distance: hit.distance, point, object };
  if (instanceId !== undefined) intersection[isBatch(object) ? 'batchId' : 'instanceId'] = instanceId;
  if (hit.pixels !== undefined) {
    intersection.pixels = hit.pixels;
    return intersection; // not a point of the surface
  }

  if (mesh !== null && mesh.primitive !== 'triangles' && hit.element >= 0) {
    // Assigned one by one: spreading them into a new object takes microseconds, and there may be hundreds of thousands of points.
    if (mesh.primitive === 'points' && hit.distanceToRay !== undefined) intersection.distanceToRay = hit.distanceToRay;
    intersection.face = intersection.faceIndex = intersection.barycoord = null;
    if (isFatLine(object)) intersection.faceIndex = hit.element;
    else intersection.index = elementIndexOf(mesh, hit.element);
    return intersection;
  }
  const toWorld = worldMatrixOf(object, instanceId);
  const { face, faceIndex } = faceAt(mesh, hit.triangle);
  if (mesh === null || face === null) {
    intersection.face = null;
    intersection.faceIndex = faceIndex;
    intersection.normal = normalIn(toWorld, hit);
    if (hit.box !== undefined) intersection.box = hit.box;
    else if (hit.bone >= 0) intersection.bone = hit.bone;
    return intersection;
  }

  if (isDeformed(mesh)) face.normal.copy(normalIn(toWorld, hit)); // in the pose at the time of the answer
  if (mesh.bones > 0) intersection.bone = hit.bone;
  const isSprite = (object as Sprite).isSprite === true;
  const barycoord = new Vector3(...hit.barycentric);
  intersection.face = isSprite ? null : face; // as in three
  if (!isSprite) {
    intersection.faceIndex = faceIndex;
    intersection.barycoord = barycoord;
  }
  addInterpolated(intersection, mesh, face, barycoord, toWorld, eye);
  return intersection;
}

/** Returns the matrix from an object's space, or that of one of its instances, to the world. */
export function worldMatrixOf(object: Object3D, instanceId: number | undefined): Matrix4 {
  const toWorld = object.matrixWorld.clone();
  if (instanceId === undefined) return toWorld;
  return toWorld.multiply(readInstanceMatrix(object as InstancedMesh, instanceId, new Matrix4()));
}

/** Adds the uv, uv1 and normal at a point of a face, interpolated between its vertices. */
function addInterpolated(
  intersection: SceneIntersection,
  { geometry }: BuiltMesh,
  { a, b, c }: Face,
  { x, y, z }: Vector3,
  toWorld: Matrix4,
  eye: Vector4,
): void {
  // `getComponent` would be shorter, but interleaved attributes of the oldest supported three do not have it.
  const interpolate = (attribute: Attribute, get: 'getX' | 'getY' | 'getZ'): number =>
    x * attribute[get](a) + y * attribute[get](b) + z * attribute[get](c);
  const { uv, uv1, normal } = geometry.attributes as Partial<Record<string, Attribute>>;
  // An app may have freed the arrays after their upload.
  if (uv?.array) intersection.uv = new Vector2(interpolate(uv, 'getX'), interpolate(uv, 'getY'));
  if (uv1?.array) intersection.uv1 = new Vector2(interpolate(uv1, 'getX'), interpolate(uv1, 'getY'));
  if (!normal?.array) return;
  const direction = new Vector3(eye.x, eye.y, eye.z);
  if (eye.w !== 0) direction.subVectors(intersection.point, direction);
  direction.transformDirection(toWorld.invert());
  intersection.normal = new Vector3(
    interpolate(normal, 'getX'),
    interpolate(normal, 'getY'),
    interpolate(normal, 'getZ'),
  );
  if (intersection.normal.dot(direction) > 0) intersection.normal.negate();
}

function isBatch(object: Object3D): object is BatchedMesh {
  return (object as BatchedMesh).isBatchedMesh === true;
}

/** Returns a hit's normal in the space that `toWorld` places: normals are transformed back by the transposed matrix. */
function normalIn(toWorld: Matrix4, { normal }: Hit): Vector3 {
  return new Vector3(...normal).applyMatrix3(new Matrix3().setFromMatrix4(toWorld).transpose()).normalize();
}

/** Returns whether bones or morph targets move the vertices of a mesh. */
function isDeformed({ bones, morphs }: BuiltMesh): boolean {
  return bones + morphs > 0;
}

/** Reports a hit on the mesh that a query saw, by the query's id; null for a line with a width that does not reach the ray. */
export function intersectionAt(
  hit: Hit,
  placement: Placement,
  queryId: number,
  eye: Vector4,
  fatQuery?: FatQuery,
): SceneIntersection | null {
  const mesh = seenBy(placement, queryId);
  const { instanceId } = placement;
  if (fatQuery !== undefined && mesh !== null && hit.element >= 0 && isFatLine(placement.object)) {
    return fatIntersection(hit, placement, mesh, fatQuery);
  }
  return intersectionOf(hit, { object: hitObject(placement, mesh), instanceId }, mesh, eye);
}

/**
 * Finds the index of a line or point in the geometry, as three's Raycaster has it: that of a point's vertex, or of a line's
 * first one; undefined if an app has freed the array that tells it.
 */
export function elementIndexOf({ primitive, index, runs }: BuiltMesh, element: number): number | undefined {
  const at = runs[0].start + (primitive === 'segments' ? 2 : 1) * element;
  return primitive !== 'points' || index === null ? at : index.array?.[at];
}

/**
 * Finds the face of the geometry for a triangle of the service's mesh, as three's Raycaster has it; null without a triangle, and
 * if the geometry cannot be read any more, as when an app has freed its arrays after their upload, or has fewer vertices by now.
 * `posed`: the object, or the one with that instance, if its present pose is to count.
 */
export function faceAt(
  mesh: BuiltMesh | null,
  triangle: number,
  posed?: Mesh,
  instanceId?: number,
): { face: Face | null; faceIndex: number | null } {
  if (mesh === null || triangle < 0) return { face: null, faceIndex: null };
  const { geometry, index, runs } = mesh;
  const { start, materialIndex } = findTriangle(runs, triangle);
  let face: Face | null = null;
  try {
    const { position } = geometry.attributes;
    const [a, b, c] = [start, start + 1, start + 2].map((i) => (index === null ? i : index.getX(i)));
    if (Math.max(a, b, c) < position.count) {
      let object = posed;
      if (posed !== undefined && instanceId !== undefined) {
        object = new Mesh(geometry);
        (posed as InstancedMesh).getMorphAt(instanceId, object);
      }
      const [p, q, r] = [a, b, c].map((i) => {
        const corner = new Vector3();
        return object?.getVertexPosition(i, corner) ?? corner.fromBufferAttribute(position, i);
      });
      face = { a, b, c, normal: Triangle.getNormal(p, q, r, new Vector3()), materialIndex };
    }
  } catch {}
  return { face, faceIndex: Math.floor(start / 3) };
}

/**
 * Returns the object or instance of a placement in terms of the scene, with the face of one of its triangles; null faces if it
 * has none. `queryId`: the query's id.
 */
export function placedFace(
  placement: Placement,
  queryId: number,
  triangle: number,
): SceneObject & { face: Face | null; faceIndex: number | null } {
  const { instanceId } = placement;
  const mesh = seenBy(placement, queryId);
  const object = hitObject(placement, mesh);
  const hasFaces = mesh?.primitive === 'triangles' && (object as Sprite).isSprite !== true;
  // The vertices are where they are now; another geometry may have replaced the one that was seen.
  const isPosed = hasFaces && isDeformed(mesh) && (object as Mesh).geometry === mesh.geometry;
  const posed = isPosed ? (object as Mesh) : undefined;
  return { object, instanceId, ...faceAt(hasFaces ? mesh : null, triangle, posed, instanceId) };
}

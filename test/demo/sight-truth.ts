// What three.js finds for a guard's view: its Frustum and the corners of oriented bounds, and its Raycaster.
import {
  type BoxGeometry,
  type BufferGeometry,
  CapsuleGeometry,
  Frustum,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  type PerspectiveCamera,
  type Plane,
  Raycaster,
  SphereGeometry,
  Vector3,
} from 'three';
import { type State, stateOf } from '../../demo/seeing/states.js';

/** The state of each target, with only walls and other targets in the way; 'outside' is decided first, by planes. */
export function statesBy(
  camera: PerspectiveCamera,
  margin: number,
  targets: readonly Mesh[],
  walls: readonly Mesh[],
): State[] {
  const matrix = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  const frustum = new Frustum().setFromProjectionMatrix(matrix);
  const grown = frustum.planes.map((plane) => {
    const moved = plane.clone();
    moved.constant += margin;
    return moved;
  });
  const blockers = [...walls, ...targets].map(finely);
  return targets.map((target, i) => {
    const { corners, samples } = boundsOf(target);
    const isOut = grown.some((plane) => corners.every((corner) => plane.distanceToPoint(corner) < 0));
    const isIn = !isOut && grown.every((plane) => corners.every((corner) => plane.distanceToPoint(corner) >= 0));
    const others = blockers.filter((_, k) => k !== walls.length + i);
    const isSeen = samples.some((sample) => isInside(sample, frustum.planes) && isClear(camera, sample, others));
    return stateOf(isIn, !isIn && !isOut, isSeen);
  });
}

function isInside(point: Vector3, planes: readonly Plane[]): boolean {
  return planes.every((plane) => plane.distanceToPoint(point) >= 0);
}

/** From the near plane to the point. */
function isClear(camera: PerspectiveCamera, point: Vector3, blockers: readonly Mesh[]): boolean {
  const ndc = point.clone().project(camera);
  const start = new Vector3(ndc.x, ndc.y, -1).unproject(camera);
  const along = new Vector3().subVectors(point, start);
  const raycaster = new Raycaster(start, along.clone().normalize(), 0, along.length());
  return raycaster.intersectObjects(blockers as Mesh[]).length === 0;
}

function boundsOf({ geometry, matrixWorld }: Mesh) {
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox!;
  const centre = new Vector3().addVectors(min, max).divideScalar(2);
  const corners = Array.from({ length: 8 }, (_, i) => {
    return new Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z);
  });
  const samples = [centre, ...corners.map((corner) => corner.clone().lerp(centre, 0.5))];
  return {
    corners: corners.map((corner) => corner.applyMatrix4(matrixWorld)),
    samples: samples.map((sample) => sample.applyMatrix4(matrixWorld)),
  };
}

/** Round shapes by many triangles. */
function finely({ geometry, matrixWorld }: Mesh): Mesh {
  const fine = new Mesh(finer(geometry), new MeshBasicMaterial());
  fine.matrixWorld.copy(matrixWorld);
  return fine;
}

function finer(geometry: BufferGeometry): BufferGeometry {
  if (geometry instanceof SphereGeometry) return new SphereGeometry(geometry.parameters.radius, 96, 64);
  if (geometry instanceof CapsuleGeometry) {
    return new CapsuleGeometry(geometry.parameters.radius, geometry.parameters.height, 24, 96);
  }
  return geometry as BoxGeometry;
}

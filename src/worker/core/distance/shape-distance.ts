// Distance and closest points of two placed shapes: meshes are surfaces, other shapes are solid. Two meshes use both
// trees (mesh/query/distance.ts), a mesh and another shape the mesh's tree, other shapes their faces and segments
// (triangle-solid.ts); two ellipsoids use the distance of their Minkowski difference (contact/convex/gjk.ts) and
// alternating projections. Float64.

import { SHAPE_MESH } from '../../../shared/layout';
import { IS_INTERRUPTIBLE } from '../checkpoint';
import * as gjk from '../contact/convex/gjk';
import { SUPPORT_BYTES, Support, extentOf, originX, originY, originZ, setSupports } from '../contact/convex/support';
import { Affine, copy } from '../math/affine';
import { ellipsoidToSegment, footX, footY, footZ, setEllipsoid, surfaceX, surfaceY, surfaceZ } from '../math/ellipsoid';
import { Triangle } from '../math/triangles';
import * as tree from '../mesh/query/distance';
import { Mesh, blockAt, filledLanes, triangleOf } from '../mesh/tree/layout';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import {
  BOX, ROUND, Solid, frameOf, setAxis, setFace, setSolid, solidX, solidY, solidZ, triangleToSolid, triangleX,
  triangleY, triangleZ,
} from './triangle-solid';

/** The distance, 0 if they meet; the closest points in the world, or a common point; and the triangles, or -1. */
export let distance: f64 = 0;
export let pointAX: f64 = 0, pointAY: f64 = 0, pointAZ: f64 = 0;
export let pointBX: f64 = 0, pointBY: f64 = 0, pointBZ: f64 = 0;
export let triangleA: i32 = -1, triangleB: i32 = -1;

const mapA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const mapB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const solidA = changetype<Solid>(memory.data(<i32>offsetof<Solid>(), 16));
const solidB = changetype<Solid>(memory.data(<i32>offsetof<Solid>(), 16));
const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));
const supportA = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const supportB = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));

/**
 * Finds the closest points of two shapes that are no farther apart than `limit`. Returns whether they are. Only the
 * interruptible module handles meshes. Throws OUT_OF_MEMORY.
 */
export function distanceOfShapes(a: PlacedShape, b: PlacedShape, limit: f64): bool {
  triangleA = triangleB = -1;
  const isMeshA = IS_INTERRUPTIBLE && a.shape == SHAPE_MESH, isMeshB = IS_INTERRUPTIBLE && b.shape == SHAPE_MESH;
  let isNear = false;
  if (isMeshA && isMeshB) isNear = meshToMesh(a, b, limit);
  else if (isMeshA) isNear = meshToSolid(a, b, limit);
  else if (isMeshB) {
    isNear = meshToSolid(b, a, limit);
    swapPoints();
  } else isNear = solidToSolid(a, b) && distance <= limit;
  if (!isNear) return false;
  const x = isMeshB && !isMeshA ? b.tx : a.tx, y = isMeshB && !isMeshA ? b.ty : a.ty, z = isMeshB && !isMeshA ? b.tz : a.tz;
  pointAX += x; pointAY += y; pointAZ += z;
  pointBX += x; pointBY += y; pointBZ += z;
  return true;
}

function swapPoints(): void {
  const x = pointAX, y = pointAY, z = pointAZ;
  setPoints(pointBX, pointBY, pointBZ, x, y, z);
  triangleB = triangleA;
  triangleA = -1;
}

function setPoints(ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  pointAX = ax; pointAY = ay; pointAZ = az;
  pointBX = bx; pointBY = by; pointBZ = bz;
}

/** More than the rounding between the space that trees are searched in, and the world. */
const LIMIT_MARGIN: f64 = 1.000001;

/** Copies the result of the trees. Returns whether it is within a limit. */
function copyTreeResult(limit: f64): bool {
  distance = tree.distance;
  setPoints(tree.pointAX, tree.pointAY, tree.pointAZ, tree.pointBX, tree.pointBY, tree.pointBZ);
  triangleA = tree.triangleA;
  triangleB = tree.triangleB;
  return distance <= limit;
}

function meshToMesh(a: PlacedShape, b: PlacedShape, limit: f64): bool {
  copy(mapA, mapOf(a));
  copy(mapB, mapOf(b));
  mapB.tx -= mapA.tx; mapB.ty -= mapA.ty; mapB.tz -= mapA.tz;
  mapA.tx = mapA.ty = mapA.tz = 0;
  const meshA = changetype<Mesh>(<usize>a.mesh), meshB = changetype<Mesh>(<usize>b.mesh);
  return tree.distanceOfMeshes(meshA, mapA, meshB, mapB, limit * LIMIT_MARGIN) && copyTreeResult(limit);
}

let queriedMesh: Mesh = changetype<Mesh>(0);

function meshToSolid(a: PlacedShape, b: PlacedShape, limit: f64): bool {
  queriedMesh = changetype<Mesh>(<usize>a.mesh);
  copy(mapA, mapOf(a));
  copy(mapB, mapOf(b));
  mapB.tx -= mapA.tx; mapB.ty -= mapA.ty; mapB.tz -= mapA.tz;
  mapA.tx = mapA.ty = mapA.tz = 0;
  // The box about a capsule is longer than its own space.
  mapB.zx *= 1.0 + b.half; mapB.zy *= 1.0 + b.half; mapB.zz *= 1.0 + b.half;
  setSolid(solidB, b, a.tx, a.ty, a.tz);
  return tree.distanceOfMeshAndBox(queriedMesh, mapA, mapB, limit * LIMIT_MARGIN, visitBlock) && copyTreeResult(limit);
}

function visitBlock(index: u32, other: u32): void {
  const block = blockAt(queriedMesh, index);
  for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
    const lane = ctz(lanes);
    tree.mapTriangleOfA(triangle, changetype<usize>(block) + (<usize>lane << 2));
    const candidateDistance = triangleToSolid(triangle, solidB);
    if (candidateDistance <= tree.minDistanceSoFar()) {
      tree.offerDistance(candidateDistance, triangleX, triangleY, triangleZ, solidX, solidY, solidZ, triangleOf(block, lane), -1);
    }
  }
}

// --- two solids ---

/** Measures two solids relative to the position of the first. Returns true. */
function solidToSolid(a: PlacedShape, b: PlacedShape): bool {
  setSolid(solidA, a, a.tx, a.ty, a.tz);
  setSolid(solidB, b, a.tx, a.ty, a.tz);
  distance = Infinity;
  if (solidA.kind == ROUND) measureRound(solidA, solidB, false);
  else if (solidB.kind == ROUND) measureRound(solidB, solidA, true);
  else if (solidA.kind == BOX) measureBox(solidA, solidB, false);
  else if (solidB.kind == BOX) measureBox(solidB, solidA, true);
  else measureEllipsoids(a, b);
  return true;
}

/**
 * Records a distance with its points if it is smaller than the last; if `isSwapped`, the first point is that of the second
 * shape.
 */
function recordPoints(candidateDistance: f64, isSwapped: bool, ax: f64, ay: f64, az: f64, bx: f64, by: f64, bz: f64): void {
  if (!(candidateDistance < distance)) return;
  distance = candidateDistance;
  if (isSwapped) setPoints(bx, by, bz, ax, ay, az);
  else setPoints(ax, ay, az, bx, by, bz);
}

/** Measures a sphere or capsule: as its segment, minus its radius. */
function measureRound(roundSolid: Solid, other: Solid, isSwapped: bool): void {
  setAxis(triangle, roundSolid);
  const candidateDistance = triangleToSolid(triangle, other);
  if (candidateDistance <= roundSolid.radius) {
    recordPoints(0, isSwapped, solidX, solidY, solidZ, solidX, solidY, solidZ);
    return;
  }
  const fraction = roundSolid.radius / candidateDistance;
  recordPoints(
    candidateDistance - roundSolid.radius, isSwapped, triangleX + (solidX - triangleX) * fraction,
    triangleY + (solidY - triangleY) * fraction,
    triangleZ + (solidZ - triangleZ) * fraction, solidX, solidY, solidZ,
  );
}

/** Measures a box by its faces; a shape that meets none of them may be inside. */
function measureBox(box: Solid, other: Solid, isSwapped: bool): void {
  for (let face: usize = 0; face < 12 && distance > 0; face++) {
    setFace(triangle, box, face >> 2, face & 1 ? 1 : -1, face & 2 ? 1 : -1);
    const candidateDistance = triangleToSolid(triangle, other);
    recordPoints(candidateDistance, isSwapped, triangleX, triangleY, triangleZ, solidX, solidY, solidZ);
  }
  if (distance == 0) return;
  triangle.ax = triangle.bx = triangle.cx = other.x;
  triangle.ay = triangle.by = triangle.cy = other.y;
  triangle.az = triangle.bz = triangle.cz = other.z;
  if (triangleToSolid(triangle, box) == 0) recordPoints(0, isSwapped, other.x, other.y, other.z, other.x, other.y, other.z);
}

/** Maximum number of projections from one ellipsoid to the other. */
const MAX_PROJECTIONS: i32 = 64;

/**
 * Measures two ellipsoids, or their sums with segments. Alternating projections remove the error that GJK leaves (Cheney
 * and Goldstein, "Proximity Maps for Convex Sets", 1959).
 */
function measureEllipsoids(a: PlacedShape, b: PlacedShape): void {
  setSupports(supportA, supportB, a, b);
  const candidateDistance = gjk.distanceBetween(supportA, supportB, extentOf(supportA) + extentOf(supportB), false);
  gjk.setCommonPoint();
  const x = originX - a.tx + gjk.commonX, y = originY - a.ty + gjk.commonY, z = originZ - a.tz + gjk.commonZ;
  if (candidateDistance == 0) {
    recordPoints(0, false, x, y, z, x, y, z);
    return;
  }
  recordPoints(candidateDistance, false, x, y, z, x - gjk.nearestX, y - gjk.nearestY, z - gjk.nearestZ);
  for (let iteration = 0; iteration < MAX_PROJECTIONS; iteration++) {
    const previousDistance = distance;
    project(solidB, pointAX, pointAY, pointAZ);
    recordPoints(projectedDistance, false, pointAX, pointAY, pointAZ, projectedX, projectedY, projectedZ);
    if (distance == 0) break;
    project(solidA, pointBX, pointBY, pointBZ);
    recordPoints(projectedDistance, true, pointBX, pointBY, pointBZ, projectedX, projectedY, projectedZ);
    if (!(distance < previousDistance * (1.0 - 1e-15))) break;
  }
  if (distance == 0) setPoints(pointAX, pointAY, pointAZ, pointAX, pointAY, pointAZ);
}

let projectedDistance: f64 = 0;
let projectedX: f64 = 0, projectedY: f64 = 0, projectedZ: f64 = 0;

/** Finds the point of an ellipsoid, or of its sum with a segment, that is closest to a point. */
function project(solid: Solid, x: f64, y: f64, z: f64): void {
  setEllipsoid(frameOf(solid));
  projectedDistance = sqrt(ellipsoidToSegment(x - solid.x, y - solid.y, z - solid.z, solid.halfX, solid.halfY, solid.halfZ));
  projectedX = x + surfaceX - footX;
  projectedY = y + surfaceY - footY;
  projectedZ = z + surfaceZ - footZ;
}

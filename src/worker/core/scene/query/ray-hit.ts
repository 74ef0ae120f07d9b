// Casts a ray at one object after the other: its hits with shapes and with triangle meshes, and their points in the world.

import {
  HIT_BARYCENTRIC, HIT_BONE, HIT_DISTANCE, HIT_ELEMENT, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, SHAPE_BOX,
  SHAPE_MESH, SHAPE_POINT_LINE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { hitAt, hitCount, newHit } from '../../hits';
import {
  crossCapsule, crossCube, enterT, enterX, enterY, enterZ, findCubeNormals, leaveT, leaveX, leaveY, leaveZ,
} from '../../math/line-convex';
import { Mesh } from '../../mesh/tree/layout';
import {
  ALL, ANY, castRay as castMeshRay, hitNormalX, hitNormalY, hitNormalZ, hitTriangle, hitU, hitV, hitW,
} from '../../mesh/query/ray';
import { Proxy } from '../../shape/proxy';
import { placedShapeAt, slotOf } from '../objects';
import { Tree } from '../index/octree';
import { hasOwnSets, isClipped } from './clipping';
import { faceSidesOf, isIgnored, precision } from './filter';
import {
  beginPart, cutOut, cutTo, directionX, directionY, directionZ, endAtHit, foundObject, goBeyondCut, isNearer, mode, movedBy,
  partFrom, partTo,
} from './ray-line';
import {
  solid, inverse, isBoxed, isPrepared, prepare, remember, prepareBoxes, localX, localY, localZ, alongX, alongY,
  alongZ, nearT, nearX, nearY, nearZ, toLocal, hitBoxCount, hitBox, beginHitBoxes, toHitBox, ownNormalX, ownNormalY,
  ownNormalZ, toOwnNormal,
} from './ray-space';

// The nearest hit so far; ray-line.ts has its object and its distance.
export let foundTriangle: i32 = -1;
/** The number of the triangle, point or line; -1 for other shapes. */
export let foundElement: i32 = -1;
/** The bone whose box was hit, or the number of the given box; -1 if none was hit. */
export let foundBone: i32 = -1;
/** For points and lines. */
export let foundDistanceToRay: f64 = 0;
export let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
let localNormalX: f64 = 0, localNormalY: f64 = 0, localNormalZ: f64 = 0;
export let foundNormalX: f64 = 0, foundNormalY: f64 = 0, foundNormalZ: f64 = 0;
export let foundU: f64 = 0, foundV: f64 = 0, foundW: f64 = 0;

/**
 * Casts the ray at an object, given by its proxy and its place in a tree. A nearer hit replaces the one found; of two at the same
 * distance the lower id stays. Throws OUT_OF_MEMORY.
 */
export function castObject(proxy: Proxy, tree: Tree, position: u32, sides: u32): void {
  const id = proxy.id;
  if (isIgnored(id)) return;
  const hitsBefore = hitCount;
  if (!isPrepared(id)) prepare(proxy, tree, position);
  toLocal();
  if (solid.shape == SHAPE_POINT_LINE) return; // thick rays hit these (thick-ray.ts)
  let i: u32 = 0;
  if (isBoxed) beginHitBoxes(id);
  do {
    if (isBoxed && !toHitBox(i)) continue;
    beginPart();
    if (isClipped || hasOwnSets()) cutOut(id);
    // The shapes are cast at from a single place, so that the compiler inlines them here.
    do {
      if (!(partFrom <= partTo)) continue;
      if (solid.shape == SHAPE_MESH) castMesh(id, sides, faceSidesOf(proxy));
      else castSolid(id, sides);
    } while (cutTo != Infinity && goBeyondCut());
  } while (isBoxed && ++i < hitBoxCount && !(mode == ANY && foundObject != 0));
  if (mode == ALL) completeHits(hitsBefore, id);
}

function castMesh(id: u32, sides: u32, faceSides: usize): void {
  const t = castMeshRay(
    changetype<Mesh>(solid.mesh), localX, localY, localZ, alongX, alongY, alongZ, partFrom - nearT, partTo - nearT,
    sides, faceSides, mode,
  );
  if (t == Infinity || !isNearer(id, nearT + t)) return;
  record(id, t, hitNormalX, hitNormalY, hitNormalZ);
  foundTriangle = foundElement = hitTriangle;
  foundBone = -1;
  foundU = hitU;
  foundV = hitV;
  foundW = hitW;
}

/** Hits a solid that is not a mesh: its front where the ray enters, its back where the ray leaves. */
function castSolid(id: u32, sides: u32): void {
  const met = solid.shape == SHAPE_BOX
    ? crossCube(localX, localY, localZ, alongX, alongY, alongZ)
    : crossCapsule(localX, localY, localZ, alongX, alongY, alongZ, solid.half);
  if (!met) return;
  const isCube = solid.shape == SHAPE_BOX;
  if (mode == ALL) {
    if (isCube) findCubeNormals(alongX, alongY, alongZ);
    if (sides & SIDE_FRONT) addCrossing(enterT, enterX, enterY, enterZ);
    if (sides & SIDE_BACK) addCrossing(leaveT, leaveX, leaveY, leaveZ);
    return;
  }
  const front = sides & SIDE_FRONT && enterT >= partFrom - nearT;
  if (!front && !(sides & SIDE_BACK && leaveT >= partFrom - nearT)) return;
  const t = front ? enterT : leaveT;
  if (t > partTo - nearT || !isNearer(id, nearT + t)) return;
  if (isCube) findCubeNormals(alongX, alongY, alongZ);
  if (front) toOwnNormal(enterX, enterY, enterZ);
  else toOwnNormal(leaveX, leaveY, leaveZ);
  record(id, t, ownNormalX, ownNormalY, ownNormalZ);
  foundTriangle = foundElement = -1;
  foundBone = isBoxed ? <i32>hitBox.bone : -1;
  foundU = 0;
  foundV = 0;
  foundW = 0;
}

function addCrossing(t: f64, nx: f64, ny: f64, nz: f64): void {
  if (!(t >= partFrom - nearT && t <= partTo - nearT)) return;
  const hit = newHit();
  toOwnNormal(nx, ny, nz);
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, ownNormalX, HIT_NORMAL);
  store<f64>(hit, ownNormalY, HIT_NORMAL + 8);
  store<f64>(hit, ownNormalZ, HIT_NORMAL + 16);
  store<i32>(hit, isBoxed ? <i32>hitBox.bone : -1, HIT_BONE);
  store<f64>(hit, 0, HIT_BARYCENTRIC);
  store<f64>(hit, 0, HIT_BARYCENTRIC + 8);
  store<f64>(hit, 0, HIT_BARYCENTRIC + 16);
}

/**
 * Completes the hits from `first` on with what the scene knows: object, distance, point and normal in the world. All are on the
 * object whose inverse is `inverse`.
 */
function completeHits(first: u32, id: u32): void {
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    const t = load<f64>(hit, HIT_DISTANCE);
    turnNormal(load<f64>(hit, HIT_NORMAL), load<f64>(hit, HIT_NORMAL + 8), load<f64>(hit, HIT_NORMAL + 16));
    store<u32>(hit, id, HIT_OBJECT);
    store<i32>(hit, load<i32>(hit, HIT_TRIANGLE), HIT_ELEMENT);
    store<f64>(hit, movedBy + (nearT + t), HIT_DISTANCE);
    store<f64>(hit, nearX + t * directionX, HIT_POINT);
    store<f64>(hit, nearY + t * directionY, HIT_POINT + 8);
    store<f64>(hit, nearZ + t * directionZ, HIT_POINT + 16);
    store<f64>(hit, foundNormalX, HIT_NORMAL);
    store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
    store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  }
}

/** Records a hit at t from the start of the local ray. */
function record(id: u32, t: f64, nx: f64, ny: f64, nz: f64): void {
  endAtHit(id, nearT + t);
  pointX = nearX + t * directionX;
  pointY = nearY + t * directionY;
  pointZ = nearZ + t * directionZ;
  localNormalX = nx;
  localNormalY = ny;
  localNormalZ = nz;
}

/** Finds the normal of the hit in the world, into foundNormal*. */
export function findNormal(): void {
  if (foundElement >= 0 && foundTriangle < 0) {
    turnBack();
    return;
  }
  if (!isPrepared(foundObject) && !(foundBone >= 0 && prepareBoxes(foundObject))) {
    placedShapeAt(solid, slotOf(foundObject), precision);
    remember(foundObject);
  }
  turnNormal(localNormalX, localNormalY, localNormalZ);
}

/** Maps a normal from the solid's space to the world, by the inverse transpose, into foundNormal*. */
function turnNormal(nx: f64, ny: f64, nz: f64): void {
  const x = inverse.xx * nx + inverse.xy * ny + inverse.xz * nz;
  const y = inverse.yx * nx + inverse.yy * ny + inverse.yz * nz;
  const z = inverse.zx * nx + inverse.zy * ny + inverse.zz * nz;
  const largest = max(max(abs(x), abs(y)), abs(z));
  const a = x / largest, b = y / largest, c = z / largest;
  const length = sqrt(a * a + b * b + c * c);
  foundNormalX = a / length;
  foundNormalY = b / length;
  foundNormalZ = c / length;
}

/** Sets the normal to the direction back to the ray's origin. */
export function turnBack(): void {
  foundNormalX = -directionX;
  foundNormalY = -directionY;
  foundNormalZ = -directionZ;
}

/** Records a hit of points or lines at t from the start of the local ray, and its point in the world. */
export function recordPointLine(id: u32, t: f64, element: i32, distanceToRay: f64, x: f64, y: f64, z: f64): void {
  endAtHit(id, nearT + t);
  foundTriangle = foundBone = -1;
  foundElement = element;
  foundU = foundV = foundW = 0;
  pointX = x;
  pointY = y;
  pointZ = z;
  foundDistanceToRay = distanceToRay;
}

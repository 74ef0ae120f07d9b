// Casts a ray at one object after the other: its hits with shapes and with triangle meshes, and their points in the world.

import {
  HIT_BARYCENTRIC, HIT_BONE, HIT_DISTANCE, HIT_ELEMENT, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, SHAPE_BOX,
  SHAPE_MESH, SHAPE_POINT_LINE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { hitAt, hitCount, newHit } from '../../hits';
import {
  intersectCapsule, intersectCube, entryT, entryX, entryY, entryZ, findCubeNormals, exitT, exitX, exitY, exitZ,
} from '../../math/line-convex';
import { Mesh } from '../../mesh/tree/layout';
import {
  ALL, ANY, castRay as castMeshRay, hitNormalX, hitNormalY, hitNormalZ, hitTriangle, hitU, hitV, hitW,
} from '../../mesh/query/ray';
import { Proxy } from '../../shape/proxy';
import { placedShapeAt, slotOf } from '../objects';
import { Tree } from '../index/octree';
import { hasObjectSets, isClipped } from './clipping';
import { faceSidesOf, isIgnored, precision } from './filter';
import {
  beginPart, applyCuts, cutTo, directionX, directionY, directionZ, endAtHit, foundObject, advancePastCut, isNearer, mode,
  originShift, partFrom, partTo,
} from './ray-line';
import {
  solid, inverse, isBoxed, isPrepared, prepare, setPrepared, prepareBoxes, localX, localY, localZ, localDirectionX,
  localDirectionY, localDirectionZ, startT, startX, startY, startZ, toLocal, hitBoxCount, hitBox, beginHitBoxes, toHitBox,
  objectNormalX, objectNormalY, objectNormalZ, toObjectNormal,
} from './ray-space';

// The nearest hit so far; ray-line.ts has its object and its distance.
export let foundTriangle: i32 = -1;
/** The index of the triangle, point or line; -1 for other shapes. */
export let foundElement: i32 = -1;
/** The bone whose box was hit, or the index of the given box; -1 if none was hit. */
export let foundBone: i32 = -1;
/** For points and lines. */
export let foundDistanceToRay: f64 = 0;
export let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
let localNormalX: f64 = 0, localNormalY: f64 = 0, localNormalZ: f64 = 0;
export let foundNormalX: f64 = 0, foundNormalY: f64 = 0, foundNormalZ: f64 = 0;
export let foundU: f64 = 0, foundV: f64 = 0, foundW: f64 = 0;

/**
 * Casts the ray at an object, given by its proxy and its position in a tree. A nearer hit replaces the one found; of two at
 * the same distance the lower id stays. Throws OUT_OF_MEMORY.
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
    if (isClipped || hasObjectSets()) applyCuts(id);
    // The shapes are cast at from a single place, so that the compiler inlines them here.
    do {
      if (!(partFrom <= partTo)) continue;
      if (solid.shape == SHAPE_MESH) castMesh(id, sides, faceSidesOf(proxy));
      else castSolid(id, sides);
    } while (cutTo != Infinity && advancePastCut());
  } while (isBoxed && ++i < hitBoxCount && !(mode == ANY && foundObject != 0));
  if (mode == ALL) completeHits(hitsBefore, id);
}

function castMesh(id: u32, sides: u32, faceSides: usize): void {
  const t = castMeshRay(
    changetype<Mesh>(solid.mesh), localX, localY, localZ, localDirectionX, localDirectionY, localDirectionZ,
    partFrom - startT, partTo - startT,
    sides, faceSides, mode,
  );
  if (t == Infinity || !isNearer(id, startT + t)) return;
  recordHit(id, t, hitNormalX, hitNormalY, hitNormalZ);
  foundTriangle = foundElement = hitTriangle;
  foundBone = -1;
  foundU = hitU;
  foundV = hitV;
  foundW = hitW;
}

/** Hits a solid that is not a mesh: its front where the ray enters, its back where the ray leaves. */
function castSolid(id: u32, sides: u32): void {
  const isHit = solid.shape == SHAPE_BOX
    ? intersectCube(localX, localY, localZ, localDirectionX, localDirectionY, localDirectionZ)
    : intersectCapsule(localX, localY, localZ, localDirectionX, localDirectionY, localDirectionZ, solid.half);
  if (!isHit) return;
  const isCube = solid.shape == SHAPE_BOX;
  if (mode == ALL) {
    if (isCube) findCubeNormals(localDirectionX, localDirectionY, localDirectionZ);
    if (sides & SIDE_FRONT) addCrossing(entryT, entryX, entryY, entryZ);
    if (sides & SIDE_BACK) addCrossing(exitT, exitX, exitY, exitZ);
    return;
  }
  const isFront = sides & SIDE_FRONT && entryT >= partFrom - startT;
  if (!isFront && !(sides & SIDE_BACK && exitT >= partFrom - startT)) return;
  const t = isFront ? entryT : exitT;
  if (t > partTo - startT || !isNearer(id, startT + t)) return;
  if (isCube) findCubeNormals(localDirectionX, localDirectionY, localDirectionZ);
  if (isFront) toObjectNormal(entryX, entryY, entryZ);
  else toObjectNormal(exitX, exitY, exitZ);
  recordHit(id, t, objectNormalX, objectNormalY, objectNormalZ);
  foundTriangle = foundElement = -1;
  foundBone = isBoxed ? <i32>hitBox.bone : -1;
  foundU = 0;
  foundV = 0;
  foundW = 0;
}

function addCrossing(t: f64, nx: f64, ny: f64, nz: f64): void {
  if (!(t >= partFrom - startT && t <= partTo - startT)) return;
  const hit = newHit();
  toObjectNormal(nx, ny, nz);
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, objectNormalX, HIT_NORMAL);
  store<f64>(hit, objectNormalY, HIT_NORMAL + 8);
  store<f64>(hit, objectNormalZ, HIT_NORMAL + 16);
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
    normalToWorld(load<f64>(hit, HIT_NORMAL), load<f64>(hit, HIT_NORMAL + 8), load<f64>(hit, HIT_NORMAL + 16));
    store<u32>(hit, id, HIT_OBJECT);
    store<i32>(hit, load<i32>(hit, HIT_TRIANGLE), HIT_ELEMENT);
    store<f64>(hit, originShift + (startT + t), HIT_DISTANCE);
    store<f64>(hit, startX + t * directionX, HIT_POINT);
    store<f64>(hit, startY + t * directionY, HIT_POINT + 8);
    store<f64>(hit, startZ + t * directionZ, HIT_POINT + 16);
    store<f64>(hit, foundNormalX, HIT_NORMAL);
    store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
    store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  }
}

/** Records a hit at t from the start of the local ray. */
function recordHit(id: u32, t: f64, nx: f64, ny: f64, nz: f64): void {
  endAtHit(id, startT + t);
  pointX = startX + t * directionX;
  pointY = startY + t * directionY;
  pointZ = startZ + t * directionZ;
  localNormalX = nx;
  localNormalY = ny;
  localNormalZ = nz;
}

/** Finds the normal of the hit in the world, into foundNormal*. */
export function findNormal(): void {
  if (foundElement >= 0 && foundTriangle < 0) {
    turnNormalToOrigin();
    return;
  }
  if (!isPrepared(foundObject) && !(foundBone >= 0 && prepareBoxes(foundObject))) {
    placedShapeAt(solid, slotOf(foundObject), precision);
    setPrepared(foundObject);
  }
  normalToWorld(localNormalX, localNormalY, localNormalZ);
}

/** Maps a normal from the solid's space to the world, by the inverse transpose, into foundNormal*. */
function normalToWorld(nx: f64, ny: f64, nz: f64): void {
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
export function turnNormalToOrigin(): void {
  foundNormalX = -directionX;
  foundNormalY = -directionY;
  foundNormalZ = -directionZ;
}

/** Records a hit of points or lines at t from the start of the local ray, and its point in the world. */
export function recordPointLine(id: u32, t: f64, element: i32, distanceToRay: f64, x: f64, y: f64, z: f64): void {
  endAtHit(id, startT + t);
  foundTriangle = foundBone = -1;
  foundElement = element;
  foundU = foundV = foundW = 0;
  pointX = x;
  pointY = y;
  pointZ = z;
  foundDistanceToRay = distanceToRay;
}

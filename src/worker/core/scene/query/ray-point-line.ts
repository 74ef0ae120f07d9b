// Casts a ray, or a cone around a point of the screen, at objects of points and lines.

import {
  HIT_BYTES, HIT_DISTANCE, HIT_DISTANCE_TO_RAY, HIT_ELEMENT, HIT_NORMAL, HIT_OBJECT, HIT_POINT, RAY_CONE_A,
  RAY_CONE_B, RAY_CONE_RADIUS, RAY_IS_CONE,
} from '../../../../shared/layout';
import { dropHits, hitAt, hitCount } from '../../hits';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { ALL } from '../../mesh/query/ray';
import { LINE_END, PointLine } from '../../point-line/layout';
import { castThickRay, hitElement, hitDistanceToRay, hitPart, hitX, hitY, hitZ, locateEnd } from '../../point-line/ray';
import { ThickRay } from '../../point-line/thick-ray';
import { Proxy } from '../../shape/proxy';
import { Tree } from '../index/octree';
import { hasObjectSets, isClipped, objectKeepsPoint, objectSetOf } from './clipping';
import { isIgnored } from './filter';
import { findKeptParts, partCount, partFrom, partTo } from './kept-parts';
import {
  directionX, directionY, directionZ, foundDistance, isNearer, mode, originShift, tMax, tMin,
} from './ray-line';
import { foundNormalX, foundNormalY, foundNormalZ, recordPointLine, turnNormalToOrigin } from './ray-hit';
import {
  solid, isPrepared, prepare, localX, localY, localZ, localDirectionX, localDirectionY, localDirectionZ, startT, startX,
  startY, startZ, toLocal,
} from './ray-space';

const thick = changetype<ThickRay>(memory.data(<i32>offsetof<ThickRay>(), 16));
/**
 * The record of the cone around a point of the screen, whose functions are at RAY_CONE_* (layout.ts); 0 if the ray is no
 * cone.
 */
let cone: usize = 0;

/** Makes the following rays hit what is drawn near them, by the record of a ray (layout.ts, RAY_*); 0 ends that. */
export function setCone(ray: usize): void {
  cone = ray != 0 && load<u32>(ray, RAY_IS_CONE) != 0 ? ray : 0;
}

export function isCone(): bool {
  return cone != 0;
}

/** Returns the radius of the cone at the start of the ray, which may have moved. */
export function coneRadius(): f64 {
  const growth = coneAlong(RAY_CONE_RADIUS, directionX, directionY, directionZ);
  return load<f64>(cone, RAY_CONE_RADIUS + 24) + originShift * growth;
}

/** Returns the increment of one of the cone's functions along a vector. */
// @ts-ignore: decorator
@inline
export function coneAlong(gradient: usize, x: f64, y: f64, z: f64): f64 {
  const at = cone + gradient;
  return load<f64>(at) * x + load<f64>(at, 8) * y + load<f64>(at, 16) * z;
}

/**
 * Casts the ray at an object of points or lines, which are hit within `threshold`: in world units, or in the object's own
 * if `isLocalThreshold`; for a cone, the cone's radius replaces it. Otherwise as `castObject`.
 */
export function castPointLine(proxy: Proxy, tree: Tree, position: u32, threshold: f64, isLocalThreshold: bool): void {
  const id = proxy.id;
  if (isIgnored(id)) return;
  if (!isPrepared(id)) prepare(proxy, tree, position);
  toLocal();
  setThickRay(threshold, isLocalThreshold);
  const hitsBefore = hitCount;
  if (isClipped || hasObjectSets()) {
    castClippedPointLine(hitsBefore, id);
    return;
  }
  const t = castThickRay(changetype<PointLine>(<usize>solid.mesh), thick, mode);
  if (mode == ALL) completePointLines(hitsBefore, id);
  else if (t != Infinity) recordIfNearer(id, t, hitElement, hitDistanceToRay, hitX, hitY, hitZ);
}

/** Records a hit of points or lines at t from the start of the local ray, if it is the nearest. */
function recordIfNearer(id: u32, t: f64, element: i32, distanceToRay: f64, x: f64, y: f64, z: f64): void {
  if (!isNearer(id, startT + t)) return;
  locateHit(t, x, y, z);
  recordPointLine(id, t, element, thick.isScreenSpace ? worldDistance : distanceToRay, hitPointX, hitPointY, hitPointZ);
}

/**
 * Casts the ray at points or lines that planes clip: it finds all hits and tests each for being kept. A line may be hit
 * elsewhere instead, since only what is kept of it exists.
 */
function castClippedPointLine(first: u32, id: u32): void {
  const mesh = changetype<PointLine>(<usize>solid.mesh), isLine = mesh.size == 2;
  // Another part of a line may be nearer than its hit.
  if (isLine) thick.tLimit = thick.tEnd;
  castThickRay(mesh, thick, ALL);
  let keptEnd = first, nearest = first;
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    toWorld(load<f64>(hit, HIT_POINT), load<f64>(hit, HIT_POINT + 8), load<f64>(hit, HIT_POINT + 16));
    if (!objectKeepsPoint(id, worldX, worldY, worldZ) && !(isLine && moveToKeptPart(mesh, hit, id))) continue;
    memory.copy(hitAt(keptEnd), hit, HIT_BYTES);
    if (isBefore(keptEnd, nearest)) nearest = keptEnd;
    keptEnd++;
  }
  dropHits(keptEnd);
  if (mode == ALL) {
    completePointLines(first, id);
    return;
  }
  dropHits(first);
  if (keptEnd == first) return;
  const hit = hitAt(nearest);
  recordIfNearer(
    id, load<f64>(hit, HIT_DISTANCE), load<i32>(hit, HIT_ELEMENT), load<f64>(hit, HIT_DISTANCE_TO_RAY),
    load<f64>(hit, HIT_POINT), load<f64>(hit, HIT_POINT + 8), load<f64>(hit, HIT_POINT + 16),
  );
}

/** Moves a hit to where the kept parts of its line are closest to the ray, or are drawn so; returns whether they are hit. */
function moveToKeptPart(mesh: PointLine, hit: usize, id: u32): bool {
  const lane = <usize>load<u32>(hit, HIT_OBJECT);
  locateEnd(mesh, lane, 0);
  toWorld(hitX, hitY, hitZ);
  const ax = worldX, ay = worldY, az = worldZ;
  locateEnd(mesh, lane, LINE_END);
  toWorld(hitX, hitY, hitZ);
  findKeptParts(objectSetOf(id), ax, ay, az, worldX, worldY, worldZ);
  let minDistance = Infinity;
  for (let i: u32 = 0; i < partCount; i++) {
    const t = hitPart(mesh, lane, partFrom(i), partTo(i));
    if (t == Infinity || !(hitDistanceToRay < minDistance)) continue;
    minDistance = hitDistanceToRay;
    store<f64>(hit, minDistance, HIT_DISTANCE_TO_RAY);
    store<f64>(hit, t, HIT_DISTANCE);
    store<f64>(hit, hitX, HIT_POINT);
    store<f64>(hit, hitY, HIT_POINT + 8);
    store<f64>(hit, hitZ, HIT_POINT + 16);
  }
  return minDistance < Infinity;
}

let worldX: f64 = 0, worldY: f64 = 0, worldZ: f64 = 0;

/** Transforms a point from the object's space to the world. */
function toWorld(x: f64, y: f64, z: f64): void {
  worldX = solid.xx * x + solid.yx * y + solid.zx * z + solid.tx;
  worldY = solid.xy * x + solid.yy * y + solid.zy * z + solid.ty;
  worldZ = solid.xz * x + solid.yz * y + solid.zz * z + solid.tz;
}

/** Compares two hits of one object: at the same t the lower element comes first. */
function isBefore(i: u32, j: u32): bool {
  const a = load<f64>(hitAt(i), HIT_DISTANCE), b = load<f64>(hitAt(j), HIT_DISTANCE);
  return a < b || (a == b && load<i32>(hitAt(i), HIT_ELEMENT) < load<i32>(hitAt(j), HIT_ELEMENT));
}

/** Sets the ray in the object's space, with the requested thickness. */
function setThickRay(threshold: f64, isLocalThreshold: bool): void {
  thick.x = localX; thick.y = localY; thick.z = localZ;
  thick.directionX = localDirectionX; thick.directionY = localDirectionY; thick.directionZ = localDirectionZ;
  thick.tStart = tMin - startT;
  thick.tEnd = tMax - startT;
  thick.tLimit = foundDistance - startT;
  thick.rX = thick.rY = thick.rZ = 0;
  thick.radius = threshold;
  thick.isScreenSpace = cone != 0 && !isLocalThreshold;
  thick.unitLength = 1;
  // If it begins at its origin, which is at -originShift, or behind it.
  thick.hasRoundCap = !thick.isScreenSpace && tMin <= -originShift;
  if (isLocalThreshold) {
    const lengthSquared = localDirectionX * localDirectionX + localDirectionY * localDirectionY +
      localDirectionZ * localDirectionZ;
    const length = sqrt(lengthSquared);
    setBasis(localDirectionX / length, localDirectionY / length, localDirectionZ / length);
    thick.aX = tangentX; thick.aY = tangentY; thick.aZ = tangentZ;
    thick.bX = bitangentX; thick.bY = bitangentY; thick.bZ = bitangentZ;
    thick.tX = localDirectionX / lengthSquared; thick.tY = localDirectionY / lengthSquared;
    thick.tZ = localDirectionZ / lengthSquared;
    thick.unitLength = length;
    return;
  }
  toLocalGradient(directionX, directionY, directionZ);
  thick.tX = gradientX; thick.tY = gradientY; thick.tZ = gradientZ;
  if (cone == 0) setBasis(directionX, directionY, directionZ);
  const a = cone + RAY_CONE_A, b = cone + RAY_CONE_B, r = cone + RAY_CONE_RADIUS;
  if (cone == 0) toLocalGradient(tangentX, tangentY, tangentZ);
  else toLocalGradient(load<f64>(a), load<f64>(a, 8), load<f64>(a, 16));
  thick.aX = gradientX; thick.aY = gradientY; thick.aZ = gradientZ;
  if (cone == 0) toLocalGradient(bitangentX, bitangentY, bitangentZ);
  else toLocalGradient(load<f64>(b), load<f64>(b, 8), load<f64>(b, 16));
  thick.bX = gradientX; thick.bY = gradientY; thick.bZ = gradientZ;
  if (cone == 0) return;
  toLocalGradient(load<f64>(r), load<f64>(r, 8), load<f64>(r, 16));
  thick.rX = gradientX; thick.rY = gradientY; thick.rZ = gradientZ;
  thick.radius = coneRadius() + startT * coneAlong(RAY_CONE_RADIUS, directionX, directionY, directionZ);
}

let gradientX: f64 = 0, gradientY: f64 = 0, gradientZ: f64 = 0;

/** Transforms the gradient of a function from the world to the object's space. */
// @ts-ignore: decorator
@inline
function toLocalGradient(x: f64, y: f64, z: f64): void {
  gradientX = solid.xx * x + solid.xy * y + solid.xz * z;
  gradientY = solid.yx * x + solid.yy * y + solid.yz * z;
  gradientZ = solid.zx * x + solid.zy * y + solid.zz * z;
}

let hitPointX: f64 = 0, hitPointY: f64 = 0, hitPointZ: f64 = 0;
let worldDistance: f64 = 0;

/**
 * Finds the point in the world of a hit at t from the start of the local ray: for a line the point on the line, for a
 * point the nearest point on the ray, as in three; and the distance from the ray to the point of the mesh.
 */
function locateHit(t: f64, x: f64, y: f64, z: f64): void {
  const dx = x - localX, dy = y - localY, dz = z - localZ;
  const wx = solid.xx * dx + solid.yx * dy + solid.zx * dz;
  const wy = solid.xy * dx + solid.yy * dy + solid.zy * dz;
  const wz = solid.xz * dx + solid.yz * dy + solid.zz * dz;
  const rx = t * directionX, ry = t * directionY, rz = t * directionZ;
  worldDistance = sqrt((wx - rx) * (wx - rx) + (wy - ry) * (wy - ry) + (wz - rz) * (wz - rz));
  const isPoint = changetype<PointLine>(<usize>solid.mesh).size == 1;
  hitPointX = startX + (isPoint ? rx : wx);
  hitPointY = startY + (isPoint ? ry : wy);
  hitPointZ = startZ + (isPoint ? rz : wz);
}

/** Completes the hits of points and lines from `first` on with what the scene knows. */
function completePointLines(first: u32, id: u32): void {
  turnNormalToOrigin();
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    const t = load<f64>(hit, HIT_DISTANCE);
    locateHit(t, load<f64>(hit, HIT_POINT), load<f64>(hit, HIT_POINT + 8), load<f64>(hit, HIT_POINT + 16));
    store<u32>(hit, id, HIT_OBJECT);
    store<f64>(hit, originShift + (startT + t), HIT_DISTANCE);
    if (thick.isScreenSpace) store<f64>(hit, worldDistance, HIT_DISTANCE_TO_RAY);
    store<f64>(hit, hitPointX, HIT_POINT);
    store<f64>(hit, hitPointY, HIT_POINT + 8);
    store<f64>(hit, hitPointZ, HIT_POINT + 16);
    store<f64>(hit, foundNormalX, HIT_NORMAL);
    store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
    store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  }
}

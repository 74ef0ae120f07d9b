// A ray against one object after the other, in the space of what stands for it; and what it hit.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE, PRECISION_MESH, PRECISION_OBB,
  PRECISION_SPHERE, SHAPE_BOX, SHAPE_MESH, SHAPE_SPHERE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { clearHits, hitAt, hitCount, newHit } from '../../hits';
import { Affine, invert, setIdentity } from '../../math/affine';
import {
  crossCapsule, crossCube, enterT, enterX, enterY, enterZ, findCubeNormals, leaveT, leaveX, leaveY, leaveZ,
} from '../../math/line-convex';
import { Mesh } from '../../mesh/tree/layout';
import {
  ALL, NEAREST, castRay as castMeshRay, hitNormalX, hitNormalY, hitNormalZ, hitTriangle, hitU, hitV, hitW,
} from '../../mesh/query/ray';
import { Candidate, boundsOf } from '../../shape/proxy';
import { isIgnored, precision, sides } from './filter';
import { changes, slotOf } from '../objects';
import { Tree } from '../index/octree';
import { Solid, mapOf, solidAt } from '../../shape/placed-shape';
import { radiusOf } from '../index/bounding-spheres';

// The ray: world, unit direction.
export let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
export let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
export let tMin: f64 = 0;
export let mode: u32 = NEAREST;

// The nearest hit so far.
export let foundObject: u32 = 0;
export let foundTriangle: i32 = -1;
export let foundDistance: f64 = 0;
let localNormalX: f64 = 0, localNormalY: f64 = 0, localNormalZ: f64 = 0;
export let foundNormalX: f64 = 0, foundNormalY: f64 = 0, foundNormalZ: f64 = 0;
export let foundU: f64 = 0, foundV: f64 = 0, foundW: f64 = 0;

/** A ray that has hit nothing yet. Direction not zero. */
export function beginRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  asked: u32,
): void {
  originX = ox; originY = oy; originZ = oz;
  setDirection(dx, dy, dz);
  tMin = from;
  mode = asked;
  clearHits();
  foundObject = 0;
  foundDistance = to;
}

// @ts-ignore: decorator
@inline
function setDirection(x: f64, y: f64, z: f64): void {
  const square = x * x + y * y + z * z;
  // Lengths whose squares overflow or vanish are made about 1 first.
  const largest = square > 1e-280 && square < 1e280 ? 1.0 : max(max(abs(x), abs(y)), abs(z));
  const a = x / largest, b = y / largest, c = z / largest;
  const unit = 1.0 / sqrt(largest == 1.0 ? square : a * a + b * b + c * c);
  directionX = a * unit;
  directionY = b * unit;
  directionZ = c * unit;
}

/** A nearer hit on this object replaces the one found; of two at the same distance the lower id stays. */
export function castObject(candidate: Candidate, tree: Tree): void {
  const id = candidate.id;
  if (isIgnored(id)) return;
  const hitsBefore = hitCount;
  if (!isPrepared(id)) prepare(candidate, tree);
  toLocal();
  if (solid.shape == SHAPE_MESH) castMesh(id);
  else castSolid(id);
  if (mode == ALL) completeHits(hitsBefore, id);
}

// What stands for an object, for which one, and when: rays come in numbers, and often to the same object.
const solid = changetype<Solid>(memory.data(112, 16)); // SOLID_BYTES
const inverse = changetype<Affine>(memory.data(96, 16));
let preparedId: u32 = 0;
let preparedFor: u32 = 0;
let preparedAt: u32 = 0;

// @ts-ignore: decorator
@inline
function isPrepared(id: u32): bool {
  return id == preparedId && precision == preparedFor && changes == preparedAt;
}

function prepare(candidate: Candidate, tree: Tree): void {
  const map = mapOf(solid);
  const shape: u32 = candidate.shape;
  // What the candidate alone tells spares a look at the object, which is far away in memory.
  if (precision == PRECISION_OBB || (precision == PRECISION_MESH && (shape == SHAPE_BOX || shape == SHAPE_SPHERE))) {
    solid.shape = <u16>(precision == PRECISION_OBB ? SHAPE_BOX : shape);
    solid.half = 0;
    boundsOf(candidate, map);
  } else if (precision == PRECISION_SPHERE) {
    solid.shape = <u16>SHAPE_SPHERE;
    solid.half = 0;
    setIdentity(map);
    map.xx = map.yy = map.zz = radiusOf(tree, candidate);
    map.tx = candidate.x;
    map.ty = candidate.y;
    map.tz = candidate.z;
  } else solidAt(solid, slotOf(candidate.id), precision);
  remember(candidate.id);
}

function remember(id: u32): void {
  invert(inverse, mapOf(solid));
  preparedId = id;
  preparedFor = precision;
  preparedAt = changes;
}

// The ray in the solid's space; its direction is not unit there, so that t stays a length in the world.
let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;

// @ts-ignore: decorator
@inline
function toLocal(): void {
  // Relative to the object's place first: far from the origin the digits are there.
  const x = originX - solid.tx, y = originY - solid.ty, z = originZ - solid.tz;
  localX = inverse.xx * x + inverse.yx * y + inverse.zx * z;
  localY = inverse.xy * x + inverse.yy * y + inverse.zy * z;
  localZ = inverse.xz * x + inverse.yz * y + inverse.zz * z;
  alongX = inverse.xx * directionX + inverse.yx * directionY + inverse.zx * directionZ;
  alongY = inverse.xy * directionX + inverse.yy * directionY + inverse.zy * directionZ;
  alongZ = inverse.xz * directionX + inverse.yz * directionY + inverse.zz * directionZ;
}

function better(id: u32, t: f64): bool {
  return t < foundDistance || (t == foundDistance && (foundObject == 0 || id < foundObject));
}

function castMesh(id: u32): void {
  const t = castMeshRay(
    changetype<Mesh>(solid.mesh), localX, localY, localZ, alongX, alongY, alongZ, tMin, foundDistance, sides, mode,
  );
  if (t == Infinity || !better(id, t)) return;
  record(id, t, hitNormalX, hitNormalY, hitNormalZ);
  foundTriangle = hitTriangle;
  foundU = hitU;
  foundV = hitV;
  foundW = hitW;
}

/** Front where the ray enters, back where it leaves. */
function castSolid(id: u32): void {
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
  const front = sides & SIDE_FRONT && enterT >= tMin;
  if (!front && !(sides & SIDE_BACK && leaveT >= tMin)) return;
  const t = front ? enterT : leaveT;
  if (t > foundDistance || !better(id, t)) return;
  if (isCube) findCubeNormals(alongX, alongY, alongZ);
  if (front) record(id, t, enterX, enterY, enterZ);
  else record(id, t, leaveX, leaveY, leaveZ);
  foundTriangle = -1;
  foundU = 0;
  foundV = 0;
  foundW = 0;
}

function addCrossing(t: f64, nx: f64, ny: f64, nz: f64): void {
  if (!(t >= tMin && t <= foundDistance)) return;
  const hit = newHit();
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<f64>(hit, t, HIT_DISTANCE);
  store<f64>(hit, nx, HIT_NORMAL);
  store<f64>(hit, ny, HIT_NORMAL + 8);
  store<f64>(hit, nz, HIT_NORMAL + 16);
  store<f64>(hit, 0, HIT_BARYCENTRIC);
  store<f64>(hit, 0, HIT_BARYCENTRIC + 8);
  store<f64>(hit, 0, HIT_BARYCENTRIC + 16);
}

/** What the scene knows of the hits from `first` on, all on the object that `inverse` is of. */
function completeHits(first: u32, id: u32): void {
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    const t = load<f64>(hit, HIT_DISTANCE);
    turnNormal(load<f64>(hit, HIT_NORMAL), load<f64>(hit, HIT_NORMAL + 8), load<f64>(hit, HIT_NORMAL + 16));
    store<u32>(hit, id, HIT_OBJECT);
    store<f64>(hit, originX + t * directionX, HIT_POINT);
    store<f64>(hit, originY + t * directionY, HIT_POINT + 8);
    store<f64>(hit, originZ + t * directionZ, HIT_POINT + 16);
    store<f64>(hit, foundNormalX, HIT_NORMAL);
    store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
    store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  }
}

function record(id: u32, t: f64, nx: f64, ny: f64, nz: f64): void {
  foundObject = id;
  foundDistance = t;
  localNormalX = nx;
  localNormalY = ny;
  localNormalZ = nz;
}

/** The normal of the hit in the world, into foundNormal*. */
export function findNormal(): void {
  if (!isPrepared(foundObject)) {
    solidAt(solid, slotOf(foundObject), precision);
    remember(foundObject);
  }
  turnNormal(localNormalX, localNormalY, localNormalZ);
}

/** From the solid's space to the world by the inverse transposed, into foundNormal*. */
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

export function pointX(): f64 { return originX + foundDistance * directionX; }
export function pointY(): f64 { return originY + foundDistance * directionY; }
export function pointZ(): f64 { return originZ + foundDistance * directionZ; }

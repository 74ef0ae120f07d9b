// A ray against one object after the other, in the space of what stands for it; and what it hit.
//
// float64 places a point to 2⁻⁵³ of its distance: from 10¹² radii away that is 10⁻⁴ of a radius, more than boxes are
// padded by. So a ray from afar goes on from a point of its own that is near the scene, and near the object, which is
// found with twice the digits. The ray is the one that was given, to the last bit of its direction.

import {
  HIT_BARYCENTRIC, HIT_BONE, HIT_BYTES, HIT_DISTANCE, HIT_DISTANCE_TO_RAY, HIT_ELEMENT, HIT_NORMAL, HIT_OBJECT, HIT_POINT, HIT_TRIANGLE,
  PRECISION_MESH, PRECISION_OBB, PRECISION_SPHERE, RAY_CONE_A, RAY_CONE_B, RAY_CONE_REACH, RAY_IS_CONE, SHAPE_BOX,
  SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { clearHits, dropHits, hitAt, hitCount, newHit } from '../../hits';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { Affine, copy, invert, setIdentity } from '../../math/affine';
import {
  crossCapsule, crossCube, enterT, enterX, enterY, enterZ, findCubeNormals, leaveT, leaveX, leaveY, leaveZ,
} from '../../math/line-convex';
import { coordinateAt, low, twoProduct } from '../../math/two-term';
import { Mesh } from '../../mesh/tree/layout';
import { exponentFor, scaleFor } from '../../mesh/tree/tree-space';
import {
  ALL, ANY, NEAREST, castRay as castMeshRay, hitNormalX, hitNormalY, hitNormalZ, hitTriangle, hitU, hitV, hitW,
} from '../../mesh/query/ray';
import { PointLine } from '../../point-line/layout';
import { ThickRay, castThickRay, hitElement, hitReach, hitX, hitY, hitZ } from '../../point-line/ray';
import { Proxy, boundsOf } from '../../shape/proxy';
import { ClipSet, RayPart, askedPlanes, hasOwnSets, isClipped, keepsOf, keptPart, ownSetOf } from './clipping';
import { faceSidesOf, isIgnored, precision } from './filter';
import { changes, itemAt, placedShapeAt, slotOf } from '../objects';
import { Tree } from '../index/octree';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { boxList, listedBox } from '../../shape/box-list';
import { boxListOf, worldOf } from '../../shape/item';
import { HitBox, countHitBoxes, hasBones, hitBoxAt } from '../../skin/hit-boxes';
import { radiusOf } from '../index/bounding-spheres';

// The ray: world, unit direction. Its origin may have moved along it, and all distances are from there.
export let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
export let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
export let tMin: f64 = 0;
/** The ray ends there, however near its nearest hit is. */
let tMax: f64 = 0;
/** The rounding error of the direction: what is to be added to it. */
let directionLowX: f64 = 0, directionLowY: f64 = 0, directionLowZ: f64 = 0;
/** How far the origin has moved along the ray. */
export let movedBy: f64 = 0;
export let mode: u32 = NEAREST;

// The nearest hit so far.
export let foundObject: u32 = 0;
export let foundTriangle: i32 = -1;
/** The number of the triangle, point or line; -1 of other shapes. */
export let foundElement: i32 = -1;
/** The bone whose box was hit, or the number of the given box; -1 where none was. */
export let foundBone: i32 = -1;
/** Of points and lines. */
export let foundDistanceToRay: f64 = 0;
export let foundDistance: f64 = 0;
export let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
let localNormalX: f64 = 0, localNormalY: f64 = 0, localNormalZ: f64 = 0;
export let foundNormalX: f64 = 0, foundNormalY: f64 = 0, foundNormalZ: f64 = 0;
export let foundU: f64 = 0, foundV: f64 = 0, foundW: f64 = 0;

/** Sets a ray that has hit nothing yet. Its direction must not be zero. */
export function beginRay(
  ox: f64, oy: f64, oz: f64, dx: f64, dy: f64, dz: f64, from: f64, to: f64,
  asked: u32,
): void {
  originX = ox; originY = oy; originZ = oz;
  setDirection(dx, dy, dz);
  movedBy = 0;
  tMin = from;
  tMax = to;
  mode = asked;
  clearHits();
  foundObject = 0;
  foundDistance = to;
}

/** The squares of lengths that neither overflow nor vanish. */
const LEAST_SQUARE: f64 = 1e-280;
const GREATEST_SQUARE: f64 = 1e280;

// @ts-ignore: decorator
@inline
function setDirection(x: f64, y: f64, z: f64): void {
  let square = x * x + y * y + z * z;
  let a = x, b = y, c = z;
  if (!(square > LEAST_SQUARE && square < GREATEST_SQUARE)) {
    // A power of two makes the largest about 1, exactly; in two steps, as its reciprocal may be too large for one.
    const largest = max(max(abs(x), abs(y)), abs(z));
    const half = scaleFor(exponentFor(largest) / 2), rest = scaleFor(exponentFor(largest) - exponentFor(largest) / 2);
    a = x * half * rest;
    b = y * half * rest;
    c = z * half * rest;
    square = a * a + b * b + c * c;
  }
  const unit = 1.0 / sqrt(square);
  directionX = twoProduct(a, unit);
  directionLowX = low;
  directionY = twoProduct(b, unit);
  directionLowY = low;
  directionZ = twoProduct(c, unit);
  directionLowZ = low;
}

/**
 * An object that is so many times its size away is asked from a nearer point of the ray: float64 is 2⁻³² sizes off
 * there.
 */
export const FAR: f64 = 1048576.0; // 2^20
/** Beyond this a ray stays where it is, as coordinateAt would overflow. */
const TOO_FAR: f64 = 1e290;

/** Moves the origin to where the ray is nearest to a point, if the origin is far away from it compared with `reach`. */
export function approach(x: f64, y: f64, z: f64, reach: f64): void {
  const wayX = originX - x, wayY = originY - y, wayZ = originZ - z;
  const away = abs(wayX) + abs(wayY) + abs(wayZ);
  if (!(away > FAR * reach && away < TOO_FAR)) return;
  movedBy = -(wayX * directionX + wayY * directionY + wayZ * directionZ);
  originX = coordinateAt(originX, 0, movedBy, directionX, directionLowX);
  originY = coordinateAt(originY, 0, movedBy, directionY, directionLowY);
  originZ = coordinateAt(originZ, 0, movedBy, directionZ, directionLowZ);
  tMin -= movedBy;
  tMax -= movedBy;
  foundDistance -= movedBy;
}

/** What the query's planes keep of the ray, and what an object's own do. */
const askedPart = changetype<RayPart>(memory.data(<i32>offsetof<RayPart>(), 16));
const ownPart = changetype<RayPart>(memory.data(<i32>offsetof<RayPart>(), 16));
/** The set that `ownPart` is of; null before it is of this ray. */
let ownPartOf: ClipSet | null = null;

/** The part of the ray before planes cut it. */
let wholeFrom: f64 = 0, wholeTo: f64 = 0;

/** Shortens the ray to what the query's planes keep of it. Answers false where that is nothing. */
export function clipRay(): bool {
  ownPartOf = null;
  if (!isClipped) return true;
  wholeFrom = tMin;
  wholeTo = tMax;
  keptPart(askedPart, askedPlanes, originX, originY, originZ, directionX, directionY, directionZ);
  tMin = max(tMin, askedPart.from);
  tMax = min(tMax, askedPart.to);
  foundDistance = min(foundDistance, tMax);
  return tMin <= foundDistance;
}

/** Makes the ray as long again as it was, but for what lies beyond its nearest hit. */
export function unclipRay(): void {
  if (!isClipped) return;
  tMin = wholeFrom;
  tMax = wholeTo;
  if (foundObject == 0) foundDistance = wholeTo;
}

/** Answers the distance of the nearest hit from where the ray was given to begin. */
export function hitDistance(): f64 {
  return movedBy + foundDistance;
}

/**
 * Casts the ray at an object, by its proxy and where it is in a tree. A nearer hit replaces the one found; of two at the same distance the lower id stays.
 * Throws OUT_OF_MEMORY.
 */
export function castObject(proxy: Proxy, tree: Tree, position: u32, sides: u32): void {
  const id = proxy.id;
  if (isIgnored(id)) return;
  const hitsBefore = hitCount;
  if (!isPrepared(id)) prepare(proxy, tree, position);
  toLocal();
  if (solid.shape == SHAPE_POINT_LINE) return; // which thick rays ask for (thick-ray.ts)
  let i: u32 = 0;
  if (isBoxed) beginHitBoxes(id);
  do {
    if (isBoxed && !toHitBox(i)) continue;
    partFrom = tMin;
    partTo = foundDistance;
    cutTo = Infinity;
    if (isClipped || hasOwnSets()) cutOut(id);
    // One place from where shapes are cast at, so that the compiler puts them here.
    do {
      if (!(partFrom <= partTo)) continue;
      if (solid.shape == SHAPE_MESH) castMesh(id, sides, faceSidesOf(proxy));
      else castSolid(id, sides);
    } while (cutTo != Infinity && goBeyondCut());
  } while (isBoxed && ++i < hitBoxCount && !(mode == ANY && foundObject != 0));
  if (mode == ALL) completeHits(hitsBefore, id);
}

// The part of the ray that is cast at an object: the first of up to three that planes leave of it, and where it ends
// without the cuts. The query's planes may take one part out of the ray, and the object's own another.
let partFrom: f64 = 0, partTo: f64 = 0, end: f64 = 0;
/** The next cut, and the one after it; infinite where there is none. */
let cutFrom: f64 = 0, cutTo: f64 = Infinity, otherFrom: f64 = 0, otherTo: f64 = 0;

/** Shortens the ray to the first part of it that planes leave of it for an object. */
function cutOut(id: u32): void {
  end = partTo;
  cutFrom = isClipped ? askedPart.cutFrom : Infinity;
  cutTo = isClipped ? askedPart.cutTo : Infinity;
  otherFrom = otherTo = Infinity;
  const own = ownSetOf(id);
  if (own !== null) {
    if (own !== ownPartOf) keptPart(ownPart, own, originX, originY, originZ, directionX, directionY, directionZ);
    ownPartOf = own;
    partFrom = max(partFrom, ownPart.from);
    end = min(end, ownPart.to);
    otherFrom = max(cutFrom, ownPart.cutFrom);
    otherTo = cutFrom > ownPart.cutFrom ? cutTo : ownPart.cutTo;
    cutTo = cutFrom > ownPart.cutFrom ? ownPart.cutTo : cutTo;
    cutFrom = min(cutFrom, ownPart.cutFrom);
  }
  partTo = min(end, cutFrom);
}

/** Goes on to the part beyond the next cut. Answers false where what was hit is nearer than that. */
function goBeyondCut(): bool {
  end = min(end, foundDistance);
  partFrom = max(partFrom, cutTo);
  cutFrom = otherFrom;
  cutTo = otherTo;
  otherFrom = otherTo = Infinity;
  partTo = min(end, cutFrom);
  return partFrom <= end;
}

// What stands for an object, for which one, and when: rays come in numbers, and often to the same object.
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
let preparedId: u32 = 0;
let preparedFor: u32 = 0;
let preparedAt: u32 = 0;
/** The middle of the object's bounds, and the distance from there beyond which the ray's origin is far away. */
let centreX: f64 = 0, centreY: f64 = 0, centreZ: f64 = 0;
let farDistance: f64 = 0;
/** Whether boxes stand for it, given ones or those of its bones; then what is prepared is the object's own space. */
let isBoxed: bool = false;

// @ts-ignore: decorator
@inline
function isPrepared(id: u32): bool {
  return id == preparedId && precision == preparedFor && changes == preparedAt;
}

function prepare(proxy: Proxy, tree: Tree, position: u32): void {
  const map = mapOf(solid);
  centreX = proxy.x;
  centreY = proxy.y;
  centreZ = proxy.z;
  const x = abs(proxy.xx) + abs(proxy.xy) + abs(proxy.xz);
  const y = abs(proxy.yx) + abs(proxy.yy) + abs(proxy.yz);
  const z = abs(proxy.zx) + abs(proxy.zy) + abs(proxy.zz);
  farDistance = FAR * max(max(x, y), z);
  const shape: u32 = proxy.shape;
  if (precision == PRECISION_OBB && shape == SHAPE_MESH && prepareBoxes(proxy.id)) return;
  // What the candidate alone tells spares a look at the object, which is far away in memory.
  if (precision == PRECISION_OBB || (precision == PRECISION_MESH && (shape == SHAPE_BOX || shape == SHAPE_SPHERE))) {
    solid.shape = <u16>(precision == PRECISION_OBB ? SHAPE_BOX : shape);
    solid.half = 0;
    boundsOf(proxy, map);
  } else if (precision == PRECISION_SPHERE) {
    solid.shape = <u16>SHAPE_SPHERE;
    solid.half = 0;
    setIdentity(map);
    map.xx = map.yy = map.zz = radiusOf(tree, position);
    map.tx = proxy.x;
    map.ty = proxy.y;
    map.tz = proxy.z;
  } else placedShapeAt(solid, slotOf(proxy.id), precision);
  remember(proxy.id);
}

function remember(id: u32): void {
  isBoxed = false;
  invert(inverse, mapOf(solid));
  preparedId = id;
  preparedFor = precision;
  preparedAt = changes;
}

/** Prepares an object for its boxes. Answers false where none were given and no bones move it. */
function prepareBoxes(id: u32): bool {
  const item = itemAt(slotOf(id));
  if (boxListOf(item) == 0 && !hasBones(changetype<Mesh>(item.mesh))) return false;
  solid.shape = <u16>SHAPE_BOX;
  solid.half = 0;
  copy(mapOf(solid), worldOf(item));
  remember(id);
  isBoxed = true;
  return true;
}

// The ray in the solid's space; its direction is not unit there, so that t stays a length in the world.
let localX: f64 = 0, localY: f64 = 0, localZ: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;
/**
 * Where on the ray the local ray begins, and the same place in the world: another one than the ray's origin if that is
 * far away.
 */
let nearT: f64 = 0;
let nearX: f64 = 0, nearY: f64 = 0, nearZ: f64 = 0;

// @ts-ignore: decorator
@inline
function toLocal(): void {
  // Relative to the object's place first: far from the origin the digits are there.
  let x = originX - solid.tx, y = originY - solid.ty, z = originZ - solid.tz;
  nearT = 0;
  nearX = originX;
  nearY = originY;
  nearZ = originZ;
  const wayX = originX - centreX, wayY = originY - centreY, wayZ = originZ - centreZ;
  const away = abs(wayX) + abs(wayY) + abs(wayZ);
  if (away > farDistance && away < TOO_FAR) {
    nearT = -(wayX * directionX + wayY * directionY + wayZ * directionZ);
    x = coordinateAt(originX, solid.tx, nearT, directionX, directionLowX);
    y = coordinateAt(originY, solid.ty, nearT, directionY, directionLowY);
    z = coordinateAt(originZ, solid.tz, nearT, directionZ, directionLowZ);
    nearX = solid.tx + x;
    nearY = solid.ty + y;
    nearZ = solid.tz + z;
  }
  localX = inverse.xx * x + inverse.yx * y + inverse.zx * z;
  localY = inverse.xy * x + inverse.yy * y + inverse.zy * z;
  localZ = inverse.xz * x + inverse.yz * y + inverse.zz * z;
  alongX = inverse.xx * directionX + inverse.yx * directionY + inverse.zx * directionZ;
  alongY = inverse.xy * directionX + inverse.yy * directionY + inverse.zy * directionZ;
  alongZ = inverse.xz * directionX + inverse.yz * directionY + inverse.zz * directionZ;
}

// The boxes of the object that is cast at, and the ray in its space.
/** The list of those that were given; 0 where they are those of the bones of `boned`. */
let given: usize = 0;
let boned: Mesh = changetype<Mesh>(0);
let hitBoxCount: u32 = 0;
let hitBox: HitBox = changetype<HitBox>(0);
let ownFromX: f64 = 0, ownFromY: f64 = 0, ownFromZ: f64 = 0;
let ownAlongX: f64 = 0, ownAlongY: f64 = 0, ownAlongZ: f64 = 0;

function beginHitBoxes(id: u32): void {
  const item = itemAt(slotOf(id));
  given = boxListOf(item);
  boned = changetype<Mesh>(item.mesh);
  hitBoxCount = given != 0 ? boxList(given).count : countHitBoxes(boned);
  ownFromX = localX; ownFromY = localY; ownFromZ = localZ;
  ownAlongX = alongX; ownAlongY = alongY; ownAlongZ = alongZ;
}

/** Takes the ray to the space of a box, where that is the cube. Answers false where there is no such box. */
function toHitBox(i: u32): bool {
  if (i >= hitBoxCount) return false;
  hitBox = given != 0 ? listedBox(given, i) : hitBoxAt(boned, i);
  const m = hitBox.inverse();
  // Relative to the box's place first, as in toLocal.
  const x = ownFromX - hitBox.tx, y = ownFromY - hitBox.ty, z = ownFromZ - hitBox.tz;
  localX = m.xx * x + m.yx * y + m.zx * z;
  localY = m.xy * x + m.yy * y + m.zy * z;
  localZ = m.xz * x + m.yz * y + m.zz * z;
  alongX = m.xx * ownAlongX + m.yx * ownAlongY + m.zx * ownAlongZ;
  alongY = m.xy * ownAlongX + m.yy * ownAlongY + m.zy * ownAlongZ;
  alongZ = m.xz * ownAlongX + m.yz * ownAlongY + m.zz * ownAlongZ;
  return true;
}

let ownNormalX: f64 = 0, ownNormalY: f64 = 0, ownNormalZ: f64 = 0;

/** Takes a normal of the cube to the object's space, by the inverse transposed; of other solids leaves it as it is. */
// @ts-ignore: decorator
@inline
function toOwnNormal(x: f64, y: f64, z: f64): void {
  const m = hitBox.inverse();
  ownNormalX = isBoxed ? m.xx * x + m.xy * y + m.xz * z : x;
  ownNormalY = isBoxed ? m.yx * x + m.yy * y + m.yz * z : y;
  ownNormalZ = isBoxed ? m.zx * x + m.zy * y + m.zz * z : z;
}

function better(id: u32, t: f64): bool {
  return t < foundDistance || (t == foundDistance && (foundObject == 0 || id < foundObject));
}

function castMesh(id: u32, sides: u32, faceSides: usize): void {
  const t = castMeshRay(
    changetype<Mesh>(solid.mesh), localX, localY, localZ, alongX, alongY, alongZ, partFrom - nearT, partTo - nearT,
    sides, faceSides, mode,
  );
  if (t == Infinity || !better(id, nearT + t)) return;
  record(id, t, hitNormalX, hitNormalY, hitNormalZ);
  foundTriangle = foundElement = hitTriangle;
  foundBone = -1;
  foundU = hitU;
  foundV = hitV;
  foundW = hitW;
}

/** Hits a solid that is no mesh: its front where the ray enters, its back where the ray leaves. */
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
  if (t > partTo - nearT || !better(id, nearT + t)) return;
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
 * Completes the hits from `first` on with what the scene knows: object, distance, point and normal in the world. All
 * are on the object whose inverse is `inverse`.
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

/** Keeps a hit at t from where the local ray begins. */
function record(id: u32, t: f64, nx: f64, ny: f64, nz: f64): void {
  foundObject = id;
  foundDistance = nearT + t;
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

/** Maps a normal from the solid's space to the world, by the inverse transposed, into foundNormal*. */
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

// --- points and lines ---

const thick = changetype<ThickRay>(memory.data(<i32>offsetof<ThickRay>(), 16));
/** Whether the ray is one about a place on the screen; then its functions, at RAY_CONE_* of a record (layout.ts). */
let cone: usize = 0;

/** Makes the rays from now on hit what is drawn near them, by the record of a ray (layout.ts, RAY_*); 0 ends that. */
export function setCone(ray: usize): void {
  cone = ray != 0 && load<u32>(ray, RAY_IS_CONE) != 0 ? ray : 0;
}

export function isCone(): bool {
  return cone != 0;
}

/** Answers the reach of the cone where the ray begins, which may have moved. */
export function coneReach(): f64 {
  const grows = coneAlong(RAY_CONE_REACH, directionX, directionY, directionZ);
  return load<f64>(cone, RAY_CONE_REACH + 24) + movedBy * grows;
}

/** Answers what one of the cone's functions grows by on a way. */
// @ts-ignore: decorator
@inline
export function coneAlong(gradient: usize, x: f64, y: f64, z: f64): f64 {
  const at = cone + gradient;
  return load<f64>(at) * x + load<f64>(at, 8) * y + load<f64>(at, 16) * z;
}

/**
 * Casts the ray at an object of points or lines, which are hit within `threshold`: in world units, or where `isOwn` in the
 * object's own; of a cone, by that. Otherwise as `castObject`.
 */
export function castPointLine(proxy: Proxy, tree: Tree, position: u32, threshold: f64, isOwn: bool): void {
  const id = proxy.id;
  if (isIgnored(id)) return;
  if (!isPrepared(id)) prepare(proxy, tree, position);
  toLocal();
  setThickRay(threshold, isOwn);
  const hitsBefore = hitCount;
  if (isClipped || hasOwnSets()) {
    castCutPointLine(hitsBefore, id);
    return;
  }
  const t = castThickRay(changetype<PointLine>(<usize>solid.mesh), thick, mode);
  if (mode == ALL) completePointLines(hitsBefore, id);
  else if (t != Infinity) takePointLine(id, t, hitElement, hitReach, hitX, hitY, hitZ);
}

/** Keeps a hit of points or lines at t from where the local ray begins, if it is the nearest. */
function takePointLine(id: u32, t: f64, element: i32, reach: f64, x: f64, y: f64, z: f64): void {
  if (!better(id, nearT + t)) return;
  foundObject = id;
  foundDistance = nearT + t;
  foundTriangle = foundBone = -1;
  foundElement = element;
  foundU = foundV = foundW = 0;
  place(t, x, y, z);
  pointX = placeX;
  pointY = placeY;
  pointZ = placeZ;
  foundDistanceToRay = thick.drawn ? away : reach;
}

/** Casts the ray at points or lines of which planes cut some away: which one is kept is asked of all that are hit. */
function castCutPointLine(first: u32, id: u32): void {
  castThickRay(changetype<PointLine>(<usize>solid.mesh), thick, ALL);
  let kept = first, nearest = first;
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    const x = load<f64>(hit, HIT_POINT), y = load<f64>(hit, HIT_POINT + 8), z = load<f64>(hit, HIT_POINT + 16);
    const wx = solid.xx * x + solid.yx * y + solid.zx * z + solid.tx;
    const wy = solid.xy * x + solid.yy * y + solid.zy * z + solid.ty;
    const wz = solid.xz * x + solid.yz * y + solid.zz * z + solid.tz;
    if (!keepsOf(id, wx, wy, wz)) continue;
    memory.copy(hitAt(kept), hit, HIT_BYTES);
    if (isBefore(kept, nearest)) nearest = kept;
    kept++;
  }
  dropHits(kept);
  if (mode == ALL) {
    completePointLines(first, id);
    return;
  }
  dropHits(first);
  if (kept == first) return;
  const hit = hitAt(nearest);
  takePointLine(
    id, load<f64>(hit, HIT_DISTANCE), load<i32>(hit, HIT_ELEMENT), load<f64>(hit, HIT_DISTANCE_TO_RAY),
    load<f64>(hit, HIT_POINT), load<f64>(hit, HIT_POINT + 8), load<f64>(hit, HIT_POINT + 16),
  );
}

/** Compares two hits of one object: of two at the same t the lower element comes first. */
function isBefore(i: u32, j: u32): bool {
  const a = load<f64>(hitAt(i), HIT_DISTANCE), b = load<f64>(hitAt(j), HIT_DISTANCE);
  return a < b || (a == b && load<i32>(hitAt(i), HIT_ELEMENT) < load<i32>(hitAt(j), HIT_ELEMENT));
}

/** Sets the ray in the object's space, as thick as it is asked for. */
function setThickRay(threshold: f64, isOwn: bool): void {
  thick.x = localX; thick.y = localY; thick.z = localZ;
  thick.alongX = alongX; thick.alongY = alongY; thick.alongZ = alongZ;
  thick.from = tMin - nearT;
  thick.last = tMax - nearT;
  thick.to = foundDistance - nearT;
  thick.rX = thick.rY = thick.rZ = 0;
  thick.reach = threshold;
  thick.drawn = cone != 0 && !isOwn;
  thick.metric = 1;
  // Where it begins at its origin, which is at -movedBy, or behind it.
  thick.round = !thick.drawn && tMin <= -movedBy;
  if (isOwn) {
    const square = alongX * alongX + alongY * alongY + alongZ * alongZ;
    const length = sqrt(square);
    setBasis(alongX / length, alongY / length, alongZ / length);
    thick.aX = firstX; thick.aY = firstY; thick.aZ = firstZ;
    thick.bX = secondX; thick.bY = secondY; thick.bZ = secondZ;
    thick.tX = alongX / square; thick.tY = alongY / square; thick.tZ = alongZ / square;
    thick.metric = length;
    return;
  }
  toOwn(directionX, directionY, directionZ);
  thick.tX = ownX; thick.tY = ownY; thick.tZ = ownZ;
  if (cone == 0) setBasis(directionX, directionY, directionZ);
  const a = cone + RAY_CONE_A, b = cone + RAY_CONE_B, r = cone + RAY_CONE_REACH;
  if (cone == 0) toOwn(firstX, firstY, firstZ);
  else toOwn(load<f64>(a), load<f64>(a, 8), load<f64>(a, 16));
  thick.aX = ownX; thick.aY = ownY; thick.aZ = ownZ;
  if (cone == 0) toOwn(secondX, secondY, secondZ);
  else toOwn(load<f64>(b), load<f64>(b, 8), load<f64>(b, 16));
  thick.bX = ownX; thick.bY = ownY; thick.bZ = ownZ;
  if (cone == 0) return;
  toOwn(load<f64>(r), load<f64>(r, 8), load<f64>(r, 16));
  thick.rX = ownX; thick.rY = ownY; thick.rZ = ownZ;
  thick.reach = coneReach() + nearT * coneAlong(RAY_CONE_REACH, directionX, directionY, directionZ);
}

let ownX: f64 = 0, ownY: f64 = 0, ownZ: f64 = 0;

/** Takes the gradient of a function from the world to the object's space. */
// @ts-ignore: decorator
@inline
function toOwn(x: f64, y: f64, z: f64): void {
  ownX = solid.xx * x + solid.xy * y + solid.xz * z;
  ownY = solid.yx * x + solid.yy * y + solid.yz * z;
  ownZ = solid.zx * x + solid.zy * y + solid.zz * z;
}

let placeX: f64 = 0, placeY: f64 = 0, placeZ: f64 = 0;
let away: f64 = 0;

/**
 * Finds the place in the world of a hit at t from where the local ray begins, of a line there, of a point beside it on the
 * ray, as three's; and how far from the ray the place in the mesh is.
 */
function place(t: f64, x: f64, y: f64, z: f64): void {
  const dx = x - localX, dy = y - localY, dz = z - localZ;
  const wx = solid.xx * dx + solid.yx * dy + solid.zx * dz;
  const wy = solid.xy * dx + solid.yy * dy + solid.zy * dz;
  const wz = solid.xz * dx + solid.yz * dy + solid.zz * dz;
  const rx = t * directionX, ry = t * directionY, rz = t * directionZ;
  away = sqrt((wx - rx) * (wx - rx) + (wy - ry) * (wy - ry) + (wz - rz) * (wz - rz));
  const isPoint = changetype<PointLine>(<usize>solid.mesh).size == 1;
  placeX = nearX + (isPoint ? rx : wx);
  placeY = nearY + (isPoint ? ry : wy);
  placeZ = nearZ + (isPoint ? rz : wz);
}

/** Completes the hits of points and lines from `first` on with what the scene knows. */
function completePointLines(first: u32, id: u32): void {
  turnBack();
  for (let i = first; i < hitCount; i++) {
    const hit = hitAt(i);
    const t = load<f64>(hit, HIT_DISTANCE);
    place(t, load<f64>(hit, HIT_POINT), load<f64>(hit, HIT_POINT + 8), load<f64>(hit, HIT_POINT + 16));
    store<u32>(hit, id, HIT_OBJECT);
    store<f64>(hit, movedBy + (nearT + t), HIT_DISTANCE);
    if (thick.drawn) store<f64>(hit, away, HIT_DISTANCE_TO_RAY);
    store<f64>(hit, placeX, HIT_POINT);
    store<f64>(hit, placeY, HIT_POINT + 8);
    store<f64>(hit, placeZ, HIT_POINT + 16);
    store<f64>(hit, foundNormalX, HIT_NORMAL);
    store<f64>(hit, foundNormalY, HIT_NORMAL + 8);
    store<f64>(hit, foundNormalZ, HIT_NORMAL + 16);
  }
}

/** Sets the normal to the way back to where the ray came from. */
function turnBack(): void {
  foundNormalX = -directionX;
  foundNormalY = -directionY;
  foundNormalZ = -directionZ;
}

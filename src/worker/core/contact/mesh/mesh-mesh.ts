// Contact of two meshes, as surfaces: for each region, a direction that separates the meshes there, and the depth along
// it. The direction is the gradient of the intersection volume, which is the area vector spanned by the region's curve.
// Small regions are refined by descent from there (Kim, Lin and Manocha, "DEEP: Dual-Space Expansion for Estimating
// Penetration Depth", 2002), and if the depth is large, the separating axes of the meshes' OBBs are tried. The depth
// along the direction is exact for the triangles of the region, in float64; it need not be the least over all
// directions.

import { checkpoint } from '../../checkpoint';
import { Affine, copy, setRelative } from '../../math/affine';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { meshesMeet, noWitness } from '../../mesh/query/mesh-pair';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { addPoint } from '../manifold/contact';
import { boxDirectionAt, boxDirectionCount, setBoxes } from './box-axes';
import { segmentAt, segmentCount, findSegments, hasAllSegments } from './intersection-segments';
import { depthAlong, clearWitnesses, isDepthWitnessed, addWitness } from './directional-depth';
import { findTouch, touchX, touchY, touchZ } from './triangle-depth';
import { setMeshSource } from './triangle-projection';
import { Side, beginSide, clippedAt, clearTriangles, sideAt, treeTransformOf } from './clipped-triangles';
import { orientationOf } from './inside';
import {
  findRegions, hasAllPockets, interiorCountOf, listInterior, regionCount, regionSegments, segmentStarts,
} from './regions';
import {
  beginReduction, offerPoint, reduceToFour, reducedCount, reducedX, reducedY, reducedZ,
} from '../manifold/manifold-reduction';
import { POSITION_BYTES } from '../../sizes';
import { hasNext } from './curves';
import {
  findGlobalPenetration, penetrationDepth, directionX, directionY, directionZ, globalDepthAlong,
} from './global-penetration';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Adds the points of each region of contact of two meshes whose surfaces intersect. Throws OUT_OF_MEMORY. */
export function meshMeshContact(a: PlacedShape, b: PlacedShape): void {
  const meshA = changetype<Mesh>(a.mesh), meshB = changetype<Mesh>(b.mesh);
  beginSide(0, meshA, mapOf(a), a.tx, a.ty, a.tz);
  beginSide(1, meshB, mapOf(b), a.tx, a.ty, a.tz);
  setRelative(map, mapOf(a), mapOf(b));
  boxDepth = -1;
  findSegments(meshA, meshB, map);
  if (hasAllSegments) findRegions();
  if (hasAllSegments && hasAllPockets) {
    for (let region: u32 = 0; region < regionCount; region++) {
      addRegion(region, a, b);
      checkpoint(<i32>(count0 + count1));
    }
  } else addGlobalContact(a, b);
  clearTriangles(sideAt(0));
  clearTriangles(sideAt(1));
}

/** The slots of a region's triangles, u32 each. */
let list0: usize = 0, list1: usize = 0;
let count0: u32 = 0, count1: u32 = 0;

// The best direction that separates the region, and the depth along it.
let bestX: f64 = 0, bestY: f64 = 0, bestZ: f64 = 0;
let bestDepth: f64 = 0;

function addRegion(region: u32, a: PlacedShape, b: PlacedShape): void {
  listRegion(region);
  sumRegion(region);
  bestDepth = Infinity;
  triedCount = 0;
  clearWitnesses();
  if (norm(areaX, areaY, areaZ) > MIN_AREA_RATIO * length * length) {
    tryDirection(areaX, areaY, areaZ);
    refineDirection();
  } else findAnyDirection();
  tryBoxAxes();
  if (regionCount == 1 && bestDepth > MIN_DEEP_RATIO * length && areFewTriangles(a, b) && doStillIntersect(a, b)) {
    bestDepth = globalDepthAlong(a, b, bestX, bestY, bestZ, bestDepth);
    // The last descent steps may have chosen a direction in which other parts of the meshes are in the way.
    const depth = boxAxisDepth < Infinity ? globalDepthAlong(a, b, boxAxisX, boxAxisY, boxAxisZ, boxAxisDepth) : Infinity;
    if (depth < bestDepth) {
      bestX = boxAxisX;
      bestY = boxAxisY;
      bestZ = boxAxisZ;
      bestDepth = depth;
    }
  }
  const at = segmentStarts + (<usize>region << 2);
  addPoints(load<u32>(at), load<u32>(at, 4), a.tx, a.ty, a.tz);
}

/** How far the OBBs of both meshes must move to be apart; negative until it is computed. */
let boxDepth: f64 = -1;

/**
 * Tries the separating axes of both meshes' OBBs, in both directions, if they separate the boxes sooner than the
 * region's direction does, and descends from the best. This is the case for a long part in a wall: the curve's area
 * vector points out along the part, while the way past its side or off the wall is short. Of two crossing pipes, 10 long
 * and 0.6 wide, the deepest region had a depth of 4.8 along one of them, and has 0.6 across both. So no region of few
 * triangles is deeper than the boxes are. The axis of the least box depth is tried first, since hardly any other is
 * better: that and a list of axes without duplicates take the manifolds of a building's 11,000 clashes from 410 to 391
 * ms of processor time.
 */
function tryBoxAxes(): void {
  boxAxisDepth = Infinity;
  if (count0 + count1 > MAX_REFINED_TRIANGLES) return;
  if (boxDepth < 0) boxDepth = setBoxes();
  if (!(bestDepth > boxDepth)) return;
  for (let i: u32 = 0; i < boxDirectionCount; i++) {
    const direction = boxDirectionAt(i);
    tryDirection(direction.x, direction.y, direction.z);
    checkpoint(<i32>(count0 + count1));
  }
  boxAxisX = bestX;
  boxAxisY = bestY;
  boxAxisZ = bestZ;
  boxAxisDepth = bestDepth;
  refineDirection();
}

// The best direction before the descent from the axes of the boxes; its depth is Infinity if they were not tried.
let boxAxisX: f64 = 0, boxAxisY: f64 = 0, boxAxisZ: f64 = 0;
let boxAxisDepth: f64 = Infinity;

/** If a region is deeper than this, relative to its curve's length, other parts of the meshes may be in its way. */
const MIN_DEEP_RATIO: f64 = 0.02;

/**
 * With more triangles than this, measuring all of them would take longer than everything else: a region's depth is then
 * that of its pockets only.
 */
const MAX_MEASURED_TRIANGLES: u32 = 1 << 15;

function areFewTriangles(a: PlacedShape, b: PlacedShape): bool {
  return changetype<Mesh>(a.mesh).keptCount + changetype<Mesh>(b.mesh).keptCount <= MAX_MEASURED_TRIANGLES;
}

const movedTransform = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** b is moved by this multiple of a region's depth to test whether everything is separated there. */
const SEPARATION_FACTOR: f64 = 1.01;

/** Returns whether other parts of the meshes still intersect where the only region is separated. */
function doStillIntersect(a: PlacedShape, b: PlacedShape): bool {
  copy(movedTransform, mapOf(b));
  const distance = bestDepth * SEPARATION_FACTOR;
  movedTransform.tx += distance * bestX;
  movedTransform.ty += distance * bestY;
  movedTransform.tz += distance * bestZ;
  setRelative(map, mapOf(a), movedTransform);
  return meshesMeet(changetype<Mesh>(a.mesh), changetype<Mesh>(b.mesh), map, noWitness());
}

/**
 * A curve that spans less area than this, relative to its squared length, is a line forth and back, or spans two areas
 * of opposite directions.
 */
const MIN_AREA_RATIO: f64 = 1e-4;
/** The most descent steps from one direction; each measures all triangles of the region again. */
const MAX_STEPS = 2;

/** Lists the triangles of a region: each clipped triangle once, and the interior ones. */
function listRegion(region: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const at = <usize>region << 2;
  const from = load<u32>(segmentStarts + at), end = load<u32>(segmentStarts + at, 4);
  count0 = interiorCountOf(region, 0);
  count1 = interiorCountOf(region, 1);
  list0 = reserve(list0, 0, <u64>(end - from + count0) << 2);
  list1 = reserve(list1, 0, <u64>(end - from + count1) << 2);
  listInterior(list0, region, 0);
  listInterior(list1, region, 1);
  for (let i = from; i < end; i++) {
    const segment = segmentAt(load<u32>(regionSegments + (<usize>i << 2)));
    const a = clippedAt(sideA, segment.a), b = clippedAt(sideB, segment.b);
    if (a.listedRegion != region + 1) store<u32>(list0 + (<usize>(count0++) << 2), a.slot);
    if (b.listedRegion != region + 1) store<u32>(list1 + (<usize>(count1++) << 2), b.slot);
    a.listedRegion = b.listedRegion = region + 1;
  }
  useSide(0, sideA);
  useSide(1, sideB);
}

function useSide(index: u32, side: Side): void {
  setMeshSource(index, changetype<Mesh>(<usize>side.mesh), treeTransformOf(side));
}

// Sums along the curve: its length, its area vector, and the mean of both sides' normals.
let length: f64 = 0;
let areaX: f64 = 0, areaY: f64 = 0, areaZ: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let normal0X: f64 = 0, normal0Y: f64 = 0, normal0Z: f64 = 0; // of side 0 alone

function sumRegion(region: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const at = <usize>region << 2;
  const from = load<u32>(segmentStarts + at), end = load<u32>(segmentStarts + at, 4);
  length = areaX = areaY = areaZ = normalX = normalY = normalZ = normal0X = normal0Y = normal0Z = 0;
  // Relative to a point of the curve, so that no precision is lost.
  const first = segmentAt(load<u32>(regionSegments + (<usize>from << 2)));
  const ox = first.px, oy = first.py, oz = first.pz;
  const orientationA = orientationOf(first, 0), orientationB = orientationOf(first, 1);
  let sumX: f64 = 0, sumY: f64 = 0, sumZ: f64 = 0, endOffsetX: f64 = 0, endOffsetY: f64 = 0, endOffsetZ: f64 = 0;
  for (let i = from; i < end; i++) {
    const segment = segmentAt(load<u32>(regionSegments + (<usize>i << 2)));
    const a = clippedAt(sideA, segment.a), b = clippedAt(sideB, segment.b);
    const px = segment.px - ox, py = segment.py - oy, pz = segment.pz - oz;
    const ex = segment.qx - segment.px, ey = segment.qy - segment.py, ez = segment.qz - segment.pz;
    const segmentLength = norm(ex, ey, ez);
    areaX += py * ez - pz * ey;
    areaY += pz * ex - px * ez;
    areaZ += px * ey - py * ex;
    endOffsetX += ex; endOffsetY += ey; endOffsetZ += ez;
    sumX += segmentLength * (px + 0.5 * ex); sumY += segmentLength * (py + 0.5 * ey); sumZ += segmentLength * (pz + 0.5 * ez);
    length += segmentLength;
    const ax = orientationA * a.nx, ay = orientationA * a.ny, az = orientationA * a.nz;
    normalX += segmentLength * (ax - orientationB * b.nx);
    normalY += segmentLength * (ay - orientationB * b.ny); normalZ += segmentLength * (az - orientationB * b.nz);
    normal0X += segmentLength * ax; normal0Y += segmentLength * ay; normal0Z += segmentLength * az;
  }
  if (length > 0) {
    // An open curve is closed through its centroid.
    const mx = sumX / length, my = sumY / length, mz = sumZ / length;
    areaX -= my * endOffsetZ - mz * endOffsetY;
    areaY -= mz * endOffsetX - mx * endOffsetZ;
    areaZ -= mx * endOffsetY - my * endOffsetX;
    areaX *= 0.5 * orientationA * orientationB; areaY *= 0.5 * orientationA * orientationB;
    areaZ *= 0.5 * orientationA * orientationB;
    return;
  }
  for (let i = from; i < end; i++) {
    const segment = segmentAt(load<u32>(regionSegments + (<usize>i << 2)));
    const a = clippedAt(sideA, segment.a), b = clippedAt(sideB, segment.b);
    normalX += orientationA * a.nx - orientationB * b.nx;
    normalY += orientationA * a.ny - orientationB * b.ny;
    normalZ += orientationA * a.nz - orientationB * b.nz;
    normal0X += orientationA * a.nx; normal0Y += orientationA * a.ny; normal0Z += orientationA * a.nz;
  }
}

/** Takes a direction of any length if the region is less deep along it. Returns whether it is. */
function tryDirection(x: f64, y: f64, z: f64): bool {
  const scale = 1.0 / norm(x, y, z);
  if (!(scale < Infinity)) return false;
  x *= scale;
  y *= scale;
  z *= scale;
  if (wasTried(x, y, z)) return false;
  if (bestDepth < Infinity && isDepthWitnessed(x, y, z, bestDepth)) return false;
  const depth = max(depthAlong(list0, count0, list1, count1, x, y, z, bestDepth), 0.0);
  addWitness();
  if (!(depth < bestDepth)) return false;
  bestX = x;
  bestY = y;
  bestZ = z;
  bestDepth = depth;
  hasTouch = findTouch(x, y, z);
  return true;
}

/** Whether some triangles touch last along the best direction, so that the contact normal is known. */
let hasTouch: bool = false;

/**
 * The normals of a region, five steps, and the axes of boxes in both directions; directions beyond this number are not
 * remembered.
 */
const MAX_TRIED: u32 = 38;
/** The directions tried for a region, compared bitwise, three f64 each: trying one again cannot improve. */
const triedDirections: usize = memory.data(<i32>MAX_TRIED * POSITION_BYTES, 16);
let triedCount: u32 = 0;

/** Returns whether a direction was tried for the region; remembers it otherwise. */
function wasTried(x: f64, y: f64, z: f64): bool {
  const end = triedDirections + <usize>triedCount * POSITION_BYTES;
  for (let at = triedDirections; at < end; at += POSITION_BYTES) {
    if (load<f64>(at) == x && load<f64>(at, 8) == y && load<f64>(at, 16) == z) return true;
  }
  if (triedCount == MAX_TRIED) return false;
  triedCount++;
  store<f64>(end, x);
  store<f64>(end, y, 8);
  store<f64>(end, z, 16);
  return false;
}

/** The cosine of the smallest turn of a direction that is worth a trial: the depth may fall by this factor. */
const MAX_TURN_COSINE: f64 = 0.95;
/**
 * The cosine of the largest turn: beyond it, the triangles that touch last have little to do with separating the region.
 */
const MIN_TURN_COSINE: f64 = 0.3;
/** The first direction is not refined if there are more triangles than this. */
const MAX_REFINED_TRIANGLES: u32 = 2000;

/** Descends from the best direction. */
function refineDirection(): void {
  for (let step = 0; step < MAX_STEPS && improveDirection(); step++);
}

/**
 * Tries the direction in which the two push each other apart where they touch last; for convex shapes that is no worse.
 * Returns whether it was better.
 */
function improveDirection(): bool {
  if (bestDepth == 0 || count0 + count1 > MAX_REFINED_TRIANGLES || !hasTouch) return false;
  const turnCosine = touchX * bestX + touchY * bestY + touchZ * bestZ;
  if (turnCosine < MIN_TURN_COSINE || turnCosine > MAX_TURN_COSINE) return false;
  return tryDirection(touchX, touchY, touchZ);
}

/**
 * Finds a direction for a curve that spans no area: tries the mean of the normals, the direction from centre to centre,
 * and finally any. A sum that cancels out up to rounding, as at a fin of no thickness, is not a direction.
 */
function findAnyDirection(): void {
  const a = sideAt(0), b = sideAt(1);
  const centerOffsetX = b.centerX - a.centerX, centerOffsetY = b.centerY - a.centerY, centerOffsetZ = b.centerZ - a.centerZ;
  const minLength = CANCELLATION_TOLERANCE * (length > 0 ? length : <f64>count0);
  if (norm(areaX, areaY, areaZ) > CANCELLATION_TOLERANCE * length * length) tryDirection(areaX, areaY, areaZ);
  if (norm(normalX, normalY, normalZ) > minLength) tryDirection(normalX, normalY, normalZ);
  else if (norm(normal0X, normal0Y, normal0Z) > minLength) {
    const sign: f64 = centerOffsetX * normal0X + centerOffsetY * normal0Y + centerOffsetZ * normal0Z < 0 ? -1 : 1;
    tryDirection(sign * normal0X, sign * normal0Y, sign * normal0Z);
  }
  if (bestDepth > 0) tryDirection(centerOffsetX, centerOffsetY, centerOffsetZ);
  if (bestDepth == Infinity) tryDirection(0, 0, 1);
}

/** Sums that are less than this, relative to the magnitudes of their terms, cancel out. */
const CANCELLATION_TOLERANCE: f64 = 1e-6;

// @ts-ignore: decorator
@inline
function norm(x: f64, y: f64, z: f64): f64 {
  return sqrt(x * x + y * y + z * z);
}

/** Adds the points of meshes that have too much in common to be divided into regions. */
function addGlobalContact(a: PlacedShape, b: PlacedShape): void {
  findGlobalPenetration(a, b, 0);
  bestX = directionX;
  bestY = directionY;
  bestZ = directionZ;
  bestDepth = penetrationDepth;
  addPoints(0, 0, a.tx, a.ty, a.tz);
}

/** Manifold points that are nearer to each other than this, relative to their curve's length, count as the same. */
const POINT_TOLERANCE: f64 = 1e-9;

/**
 * Adds points of the segments in `regionSegments` from `from` to before `end`, or of all segments if `end` is 0, because
 * there are no regions.
 */
function addPoints(from: u32, end: u32, x: f64, y: f64, z: f64): void {
  const hasNoRegions = end == 0;
  if (hasNoRegions) end = segmentCount;
  setBasis(bestX, bestY, bestZ);
  beginReduction();
  for (let i = from; i < end; i++) {
    const index = hasNoRegions ? i : load<u32>(regionSegments + (<usize>i << 2));
    const segment = segmentAt(index);
    offerEnd(segment.px, segment.py, segment.pz);
    if (hasNoRegions || !hasNext(index)) offerEnd(segment.qx, segment.qy, segment.qz);
  }
  reduceToFour(hasNoRegions ? 0 : POINT_TOLERANCE * length);
  for (let i: u32 = 0; i < reducedCount; i++) {
    addPoint(reducedX(i) + x, reducedY(i) + y, reducedZ(i) + z, bestX, bestY, bestZ, bestDepth);
  }
}

function offerEnd(x: f64, y: f64, z: f64): void {
  offerPoint(tangentX * x + tangentY * y + tangentZ * z, bitangentX * x + bitangentY * y + bitangentZ * z, x, y, z);
}

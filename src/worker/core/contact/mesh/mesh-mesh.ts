// Contact of two meshes, as surfaces: for each region, a direction that separates the meshes there, and the depth along
// it. The direction is the gradient of the intersection volume, which is the area vector spanned by the region's curve.
// Small regions are refined by descent from there (Kim, Lin and Manocha, "DEEP: Dual-Space Expansion for Estimating
// Penetration Depth", 2002), and if the depth is large, the separating axes of the meshes' OBBs are tried. The depth
// along the direction is exact for the triangles of the region, in float64; it need not be the least over all
// directions.

import { checkpoint } from '../../checkpoint';
import { Affine, copy, relate } from '../../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { meshesMeet, noWitness } from '../../mesh/query/mesh-pair';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import { addPoint } from '../manifold/contact';
import { boxWayAt, boxWayCount, setBoxes } from './box-axes';
import { segmentAt, segmentCount, findSegments, hasAllSegments } from './intersection-segments';
import { depthAlong, forgetWitnesses, isWitnessed, keepWitness } from './directional-depth';
import { findTouch, touchX, touchY, touchZ } from './triangle-depth';
import { useMesh } from './triangle-projection';
import { Side, beginSide, clippedAt, forgetTriangles, sideAt, treeOf } from './clipped-triangles';
import { senseOf } from './inside';
import {
  findRegions, hasAllPockets, interiorCountOf, listInterior, regionCount, regionSegments, segmentStarts,
} from './regions';
import {
  beginReduction, offerPoint, reduceToFour, reducedCount, reducedX, reducedY, reducedZ,
} from '../manifold/manifold-reduction';
import { PLACE_BYTES } from '../../sizes';
import { hasNext } from './curves';
import { findWayOut, wayDepth, wayX, wayY, wayZ, wholeDepth } from './global-penetration';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Adds the points of each region of contact of two meshes whose surfaces intersect. Throws OUT_OF_MEMORY. */
export function meshMeshContact(a: PlacedShape, b: PlacedShape): void {
  const meshA = changetype<Mesh>(a.mesh), meshB = changetype<Mesh>(b.mesh);
  beginSide(0, meshA, mapOf(a), a.tx, a.ty, a.tz);
  beginSide(1, meshB, mapOf(b), a.tx, a.ty, a.tz);
  relate(map, mapOf(a), mapOf(b));
  boxDepth = -1;
  findSegments(meshA, meshB, map);
  if (hasAllSegments) findRegions();
  if (hasAllSegments && hasAllPockets) {
    for (let region: u32 = 0; region < regionCount; region++) {
      addRegion(region, a, b);
      checkpoint(<i32>(count0 + count1));
    }
  } else addWhole(a, b);
  forgetTriangles(sideAt(0));
  forgetTriangles(sideAt(1));
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
  forgetWitnesses();
  if (norm(areaX, areaY, areaZ) > THIN * length * length) {
    tryDirection(areaX, areaY, areaZ);
    refine();
  } else findAnyDirection();
  tryBoxAxes();
  if (regionCount == 1 && bestDepth > STEEP * length && isSmall(a, b) && stillMeet(a, b)) {
    bestDepth = wholeDepth(a, b, bestX, bestY, bestZ, bestDepth);
    // The last descent steps may have chosen a direction in which other parts of the meshes are in the way.
    const depth = axisDepth < Infinity ? wholeDepth(a, b, axisX, axisY, axisZ, axisDepth) : Infinity;
    if (depth < bestDepth) {
      bestX = axisX;
      bestY = axisY;
      bestZ = axisZ;
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
  axisDepth = Infinity;
  if (count0 + count1 > REFINED) return;
  if (boxDepth < 0) boxDepth = setBoxes();
  if (!(bestDepth > boxDepth)) return;
  for (let i: u32 = 0; i < boxWayCount; i++) {
    const way = boxWayAt(i);
    tryDirection(way.x, way.y, way.z);
    checkpoint(<i32>(count0 + count1));
  }
  axisX = bestX;
  axisY = bestY;
  axisZ = bestZ;
  axisDepth = bestDepth;
  refine();
}

// The best direction before the descent from the axes of the boxes; its depth is Infinity if they were not tried.
let axisX: f64 = 0, axisY: f64 = 0, axisZ: f64 = 0;
let axisDepth: f64 = Infinity;

/** If a region is deeper than this, relative to its curve's length, other parts of the meshes may be in its way. */
const STEEP: f64 = 0.02;

/**
 * With more triangles than this, measuring all of them would take longer than everything else: a region's depth is then
 * that of its pockets only.
 */
const FEW: u32 = 1 << 15;

function isSmall(a: PlacedShape, b: PlacedShape): bool {
  return changetype<Mesh>(a.mesh).keptCount + changetype<Mesh>(b.mesh).keptCount <= FEW;
}

const moved = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** b is moved by this multiple of a region's depth to test whether everything is separated there. */
const BEYOND: f64 = 1.01;

/** Returns whether other parts of the meshes still intersect where the only region is separated. */
function stillMeet(a: PlacedShape, b: PlacedShape): bool {
  copy(moved, mapOf(b));
  const way = bestDepth * BEYOND;
  moved.tx += way * bestX;
  moved.ty += way * bestY;
  moved.tz += way * bestZ;
  relate(map, mapOf(a), moved);
  return meshesMeet(changetype<Mesh>(a.mesh), changetype<Mesh>(b.mesh), map, noWitness());
}

/**
 * A curve that spans less area than this, relative to its squared length, is a line forth and back, or spans two areas
 * of opposite directions.
 */
const THIN: f64 = 1e-4;
/** The most descent steps from one direction; each measures all triangles of the region again. */
const MOST_STEPS = 2;

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
    if (a.stamp != region + 1) store<u32>(list0 + (<usize>(count0++) << 2), a.slot);
    if (b.stamp != region + 1) store<u32>(list1 + (<usize>(count1++) << 2), b.slot);
    a.stamp = b.stamp = region + 1;
  }
  useSide(0, sideA);
  useSide(1, sideB);
}

function useSide(index: u32, side: Side): void {
  useMesh(index, changetype<Mesh>(<usize>side.mesh), treeOf(side));
}

// Sums along the curve: its length, its area vector, and the mean of both sides' normals.
let length: f64 = 0;
let areaX: f64 = 0, areaY: f64 = 0, areaZ: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let sideX: f64 = 0, sideY: f64 = 0, sideZ: f64 = 0; // of side 0 alone

function sumRegion(region: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const at = <usize>region << 2;
  const from = load<u32>(segmentStarts + at), end = load<u32>(segmentStarts + at, 4);
  length = areaX = areaY = areaZ = normalX = normalY = normalZ = sideX = sideY = sideZ = 0;
  // Relative to a point of the curve, so that no precision is lost.
  const first = segmentAt(load<u32>(regionSegments + (<usize>from << 2)));
  const ox = first.px, oy = first.py, oz = first.pz;
  const senseA = senseOf(first, 0), senseB = senseOf(first, 1);
  let sumX: f64 = 0, sumY: f64 = 0, sumZ: f64 = 0, openX: f64 = 0, openY: f64 = 0, openZ: f64 = 0;
  for (let i = from; i < end; i++) {
    const segment = segmentAt(load<u32>(regionSegments + (<usize>i << 2)));
    const a = clippedAt(sideA, segment.a), b = clippedAt(sideB, segment.b);
    const px = segment.px - ox, py = segment.py - oy, pz = segment.pz - oz;
    const ex = segment.qx - segment.px, ey = segment.qy - segment.py, ez = segment.qz - segment.pz;
    const own = norm(ex, ey, ez);
    areaX += py * ez - pz * ey;
    areaY += pz * ex - px * ez;
    areaZ += px * ey - py * ex;
    openX += ex; openY += ey; openZ += ez;
    sumX += own * (px + 0.5 * ex); sumY += own * (py + 0.5 * ey); sumZ += own * (pz + 0.5 * ez);
    length += own;
    const ax = senseA * a.nx, ay = senseA * a.ny, az = senseA * a.nz;
    normalX += own * (ax - senseB * b.nx); normalY += own * (ay - senseB * b.ny); normalZ += own * (az - senseB * b.nz);
    sideX += own * ax; sideY += own * ay; sideZ += own * az;
  }
  if (length > 0) {
    // An open curve is closed through its centroid.
    const mx = sumX / length, my = sumY / length, mz = sumZ / length;
    areaX -= my * openZ - mz * openY;
    areaY -= mz * openX - mx * openZ;
    areaZ -= mx * openY - my * openX;
    areaX *= 0.5 * senseA * senseB; areaY *= 0.5 * senseA * senseB; areaZ *= 0.5 * senseA * senseB;
    return;
  }
  for (let i = from; i < end; i++) {
    const segment = segmentAt(load<u32>(regionSegments + (<usize>i << 2)));
    const a = clippedAt(sideA, segment.a), b = clippedAt(sideB, segment.b);
    normalX += senseA * a.nx - senseB * b.nx;
    normalY += senseA * a.ny - senseB * b.ny;
    normalZ += senseA * a.nz - senseB * b.nz;
    sideX += senseA * a.nx; sideY += senseA * a.ny; sideZ += senseA * a.nz;
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
  if (bestDepth < Infinity && isWitnessed(x, y, z, bestDepth)) return false;
  const depth = max(depthAlong(list0, count0, list1, count1, x, y, z, bestDepth), 0.0);
  keepWitness();
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
const MOST_TRIED: u32 = 38;
/** The directions tried for a region, compared bitwise, three f64 each: trying one again cannot improve. */
const tried: usize = memory.data(<i32>MOST_TRIED * PLACE_BYTES, 16);
let triedCount: u32 = 0;

/** Returns whether a direction was tried for the region; remembers it otherwise. */
function wasTried(x: f64, y: f64, z: f64): bool {
  const end = tried + <usize>triedCount * PLACE_BYTES;
  for (let at = tried; at < end; at += PLACE_BYTES) {
    if (load<f64>(at) == x && load<f64>(at, 8) == y && load<f64>(at, 16) == z) return true;
  }
  if (triedCount == MOST_TRIED) return false;
  triedCount++;
  store<f64>(end, x);
  store<f64>(end, y, 8);
  store<f64>(end, z, 16);
  return false;
}

/** The cosine of the smallest turn of a direction that is worth a trial: the depth may fall by this factor. */
const WORTH: f64 = 0.95;
/**
 * The cosine of the largest turn: beyond it, the triangles that touch last have little to do with separating the region.
 */
const FARTHEST_TURN: f64 = 0.3;
/** The first direction is not refined if there are more triangles than this. */
const REFINED: u32 = 2000;

/** Descends from the best direction. */
function refine(): void {
  for (let step = 0; step < MOST_STEPS && improve(); step++);
}

/**
 * Tries the direction in which the two push each other apart where they touch last; for convex shapes that is no worse.
 * Returns whether it was better.
 */
function improve(): bool {
  if (bestDepth == 0 || count0 + count1 > REFINED || !hasTouch) return false;
  const along = touchX * bestX + touchY * bestY + touchZ * bestZ;
  if (along < FARTHEST_TURN || along > WORTH) return false;
  return tryDirection(touchX, touchY, touchZ);
}

/**
 * Finds a direction for a curve that spans no area: tries the mean of the normals, the direction from centre to centre,
 * and finally any. A sum that cancels out up to rounding, as at a fin of no thickness, is not a direction.
 */
function findAnyDirection(): void {
  const a = sideAt(0), b = sideAt(1);
  const wayX = b.middleX - a.middleX, wayY = b.middleY - a.middleY, wayZ = b.middleZ - a.middleZ;
  const least = NOISE * (length > 0 ? length : <f64>count0);
  if (norm(areaX, areaY, areaZ) > NOISE * length * length) tryDirection(areaX, areaY, areaZ);
  if (norm(normalX, normalY, normalZ) > least) tryDirection(normalX, normalY, normalZ);
  else if (norm(sideX, sideY, sideZ) > least) {
    const away: f64 = wayX * sideX + wayY * sideY + wayZ * sideZ < 0 ? -1 : 1;
    tryDirection(away * sideX, away * sideY, away * sideZ);
  }
  if (bestDepth > 0) tryDirection(wayX, wayY, wayZ);
  if (bestDepth == Infinity) tryDirection(0, 0, 1);
}

/** Sums that are less than this, relative to the magnitudes of their terms, cancel out. */
const NOISE: f64 = 1e-6;

// @ts-ignore: decorator
@inline
function norm(x: f64, y: f64, z: f64): f64 {
  return sqrt(x * x + y * y + z * z);
}

/** Adds the points of meshes that have too much in common to be divided into regions. */
function addWhole(a: PlacedShape, b: PlacedShape): void {
  findWayOut(a, b, 0);
  bestX = wayX;
  bestY = wayY;
  bestZ = wayZ;
  bestDepth = wayDepth;
  addPoints(0, 0, a.tx, a.ty, a.tz);
}

/** Manifold points that are nearer to each other than this, relative to their curve's length, count as the same. */
const SAME_POINT: f64 = 1e-9;

/**
 * Adds points of the segments in `regionSegments` from `from` to before `end`, or of all segments if `end` is 0, because
 * there are no regions.
 */
function addPoints(from: u32, end: u32, x: f64, y: f64, z: f64): void {
  const isWhole = end == 0;
  if (isWhole) end = segmentCount;
  setBasis(bestX, bestY, bestZ);
  beginReduction();
  for (let i = from; i < end; i++) {
    const index = isWhole ? i : load<u32>(regionSegments + (<usize>i << 2));
    const segment = segmentAt(index);
    offerEnd(segment.px, segment.py, segment.pz);
    if (isWhole || !hasNext(index)) offerEnd(segment.qx, segment.qy, segment.qz);
  }
  reduceToFour(isWhole ? 0 : SAME_POINT * length);
  for (let i: u32 = 0; i < reducedCount; i++) {
    addPoint(reducedX(i) + x, reducedY(i) + y, reducedZ(i) + z, bestX, bestY, bestZ, bestDepth);
  }
}

function offerEnd(x: f64, y: f64, z: f64): void {
  offerPoint(firstX * x + firstY * y + firstZ * z, secondX * x + secondY * y + secondZ * z, x, y, z);
}

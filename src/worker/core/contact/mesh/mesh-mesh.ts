// Contact of two meshes, as surfaces: region by region, a direction and how far it is along it.

import { Affine, copy, relate } from '../../math/affine';
import { reserve } from '../../memory';
import { Mesh } from '../../mesh/tree/layout';
import { meshesMeet, noWitness } from '../../mesh/query/mesh-pair';
import { Solid, mapOf } from '../../shape/placed-shape';
import { addPoint } from '../manifold/contact';
import { cutAt, cutCount, findCuts, hasAllCuts } from './intersection-segments';
import { depthAlong, findTouch, touchX, touchY, touchZ } from './directional-depth';
import { PART_CORNERS, Part, beginSide, forgetParts, partAt, sideAt } from './clipped-triangles';
import {
  findRegions, hasAllPockets, order, pocketStarts0, pocketStarts1, pockets0, pockets1, regionCount, regionStarts, senseOf,
} from './regions';
import { addSpread, chooseSpread, chosen, chosenCount, clearSpread } from '../spread';
import { findWayOut, wayDepth, wayX, wayY, wayZ, wholeDepth } from './global-penetration';

const map = changetype<Affine>(memory.data(96, 16));

/** Two meshes of which the surfaces meet: adds the points of each region of contact. */
export function surfaceContact(a: Solid, b: Solid): void {
  const meshA = changetype<Mesh>(a.mesh), meshB = changetype<Mesh>(b.mesh);
  beginSide(0, meshA, mapOf(a), a.tx, a.ty, a.tz);
  beginSide(1, meshB, mapOf(b), a.tx, a.ty, a.tz);
  relate(map, mapOf(a), mapOf(b));
  findCuts(meshA, meshB, map);
  if (hasAllCuts) findRegions();
  if (hasAllCuts && hasAllPockets) {
    for (let region: u32 = 0; region < regionCount; region++) addRegion(region, a, b);
  } else addWhole(a, b);
  forgetParts(sideAt(0));
  forgetParts(sideAt(1));
}

// The triangles of a region: addresses of their corners, u32.
let list0: usize = 0, list1: usize = 0;
let count0: u32 = 0, count1: u32 = 0;

// The direction that parts it, and how deep it is along it.
let bestX: f64 = 0, bestY: f64 = 0, bestZ: f64 = 0;
let bestDepth: f64 = 0;

function addRegion(region: u32, a: Solid, b: Solid): void {
  listRegion(region);
  sumRegion(region);
  bestDepth = Infinity;
  // The gradient of the volume that both share: what the curve spans.
  if (norm(areaX, areaY, areaZ) > THIN * length * length) {
    tryDirection(areaX, areaY, areaZ);
    for (let step = 0; step < 2 && improve(); step++);
  } else findAnyDirection();
  if (regionCount == 1 && bestDepth > STEEP * length && isSmall(a, b) && stillMeet(a, b)) {
    bestDepth = wholeDepth(a, b, bestX, bestY, bestZ, bestDepth);
  }
  const from = load<u32>(regionStarts + (<usize>region << 2)), end = load<u32>(regionStarts + (<usize>region << 2), 4);
  addPoints(from, end, a.tx, a.ty, a.tz);
}

/** A region that is deeper than this, of its curve's length, may have its meshes' other parts in its way. */
const STEEP: f64 = 0.02;

/** Of more triangles, all of them take longer than all else: there a region's depth is that of its pockets alone. */
const FEW: u32 = 1 << 15;

function isSmall(a: Solid, b: Solid): bool {
  return changetype<Mesh>(a.mesh).keptCount + changetype<Mesh>(b.mesh).keptCount <= FEW;
}

const moved = changetype<Affine>(memory.data(96, 16));

/** Whether other parts of the meshes meet where the one region is parted. */
function stillMeet(a: Solid, b: Solid): bool {
  copy(moved, mapOf(b));
  const way = bestDepth * 1.01;
  moved.tx += way * bestX;
  moved.ty += way * bestY;
  moved.tz += way * bestZ;
  relate(map, mapOf(a), moved);
  return meshesMeet(changetype<Mesh>(a.mesh), changetype<Mesh>(b.mesh), map, noWitness());
}

/** A curve that spans less, relative to the square of its length, is a line there and back, or spans two ways at once. */
const THIN: f64 = 1e-4;

/** The parts of a region, of those that are cut each once. */
function listRegion(region: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const at = <usize>region << 2;
  const from = load<u32>(regionStarts + at), end = load<u32>(regionStarts + at, 4);
  const from0 = load<u32>(pocketStarts0 + at), end0 = load<u32>(pocketStarts0 + at, 4);
  const from1 = load<u32>(pocketStarts1 + at), end1 = load<u32>(pocketStarts1 + at, 4);
  list0 = reserve(list0, 0, <u64>(end - from + end0 - from0) << 2);
  list1 = reserve(list1, 0, <u64>(end - from + end1 - from1) << 2);
  count0 = count1 = 0;
  for (let i = from; i < end; i++) {
    const cut = cutAt(load<u32>(order + (<usize>i << 2)));
    const a = partAt(sideA, cut.a), b = partAt(sideB, cut.b);
    if (a.stamp != region + 1) store<u32>(list0 + (<usize>(count0++) << 2), addressOf(a));
    if (b.stamp != region + 1) store<u32>(list1 + (<usize>(count1++) << 2), addressOf(b));
    a.stamp = b.stamp = region + 1;
  }
  for (let i = from0; i < end0; i++) {
    store<u32>(list0 + (<usize>(count0++) << 2), addressOf(partAt(sideA, load<u32>(pockets0 + (<usize>i << 2)))));
  }
  for (let i = from1; i < end1; i++) {
    store<u32>(list1 + (<usize>(count1++) << 2), addressOf(partAt(sideB, load<u32>(pockets1 + (<usize>i << 2)))));
  }
}

// @ts-ignore: decorator
@inline
function addressOf(part: Part): u32 {
  return <u32>(changetype<usize>(part) + PART_CORNERS);
}

// Of the curve: its length, the vector of the area that it spans, the mean of both sides' normals along it.
let length: f64 = 0;
let areaX: f64 = 0, areaY: f64 = 0, areaZ: f64 = 0;
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let sideX: f64 = 0, sideY: f64 = 0, sideZ: f64 = 0; // of side 0 alone

function sumRegion(region: u32): void {
  const sideA = sideAt(0), sideB = sideAt(1);
  const at = <usize>region << 2;
  const from = load<u32>(regionStarts + at), end = load<u32>(regionStarts + at, 4);
  length = areaX = areaY = areaZ = normalX = normalY = normalZ = sideX = sideY = sideZ = 0;
  // About a place of the curve, so that no digits are lost.
  const first = cutAt(load<u32>(order + (<usize>from << 2)));
  const ox = first.px, oy = first.py, oz = first.pz;
  const senseA = senseOf(first, 0), senseB = senseOf(first, 1);
  let sumX: f64 = 0, sumY: f64 = 0, sumZ: f64 = 0, edgeX: f64 = 0, edgeY: f64 = 0, edgeZ: f64 = 0;
  let points: f64 = 0;
  for (let i = from; i < end; i++) {
    const cut = cutAt(load<u32>(order + (<usize>i << 2)));
    const a = partAt(sideA, cut.a), b = partAt(sideB, cut.b);
    const px = cut.px - ox, py = cut.py - oy, pz = cut.pz - oz;
    const ex = cut.qx - cut.px, ey = cut.qy - cut.py, ez = cut.qz - cut.pz;
    const own = sqrt(ex * ex + ey * ey + ez * ez);
    areaX += py * ez - pz * ey;
    areaY += pz * ex - px * ez;
    areaZ += px * ey - py * ex;
    edgeX += ex; edgeY += ey; edgeZ += ez;
    sumX += own * (px + 0.5 * ex); sumY += own * (py + 0.5 * ey); sumZ += own * (pz + 0.5 * ez);
    length += own;
    points += 1;
    const ax = senseA * a.nx, ay = senseA * a.ny, az = senseA * a.nz;
    normalX += own * (ax - senseB * b.nx); normalY += own * (ay - senseB * b.ny); normalZ += own * (az - senseB * b.nz);
    sideX += own * ax; sideY += own * ay; sideZ += own * az;
  }
  if (length > 0) {
    // What is not closed is closed by way of its middle.
    const mx = sumX / length, my = sumY / length, mz = sumZ / length;
    areaX -= my * edgeZ - mz * edgeY;
    areaY -= mz * edgeX - mx * edgeZ;
    areaZ -= mx * edgeY - my * edgeX;
    areaX *= 0.5 * senseA * senseB; areaY *= 0.5 * senseA * senseB; areaZ *= 0.5 * senseA * senseB;
    return;
  }
  for (let i = from; i < end; i++) {
    const cut = cutAt(load<u32>(order + (<usize>i << 2)));
    const a = partAt(sideA, cut.a), b = partAt(sideB, cut.b);
    normalX += senseA * a.nx - senseB * b.nx;
    normalY += senseA * a.ny - senseB * b.ny;
    normalZ += senseA * a.nz - senseB * b.nz;
    sideX += senseA * a.nx; sideY += senseA * a.ny; sideZ += senseA * a.nz;
  }
}

/** Takes a direction of any length where the region is less deep along it. Whether it is. */
function tryDirection(x: f64, y: f64, z: f64): bool {
  const scale = 1.0 / norm(x, y, z);
  if (!(scale < Infinity)) return false;
  const depth = max(depthAlong(list0, count0, list1, count1, x * scale, y * scale, z * scale, bestDepth), 0.0);
  if (!(depth < bestDepth)) return false;
  bestX = x * scale;
  bestY = y * scale;
  bestZ = z * scale;
  bestDepth = depth;
  return true;
}

/** Cosine of how far a direction must turn to be worth a trial: the depth may fall by as much. */
const WORTH: f64 = 0.95;
/** Of more triangles, one direction must do. */
const REFINED: u32 = 2000;

/**
 * Tries the direction in which the two push each other apart where they touch last: of convex shapes it is no worse
 * (as Kim, Lin and Manocha walk downhill, "DEEP: Dual-Space Expansion for Estimating Penetration Depth", 2002).
 */
function improve(): bool {
  if (bestDepth == 0 || count0 + count1 > REFINED) return false;
  if (!findTouch(list0, list1, bestX, bestY, bestZ)) return false;
  const along = touchX * bestX + touchY * bestY + touchZ * bestZ;
  if (along < 0.3 || along > WORTH) return false;
  return tryDirection(touchX, touchY, touchZ);
}

/**
 * Of a curve that spans nothing: the mean of the normals, what both axes of the curve offer, and any at last. What
 * cancels out but for rounding, as at a fin without a thickness, is no direction.
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

/** Of sums that cancel out, relative to what was summed up. */
const NOISE: f64 = 1e-6;

// @ts-ignore: decorator
@inline
function norm(x: f64, y: f64, z: f64): f64 {
  return sqrt(x * x + y * y + z * z);
}

/** Where the meshes have too much in common for regions. */
function addWhole(a: Solid, b: Solid): void {
  findWayOut(a, b, 0);
  bestX = wayX;
  bestY = wayY;
  bestZ = wayZ;
  bestDepth = wayDepth;
  addPoints(0, 0, a.tx, a.ty, a.tz);
}

/** Of the cuts from … end in `order`, or of all where there are no regions. */
function addPoints(from: u32, end: u32, x: f64, y: f64, z: f64): void {
  clearSpread();
  const isWhole = end == 0;
  if (isWhole) end = cutCount;
  for (let i = from; i < end; i++) {
    const cut = cutAt(isWhole ? i : load<u32>(order + (<usize>i << 2)));
    addSpread(cut.px, cut.py, cut.pz);
    addSpread(cut.qx, cut.qy, cut.qz);
  }
  chooseSpread(bestX, bestY, bestZ);
  for (let i: u32 = 0; i < chosenCount; i++) {
    const at = chosen + <usize>i * 24;
    addPoint(load<f64>(at) + x, load<f64>(at, 8) + y, load<f64>(at, 16) + z, bestX, bestY, bestZ, bestDepth);
  }
}

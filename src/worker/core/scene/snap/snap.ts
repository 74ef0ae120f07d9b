// Answers a snapping pick: which objects are drawn near the cursor, conservatively, by their oriented bounds, and the best of
// their features there that is visible and that nothing nearer hides. src/worker/snap finds the features of a mesh. All
// candidates are gathered before any is tested: rays are cast only at candidates that are better than the answer. World units.

import { SNAP_ASKS_POINT, SNAP_CENTER, SNAP_FOUND, SNAP_NONE, SNAP_PAUSED, SNAP_VERTEX } from '../../../../shared/layout';
import { PLANE_BYTES, Plane } from '../../math/plane';
import { ANY } from '../../mesh/query/ray';
import { descend } from '../index/descend';
import { Tree, readProxy } from '../index/octree';
import { isAlive } from '../objects';
import { isIgnored, precision, setFilter, sidesOf } from '../query/filter';
import { castSurfaces, foundObject } from '../query/ray';
import { limitsOf } from '../query/region';
import { addFound, clearFound, foundCount } from '../query/result-ids';
import { OUTSIDE, addPlane, addVolumePlane, beginVolume } from '../query/volume';
import { updateTrees } from '../scene';
import { beginGathering, setPick, setTarget, visibleSlot, stepGathering } from './candidates';
import { FeatureTable, cornerX, cornerY, cornerZ, elementOf, readVertex, wordAt } from './feature-table';
import { SnapCandidate, SnapPick, areSameFeature, beginHeap, beginRing, nextRing, stepHeap, popBest } from './snap-pick';
import { markRemoved, targetAt, toWorld, worldX, worldY, worldZ } from './targets';

/** How much nearer than a point a surface must be to hide it, in pixels at the point. */
const HIDING_PIXELS: f64 = 0.25;
/**
 * The margin of the square around the cursor, in pixels to each side, since rounding could not resolve a square without a size.
 */
const MIN_MARGIN: f64 = 9.5367431640625e-7; // 2^-20
/** How many candidates are tested before a pause: a ray for each takes up to a microsecond. */
const STEP: u32 = 128;

// The phases of a pick.
const GATHERING: u32 = 0;
const ORDERING: u32 = 1;
const TESTING: u32 = 2;

/** The object that is tested first for hiding a point: the one that hid the last point, or was picked. */
let likelyOccluder: u32 = 0;

/**
 * Begins a step of a snapping pick, valid until the next query. The filter must stay readable until then. Throws OUT_OF_MEMORY.
 */
export function beginSnap(filter: usize): void {
  updateTrees();
  setFilter(filter);
}

/**
 * Lists the objects whose oriented bounds may be drawn in the square around the cursor, as ids in result-ids.ts. `front`: the
 * address of a plane behind which everything is hidden and left out, or 0. `hitObject`: the object that the pick has hit, or 0.
 * Returns their number. Throws OUT_OF_MEMORY.
 */
export function listSnap(address: usize, front: usize, hitObject: u32): u32 {
  likelyOccluder = hitObject;
  const pick = changetype<SnapPick>(address), radius = pick.radius;
  const x = changetype<Plane>(address), y = changetype<Plane>(address + PLANE_BYTES),
    w = changetype<Plane>(address + 2 * PLANE_BYTES);
  const nearPlane = changetype<Plane>(address + 3 * PLANE_BYTES), farPlane = changetype<Plane>(address + 4 * PLANE_BYTES);
  beginVolume();
  addVolumePlane(1, x, MIN_MARGIN - max(pick.minX, -radius), w);
  addVolumePlane(-1, x, MIN_MARGIN + min(pick.maxX, radius), w);
  addVolumePlane(1, y, MIN_MARGIN - max(pick.minY, -radius), w);
  addVolumePlane(-1, y, MIN_MARGIN + min(pick.maxY, radius), w);
  addVolumePlane(1, nearPlane, 0, nearPlane);
  addVolumePlane(1, farPlane, 0, farPlane);
  if (front != 0) {
    const plane = changetype<Plane>(front);
    addPlane(plane.x, plane.y, plane.z, plane.w);
  }
  clearFound();
  descend(visitObject);
  return foundCount;
}

function visitObject(tree: Tree, position: u32, limits: u64): void {
  const proxy = readProxy(tree, position);
  if (sidesOf(proxy) == 0 || isIgnored(proxy.id)) return;
  if (limitsOf(proxy, limits, precision) != OUTSIDE) addFound(proxy.id);
}

/** Begins to search for the best of some kinds (SNAP_*). `depth`: how finely fronts are tested. */
export function beginSnapKinds(address: usize, kinds: u32, depth: i32): void {
  const pick = changetype<SnapPick>(address);
  pick.kinds = kinds;
  beginRing(pick);
  beginGathering(pick, depth);
  pick.phase = GATHERING;
}

/** Marks which posed meshes were removed between two steps. Throws OUT_OF_MEMORY. */
export function resumeSnap(address: usize): void {
  markRemoved(changetype<SnapPick>(address));
}

/**
 * Continues the search for a short while. With `asksBoxes` and `asksPoints` it leaves it to the caller whether a box or a point
 * is hidden, and `isHidden` is the caller's answer. Returns SNAP_NONE …, as listed in layout.ts. Throws OUT_OF_MEMORY.
 */
export function stepSnap(address: usize, depth: i32, asksBoxes: bool, asksPoints: bool, isHidden: bool): u32 {
  const pick = changetype<SnapPick>(address);
  setPick(pick);
  let status: u32;
  for (;;) {
    if (pick.phase == GATHERING) {
      status = stepGathering(pick, asksBoxes, isHidden);
      if (status != SNAP_NONE) return status;
      beginHeap(pick);
      pick.phase = ORDERING;
    }
    if (pick.phase == ORDERING) {
      if (!stepHeap(pick)) return SNAP_PAUSED;
      pick.phase = TESTING;
    }
    status = findVisible(pick, asksPoints, isHidden);
    if (status != SNAP_NONE || !nextRing(pick)) break;
    beginGathering(pick, depth);
    pick.phase = GATHERING;
  }
  return status;
}

/** Takes the candidates, the best first, up to one that is visible and that nothing hides. */
function findVisible(pick: SnapPick, asksPoints: bool, isHidden: bool): u32 {
  if (pick.isAwaitingAnswer) {
    pick.isAwaitingAnswer = 0;
    if (!isHidden && !isOccluded(pick)) return describeCandidate(pick);
  }
  for (let left = STEP; pick.candidateCount > 0; left--) {
    if (left == 0) return SNAP_PAUSED;
    const record = popBest(pick);
    if (pick.lastRecord != 0 && areSameFeature(pick.lastRecord, record)) continue;
    const c = changetype<SnapCandidate>(<usize>record);
    setTarget(c.targetIndex);
    const slot = visibleSlot(c.kind, c.index, c.edge);
    if (slot < 0) continue;
    pick.lastRecord = record;
    pick.targetIndex = c.targetIndex;
    pick.kind = c.kind;
    pick.index = c.index;
    pick.slot = slot;
    pick.pixels = c.pixels;
    toWorld(targetAt(pick, c.targetIndex), c.x, c.y, c.z);
    findLineOfSight(pick, worldX, worldY, worldZ);
    if (asksPoints) {
      pick.isAwaitingAnswer = 1;
      return SNAP_ASKS_POINT;
    }
    if (!isOccluded(pick)) return describeCandidate(pick);
  }
  return SNAP_NONE;
}

/** Completes the data of the candidate that was found, and returns SNAP_FOUND. */
function describeCandidate(pick: SnapPick): u32 {
  const t = targetAt(pick, pick.targetIndex), f = changetype<FeatureTable>(<usize>t.features), kind = pick.kind,
    isMoved = t.isMoved;
  pick.element = t.mesh == 0 ? -1 : elementOf(t.mesh, pick.slot);
  if (kind == SNAP_VERTEX) return SNAP_FOUND;
  let ends = f.runEnds, i = pick.index;
  if (kind == SNAP_CENTER) ends = f.circleEnds;
  // A moved mesh may bend where a run at rest is straight.
  else if (isMoved) ends = f.edges;
  else i = wordAt(f.runs, i);
  readVertex(f, t.mesh, isMoved, wordAt(ends, 2 * i));
  toWorld(t, cornerX, cornerY, cornerZ);
  pick.ax = worldX;
  pick.ay = worldY;
  pick.az = worldZ;
  readVertex(f, t.mesh, isMoved, wordAt(ends, 2 * i + 1));
  toWorld(t, cornerX, cornerY, cornerZ);
  pick.bx = worldX;
  pick.by = worldY;
  pick.bz = worldZ;
  return SNAP_FOUND;
}

/**
 * Finds the line of sight from the near plane to a point of the world, and the part of it in which a surface hides the point.
 */
function findLineOfSight(pick: SnapPick, px: f64, py: f64, pz: f64): void {
  const depth = pick.wx * px + pick.wy * py + pick.wz * pz + pick.ww;
  const p = (pick.xx * px + pick.xy * py + pick.xz * pz + pick.xw) / depth;
  const q = (pick.yx * px + pick.yy * py + pick.yz * pz + pick.yw) / depth;
  const ax = pick.xx - p * pick.wx, ay = pick.xy - p * pick.wy, az = pick.xz - p * pick.wz;
  const bx = pick.yx - q * pick.wx, by = pick.yy - q * pick.wy, bz = pick.yz - q * pick.wz;
  const s = ay * bz - az * by, t = az * bx - ax * bz, u = ax * by - ay * bx;
  const rise = pick.nearX * s + pick.nearY * t + pick.nearZ * u;
  const inverseLength = <f64>(i32(rise > 0) - i32(rise < 0)) / sqrt(s * s + t * t + u * u);
  const length = (pick.nearX * px + pick.nearY * py + pick.nearZ * pz + pick.nearW) / (rise * inverseLength);
  const pixelSize = depth / sqrt(max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz));
  pick.x = px;
  pick.y = py;
  pick.z = pz;
  pick.screenX = p;
  pick.screenY = q;
  pick.sightDirectionX = s * inverseLength;
  pick.sightDirectionY = t * inverseLength;
  pick.sightDirectionZ = u * inverseLength;
  pick.sightStartX = px - length * pick.sightDirectionX;
  pick.sightStartY = py - length * pick.sightDirectionY;
  pick.sightStartZ = pz - length * pick.sightDirectionZ;
  pick.sightLength = length - HIDING_PIXELS * pixelSize;
}

/** Returns whether a surface intersects the line of sight. Points and lines hide nothing. */
function isOccluded(pick: SnapPick): bool {
  if (!(pick.sightLength > 0)) return false;
  const first = isAlive(likelyOccluder) ? likelyOccluder : 0;
  castSurfaces(pick.sightStartX, pick.sightStartY, pick.sightStartZ, pick.sightDirectionX, pick.sightDirectionY,
    pick.sightDirectionZ, 0, pick.sightLength, ANY, first);
  if (foundObject == 0) return false;
  likelyOccluder = foundObject;
  pick.hiddenCount++;
  return true;
}

// Answers a snapping pick: which objects are drawn near the cursor, conservatively, by their oriented bounds, and the best of
// their features there that is visible and that nothing nearer hides. src/worker/snap finds the features of a mesh. All
// candidates are gathered before any is tested: rays are cast only at candidates that are better than the answer. World units.

import { SNAP_ASKS_POINT, SNAP_CENTER, SNAP_FOUND, SNAP_NONE, SNAP_TIRED, SNAP_VERTEX } from '../../../../shared/layout';
import { PLANE_BYTES, Plane } from '../../math/plane';
import { ANY } from '../../mesh/query/ray';
import { descend } from '../index/descend';
import { Tree, readPlace } from '../index/octree';
import { isAlive } from '../objects';
import { isIgnored, precision, setFilter, sidesOf } from '../query/filter';
import { castSurfaces, foundObject } from '../query/ray';
import { limitsOf } from '../query/region';
import { addFound, clearFound, foundCount } from '../query/result-ids';
import { OUTSIDE, addPlane, addVolumePlane, beginVolume } from '../query/volume';
import { updateTrees } from '../scene';
import { beginGathering, enterRoom, enterTarget, shownSlot, stepGathering } from './candidates';
import { FeatureTable, cornerX, cornerY, cornerZ, elementOf, readVertex, wordAt } from './feature-table';
import { Candidate, SnapRoom, areSame, beginOrder, beginRing, nextRing, stepOrder, takeBest } from './room';
import { forgetGone, targetAt, toWorld, worldX, worldY, worldZ } from './targets';

/** How much nearer than a point a surface must be to hide it, in pixels at the point. */
const HIDING_PIXELS: f64 = 0.25;
/**
 * The margin of the square around the cursor, in pixels to each side, since rounding could not resolve a square without a size.
 */
const THINNEST: f64 = 9.5367431640625e-7; // 2^-20
/** How many candidates are tested before a pause: a ray for each takes up to a microsecond. */
const STEP: u32 = 128;

// The phases of a room.
const GATHERING: u32 = 0;
const ORDERING: u32 = 1;
const LOOKING: u32 = 2;

/** The object that is tested first for hiding a point: the one that hid the last point, or was picked. */
let hider: u32 = 0;

/**
 * Begins a step of a snapping pick, valid until the next query. The filter must stay readable until then. Throws OUT_OF_MEMORY.
 */
export function beginSnap(filter: usize): void {
  updateTrees();
  setFilter(filter);
}

/**
 * Lists the objects whose oriented bounds may be drawn in the square around the cursor, as ids in result-ids.ts. `front`: the
 * address of a plane behind which everything is hidden and left out, or 0. `struck`: the object that the pick has hit, or 0.
 * Returns their number. Throws OUT_OF_MEMORY.
 */
export function listSnap(room: usize, front: usize, struck: u32): u32 {
  hider = struck;
  const r = changetype<SnapRoom>(room), radius = r.radius;
  const x = changetype<Plane>(room), y = changetype<Plane>(room + PLANE_BYTES), w = changetype<Plane>(room + 2 * PLANE_BYTES);
  const near = changetype<Plane>(room + 3 * PLANE_BYTES), far = changetype<Plane>(room + 4 * PLANE_BYTES);
  beginVolume();
  addVolumePlane(1, x, THINNEST - max(r.lowX, -radius), w);
  addVolumePlane(-1, x, THINNEST + min(r.highX, radius), w);
  addVolumePlane(1, y, THINNEST - max(r.lowY, -radius), w);
  addVolumePlane(-1, y, THINNEST + min(r.highY, radius), w);
  addVolumePlane(1, near, 0, near);
  addVolumePlane(1, far, 0, far);
  if (front != 0) {
    const plane = changetype<Plane>(front);
    addPlane(plane.x, plane.y, plane.z, plane.w);
  }
  clearFound();
  descend(consider);
  return foundCount;
}

function consider(tree: Tree, position: u32, limits: u64): void {
  const proxy = readPlace(tree, position);
  if (sidesOf(proxy) == 0 || isIgnored(proxy.id)) return;
  if (limitsOf(proxy, limits, precision) != OUTSIDE) addFound(proxy.id);
}

/** Begins to search for the best of some kinds (SNAP_*). `depth`: how finely fronts are tested. */
export function beginSnapKinds(room: usize, kinds: u32, depth: i32): void {
  const r = changetype<SnapRoom>(room);
  r.kinds = kinds;
  beginRing(r);
  beginGathering(r, depth);
  r.phase = GATHERING;
}

/** Notes which posed meshes were removed between two steps. Throws OUT_OF_MEMORY. */
export function resumeSnap(room: usize): void {
  forgetGone(changetype<SnapRoom>(room));
}

/**
 * Continues the search for a short while. With `asksBoxes` and `asksPoints` it leaves it to the caller whether a box or a point
 * is hidden, and `isHidden` is the caller's answer. Returns SNAP_NONE …, as listed in layout.ts. Throws OUT_OF_MEMORY.
 */
export function stepSnap(room: usize, depth: i32, asksBoxes: bool, asksPoints: bool, isHidden: bool): u32 {
  const r = changetype<SnapRoom>(room);
  enterRoom(r);
  let said: u32;
  for (;;) {
    if (r.phase == GATHERING) {
      said = stepGathering(r, asksBoxes, isHidden);
      if (said != SNAP_NONE) return said;
      beginOrder(r);
      r.phase = ORDERING;
    }
    if (r.phase == ORDERING) {
      if (!stepOrder(r)) return SNAP_TIRED;
      r.phase = LOOKING;
    }
    said = lookOn(r, asksPoints, isHidden);
    if (said != SNAP_NONE || !nextRing(r)) break;
    beginGathering(r, depth);
    r.phase = GATHERING;
  }
  return said;
}

/** Takes the candidates, the best first, up to one that is visible and that nothing hides. */
function lookOn(r: SnapRoom, asks: bool, isHidden: bool): u32 {
  if (r.isAsked) {
    r.isAsked = 0;
    if (!isHidden && !isBehindSomething(r)) return describe(r);
  }
  for (let left = STEP; r.count > 0; left--) {
    if (left == 0) return SNAP_TIRED;
    const record = takeBest(r);
    if (r.hidden != 0 && areSame(r.hidden, record)) continue;
    const c = changetype<Candidate>(<usize>record);
    enterTarget(c.target);
    const slot = shownSlot(c.kind, c.index, c.edge);
    if (slot < 0) continue;
    r.hidden = record;
    r.target = c.target;
    r.kind = c.kind;
    r.index = c.index;
    r.slot = slot;
    r.pixels = c.pixels;
    toWorld(targetAt(r, c.target), c.x, c.y, c.z);
    findWay(r, worldX, worldY, worldZ);
    if (asks) {
      r.isAsked = 1;
      return SNAP_ASKS_POINT;
    }
    if (!isBehindSomething(r)) return describe(r);
  }
  return SNAP_NONE;
}

/** Completes the data of the candidate that was found, and returns SNAP_FOUND. */
function describe(r: SnapRoom): u32 {
  const t = targetAt(r, r.target), f = changetype<FeatureTable>(<usize>t.features), kind = r.kind, isMoved = t.isMoved;
  r.element = t.mesh == 0 ? -1 : elementOf(t.mesh, r.slot);
  if (kind == SNAP_VERTEX) return SNAP_FOUND;
  let ends = f.runEnds, i = r.index;
  if (kind == SNAP_CENTER) ends = f.circleEnds;
  // A moved mesh may bend where a run at rest is straight.
  else if (isMoved) ends = f.edges;
  else i = wordAt(f.runs, i);
  readVertex(f, t.mesh, isMoved, wordAt(ends, 2 * i));
  toWorld(t, cornerX, cornerY, cornerZ);
  r.ax = worldX;
  r.ay = worldY;
  r.az = worldZ;
  readVertex(f, t.mesh, isMoved, wordAt(ends, 2 * i + 1));
  toWorld(t, cornerX, cornerY, cornerZ);
  r.bx = worldX;
  r.by = worldY;
  r.bz = worldZ;
  return SNAP_FOUND;
}

/**
 * Finds the line of sight from the near plane to a point of the world, and the part of it in which a surface hides the point.
 */
function findWay(r: SnapRoom, px: f64, py: f64, pz: f64): void {
  const depth = r.wx * px + r.wy * py + r.wz * pz + r.ww;
  const p = (r.xx * px + r.xy * py + r.xz * pz + r.xw) / depth;
  const q = (r.yx * px + r.yy * py + r.yz * pz + r.yw) / depth;
  const ax = r.xx - p * r.wx, ay = r.xy - p * r.wy, az = r.xz - p * r.wz;
  const bx = r.yx - q * r.wx, by = r.yy - q * r.wy, bz = r.yz - q * r.wz;
  const s = ay * bz - az * by, t = az * bx - ax * bz, u = ax * by - ay * bx;
  const rise = r.nearX * s + r.nearY * t + r.nearZ * u;
  const unit = <f64>(i32(rise > 0) - i32(rise < 0)) / sqrt(s * s + t * t + u * u);
  const length = (r.nearX * px + r.nearY * py + r.nearZ * pz + r.nearW) / (rise * unit);
  const pixel = depth / sqrt(max(ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz));
  r.x = px;
  r.y = py;
  r.z = pz;
  r.drawnX = p;
  r.drawnY = q;
  r.alongX = s * unit;
  r.alongY = t * unit;
  r.alongZ = u * unit;
  r.fromX = px - length * r.alongX;
  r.fromY = py - length * r.alongY;
  r.fromZ = pz - length * r.alongZ;
  r.length = length - HIDING_PIXELS * pixel;
}

/** Returns whether a surface intersects the line of sight. Points and lines hide nothing. */
function isBehindSomething(r: SnapRoom): bool {
  if (!(r.length > 0)) return false;
  const first = isAlive(hider) ? hider : 0;
  castSurfaces(r.fromX, r.fromY, r.fromZ, r.alongX, r.alongY, r.alongZ, 0, r.length, ANY, first);
  if (foundObject == 0) return false;
  hider = foundObject;
  r.hiddenCount++;
  return true;
}

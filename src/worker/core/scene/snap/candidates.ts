// Finds the features of objects that are drawn near the cursor: descends each object's tree of features, skips boxes that are
// certainly not drawn within the square around the ring, then tests the rest in float64, both ends of an edge at a time. In
// TypeScript the same took about 30 µs of a pick among 1,000 parts, and left garbage; here it takes about 15.

import {
  SIDE_BACK, SIDE_DOUBLE, SIDE_FRONT, SNAP_ASKS_BOX, SNAP_CENTER, SNAP_EDGE, SNAP_MIDPOINT, SNAP_NONE, SNAP_PAUSED, SNAP_VERTEX,
} from '../../../../shared/layout';
import { capacityOf, reserve } from '../../memory';
import { partCount, partFrom, partTo } from '../query/kept-parts';
import {
  BOX_BYTES, FeatureTable, NODE_WIDTH, cornerX, cornerY, cornerZ, elementOf, levelAt, readCorner, readVertex, wordAt,
} from './feature-table';
import { SnapPick, addCandidate } from './snap-pick';
import { OWN_FACE_SIDES, SnapTarget, faceSidesAt, findKeptPartsOf, targetAt } from './targets';

/** How many nodes and items are visited before a pause, in about 0.1 ms. */
const STEP: u32 = 4096;
/** The possible rounding error in float64 of a plane's value in a box, relative to its terms. */
const ROUNDING: f64 = 1e-12;
/** Flags of an edge that begins, or ends, at an end of its run: runs.ts. */
const STARTS_RUN: u32 = 1;
const ENDS_RUN: u32 = 2;

/** A linear function of points: the factors of x, y and z, and the constant. */
@unmanaged
class LinearFunction {
  x: f64; y: f64; z: f64; w: f64;
}

const LINEAR_FUNCTION_BYTES: usize = offsetof<LinearFunction>();
const linears: usize = memory.data(5 * 32, 16);
// The projection of the current object's own space.
const screenX = changetype<LinearFunction>(linears);
const screenY = changetype<LinearFunction>(linears + LINEAR_FUNCTION_BYTES);
const screenW = changetype<LinearFunction>(linears + 2 * LINEAR_FUNCTION_BYTES);
const nearPlane = changetype<LinearFunction>(linears + 3 * LINEAR_FUNCTION_BYTES);
const farPlane = changetype<LinearFunction>(linears + 4 * LINEAR_FUNCTION_BYTES);
/**
 * The planes that bound the search, positive inside: left and right, below and above, near and far. Each pair is interleaved.
 */
const planes: usize = memory.data(3 * 64, 16);
const PAIR_BYTES: usize = 64;
const PAIRS_END: usize = planes + 3 * PAIR_BYTES;
/** The search radius for which they were computed. */
let planesRadius: f64 = -1;
/** The object that was entered in this step, if any. */
let currentIndex: u32 = 0;
let featureTable = changetype<FeatureTable>(0);
let currentTarget = changetype<SnapTarget>(0);
let currentPick = changetype<SnapPick>(0);

/** Begins a step of a pick: other picks may have run in between. */
export function setPick(pick: SnapPick): void {
  currentPick = pick;
  currentIndex = 0xffffffff;
}

/** Makes an object the current one. */
export function setTarget(i: u32): void {
  if (currentIndex == i) return;
  currentIndex = i;
  currentTarget = targetAt(currentPick, i);
  featureTable = changetype<FeatureTable>(<usize>currentTarget.features);
  planesRadius = -1;
  for (let i: usize = 0; i < 5 * LINEAR_FUNCTION_BYTES; i += LINEAR_FUNCTION_BYTES) {
    const world = changetype<LinearFunction>(changetype<usize>(currentPick) + i), local = changetype<LinearFunction>(linears + i);
    const x = world.x, y = world.y, z = world.z;
    local.x = x * currentTarget.xx + y * currentTarget.xy + z * currentTarget.xz;
    local.y = x * currentTarget.yx + y * currentTarget.yy + z * currentTarget.yz;
    local.z = x * currentTarget.zx + y * currentTarget.zy + z * currentTarget.zz;
    local.w = x * currentTarget.tx + y * currentTarget.ty + z * currentTarget.tz + world.w;
  }
}

// @ts-ignore: decorator
@inline
function evaluate(l: LinearFunction, x: f64, y: f64, z: f64): f64 {
  return l.x * x + l.y * y + l.z * z + l.w;
}

// @ts-ignore: decorator
@inline
function evaluateBoth(l: LinearFunction, x: v128, y: v128, z: v128): v128 {
  const sum = f64x2.add(f64x2.mul(f64x2.splat(l.x), x), f64x2.mul(f64x2.splat(l.y), y));
  return f64x2.add(f64x2.add(sum, f64x2.mul(f64x2.splat(l.z), z)), f64x2.splat(l.w));
}

/** Begins to traverse all objects. `depth`: how finely fronts are tested. */
export function beginGathering(pick: SnapPick, depth: i32): void {
  // The earlier list still contains items that the fronts known by now hide.
  pick.isListing = pick.searchRadius > pick.listedRadius || depth > pick.listedDepth ? 1 : 0;
  if (pick.isListing) pick.listedCount = 0;
  pick.listedDepth = depth;
  pick.targetIndex = 0;
  beginTarget(pick);
}

function beginTarget(pick: SnapPick): void {
  pick.next = pick.isAwaitingAnswer = 0;
  if (pick.targetIndex == pick.targetCount) return;
  const t = targetAt(pick, pick.targetIndex), features = changetype<FeatureTable>(<usize>t.features);
  if (pick.isListing) pick.level = <i32>features.levelCount - 1;
  else if (pick.targetIndex > 0) pick.next = targetAt(pick, pick.targetIndex - 1).listedEnd;
}

/**
 * Continues: adds features of the requested kinds that are drawn in the ring, whether visible or not, except those that are
 * certainly hidden. With `asksBoxes` it asks the caller whether a box is hidden (SNAP_ASKS_BOX); `isHidden` is the answer.
 */
export function stepGathering(pick: SnapPick, asksBoxes: bool, isHidden: bool): u32 {
  stepsLeft = STEP;
  for (; pick.targetIndex < pick.targetCount; beginTarget(pick)) {
    const t = targetAt(pick, pick.targetIndex);
    const status = t.isRemoved ? SNAP_NONE : pick.isListing ? descend(pick, t, asksBoxes, isHidden)
      : visitItems(pick, pick.listedItems, t.listedEnd);
    if (status != SNAP_NONE) return status;
    if (pick.isListing) t.listedEnd = pick.listedCount;
    pick.targetIndex++;
  }
  if (pick.isListing) pick.listedRadius = pick.searchRadius;
  return SNAP_NONE;
}

/** How many nodes and items may still be visited before a pause. */
let stepsLeft: u32 = 0;

/** Visits items of an object, from the next one of a list to its end. Returns SNAP_NONE, or SNAP_PAUSED. */
function visitItems(pick: SnapPick, items: u32, end: u32): u32 {
  for (; pick.next < end; stepsLeft--) {
    if (stepsLeft == 0) return SNAP_PAUSED;
    setTarget(pick.targetIndex);
    visitItem(wordAt(items, pick.next++));
  }
  return SNAP_NONE;
}

/**
 * Descends the tree of an object's features; if it is of other vertex positions, visits all items. Returns as
 * `stepGathering`.
 */
function descend(pick: SnapPick, t: SnapTarget, asksBoxes: bool, isHidden: bool): u32 {
  setTarget(pick.targetIndex);
  if (t.isMoved) return visitItems(pick, featureTable.order, featureTable.itemCount);
  for (; pick.level >= 0 && pick.next < nodesOf(pick.level); stepsLeft--) {
    if (stepsLeft == 0) return SNAP_PAUSED;
    const box = featureTable.boxes + (levelAt(featureTable, pick.level) + pick.next) * <u32>BOX_BYTES;
    const isSkipped = pick.isAwaitingAnswer ? isHidden : isOutside(box);
    if (!isSkipped && asksBoxes && !pick.isAwaitingAnswer && projectBox(box)) {
      pick.isAwaitingAnswer = 1;
      pick.box = box;
      return SNAP_ASKS_BOX;
    }
    pick.isAwaitingAnswer = 0;
    advanceNode(pick, isSkipped);
  }
  return SNAP_NONE;
}

// @ts-ignore: decorator
@inline
function nodesOf(level: u32): u32 {
  return levelAt(featureTable, level + 1) - levelAt(featureTable, level);
}

/** Moves to the first child of a node, or past its subtree to the next node. */
function advanceNode(pick: SnapPick, isSkipped: bool): void {
  if (!isSkipped) {
    if (pick.level > 0) {
      pick.level--;
      pick.next *= NODE_WIDTH;
      return;
    }
    const end = min((pick.next + 1) * NODE_WIDTH, featureTable.itemCount);
    for (let i = pick.next * NODE_WIDTH; i < end; i++) visitItem(wordAt(featureTable.order, i));
  }
  pick.next++;
  for (const top = <i32>featureTable.levelCount - 1; pick.level < top && pick.next % NODE_WIDTH == 0; pick.level++)
    pick.next /= NODE_WIDTH;
}

/** Returns whether the box of a node is certainly not drawn within the square around the ring. */
function isOutside(box: u32): bool {
  if (planesRadius != currentPick.searchRadius) setPlanes();
  // Two minima and two maxima are loaded at a time, then the centre and half size are computed.
  const minBounds = v128.load(<usize>box), maxBounds = v128.load(<usize>box, 8);
  const half = f64x2.splat(0.5);
  const minXY = f64x2.promote_low_f32x4(minBounds),
    maxXY = f64x2.promote_low_f32x4(v128.shuffle<f32>(maxBounds, maxBounds, 1, 2, 0, 0));
  const z = f64x2.promote_low_f32x4(v128.shuffle<f32>(maxBounds, maxBounds, 0, 3, 0, 0));
  const center = f64x2.mul(f64x2.add(minXY, maxXY), half), halfSize = f64x2.mul(f64x2.sub(maxXY, minXY), half);
  const minZ = f64x2.extract_lane(z, 0), maxZ = f64x2.extract_lane(z, 1);
  const x = f64x2.splat(f64x2.extract_lane(center, 0)), halfSizeX = f64x2.splat(f64x2.extract_lane(halfSize, 0));
  const y = f64x2.splat(f64x2.extract_lane(center, 1)), halfSizeY = f64x2.splat(f64x2.extract_lane(halfSize, 1));
  const centerZ = f64x2.splat((minZ + maxZ) * 0.5), halfSizeZ = f64x2.splat((maxZ - minZ) * 0.5);
  for (let at = planes; at < PAIRS_END; at += PAIR_BYTES) {
    const a = v128.load(at), b = v128.load(at, 16), c = v128.load(at, 32), w = v128.load(at, 48);
    const extents = f64x2.add(
      f64x2.add(f64x2.mul(f64x2.abs(a), halfSizeX), f64x2.mul(f64x2.abs(b), halfSizeY)), f64x2.mul(f64x2.abs(c), halfSizeZ),
    );
    const p = f64x2.mul(a, x), q = f64x2.mul(b, y), r = f64x2.mul(c, centerZ);
    const farthest = f64x2.add(f64x2.add(f64x2.add(f64x2.add(p, q), r), w), extents);
    if (i64x2.bitmask(farthest) == 0) continue;
    const terms = f64x2.add(f64x2.add(f64x2.add(f64x2.add(f64x2.abs(p), f64x2.abs(q)), f64x2.abs(r)), f64x2.abs(w)), extents);
    if (v128.any_true(f64x2.lt(farthest, f64x2.mul(f64x2.splat(-ROUNDING), terms)))) return true;
  }
  return false;
}

function setPlanes(): void {
  const radius = currentPick.searchRadius;
  planesRadius = radius;
  setBorders(planes, screenX, max(currentPick.minX, -radius), min(currentPick.maxX, radius));
  setBorders(planes + PAIR_BYTES, screenY, max(currentPick.minY, -radius), min(currentPick.maxY, radius));
  setPair(planes + 2 * PAIR_BYTES, nearPlane.x, nearPlane.y, nearPlane.z, nearPlane.w, farPlane.x, farPlane.y, farPlane.z,
    farPlane.w);
}

/** Sets the planes of two borders of the square. */
function setBorders(at: usize, l: LinearFunction, lower: f64, upper: f64): void {
  const w = screenW;
  setPair(
    at, l.x - lower * w.x, l.y - lower * w.y, l.z - lower * w.z, l.w - lower * w.w,
    upper * w.x - l.x, upper * w.y - l.y, upper * w.z - l.z, upper * w.w - l.w,
  );
}

function setPair(at: usize, ax: f64, ay: f64, az: f64, aw: f64, bx: f64, by: f64, bz: f64, bw: f64): void {
  store<f64>(at, ax);
  store<f64>(at, bx, 8);
  store<f64>(at, ay, 16);
  store<f64>(at, by, 24);
  store<f64>(at, az, 32);
  store<f64>(at, bz, 40);
  store<f64>(at, aw, 48);
  store<f64>(at, bw, 56);
}

/** Finds the bounding rectangle of a box as it is drawn; returns false if the box reaches behind the eye. */
function projectBox(box: u32): bool {
  currentPick.boxMinX = currentPick.boxMinY = Infinity;
  currentPick.boxMaxX = currentPick.boxMaxY = -Infinity;
  for (let corner: u32 = 0; corner < 8; corner++) {
    const x = <f64>load<f32>(<usize>box + (corner & 1 ? 12 : 0));
    const y = <f64>load<f32>(<usize>box + (corner & 2 ? 16 : 4));
    const z = <f64>load<f32>(<usize>box + (corner & 4 ? 20 : 8));
    const w = evaluate(screenW, x, y, z);
    if (!(w > 0)) return false;
    const px = evaluate(screenX, x, y, z) / w, py = evaluate(screenY, x, y, z) / w;
    currentPick.boxMinX = min(currentPick.boxMinX, px);
    currentPick.boxMinY = min(currentPick.boxMinY, py);
    currentPick.boxMaxX = max(currentPick.boxMaxX, px);
    currentPick.boxMaxY = max(currentPick.boxMaxY, py);
  }
  return true;
}

function visitItem(item: u32): void {
  if (item < featureTable.edgeCount) {
    visitEdge(item);
  } else if (featureTable.size == 1) {
    listItem(item);
    if (!(currentPick.kinds & SNAP_VERTEX)) return;
    readVertex(featureTable, currentTarget.mesh, currentTarget.isMoved, item);
    addPoint(SNAP_VERTEX, cornerX, cornerY, cornerZ, item, item);
  } else if (!currentTarget.isMoved) {
    // Circles are those of the mesh at rest.
    listItem(item);
    if (!(currentPick.kinds & SNAP_CENTER)) return;
    const circle = item - featureTable.edgeCount, circleAddress = <usize>featureTable.circles + 56 * <usize>circle;
    addPoint(SNAP_CENTER, load<f64>(circleAddress), load<f64>(circleAddress, 8), load<f64>(circleAddress, 16), circle, -1);
  }
}

/** Records an item that may be drawn in the square. Throws OUT_OF_MEMORY. */
function listItem(item: u32): void {
  const pick = currentPick;
  if (!pick.isListing) return;
  if (pick.listedCount == pick.listedCapacity) {
    const used = pick.listedCount << 2;
    pick.listedItems = <u32>reserve(pick.listedItems, used, used + 4);
    pick.listedCapacity = <u32>(capacityOf(pick.listedItems) >> 2);
  }
  store<u32>(pick.listedItems + (pick.listedCount++ << 2), item);
}

/** Both ends of the current edge, in the object's own space. */
@unmanaged
class Ends {
  x: v128; y: v128; z: v128;
}

const ends = changetype<Ends>(memory.data(<i32>offsetof<Ends>(), 16));

/** Tests an edge, unless both of its ends are drawn beyond one border of the square, as for most edges. */
function visitEdge(edge: u32): void {
  const i = wordAt(featureTable.edges, 2 * edge), j = wordAt(featureTable.edges, 2 * edge + 1);
  readEnds(i, j);
  const w = evaluateBoth(screenW, ends.x, ends.y, ends.z);
  const x = evaluateBoth(screenX, ends.x, ends.y, ends.z), y = evaluateBoth(screenY, ends.x, ends.y, ends.z);
  if (areBothBeyond(x, y, w)) return;
  listItem(edge);
  const kinds = currentPick.kinds;
  if (kinds & SNAP_VERTEX) addRunEnds(edge, i, j, x, y, w);
  if (kinds & SNAP_MIDPOINT) addMidpoint(edge, x, y, w);
  if (kinds & SNAP_EDGE) addNearest(edge, x, y, w);
}

// @ts-ignore: decorator
@inline
function first(v: v128): f64 { return f64x2.extract_lane(v, 0); }
// @ts-ignore: decorator
@inline
function second(v: v128): f64 { return f64x2.extract_lane(v, 1); }

// @ts-ignore: decorator
@inline
function readEnds(i: u32, j: u32): void {
  if (currentTarget.isMoved) {
    readVertex(featureTable, currentTarget.mesh, 1, i);
    const px = f64x2.splat(cornerX), py = f64x2.splat(cornerY), pz = f64x2.splat(cornerZ);
    readVertex(featureTable, currentTarget.mesh, 1, j);
    ends.x = f64x2.replace_lane(px, 1, cornerX);
    ends.y = f64x2.replace_lane(py, 1, cornerY);
    ends.z = f64x2.replace_lane(pz, 1, cornerZ);
    return;
  }
  // What is read behind the last vertex is ignored.
  const p = v128.load(<usize>featureTable.points + 12 * <usize>i), q = v128.load(<usize>featureTable.points + 12 * <usize>j);
  ends.x = f64x2.promote_low_f32x4(v128.shuffle<f32>(p, q, 0, 4, 0, 0));
  ends.y = f64x2.promote_low_f32x4(v128.shuffle<f32>(p, q, 1, 5, 0, 0));
  ends.z = f64x2.promote_low_f32x4(v128.shuffle<f32>(p, q, 2, 6, 0, 0));
}

/** Returns whether both ends are drawn beyond one border of the square. */
// @ts-ignore: decorator
@inline
function areBothBeyond(x: v128, y: v128, w: v128): bool {
  if (!i64x2.all_true(f64x2.gt(w, f64x2.splat(0)))) return false;
  const upper = f64x2.mul(f64x2.splat(currentPick.searchRadius), w), lower = f64x2.neg(upper);
  return (
    i64x2.all_true(f64x2.gt(x, upper)) || i64x2.all_true(f64x2.lt(x, lower)) ||
    i64x2.all_true(f64x2.gt(y, upper)) || i64x2.all_true(f64x2.lt(y, lower))
  );
}

/** Adds those ends of an edge that are ends of its run. */
// @ts-ignore: decorator
@inline
function addRunEnds(edge: u32, i: u32, j: u32, x: v128, y: v128, w: v128): void {
  const flags = <u32>load<u8>(<usize>featureTable.flags + edge), radius = currentPick.searchRadius;
  if (flags & STARTS_RUN && isWithin(first(x), first(y), first(w), radius)) {
    addPoint(SNAP_VERTEX, first(ends.x), first(ends.y), first(ends.z), i, edge);
  }
  if (flags & ENDS_RUN && isWithin(second(x), second(y), second(w), radius)) {
    addPoint(SNAP_VERTEX, second(ends.x), second(ends.y), second(ends.z), j, edge);
  }
}

/** Adds the midpoint of an edge's run, if it is on this edge. */
// @ts-ignore: decorator
@inline
function addMidpoint(edge: u32, x: v128, y: v128, w: v128): void {
  const run = wordAt(featureTable.runs, edge);
  if (wordAt(featureTable.middleEdges, run) != edge) return;
  const t = load<f64>(<usize>featureTable.middles + (<usize>run << 3));
  if (!isWithin(interpolate(x, t), interpolate(y, t), interpolate(w, t), currentPick.searchRadius)) return;
  addPoint(SNAP_MIDPOINT, interpolate(ends.x, t), interpolate(ends.y, t), interpolate(ends.z, t), edge, edge);
}

/** Interpolates between both ends, for t from 0 to 1. */
// @ts-ignore: decorator
@inline
function interpolate(v: v128, t: f64): f64 {
  return first(v) + t * (second(v) - first(v));
}

/** Adds the point at which the drawn part of an edge is nearest to the cursor. */
// @ts-ignore: decorator
@inline
function addNearest(edge: u32, x: v128, y: v128, w: v128): void {
  const nearDepths = evaluateBoth(nearPlane, ends.x, ends.y, ends.z);
  intervalStart = 0;
  intervalEnd = 1;
  clipInterval(w);
  clipInterval(nearDepths);
  clipInterval(evaluateBoth(farPlane, ends.x, ends.y, ends.z));
  clipInterval(f64x2.sub(x, f64x2.mul(f64x2.splat(currentPick.minX), w)));
  clipInterval(f64x2.sub(f64x2.mul(f64x2.splat(currentPick.maxX), w), x));
  clipInterval(f64x2.sub(y, f64x2.mul(f64x2.splat(currentPick.minY), w)));
  clipInterval(f64x2.sub(f64x2.mul(f64x2.splat(currentPick.maxY), w), y));
  if (!(intervalStart <= intervalEnd)) return;
  findKeptPartsOf(currentTarget, first(ends.x), first(ends.y), first(ends.z), second(ends.x), second(ends.y), second(ends.z));
  // An edge that is drawn as a point up to rounding, along the line of sight, gets its end nearer to the eye.
  const nearerEnd: f64 = first(nearDepths) <= second(nearDepths) ? 0 : 1;
  let pixels = Infinity, edgeFraction: f64 = 0;
  for (let part: u32 = 0; part < partCount; part++) {
    const s = max(partFrom(part), intervalStart), t = min(partTo(part), intervalEnd);
    if (!(s <= t)) continue;
    const ws = interpolate(w, s), wt = interpolate(w, t);
    if (!(ws > 0 && wt > 0)) continue;
    const u = interpolate(x, s) / ws, v = interpolate(y, s) / ws;
    const du = interpolate(x, t) / wt - u, dv = interpolate(y, t) / wt - v;
    const lengthSquared = du * du + dv * dv;
    const fraction = lengthSquared > 1e-12 ? min(max(-(u * du + v * dv) / lengthSquared, 0), 1) : nearerEnd;
    const closestX = u + fraction * du, closestY = v + fraction * dv, distance = sqrt(closestX * closestX + closestY * closestY);
    if (!(distance <= currentPick.searchRadius && distance < pixels)) continue;
    pixels = distance;
    // Back from the screen, where distant parts are drawn shorter.
    edgeFraction = s + (t - s) * ((fraction * ws) / (fraction * ws + (1 - fraction) * wt));
  }
  if (pixels == Infinity) return;
  const px = interpolate(ends.x, edgeFraction), py = interpolate(ends.y, edgeFraction), pz = interpolate(ends.z, edgeFraction);
  addCandidate(currentPick, currentTarget.object, SNAP_EDGE, edge, edge, pixels, evaluate(nearPlane, px, py, pz), px, py, pz);
}

// The kept interval of a segment: `clipInterval`.
let intervalStart: f64 = 0;
let intervalEnd: f64 = 1;

/** Narrows the interval of a segment to where a function is not negative, given its values at both ends. */
function clipInterval(atEnds: v128): void {
  const from = first(atEnds), to = second(atEnds);
  if (from >= 0 && to >= 0) return;
  if (from < 0 && to < 0) intervalEnd = -1;
  else if (from < 0) intervalStart = max(intervalStart, from / (from - to));
  else intervalEnd = min(intervalEnd, from / (from - to));
}

/** Returns whether a point in clip space, relative to the cursor, may be drawn within this many pixels along each axis. */
// @ts-ignore: decorator
@inline
function isWithin(x: f64, y: f64, w: f64, radius: f64): bool {
  return abs(x) <= radius * w && abs(y) <= radius * w;
}

/** Adds the feature at a point, unless that is not drawn in the ring. */
function addPoint(kind: u32, x: f64, y: f64, z: f64, index: u32, edge: u32): void {
  const w = evaluate(screenW, x, y, z);
  if (!(w > 0)) return;
  const px = evaluate(screenX, x, y, z) / w, py = evaluate(screenY, x, y, z) / w;
  const pixels = sqrt(px * px + py * py);
  if (!(pixels <= currentPick.searchRadius)) return;
  if (!(px >= currentPick.minX && px <= currentPick.maxX && py >= currentPick.minY && py <= currentPick.maxY)) return;
  const depth = evaluate(nearPlane, x, y, z);
  if (!(depth >= 0 && evaluate(farPlane, x, y, z) >= 0)) return;
  findKeptPartsOf(currentTarget, x, y, z, x, y, z);
  if (partCount > 0) addCandidate(currentPick, currentTarget.object, kind, index, edge, pixels, depth, x, y, z);
}

// --- visibility ---

/** Returns the slot of a visible element that a candidate of the current object belongs to; -1 if there is none. */
export function visibleSlot(kind: u32, index: u32, edge: u32): i32 {
  if (currentTarget.isRemoved) return -1;
  if (featureTable.size == 1) return wordAt(featureTable.corners, index);
  if (kind != SNAP_CENTER) return visibleFace(edge);
  for (let i = wordAt(featureTable.circleStarts, index), end = wordAt(featureTable.circleStarts, index + 1); i < end; i++) {
    const slot = visibleFace(wordAt(featureTable.circleEdges, i));
    if (slot >= 0) return slot;
  }
  return -1;
}

/** Returns the slot of an element beside an edge that shows a requested side; -1 if there is none. */
function visibleFace(edge: u32): i32 {
  const first = wordAt(featureTable.faceStarts, edge), sides = currentTarget.sides;
  if (featureTable.size != 3 || sides == SIDE_DOUBLE) return wordAt(featureTable.faces, first);
  for (let i = first, end = wordAt(featureTable.faceStarts, edge + 1); i < end; i++) {
    const slot = wordAt(featureTable.faces, i);
    const visibleSides = sides & OWN_FACE_SIDES ? faceSidesAt(currentTarget.object, elementOf(currentTarget.mesh, slot)) : sides;
    if (visibleSides == SIDE_DOUBLE) return slot;
    const orientation = orientationOf(slot);
    if ((orientation > 0 && visibleSides & SIDE_FRONT) || (orientation < 0 && visibleSides & SIDE_BACK)) return slot;
  }
  return -1;
}

/**
 * Returns a number that is positive if a triangle shows its front, even if parts of it are behind the eye (Olano and Greer,
 * "Triangle scan conversion using 2D homogeneous coordinates", 1997), and even if the object or the view mirrors it.
 */
function orientationOf(slot: u32): f64 {
  for (let corner: u32 = 0; corner < 3; corner++) {
    readCorner(currentTarget.mesh, slot, corner);
    const clipCorner = changetype<LinearFunction>(clipCorners + corner * <u32>LINEAR_FUNCTION_BYTES);
    clipCorner.x = evaluate(screenX, cornerX, cornerY, cornerZ);
    clipCorner.y = evaluate(screenY, cornerX, cornerY, cornerZ);
    clipCorner.z = evaluate(screenW, cornerX, cornerY, cornerZ);
  }
  const orientation = determinant(clipCorners, clipCorners + LINEAR_FUNCTION_BYTES, clipCorners + 2 * LINEAR_FUNCTION_BYTES);
  const viewDeterminant = determinant(changetype<usize>(screenX), changetype<usize>(screenY), changetype<usize>(nearPlane));
  return viewDeterminant > 0 ? -orientation : viewDeterminant < 0 ? orientation : 0;
}

const clipCorners: usize = memory.data(3 * 32, 16);

function determinant(p: usize, q: usize, r: usize): f64 {
  const a = changetype<LinearFunction>(p), b = changetype<LinearFunction>(q), c = changetype<LinearFunction>(r);
  return a.x * (b.y * c.z - b.z * c.y) - a.y * (b.x * c.z - b.z * c.x) + a.z * (b.x * c.y - b.y * c.x);
}

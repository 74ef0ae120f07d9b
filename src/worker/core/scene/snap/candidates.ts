// Finds the features of objects that are drawn near the cursor: descends each object's tree of features, skips boxes that are
// certainly not drawn within the square around the ring, then tests the rest in float64, both ends of an edge at a time. In
// TypeScript the same took about 30 µs of a pick among 1,000 parts, and left garbage; here it takes about 15.

import {
  SIDE_BACK, SIDE_DOUBLE, SIDE_FRONT, SNAP_ASKS_BOX, SNAP_CENTER, SNAP_EDGE, SNAP_MIDPOINT, SNAP_NONE, SNAP_TIRED, SNAP_VERTEX,
} from '../../../../shared/layout';
import { capacityOf, reserve } from '../../memory';
import {
  BOX_BYTES, FeatureTable, WIDTH, cornerX, cornerY, cornerZ, elementOf, levelAt, readCorner, readVertex, wordAt,
} from './feature-table';
import { keepParts, partCount, partFrom, partTo } from './kept-parts';
import { SnapRoom, addCandidate } from './room';
import { OWN_FACE_SIDES, Target, faceSidesAt, targetAt } from './targets';

/** How many nodes and items are visited before a pause, in about 0.1 ms. */
const STEP: u32 = 4096;
/** The possible rounding error in float64 of a plane's value in a box, relative to its terms. */
const ROUNDING: f64 = 1e-12;
/** Flags of an edge that begins, or ends, at an end of its run: runs.ts. */
const STARTS_RUN: u32 = 1;
const ENDS_RUN: u32 = 2;

/** A linear function of points: the factors of x, y and z, and the constant. */
@unmanaged
class Linear {
  x: f64; y: f64; z: f64; w: f64;
}

const LINEAR_BYTES: usize = offsetof<Linear>();
const linears: usize = memory.data(5 * 32, 16);
// The projection of the current object's own space.
const drawnX = changetype<Linear>(linears);
const drawnY = changetype<Linear>(linears + LINEAR_BYTES);
const drawnW = changetype<Linear>(linears + 2 * LINEAR_BYTES);
const near = changetype<Linear>(linears + 3 * LINEAR_BYTES);
const far = changetype<Linear>(linears + 4 * LINEAR_BYTES);
/**
 * The planes that bound the search, positive inside: left and right, below and above, near and far. They are stored in pairs,
 * with the factors of x, of y, of z and the constants of both beside each other.
 */
const planes: usize = memory.data(3 * 64, 16);
const PAIR_BYTES: usize = 64;
const PAIRS_END: usize = planes + 3 * PAIR_BYTES;
/** The reach for which they were computed. */
let planesReach: f64 = -1;
/** The object that was entered in this step, if any. */
let entered: u32 = 0;
let f = changetype<FeatureTable>(0);
let target = changetype<Target>(0);
let room = changetype<SnapRoom>(0);

/** Begins a step of a pick: other picks may have run in between. */
export function enterRoom(r: SnapRoom): void {
  room = r;
  entered = 0xffffffff;
}

/** Makes an object the current one. */
export function enterTarget(i: u32): void {
  if (entered == i) return;
  entered = i;
  target = targetAt(room, i);
  f = changetype<FeatureTable>(<usize>target.features);
  planesReach = -1;
  for (let i: usize = 0; i < 5 * LINEAR_BYTES; i += LINEAR_BYTES) {
    const world = changetype<Linear>(changetype<usize>(room) + i), own = changetype<Linear>(linears + i);
    const x = world.x, y = world.y, z = world.z;
    own.x = x * target.xx + y * target.xy + z * target.xz;
    own.y = x * target.yx + y * target.yy + z * target.yz;
    own.z = x * target.zx + y * target.zy + z * target.zz;
    own.w = x * target.tx + y * target.ty + z * target.tz + world.w;
  }
}

// @ts-ignore: decorator
@inline
function at(l: Linear, x: f64, y: f64, z: f64): f64 {
  return l.x * x + l.y * y + l.z * z + l.w;
}

// @ts-ignore: decorator
@inline
function bothAt(l: Linear, x: v128, y: v128, z: v128): v128 {
  const sum = f64x2.add(f64x2.mul(f64x2.splat(l.x), x), f64x2.mul(f64x2.splat(l.y), y));
  return f64x2.add(f64x2.add(sum, f64x2.mul(f64x2.splat(l.z), z)), f64x2.splat(l.w));
}

/** Begins to traverse all objects. `depth`: how finely fronts are tested. */
export function beginGathering(r: SnapRoom, depth: i32): void {
  // The earlier list still contains items that the fronts known by now hide.
  r.isListing = r.reach > r.nearReach || depth > r.nearDepth ? 1 : 0;
  if (r.isListing) r.nearCount = 0;
  r.nearDepth = depth;
  r.target = 0;
  beginTarget(r);
}

function beginTarget(r: SnapRoom): void {
  r.next = r.isAsked = 0;
  if (r.target == r.targetCount) return;
  const t = targetAt(r, r.target), features = changetype<FeatureTable>(<usize>t.features);
  if (r.isListing) r.level = <i32>features.levelCount - 1;
  else if (r.target > 0) r.next = targetAt(r, r.target - 1).nearEnd;
}

/**
 * Continues: adds features of the requested kinds that are drawn in the ring, whether visible or not, except those that are
 * certainly hidden. With `asks` it leaves it to the caller whether a box is hidden, and returns SNAP_ASKS_BOX; `isHidden` is the
 * caller's answer.
 */
export function stepGathering(r: SnapRoom, asks: bool, isHidden: bool): u32 {
  left = STEP;
  for (; r.target < r.targetCount; beginTarget(r)) {
    const t = targetAt(r, r.target);
    const said = t.isGone ? SNAP_NONE : r.isListing ? descend(r, t, asks, isHidden) : lookAtItems(r, r.near, t.nearEnd);
    if (said != SNAP_NONE) return said;
    if (r.isListing) t.nearEnd = r.nearCount;
    r.target++;
  }
  if (r.isListing) r.nearReach = r.reach;
  return SNAP_NONE;
}

/** How many nodes and items may still be visited before a pause. */
let left: u32 = 0;

/** Visits items of an object, from the next one of a list to its end. Returns SNAP_NONE, or SNAP_TIRED. */
function lookAtItems(r: SnapRoom, items: u32, end: u32): u32 {
  for (; r.next < end; left--) {
    if (left == 0) return SNAP_TIRED;
    enterTarget(r.target);
    lookAt(wordAt(items, r.next++));
  }
  return SNAP_NONE;
}

/**
 * Descends the tree of an object's features, or visits all items if the tree is of other vertex positions. Returns the same as
 * `stepGathering`.
 */
function descend(r: SnapRoom, t: Target, asks: bool, isHidden: bool): u32 {
  enterTarget(r.target);
  if (t.isMoved) return lookAtItems(r, f.order, f.itemCount);
  for (; r.level >= 0 && r.next < nodesOf(r.level); left--) {
    if (left == 0) return SNAP_TIRED;
    const box = f.boxes + (levelAt(f, r.level) + r.next) * <u32>BOX_BYTES;
    const isPassed = r.isAsked ? isHidden : isOutside(box);
    if (!isPassed && asks && !r.isAsked && isDrawn(box)) {
      r.isAsked = 1;
      r.box = box;
      return SNAP_ASKS_BOX;
    }
    r.isAsked = 0;
    goOn(r, isPassed);
  }
  return SNAP_NONE;
}

// @ts-ignore: decorator
@inline
function nodesOf(level: u32): u32 {
  return levelAt(f, level + 1) - levelAt(f, level);
}

/** Moves to the first child of a node, or past its subtree to the next node. */
function goOn(r: SnapRoom, isPassed: bool): void {
  if (!isPassed) {
    if (r.level > 0) {
      r.level--;
      r.next *= WIDTH;
      return;
    }
    const end = min((r.next + 1) * WIDTH, f.itemCount);
    for (let i = r.next * WIDTH; i < end; i++) lookAt(wordAt(f.order, i));
  }
  r.next++;
  for (const top = <i32>f.levelCount - 1; r.level < top && r.next % WIDTH == 0; r.level++) r.next /= WIDTH;
}

/** Returns whether the box of a node is certainly not drawn within the square around the ring. */
function isOutside(box: u32): bool {
  if (planesReach != room.reach) setPlanes();
  // Two low and two high bounds are loaded at a time, then the centre and half size are computed.
  const lows = v128.load(<usize>box), highs = v128.load(<usize>box, 8);
  const half = f64x2.splat(0.5);
  const lowXY = f64x2.promote_low_f32x4(lows), highXY = f64x2.promote_low_f32x4(v128.shuffle<f32>(highs, highs, 1, 2, 0, 0));
  const z = f64x2.promote_low_f32x4(v128.shuffle<f32>(highs, highs, 0, 3, 0, 0));
  const middle = f64x2.mul(f64x2.add(lowXY, highXY), half), size = f64x2.mul(f64x2.sub(highXY, lowXY), half);
  const lowZ = f64x2.extract_lane(z, 0), highZ = f64x2.extract_lane(z, 1);
  const x = f64x2.splat(f64x2.extract_lane(middle, 0)), sizeX = f64x2.splat(f64x2.extract_lane(size, 0));
  const y = f64x2.splat(f64x2.extract_lane(middle, 1)), sizeY = f64x2.splat(f64x2.extract_lane(size, 1));
  const middleZ = f64x2.splat((lowZ + highZ) * 0.5), sizeZ = f64x2.splat((highZ - lowZ) * 0.5);
  for (let at = planes; at < PAIRS_END; at += PAIR_BYTES) {
    const a = v128.load(at), b = v128.load(at, 16), c = v128.load(at, 32), w = v128.load(at, 48);
    const inward = f64x2.add(
      f64x2.add(f64x2.mul(f64x2.abs(a), sizeX), f64x2.mul(f64x2.abs(b), sizeY)), f64x2.mul(f64x2.abs(c), sizeZ),
    );
    const p = f64x2.mul(a, x), q = f64x2.mul(b, y), r = f64x2.mul(c, middleZ);
    const farthest = f64x2.add(f64x2.add(f64x2.add(f64x2.add(p, q), r), w), inward);
    if (i64x2.bitmask(farthest) == 0) continue;
    const terms = f64x2.add(f64x2.add(f64x2.add(f64x2.add(f64x2.abs(p), f64x2.abs(q)), f64x2.abs(r)), f64x2.abs(w)), inward);
    if (v128.any_true(f64x2.lt(farthest, f64x2.mul(f64x2.splat(-ROUNDING), terms)))) return true;
  }
  return false;
}

function setPlanes(): void {
  const reach = room.reach;
  planesReach = reach;
  setBorders(planes, drawnX, max(room.lowX, -reach), min(room.highX, reach));
  setBorders(planes + PAIR_BYTES, drawnY, max(room.lowY, -reach), min(room.highY, reach));
  setPair(planes + 2 * PAIR_BYTES, near.x, near.y, near.z, near.w, far.x, far.y, far.z, far.w);
}

/** Sets the planes of two borders of the square. */
function setBorders(at: usize, l: Linear, low: f64, high: f64): void {
  const w = drawnW;
  setPair(
    at, l.x - low * w.x, l.y - low * w.y, l.z - low * w.z, l.w - low * w.w,
    high * w.x - l.x, high * w.y - l.y, high * w.z - l.z, high * w.w - l.w,
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
function isDrawn(box: u32): bool {
  room.boxLowX = room.boxLowY = Infinity;
  room.boxHighX = room.boxHighY = -Infinity;
  for (let corner: u32 = 0; corner < 8; corner++) {
    const x = <f64>load<f32>(<usize>box + (corner & 1 ? 12 : 0));
    const y = <f64>load<f32>(<usize>box + (corner & 2 ? 16 : 4));
    const z = <f64>load<f32>(<usize>box + (corner & 4 ? 20 : 8));
    const w = at(drawnW, x, y, z);
    if (!(w > 0)) return false;
    const px = at(drawnX, x, y, z) / w, py = at(drawnY, x, y, z) / w;
    room.boxLowX = min(room.boxLowX, px);
    room.boxLowY = min(room.boxLowY, py);
    room.boxHighX = max(room.boxHighX, px);
    room.boxHighY = max(room.boxHighY, py);
  }
  return true;
}

function lookAt(item: u32): void {
  if (item < f.edgeCount) {
    lookAtEdge(item);
  } else if (f.size == 1) {
    list(item);
    if (!(room.kinds & SNAP_VERTEX)) return;
    readVertex(f, target.mesh, target.isMoved, item);
    addPoint(SNAP_VERTEX, cornerX, cornerY, cornerZ, item, item);
  } else if (!target.isMoved) {
    // Circles are those of the mesh at rest.
    list(item);
    if (!(room.kinds & SNAP_CENTER)) return;
    const circle = item - f.edgeCount, place = <usize>f.circles + 56 * <usize>circle;
    addPoint(SNAP_CENTER, load<f64>(place), load<f64>(place, 8), load<f64>(place, 16), circle, -1);
  }
}

/** Records an item that may be drawn in the square. Throws OUT_OF_MEMORY. */
function list(item: u32): void {
  const r = room;
  if (!r.isListing) return;
  if (r.nearCount == r.nearRoom) {
    const used = r.nearCount << 2;
    r.near = <u32>reserve(r.near, used, used + 4);
    r.nearRoom = <u32>(capacityOf(r.near) >> 2);
  }
  store<u32>(r.near + (r.nearCount++ << 2), item);
}

/** Both ends of the current edge, in the object's own space. */
@unmanaged
class Ends {
  x: v128; y: v128; z: v128;
}

const ends = changetype<Ends>(memory.data(<i32>offsetof<Ends>(), 16));

/** Tests an edge, unless both of its ends are drawn beyond one border of the square, as for most edges. */
function lookAtEdge(edge: u32): void {
  const i = wordAt(f.edges, 2 * edge), j = wordAt(f.edges, 2 * edge + 1);
  readEnds(i, j);
  const w = bothAt(drawnW, ends.x, ends.y, ends.z);
  const x = bothAt(drawnX, ends.x, ends.y, ends.z), y = bothAt(drawnY, ends.x, ends.y, ends.z);
  if (areBeyond(x, y, w)) return;
  list(edge);
  const kinds = room.kinds;
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
  if (target.isMoved) {
    readVertex(f, target.mesh, 1, i);
    const px = f64x2.splat(cornerX), py = f64x2.splat(cornerY), pz = f64x2.splat(cornerZ);
    readVertex(f, target.mesh, 1, j);
    ends.x = f64x2.replace_lane(px, 1, cornerX);
    ends.y = f64x2.replace_lane(py, 1, cornerY);
    ends.z = f64x2.replace_lane(pz, 1, cornerZ);
    return;
  }
  // What is read behind the last vertex is ignored.
  const p = v128.load(<usize>f.points + 12 * <usize>i), q = v128.load(<usize>f.points + 12 * <usize>j);
  ends.x = f64x2.promote_low_f32x4(v128.shuffle<f32>(p, q, 0, 4, 0, 0));
  ends.y = f64x2.promote_low_f32x4(v128.shuffle<f32>(p, q, 1, 5, 0, 0));
  ends.z = f64x2.promote_low_f32x4(v128.shuffle<f32>(p, q, 2, 6, 0, 0));
}

/** Returns whether both ends are drawn beyond one border of the square. */
// @ts-ignore: decorator
@inline
function areBeyond(x: v128, y: v128, w: v128): bool {
  if (!i64x2.all_true(f64x2.gt(w, f64x2.splat(0)))) return false;
  const most = f64x2.mul(f64x2.splat(room.reach), w), least = f64x2.neg(most);
  return (
    i64x2.all_true(f64x2.gt(x, most)) || i64x2.all_true(f64x2.lt(x, least)) ||
    i64x2.all_true(f64x2.gt(y, most)) || i64x2.all_true(f64x2.lt(y, least))
  );
}

/** Adds those ends of an edge that are ends of its run. */
// @ts-ignore: decorator
@inline
function addRunEnds(edge: u32, i: u32, j: u32, x: v128, y: v128, w: v128): void {
  const flags = <u32>load<u8>(<usize>f.flags + edge), reach = room.reach;
  if (flags & STARTS_RUN && isWithin(first(x), first(y), first(w), reach)) {
    addPoint(SNAP_VERTEX, first(ends.x), first(ends.y), first(ends.z), i, edge);
  }
  if (flags & ENDS_RUN && isWithin(second(x), second(y), second(w), reach)) {
    addPoint(SNAP_VERTEX, second(ends.x), second(ends.y), second(ends.z), j, edge);
  }
}

/** Adds the midpoint of an edge's run, if it is on this edge. */
// @ts-ignore: decorator
@inline
function addMidpoint(edge: u32, x: v128, y: v128, w: v128): void {
  const run = wordAt(f.runs, edge);
  if (wordAt(f.middleEdges, run) != edge) return;
  const t = load<f64>(<usize>f.middles + (<usize>run << 3));
  if (!isWithin(between(x, t), between(y, t), between(w, t), room.reach)) return;
  addPoint(SNAP_MIDPOINT, between(ends.x, t), between(ends.y, t), between(ends.z, t), edge, edge);
}

/** Interpolates between both ends, for t from 0 to 1. */
// @ts-ignore: decorator
@inline
function between(v: v128, t: f64): f64 {
  return first(v) + t * (second(v) - first(v));
}

/** Adds the point at which the drawn part of an edge is nearest to the cursor. */
// @ts-ignore: decorator
@inline
function addNearest(edge: u32, x: v128, y: v128, w: v128): void {
  const nearness = bothAt(near, ends.x, ends.y, ends.z);
  low = 0;
  high = 1;
  keep(w);
  keep(nearness);
  keep(bothAt(far, ends.x, ends.y, ends.z));
  keep(f64x2.sub(x, f64x2.mul(f64x2.splat(room.lowX), w)));
  keep(f64x2.sub(f64x2.mul(f64x2.splat(room.highX), w), x));
  keep(f64x2.sub(y, f64x2.mul(f64x2.splat(room.lowY), w)));
  keep(f64x2.sub(f64x2.mul(f64x2.splat(room.highY), w), y));
  if (!(low <= high)) return;
  keepParts(target, first(ends.x), first(ends.y), first(ends.z), second(ends.x), second(ends.y), second(ends.z));
  // An edge that is drawn as a point, along the line of sight, gets its end nearer to the eye.
  const nearerEnd: f64 = first(nearness) <= second(nearness) ? 0 : 1;
  let pixels = Infinity, along: f64 = 0;
  for (let part: u32 = 0; part < partCount; part++) {
    const s = max(partFrom(part), low), t = min(partTo(part), high);
    if (!(s <= t)) continue;
    const ws = between(w, s), wt = between(w, t);
    if (!(ws > 0 && wt > 0)) continue;
    const u = between(x, s) / ws, v = between(y, s) / ws;
    const du = between(x, t) / wt - u, dv = between(y, t) / wt - v;
    const square = du * du + dv * dv;
    const share = square > 0 ? min(max(-(u * du + v * dv) / square, 0), 1) : nearerEnd;
    const nearX = u + share * du, nearY = v + share * dv, distance = sqrt(nearX * nearX + nearY * nearY);
    if (!(distance <= room.reach && distance < pixels)) continue;
    pixels = distance;
    // Back from the screen, where distant parts are drawn shorter.
    along = s + (t - s) * ((share * ws) / (share * ws + (1 - share) * wt));
  }
  if (pixels == Infinity) return;
  const px = between(ends.x, along), py = between(ends.y, along), pz = between(ends.z, along);
  addCandidate(room, target.object, SNAP_EDGE, edge, edge, pixels, at(near, px, py, pz), px, py, pz);
}

// The kept interval of a segment: `keep`.
let low: f64 = 0;
let high: f64 = 1;

/** Narrows the interval of a segment to where a function is not negative, given its values at both ends. */
function keep(atEnds: v128): void {
  const from = first(atEnds), to = second(atEnds);
  if (from >= 0 && to >= 0) return;
  if (from < 0 && to < 0) high = -1;
  else if (from < 0) low = max(low, from / (from - to));
  else high = min(high, from / (from - to));
}

/** Returns whether a point in clip space, relative to the cursor, may be drawn within this many pixels along each axis. */
// @ts-ignore: decorator
@inline
function isWithin(x: f64, y: f64, w: f64, reach: f64): bool {
  return abs(x) <= reach * w && abs(y) <= reach * w;
}

/** Adds the feature at a point, unless that is not drawn in the ring. */
function addPoint(kind: u32, x: f64, y: f64, z: f64, index: u32, edge: u32): void {
  const w = at(drawnW, x, y, z);
  if (!(w > 0)) return;
  const px = at(drawnX, x, y, z) / w, py = at(drawnY, x, y, z) / w;
  const pixels = sqrt(px * px + py * py);
  if (!(pixels <= room.reach)) return;
  if (!(px >= room.lowX && px <= room.highX && py >= room.lowY && py <= room.highY)) return;
  const depth = at(near, x, y, z);
  if (!(depth >= 0 && at(far, x, y, z) >= 0)) return;
  keepParts(target, x, y, z, x, y, z);
  if (partCount > 0) addCandidate(room, target.object, kind, index, edge, pixels, depth, x, y, z);
}

// --- visibility ---

/** Returns the slot of a visible element that a candidate of the current object belongs to; -1 if there is none. */
export function shownSlot(kind: u32, index: u32, edge: u32): i32 {
  if (target.isGone) return -1;
  if (f.size == 1) return wordAt(f.corners, index);
  if (kind != SNAP_CENTER) return shownFace(edge);
  for (let i = wordAt(f.circleStarts, index), end = wordAt(f.circleStarts, index + 1); i < end; i++) {
    const slot = shownFace(wordAt(f.circleEdges, i));
    if (slot >= 0) return slot;
  }
  return -1;
}

/** Returns the slot of an element beside an edge that shows a requested side; -1 if there is none. */
function shownFace(edge: u32): i32 {
  const first = wordAt(f.faceStarts, edge), sides = target.sides;
  if (f.size != 3 || sides == SIDE_DOUBLE) return wordAt(f.faces, first);
  for (let i = first, end = wordAt(f.faceStarts, edge + 1); i < end; i++) {
    const slot = wordAt(f.faces, i);
    const shown = sides & OWN_FACE_SIDES ? faceSidesAt(target.object, elementOf(target.mesh, slot)) : sides;
    if (shown == SIDE_DOUBLE) return slot;
    const turn = turnOf(slot);
    if ((turn > 0 && shown & SIDE_FRONT) || (turn < 0 && shown & SIDE_BACK)) return slot;
  }
  return -1;
}

/**
 * Returns a number that is positive if a triangle shows its front, even if parts of it are behind the eye: from its orientation
 * on the screen (Olano and Greer, "Triangle scan conversion using 2D homogeneous coordinates", 1997), and from whether the object
 * and the view mirror it.
 */
function turnOf(slot: u32): f64 {
  for (let corner: u32 = 0; corner < 3; corner++) {
    readCorner(target.mesh, slot, corner);
    const drawn = changetype<Linear>(drawnCorners + corner * <u32>LINEAR_BYTES);
    drawn.x = at(drawnX, cornerX, cornerY, cornerZ);
    drawn.y = at(drawnY, cornerX, cornerY, cornerZ);
    drawn.z = at(drawnW, cornerX, cornerY, cornerZ);
  }
  const turn = determinant(drawnCorners, drawnCorners + LINEAR_BYTES, drawnCorners + 2 * LINEAR_BYTES);
  const mirrored = determinant(changetype<usize>(drawnX), changetype<usize>(drawnY), changetype<usize>(near));
  return mirrored > 0 ? -turn : mirrored < 0 ? turn : 0;
}

const drawnCorners: usize = memory.data(3 * 32, 16);

function determinant(p: usize, q: usize, r: usize): f64 {
  const a = changetype<Linear>(p), b = changetype<Linear>(q), c = changetype<Linear>(r);
  return a.x * (b.y * c.z - b.z * c.y) - a.y * (b.x * c.z - b.z * c.x) + a.z * (b.x * c.y - b.y * c.x);
}

// Sweeps two placed shapes against each other that both move and turn: finds their first contact. If at most one of them turns,
// the other's translation is subtracted, and the sweep of one shape decides (sweep.ts). If both turn, conservative advancement
// (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996): each step is the shortest time in which the distance
// of the two can vanish, by GJK and the separating plane for two convex shapes, else by the trees of meshes and the speeds of all
// points. Contacts are never late, and early by at most a ten thousandth of the smaller shape's size, or a thousandth if the two
// graze along each other for hundreds of steps. World units, float64.

import { SHAPE_BOX, SHAPE_MESH, SIDE_DOUBLE } from '../../../shared/layout';
import { checkpoint } from '../checkpoint';
import { commonX, commonY, commonZ, distanceBetween, nearestX, nearestY, nearestZ, setCommonPoint } from '../contact/convex/gjk';
import { SUPPORT_BYTES, Support, extentOf, findSupportPoint, setShapeSupport, supportX, supportY, supportZ } from '../contact/convex/support';
import * as shapes from '../distance/shape-distance';
import { Affine, copy } from '../math/affine';
import * as rigid from '../math/rigid-motion';
import { PlacedShape, copyShape, mapOf } from '../shape/placed-shape';
import { setMotion } from './motion';
import {
  contactTime as meetTime, contactDepth, contactNormalX, contactNormalY, contactNormalZ, contactX, contactY, contactZ,
} from './meeting';
import { armOfShape, beginSweep, measureShape, size, sweepPair } from './sweep';
import { BoxMotion, TOUCHING, moveAlong, setMotionOf } from './turning-boxes';

/** The time of contact, 0 … 1, and the penetration depth at the start, else 0. */
export let firstContactTime: f64 = 0;
export let firstContactDepth: f64 = 0;
/** The contact point at that time, halfway between both surfaces, and the unit normal from the first to the second. */
export let firstContactX: f64 = 0, firstContactY: f64 = 0, firstContactZ: f64 = 0;
export let firstContactNormalX: f64 = 0, firstContactNormalY: f64 = 0, firstContactNormalZ: f64 = 0;

/** A shape at the start of its motion, whose map is the motion's, and the rotation as a quaternion. */
@unmanaged
class MovingShape extends BoxMotion {
  shape: usize;
  turnX: f64; turnY: f64; turnZ: f64; turnW: f64;
}

const movingA = changetype<MovingShape>(memory.data(<i32>offsetof<MovingShape>(), 16));
const movingB = changetype<MovingShape>(memory.data(<i32>offsetof<MovingShape>(), 16));
const startA = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const startB = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const poseA = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const poseB = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const bodyA = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const bodyB = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));

/**
 * Sweeps two shapes along their motions; the maps are those of their objects at the start and at the end. Returns whether they
 * meet. If both turn, they are known to be apart until `apartUntil`, or that is 0. Without `wantsDepth` the penetration depth at
 * the start is not needed. Throws OUT_OF_MEMORY.
 */
export function sweepBoth(
  a: PlacedShape, fromA: Affine, toA: Affine, b: PlacedShape, fromB: Affine, toB: Affine, apartUntil: f64, wantsDepth: bool,
): bool {
  setMovingShape(movingA, startA, a, fromA, toA);
  setMovingShape(movingB, startB, b, fromB, toB);
  if (movingA.angle > 0 && movingB.angle > 0) {
    if (!advanceBoth(apartUntil)) return false;
    if (wantsDepth && firstContactTime == 0) findStartDepth();
    return true;
  }
  return movingB.angle > 0 ? sweepOne(movingB, movingA, true) : sweepOne(movingA, movingB, false);
}

function setMovingShape(movingShape: MovingShape, start: PlacedShape, shape: PlacedShape, from: Affine, to: Affine): void {
  copyShape(start, shape);
  setMotionOf(movingShape, mapOf(start), mapOf(shape), from, to);
  movingShape.shape = changetype<usize>(start);
  movingShape.turnX = rigid.turnX; movingShape.turnY = rigid.turnY; movingShape.turnZ = rigid.turnZ;
  movingShape.turnW = rigid.turnW;
}

/** Sweeps one shape against another that does not turn, by its own translation minus the other's. */
function sweepOne(movingShape: MovingShape, other: MovingShape, isSwapped: bool): bool {
  let tolerance: f64 = 0;
  if (movingShape.angle > 0) {
    setSize(movingShape);
    setSize(other);
    tolerance = TOUCHING * min(movingShape.size, other.size);
  }
  setMotion(
    movingShape.translationX - other.translationX, movingShape.translationY - other.translationY,
    movingShape.translationZ - other.translationZ, movingShape.turnX, movingShape.turnY, movingShape.turnZ, movingShape.turnW,
  );
  beginSweep(changetype<PlacedShape>(movingShape.shape), movingShape.pivotX, movingShape.pivotY, movingShape.pivotZ, tolerance);
  if (!sweepPair(changetype<PlacedShape>(other.shape), SIDE_DOUBLE, 0, 1)) return false;
  recordMeeting(other, isSwapped ? 1 : -1);
  return true;
}

/** Records what the last sweep found; `sign`: 1 if its normal is from the first to the second, else -1. */
function recordMeeting(other: MovingShape, sign: f64): void {
  firstContactTime = meetTime;
  firstContactDepth = contactDepth;
  // The sweep's point is on the other shape.
  const half = 0.5 * contactDepth;
  firstContactX = contactX + meetTime * other.translationX - half * contactNormalX;
  firstContactY = contactY + meetTime * other.translationY - half * contactNormalY;
  firstContactZ = contactZ + meetTime * other.translationZ - half * contactNormalZ;
  firstContactNormalX = sign * contactNormalX;
  firstContactNormalY = sign * contactNormalY;
  firstContactNormalZ = sign * contactNormalZ;
}

// --- both turn ---

/** Finds the penetration depth at the start, where the two overlap. */
function findStartDepth(): void {
  setMotion(0, 0, 0, 0, 0, 0, 1);
  beginSweep(changetype<PlacedShape>(movingA.shape), movingA.pivotX, movingA.pivotY, movingA.pivotZ, 0);
  if (sweepPair(changetype<PlacedShape>(movingB.shape), SIDE_DOUBLE, 0, 0)) recordMeeting(movingB, -1);
}

/** Distance at which two shapes that keep grazing count as touching, relative to the size of the smaller. */
const GRAZING: f64 = 1e-3;
/**
 * GRAZING applies after this many steps. With 64, one of 300 random pairs of meshes was reported to meet early by more than
 * TOUCHING.
 */
const STEPS_BEFORE_GRAZING: i32 = 512;
/** The work of a step (checkpoint.ts). */
const WORK_PER_STEP: i32 = 32;

let gap: f64 = 0;
/** The unit normal from the second to the first, and whether a plane perpendicular to it separates the two. */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let isSeparatedByPlane: bool = false;

/** Finds when and where the two meet, which are apart until a time. */
function advanceBoth(apartUntil: f64): bool {
  setSize(movingA);
  setSize(movingB);
  isSeparatedByPlane = startA.shape != SHAPE_MESH && startB.shape != SHAPE_MESH;
  areEndsSet = false;
  const translationX = movingA.translationX - movingB.translationX,
    translationY = movingA.translationY - movingB.translationY, translationZ = movingA.translationZ - movingB.translationZ;
  const translation = norm(translationX, translationY, translationZ);
  const x = movingA.pivotX - movingB.pivotX, y = movingA.pivotY - movingB.pivotY, z = movingA.pivotZ - movingB.pivotZ;
  // An upper bound of the speed at which their distance changes: of the points of both in space, or of those of the first as the
  // second sees them, which turns with it. Two that turn as one, about whatever point, do not approach. From the start on, what
  // the second sees of the first's pivot changes by its spin times the translation at most.
  const speed = min(
    translation + movingA.angle * movingA.arm + movingB.angle * movingB.arm,
    norm(
      translationX - movingB.spinY * z + movingB.spinZ * y, translationY - movingB.spinZ * x + movingB.spinX * z,
      translationZ - movingB.spinX * y + movingB.spinY * x,
    ) + movingB.angle * translation +
      norm(movingA.spinX - movingB.spinX, movingA.spinY - movingB.spinY, movingA.spinZ - movingB.spinZ) * movingA.arm,
  );
  const smallerSize = min(movingA.size, movingB.size);
  let time = apartUntil;
  for (let step = 0; time < 1; step++) {
    checkpoint(WORK_PER_STEP);
    setPose(poseA, movingA, time);
    setPose(poseB, movingB, time);
    const touchDistance = (step < STEPS_BEFORE_GRAZING ? TOUCHING : GRAZING) * smallerSize;
    if (!findGap((1.0 - time) * speed + touchDistance)) return false;
    if (gap <= touchDistance) {
      firstContactTime = time;
      firstContactDepth = 0;
      return true;
    }
    const freeGap = gap - 0.5 * touchDistance;
    time += isSeparatedByPlane ? max(freeGap / speed, chordTime(time, freeGap)) : freeGap / speed;
  }
  return false;
}

/**
 * Returns a lower bound of how long the two stay apart, from the plane between them and their poses at the end: along its normal
 * they are no closer than on a chord from now until then, minus the sagittas of both; Infinity if the gap never vanishes.
 */
function chordTime(time: f64, freeGap: f64): f64 {
  if (!areEndsSet) setEnds();
  findSupportPoint(endA, -normalX, -normalY, -normalZ, false);
  let height = normalX * (supportX - endOffsetX) + normalY * (supportY - endOffsetY) + normalZ * (supportZ - endOffsetZ);
  findSupportPoint(endB, normalX, normalY, normalZ, false);
  height -= normalX * supportX + normalY * supportY + normalZ * supportZ;
  const remainingTime = 1.0 - time;
  const chordGap = freeGap - sagitta(movingA, remainingTime) - sagitta(movingB, remainingTime),
    endGap = height - (gap - freeGap) - (freeGap - chordGap);
  if (endGap > 0 && chordGap > 0) return Infinity;
  return chordGap > 0 ? remainingTime * (chordGap / (chordGap - endGap)) : 0;
}

/**
 * Returns an upper bound of the distance from its chord of a point that turns for a time: its arm times 1 - cos of half the
 * angle.
 */
function sagitta(movingShape: MovingShape, time: f64): f64 {
  const quarterAngle = 0.25 * movingShape.angle * time;
  return movingShape.arm * 2.0 * quarterAngle * quarterAngle;
}

const endA = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const endB = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
/** From the first body's position to the second's, at the end. */
let endOffsetX: f64 = 0, endOffsetY: f64 = 0, endOffsetZ: f64 = 0;
let areEndsSet: bool = false;

/** Sets both bodies in their poses at the end; poses of another time must be set again. */
function setEnds(): void {
  areEndsSet = true;
  setPose(poseA, movingA, 1);
  setPose(poseB, movingB, 1);
  setShapeSupport(endA, poseA, 0, 0, 0);
  setShapeSupport(endB, poseB, 0, 0, 0);
  endOffsetX = poseB.tx - poseA.tx; endOffsetY = poseB.ty - poseA.ty; endOffsetZ = poseB.tz - poseA.tz;
}

function setPose(out: PlacedShape, movingShape: MovingShape, time: f64): void {
  const start = changetype<PlacedShape>(movingShape.shape);
  copyShape(out, start);
  moveAlong(mapOf(out), movingShape, time);
}

/** Sets how far a shape reaches from its pivot, and from its centre. */
function setSize(movingShape: MovingShape): void {
  measureShape(changetype<PlacedShape>(movingShape.shape), movingShape.pivotX, movingShape.pivotY, movingShape.pivotZ);
  movingShape.size = size;
  movingShape.arm = armOfShape;
}

/** Finds the distance of the two in their poses, if it is no more than a limit, and the contact point. */
function findGap(limit: f64): bool {
  if (isSeparatedByPlane) return findConvexGap(limit);
  if (!shapes.distanceOfShapes(poseA, poseB, limit)) return false;
  gap = shapes.distance;
  firstContactX = 0.5 * (shapes.pointAX + shapes.pointBX);
  firstContactY = 0.5 * (shapes.pointAY + shapes.pointBY);
  firstContactZ = 0.5 * (shapes.pointAZ + shapes.pointBZ);
  setNormal(shapes.pointAX - shapes.pointBX, shapes.pointAY - shapes.pointBY, shapes.pointAZ - shapes.pointBZ);
  return true;
}

function findConvexGap(limit: f64): bool {
  setShapeSupport(bodyA, poseA, 0, 0, 0);
  setShapeSupport(bodyB, poseB, poseB.tx - poseA.tx, poseB.ty - poseA.ty, poseB.tz - poseA.tz);
  const isCoreOnly = (poseA.shape == SHAPE_BOX || bodyA.radius > 0) && (poseB.shape == SHAPE_BOX || bodyB.radius > 0);
  const radiusSum = isCoreOnly ? bodyA.radius + bodyB.radius : 0;
  const distance = distanceBetween(bodyA, bodyB, extentOf(bodyA) + extentOf(bodyB), isCoreOnly);
  gap = distance - radiusSum;
  if (gap > limit) return false;
  setNormal(nearestX, nearestY, nearestZ);
  if (gap > GRAZING * min(movingA.size, movingB.size)) return true;
  setCommonPoint();
  const inward = (isCoreOnly ? bodyA.radius : 0) + 0.5 * max(gap, 0.0);
  firstContactX = poseA.tx + commonX - normalX * inward;
  firstContactY = poseA.ty + commonY - normalY * inward;
  firstContactZ = poseA.tz + commonZ - normalZ * inward;
  return true;
}

function setNormal(x: f64, y: f64, z: f64): void {
  let length = norm(x, y, z);
  if (!(length > 0)) {
    x = poseA.tx - poseB.tx; y = poseA.ty - poseB.ty; z = poseA.tz - poseB.tz;
    length = norm(x, y, z);
    if (!(length > 0)) z = length = 1;
  }
  normalX = x / length;
  normalY = y / length;
  normalZ = z / length;
  firstContactNormalX = -normalX;
  firstContactNormalY = -normalY;
  firstContactNormalZ = -normalZ;
}

function norm(x: f64, y: f64, z: f64): f64 {
  return sqrt(x * x + y * y + z * z);
}

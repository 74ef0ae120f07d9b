// Sweeps two placed shapes against each other that both move and turn: finds their first contact. If at most one of them turns,
// the other's translation is subtracted, and the sweep of one shape decides (sweep.ts). If both turn, conservative advancement
// (Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996): each step is the shortest time in which the distance
// of the two can vanish, by GJK and the separating plane for two convex shapes, else by the trees of meshes and the speeds of all
// points. Contacts are never late, and early by at most a ten thousandth of the smaller shape's size, or a thousandth if the two
// graze along each other for hundreds of steps. World units, float64.

import { SHAPE_BOX, SHAPE_MESH, SIDE_DOUBLE } from '../../../shared/layout';
import { checkpoint } from '../checkpoint';
import { commonX, commonY, commonZ, distanceBetween, nearestX, nearestY, nearestZ, setCommon } from '../contact/convex/gjk';
import { SUPPORT_BYTES, Support, extentOf, findSupportPoint, setShapeSupport, supportX, supportY, supportZ } from '../contact/convex/support';
import * as shapes from '../distance/shape-distance';
import { Affine, copy } from '../math/affine';
import * as rigid from '../math/rigid-motion';
import { spectralNorm } from '../math/spectral-norm';
import { Mesh } from '../mesh/tree/layout';
import { PlacedShape, copyShape, mapOf } from '../shape/placed-shape';
import { setMotion } from './motion';
import { best as meetTime, meetDepth, meetNormalX, meetNormalY, meetNormalZ, meetX, meetY, meetZ } from './meeting';
import { beginSweep, sweepPair } from './sweep';
import { BoxMotion, TOUCHING, moveAlong, setMotionOf } from './turning-boxes';

/** The time of contact, 0 … 1, and the penetration depth at the start, else 0. */
export let meetingTime: f64 = 0;
export let meetingDepth: f64 = 0;
/** The contact point at that time, and the unit normal from the first to the second. */
export let meetingX: f64 = 0, meetingY: f64 = 0, meetingZ: f64 = 0;
export let meetingNormalX: f64 = 0, meetingNormalY: f64 = 0, meetingNormalZ: f64 = 0;

/** A shape at the start of its motion, whose map is the motion's, and the rotation as a quaternion. */
@unmanaged
class Mover extends BoxMotion {
  shape: usize;
  turnX: f64; turnY: f64; turnZ: f64; turnW: f64;
}

const moverA = changetype<Mover>(memory.data(<i32>offsetof<Mover>(), 16));
const moverB = changetype<Mover>(memory.data(<i32>offsetof<Mover>(), 16));
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
  setMover(moverA, startA, a, fromA, toA);
  setMover(moverB, startB, b, fromB, toB);
  if (moverA.angle > 0 && moverB.angle > 0) {
    if (!advanceBoth(apartUntil)) return false;
    if (wantsDepth && meetingTime == 0) findDepth();
    return true;
  }
  return moverB.angle > 0 ? sweepOne(moverB, moverA, true) : sweepOne(moverA, moverB, false);
}

function setMover(mover: Mover, start: PlacedShape, shape: PlacedShape, from: Affine, to: Affine): void {
  copyShape(start, shape);
  setMotionOf(mover, mapOf(start), mapOf(shape), from, to);
  mover.shape = changetype<usize>(start);
  mover.turnX = rigid.turnX; mover.turnY = rigid.turnY; mover.turnZ = rigid.turnZ; mover.turnW = rigid.turnW;
}

/** Sweeps one shape against another that does not turn, by its own translation minus the other's. */
function sweepOne(mover: Mover, other: Mover, isTurned: bool): bool {
  let tolerance: f64 = 0;
  if (mover.angle > 0) {
    setSize(mover);
    setSize(other);
    tolerance = TOUCHING * min(mover.size, other.size);
  }
  setMotion(
    mover.wayX - other.wayX, mover.wayY - other.wayY, mover.wayZ - other.wayZ, mover.turnX, mover.turnY, mover.turnZ, mover.turnW,
  );
  beginSweep(changetype<PlacedShape>(mover.shape), mover.pivotX, mover.pivotY, mover.pivotZ, tolerance);
  if (!sweepPair(changetype<PlacedShape>(other.shape), SIDE_DOUBLE, 0, 1)) return false;
  meetingTime = meetTime;
  meetingDepth = meetDepth;
  meetingX = meetX + meetTime * other.wayX;
  meetingY = meetY + meetTime * other.wayY;
  meetingZ = meetZ + meetTime * other.wayZ;
  const sign: f64 = isTurned ? 1 : -1;
  meetingNormalX = sign * meetNormalX;
  meetingNormalY = sign * meetNormalY;
  meetingNormalZ = sign * meetNormalZ;
  return true;
}

// --- both turn ---

/** Finds the penetration depth at the start, where the two overlap. */
function findDepth(): void {
  setMotion(0, 0, 0, 0, 0, 0, 1);
  beginSweep(changetype<PlacedShape>(moverA.shape), moverA.pivotX, moverA.pivotY, moverA.pivotZ, 0);
  if (!sweepPair(changetype<PlacedShape>(moverB.shape), SIDE_DOUBLE, 0, 0)) return;
  meetingDepth = meetDepth;
  meetingX = meetX; meetingY = meetY; meetingZ = meetZ;
  meetingNormalX = -meetNormalX; meetingNormalY = -meetNormalY; meetingNormalZ = -meetNormalZ;
}

/** Distance at which two shapes that keep grazing count as touching, relative to the size of the smaller. */
const GRAZING: f64 = 1e-3;
/**
 * GRAZING applies after this many steps. With 64, one of 300 random pairs of meshes was reported to meet early by more than
 * TOUCHING.
 */
const MANY_STEPS: i32 = 512;
/** The work of a step (checkpoint.ts). */
const WORK_OF_STEP: i32 = 32;

let gap: f64 = 0;
/** The unit normal from the second to the first, and whether a plane perpendicular to it separates the two. */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let isPlane: bool = false;

/** Finds when and where the two meet, which are apart until a time. */
function advanceBoth(apartUntil: f64): bool {
  setSize(moverA);
  setSize(moverB);
  isPlane = startA.shape != SHAPE_MESH && startB.shape != SHAPE_MESH;
  areEndsSet = false;
  const wayX = moverA.wayX - moverB.wayX, wayY = moverA.wayY - moverB.wayY, wayZ = moverA.wayZ - moverB.wayZ;
  const speed = sqrt(wayX * wayX + wayY * wayY + wayZ * wayZ) + moverA.angle * moverA.arm + moverB.angle * moverB.arm;
  const size = min(moverA.size, moverB.size);
  let time = apartUntil;
  for (let step = 0; time < 1; step++) {
    checkpoint(WORK_OF_STEP);
    pose(poseA, moverA, time);
    pose(poseB, moverB, time);
    const touching = (step < MANY_STEPS ? TOUCHING : GRAZING) * size;
    if (!findGap((1.0 - time) * speed + touching)) return false;
    if (gap <= touching) {
      meetingTime = time;
      meetingDepth = 0;
      return true;
    }
    const closing = isPlane ? closingSpeed(wayX, wayY, wayZ) : speed;
    if (!(closing > 0)) return false;
    const free = gap - 0.5 * touching;
    time += isPlane ? max(free / closing, chordTime(time, free)) : free / closing;
  }
  return false;
}

/**
 * Returns a lower bound of how long the two stay apart, from the plane between them and their poses at the end: along its normal
 * they are no closer than on a chord from now until then, minus the sagittas of both; Infinity if the gap never vanishes.
 */
function chordTime(time: f64, free: f64): f64 {
  if (!areEndsSet) setEnds();
  findSupportPoint(endA, -normalX, -normalY, -normalZ, false);
  let height = normalX * (supportX - endPlaceX) + normalY * (supportY - endPlaceY) + normalZ * (supportZ - endPlaceZ);
  findSupportPoint(endB, normalX, normalY, normalZ, false);
  height -= normalX * supportX + normalY * supportY + normalZ * supportZ;
  const rest = 1.0 - time;
  const bent = free - sagitta(moverA, rest) - sagitta(moverB, rest), last = height - (gap - free) - (free - bent);
  if (last > 0 && bent > 0) return Infinity;
  return bent > 0 ? rest * (bent / (bent - last)) : 0;
}

/**
 * Returns an upper bound of the distance from its chord of a point that turns for a time: its arm times 1 - cos of half the
 * angle.
 */
function sagitta(mover: Mover, time: f64): f64 {
  const quarter = 0.25 * mover.angle * time;
  return mover.arm * 2.0 * quarter * quarter;
}

const endA = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const endB = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
/** From the first body's position to the second's, at the end. */
let endPlaceX: f64 = 0, endPlaceY: f64 = 0, endPlaceZ: f64 = 0;
let areEndsSet: bool = false;

/** Sets both bodies in their poses at the end; poses of another time must be set again. */
function setEnds(): void {
  areEndsSet = true;
  pose(poseA, moverA, 1);
  pose(poseB, moverB, 1);
  setShapeSupport(endA, poseA, 0, 0, 0);
  setShapeSupport(endB, poseB, 0, 0, 0);
  endPlaceX = poseB.tx - poseA.tx; endPlaceY = poseB.ty - poseA.ty; endPlaceZ = poseB.tz - poseA.tz;
}

/** Returns an upper bound of the speed at which the two approach along the normal, at all times. */
function closingSpeed(wayX: f64, wayY: f64, wayZ: f64): f64 {
  return spinSpeed(moverA) + spinSpeed(moverB) - (wayX * normalX + wayY * normalY + wayZ * normalZ);
}

/** Returns an upper bound of the speed of a shape's point along the normal due to its spin: |n × ω| times the arm. */
function spinSpeed(mover: Mover): f64 {
  const x = normalY * mover.spinZ - normalZ * mover.spinY, y = normalZ * mover.spinX - normalX * mover.spinZ;
  const z = normalX * mover.spinY - normalY * mover.spinX;
  return sqrt(x * x + y * y + z * z) * mover.arm;
}

function pose(out: PlacedShape, mover: Mover, time: f64): void {
  const start = changetype<PlacedShape>(mover.shape);
  copyShape(out, start);
  moveAlong(mapOf(out), mover, time);
}

const centre = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Sets how far a shape reaches from its pivot, and from its centre. */
function setSize(mover: Mover): void {
  const shape = changetype<PlacedShape>(mover.shape);
  let x = shape.tx - mover.pivotX, y = shape.ty - mover.pivotY, z = shape.tz - mover.pivotZ;
  if (shape.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(<usize>shape.mesh);
    const cx = 0.5 * (mesh.lowX + mesh.highX), cy = 0.5 * (mesh.lowY + mesh.highY), cz = 0.5 * (mesh.lowZ + mesh.highZ);
    x += shape.xx * cx + shape.yx * cy + shape.zx * cz;
    y += shape.xy * cx + shape.yy * cy + shape.zy * cz;
    z += shape.xz * cx + shape.yz * cy + shape.zz * cz;
    copy(centre, mapOf(shape));
    mover.size = mesh.radius * spectralNorm(centre);
  } else {
    setShapeSupport(bodyA, shape, 0, 0, 0);
    mover.size = extentOf(bodyA);
  }
  mover.arm = sqrt(x * x + y * y + z * z) + mover.size;
}

/** Finds the distance of the two in their poses, if it is no more than a limit, and the contact point. */
function findGap(limit: f64): bool {
  if (isPlane) return findConvexGap(limit);
  if (!shapes.distanceOfShapes(poseA, poseB, limit)) return false;
  gap = shapes.distance;
  meetingX = 0.5 * (shapes.pointAX + shapes.pointBX);
  meetingY = 0.5 * (shapes.pointAY + shapes.pointBY);
  meetingZ = 0.5 * (shapes.pointAZ + shapes.pointBZ);
  setNormal(shapes.pointAX - shapes.pointBX, shapes.pointAY - shapes.pointBY, shapes.pointAZ - shapes.pointBZ);
  return true;
}

function findConvexGap(limit: f64): bool {
  setShapeSupport(bodyA, poseA, 0, 0, 0);
  setShapeSupport(bodyB, poseB, poseB.tx - poseA.tx, poseB.ty - poseA.ty, poseB.tz - poseA.tz);
  const isBare = (poseA.shape == SHAPE_BOX || bodyA.radius > 0) && (poseB.shape == SHAPE_BOX || bodyB.radius > 0);
  const radii = isBare ? bodyA.radius + bodyB.radius : 0;
  const distance = distanceBetween(bodyA, bodyB, extentOf(bodyA) + extentOf(bodyB), isBare);
  gap = distance - radii;
  if (gap > limit) return false;
  setNormal(nearestX, nearestY, nearestZ);
  if (gap > GRAZING * min(moverA.size, moverB.size)) return true;
  setCommon();
  const inward = (isBare ? bodyA.radius : 0) + 0.5 * max(gap, 0.0);
  meetingX = poseA.tx + commonX - normalX * inward;
  meetingY = poseA.ty + commonY - normalY * inward;
  meetingZ = poseA.tz + commonZ - normalZ * inward;
  return true;
}

function setNormal(x: f64, y: f64, z: f64): void {
  let length = sqrt(x * x + y * y + z * z);
  if (!(length > 0)) {
    x = poseA.tx - poseB.tx; y = poseA.ty - poseB.ty; z = poseA.tz - poseB.tz;
    length = sqrt(x * x + y * y + z * z);
    if (!(length > 0)) z = length = 1;
  }
  normalX = x / length;
  normalY = y / length;
  normalZ = z / length;
  meetingNormalX = -normalX;
  meetingNormalY = -normalY;
  meetingNormalZ = -normalZ;
}

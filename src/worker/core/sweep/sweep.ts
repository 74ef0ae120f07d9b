// Sweeps one placed shape against another: finds the first contact. The algorithm depends on the two shapes.
//
// - Nothing turns, both are boxes or triangles: separating axes with time intervals (swept-sat.ts), closed-form.
// - Nothing turns, one is round: conservative advancement by exact distances, which is Newton's method here; a sphere or
//   capsule against triangles by the distance of its axis (character/capsule-cast.ts), against a box in closed form
//   (round-at-box.ts), all else by GJK (advance.ts).
// - The shape turns: conservative advancement by GJK to within a tolerance. Meshes are queried for candidates in pieces of
//   the motion: in each piece the shape is taken as not turning, but inflated by how far it turns meanwhile (after Tang,
//   Kim and Manocha, "C²A: Controlled Conservative Advancement for Continuous Collision Detection of Polygonal Models",
//   2009, whose bounds of motion are on the nodes instead).
//
// A mesh is swept as a set of triangles. Contacts are never late, except for rounding, and early by the tolerance at most.
// float64, relative to the shape's position at the start.

import {
  CONTACT_DEPTH, CONTACT_NORMAL, CONTACT_POINT_BYTES, SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE,
} from '../../../shared/layout';
import { clearContact, pointCount, points } from '../contact/manifold/contact';
import { convexConvexContact } from '../contact/convex/convex-convex';
import { SUPPORT_BYTES, Support, copyBody, findSupportPoint, setShapeSupport, supportX, supportY, supportZ } from '../contact/convex/support';
import { Affine, copy, determinant } from '../math/affine';
import { spectralNorm } from '../math/spectral-norm';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { Mesh, placeTree } from '../mesh/tree/layout';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import {
  OVERLAP, advance, ballDepth, findTouch, isBoxed, normalX, normalY, normalZ, setTriangleBody, spanOf, start, startCorners, still, stillCorners,
  touchX, touchY, touchZ,
} from './advance';
import { findContained } from './containment';
import {
  beginMeeting, best, isMet, isSwapped, isTouchKnown, meetDepth, meetNormalX, meetNormalY, meetNormalZ, meetX, meetY, meetZ,
  metOfOther, metOfShape, offer, setTouch, swap, take,
} from './meeting';
import {
  angle, arm, moveBody, moveMap, setPivot, setWay, wayLength, wayX, wayY, wayZ, withoutTurn,
} from './motion';
import {
  boxExitX, boxExitY, boxExitZ, depthInBox, nearestOfBoxX, nearestOfBoxY, nearestOfBoxZ, setBoxFrame,
} from './round-box';
import { boxDepth, boxNormalX, boxNormalY, boxNormalZ, comeToBox } from './round-at-box';
import { beginRound, decide, visitRound } from './round-mesh';
import { Polytope, satDepth, satSweep, satTime, satX, satY, satZ, setBox, setTriangle } from './swept-sat';
import { setSweptMesh, sweepTree } from './swept-tree';
import { sweepTrees } from './swept-trees';

/** Distance at which a turning shape may be reported as touching, relative to its size: the default, and the minimum. */
const TOLERANCE: f64 = 1e-4;
const LEAST_TOLERANCE: f64 = 1e-7;
/**
 * Maximum number of pieces into which a turning motion is split for the trees of meshes; and how far a shape turns in a
 * piece.
 */
const MOST_PIECES: f64 = 64;
const PIECE: f64 = 0.25;

let shape: PlacedShape = changetype<PlacedShape>(0);
/** The common origin: the shape's position at the start. */
let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
/** The shape's size, and the distance at which it may be reported as touching while it turns. */
let size: f64 = 0;
let near: f64 = 0;
const shapeBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const otherBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const shapeMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Tree space to the world at the start: of the shape, if it is a mesh, and of the object. */
const shapeTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const first = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));
const second = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));

/**
 * Sets the shape that is swept, in its pose at the start, after `setMotion`: the pivot of its rotation, in the world, and
 * the tolerance, 0 for the default. The shape must not change until the last `sweepPair`.
 */
export function beginSweep(swept: PlacedShape, px: f64, py: f64, pz: f64, tolerance: f64): void {
  shape = swept;
  originX = swept.tx;
  originY = swept.ty;
  originZ = swept.tz;
  const x = px - originX, y = py - originY, z = pz - originZ;
  if (swept.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(<usize>swept.mesh);
    copy(shapeMap, mapOf(swept));
    shapeMap.tx = shapeMap.ty = shapeMap.tz = 0;
    placeTree(shapeTree, mesh, shapeMap);
    size = mesh.radius * spectralNorm(shapeMap);
    const cx = 0.5 * (mesh.lowX + mesh.highX), cy = 0.5 * (mesh.lowY + mesh.highY), cz = 0.5 * (mesh.lowZ + mesh.highZ);
    const mx = shapeMap.xx * cx + shapeMap.yx * cy + shapeMap.zx * cz - x;
    const my = shapeMap.xy * cx + shapeMap.yy * cy + shapeMap.zy * cz - y;
    const mz = shapeMap.xz * cx + shapeMap.yz * cy + shapeMap.zz * cz - z;
    setPivot(x, y, z, sqrt(mx * mx + my * my + mz * mz) + size);
  } else {
    setShapeSupport(shapeBody, swept, 0, 0, 0);
    shapeBody.triangle = 0;
    size = spanOf(shapeBody);
    setPivot(x, y, z, sqrt(x * x + y * y + z * z) + size);
    // A ball about the pivot is invariant under rotation.
    if (swept.shape == SHAPE_SPHERE && shapeBody.radius > 0 && x == 0 && y == 0 && z == 0) withoutTurn();
  }
  near = angle == 0 ? 0 : max(tolerance > 0 ? tolerance : TOLERANCE * size, LEAST_TOLERANCE * size);
}

/**
 * Returns the body of a sphere or capsule that does not turn, relative to its position at the start; 0 for other shapes.
 */
export function roundOfSweep(): Support {
  const isRound = angle == 0 && shape.shape != SHAPE_MESH && shapeBody.radius > 0;
  return isRound ? shapeBody : changetype<Support>(0);
}

/** Returns an upper bound of the distance of any point of the shape from its pivot. */
export function armOfSweep(): f64 {
  return arm;
}

// The object against which the shape is swept.
let other: PlacedShape = changetype<PlacedShape>(0);

/**
 * Sweeps the shape against an object. Returns whether they meet at a time that is no later than `limit`, which is 0 … 1. Of
 * a mesh, only the sides `allowed` (SIDE_*) can be hit, except for triangles that a list (mesh/query/face-sides.ts, or 0)
 * specifies otherwise. Throws OUT_OF_MEMORY.
 */
export function sweepPair(object: PlacedShape, allowed: u32, list: usize, limit: f64): bool {
  if (object.shape == SHAPE_POINT_LINE || shape.shape == SHAPE_POINT_LINE) return false;
  other = object;
  const isMesh = object.shape == SHAPE_MESH;
  if (isMesh) {
    copy(otherMap, mapOf(object));
    otherMap.tx -= originX;
    otherMap.ty -= originY;
    otherMap.tz -= originZ;
    placeTree(otherTree, changetype<Mesh>(<usize>object.mesh), otherMap);
  } else {
    setShapeSupport(otherBody, object, object.tx - originX, object.ty - originY, object.tz - originZ);
    otherBody.triangle = 0;
  }
  beginMeeting(limit, isMesh ? <usize>object.mesh : 0, otherTree, isMesh && determinant(otherMap) < 0, allowed, list);
  if (shape.shape == SHAPE_MESH) {
    if (isMesh) meshAtMesh();
    else meshAtConvex();
  } else if (isMesh) convexAtMesh();
  else convexAtConvex();
  if (!isMet) return false;
  if (!isTouchKnown) findPlace();
  setTouch(meetX + originX, meetY + originY, meetZ + originZ);
  return true;
}

// --- two convex shapes ---

function convexAtConvex(): void {
  if (angle == 0 && shape.shape == SHAPE_BOX && other.shape == SHAPE_BOX) {
    setBox(first, shapeBody);
    setBox(second, otherBody);
    if (satSweep(first, second, wayX, wayY, wayZ, wayLength, best, 0)) {
      offer(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, 0, 0);
    }
    return;
  }
  if (angle == 0 && other.shape == SHAPE_BOX && shapeBody.radius > 0 && setBoxFrame(otherBody)) {
    roundAtBox();
    return;
  }
  copyBody(start, shapeBody);
  copyBody(still, otherBody);
  const time = advance(0, best, near);
  if (time != OVERLAP) {
    if (time <= best && offer(time, 0, normalX, normalY, normalZ, 0, 0)) touchBox();
    return;
  }
  // If only balls overlap, GJK or the box knows the depth; a capsule whose axis is in a box leaves it through a face of the
  // two.
  if (ballDepth > 0) {
    if (offer(0, ballDepth, normalX, normalY, normalZ, 0, 0)) touchBox();
    return;
  }
  if (other.shape == SHAPE_BOX && shapeBody.radius > 0) {
    leaveBox();
    return;
  }
  overlapByContact();
}

/** Records the deepest point of the contact of two convex shapes that overlap at the start. */
function overlapByContact(): void {
  clearContact();
  convexConvexContact(other, shape);
  let deepest: usize = 0;
  for (let i: usize = 0; i < pointCount; i++) {
    const at = points + i * CONTACT_POINT_BYTES;
    if (deepest == 0 || load<f32>(at, CONTACT_DEPTH) > load<f32>(deepest, CONTACT_DEPTH)) deepest = at;
  }
  if (deepest == 0) {
    offer(0, 0, 0, 0, 1, 0, 0);
    return;
  }
  offer(
    0, <f64>load<f32>(deepest, CONTACT_DEPTH), <f64>load<f32>(deepest, CONTACT_NORMAL),
    <f64>load<f32>(deepest, CONTACT_NORMAL + 4), <f64>load<f32>(deepest, CONTACT_NORMAL + 8), 0, 0,
  );
  clearContact();
}

/** Sets the contact point to the box's closest point in the last distance measurement. */
function touchBox(): void {
  if (isBoxed) setTouch(nearestOfBoxX(), nearestOfBoxY(), nearestOfBoxZ());
}

/** Sweeps a sphere or capsule that does not turn against the box whose frame was set. */
function roundAtBox(): void {
  const time = comeToBox(shapeBody, otherBody, size, best);
  if (time == OVERLAP && !(boxDepth > 0)) {
    leaveBox();
    return;
  }
  if (time > best) return;
  const depth = time == OVERLAP ? boxDepth : 0;
  if (!offer(max(time, 0.0), depth, boxNormalX, boxNormalY, boxNormalZ, 0, 0)) return;
  setTouch(nearestOfBoxX(), nearestOfBoxY(), nearestOfBoxZ());
}

/** Records how a sphere or capsule whose axis is in the box leaves it: through a face of the two. */
function leaveBox(): void {
  const depth = depthInBox(shapeBody, otherBody);
  offer(0, depth, boxExitX, boxExitY, boxExitZ, 0, 0);
}

// --- a convex shape and a mesh ---

function convexAtMesh(): void {
  const mesh = changetype<Mesh>(<usize>other.mesh);
  if (angle == 0) {
    copyBody(start, shapeBody);
    sweepStraight(mesh, otherMap, otherTree);
  } else {
    memory.copy(changetype<usize>(start), changetype<usize>(shapeBody), SUPPORT_BYTES);
    setTriangleBody(still, stillCorners);
    const pieces = pieceCount();
    for (let i: f64 = 0; i < pieces; i++) {
      const from = i / pieces, to = (i + 1) / pieces, middle = 0.5 * (from + to), rest = to - from;
      if (isMet && best <= from) break;
      memory.copy(changetype<usize>(poseBody), changetype<usize>(shapeBody), SUPPORT_BYTES);
      moveBody(poseBody, shapeBody, middle);
      setSweptMesh(mesh, otherMap);
      pieceFrom = from;
      pieceTo = to;
      const back = 0.5 * rest;
      sweepTree(
        mesh, poseBody, ballOf(poseBody), inflationOf(rest), poseBody.x - back * wayX, poseBody.y - back * wayY,
        poseBody.z - back * wayZ, rest * wayX, rest * wayY, rest * wayZ, from, to, min(best, to), turningShape,
      );
    }
  }
  if (other.filled != 0 && !(isMet && best == 0)) checkInside();
}

/** Sweeps the body `start` straight against a mesh, whichever of them is the shape. */
function sweepStraight(mesh: Mesh, map: Affine, tree: Affine): void {
  setSweptMesh(mesh, map);
  straightTree = tree;
  const isRound = start.hasBall != 0 && start.radius > 0;
  if (isRound) beginRound(start, tree);
  else if (start.isBox) setBox(first, start);
  else setTriangleBody(still, stillCorners);
  sweepTree(mesh, start, ballOf(start), 0, start.x, start.y, start.z, wayX, wayY, wayZ, 0, 1, best, isRound ? visitRound : straight);
  if (isRound) decide();
}
let straightTree: Affine = changetype<Affine>(0);

/** Returns an upper bound of the radius of a body's ball. */
function ballOf(body: Support): f64 {
  if (!body.hasBall) return 0;
  return body.radius > 0 ? body.radius : spectralNorm(changetype<Affine>(changetype<usize>(body)));
}

function straight(block: usize, bits: u32): f64 {
  for (let rest = bits; rest != 0; rest &= rest - 1) straightAt(block + (<usize>ctz(rest) << 2));
  return best;
}

function straightAt(at: usize): void {
  mapTriangle(stillCorners, at, straightTree);
  if (start.isBox) {
    setTriangle(second, stillCorners);
    if (satSweep(first, second, wayX, wayY, wayZ, wayLength, best, 0)) {
      take(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, at);
    }
    return;
  }
  const time = advance(0, best, 0);
  if (time == OVERLAP) {
    findTriangleExit();
    take(0, exitDepth, exitX, exitY, exitZ, at);
  } else if (time <= best) take(time, 0, normalX, normalY, normalZ, at);
}

/**
 * The vector along the triangle's normal that separates an overlapping triangle and body: from the body at rest to the
 * moving one.
 */
let exitX: f64 = 0, exitY: f64 = 0, exitZ: f64 = 0;
let exitDepth: f64 = 0;

function findTriangleExit(): void {
  const isStill = still.triangle != 0;
  setTriangle(second, isStill ? <usize>still.triangle : <usize>start.triangle);
  let x = second.e0Y * second.e1Z - second.e0Z * second.e1Y, y = second.e0Z * second.e1X - second.e0X * second.e1Z;
  let z = second.e0X * second.e1Y - second.e0Y * second.e1X;
  const length = sqrt(x * x + y * y + z * z);
  if (length > 0) {
    x /= length; y /= length; z /= length;
  } else z = 1;
  const body = isStill ? start : still;
  const height = x * second.x + y * second.y + z * second.z;
  findSupportPoint(body, -x, -y, -z, false);
  const below = height - (x * supportX + y * supportY + z * supportZ);
  findSupportPoint(body, x, y, z, false);
  const above = x * supportX + y * supportY + z * supportZ - height;
  // The body leaves upwards if less of it is below, and the triangle the other way.
  const sign: f64 = below <= above == isStill ? 1 : -1;
  exitDepth = max(min(below, above), 0.0);
  exitX = sign * x; exitY = sign * y; exitZ = sign * z;
}

// --- turning ---

let pieceFrom: f64 = 0, pieceTo: f64 = 0;

function pieceCount(): f64 {
  return max(1.0, min(MOST_PIECES, ceil(0.5 * angle * arm / max(PIECE * size, near))));
}

/** Returns how far any point of the shape moves by its rotation from its pose in the middle of a piece. */
function inflationOf(duration: f64): f64 {
  return 0.5 * duration * angle * arm + near;
}

function turningShape(block: usize, bits: u32): f64 {
  for (let rest = bits; rest != 0; rest &= rest - 1) turningShapeAt(block + (<usize>ctz(rest) << 2));
  return min(best, pieceTo);
}

function turningShapeAt(at: usize): void {
  mapTriangle(stillCorners, at, otherTree);
  const limit = min(best, pieceTo);
  const time = advance(pieceFrom, limit, near);
  if (time == OVERLAP) {
    findTriangleExit();
    offer(0, exitDepth, exitX, exitY, exitZ, 0, at);
  } else if (time <= limit) offer(time, 0, normalX, normalY, normalZ, 0, at);
}

function turningMesh(block: usize, bits: u32): f64 {
  for (let rest = bits; rest != 0; rest &= rest - 1) turningMeshAt(block + (<usize>ctz(rest) << 2));
  return min(best, pieceTo);
}

function turningMeshAt(at: usize): void {
  mapTriangle(startCorners, at, shapeTree);
  const limit = min(best, pieceTo);
  const time = advance(pieceFrom, limit, near);
  if (time == OVERLAP) {
    findTriangleExit();
    offer(0, exitDepth, exitX, exitY, exitZ, at, 0);
  } else if (time <= limit) offer(time, 0, normalX, normalY, normalZ, at, 0);
}

// --- a mesh at something convex ---

function meshAtConvex(): void {
  const mesh = changetype<Mesh>(<usize>shape.mesh);
  if (angle == 0) {
    // The object moves backwards, and the mesh is at rest.
    swap();
    memory.copy(changetype<usize>(start), changetype<usize>(otherBody), SUPPORT_BYTES);
    setWay(-wayX, -wayY, -wayZ);
    sweepStraight(mesh, shapeMap, shapeTree);
    if (isMet && !isTouchKnown) findPlace();
    setWay(-wayX, -wayY, -wayZ);
  } else {
    memory.copy(changetype<usize>(still), changetype<usize>(otherBody), SUPPORT_BYTES);
    setTriangleBody(start, startCorners);
    const pieces = pieceCount(), ball = ballOf(otherBody);
    for (let i: f64 = 0; i < pieces; i++) {
      const from = i / pieces, to = (i + 1) / pieces, middle = 0.5 * (from + to), rest = to - from;
      if (isMet && best <= from) break;
      moveMap(poseMap, shapeMap, middle);
      setSweptMesh(mesh, poseMap);
      pieceFrom = from;
      pieceTo = to;
      const back = 0.5 * rest;
      sweepTree(
        mesh, otherBody, ball, inflationOf(rest), otherBody.x + back * wayX, otherBody.y + back * wayY,
        otherBody.z + back * wayZ, -rest * wayX, -rest * wayY, -rest * wayZ, from, to, min(best, to), turningMesh,
      );
    }
  }
  if (shape.filled != 0 && !(isMet && best == 0)) checkAround();
}

// --- two meshes ---

function meshAtMesh(): void {
  const a = changetype<Mesh>(<usize>shape.mesh), b = changetype<Mesh>(<usize>other.mesh);
  if (angle == 0) {
    sweepTrees(a, shapeTree, b, otherTree, wayX, wayY, wayZ, 0, 1, 0, best, straightTriangles);
  } else {
    setTriangleBody(start, startCorners);
    setTriangleBody(still, stillCorners);
    const pieces = pieceCount();
    for (let i: f64 = 0; i < pieces; i++) {
      const from = i / pieces, to = (i + 1) / pieces, rest = to - from;
      if (isMet && best <= from) break;
      moveMap(poseMap, shapeMap, 0.5 * (from + to));
      placeTree(poseTree, a, poseMap);
      poseTree.tx -= 0.5 * rest * wayX;
      poseTree.ty -= 0.5 * rest * wayY;
      poseTree.tz -= 0.5 * rest * wayZ;
      pieceFrom = from;
      pieceTo = to;
      sweepTrees(a, poseTree, b, otherTree, wayX, wayY, wayZ, from, to, inflationOf(rest), min(best, to), turningTriangles);
    }
  }
  if (isMet && best == 0) return;
  if (other.filled != 0) checkInside();
  if (shape.filled != 0 && !(isMet && best == 0)) checkAround();
}

function straightTriangles(p: usize, q: usize): f64 {
  mapTriangle(startCorners, p, shapeTree);
  mapTriangle(stillCorners, q, otherTree);
  setTriangle(first, startCorners);
  setTriangle(second, stillCorners);
  if (satSweep(first, second, wayX, wayY, wayZ, wayLength, best, 0)) {
    offer(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, p, q);
  }
  return best;
}

function turningTriangles(p: usize, q: usize): f64 {
  mapTriangle(startCorners, p, shapeTree);
  mapTriangle(stillCorners, q, otherTree);
  const limit = min(best, pieceTo);
  const time = advance(pieceFrom, limit, near);
  if (time == OVERLAP) {
    setTriangle(first, startCorners);
    setTriangle(second, stillCorners);
    if (satSweep(first, second, 0, 0, 0, 0, 1, 0)) offer(0, satDepth, satX, satY, satZ, p, q);
  } else if (time <= limit) offer(time, 0, normalX, normalY, normalZ, p, q);
  return min(best, pieceTo);
}

function checkInside(): void {
  findContained(changetype<Mesh>(<usize>other.mesh), otherMap, shape, shapeBody, shapeTree, true);
}

function checkAround(): void {
  findContained(changetype<Mesh>(<usize>shape.mesh), shapeMap, other, otherBody, otherTree, false);
}

/** Finds the contact point: on the body at rest, when the moving one is moved away from it by the penetration depth. */
function findPlace(): void {
  const time = best;
  const isShapeMesh = shape.shape == SHAPE_MESH, isOtherMesh = other.shape == SHAPE_MESH;
  if (isSwapped) {
    memory.copy(changetype<usize>(start), changetype<usize>(otherBody), SUPPORT_BYTES);
    setTriangleBody(still, stillCorners);
    mapTriangle(stillCorners, metOfShape, shapeTree);
    findTouch(time, -meetNormalX, -meetNormalY, -meetNormalZ, meetDepth);
    setTouch(touchX - time * wayX, touchY - time * wayY, touchZ - time * wayZ);
    return;
  }
  if (isShapeMesh) {
    setTriangleBody(start, startCorners);
    mapTriangle(startCorners, metOfShape, shapeTree);
  } else memory.copy(changetype<usize>(start), changetype<usize>(shapeBody), SUPPORT_BYTES);
  if (isOtherMesh) {
    setTriangleBody(still, stillCorners);
    mapTriangle(stillCorners, metOfOther, otherTree);
  } else memory.copy(changetype<usize>(still), changetype<usize>(otherBody), SUPPORT_BYTES);
  findTouch(time, meetNormalX, meetNormalY, meetNormalZ, meetDepth);
  setTouch(touchX, touchY, touchZ);
}

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
import {
  SUPPORT_BYTES, Support, copyBody, findSupportPoint, setShapeSupport, supportX, supportY, supportZ,
} from '../contact/convex/support';
import { Affine, copy, determinant } from '../math/affine';
import { spectralNorm } from '../math/spectral-norm';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { Mesh, composeTreeMap } from '../mesh/tree/layout';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import {
  OVERLAP_AT_START, advance, ballDepth, findTouchPoint, isRoundAtBox, normalX, normalY, normalZ, setTriangleBody, bodyExtent,
  start, startCorners, resting, restingCorners, touchX, touchY, touchZ,
} from './advance';
import { findContained } from './containment';
import {
  beginPairSweep, contactTime, hasContact, isSwapped, isPointKnown, contactDepth, contactNormalX, contactNormalY, contactNormalZ,
  contactX, contactY, contactZ, objectTriangle, shapeTriangle, offerContact, setContactPoint, swapRoles, offerTriangleContact,
} from './meeting';
import {
  angle, arm, moveBody, moveMap, setPivot, setTranslation, translationLength, translationX, translationY, translationZ,
  clearRotation,
} from './motion';
import { boxExitX, boxExitY, boxExitZ, depthInBox, nearestOnBoxX, nearestOnBoxY, nearestOnBoxZ, setBoxFrame } from './round-box';
import { boxDepth, boxNormalX, boxNormalY, boxNormalZ, sweepRoundAtBox } from './round-at-box';
import { beginRound, sweepCandidates, visitRound } from './round-mesh';
import { Polytope, satDepth, satSweep, satTime, satX, satY, satZ, setBox, setTriangle } from './swept-sat';
import { setSweptMesh, sweepTree } from './swept-tree';
import { sweepTrees } from './swept-trees';

/** Distance at which a turning shape may be reported as touching, relative to its size: the default, and the minimum. */
const TOLERANCE: f64 = 1e-4;
const MIN_TOLERANCE: f64 = 1e-7;
/** Maximum number of pieces into which a turning motion is split for the trees of meshes; how far a shape turns in a piece. */
const MAX_PIECES: f64 = 64;
const PIECE_SIZE: f64 = 0.25;

let shape: PlacedShape = changetype<PlacedShape>(0);
/** The common origin: the shape's position at the start. */
let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
/** The distance at which the shape may be reported as touching while it turns. */
let touchDistance: f64 = 0;
const shapeBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const otherBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const shapeMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Tree space to the world at the start: of the shape, if it is a mesh, and of the object. */
const shapeTreeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherTreeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseTreeToWorld = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const firstPolytope = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));
const secondPolytope = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));

/**
 * Sets the shape that is swept, in its pose at the start, after `setMotion`: the pivot of its rotation, in the world, and
 * the tolerance, 0 for the default. The shape must not change until the last `sweepPair`.
 */
export function beginSweep(swept: PlacedShape, px: f64, py: f64, pz: f64, tolerance: f64): void {
  shape = swept;
  originX = swept.tx;
  originY = swept.ty;
  originZ = swept.tz;
  measureShape(swept, px, py, pz);
  const x = px - originX, y = py - originY, z = pz - originZ;
  setPivot(x, y, z, armOfShape);
  if (swept.shape == SHAPE_MESH) composeTreeMap(shapeTreeToWorld, changetype<Mesh>(<usize>swept.mesh), shapeMap);
  // A ball about the pivot is invariant under rotation.
  else if (swept.shape == SHAPE_SPHERE && shapeBody.radius > 0 && x == 0 && y == 0 && z == 0) clearRotation();
  touchDistance = angle == 0 ? 0 : max(tolerance > 0 ? tolerance : TOLERANCE * size, MIN_TOLERANCE * size);
}

/** The shape's size, and an upper bound of the distance of its points from the pivot. */
export let size: f64 = 0, armOfShape: f64 = 0;

/** Measures a shape, and how far it reaches from a pivot, in the world. */
export function measureShape(measured: PlacedShape, px: f64, py: f64, pz: f64): void {
  let x = measured.tx - px, y = measured.ty - py, z = measured.tz - pz;
  if (measured.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(<usize>measured.mesh), m = shapeMap;
    copy(m, mapOf(measured));
    m.tx = m.ty = m.tz = 0;
    size = mesh.radius * spectralNorm(m);
    const cx = 0.5 * (mesh.minX + mesh.maxX), cy = 0.5 * (mesh.minY + mesh.maxY), cz = 0.5 * (mesh.minZ + mesh.maxZ);
    x += m.xx * cx + m.yx * cy + m.zx * cz;
    y += m.xy * cx + m.yy * cy + m.zy * cz;
    z += m.xz * cx + m.yz * cy + m.zz * cz;
  } else {
    setShapeSupport(shapeBody, measured, 0, 0, 0);
    shapeBody.triangle = 0;
    size = bodyExtent(shapeBody);
  }
  armOfShape = sqrt(x * x + y * y + z * z) + size;
}

/** Returns the body of a sphere or capsule that does not turn, relative to its position at the start; 0 for other shapes. */
export function roundOfSweep(): Support {
  const isRound = angle == 0 && shape.shape != SHAPE_MESH && shapeBody.radius > 0;
  return isRound ? shapeBody : changetype<Support>(0);
}

// The object against which the shape is swept.
let other: PlacedShape = changetype<PlacedShape>(0);

/**
 * Sweeps the shape against an object. Returns whether they meet at a time that is no later than `limit`, which is 0 … 1. Of
 * a mesh, only the sides `allowed` (SIDE_*) can be hit, except for triangles that a list (mesh/query/face-sides.ts, or 0)
 * specifies otherwise. Throws OUT_OF_MEMORY.
 */
export function sweepPair(object: PlacedShape, allowed: u32, faceSides: usize, limit: f64): bool {
  if (object.shape == SHAPE_POINT_LINE || shape.shape == SHAPE_POINT_LINE) return false;
  other = object;
  const isMesh = object.shape == SHAPE_MESH;
  if (isMesh) {
    copy(otherMap, mapOf(object));
    otherMap.tx -= originX;
    otherMap.ty -= originY;
    otherMap.tz -= originZ;
    composeTreeMap(otherTreeToWorld, changetype<Mesh>(<usize>object.mesh), otherMap);
  } else {
    setShapeSupport(otherBody, object, object.tx - originX, object.ty - originY, object.tz - originZ);
    otherBody.triangle = 0;
  }
  beginPairSweep(limit, isMesh ? <usize>object.mesh : 0, otherTreeToWorld, isMesh && determinant(otherMap) < 0, allowed,
    faceSides);
  if (shape.shape == SHAPE_MESH) {
    if (isMesh) meshAtMesh();
    else meshAtConvex();
  } else if (isMesh) convexAtMesh();
  else convexAtConvex();
  if (!hasContact) return false;
  if (!isPointKnown) findContactPoint();
  setContactPoint(contactX + originX, contactY + originY, contactZ + originZ);
  return true;
}

// --- two convex shapes ---

function convexAtConvex(): void {
  if (angle == 0 && shape.shape == SHAPE_BOX && other.shape == SHAPE_BOX) {
    setBox(firstPolytope, shapeBody);
    setBox(secondPolytope, otherBody);
    if (satSweep(firstPolytope, secondPolytope, translationX, translationY, translationZ, translationLength, contactTime, 0)) {
      offerContact(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, 0, 0);
    }
    return;
  }
  if (angle == 0 && other.shape == SHAPE_BOX && shapeBody.radius > 0 && setBoxFrame(otherBody)) {
    roundAtBox();
    return;
  }
  copyBody(start, shapeBody);
  copyBody(resting, otherBody);
  const time = advance(0, contactTime, touchDistance);
  if (time != OVERLAP_AT_START) {
    if (time <= contactTime && offerContact(time, 0, normalX, normalY, normalZ, 0, 0)) setPointOnBox();
    return;
  }
  // If only balls overlap, GJK or the box knows the depth; a capsule whose axis is in a box leaves it through a face of the
  // two.
  if (ballDepth > 0) {
    if (offerContact(0, ballDepth, normalX, normalY, normalZ, 0, 0)) setPointOnBox();
    return;
  }
  if (other.shape == SHAPE_BOX && shapeBody.radius > 0) {
    recordBoxExit();
    return;
  }
  recordDeepestContact();
}

/** Records the deepest point of the contact of two convex shapes that overlap at the start. */
function recordDeepestContact(): void {
  clearContact();
  convexConvexContact(other, shape);
  let deepest: usize = 0;
  for (let i: usize = 0; i < pointCount; i++) {
    const at = points + i * CONTACT_POINT_BYTES;
    if (deepest == 0 || load<f32>(at, CONTACT_DEPTH) > load<f32>(deepest, CONTACT_DEPTH)) deepest = at;
  }
  if (deepest == 0) {
    offerContact(0, 0, 0, 0, 1, 0, 0);
    return;
  }
  offerContact(
    0, <f64>load<f32>(deepest, CONTACT_DEPTH), <f64>load<f32>(deepest, CONTACT_NORMAL),
    <f64>load<f32>(deepest, CONTACT_NORMAL + 4), <f64>load<f32>(deepest, CONTACT_NORMAL + 8), 0, 0,
  );
  clearContact();
}

/** Sets the contact point to the box's closest point in the last distance measurement. */
function setPointOnBox(): void {
  if (isRoundAtBox) setContactPoint(nearestOnBoxX(), nearestOnBoxY(), nearestOnBoxZ());
}

/** Sweeps a sphere or capsule that does not turn against the box whose frame was set. */
function roundAtBox(): void {
  const time = sweepRoundAtBox(shapeBody, otherBody, size, contactTime);
  if (time == OVERLAP_AT_START && !(boxDepth > 0)) {
    recordBoxExit();
    return;
  }
  if (time > contactTime) return;
  const depth = time == OVERLAP_AT_START ? boxDepth : 0;
  if (!offerContact(max(time, 0.0), depth, boxNormalX, boxNormalY, boxNormalZ, 0, 0)) return;
  setContactPoint(nearestOnBoxX(), nearestOnBoxY(), nearestOnBoxZ());
}

/** Records how a sphere or capsule whose axis is in the box leaves it: through a face of the two. */
function recordBoxExit(): void {
  const depth = depthInBox(shapeBody, otherBody);
  offerContact(0, depth, boxExitX, boxExitY, boxExitZ, 0, 0);
}

// --- a convex shape and a mesh ---

function convexAtMesh(): void {
  const mesh = changetype<Mesh>(<usize>other.mesh);
  if (angle == 0) {
    copyBody(start, shapeBody);
    sweepStraight(mesh, otherMap, otherTreeToWorld);
  } else {
    memory.copy(changetype<usize>(start), changetype<usize>(shapeBody), SUPPORT_BYTES);
    setTriangleBody(resting, restingCorners);
    const pieces = pieceCount();
    for (let i: f64 = 0; i < pieces; i++) {
      const from = i / pieces, to = (i + 1) / pieces, midTime = 0.5 * (from + to), duration = to - from;
      if (hasContact && contactTime <= from) break;
      memory.copy(changetype<usize>(poseBody), changetype<usize>(shapeBody), SUPPORT_BYTES);
      moveBody(poseBody, shapeBody, midTime);
      setSweptMesh(mesh, otherMap);
      pieceFrom = from;
      pieceTo = to;
      const halfDuration = 0.5 * duration;
      sweepTree(
        mesh, poseBody, ballRadius(poseBody), inflationOf(duration), poseBody.x - halfDuration * translationX,
        poseBody.y - halfDuration * translationY,
        poseBody.z - halfDuration * translationZ, duration * translationX, duration * translationY, duration * translationZ,
        from, to, min(contactTime, to), visitShapeBlock,
      );
    }
  }
  if (other.filled != 0 && !(hasContact && contactTime == 0)) findShapeInObject();
}

/** Sweeps the body `start` straight against a mesh, whichever of them is the shape. */
function sweepStraight(mesh: Mesh, map: Affine, treeToWorld: Affine): void {
  setSweptMesh(mesh, map);
  straightTreeToWorld = treeToWorld;
  const isRound = start.hasBall != 0 && start.radius > 0;
  if (isRound) beginRound(start, treeToWorld);
  else if (start.isBox) setBox(firstPolytope, start);
  else setTriangleBody(resting, restingCorners);
  sweepTree(mesh, start, ballRadius(start), 0, start.x, start.y, start.z, translationX, translationY, translationZ, 0, 1,
    contactTime, isRound ? visitRound : visitStraightBlock);
  if (isRound) sweepCandidates();
}
let straightTreeToWorld: Affine = changetype<Affine>(0);

/** Returns an upper bound of the radius of a body's ball. */
function ballRadius(body: Support): f64 {
  if (!body.hasBall) return 0;
  return body.radius > 0 ? body.radius : spectralNorm(changetype<Affine>(changetype<usize>(body)));
}

function visitStraightBlock(block: usize, bits: u32): f64 {
  for (let remaining = bits; remaining != 0;
    remaining &= remaining - 1) sweepStraightTriangle(block + (<usize>ctz(remaining) << 2));
  return contactTime;
}

function sweepStraightTriangle(at: usize): void {
  mapTriangle(restingCorners, at, straightTreeToWorld);
  if (start.isBox) {
    setTriangle(secondPolytope, restingCorners);
    if (satSweep(firstPolytope, secondPolytope, translationX, translationY, translationZ, translationLength, contactTime, 0)) {
      offerTriangleContact(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, at);
    }
    return;
  }
  const time = advance(0, contactTime, 0);
  if (time == OVERLAP_AT_START) {
    findTriangleExit();
    offerTriangleContact(0, exitDepth, exitX, exitY, exitZ, at);
  } else if (time <= contactTime) offerTriangleContact(time, 0, normalX, normalY, normalZ, at);
}

/**
 * The vector along the triangle's normal that separates an overlapping triangle and body: from the body at rest to the
 * moving one.
 */
let exitX: f64 = 0, exitY: f64 = 0, exitZ: f64 = 0;
let exitDepth: f64 = 0;

function findTriangleExit(): void {
  const isTriangleResting = resting.triangle != 0;
  setTriangle(secondPolytope, isTriangleResting ? <usize>resting.triangle : <usize>start.triangle);
  let x = secondPolytope.e0Y * secondPolytope.e1Z - secondPolytope.e0Z * secondPolytope.e1Y,
    y = secondPolytope.e0Z * secondPolytope.e1X - secondPolytope.e0X * secondPolytope.e1Z;
  let z = secondPolytope.e0X * secondPolytope.e1Y - secondPolytope.e0Y * secondPolytope.e1X;
  const length = sqrt(x * x + y * y + z * z);
  if (length > 0) {
    x /= length; y /= length; z /= length;
  } else z = 1;
  const body = isTriangleResting ? start : resting;
  const height = x * secondPolytope.x + y * secondPolytope.y + z * secondPolytope.z;
  findSupportPoint(body, -x, -y, -z, false);
  const below = height - (x * supportX + y * supportY + z * supportZ);
  findSupportPoint(body, x, y, z, false);
  const above = x * supportX + y * supportY + z * supportZ - height;
  // The body leaves upwards if less of it is below, and the triangle the other way.
  const sign: f64 = below <= above == isTriangleResting ? 1 : -1;
  exitDepth = max(min(below, above), 0.0);
  exitX = sign * x; exitY = sign * y; exitZ = sign * z;
}

// --- turning ---

let pieceFrom: f64 = 0, pieceTo: f64 = 0;

function pieceCount(): f64 {
  return max(1.0, min(MAX_PIECES, ceil(0.5 * angle * arm / max(PIECE_SIZE * size, touchDistance))));
}

/** Returns how far any point of the shape moves by its rotation from its pose in the middle of a piece. */
function inflationOf(duration: f64): f64 {
  return 0.5 * duration * angle * arm + touchDistance;
}

function visitShapeBlock(block: usize, bits: u32): f64 {
  for (let remaining = bits; remaining != 0;
    remaining &= remaining - 1) sweepShapeAtTriangle(block + (<usize>ctz(remaining) << 2));
  return min(contactTime, pieceTo);
}

function sweepShapeAtTriangle(at: usize): void {
  mapTriangle(restingCorners, at, otherTreeToWorld);
  const limit = min(contactTime, pieceTo);
  const time = advance(pieceFrom, limit, touchDistance);
  if (time == OVERLAP_AT_START) {
    findTriangleExit();
    offerContact(0, exitDepth, exitX, exitY, exitZ, 0, at);
  } else if (time <= limit) offerContact(time, 0, normalX, normalY, normalZ, 0, at);
}

function visitMeshBlock(block: usize, bits: u32): f64 {
  for (let remaining = bits; remaining != 0; remaining &= remaining - 1) sweepMeshTriangle(block + (<usize>ctz(remaining) << 2));
  return min(contactTime, pieceTo);
}

function sweepMeshTriangle(at: usize): void {
  mapTriangle(startCorners, at, shapeTreeToWorld);
  const limit = min(contactTime, pieceTo);
  const time = advance(pieceFrom, limit, touchDistance);
  if (time == OVERLAP_AT_START) {
    findTriangleExit();
    offerContact(0, exitDepth, exitX, exitY, exitZ, at, 0);
  } else if (time <= limit) offerContact(time, 0, normalX, normalY, normalZ, at, 0);
}

// --- a mesh at something convex ---

function meshAtConvex(): void {
  const mesh = changetype<Mesh>(<usize>shape.mesh);
  if (angle == 0) {
    // The object moves backwards, and the mesh is at rest.
    swapRoles();
    memory.copy(changetype<usize>(start), changetype<usize>(otherBody), SUPPORT_BYTES);
    setTranslation(-translationX, -translationY, -translationZ);
    sweepStraight(mesh, shapeMap, shapeTreeToWorld);
    if (hasContact && !isPointKnown) findContactPoint();
    setTranslation(-translationX, -translationY, -translationZ);
  } else {
    memory.copy(changetype<usize>(resting), changetype<usize>(otherBody), SUPPORT_BYTES);
    setTriangleBody(start, startCorners);
    const pieces = pieceCount(), ball = ballRadius(otherBody);
    for (let i: f64 = 0; i < pieces; i++) {
      const from = i / pieces, to = (i + 1) / pieces, midTime = 0.5 * (from + to), duration = to - from;
      if (hasContact && contactTime <= from) break;
      moveMap(poseMap, shapeMap, midTime);
      setSweptMesh(mesh, poseMap);
      pieceFrom = from;
      pieceTo = to;
      const halfDuration = 0.5 * duration;
      sweepTree(
        mesh, otherBody, ball, inflationOf(duration), otherBody.x + halfDuration * translationX,
        otherBody.y + halfDuration * translationY,
        otherBody.z + halfDuration * translationZ, -duration * translationX, -duration * translationY,
        -duration * translationZ, from, to, min(contactTime, to), visitMeshBlock,
      );
    }
  }
  if (shape.filled != 0 && !(hasContact && contactTime == 0)) findObjectInShape();
}

// --- two meshes ---

function meshAtMesh(): void {
  const a = changetype<Mesh>(<usize>shape.mesh), b = changetype<Mesh>(<usize>other.mesh);
  if (angle == 0) {
    sweepTrees(a, shapeTreeToWorld, b, otherTreeToWorld, translationX, translationY, translationZ, 0, 1, 0, contactTime,
      visitStraightPair);
  } else {
    setTriangleBody(start, startCorners);
    setTriangleBody(resting, restingCorners);
    const pieces = pieceCount();
    for (let i: f64 = 0; i < pieces; i++) {
      const from = i / pieces, to = (i + 1) / pieces, duration = to - from;
      if (hasContact && contactTime <= from) break;
      moveMap(poseMap, shapeMap, 0.5 * (from + to));
      composeTreeMap(poseTreeToWorld, a, poseMap);
      poseTreeToWorld.tx -= 0.5 * duration * translationX;
      poseTreeToWorld.ty -= 0.5 * duration * translationY;
      poseTreeToWorld.tz -= 0.5 * duration * translationZ;
      pieceFrom = from;
      pieceTo = to;
      sweepTrees(a, poseTreeToWorld, b, otherTreeToWorld, translationX, translationY, translationZ, from, to,
        inflationOf(duration), min(contactTime, to), visitRotatingPair);
    }
  }
  if (hasContact && contactTime == 0) return;
  if (other.filled != 0) findShapeInObject();
  if (shape.filled != 0 && !(hasContact && contactTime == 0)) findObjectInShape();
}

function visitStraightPair(p: usize, q: usize): f64 {
  mapTriangle(startCorners, p, shapeTreeToWorld);
  mapTriangle(restingCorners, q, otherTreeToWorld);
  setTriangle(firstPolytope, startCorners);
  setTriangle(secondPolytope, restingCorners);
  if (satSweep(firstPolytope, secondPolytope, translationX, translationY, translationZ, translationLength, contactTime, 0)) {
    offerContact(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, p, q);
  }
  return contactTime;
}

function visitRotatingPair(p: usize, q: usize): f64 {
  mapTriangle(startCorners, p, shapeTreeToWorld);
  mapTriangle(restingCorners, q, otherTreeToWorld);
  const limit = min(contactTime, pieceTo);
  const time = advance(pieceFrom, limit, touchDistance);
  if (time == OVERLAP_AT_START) {
    setTriangle(firstPolytope, startCorners);
    setTriangle(secondPolytope, restingCorners);
    if (satSweep(firstPolytope, secondPolytope, 0, 0, 0, 0, 1, 0)) offerContact(0, satDepth, satX, satY, satZ, p, q);
  } else if (time <= limit) offerContact(time, 0, normalX, normalY, normalZ, p, q);
  return min(contactTime, pieceTo);
}

function findShapeInObject(): void {
  findContained(changetype<Mesh>(<usize>other.mesh), otherMap, shape, shapeBody, shapeTreeToWorld, true);
}

function findObjectInShape(): void {
  findContained(changetype<Mesh>(<usize>shape.mesh), shapeMap, other, otherBody, otherTreeToWorld, false);
}

/** Finds the contact point: on the body at rest, when the moving one is moved away from it by the penetration depth. */
function findContactPoint(): void {
  const time = contactTime;
  const isShapeMesh = shape.shape == SHAPE_MESH, isOtherMesh = other.shape == SHAPE_MESH;
  if (isSwapped) {
    memory.copy(changetype<usize>(start), changetype<usize>(otherBody), SUPPORT_BYTES);
    setTriangleBody(resting, restingCorners);
    mapTriangle(restingCorners, shapeTriangle, shapeTreeToWorld);
    findTouchPoint(time, -contactNormalX, -contactNormalY, -contactNormalZ, contactDepth);
    setContactPoint(touchX - time * translationX, touchY - time * translationY, touchZ - time * translationZ);
    return;
  }
  if (isShapeMesh) {
    setTriangleBody(start, startCorners);
    mapTriangle(startCorners, shapeTriangle, shapeTreeToWorld);
  } else memory.copy(changetype<usize>(start), changetype<usize>(shapeBody), SUPPORT_BYTES);
  if (isOtherMesh) {
    setTriangleBody(resting, restingCorners);
    mapTriangle(restingCorners, objectTriangle, otherTreeToWorld);
  } else memory.copy(changetype<usize>(resting), changetype<usize>(otherBody), SUPPORT_BYTES);
  findTouchPoint(time, contactNormalX, contactNormalY, contactNormalZ, contactDepth);
  setContactPoint(touchX, touchY, touchZ);
}

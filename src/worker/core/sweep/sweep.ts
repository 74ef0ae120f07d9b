// Sweeps one placed shape at another: when they meet first, and how. Which algorithm decides depends on the two.
//
// - Nothing turns, both are boxes or triangles: separating axes with intervals of time (swept-sat.ts), closed-form.
// - Nothing turns, one is round: conservative advancement by exact distances, which is Newton's method here; a sphere or
//   capsule against triangles by the distance of its axis (character/capsule-cast.ts), all else by GJK (advance.ts).
// - The shape turns: conservative advancement by GJK to within a tolerance. Meshes are asked for candidates in pieces of
//   the motion: in each the shape counts as if it did not turn, and as grown by how far it turns meanwhile (after Tang, Kim
//   and Manocha, "C²A: Controlled Conservative Advancement for Continuous Collision Detection of Polygonal Models", 2009,
//   whose bounds of motion are on the nodes instead).
//
// A mesh is swept as its triangles are. Meets are never late but by rounding, and early by the tolerance at most. float64,
// about the shape's place at the start.

import {
  CONTACT_DEPTH, CONTACT_NORMAL, CONTACT_POINT_BYTES, SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE, SIDE_BACK,
  SIDE_DOUBLE, SIDE_FRONT,
} from '../../../shared/layout';
import {
  advance as castCapsule, awayX, awayY, awayZ, heightOver, isClear, measure, setCastCapsule, touchX as capsuleX, touchY as capsuleY,
  touchZ as capsuleZ,
} from '../character/capsule-cast';
import { Obstacle, TRIANGLE, boundTriangle } from '../character/obstacles';
import { clearContact, pointCount, points } from '../contact/manifold/contact';
import { convexConvexContact } from '../contact/convex/convex-convex';
import { SUPPORT_BYTES, Support, findSupportPoint, setShapeSupport, supportX, supportY, supportZ } from '../contact/convex/support';
import { Affine, copy, determinant, invert } from '../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { spectralNorm } from '../math/spectral-norm';
import { closestDistance, closestOnMesh, closestTriangle, closestX, closestY, closestZ } from '../mesh/query/closest-point';
import { sidesOfFace } from '../mesh/query/face-sides';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { isInsideByWinding } from '../mesh/query/winding-number';
import { BLOCK_BYTES, Block, Mesh, placeTree, triangleOf } from '../mesh/tree/layout';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import {
  OVERLAP, advance, ballDepth, findTouch, normalX, normalY, normalZ, setTriangleBody, spanOf, start, startCorners, still,
  stillCorners, touchX, touchY, touchZ,
} from './advance';
import {
  angle, arm, moveBody, moveMap, setPivot, setWay, wayLength, wayX, wayY, wayZ, withoutTurn,
} from './motion';
import { Polytope, satDepth, satSweep, satTime, satX, satY, satZ, setBox, setTriangle } from './swept-sat';
import { setSweptMesh, sweepTree } from './swept-tree';
import { sweepTrees } from './swept-trees';

// What `sweepPair` found.
/** When the two meet, 0 … 1; 0 where they overlap at the start. */
export let meetTime: f64 = 0;
/** How deep they are in each other at the start, else 0. */
export let meetDepth: f64 = 0;
/** The unit normal from the object to the shape, and where they touch, in the world. */
export let meetNormalX: f64 = 0, meetNormalY: f64 = 0, meetNormalZ: f64 = 0;
export let meetX: f64 = 0, meetY: f64 = 0, meetZ: f64 = 0;
/** The object's triangle; -1 where it is no mesh. */
export let meetTriangle: i32 = -1;

/** How near a turning shape may be told to meet something, relative to its size: the default, and the least. */
const TOLERANCE: f64 = 1e-4;
const LEAST_TOLERANCE: f64 = 1e-7;
/** Balls are in each other from this part of their radius on. */
const TOUCHING: f64 = 1e-9;
/** Into how many pieces a turning motion is cut for the trees of meshes, at most; and how far a shape turns in a piece. */
const MOST_PIECES: f64 = 64;
const PIECE: f64 = 0.25;

let shape: PlacedShape = changetype<PlacedShape>(0);
/** The common place: where the shape is at the start. */
let originX: f64 = 0, originY: f64 = 0, originZ: f64 = 0;
/** The shape's size, and how near it may be told to meet what it turns to. */
let size: f64 = 0;
let near: f64 = 0;
const shapeBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const otherBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const shapeMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/** Tree space to the world at the start: of the shape, where it is a mesh, and of the object. */
const shapeTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const otherMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseTree = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const poseBody = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const capsuleMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const obstacle = changetype<Obstacle>(memory.data(<i32>offsetof<Obstacle>(), 16));
const first = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));
const second = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));

/**
 * Takes the shape that is swept, where it is at the start, after `setMotion`: the place about which it turns, in the world,
 * and the tolerance, 0 for the default. The shape must stay as it is until the last `sweepPair`.
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
    // A ball about the pivot is the same however it is turned.
    if (swept.shape == SHAPE_SPHERE && shapeBody.radius > 0 && x == 0 && y == 0 && z == 0) withoutTurn();
  }
  near = angle == 0 ? 0 : max(tolerance > 0 ? tolerance : TOLERANCE * size, LEAST_TOLERANCE * size);
}

/** Bounds how far any point of the shape is from its pivot. */
export function armOfSweep(): f64 {
  return arm;
}

// The object that the shape is swept at.
let other: PlacedShape = changetype<PlacedShape>(0);
let sides: u32 = 0;
let faceSides: u32 = 0;
let isMirrored: bool = false;
/** From when on nothing matters, and whether the two meet before. */
let best: f64 = 0;
let isMet: bool = false;
/** The triangles that meet, in the shape's mesh and in the object's; 0 without. */
let metOfShape: usize = 0, metOfOther: usize = 0;
let isTouchKnown: bool = false;
/** Whether the object is what moves, backwards, and the shape what stands: where only the shape is a mesh. */
let isSwapped: bool = false;

/**
 * Sweeps the shape at an object. Answers whether they meet at a time that is no later than `limit`, which is 0 … 1. Of a
 * mesh only those sides count (SIDE_*), but for triangles of which a list (mesh/query/face-sides.ts, or 0) says something
 * else. Throws OUT_OF_MEMORY.
 */
export function sweepPair(object: PlacedShape, allowed: u32, list: usize, limit: f64): bool {
  if (object.shape == SHAPE_POINT_LINE || shape.shape == SHAPE_POINT_LINE) return false;
  other = object;
  sides = allowed;
  faceSides = <u32>list;
  best = limit;
  isMet = isTouchKnown = isSwapped = false;
  metOfShape = metOfOther = 0;
  meetDepth = 0;
  meetTriangle = -1;
  if (object.shape == SHAPE_MESH) {
    copy(otherMap, mapOf(object));
    otherMap.tx -= originX;
    otherMap.ty -= originY;
    otherMap.tz -= originZ;
    placeTree(otherTree, changetype<Mesh>(<usize>object.mesh), otherMap);
    isMirrored = determinant(otherMap) < 0;
    if (shape.shape == SHAPE_MESH) meshAtMesh();
    else convexAtMesh();
  } else {
    setShapeSupport(otherBody, object, object.tx - originX, object.ty - originY, object.tz - originZ);
    otherBody.triangle = 0;
    if (shape.shape == SHAPE_MESH) meshAtConvex();
    else convexAtConvex();
  }
  if (!isMet) return false;
  meetTime = max(best, 0.0);
  if (!isTouchKnown) findPlace();
  meetX += originX;
  meetY += originY;
  meetZ += originZ;
  return true;
}

/** Takes a meeting if it is sooner, or deeper at the start, than the best. Answers whether it was. */
function offer(time: f64, depth: f64, x: f64, y: f64, z: f64, ofShape: usize, ofOther: usize): bool {
  const index = ofOther != 0 ? indexOf(ofOther) : -1;
  if (depth > 0) {
    if (meetDepth > depth || (meetDepth == depth && meetTriangle < index)) return false;
  } else if (meetDepth > 0 || time > best || (time == best && isMet && meetTriangle <= index)) return false;
  if (ofOther != 0 && sides != SIDE_DOUBLE && !isSeen(ofOther, index, x, y, z)) return false;
  isMet = true;
  isTouchKnown = false;
  best = depth > 0 ? 0 : time;
  meetDepth = max(depth, 0.0);
  meetNormalX = x;
  meetNormalY = y;
  meetNormalZ = z;
  meetTriangle = index;
  metOfShape = ofShape;
  metOfOther = ofOther;
  return true;
}

/** Answers the index of a triangle by its address: its block's and four times the lane. */
function indexOf(at: usize): i32 {
  const mesh = changetype<Mesh>(<usize>other.mesh);
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  const within = (at - blocks) % BLOCK_BYTES;
  return triangleOf(changetype<Block>(at - within), <i32>(within >> 2));
}

/** Tells whether the side of an object's triangle that the shape comes to is one that can be met. */
function isSeen(at: usize, index: i32, x: f64, y: f64, z: f64): bool {
  mapTriangle(corners, at, otherTree);
  setTriangle(second, corners);
  let facing =
    x * (second.e0Y * second.e1Z - second.e0Z * second.e1Y) + y * (second.e0Z * second.e1X - second.e0X * second.e1Z) +
    z * (second.e0X * second.e1Y - second.e0Y * second.e1X);
  if (isMirrored) facing = -facing;
  const side: u32 = facing >= 0 ? SIDE_FRONT : SIDE_BACK;
  const allowed = faceSides != 0 ? sidesOfFace(<usize>faceSides, <u32>index, sides) : sides;
  return (allowed & side) != 0;
}
const corners: usize = memory.data(72, 16);

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
  let from: f64 = 0;
  if (angle == 0 && other.shape == SHAPE_BOX && shapeBody.radius > 0) {
    from = enterBox();
    if (!(from <= best)) return;
  }
  memory.copy(changetype<usize>(start), changetype<usize>(shapeBody), SUPPORT_BYTES);
  memory.copy(changetype<usize>(still), changetype<usize>(otherBody), SUPPORT_BYTES);
  const time = advance(from, best, near);
  if (time != OVERLAP) {
    if (time <= best) offer(time, 0, normalX, normalY, normalZ, 0, 0);
    return;
  }
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

let slabEnter: f64 = 0, slabLeave: f64 = 0;

/**
 * Bounds from below when the sphere or capsule comes to the box: by the axes of its faces, and by those across the way on
 * which it may pass beside. Answers Infinity where it does not come to it.
 */
function enterBox(): f64 {
  const b = otherBody, a = shapeBody;
  slabEnter = 0;
  slabLeave = best;
  if (!slab(b.edge1X, b.edge1Y, b.edge1Z, b.edge2X, b.edge2Y, b.edge2Z, b.edge0X, b.edge0Y, b.edge0Z)) return Infinity;
  if (!slab(b.edge2X, b.edge2Y, b.edge2Z, b.edge0X, b.edge0Y, b.edge0Z, b.edge1X, b.edge1Y, b.edge1Z)) return Infinity;
  if (!slab(b.edge0X, b.edge0Y, b.edge0Z, b.edge1X, b.edge1Y, b.edge1Z, b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  if (a.edges != 0 && isBesideBox(a.edge0X, a.edge0Y, a.edge0Z)) return Infinity;
  if (isBesideBox(b.edge0X, b.edge0Y, b.edge0Z) || isBesideBox(b.edge1X, b.edge1Y, b.edge1Z)) return Infinity;
  if (isBesideBox(b.edge2X, b.edge2Y, b.edge2Z)) return Infinity;
  return slabEnter * (1.0 - SLAB_ROUNDING);
}

/** What rounding may make of the time of a slab, and of its width. */
const SLAB_ROUNDING: f64 = 1e-12;

/** Narrows the time to that in which the two overlap along the axis at right angles to two edges of the box. */
// @ts-ignore: decorator
@inline
function slab(ex: f64, ey: f64, ez: f64, fx: f64, fy: f64, fz: f64, gx: f64, gy: f64, gz: f64): bool {
  const b = otherBody;
  const nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
  const middle = nx * b.x + ny * b.y + nz * b.z, rate = nx * wayX + ny * wayY + nz * wayZ;
  const reach = (abs(nx * gx + ny * gy + nz * gz) + shapeReach(nx, ny, nz)) * (1.0 + SLAB_ROUNDING) + abs(middle) * SLAB_ROUNDING;
  if (rate == 0) return abs(middle) <= reach;
  const s = (middle - reach) / rate, t = (middle + reach) / rate;
  slabEnter = max(slabEnter, min(s, t));
  slabLeave = min(slabLeave, max(s, t));
  return slabEnter <= slabLeave;
}

/** Answers how far the sphere or capsule reaches along an axis, times its length. */
// @ts-ignore: decorator
@inline
function shapeReach(nx: f64, ny: f64, nz: f64): f64 {
  const a = shapeBody;
  const along = a.edges != 0 ? abs(nx * a.edge0X + ny * a.edge0Y + nz * a.edge0Z) : 0;
  return along + a.radius * sqrt(nx * nx + ny * ny + nz * nz);
}

// @ts-ignore: decorator
@inline
function isBesideBox(ex: f64, ey: f64, ez: f64): bool {
  const b = otherBody;
  const nx = wayY * ez - wayZ * ey, ny = wayZ * ex - wayX * ez, nz = wayX * ey - wayY * ex;
  const reach =
    abs(nx * b.edge0X + ny * b.edge0Y + nz * b.edge0Z) + abs(nx * b.edge1X + ny * b.edge1Y + nz * b.edge1Z) +
    abs(nx * b.edge2X + ny * b.edge2Y + nz * b.edge2Z) + shapeReach(nx, ny, nz);
  return abs(nx * b.x + ny * b.y + nz * b.z) > reach * BESIDE;
}

// --- a convex shape and a mesh ---

let isCapsule: bool = false;

function convexAtMesh(): void {
  const mesh = changetype<Mesh>(<usize>other.mesh);
  if (angle == 0) {
    memory.copy(changetype<usize>(start), changetype<usize>(shapeBody), SUPPORT_BYTES);
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

/** Sweeps the body `start` straight at a mesh, whatever of both is the shape. */
function sweepStraight(mesh: Mesh, map: Affine, tree: Affine): void {
  setSweptMesh(mesh, map);
  straightTree = tree;
  isCapsule = start.hasBall != 0 && start.radius > 0;
  if (isCapsule) setCapsuleFrame(tree);
  else if (start.isBox) setBox(first, start);
  else setTriangleBody(still, stillCorners);
  sweepTree(mesh, start, ballOf(start), 0, start.x, start.y, start.z, wayX, wayY, wayZ, 0, 1, best, straight);
}
let straightTree: Affine = changetype<Affine>(0);

/** Bounds the radius of a body's ball. */
function ballOf(body: Support): f64 {
  if (!body.hasBall) return 0;
  return body.radius > 0 ? body.radius : spectralNorm(changetype<Affine>(changetype<usize>(body)));
}

/** Offers a meeting with a triangle of the mesh that stands, by the normal from it to what moves. */
function take(time: f64, depth: f64, x: f64, y: f64, z: f64, triangle: usize): bool {
  return isSwapped ? offer(time, depth, -x, -y, -z, triangle, 0) : offer(time, depth, x, y, z, 0, triangle);
}

function straight(at: usize): f64 {
  if (isCapsule) {
    straightCapsule(at);
    return best;
  }
  mapTriangle(stillCorners, at, straightTree);
  if (start.isBox) {
    setTriangle(second, stillCorners);
    if (satSweep(first, second, wayX, wayY, wayZ, wayLength, best, 0)) {
      take(satTime, satTime < 0 ? satDepth : 0, satX, satY, satZ, at);
    }
    return best;
  }
  const time = advance(0, best, 0);
  if (time == OVERLAP) {
    findTriangleExit();
    take(0, exitDepth, exitX, exitY, exitZ, at);
  } else if (time <= best) take(time, 0, normalX, normalY, normalZ, at);
  return best;
}

// A capsule's own axes in the world: the last one is its axis.
let axisXx: f64 = 0, axisXy: f64 = 0, axisXz: f64 = 0;
let axisYx: f64 = 0, axisYy: f64 = 0, axisYz: f64 = 0;
let axisZx: f64 = 0, axisZy: f64 = 0, axisZz: f64 = 1;
let capsuleHalf: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;

function setCapsuleFrame(tree: Affine): void {
  const b = start;
  capsuleHalf = b.edges != 0 ? sqrt(b.edge0X * b.edge0X + b.edge0Y * b.edge0Y + b.edge0Z * b.edge0Z) : 0;
  if (capsuleHalf > 0) {
    axisZx = b.edge0X / capsuleHalf; axisZy = b.edge0Y / capsuleHalf; axisZz = b.edge0Z / capsuleHalf;
    setBasis(axisZx, axisZy, axisZz);
    axisXx = firstX; axisXy = firstY; axisXz = firstZ;
    axisYx = secondX; axisYy = secondY; axisYz = secondZ;
  } else {
    axisXx = axisYy = axisZz = 1;
    axisXy = axisXz = axisYx = axisYz = axisZx = axisZy = 0;
  }
  const m = capsuleMap;
  for (let column: usize = 0; column < 96; column += 24) {
    const from = changetype<usize>(tree) + column, to = changetype<usize>(m) + column;
    const isPlace = column == 72;
    const x = load<f64>(from) - (isPlace ? b.x : 0), y = load<f64>(from, 8) - (isPlace ? b.y : 0);
    const z = load<f64>(from, 16) - (isPlace ? b.z : 0);
    store<f64>(to, axisXx * x + axisXy * y + axisXz * z);
    store<f64>(to, axisYx * x + axisYy * y + axisYz * z, 8);
    store<f64>(to, axisZx * x + axisZy * y + axisZz * z, 16);
  }
  alongX = axisXx * wayX + axisXy * wayY + axisXz * wayZ;
  alongY = axisYx * wayX + axisYy * wayY + axisYz * wayZ;
  alongZ = axisZx * wayX + axisZy * wayY + axisZz * wayZ;
  setCastCapsule(capsuleHalf, b.radius);
  obstacle.kind = TRIANGLE;
  obstacle.isOneSided = 0;
}

function straightCapsule(at: usize): void {
  mapTriangle(changetype<usize>(obstacle), at, capsuleMap);
  const o = obstacle, radius = start.radius;
  if (isBeside(radius)) return;
  boundTriangle(o);
  o.isMeasured = 0;
  if (isClear(o, 0, 0, 0, best * alongX, best * alongY, best * alongZ, radius)) return;
  const distance = measure(o, 0, 0, 0);
  if (distance < radius * (1.0 - TOUCHING)) {
    if (distance > 0) {
      takeCapsule(0, radius - distance, at);
      return;
    }
    // Its axis goes through the triangle: it leaves by the nearer of its ends.
    const height = heightOver(o, 0, 0, 0), reach = capsuleHalf * abs(o.normalZ);
    const side: f64 = height < 0 ? -1 : 1;
    take(
      0, radius + reach - abs(height), side * worldX(o.normalX, o.normalY, o.normalZ),
      side * worldY(o.normalX, o.normalY, o.normalZ), side * worldZ(o.normalX, o.normalY, o.normalZ), at,
    );
    return;
  }
  if (best == 0 && meetDepth > 0) return;
  const time = castCapsule(o, 0, 0, 0, alongX, alongY, alongZ, wayLength, best == 1 ? 1 : best * (1.0 + 1e-15));
  if (time < 1) takeCapsule(time, 0, at);
}

/**
 * Tells whether the capsule passes beside the triangle, as one sees them along the way: by the axes at right angles to it,
 * to the triangle's edges, and to the capsule's axis. That decides most triangles that are not met.
 */
function isBeside(radius: f64): bool {
  const o = obstacle, x = alongX, y = alongY;
  const a = y * o.ax - x * o.ay, b = y * o.bx - x * o.by, c = y * o.cx - x * o.cy;
  const side = radius * sqrt(x * x + y * y) * BESIDE;
  if (min(min(a, b), c) > side || max(max(a, b), c) < -side) return true;
  return isBesideEdge(o.bx - o.ax, o.by - o.ay, o.bz - o.az, o.ax, o.ay, o.az, o.cx, o.cy, o.cz, radius) ||
    isBesideEdge(o.cx - o.bx, o.cy - o.by, o.cz - o.bz, o.bx, o.by, o.bz, o.ax, o.ay, o.az, radius) ||
    isBesideEdge(o.ax - o.cx, o.ay - o.cy, o.az - o.cz, o.cx, o.cy, o.cz, o.bx, o.by, o.bz, radius);
}

/** Far more than rounding adds. */
const BESIDE: f64 = 1.000000001;

// @ts-ignore: decorator
@inline
function isBesideEdge(
  ex: f64, ey: f64, ez: f64, px: f64, py: f64, pz: f64, qx: f64, qy: f64, qz: f64, radius: f64,
): bool {
  const nx = alongY * ez - alongZ * ey, ny = alongZ * ex - alongX * ez, nz = alongX * ey - alongY * ex;
  const p = nx * px + ny * py + nz * pz, q = nx * qx + ny * qy + nz * qz;
  const reach = (capsuleHalf * abs(nz) + radius * sqrt(nx * nx + ny * ny + nz * nz)) * BESIDE;
  return min(p, q) > reach || max(p, q) < -reach;
}

function takeCapsule(time: f64, depth: f64, at: usize): void {
  if (!take(time, depth, worldX(awayX, awayY, awayZ), worldY(awayX, awayY, awayZ), worldZ(awayX, awayY, awayZ), at)) return;
  isTouchKnown = true;
  // Places are along the way of what moves; where that is the object, the shape's triangle is what goes to meet it.
  const shift = isSwapped ? -time : 0;
  meetX = start.x + worldX(capsuleX, capsuleY, capsuleZ) + shift * wayX;
  meetY = start.y + worldY(capsuleX, capsuleY, capsuleZ) + shift * wayY;
  meetZ = start.z + worldZ(capsuleX, capsuleY, capsuleZ) + shift * wayZ;
}

// @ts-ignore: decorator
@inline
function worldX(x: f64, y: f64, z: f64): f64 { return axisXx * x + axisYx * y + axisZx * z; }
// @ts-ignore: decorator
@inline
function worldY(x: f64, y: f64, z: f64): f64 { return axisXy * x + axisYy * y + axisZy * z; }
// @ts-ignore: decorator
@inline
function worldZ(x: f64, y: f64, z: f64): f64 { return axisXz * x + axisYz * y + axisZz * z; }

/** The way on which a triangle and a body that overlap part along the triangle's normal: from what stands to what moves. */
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

/** Answers how far any point of the shape turns away from its pose in the middle of a piece. */
function inflationOf(duration: f64): f64 {
  return 0.5 * duration * angle * arm + near;
}

function turningShape(at: usize): f64 {
  mapTriangle(stillCorners, at, otherTree);
  const limit = min(best, pieceTo);
  const time = advance(pieceFrom, limit, near);
  if (time == OVERLAP) {
    findTriangleExit();
    offer(0, exitDepth, exitX, exitY, exitZ, 0, at);
  } else if (time <= limit) offer(time, 0, normalX, normalY, normalZ, 0, at);
  return min(best, pieceTo);
}

function turningMesh(at: usize): f64 {
  mapTriangle(startCorners, at, shapeTree);
  const limit = min(best, pieceTo);
  const time = advance(pieceFrom, limit, near);
  if (time == OVERLAP) {
    findTriangleExit();
    offer(0, exitDepth, exitX, exitY, exitZ, at, 0);
  } else if (time <= limit) offer(time, 0, normalX, normalY, normalZ, at, 0);
  return min(best, pieceTo);
}

// --- a mesh at something convex ---

function meshAtConvex(): void {
  const mesh = changetype<Mesh>(<usize>shape.mesh);
  if (angle == 0) {
    // The object goes the way back, and the mesh stands.
    isSwapped = true;
    memory.copy(changetype<usize>(start), changetype<usize>(otherBody), SUPPORT_BYTES);
    setWay(-wayX, -wayY, -wayZ);
    sweepStraight(mesh, shapeMap, shapeTree);
    if (isMet && !isTouchKnown) findPlace();
    isTouchKnown = true;
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

// --- what is inside of a solid mesh at the start ---

/** Finds whether the shape is inside the object at the start, which its surface does not meet there. */
function checkInside(): void {
  const mesh = changetype<Mesh>(<usize>other.mesh);
  setPlaceOfShape();
  invert(poseMap, otherMap);
  const m = poseMap;
  const x = m.xx * insideX + m.yx * insideY + m.zx * insideZ + m.tx, y = m.xy * insideX + m.yy * insideY + m.zy * insideZ + m.ty;
  const z = m.xz * insideX + m.yz * insideY + m.zz * insideZ + m.tz;
  if (!(x >= mesh.lowX && x <= mesh.highX && y >= mesh.lowY && y <= mesh.highY && z >= mesh.lowZ && z <= mesh.highZ)) return;
  if (!isInsideByWinding(mesh, x, y, z, 0)) return;
  offerWayOut(mesh, otherMap, insideX, insideY, insideZ, 1);
}

/** Finds the same of an object within the shape. */
function checkAround(): void {
  const mesh = changetype<Mesh>(<usize>shape.mesh);
  let px = other.tx - originX, py = other.ty - originY, pz = other.tz - originZ;
  if (other.shape == SHAPE_MESH) {
    mapTriangle(corners, anyTriangle(changetype<Mesh>(<usize>other.mesh)), otherTree);
    px = load<f64>(corners); py = load<f64>(corners, 8); pz = load<f64>(corners, 16);
  }
  invert(poseMap, shapeMap);
  const m = poseMap;
  const x = m.xx * px + m.yx * py + m.zx * pz + m.tx, y = m.xy * px + m.yy * py + m.zy * pz + m.ty;
  const z = m.xz * px + m.yz * py + m.zz * pz + m.tz;
  if (!(x >= mesh.lowX && x <= mesh.highX && y >= mesh.lowY && y <= mesh.highY && z >= mesh.lowZ && z <= mesh.highZ)) return;
  if (!isInsideByWinding(mesh, x, y, z, 0)) return;
  offerWayOut(mesh, shapeMap, px, py, pz, -1);
}

let insideX: f64 = 0, insideY: f64 = 0, insideZ: f64 = 0;

/** Sets a place of the shape at the start. */
function setPlaceOfShape(): void {
  insideX = insideY = insideZ = 0;
  if (shape.shape != SHAPE_MESH) return;
  mapTriangle(corners, anyTriangle(changetype<Mesh>(<usize>shape.mesh)), shapeTree);
  insideX = load<f64>(corners); insideY = load<f64>(corners, 8); insideZ = load<f64>(corners, 16);
}

/** Answers the address of some triangle of a mesh. */
function anyTriangle(mesh: Mesh): usize {
  return changetype<usize>(mesh) + mesh.blocks;
}

/**
 * Offers the way from a place inside of a solid mesh to its surface, and on until all of what is inside has left; `sign`
 * is 1 where the shape is inside, and -1 where the object is.
 */
function offerWayOut(mesh: Mesh, map: Affine, x: f64, y: f64, z: f64, sign: f64): void {
  copy(poseMap, map);
  poseMap.tx -= x;
  poseMap.ty -= y;
  poseMap.tz -= z;
  if (!closestOnMesh(mesh, poseMap, Infinity, false)) return;
  let nx = closestX, ny = closestY, nz = closestZ;
  const distance = closestDistance;
  if (distance > 0) {
    nx /= distance; ny /= distance; nz /= distance;
  } else nz = 1;
  let behind: f64 = 0;
  const inner = sign > 0 ? shape : other;
  if (inner.shape == SHAPE_MESH) {
    const body = changetype<Mesh>(<usize>inner.mesh);
    behind = 2.0 * body.radius * spectralNorm(mapOf(inner));
  } else {
    const body = sign > 0 ? shapeBody : otherBody;
    findSupportPoint(body, -nx, -ny, -nz, false);
    behind = -(nx * (supportX - x) + ny * (supportY - y) + nz * (supportZ - z));
  }
  isMet = true;
  isTouchKnown = true;
  best = 0;
  meetDepth = distance + behind;
  meetNormalX = sign * nx;
  meetNormalY = sign * ny;
  meetNormalZ = sign * nz;
  meetTriangle = sign > 0 ? closestTriangle : -1;
  meetX = x + closestX;
  meetY = y + closestY;
  meetZ = z + closestZ;
}

/** Finds where the two touch: of what stands, when what moves is drawn away from it by as much as it is in it. */
function findPlace(): void {
  const time = max(best, 0.0);
  const isShapeMesh = shape.shape == SHAPE_MESH, isOtherMesh = other.shape == SHAPE_MESH;
  if (isSwapped) {
    memory.copy(changetype<usize>(start), changetype<usize>(otherBody), SUPPORT_BYTES);
    setTriangleBody(still, stillCorners);
    mapTriangle(stillCorners, metOfShape, shapeTree);
    findTouch(time, -meetNormalX, -meetNormalY, -meetNormalZ, meetDepth);
    meetX = touchX - time * wayX;
    meetY = touchY - time * wayY;
    meetZ = touchZ - time * wayZ;
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
  meetX = touchX;
  meetY = touchY;
  meetZ = touchZ;
}

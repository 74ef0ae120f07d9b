// The result of a sweep of a pair: the first contact so far, or the deepest one if the two overlap at the start.

import { SIDE_BACK, SIDE_DOUBLE, SIDE_FRONT } from '../../../shared/layout';
import { Affine } from '../math/affine';
import { sidesOfFace } from '../mesh/query/face-sides';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { BLOCK_BYTES, Block, Mesh, triangleOf } from '../mesh/tree/layout';
import { Polytope, setTriangle } from './swept-sat';
import { TRIANGLE_BYTES } from '../sizes';

/** The time of the contact, or the limit; and whether there is a contact. */
export let contactTime: f64 = 0;
export let hasContact: bool = false;
/** The penetration depth at the start, else 0. */
export let contactDepth: f64 = 0;
/** The unit normal from the object to the shape, and the contact point, relative to the shape's position at the start. */
export let contactNormalX: f64 = 0, contactNormalY: f64 = 0, contactNormalZ: f64 = 0;
export let contactX: f64 = 0, contactY: f64 = 0, contactZ: f64 = 0;
/** The object's triangle; -1 if it is not a mesh. */
export let contactTriangle: i32 = -1;
/** The addresses of the triangles in contact, in the shape's mesh and in the object's; 0 if none. */
export let shapeTriangle: usize = 0, objectTriangle: usize = 0;
/** Whether the contact point is known. */
export let isPointKnown: bool = false;
/** Whether the object moves, backwards, and the shape is at rest: if only the shape is a mesh. */
export let isSwapped: bool = false;

let objectMesh: usize = 0;
let objectTreeToWorld: Affine = changetype<Affine>(0);
let isMirrored: bool = false;
let sides: u32 = SIDE_DOUBLE;
let faceSides: usize = 0;

/**
 * Begins the sweep of a pair. Contacts later than `limit` are ignored. If the object is a mesh (else `mesh` is 0), with
 * `treeToWorld` as its map from tree space, only the sides `allowed` (SIDE_*) can be hit, except for triangles that a list
 * (mesh/query/face-sides.ts, or 0) specifies otherwise.
 */
export function beginPairSweep(limit: f64, mesh: usize, treeToWorld: Affine, mirrored: bool, allowed: u32,
  faceSideList: usize): void {
  contactTime = limit;
  hasContact = isPointKnown = isSwapped = false;
  shapeTriangle = objectTriangle = 0;
  contactDepth = 0;
  contactTriangle = -1;
  objectMesh = mesh;
  objectTreeToWorld = treeToWorld;
  isMirrored = mirrored;
  sides = allowed;
  faceSides = faceSideList;
}

/** Returns whether triangles can be hit from both sides. */
export function areAllSides(): bool {
  return sides == SIDE_DOUBLE || objectMesh == 0;
}

/** Makes the object the one that moves, backwards. */
export function swapRoles(): void {
  isSwapped = true;
}

/** Sets the contact point. */
export function setContactPoint(x: f64, y: f64, z: f64): void {
  isPointKnown = true;
  contactX = x;
  contactY = y;
  contactZ = z;
}

/** Records an overlap at the start, whatever was found before. */
export function recordOverlap(depth: f64, x: f64, y: f64, z: f64, triangle: i32): void {
  hasContact = true;
  contactTime = 0;
  contactDepth = depth;
  contactNormalX = x;
  contactNormalY = y;
  contactNormalZ = z;
  contactTriangle = triangle;
}

/** Records a contact if it is earlier than the best one, or deeper at the start. Returns whether it is. */
export function offerContact(hitTime: f64, depth: f64, x: f64, y: f64, z: f64, triangleOfShape: usize,
  triangleOfObject: usize): bool {
  const index = triangleOfObject != 0 ? triangleIndexOf(triangleOfObject) : -1;
  const time = depth > 0 ? 0 : max(hitTime, 0.0);
  if (depth > 0) {
    if (contactDepth > depth || (contactDepth == depth && contactTriangle < index)) return false;
  } else if (contactDepth > 0 || time > contactTime || (time == contactTime && hasContact && contactTriangle <= index))
    return false;
  if (triangleOfObject != 0 && sides != SIDE_DOUBLE && !isSideAllowed(triangleOfObject, index, x, y, z)) return false;
  hasContact = true;
  isPointKnown = false;
  contactTime = time;
  contactDepth = max(depth, 0.0);
  contactNormalX = x;
  contactNormalY = y;
  contactNormalZ = z;
  contactTriangle = index;
  shapeTriangle = triangleOfShape;
  objectTriangle = triangleOfObject;
  return true;
}

/** Returns the index of a triangle by its address, which is its block's plus four times the lane. */
function triangleIndexOf(at: usize): i32 {
  const mesh = changetype<Mesh>(objectMesh);
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  const offset = (at - blocks) % BLOCK_BYTES;
  return triangleOf(changetype<Block>(at - offset), <i32>(offset >> 2));
}

/** Returns whether the side of an object's triangle that the shape approaches can be hit. */
function isSideAllowed(at: usize, index: i32, x: f64, y: f64, z: f64): bool {
  mapTriangle(corners, at, objectTreeToWorld);
  setTriangle(face, corners);
  let facing =
    x * (face.e0Y * face.e1Z - face.e0Z * face.e1Y) + y * (face.e0Z * face.e1X - face.e0X * face.e1Z) +
    z * (face.e0X * face.e1Y - face.e0Y * face.e1X);
  if (isMirrored) facing = -facing;
  const side: u32 = facing >= 0 ? SIDE_FRONT : SIDE_BACK;
  const allowed = faceSides != 0 ? sidesOfFace(faceSides, <u32>index, sides) : sides;
  return (allowed & side) != 0;
}
const corners: usize = memory.data(TRIANGLE_BYTES, 16);
const face = changetype<Polytope>(memory.data(<i32>offsetof<Polytope>(), 16));

/** Offers a contact with a triangle of the mesh at rest, with the normal from it to the moving body. */
export function offerTriangleContact(time: f64, depth: f64, x: f64, y: f64, z: f64, triangle: usize): bool {
  return isSwapped ? offerContact(time, depth, -x, -y, -z, triangle, 0) : offerContact(time, depth, x, y, z, 0, triangle);
}

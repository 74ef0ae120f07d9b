// The result of a sweep of a pair: the first contact so far, or the deepest one if the two overlap at the start.

import { SIDE_BACK, SIDE_DOUBLE, SIDE_FRONT } from '../../../shared/layout';
import { Affine } from '../math/affine';
import { sidesOfFace } from '../mesh/query/face-sides';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { BLOCK_BYTES, Block, Mesh, triangleOf } from '../mesh/tree/layout';
import { Polytope, setTriangle } from './swept-sat';
import { TRIANGLE_BYTES } from '../sizes';

/** The time of the contact, or the limit; and whether there is a contact. */
export let best: f64 = 0;
export let isMet: bool = false;
/** The penetration depth at the start, else 0. */
export let meetDepth: f64 = 0;
/** The unit normal from the object to the shape, and the contact point, relative to the shape's position at the start. */
export let meetNormalX: f64 = 0, meetNormalY: f64 = 0, meetNormalZ: f64 = 0;
export let meetX: f64 = 0, meetY: f64 = 0, meetZ: f64 = 0;
/** The object's triangle; -1 if it is not a mesh. */
export let meetTriangle: i32 = -1;
/** The addresses of the triangles in contact, in the shape's mesh and in the object's; 0 if none. */
export let metOfShape: usize = 0, metOfOther: usize = 0;
/** Whether the contact point is known. */
export let isTouchKnown: bool = false;
/** Whether the object moves, backwards, and the shape is at rest: if only the shape is a mesh. */
export let isSwapped: bool = false;

let objectMesh: usize = 0;
let objectTree: Affine = changetype<Affine>(0);
let isMirrored: bool = false;
let sides: u32 = SIDE_DOUBLE;
let faceSides: usize = 0;

/**
 * Begins the sweep of a pair. Contacts later than `limit` are ignored. If the object is a mesh (else `mesh` is 0), with
 * `tree` as its map from tree space, only the sides `allowed` (SIDE_*) can be hit, except for triangles that a list
 * (mesh/query/face-sides.ts, or 0) specifies otherwise.
 */
export function beginMeeting(limit: f64, mesh: usize, tree: Affine, mirrored: bool, allowed: u32, list: usize): void {
  best = limit;
  isMet = isTouchKnown = isSwapped = false;
  metOfShape = metOfOther = 0;
  meetDepth = 0;
  meetTriangle = -1;
  objectMesh = mesh;
  objectTree = tree;
  isMirrored = mirrored;
  sides = allowed;
  faceSides = list;
}

/** Returns whether triangles can be hit from both sides. */
export function areAllSides(): bool {
  return sides == SIDE_DOUBLE || objectMesh == 0;
}

/** Makes the object the one that moves, backwards. */
export function swap(): void {
  isSwapped = true;
}

/** Sets the contact point. */
export function setTouch(x: f64, y: f64, z: f64): void {
  isTouchKnown = true;
  meetX = x;
  meetY = y;
  meetZ = z;
}

/** Records an overlap at the start, whatever was found before. */
export function overrule(depth: f64, x: f64, y: f64, z: f64, triangle: i32): void {
  isMet = true;
  best = 0;
  meetDepth = depth;
  meetNormalX = x;
  meetNormalY = y;
  meetNormalZ = z;
  meetTriangle = triangle;
}

/** Records a contact if it is earlier than the best one, or deeper at the start. Returns whether it is. */
export function offer(when: f64, depth: f64, x: f64, y: f64, z: f64, ofShape: usize, ofOther: usize): bool {
  const index = ofOther != 0 ? indexOf(ofOther) : -1;
  const time = depth > 0 ? 0 : max(when, 0.0);
  if (depth > 0) {
    if (meetDepth > depth || (meetDepth == depth && meetTriangle < index)) return false;
  } else if (meetDepth > 0 || time > best || (time == best && isMet && meetTriangle <= index)) return false;
  if (ofOther != 0 && sides != SIDE_DOUBLE && !isSeen(ofOther, index, x, y, z)) return false;
  isMet = true;
  isTouchKnown = false;
  best = time;
  meetDepth = max(depth, 0.0);
  meetNormalX = x;
  meetNormalY = y;
  meetNormalZ = z;
  meetTriangle = index;
  metOfShape = ofShape;
  metOfOther = ofOther;
  return true;
}

/** Returns the index of a triangle by its address, which is its block's plus four times the lane. */
function indexOf(at: usize): i32 {
  const mesh = changetype<Mesh>(objectMesh);
  const blocks = changetype<usize>(mesh) + mesh.blocks;
  const within = (at - blocks) % BLOCK_BYTES;
  return triangleOf(changetype<Block>(at - within), <i32>(within >> 2));
}

/** Returns whether the side of an object's triangle that the shape approaches can be hit. */
function isSeen(at: usize, index: i32, x: f64, y: f64, z: f64): bool {
  mapTriangle(corners, at, objectTree);
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
export function take(time: f64, depth: f64, x: f64, y: f64, z: f64, triangle: usize): bool {
  return isSwapped ? offer(time, depth, -x, -y, -z, triangle, 0) : offer(time, depth, x, y, z, 0, triangle);
}

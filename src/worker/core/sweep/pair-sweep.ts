// A sweep against one object as a record, so that the interruptible module can run it (pair-module.ts): the swept shape and
// the object.

import { PLACED_SHAPE_BYTES, PlacedShape } from '../shape/placed-shape';
import {
  contactTime, hasContact, contactDepth, contactNormalX, contactNormalY, contactNormalZ, contactTriangle, contactX, contactY,
  contactZ,
} from './meeting';
import { setMotion } from './motion';
import { beginSweep, sweepPair } from './sweep';

/** A shape and its motion: the translation, the rotation and its pivot; the shape follows the record. */
@unmanaged
export class SweptShape {
  translationX: f64; translationY: f64; translationZ: f64;
  turnX: f64; turnY: f64; turnZ: f64; turnW: f64;
  pivotX: f64; pivotY: f64; pivotZ: f64;
  tolerance: f64;
  pad: f64;
}

/** An object to sweep against, which follows the record, and the result. */
@unmanaged
export class PairSweep {
  /** The time from which on the two may be in contact, and the limit. */
  from: f64;
  limit: f64;
  id: u32;
  /** The sides that can be hit, and the list of those of single triangles, or 0. */
  sides: u32;
  faceSides: u32;
  hasContact: u32;
  time: f64;
  depth: f64;
  normalX: f64; normalY: f64; normalZ: f64;
  x: f64; y: f64; z: f64;
  triangle: i32;
  pad: u32;
}

export const SWEPT_SHAPE_BYTES: usize = offsetof<SweptShape>() + PLACED_SHAPE_BYTES;
export const PAIR_SWEEP_BYTES: usize = offsetof<PairSweep>() + PLACED_SHAPE_BYTES;

// @ts-ignore: decorator
@inline
export function shapeOfSwept(swept: SweptShape): PlacedShape {
  return changetype<PlacedShape>(changetype<usize>(swept) + offsetof<SweptShape>());
}

// @ts-ignore: decorator
@inline
export function objectOfPair(pair: PairSweep): PlacedShape {
  return changetype<PlacedShape>(changetype<usize>(pair) + offsetof<PairSweep>());
}

/** Sweeps the shape against the object. Throws OUT_OF_MEMORY. */
export function runPairSweep(swept: SweptShape, pair: PairSweep): void {
  setMotion(swept.translationX, swept.translationY, swept.translationZ, swept.turnX, swept.turnY, swept.turnZ, swept.turnW);
  beginSweep(shapeOfSwept(swept), swept.pivotX, swept.pivotY, swept.pivotZ, swept.tolerance);
  pair.hasContact = <u32>sweepPair(objectOfPair(pair), pair.sides, <usize>pair.faceSides, pair.limit);
  if (pair.hasContact) writeContact(pair);
}

/** Writes the result of the last `sweepPair`. */
export function writeContact(pair: PairSweep): void {
  pair.hasContact = <u32>hasContact;
  pair.time = contactTime;
  pair.depth = contactDepth;
  pair.normalX = contactNormalX; pair.normalY = contactNormalY; pair.normalZ = contactNormalZ;
  pair.x = contactX; pair.y = contactY; pair.z = contactZ;
  pair.triangle = contactTriangle;
}

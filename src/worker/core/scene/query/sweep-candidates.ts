// The objects near the path of a shape against which it is swept in slices: copies of them, in the order in which they were
// found.

import { reserve } from '../../memory';
import { PLACED_SHAPE_BYTES, PlacedShape } from '../../shape/placed-shape';
import { PAIR_SWEEP_BYTES, PairSweep, SWEPT_SHAPE_BYTES, objectOfPair } from '../../sweep/pair-sweep';

/** The header of a kept sweep, before the shape and the objects. */
@unmanaged
export class KeptSweep {
  count: u32;
  wantsAll: u32;
  pad: u64;
}

/** The offset of the objects. */
const HEADER_BYTES: usize = offsetof<KeptSweep>() + SWEPT_SHAPE_BYTES;
/** The initial capacity. */
const INITIAL_CAPACITY: usize = 16;

let buffer: usize = 0;
let candidateCount: u32 = 0;

export function clearCandidates(): void {
  candidateCount = 0;
}

/** Adds an object that the shape may meet from a time on. Throws OUT_OF_MEMORY. */
export function addCandidate(object: PlacedShape, from: f64, id: u32, sides: u32, faceSides: usize): PairSweep {
  reserveOneMore();
  const pair = pairOf(buffer, candidateCount++);
  pair.from = from;
  pair.id = id;
  pair.sides = sides;
  pair.faceSides = <u32>faceSides;
  pair.hasContact = 0;
  memory.copy(changetype<usize>(objectOfPair(pair)), changetype<usize>(object), PLACED_SHAPE_BYTES);
  return pair;
}

function reserveOneMore(): void {
  const used = HEADER_BYTES + <usize>candidateCount * PAIR_SWEEP_BYTES;
  buffer = reserve(buffer, buffer == 0 ? 0 : used, <u64>used + (buffer == 0 ? INITIAL_CAPACITY : 1) * PAIR_SWEEP_BYTES);
}

/**
 * Hands over the candidates as a KeptSweep, into which the caller must write the shape: copying 100,000 of them would take long.
 * Throws OUT_OF_MEMORY.
 */
export function detachCandidates(): KeptSweep {
  reserveOneMore();
  const sweep = changetype<KeptSweep>(buffer);
  sweep.count = candidateCount;
  buffer = 0;
  candidateCount = 0;
  return sweep;
}

/** Returns one of the candidates that were handed over. */
// @ts-ignore: decorator
@inline
export function pairOf(sweepAddress: usize, i: u32): PairSweep {
  return changetype<PairSweep>(sweepAddress + HEADER_BYTES + <usize>i * PAIR_SWEEP_BYTES);
}

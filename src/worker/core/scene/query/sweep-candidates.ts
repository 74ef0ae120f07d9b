// The objects near the way of a shape against which it is swept in slices: copies of them, in the order in which they were found.

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
const BEFORE: usize = offsetof<KeptSweep>() + SWEPT_SHAPE_BYTES;
/** The initial capacity. */
const FEWEST: usize = 16;

let list: usize = 0;
let count: u32 = 0;

export function clearCandidates(): void {
  count = 0;
}

/** Adds an object that the shape may meet from a time on. Throws OUT_OF_MEMORY. */
export function addCandidate(object: PlacedShape, from: f64, id: u32, sides: u32, faceSides: usize): PairSweep {
  reserveOneMore();
  const pair = pairOf(list, count++);
  pair.from = from;
  pair.id = id;
  pair.sides = sides;
  pair.list = <u32>faceSides;
  pair.isMet = 0;
  memory.copy(changetype<usize>(objectOfPair(pair)), changetype<usize>(object), PLACED_SHAPE_BYTES);
  return pair;
}

function reserveOneMore(): void {
  const used = BEFORE + <usize>count * PAIR_SWEEP_BYTES;
  list = reserve(list, list == 0 ? 0 : used, <u64>used + (list == 0 ? FEWEST : 1) * PAIR_SWEEP_BYTES);
}

/**
 * Hands over the candidates as a KeptSweep, into which the caller must write the shape: copying 100,000 of them would take long.
 * Throws OUT_OF_MEMORY.
 */
export function takeCandidates(): KeptSweep {
  reserveOneMore();
  const kept = changetype<KeptSweep>(list);
  kept.count = count;
  list = 0;
  count = 0;
  return kept;
}

/** Returns one of the candidates that were handed over. */
// @ts-ignore: decorator
@inline
export function pairOf(kept: usize, i: u32): PairSweep {
  return changetype<PairSweep>(kept + BEFORE + <usize>i * PAIR_SWEEP_BYTES);
}

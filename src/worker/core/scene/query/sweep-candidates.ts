// The objects near the way of a shape at which it is swept in slices: copies of them, in the order in which they were found.

import { reserve } from '../../memory';
import { PLACED_SHAPE_BYTES, PlacedShape } from '../../shape/placed-shape';
import { PAIR_SWEEP_BYTES, PairSweep, objectOfPair } from '../../sweep/pair-sweep';

let list: usize = 0;
export let candidateCount: u32 = 0;

export function clearCandidates(): void {
  candidateCount = 0;
}

// @ts-ignore: decorator
@inline
export function candidateAt(i: u32): PairSweep {
  return changetype<PairSweep>(list + <usize>i * PAIR_SWEEP_BYTES);
}

/** Adds an object that the shape may meet from a time on. Throws OUT_OF_MEMORY. */
export function addCandidate(object: PlacedShape, from: f64, id: u32, sides: u32, faceSides: usize): PairSweep {
  const used = <usize>candidateCount * PAIR_SWEEP_BYTES;
  list = reserve(list, used, <u64>used + PAIR_SWEEP_BYTES);
  const pair = candidateAt(candidateCount++);
  pair.from = from;
  pair.id = id;
  pair.sides = sides;
  pair.list = <u32>faceSides;
  pair.isMet = 0;
  memory.copy(changetype<usize>(objectOfPair(pair)), changetype<usize>(object), PLACED_SHAPE_BYTES);
  return pair;
}

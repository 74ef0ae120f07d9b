// What became of a pair in the interruptible module, as the core reads it.

@unmanaged
export class Outcome {
  /** The answer of `collide`. */
  contained: i32;
  /** The address of the points (CONTACT_*), and how many there are. */
  points: usize;
  pointCount: u32;
  /** The address of the crossings (CROSSING_*), and how many there are. */
  crossings: usize;
  crossingCount: u32;
  /** The address of the pairs of bones (BONE_PAIR_*), and how many there are. */
  bonePairs: usize;
  bonePairCount: u32;
  /** When the two met (layout.ts, OUT_PAIR_TIME). */
  time: f32;
}

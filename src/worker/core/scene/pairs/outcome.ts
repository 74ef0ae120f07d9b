// The result of a pair in the interruptible module, as the core reads it.

@unmanaged
export class Outcome {
  /** The return value of `collide`. */
  contained: i32;
  /** The address of the points (CONTACT_*), and their number. */
  points: usize;
  pointCount: u32;
  /** The address of the crossings (CROSSING_*), and their number. */
  crossings: usize;
  crossingCount: u32;
  /** The address of the pairs of bones (BONE_PAIR_*), and their number. */
  bonePairs: usize;
  bonePairCount: u32;
  /** When the two met (layout.ts, OUT_PAIR_TIME). */
  time: f32;
}

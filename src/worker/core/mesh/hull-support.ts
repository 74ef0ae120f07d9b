// The corner of a convex mesh that lies farthest along a direction, in tree space: float32 passes by clusters and
// corners that cannot be it, float64 decides.

import { plus, times } from '../math/lanes';
import { CLUSTER_BYTES, FOUR_BOUNDS_BYTES, Hull } from './hull';

/** What float32 may add to a height, relative to the sum of the direction's magnitudes: tree space reaches to 2. */
const ROUNDING: f32 = 9.5367431640625e-7; // 2^-20

/**
 * Address of the corner: its x, and 16 and 32 bytes on y and z. Of a direction that is not 0; any corner to begin with,
 * best one near it.
 */
export function farthestCorner(hull: Hull, dx: f64, dy: f64, dz: f64, start: usize): usize {
  // Over the largest magnitude: neither overflows.
  const over = 1.0 / max(max(abs(dx), abs(dy)), abs(dz));
  const x = dx * over, y = dy * over, z = dz * over;
  const shortX = f32x4.splat(<f32>x), shortY = f32x4.splat(<f32>y), shortZ = f32x4.splat(<f32>z);
  const sizeX = f32x4.abs(shortX), sizeY = f32x4.abs(shortY), sizeZ = f32x4.abs(shortZ);
  const blur = f32x4.mul(plus(plus(sizeX, sizeY), sizeZ), f32x4.splat(ROUNDING));
  let farthest = start;
  let best = x * <f64>load<f32>(start) + y * <f64>load<f32>(start, 16) + z * <f64>load<f32>(start, 32);
  // In float32, what may be no higher.
  let bound = f32x4.sub(f32x4.splat(<f32>best), blur);
  let corners = <usize>hull.corners;
  const end = <usize>hull.bounds + <usize>(hull.clusterCount >> 2) * FOUR_BOUNDS_BYTES;
  for (let four = <usize>hull.bounds; four < end; four += FOUR_BOUNDS_BYTES) {
    const middle = plus(
      plus(times(v128.load(four), shortX), times(v128.load(four, 16), shortY)), times(v128.load(four, 32), shortZ),
    );
    const half = plus(
      plus(times(v128.load(four, 48), sizeX), times(v128.load(four, 64), sizeY)), times(v128.load(four, 80), sizeZ),
    );
    let clusters = <u32>i32x4.bitmask(f32x4.gt(plus(plus(middle, half), blur), bound));
    for (; clusters != 0; clusters &= clusters - 1) {
      const from = corners + <usize>ctz(clusters) * CLUSTER_BYTES;
      for (let at = from; at < from + CLUSTER_BYTES; at += 48) {
        const height = plus(
          plus(times(v128.load(at), shortX), times(v128.load(at, 16), shortY)), times(v128.load(at, 32), shortZ),
        );
        let bits = <u32>i32x4.bitmask(f32x4.gt(height, bound));
        for (; bits != 0; bits &= bits - 1) {
          const corner = at + (<usize>ctz(bits) << 2);
          const exact = x * <f64>load<f32>(corner) + y * <f64>load<f32>(corner, 16) + z * <f64>load<f32>(corner, 32);
          if (exact <= best) continue;
          best = exact;
          farthest = corner;
          bound = f32x4.sub(f32x4.splat(<f32>exact), blur);
        }
      }
    }
    corners += 4 * CLUSTER_BYTES;
  }
  return farthest;
}

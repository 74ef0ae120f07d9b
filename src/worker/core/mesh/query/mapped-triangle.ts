import { Affine } from '../../math/affine';

/**
 * Copies a triangle, nine f64 as in Triangle, to its image under a map. `at` is the block's address plus four times the
 * lane.
 */
export function mapTriangle(to: usize, at: usize, m: Affine): void {
  for (let k: usize = 0; k < 3; k++) {
    const from = at + k * 48, corner = to + k * 24;
    const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
    store<f64>(corner, m.xx * x + m.yx * y + m.zx * z + m.tx);
    store<f64>(corner, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
    store<f64>(corner, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
  }
}

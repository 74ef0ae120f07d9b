// The map from the cube [-1, 1]³ to a box, given by its centre, half sizes and rotation (layout.ts, OBJECT_CENTER and what
// follows).

import { OBJECT_CENTER, OBJECT_EXTENT, OBJECT_ROTATION } from '../../../shared/layout';
import { Affine } from '../math/affine';

/** Sets the map of a box from its description. */
export function setBoxMap(local: Affine, description: usize): void {
  let hx = load<f64>(description, OBJECT_EXTENT);
  let hy = load<f64>(description, OBJECT_EXTENT + 8);
  let hz = load<f64>(description, OBJECT_EXTENT + 16);
  const minimum = minHalfSize(hx, hy, hz);
  hx = max(hx, minimum);
  hy = max(hy, minimum);
  hz = max(hz, minimum);
  const x = load<f64>(description, OBJECT_ROTATION);
  const y = load<f64>(description, OBJECT_ROTATION + 8);
  const z = load<f64>(description, OBJECT_ROTATION + 16);
  const w = load<f64>(description, OBJECT_ROTATION + 24);
  const s = 2.0 / (x * x + y * y + z * z + w * w);
  local.xx = (1.0 - s * (y * y + z * z)) * hx;
  local.xy = s * (x * y + z * w) * hx;
  local.xz = s * (x * z - y * w) * hx;
  local.yx = s * (x * y - z * w) * hy;
  local.yy = (1.0 - s * (x * x + z * z)) * hy;
  local.yz = s * (y * z + x * w) * hy;
  local.zx = s * (x * z + y * w) * hz;
  local.zy = s * (y * z - x * w) * hz;
  local.zz = (1.0 - s * (x * x + y * y)) * hz;
  local.tx = load<f64>(description, OBJECT_CENTER);
  local.ty = load<f64>(description, OBJECT_CENTER + 8);
  local.tz = load<f64>(description, OBJECT_CENTER + 16);
}

/**
 * Returns the minimum half size of a box with these half sizes. Flat meshes and boxes get an invisible thickness, so that
 * every oriented box can be inverted.
 */
export function minHalfSize(x: f64, y: f64, z: f64): f64 {
  return max(max(max(x, y), z) * 1e-9, 1e-90);
}

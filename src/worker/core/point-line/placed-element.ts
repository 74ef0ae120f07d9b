// The ends of an element of points or lines, under a map from tree space.

import { Affine } from '../math/affine';
import { LINE_END, LINE_Y, LINE_Z, POINT_Y, POINT_Z } from './layout';

/** The ends of the last element that was read: of a point, both are the same. */
export let ax: f64 = 0, ay: f64 = 0, az: f64 = 0, bx: f64 = 0, by: f64 = 0, bz: f64 = 0;

/** Reads the ends of the element in a lane, given by the address of its x, and maps them. */
export function loadElement(at: usize, isPoint: bool, m: Affine): void {
  const y: usize = isPoint ? POINT_Y : LINE_Y, z: usize = isPoint ? POINT_Z : LINE_Z;
  loadStart(isPoint ? at : at + LINE_END, y, z, m);
  bx = ax;
  by = ay;
  bz = az;
  loadStart(at, y, z, m);
}

function loadStart(at: usize, yOffset: usize, zOffset: usize, m: Affine): void {
  const x = <f64>load<f32>(at), y = <f64>load<f32>(at + yOffset), z = <f64>load<f32>(at + zOffset);
  ax = m.xx * x + m.yx * y + m.zx * z + m.tx;
  ay = m.xy * x + m.yy * y + m.zy * z + m.ty;
  az = m.xz * x + m.yz * y + m.zz * z + m.tz;
}

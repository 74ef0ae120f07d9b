import { Affine, invert, multiply } from './affine';

const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

export const APART: u32 = 0;
export const OVERLAPPING: u32 = 1;
export const FIRST_INSIDE: u32 = 2;
export const SECOND_INSIDE: u32 = 3;

/**
 * Compares the cubes [-1, 1]³ under two affine maps; touching is overlapping. Tests the separating axes (Gottschalk,
 * Lin and Manocha 1996) in the space in which the first is the cube itself: the radius of the second along an axis is a
 * sum of entries of the map between them, or of its cofactors.
 */
export function compareObbs(a: Affine, b: Affine): u32 {
  invert(inverse, a);
  // The two positions are subtracted first, which keeps the digits far from the origin.
  multiply(map, inverse, b);
  const dx = b.tx - a.tx, dy = b.ty - a.ty, dz = b.tz - a.tz;
  const tx = inverse.xx * dx + inverse.yx * dy + inverse.zx * dz;
  const ty = inverse.xy * dx + inverse.yy * dy + inverse.zy * dz;
  const tz = inverse.xz * dx + inverse.yz * dy + inverse.zz * dz;
  const m00 = map.xx, m01 = map.yx, m02 = map.zx;
  const m10 = map.xy, m11 = map.yy, m12 = map.zy;
  const m20 = map.xz, m21 = map.yz, m22 = map.zz;
  const n00 = abs(m00), n01 = abs(m01), n02 = abs(m02);
  const n10 = abs(m10), n11 = abs(m11), n12 = abs(m12);
  const n20 = abs(m20), n21 = abs(m21), n22 = abs(m22);
  const rx = n00 + n01 + n02, ry = n10 + n11 + n12, rz = n20 + n21 + n22;
  if (abs(tx) > 1.0 + rx || abs(ty) > 1.0 + ry || abs(tz) > 1.0 + rz) return APART;

  const c00 = m11 * m22 - m12 * m21, c01 = m12 * m20 - m10 * m22, c02 = m10 * m21 - m11 * m20;
  const c10 = m21 * m02 - m22 * m01, c11 = m22 * m00 - m20 * m02, c12 = m20 * m01 - m21 * m00;
  const c20 = m01 * m12 - m02 * m11, c21 = m02 * m10 - m00 * m12, c22 = m00 * m11 - m01 * m10;
  const volume = abs(m00 * c00 + m01 * c01 + m02 * c02);
  const d00 = abs(c00), d01 = abs(c01), d02 = abs(c02);
  const d10 = abs(c10), d11 = abs(c11), d12 = abs(c12);
  const d20 = abs(c20), d21 = abs(c21), d22 = abs(c22);
  const px = abs(c00 * tx + c10 * ty + c20 * tz), qx = d00 + d10 + d20;
  const py = abs(c01 * tx + c11 * ty + c21 * tz), qy = d01 + d11 + d21;
  const pz = abs(c02 * tx + c12 * ty + c22 * tz), qz = d02 + d12 + d22;
  if (px > qx + volume || py > qy + volume || pz > qz + volume) return APART;

  if (
    abs(m10 * tz - m20 * ty) > n20 + n10 + d02 + d01 ||
    abs(m11 * tz - m21 * ty) > n21 + n11 + d02 + d00 ||
    abs(m12 * tz - m22 * ty) > n22 + n12 + d01 + d00 ||
    abs(m20 * tx - m00 * tz) > n20 + n00 + d12 + d11 ||
    abs(m21 * tx - m01 * tz) > n21 + n01 + d12 + d10 ||
    abs(m22 * tx - m02 * tz) > n22 + n02 + d11 + d10 ||
    abs(m00 * ty - m10 * tx) > n10 + n00 + d22 + d21 ||
    abs(m01 * ty - m11 * tx) > n11 + n01 + d22 + d20 ||
    abs(m02 * ty - m12 * tx) > n12 + n02 + d21 + d20
  ) return APART;
  if (px + qx <= volume && py + qy <= volume && pz + qz <= volume) return FIRST_INSIDE;
  if (abs(tx) + rx <= 1.0 && abs(ty) + ry <= 1.0 && abs(tz) + rz <= 1.0) return SECOND_INSIDE;
  return OVERLAPPING;
}

// One oriented box against a node's four: the separating-axis test over 15 axes (Gottschalk, Lin and Manocha,
// "OBBTree", 1996), four boxes a time. The map between the two frames may scale and shear, so an edge of one box
// and the faces of the other are taken through cofactors instead of through a rotation's own entries.

import { Rotation } from '../math/quaternion';
import { Node, childMask, highBounds, lowBounds } from './layout';

// Frame B to frame A: columns of G, cofactors C of G, translation T.
let g00: f32, g01: f32, g02: f32, g10: f32, g11: f32, g12: f32, g20: f32, g21: f32, g22: f32;
let c00: f32, c01: f32, c02: f32, c10: f32, c11: f32, c12: f32, c20: f32, c21: f32, c22: f32;
let tx: f32, ty: f32, tz: f32;
/** Added to |G| and |C|, so that near-parallel edges cannot separate by rounding alone. */
let slackG: f32, slackC: f32;
let volume: f32;

/** Tree B to tree A in float32. */
@unmanaged
export class Relation {
  xx: f32; xy: f32; xz: f32; // row x: how the coordinates of B make x of A
  yx: f32; yy: f32; yz: f32;
  zx: f32; zy: f32; zz: f32;
  tx: f32; ty: f32; tz: f32;
}

/** Sets the frames: `a` rotates tree A into frame A, `b` tree B into frame B. */
export function relate(m: Relation, a: Rotation, b: Rotation): void {
  // G = a · m · bᵀ
  const pxx = a.xx * m.xx + a.xy * m.yx + a.xz * m.zx;
  const pxy = a.xx * m.xy + a.xy * m.yy + a.xz * m.zy;
  const pxz = a.xx * m.xz + a.xy * m.yz + a.xz * m.zz;
  const pyx = a.yx * m.xx + a.yy * m.yx + a.yz * m.zx;
  const pyy = a.yx * m.xy + a.yy * m.yy + a.yz * m.zy;
  const pyz = a.yx * m.xz + a.yy * m.yz + a.yz * m.zz;
  const pzx = a.zx * m.xx + a.zy * m.yx + a.zz * m.zx;
  const pzy = a.zx * m.xy + a.zy * m.yy + a.zz * m.zy;
  const pzz = a.zx * m.xz + a.zy * m.yz + a.zz * m.zz;
  g00 = pxx * b.xx + pxy * b.xy + pxz * b.xz;
  g01 = pxx * b.yx + pxy * b.yy + pxz * b.yz;
  g02 = pxx * b.zx + pxy * b.zy + pxz * b.zz;
  g10 = pyx * b.xx + pyy * b.xy + pyz * b.xz;
  g11 = pyx * b.yx + pyy * b.yy + pyz * b.yz;
  g12 = pyx * b.zx + pyy * b.zy + pyz * b.zz;
  g20 = pzx * b.xx + pzy * b.xy + pzz * b.xz;
  g21 = pzx * b.yx + pzy * b.yy + pzz * b.yz;
  g22 = pzx * b.zx + pzy * b.zy + pzz * b.zz;
  tx = a.xx * m.tx + a.xy * m.ty + a.xz * m.tz;
  ty = a.yx * m.tx + a.yy * m.ty + a.yz * m.tz;
  tz = a.zx * m.tx + a.zy * m.ty + a.zz * m.tz;
  c00 = g11 * g22 - g12 * g21; c01 = g12 * g20 - g10 * g22; c02 = g10 * g21 - g11 * g20;
  c10 = g21 * g02 - g22 * g01; c11 = g22 * g00 - g20 * g02; c12 = g20 * g01 - g21 * g00;
  c20 = g01 * g12 - g02 * g11; c21 = g02 * g10 - g00 * g12; c22 = g00 * g11 - g01 * g10;
  volume = abs(g00 * c00 + g01 * c01 + g02 * c02);
  const largest = max(
    max(max(abs(g00), abs(g01)), max(abs(g02), abs(g10))),
    max(max(abs(g11), abs(g12)), max(max(abs(g20), abs(g21)), abs(g22))),
  );
  slackG = largest * <f32>4e-6;
  slackC = largest * slackG;
  volume += largest * slackC;
}

// @ts-ignore: decorator
@inline
function plus(a: v128, b: v128): v128 { return f32x4.add(a, b); }
// @ts-ignore: decorator
@inline
function minus(a: v128, b: v128): v128 { return f32x4.sub(a, b); }
// @ts-ignore: decorator
@inline
function times(s: f32, v: v128): v128 { return f32x4.mul(f32x4.splat(s), v); }
// @ts-ignore: decorator
@inline
function within(distance: v128, radius: v128): v128 { return f32x4.le(f32x4.abs(distance), radius); }

/** Which of B's four boxes may overlap the box of frame A with this centre and these half extents; a bit each. */
export function overlapping(ax: f32, ay: f32, az: f32, hx: f32, hy: f32, hz: f32, b: Node): i32 {
  const half = f32x4.splat(0.5);
  const lowX = lowBounds(b, 0), highX = highBounds(b, 0);
  const bx = f32x4.mul(plus(lowX, highX), half), ux = f32x4.mul(minus(highX, lowX), half);
  const lowY = lowBounds(b, 1), highY = highBounds(b, 1);
  const by = f32x4.mul(plus(lowY, highY), half), uy = f32x4.mul(minus(highY, lowY), half);
  const lowZ = lowBounds(b, 2), highZ = highBounds(b, 2);
  const bz = f32x4.mul(plus(lowZ, highZ), half), uz = f32x4.mul(minus(highZ, lowZ), half);
  // From A's centre to B's centres, in frame A.
  const dx = plus(plus(times(g00, bx), times(g01, by)), plus(times(g02, bz), f32x4.splat(tx - ax)));
  const dy = plus(plus(times(g10, bx), times(g11, by)), plus(times(g12, bz), f32x4.splat(ty - ay)));
  const dz = plus(plus(times(g20, bx), times(g21, by)), plus(times(g22, bz), f32x4.splat(tz - az)));

  const n00 = abs(g00) + slackG, n01 = abs(g01) + slackG, n02 = abs(g02) + slackG;
  const n10 = abs(g10) + slackG, n11 = abs(g11) + slackG, n12 = abs(g12) + slackG;
  const n20 = abs(g20) + slackG, n21 = abs(g21) + slackG, n22 = abs(g22) + slackG;
  let mask = within(dx, plus(plus(times(n00, ux), times(n01, uy)), plus(times(n02, uz), f32x4.splat(hx))));
  mask = v128.and(mask, within(dy, plus(plus(times(n10, ux), times(n11, uy)), plus(times(n12, uz), f32x4.splat(hy)))));
  mask = v128.and(mask, within(dz, plus(plus(times(n20, ux), times(n21, uy)), plus(times(n22, uz), f32x4.splat(hz)))));
  if (!v128.any_true(mask)) return 0;

  const m00 = abs(c00) + slackC, m01 = abs(c01) + slackC, m02 = abs(c02) + slackC;
  const m10 = abs(c10) + slackC, m11 = abs(c11) + slackC, m12 = abs(c12) + slackC;
  const m20 = abs(c20) + slackC, m21 = abs(c21) + slackC, m22 = abs(c22) + slackC;
  // Faces of B: their normals are the columns of C.
  mask = v128.and(mask, within(
    plus(plus(times(c00, dx), times(c10, dy)), times(c20, dz)),
    plus(times(volume, ux), f32x4.splat(m00 * hx + m10 * hy + m20 * hz)),
  ));
  mask = v128.and(mask, within(
    plus(plus(times(c01, dx), times(c11, dy)), times(c21, dz)),
    plus(times(volume, uy), f32x4.splat(m01 * hx + m11 * hy + m21 * hz)),
  ));
  mask = v128.and(mask, within(
    plus(plus(times(c02, dx), times(c12, dy)), times(c22, dz)),
    plus(times(volume, uz), f32x4.splat(m02 * hx + m12 * hy + m22 * hz)),
  ));
  if (!v128.any_true(mask)) return 0;

  // Edge i of A with edge j of B: eᵢ × Gⱼ; the radius of B is made of cofactors.
  mask = v128.and(mask, within(minus(times(g10, dz), times(g20, dy)), plus(plus(times(m02, uy), times(m01, uz)), f32x4.splat(n20 * hy + n10 * hz))));
  mask = v128.and(mask, within(minus(times(g11, dz), times(g21, dy)), plus(plus(times(m02, ux), times(m00, uz)), f32x4.splat(n21 * hy + n11 * hz))));
  mask = v128.and(mask, within(minus(times(g12, dz), times(g22, dy)), plus(plus(times(m01, ux), times(m00, uy)), f32x4.splat(n22 * hy + n12 * hz))));
  mask = v128.and(mask, within(minus(times(g20, dx), times(g00, dz)), plus(plus(times(m12, uy), times(m11, uz)), f32x4.splat(n20 * hx + n00 * hz))));
  mask = v128.and(mask, within(minus(times(g21, dx), times(g01, dz)), plus(plus(times(m12, ux), times(m10, uz)), f32x4.splat(n21 * hx + n01 * hz))));
  mask = v128.and(mask, within(minus(times(g22, dx), times(g02, dz)), plus(plus(times(m11, ux), times(m10, uy)), f32x4.splat(n22 * hx + n02 * hz))));
  mask = v128.and(mask, within(minus(times(g00, dy), times(g10, dx)), plus(plus(times(m22, uy), times(m21, uz)), f32x4.splat(n10 * hx + n00 * hy))));
  mask = v128.and(mask, within(minus(times(g01, dy), times(g11, dx)), plus(plus(times(m22, ux), times(m20, uz)), f32x4.splat(n11 * hx + n01 * hy))));
  mask = v128.and(mask, within(minus(times(g02, dy), times(g12, dx)), plus(plus(times(m21, ux), times(m20, uy)), f32x4.splat(n12 * hx + n02 * hy))));
  return i32x4.bitmask(mask) & childMask(b);
}

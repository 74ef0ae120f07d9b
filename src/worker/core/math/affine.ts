/** An affine map in float64: three columns and a translation, in the order of a frame's input. */
@unmanaged
export class Affine {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
}

export const AFFINE_BYTES: usize = offsetof<Affine>();

/**
 * Sets out = a · b; out is neither of the two. Computes two rows at a time, the first and the second, the second and the
 * third. Maps are always read and written as six contiguous vectors, because a load that spans two pending stores stalls
 * until both are done.
 */
export function multiply(out: Affine, a: Affine, b: Affine): void {
  const p = changetype<usize>(a), q = changetype<usize>(b), to = changetype<usize>(out);
  const x = v128.load(p), x1 = middleLanes(x, v128.load(p, 16));
  const y1 = v128.load(p, 32), y = middleLanes(v128.load(p, 16), y1);
  const z = v128.load(p, 48), z1 = middleLanes(z, v128.load(p, 64));
  const t1 = v128.load(p, 80), t = middleLanes(v128.load(p, 64), t1);
  v128.store(to, image(x, y, z, q));
  v128.store(to, middleLanes(image(x1, y1, z1, q), image(x, y, z, q + 24)), 16);
  v128.store(to, image(x1, y1, z1, q + 24), 32);
  v128.store(to, image(x, y, z, q + 48), 48);
  v128.store(to, middleLanes(image(x1, y1, z1, q + 48), f64x2.add(image(x, y, z, q + 72), t)), 64);
  v128.store(to, f64x2.add(image(x1, y1, z1, q + 72), t1), 80);
}

/** Sets out = a · (a scaling by h, then a translation by c), as `multiply` does; out is not a. */
export function multiplyScaled(out: Affine, a: Affine, hx: f64, hy: f64, hz: f64, cx: f64, cy: f64, cz: f64): void {
  const p = changetype<usize>(a), to = changetype<usize>(out);
  const x = v128.load(p), y1 = v128.load(p, 32), z = v128.load(p, 48), t1 = v128.load(p, 80);
  const second = v128.load(p, 16), fifth = v128.load(p, 64);
  const x1 = middleLanes(x, second), y = middleLanes(second, y1), z1 = middleLanes(z, fifth), t = middleLanes(fifth, t1);
  const scaleX = f64x2.splat(hx), scaleY = f64x2.splat(hy), scaleZ = f64x2.splat(hz);
  const offsetX = f64x2.splat(cx), offsetY = f64x2.splat(cy), offsetZ = f64x2.splat(cz);
  v128.store(to, f64x2.mul(x, scaleX));
  v128.store(to, f64x2.mul(second, middleLanes(scaleX, scaleY)), 16);
  v128.store(to, f64x2.mul(y1, scaleY), 32);
  v128.store(to, f64x2.mul(z, scaleZ), 48);
  const translation = f64x2.add(f64x2.add(f64x2.add(f64x2.mul(x, offsetX), f64x2.mul(y, offsetY)), f64x2.mul(z, offsetZ)), t);
  v128.store(to, middleLanes(f64x2.mul(z1, scaleZ), translation), 64);
  v128.store(
    to, f64x2.add(f64x2.add(f64x2.add(f64x2.mul(x1, offsetX), f64x2.mul(y1, offsetY)), f64x2.mul(z1, offsetZ)), t1), 80,
  );
}

/** Joins the second lane of a and the first of b. */
// @ts-ignore: decorator
@inline
export function middleLanes(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 2);
}

/** Multiplies two rows of a map by the column at `at`. */
// @ts-ignore: decorator
@inline
function image(x: v128, y: v128, z: v128, at: usize): v128 {
  return f64x2.add(
    f64x2.add(f64x2.mul(x, v128.load64_splat(at)), f64x2.mul(y, v128.load64_splat(at, 8))),
    f64x2.mul(z, v128.load64_splat(at, 16)),
  );
}

export function isIdentity(a: Affine): bool {
  return (
    a.xx == 1 && a.xy == 0 && a.xz == 0 && a.yx == 0 && a.yy == 1 && a.yz == 0 && a.zx == 0 && a.zy == 0 && a.zz == 1 &&
    a.tx == 0 && a.ty == 0 && a.tz == 0
  );
}

export function determinant(a: Affine): f64 {
  return (
    a.xx * (a.yy * a.zz - a.yz * a.zy) +
    a.yx * (a.zy * a.xz - a.zz * a.xy) +
    a.zx * (a.xy * a.yz - a.xz * a.yy)
  );
}

/** Sets out to the inverse of a, which must be usable. out may be a. */
export function invert(out: Affine, a: Affine): void {
  const cxx = a.yy * a.zz - a.yz * a.zy;
  const cxy = a.yz * a.zx - a.yx * a.zz;
  const cxz = a.yx * a.zy - a.yy * a.zx;
  const inverse = 1.0 / (a.xx * cxx + a.xy * cxy + a.xz * cxz);
  const xx = cxx * inverse;
  const yx = cxy * inverse;
  const zx = cxz * inverse;
  const xy = (a.xz * a.zy - a.xy * a.zz) * inverse;
  const yy = (a.xx * a.zz - a.xz * a.zx) * inverse;
  const zy = (a.xy * a.zx - a.xx * a.zy) * inverse;
  const xz = (a.xy * a.yz - a.xz * a.yy) * inverse;
  const yz = (a.xz * a.yx - a.xx * a.yz) * inverse;
  const zz = (a.xx * a.yy - a.xy * a.yx) * inverse;
  const tx = a.tx, ty = a.ty, tz = a.tz;
  out.xx = xx; out.xy = xy; out.xz = xz;
  out.yx = yx; out.yy = yy; out.yz = yz;
  out.zx = zx; out.zy = zy; out.zz = zz;
  out.tx = -(xx * tx + yx * ty + zx * tz);
  out.ty = -(xy * tx + yy * ty + zy * tz);
  out.tz = -(xz * tx + yz * ty + zz * tz);
}

const relativeB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Sets out = a⁻¹ · b; out is neither of the two. Subtracts the translations first, so that no digits are lost far from
 * the origin. If the two maps differ only by their translations, the points that they map differ by exactly the same:
 * then touching objects touch whatever their rotation.
 */
export function setRelative(out: Affine, a: Affine, b: Affine): void {
  copy(relativeB, b);
  relativeB.tx = b.tx - a.tx;
  relativeB.ty = b.ty - a.ty;
  relativeB.tz = b.tz - a.tz;
  invert(inverse, a);
  inverse.tx = 0;
  inverse.ty = 0;
  inverse.tz = 0;
  multiply(out, inverse, relativeB);
  if (!haveEqualColumns(a, b)) return;
  out.xx = out.yy = out.zz = 1;
  out.xy = out.xz = out.yx = out.yz = out.zx = out.zy = 0;
}

/**
 * Returns whether a map is finite and has a volume that is not just rounding: |det| > 2⁻⁴⁰ · the product of the columns'
 * lengths.
 */
export function isUsable(a: Affine): bool {
  const at = changetype<usize>(a);
  return areUsableVectors(
    v128.load(at), v128.load(at, 16), v128.load(at, 32), v128.load(at, 48), v128.load(at, 64), v128.load(at, 80),
  );
}

/** Returns the same for a map given by its six vectors. */
export function areUsableVectors(c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): bool {
  const xx = f64x2.extract_lane(c0, 0), xy = f64x2.extract_lane(c0, 1), xz = f64x2.extract_lane(c1, 0);
  const yx = f64x2.extract_lane(c1, 1), yy = f64x2.extract_lane(c2, 0), yz = f64x2.extract_lane(c2, 1);
  const zx = f64x2.extract_lane(c3, 0), zy = f64x2.extract_lane(c3, 1), zz = f64x2.extract_lane(c4, 0);
  let sum = f64x2.add(f64x2.add(f64x2.add(c0, c1), f64x2.add(c2, c3)), f64x2.add(c4, c5));
  sum = f64x2.add(sum, middleLanes(sum, sum));
  // NaN or infinite; finite numbers whose sum overflows are unusable, too.
  if (!i64x2.all_true(f64x2.eq(f64x2.sub(sum, sum), f64x2.splat(0)))) return false;
  const x = xx * xx + xy * xy + xz * xz, y = yx * yx + yy * yy + yz * yz, z = zx * zx + zy * zy + zz * zz;
  const volume = abs(xx * (yy * zz - yz * zy) + yx * (zy * xz - zz * xy) + zx * (xy * yz - xz * yy));
  // Far from the limit and from where squares overflow or underflow, no root is needed.
  const squares = x * y * z;
  if (squares < 1e200 && volume > 1e-100 && volume * volume > squares * 1e-20) return true;
  return volume > sqrt(x) * sqrt(y) * sqrt(z) * 9.094947017729282e-13 && volume < Infinity && 1.0 / volume < Infinity;
}

/** Returns whether two maps are bitwise equal. */
export function areEqual(a: Affine, b: Affine): bool {
  const at = changetype<usize>(b);
  return equalsVectors(a, v128.load(at), v128.load(at, 16), v128.load(at, 32), v128.load(at, 48), v128.load(at, 64),
    v128.load(at, 80));
}

/** Returns whether a map is bitwise equal to six vectors. */
// @ts-ignore: decorator
@inline
export function equalsVectors(map: Affine, c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): bool {
  const at = changetype<usize>(map);
  return !v128.any_true(
    v128.or(
      v128.or(
        v128.or(v128.xor(v128.load(at), c0), v128.xor(v128.load(at, 16), c1)),
        v128.or(v128.xor(v128.load(at, 32), c2), v128.xor(v128.load(at, 48), c3)),
      ),
      v128.or(v128.xor(v128.load(at, 64), c4), v128.xor(v128.load(at, 80), c5)),
    ),
  );
}

/** Sets a map from its six vectors. */
// @ts-ignore: decorator
@inline
export function setFromVectors(map: Affine, c0: v128, c1: v128, c2: v128, c3: v128, c4: v128, c5: v128): void {
  const at = changetype<usize>(map);
  v128.store(at, c0);
  v128.store(at, c1, 16);
  v128.store(at, c2, 32);
  v128.store(at, c3, 48);
  v128.store(at, c4, 64);
  v128.store(at, c5, 80);
}

/** Returns whether two maps are bitwise equal except for their translations. */
function haveEqualColumns(a: Affine, b: Affine): bool {
  const p = changetype<usize>(a), q = changetype<usize>(b);
  return a.zz == b.zz && !v128.any_true(
    v128.or(
      v128.or(v128.xor(v128.load(p), v128.load(q)), v128.xor(v128.load(p, 16), v128.load(q, 16))),
      v128.or(v128.xor(v128.load(p, 32), v128.load(q, 32)), v128.xor(v128.load(p, 48), v128.load(q, 48))),
    ),
  );
}

/** Writes the nine numbers of a map's columns to an address, with vector instructions. */
// @ts-ignore: decorator
@inline
export function copyColumns(to: usize, a: Affine): void {
  const from = changetype<usize>(a);
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  v128.store(to, v128.load(from, 32), 32);
  v128.store(to, v128.load(from, 48), 48);
  store<f64>(to, load<f64>(from, 64), 64);
}

/** Copies a map with vector instructions, because memory.copy is a call. */
export function copy(to: Affine, from: Affine): void {
  const p = changetype<usize>(to), q = changetype<usize>(from);
  v128.store(p, v128.load(q));
  v128.store(p, v128.load(q, 16), 16);
  v128.store(p, v128.load(q, 32), 32);
  v128.store(p, v128.load(q, 48), 48);
  v128.store(p, v128.load(q, 64), 64);
  v128.store(p, v128.load(q, 80), 80);
}

export function setIdentity(a: Affine): void {
  for (let i: usize = 0; i < AFFINE_BYTES; i += 16) v128.store(changetype<usize>(a) + i, i64x2.splat(0));
  a.xx = 1.0;
  a.yy = 1.0;
  a.zz = 1.0;
}

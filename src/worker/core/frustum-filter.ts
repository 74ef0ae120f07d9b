// Entry of the third module, which runs on the main thread: tells which of many spheres that matrices place a camera may see.
//
// Two steps, both in float32 and on the safe side of its rounding (client/three/culling/frustum-filter.ts sets the slack):
//  1. Four instances at a time against the planes at the sides, in clip space: what the two of a pair are violated by is
//     w - |x|, by the longer normal. The sphere is that about the instance's own origin, and as large as the Frobenius norm of
//     its matrix has it, which is at least the spectral norm.
//  2. Each that is left against four planes at a time: the sphere about its own centre, r |Lᵀ n| towards a plane of normal n.

/** Float32: the rows x, y and w of clip space; 1 over the lengths of the normals; the slack; the square of the reach. */
const ROWS: usize = 0, LENGTHS: usize = 48, SLACK: usize = 56, REACH: usize = 60;
/** The centre and the square of the radius. */
const CENTRE: usize = 64, RADIUS: usize = 76;
/** Two times four planes: x, y and z of the normals, the distances with their slack, and the slack for what is summed. */
const PLANES: usize = 80, PLANES_BYTES: usize = 80;
/** The answer, and the matrices that it is asked about: sixteen float32 each. */
const NUMBERS: usize = 256, MATRICES: usize = 16384;

/** Below this, squares lose digits. */
const LEAST: f32 = 1e-30;

// @ts-ignore: decorator
@inline
function all(at: usize): v128 {
  return v128.load32_splat(at);
}

// @ts-ignore: decorator
@inline
function lane(v: v128, i: u8): v128 {
  return i == 0 ? v128.shuffle<f32>(v, v, 0, 0, 0, 0) : i == 1 ? v128.shuffle<f32>(v, v, 1, 1, 1, 1) : v128.shuffle<f32>(v, v, 2, 2, 2, 2);
}

// @ts-ignore: decorator
@inline
function plus(a: v128, b: v128): v128 {
  return f32x4.add(a, b);
}

// @ts-ignore: decorator
@inline
function times(a: v128, b: v128): v128 {
  return f32x4.mul(a, b);
}

/** Answers the product of a row of clip space and four points. */
// @ts-ignore: decorator
@inline
function row(at: usize, x: v128, y: v128, z: v128): v128 {
  return plus(plus(times(all(at), x), times(all(at + 4), y)), plus(times(all(at + 8), z), all(at + 12)));
}

/** Answers the squares of a matrix, of each row their sum. */
// @ts-ignore: decorator
@inline
function squares(matrix: usize): v128 {
  const a = v128.load(matrix), b = v128.load(matrix, 16), c = v128.load(matrix, 32);
  return plus(plus(times(a, a), times(b, b)), times(c, c));
}

/** Answers the products of the normals of four planes and a vector. */
// @ts-ignore: decorator
@inline
function alongNormals(planes: usize, v: v128): v128 {
  return plus(
    plus(times(v128.load(planes), lane(v, 0)), times(v128.load(planes, 16), lane(v, 1))),
    times(v128.load(planes, 32), lane(v, 2)),
  );
}

/** Marks where gaps are negative and squared greater than something. A gap that is no number is not. */
// @ts-ignore: decorator
@inline
function isBeyond(gap: v128, reach: v128): v128 {
  return v128.and(f32x4.lt(gap, f32x4.splat(0)), f32x4.gt(times(gap, gap), plus(reach, f32x4.splat(LEAST))));
}

/** Tells whether the sphere of an instance is behind a plane as a whole. */
function isOutside(matrix: usize): bool {
  const a = v128.load(matrix), b = v128.load(matrix, 16), c = v128.load(matrix, 32), t = v128.load(matrix, 48);
  const u = times(a, all(CENTRE)), v = times(b, all(CENTRE + 4)), w = times(c, all(CENTRE + 8));
  const centre = plus(plus(t, u), plus(v, w));
  const sizes = plus(plus(f32x4.abs(t), f32x4.abs(u)), plus(f32x4.abs(v), f32x4.abs(w)));
  const sum = plus(plus(lane(sizes, 0), lane(sizes, 1)), lane(sizes, 2));
  const radius = all(RADIUS);
  let outside = f32x4.splat(0);
  for (let planes = PLANES; planes < PLANES + 2 * PLANES_BYTES; planes += PLANES_BYTES) {
    const gap = plus(alongNormals(planes, centre), plus(v128.load(planes, 48), times(v128.load(planes, 64), sum)));
    const p = alongNormals(planes, a), q = alongNormals(planes, b), r = alongNormals(planes, c);
    outside = v128.or(outside, isBeyond(gap, times(radius, plus(plus(times(p, p), times(q, q)), times(r, r)))));
  }
  return v128.any_true(outside);
}

/** Writes the numbers of those of `count` instances that may be seen, of which the first has the number `first`. Answers how many they are. */
export function select(count: i32, first: i32): i32 {
  let end = NUMBERS;
  for (let i = 0; i < count; i += 4) {
    const m = MATRICES + (<usize>i << 6);
    const t0 = v128.load(m, 48), t1 = v128.load(m, 112), t2 = v128.load(m, 176), t3 = v128.load(m, 240);
    const xy0 = v128.shuffle<f32>(t0, t1, 0, 4, 1, 5), xy1 = v128.shuffle<f32>(t2, t3, 0, 4, 1, 5);
    const x = v128.shuffle<f32>(xy0, xy1, 0, 1, 4, 5), y = v128.shuffle<f32>(xy0, xy1, 2, 3, 6, 7);
    const z = v128.shuffle<f32>(v128.shuffle<f32>(t0, t1, 2, 6, 2, 6), v128.shuffle<f32>(t2, t3, 2, 6, 2, 6), 0, 1, 4, 5);
    const w = row(ROWS + 32, x, y, z);
    const pairX = times(all(LENGTHS), f32x4.sub(w, f32x4.abs(row(ROWS, x, y, z))));
    const pairY = times(all(LENGTHS + 4), f32x4.sub(w, f32x4.abs(row(ROWS + 16, x, y, z))));
    const sum = plus(plus(f32x4.abs(x), f32x4.abs(y)), f32x4.abs(z));
    const gap = plus(times(all(SLACK), sum), f32x4.pmin(pairX, pairY));
    const s0 = squares(m), s1 = squares(m + 64), s2 = squares(m + 128), s3 = squares(m + 192);
    const p0 = v128.shuffle<f32>(s0, s1, 0, 4, 1, 5), p1 = v128.shuffle<f32>(s2, s3, 0, 4, 1, 5);
    const q = v128.shuffle<f32>(v128.shuffle<f32>(s0, s1, 2, 6, 2, 6), v128.shuffle<f32>(s2, s3, 2, 6, 2, 6), 0, 1, 4, 5);
    const norm = plus(plus(v128.shuffle<f32>(p0, p1, 0, 1, 4, 5), v128.shuffle<f32>(p0, p1, 2, 3, 6, 7)), q);
    let left = i32x4.bitmask(isBeyond(gap, times(all(REACH), norm))) ^ 15;
    while (left != 0) {
      const n = i + ctz(left);
      left &= left - 1;
      if (n >= count || isOutside(MATRICES + (<usize>n << 6))) continue;
      store<i32>(end, first + n);
      end += 4;
    }
  }
  return <i32>((end - NUMBERS) >> 2);
}

// The penetration depth of two triangles along a direction, and the direction in which they push each other apart.
// Heights are linear over the polygon in which both projections overlap, so the largest difference is at a corner of one
// triangle or where two edges cross. That point also determines the feature that touches last, a face or two edges, and
// so the contact normal. All in float64.

import { cornersOf } from '../../mesh/topology/adjacency';
import { Mesh } from '../../mesh/tree/layout';
import { Projected, transformOf, sourceAt } from './triangle-projection';

/** The greatest depth of all compared pairs. */
export let bestDepth: f64 = 0;
/**
 * The feature of that depth: a corner of the side that stays (0), of the side that moves (1), or an edge of each (2 + 3
 * · i + j).
 */
export let bestFeature: i32 = -1;
/** The two triangles of that depth, as given in their lists. */
export let bestTriangle0: u32 = 0, bestTriangle1: u32 = 0;

/** The depth at which the search may end. */
export let sufficientDepth: f64 = Infinity;

/** Starts a new search for the greatest depth, which may end at `limit`. */
export function beginDepth(limit: f64): void {
  sufficientDepth = limit;
  bestDepth = -Infinity;
  bestFeature = -1;
}

/** Lets the search end at `limit`, if that is lower. */
export function lowerSufficientDepth(limit: f64): void {
  sufficientDepth = min(sufficientDepth, limit);
}

/** Ends the search at the sufficient depth: the least one that is known to be no less than that of all pairs, or the limit. */
export function assumeSufficientDepth(): void {
  bestDepth = sufficientDepth;
}

/** Sets the two triangles that were last compared as those of the greatest depth. */
export function setBestTriangles(triangle0: u32, triangle1: u32): void {
  bestTriangle0 = triangle0;
  bestTriangle1 = triangle1;
}

/** The rounding margin relative to the triangles: points that are this little outside count as inside. */
const INSIDE_TOLERANCE: f64 = 1e-10;
/** The relative size of a determinant below which rounding dominates it: edges are parallel, or a triangle is edge-on. */
const PARALLEL_TOLERANCE: f64 = 1e-13;

/**
 * Measures the depth at each corner of one triangle above the other, and where their edges cross, unless the depth is
 * already enough: `p` belongs to the side that stays, `q` to the side that moves.
 */
export function compare(p: Projected, q: Projected): void {
  compareCorners(p, q, 0);
  compareCorners(q, p, 1);
  if (bestDepth >= sufficientDepth) return;
  const p0 = changetype<usize>(p), q0 = changetype<usize>(q);
  for (let crossingBits = crossingEdges(p0, q0); crossingBits != 0; crossingBits &= crossingBits - 1) {
    const pair = ctz(crossingBits), i = pair / 3, j = pair - 3 * i;
    measureCrossing(p0 + 24 * i, i == 2 ? p0 : p0 + 24 * i + 24, q0 + 24 * j, j == 2 ? q0 : q0 + 24 * j + 24, 2 + pair);
  }
}

/** Measures the depth at those corners of p that are above q, two at a time. */
function compareCorners(p: Projected, q: Projected, feature: i32): void {
  const eu = q.bu - q.au, ev = q.bv - q.av, fu = q.cu - q.au, fv = q.cv - q.av;
  const area = eu * fv - ev * fu;
  const size = abs(eu * fv) + abs(ev * fu);
  if (abs(area) <= PARALLEL_TOLERANCE * size) return;
  const inverse = f64x2.splat(1.0 / area);
  for (let at = changetype<usize>(p), end = at + 72; at < end; at += 48) {
    // The third corner is in both lanes.
    const at1 = at + 24 < end ? at + 24 : at;
    const u = f64x2.sub(loadPairAt(at, at1), f64x2.splat(q.au)), v = f64x2.sub(loadPairAt(at + 8, at1 + 8), f64x2.splat(q.av));
    const s = f64x2.mul(f64x2.sub(f64x2.mul(u, f64x2.splat(fv)), f64x2.mul(v, f64x2.splat(fu))), inverse);
    const t = f64x2.mul(f64x2.sub(f64x2.mul(f64x2.splat(eu), v), f64x2.mul(f64x2.splat(ev), u)), inverse);
    const outsideMask = v128.or(f64x2.lt(s, f64x2.splat(-INSIDE_TOLERANCE)), f64x2.lt(t, f64x2.splat(-INSIDE_TOLERANCE)));
    const outsideBits = i64x2.bitmask(v128.or(outsideMask, f64x2.gt(f64x2.add(s, t), f64x2.splat(1 + INSIDE_TOLERANCE))));
    if (outsideBits == 3) continue;
    const heights = f64x2.add(
      f64x2.add(
        f64x2.add(loadPairAt(at + 16, at1 + 16), f64x2.splat(q.ah)), f64x2.mul(s, f64x2.splat(q.bh - q.ah)),
      ),
      f64x2.mul(t, f64x2.splat(q.ch - q.ah)),
    );
    if (!(outsideBits & 1)) raiseDepth(f64x2.extract_lane(heights, 0), feature);
    if (!(outsideBits & 2)) raiseDepth(f64x2.extract_lane(heights, 1), feature);
  }
}

// @ts-ignore: decorator
@inline
function raiseDepth(height: f64, feature: i32): void {
  if (!(height > bestDepth)) return;
  bestDepth = height;
  bestFeature = feature;
}

// @ts-ignore: decorator
@inline
function loadPairAt(first: usize, second: usize): v128 {
  return v128.load64_lane(second, v128.load64_zero(first), 1);
}

/**
 * Returns which edges of two triangles, given by their addresses, cross each other: bit 3 · i + j for edge i of p and
 * edge j of q. Two pairs are tested at a time: with this, and since comparing ends once the depth is enough, the 11,000
 * clashes of a building take 0.94 of the time.
 */
function crossingEdges(p: usize, q: usize): u32 {
  const cu = loadPairAt(q, q + 24), cv = loadPairAt(q + 8, q + 32);
  const su = f64x2.sub(loadPairAt(q + 24, q + 48), cu), sv = f64x2.sub(loadPairAt(q + 32, q + 56), cv);
  const au = loadPairAt(p, p + 24), av = loadPairAt(p + 8, p + 32);
  const ru = f64x2.sub(loadPairAt(p + 24, p + 48), au), rv = f64x2.sub(loadPairAt(p + 32, p + 56), av);
  const lastU = v128.load64_splat(p + 48), lastV = v128.load64_splat(p + 56);
  const lastRu = f64x2.sub(v128.load64_splat(p), lastU), lastRv = f64x2.sub(v128.load64_splat(p + 8), lastV);
  const thirdU = v128.load64_splat(q + 48), thirdV = v128.load64_splat(q + 56);
  const thirdSu = f64x2.sub(v128.load64_splat(q), thirdU), thirdSv = f64x2.sub(v128.load64_splat(q + 8), thirdV);
  const first = crossingBitsOfPairs(splatFirst(au), splatFirst(av), splatFirst(ru), splatFirst(rv), cu, cv, su, sv);
  const second = crossingBitsOfPairs(splatSecond(au), splatSecond(av), splatSecond(ru), splatSecond(rv), cu, cv, su, sv);
  const third = crossingBitsOfPairs(lastU, lastV, lastRu, lastRv, cu, cv, su, sv);
  const withThird = crossingBitsOfPairs(au, av, ru, rv, thirdU, thirdV, thirdSu, thirdSv);
  const both = crossingBitsOfPairs(lastU, lastV, lastRu, lastRv, thirdU, thirdV, thirdSu, thirdSv);
  return first | (second << 3) | (third << 6) | ((withThird & 1) << 2) | ((withThird & 2) << 4) | ((both & 1) << 8);
}

// @ts-ignore: decorator
@inline
function splatFirst(pair: v128): v128 {
  return v128.shuffle<f64>(pair, pair, 0, 0);
}

// @ts-ignore: decorator
@inline
function splatSecond(pair: v128): v128 {
  return v128.shuffle<f64>(pair, pair, 1, 1);
}

/** Returns which of two pairs of edges cross: the edges begin at a and c, along r and s. */
// @ts-ignore: decorator
@inline
function crossingBitsOfPairs(au: v128, av: v128, ru: v128, rv: v128, cu: v128, cv: v128, su: v128, sv: v128): u32 {
  const crossProduct = f64x2.sub(f64x2.mul(ru, sv), f64x2.mul(rv, su));
  const wu = f64x2.sub(cu, au), wv = f64x2.sub(cv, av);
  const sign = v128.and(crossProduct, f64x2.splat(-0.0));
  const alongR = v128.xor(f64x2.sub(f64x2.mul(wu, sv), f64x2.mul(wv, su)), sign);
  const alongS = v128.xor(f64x2.sub(f64x2.mul(wu, rv), f64x2.mul(wv, ru)), sign);
  const size = f64x2.abs(crossProduct);
  const minimum = f64x2.mul(size, f64x2.splat(-INSIDE_TOLERANCE)), maximum = f64x2.mul(size, f64x2.splat(1 + INSIDE_TOLERANCE));
  const isBefore = v128.or(f64x2.lt(alongR, minimum), f64x2.lt(alongS, minimum));
  const beyond = v128.or(f64x2.gt(alongR, maximum), f64x2.gt(alongS, maximum));
  return <u32>i64x2.bitmask(v128.or(isBefore, beyond)) ^ 3;
}

/** Measures the depth where two edges cross, from a to b and from c to d. */
function measureCrossing(a: usize, b: usize, c: usize, d: usize, feature: i32): void {
  const au = load<f64>(a), av = load<f64>(a, 8), cu = load<f64>(c), cv = load<f64>(c, 8);
  const ru = load<f64>(b) - au, rv = load<f64>(b, 8) - av, su = load<f64>(d) - cu, sv = load<f64>(d, 8) - cv;
  const crossProduct = ru * sv - rv * su;
  if (abs(crossProduct) <= PARALLEL_TOLERANCE * (abs(ru * sv) + abs(rv * su))) return;
  const wu = cu - au, wv = cv - av;
  const s = wu * sv - wv * su, t = wu * rv - wv * ru;
  const ah = load<f64>(a, 16), ch = load<f64>(c, 16);
  raiseDepth(ah + (s / crossProduct) * (load<f64>(b, 16) - ah) + ch + (t / crossProduct) * (load<f64>(d, 16) - ch), feature);
}

/** The unit normal of the last touch, towards the side that moves. */
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

/**
 * Finds the direction in which the two sides push each other apart where they touch last, after `depthAlong` along (nx,
 * ny, nz): the normal of a face, or the cross product of both edges. Returns false if there is none.
 */
export function findTouch(nx: f64, ny: f64, nz: f64): bool {
  if (bestFeature < 0) return false;
  if (bestFeature == 0) crossEdges(1, 0, 1, 2);
  else if (bestFeature == 1) crossEdges(0, 0, 0, 2);
  else crossEdges(0, (bestFeature - 2) / 3, 1, (bestFeature - 2) % 3);
  const along = touchX * nx + touchY * ny + touchZ * nz;
  const length = sqrt(touchX * touchX + touchY * touchY + touchZ * touchZ);
  if (!(length > 0) || along == 0) return false;
  const scale = (along < 0 ? -1.0 : 1.0) / length;
  touchX *= scale;
  touchY *= scale;
  touchZ *= scale;
  return true;
}

/** Sets the cross product of two edges: edge i of the last touching triangle of side p, and edge j of that of side q. */
function crossEdges(p: u32, i: i32, q: u32, j: i32): void {
  setEdge(p, i);
  const ex = edgeX, ey = edgeY, ez = edgeZ;
  setEdge(q, j);
  touchX = ey * edgeZ - ez * edgeY;
  touchY = ez * edgeX - ex * edgeZ;
  touchZ = ex * edgeY - ey * edgeX;
}

let edgeX: f64 = 0, edgeY: f64 = 0, edgeZ: f64 = 0;

function setEdge(side: u32, edge: i32): void {
  const source = sourceAt(side), m = transformOf(source);
  const triangle = side == 0 ? bestTriangle0 : bestTriangle1;
  const from = <usize>edge, to: usize = edge == 2 ? 0 : from + 1;
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (source.mesh != 0) {
    const at = cornersOf(changetype<Mesh>(<usize>source.mesh), triangle);
    const p = at + from * 48, q = at + to * 48;
    x = <f64>load<f32>(q) - <f64>load<f32>(p);
    y = <f64>load<f32>(q, 16) - <f64>load<f32>(p, 16);
    z = <f64>load<f32>(q, 32) - <f64>load<f32>(p, 32);
  } else {
    const p = <usize>triangle + from * 24, q = <usize>triangle + to * 24;
    x = load<f64>(q) - load<f64>(p);
    y = load<f64>(q, 8) - load<f64>(p, 8);
    z = load<f64>(q, 16) - load<f64>(p, 16);
  }
  edgeX = m.xx * x + m.yx * y + m.zx * z;
  edgeY = m.xy * x + m.yy * y + m.zy * z;
  edgeZ = m.xz * x + m.yz * y + m.zz * z;
}

// How far a set of triangles must move along a direction until it has left another set behind: the largest difference
// of heights where both lie over one another. A grid over their common shadow bounds it cell by cell, and only cells
// that can hold the largest one are looked at triangle by triangle, where it is exact: heights are linear over the
// polygon in which two shadows overlap, so it lies at a corner of one.

import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { reserve } from '../memory';

/** A triangle as it is seen along the direction: places across it, and how high it is (of what moves, how low). */
@unmanaged
class Shadow {
  au: f64; av: f64; ah: f64;
  bu: f64; bv: f64; bh: f64;
  cu: f64; cv: f64; ch: f64;
  lowU: f64; lowV: f64; highU: f64; highV: f64;
  top: f64;
  /** How fast it rises; 0 where it is seen from its edge. */
  slopeU: f64; slopeV: f64;
}

const SHADOW_BYTES: usize = 128;

// Of 0, what stays, and 1, what moves.
let shadows0: usize = 0, shadows1: usize = 0; // Shadow each
let starts0: usize = 0, starts1: usize = 0; // by cell, u32: where its triangles begin in the list
let lists0: usize = 0, lists1: usize = 0; // u32, indices of shadows by cell
let tops0: usize = 0, tops1: usize = 0; // f64 by cell, how high anything in it is

// The grid over the shadow that both have.
let lowU: f64 = 0, lowV: f64 = 0, highU: f64 = 0, highV: f64 = 0;
let cellsU: i32 = 1, cellsV: i32 = 1;
let perU: f64 = 0, perV: f64 = 0; // cells per length

const MOST_CELLS: i32 = 96;

// Where the last of all touch was: a corner of what stays, of what moves, or an edge of each.
let best: f64 = 0;
let bestKind: i32 = -1;
let best0: u32 = 0, best1: u32 = 0;

/**
 * Of triangles at the addresses that are listed, u32 each; the addresses are those of nine f64. Negative where they are
 * apart already, -Infinity where they pass each other by; where it is `limit` or more, it may come out as less, but not
 * less than that. Throws OUT_OF_MEMORY.
 */
export function depthAlong(
  list0: usize, count0: u32, list1: usize, count1: u32, nx: f64, ny: f64, nz: f64, limit: f64 = Infinity,
): f64 {
  best = -Infinity;
  bestKind = -1;
  shadows0 = reserve(shadows0, 0, <u64>count0 * SHADOW_BYTES);
  shadows1 = reserve(shadows1, 0, <u64>count1 * SHADOW_BYTES);
  setBasis(nx, ny, nz);
  lowU = lowV = -Infinity;
  highU = highV = Infinity;
  cast(shadows0, list0, count0, nx, ny, nz, 1);
  cast(shadows1, list1, count1, nx, ny, nz, -1);
  if (!(lowU <= highU && lowV <= highV)) return best;
  chooseCells(count0, count1);
  const cells = cellsU * cellsV;
  starts0 = reserve(starts0, 0, <u64>(cells + 1) << 2);
  starts1 = reserve(starts1, 0, <u64>(cells + 1) << 2);
  tops0 = reserve(tops0, 0, <u64>cells << 3);
  tops1 = reserve(tops1, 0, <u64>cells << 3);
  lists0 = reserve(lists0, 0, <u64>countCells(shadows0, count0, starts0, tops0) << 2);
  lists1 = reserve(lists1, 0, <u64>countCells(shadows1, count1, starts1, tops1) << 2);
  fillCells(shadows0, count0, starts0, lists0);
  fillCells(shadows1, count1, starts1, lists1);
  // The most promising cell first, as what it holds rules most of the others out.
  let first = 0;
  for (let cell = 1; cell < cells; cell++) if (promise(cell) > promise(first)) first = cell;
  search(first);
  for (let cell = 0; cell < cells; cell++) {
    if (best >= limit) break;
    if (promise(cell) > best) search(cell);
  }
  return best;
}

// @ts-ignore: decorator
@inline
function promise(cell: i32): f64 {
  return load<f64>(tops0 + (<usize>cell << 3)) + load<f64>(tops1 + (<usize>cell << 3));
}

// @ts-ignore: decorator
@inline
function shadowAt(shadows: usize, index: u32): Shadow {
  return changetype<Shadow>(shadows + <usize>index * SHADOW_BYTES);
}

/** Shadows of a list, and what is left of the common one. */
function cast(shadows: usize, list: usize, count: u32, nx: f64, ny: f64, nz: f64, sense: f64): void {
  // u and v of a place, and of bounds, as one vector.
  const x = f64x2(firstX, secondX), y = f64x2(firstY, secondY), z = f64x2(firstZ, secondZ);
  const hx = nx * sense, hy = ny * sense, hz = nz * sense;
  let least = f64x2.splat(Infinity), most = f64x2.splat(-Infinity);
  let to = shadows;
  for (let end = list + (<usize>count << 2); list < end; list += 4, to += SHADOW_BYTES) {
    const at = <usize>load<u32>(list);
    const ax = load<f64>(at), ay = load<f64>(at, 8), az = load<f64>(at, 16);
    const bx = load<f64>(at, 24), by = load<f64>(at, 32), bz = load<f64>(at, 40);
    const cx = load<f64>(at, 48), cy = load<f64>(at, 56), cz = load<f64>(at, 64);
    const a = f64x2.add(
      f64x2.add(f64x2.mul(f64x2.splat(ax), x), f64x2.mul(f64x2.splat(ay), y)), f64x2.mul(f64x2.splat(az), z),
    );
    const b = f64x2.add(
      f64x2.add(f64x2.mul(f64x2.splat(bx), x), f64x2.mul(f64x2.splat(by), y)), f64x2.mul(f64x2.splat(bz), z),
    );
    const c = f64x2.add(
      f64x2.add(f64x2.mul(f64x2.splat(cx), x), f64x2.mul(f64x2.splat(cy), y)), f64x2.mul(f64x2.splat(cz), z),
    );
    const ah = hx * ax + hy * ay + hz * az, bh = hx * bx + hy * by + hz * bz, ch = hx * cx + hy * cy + hz * cz;
    const low = f64x2.pmin(f64x2.pmin(a, b), c), high = f64x2.pmax(f64x2.pmax(a, b), c);
    v128.store(to, a);
    store<f64>(to, ah, 16);
    v128.store(to, b, 24);
    store<f64>(to, bh, 40);
    v128.store(to, c, 48);
    store<f64>(to, ch, 64);
    v128.store(to, low, offsetof<Shadow>('lowU'));
    v128.store(to, high, offsetof<Shadow>('highU'));
    const upper = ah > bh ? ah : bh;
    store<f64>(to, upper > ch ? upper : ch, offsetof<Shadow>('top'));
    least = f64x2.pmin(least, low);
    most = f64x2.pmax(most, high);
  }
  lowU = max(lowU, f64x2.extract_lane(least, 0)); highU = min(highU, f64x2.extract_lane(most, 0));
  lowV = max(lowV, f64x2.extract_lane(least, 1)); highV = min(highV, f64x2.extract_lane(most, 1));
}

/** Half as many cells as there are triangles, and fewer where these are so wide that each would be in many. */
function chooseCells(count0: u32, count1: u32): void {
  const width = highU - lowU, height = highV - lowV;
  const wanted = max(0.5 * <f64>min(count0, count1), 1.0);
  const aspect = width > 0 && height > 0 ? min(max(width / height, 1.0 / 16), 16.0) : 1.0;
  let u = min(sqrt(wanted * aspect), <f64>MOST_CELLS), v = min(sqrt(wanted / aspect), <f64>MOST_CELLS);
  const enough = <u64>8 * (count0 + count1);
  for (;;) {
    cellsU = max(<i32>u, 1);
    cellsV = max(<i32>v, 1);
    perU = width > 0 ? <f64>cellsU / width : 0;
    perV = height > 0 ? <f64>cellsV / height : 0;
    if (cellsU * cellsV == 1 || coverage(shadows0, count0) + coverage(shadows1, count1) <= enough) return;
    u *= 0.5;
    v *= 0.5;
  }
}

// @ts-ignore: decorator
@inline
function isBeside(s: Shadow): bool {
  return s.highU < lowU || s.lowU > highU || s.highV < lowV || s.lowV > highV;
}

// @ts-ignore: decorator
@inline
function cellU(u: f64): i32 {
  const cell = <i32>((u - lowU) * perU);
  return cell < 0 ? 0 : cell < cellsU ? cell : cellsU - 1;
}
// @ts-ignore: decorator
@inline
function cellV(v: f64): i32 {
  const cell = <i32>((v - lowV) * perV);
  return cell < 0 ? 0 : cell < cellsV ? cell : cellsV - 1;
}

function coverage(shadows: usize, count: u32): u64 {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const s = shadowAt(shadows, i);
    if (isBeside(s)) continue;
    const wide = cellU(s.highU < highU ? s.highU : highU) - cellU(s.lowU > lowU ? s.lowU : lowU) + 1;
    const high = cellV(s.highV < highV ? s.highV : highV) - cellV(s.lowV > lowV ? s.lowV : lowV) + 1;
    sum += <u64>(wide * high);
  }
  return sum;
}

/** How many triangles each cell has, its first one's place in the list one cell late, and how high they are there. */
function countCells(shadows: usize, count: u32, starts: usize, tops: usize): u32 {
  const cells = cellsU * cellsV;
  memory.fill(starts, 0, <usize>(cells + 1) << 2);
  for (let cell = 0; cell < cells; cell++) store<f64>(tops + (<usize>cell << 3), -Infinity);
  const halfU = perU > 0 ? 0.5 / perU : 0, halfV = perV > 0 ? 0.5 / perV : 0;
  for (let i: u32 = 0; i < count; i++) {
    const s = shadowAt(shadows, i);
    if (isBeside(s)) continue;
    const fromU = cellU(s.lowU > lowU ? s.lowU : lowU), toU = cellU(s.highU < highU ? s.highU : highU);
    const fromV = cellV(s.lowV > lowV ? s.lowV : lowV), toV = cellV(s.highV < highV ? s.highV : highV);
    const isWide = toU - fromU + toV - fromV > 1;
    if (isWide) setSlope(s);
    for (let v = fromV; v <= toV; v++) {
      for (let u = fromU; u <= toU; u++) {
        const at = <usize>(v * cellsU + u);
        let top = s.top;
        if (isWide) {
          const middleU = lowU + (2 * u + 1) * halfU, middleV = lowV + (2 * v + 1) * halfV;
          const there = s.ah + s.slopeU * (middleU - s.au) + s.slopeV * (middleV - s.av);
          top = min(top, there + abs(s.slopeU) * halfU * 1.000001 + abs(s.slopeV) * halfV * 1.000001);
        }
        store<u32>(starts + (at << 2), load<u32>(starts + (at << 2), 4) + 1, 4);
        if (top > load<f64>(tops + (at << 3))) store<f64>(tops + (at << 3), top);
      }
    }
  }
  let sum: u32 = 0;
  for (let cell = 0; cell < cells; cell++) {
    const at = starts + (<usize>(cell + 1) << 2);
    const own = load<u32>(at);
    store<u32>(at, sum);
    sum += own;
  }
  return sum;
}

function setSlope(s: Shadow): void {
  const eu = s.bu - s.au, ev = s.bv - s.av, eh = s.bh - s.ah, fu = s.cu - s.au, fv = s.cv - s.av, fh = s.ch - s.ah;
  const area = eu * fv - ev * fu;
  const isFlat = abs(area) <= 1e-6 * (abs(eu * fv) + abs(ev * fu));
  s.slopeU = isFlat ? Infinity : (eh * fv - ev * fh) / area;
  s.slopeV = isFlat ? Infinity : (eu * fh - eh * fu) / area;
}

/** Afterwards a cell's triangles begin where `starts` says. */
function fillCells(shadows: usize, count: u32, starts: usize, list: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const s = shadowAt(shadows, i);
    if (isBeside(s)) continue;
    const fromU = cellU(s.lowU > lowU ? s.lowU : lowU), toU = cellU(s.highU < highU ? s.highU : highU);
    const fromV = cellV(s.lowV > lowV ? s.lowV : lowV), toV = cellV(s.highV < highV ? s.highV : highV);
    for (let v = fromV; v <= toV; v++) {
      for (let u = fromU; u <= toU; u++) {
        const at = starts + (<usize>(v * cellsU + u + 1) << 2);
        const place = load<u32>(at);
        store<u32>(at, place + 1);
        store<u32>(list + (<usize>place << 2), i);
      }
    }
  }
}

/** All pairs of a cell that can be more than what is known. */
function search(cell: i32): void {
  const at0 = starts0 + (<usize>cell << 2), at1 = starts1 + (<usize>cell << 2);
  const from1 = lists1 + (<usize>load<u32>(at1) << 2), end1 = lists1 + (<usize>load<u32>(at1, 4) << 2);
  const end0 = lists0 + (<usize>load<u32>(at0, 4) << 2);
  const most = load<f64>(tops1 + (<usize>cell << 3));
  for (let i = lists0 + (<usize>load<u32>(at0) << 2); i < end0; i += 4) {
    const p = shadowAt(shadows0, load<u32>(i));
    if (p.top + most <= best) continue;
    for (let j = from1; j < end1; j += 4) {
      const q = shadowAt(shadows1, load<u32>(j));
      if (
        p.top + q.top > best && p.lowU <= q.highU && q.lowU <= p.highU && p.lowV <= q.highV && q.lowV <= p.highV
      ) compare(p, q, load<u32>(i), load<u32>(j));
    }
  }
}

// --- two triangles ---

/** Of rounding, relative to the triangles: what is a hair outside counts as inside. */
const HAIR: f64 = 1e-10;

function compare(p: Shadow, q: Shadow, index0: u32, index1: u32): void {
  const before = best;
  corners(p, q, 0);
  corners(q, p, 1);
  const p0 = changetype<usize>(p), q0 = changetype<usize>(q);
  for (let i: usize = 0; i < 72; i += 24) {
    const a = p0 + i, b = p0 + (i == 48 ? 0 : i + 24);
    edges(a, b, q0, q0 + 24);
    edges(a, b, q0 + 24, q0 + 48);
    edges(a, b, q0 + 48, q0);
  }
  if (best == before) return;
  best0 = index0;
  best1 = index1;
}

/** Corners of p over q. */
function corners(p: Shadow, q: Shadow, kind: i32): void {
  const eu = q.bu - q.au, ev = q.bv - q.av, fu = q.cu - q.au, fv = q.cv - q.av;
  const area = eu * fv - ev * fu;
  const size = abs(eu * fv) + abs(ev * fu);
  if (abs(area) <= 1e-13 * size) return;
  const inverse = 1.0 / area;
  for (let at = changetype<usize>(p), end = at + 72; at < end; at += 24) {
    const u = load<f64>(at) - q.au, v = load<f64>(at, 8) - q.av;
    const s = (u * fv - v * fu) * inverse, t = (eu * v - ev * u) * inverse;
    if (s < -HAIR || t < -HAIR || s + t > 1 + HAIR) continue;
    const height = load<f64>(at, 16) + q.ah + s * (q.bh - q.ah) + t * (q.ch - q.ah);
    if (height > best) {
      best = height;
      bestKind = kind;
    }
  }
}

/** Two edges where they cross. */
// @ts-ignore: decorator
@inline
function edges(a: usize, b: usize, c: usize, d: usize): void {
  const au = load<f64>(a), av = load<f64>(a, 8), cu = load<f64>(c), cv = load<f64>(c, 8);
  const ru = load<f64>(b) - au, rv = load<f64>(b, 8) - av, su = load<f64>(d) - cu, sv = load<f64>(d, 8) - cv;
  const turn = ru * sv - rv * su;
  const wu = cu - au, wv = cv - av;
  const s = wu * sv - wv * su, t = wu * rv - wv * ru;
  const most = abs(turn) * (1 + HAIR), least = -abs(turn) * HAIR;
  const along = turn < 0 ? -s : s, across = turn < 0 ? -t : t;
  if (along < least || along > most || across < least || across > most) return;
  if (abs(turn) <= 1e-13 * (abs(ru * sv) + abs(rv * su))) return;
  const ah = load<f64>(a, 16), ch = load<f64>(c, 16);
  const height = ah + (s / turn) * (load<f64>(b, 16) - ah) + ch + (t / turn) * (load<f64>(d, 16) - ch);
  if (height > best) {
    best = height;
    const i = <i32>((a - changetype<usize>(shadows0)) % SHADOW_BYTES / 24);
    const j = <i32>((c - changetype<usize>(shadows1)) % SHADOW_BYTES / 24);
    bestKind = 2 + i * 3 + j;
  }
}

/** The normal of the last touch, unit, towards what moves. */
export let touchX: f64 = 0, touchY: f64 = 0, touchZ: f64 = 0;

/**
 * Sets the direction in which the two push each other apart where they touch last, after depthAlong with the same
 * arguments: of a face, or across both edges. False where there is none.
 */
export function findTouch(list0: usize, list1: usize, nx: f64, ny: f64, nz: f64): bool {
  if (bestKind < 0) return false;
  const p = <usize>load<u32>(list0 + (<usize>best0 << 2)), q = <usize>load<u32>(list1 + (<usize>best1 << 2));
  if (bestKind == 0) crossEdges(q, q + 24, q, q + 48);
  else if (bestKind == 1) crossEdges(p, p + 24, p, p + 48);
  else {
    const i = <usize>((bestKind - 2) / 3) * 24, j = <usize>((bestKind - 2) % 3) * 24;
    crossEdges(p + i, p + (i == 48 ? 0 : i + 24), q + j, q + (j == 48 ? 0 : j + 24));
  }
  const along = touchX * nx + touchY * ny + touchZ * nz;
  const length = sqrt(touchX * touchX + touchY * touchY + touchZ * touchZ);
  if (!(length > 0) || along == 0) return false;
  const norm = (along < 0 ? -1.0 : 1.0) / length;
  touchX *= norm;
  touchY *= norm;
  touchZ *= norm;
  return true;
}

function crossEdges(a: usize, b: usize, c: usize, d: usize): void {
  const ex = load<f64>(b) - load<f64>(a), ey = load<f64>(b, 8) - load<f64>(a, 8), ez = load<f64>(b, 16) - load<f64>(a, 16);
  const fx = load<f64>(d) - load<f64>(c), fy = load<f64>(d, 8) - load<f64>(c, 8), fz = load<f64>(d, 16) - load<f64>(c, 16);
  touchX = ey * fz - ez * fy;
  touchY = ez * fx - ex * fz;
  touchZ = ex * fy - ey * fx;
}

// How far a set of triangles must move along a direction until it has left another set behind: the largest difference
// of heights where both lie over one another. A grid over their common shadow says how high one set is in each cell, so
// that of the other one only triangles that can hold the largest difference are compared with those in their cells.
// There it is exact: heights are linear over the polygon in which two shadows overlap, so it lies at a corner of one.

import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import { reserve } from '../../memory';

/** A triangle as it is seen along the direction: places across it, and how high it is (of what moves, how low). */
@unmanaged
class Shadow {
  au: f64; av: f64; ah: f64;
  bu: f64; bv: f64; bh: f64;
  cu: f64; cv: f64; ch: f64;
  lowU: f64; lowV: f64; highU: f64; highV: f64;
  top: f64;
  /** The most that it can come to with one of those in the cells; of those, not used. */
  promise: f64;
  /** Of one in the cells: the shadow that it was compared with last. */
  compared: u32;
}

const SHADOW_BYTES: usize = 128;

// Of 0, what stays, and 1, what moves: Shadow each.
let shadows0: usize = 0, shadows1: usize = 0;

/** How high anything in it is, and the first entry of its list, 0 at the end. */
@unmanaged
class Cell {
  top: f64;
  first: u32;
}

const CELL_BYTES: usize = 16;

@unmanaged
class Entry {
  shadow: u32;
  next: u32;
}

const ENTRY_BYTES: usize = 8;

let grid: usize = 0; // Cell each
let entries: usize = 0; // Entry each

// The grid over the shadow that both have.
let lowU: f64 = 0, lowV: f64 = 0, highU: f64 = 0, highV: f64 = 0;
let cellsU: i32 = 1, cellsV: i32 = 1;
let perU: f64 = 0, perV: f64 = 0; // cells per length
let halfU: f64 = 0, halfV: f64 = 0; // of a cell

const MOST_CELLS: f64 = 96;

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
  // The fewer are those in the cells.
  const isSwapped = count0 < count1;
  const shadows = isSwapped ? shadows1 : shadows0, count = isSwapped ? count1 : count0;
  const others = isSwapped ? shadows0 : shadows1, otherCount = isSwapped ? count0 : count1;
  chooseCells(shadows, count, others, otherCount);
  fillCells(others, otherCount);
  let first: usize = 0;
  let most = -Infinity;
  const end = shadows + <usize>count * SHADOW_BYTES;
  for (let at = shadows; at < end; at += SHADOW_BYTES) {
    const promise = promiseOf(changetype<Shadow>(at));
    changetype<Shadow>(at).promise = promise;
    if (!(promise > most)) continue;
    most = promise;
    first = at;
  }
  if (first == 0) return best;
  // The most promising one first, as what it comes to rules most of the others out.
  search(changetype<Shadow>(first), isSwapped);
  for (let at = shadows; at < end && best < limit; at += SHADOW_BYTES) {
    const shadow = changetype<Shadow>(at);
    if (shadow.promise > best && at != first) search(shadow, isSwapped);
  }
  return best;
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
    changetype<Shadow>(to).compared = 0;
    least = f64x2.pmin(least, low);
    most = f64x2.pmax(most, high);
  }
  lowU = max(lowU, f64x2.extract_lane(least, 0)); highU = min(highU, f64x2.extract_lane(most, 0));
  lowV = max(lowV, f64x2.extract_lane(least, 1)); highV = min(highV, f64x2.extract_lane(most, 1));
}

// --- cells ---

/**
 * A quarter as many cells as there are triangles in them, and fewer where triangles are so wide that each is in many. A
 * frame of 64 dragons in a loose heap takes 1.03 times as long with twice as many cells, 0.98 to 0.99 with half as many.
 */
function chooseCells(shadows: usize, count: u32, others: usize, otherCount: u32): void {
  const width = highU - lowU, height = highV - lowV;
  const wanted = max(0.25 * <f64>otherCount, 1.0);
  const aspect = width > 0 && height > 0 ? min(max(width / height, 1.0 / 16), 16.0) : 1.0;
  let u = min(sqrt(wanted * aspect), MOST_CELLS), v = min(sqrt(wanted / aspect), MOST_CELLS);
  wideU = wideV = wideArea = 0;
  const ownCount = measure(shadows, count);
  const ownU = wideU, ownV = wideV, ownArea = wideArea;
  wideU = wideV = wideArea = 0;
  const cellCount = measure(others, otherCount);
  let inCells: f64 = 0;
  for (;;) {
    cellsU = max(<i32>u, 1);
    cellsV = max(<i32>v, 1);
    perU = width > 0 ? <f64>cellsU / width : 0;
    perV = height > 0 ? <f64>cellsV / height : 0;
    inCells = <f64>cellCount + perU * wideU + perV * wideV + perU * perV * wideArea;
    const read = <f64>ownCount + perU * ownU + perV * ownV + perU * perV * ownArea;
    if (cellsU * cellsV == 1 || inCells + read <= COVERAGE * <f64>(count + otherCount)) break;
    u *= 0.5;
    v *= 0.5;
  }
  halfU = perU > 0 ? 0.5 / perU : 0;
  halfV = perV > 0 ? 0.5 / perV : 0;
  // A triangle is in one cell more in each direction than it is wide, and in another one by where it begins.
  const most = inCells + 3.0 * <f64>cellCount + perU * wideU + perV * wideV;
  entries = reserve(entries, 0, (<u64>most + 64) * ENTRY_BYTES);
}

/** Cells that a triangle may be in on average. */
const COVERAGE: f64 = 4;

// How wide triangles are within the common shadow: sums of both widths, and of their product.
let wideU: f64 = 0, wideV: f64 = 0, wideArea: f64 = 0;

/** Sums them up; answers how many there are in it. */
function measure(shadows: usize, count: u32): u32 {
  const least = f64x2(lowU, lowV), most = f64x2(highU, highV);
  let sum = f64x2.splat(0), area: f64 = 0;
  let within: u32 = 0;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const wide = f64x2.sub(
      f64x2.pmin(v128.load(at, offsetof<Shadow>('highU')), most), f64x2.pmax(v128.load(at, offsetof<Shadow>('lowU')), least),
    );
    if (!i64x2.all_true(f64x2.ge(wide, f64x2.splat(0)))) continue;
    sum = f64x2.add(sum, wide);
    area += f64x2.extract_lane(wide, 0) * f64x2.extract_lane(wide, 1);
    within++;
  }
  wideU = f64x2.extract_lane(sum, 0);
  wideV = f64x2.extract_lane(sum, 1);
  wideArea = area;
  return within;
}

// The cells that a triangle is in; none where it is beside the common shadow.
let fromU: i32 = 0, fromV: i32 = 0, toU: i32 = 0, toV: i32 = 0;
/** Whether they are so many that each has its own bound of how high the triangle is. */
let isWide: bool = false;
let slopeU: f64 = 0, slopeV: f64 = 0;

/** Sets them. */
// @ts-ignore: decorator
@inline
function setCells(s: Shadow): bool {
  const low = v128.load(changetype<usize>(s), offsetof<Shadow>('lowU'));
  const high = v128.load(changetype<usize>(s), offsetof<Shadow>('highU'));
  const least = f64x2(lowU, lowV);
  const isWithin = v128.and(f64x2.ge(high, least), f64x2.le(low, f64x2(highU, highV)));
  if (!i64x2.all_true(isWithin)) return false;
  const per = f64x2(perU, perV), last = f64x2(<f64>(cellsU - 1), <f64>(cellsV - 1)), none = f64x2.splat(0);
  const from = i32x4.trunc_sat_f64x2_s_zero(f64x2.pmin(f64x2.pmax(f64x2.mul(f64x2.sub(low, least), per), none), last));
  const to = i32x4.trunc_sat_f64x2_s_zero(f64x2.pmin(f64x2.pmax(f64x2.mul(f64x2.sub(high, least), per), none), last));
  fromU = i32x4.extract_lane(from, 0);
  fromV = i32x4.extract_lane(from, 1);
  toU = i32x4.extract_lane(to, 0);
  toV = i32x4.extract_lane(to, 1);
  isWide = toU - fromU + toV - fromV > 1;
  if (isWide) setSlope(s);
  return true;
}

/** How fast it rises; Infinity or no number where it is seen from its edge. */
function setSlope(s: Shadow): void {
  const eu = s.bu - s.au, ev = s.bv - s.av, eh = s.bh - s.ah, fu = s.cu - s.au, fv = s.cv - s.av, fh = s.ch - s.ah;
  const area = eu * fv - ev * fu;
  const isFlat = abs(area) <= 1e-6 * (abs(eu * fv) + abs(ev * fu));
  slopeU = isFlat ? Infinity : (eh * fv - ev * fh) / area;
  slopeV = isFlat ? Infinity : (eu * fh - eh * fu) / area;
}

/** How high a triangle can be in one of its cells. */
// @ts-ignore: decorator
@inline
function topIn(s: Shadow, u: i32, v: i32): f64 {
  const top = s.top;
  if (!isWide) return top;
  const middleU = lowU + (2 * u + 1) * halfU, middleV = lowV + (2 * v + 1) * halfV;
  const there = s.ah + slopeU * (middleU - s.au) + slopeV * (middleV - s.av);
  const most = there + abs(slopeU) * halfU * 1.000001 + abs(slopeV) * halfV * 1.000001;
  return most < top ? most : top; // top where it is no number
}

// @ts-ignore: decorator
@inline
function cellAt(u: i32, v: i32): Cell {
  return changetype<Cell>(grid + <usize>(v * cellsU + u) * CELL_BYTES);
}

function fillCells(shadows: usize, count: u32): void {
  const bytes = <usize>(cellsU * cellsV) * CELL_BYTES;
  grid = reserve(grid, 0, bytes);
  for (let at = grid, end = grid + bytes; at < end; at += CELL_BYTES) {
    changetype<Cell>(at).top = -Infinity;
    changetype<Cell>(at).first = 0;
  }
  let entry = entries;
  for (let at = shadows, end = shadows + <usize>count * SHADOW_BYTES; at < end; at += SHADOW_BYTES) {
    const s = changetype<Shadow>(at);
    if (!setCells(s)) continue;
    for (let v = fromV; v <= toV; v++) {
      for (let u = fromU; u <= toU; u++, entry += ENTRY_BYTES) {
        const cell = cellAt(u, v);
        changetype<Entry>(entry).shadow = <u32>at;
        changetype<Entry>(entry).next = cell.first;
        cell.first = <u32>entry;
        const top = topIn(s, u, v);
        if (top > cell.top) cell.top = top;
      }
    }
  }
}

function promiseOf(s: Shadow): f64 {
  let most = -Infinity;
  if (!setCells(s)) return most;
  for (let v = fromV; v <= toV; v++) {
    for (let u = fromU; u <= toU; u++) {
      const promise = topIn(s, u, v) + cellAt(u, v).top;
      if (promise > most) most = promise;
    }
  }
  return most;
}

/** One triangle against all in its cells with which it can come to more than what is known. */
function search(p: Shadow, isSwapped: bool): void {
  setCells(p);
  const low = v128.load(changetype<usize>(p), offsetof<Shadow>('lowU'));
  const high = v128.load(changetype<usize>(p), offsetof<Shadow>('highU'));
  for (let v = fromV; v <= toV; v++) {
    for (let u = fromU; u <= toU; u++) {
      const cell = cellAt(u, v);
      if (!(topIn(p, u, v) + cell.top > best)) continue;
      for (let at = cell.first; at != 0; at = changetype<Entry>(at).next) {
        const q = changetype<Shadow>(changetype<Entry>(at).shadow);
        if (!(p.top + q.top > best) || q.compared == changetype<u32>(p)) continue;
        const isOver = v128.and(
          f64x2.le(low, v128.load(changetype<usize>(q), offsetof<Shadow>('highU'))),
          f64x2.le(v128.load(changetype<usize>(q), offsetof<Shadow>('lowU')), high),
        );
        if (!i64x2.all_true(isOver)) continue;
        q.compared = changetype<u32>(p);
        if (isSwapped) compare(q, p);
        else compare(p, q);
      }
    }
  }
}

// --- two triangles ---

/** Of rounding, relative to the triangles: what is a hair outside counts as inside. */
const HAIR: f64 = 1e-10;

function compare(p: Shadow, q: Shadow): void {
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
  best0 = <u32>((changetype<usize>(p) - shadows0) / SHADOW_BYTES);
  best1 = <u32>((changetype<usize>(q) - shadows1) / SHADOW_BYTES);
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

// Cuts that belong together, and what lies between: a region is one curve in which two meshes cut each other, or
// several about the same pocket, with the pockets, the triangles of each mesh that are inside of the other one there
// (Redon and Lin, "A Fast Method for Local Penetration Depth Computation", 2006).

import { NO_NEIGHBOUR, neighbourOf } from '../../mesh/topology/adjacency';
import { reserve } from '../../memory';
import { ANY_EDGE, Cut, cutAt, cutCount, isTouch } from './intersection-segments';
import { NO_CUT, Part, Side, addPart, knownAt, partAt, sideAt } from './clipped-triangles';

/** Parts that are cut; those of pockets come after them. */
export let crossing0: u32 = 0;
export let crossing1: u32 = 0;
/** Cuts by region, u32 each. */
export let order: usize = 0;
/** By region, u32: where its cuts begin in `order`; one more than there are. */
export let regionStarts: usize = 0;
export let regionCount: u32 = 0;
/** Pocket parts by region, the same; of both sides. */
export let pockets0: usize = 0, pockets1: usize = 0;
export let pocketStarts0: usize = 0, pocketStarts1: usize = 0;
/** Whether no pocket was too large. */
export let hasAllPockets: bool = true;

const MOST_PARTS: u32 = 1 << 16;

/** Which way both surfaces face, 1 or -1, two f64 by region. */
let senses: usize = 0;

export function findRegions(): void {
  const a = sideAt(0), b = sideAt(1);
  crossing0 = a.count;
  crossing1 = b.count;
  hasAllPockets = true;
  for (let i: u32 = 0; i < cutCount; i++) joinNeighbours(i, a, b);
  numberRegions();
  findSenses(a, b);
  fillPockets(0, crossing0);
  fillPockets(1, crossing1);
  renumberRegions();
  sortCuts();
  pocketStarts0 = reserve(pocketStarts0, 0, <u64>(regionCount + 1) << 2);
  pocketStarts1 = reserve(pocketStarts1, 0, <u64>(regionCount + 1) << 2);
  pockets0 = reserve(pockets0, 0, <u64>(a.count - crossing0) << 2);
  pockets1 = reserve(pockets1, 0, <u64>(b.count - crossing1) << 2);
  sortPockets(a, crossing0, pocketStarts0, pockets0);
  sortPockets(b, crossing1, pocketStarts1, pockets1);
}

// --- curves ---

/** The root of a cut's set (Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975). */
function rootOf(index: u32): u32 {
  let cut = cutAt(index);
  while (cut.parent != index) {
    const above = cutAt(cut.parent);
    cut.parent = above.parent;
    index = cut.parent;
    cut = cutAt(index);
  }
  return index;
}

/** The lower number stays the root, so that regions keep the order of their first cuts. */
function unite(i: u32, j: u32): void {
  const p = rootOf(i), q = rootOf(j);
  if (p < q) cutAt(q).parent = p;
  else cutAt(p).parent = q;
}

/** A curve goes on beyond the edges that a cut's ends are on, in the same triangle of the other mesh. */
function joinNeighbours(index: u32, a: Side, b: Side): void {
  const cut = cutAt(index);
  if (!joinBeyond(index, cut, cut.edgeP, a, b) || !joinBeyond(index, cut, cut.edgeQ, a, b)) joinAll(index, a, b);
}

/** False where it is not known where the curve goes on. */
// @ts-ignore: decorator
@inline
function joinBeyond(index: u32, cut: Cut, edge: u32, a: Side, b: Side): bool {
  if (edge == ANY_EDGE) return false;
  const isOfA = edge < 3;
  const side = isOfA ? a : b;
  const neighbour = neighbourOf(side.adjacency, partAt(side, isOfA ? cut.a : cut.b).slot, isOfA ? edge : edge - 3);
  if (neighbour == NO_NEIGHBOUR) return false;
  const known = knownAt(side, neighbour);
  if (known == 0) return false;
  const found = isOfA ? cutOf(a, b, known - 1, cut.b) : cutOf(a, b, cut.a, known - 1);
  if (found == NO_CUT) return false;
  unite(index, found);
  return true;
}

/** Beyond any edge of one triangle, in the same triangle of the other mesh; or in its neighbour as well. */
function joinAll(index: u32, a: Side, b: Side): void {
  const cut = cutAt(index);
  const slotA = partAt(a, cut.a).slot, slotB = partAt(b, cut.b).slot;
  for (let i: u32 = 0; i < 3; i++) {
    const other = crossingBeyond(a, slotA, i, crossing0);
    if (other == NO_CUT) continue;
    let found = cutOf(a, b, other, cut.b);
    if (found != NO_CUT) {
      uniteEnds(index, found);
      continue;
    }
    for (let j: u32 = 0; j < 3; j++) {
      const too = crossingBeyond(b, slotB, j, crossing1);
      if (too == NO_CUT) continue;
      found = cutOf(a, b, other, too);
      if (found != NO_CUT) uniteEnds(index, found);
    }
  }
  for (let j: u32 = 0; j < 3; j++) {
    const other = crossingBeyond(b, slotB, j, crossing1);
    if (other == NO_CUT) continue;
    const found = cutOf(a, b, cut.a, other);
    if (found != NO_CUT) uniteEnds(index, found);
  }
}

/** How near ends of cuts must be to be the same place: of the triangles' size, at a right angle. */
const SAME_END: f64 = 1e-6;

/**
 * Of neighbours that are both cut, though perhaps by different curves, far from the edge that they share: the curve is
 * one where the cuts have an end in common. At a small angle, rounding moves ends by more; places that only touch have
 * nothing to compare.
 */
function uniteEnds(i: u32, j: u32): void {
  if (!isTouch()) {
    const p = cutAt(i), q = cutAt(j);
    const a = partAt(sideAt(0), p.a), b = partAt(sideAt(1), p.b);
    const most = (size(a) + size(b)) * SAME_END * SAME_END, apart = gap(p, q);
    if (apart > most) {
      const sine = min(sineOf(a, b), sineOf(partAt(sideAt(0), q.a), partAt(sideAt(1), q.b)));
      if (apart * sine * sine > most) return;
    }
  }
  unite(i, j);
}

/** Squared distance of the two ends that are nearest. */
function gap(p: Cut, q: Cut): f64 {
  return min(
    min(square(p.px - q.px, p.py - q.py, p.pz - q.pz), square(p.px - q.qx, p.py - q.qy, p.pz - q.qz)),
    min(square(p.qx - q.px, p.qy - q.py, p.qz - q.pz), square(p.qx - q.qx, p.qy - q.qy, p.qz - q.qz)),
  );
}

function size(part: Part): f64 {
  return square(part.bx - part.ax, part.by - part.ay, part.bz - part.az)
    + square(part.cx - part.ax, part.cy - part.ay, part.cz - part.az);
}

// @ts-ignore: decorator
@inline
function square(x: f64, y: f64, z: f64): f64 {
  return x * x + y * y + z * z;
}

/** The part beyond an edge, where it is cut too. */
// @ts-ignore: decorator
@inline
function crossingBeyond(side: Side, slot: u32, edge: u32, crossing: u32): u32 {
  const neighbour = neighbourOf(side.adjacency, slot, edge);
  if (neighbour == NO_NEIGHBOUR) return NO_CUT;
  const known = knownAt(side, neighbour);
  return known == 0 || known > crossing ? NO_CUT : known - 1;
}

/** The cut of two parts, by the shorter of their lists. */
function cutOf(sideA: Side, sideB: Side, a: u32, b: u32): u32 {
  let i = partAt(sideA, a).firstCut, j = partAt(sideB, b).firstCut;
  while (i != NO_CUT && j != NO_CUT) {
    const ofA = cutAt(i), ofB = cutAt(j);
    if (ofA.b == b) return i;
    if (ofB.a == a) return j;
    i = ofA.nextA;
    j = ofB.nextB;
  }
  return NO_CUT;
}

function numberRegions(): void {
  regionCount = 0;
  for (let i: u32 = 0; i < cutCount; i++) {
    const root = rootOf(i);
    cutAt(i).region = root == i ? regionCount++ : cutAt(root).region;
  }
}

/** After some were joined: none gets a higher number than it had, as roots are the lowest of their sets. */
function renumberRegions(): void {
  regionCount = 0;
  for (let i: u32 = 0; i < cutCount; i++) {
    const cut = cutAt(i), root = rootOf(i);
    if (root == i) {
      memory.copy(senses + (<usize>regionCount << 4), senses + (<usize>cut.region << 4), 16);
      cut.region = regionCount++;
    } else cut.region = cutAt(root).region;
  }
}

// --- pockets ---

/**
 * Of a mesh that encloses nothing, the side on which less of the other mesh is counts as its inside: the one away from
 * the other's middle.
 */
function findSenses(a: Side, b: Side): void {
  senses = reserve(senses, 0, <u64>regionCount << 4);
  for (let i: u32 = 0; i < regionCount << 1; i++) store<f64>(senses + (<usize>i << 3), 0);
  if (a.facing == 0 || b.facing == 0) {
    for (let i: u32 = 0; i < cutCount; i++) {
      const cut = cutAt(i);
      const p = partAt(a, cut.a), q = partAt(b, cut.b);
      const x = 0.5 * (cut.px + cut.qx), y = 0.5 * (cut.py + cut.qy), z = 0.5 * (cut.pz + cut.qz);
      const dx = cut.qx - cut.px, dy = cut.qy - cut.py, dz = cut.qz - cut.pz;
      const length = sqrt(dx * dx + dy * dy + dz * dz);
      const at = senses + (<usize>cut.region << 4);
      const ofA = (b.middleX - x) * p.nx + (b.middleY - y) * p.ny + (b.middleZ - z) * p.nz;
      const ofB = (a.middleX - x) * q.nx + (a.middleY - y) * q.ny + (a.middleZ - z) * q.nz;
      store<f64>(at, load<f64>(at) + length * ofA);
      store<f64>(at, load<f64>(at, 8) + length * ofB, 8);
    }
  }
  for (let i: u32 = 0; i < regionCount; i++) {
    const at = senses + (<usize>i << 4);
    store<f64>(at, a.facing == 0 && load<f64>(at) < 0 ? -1 : 1);
    store<f64>(at, b.facing == 0 && load<f64>(at, 8) < 0 ? -1 : 1, 8);
  }
}

/** 1, or -1 where a side's normals at a cut lead to what counts as its inside. */
// @ts-ignore: decorator
@inline
export function senseOf(cut: Cut, side: u32): f64 {
  return load<f64>(senses + (<usize>cut.region << 4) + (<usize>side << 3));
}

/** The cut that decided where `insideAt` was asked. */
let nearest: u32 = NO_CUT;
/** Whether none did, as all cancel out. */
let isUndecided: bool = false;

/**
 * Whether a place on a part that is cut is inside of the other mesh: by the nearest of the part's cuts. Of several that
 * are as near, as they end at the same place or lie on one another, each counts by how far the place is from its line:
 * at a sharp corner, the place may be before one line and behind the other, and is on the side of the one farther off.
 * Where they cancel out, as at the two sides of a fin without a thickness, cuts farther away decide.
 */
function insideAt(own: u32, part: Part, x: f64, y: f64, z: f64): bool {
  const other = sideAt(1 - own);
  isUndecided = false;
  let from = -1.0;
  while (true) {
    let least = Infinity;
    let sum: f64 = 0, most: f64 = 0;
    let found = NO_CUT;
    for (let i = part.firstCut; i != NO_CUT; ) {
      const cut = cutAt(i);
      const dx = cut.qx - cut.px, dy = cut.qy - cut.py, dz = cut.qz - cut.pz;
      const wx = x - cut.px, wy = y - cut.py, wz = z - cut.pz;
      const whole = square(dx, dy, dz);
      const t = whole > 0 ? min(max((wx * dx + wy * dy + wz * dz) / whole, 0.0), 1.0) : 0.0;
      const rx = wx - t * dx, ry = wy - t * dy, rz = wz - t * dz;
      const distance = rx * rx + ry * ry + rz * rz;
      if (distance > from && distance <= least * SAME) {
        const plane = partAt(other, own == 0 ? cut.b : cut.a);
        const height = (rx * plane.nx + ry * plane.ny + rz * plane.nz) * senseOf(cut, 1 - own);
        if (distance * SAME < least) {
          sum = most = 0;
          found = NO_CUT;
        }
        // On the curve itself there is nothing to tell.
        const sine = height * height > distance * 1e-12 ? sineOf(part, plane) : 0;
        const vote = sine > 0 ? -height / sine : 0;
        sum += vote;
        most = max(most, abs(vote));
        if (found == NO_CUT || vote > 0) found = i;
        least = min(least, distance);
      }
      i = own == 0 ? cut.nextA : cut.nextB;
    }
    nearest = found;
    if (abs(sum) > most * EVEN) return sum > 0;
    if (least == Infinity) {
      isUndecided = true;
      return false;
    }
    from = least * SAME;
  }
}

/** Of squares of distances, that differ by rounding alone. */
const SAME: f64 = 1 + 1e-9;
/** What rounding leaves of votes that cancel out. */
const EVEN: f64 = 1e-9;

/** Of the angle at which two parts cut: the height over the one is as much of the distance from the cut in the other. */
function sineOf(p: Part, q: Part): f64 {
  const x = p.ny * q.nz - p.nz * q.ny, y = p.nz * q.nx - p.nx * q.nz, z = p.nx * q.ny - p.ny * q.nx;
  return sqrt(x * x + y * y + z * z);
}

/** Where the middle of an edge is. */
let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
function setMiddle(part: Part, edge: u32): void {
  const from = changetype<usize>(part) + offsetof<Part>('ax') + <usize>edge * 24;
  const to = changetype<usize>(part) + offsetof<Part>('ax') + (edge == 2 ? 0 : <usize>edge * 24 + 24);
  middleX = 0.5 * (load<f64>(from) + load<f64>(to));
  middleY = 0.5 * (load<f64>(from, 8) + load<f64>(to, 8));
  middleZ = 0.5 * (load<f64>(from, 16) + load<f64>(to, 16));
}

/** From the cut triangles over the edges that are inside, and on to all neighbours. Joins the curves about a pocket. */
function fillPockets(own: u32, crossing: u32): void {
  const side = sideAt(own);
  for (let i: u32 = 0; i < crossing; i++) {
    for (let edge: u32 = 0; edge < 3; edge++) {
      const part = partAt(side, i);
      const slot = neighbourOf(side.adjacency, part.slot, edge);
      if (slot == NO_NEIGHBOUR) continue;
      const known = knownAt(side, slot);
      if (known != 0 && known <= crossing) {
        if (known - 1 > i) joinAcross(own, part, partAt(side, known - 1), edge);
        continue;
      }
      setMiddle(part, edge);
      if (!insideAt(own, part, middleX, middleY, middleZ)) continue;
      if (known == 0) fillPocket(own, side, crossing, slot, nearest);
      else if (partAt(side, known - 1).cut != NO_CUT) unite(nearest, partAt(side, known - 1).cut);
    }
    if (side.count > MOST_PARTS) {
      hasAllPockets = false;
      return;
    }
  }
}

let queue: usize = 0; // parts of a pocket, u32
let queued: u32 = 0;

function push(part: Part, index: u32, cut: u32): void {
  part.cut = cut;
  queue = reserve(queue, <usize>queued << 2, (<u64>queued + 1) << 2);
  store<u32>(queue + (<usize>queued << 2), index);
  queued++;
}

/** So many more edges outside than inside, and it is no pocket. */
const DOUBT = 3;

/**
 * One pocket, from one of its triangles. A mesh that cuts itself or covers a place twice may make one edge look inside
 * that is not: where more edges about it are outside than inside, it is none.
 */
function fillPocket(own: u32, side: Side, crossing: u32, first: u32, cut: u32): void {
  queued = 0;
  let votes = 0;
  const index = addPart(side, first);
  push(partAt(side, index), index, cut);
  for (let i: u32 = 0; i < queued; i++) {
    const from = load<u32>(queue + (<usize>i << 2));
    const slot = partAt(side, from).slot;
    for (let edge: u32 = 0; edge < 3; edge++) {
      const beyond = neighbourOf(side.adjacency, slot, edge);
      if (beyond == NO_NEIGHBOUR) continue;
      const known = knownAt(side, beyond);
      if (known > crossing) continue;
      if (known == 0) {
        const added = addPart(side, beyond);
        push(partAt(side, added), added, cut);
        continue;
      }
      const part = partAt(side, known - 1);
      if (part.cut != NO_CUT) continue;
      setMiddle(partAt(side, from), edge);
      if (insideAt(own, part, middleX, middleY, middleZ)) {
        votes++;
        unite(cut, nearest);
      } else if (isUndecided) push(part, known - 1, cut);
      else votes--;
    }
    if (votes <= -DOUBT || side.count > MOST_PARTS) break;
  }
  if (votes >= 0) return;
  for (let i: u32 = 0; i < queued; i++) partAt(side, load<u32>(queue + (<usize>i << 2))).cut = NO_CUT;
}

/** Two curves with nothing but an edge of a pocket between them. */
function joinAcross(own: u32, part: Part, other: Part, edge: u32): void {
  if (rootOf(part.firstCut) == rootOf(other.firstCut)) return;
  setMiddle(part, edge);
  if (!insideAt(own, part, middleX, middleY, middleZ)) return;
  const one = nearest;
  if (insideAt(own, other, middleX, middleY, middleZ)) unite(one, nearest);
}

// --- by region ---

function sortCuts(): void {
  regionStarts = reserve(regionStarts, 0, <u64>(regionCount + 2) << 2);
  order = reserve(order, 0, <u64>cutCount << 2);
  memory.fill(regionStarts, 0, <usize>(regionCount + 2) << 2);
  for (let i: u32 = 0; i < cutCount; i++) count(regionStarts, cutAt(i).region);
  accumulate(regionStarts);
  for (let i: u32 = 0; i < cutCount; i++) place(regionStarts, order, cutAt(i).region, i);
}

function sortPockets(side: Side, crossing: u32, starts: usize, list: usize): void {
  memory.fill(starts, 0, <usize>(regionCount + 1) << 2);
  for (let i = crossing; i < side.count; i++) {
    const cut = partAt(side, i).cut;
    if (cut != NO_CUT) count(starts, cutAt(cut).region);
  }
  accumulate(starts);
  for (let i = crossing; i < side.count; i++) {
    const cut = partAt(side, i).cut;
    if (cut != NO_CUT) place(starts, list, cutAt(cut).region, i);
  }
}

// Counts one place late, so that `place` leaves every start where it belongs.
function count(starts: usize, region: u32): void {
  const at = starts + (<usize>region << 2);
  store<u32>(at, load<u32>(at, 4) + 1, 4);
}

function accumulate(starts: usize): void {
  let sum: u32 = 0;
  for (let i: u32 = 1; i <= regionCount; i++) {
    const at = starts + (<usize>i << 2);
    const own = load<u32>(at);
    store<u32>(at, sum);
    sum += own;
  }
}

function place(starts: usize, list: usize, region: u32, value: u32): void {
  const at = starts + (<usize>region << 2);
  const to = load<u32>(at, 4);
  store<u32>(at, to + 1, 4);
  store<u32>(list + (<usize>to << 2), value);
}

// The state of one snapping pick between two steps, and the ring around the cursor in which its candidates are drawn: at first
// the whole circle of a radius. Candidates are returned best first, by the fewest pixels, then the nearest, from a binary heap
// (Williams, "Algorithm 232: Heapsort", 1964), since most picks examine only a few.

import { allocate, capacityOf, release, reserve } from '../../memory';

/** The state of a pick; fields that TypeScript reads or writes have their offsets in layout.ts, SNAP_PICK_*. */
@unmanaged
export class SnapPick {
  // The projection of the world around the cursor (protocol.ts, SnapRequest): factors of x, y and z, and a constant.
  xx: f64; xy: f64; xz: f64; xw: f64;
  yx: f64; yy: f64; yz: f64; yw: f64;
  wx: f64; wy: f64; wz: f64; ww: f64;
  nearX: f64; nearY: f64; nearZ: f64; nearW: f64;
  farX: f64; farY: f64; farZ: f64; farW: f64;
  /** The viewport, in pixels from the cursor. */
  minX: f64; minY: f64; maxX: f64; maxY: f64;
  radius: f64;
  // The candidate to be tested, or that was found: its point in the world and on the screen.
  x: f64; y: f64; z: f64;
  screenX: f64; screenY: f64;
  /** The rectangle of the box to be tested: min xy, max xy, in pixels from the cursor. */
  boxMinX: f64; boxMinY: f64; boxMaxX: f64; boxMaxY: f64;
  pixels: f64;
  /** The object that the candidate or the box belongs to, and the address of that box. */
  targetIndex: u32;
  box: u32;
  kind: u32;
  index: u32;
  slot: i32;
  /** How many candidates were found to be hidden, each by a ray. */
  hiddenCount: u32;
  /** The address of the objects near the cursor: targets.ts. */
  targets: u32;
  targetCount: u32;
  // The ends of the found feature, in the world: of an edge's straight run, or of an arc; and its element.
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  element: i32;
  unused: u32;

  /** The farthest distance of candidates, in pixels; it shrinks when many are found. */
  searchRadius: f64;
  // Candidates farther than `ringStart` steps and up to `ringEnd` are taken; `radiusSteps` is the number of steps of the radius.
  ringStart: f64;
  ringEnd: f64;
  radiusSteps: f64;
  /** The line of sight from the near plane to the candidate: its start, its direction, and its length. */
  sightStartX: f64; sightStartY: f64; sightStartZ: f64;
  sightDirectionX: f64; sightDirectionY: f64; sightDirectionZ: f64;
  sightLength: f64;
  /** The search radius for which items were listed, and how finely fronts were tested for it. */
  listedRadius: f64;
  listedDepth: i32;
  candidateLimit: u32;
  /** Candidate records in no order, and their number; a heap of their addresses. */
  records: u32;
  candidateCount: u32;
  recordCapacity: u32;
  heap: u32;
  /** The items that may be drawn in the square of `listedRadius`, object by object. */
  listedItems: u32;
  listedCount: u32;
  listedCapacity: u32;
  targetCapacity: u32;
  kinds: u32;
  phase: u32;
  /** Whether items are being listed, and whether an answer of TypeScript is awaited about the current box or candidate. */
  isListing: u32;
  isAwaitingAnswer: u32;
  /** Progress of gathering: the level and the node, or the item; and of ordering. */
  level: i32;
  next: u32;
  /** The record that was taken last and passed the tests of its own object; 0 for none. */
  lastRecord: u32;
  pad: u32;
}

/** A feature that is drawn near the cursor. */
@unmanaged
export class SnapCandidate {
  /** Pixels, in steps; then the order of depths. These two and the next three fields identify a feature. */
  steps: f64;
  /** Larger is farther away. */
  depth: f64;
  pixels: f64;
  /** Its point, in the shape's own space. */
  x: f64; y: f64; z: f64;
  /** SNAP_*. */
  kind: u32;
  object: u32;
  /** The index of its vertex, circle or edge. */
  index: u32;
  /** The edge by which it was found, since a vertex is found once per edge; for a point of a point cloud, its own number. */
  edge: u32;
  /** The index of its object among those near the cursor. */
  targetIndex: u32;
  pad: u32;
}

const CANDIDATE_BYTES: usize = offsetof<SnapCandidate>();
/** Pixels are distinguished to a 64th, so that rounding does not decide between features at the same place. */
const PIXEL_STEPS: f64 = 64;
/**
 * How many candidates are enough at first: if more are drawn near the cursor, the nearest of them come first. The next ring
 * takes twice as many, up to MAX_CANDIDATE_LIMIT, since each ring needs a pass over everything.
 */
const FIRST_CANDIDATE_LIMIT: u32 = 512;
const MAX_CANDIDATE_LIMIT: u32 = 1 << 15;
/** How many candidates are put into order per step. */
const STEP: u32 = 4096;
/** A pick with more candidates is not reused by the next pick. */
const MAX_REUSED_RECORDS: u32 = 1 << 16;

/** Allocates the state of a pick. Throws OUT_OF_MEMORY. */
export function openSnap(): usize {
  const address = allocate(offsetof<SnapPick>());
  memory.fill(address, 0, offsetof<SnapPick>());
  return address;
}

/** Begins a pick without objects; its projection must have been written before. */
export function beginSnapRoom(address: usize): void {
  const pick = changetype<SnapPick>(address);
  pick.targetCount = pick.hiddenCount = 0;
  pick.listedRadius = -1;
  pick.listedDepth = -1;
}

/** Returns whether the state of a pick is small enough to be reused by the next pick. */
export function isSnapSmall(address: usize): bool {
  return changetype<SnapPick>(address).recordCapacity <= MAX_REUSED_RECORDS;
}

export function closeSnap(address: usize): void {
  const pick = changetype<SnapPick>(address);
  release(pick.records);
  release(pick.heap);
  release(pick.listedItems);
  release(pick.targets);
  release(address);
}

/** Begins a ring with nothing found. */
export function beginRing(pick: SnapPick): void {
  pick.radiusSteps = stepsOf(pick.radius);
  pick.candidateLimit = FIRST_CANDIDATE_LIMIT;
  resetRing(pick, -1);
}

function resetRing(pick: SnapPick, ringStart: f64): void {
  pick.ringStart = ringStart;
  pick.ringEnd = pick.radiusSteps;
  pick.searchRadius = pick.radius;
  pick.candidateCount = pick.lastRecord = 0;
}

/** Proceeds to the next ring outside, with nothing found; returns false if all within the radius was taken. */
export function nextRing(pick: SnapPick): bool {
  if (pick.ringEnd >= pick.radiusSteps) return false;
  pick.candidateLimit = min(2 * pick.candidateLimit, MAX_CANDIDATE_LIMIT);
  resetRing(pick, pick.ringEnd);
  return true;
}

/** Rounds as Math.round does. */
function stepsOf(pixels: f64): f64 {
  const steps = pixels * PIXEL_STEPS, rounded = ceil(steps);
  return rounded - 0.5 > steps ? rounded - 1 : rounded;
}

/** Adds a candidate. Throws OUT_OF_MEMORY. */
export function addCandidate(
  pick: SnapPick, object: u32, kind: u32, index: u32, edge: u32, pixels: f64, depth: f64, x: f64, y: f64, z: f64,
): void {
  const steps = stepsOf(pixels);
  if (steps <= pick.ringStart || steps > pick.ringEnd) return;
  if (pick.candidateCount == pick.recordCapacity) growRecords(pick);
  const c = changetype<SnapCandidate>(pick.records + pick.candidateCount++ * <u32>CANDIDATE_BYTES);
  c.steps = steps;
  c.depth = depth;
  c.pixels = pixels;
  c.x = x;
  c.y = y;
  c.z = z;
  c.kind = kind;
  c.object = object;
  c.index = index;
  c.edge = edge;
  c.targetIndex = pick.targetIndex;
  while (pick.candidateCount > pick.candidateLimit && pick.ringEnd - pick.ringStart > 1) shrinkRing(pick);
}

function growRecords(pick: SnapPick): void {
  const used = <usize>pick.candidateCount * CANDIDATE_BYTES;
  pick.records = <u32>reserve(pick.records, used, <u64>max(used + CANDIDATE_BYTES,
    <usize>(FIRST_CANDIDATE_LIMIT + 1) * CANDIDATE_BYTES));
  pick.recordCapacity = <u32>(capacityOf(pick.records) / CANDIDATE_BYTES);
}

function shrinkRing(pick: SnapPick): void {
  pick.ringEnd = floor((pick.ringStart + pick.ringEnd) / 2);
  pick.searchRadius = min(pick.radius, (pick.ringEnd + 1) / PIXEL_STEPS);
  let to: usize = pick.records;
  const end = to + <usize>pick.candidateCount * CANDIDATE_BYTES;
  for (let at: usize = to; at < end; at += CANDIDATE_BYTES) {
    if (changetype<SnapCandidate>(at).steps > pick.ringEnd) continue;
    if (to != at) memory.copy(to, at, CANDIDATE_BYTES);
    to += CANDIDATE_BYTES;
  }
  pick.candidateCount = <u32>((to - pick.records) / CANDIDATE_BYTES);
}

/** Begins to put the candidates into order. Throws OUT_OF_MEMORY. */
export function beginHeap(pick: SnapPick): void {
  pick.heap = <u32>reserve(pick.heap, 0, <u64>pick.candidateCount << 2);
  for (let i: u32 = 0; i < pick.candidateCount; i++) store<u32>(pick.heap + (i << 2), pick.records + i * <u32>CANDIDATE_BYTES);
  pick.next = pick.candidateCount >> 1;
}

/**
 * Continues building the heap; returns whether `popBest` may follow. There may be any number of candidates at one point of the
 * screen.
 */
export function stepHeap(pick: SnapPick): bool {
  for (let left = STEP; pick.next > 0; left--) {
    if (left == 0) return false;
    pick.next--;
    sink(pick, pick.next, load<u32>(pick.heap + (pick.next << 2)));
  }
  return true;
}

/** Removes and returns the best candidate. */
export function popBest(pick: SnapPick): u32 {
  const best = load<u32>(pick.heap);
  pick.candidateCount--;
  sink(pick, 0, load<u32>(pick.heap + (pick.candidateCount << 2)));
  return best;
}

/** Puts a record into the heap at an index or below it. */
function sink(pick: SnapPick, index: u32, record: u32): void {
  const heap = pick.heap, count = pick.candidateCount;
  let i = index;
  for (let child: u32 = 2 * i + 1; child < count; child = 2 * i + 1) {
    let at = load<u32>(heap + (child << 2));
    if (child + 1 < count) {
      const other = load<u32>(heap + (child << 2), 4);
      if (isBefore(other, at)) {
        at = other;
        child++;
      }
    }
    if (!isBefore(at, record)) break;
    store<u32>(heap + (i << 2), at);
    i = child;
  }
  store<u32>(heap + (i << 2), record);
}

function isBefore(addressA: u32, addressB: u32): bool {
  const a = changetype<SnapCandidate>(<usize>addressA), b = changetype<SnapCandidate>(<usize>addressB);
  if (a.steps != b.steps) return a.steps < b.steps;
  if (a.depth != b.depth) return a.depth < b.depth;
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.object != b.object) return a.object < b.object;
  return a.index != b.index ? a.index < b.index : a.edge < b.edge;
}

/** Returns whether two candidates are the same feature. */
export function areSameFeature(addressA: u32, addressB: u32): bool {
  const a = changetype<SnapCandidate>(<usize>addressA), b = changetype<SnapCandidate>(<usize>addressB);
  return a.steps == b.steps && a.depth == b.depth && a.kind == b.kind && a.object == b.object && a.index == b.index;
}

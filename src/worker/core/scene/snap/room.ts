// The state of one snapping pick between two steps, and the ring around the cursor in which its candidates are drawn: at first
// the whole circle of a radius. Candidates are returned best first, by the fewest pixels, then the nearest, from a binary heap
// (Williams, "Algorithm 232: Heapsort", 1964), since most picks examine only a few.

import { allocate, capacityOf, release, reserve } from '../../memory';

/** The state of a pick; fields that TypeScript reads or writes have their offsets in layout.ts, SNAP_ROOM_*. */
@unmanaged
export class SnapRoom {
  // The projection of the world around the cursor (protocol.ts, SnapRequest): factors of x, y and z, and a constant.
  xx: f64; xy: f64; xz: f64; xw: f64;
  yx: f64; yy: f64; yz: f64; yw: f64;
  wx: f64; wy: f64; wz: f64; ww: f64;
  nearX: f64; nearY: f64; nearZ: f64; nearW: f64;
  farX: f64; farY: f64; farZ: f64; farW: f64;
  /** The viewport, in pixels from the cursor. */
  lowX: f64; lowY: f64; highX: f64; highY: f64;
  radius: f64;
  // The candidate to be tested, or that was found: its point in the world and on the screen.
  x: f64; y: f64; z: f64;
  drawnX: f64; drawnY: f64;
  /** The rectangle of the box to be tested: low xy, high xy, in pixels from the cursor. */
  boxLowX: f64; boxLowY: f64; boxHighX: f64; boxHighY: f64;
  pixels: f64;
  /** The object that the candidate or the box belongs to, and the address of that box. */
  target: u32;
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
  reach: f64;
  // Candidates farther than `after` steps and up to `most` are taken; `last` is the number of steps of the radius.
  after: f64;
  most: f64;
  last: f64;
  /** The line of sight from the near plane to the candidate: its start, its direction, and its length. */
  fromX: f64; fromY: f64; fromZ: f64;
  alongX: f64; alongY: f64; alongZ: f64;
  length: f64;
  /** The reach for which items were listed, and how finely fronts were tested for it. */
  nearReach: f64;
  nearDepth: i32;
  enough: u32;
  /** Candidate records in no order, and their number; a heap of their addresses. */
  records: u32;
  count: u32;
  recordRoom: u32;
  heap: u32;
  /** The items that may be drawn in the square of `nearReach`, object by object. */
  near: u32;
  nearCount: u32;
  nearRoom: u32;
  targetRoom: u32;
  kinds: u32;
  phase: u32;
  /** Whether items are being listed, and whether TypeScript was asked about the current box or candidate. */
  isListing: u32;
  isAsked: u32;
  /** Progress of gathering: the level and the node, or the item; and of ordering. */
  level: i32;
  next: u32;
  /** The record that was taken last and passed the tests of its own object; 0 for none. */
  hidden: u32;
  pad: u32;
}

/** A feature that is drawn near the cursor. */
@unmanaged
export class Candidate {
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
  /** The number of its vertex, circle or edge. */
  index: u32;
  /** The edge by which it was found, since a vertex is found once per edge; for a point of a point cloud, its own number. */
  edge: u32;
  /** The index of its object among those near the cursor. */
  target: u32;
  pad: u32;
}

const CANDIDATE_BYTES: usize = offsetof<Candidate>();
/** Pixels are distinguished to a 64th, so that rounding does not decide between features at the same place. */
const PIXEL_STEPS: f64 = 64;
/**
 * How many candidates are enough at first: if more are drawn near the cursor, the nearest of them come first. The next ring
 * takes twice as many, up to MOST, since each ring needs a pass over everything.
 */
const ENOUGH: u32 = 512;
const MOST: u32 = 1 << 15;
/** How many candidates are put into order per step. */
const STEP: u32 = 4096;
/** A room with more candidates is not reused by the next pick. */
const MOST_KEPT: u32 = 1 << 16;

/** Allocates a room. Throws OUT_OF_MEMORY. */
export function openSnap(): usize {
  const room = allocate(offsetof<SnapRoom>());
  memory.fill(room, 0, offsetof<SnapRoom>());
  return room;
}

/** Begins a pick without objects; its projection must have been written before. */
export function beginSnapRoom(room: usize): void {
  const r = changetype<SnapRoom>(room);
  r.targetCount = r.hiddenCount = 0;
  r.nearReach = -1;
  r.nearDepth = -1;
}

/** Returns whether a room is small enough to be reused by the next pick. */
export function isSnapSmall(room: usize): bool {
  return changetype<SnapRoom>(room).recordRoom <= MOST_KEPT;
}

export function closeSnap(room: usize): void {
  const r = changetype<SnapRoom>(room);
  release(r.records);
  release(r.heap);
  release(r.near);
  release(r.targets);
  release(room);
}

/** Begins a ring with nothing found. */
export function beginRing(r: SnapRoom): void {
  r.last = stepsOf(r.radius);
  r.enough = ENOUGH;
  goTo(r, -1);
}

function goTo(r: SnapRoom, after: f64): void {
  r.after = after;
  r.most = r.last;
  r.reach = r.radius;
  r.count = r.hidden = 0;
}

/** Proceeds to the next ring outside, with nothing found; returns false if all within the radius was taken. */
export function nextRing(r: SnapRoom): bool {
  if (r.most >= r.last) return false;
  r.enough = min(2 * r.enough, MOST);
  goTo(r, r.most);
  return true;
}

/** Rounds as Math.round does. */
function stepsOf(pixels: f64): f64 {
  const steps = pixels * PIXEL_STEPS, up = ceil(steps);
  return up - 0.5 > steps ? up - 1 : up;
}

/** Adds a candidate. Throws OUT_OF_MEMORY. */
export function addCandidate(
  r: SnapRoom, object: u32, kind: u32, index: u32, edge: u32, pixels: f64, depth: f64, x: f64, y: f64, z: f64,
): void {
  const steps = stepsOf(pixels);
  if (steps <= r.after || steps > r.most) return;
  if (r.count == r.recordRoom) grow(r);
  const c = changetype<Candidate>(r.records + r.count++ * <u32>CANDIDATE_BYTES);
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
  c.target = r.target;
  while (r.count > r.enough && r.most - r.after > 1) narrow(r);
}

function grow(r: SnapRoom): void {
  const used = <usize>r.count * CANDIDATE_BYTES;
  r.records = <u32>reserve(r.records, used, <u64>max(used + CANDIDATE_BYTES, <usize>(ENOUGH + 1) * CANDIDATE_BYTES));
  r.recordRoom = <u32>(capacityOf(r.records) / CANDIDATE_BYTES);
}

function narrow(r: SnapRoom): void {
  r.most = floor((r.after + r.most) / 2);
  r.reach = min(r.radius, (r.most + 1) / PIXEL_STEPS);
  let to: usize = r.records;
  const end = to + <usize>r.count * CANDIDATE_BYTES;
  for (let at: usize = to; at < end; at += CANDIDATE_BYTES) {
    if (changetype<Candidate>(at).steps > r.most) continue;
    if (to != at) memory.copy(to, at, CANDIDATE_BYTES);
    to += CANDIDATE_BYTES;
  }
  r.count = <u32>((to - r.records) / CANDIDATE_BYTES);
}

/** Begins to put the candidates into order. Throws OUT_OF_MEMORY. */
export function beginOrder(r: SnapRoom): void {
  r.heap = <u32>reserve(r.heap, 0, <u64>r.count << 2);
  for (let i: u32 = 0; i < r.count; i++) store<u32>(r.heap + (i << 2), r.records + i * <u32>CANDIDATE_BYTES);
  r.next = r.count >> 1;
}

/**
 * Continues building the heap; returns whether `takeBest` may follow. There may be any number of candidates at one point of the
 * screen.
 */
export function stepOrder(r: SnapRoom): bool {
  for (let left = STEP; r.next > 0; left--) {
    if (left == 0) return false;
    r.next--;
    sink(r, r.next, load<u32>(r.heap + (r.next << 2)));
  }
  return true;
}

/** Removes and returns the best candidate. */
export function takeBest(r: SnapRoom): u32 {
  const best = load<u32>(r.heap);
  r.count--;
  sink(r, 0, load<u32>(r.heap + (r.count << 2)));
  return best;
}

/** Puts a record into the heap at an index or below it. */
function sink(r: SnapRoom, place: u32, record: u32): void {
  const heap = r.heap, count = r.count;
  let i = place;
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

function isBefore(one: u32, other: u32): bool {
  const a = changetype<Candidate>(<usize>one), b = changetype<Candidate>(<usize>other);
  if (a.steps != b.steps) return a.steps < b.steps;
  if (a.depth != b.depth) return a.depth < b.depth;
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.object != b.object) return a.object < b.object;
  return a.index != b.index ? a.index < b.index : a.edge < b.edge;
}

/** Returns whether two candidates are the same feature. */
export function areSame(one: u32, other: u32): bool {
  const a = changetype<Candidate>(<usize>one), b = changetype<Candidate>(<usize>other);
  return a.steps == b.steps && a.depth == b.depth && a.kind == b.kind && a.object == b.object && a.index == b.index;
}

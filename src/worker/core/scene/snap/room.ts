// What one snapping pick keeps between two steps, and the ring about the cursor that its candidates are drawn in: at first all
// within a radius. They are handed out the best first: the fewest pixels, then the nearest one, from a binary heap (Williams,
// "Algorithm 232: Heapsort", 1964), as of most picks few are looked at.

import { allocate, capacityOf, release, reserve } from '../../memory';

/** What is kept of a pick; where TypeScript reads or writes it, layout.ts has its place, SNAP_ROOM_*. */
@unmanaged
export class SnapRoom {
  // How the world is drawn about the cursor (protocol.ts, SnapRequest): factors of x, y and z, and what is added.
  xx: f64; xy: f64; xz: f64; xw: f64;
  yx: f64; yy: f64; yz: f64; yw: f64;
  wx: f64; wy: f64; wz: f64; ww: f64;
  nearX: f64; nearY: f64; nearZ: f64; nearW: f64;
  farX: f64; farY: f64; farZ: f64; farW: f64;
  /** The viewport, in pixels from the cursor. */
  lowX: f64; lowY: f64; highX: f64; highY: f64;
  radius: f64;
  // The candidate that is asked about, or was found: where it is in the world, and where it is drawn.
  x: f64; y: f64; z: f64;
  drawnX: f64; drawnY: f64;
  /** Where the box is drawn that is asked about: low xy, high xy, in pixels from the cursor. */
  boxLowX: f64; boxLowY: f64; boxHighX: f64; boxHighY: f64;
  pixels: f64;
  /** Which object the candidate or the box is of, and where that box is. */
  target: u32;
  box: u32;
  kind: u32;
  index: u32;
  slot: i32;
  /** How many candidates were found to be hidden, each by a ray. */
  hiddenCount: u32;
  /** Where the objects near the cursor begin: targets.ts. */
  targets: u32;
  targetCount: u32;
  // The ends of what was found, in the world: of an edge's straight run, of an arc; and its element.
  ax: f64; ay: f64; az: f64;
  bx: f64; by: f64; bz: f64;
  element: i32;
  unused: u32;

  /** Nothing beyond this is taken, in pixels; it becomes less where much is found. */
  reach: f64;
  // What is farther than these steps is taken, up to those; and the last ones of the radius.
  after: f64;
  most: f64;
  last: f64;
  /** The way from the near plane to the candidate: where it begins, its direction, and its length. */
  fromX: f64; fromY: f64; fromZ: f64;
  alongX: f64; alongY: f64; alongZ: f64;
  length: f64;
  /** The reach of which items were listed, and how finely fronts were looked at for it. */
  nearReach: f64;
  nearDepth: i32;
  enough: u32;
  /** Candidate records in no order, and how many there are; a heap of their addresses. */
  records: u32;
  count: u32;
  recordRoom: u32;
  heap: u32;
  /** The items that may be drawn in the square of `nearReach`, of one object after the other. */
  near: u32;
  nearCount: u32;
  nearRoom: u32;
  targetRoom: u32;
  kinds: u32;
  phase: u32;
  /** Whether items are listed, and whether TypeScript was asked about what is looked at. */
  isListing: u32;
  isAsked: u32;
  /** Where gathering is: the level and the node, or the item; and putting into order. */
  level: i32;
  next: u32;
  /** The record that was taken last, and the last one that nothing of its own object forbids; 0 for none. */
  hidden: u32;
  pad: u32;
}

/** What is drawn near the cursor. */
@unmanaged
export class Candidate {
  /** Pixels, in steps, then the order of depths. By these and the next three features are told apart. */
  steps: f64;
  /** Larger is farther away. */
  depth: f64;
  pixels: f64;
  /** Where it is, in the shape's own space. */
  x: f64; y: f64; z: f64;
  /** SNAP_*. */
  kind: u32;
  object: u32;
  /** The number of its vertex, circle or edge. */
  index: u32;
  /** The edge by which it was found, as a vertex is once by each of its edges; of a point of a point cloud, its own number. */
  edge: u32;
  /** Which of the objects near the cursor it is of. */
  target: u32;
  pad: u32;
}

const CANDIDATE_BYTES: usize = offsetof<Candidate>();
/** Pixels are told apart to a 64th, so that rounding does not decide between what is at one place. */
const PIXEL_STEPS: f64 = 64;
/**
 * So many candidates are enough to look at first: where more are drawn near the cursor, the nearest of them come first. Of those
 * that follow twice as many are taken, up to MOST, as all is gone through again for them.
 */
const ENOUGH: u32 = 512;
const MOST: u32 = 1 << 15;
/** So many candidates are put into order in a step. */
const STEP: u32 = 4096;
/** A room of more candidates is not kept from pick to pick. */
const MOST_KEPT: u32 = 1 << 16;

/** Makes a room. Throws OUT_OF_MEMORY. */
export function openSnap(): usize {
  const room = allocate(offsetof<SnapRoom>());
  memory.fill(room, 0, offsetof<SnapRoom>());
  return room;
}

/** Begins a pick without objects; how it is drawn was written before. */
export function beginSnapRoom(room: usize): void {
  const r = changetype<SnapRoom>(room);
  r.targetCount = r.hiddenCount = 0;
  r.nearReach = -1;
  r.nearDepth = -1;
}

/** Returns whether a room is so small that the next pick may have it. */
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

/** Goes on to what is farther, with nothing found; returns false where all within the radius was. */
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

/** Begins to put what was found into order. Throws OUT_OF_MEMORY. */
export function beginOrder(r: SnapRoom): void {
  r.heap = <u32>reserve(r.heap, 0, <u64>r.count << 2);
  for (let i: u32 = 0; i < r.count; i++) store<u32>(r.heap + (i << 2), r.records + i * <u32>CANDIDATE_BYTES);
  r.next = r.count >> 1;
}

/** Goes on; returns whether `takeBest` may follow. At one place of the screen there may be any number. */
export function stepOrder(r: SnapRoom): bool {
  for (let left = STEP; r.next > 0; left--) {
    if (left == 0) return false;
    r.next--;
    sink(r, r.next, load<u32>(r.heap + (r.next << 2)));
  }
  return true;
}

/** Takes the best candidate out. */
export function takeBest(r: SnapRoom): u32 {
  const best = load<u32>(r.heap);
  r.count--;
  sink(r, 0, load<u32>(r.heap + (r.count << 2)));
  return best;
}

/** Puts a record into the heap at a place or below it. */
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

// A loose octree (Ulrich, "Loose Octrees", Game Programming Gems, 2000), linear: built anew by partitioning the
// objects' slots top down, eight ways, so that every cell owns one range of positions and its subtree another.
// An object belongs to the deepest cell that holds its centre and whose edge is no shorter than the object, as
// far as cells are split at all. Bounds of cells are those of what lies in them, children's as SoA, eight a step.
// When few objects moved, bounds are refitted in place instead.

import { allocate, reserve } from '../memory';
import { CANDIDATE_BYTES, Candidate, setCandidate } from './candidate';
import { Box, UNPLACED, boxAt, itemAt, pickLayers, visibleLayers } from './objects';

/** Cells with no more objects than this are not split. */
const LEAF_SIZE: u32 = 16;
/** How often a cell is halved about objects that lie together, before they are left in one. */
const DEPTH_LIMIT: u32 = 30;
/** Positions that a removed object leaves behind. */
export const HOLE: u32 = 0xffffffff;

@unmanaged
export class Cell {
  start: u32; // its own objects are positions [start, ownEnd)
  ownEnd: u32;
  end: u32; // those of the whole subtree [start, end)
  firstChild: u32;
  childCount: u32; // 0 to 8
  parent: u32; // its own index, for the root
  childBoxes: u32; // index of the SoA of its children's bounds
  dirty: u32;
  centreX: f32; centreY: f32; centreZ: f32;
  half: f32; // half an edge of the cube
  lowX: f32; lowY: f32; lowZ: f32;
  highX: f32; highY: f32; highZ: f32; // bounds of what lies in the subtree
  ownLowX: f32; ownLowY: f32; ownLowZ: f32;
  ownHighX: f32; ownHighY: f32; ownHighZ: f32; // and of its own objects
}

export const CELL_BYTES: usize = 96;
/** Bounds of eight boxes: low x, y, z and high x, y, z of all. */
export const BOXES_BYTES: usize = 192;

/** A tree and its arrays by position; there is one of static and one of moving objects. */
@unmanaged
export class Tree {
  cells: usize;
  cellCount: u32;
  childBoxes: usize;
  childBoxCount: u32;
  count: u32; // positions, holes included
  capacity: u32;
  slots: usize; // u32, HOLE where empty
  cellOf: usize; // u32
  visible: usize; // u32, layers for views
  pickable: usize; // u32, layers for rays
  bounds: usize; // six f32 arrays of `stride` bytes each: low x, y, z, high x, y, z
  stride: usize;
  candidates: usize; // Candidate each
  built: u32; // 0 when it must be built before it is used
  misfits: u32; // objects that have left their cell since
  holes: u32;
}

/** Whether nothing can be found in it. */
export function isEmpty(tree: Tree): bool {
  return tree.count == tree.holes;
}

const TREE_BYTES: usize = 64;
export const STATIC_TREE: u32 = 0;
export const MOVING_TREE: u32 = 1;
const trees: usize = memory.data(128, 16);

// @ts-ignore: decorator
@inline
export function treeOf(which: u32): Tree {
  return changetype<Tree>(trees + which * <u32>TREE_BYTES);
}

// @ts-ignore: decorator
@inline
export function cellAt(tree: Tree, index: u32): Cell {
  return changetype<Cell>(tree.cells + index * <u32>CELL_BYTES);
}

// @ts-ignore: decorator
@inline
export function slotAt(tree: Tree, position: u32): u32 {
  return load<u32>(tree.slots + (<usize>position << 2));
}

// @ts-ignore: decorator
@inline
export function candidateAt(tree: Tree, position: u32): Candidate {
  return changetype<Candidate>(tree.candidates + position * <u32>CANDIDATE_BYTES);
}

// @ts-ignore: decorator
@inline
export function childBoxesAt(tree: Tree, cell: Cell): usize {
  return tree.childBoxes + cell.childBoxes * <u32>BOXES_BYTES;
}

// --- building ---

/** Slots to be placed, and where they are partitioned to. */
let order: usize = 0;
let spare: usize = 0;
/** Cells that wait to be split. */
let pending: usize = 0;

const digitCounts: usize = memory.data(9 * 4, 16);
const digitStarts: usize = memory.data(9 * 4, 16);

/** Begins a build for `count` objects; the caller then writes their slots with `enlist`. */
export function beginTree(tree: Tree, count: u32): void {
  tree.built = 0;
  if (tree.capacity < count || tree.capacity == 0) {
    const capacity = max<u32>(count + (count >> 1), 64);
    const bytes = <u64>(capacity + 4) << 2;
    tree.slots = reserve(tree.slots, 0, bytes);
    tree.cellOf = reserve(tree.cellOf, 0, bytes);
    tree.visible = reserve(tree.visible, 0, bytes);
    tree.pickable = reserve(tree.pickable, 0, bytes);
    tree.candidates = reserve(tree.candidates, 0, <u64>capacity * CANDIDATE_BYTES);
    tree.stride = <usize>(bytes + 15) & ~15;
    tree.bounds = reserve(tree.bounds, 0, <u64>tree.stride * 6);
    tree.capacity = capacity;
  }
  order = reserve(order, 0, max<u64>(<u64>count << 2, 64));
  spare = reserve(spare, 0, max<u64>(<u64>count << 2, 64));
  tree.count = count;
  tree.cellCount = 0;
  tree.childBoxCount = 0;
  tree.misfits = 0;
  tree.holes = 0;
}

// @ts-ignore: decorator
@inline
export function enlist(position: u32, slot: u32): void {
  store<u32>(order + (<usize>position << 2), slot);
}

export function buildTree(tree: Tree): void {
  const count = tree.count;
  const root = newCell(tree, 0);
  root.start = 0;
  root.end = count;
  rootCube(root, count);
  if (pending == 0) pending = allocate(4 * 1024);
  store<u32>(pending, 0);
  let top: u32 = 1;
  while (top > 0) {
    const index = load<u32>(pending + (--top << 2));
    const children = splitCell(tree, index);
    pending = reserve(pending, top << 2, <u64>(top + children) << 2);
    const first = cellAt(tree, index).firstChild;
    for (let i: u32 = 0; i < children; i++) store<u32>(pending + (top++ << 2), first + i);
  }
  fillPositions(tree);
  for (let i = tree.cellCount; i > 0; i--) fitCell(tree, i - 1);
  tree.built = 1;
}

function newCell(tree: Tree, parent: u32): Cell {
  const index = tree.cellCount++;
  tree.cells = reserve(tree.cells, index * <u32>CELL_BYTES, <u64>tree.cellCount * CELL_BYTES);
  const cell = cellAt(tree, index);
  cell.firstChild = 0;
  cell.childCount = 0;
  cell.parent = parent;
  cell.dirty = 0;
  return cell;
}

/** The smallest cube about all centres. */
function rootCube(root: Cell, count: u32): void {
  let lowX: f32 = Infinity, lowY: f32 = Infinity, lowZ: f32 = Infinity;
  let highX: f32 = -Infinity, highY: f32 = -Infinity, highZ: f32 = -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    const box = boxAt(load<u32>(order + (<usize>i << 2)));
    const x = middle(box.lowX, box.highX), y = middle(box.lowY, box.highY), z = middle(box.lowZ, box.highZ);
    lowX = min(lowX, x); highX = max(highX, x);
    lowY = min(lowY, y); highY = max(highY, y);
    lowZ = min(lowZ, z); highZ = max(highZ, z);
  }
  if (count == 0) { lowX = lowY = lowZ = highX = highY = highZ = 0; }
  root.centreX = middle(lowX, highX);
  root.centreY = middle(lowY, highY);
  root.centreZ = middle(lowZ, highZ);
  // A little larger, so that rounding leaves no centre outside.
  root.half = max(max(highX - lowX, highY - lowY), highZ - lowZ) * <f32>0.500001;
}

// @ts-ignore: decorator
@inline
function middle(low: f32, high: f32): f32 {
  return (low + high) * <f32>0.5;
}

/** 0 where the object is too long for a child cell, else 1 + its octant. */
// @ts-ignore: decorator
@inline
function digitOf(box: Box, x: f32, y: f32, z: f32, half: f32): u32 {
  const longest = max(max(box.highX - box.lowX, box.highY - box.lowY), box.highZ - box.lowZ);
  if (!(longest <= half)) return 0;
  return (
    1 +
    (middle(box.lowX, box.highX) >= x ? 1 : 0) +
    (middle(box.lowY, box.highY) >= y ? 2 : 0) +
    (middle(box.lowZ, box.highZ) >= z ? 4 : 0)
  );
}

/** Partitions a cell's range into its own objects and its children's; answers how many children there are. */
function splitCell(tree: Tree, index: u32): u32 {
  const cell = cellAt(tree, index);
  const start = cell.start;
  const end = cell.end;
  cell.ownEnd = end;
  const count = end - start;
  if (count <= LEAF_SIZE) return 0;
  // A cell whose objects all fall into one child shrinks to that child: chains of cells are no use.
  for (let level: u32 = 0; level < DEPTH_LIMIT; level++) {
    memory.fill(digitCounts, 0, 36);
    const half = cell.half;
    const x = cell.centreX, y = cell.centreY, z = cell.centreZ;
    for (let i = start; i < end; i++) {
      const digit = digitOf(boxAt(load<u32>(order + (<usize>i << 2))), x, y, z, half);
      const at = digitCounts + (<usize>digit << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    if (load<u32>(digitCounts) == count) return 0;
    let only: u32 = 0;
    for (let digit: u32 = 1; digit < 9; digit++) if (load<u32>(digitCounts + (<usize>digit << 2)) == count) only = digit;
    if (only == 0) break;
    const quarter = half * <f32>0.5;
    if (!(quarter > abs(x) * <f32>1e-6 + abs(y) * <f32>1e-6 + abs(z) * <f32>1e-6)) return 0; // float32 ends here
    setChildCube(cell, only - 1, x, y, z, half);
    if (level + 1 == DEPTH_LIMIT) return 0;
  }

  const half = cell.half;
  const x = cell.centreX, y = cell.centreY, z = cell.centreZ;
  let at = start;
  let children: u32 = 0;
  for (let digit: u32 = 0; digit < 9; digit++) {
    store<u32>(digitStarts + (<usize>digit << 2), at);
    const n = load<u32>(digitCounts + (<usize>digit << 2));
    at += n;
    if (digit > 0 && n > 0) children++;
  }
  for (let i = start; i < end; i++) {
    const slot = load<u32>(order + (<usize>i << 2));
    const to = digitStarts + (<usize>digitOf(boxAt(slot), x, y, z, half) << 2);
    const position = load<u32>(to);
    store<u32>(to, position + 1);
    store<u32>(spare + (<usize>position << 2), slot);
  }
  memory.copy(order + (<usize>start << 2), spare + (<usize>start << 2), <usize>count << 2);

  const first = tree.cellCount;
  cell.ownEnd = start + load<u32>(digitCounts);
  cell.firstChild = first;
  cell.childCount = children;
  cell.childBoxes = tree.childBoxCount++;
  tree.childBoxes = reserve(
    tree.childBoxes, cell.childBoxes * <u32>BOXES_BYTES, <u64>tree.childBoxCount * BOXES_BYTES,
  );
  let from = cell.ownEnd;
  for (let digit: u32 = 1; digit < 9; digit++) {
    const n = load<u32>(digitCounts + (<usize>digit << 2));
    if (n == 0) continue;
    const child = newCell(tree, index); // moves the cells: `cell` is not used below
    child.start = from;
    child.end = from + n;
    setChildCube(child, digit - 1, x, y, z, half);
    from += n;
  }
  return children;
}

function setChildCube(cell: Cell, octant: u32, x: f32, y: f32, z: f32, half: f32): void {
  const quarter = half * <f32>0.5;
  cell.centreX = octant & 1 ? x + quarter : x - quarter;
  cell.centreY = octant & 2 ? y + quarter : y - quarter;
  cell.centreZ = octant & 4 ? z + quarter : z - quarter;
  cell.half = quarter;
}

/** Copies what the traversals read from slots to positions. */
function fillPositions(tree: Tree): void {
  const count = tree.count;
  memory.copy(tree.slots, order, <usize>count << 2);
  for (let position: u32 = 0; position < count; position++) {
    const slot = load<u32>(order + (<usize>position << 2));
    const box = boxAt(slot);
    box.position = position;
    writePosition(tree, position, slot);
  }
  // What SIMD reads past the end must not overlap anything.
  for (let position = count; position < count + 4; position++) clearPosition(tree, position);
  for (let index: u32 = 0; index < tree.cellCount; index++) {
    const cell = cellAt(tree, index);
    for (let position = cell.start; position < cell.ownEnd; position++) {
      store<u32>(tree.cellOf + (<usize>position << 2), index);
    }
  }
}

/** What the traversals read, from a slot to its position. */
function writePosition(tree: Tree, position: u32, slot: u32): void {
  const box = boxAt(slot);
  const item = itemAt(slot);
  store<u32>(tree.visible + (<usize>position << 2), visibleLayers(item));
  store<u32>(tree.pickable + (<usize>position << 2), pickLayers(item));
  setCandidate(candidateAt(tree, position), item);
  const stride = tree.stride;
  let at = tree.bounds + (<usize>position << 2);
  store<f32>(at, box.lowX); at += stride;
  store<f32>(at, box.lowY); at += stride;
  store<f32>(at, box.lowZ); at += stride;
  store<f32>(at, box.highX); at += stride;
  store<f32>(at, box.highY); at += stride;
  store<f32>(at, box.highZ);
}

function clearPosition(tree: Tree, position: u32): void {
  const stride = tree.stride;
  let at = tree.bounds + (<usize>position << 2);
  for (let k = 0; k < 6; k++) {
    store<f32>(at, k < 3 ? Infinity : -Infinity);
    at += stride;
  }
  store<u32>(tree.slots + (<usize>position << 2), HOLE);
  store<u32>(tree.visible + (<usize>position << 2), 0);
  store<u32>(tree.pickable + (<usize>position << 2), 0);
}

// --- bounds ---

/** Bounds of a cell from its objects and its children; true when they changed. */
function fitCell(tree: Tree, index: u32): bool {
  const cell = cellAt(tree, index);
  const stride = tree.stride;
  let lowX: f32 = Infinity, lowY: f32 = Infinity, lowZ: f32 = Infinity;
  let highX: f32 = -Infinity, highY: f32 = -Infinity, highZ: f32 = -Infinity;
  for (let position = cell.start; position < cell.ownEnd; position++) {
    let at = tree.bounds + (<usize>position << 2);
    lowX = min(lowX, load<f32>(at)); at += stride;
    lowY = min(lowY, load<f32>(at)); at += stride;
    lowZ = min(lowZ, load<f32>(at)); at += stride;
    highX = max(highX, load<f32>(at)); at += stride;
    highY = max(highY, load<f32>(at)); at += stride;
    highZ = max(highZ, load<f32>(at));
  }
  cell.ownLowX = lowX; cell.ownLowY = lowY; cell.ownLowZ = lowZ;
  cell.ownHighX = highX; cell.ownHighY = highY; cell.ownHighZ = highZ;
  if (cell.childCount > 0) {
    const boxes = childBoxesAt(tree, cell);
    for (let i: u32 = 0; i < 8; i++) {
      const at = boxes + (<usize>i << 2);
      if (i < cell.childCount) {
        const child = cellAt(tree, cell.firstChild + i);
        store<f32>(at, child.lowX); store<f32>(at, child.lowY, 32); store<f32>(at, child.lowZ, 64);
        store<f32>(at, child.highX, 96); store<f32>(at, child.highY, 128); store<f32>(at, child.highZ, 160);
        lowX = min(lowX, child.lowX); highX = max(highX, child.highX);
        lowY = min(lowY, child.lowY); highY = max(highY, child.highY);
        lowZ = min(lowZ, child.lowZ); highZ = max(highZ, child.highZ);
      } else {
        store<f32>(at, Infinity); store<f32>(at, Infinity, 32); store<f32>(at, Infinity, 64);
        store<f32>(at, -Infinity, 96); store<f32>(at, -Infinity, 128); store<f32>(at, -Infinity, 160);
      }
    }
  }
  const same =
    cell.lowX == lowX && cell.lowY == lowY && cell.lowZ == lowZ &&
    cell.highX == highX && cell.highY == highY && cell.highZ == highZ;
  cell.lowX = lowX; cell.lowY = lowY; cell.lowZ = lowZ;
  cell.highX = highX; cell.highY = highY; cell.highZ = highZ;
  return !same;
}

/** Counts a moved slot if it has left its cell. A tree that must be built may have run out of memory half way. */
export function noteMisfit(tree: Tree, slot: u32): void {
  if (!tree.built) return;
  const box = boxAt(slot);
  if (!inCell(cellAt(tree, load<u32>(tree.cellOf + (<usize>box.position << 2))), box)) tree.misfits++;
}

/** Takes over a moved or changed slot; `refitTree` then follows for all of them. */
export function movePosition(tree: Tree, slot: u32): void {
  const position = boxAt(slot).position;
  writePosition(tree, position, slot);
  markDirty(tree, position);
}

/** Empties the position of a removed object. */
export function clearSlot(tree: Tree, slot: u32): void {
  const box = boxAt(slot);
  if (tree.built) {
    clearPosition(tree, box.position);
    markDirty(tree, box.position);
    tree.holes++;
  }
  box.position = UNPLACED;
}

function markDirty(tree: Tree, position: u32): void {
  cellAt(tree, load<u32>(tree.cellOf + (<usize>position << 2))).dirty = 1;
}

/** Cells are loose: an object belongs to its cell until its centre is half an edge outside of it. */
export function inCell(cell: Cell, box: Box): bool {
  const reach = cell.half * 2;
  return (
    abs(middle(box.lowX, box.highX) - cell.centreX) <= reach &&
    abs(middle(box.lowY, box.highY) - cell.centreY) <= reach &&
    abs(middle(box.lowZ, box.highZ) - cell.centreZ) <= reach
  );
}

/** Bounds of dirty cells and of all above them that change. Cells are scanned backwards: children come first. */
export function refitTree(tree: Tree): void {
  for (let i = tree.cellCount; i > 0; i--) {
    const cell = cellAt(tree, i - 1);
    if (!cell.dirty) continue;
    cell.dirty = 0;
    if (fitCell(tree, i - 1)) cellAt(tree, cell.parent).dirty = i == 1 ? 0 : 1;
  }
}

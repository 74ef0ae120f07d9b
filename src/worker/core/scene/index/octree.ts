// A loose octree (Ulrich, "Loose Octrees", Game Programming Gems, 2000). Every cell owns a range of positions. There are two
// kinds: that of moving objects is linear, build.ts partitions the objects' slots top down, eight ways, so that a subtree's
// positions are a range, too, until objects are inserted (insert.ts); those of static objects grow (growing.ts). An object
// belongs to the deepest cell that contains its centre and whose edge is no shorter than the object, as far as cells are split at
// all. Bounds of cells are those of their objects. Boxes are stored in blocks of four, those of a cell's objects and those of its
// children alike, and no block is shared by two cells. When objects move, bounds are refitted in place.

import { Affine } from '../../math/affine';
import { reserve } from '../../memory';
import { PROXY_BYTES, Proxy, boundsOf, moveProxy, setAllButForm, setProxy, setProxyReach } from '../../shape/proxy';
import { REACHING, reachLength } from '../../shape/reach';
import { Box, UNPLACED, boxAt, itemAt, orientedBounds, reachAt, visibleLayers } from '../objects';

/** The slot of positions that a removed object leaves behind, and of padding in a cell's last block. */
export const HOLE: u32 = 0xffffffff;

@unmanaged
export class Cell {
  start: u32; // its own objects are positions [start, ownEnd), whole blocks of four
  ownEnd: u32; // a leaf may have a reserve block behind them
  end: u32; // the whole subtree's are [start, end); SCATTERED if they are not contiguous
  firstChild: u32; // of eight, by octant; 0 for a leaf
  parent: u32; // its own index, for the root
  childBlocks: u32; // the index of the two blocks of its children's bounds
  dirty: u32;
  orderStart: u32; // during a build: the index of its own objects in the order, and their number
  ownCount: u32; // in a growing tree: its number of objects
  order: u32; // and the order of its range (ranges.ts)
  centreX: f32; centreY: f32; centreZ: f32;
  half: f32; // half an edge of the cube
  minX: f32; minY: f32; minZ: f32;
  maxX: f32; maxY: f32; maxZ: f32; // bounds of the subtree's objects
  ownMinX: f32; ownMinY: f32; ownMinZ: f32;
  ownMaxX: f32; ownMaxY: f32; ownMaxZ: f32; // and of its own objects
}

export const CELL_BYTES: usize = offsetof<Cell>();
/** The bytes of four boxes: min x of all four, then min y, z, max x, y, z. */
export const BLOCK_BYTES: usize = 96;

/**
 * A tree and its arrays by position. There are three: of static objects, of moving objects, and of static objects that collide
 * with nothing. No pair test reads the last, and it keeps no proxies if it has many objects.
 */
@unmanaged
export class Tree {
  cells: usize;
  cellCount: u32;
  childBlocks: usize;
  childBlockCount: u32;
  count: u32; // objects that it was built of, and that were added since
  positions: u32;
  capacity: u32; // in positions
  slots: usize; // u32, HOLE where empty
  cellByBlock: usize; // u32 for each block
  visibleLayers: usize; // u32, layers in which views see the object
  blocks: usize; // their boxes
  proxies: usize; // one Proxy each; 0 if none are kept
  isBuilt: u32; // 0 when it must be built before it is used
  misfits: u32; // objects that have left their cell since the build, or were inserted into another cell
  holes: u32; // positions of objects removed since the build that have not been reused
  dirty: u32; // whether any cell is dirty
  version: u32; // changes with its content or its addresses; never 0 in a built tree
  radii: usize; // of bounding spheres; bounding-spheres.ts
  cellCapacity: u32; // the capacity in cells, of a tree that is built
  // Of a growing tree:
  freeRanges: usize; // the first free range of each order, u32; ranges.ts
  freeGroup: u32; // the first of eight free cells, 0 if none; its parent is the next such group
  dirtyList: usize; // the cells that are dirty, u32 each
  dirtyCount: u32;
}

/** The `end` of a subtree whose positions are not contiguous. */
export const SCATTERED: u32 = 0xffffffff;
/** The orders of ranges: up to 2^27 blocks. */
export const ORDERS: u32 = 28;

/** Returns whether the tree has no objects. */
export function isEmpty(tree: Tree): bool {
  return tree.count == tree.holes;
}

export const TREE_BYTES: usize = offsetof<Tree>();
export const STATIC_TREE: u32 = 0;
export const MOVING_TREE: u32 = 1;
export const PASSIVE_TREE: u32 = 2;
export const TREE_COUNT: u32 = 3;
const trees: usize = memory.data(<i32>TREE_COUNT * <i32>offsetof<Tree>(), 16);
const freeRanges: usize = memory.data(<i32>TREE_COUNT * <i32>ORDERS * 4, 16);

// @ts-ignore: decorator
@inline
export function treeOf(treeIndex: u32): Tree {
  return changetype<Tree>(trees + treeIndex * <u32>TREE_BYTES);
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
export function proxyAt(tree: Tree, position: u32): Proxy {
  return changetype<Proxy>(tree.proxies + position * <u32>PROXY_BYTES);
}

// @ts-ignore: decorator
@inline
export function childBlocksAt(tree: Tree, cell: Cell): usize {
  return tree.childBlocks + cell.childBlocks * <u32>BLOCK_BYTES;
}

/** Returns the address of the box of a position: in the lane of its block. */
// @ts-ignore: decorator
@inline
export function laneAt(tree: Tree, position: u32): usize {
  return blockAt(tree, position) + (<usize>(position & 3) << 2);
}

/** Returns the block of a position; a cell's first position begins a block. */
// @ts-ignore: decorator
@inline
export function blockAt(tree: Tree, position: u32): usize {
  return tree.blocks + (position >> 2) * <u32>BLOCK_BYTES;
}

// @ts-ignore: decorator
@inline
export function changeVersion(tree: Tree): void {
  tree.version = max<u32>(tree.version + 1, 1);
}

// @ts-ignore: decorator
@inline
export function midpoint(low: f32, high: f32): f32 {
  return (low + high) * <f32>0.5;
}

for (let treeIndex: u32 = 0; treeIndex < TREE_COUNT; treeIndex++) {
  const heads = freeRanges + treeIndex * (ORDERS << 2);
  memory.fill(heads, 0xff, ORDERS << 2); // no range is free
  treeOf(treeIndex).freeRanges = heads;
}

/** Bitmap of the positions of the moving tree whose objects have moved and are not placed yet. */
export let movedPositions: usize = 0;

/** Makes room for this many positions, none of which is marked. Throws OUT_OF_MEMORY. */
export function reserveMoved(positions: u32): void {
  const bytes = <u64>((positions + 31) >> 5) << 2;
  movedPositions = reserve(movedPositions, 0, bytes);
  memory.fill(movedPositions, 0, <usize>bytes);
}

export function markMoved(position: u32): void {
  const at = movedPositions + (<usize>(position >> 5) << 2);
  store<u32>(at, load<u32>(at) | (1 << (position & 31)));
}

/** Copies the data that traversals read from a slot to its position. */
export function writePosition(tree: Tree, position: u32, slot: u32, bounds: Affine): void {
  const item = itemAt(slot);
  store<u32>(tree.visibleLayers + (<usize>position << 2), visibleLayers(item));
  if (tree.proxies != 0) {
    const proxy = proxyAt(tree, position);
    setProxy(proxy, item, bounds);
    if (item.flags & REACHING) setProxyReach(proxy, reachLength(reachAt(slot)));
  }
  storeBox(laneAt(tree, position), boxAt(slot));
}

const proxyBuffer = changetype<Proxy>(memory.data(<i32>offsetof<Proxy>(), 64));

/**
 * Returns the proxy of the object at a position. If none is kept, it is made, except for its form, in a buffer that the next call
 * reuses.
 */
// @ts-ignore: decorator
@inline
export function readProxy(tree: Tree, position: u32): Proxy {
  return tree.proxies != 0 ? proxyAt(tree, position) : makeProxy(slotAt(tree, position));
}

/** Returns the oriented bounds of the object at a position, in a buffer that the next call reuses. */
export function boundsAt(tree: Tree, position: u32): Affine {
  return tree.proxies != 0 ? boundsOf(proxyAt(tree, position), bounds) : orientedBounds(slotAt(tree, position));
}

const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

function makeProxy(slot: u32): Proxy {
  setAllButForm(proxyBuffer, itemAt(slot), orientedBounds(slot));
  return proxyBuffer;
}

/** Empties a position: its box is then empty, and overlaps nothing. */
export function clearPosition(tree: Tree, position: u32): void {
  storeLane(laneAt(tree, position), Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);
  store<u32>(tree.slots + (<usize>position << 2), HOLE);
  store<u32>(tree.visibleLayers + (<usize>position << 2), 0);
}

// @ts-ignore: decorator
@inline
function storeBox(at: usize, box: Box): void {
  const minCorner = v128.load(changetype<usize>(box)), maxCorner = v128.load(changetype<usize>(box), 16);
  v128.store32_lane(at, minCorner, 0);
  v128.store32_lane(at, minCorner, 1, 16);
  v128.store32_lane(at, minCorner, 2, 32);
  v128.store32_lane(at, maxCorner, 0, 48);
  v128.store32_lane(at, maxCorner, 1, 64);
  v128.store32_lane(at, maxCorner, 2, 80);
}

// @ts-ignore: decorator
@inline
export function storeLane(at: usize, minX: f32, minY: f32, minZ: f32, maxX: f32, maxY: f32, maxZ: f32): void {
  store<f32>(at, minX);
  store<f32>(at, minY, 16);
  store<f32>(at, minZ, 32);
  store<f32>(at, maxX, 48);
  store<f32>(at, maxY, 64);
  store<f32>(at, maxZ, 80);
}

/** The number of digits: 0 for objects that stay in a cell, and one for each of eight children. */
export const DIGITS: i32 = 9;

/** Returns 0 if the object is too long for a child cell, else 1 + its octant. */
// @ts-ignore: decorator
@inline
export function digitOf(box: Box, x: f32, y: f32, z: f32, half: f32): u32 {
  const longest = max(max(box.maxX - box.minX, box.maxY - box.minY), box.maxZ - box.minZ);
  if (!(longest <= half)) return 0;
  return (
    1 +
    (midpoint(box.minX, box.maxX) >= x ? 1 : 0) +
    (midpoint(box.minY, box.maxY) >= y ? 2 : 0) +
    (midpoint(box.minZ, box.maxZ) >= z ? 4 : 0)
  );
}

/** Sets the cube of a cell to the child of a cube in an octant. */
export function setChildCube(cell: Cell, octant: u32, x: f32, y: f32, z: f32, half: f32): void {
  const quarter = half * <f32>0.5;
  cell.centreX = octant & 1 ? x + quarter : x - quarter;
  cell.centreY = octant & 2 ? y + quarter : y - quarter;
  cell.centreZ = octant & 4 ? z + quarter : z - quarter;
  cell.half = quarter;
}

/** Sets the cube of a cell to the smallest one around the centres of `count` objects, whose slots are contiguous. */
export function setCube(cell: Cell, slots: usize, count: u32): void {
  let minX: f32 = Infinity, minY: f32 = Infinity, minZ: f32 = Infinity;
  let maxX: f32 = -Infinity, maxY: f32 = -Infinity, maxZ: f32 = -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    const box = boxAt(load<u32>(slots + (<usize>i << 2)));
    const x = midpoint(box.minX, box.maxX), y = midpoint(box.minY, box.maxY), z = midpoint(box.minZ, box.maxZ);
    minX = min(minX, x); maxX = max(maxX, x);
    minY = min(minY, y); maxY = max(maxY, y);
    minZ = min(minZ, z); maxZ = max(maxZ, z);
  }
  if (count == 0) { minX = minY = minZ = maxX = maxY = maxZ = 0; }
  cell.centreX = midpoint(minX, maxX);
  cell.centreY = midpoint(minY, maxY);
  cell.centreZ = midpoint(minZ, maxZ);
  // A little larger, so that rounding leaves no centre outside.
  cell.half = max(max(maxX - minX, maxY - minY), maxZ - minZ) * <f32>0.500001;
}

// --- bounds ---

/** Fits the bounds of a cell to its objects and its children. Returns whether they changed. */
export function fitCell(tree: Tree, index: u32): bool {
  const cell = cellAt(tree, index);
  let minX = f32x4.splat(Infinity), minY = minX, minZ = minX;
  let maxX = f32x4.splat(-Infinity), maxY = maxX, maxZ = maxX;
  let block = blockAt(tree, cell.start);
  let end = blockAt(tree, cell.ownEnd);
  for (let part = 0; part < 2; part++) {
    for (; block < end; block += BLOCK_BYTES) {
      minX = f32x4.pmin(minX, v128.load(block));
      minY = f32x4.pmin(minY, v128.load(block, 16));
      minZ = f32x4.pmin(minZ, v128.load(block, 32));
      maxX = f32x4.pmax(maxX, v128.load(block, 48));
      maxY = f32x4.pmax(maxY, v128.load(block, 64));
      maxZ = f32x4.pmax(maxZ, v128.load(block, 80));
    }
    if (part == 1) break;
    cell.ownMinX = minLane(minX); cell.ownMinY = minLane(minY); cell.ownMinZ = minLane(minZ);
    cell.ownMaxX = maxLane(maxX); cell.ownMaxY = maxLane(maxY); cell.ownMaxZ = maxLane(maxZ);
    if (cell.firstChild == 0) break;
    block = fillChildBlocks(tree, cell);
    end = block + 2 * BLOCK_BYTES;
  }
  const x0 = minLane(minX), y0 = minLane(minY), z0 = minLane(minZ);
  const x1 = maxLane(maxX), y1 = maxLane(maxY), z1 = maxLane(maxZ);
  const isSame =
    cell.minX == x0 && cell.minY == y0 && cell.minZ == z0 && cell.maxX == x1 && cell.maxY == y1 && cell.maxZ == z1;
  cell.minX = x0; cell.minY = y0; cell.minZ = z0;
  cell.maxX = x1; cell.maxY = y1; cell.maxZ = z1;
  return !isSame;
}

/** Copies the children's bounds to where traversals read them. */
function fillChildBlocks(tree: Tree, cell: Cell): usize {
  const blocks = childBlocksAt(tree, cell);
  for (let i: u32 = 0; i < 8; i++) {
    const at = blocks + (i >> 2) * <u32>BLOCK_BYTES + (<usize>(i & 3) << 2);
    const child = cellAt(tree, cell.firstChild + i);
    storeLane(at, child.minX, child.minY, child.minZ, child.maxX, child.maxY, child.maxZ);
  }
  return blocks;
}

// @ts-ignore: decorator
@inline
function minLane(v: v128): f32 {
  const w = f32x4.pmin(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return min(f32x4.extract_lane(w, 0), f32x4.extract_lane(w, 1));
}

/** Returns the greatest of four lanes. */
// @ts-ignore: decorator
@inline
export function maxLane(v: v128): f32 {
  const w = f32x4.pmax(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return max(f32x4.extract_lane(w, 0), f32x4.extract_lane(w, 1));
}

/** Updates a moved or changed slot of a built tree; `refitTree` must follow once for all such slots. */
export function updateSlot(tree: Tree, slot: u32, bounds: Affine): void {
  const box = boxAt(slot);
  markBoxReplaced(tree, box, box.position);
  writePosition(tree, box.position, slot, bounds);
  markChanged(tree);
}

/**
 * Updates the slot at a position, whose object has moved but is otherwise unchanged; `markChanged` must follow once for all such
 * slots.
 */
export function updateMoved(tree: Tree, position: u32, slot: u32, bounds: Affine): void {
  const box = boxAt(slot), proxy = proxyAt(tree, position);
  moveProxy(proxy, bounds);
  if (itemAt(slot).flags & REACHING) setProxyReach(proxy, reachLength(reachAt(slot)));
  markBoxReplaced(tree, box, position);
  storeBox(laneAt(tree, position), box);
}

/** Records that bounds in a tree have changed. */
export function markChanged(tree: Tree): void {
  tree.dirty = 1;
  changeVersion(tree);
}

/** Records that a box replaces the one at its position, which is still stored there. */
// @ts-ignore: decorator
@inline
function markBoxReplaced(tree: Tree, box: Box, position: u32): void {
  const cell = cellOf(tree, position);
  cell.dirty = 1;
  if (!isInCell(cell, box)) countMisfit(tree, cell, position);
}

/** Counts an object that leaves its cell, once. */
function countMisfit(tree: Tree, cell: Cell, position: u32): void {
  const at = laneAt(tree, position);
  const x = load<f32>(at) + load<f32>(at, 48), y = load<f32>(at, 16) + load<f32>(at, 64), z = load<f32>(at, 32) + load<f32>(at, 80);
  if (containsCentre(cell, f32x4(x, y, z, 0))) tree.misfits++;
}

/** Empties the position of a removed object, in a tree that was built. */
export function clearSlot(tree: Tree, slot: u32): void {
  const box = boxAt(slot);
  if (tree.isBuilt) {
    clearPosition(tree, box.position);
    cellOf(tree, box.position).dirty = 1;
    tree.dirty = 1;
    tree.holes++;
    changeVersion(tree);
  }
  box.position = UNPLACED;
}

/** Returns the largest absolute coordinate of a cell's bounds, relative to the scene's origin. */
// @ts-ignore: decorator
@inline
export function maxCoordinateOf(cell: Cell): f32 {
  const at = changetype<usize>(cell);
  const firstFour = f32x4.abs(v128.load(at, offsetof<Cell>('minX'))), lastFour = f32x4.abs(v128.load(at, offsetof<Cell>('minZ')));
  const four = f32x4.pmax(firstFour, lastFour);
  const two = f32x4.pmax(four, v128.shuffle<f32>(four, four, 2, 3, 0, 1));
  return f32x4.extract_lane(f32x4.pmax(two, v128.shuffle<f32>(two, two, 1, 0, 3, 2)), 0);
}

// @ts-ignore: decorator
@inline
export function cellOf(tree: Tree, position: u32): Cell {
  return cellAt(tree, load<u32>(tree.cellByBlock + (<usize>(position >> 2) << 2)));
}

/**
 * Returns whether a box belongs to a cell. Cells are loose: an object belongs to its cell until its centre is half an edge
 * outside of it.
 */
// @ts-ignore: decorator
@inline
export function isInCell(cell: Cell, box: Box): bool {
  const at = changetype<usize>(box);
  return containsCentre(cell, f32x4.add(v128.load(at), v128.load(at, 16)));
}

/** Does the same for twice a centre, given as the first three lanes. */
// @ts-ignore: decorator
@inline
function containsCentre(cell: Cell, twiceCentre: v128): bool {
  const centre = v128.load(changetype<usize>(cell), offsetof<Cell>('centreX'));
  const offset = f32x4.abs(f32x4.sub(twiceCentre, f32x4.add(centre, centre)));
  return (i32x4.bitmask(f32x4.le(offset, f32x4.splat(cell.half * 4))) & 7) == 7;
}

/** Refits the bounds of dirty cells and of all ancestors that change. Cells are scanned backwards: children come first. */
export function refitTree(tree: Tree): void {
  if (!tree.dirty) return;
  tree.dirty = 0;
  for (let i = tree.cellCount; i > 0; i--) {
    const cell = cellAt(tree, i - 1);
    if (!cell.dirty) continue;
    cell.dirty = 0;
    if (fitCell(tree, i - 1)) cellAt(tree, cell.parent).dirty = i == 1 ? 0 : 1;
  }
}

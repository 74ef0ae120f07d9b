// Leaves out of what a view sees what nearer objects hide (Hasselgren, Andersson and Akenine-Möller, "Masked Software
// Occlusion Culling", 2016): the objects that are largest on the screen are drawn into a small depth buffer, and the boxes
// of all others are tested against it. Conservative: what is drawn covers no pixel too many and no depth too near, what is
// tested is as large and as near as its box may be; nothing is left out of which a pixel is seen.
//
// A lasting answer holds for an eye, and for objects, that move within a margin: what hides others is shrunk by it. Each
// line of sight that meets a solid deeper than the margin meets the solid wherever its ends have moved (Wonka, Wimmer and
// Schmalstieg, "Visibility Preprocessing with Occluder Fusion for Urban Walkthroughs", 2000). The camera may turn: only
// what is in the picture as a whole is left out then, and the near plane is as far away as its corners.

import {
  FLAG_FACE_SIDES, FLAG_NO_OCCLUDER, FLAG_OCCLUDER, FLAG_SIDE, SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE, SIDE_BACK, SIDE_FRONT,
} from '../../../../shared/layout';
import { Affine, AFFINE_BYTES, invert, multiply } from '../../math/affine';
import { Plane, valueAt } from '../../math/plane';
import { reserve } from '../../memory';
import { Mesh, placeTree } from '../../mesh/tree/layout';
import { beginTiles, isCovered, pixelsHigh, pixelsWide } from '../../occlusion/depth-tiles';
import {
  DEPTH_SLACK, drawOccluder, screenNear, screenW, screenX, screenY, screenZ,
} from '../../occlusion/draw-occluder';
import { ReliefEye, drawRelief } from '../../occlusion/draw-relief';
import { CUBE, MOST_TRIANGLES, innerBoxOf, isMade, shapeOf } from '../../occlusion/occluder-shape';
import { beginReliefs, reliefOf } from '../../occlusion/relief';
import { halfOf, worldOf } from '../../shape/item';
import { isPosed } from '../../skin/pose';
import { HOLE, TREE_COUNT, Tree, blockAt, boundsAt, isEmpty, slotAt, treeOf } from '../index/octree';
import { clipSetOf, itemAt, orientedBounds, sceneOriginX, sceneOriginY, sceneOriginZ } from '../objects';
import { unsteady } from '../scene';
import { hasSlot } from '../slot-set';
import { pixelsAcross } from './cull';
import { Picture } from './picture';
import { View, setBit } from './views';
import { VECTOR_BYTES } from '../../sizes';

/** What is fewer pixels of the depth buffer across hides next to nothing. */
const LEAST_PIXELS: f32 = 8;
/**
 * The work of one view: a triangle counts 1, an object 8, and one that turns out to be hidden 2. In a city of 100,000
 * boxes, twice as much hides a hundredth more.
 */
const BUDGET: u32 = 6000;
/** As many of the largest objects are looked at. */
const MOST_CANDIDATES: u32 = 8192;
/** Triangles of meshes that are looked at for the first time, and meshes into which a box is put, in one view. */
const MOST_NEW_TRIANGLES: u32 = 20000;
const MOST_NEW_BOXES: u32 = 8;
/** Triangles of a relief are small, or turned away: they count as a half. */
const RELIEF_SHIFT: u32 = 1;
/** Pixels in which an oriented box is not much smaller than the one along the axes. */
const SMALL: f64 = 4;
/** Half of what float32 rounds off in some sums and products, of their terms. */
const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21

let picture: Picture = changetype<Picture>(0);
let view: View = changetype<View>(0);
/** How thick outlines are to either side, and how much larger what is tested, in pixels. */
let reach: f64 = 0;
let newTriangles: u32 = 0, newBoxes: u32 = 0;

/** Takes what is hidden out of what a view sees, which `cull` has found. Throws OUT_OF_MEMORY. */
export function leaveOutOccluded(current: View): void {
  view = current;
  picture = changetype<Picture>(view.picture);
  if (view.words == 0 || !(picture.bias < Infinity)) return;
  newTriangles = newBoxes = 0;
  beginReliefs();
  beginTiles(picture.width, picture.height, -Infinity);
  // A graphics card's grid has 256 places to a pixel.
  const scale = max(<f64>pixelsWide / picture.width, <f64>pixelsHigh / picture.height);
  reach = 0.03125 + scale / 64;
  setScreen();
  chooseOccluders();
  if (drawOccluders() == 0) return;
  for (let which: u32 = 0; which < TREE_COUNT; which++) test(treeOf(which));
}

// @ts-ignore: decorator
@inline
function planeIn(at: usize): Plane {
  return changetype<Plane>(changetype<usize>(picture) + at);
}

/** The functions of a place relative to an origin near the eye, in float32, and that origin about the scene's. */
@unmanaged
class Narrow {
  x: f32; y: f32; z: f32; w: f32;
  /** The largest of the first three. */
  largest: f32;
}

const narrowX = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
const narrowY = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
const narrowZ = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
const narrowW = changetype<Narrow>(memory.data(<i32>offsetof<Narrow>(), 16));
let originX: f32 = 0, originY: f32 = 0, originZ: f32 = 0;

function setScreen(): void {
  const w = planeIn(offsetof<Picture>('wx'));
  setAxis(screenX, planeIn(offsetof<Picture>('xx')), w, 0.5 * <f64>pixelsWide);
  setAxis(screenY, planeIn(offsetof<Picture>('yx')), w, 0.5 * <f64>pixelsHigh);
  memory.copy(changetype<usize>(screenZ), changetype<usize>(planeIn(offsetof<Picture>('zx'))), 32);
  memory.copy(changetype<usize>(screenW), changetype<usize>(w), 32);
  memory.copy(changetype<usize>(screenNear), changetype<usize>(planeIn(offsetof<Picture>('nearX'))), 32);
  originX = picture.isPerspective ? <f32>(picture.eyeX - sceneOriginX) : 0;
  originY = picture.isPerspective ? <f32>(picture.eyeY - sceneOriginY) : 0;
  originZ = picture.isPerspective ? <f32>(picture.eyeZ - sceneOriginZ) : 0;
  // Those of a parallel projection are over their w, which is the same everywhere.
  const over = picture.isPerspective ? 1 : 1 / w.w;
  narrow(narrowX, screenX, over);
  narrow(narrowY, screenY, over);
  narrow(narrowZ, screenZ, over);
  narrow(narrowW, screenW, over);
}

function setAxis(out: Plane, axis: Plane, w: Plane, half: f64): void {
  out.x = half * (axis.x + w.x);
  out.y = half * (axis.y + w.y);
  out.z = half * (axis.z + w.z);
  out.w = half * (axis.w + w.w);
}

function narrow(out: Narrow, plane: Plane, over: f64): void {
  out.x = <f32>(plane.x * over);
  out.y = <f32>(plane.y * over);
  out.z = <f32>(plane.z * over);
  out.w = <f32>(over * valueAt(plane, sceneOriginX + <f64>originX, sceneOriginY + <f64>originY, sceneOriginZ + <f64>originZ));
  out.largest = max(max(abs(out.x), abs(out.y)), abs(out.z));
}

// @ts-ignore: decorator
@inline
function isSeen(slot: u32): bool {
  const word = <usize>(slot >> 5) << 2;
  return ((load<u32>(view.inside + word) | load<u32>(view.crossing + word)) & (1 << (slot & 31))) != 0;
}

/** Marks the lanes of a block whose objects the view sees. */
function seenLanes(tree: Tree, position: u32): u32 {
  let bits: u32 = 0;
  for (let lane: u32 = 0; lane < 4; lane++) {
    const slot = slotAt(tree, position + lane);
    if (slot != HOLE && isSeen(slot)) bits |= 1 << lane;
  }
  return bits;
}

// --- what hides others ---

/** What may hide others: slots, and how large they are on the screen. */
let candidates: usize = 0;
let candidateCount: u32 = 0;
let sorted: usize = 0;
/** Sizes are told apart by quarters of a power of two. */
const BUCKETS: u32 = 1024;
const buckets: usize = memory.data(<i32>BUCKETS * 4, 16);
const sizes: usize = memory.data(VECTOR_BYTES, 16);

function chooseOccluders(): void {
  candidateCount = 0;
  setSides();
  memory.fill(buckets, 0, BUCKETS << 2);
  const pixels = <f32>(view.pixelsPerUnit * <f64>pixelsWide / picture.width);
  for (let which: u32 = 0; which < TREE_COUNT; which++) {
    const tree = treeOf(which);
    if (isEmpty(tree)) continue;
    for (let position: u32 = 0; position < tree.positions; position += 4) {
      let bits = seenLanes(tree, position);
      if (bits == 0) continue;
      const block = blockAt(tree, position);
      const lowX = v128.load(block), lowY = v128.load(block, 16), lowZ = v128.load(block, 32);
      const highX = v128.load(block, 48), highY = v128.load(block, 64), highZ = v128.load(block, 80);
      const extent = f32x4.add(f32x4.add(f32x4.sub(highX, lowX), f32x4.sub(highY, lowY)), f32x4.sub(highZ, lowZ));
      let depth = f32x4.splat(1);
      if (picture.isPerspective) {
        // Of the middle.
        const half = f32x4.splat(0.5);
        const x = f32x4.sub(f32x4.mul(f32x4.add(lowX, highX), half), f32x4.splat(originX));
        const y = f32x4.sub(f32x4.mul(f32x4.add(lowY, highY), half), f32x4.splat(originY));
        const z = f32x4.sub(f32x4.mul(f32x4.add(lowZ, highZ), half), f32x4.splat(originZ));
        depth = f32x4.add(f32x4.add(f32x4.mul(x, f32x4.splat(narrowW.x)), f32x4.mul(y, f32x4.splat(narrowW.y))),
          f32x4.add(f32x4.mul(z, f32x4.splat(narrowW.z)), f32x4.splat(narrowW.w)));
        depth = f32x4.max(depth, f32x4.mul(extent, f32x4.splat(0.125)));
      }
      const size = f32x4.div(f32x4.mul(extent, f32x4.splat(pixels)), depth);
      bits &= i32x4.bitmask(f32x4.ge(size, f32x4.splat(LEAST_PIXELS)));
      if (bits == 0) continue;
      bits &= lanesInPicture(lowX, lowY, lowZ, highX, highY, highZ);
      if (bits == 0) continue;
      v128.store(sizes, size);
      for (; bits != 0; bits &= bits - 1) {
        const lane = ctz(bits);
        const slot = slotAt(tree, position + lane);
        const bucket = bucketOf(load<f32>(sizes + (<usize>lane << 2)));
        candidates = reserve(candidates, <usize>candidateCount << 3, <u64>(candidateCount + 1) << 3);
        const at = candidates + (<usize>candidateCount << 3);
        candidateCount++;
        store<u32>(at, slot);
        store<u32>(at, bucket, 4);
        const count = buckets + (<usize>bucket << 2);
        store<u32>(count, load<u32>(count) + 1);
      }
    }
  }
  // Largest first.
  sorted = reserve(sorted, 0, <u64>max<u32>(candidateCount, 1) << 2);
  let end: u32 = 0;
  for (let bucket: i32 = BUCKETS - 1; bucket >= 0; bucket--) {
    const count = buckets + (<usize>bucket << 2);
    const begin = end;
    end += load<u32>(count);
    store<u32>(count, begin);
  }
  for (let i: u32 = 0; i < candidateCount; i++) {
    const at = candidates + (<usize>i << 3), place = buckets + (<usize>load<u32>(at, 4) << 2);
    store<u32>(sorted + (<usize>load<u32>(place) << 2), load<u32>(at));
    store<u32>(place, load<u32>(place) + 1);
  }
}

/** The sides of the picture, and the plane through the eye: four f32 each, a normal and its constant, inwards. */
const SIDES: i32 = 5;
const sides: usize = memory.data(SIDES * VECTOR_BYTES, 16);

function setSides(): void {
  setSide(0, narrowX, 1, 0);
  setSide(1, narrowX, -1, <f32>pixelsWide);
  setSide(2, narrowY, 1, 0);
  setSide(3, narrowY, -1, <f32>pixelsHigh);
  setSide(4, narrowW, 1, 0);
}

function setSide(i: usize, axis: Narrow, sign: f32, size: f32): void {
  const at = sides + (i << 4);
  store<f32>(at, size * narrowW.x + sign * axis.x);
  store<f32>(at, size * narrowW.y + sign * axis.y, 4);
  store<f32>(at, size * narrowW.z + sign * axis.z, 8);
  store<f32>(at, size * narrowW.w + sign * axis.w, 12);
}

/**
 * Marks the boxes of a block that reach into the picture, about: a view that is grown by how fast its camera turns sees thousands
 * beside it and behind the eye, which hide nothing and would take the places of those that do.
 */
function lanesInPicture(lowX: v128, lowY: v128, lowZ: v128, highX: v128, highY: v128, highZ: v128): u32 {
  const ox = f32x4.splat(originX), oy = f32x4.splat(originY), oz = f32x4.splat(originZ);
  let bits: u32 = 15;
  for (let i: usize = 0; i < <usize>SIDES; i++) {
    const at = sides + (i << 4);
    const x = load<f32>(at), y = load<f32>(at, 4), z = load<f32>(at, 8);
    const farX = f32x4.sub(x > 0 ? highX : lowX, ox), farY = f32x4.sub(y > 0 ? highY : lowY, oy);
    const farZ = f32x4.sub(z > 0 ? highZ : lowZ, oz);
    const value = f32x4.add(
      f32x4.add(f32x4.mul(farX, f32x4.splat(x)), f32x4.mul(farY, f32x4.splat(y))),
      f32x4.add(f32x4.mul(farZ, f32x4.splat(z)), f32x4.splat(load<f32>(at, 12))),
    );
    bits &= i32x4.bitmask(f32x4.ge(value, f32x4.splat(0)));
  }
  return bits;
}

// @ts-ignore: decorator
@inline
function bucketOf(size: f32): u32 {
  return min<u32>(reinterpret<u32>(size) >> 21, BUCKETS - 1);
}

function mayOcclude(slot: u32): bool {
  const item = itemAt(slot);
  if (item.flags & (FLAG_NO_OCCLUDER | FLAG_FACE_SIDES) || item.shape == SHAPE_POINT_LINE) return false;
  if (!(item.flags & FLAG_OCCLUDER) && item.shape != SHAPE_BOX && item.shape != SHAPE_MESH) return false;
  if (picture.isLasting && hasSlot(unsteady, slot)) return false;
  return clipSetOf(slot) == 0 && !(item.shape == SHAPE_MESH && isPosed(changetype<Mesh>(<usize>item.mesh)));
}

/** Draws occluders within the budget. Answers how many. */
function drawOccluders(): u32 {
  let spent: u32 = 0, count: u32 = 0;
  for (let i: u32 = 0, end = min(candidateCount, MOST_CANDIDATES); i < end && spent < BUDGET; i++) {
    const slot = load<u32>(sorted + (<usize>i << 2));
    if (!mayOcclude(slot)) continue;
    const bounds = orientedBounds(slot);
    if (isHidden(bounds)) {
      spent += 2;
      continue;
    }
    // What is about to be too small to be drawn is not to be counted on.
    if (view.minPixels > 0 && pixelsAcross(view, bounds) < 2 * view.minPixels) continue;
    const cost = draw(slot, bounds);
    if (cost == 0) continue;
    spent += cost + 8;
    setBit(view.occluders, slot);
    count++;
  }
  return count;
}

const inner = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Draws what of an object certainly hides others. Answers how many triangles were looked at, 0 where there is nothing. */
function draw(slot: u32, bounds: Affine): u32 {
  const item = itemAt(slot);
  const side = (<u32>item.flags / FLAG_SIDE) & 3;
  const isCut = crossesNear(bounds);
  if (item.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(<usize>item.mesh);
    if (picture.margin == 0 && mesh.keptCount <= MOST_TRIANGLES) {
      if (!isMade(mesh, false)) {
        if (newTriangles > MOST_NEW_TRIANGLES) return 0;
        newTriangles += mesh.keptCount;
      }
      const shape = shapeOf(mesh);
      if (shape === null) return 0;
      placeTree(inner, mesh, worldOf(item));
      let cost: u32 = 0;
      if (side & SIDE_FRONT) {
        drawOccluder(shape, inner, false, reach);
        cost += shape.triangleCount;
      }
      // The inside of what is closed is seen from inside alone, or where the near plane cuts it.
      if (side & SIDE_BACK && (side == SIDE_BACK || !mesh.closed || isCut)) {
        drawOccluder(shape, inner, true, reach);
        cost += shape.triangleCount;
      }
      return cost;
    }
    if (!mesh.closed) return drawOpen(mesh, worldOf(item), side);
    if (isCut || side == SIDE_BACK) return 0;
    if (!isMade(mesh, true) && newBoxes++ >= MOST_NEW_BOXES) return 0;
    const box = innerBoxOf(mesh);
    if (box === null || (side == SIDE_FRONT && box.winding < 0)) return 0;
    multiply(inner, worldOf(item), changetype<Affine>(box));
    return drawSolid(inner);
  }
  if (side == SIDE_BACK) return 0;
  memory.copy(changetype<usize>(inner), changetype<usize>(bounds), AFFINE_BYTES);
  if (item.shape == SHAPE_BOX) {
    if (!isCut) return drawSolid(inner);
    if (picture.margin > 0) return 0;
    drawOccluder(CUBE, inner, false, reach);
    if (side & SIDE_BACK) drawOccluder(CUBE, inner, true, reach);
    return CUBE.triangleCount;
  }
  if (isCut) return 0;
  // A box inside of the sphere, or inside of the capsule's cylinder and a part of its ends.
  const half = halfOf(item);
  const across = item.shape == SHAPE_SPHERE || half == 0 ? 0.577 : 0.707;
  scaleAxes(inner, across, across, half == 0 ? 0.577 : half / (half + 1));
  return drawSolid(inner);
}

const reliefEye = changetype<ReliefEye>(memory.data(<i32>offsetof<ReliefEye>(), 16));

/** Draws what of an open mesh hides others, wherever the eye is within the margin. */
function drawOpen(mesh: Mesh, world: Affine, side: u32): u32 {
  if (!picture.isPerspective) return 0;
  const relief = reliefOf(mesh, MOST_NEW_TRIANGLES);
  if (relief === null) return 0;
  reliefEye.x = picture.eyeX; reliefEye.y = picture.eyeY; reliefEye.z = picture.eyeZ;
  reliefEye.margin = picture.margin;
  reliefEye.nearest = picture.nearest;
  reliefEye.pixels = view.pixelsPerUnit * <f64>pixelsWide / picture.width;
  reliefEye.reach = reach;
  let triangles: u32 = 0;
  if (side & SIDE_FRONT) triangles = drawRelief(relief, mesh, world, true, reliefEye);
  if (side & SIDE_BACK && triangles == 0) triangles = drawRelief(relief, mesh, world, false, reliefEye);
  return triangles >> RELIEF_SHIFT;
}

/** Draws a box that a solid contains, which is behind the near plane as a whole. */
function drawSolid(box: Affine): u32 {
  if (picture.margin > 0 && !erode(box, picture.margin)) return 0;
  drawOccluder(CUBE, box, false, reach);
  return CUBE.triangleCount;
}

const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/** Moves all faces of a box inwards. Answers false where nothing is left. */
function erode(box: Affine, margin: f64): bool {
  invert(inverse, box);
  const b = inverse;
  const x = 1 - margin * sqrt(b.xx * b.xx + b.yx * b.yx + b.zx * b.zx);
  const y = 1 - margin * sqrt(b.xy * b.xy + b.yy * b.yy + b.zy * b.zy);
  const z = 1 - margin * sqrt(b.xz * b.xz + b.yz * b.yz + b.zz * b.zz);
  if (!(x > 0 && y > 0 && z > 0)) return false;
  scaleAxes(box, x, y, z);
  return true;
}

function scaleAxes(box: Affine, x: f64, y: f64, z: f64): void {
  box.xx *= x; box.xy *= x; box.xz *= x;
  box.yx *= y; box.yy *= y; box.yz *= y;
  box.zx *= z; box.zy *= z; box.zz *= z;
}

/** Tells whether oriented bounds have a corner before the near plane. */
function crossesNear(b: Affine): bool {
  const n = screenNear;
  return valueAt(n, b.tx, b.ty, b.tz) <
    abs(n.x * b.xx + n.y * b.xy + n.z * b.xz) + abs(n.x * b.yx + n.y * b.yy + n.z * b.yz) +
    abs(n.x * b.zx + n.y * b.zy + n.z * b.zz);
}

// --- what is hidden ---

const lowXs: usize = memory.data(VECTOR_BYTES, 16);
const lowYs: usize = memory.data(VECTOR_BYTES, 16);
const highXs: usize = memory.data(VECTOR_BYTES, 16);
const highYs: usize = memory.data(VECTOR_BYTES, 16);
const depths: usize = memory.data(VECTOR_BYTES, 16);

/** Tests the objects of a tree that are seen, four at a time by the boxes of the axes, then those that are not hidden by their own. */
function test(tree: Tree): void {
  if (isEmpty(tree)) return;
  for (let position: u32 = 0; position < tree.positions; position += 4) {
    const bits = seenLanes(tree, position);
    if (bits == 0) continue;
    const inFront = projectBlock(blockAt(tree, position));
    for (let rest = bits; rest != 0; rest &= rest - 1) {
      const lane = ctz(rest), at = <usize>lane << 2;
      const slot = slotAt(tree, position + lane);
      if (!(inFront & (1 << lane))) {
        if (isHidden(boundsAt(tree, position + lane))) hide(slot);
        continue;
      }
      const lowX = <f64>load<f32>(lowXs + at), highX = <f64>load<f32>(highXs + at);
      const lowY = <f64>load<f32>(lowYs + at), highY = <f64>load<f32>(highYs + at);
      if (
        isRectangleHidden(lowX, lowY, highX, highY, <f64>load<f32>(depths + at)) ||
        ((highX - lowX > SMALL || highY - lowY > SMALL) && isHidden(boundsAt(tree, position + lane)))
      ) hide(slot);
    }
  }
}

function hide(slot: u32): void {
  const word = <usize>(slot >> 5) << 2, bit: u32 = 1 << (slot & 31);
  store<u32>(view.inside + word, load<u32>(view.inside + word) & ~bit);
  store<u32>(view.crossing + word, load<u32>(view.crossing + word) & ~bit);
  setBit(view.occluded, slot);
}

/** Finds the rectangles and nearest depths of four boxes. Marks those that are before the eye as wholes. */
function projectBlock(block: usize): u32 {
  const ox = f32x4.splat(originX), oy = f32x4.splat(originY), oz = f32x4.splat(originZ);
  const x0 = f32x4.sub(v128.load(block), ox), x1 = f32x4.sub(v128.load(block, 48), ox);
  const y0 = f32x4.sub(v128.load(block, 16), oy), y1 = f32x4.sub(v128.load(block, 64), oy);
  const z0 = f32x4.sub(v128.load(block, 32), oz), z1 = f32x4.sub(v128.load(block, 80), oz);
  const far = f32x4.add(
    f32x4.add(f32x4.max(f32x4.abs(x0), f32x4.abs(x1)), f32x4.max(f32x4.abs(y0), f32x4.abs(y1))),
    f32x4.max(f32x4.abs(z0), f32x4.abs(z1)),
  );
  const rounding = f32x4.splat(ROUNDING);
  const isPerspective = picture.isPerspective;
  let least = f32x4.splat(Infinity);
  let lowX = least, lowY = least, highX = f32x4.splat(-Infinity), highY = highX;
  for (let k = 0; k < 4; k++) {
    const y = k & 1 ? y1 : y0, z = k & 2 ? z1 : z0;
    let w0 = f32x4.splat(1), w1 = w0;
    if (isPerspective) {
      const w = f32x4.add(
        f32x4.add(f32x4.mul(y, f32x4.splat(narrowW.y)), f32x4.mul(z, f32x4.splat(narrowW.z))), f32x4.splat(narrowW.w),
      );
      w0 = f32x4.add(w, f32x4.mul(x0, f32x4.splat(narrowW.x)));
      w1 = f32x4.add(w, f32x4.mul(x1, f32x4.splat(narrowW.x)));
      least = f32x4.pmin(least, f32x4.pmin(w0, w1));
      w0 = f32x4.div(f32x4.splat(1), w0);
      w1 = f32x4.div(f32x4.splat(1), w1);
    }
    const u = f32x4.add(
      f32x4.add(f32x4.mul(y, f32x4.splat(narrowX.y)), f32x4.mul(z, f32x4.splat(narrowX.z))), f32x4.splat(narrowX.w),
    );
    const v = f32x4.add(
      f32x4.add(f32x4.mul(y, f32x4.splat(narrowY.y)), f32x4.mul(z, f32x4.splat(narrowY.z))), f32x4.splat(narrowY.w),
    );
    const u0 = f32x4.mul(f32x4.add(u, f32x4.mul(x0, f32x4.splat(narrowX.x))), w0);
    const u1 = f32x4.mul(f32x4.add(u, f32x4.mul(x1, f32x4.splat(narrowX.x))), w1);
    const v0 = f32x4.mul(f32x4.add(v, f32x4.mul(x0, f32x4.splat(narrowY.x))), w0);
    const v1 = f32x4.mul(f32x4.add(v, f32x4.mul(x1, f32x4.splat(narrowY.x))), w1);
    lowX = f32x4.pmin(lowX, f32x4.pmin(u0, u1));
    highX = f32x4.pmax(highX, f32x4.pmax(u0, u1));
    lowY = f32x4.pmin(lowY, f32x4.pmin(v0, v1));
    highY = f32x4.pmax(highY, f32x4.pmax(v0, v1));
  }
  let depth: v128, error: v128;
  if (isPerspective) {
    const errorW = f32x4.mul(f32x4.add(f32x4.mul(far, f32x4.splat(narrowW.largest)), f32x4.splat(abs(narrowW.w))), rounding);
    least = f32x4.sub(least, errorW);
    depth = f32x4.div(f32x4.splat(1), least);
    // Of x / w: by x, and by x / w times w.
    const widest = f32x4.max(f32x4.max(f32x4.abs(lowX), f32x4.abs(highX)), f32x4.max(f32x4.abs(lowY), f32x4.abs(highY)));
    error = f32x4.mul(f32x4.mul(f32x4.add(errorOf(far), f32x4.mul(widest, errorW)), depth), f32x4.splat(2));
  } else {
    least = f32x4.splat(1);
    const a = f32x4.max(f32x4.mul(x0, f32x4.splat(narrowZ.x)), f32x4.mul(x1, f32x4.splat(narrowZ.x)));
    const b = f32x4.max(f32x4.mul(y0, f32x4.splat(narrowZ.y)), f32x4.mul(y1, f32x4.splat(narrowZ.y)));
    const c = f32x4.max(f32x4.mul(z0, f32x4.splat(narrowZ.z)), f32x4.mul(z1, f32x4.splat(narrowZ.z)));
    const terms = f32x4.add(f32x4.mul(far, f32x4.splat(narrowZ.largest)), f32x4.splat(abs(narrowZ.w)));
    depth = f32x4.add(f32x4.add(f32x4.add(a, b), f32x4.add(c, f32x4.splat(narrowZ.w))), f32x4.mul(terms, rounding));
    error = f32x4.mul(errorOf(far), f32x4.splat(2));
  }
  v128.store(lowXs, f32x4.sub(lowX, error));
  v128.store(highXs, f32x4.add(highX, error));
  v128.store(lowYs, f32x4.sub(lowY, error));
  v128.store(highYs, f32x4.add(highY, error));
  v128.store(depths, depth);
  return i32x4.bitmask(f32x4.gt(least, f32x4.splat(0)));
}

// @ts-ignore: decorator
@inline
function errorOf(far: v128): v128 {
  const gradient = f32x4.mul(far, f32x4.splat(max(narrowX.largest, narrowY.largest)));
  return f32x4.mul(f32x4.add(gradient, f32x4.splat(max(abs(narrowX.w), abs(narrowY.w)))), f32x4.splat(ROUNDING));
}

/** Tells whether oriented bounds are hidden, by their corners in float64. */
function isHidden(b: Affine): bool {
  const x = screenX, y = screenY, z = screenZ, w = screenW;
  const middleX = valueAt(x, b.tx, b.ty, b.tz), middleY = valueAt(y, b.tx, b.ty, b.tz);
  const middleZ = valueAt(z, b.tx, b.ty, b.tz), middleW = valueAt(w, b.tx, b.ty, b.tz);
  const wx = along(w, b.xx, b.xy, b.xz), wy = along(w, b.yx, b.yy, b.yz), wz = along(w, b.zx, b.zy, b.zz);
  if (!(middleW - abs(wx) - abs(wy) - abs(wz) > 0)) return false;
  const xx = along(x, b.xx, b.xy, b.xz), xy = along(x, b.yx, b.yy, b.yz), xz = along(x, b.zx, b.zy, b.zz);
  const yx = along(y, b.xx, b.xy, b.xz), yy = along(y, b.yx, b.yy, b.yz), yz = along(y, b.zx, b.zy, b.zz);
  const zx = along(z, b.xx, b.xy, b.xz), zy = along(z, b.yx, b.yy, b.yz), zz = along(z, b.zx, b.zy, b.zz);
  let lowX = Infinity, lowY = Infinity, highX = -Infinity, highY = -Infinity, depth = -Infinity;
  for (let corner = 0; corner < 8; corner++) {
    const s: f64 = corner & 1 ? 1 : -1, t: f64 = corner & 2 ? 1 : -1, u: f64 = corner & 4 ? 1 : -1;
    const over = 1.0 / (middleW + s * wx + t * wy + u * wz);
    const px = (middleX + s * xx + t * xy + u * xz) * over, py = (middleY + s * yx + t * yy + u * yz) * over;
    lowX = min(lowX, px);
    highX = max(highX, px);
    lowY = min(lowY, py);
    highY = max(highY, py);
    depth = max(depth, (middleZ + s * zx + t * zy + u * zz) * over);
  }
  return isRectangleHidden(lowX, lowY, highX, highY, depth);
}

// @ts-ignore: decorator
@inline
function along(plane: Plane, x: f64, y: f64, z: f64): f64 {
  return plane.x * x + plane.y * y + plane.z * z;
}

/** Tells whether all of a rectangle that is in the picture is covered nearer than a depth. */
function isRectangleHidden(lowX: f64, lowY: f64, highX: f64, highY: f64, depth: f64): bool {
  const x0 = lowX - reach, y0 = lowY - reach, x1 = highX + reach, y1 = highY + reach;
  const width = <f64>pixelsWide, height = <f64>pixelsHigh;
  if (picture.isLasting) {
    if (!(x0 >= 0 && y0 >= 0 && x1 < width && y1 < height)) return false;
  } else if (!(x1 >= 0 && y1 >= 0 && x0 < width && y0 < height)) return false;
  const nearest = <f32>(depth + abs(depth) * DEPTH_SLACK + picture.bias);
  return isCovered(
    <i32>max(x0, 0.0), <i32>max(y0, 0.0), <i32>min(x1, width - 1), <i32>min(y1, height - 1), nearest,
  );
}

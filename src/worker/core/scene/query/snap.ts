// What a snapping pick asks of the scene: which objects are drawn near the cursor, conservatively, by their oriented bounds;
// what stands for each, which sides of its faces show, and whether something nearer hides a point. What a mesh has to snap
// to is not known here (src/worker/snap). World units.

import { PRECISION_MESH, SHAPE_MESH, SNAP_BASE, SNAP_CLIP_SET, SNAP_SIDES, VIEW_VIEWPORT } from '../../../../shared/layout';
import { valueAt } from '../../math/plane';
import { sidesOfFace } from '../../mesh/query/face-sides';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape } from '../../shape/placed-shape';
import { baseOf } from '../../skin/pose';
import { descend } from '../index/descend';
import { Tree, readPlace, treeOf } from '../index/octree';
import { boxAt, clipSetOf, isAlive, placedShapeAt, slotOf } from '../objects';
import { updateTrees } from '../scene';
import { beyondNear, clipW, clipX, clipY, setProjection } from '../view/projection';
import { hasOwnSets, isClipped } from './clipping';
import { faceSidesOf, isIgnored, precision, setFilter, sidesOf } from './filter';
import { ANY } from '../../mesh/query/ray';
import {
  castAt, castSurfaces, findNormal, foundNormalX, foundNormalY, foundNormalZ, foundObject, foundTriangle, pointX, pointY, pointZ,
} from './ray';
import { directionX, directionY, directionZ } from './ray-line';
import { limitsOf } from './region';
import { addFound, clearFound, foundCount } from './result-ids';
import { OUTSIDE, addPlane, addRectangle, beginVolume, limitDepth } from './volume';

const RECORD_BYTES: i32 = 128;
/** Says that triangles have sides of their own. */
const OWN_FACE_SIDES: u32 = 4;
const record: usize = memory.data(RECORD_BYTES, 16);
/** The object that is the first to be asked whether it hides a point: the one that hid the last point, or was picked. */
let hider: u32 = 0;

/**
 * Begins a snapping pick: lists the objects whose oriented bounds may be drawn in a rectangle of the view, in the units of
 * clip space over w, as ids in result-ids.ts. The filter is asked until the pick ends. `struck`: the object that the pick has hit,
 * or 0; `triangle`: the one of its mesh, or -1 of a solid. Where that hides all that is behind it in the rectangle, what is there is left
 * out. Answers how many. Throws OUT_OF_MEMORY.
 */
export function beginSnap(
  view: usize, lowX: f64, lowY: f64, highX: f64, highY: f64, filter: usize, struck: u32, triangle: i32,
): u32 {
  hider = struck;
  updateTrees();
  setFilter(filter);
  setProjection(view);
  beginVolume();
  addRectangle(lowX, lowY, highX, highY);
  limitDepth();
  // Planes may leave a part of the triangle or solid alone.
  if (struck != 0 && !isClipped && !hasOwnSets()) {
    const pixelX = 2.0 / load<f64>(view, VIEW_VIEWPORT + 16), pixelY = 2.0 / load<f64>(view, VIEW_VIEWPORT + 24);
    limitToFront(struck, triangle, lowX - pixelX, lowY - pixelY, highX + pixelX, highY + pixelY, pixelX);
  }
  clearFound();
  descend(consider);
  return foundCount;
}

/** Where the triangle is drawn in corners of the rectangle: three numbers each. */
const corners: usize = memory.data(4 * 24, 16);
/** A thing hides a point from a quarter of a pixel before it; where perspective differs in the rectangle, less than this. */
const MARGIN_PIXELS: f64 = 2;

/** So many pixels the fourth corner may lie behind the plane of the others: rounding, which the margin has room for. */
const FLATNESS_PIXELS: f64 = 0.01;

/**
 * Adds the plane of a triangle or of a convex solid's front to the volume, a little behind it, if that is drawn all over a
 * rectangle: then all that is farther away is hidden. It is, as it is convex, where it is met in all four corners. A solid must be
 * entered there; it holds both triangles between the four points, and the plane of the first one must not be before the
 * second. With a wall in front, this leaves out all that stands behind it. `pixel`: the width of a pixel. Throws OUT_OF_MEMORY.
 */
function limitToFront(object: u32, triangle: i32, lowX: f64, lowY: f64, highX: f64, highY: f64, pixel: f64): void {
  let least = Infinity;
  for (let i: u32 = 0; i < 4; i++) {
    const cx = i & 1 ? highX : lowX, cy = i & 2 ? highY : lowY;
    // What is drawn there lies on a line: where two functions are 0.
    const ax = clipX.x - cx * clipW.x, ay = clipX.y - cx * clipW.y, az = clipX.z - cx * clipW.z, aw = clipX.w - cx * clipW.w;
    const bx = clipY.x - cy * clipW.x, by = clipY.y - cy * clipW.y, bz = clipY.z - cy * clipW.z, bw = clipY.w - cy * clipW.w;
    const x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
    const square = x * x + y * y + z * z;
    const px = (bw * (ay * z - az * y) - aw * (by * z - bz * y)) / square;
    const py = (bw * (az * x - ax * z) - aw * (bz * x - bx * z)) / square;
    const pz = (bw * (ax * y - ay * x) - aw * (bx * y - by * x)) / square;
    const rise = beyondNear.x * x + beyondNear.y * y + beyondNear.z * z;
    const t = -valueAt(beyondNear, px, py, pz) / rise;
    if (!(abs(t) < Infinity)) return; // no near plane
    const turn: f64 = rise < 0 ? -1 : 1;
    if (!castAt(object, px + t * x, py + t * y, pz + t * z, turn * x, turn * y, turn * z) || foundTriangle != triangle) return;
    if (triangle < 0) {
      if (precision != PRECISION_MESH) return; // bounds may be many boxes
      findNormal();
      if (!(foundNormalX * directionX + foundNormalY * directionY + foundNormalZ * directionZ < 0)) return; // it is left here
    }
    store<f64>(corners + <usize>i * 24, pointX);
    store<f64>(corners + <usize>i * 24, pointY, 8);
    store<f64>(corners + <usize>i * 24, pointZ, 16);
    least = min(least, valueAt(clipW, pointX, pointY, pointZ));
  }
  const x = load<f64>(corners), y = load<f64>(corners, 8), z = load<f64>(corners, 16);
  const ux = load<f64>(corners, 24) - x, uy = load<f64>(corners, 32) - y, uz = load<f64>(corners, 40) - z;
  const vx = load<f64>(corners, 48) - x, vy = load<f64>(corners, 56) - y, vz = load<f64>(corners, 64) - z;
  let nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  // Towards where the rays come from.
  const side: f64 = nx * directionX + ny * directionY + nz * directionZ > 0 ? -1 : 1;
  const unit = side / sqrt(nx * nx + ny * ny + nz * nz);
  nx *= unit;
  ny *= unit;
  nz *= unit;
  const width = sqrt(ux * ux + uy * uy + uz * uz) * pixel / (highX - lowX);
  const last: usize = corners + 72;
  const above = nx * (load<f64>(last) - x) + ny * (load<f64>(last, 8) - y) + nz * (load<f64>(last, 16) - z);
  if (!(above >= -FLATNESS_PIXELS * width)) return;
  const margin = MARGIN_PIXELS * width / least;
  addPlane(
    nx + margin * clipW.x, ny + margin * clipW.y, nz + margin * clipW.z, margin * clipW.w - (nx * x + ny * y + nz * z),
  );
}

function consider(tree: Tree, position: u32, limits: u64): void {
  const proxy = readPlace(tree, position);
  if (sidesOf(proxy) == 0 || isIgnored(proxy.id)) return;
  if (limitsOf(proxy, limits, precision) != OUTSIDE) addFound(proxy.id);
}

/**
 * Answers the address of what stands for an object (layout.ts, SNAP_*), until the next call; 0 for one that is gone. The
 * vertices of a posed mesh are moved to where its pose has them. Throws OUT_OF_MEMORY.
 */
export function snapTarget(id: u32): usize {
  if (!isAlive(id)) return 0;
  const slot = slotOf(id), box = boxAt(slot);
  const shape = changetype<PlacedShape>(record);
  placedShapeAt(shape, slot, precision);
  const base = shape.shape == SHAPE_MESH ? baseOf(changetype<Mesh>(<usize>shape.mesh)) : changetype<Mesh>(<usize>shape.mesh);
  store<u32>(record, <u32>changetype<usize>(base), SNAP_BASE);
  const proxy = readPlace(treeOf(box.tree), box.position);
  store<u32>(record, sidesOf(proxy) | (faceSidesOf(proxy) != 0 ? OWN_FACE_SIDES : 0), SNAP_SIDES);
  store<u32>(record, clipSetOf(slot), SNAP_CLIP_SET);
  return record;
}

/** Answers which sides of a triangle of an object's mesh show (SIDE_*). */
export function snapSides(id: u32, triangle: u32): u32 {
  const box = boxAt(slotOf(id));
  const proxy = readPlace(treeOf(box.tree), box.position);
  const sides = sidesOf(proxy), list = faceSidesOf(proxy);
  return list == 0 ? sides : sidesOfFace(list, triangle, sides);
}

/**
 * Tells whether a surface lies on the way from a point along a direction, which must be unit, to so far away. Points and
 * lines hide nothing. Throws OUT_OF_MEMORY.
 */
export function hidesSnap(x: f64, y: f64, z: f64, alongX: f64, alongY: f64, alongZ: f64, length: f64): bool {
  castSurfaces(x, y, z, alongX, alongY, alongZ, 0, length, ANY, hider);
  if (foundObject != 0) hider = foundObject;
  return foundObject != 0;
}

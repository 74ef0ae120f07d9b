// What a snapping pick asks of the scene: which objects are drawn near the cursor, conservatively, by their oriented bounds;
// what stands for each, which sides of its faces show, and whether something nearer hides a point. What a mesh has to snap
// to is not known here (src/worker/snap). World units.

import { SHAPE_MESH, SNAP_BASE, SNAP_CLIP_SET, SNAP_SIDES } from '../../../../shared/layout';
import { Plane } from '../../math/plane';
import { sidesOfFace } from '../../mesh/query/face-sides';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape } from '../../shape/placed-shape';
import { baseOf } from '../../skin/pose';
import { descend } from '../index/descend';
import { Tree, readPlace, treeOf } from '../index/octree';
import { boxAt, clipSetOf, isAlive, placedShapeAt, slotOf } from '../objects';
import { updateTrees } from '../scene';
import { setProjection } from '../view/projection';
import { faceSidesOf, isIgnored, precision, setFilter, sidesOf } from './filter';
import { ANY } from '../../mesh/query/ray';
import { castSurfaces, foundObject } from './ray';
import { limitsOf } from './region';
import { addFound, clearFound, foundCount } from './result-ids';
import { OUTSIDE, addPlane, addRectangle, beginVolume, limitDepth } from './volume';

const RECORD_BYTES: i32 = 128;
/** Says that triangles have sides of their own. */
const OWN_FACE_SIDES: u32 = 4;
const record: usize = memory.data(RECORD_BYTES, 16);
/** The object that is the first to be asked whether it hides a point: the one that hid the last point, or was picked. */
let hider: u32 = 0;

/** Begins a step of a snapping pick, up to the next query. The filter is asked until then. Throws OUT_OF_MEMORY. */
export function beginSnap(filter: usize): void {
  updateTrees();
  setFilter(filter);
}

/**
 * Lists the objects whose oriented bounds may be drawn in a rectangle of the view, in the units of clip space over w, as ids in
 * result-ids.ts. `front`: the address of a plane behind which all is hidden, or 0: what is there is left out. `struck`: the object
 * that the pick has hit, or 0. Answers how many. Throws OUT_OF_MEMORY.
 */
export function listSnap(
  view: usize, lowX: f64, lowY: f64, highX: f64, highY: f64, front: usize, struck: u32,
): u32 {
  hider = struck;
  setProjection(view);
  beginVolume();
  addRectangle(lowX, lowY, highX, highY);
  limitDepth();
  if (front != 0) {
    const plane = changetype<Plane>(front);
    addPlane(plane.x, plane.y, plane.z, plane.w);
  }
  clearFound();
  descend(consider);
  return foundCount;
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

/** Answers which sides of a triangle of an object's mesh show (SIDE_*); none of one that is gone. */
export function snapSides(id: u32, triangle: u32): u32 {
  if (!isAlive(id)) return 0;
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
  castSurfaces(x, y, z, alongX, alongY, alongZ, 0, length, ANY, isAlive(hider) ? hider : 0);
  if (foundObject != 0) hider = foundObject;
  return foundObject != 0;
}

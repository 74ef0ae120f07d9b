// The objects near the cursor of a snapping pick: the representation of each, and its features.

import { SHAPE_MESH, SNAP_TARGET_BYTES } from '../../../../shared/layout';
import { capacityOf, reserve } from '../../memory';
import { sidesOfFace } from '../../mesh/query/face-sides';
import { Mesh } from '../../mesh/tree/layout';
import { PlacedShape } from '../../shape/placed-shape';
import { baseOf } from '../../skin/pose';
import { readProxy, treeOf } from '../index/octree';
import { boxAt, clipSetOf, isAlive, placedShapeAt, slotOf } from '../objects';
import { isClipped, setOf } from '../query/clipping';
import { faceSidesOf, precision, sidesOf } from '../query/filter';
import { findKeptParts, keepWhole } from '../query/kept-parts';
import { SnapPick } from './snap-pick';

/** Flag: triangles have sides of their own. */
export const OWN_FACE_SIDES: u32 = 4;

/** The representation of an object, laid out as in layout.ts: SNAP_*. */
@unmanaged
export class SnapTarget extends PlacedShape {
  base: u32;
  sides: u32;
  clipSet: u32;
  features: u32;
  object: u32;
  /** Whether vertices are elsewhere than where the features were found; and whether the mesh was removed meanwhile. */
  isMoved: u32;
  isRemoved: u32;
  /** The end of its items in the list. */
  listedEnd: u32;
}

// @ts-ignore: decorator
@inline
export function targetAt(pick: SnapPick, i: u32): SnapTarget {
  return changetype<SnapTarget>(<usize>pick.targets + <usize>i * SNAP_TARGET_BYTES);
}

/**
 * Adds the representation of an object in its current state, and returns its address, which is valid until the next one is added;
 * 0 if the object was removed. The vertices of a posed mesh are moved to its pose. Throws OUT_OF_MEMORY.
 */
export function addSnapTarget(address: usize, id: u32): usize {
  if (!isAlive(id)) return 0;
  const pick = changetype<SnapPick>(address);
  if (pick.targetCount == pick.targetCapacity) {
    const used = pick.targetCount * <u32>SNAP_TARGET_BYTES;
    pick.targets = <u32>reserve(pick.targets, used, used + SNAP_TARGET_BYTES);
    pick.targetCapacity = <u32>(capacityOf(pick.targets) / SNAP_TARGET_BYTES);
  }
  const slot = slotOf(id), box = boxAt(slot), target = targetAt(pick, pick.targetCount);
  placedShapeAt(target, slot, precision);
  const base = target.shape == SHAPE_MESH ? baseOf(changetype<Mesh>(<usize>target.mesh)) : changetype<Mesh>(<usize>target.mesh);
  const proxy = readProxy(treeOf(box.tree), box.position);
  target.base = <u32>changetype<usize>(base);
  target.sides = sidesOf(proxy) | (faceSidesOf(proxy) != 0 ? OWN_FACE_SIDES : 0);
  target.clipSet = clipSetOf(slot);
  target.object = id;
  target.features = target.isMoved = target.isRemoved = target.listedEnd = 0;
  pick.targetCount++;
  return changetype<usize>(target);
}

const currentShape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** Marks which posed meshes were removed between two steps: nothing keeps them alive. Throws OUT_OF_MEMORY. */
export function markRemoved(pick: SnapPick): void {
  for (let i: u32 = 0; i < pick.targetCount; i++) {
    const target = targetAt(pick, i);
    if (target.mesh == target.base) continue;
    target.isRemoved = 1;
    if (!isAlive(target.object)) continue;
    placedShapeAt(currentShape, slotOf(target.object), precision);
    if (currentShape.mesh == target.mesh) target.isRemoved = 0;
  }
}

/** Returns which sides of a triangle of an object's mesh show (SIDE_*); none if the object was removed. */
export function faceSidesAt(id: u32, triangle: u32): u32 {
  if (!isAlive(id)) return 0;
  const box = boxAt(slotOf(id));
  const proxy = readProxy(treeOf(box.tree), box.position);
  const sides = sidesOf(proxy), list = faceSidesOf(proxy);
  return list == 0 ? sides : sidesOfFace(list, triangle, sides);
}

/** The point in the world that `toWorld` has computed last. */
export let worldX: f64 = 0;
export let worldY: f64 = 0;
export let worldZ: f64 = 0;

// @ts-ignore: decorator
@inline
export function toWorld(t: SnapTarget, x: f64, y: f64, z: f64): void {
  worldX = t.xx * x + t.yx * y + t.zx * z + t.tx;
  worldY = t.xy * x + t.yy * y + t.zy * z + t.ty;
  worldZ = t.xz * x + t.yz * y + t.zz * z + t.tz;
}

/** Finds the parts that are kept of a segment between two points in an object's own space. */
export function findKeptPartsOf(t: SnapTarget, px: f64, py: f64, pz: f64, qx: f64, qy: f64, qz: f64): void {
  const objectSet = setOf(t.clipSet);
  if (!isClipped && objectSet === null) {
    keepWhole();
    return;
  }
  toWorld(t, px, py, pz);
  const ax = worldX, ay = worldY, az = worldZ;
  toWorld(t, qx, qy, qz);
  findKeptParts(objectSet, ax, ay, az, worldX, worldY, worldZ);
}

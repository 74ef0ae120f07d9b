// Finds which bones of two objects meet, by the hit boxes of the bones (skin/hit-boxes.ts): the boxes near the other object are
// tested against each of the other's boxes, or against the other's shape if it has no bones. No triangle of a boned object is
// moved for that. For detail 'bounds' it does the same with user-supplied boxes (shape/box-list.ts), and objects without boxes
// are represented by their bounds. float64; touching counts as meeting.

import { CONTACTS_BONES, CONTACTS_BOUNDS, PRECISION_MESH, PRECISION_OBB, SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { checkpoint } from '../../checkpoint';
import { addBonePair, bonePairCount } from '../../contact/manifold/contact';
import { distanceOfShapes } from '../../distance/shape-distance';
import { Affine, copy, multiply } from '../../math/affine';
import { APART, compareObbs } from '../../math/obb-sat-f64';
import { reserve } from '../../memory';
import { noWitness } from '../../mesh/query/mesh-pair';
import { Mesh } from '../../mesh/tree/layout';
import { boxList, listedBox } from '../../shape/box-list';
import { Item, boxListOf, worldOf } from '../../shape/item';
import { PlacedShape, mapOf, setPlacedShape } from '../../shape/placed-shape';
import { Proxy, boundsOf } from '../../shape/proxy';
import { countHitBoxes, hasBones, hitBoxAt } from '../../skin/hit-boxes';
import { oneHoldsOther } from './containment';
import { shapesOverlap } from './overlap-tests';

/** The box of a bone in the world: the map from the cube, and its extents along the world's axes. */
@unmanaged
class PlacedBone {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  reachX: f64; reachY: f64; reachZ: f64;
  bone: i32;
  pad: u32;

  // @ts-ignore: decorator
  @inline
  map(): Affine {
    return changetype<Affine>(changetype<usize>(this));
  }
}

const PLACED_BONE_BYTES: usize = offsetof<PlacedBone>();
/** Extents are compared with this margin against rounding, and bounds are enlarged by it: both tests only select candidates. */
const SLACK: f64 = 1.000001;

const around = changetype<PlacedBone>(memory.data(<i32>offsetof<PlacedBone>(), 16));
const boneShape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const otherShape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
let firsts: usize = 0;
let seconds: usize = 0;
let placedCount: u32 = 0;

/** Returns whether an object has boxes to test for a detail: given ones for 'bounds', those of its bones for 'bones'. */
// @ts-ignore: decorator
@inline
export function isBoxed(proxy: Proxy, item: Item, detail: i32): bool {
  if (proxy.shape != <u8>SHAPE_MESH) return false;
  return detail == CONTACTS_BOUNDS ? boxListOf(item) != 0 : detail == CONTACTS_BONES && hasBones(changetype<Mesh>(<usize>item.mesh));
}

/** Adds the pairs of bones that meet, sorted, to the contact. Returns whether there are any. Throws OUT_OF_MEMORY. */
export function bonesMeet(a: Proxy, itemA: Item, b: Proxy, itemB: Item): bool {
  firsts = placeBones(firsts, itemA, b, 0);
  const firstCount = placedCount;
  seconds = placeBones(seconds, itemB, a, 0);
  const secondCount = placedCount;
  for (let i: u32 = 0; i < firstCount; i++) {
    const first = boneIn(firsts, i);
    for (let j: u32 = 0; j < secondCount; j++) {
      const second = boneIn(seconds, j);
      if (areNear(first, second, 0) && compareObbs(first.map(), second.map()) != APART) addBonePair(first.bone, second.bone);
    }
    checkpoint(secondCount);
  }
  return bonePairCount != 0;
}

/**
 * Does the same as `bonesMeet` if only one object has bones: `item`, which is the first object if `isFirst`. The other has this
 * proxy and shape.
 */
export function bonesMeetShape(item: Item, proxy: Proxy, shape: PlacedShape, isFirst: bool): bool {
  firsts = placeBones(firsts, item, proxy, 0);
  const count = placedCount;
  setBox(boneShape);
  for (let i: u32 = 0; i < count; i++) {
    const placed = boneIn(firsts, i);
    copy(mapOf(boneShape), placed.map());
    checkpoint(1);
    if (!shapesOverlap(boneShape, shape, noWitness()) && !oneHoldsOther(boneShape, shape)) continue;
    if (isFirst) addBonePair(placed.bone, -1);
    else addBonePair(-1, placed.bone);
  }
  return bonePairCount != 0;
}

/**
 * Adds the pairs of bones whose boxes are no farther apart than `clearance`, or the bones that are no farther from the shape of
 * an object without bones. Returns whether there are any. Throws OUT_OF_MEMORY.
 */
export function bonesNear(a: Proxy, itemA: Item, b: Proxy, itemB: Item, detail: i32, clearance: f64): bool {
  const isBonedA = isBoxed(a, itemA, detail), isBonedB = isBoxed(b, itemB, detail);
  const precision = detail == CONTACTS_BOUNDS ? PRECISION_OBB : PRECISION_MESH;
  if (isBonedA) firsts = placeBones(firsts, itemA, b, clearance);
  const firstCount = isBonedA ? placedCount : 1;
  if (isBonedB) seconds = placeBones(seconds, itemB, a, clearance);
  const secondCount = isBonedB ? placedCount : 1;
  if (!isBonedA) setPlacedShape(boneShape, itemA, precision);
  if (!isBonedB) setPlacedShape(otherShape, itemB, precision);
  for (let i: u32 = 0; i < firstCount; i++) {
    if (isBonedA) setBoneBox(boneShape, boneIn(firsts, i));
    for (let j: u32 = 0; j < secondCount; j++) {
      if (isBonedB) setBoneBox(otherShape, boneIn(seconds, j));
      checkpoint(1);
      if (isBonedA && isBonedB && !areNear(boneIn(firsts, i), boneIn(seconds, j), clearance)) continue;
      if (!distanceOfShapes(boneShape, otherShape, clearance)) continue;
      addBonePair(numberOf(firsts, i, isBonedA), numberOf(seconds, j, isBonedB));
    }
  }
  return bonePairCount != 0;
}

/** Returns the number of a bone in a list; -1 if the object has no bones. */
// @ts-ignore: decorator
@inline
function numberOf(list: usize, i: u32, isBoned: bool): i32 {
  return isBoned ? boneIn(list, i).bone : -1;
}

function setBox(shape: PlacedShape): void {
  shape.shape = <u16>SHAPE_BOX;
  shape.half = 0;
  shape.filled = 0;
  shape.mesh = 0;
}

function setBoneBox(shape: PlacedShape, placed: PlacedBone): void {
  setBox(shape);
  copy(mapOf(shape), placed.map());
}

// @ts-ignore: decorator
@inline
function boneIn(list: usize, i: u32): PlacedBone {
  return changetype<PlacedBone>(list + <usize>i * PLACED_BONE_BYTES);
}

// @ts-ignore: decorator
@inline
function areNear(a: PlacedBone, b: PlacedBone, clearance: f64): bool {
  return (
    abs(a.tx - b.tx) <= (a.reachX + b.reachX + clearance) * SLACK &&
    abs(a.ty - b.ty) <= (a.reachY + b.reachY + clearance) * SLACK &&
    abs(a.tz - b.tz) <= (a.reachZ + b.reachZ + clearance) * SLACK
  );
}

/**
 * Places the bones of an object that may come this near to another one, by its bounds. Returns the list. Throws OUT_OF_MEMORY.
 */
function placeBones(list: usize, item: Item, other: Proxy, clearance: f64): usize {
  const mesh = changetype<Mesh>(<usize>item.mesh);
  const given = boxListOf(item);
  const count = given != 0 ? boxList(given).count : countHitBoxes(mesh);
  boundsOf(other, around.map());
  around.xx *= SLACK; around.xy *= SLACK; around.xz *= SLACK;
  around.yx *= SLACK; around.yy *= SLACK; around.yz *= SLACK;
  around.zx *= SLACK; around.zy *= SLACK; around.zz *= SLACK;
  setReach(around);
  const to = reserve(list, 0, <u64>max<u32>(count, 1) * PLACED_BONE_BYTES);
  placedCount = 0;
  for (let i: u32 = 0; i < count; i++) {
    const hit = given != 0 ? listedBox(given, i) : hitBoxAt(mesh, i), placed = boneIn(to, placedCount);
    multiply(placed.map(), worldOf(item), hit.map());
    setReach(placed);
    if (!areNear(placed, around, clearance)) continue;
    if (clearance == 0 && compareObbs(around.map(), placed.map()) == APART) continue;
    placed.bone = <i32>hit.bone;
    placedCount++;
  }
  return to;
}

// @ts-ignore: decorator
@inline
function setReach(placed: PlacedBone): void {
  placed.reachX = abs(placed.xx) + abs(placed.yx) + abs(placed.zx);
  placed.reachY = abs(placed.xy) + abs(placed.yy) + abs(placed.zy);
  placed.reachZ = abs(placed.xz) + abs(placed.yz) + abs(placed.zz);
}

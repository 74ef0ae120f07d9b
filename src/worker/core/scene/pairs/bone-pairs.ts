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
import { boxList, boxInList } from '../../shape/box-list';
import { Item, boxListOf, worldOf } from '../../shape/item';
import { PlacedShape, mapOf, setPlacedShape } from '../../shape/placed-shape';
import { Proxy, boundsOf } from '../../shape/proxy';
import { countHitBoxes, hasBones, hitBoxAt } from '../../skin/hit-boxes';
import { doesOneContainOther } from './containment';
import { shapesOverlap } from './overlap-tests';

/** The box of a bone in the world: the map from the cube, and its extents along the world's axes. */
@unmanaged
class PlacedBone {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  extentX: f64; extentY: f64; extentZ: f64;
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

const otherBounds = changetype<PlacedBone>(memory.data(<i32>offsetof<PlacedBone>(), 16));
const boneShape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const otherShape = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
let bonesA: usize = 0;
let bonesB: usize = 0;
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
  bonesA = placeBones(bonesA, itemA, b, 0);
  const countA = placedCount;
  bonesB = placeBones(bonesB, itemB, a, 0);
  const countB = placedCount;
  for (let i: u32 = 0; i < countA; i++) {
    const boneA = boneIn(bonesA, i);
    for (let j: u32 = 0; j < countB; j++) {
      const boneB = boneIn(bonesB, j);
      if (areNear(boneA, boneB, 0) && compareObbs(boneA.map(), boneB.map()) != APART) addBonePair(boneA.bone, boneB.bone);
    }
    checkpoint(countB);
  }
  return bonePairCount != 0;
}

/**
 * Does the same as `bonesMeet` if only one object has bones: `item`, which is the first object if `isFirst`. The other has this
 * proxy and shape.
 */
export function bonesMeetShape(item: Item, proxy: Proxy, shape: PlacedShape, isFirst: bool): bool {
  bonesA = placeBones(bonesA, item, proxy, 0);
  const count = placedCount;
  setBox(boneShape);
  for (let i: u32 = 0; i < count; i++) {
    const placed = boneIn(bonesA, i);
    copy(mapOf(boneShape), placed.map());
    checkpoint(1);
    if (!shapesOverlap(boneShape, shape, noWitness()) && !doesOneContainOther(boneShape, shape)) continue;
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
  if (isBonedA) bonesA = placeBones(bonesA, itemA, b, clearance);
  const countA = isBonedA ? placedCount : 1;
  if (isBonedB) bonesB = placeBones(bonesB, itemB, a, clearance);
  const countB = isBonedB ? placedCount : 1;
  if (!isBonedA) setPlacedShape(boneShape, itemA, precision);
  if (!isBonedB) setPlacedShape(otherShape, itemB, precision);
  for (let i: u32 = 0; i < countA; i++) {
    if (isBonedA) setBoneBox(boneShape, boneIn(bonesA, i));
    for (let j: u32 = 0; j < countB; j++) {
      if (isBonedB) setBoneBox(otherShape, boneIn(bonesB, j));
      checkpoint(1);
      if (isBonedA && isBonedB && !areNear(boneIn(bonesA, i), boneIn(bonesB, j), clearance)) continue;
      if (!distanceOfShapes(boneShape, otherShape, clearance)) continue;
      addBonePair(boneOf(bonesA, i, isBonedA), boneOf(bonesB, j, isBonedB));
    }
  }
  return bonePairCount != 0;
}

/** Returns the index of the bone of a list's entry; -1 if the object has no bones. */
// @ts-ignore: decorator
@inline
function boneOf(list: usize, i: u32, isBoned: bool): i32 {
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
    abs(a.tx - b.tx) <= (a.extentX + b.extentX + clearance) * SLACK &&
    abs(a.ty - b.ty) <= (a.extentY + b.extentY + clearance) * SLACK &&
    abs(a.tz - b.tz) <= (a.extentZ + b.extentZ + clearance) * SLACK
  );
}

/**
 * Places the bones of an object that may come this near to another one, by its bounds. Returns the list. Throws OUT_OF_MEMORY.
 */
function placeBones(list: usize, item: Item, other: Proxy, clearance: f64): usize {
  const mesh = changetype<Mesh>(<usize>item.mesh);
  const givenBoxes = boxListOf(item);
  const count = givenBoxes != 0 ? boxList(givenBoxes).count : countHitBoxes(mesh);
  boundsOf(other, otherBounds.map());
  otherBounds.xx *= SLACK; otherBounds.xy *= SLACK; otherBounds.xz *= SLACK;
  otherBounds.yx *= SLACK; otherBounds.yy *= SLACK; otherBounds.yz *= SLACK;
  otherBounds.zx *= SLACK; otherBounds.zy *= SLACK; otherBounds.zz *= SLACK;
  setExtents(otherBounds);
  const to = reserve(list, 0, <u64>max<u32>(count, 1) * PLACED_BONE_BYTES);
  placedCount = 0;
  for (let i: u32 = 0; i < count; i++) {
    const hitBox = givenBoxes != 0 ? boxInList(givenBoxes, i) : hitBoxAt(mesh, i), placed = boneIn(to, placedCount);
    multiply(placed.map(), worldOf(item), hitBox.map());
    setExtents(placed);
    if (!areNear(placed, otherBounds, clearance)) continue;
    if (clearance == 0 && compareObbs(otherBounds.map(), placed.map()) == APART) continue;
    placed.bone = <i32>hitBox.bone;
    placedCount++;
  }
  return to;
}

// @ts-ignore: decorator
@inline
function setExtents(placed: PlacedBone): void {
  placed.extentX = abs(placed.xx) + abs(placed.yx) + abs(placed.zx);
  placed.extentY = abs(placed.xy) + abs(placed.yy) + abs(placed.zy);
  placed.extentZ = abs(placed.xz) + abs(placed.yz) + abs(placed.zz);
}

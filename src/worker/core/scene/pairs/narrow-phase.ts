// Narrow phase: decides whether two shapes whose bounds overlap are in contact and which contains which, and finds the
// contact in as much detail as both objects want: separating axes of the bounds in float32, then in float64, then the
// shapes. It reads nothing of the scene, since it is also compiled into a module of its own (pair-module.ts). In the
// core itself it knows only the bounds of meshes, not their shapes.

import {
  CONTACTS_BONES, CONTACTS_BOUNDS, CONTACTS_MANIFOLD, CONTACTS_NONE, FLAG_STATIC, PRECISION_MESH, SHAPE_BOX,
  SHAPE_CAPSULE, SHAPE_MESH,
} from '../../../../shared/layout';
import { IS_INTERRUPTIBLE } from '../../checkpoint';
import { bestAxis } from '../../contact/box/sat-x4';
import { boxBoxContact } from '../../contact/box/box-box';
import { clearContact } from '../../contact/manifold/contact';
import { findContact, hasPoints } from '../../contact/manifold/dispatch';
import { Affine } from '../../math/affine';
import { APART, FIRST_INSIDE, OVERLAPPING, SECOND_INSIDE, compareObbs } from '../../math/obb-sat-f64';
import { UNSURE, compareObbsF32 } from '../../math/obb-sat-f32';
import { Mesh } from '../../mesh/tree/layout';
import { noWitness } from '../../mesh/query/mesh-pair';
import { bonesMeet, bonesMeetShape, isBoxed } from './bone-pairs';
import { axisOf, keepAxis } from './separating-axis-cache';
import { Proxy, boundsOf } from '../../shape/proxy';
import { fullyContained, partlyContained, doesOneContainOther } from './containment';
import { HULLS_DISJOINT, HULLS_OVERLAP, HULLS_UNSURE, compareHulls, haveHulls } from '../../contact/convex/hull-hull';
import { isInside } from './inside';
import { shapesOverlap } from './overlap-tests';
import { Item } from '../../shape/item';
import { PlacedShape, mapOf, setPlacedShape } from '../../shape/placed-shape';
import { refitPoseAndSums } from '../../skin/deform';
import { keepWitness, witnessOf } from './witness-cache';

export const NO_CONTACT: i32 = -1;

const boundsA = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const boundsB = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const shapeA = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const shapeB = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
let currentItemA: Item = changetype<Item>(0);
let currentItemB: Item = changetype<Item>(0);

/** Tests whether two objects may make a pair at all. */
// @ts-ignore: decorator
@inline
export function canCollide(a: Proxy, b: Proxy): bool {
  return (
    (a.layers & b.collidesWith) != 0 &&
    (b.layers & a.collidesWith) != 0 &&
    (a.group == 0 || a.group != b.group) &&
    !(a.flags & b.flags & <u8>FLAG_STATIC) &&
    a.contacts != CONTACTS_NONE &&
    b.contacts != CONTACTS_NONE
  );
}

/**
 * Returns NO_CONTACT, or which contains which: 0 neither, 1 a inside b, 2 b inside a. a has the lower id. Finds the
 * contact in as much detail as both want.
 */
export function collide(a: Proxy, b: Proxy, itemA: Item, itemB: Item): i32 {
  const boundsRelation = compareObbsF32(a.form(), b.form());
  if (boundsRelation == APART) return NO_CONTACT;
  clearContact();
  onlyPartlyContained = 0;
  currentItemA = itemA;
  currentItemB = itemB;
  const detail = <i32>min(a.contacts, b.contacts);
  if (IS_INTERRUPTIBLE && detail <= CONTACTS_BONES) {
    const isBoxedA = isBoxed(a, itemA, detail), isBoxedB = isBoxed(b, itemB, detail);
    if (isBoxedA || isBoxedB) return collideBoxes(a, b, isBoxedA, isBoxedB, detail) ? 0 : NO_CONTACT;
  }
  const contained = collideShapes(a, b, boundsRelation, detail);
  if (contained == NO_CONTACT || detail < CONTACTS_MANIFOLD) return contained;
  if (boundsRelation == OVERLAPPING && areBoxes(a, b)) {
    if (!hasPoints(detail)) return contained;
    if (boxBoxContact(a, b, bestAxis(changetype<usize>(a), changetype<usize>(b)))) return contained;
  }
  setExactShape(shapeA, a, currentItemA);
  setExactShape(shapeB, b, currentItemB);
  // The orientation of the surfaces is part of their contact.
  if (shapeA.shape == SHAPE_MESH) refitPoseAndSums(changetype<Mesh>(shapeA.mesh));
  if (shapeB.shape == SHAPE_MESH) refitPoseAndSums(changetype<Mesh>(shapeB.mesh));
  findContact(shapeA, shapeB, onlyPartlyContained == 0 ? contained : onlyPartlyContained, detail);
  return contained;
}

/** Finds which bones or given boxes meet, if at least one of the objects has some. Returns whether any do. */
function collideBoxes(a: Proxy, b: Proxy, isBoxedA: bool, isBoxedB: bool, detail: i32): bool {
  if (isBoxedA && isBoxedB) return bonesMeet(a, currentItemA, b, currentItemB);
  if (isBoxedA) {
    setShapeOrBounds(shapeB, b, currentItemB, detail);
    return bonesMeetShape(currentItemA, b, shapeB, true);
  }
  setShapeOrBounds(shapeA, a, currentItemA, detail);
  return bonesMeetShape(currentItemB, a, shapeA, false);
}

/** Sets the shape that represents an object without boxes: its own, or its bounds for detail 'bounds'. */
function setShapeOrBounds(out: PlacedShape, proxy: Proxy, item: Item, detail: i32): void {
  if (detail != CONTACTS_BOUNDS) {
    setExactShape(out, proxy, item);
    return;
  }
  boundsOf(proxy, mapOf(out));
  out.shape = <u16>SHAPE_BOX;
  out.filled = 0;
  out.half = 0;
  out.mesh = 0;
}

// @ts-ignore: decorator
@inline
export function areBoxes(a: Proxy, b: Proxy): bool {
  return a.shape == SHAPE_BOX && b.shape == SHAPE_BOX;
}

/** Which object has parts inside the other while neither is inside as a whole; the contact is found as if it were. */
let onlyPartlyContained: i32 = 0;

function collideShapes(a: Proxy, b: Proxy, knownRelation: u32, detail: i32): i32 {
  const areBothBoxes = areBoxes(a, b);
  if (knownRelation == OVERLAPPING && areBothBoxes) return 0;
  const boundsRelation = knownRelation == UNSURE ? compareObbs(boundsOf(a, boundsA), boundsOf(b, boundsB)) : knownRelation;
  if (detail == CONTACTS_BOUNDS) return boundsRelation == APART ? NO_CONTACT : 0;
  if (areBothBoxes) {
    return boundsRelation == APART ? NO_CONTACT : boundsRelation == FIRST_INSIDE ? 1 : boundsRelation == SECOND_INSIDE ? 2 : 0;
  }
  // The bounds of other shapes decide nothing if they are apart by no more than rounding: the shapes may touch. A shape
  // whose bounds are in a box is in that box.
  if (b.shape == SHAPE_BOX && boundsRelation == FIRST_INSIDE) return 1;
  if (a.shape == SHAPE_BOX && boundsRelation == SECOND_INSIDE) return 2;
  return collideExactShapes(a, b);
}

/** Does the same as `collideShapes`, by the shapes themselves instead of their bounds. */
function collideExactShapes(a: Proxy, b: Proxy): i32 {
  setExactShape(shapeA, a, currentItemA);
  setExactShape(shapeB, b, currentItemB);
  if (!IS_INTERRUPTIBLE) {
    if (!shapesOverlap(shapeA, shapeB, noWitness())) return NO_CONTACT;
  } else if (!doShapesMeet(a, b)) {
    if (areSeparated || !doesOneContainOther(shapeA, shapeB)) return NO_CONTACT;
    if (fullyContained == 0) onlyPartlyContained = partlyContained;
    return fullyContained;
  }
  return isInside(shapeA, shapeB) ? 1 : isInside(shapeB, shapeA) ? 2 : 0;
}

/** Whether a plane is known to separate two shapes that do not meet, so that neither contains the other. */
let areSeparated: bool = false;

function doShapesMeet(a: Proxy, b: Proxy): bool {
  areSeparated = false;
  if (a.shape != SHAPE_MESH || b.shape != SHAPE_MESH) return shapesOverlap(shapeA, shapeB, noWitness());
  if (haveHulls(changetype<Mesh>(shapeA.mesh), changetype<Mesh>(shapeB.mesh))) {
    const axis = axisOf(a.id, b.id);
    const hulls = compareHulls(shapeA, shapeB, axis);
    areSeparated = hulls == HULLS_DISJOINT;
    if (areSeparated) keepAxis(a.id, b.id, axis);
    if (hulls != HULLS_UNSURE) return hulls == HULLS_OVERLAP;
  }
  const witness = witnessOf(a.id, b.id);
  if (!shapesOverlap(shapeA, shapeB, witness)) return false;
  keepWitness(a.id, b.id, witness);
  return true;
}

/**
 * Sets the object's own shape. The proxy describes a sphere or a box completely, so that nothing far away in memory is
 * read.
 */
function setExactShape(out: PlacedShape, proxy: Proxy, item: Item): void {
  if (proxy.shape == SHAPE_MESH || proxy.shape == SHAPE_CAPSULE) {
    setPlacedShape(out, item, PRECISION_MESH);
    return;
  }
  boundsOf(proxy, mapOf(out));
  out.shape = proxy.shape;
  out.filled = 0;
  out.half = 0;
}

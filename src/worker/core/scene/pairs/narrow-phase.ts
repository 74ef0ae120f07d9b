// Narrow phase: what two shapes whose bounds overlap really do.

import {
  CONTACTS_BOUNDS, CONTACTS_MANIFOLD, CONTACTS_NONE, FLAG_STATIC, PRECISION_MESH, SHAPE_BOX, SHAPE_CAPSULE, SHAPE_MESH,
} from '../../../../shared/layout';
import { bestAxis } from '../../contact/box/sat-x4';
import { boxContact } from '../../contact/box/box-box';
import { clearContact } from '../../contact/manifold/contact';
import { findManifold } from '../../contact/manifold/dispatch';
import { Affine } from '../../math/affine';
import { APART, FIRST_INSIDE, OVERLAPPING, SECOND_INSIDE, compareBoxes } from '../../math/obb-sat-f64';
import { UNSURE, compareForms } from '../../math/obb-sat-f32';
import { Mesh } from '../../mesh/tree/layout';
import { noWitness } from '../../mesh/query/mesh-pair';
import { axisOf, keepAxis } from './separating-axis-cache';
import { Candidate, boundsOf } from '../../shape/proxy';
import { held, holding, oneHoldsOther } from './containment';
import { HULLS_APART, HULLS_MEET, HULLS_UNSURE, compareHulls, haveHulls } from '../../contact/convex/hull-hull';
import { isInside } from './inside';
import { solidsMeet } from './overlap-tests';
import { slotOf } from '../objects';
import { Solid, mapOf, solidAt } from '../../shape/placed-shape';
import { keepWitness, witnessOf } from './witness-cache';

export const NO_CONTACT: i32 = -1;

const first = changetype<Affine>(memory.data(96, 16));
const second = changetype<Affine>(memory.data(96, 16));
const solidA = changetype<Solid>(memory.data(112, 16)); // SOLID_BYTES
const solidB = changetype<Solid>(memory.data(112, 16));

/** Whether the two may make a pair at all. */
// @ts-ignore: decorator
@inline
export function canCollide(a: Candidate, b: Candidate): bool {
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
 * NO_CONTACT, or which contains which: 0 neither, 1 a inside b, 2 b inside a. a has the lower id. The contact has as
 * much detail as both want.
 */
export function collide(a: Candidate, b: Candidate): i32 {
  const boxes = compareForms(a.form(), b.form());
  if (boxes == APART) return NO_CONTACT;
  clearContact();
  partly = 0;
  const detail = <i32>min(a.contacts, b.contacts);
  const contained = collideShapes(a, b, boxes, detail);
  if (contained == NO_CONTACT || detail < CONTACTS_MANIFOLD) return contained;
  if (boxes == OVERLAPPING && areBoxes(a, b) && boxContact(a, b, bestAxis(changetype<usize>(a), changetype<usize>(b)))) {
    return contained;
  }
  setSolid(solidA, a);
  setSolid(solidB, b);
  findManifold(solidA, solidB, partly == 0 ? contained : partly, detail);
  return contained;
}

// @ts-ignore: decorator
@inline
export function areBoxes(a: Candidate, b: Candidate): bool {
  return a.shape == SHAPE_BOX && b.shape == SHAPE_BOX;
}

/** Which has parts inside the other while none of the two is inside as a whole; what they say of it is as if it were. */
let partly: i32 = 0;

function collideShapes(a: Candidate, b: Candidate, known: u32, detail: i32): i32 {
  const onlyBoxes = areBoxes(a, b);
  if (known == OVERLAPPING && onlyBoxes) return 0;
  const boxes = known == UNSURE ? compareBoxes(boundsOf(a, first), boundsOf(b, second)) : known;
  if (detail == CONTACTS_BOUNDS) return boxes == APART ? NO_CONTACT : 0;
  if (onlyBoxes) {
    return boxes == APART ? NO_CONTACT : boxes == FIRST_INSIDE ? 1 : boxes == SECOND_INSIDE ? 2 : 0;
  }
  // Of other shapes, bounds that are apart by no more than rounding say nothing: they may touch. What has its bounds in
  // a box is in it.
  if (b.shape == SHAPE_BOX && boxes == FIRST_INSIDE) return 1;
  if (a.shape == SHAPE_BOX && boxes == SECOND_INSIDE) return 2;
  setSolid(solidA, a);
  setSolid(solidB, b);
  if (!shapesMeet(a, b)) {
    if (areParted || !oneHoldsOther(solidA, solidB)) return NO_CONTACT;
    if (held == 0) partly = holding;
    return held;
  }
  return isInside(solidA, solidB) ? 1 : isInside(solidB, solidA) ? 2 : 0;
}

/** Whether a plane is between two that do not meet, so that none holds the other. */
let areParted: bool = false;

function shapesMeet(a: Candidate, b: Candidate): bool {
  areParted = false;
  if (a.shape != SHAPE_MESH || b.shape != SHAPE_MESH) return solidsMeet(solidA, solidB, noWitness());
  if (haveHulls(changetype<Mesh>(solidA.mesh), changetype<Mesh>(solidB.mesh))) {
    const axis = axisOf(a.id, b.id);
    const hulls = compareHulls(solidA, solidB, axis);
    areParted = hulls == HULLS_APART;
    if (areParted) keepAxis(a.id, b.id, axis);
    if (hulls != HULLS_UNSURE) return hulls == HULLS_MEET;
  }
  const witness = witnessOf(a.id, b.id);
  if (!solidsMeet(solidA, solidB, witness)) return false;
  keepWitness(a.id, b.id, witness);
  return true;
}

/** The object's own shape; of a sphere or a box the candidate knows all, so that nothing far away in memory is read. */
function setSolid(out: Solid, candidate: Candidate): void {
  if (candidate.shape == SHAPE_MESH || candidate.shape == SHAPE_CAPSULE) {
    solidAt(out, slotOf(candidate.id), PRECISION_MESH);
    return;
  }
  boundsOf(candidate, mapOf(out));
  out.shape = candidate.shape;
  out.filled = 0;
  out.half = 0;
}

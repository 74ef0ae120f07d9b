// Narrow phase: what two shapes whose bounds overlap really do.

import { CONTACTS_BOUNDS, CONTACTS_NONE, FLAG_STATIC, SHAPE_BOX, SHAPE_MESH } from '../../../shared/layout';
import { Affine, invert, multiply } from '../math/affine';
import { APART, FIRST_INSIDE, OVERLAPPING, SECOND_INSIDE, compareBoxes } from '../math/boxes';
import { UNSURE, compareForms } from '../math/boxes32';
import { Mesh } from '../mesh/layout';
import { intersectMeshes, meshInsideCube, meshMeetsCube } from '../mesh/pair';
import { Candidate, boundsOf } from './candidate';
import { itemAt, slotOf, worldOf } from './objects';

export const NO_CONTACT: i32 = -1;

const first = changetype<Affine>(memory.data(96, 16));
const second = changetype<Affine>(memory.data(96, 16));
const inverse = changetype<Affine>(memory.data(96, 16));
const near = changetype<Affine>(memory.data(96, 16));
const map = changetype<Affine>(memory.data(96, 16));

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

/** NO_CONTACT, or which contains which: 0 neither, 1 a inside b, 2 b inside a. a has the lower id. */
export function collide(a: Candidate, b: Candidate): i32 {
  const boxes = compareForms(a.form(), b.form());
  if (boxes == APART) return NO_CONTACT;
  const onlyBoxes = a.shape == SHAPE_BOX && b.shape == SHAPE_BOX;
  if (boxes == OVERLAPPING && onlyBoxes) return 0;
  return collideShapes(a, b, boxes);
}

function collideShapes(a: Candidate, b: Candidate, known: u32): i32 {
  const boxes = known == UNSURE ? compareBoxes(boundsOf(a, first), boundsOf(b, second)) : known;
  if (min(a.contacts, b.contacts) == CONTACTS_BOUNDS) return boxes == APART ? NO_CONTACT : 0;
  if (a.shape == SHAPE_BOX && b.shape == SHAPE_BOX) {
    return boxes == APART ? NO_CONTACT : boxes == FIRST_INSIDE ? 1 : boxes == SECOND_INSIDE ? 2 : 0;
  }
  // Of meshes, bounds that are apart by no more than rounding say nothing: they may touch.
  // A mesh whose bounds are in a box is in it.
  if (b.shape == SHAPE_BOX && boxes == FIRST_INSIDE) return 1;
  if (a.shape == SHAPE_BOX && boxes == SECOND_INSIDE) return 2;
  if (a.shape == SHAPE_MESH && b.shape == SHAPE_MESH) {
    const one = itemAt(slotOf(a.id)), other = itemAt(slotOf(b.id));
    between(worldOf(one), worldOf(other));
    return intersectMeshes(changetype<Mesh>(one.mesh), changetype<Mesh>(other.mesh), map, false) ? 0 : NO_CONTACT;
  }
  const box = a.shape == SHAPE_BOX ? a : b;
  const other = itemAt(slotOf(a.shape == SHAPE_BOX ? b.id : a.id));
  const mesh = changetype<Mesh>(other.mesh);
  between(boundsOf(box, first), worldOf(other));
  if (!meshMeetsCube(mesh, map)) return NO_CONTACT;
  return meshInsideCube(mesh, map) ? (other.id == a.id ? 1 : 2) : 0;
}

/** map = a⁻¹ · b, the places subtracted first, so that far from the origin no digits are lost. */
function between(a: Affine, b: Affine): void {
  memory.copy(changetype<usize>(near), changetype<usize>(b), 96);
  near.tx = b.tx - a.tx;
  near.ty = b.ty - a.ty;
  near.tz = b.tz - a.tz;
  invert(inverse, a);
  inverse.tx = 0;
  inverse.ty = 0;
  inverse.tz = 0;
  multiply(map, inverse, near);
}

// Whether one of two holds the other, or parts of it, when their surfaces do not meet: of filled meshes, as what has a
// surface inside of another shape meets that (meet.ts).

import { SHAPE_MESH } from '../../../../shared/layout';
import { Affine, relate, setIdentity } from '../../math/affine';
import { isAroundPoint } from '../../mesh/query/ray-parity';
import { Mesh, treeScale } from '../../mesh/tree/layout';
import { map as trees, setMap } from '../../mesh/query/tree-tree';
import { partAt, partCount } from '../../mesh/topology/connected-parts';
import { Solid, mapOf } from '../../shape/placed-shape';

const map = changetype<Affine>(memory.data(96, 16));
const identity = changetype<Affine>(memory.data(96, 16));
setIdentity(identity);

/** Which is inside the other as a whole: 1 the first, 2 the second; 0 neither. */
export let held: i32 = 0;
/** Which has parts inside the other at least: `held` is 0 for two of which some parts are inside and some are not. */
export let holding: i32 = 0;

/** Whether a part of one is inside the other, where their surfaces do not meet. May throw OUT_OF_MEMORY. */
export function oneHoldsOther(a: Solid, b: Solid): bool {
  if (!isFilled(a) && !isFilled(b)) return false;
  if (a.shape != SHAPE_MESH) return holdsMiddle(b, a, 1);
  if (b.shape != SHAPE_MESH) return holdsMiddle(a, b, 2);
  return meshesHold(a, b);
}

// @ts-ignore: decorator
@inline
function isFilled(solid: Solid): bool {
  return solid.shape == SHAPE_MESH && solid.filled != 0;
}

/** All of a shape is on one side of the surface of a mesh that it does not meet. */
function holdsMiddle(outer: Solid, inner: Solid, which: i32): bool {
  held = holding = which;
  relate(map, mapOf(outer), mapOf(inner));
  const mesh = changetype<Mesh>(outer.mesh);
  const scale = treeScale(mesh);
  const x = (map.tx - mesh.offsetX) * scale, y = (map.ty - mesh.offsetY) * scale, z = (map.tz - mesh.offsetZ) * scale;
  return isAroundPoint(mesh, identity, x, y, z);
}

/**
 * Part by part, in the space in which it was decided that the surfaces do not meet. A mesh is inside if all its parts
 * are and it has no part of the other inside: that would be the wall of a hole in the other.
 */
function meshesHold(a: Solid, b: Solid): bool {
  const first = changetype<Mesh>(a.mesh), second = changetype<Mesh>(b.mesh);
  relate(map, mapOf(a), mapOf(b));
  setMap(map, second, treeScale(first), first.offsetX, first.offsetY, first.offsetZ);
  const ofFirst = isFilled(b) ? partsAround(first, second) : 0;
  const ofSecond = isFilled(a) ? partsWithin(first, second) : 0;
  const isFirstIn = ofFirst > 0 && ofSecond == 0 && ofFirst == partCount(first);
  const isSecondIn = ofSecond > 0 && ofFirst == 0 && ofSecond == partCount(second);
  held = isFirstIn ? 1 : isSecondIn ? 2 : 0;
  holding = ofFirst > 0 ? 1 : 2;
  return ofFirst + ofSecond > 0;
}

/** How many parts of the first mesh have the second around them. */
function partsAround(first: Mesh, second: Mesh): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0, n = partCount(first); i < n; i++) {
    const part = partAt(first, i);
    if (isAroundPoint(second, trees, <f64>part.x, <f64>part.y, <f64>part.z)) count++;
  }
  return count;
}

/** How many parts of the second mesh are within the first. */
function partsWithin(first: Mesh, second: Mesh): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0, n = partCount(second); i < n; i++) {
    const part = partAt(second, i);
    const x = <f64>part.x, y = <f64>part.y, z = <f64>part.z;
    const u = trees.xx * x + trees.yx * y + trees.zx * z + trees.tx;
    const v = trees.xy * x + trees.yy * y + trees.zy * z + trees.ty;
    const w = trees.xz * x + trees.yz * y + trees.zz * z + trees.tz;
    if (isAroundPoint(first, identity, u, v, w)) count++;
  }
  return count;
}

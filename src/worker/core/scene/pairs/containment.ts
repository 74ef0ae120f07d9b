// Finds whether one of two shapes contains the other, or connected parts of it, when their surfaces do not meet. Only
// solid meshes are tested, by ray parity: all other shapes overlap a surface inside of them (overlap-tests.ts).

import { SHAPE_MESH } from '../../../../shared/layout';
import { Affine, setRelative, setIdentity } from '../../math/affine';
import { isInsideClosedMesh } from '../../mesh/query/ray-parity';
import { Mesh, composeTreeMap, treeScale } from '../../mesh/tree/layout';
import { mapBToA as trees, setMap } from '../../mesh/query/tree-tree';
import { partCorner, partCount } from '../../mesh/topology/derived';
import { PlacedShape, mapOf } from '../../shape/placed-shape';

const map = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const identity = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
setIdentity(identity);

/** Which of the two is inside the other as a whole: 1 the first, 2 the second; 0 neither. */
export let fullyContained: i32 = 0;
/** The one with at least parts inside the other: `fullyContained` is 0 if only some of its parts are inside. */
export let partlyContained: i32 = 0;
/** A point of the contained part, in the world. */
export let insideX: f64 = 0, insideY: f64 = 0, insideZ: f64 = 0;

/**
 * Tests whether a part of one shape is inside the other, given that their surfaces do not meet. May throw
 * OUT_OF_MEMORY.
 */
export function doesOneContainOther(a: PlacedShape, b: PlacedShape): bool {
  if (!isFilled(a) && !isFilled(b)) return false;
  if (a.shape != SHAPE_MESH) return containsCentre(b, a, 1);
  if (b.shape != SHAPE_MESH) return containsCentre(a, b, 2);
  return doMeshesContain(a, b);
}

// @ts-ignore: decorator
@inline
function isFilled(shape: PlacedShape): bool {
  return shape.shape == SHAPE_MESH && shape.filled != 0;
}

/** Tests one point of a shape, since all of it is on one side of the surface of a mesh that it does not meet. */
function containsCentre(outer: PlacedShape, inner: PlacedShape, innerIndex: i32): bool {
  fullyContained = partlyContained = innerIndex;
  insideX = inner.tx; insideY = inner.ty; insideZ = inner.tz;
  setRelative(map, mapOf(outer), mapOf(inner));
  const mesh = changetype<Mesh>(outer.mesh);
  const scale = treeScale(mesh);
  const x = (map.tx - mesh.offsetX) * scale, y = (map.ty - mesh.offsetY) * scale, z = (map.tz - mesh.offsetZ) * scale;
  return isInsideClosedMesh(mesh, identity, x, y, z);
}

/**
 * Tests two meshes part by part, in the space in which it was decided that the surfaces do not meet. A mesh is inside
 * if all its parts are and no part of the other is inside it: such a part would be the wall of a hole in the other.
 */
function doMeshesContain(a: PlacedShape, b: PlacedShape): bool {
  const first = changetype<Mesh>(a.mesh), second = changetype<Mesh>(b.mesh);
  setRelative(map, mapOf(a), mapOf(b));
  setMap(map, second, treeScale(first), first.offsetX, first.offsetY, first.offsetZ);
  const firstPartCount = isFilled(b) ? countFirstInSecond(first, second) : 0;
  const secondPartCount = isFilled(a) ? countSecondInFirst(first, second) : 0;
  const isFirstIn = firstPartCount > 0 && secondPartCount == 0 && firstPartCount == partCount(first);
  const isSecondIn = secondPartCount > 0 && firstPartCount == 0 && secondPartCount == partCount(second);
  fullyContained = isFirstIn ? 1 : isSecondIn ? 2 : 0;
  partlyContained = firstPartCount > 0 ? 1 : 2;
  if (firstPartCount + secondPartCount == 0) return false;
  composeTreeMap(map, first, mapOf(a));
  const x = insideX, y = insideY, z = insideZ;
  insideX = map.xx * x + map.yx * y + map.zx * z + map.tx;
  insideY = map.xy * x + map.yy * y + map.zy * z + map.ty;
  insideZ = map.xz * x + map.yz * y + map.zz * z + map.tz;
  return true;
}

/** Counts a part that is inside, and keeps its corner, in tree space of the first mesh. */
function countPart(x: f64, y: f64, z: f64): u32 {
  insideX = x; insideY = y; insideZ = z;
  return 1;
}

/** Counts the parts of the first mesh that are inside the second. */
function countFirstInSecond(first: Mesh, second: Mesh): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0, n = partCount(first); i < n; i++) {
    const at = partCorner(first, i);
    const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
    if (isInsideClosedMesh(second, trees, x, y, z)) count += countPart(x, y, z);
  }
  return count;
}

/** Counts the parts of the second mesh that are inside the first. */
function countSecondInFirst(first: Mesh, second: Mesh): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0, n = partCount(second); i < n; i++) {
    const at = partCorner(second, i);
    const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
    const u = trees.xx * x + trees.yx * y + trees.zx * z + trees.tx;
    const v = trees.xy * x + trees.yy * y + trees.zy * z + trees.ty;
    const w = trees.xz * x + trees.yz * y + trees.zz * z + trees.tz;
    if (isInsideClosedMesh(first, identity, u, v, w)) count += countPart(u, v, w);
  }
  return count;
}

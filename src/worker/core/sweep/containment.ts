// Containment in a solid mesh at the start of a sweep, when the surfaces do not intersect.

import { SHAPE_MESH } from '../../../shared/layout';
import { Support, findSupportPoint, supportX, supportY, supportZ } from '../contact/convex/support';
import { Affine, copy, invert } from '../math/affine';
import { spectralNorm } from '../math/spectral-norm';
import { closestDistance, closestOnMesh, closestTriangle, closestX, closestY, closestZ } from '../mesh/query/closest-point';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { isInsideByWinding } from '../mesh/query/winding-number';
import { Mesh } from '../mesh/tree/layout';
import { PlacedShape, mapOf } from '../shape/placed-shape';
import { recordOverlap, setContactPoint } from './meeting';
import { TRIANGLE_BYTES } from '../sizes';

const inverse = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const centeredMap = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const corners: usize = memory.data(TRIANGLE_BYTES, 16);

/**
 * Finds whether a shape is inside of a solid mesh, whose surface it does not intersect; `map` places the mesh relative to
 * the common origin. The inner shape is given by its body or, if it is a mesh, by its map from tree space. `isObject`
 * tells whether the solid mesh is the object or the swept shape. The way out leads to the closest point of the surface,
 * and on until all of the inner shape has left. Throws OUT_OF_MEMORY.
 */
export function findContained(
  mesh: Mesh, map: Affine, inner: PlacedShape, body: Support, innerTreeToWorld: Affine, isObject: bool,
): void {
  let x = body.x, y = body.y, z = body.z;
  if (inner.shape == SHAPE_MESH) {
    const innerMesh = changetype<Mesh>(<usize>inner.mesh);
    if (innerMesh.keptCount == 0) return;
    mapTriangle(corners, changetype<usize>(innerMesh) + innerMesh.blocks, innerTreeToWorld);
    x = load<f64>(corners); y = load<f64>(corners, 8); z = load<f64>(corners, 16);
  }
  invert(inverse, map);
  const m = inverse;
  const u = m.xx * x + m.yx * y + m.zx * z + m.tx, v = m.xy * x + m.yy * y + m.zy * z + m.ty;
  const w = m.xz * x + m.yz * y + m.zz * z + m.tz;
  if (!(u >= mesh.minX && u <= mesh.maxX && v >= mesh.minY && v <= mesh.maxY && w >= mesh.minZ && w <= mesh.maxZ)) return;
  if (!isInsideByWinding(mesh, u, v, w, 0)) return;
  copy(centeredMap, map);
  centeredMap.tx -= x;
  centeredMap.ty -= y;
  centeredMap.tz -= z;
  if (!closestOnMesh(mesh, centeredMap, Infinity, false)) return;
  let nx = closestX, ny = closestY, nz = closestZ;
  const distance = closestDistance;
  if (distance > 0) {
    nx /= distance; ny /= distance; nz /= distance;
  } else nz = 1;
  let extent: f64 = 0;
  if (inner.shape == SHAPE_MESH) extent = 2.0 * changetype<Mesh>(<usize>inner.mesh).radius * spectralNorm(mapOf(inner));
  else {
    findSupportPoint(body, -nx, -ny, -nz, false);
    extent = -(nx * (supportX - x) + ny * (supportY - y) + nz * (supportZ - z));
  }
  const sign: f64 = isObject ? 1 : -1;
  recordOverlap(distance + extent, sign * nx, sign * ny, sign * nz, isObject ? closestTriangle : -1);
  setContactPoint(x + closestX, y + closestY, z + closestZ);
}

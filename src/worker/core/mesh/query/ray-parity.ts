// Decides exactly whether a closed mesh contains a point that is not on it: by how often a ray from the point along x
// leaves the mesh, minus how often it enters, which is its winding number. In projection along x, a triangle contains
// the point depending on whether its edges pass left or right of it (Sunday, "Inclusion of a Point in a Polygon", 2001;
// an edge through the point belongs to one side, the same for all triangles that share it), and orientations are exact
// (math/predicates.ts). So the result applies to the same coordinates by which surfaces are tested for intersection
// (mesh-pair.ts): no rounding moves a point through a surface that it does not touch, however near it is.

import { Affine } from '../../math/affine';
import { orient2d, orient3d } from '../../math/predicates';
import { Triangle } from '../../math/triangles';
import {
  LEAF, MAX_STACK_ENTRIES, Mesh, NODE_BYTES, Node, blockAt, childOf, nodeAt, setUnitNode, treeScale, triangleOf,
} from '../tree/layout';
import { Relation, obbOverlap4x4, setRelation } from './obb-sat-4x4';
import { WORD_BYTES } from '../../sizes';

let pointX: f64 = 0, pointY: f64 = 0, pointZ: f64 = 0;
const triangle = changetype<Triangle>(memory.data(<i32>offsetof<Triangle>(), 16));

/** The ray as a box, [-1, 1]³ in a space of its own; and the map from tree space to that space. */
const ray = changetype<Node>(memory.data(<i32>offsetof<Node>(), 64));
setUnitNode(ray);
const relation = changetype<Relation>(memory.data(<i32>offsetof<Relation>(), 16));
const toRay = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
/**
 * The thickness of the box, relative to the size of the mesh: it keeps the ray in its centre far from rounding at its
 * sides.
 */
const THICKNESS: f64 = 0.0009765625; // 2^-10

const stack: usize = memory.data(MAX_STACK_ENTRIES * WORD_BYTES, 16);

/**
 * Returns whether the mesh winds around the point, in either direction. The point is in the space to which `m` maps tree
 * space.
 */
export function isInsideClosedMesh(mesh: Mesh, m: Affine, x: f64, y: f64, z: f64): bool {
  return windingOfClosedMesh(mesh, m, x, y, z) != 0;
}

/**
 * Returns how often the mesh winds around the point, given as in `isInsideClosedMesh`; positive if the faces point
 * outwards.
 */
export function windingOfClosedMesh(mesh: Mesh, m: Affine, x: f64, y: f64, z: f64): i32 {
  pointX = x;
  pointY = y;
  pointZ = z;
  if (!setRay(mesh, m)) return 0;
  let winding = 0;
  let top = stack + 4;
  store<u32>(stack, 0);
  while (top != stack) {
    top -= 4;
    const node = nodeAt(mesh, load<u32>(top));
    for (let bits = obbOverlap4x4(relation, ray, node, 1, 15); bits != 0; bits &= bits - 1) {
      const child = childOf(node, ctz(bits));
      if (child & LEAF) {
        for (let lane = 0; lane < 4; lane++) {
          if (triangleOf(blockAt(mesh, child), lane) >= 0) {
            winding += triangleWinding(changetype<usize>(blockAt(mesh, child)) + (<usize>lane << 2), m);
          }
        }
      } else {
        store<u32>(top, child);
        top += 4;
      }
    }
  }
  return winding;
}

/** Sets the ray's box. Returns false if the point is beyond the mesh's bounds. */
function setRay(mesh: Mesh, m: Affine): bool {
  const scale = treeScale(mesh);
  const minX = (mesh.minX - mesh.offsetX) * scale, maxX = (mesh.maxX - mesh.offsetX) * scale;
  const minY = (mesh.minY - mesh.offsetY) * scale, maxY = (mesh.maxY - mesh.offsetY) * scale;
  const minZ = (mesh.minZ - mesh.offsetZ) * scale, maxZ = (mesh.maxZ - mesh.offsetZ) * scale;
  const u = 0.5 * (minX + maxX), v = 0.5 * (minY + maxY), w = 0.5 * (minZ + maxZ);
  const hu = 0.5 * (maxX - minX), hv = 0.5 * (maxY - minY), hw = 0.5 * (maxZ - minZ);
  const x = m.xx * u + m.yx * v + m.zx * w + m.tx - pointX;
  const y = m.xy * u + m.yy * v + m.zy * w + m.ty - pointY;
  const z = m.xz * u + m.yz * v + m.zz * w + m.tz - pointZ;
  const hx = abs(m.xx) * hu + abs(m.yx) * hv + abs(m.zx) * hw;
  const hy = abs(m.xy) * hu + abs(m.yy) * hv + abs(m.zy) * hw;
  const hz = abs(m.xz) * hu + abs(m.yz) * hv + abs(m.zz) * hw;
  const thickness = max(max(hx, hy), hz) * THICKNESS;
  if (abs(x) > hx + thickness || abs(y) > hy + thickness || abs(z) > hz + thickness) return false;
  const end = x + hx + thickness;
  const scaleX = 2.0 / (end + thickness), scaleAcross = 1.0 / thickness;
  const centerX = pointX + 0.5 * (end - thickness);
  const r = toRay;
  r.xx = m.xx * scaleX; r.xy = m.xy * scaleAcross; r.xz = m.xz * scaleAcross;
  r.yx = m.yx * scaleX; r.yy = m.yy * scaleAcross; r.yz = m.yz * scaleAcross;
  r.zx = m.zx * scaleX; r.zy = m.zy * scaleAcross; r.zz = m.zz * scaleAcross;
  r.tx = (m.tx - centerX) * scaleX;
  r.ty = (m.ty - pointY) * scaleAcross;
  r.tz = (m.tz - pointZ) * scaleAcross;
  setRelation(relation, r);
  return true;
}

/** Returns 1 if the ray leaves through the triangle, -1 if it enters, 0 if it misses. */
function triangleWinding(at: usize, m: Affine): i32 {
  const t = triangle;
  for (let k: usize = 0; k < 3; k++) {
    const from = at + k * 48, to = changetype<usize>(t) + k * 24;
    const x = <f64>load<f32>(from), y = <f64>load<f32>(from, 16), z = <f64>load<f32>(from, 32);
    store<f64>(to, m.xx * x + m.yx * y + m.zx * z + m.tx);
    store<f64>(to, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
    store<f64>(to, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
  }
  if (t.ax < pointX && t.bx < pointX && t.cx < pointX) return 0;
  const turns = edgeWinding(t.ay, t.az, t.by, t.bz) + edgeWinding(t.by, t.bz, t.cy, t.cz) + edgeWinding(t.cy, t.cz, t.ay, t.az);
  if (turns == 0 || (t.ax > pointX && t.bx > pointX && t.cx > pointX)) return turns;
  const side = orient3d(t.ax, t.ay, t.az, t.bx, t.by, t.bz, t.cx, t.cy, t.cz, pointX, pointY, pointZ);
  return side * <f64>turns > 0 ? turns : 0;
}

/** Returns an edge's contribution to how often its triangle winds around the point, in y and z. */
// @ts-ignore: decorator
@inline
function edgeWinding(fromY: f64, fromZ: f64, toY: f64, toZ: f64): i32 {
  const isRising = fromY <= pointY;
  if (isRising == (toY <= pointY)) return 0;
  const side = orient2d(fromY, fromZ, toY, toZ, pointY, pointZ);
  return isRising ? i32(side > 0) : -i32(side < 0);
}

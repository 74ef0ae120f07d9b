// The shape that stands for an object in a query, according to the query's precision: its own shape or one of its
// bounds. Each shape has a space of its own in which it is as simple as possible, and a map from there to the world:
// any affine one, so that a sphere may be an ellipsoid in the world, and a box a parallelepiped.

import {
  FLAG_SOLID, OBJECT_FLAGS, OBJECT_MATRIX, OBJECT_SHAPE, PRECISION_AABB, PRECISION_MESH, PRECISION_OBB, SHAPE_BOX, SHAPE_CAPSULE,
  SHAPE_MESH, SHAPE_POINT_LINE, SHAPE_SPHERE,
} from '../../../shared/layout';
import { Affine, copy, multiply, setIdentity } from '../math/affine';
import { Mesh } from '../mesh/tree/layout';
import { spectralNorm } from '../math/spectral-norm';
import { refitPose, refitPoseAndSums } from '../skin/deform';
import { BoxList, boxList } from './box-list';
import { Item, Primitive, boxListOf, describeShape, halfOf, localOf, setOrientedBounds, worldOf } from './item';

/** A mesh, the unit sphere, the cube [-1, 1]³ or a capsule of radius 1 about the z axis, under a map to the world. */
@unmanaged
export class PlacedShape {
  xx: f64; xy: f64; xz: f64;
  yx: f64; yy: f64; yz: f64;
  zx: f64; zy: f64; zz: f64;
  tx: f64; ty: f64; tz: f64;
  /** Half of a capsule's segment, which is from -half to half. */
  half: f64;
  /** The kind of shape: SHAPE_*. */
  shape: u16;
  /** 1 for a mesh whose interior belongs to it. */
  filled: u16;
  mesh: u32;
}

export const PLACED_SHAPE_BYTES: usize = offsetof<PlacedShape>();

// @ts-ignore: decorator
@inline
export function mapOf(shape: PlacedShape): Affine {
  return changetype<Affine>(changetype<usize>(shape));
}

/** Copies a shape with vector instructions, because memory.copy is a call. */
export function copyShape(to: PlacedShape, from: PlacedShape): void {
  for (let i: usize = 0; i < PLACED_SHAPE_BYTES; i += 16) {
    v128.store(changetype<usize>(to) + i, v128.load(changetype<usize>(from) + i));
  }
}

const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const describedItem = changetype<Item>(memory.data(<i32>offsetof<Item>(), 16));
const describedPrimitive: usize = memory.data(<i32>offsetof<Primitive>(), 16);

/** Sets a shape that is not an object, from its description (layout.ts, OBJECT_*, with a matrix). */
export function setDescribedShape(out: PlacedShape, description: usize, precision: u32): void {
  readDescription(description);
  placeDescribedShape(out, description, precision);
}

/** Reads the shape of a description for `placeDescribedShape`. */
export function readDescription(description: usize): void {
  describedItem.primitive = load<u32>(description, OBJECT_SHAPE) == SHAPE_MESH ? 0 : <u32>describedPrimitive;
  describeShape(describedItem, description);
  describedItem.flags = <u16>load<u32>(description, OBJECT_FLAGS);
}

/** Sets the shape that was read last, with the matrix that its description has now. */
export function placeDescribedShape(out: PlacedShape, description: usize, precision: u32): void {
  copy(worldOf(describedItem), changetype<Affine>(description + OBJECT_MATRIX));
  setPlacedShape(out, describedItem, precision);
}

/** Sets the shape that stands for an object at a query's precision. Throws OUT_OF_MEMORY. */
export function setPlacedShape(out: PlacedShape, item: Item, precision: u32): void {
  const map = mapOf(out);
  out.mesh = item.mesh;
  out.half = 0;
  out.filled = 0;
  if (precision == PRECISION_MESH) {
    out.shape = <u16>item.shape;
    out.filled = item.shape == SHAPE_MESH && item.flags & FLAG_SOLID ? 1 : 0;
    if (item.shape == SHAPE_MESH) {
      // The query may reach its triangles, which must be up to date.
      if (out.filled) refitPoseAndSums(changetype<Mesh>(item.mesh));
      else refitPose(changetype<Mesh>(item.mesh));
    }
    if (item.mesh != 0) {
      copy(map, worldOf(item));
      return;
    }
    multiply(map, worldOf(item), localOf(item));
    if (item.shape != SHAPE_CAPSULE) return;
    // The cube about a capsule is longer than it is wide; the capsule's own space is not stretched.
    const scaleZ = 1.0 / (1.0 + halfOf(item));
    out.half = halfOf(item);
    map.zx *= scaleZ;
    map.zy *= scaleZ;
    map.zz *= scaleZ;
    return;
  }
  setOrientedBounds(bounds, item);
  if (precision == PRECISION_OBB) {
    out.shape = <u16>SHAPE_BOX;
    copy(map, bounds);
    return;
  }
  setIdentity(map);
  map.tx = bounds.tx;
  map.ty = bounds.ty;
  map.tz = bounds.tz;
  if (precision == PRECISION_AABB) {
    out.shape = <u16>SHAPE_BOX;
    map.xx = extentAlong(item, bounds.xx, bounds.yx, bounds.zx);
    map.yy = extentAlong(item, bounds.xy, bounds.yy, bounds.zy);
    map.zz = extentAlong(item, bounds.xz, bounds.yz, bounds.zz);
  } else {
    out.shape = <u16>SHAPE_SPHERE;
    map.xx = map.yy = map.zz = boundingRadius(item);
  }
}

/** Measures how far the shape reaches along a world axis, given by the components of the bounds' own axes along it. */
function extentAlong(item: Item, x: f64, y: f64, z: f64): f64 {
  if (item.shape == SHAPE_SPHERE) return sqrt(x * x + y * y + z * z);
  if (item.shape != SHAPE_CAPSULE) return abs(x) + abs(y) + abs(z);
  const end = z / (1.0 + halfOf(item));
  return abs(end) * halfOf(item) + sqrt(x * x + y * y + end * end);
}

/**
 * Returns the radius of the sphere about the centre of the bounds: the distance of the shape's farthest point in its
 * own space times the matrix's maximum stretch, as three's `boundingSphere` under `applyMatrix4` (which takes the
 * longest column for that: the same unless the matrix shears).
 */
export function boundingRadius(item: Item): f64 {
  return spectralNorm(worldOf(item)) * localRadius(item);
}

function localRadius(item: Item): f64 {
  const list = boxListOf(item);
  if (list != 0) return radiusWithBoxes(changetype<Mesh>(<usize>item.mesh), boxList(list));
  if (item.mesh != 0) return changetype<Mesh>(<usize>item.mesh).radius;
  const local = localOf(item);
  const x = local.xx * local.xx + local.xy * local.xy + local.xz * local.xz;
  if (item.shape == SHAPE_SPHERE) return sqrt(x);
  const z = local.zx * local.zx + local.zy * local.zy + local.zz * local.zz;
  if (item.shape == SHAPE_CAPSULE) return sqrt(z);
  const y = local.yx * local.yx + local.yy * local.yy + local.yz * local.yz;
  return sqrt(x + y + z);
}

/** Returns the radius of the sphere about the box that contains a mesh and the boxes that stand for it. */
function radiusWithBoxes(mesh: Mesh, list: BoxList): f64 {
  const x = max(mesh.maxX, list.maxX) - min(mesh.minX, list.minX);
  const y = max(mesh.maxY, list.maxY) - min(mesh.minY, list.minY);
  const z = max(mesh.maxZ, list.maxZ) - min(mesh.minZ, list.minZ);
  return 0.5 * sqrt(x * x + y * y + z * z);
}

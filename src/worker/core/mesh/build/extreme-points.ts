// The points that represent the four children of a node during the search for its rotation: for a leaf its corners, for
// any other child the farthest points in seven directions and their opposites (Larsson and Källberg, "Fast Computation
// of Tight-Fitting Oriented Bounding Boxes", 2011). A child is in each lane.

import { maxLane, minLane } from '../../math/lanes';
import { Rotation } from '../../math/quaternion';
import { VECTOR_BYTES } from '../../sizes';
import { BLOCK_BYTES, LEAF, Node, childCount, childOf, innerCount } from '../tree/layout';
import { emptyMax, emptyMin } from './binned-sah';

/** The number of directions for the extreme points of a subtree: the axes, and the diagonals of a cube. */
const DIRECTION_COUNT: usize = 7;
/** The number of extreme points of a subtree, two per direction. */
const EXTREMES: usize = 2 * DIRECTION_COUNT;
/** The corners of the four triangles of a leaf. */
const CORNERS: usize = 12;
/** The bytes of one coordinate of a child's points: four vectors, of which a leaf fills three. */
const EXTREMES_AXIS_BYTES: usize = 64;
/** The bytes of the extreme points that a node passes to its parent while rotations are searched: x, y, z. */
export const EXTREMES_BYTES: usize = 3 * EXTREMES_AXIS_BYTES;
/** The bytes of x, y and z of one point of each child. */
export const POINT_BYTES: usize = 3 * VECTOR_BYTES;
/** The most points of a child, in groups of four. */
export const MAX_POINTS: i32 = (<i32>EXTREMES + 3) & ~3;

/** The points of the four children: for each point x, y and z, with a child in each lane. */
export const points: usize = memory.data(MAX_POINTS * <i32>POINT_BYTES, 16);
export let pointCount: usize = 0;
/** All bits set in the lanes of existing children. */
let childLanes: v128 = i32x4.splat(0);

let blocks: usize = 0;
let extremes: usize = 0;

/**
 * Sets the blocks and extreme points of the following nodes. Without extreme points, only nodes whose children are all
 * leaves have points.
 */
export function setPoints(allBlocks: usize, allExtremes: usize): void {
  blocks = allBlocks;
  extremes = allExtremes;
}

// @ts-ignore: decorator
@inline
function extremesAt(index: u32): usize {
  return extremes + index * <u32>EXTREMES_BYTES;
}

/** Returns the number of points in sums over lanes. */
// @ts-ignore: decorator
@inline
export function sumCount(): i32 {
  return <i32>pointCount * popcnt(i32x4.bitmask(childLanes));
}

/** Returns the sum of the lanes of existing children. */
// @ts-ignore: decorator
@inline
export function laneSum(v: v128): f32 {
  const childValues = v128.and(v, childLanes);
  const pairs = f32x4.add(childValues, v128.shuffle<f32>(childValues, childValues, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

/** Sets the children of a node, for the functions that follow. */
export function setChildLanes(node: Node): void {
  childLanes = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(childCount(node)));
}

/** Gathers the points of a node's children, a child in each lane: after `setChildLanes`. */
export function gatherPoints(node: Node): void {
  const count = childCount(node);
  pointCount = innerCount(node) == 0 ? CORNERS : EXTREMES;
  const a = childOf(node, 0);
  const b = count > 1 ? childOf(node, 1) : a, c = count > 2 ? childOf(node, 2) : a, d = count > 3 ? childOf(node, 3) : a;
  for (let group: u32 = 0; <usize>(group << 2) < pointCount; group++) {
    for (let axis: usize = 0; axis < 3; axis++) {
      const va = v128.load(pointsOf(a, group, axis)), vb = v128.load(pointsOf(b, group, axis));
      const vc = v128.load(pointsOf(c, group, axis)), vd = v128.load(pointsOf(d, group, axis));
      const ab = v128.shuffle<f32>(va, vb, 0, 4, 1, 5), cd = v128.shuffle<f32>(vc, vd, 0, 4, 1, 5);
      const abHigh = v128.shuffle<f32>(va, vb, 2, 6, 3, 7), cdHigh = v128.shuffle<f32>(vc, vd, 2, 6, 3, 7);
      const at = points + <usize>group * 4 * POINT_BYTES + (axis << 4);
      v128.store(at, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
      v128.store(at, v128.shuffle<f32>(ab, cd, 2, 3, 6, 7), 48);
      v128.store(at, v128.shuffle<f32>(abHigh, cdHigh, 0, 1, 4, 5), 96);
      v128.store(at, v128.shuffle<f32>(abHigh, cdHigh, 2, 3, 6, 7), 144);
    }
  }
}

/**
 * Returns the address of a coordinate of four points of a child. A leaf has three such groups, the last of which is
 * repeated.
 */
// @ts-ignore: decorator
@inline
function pointsOf(child: u32, group: u32, axis: usize): usize {
  if (child & LEAF) return blocks + (child & ~LEAF) * <u32>BLOCK_BYTES + min<u32>(group, 2) * 48 + (axis << 4);
  return extremesAt(child) + axis * EXTREMES_AXIS_BYTES + (group << 4);
}

/** Returns the total area of all triangles, if the points are the corners of leaves. */
export function triangleAreas(): f32 {
  let sum = f32x4.splat(0);
  for (let a = points; a < points + 4 * POINT_BYTES; a += POINT_BYTES) {
    const b = a + 4 * POINT_BYTES, c = b + 4 * POINT_BYTES;
    const x = v128.load(a), y = v128.load(a, 16), z = v128.load(a, 32);
    const ux = f32x4.sub(v128.load(b), x), uy = f32x4.sub(v128.load(b, 16), y), uz = f32x4.sub(v128.load(b, 32), z);
    const vx = f32x4.sub(v128.load(c), x), vy = f32x4.sub(v128.load(c, 16), y), vz = f32x4.sub(v128.load(c, 32), z);
    const nx = f32x4.sub(f32x4.mul(uy, vz), f32x4.mul(uz, vy)), ny = f32x4.sub(f32x4.mul(uz, vx), f32x4.mul(ux, vz));
    const nz = f32x4.sub(f32x4.mul(ux, vy), f32x4.mul(uy, vx));
    sum = f32x4.add(sum, f32x4.sqrt(f32x4.add(f32x4.add(f32x4.mul(nx, nx), f32x4.mul(ny, ny)), f32x4.mul(nz, nz))));
  }
  return <f32>0.5 * laneSum(sum);
}

// --- bounds of the points ---

/**
 * Writes the bounds of each child's points: low x, y and z, then the high ones. If the points are corners, these are the
 * children's bounds.
 */
export function boundPoints(to: usize): void {
  let minX = emptyMin(), minY = emptyMin(), minZ = emptyMin();
  let maxX = emptyMax(), maxY = emptyMax(), maxZ = emptyMax();
  const end = points + pointCount * POINT_BYTES;
  for (let point = points; point < end; point += POINT_BYTES) {
    const x = v128.load(point), y = v128.load(point, 16), z = v128.load(point, 32);
    minX = f32x4.pmin(minX, x); maxX = f32x4.pmax(maxX, x);
    minY = f32x4.pmin(minY, y); maxY = f32x4.pmax(maxY, y);
    minZ = f32x4.pmin(minZ, z); maxZ = f32x4.pmax(maxZ, z);
  }
  v128.store(to, minX); v128.store(to, minY, 16); v128.store(to, minZ, 32);
  v128.store(to, maxX, 48); v128.store(to, maxY, 64); v128.store(to, maxZ, 80);
}

/** Writes the same in a rotated frame. */
export function boundRotatedPoints(rotation: Rotation, to: usize): void {
  const xx = f32x4.splat(rotation.xx), xy = f32x4.splat(rotation.xy), xz = f32x4.splat(rotation.xz);
  const yx = f32x4.splat(rotation.yx), yy = f32x4.splat(rotation.yy), yz = f32x4.splat(rotation.yz);
  const zx = f32x4.splat(rotation.zx), zy = f32x4.splat(rotation.zy), zz = f32x4.splat(rotation.zz);
  let minX = emptyMin(), minY = emptyMin(), minZ = emptyMin();
  let maxX = emptyMax(), maxY = emptyMax(), maxZ = emptyMax();
  const end = points + pointCount * POINT_BYTES;
  for (let point = points; point < end; point += POINT_BYTES) {
    const px = v128.load(point), py = v128.load(point, 16), pz = v128.load(point, 32);
    const x = f32x4.add(f32x4.add(f32x4.mul(xx, px), f32x4.mul(xy, py)), f32x4.mul(xz, pz));
    const y = f32x4.add(f32x4.add(f32x4.mul(yx, px), f32x4.mul(yy, py)), f32x4.mul(yz, pz));
    const z = f32x4.add(f32x4.add(f32x4.mul(zx, px), f32x4.mul(zy, py)), f32x4.mul(zz, pz));
    minX = f32x4.pmin(minX, x); maxX = f32x4.pmax(maxX, x);
    minY = f32x4.pmin(minY, y); maxY = f32x4.pmax(maxY, y);
    minZ = f32x4.pmin(minZ, z); maxZ = f32x4.pmax(maxZ, z);
  }
  v128.store(to, minX); v128.store(to, minY, 16); v128.store(to, minZ, 32);
  v128.store(to, maxX, 48); v128.store(to, maxY, 64); v128.store(to, maxZ, 80);
}

// --- points for the parent ---

/** The least and the greatest key of each direction, with a child in each lane. */
const minKeys: usize = memory.data(<i32>DIRECTION_COUNT * VECTOR_BYTES, 16);
const maxKeys: usize = memory.data(<i32>DIRECTION_COUNT * VECTOR_BYTES, 16);
/** A key is the coordinate of a point along a direction, with the point's number in its lowest bits. */
const INDEX_MASK: i32 = 15;

/** Stores the farthest of all points in each direction and its opposite, for the node's parent. */
export function storeExtremes(index: u32): void {
  const to = extremesAt(index);
  for (let at: usize = 0; at < DIRECTION_COUNT * 16; at += 16) {
    v128.store(minKeys + at, emptyMin());
    v128.store(maxKeys + at, emptyMax());
  }
  let pointIndex = i32x4.splat(0);
  const end = points + pointCount * POINT_BYTES;
  for (let point = points; point < end; point += POINT_BYTES) {
    const x = v128.load(point), y = v128.load(point, 16), z = v128.load(point, 32);
    const sum = f32x4.add(x, y), difference = f32x4.sub(x, y);
    updateKeys(0, x, pointIndex);
    updateKeys(1, y, pointIndex);
    updateKeys(2, z, pointIndex);
    updateKeys(3, f32x4.add(sum, z), pointIndex);
    updateKeys(4, f32x4.sub(sum, z), pointIndex);
    updateKeys(5, f32x4.add(difference, z), pointIndex);
    updateKeys(6, f32x4.sub(difference, z), pointIndex);
    pointIndex = i32x4.add(pointIndex, i32x4.splat(1));
  }
  for (let d: usize = 0; d < DIRECTION_COUNT; d++) {
    const minKey = v128.load(minKeys + (d << 4)), maxKey = v128.load(maxKeys + (d << 4));
    copyPoint(to + (d << 3), minKey, minLane(minKey));
    copyPoint(to + (d << 3) + 4, maxKey, maxLane(maxKey));
  }
}

/** Stores the corners of a node's bounds, which enclose all points, for its parent. */
// @ts-ignore: decorator
@inline
export function storeCorners(index: u32, boxMin: v128, boxMax: v128): void {
  const x = v128.shuffle<f32>(boxMin, boxMax, 0, 4, 0, 4), y = v128.shuffle<f32>(boxMin, boxMax, 1, 1, 5, 5);
  let to = extremesAt(index);
  for (let group = 0; group < 4; group++, to += VECTOR_BYTES) {
    v128.store(to, x);
    v128.store(to, y, EXTREMES_AXIS_BYTES);
    v128.store(to, f32x4.splat(f32x4.extract_lane(group & 1 ? boxMax : boxMin, 2)), 2 * EXTREMES_AXIS_BYTES);
  }
}

// @ts-ignore: decorator
@inline
function updateKeys(direction: usize, coordinate: v128, pointIndex: v128): void {
  const key = v128.or(v128.andnot(coordinate, i32x4.splat(INDEX_MASK)), pointIndex);
  const minAddress = minKeys + (direction << 4), maxAddress = maxKeys + (direction << 4);
  v128.store(minAddress, f32x4.pmin(v128.load(minAddress), key));
  v128.store(maxAddress, f32x4.pmax(v128.load(maxAddress), key));
}

/** Copies the point with the given key, which is in one of the lanes. */
function copyPoint(to: usize, keys: v128, key: f32): void {
  const lane = <usize>ctz(i32x4.bitmask(i32x4.eq(keys, i32x4.splat(reinterpret<i32>(key)))));
  const from = points + <usize>(reinterpret<i32>(key) & INDEX_MASK) * POINT_BYTES + (lane << 2);
  store<f32>(to, load<f32>(from));
  store<f32>(to, load<f32>(from, 16), EXTREMES_AXIS_BYTES);
  store<f32>(to, load<f32>(from, 32), 2 * EXTREMES_AXIS_BYTES);
}

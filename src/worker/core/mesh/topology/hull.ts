// Writes the hull of a convex mesh: its corners in clusters, and the planes of its faces (hull-layout.ts). float32, in
// tree space. Bounds of clusters are conservative.

import { dipoleAt } from '../tree/dipoles';
import { blockAt, filledLanes } from '../tree/layout';
import { Derivation, meshOf, resultOf } from './derivation-state';
import { hullAt } from './derived-layout';
import {
  CLUSTER_BYTES, CLUSTER_CORNERS, BOUNDS_GROUP_BYTES, Hull, boundsIn, cornersIn, planeGroupsFor, planeAt,
} from './hull-layout';

/** The float32 rounding error of a bound, in tree space, which reaches to 2 either way. */
const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21
/** The half size of an empty cluster is minus this. */
export const EMPTY_HALF_SIZE: f32 = 1e30;

/** Returns how many clusters `cornerCount` corners take. */
export function clustersFor(cornerCount: u32): u32 {
  return ((cornerCount + CLUSTER_CORNERS - 1) / CLUSTER_CORNERS + 3) & ~3;
}

function hullOf(d: Derivation): Hull {
  return changetype<Hull>(hullAt(meshOf(d), resultOf(d)));
}

export function beginHull(d: Derivation): void {
  const hull = hullOf(d);
  hull.clusterCount = resultOf(d).clusterCount;
  hull.planeGroupCount = planeGroupsFor(meshOf(d).keptCount);
  hull.isOneClosedPart = 0;
  hull.pad = 0;
  d.outwardCount = 0;
  d.planeCount = 0;
}

/** Writes clusters from `start` to `end`. */
export function writeClusters(d: Derivation, start: u32, end: u32): void {
  for (let cluster = start; cluster < end; cluster++) setCluster(d, hullOf(d), cluster);
}

/**
 * Writes a cluster: its corners and its bounds. Vertices of near numbers are near each other, since they are numbered in
 * the order of the tree.
 */
function setCluster(d: Derivation, hull: Hull, cluster: u32): void {
  const from = cluster * CLUSTER_CORNERS;
  const last = d.vertexCount - 1;
  const isFilled = from <= last;
  const first = v128.load(d.vertices + (<usize>min(from, last) << 4));
  let boxMin = first, boxMax = first;
  for (let i: u32 = 0; i < CLUSTER_CORNERS; i++) {
    const corner = v128.load(d.vertices + (<usize>min(from + i, last) << 4));
    boxMin = f32x4.min(boxMin, corner);
    boxMax = f32x4.max(boxMax, corner);
    const to = cornersIn(hull) + <usize>cluster * CLUSTER_BYTES + <usize>(i >> 2) * 48 + <usize>((i & 3) << 2);
    store<f32>(to, f32x4.extract_lane(corner, 0));
    store<f32>(to, f32x4.extract_lane(corner, 1), 16);
    store<f32>(to, f32x4.extract_lane(corner, 2), 32);
  }
  const to = boundsIn(hull) + <usize>(cluster >> 2) * BOUNDS_GROUP_BYTES + <usize>((cluster & 3) << 2);
  const center = f32x4.mul(f32x4.add(boxMin, boxMax), f32x4.splat(0.5));
  const half = f32x4.add(f32x4.max(f32x4.sub(boxMax, center), f32x4.sub(center, boxMin)), f32x4.splat(ROUNDING));
  store<f32>(to, f32x4.extract_lane(center, 0));
  store<f32>(to, f32x4.extract_lane(center, 1), 16);
  store<f32>(to, f32x4.extract_lane(center, 2), 32);
  store<f32>(to, isFilled ? f32x4.extract_lane(half, 0) : -EMPTY_HALF_SIZE, 48);
  store<f32>(to, isFilled ? f32x4.extract_lane(half, 1) : -EMPTY_HALF_SIZE, 64);
  store<f32>(to, isFilled ? f32x4.extract_lane(half, 2) : -EMPTY_HALF_SIZE, 80);
}

/**
 * The result of `setNormal`: the normal of a triangle whose first corner's x is at an address, by the triangle's own
 * orientation; of any length.
 */
export let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;

export function setNormal(at: usize): void {
  const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - ax, ey = <f64>load<f32>(at, 64) - ay, ez = <f64>load<f32>(at, 80) - az;
  const fx = <f64>load<f32>(at, 96) - ax, fy = <f64>load<f32>(at, 112) - ay, fz = <f64>load<f32>(at, 128) - az;
  normalX = ey * fz - ez * fy;
  normalY = ez * fx - ex * fz;
  normalZ = ex * fy - ey * fx;
}

/** Writes the planes of blocks from `start` to `end`. */
export function writePlanes(d: Derivation, start: u32, end: u32): void {
  const mesh = meshOf(d);
  const hull = hullOf(d);
  for (let index = start; index < end; index++) {
    const block = blockAt(mesh, index);
    for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
      setPlane(d, planeAt(hull, d.planeCount++), changetype<usize>(block) + (<usize>ctz(lanes) << 2));
    }
  }
}

/**
 * Writes a triangle's plane, oriented so that the centre of the mesh is behind it. A triangle without a normal gets a
 * plane that clips nothing.
 */
function setPlane(d: Derivation, to: usize, at: usize): void {
  const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
  const center = dipoleAt(meshOf(d), 0);
  setNormal(at);
  const length = sqrt(normalX * normalX + normalY * normalY + normalZ * normalZ);
  const depth =
    normalX * (<f64>center.x - ax) + normalY * (<f64>center.y - ay) + normalZ * (<f64>center.z - az);
  if (!(depth > 0)) d.outwardCount++;
  const reciprocal: f64 = length > 0 ? (depth > 0 ? -1.0 : 1.0) / length : 0.0;
  const x = normalX * reciprocal, y = normalY * reciprocal, z = normalZ * reciprocal;
  store<f32>(to, <f32>x);
  store<f32>(to, <f32>y, 16);
  store<f32>(to, <f32>z, 32);
  store<f32>(to, <f32>(x * ax + y * ay + z * az), 48);
}

/** Fills up the last group of planes, and sets whether the mesh is one closed part. */
export function endHull(d: Derivation): void {
  const hull = hullOf(d);
  const count = d.planeCount;
  const last = planeAt(hull, count - 1);
  for (let i = count; i < hull.planeGroupCount << 2; i++) {
    for (let k: usize = 0; k < 64; k += 16) store<f32>(planeAt(hull, i) + k, load<f32>(last + k));
  }
  const areConsistent = d.outwardCount == 0 || d.outwardCount == count;
  hull.isOneClosedPart = d.partCount == 1 && d.openCount == 0 && areConsistent ? 1 : 0;
}

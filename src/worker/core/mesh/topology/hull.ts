// What a convex mesh is asked for again and again: its corners, each once, those near each other in one cluster; and the
// planes of its faces. Four at a time, in tree space.

import { mix } from '../../math/hash';
import { allocate, release, reserve } from '../../memory';
import { EdgeSum, addEdges, isClosed } from './closed';
import { Mesh, blockAt, filledLanes } from '../tree/layout';
import { middleX, middleY, middleZ, setMiddle } from '../middle';
import { partCount } from './connected-parts';

/** The sections follow; these are their addresses. */
@unmanaged
export class Hull {
  /** A multiple of four; those that fill up have nothing in them. */
  clusterCount: u32;
  /** x, y, z of four clusters' middles, and of their half sizes. */
  bounds: u32;
  /** Vectors x, y, z of four corners each, so many for every cluster; the last corner fills up. */
  corners: u32;
  /** Vectors x, y, z of four triangles' outward unit normals, and their heights along these, as the blocks have them. */
  planes: u32;
  /** The last plane fills up. */
  fourPlanesCount: u32;
  /** 1 where the mesh is one part and closed, as it is now, by triangles that are all turned outwards, or all inwards. */
  isWhole: u32;
}

const HEAD: usize = 32;
export const CLUSTER_CORNERS: u32 = 16;
export const CLUSTER_BYTES: usize = 192;
export const FOUR_BOUNDS_BYTES: usize = 96;
export const FOUR_PLANES_BYTES: usize = 64;

/** What float32 may lose of a bound, in tree space, which reaches to 2 either way. */
const ROUNDING: f32 = 4.76837158203125e-7; // 2^-21
/** Half the size of a cluster that is not there. */
const NOWHERE: f32 = 1e30;

/** Of a mesh that is convex, found when first asked for. Throws OUT_OF_MEMORY; the mesh is as it was then. */
export function hullOf(mesh: Mesh): Hull {
  if (mesh.hull == 0) mesh.hull = <u32>makeHull(mesh);
  return changetype<Hull>(<usize>mesh.hull);
}

function makeHull(mesh: Mesh): usize {
  const isOne = partCount(mesh) == 1;
  weld(mesh);
  const clusterCount = ((listedCount + CLUSTER_CORNERS - 1) / CLUSTER_CORNERS + 3) & ~3;
  const boundsBytes = <u64>(clusterCount >> 2) * FOUR_BOUNDS_BYTES;
  const cornersBytes = <u64>clusterCount * CLUSTER_BYTES;
  const fourPlanesCount = (mesh.keptCount + 3) >> 2;
  const address = allocate(HEAD + boundsBytes + cornersBytes + <u64>fourPlanesCount * FOUR_PLANES_BYTES);
  const hull = changetype<Hull>(address);
  hull.clusterCount = clusterCount;
  hull.bounds = <u32>(address + HEAD);
  hull.corners = hull.bounds + <u32>boundsBytes;
  hull.planes = hull.corners + <u32>cornersBytes;
  hull.fourPlanesCount = fourPlanesCount;
  for (let cluster: u32 = 0; cluster < clusterCount; cluster++) setCluster(hull, cluster);
  release(listed);
  listed = 0;
  setPlanes(mesh, hull);
  hull.isWhole = isOne && isClosed(edges) && (turnedOut == 0 || turnedOut == mesh.keptCount) ? 1 : 0;
  return address;
}

// --- corners ---

/** Each corner once, as it comes in the tree: near each other in memory is near in space. */
let listed: usize = 0; // v128 each
let listedCount: u32 = 0;
/** Numbers of corners by the hash of their position, and 1; 0 where there is none. */
let table: usize = 0;
const edges = changetype<EdgeSum>(memory.data(16, 16));

function weld(mesh: Mesh): void {
  listedCount = 0;
  edges.one = 0;
  edges.other = 0;
  let capacity: u32 = 16;
  // Three quarters full if no two are the same.
  while (capacity < mesh.keptCount << 2) capacity <<= 1;
  table = reserve(table, 0, <u64>capacity << 2);
  memory.fill(table, 0, <usize>capacity << 2);
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
      const at = changetype<usize>(block) + (<usize>ctz(lanes) << 2);
      const a = list(at, capacity - 1), b = list(at + 48, capacity - 1), c = list(at + 96, capacity - 1);
      addEdges(edges, listed + a, listed + b, listed + c);
    }
  }
  release(table);
  table = 0;
}

/** Answers where in the list the corner is. */
function list(corner: usize, mask: u32): usize {
  // Zeros lose their sign.
  const position = f32x4.add(
    f32x4(load<f32>(corner), load<f32>(corner, 16), load<f32>(corner, 32), 0), f32x4.splat(0),
  );
  const hash = mix(mix(<u64>i64x2.extract_lane(position, 0)) + <u64>i64x2.extract_lane(position, 1));
  let at = table + (<usize>(<u32>hash & mask) << 2);
  while (load<u32>(at) != 0) {
    const other = <usize>(load<u32>(at) - 1) << 4;
    if (i32x4.all_true(f32x4.eq(v128.load(listed + other), position))) return other;
    at = at == table + (<usize>mask << 2) ? table : at + 4;
  }
  const to = <usize>listedCount << 4;
  listed = reserve(listed, to, <u64>to + 16);
  v128.store(listed + to, position);
  listedCount++;
  store<u32>(at, listedCount);
  return to;
}

function setCluster(hull: Hull, cluster: u32): void {
  const from = cluster * CLUSTER_CORNERS;
  const isThere = from < listedCount;
  const first = v128.load(listed + (<usize>min(from, listedCount - 1) << 4));
  let low = first, high = first;
  for (let i: u32 = 0; i < CLUSTER_CORNERS; i++) {
    const corner = v128.load(listed + (<usize>min(from + i, listedCount - 1) << 4));
    low = f32x4.min(low, corner);
    high = f32x4.max(high, corner);
    const to = <usize>hull.corners + <usize>cluster * CLUSTER_BYTES + <usize>(i >> 2) * 48 + <usize>((i & 3) << 2);
    store<f32>(to, f32x4.extract_lane(corner, 0));
    store<f32>(to, f32x4.extract_lane(corner, 1), 16);
    store<f32>(to, f32x4.extract_lane(corner, 2), 32);
  }
  const to = <usize>hull.bounds + <usize>(cluster >> 2) * FOUR_BOUNDS_BYTES + <usize>((cluster & 3) << 2);
  const middle = f32x4.mul(f32x4.add(low, high), f32x4.splat(0.5));
  const half = f32x4.add(f32x4.max(f32x4.sub(high, middle), f32x4.sub(middle, low)), f32x4.splat(ROUNDING));
  store<f32>(to, f32x4.extract_lane(middle, 0));
  store<f32>(to, f32x4.extract_lane(middle, 1), 16);
  store<f32>(to, f32x4.extract_lane(middle, 2), 32);
  store<f32>(to, isThere ? f32x4.extract_lane(half, 0) : -NOWHERE, 48);
  store<f32>(to, isThere ? f32x4.extract_lane(half, 1) : -NOWHERE, 64);
  store<f32>(to, isThere ? f32x4.extract_lane(half, 2) : -NOWHERE, 80);
}

// --- planes ---

/** At right angles to a triangle whose first corner's x is at an address, as it is turned; of any length. */
export let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;

export function setNormal(at: usize): void {
  const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
  const ex = <f64>load<f32>(at, 48) - ax, ey = <f64>load<f32>(at, 64) - ay, ez = <f64>load<f32>(at, 80) - az;
  const fx = <f64>load<f32>(at, 96) - ax, fy = <f64>load<f32>(at, 112) - ay, fz = <f64>load<f32>(at, 128) - az;
  normalX = ey * fz - ez * fy;
  normalY = ez * fx - ex * fz;
  normalZ = ex * fy - ey * fx;
}

/** Of a plane's normal; 16, 32 and 48 bytes on are y, z and the height. */
// @ts-ignore: decorator
@inline
export function planeAt(hull: Hull, index: u32): usize {
  return <usize>hull.planes + <usize>(index >> 2) * FOUR_PLANES_BYTES + <usize>((index & 3) << 2);
}

let turnedOut: u32 = 0;

function setPlanes(mesh: Mesh, hull: Hull): void {
  setMiddle(mesh);
  turnedOut = 0;
  let count: u32 = 0;
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lanes = filledLanes(block); lanes != 0; lanes &= lanes - 1) {
      setPlane(planeAt(hull, count++), changetype<usize>(block) + (<usize>ctz(lanes) << 2));
    }
  }
  const last = planeAt(hull, count - 1);
  for (; count < hull.fourPlanesCount << 2; count++) {
    for (let k: usize = 0; k < 64; k += 16) store<f32>(planeAt(hull, count) + k, load<f32>(last + k));
  }
}

/** Whichever way the triangle is turned: the middle of the mesh is behind all. What has no normal cuts nothing. */
function setPlane(to: usize, at: usize): void {
  const ax = <f64>load<f32>(at), ay = <f64>load<f32>(at, 16), az = <f64>load<f32>(at, 32);
  setNormal(at);
  const length = sqrt(normalX * normalX + normalY * normalY + normalZ * normalZ);
  const depth = normalX * (middleX - ax) + normalY * (middleY - ay) + normalZ * (middleZ - az);
  if (!(depth > 0)) turnedOut++;
  const over: f64 = length > 0 ? (depth > 0 ? -1.0 : 1.0) / length : 0.0;
  const x = normalX * over, y = normalY * over, z = normalZ * over;
  store<f32>(to, <f32>x);
  store<f32>(to, <f32>y, 16);
  store<f32>(to, <f32>z, 32);
  store<f32>(to, <f32>(x * ax + y * ay + z * az), 48);
}

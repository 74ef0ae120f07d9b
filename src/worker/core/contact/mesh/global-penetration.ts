// The way of one object out of another where regions of their surfaces do not tell it: one holds the other, or they
// have too much in common.

import { SHAPE_BOX, SHAPE_MESH } from '../../../../shared/layout';
import { Affine, copy } from '../../math/affine';
import { reserve } from '../../memory';
import { closestOnMesh, closestX, closestY, closestZ } from '../../mesh/query/closest-point';
import { Mesh, blockAt, placeTree, triangleOf } from '../../mesh/tree/layout';
import { Solid, mapOf } from '../../shape/placed-shape';
import { depthAlong } from './directional-depth';

/** The direction, unit, and how far b must go along it. */
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
export let wayDepth: f64 = 0;
/** A point of a mesh that it leaves last: of a the foremost, of b the hindmost; of other shapes their middle. */
export let lastX: f64 = 0, lastY: f64 = 0, lastZ: f64 = 0;

/** Of more triangles, it is the bounds that part. */
const MOST_TRIANGLES: u32 = 1 << 18;
/** Directions that all triangles are asked about. */
const TRIED = 3;

// Both about a's place: of meshes the map from mesh space, of all else that of the unit shape.
const map0 = changetype<Affine>(memory.data(96, 16));
const map1 = changetype<Affine>(memory.data(96, 16));
const placed = changetype<Affine>(memory.data(96, 16));

// All triangles: nine f64 each, and their addresses.
let corners0: usize = 0, corners1: usize = 0;
let list0: usize = 0, list1: usize = 0;
let count0: u32 = 0, count1: u32 = 0;

/** Directions, by how far the bounds have to go along them: x, y, z, depth. The best TRIED come first. */
const ways: usize = memory.data(32 * 16, 16);
let wayCount = 0;

/**
 * Directions are the axes of both, from middle to middle, and to the nearest place of a mesh that holds the other's
 * middle. They are judged by how far b's bounds must go to leave those of a; of the best ones all triangles say how far
 * it is to the last touch, and the least counts. Of too many triangles it is the bounds' distance. Places are about
 * a's.
 */
export function findWayOut(a: Solid, b: Solid, contained: i32): void {
  setMaps(a, b);
  setMiddle(a, map0);
  const ax = middleX, ay = middleY, az = middleZ;
  setMiddle(b, map1);
  const bx = middleX, by = middleY, bz = middleZ;
  wayCount = 0;
  consider(a, b, bx - ax, by - ay, bz - az);
  if (contained == 1 && b.shape == SHAPE_MESH) considerNearest(a, b, b, map1, ax, ay, az, -1);
  if (contained == 2 && a.shape == SHAPE_MESH) considerNearest(a, b, a, map0, bx, by, bz, 1);
  considerAxes(a, b, map0);
  considerAxes(a, b, map1);
  const hasAll = listSolids(a, b);
  wayDepth = Infinity;
  for (let i = 0; i < min(TRIED, wayCount); i++) {
    const at = ways + (i << 5);
    const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
    const depth = hasAll ? max(depthAlong(list0, count0, list1, count1, x, y, z), 0.0) : load<f64>(at, 24);
    if (!(depth < wayDepth)) continue;
    wayDepth = depth;
    wayX = x;
    wayY = y;
    wayZ = z;
  }
  if (contained == 1) findLast(a, map0, list0, hasAll ? count0 : 0, 1);
  else if (contained == 2) findLast(b, map1, list1, hasAll ? count1 : 0, -1);
}

/** How far it is to the last touch of all triangles along a unit direction; `known` where these are too many. */
export function wholeDepth(a: Solid, b: Solid, x: f64, y: f64, z: f64, known: f64): f64 {
  setMaps(a, b);
  return listSolids(a, b) ? max(depthAlong(list0, count0, list1, count1, x, y, z), known) : known;
}

function setMaps(a: Solid, b: Solid): void {
  copy(map0, mapOf(a));
  copy(map1, mapOf(b));
  map1.tx -= map0.tx;
  map1.ty -= map0.ty;
  map1.tz -= map0.tz;
  map0.tx = map0.ty = map0.tz = 0;
}

let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;

function setMiddle(solid: Solid, m: Affine): void {
  let x: f64 = 0, y: f64 = 0, z: f64 = 0;
  if (solid.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(solid.mesh);
    x = 0.5 * (mesh.lowX + mesh.highX);
    y = 0.5 * (mesh.lowY + mesh.highY);
    z = 0.5 * (mesh.lowZ + mesh.highZ);
  }
  middleX = m.xx * x + m.yx * y + m.zx * z + m.tx;
  middleY = m.xy * x + m.yy * y + m.zy * z + m.ty;
  middleZ = m.xz * x + m.yz * y + m.zz * z + m.tz;
}

// --- directions ---

function considerAxes(a: Solid, b: Solid, m: Affine): void {
  for (let at = changetype<usize>(m), end = at + 72; at < end; at += 24) {
    consider(a, b, load<f64>(at), load<f64>(at, 8), load<f64>(at, 16));
    consider(a, b, -load<f64>(at), -load<f64>(at, 8), -load<f64>(at, 16));
  }
}

/** From a place inside of a mesh to where it ends first, as the inner one moves. */
function considerNearest(a: Solid, b: Solid, outer: Solid, m: Affine, x: f64, y: f64, z: f64, sense: f64): void {
  copy(placed, m);
  placed.tx -= x;
  placed.ty -= y;
  placed.tz -= z;
  if (!closestOnMesh(changetype<Mesh>(outer.mesh), placed, Infinity, false)) return;
  consider(a, b, sense * closestX, sense * closestY, sense * closestZ);
}

/** Keeps the ways sorted by depth; one is not lost before it was found worse than others. */
function consider(a: Solid, b: Solid, x: f64, y: f64, z: f64): void {
  const norm = 1.0 / sqrt(x * x + y * y + z * z);
  if (!(norm < Infinity)) return;
  const nx = x * norm, ny = y * norm, nz = z * norm;
  const depth = reachOf(a, map0, nx, ny, nz) + reachOf(b, map1, -nx, -ny, -nz);
  let at = ways + (wayCount++ << 5);
  for (; at > ways && load<f64>(at - 8) > depth; at -= 32) memory.copy(at, at - 32, 32);
  store<f64>(at, nx);
  store<f64>(at, ny, 8);
  store<f64>(at, nz, 16);
  store<f64>(at, depth, 24);
}

/** How far a solid goes along a direction; of a mesh its bounds. */
function reachOf(solid: Solid, m: Affine, nx: f64, ny: f64, nz: f64): f64 {
  const x = m.xx * nx + m.xy * ny + m.xz * nz, y = m.yx * nx + m.yy * ny + m.yz * nz;
  const z = m.zx * nx + m.zy * ny + m.zz * nz;
  setMiddle(solid, m);
  const middle = middleX * nx + middleY * ny + middleZ * nz;
  if (solid.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(solid.mesh);
    return middle + 0.5 * (
      (mesh.highX - mesh.lowX) * abs(x) + (mesh.highY - mesh.lowY) * abs(y) + (mesh.highZ - mesh.lowZ) * abs(z)
    );
  }
  if (solid.shape == SHAPE_BOX) return middle + abs(x) + abs(y) + abs(z);
  return middle + solid.half * abs(z) + sqrt(x * x + y * y + z * z);
}

// --- triangles ---

/** Of round shapes: a circle is a polygon of so many corners around it. */
const AROUND = 32;
const ACROSS = 16;
/** What makes that polyhedron enclose the ball: 1 / (cos(π / 32) · cos(π / 32)). */
const ENCLOSE: f64 = 1.00974;

/** False where there are too many. */
function listSolids(a: Solid, b: Solid): bool {
  const wanted0 = triangleCount(a), wanted1 = triangleCount(b);
  if (wanted0 + wanted1 > MOST_TRIANGLES) return false;
  corners0 = reserve(corners0, 0, <u64>wanted0 * 72);
  corners1 = reserve(corners1, 0, <u64>wanted1 * 72);
  list0 = reserve(list0, 0, <u64>wanted0 << 2);
  list1 = reserve(list1, 0, <u64>wanted1 << 2);
  count0 = listSolid(a, map0, corners0, list0);
  count1 = listSolid(b, map1, corners1, list1);
  return true;
}

function triangleCount(solid: Solid): u32 {
  if (solid.shape == SHAPE_MESH) return changetype<Mesh>(solid.mesh).keptCount;
  return solid.shape == SHAPE_BOX ? 12 : AROUND * (ACROSS + 1) * 2;
}

function listSolid(solid: Solid, m: Affine, corners: usize, list: usize): u32 {
  let end = corners;
  if (solid.shape == SHAPE_MESH) end = listMesh(changetype<Mesh>(solid.mesh), m, end);
  else if (solid.shape == SHAPE_BOX) end = listBox(m, end);
  else end = listRound(m, solid.half, end);
  let count: u32 = 0;
  for (let at = corners; at < end; at += 72) store<u32>(list + (<usize>(count++) << 2), <u32>at);
  return count;
}

function listMesh(mesh: Mesh, m: Affine, to: usize): usize {
  placeTree(placed, mesh, m);
  for (let index: u32 = 0; index < mesh.blockCount; index++) {
    const block = blockAt(mesh, index);
    for (let lane = 0; lane < 4; lane++) {
      if (triangleOf(block, lane) < 0) continue;
      for (let at = changetype<usize>(block) + (<usize>lane << 2), end = at + 144; at < end; at += 48, to += 24) {
        put(to, placed, <f64>load<f32>(at), <f64>load<f32>(at, 16), <f64>load<f32>(at, 32));
      }
    }
  }
  return to;
}

// @ts-ignore: decorator
@inline
function put(to: usize, m: Affine, x: f64, y: f64, z: f64): void {
  store<f64>(to, m.xx * x + m.yx * y + m.zx * z + m.tx);
  store<f64>(to, m.xy * x + m.yy * y + m.zy * z + m.ty, 8);
  store<f64>(to, m.xz * x + m.yz * y + m.zz * z + m.tz, 16);
}

function listBox(m: Affine, to: usize): usize {
  for (let axis = 0; axis < 3; axis++) {
    for (let side: f64 = -1; side < 2; side += 2) {
      for (let half: f64 = -1; half < 2; half += 2) {
        putTurned(to, m, axis, side, half, half);
        putTurned(to + 24, m, axis, side, -1, 1);
        putTurned(to + 48, m, axis, side, 1, -1);
        to += 72;
      }
    }
  }
  return to;
}

function putTurned(to: usize, m: Affine, axis: i32, s: f64, t: f64, u: f64): void {
  if (axis == 0) put(to, m, s, t, u);
  else if (axis == 1) put(to, m, u, s, t);
  else put(to, m, t, u, s);
}

/** A capsule of radius 1, or a ball: rings from pole to pole, the one about the middle twice. */
function listRound(m: Affine, half: f64, to: usize): usize {
  for (let ring = 0; ring <= ACROSS; ring++) {
    for (let i = 0; i < AROUND; i++) {
      putRound(to, m, half, ring, i);
      putRound(to + 24, m, half, ring, i + 1);
      putRound(to + 48, m, half, ring + 1, i);
      putRound(to + 72, m, half, ring, i + 1);
      putRound(to + 96, m, half, ring + 1, i + 1);
      putRound(to + 120, m, half, ring + 1, i);
      to += 144;
    }
  }
  return to;
}

function putRound(to: usize, m: Affine, half: f64, ring: i32, i: i32): void {
  const isUpper = ring * 2 > ACROSS;
  const height = (Math.PI / ACROSS) * <f64>(isUpper ? ring - 1 : ring) - 0.5 * Math.PI;
  const angle = (2 * Math.PI / AROUND) * <f64>i;
  const wide = ENCLOSE * Math.cos(height);
  put(to, m, wide * Math.cos(angle), wide * Math.sin(angle), ENCLOSE * Math.sin(height) + (isUpper ? half : -half));
}

// --- where it leaves last ---

function findLast(solid: Solid, m: Affine, list: usize, count: u32, sense: f64): void {
  setMiddle(solid, m);
  lastX = middleX;
  lastY = middleY;
  lastZ = middleZ;
  if (solid.shape != SHAPE_MESH) return;
  if (count == 0) {
    firstCorner(changetype<Mesh>(solid.mesh), m);
    return;
  }
  let farthest = -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    const from = <usize>load<u32>(list + (<usize>i << 2));
    for (let at = from; at < from + 72; at += 24) {
      const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
      const along = sense * (x * wayX + y * wayY + z * wayZ);
      if (!(along > farthest)) continue;
      farthest = along;
      lastX = x;
      lastY = y;
      lastZ = z;
    }
  }
}

/** Any place of a mesh, where there are too many to choose from. */
function firstCorner(mesh: Mesh, m: Affine): void {
  placeTree(placed, mesh, m);
  const at = changetype<usize>(blockAt(mesh, 0));
  const x = <f64>load<f32>(at), y = <f64>load<f32>(at, 16), z = <f64>load<f32>(at, 32);
  lastX = placed.xx * x + placed.yx * y + placed.zx * z + placed.tx;
  lastY = placed.xy * x + placed.yy * y + placed.zy * z + placed.ty;
  lastZ = placed.xz * x + placed.yz * y + placed.zz * z + placed.tz;
}

// The way of a mesh out of another where they have so much in common that there is no telling regions apart.

import { reserve } from '../memory';
import { Mesh, blockAt, treeScale, triangleOf } from '../mesh/layout';
import { depthAlong } from './depth';
import { Side, placeCorners, treeOf } from './parts';

/** The direction, unit, and how far along it. */
export let wayX: f64 = 0, wayY: f64 = 0, wayZ: f64 = 0;
export let wayDepth: f64 = 0;

// All triangles: nine f64 each, and their addresses.
let corners0: usize = 0, corners1: usize = 0;
let list0: usize = 0, list1: usize = 0;
let count0: u32 = 0, count1: u32 = 0;

/** Of more triangles, a plane parts the bounds. */
const MOST_TRIANGLES: u32 = 1 << 18;

/**
 * Directions are judged by how far b's bounds must go to leave those of a; along the best of them all triangles say how
 * far it is, unless there are too many: then it is the bounds that part.
 */
export function findWayOut(a: Side, b: Side): void {
  wayDepth = Infinity;
  consider(a, b, b.middleX - a.middleX, b.middleY - a.middleY, b.middleZ - a.middleZ);
  considerAxes(a, b, a);
  considerAxes(a, b, b);
  if (changetype<Mesh>(a.mesh).keptCount + changetype<Mesh>(b.mesh).keptCount > MOST_TRIANGLES) return;
  list(a, b);
  wayDepth = max(depthAlong(list0, count0, list1, count1, wayX, wayY, wayZ), 0.0);
}

function considerAxes(a: Side, b: Side, side: Side): void {
  for (let at = changetype<usize>(treeOf(side)), end = at + 72; at < end; at += 24) {
    consider(a, b, load<f64>(at), load<f64>(at, 8), load<f64>(at, 16));
    consider(a, b, -load<f64>(at), -load<f64>(at, 8), -load<f64>(at, 16));
  }
}

function consider(a: Side, b: Side, x: f64, y: f64, z: f64): void {
  const norm = 1.0 / sqrt(x * x + y * y + z * z);
  if (!(norm < Infinity)) return;
  const nx = x * norm, ny = y * norm, nz = z * norm;
  const depth = reachOf(a, nx, ny, nz) + reachOf(b, -nx, -ny, -nz);
  if (!(depth < wayDepth)) return;
  wayDepth = depth;
  wayX = nx;
  wayY = ny;
  wayZ = nz;
}

/** How far the bounds of a side go along a direction. */
function reachOf(side: Side, x: f64, y: f64, z: f64): f64 {
  const mesh = changetype<Mesh>(side.mesh);
  const scale = 0.5 * treeScale(mesh);
  const m = treeOf(side);
  return (
    side.middleX * x + side.middleY * y + side.middleZ * z +
    scale * (mesh.highX - mesh.lowX) * abs(m.xx * x + m.xy * y + m.xz * z) +
    scale * (mesh.highY - mesh.lowY) * abs(m.yx * x + m.yy * y + m.yz * z) +
    scale * (mesh.highZ - mesh.lowZ) * abs(m.zx * x + m.zy * y + m.zz * z)
  );
}

function list(a: Side, b: Side): void {
  const meshA = changetype<Mesh>(a.mesh), meshB = changetype<Mesh>(b.mesh);
  corners0 = reserve(corners0, 0, <u64>meshA.keptCount * 72);
  corners1 = reserve(corners1, 0, <u64>meshB.keptCount * 72);
  list0 = reserve(list0, 0, <u64>meshA.keptCount << 2);
  list1 = reserve(list1, 0, <u64>meshB.keptCount << 2);
  count0 = listSide(a, meshA, corners0, list0);
  count1 = listSide(b, meshB, corners1, list1);
}

function listSide(side: Side, mesh: Mesh, corners: usize, list: usize): u32 {
  let count: u32 = 0;
  for (let slot: u32 = 0, end = mesh.blockCount << 2; slot < end; slot++) {
    if (triangleOf(blockAt(mesh, slot >> 2), slot & 3) < 0) continue;
    const at = corners + <usize>count * 72;
    placeCorners(at, side, slot);
    store<u32>(list + (<usize>(count++) << 2), <u32>at);
  }
  return count;
}

// The OBBs of the two meshes of a contact, those of their trees' roots, and their separating axes (Gottschalk, Lin and
// Manocha, "OBBTree", 1996): three face normals each, and the cross products of their edges. In contact space, in
// float64; the boxes are rounded outwards.

import { Rotation, rotationAt } from '../../math/quaternion';
import { Mesh, Node, childCount, highBounds, lowBounds, nodeAt } from '../../mesh/tree/layout';
import { sideAt, treeOf } from './clipped-triangles';
import { PLACE_BYTES, VECTOR_BYTES } from '../../sizes';

// Half edges, three of side 0 and three of side 1, three f64 each; and the vector from the centre of one box to that of
// the other.
const edges: usize = memory.data(6 * PLACE_BYTES, 16);
const EDGES_BYTES: usize = 3 * PLACE_BYTES;
let betweenX: f64 = 0, betweenY: f64 = 0, betweenZ: f64 = 0;
const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const lanes: usize = memory.data(VECTOR_BYTES, 16);

/** A unit axis in one direction, and how far side 1's box must move along it to be clear of side 0's box. */
@unmanaged
export class BoxWay {
  x: f64; y: f64; z: f64;
  reach: f64;
}

const WAY_BYTES: usize = offsetof<BoxWay>();
/** Fifteen pairs of edges, in both directions. */
const MOST_WAYS = 30;
/** Sorted by that distance, the least first. */
const ways: usize = memory.data(MOST_WAYS * <i32>offsetof<BoxWay>(), 16);
export let boxWayCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function boxWayAt(i: u32): BoxWay {
  return changetype<BoxWay>(ways + i * <u32>WAY_BYTES);
}

/**
 * Sets the boxes of both sides and lists the directions of their axes, without duplicates. Returns how far the boxes
 * must move along the first direction to be apart, Infinity if there is none.
 */
export function setBoxes(): f64 {
  betweenX = betweenY = betweenZ = 0;
  addBox(0, -1);
  addBox(1, 1);
  boxWayCount = 0;
  for (let p: usize = 0; p < 5; p++) {
    for (let q = p + 1; q < 6; q++) {
      if (!setBoxAxis(p, q) || isListed(boxAxisX, boxAxisY, boxAxisZ)) continue;
      const between = betweenX * boxAxisX + betweenY * boxAxisY + betweenZ * boxAxisZ;
      let reach: f64 = 0;
      for (let at = edges; at < edges + 2 * EDGES_BYTES; at += 24) {
        reach += abs(load<f64>(at) * boxAxisX + load<f64>(at, 8) * boxAxisY + load<f64>(at, 16) * boxAxisZ);
      }
      addWay(boxAxisX, boxAxisY, boxAxisZ, reach - between);
      addWay(-boxAxisX, -boxAxisY, -boxAxisZ, reach + between);
    }
  }
  return boxWayCount == 0 ? Infinity : max(boxWayAt(0).reach, 0.0);
}

/**
 * Returns whether a bitwise equal axis is already listed: for parallel boxes, which most are in a building, the cross
 * products of edges yield the same three axes.
 */
function isListed(x: f64, y: f64, z: f64): bool {
  for (let i: u32 = 0; i < boxWayCount; i++) {
    const way = boxWayAt(i);
    if (way.x == x && way.y == y && way.z == z) return true;
  }
  return false;
}

function addWay(x: f64, y: f64, z: f64, reach: f64): void {
  let i = boxWayCount++;
  for (; i != 0 && boxWayAt(i - 1).reach > reach; i--) {
    const to = changetype<usize>(boxWayAt(i));
    v128.store(to, v128.load(to - WAY_BYTES));
    v128.store(to, v128.load(to - WAY_BYTES, 16), 16);
  }
  const way = boxWayAt(i);
  way.x = x; way.y = y; way.z = z;
  way.reach = reach;
}

/** Sets a side's edges, and adds its centre to the vector between the centres, with a sign. */
function addBox(index: u32, sign: f64): void {
  const side = sideAt(index), m = treeOf(side), node = nodeAt(changetype<Mesh>(side.mesh), 0);
  rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  betweenX += sign * m.tx;
  betweenY += sign * m.ty;
  betweenZ += sign * m.tz;
  for (let axis: usize = 0; axis < 3; axis++) {
    // A row of the rotation is an axis of the box.
    const row = changetype<usize>(rotation) + axis * 12;
    const u = <f64>load<f32>(row), v = <f64>load<f32>(row, 4), w = <f64>load<f32>(row, 8);
    const x = m.xx * u + m.yx * v + m.zx * w, y = m.xy * u + m.yy * v + m.zy * w, z = m.xz * u + m.yz * v + m.zz * w;
    let low: f64 = Infinity, high: f64 = -Infinity;
    v128.store(lanes, lowBounds(node, axis));
    for (let i: usize = 0; i < childCount(node); i++) low = min(low, <f64>load<f32>(lanes + (i << 2)));
    v128.store(lanes, highBounds(node, axis));
    for (let i: usize = 0; i < childCount(node); i++) high = max(high, <f64>load<f32>(lanes + (i << 2)));
    const middle = 0.5 * (low + high), half = 0.5 * (high - low);
    betweenX += sign * middle * x;
    betweenY += sign * middle * y;
    betweenZ += sign * middle * z;
    const to = edges + <usize>index * EDGES_BYTES + axis * 24;
    store<f64>(to, half * x);
    store<f64>(to, half * y, 8);
    store<f64>(to, half * z, 16);
  }
}

let boxAxisX: f64 = 0, boxAxisY: f64 = 0, boxAxisZ: f64 = 0;

/** Edges at a smaller angle have no cross product axis: the sine of that angle. */
const PARALLEL: f64 = 1e-6;

/**
 * Sets the unit cross product of edges p and q, of 0 … 2 of side 0 and 3 … 5 of side 1. Returns false if they are nearly
 * parallel.
 */
function setBoxAxis(p: usize, q: usize): bool {
  const a = edges + p * 24, b = edges + q * 24;
  const px = load<f64>(a), py = load<f64>(a, 8), pz = load<f64>(a, 16);
  const qx = load<f64>(b), qy = load<f64>(b, 8), qz = load<f64>(b, 16);
  const x = py * qz - pz * qy, y = pz * qx - px * qz, z = px * qy - py * qx;
  const square = x * x + y * y + z * z;
  const squares = (px * px + py * py + pz * pz) * (qx * qx + qy * qy + qz * qz);
  if (!(square > PARALLEL * PARALLEL * squares)) return false;
  const over = 1.0 / sqrt(square);
  boxAxisX = x * over;
  boxAxisY = y * over;
  boxAxisZ = z * over;
  return true;
}

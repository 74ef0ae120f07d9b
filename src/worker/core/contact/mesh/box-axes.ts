// The OBBs of the two meshes of a contact, those of their trees' roots, and their separating axes (Gottschalk, Lin and
// Manocha, "OBBTree", 1996): three face normals each, and the cross products of their edges. In contact space, in
// float64; the boxes are rounded outwards.

import { Rotation, rotationAt } from '../../math/quaternion';
import { Mesh, Node, childCount, maxBounds, minBounds, nodeAt } from '../../mesh/tree/layout';
import { sideAt, treeTransformOf } from './clipped-triangles';
import { POSITION_BYTES, VECTOR_BYTES } from '../../sizes';

// Half edges, three of side 0 and three of side 1, three f64 each; and the vector from the centre of one box to that of
// the other.
const edges: usize = memory.data(6 * POSITION_BYTES, 16);
const SIDE_EDGES_BYTES: usize = 3 * POSITION_BYTES;
let centerOffsetX: f64 = 0, centerOffsetY: f64 = 0, centerOffsetZ: f64 = 0;
const rotation = changetype<Rotation>(memory.data(<i32>offsetof<Rotation>(), 16));
const bounds: usize = memory.data(VECTOR_BYTES, 16);

/** A unit axis in one direction, and how far side 1's box must move along it to be clear of side 0's box. */
@unmanaged
export class BoxDirection {
  x: f64; y: f64; z: f64;
  distance: f64;
}

const DIRECTION_BYTES: usize = offsetof<BoxDirection>();
/** Fifteen pairs of edges, in both directions. */
const MAX_DIRECTIONS = 30;
/** Sorted by that distance, the least first. */
const directions: usize = memory.data(MAX_DIRECTIONS * <i32>offsetof<BoxDirection>(), 16);
export let boxDirectionCount: u32 = 0;

// @ts-ignore: decorator
@inline
export function boxDirectionAt(i: u32): BoxDirection {
  return changetype<BoxDirection>(directions + i * <u32>DIRECTION_BYTES);
}

/**
 * Sets the boxes of both sides and lists the directions of their axes, without duplicates. Returns how far the boxes
 * must move along the first direction to be apart, Infinity if there is none.
 */
export function setBoxes(): f64 {
  centerOffsetX = centerOffsetY = centerOffsetZ = 0;
  addBox(0, -1);
  addBox(1, 1);
  boxDirectionCount = 0;
  for (let p: usize = 0; p < 5; p++) {
    for (let q = p + 1; q < 6; q++) {
      if (!setBoxAxis(p, q) || isListed(boxAxisX, boxAxisY, boxAxisZ)) continue;
      const centerDistance = centerOffsetX * boxAxisX + centerOffsetY * boxAxisY + centerOffsetZ * boxAxisZ;
      let extent: f64 = 0;
      for (let at = edges; at < edges + 2 * SIDE_EDGES_BYTES; at += 24) {
        extent += abs(load<f64>(at) * boxAxisX + load<f64>(at, 8) * boxAxisY + load<f64>(at, 16) * boxAxisZ);
      }
      addDirection(boxAxisX, boxAxisY, boxAxisZ, extent - centerDistance);
      addDirection(-boxAxisX, -boxAxisY, -boxAxisZ, extent + centerDistance);
    }
  }
  return boxDirectionCount == 0 ? Infinity : max(boxDirectionAt(0).distance, 0.0);
}

/**
 * Returns whether a bitwise equal axis is already listed: for parallel boxes, which most are in a building, the cross
 * products of edges yield the same three axes.
 */
function isListed(x: f64, y: f64, z: f64): bool {
  for (let i: u32 = 0; i < boxDirectionCount; i++) {
    const direction = boxDirectionAt(i);
    if (direction.x == x && direction.y == y && direction.z == z) return true;
  }
  return false;
}

function addDirection(x: f64, y: f64, z: f64, distance: f64): void {
  let i = boxDirectionCount++;
  for (; i != 0 && boxDirectionAt(i - 1).distance > distance; i--) {
    const to = changetype<usize>(boxDirectionAt(i));
    v128.store(to, v128.load(to - DIRECTION_BYTES));
    v128.store(to, v128.load(to - DIRECTION_BYTES, 16), 16);
  }
  const direction = boxDirectionAt(i);
  direction.x = x; direction.y = y; direction.z = z;
  direction.distance = distance;
}

/** Sets a side's edges, and adds its centre to the vector between the centres, with a sign. */
function addBox(index: u32, sign: f64): void {
  const side = sideAt(index), m = treeTransformOf(side), node = nodeAt(changetype<Mesh>(side.mesh), 0);
  rotationAt(rotation, changetype<usize>(node) + offsetof<Node>('quaternion'));
  centerOffsetX += sign * m.tx;
  centerOffsetY += sign * m.ty;
  centerOffsetZ += sign * m.tz;
  for (let axis: usize = 0; axis < 3; axis++) {
    // A row of the rotation is an axis of the box.
    const row = changetype<usize>(rotation) + axis * 12;
    const u = <f64>load<f32>(row), v = <f64>load<f32>(row, 4), w = <f64>load<f32>(row, 8);
    const x = m.xx * u + m.yx * v + m.zx * w, y = m.xy * u + m.yy * v + m.zy * w, z = m.xz * u + m.yz * v + m.zz * w;
    let lower: f64 = Infinity, upper: f64 = -Infinity;
    v128.store(bounds, minBounds(node, axis));
    for (let i: usize = 0; i < childCount(node); i++) lower = min(lower, <f64>load<f32>(bounds + (i << 2)));
    v128.store(bounds, maxBounds(node, axis));
    for (let i: usize = 0; i < childCount(node); i++) upper = max(upper, <f64>load<f32>(bounds + (i << 2)));
    const center = 0.5 * (lower + upper), half = 0.5 * (upper - lower);
    centerOffsetX += sign * center * x;
    centerOffsetY += sign * center * y;
    centerOffsetZ += sign * center * z;
    const to = edges + <usize>index * SIDE_EDGES_BYTES + axis * 24;
    store<f64>(to, half * x);
    store<f64>(to, half * y, 8);
    store<f64>(to, half * z, 16);
  }
}

let boxAxisX: f64 = 0, boxAxisY: f64 = 0, boxAxisZ: f64 = 0;

/** Edges at a smaller angle have no cross product axis: the sine of that angle. */
const MIN_SINE: f64 = 1e-6;

/**
 * Sets the unit cross product of edges p and q, of 0 … 2 of side 0 and 3 … 5 of side 1. Returns false if they are nearly
 * parallel.
 */
function setBoxAxis(p: usize, q: usize): bool {
  const a = edges + p * 24, b = edges + q * 24;
  const px = load<f64>(a), py = load<f64>(a, 8), pz = load<f64>(a, 16);
  const qx = load<f64>(b), qy = load<f64>(b, 8), qz = load<f64>(b, 16);
  const x = py * qz - pz * qy, y = pz * qx - px * qz, z = px * qy - py * qx;
  const lengthSquared = x * x + y * y + z * z;
  const edgeLengthsSquared = (px * px + py * py + pz * pz) * (qx * qx + qy * qy + qz * qz);
  if (!(lengthSquared > MIN_SINE * MIN_SINE * edgeLengthsSquared)) return false;
  const scale = 1.0 / sqrt(lengthSquared);
  boxAxisX = x * scale;
  boxAxisY = y * scale;
  boxAxisZ = z * scale;
  return true;
}

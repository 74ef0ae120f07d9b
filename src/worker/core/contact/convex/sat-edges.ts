// The least translation that separates two bodies that are zonotopes, each all sums of up to three vectors times -1 … 1:
// boxes, segments, points. Their Minkowski difference is a zonotope too, and each of its faces is spanned by two of the
// vectors (the separating axes of Gottschalk, Lin and Manocha, "OBBTree", 1996, for boxes under any affine map).

import { tangentX, tangentY, tangentZ, setBasis } from '../../math/basis';
import { Support, edgeX, edgeY, edgeZ } from './support';
import { POSITION_BYTES } from '../../sizes';

/** The unit axis from a to b, and how far b must move along it; negative if the two are disjoint. */
export let axisX: f64 = 0, axisY: f64 = 0, axisZ: f64 = 0;
export let axisDepth: f64 = 0;

const edges: usize = memory.data(6 * POSITION_BYTES, 16);
let count: u32 = 0;
let cx: f64 = 0, cy: f64 = 0, cz: f64 = 0;

/** Two vectors at a smaller angle span no face: the square of its sine. */
const MIN_SINE_SQUARED: f64 = 1e-22;
/** The axis of two edges is only taken if its translation is shorter by this factor than that of a face. */
const EDGE_FACTOR: f64 = 1.0 - 1e-6;

export function findSeparatingAxis(a: Support, b: Support): void {
  cx = a.x - b.x; cy = a.y - b.y; cz = a.z - b.z;
  count = 0;
  for (let i: u32 = 0; i < a.edgeCount; i++) addEdge(edgeX(a, i), edgeY(a, i), edgeZ(a, i));
  for (let i: u32 = 0; i < b.edgeCount; i++) addEdge(edgeX(b, i), edgeY(b, i), edgeZ(b, i));
  axisDepth = Infinity;
  const edgeCountA = a.edgeCount;
  for (let i: u32 = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) if (i >= edgeCountA || j < edgeCountA) tryEdges(i, j, 1);
  }
  for (let i: u32 = 0; i < edgeCountA; i++) for (let j = edgeCountA; j < count; j++) tryEdges(i, j, EDGE_FACTOR);
  if (axisDepth == Infinity) tryPerpendicularAxis();
}

function addEdge(x: f64, y: f64, z: f64): void {
  const to = edges + <usize>count * 24;
  store<f64>(to, x);
  store<f64>(to, y, 8);
  store<f64>(to, z, 16);
  count++;
}

function tryEdges(i: u32, j: u32, factor: f64): void {
  const p = edges + <usize>i * 24, q = edges + <usize>j * 24;
  const px = load<f64>(p), py = load<f64>(p, 8), pz = load<f64>(p, 16);
  const qx = load<f64>(q), qy = load<f64>(q, 8), qz = load<f64>(q, 16);
  const x = py * qz - pz * qy, y = pz * qx - px * qz, z = px * qy - py * qx;
  const lengthSquared = x * x + y * y + z * z;
  if (!(lengthSquared > MIN_SINE_SQUARED * (px * px + py * py + pz * pz) * (qx * qx + qy * qy + qz * qz))) return;
  const scale = 1.0 / sqrt(lengthSquared);
  tryAxis(x * scale, y * scale, z * scale, factor);
}

function tryAxis(x: f64, y: f64, z: f64, factor: f64): void {
  const centerDistance = cx * x + cy * y + cz * z;
  let overlap: f64 = -abs(centerDistance);
  for (let at = edges, end = at + <usize>count * 24; at < end; at += 24) {
    overlap += abs(load<f64>(at) * x + load<f64>(at, 8) * y + load<f64>(at, 16) * z);
  }
  // If they are disjoint, the axis of the widest gap is kept, without preferring faces.
  if (!(overlap < (axisDepth > 0 ? axisDepth * factor : axisDepth))) return;
  axisDepth = overlap;
  const sign: f64 = centerDistance > 0 ? -1 : 1;
  axisX = sign * x; axisY = sign * y; axisZ = sign * z;
}

/**
 * Handles parallel edges, or none: tries the axis perpendicular to the edges towards b, or any axis perpendicular to
 * them.
 */
function tryPerpendicularAxis(): void {
  let ux: f64 = 0, uy: f64 = 0, uz: f64 = 0;
  let longest: f64 = 0;
  for (let at = edges, end = at + <usize>count * 24; at < end; at += 24) {
    const x = load<f64>(at), y = load<f64>(at, 8), z = load<f64>(at, 16);
    const length = sqrt(x * x + y * y + z * z);
    if (length <= longest) continue;
    longest = length;
    ux = x / length; uy = y / length; uz = z / length;
  }
  const along = cx * ux + cy * uy + cz * uz;
  const x = along * ux - cx, y = along * uy - cy, z = along * uz - cz;
  const length = sqrt(x * x + y * y + z * z);
  if (length > 1e-12 * (longest + abs(cx) + abs(cy) + abs(cz))) {
    tryAxis(x / length, y / length, z / length, 1);
  } else if (longest > 0) {
    setBasis(ux, uy, uz);
    tryAxis(tangentX, tangentY, tangentZ, 1);
  } else tryAxis(0, 0, 1, 1);
}

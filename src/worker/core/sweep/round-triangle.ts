// Sweeps a sphere or capsule straight against one triangle of a mesh, by the distance of its axis (character/capsule-cast.ts),
// in the capsule's own frame, float64.

import {
  advance, awayX, awayY, awayZ, heightOver, measure, setCastCapsule, touchX as capsuleX, touchY as capsuleY, touchZ as capsuleZ,
} from '../character/capsule-cast';
import { Obstacle, TRIANGLE, boundTriangle } from '../character/obstacles';
import { Support } from '../contact/convex/support';
import { Affine } from '../math/affine';
import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { best, isSwapped, meetDepth, setTouch, take } from './meeting';
import { wayLength, wayX, wayY, wayZ } from './motion';

/** Bodies with a ball count as overlapping from this share of the radius on. */
const TOUCHING: f64 = 1e-9;

let body: Support = changetype<Support>(0);
// The capsule's own axes in the world: the last one is its axis.
let axisXx: f64 = 0, axisXy: f64 = 0, axisXz: f64 = 0;
let axisYx: f64 = 0, axisYy: f64 = 0, axisYz: f64 = 0;
let axisZx: f64 = 0, axisZy: f64 = 0, axisZz: f64 = 1;
let half: f64 = 0;
let alongX: f64 = 0, alongY: f64 = 0, alongZ: f64 = 0;
const ownFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const obstacle = changetype<Obstacle>(memory.data(<i32>offsetof<Obstacle>(), 16));

/** Sets the sphere or capsule, and the map from the mesh's tree space to the world about the common origin. */
export function setOwnFrame(round: Support, tree: Affine): void {
  body = round;
  const b = round;
  half = b.edges != 0 ? sqrt(b.edge0X * b.edge0X + b.edge0Y * b.edge0Y + b.edge0Z * b.edge0Z) : 0;
  if (half > 0) {
    axisZx = b.edge0X / half; axisZy = b.edge0Y / half; axisZz = b.edge0Z / half;
    setBasis(axisZx, axisZy, axisZz);
    axisXx = firstX; axisXy = firstY; axisXz = firstZ;
    axisYx = secondX; axisYy = secondY; axisYz = secondZ;
  } else {
    axisXx = axisYy = axisZz = 1;
    axisXy = axisXz = axisYx = axisYz = axisZx = axisZy = 0;
  }
  const m = ownFrame;
  for (let column: usize = 0; column < 96; column += 24) {
    const from = changetype<usize>(tree) + column, to = changetype<usize>(m) + column;
    const isPlace = column == 72;
    const x = load<f64>(from) - (isPlace ? b.x : 0), y = load<f64>(from, 8) - (isPlace ? b.y : 0);
    const z = load<f64>(from, 16) - (isPlace ? b.z : 0);
    store<f64>(to, axisXx * x + axisXy * y + axisXz * z);
    store<f64>(to, axisYx * x + axisYy * y + axisYz * z, 8);
    store<f64>(to, axisZx * x + axisZy * y + axisZz * z, 16);
  }
  alongX = axisXx * wayX + axisXy * wayY + axisXz * wayZ;
  alongY = axisYx * wayX + axisYy * wayY + axisYz * wayZ;
  alongZ = axisZx * wayX + axisZy * wayY + axisZz * wayZ;
  setCastCapsule(half, b.radius);
  obstacle.kind = TRIANGLE;
  obstacle.isOneSided = 0;
}

/**
 * Results of `sweepTriangle`: the triangle is not hit earlier than the best, it is, or the capsule intersects it at the start.
 */
const PASSED: i32 = 0;
export const MET: i32 = 1;
export const IN_AT_START: i32 = 2;

/** Sweeps against a triangle, which is not hit before a time. */
export function sweepTriangle(at: usize, from: f64): i32 {
  mapTriangle(changetype<usize>(obstacle), at, ownFrame);
  const o = obstacle, radius = body.radius;
  boundTriangle(o);
  o.isMeasured = 0;
  if (!(from > 0)) {
    const distance = measure(o, 0, 0, 0);
    if (distance < radius * (1.0 - TOUCHING)) {
      takeStart(distance, at);
      return IN_AT_START;
    }
  }
  if (best == 0 && meetDepth > 0) return PASSED;
  const time = advance(o, 0, 0, 0, alongX, alongY, alongZ, wayLength, from, best == 1 ? 1 : best * (1.0 + 1e-15));
  if (!(time < 1)) return PASSED;
  takeMeeting(time, 0, at);
  return MET;
}

/** Records a triangle that the capsule intersects at the start. */
function takeStart(distance: f64, at: usize): void {
  const o = obstacle, radius = body.radius;
  if (distance > 0) {
    takeMeeting(0, radius - distance, at);
    return;
  }
  // The axis goes through the triangle: it leaves through the nearer of its ends.
  const height = heightOver(o, 0, 0, 0), reach = half * abs(o.normalZ);
  const side: f64 = height < 0 ? -1 : 1;
  take(
    0, radius + reach - abs(height), side * worldX(o.normalX, o.normalY, o.normalZ),
    side * worldY(o.normalX, o.normalY, o.normalZ), side * worldZ(o.normalX, o.normalY, o.normalZ), at,
  );
}

function takeMeeting(time: f64, depth: f64, at: usize): void {
  if (!take(time, depth, worldX(awayX, awayY, awayZ), worldY(awayX, awayY, awayZ), worldZ(awayX, awayY, awayZ), at)) return;
  // Points are along the way of the moving body; if that is the object, the shape's triangle is what moves towards it.
  const shift = isSwapped ? -time : 0;
  setTouch(
    body.x + worldX(capsuleX, capsuleY, capsuleZ) + shift * wayX, body.y + worldY(capsuleX, capsuleY, capsuleZ) + shift * wayY,
    body.z + worldZ(capsuleX, capsuleY, capsuleZ) + shift * wayZ,
  );
}

// @ts-ignore: decorator
@inline
function worldX(x: f64, y: f64, z: f64): f64 { return axisXx * x + axisYx * y + axisZx * z; }
// @ts-ignore: decorator
@inline
function worldY(x: f64, y: f64, z: f64): f64 { return axisXy * x + axisYy * y + axisZy * z; }
// @ts-ignore: decorator
@inline
function worldZ(x: f64, y: f64, z: f64): f64 { return axisXz * x + axisYz * y + axisZz * z; }

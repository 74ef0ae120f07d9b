// Sweeps a sphere or capsule straight against one triangle of a mesh, by the distance of its axis (character/capsule-cast.ts),
// in the capsule's own frame, float64.

import {
  timeOfImpact, contactNormalX, contactNormalY, contactNormalZ, heightAbove, measureDistance, setCastCapsule,
  contactPointX as localPointX, contactPointY as localPointY, contactPointZ as localPointZ,
} from '../character/capsule-cast';
import { Obstacle, TRIANGLE, boundTriangle } from '../character/obstacles';
import { Support } from '../contact/convex/support';
import { Affine } from '../math/affine';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../math/basis';
import { mapTriangle } from '../mesh/query/mapped-triangle';
import { contactTime, isSwapped, contactDepth, setContactPoint, offerTriangleContact } from './meeting';
import { translationLength, translationX, translationY, translationZ } from './motion';

/** Bodies with a ball count as overlapping from this share of the radius on. */
const TOUCHING: f64 = 1e-9;

let roundBody: Support = changetype<Support>(0);
// The capsule's own axes in the world: the last one is its axis.
let axisXx: f64 = 0, axisXy: f64 = 0, axisXz: f64 = 0;
let axisYx: f64 = 0, axisYy: f64 = 0, axisYz: f64 = 0;
let axisZx: f64 = 0, axisZy: f64 = 0, axisZz: f64 = 1;
let half: f64 = 0;
let localTranslationX: f64 = 0, localTranslationY: f64 = 0, localTranslationZ: f64 = 0;
const capsuleFrame = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const obstacle = changetype<Obstacle>(memory.data(<i32>offsetof<Obstacle>(), 16));

/** Sets the sphere or capsule, and the map from the mesh's tree space to the world about the common origin. */
export function setCapsuleFrame(round: Support, treeToWorld: Affine): void {
  roundBody = round;
  const b = round;
  half = b.edgeCount != 0 ? sqrt(b.edge0X * b.edge0X + b.edge0Y * b.edge0Y + b.edge0Z * b.edge0Z) : 0;
  if (half > 0) {
    axisZx = b.edge0X / half; axisZy = b.edge0Y / half; axisZz = b.edge0Z / half;
    setBasis(axisZx, axisZy, axisZz);
    axisXx = tangentX; axisXy = tangentY; axisXz = tangentZ;
    axisYx = bitangentX; axisYy = bitangentY; axisYz = bitangentZ;
  } else {
    axisXx = axisYy = axisZz = 1;
    axisXy = axisXz = axisYx = axisYz = axisZx = axisZy = 0;
  }
  const m = capsuleFrame;
  for (let column: usize = 0; column < 96; column += 24) {
    const from = changetype<usize>(treeToWorld) + column, to = changetype<usize>(m) + column;
    const isTranslation = column == 72;
    const x = load<f64>(from) - (isTranslation ? b.x : 0), y = load<f64>(from, 8) - (isTranslation ? b.y : 0);
    const z = load<f64>(from, 16) - (isTranslation ? b.z : 0);
    store<f64>(to, axisXx * x + axisXy * y + axisXz * z);
    store<f64>(to, axisYx * x + axisYy * y + axisYz * z, 8);
    store<f64>(to, axisZx * x + axisZy * y + axisZz * z, 16);
  }
  localTranslationX = axisXx * translationX + axisXy * translationY + axisXz * translationZ;
  localTranslationY = axisYx * translationX + axisYy * translationY + axisYz * translationZ;
  localTranslationZ = axisZx * translationX + axisZy * translationY + axisZz * translationZ;
  setCastCapsule(half, b.radius);
  obstacle.kind = TRIANGLE;
  obstacle.isOneSided = 0;
}

/**
 * Results of `sweepTriangle`: the triangle is not hit earlier than the best, it is, or the capsule intersects it at the start.
 */
const MISSED: i32 = 0;
export const HIT: i32 = 1;
export const INTERSECTS_AT_START: i32 = 2;

/** Sweeps against a triangle, which is not hit before a time. */
export function sweepTriangle(at: usize, from: f64): i32 {
  mapTriangle(changetype<usize>(obstacle), at, capsuleFrame);
  const o = obstacle, radius = roundBody.radius;
  boundTriangle(o);
  o.isMeasured = 0;
  if (!(from > 0)) {
    const distance = measureDistance(o, 0, 0, 0);
    if (distance < radius * (1.0 - TOUCHING)) {
      recordOverlap(distance, at);
      return INTERSECTS_AT_START;
    }
  }
  if (contactTime == 0 && contactDepth > 0) return MISSED;
  const time = timeOfImpact(o, 0, 0, 0, localTranslationX, localTranslationY, localTranslationZ, translationLength, from,
    contactTime == 1 ? 1 : contactTime * (1.0 + 1e-15));
  if (!(time < 1)) return MISSED;
  recordContact(time, 0, at);
  return HIT;
}

/** Records a triangle that the capsule intersects at the start. */
function recordOverlap(distance: f64, at: usize): void {
  const o = obstacle, radius = roundBody.radius;
  if (distance > 0) {
    recordContact(0, radius - distance, at);
    return;
  }
  // The axis goes through the triangle: it leaves through the nearer of its ends.
  const height = heightAbove(o, 0, 0, 0), axisExtent = half * abs(o.normalZ);
  const side: f64 = height < 0 ? -1 : 1;
  offerTriangleContact(
    0, radius + axisExtent - abs(height), side * worldX(o.normalX, o.normalY, o.normalZ),
    side * worldY(o.normalX, o.normalY, o.normalZ), side * worldZ(o.normalX, o.normalY, o.normalZ), at,
  );
}

function recordContact(time: f64, depth: f64, at: usize): void {
  if (!offerTriangleContact(time, depth, worldX(contactNormalX, contactNormalY, contactNormalZ),
    worldY(contactNormalX, contactNormalY, contactNormalZ), worldZ(contactNormalX, contactNormalY, contactNormalZ), at)) return;
  // Points are along the motion of the moving body; if that is the object, the shape's triangle is what moves towards it.
  const shift = isSwapped ? -time : 0;
  setContactPoint(
    roundBody.x + worldX(localPointX, localPointY, localPointZ) + shift * translationX,
    roundBody.y + worldY(localPointX, localPointY, localPointZ) + shift * translationY,
    roundBody.z + worldZ(localPointX, localPointY, localPointZ) + shift * translationZ,
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

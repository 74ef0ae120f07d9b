// Contact of two convex shapes: the shortest way that parts them, and where on it they touch.

import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../math/basis';
import { Solid } from '../scene/solid';
import {
  Body, extentOf, placeX, placeY, placeZ, setBodies, setInverse, setSupport, supportX, supportY, supportZ,
} from './body';
import { cutLine, enters, leaves, setLine } from './chord';
import { addPoint } from './contact';
import { reachOf } from './difference';
import { commonX, commonY, commonZ, distanceBetween, nearestX, nearestY, nearestZ, setCommon } from './distance';
import { axisLength, axisX, axisY, axisZ, findAxis } from './edge-axes';
import { findWay, wayLength, wayX, wayY, wayZ } from './expand';
import { setFeature } from './feature';
import { Polygon, cornerX, cornerY, intersectPolygons, reduceToFour } from './polygon';

const first = changetype<Body>(memory.data(304, 16)); // BODY_BYTES
const second = changetype<Body>(memory.data(304, 16));
const featureA = changetype<Polygon>(memory.data(1288, 16)); // POLYGON_BYTES
const featureB = changetype<Polygon>(memory.data(1288, 16));
const shared = changetype<Polygon>(memory.data(1288, 16));

/** About the size of both. */
let size: f64 = 0;
/** The best way so far, unit, and how far b must go along it. */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let depth: f64 = 0;

/** What lies no deeper than so much more than it must is in contact as well, relative to the size: faces all but flush. */
const FLUSH: f64 = 1e-6;

/** Two solids that meet, each a box, sphere, capsule or convex closed mesh: adds their points. */
export function convexContact(a: Solid, b: Solid): void {
  setBodies(first, second, a, b);
  size = extentOf(first) + extentOf(second);
  findNormal();
  setBasis(normalX, normalY, normalZ);
  setSupport(first, normalX, normalY, normalZ, false);
  const top = supportX * normalX + supportY * normalY + supportZ * normalZ;
  setSupport(second, -normalX, -normalY, -normalZ, false);
  const bottom = supportX * normalX + supportY * normalY + supportZ * normalZ;
  depth = max(depth, 0.0);
  const slack = depth + FLUSH * size;
  setFeature(featureA, first, normalX, normalY, normalZ, top - slack);
  setFeature(featureB, second, -normalX, -normalY, -normalZ, -bottom - slack);
  addPoints(0.5 * (top + bottom), 0.5 * slack);
}

// --- the way ---

/** So near to each other, relative to the size, which question knows the way is up to rounding: both are asked. */
const CLOSE: f64 = 1e-7;

function findNormal(): void {
  depth = Infinity;
  const isRound = (first.hasBall && first.radius == 0) || (second.hasBall && second.radius == 0);
  if (isRound) {
    findWay(first, second, size, false);
    offer(wayX, wayY, wayZ);
    return;
  }
  // Of balls what they are about is looked at: as far as that is apart, their radii reach. What is flat, as two
  // segments in a plane are together, may be apart within its plane.
  const radius = first.radius + second.radius;
  const onlyEdges = first.mesh == 0 && second.mesh == 0;
  if (onlyEdges) {
    findAxis(first, second);
    offer(axisX, axisY, axisZ);
    if (radius == 0 || axisLength > CLOSE * size) return;
  }
  let distance: f64 = 0;
  if (radius > 0) {
    distance = distanceBetween(first, second, size, true);
    if (distance > 0) offer(-nearestX / distance, -nearestY / distance, -nearestZ / distance);
  }
  if (onlyEdges || distance > CLOSE * size) return;
  findWay(first, second, size, true);
  if (wayLength < Infinity) offer(wayX, wayY, wayZ);
}

/** Moving b by the reach of the difference parts the two along any direction: the shortest is taken. */
function offer(x: f64, y: f64, z: f64): void {
  const reach = reachOf(first, second, x, y, z, false);
  if (!(reach < depth)) return;
  depth = reach;
  normalX = x; normalY = y; normalZ = z;
}

// --- the points ---

let hasCommon: bool = false;

/** Of what both features share, each in the middle of what both bodies are along the normal: `height`, give or take `room`. */
function addPoints(height: f64, room: f64): void {
  hasCommon = false;
  setInverse(first);
  setInverse(second);
  intersectPolygons(shared, featureA, featureB);
  reduceToFour(shared);
  const count = shared.count;
  let middleX: f64 = 0, middleY: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    middleX += cornerX(shared, i) / count;
    middleY += cornerY(shared, i) / count;
  }
  // A hair within, as sides may run along the normal.
  for (let i: u32 = 0; i < count; i++) {
    addAt(
      cornerX(shared, i) + (middleX - cornerX(shared, i)) * 1e-7,
      cornerY(shared, i) + (middleY - cornerY(shared, i)) * 1e-7, height, room,
    );
  }
  if (count == 0) {
    findCommon();
    add(commonX, commonY, commonZ);
  }
}

function addAt(u: f64, v: f64, height: f64, room: f64): void {
  const x = u * firstX + v * secondX + height * normalX;
  const y = u * firstY + v * secondY + height * normalY;
  const z = u * firstZ + v * secondZ + height * normalZ;
  setLine(x, y, z, normalX, normalY, normalZ, -room, room);
  cutLine(first);
  cutLine(second);
  if (enters <= leaves + FLUSH * size) {
    const t = 0.5 * (enters + leaves);
    add(x + t * normalX, y + t * normalY, z + t * normalZ);
    return;
  }
  // None of the line is in both: as near to it as what they share reaches.
  findCommon();
  const dx = x - commonX, dy = y - commonY, dz = z - commonZ;
  setLine(commonX, commonY, commonZ, dx, dy, dz, 0, 1);
  cutLine(first);
  cutLine(second);
  const t = enters <= leaves ? leaves : 0.0;
  add(commonX + t * dx, commonY + t * dy, commonZ + t * dz);
}

function findCommon(): void {
  if (hasCommon) return;
  hasCommon = true;
  distanceBetween(first, second, size, false);
  setCommon();
}

function add(x: f64, y: f64, z: f64): void {
  addPoint(placeX + x, placeY + y, placeZ + z, normalX, normalY, normalZ, depth);
}

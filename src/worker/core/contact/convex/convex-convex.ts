// Contact of two convex shapes: the shortest way that parts them, and where on it they touch.

import { firstX, firstY, firstZ, secondX, secondY, secondZ, setBasis } from '../../math/basis';
import {
  addCorner as addClipped, beginPolygon, cornerCount as clippedCount, cornerX as clippedX, cornerY as clippedY,
  cornerZ as clippedZ, cutByCube,
} from '../../math/clip-polygon';
import { isTetrahedronLeft } from './hull-hull';
import { PlacedShape } from '../../shape/placed-shape';
import {
  SUPPORT_BYTES, Support, edgeX, edgeY, edgeZ, extentOf, findSupportPoint, frameOf, inverseOf, placeX, placeY, placeZ,
  setInverse, setSupports, supportX, supportY, supportZ,
} from './support';
import { cutLine, enters, leaves, setLine } from './line-clip';
import { Line, MOST_LINES, addLine, areIn, clearLines, cutLines, lineAt, setLineCount } from './line-clip-x4';
import { addPoint } from '../manifold/contact';
import {
  beginReduction, offerPoint, reduceToFour, reducedCount, reducedX, reducedY, reducedZ,
} from '../manifold/manifold-reduction';
import { reachOf } from './minkowski-difference';
import {
  commonX, commonY, commonZ, distanceBetween, isHeld, moveSimplex, nearestX, nearestY, nearestZ, setCommon,
} from './gjk';
import { axisLength, axisX, axisY, axisZ, findAxis } from './sat-edges';
import { findWay, wayLength, wayX, wayY, wayZ } from './epa';
import { findFlatFace, flatDrop, setFeature } from './contact-feature';
import { POLYGON_BYTES, Polygon, cornerX, cornerY, intersectPolygons, leaveFour } from './polygon';

const first = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const second = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const featureA = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));
const featureB = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));
const shared = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));

/** The sum of the extents of both bodies. */
let size: f64 = 0;
/** The best direction so far, as a unit vector, and how far b must move along it to be parted from a. */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let depth: f64 = 0;

/**
 * Faces that are flush but for this, relative to the size, are in contact as a whole: what lies at most so much deeper
 * than the depth demands belongs to the feature.
 */
const FLUSH: f64 = 1e-6;

/**
 * Adds the contact points of two solids that meet, each a box, sphere, capsule or convex closed mesh. Throws
 * OUT_OF_MEMORY.
 */
export function convexConvexContact(a: PlacedShape, b: PlacedShape): void {
  setSupports(first, second, a, b);
  size = extentOf(first) + extentOf(second);
  findNormal();
  setBasis(normalX, normalY, normalZ);
  findSupportPoint(first, normalX, normalY, normalZ, false);
  const top = supportX * normalX + supportY * normalY + supportZ * normalZ;
  findSupportPoint(second, -normalX, -normalY, -normalZ, false);
  const bottom = supportX * normalX + supportY * normalY + supportZ * normalZ;
  depth = max(depth, 0.0);
  const slack = depth + FLUSH * size;
  if (first.isBox && second.isBox && addFlatPoints(slack)) return;
  setFeature(featureA, first, normalX, normalY, normalZ, top - slack);
  setFeature(featureB, second, -normalX, -normalY, -normalZ, -bottom - slack);
  addPoints(0.5 * (top + bottom), 0.5 * slack);
}

// --- the way ---

/**
 * Where the bodies without their balls are no farther apart and no deeper in each other than this, relative to the
 * size, rounding decides whether their distance or their penetration gives the right direction: both are tried.
 */
const CLOSE: f64 = 1e-7;

function findNormal(): void {
  depth = Infinity;
  hasCommon = false;
  const isRound = (first.hasBall && first.radius == 0) || (second.hasBall && second.radius == 0);
  if (isRound) {
    findWay(first, second, size, false, false, true);
    offer(wayX, wayY, wayZ);
    return;
  }
  // Balls are compared by what they are about: as far as that is apart, their radii reach. What is flat, as two
  // segments in a plane are together, may be apart within its plane.
  const radius = first.radius + second.radius;
  const onlyEdges = first.mesh == 0 && second.mesh == 0;
  if (onlyEdges) {
    findAxis(first, second);
    offer(axisX, axisY, axisZ);
    if (radius == 0 || axisLength > CLOSE * size) return;
  }
  let distance: f64 = 0;
  // What it was decided by that they meet is there.
  if (first.mesh != 0 && second.mesh != 0 && isTetrahedronLeft) moveSimplex(frameOf(first));
  else if (radius > 0 || !onlyEdges) distance = distanceBetween(first, second, size, true);
  if (radius > 0 && distance > 0) offer(-nearestX / distance, -nearestY / distance, -nearestZ / distance);
  if (onlyEdges || (radius > 0 && distance > CLOSE * size)) return;
  // What they share without their balls they share with them.
  hasCommon = isHeld();
  if (hasCommon) setCommon();
  findWay(first, second, size, true, hasCommon, false);
  if (wayLength < Infinity) offer(wayX, wayY, wayZ);
}

/**
 * Keeps a direction where it parts the two sooner than the best so far: moving b by the reach of the Minkowski
 * difference along it does.
 */
function offer(x: f64, y: f64, z: f64): void {
  const reach = reachOf(first, second, x, y, z, false);
  if (!(reach < depth)) return;
  depth = reach;
  normalX = x; normalY = y; normalZ = z;
}

// --- the points ---

/** Corners are moved by this part of the way to the middle, as the bodies' sides may run along the normal. */
const WITHIN: f64 = 1e-7;

/**
 * Adds the points that both features share, each in the middle of the part of the line along the normal that is in both
 * bodies. The lines begin at `height` and reach `room` either way.
 */
function addPoints(height: f64, room: f64): void {
  setInverse(first);
  setInverse(second);
  intersectPolygons(shared, featureA, featureB);
  leaveFour(shared);
  const count = shared.count;
  if (count == 0) {
    findCommon();
    add(commonX, commonY, commonZ);
    return;
  }
  let middleX: f64 = 0, middleY: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    middleX += cornerX(shared, i) / count;
    middleY += cornerY(shared, i) / count;
  }
  clearLines();
  for (let i: u32 = 0; i < count; i++) {
    const u = cornerX(shared, i) + (middleX - cornerX(shared, i)) * WITHIN;
    const v = cornerY(shared, i) + (middleY - cornerY(shared, i)) * WITHIN;
    addLine(
      u * firstX + v * secondX + height * normalX, u * firstY + v * secondY + height * normalY,
      u * firstZ + v * secondZ + height * normalZ, normalX, normalY, normalZ, -room, room,
    );
  }
  cutLines(first);
  cutLines(second);
  let missing: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (!(lineAt(i).enters <= lineAt(i).leaves + FLUSH * size)) missing |= 1 << i;
  }
  // What float32 does not find in both is looked at again in float64.
  const known = missing + 1 == 1 << count ? 0 : areIn(first) & areIn(second);
  for (let i: u32 = 0; i < count; i++) {
    const line = lineAt(i);
    if (missing & (1 << i)) continue;
    if (known & (1 << i)) addOn(line);
    else addAlong(line.x, line.y, line.z, room);
  }
  if (missing != 0) addMissing(missing, room);
}

/** Adds the point in the middle of what is left of a line. */
function addOn(line: Line): void {
  const t = 0.5 * (line.enters + line.leaves);
  add(line.x + t * line.dx, line.y + t * line.dy, line.z + t * line.dz);
}

/**
 * Adds a point for each line of a mask that has no part in both bodies: where the way from the common point to the line
 * leaves the two. Falls back to float64 where the float32 result is not in both.
 */
function addMissing(which: u32, room: f64): void {
  findCommon();
  let count: u32 = 0;
  for (let i: u32 = 0; i < MOST_LINES; i++) {
    if (!(which & (1 << i))) continue;
    const line = lineAt(i), x = line.x, y = line.y, z = line.z;
    moveLine(lineAt(count), x, y, z);
    count++;
  }
  setLineCount(count);
  cutLines(first);
  cutLines(second);
  for (let i: u32 = 0; i < count; i++) {
    const line = lineAt(i);
    line.enters = line.leaves = max(line.leaves, 0.0);
  }
  const known = areIn(first) & areIn(second);
  for (let i: u32 = 0; i < count; i++) {
    const line = lineAt(i);
    if (known & (1 << i)) addOn(line);
    else addAlong(line.x + line.dx, line.y + line.dy, line.z + line.dz, room);
  }
}

/** Makes a line lead from the common point to a place. */
function moveLine(line: Line, x: f64, y: f64, z: f64): void {
  line.x = commonX; line.y = commonY; line.z = commonZ;
  line.dx = x - commonX; line.dy = y - commonY; line.dz = z - commonZ;
  line.enters = 0;
  line.leaves = 1;
}

/** What two boxes that lie flat on each other share has no width where it is narrower than this, relative to the size. */
const NARROW: f64 = 1e-4;

/**
 * Adds the points of two boxes that lie flat on each other, but tilted by more than they are deep: corners of the part of
 * b's face that lies in a, each moved to the middle of what both share there. Answers false, and adds none, where they
 * do not. `slack` is how far below their tops features reach.
 */
function addFlatPoints(slack: f64): bool {
  if (findFlatFace(first, normalX, normalY, normalZ) == 3) return false;
  const drop = flatDrop;
  const i = findFlatFace(second, normalX, normalY, normalZ);
  if (i == 3 || drop + flatDrop <= slack) return false;
  setInverse(first);
  setInverse(second);
  const j: u32 = i == 2 ? 0 : i + 1, k: u32 = i == 0 ? 2 : i - 1;
  const ex = edgeX(second, i), ey = edgeY(second, i), ez = edgeZ(second, i);
  const side: f64 = ex * normalX + ey * normalY + ez * normalZ > 0 ? -1 : 1;
  beginPolygon();
  for (let corner = 0; corner < 4; corner++) {
    const s: f64 = corner == 0 || corner == 3 ? 1 : -1, t: f64 = corner < 2 ? 1 : -1;
    const x = second.x + side * ex + s * edgeX(second, j) + t * edgeX(second, k);
    const y = second.y + side * ey + s * edgeY(second, j) + t * edgeY(second, k);
    const z = second.z + side * ez + s * edgeZ(second, j) + t * edgeZ(second, k);
    const m = inverseOf(first);
    addClipped(
      m.xx * x + m.yx * y + m.zx * z + m.tx, m.xy * x + m.yy * y + m.zy * z + m.ty, m.xz * x + m.yz * y + m.zz * z + m.tz,
    );
  }
  if (!cutByCube()) return false;
  let middleX: f64 = 0, middleY: f64 = 0, middleZ: f64 = 0;
  for (let corner: u32 = 0; corner < clippedCount; corner++) {
    middleX += clippedX(corner) / clippedCount;
    middleY += clippedY(corner) / clippedCount;
    middleZ += clippedZ(corner) / clippedCount;
  }
  beginReduction();
  for (let corner: u32 = 0; corner < clippedCount; corner++) {
    const u = clippedX(corner) + (middleX - clippedX(corner)) * WITHIN;
    const v = clippedY(corner) + (middleY - clippedY(corner)) * WITHIN;
    const w = clippedZ(corner) + (middleZ - clippedZ(corner)) * WITHIN;
    const m = frameOf(first);
    const x = m.xx * u + m.yx * v + m.zx * w + m.tx, y = m.xy * u + m.yy * v + m.zy * w + m.ty;
    const z = m.xz * u + m.yz * v + m.zz * w + m.tz;
    offerPoint(x * firstX + y * firstY + z * firstZ, x * secondX + y * secondY + z * secondZ, x, y, z);
  }
  reduceToFour(NARROW * size);
  for (let corner: u32 = 0; corner < reducedCount; corner++) {
    addAlong(reducedX(corner), reducedY(corner), reducedZ(corner), slack);
  }
  return true;
}

/**
 * Adds the point of one line along the normal through a place, or the nearest to it that the bodies share, as
 * `addPoints` and `addMissing` do, but all in float64.
 */
function addAlong(x: f64, y: f64, z: f64, room: f64): void {
  setLine(x, y, z, normalX, normalY, normalZ, -room, room);
  cutLine(first);
  cutLine(second);
  let t = 0.5 * (enters + leaves);
  if (enters <= leaves + FLUSH * size) {
    add(x + t * normalX, y + t * normalY, z + t * normalZ);
    return;
  }
  findCommon();
  const dx = x - commonX, dy = y - commonY, dz = z - commonZ;
  setLine(commonX, commonY, commonZ, dx, dy, dz, 0, 1);
  cutLine(first);
  cutLine(second);
  t = enters <= leaves ? leaves : 0.0;
  add(commonX + t * dx, commonY + t * dy, commonZ + t * dz);
}

let hasCommon: bool = false;

function findCommon(): void {
  if (hasCommon) return;
  hasCommon = true;
  distanceBetween(first, second, size, false);
  setCommon();
}

function add(x: f64, y: f64, z: f64): void {
  addPoint(placeX + x, placeY + y, placeZ + z, normalX, normalY, normalZ, depth);
}

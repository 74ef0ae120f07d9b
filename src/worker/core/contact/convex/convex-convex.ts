// Contact of two convex shapes: the least translation that separates them, and where they touch.

import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import {
  addCorner as addClipped, beginPolygon, cornerCount as clippedCount, cornerX as clippedX, cornerY as clippedY,
  cornerZ as clippedZ, clipByCube,
} from '../../math/clip-polygon';
import { isTetrahedronLeft } from './hull-hull';
import { PlacedShape } from '../../shape/placed-shape';
import {
  SUPPORT_BYTES, Support, edgeX, edgeY, edgeZ, extentOf, findSupportPoint, frameOf, inverseOf, originX, originY, originZ,
  setInverse, setSupports, supportX, supportY, supportZ,
} from './support';
import { clipLine, tMin, tMax, setLine } from './line-clip';
import { Line, MAX_LINES, addLine, midpointsInside, clearLines, clipLines, lineAt, setLineCount } from './line-clip-x4';
import { addPoint } from '../manifold/contact';
import {
  beginReduction, offerPoint, reduceToFour, reducedCount, reducedX, reducedY, reducedZ,
} from '../manifold/manifold-reduction';
import { supportHeight } from './minkowski-difference';
import {
  commonX, commonY, commonZ, distanceBetween, containsOrigin, transformSimplex, nearestX, nearestY, nearestZ, setCommonPoint,
} from './gjk';
import { axisDepth, axisX, axisY, axisZ, findSeparatingAxis } from './sat-edges';
import { findPenetration, penetrationDepth, directionX, directionY, directionZ } from './epa';
import { findFlatFace, flatDrop, setFeature } from './contact-feature';
import { POLYGON_BYTES, Polygon, cornerX, cornerY, intersectPolygons, reducePolygon } from './polygon';

const first = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const second = changetype<Support>(memory.data(<i32>SUPPORT_BYTES, 16));
const featureA = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));
const featureB = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));
const intersection = changetype<Polygon>(memory.data(<i32>POLYGON_BYTES, 16));

/** The sum of the extents of both bodies. */
let size: f64 = 0;
/** The best separating direction so far, as a unit vector, and how far b must move along it to be separated from a. */
let normalX: f64 = 0, normalY: f64 = 0, normalZ: f64 = 0;
let depth: f64 = 0;

/**
 * Tolerance, relative to the size, within which flush faces are in contact as a whole: vertices deeper than the depth
 * requires by at most this much belong to the feature.
 */
const FLUSH_TOLERANCE: f64 = 1e-6;

/**
 * Adds the contact points of two overlapping solids, each a box, sphere, capsule or convex closed mesh. Throws
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
  const slack = depth + FLUSH_TOLERANCE * size;
  if (first.isBox && second.isBox && addFlatPoints(slack)) return;
  setFeature(featureA, first, normalX, normalY, normalZ, top - slack);
  setFeature(featureB, second, -normalX, -normalY, -normalZ, -bottom - slack);
  addPoints(0.5 * (top + bottom), 0.5 * slack);
}

// --- the normal ---

/**
 * Where the bodies without their balls are no farther apart and penetrate no deeper than this, relative to the size,
 * rounding decides whether their distance or their penetration gives the right direction: both are tried.
 */
const CLOSE_TOLERANCE: f64 = 1e-7;

function findNormal(): void {
  depth = Infinity;
  hasCommonPoint = false;
  const isRound = (first.hasBall && first.radius == 0) || (second.hasBall && second.radius == 0);
  if (isRound) {
    findPenetration(first, second, size, false, false, true);
    offerDirection(directionX, directionY, directionZ);
    return;
  }
  // Rounded bodies are compared by their cores, without the balls: the cores may be up to the sum of the radii apart. A
  // flat Minkowski difference, like that of two segments in one plane, may miss the origin within its plane.
  const radius = first.radius + second.radius;
  const hasOnlyEdges = first.mesh == 0 && second.mesh == 0;
  if (hasOnlyEdges) {
    findSeparatingAxis(first, second);
    offerDirection(axisX, axisY, axisZ);
    if (radius == 0 || axisDepth > CLOSE_TOLERANCE * size) return;
  }
  let distance: f64 = 0;
  // The simplex that proved the overlap is still available.
  if (first.mesh != 0 && second.mesh != 0 && isTetrahedronLeft) transformSimplex(frameOf(first));
  else if (radius > 0 || !hasOnlyEdges) distance = distanceBetween(first, second, size, true);
  if (radius > 0 && distance > 0) offerDirection(-nearestX / distance, -nearestY / distance, -nearestZ / distance);
  if (hasOnlyEdges || (radius > 0 && distance > CLOSE_TOLERANCE * size)) return;
  // A point that they share without their balls is shared with them as well.
  hasCommonPoint = containsOrigin();
  if (hasCommonPoint) setCommonPoint();
  findPenetration(first, second, size, true, hasCommonPoint, false);
  if (penetrationDepth < Infinity) offerDirection(directionX, directionY, directionZ);
}

/**
 * Keeps a direction if it separates the two by less than the best so far: moving b by the reach of the Minkowski
 * difference along it separates them.
 */
function offerDirection(x: f64, y: f64, z: f64): void {
  const height = supportHeight(first, second, x, y, z, false);
  if (!(height < depth)) return;
  depth = height;
  normalX = x; normalY = y; normalZ = z;
}

// --- the points ---

/** Corners are moved by this fraction of the way to the centre, since the bodies' sides may be parallel to the normal. */
const INWARD_FRACTION: f64 = 1e-7;

/**
 * Adds the points that both features share: a line along the normal through each corner of their intersection is clipped
 * to both bodies, and the middle of the rest is the point. The lines start at `height` and extend by `halfLength` either way.
 */
function addPoints(height: f64, halfLength: f64): void {
  setInverse(first);
  setInverse(second);
  intersectPolygons(intersection, featureA, featureB);
  reducePolygon(intersection);
  const count = intersection.count;
  if (count == 0) {
    findCommonPoint();
    addContactPoint(commonX, commonY, commonZ);
    return;
  }
  let centerX: f64 = 0, centerY: f64 = 0;
  for (let i: u32 = 0; i < count; i++) {
    centerX += cornerX(intersection, i) / count;
    centerY += cornerY(intersection, i) / count;
  }
  clearLines();
  for (let i: u32 = 0; i < count; i++) {
    const u = cornerX(intersection, i) + (centerX - cornerX(intersection, i)) * INWARD_FRACTION;
    const v = cornerY(intersection, i) + (centerY - cornerY(intersection, i)) * INWARD_FRACTION;
    addLine(
      u * tangentX + v * bitangentX + height * normalX, u * tangentY + v * bitangentY + height * normalY,
      u * tangentZ + v * bitangentZ + height * normalZ, normalX, normalY, normalZ, -halfLength, halfLength,
    );
  }
  clipLines(first);
  clipLines(second);
  let missingMask: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    if (!(lineAt(i).tMin <= lineAt(i).tMax + FLUSH_TOLERANCE * size)) missingMask |= 1 << i;
  }
  // Lines for which float32 finds no point in both bodies are clipped again in float64.
  const insideMask = missingMask + 1 == 1 << count ? 0 : midpointsInside(first) & midpointsInside(second);
  for (let i: u32 = 0; i < count; i++) {
    const line = lineAt(i);
    if (missingMask & (1 << i)) continue;
    if (insideMask & (1 << i)) addLineMidpoint(line);
    else addPointOnLine(line.x, line.y, line.z, halfLength);
  }
  if (missingMask != 0) addMissing(missingMask, halfLength);
}

/** Adds the midpoint of what remains of a line. */
function addLineMidpoint(line: Line): void {
  const t = 0.5 * (line.tMin + line.tMax);
  addContactPoint(line.x + t * line.dx, line.y + t * line.dy, line.z + t * line.dz);
}

/**
 * Adds a point for each line of a mask that misses the intersection of both bodies: where the segment from the common
 * point to the line leaves that intersection. Falls back to float64 if the float32 result is not in both bodies.
 */
function addMissing(mask: u32, halfLength: f64): void {
  findCommonPoint();
  let count: u32 = 0;
  for (let i: u32 = 0; i < MAX_LINES; i++) {
    if (!(mask & (1 << i))) continue;
    const line = lineAt(i), x = line.x, y = line.y, z = line.z;
    aimLine(lineAt(count), x, y, z);
    count++;
  }
  setLineCount(count);
  clipLines(first);
  clipLines(second);
  for (let i: u32 = 0; i < count; i++) {
    const line = lineAt(i);
    line.tMin = line.tMax = max(line.tMax, 0.0);
  }
  const insideMask = midpointsInside(first) & midpointsInside(second);
  for (let i: u32 = 0; i < count; i++) {
    const line = lineAt(i);
    if (insideMask & (1 << i)) addLineMidpoint(line);
    else addPointOnLine(line.x + line.dx, line.y + line.dy, line.z + line.dz, halfLength);
  }
}

/** Makes a line lead from the common point to (x, y, z). */
function aimLine(line: Line, x: f64, y: f64, z: f64): void {
  line.x = commonX; line.y = commonY; line.z = commonZ;
  line.dx = x - commonX; line.dy = y - commonY; line.dz = z - commonZ;
  line.tMin = 0;
  line.tMax = 1;
}

/**
 * The intersection of two boxes that lie flat on each other counts as having no width if it is narrower than this,
 * relative to the size.
 */
const MIN_WIDTH: f64 = 1e-4;

/**
 * Adds the points of two boxes that lie flat on each other, but whose tilt exceeds their depth: corners of the part of
 * b's face inside a, each moved along the normal to the middle of what both share there. Returns false, and adds none,
 * if they do not lie so. `slack` is how far features reach below the highest points.
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
  if (!clipByCube()) return false;
  let centerX: f64 = 0, centerY: f64 = 0, centerZ: f64 = 0;
  for (let corner: u32 = 0; corner < clippedCount; corner++) {
    centerX += clippedX(corner) / clippedCount;
    centerY += clippedY(corner) / clippedCount;
    centerZ += clippedZ(corner) / clippedCount;
  }
  beginReduction();
  for (let corner: u32 = 0; corner < clippedCount; corner++) {
    const u = clippedX(corner) + (centerX - clippedX(corner)) * INWARD_FRACTION;
    const v = clippedY(corner) + (centerY - clippedY(corner)) * INWARD_FRACTION;
    const w = clippedZ(corner) + (centerZ - clippedZ(corner)) * INWARD_FRACTION;
    const m = frameOf(first);
    const x = m.xx * u + m.yx * v + m.zx * w + m.tx, y = m.xy * u + m.yy * v + m.zy * w + m.ty;
    const z = m.xz * u + m.yz * v + m.zz * w + m.tz;
    offerPoint(x * tangentX + y * tangentY + z * tangentZ, x * bitangentX + y * bitangentY + z * bitangentZ, x, y, z);
  }
  reduceToFour(MIN_WIDTH * size);
  for (let corner: u32 = 0; corner < reducedCount; corner++) {
    addPointOnLine(reducedX(corner), reducedY(corner), reducedZ(corner), slack);
  }
  return true;
}

/**
 * Adds the point of one line along the normal through (x, y, z), or the nearest point to it that the bodies share, like
 * `addPoints` and `addMissing`, but all in float64.
 */
function addPointOnLine(x: f64, y: f64, z: f64, halfLength: f64): void {
  setLine(x, y, z, normalX, normalY, normalZ, -halfLength, halfLength);
  clipLine(first);
  clipLine(second);
  let t = 0.5 * (tMin + tMax);
  if (tMin <= tMax + FLUSH_TOLERANCE * size) {
    addContactPoint(x + t * normalX, y + t * normalY, z + t * normalZ);
    return;
  }
  findCommonPoint();
  const dx = x - commonX, dy = y - commonY, dz = z - commonZ;
  setLine(commonX, commonY, commonZ, dx, dy, dz, 0, 1);
  clipLine(first);
  clipLine(second);
  t = tMin <= tMax ? tMax : 0.0;
  addContactPoint(commonX + t * dx, commonY + t * dy, commonZ + t * dz);
}

let hasCommonPoint: bool = false;

function findCommonPoint(): void {
  if (hasCommonPoint) return;
  hasCommonPoint = true;
  distanceBetween(first, second, size, false);
  setCommonPoint();
}

function addContactPoint(x: f64, y: f64, z: f64): void {
  addPoint(originX + x, originY + y, originZ + z, normalX, normalY, normalZ, depth);
}

// A thick ray near a tree of points or lines. Four affine functions of a point define what is hit: its offset from the ray
// in two directions, a and b, the maximum offset r, and its parameter t along the ray. A point is hit if a² + b² ≤ r². With
// a constant r that is a cylinder, in the metric of the world or of the mesh; with an r that grows along the ray it is
// everything that is drawn within some pixels of a place on the screen.

import { clip, interval, intervalEnd, intervalStart } from '../math/interval';
import { treeScale } from '../mesh/tree/layout';
import { PointLine, meshOf } from './layout';

/** A thick ray in mesh space. The fields named after one of the four functions are its gradient. */
@unmanaged
export class ThickRay {
  /** A point of the ray, where a, b and t are 0. */
  x: f64; y: f64; z: f64;
  /** The direction; t grows by 1 along it, a and b remain 0. */
  directionX: f64; directionY: f64; directionZ: f64;
  aX: f64; aY: f64; aZ: f64;
  bX: f64; bY: f64; bZ: f64;
  rX: f64; rY: f64; rZ: f64;
  tX: f64; tY: f64; tZ: f64;
  /** r at the point. */
  radius: f64;
  /** The ray is from `tStart` to `tEnd`, and hits beyond `tLimit` are not needed. */
  tStart: f64; tEnd: f64; tLimit: f64;
  /** Length of a unit of t in the unit of a and b. */
  unitLength: f64;
  /**
   * Whether the ray has a round cap at its beginning, so that the distance of points before that includes the way to it.
   * Else it is cut off.
   */
  hasRoundCap: bool;
  /**
   * Whether r is that of a place on the screen: then the part of a line that is drawn counts, from the ray's beginning to
   * its end. Else three's rules hold: a point is hit closer than r, a line no farther than r, and at its closest point.
   */
  isScreenSpace: bool;
}

// The four functions in tree space.
export let ax: f64 = 0, ay: f64 = 0, az: f64 = 0, aw: f64 = 0;
export let bx: f64 = 0, by: f64 = 0, bz: f64 = 0, bw: f64 = 0;
export let rx: f64 = 0, ry: f64 = 0, rz: f64 = 0, rw: f64 = 0;
export let tx: f64 = 0, ty: f64 = 0, tz: f64 = 0, tw: f64 = 0;
export let tStart: f64 = 0, tEnd: f64 = 0;
export let unitLength: f64 = 1;
export let hasRoundCap: bool = false;
export let isScreenSpace: bool = false;
/** Length in mesh space of a unit of tree space. */
export let inverseScale: f64 = 1;

/** The direction in tree space, and the point at which the ray comes near the mesh. */
export let directionX: f64 = 0, directionY: f64 = 0, directionZ: f64 = 0;
export let entryX: f64 = 0, entryY: f64 = 0, entryZ: f64 = 0;
/** The part of the ray that is near the mesh. */
export let entryT: f64 = 0, exitT: f64 = 0;
/** Maximum of r over the mesh; what is hit extends that far from the ray along each axis, per unit of r. */
export let maxRadius: f64 = 0;
export let extentX: f64 = 0, extentY: f64 = 0, extentZ: f64 = 0;
/** Maximum extent along each axis, with slack for rounding. */
export let paddingX: f64 = 0, paddingY: f64 = 0, paddingZ: f64 = 0;

/** Maps a ray to the tree space of a mesh. Returns whether it comes near the mesh's bounds. */
export function mapRay(mesh: PointLine, ray: ThickRay): bool {
  const scale = treeScale(meshOf(mesh));
  inverseScale = 1.0 / scale;
  const x = (ray.x - mesh.offsetX) * scale, y = (ray.y - mesh.offsetY) * scale, z = (ray.z - mesh.offsetZ) * scale;
  ax = ray.aX * inverseScale; ay = ray.aY * inverseScale; az = ray.aZ * inverseScale; aw = -(ax * x + ay * y + az * z);
  bx = ray.bX * inverseScale; by = ray.bY * inverseScale; bz = ray.bZ * inverseScale; bw = -(bx * x + by * y + bz * z);
  tx = ray.tX * inverseScale; ty = ray.tY * inverseScale; tz = ray.tZ * inverseScale; tw = -(tx * x + ty * y + tz * z);
  rx = ray.rX * inverseScale; ry = ray.rY * inverseScale; rz = ray.rZ * inverseScale;
  rw = ray.radius - (rx * x + ry * y + rz * z);
  tStart = ray.tStart;
  tEnd = ray.tEnd;
  unitLength = ray.unitLength;
  hasRoundCap = ray.hasRoundCap;
  isScreenSpace = ray.isScreenSpace;
  directionX = ray.directionX * scale;
  directionY = ray.directionY * scale;
  directionZ = ray.directionZ * scale;

  const minX = (mesh.minX - mesh.offsetX) * scale, maxX = (mesh.maxX - mesh.offsetX) * scale;
  const minY = (mesh.minY - mesh.offsetY) * scale, maxY = (mesh.maxY - mesh.offsetY) * scale;
  const minZ = (mesh.minZ - mesh.offsetZ) * scale, maxZ = (mesh.maxZ - mesh.offsetZ) * scale;
  maxRadius = rw + f64.max(rx * minX, rx * maxX) + f64.max(ry * minY, ry * maxY) + f64.max(rz * minZ, rz * maxZ);
  if (!(maxRadius >= 0)) return false;
  setExtents((2.0 + abs(x) + abs(y) + abs(z)) * 3.552713678800501e-15); // 2^-48
  let part = interval(hasRoundCap ? tStart - (maxRadius * 1.000001) / unitLength : tStart, ray.tLimit);
  part = clip(part, x, directionX, minX - paddingX, maxX + paddingX);
  part = clip(part, y, directionY, minY - paddingY, maxY + paddingY);
  part = clip(part, z, directionZ, minZ - paddingZ, maxZ + paddingZ);
  entryT = intervalStart(part);
  exitT = intervalEnd(part);
  entryX = x + entryT * directionX;
  entryY = y + entryT * directionY;
  entryZ = z + entryT * directionZ;
  return entryT <= exitT;
}

/** Sets the extents from the directions in which only a or only b grows by 1. */
function setExtents(slack: f64): void {
  const crossX = by * tz - bz * ty, crossY = bz * tx - bx * tz, crossZ = bx * ty - by * tx;
  const reciprocal = 1.0 / (ax * crossX + ay * crossY + az * crossZ);
  const vX = (ty * az - tz * ay) * reciprocal, vY = (tz * ax - tx * az) * reciprocal, vZ = (tx * ay - ty * ax) * reciprocal;
  const uX = crossX * reciprocal, uY = crossY * reciprocal, uZ = crossZ * reciprocal;
  extentX = sqrt(uX * uX + vX * vX);
  extentY = sqrt(uY * uY + vY * vY);
  extentZ = sqrt(uZ * uZ + vZ * vZ);
  paddingX = maxRadius * extentX * 1.000001 + slack;
  paddingY = maxRadius * extentY * 1.000001 + slack;
  paddingZ = maxRadius * extentZ * 1.000001 + slack;
}

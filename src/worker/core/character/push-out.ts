// Pushes a character out of objects that have moved into it.

import {
  contactNormalX, contactNormalY, contactNormalZ, halfHeight, heightAbove, measureDistance, castRadius, contactPointX,
  contactPointY, contactPointZ,
} from './capsule-cast';
import { BOX, Obstacle, TRIANGLE, obstacleAt, obstacleCount } from './obstacles';
import { depth, isSqueezed, recordPush, radius, setDepth, setSqueezed, shiftBy, skin, x, y, z } from './mover';

/** A gap is widened only if it is too small by more than this share of the skin. */
const SLACK: f64 = 0.25;
const MAX_ROUNDS: i32 = 16;

/**
 * Pushes the character out of every obstacle, along the shortest way out of each, iteratively (Gauss and Seidel), until all
 * keep their distance. Returns how far it has moved. Sets the remaining penetration depth.
 */
export function pushOut(): f64 {
  const startX = x, startY = y, startZ = z;
  const minDistance = castRadius - SLACK * skin;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let isPushed = false;
    for (let i: u32 = 0; i < obstacleCount; i++) {
      const o = obstacleAt(i);
      if (o.kind >= BOX) {
        if (o.kind == BOX ? leaveBox(i) : round == 0 && leaveMesh(i)) isPushed = true;
        continue;
      }
      if (isOutOfReach(o)) continue;
      const isBehind = o.kind == TRIANGLE && o.isOneSided != 0 && heightAbove(o, x, y, z) < 0;
      const distance = measureDistance(o, x, y, z);
      if (distance >= minDistance || (isBehind && distance > 0)) continue;
      let pushDistance = castRadius - distance;
      // The axis crosses the triangle: push until its farther end is in front.
      if (distance == 0 && o.kind == TRIANGLE) {
        pushDistance = castRadius + halfHeight * abs(contactNormalZ) -
          heightAbove(o, x, y, z) * (contactNormalX * o.normalX + contactNormalY * o.normalY + contactNormalZ * o.normalZ);
      }
      recordPush(o.object, o.triangle, contactNormalX, contactNormalY, contactNormalZ, contactPointX, contactPointY,
        contactPointZ);
      shiftBy(contactNormalX * pushDistance, contactNormalY * pushDistance, contactNormalZ * pushDistance);
      isPushed = true;
    }
    setSqueezed(isPushed);
    if (!isPushed) break;
  }
  const dx = x - startX, dy = y - startY, dz = z - startZ;
  return sqrt(dx * dx + dy * dy + dz * dz);
}

/** Pushes the axis' centre out of a box through the nearest face. */
function leaveBox(i: u32): bool {
  const o = obstacleAt(i);
  const px = x - o.centerX, py = y - o.centerY, pz = z - o.centerZ;
  let minExitDistance = Infinity;
  let nx: f64 = 0, ny: f64 = 0, nz: f64 = 0;
  for (let row: usize = 0; row < 72; row += 24) {
    const at = changetype<usize>(o) + row;
    const rx = load<f64>(at), ry = load<f64>(at, 8), rz = load<f64>(at, 16);
    const u = rx * px + ry * py + rz * pz;
    if (!(abs(u) < 1)) return false;
    const scale = (u < 0 ? -1.0 : 1.0) / sqrt(rx * rx + ry * ry + rz * rz);
    const exitDistance = (1 - abs(u)) * abs(scale) + halfHeight * abs(rz * scale);
    if (!(exitDistance < minExitDistance)) continue;
    minExitDistance = exitDistance;
    nx = rx * scale; ny = ry * scale; nz = rz * scale;
  }
  pushAlong(o, nx, ny, nz, minExitDistance);
  return true;
}

/** Pushes the character out of a solid mesh that contained the axis' centre. */
function leaveMesh(i: u32): bool {
  const o = obstacleAt(i);
  pushAlong(o, o.normalX, o.normalY, o.normalZ, o.ax + halfHeight * abs(o.normalZ));
  return true;
}

function pushAlong(o: Obstacle, nx: f64, ny: f64, nz: f64, exitDistance: f64): void {
  recordPush(o.object, o.triangle, nx, ny, nz, x + nx * exitDistance, y + ny * exitDistance, z + nz * exitDistance);
  shiftBy(nx * (exitDistance + castRadius), ny * (exitDistance + castRadius), nz * (exitDistance + castRadius));
}

/**
 * Measures the capsule's own penetration depth if it could not be pushed out of everything; casts never end in a penetration.
 */
export function measureDepth(): void {
  setDepth(0);
  if (!isSqueezed) return;
  for (let i: u32 = 0; i < obstacleCount; i++) {
    const o = obstacleAt(i);
    if (o.kind >= BOX || isOutOfReach(o)) continue;
    if (o.kind == TRIANGLE && o.isOneSided != 0 && heightAbove(o, x, y, z) < 0) continue;
    setDepth(max(depth, radius - measureDistance(o, x, y, z)));
  }
}

/** Returns whether the bounds of an obstacle are out of reach. */
// @ts-ignore: decorator
@inline
function isOutOfReach(o: Obstacle): bool {
  const dx = max(max(o.minX - x, x - o.maxX), 0.0);
  const dy = max(max(o.minY - y, y - o.maxY), 0.0);
  const dz = max(max(o.minZ - z, z - o.maxZ) - halfHeight, 0.0);
  return dx * dx + dy * dy + dz * dz > castRadius * castRadius;
}

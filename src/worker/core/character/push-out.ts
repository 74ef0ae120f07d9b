// Pushes a character out of objects that have moved into it.

import { awayX, awayY, awayZ, half, heightOver, measure, reach, touchX, touchY, touchZ } from './capsule-cast';
import { BLOCK, Obstacle, TRIANGLE, obstacleAt, obstacleCount } from './obstacles';
import { depth, isSqueezed, notePush, radius, setDepth, setSqueezed, shiftBy, skin, x, y, z } from './mover';

/** A gap is widened only if it is too small by more than this share of the skin. */
const SLACK: f64 = 0.25;
const MOST_ROUNDS: i32 = 16;

/**
 * Pushes the character out of every obstacle, along the shortest way out of each, iteratively (Gauss and Seidel), until all
 * keep their distance. Returns how far it has moved. Sets the remaining penetration depth.
 */
export function pushOut(): f64 {
  const startX = x, startY = y, startZ = z;
  const enough = reach - SLACK * skin;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let isPushed = false;
    for (let i: u32 = 0; i < obstacleCount; i++) {
      const o = obstacleAt(i);
      if (o.kind >= BLOCK) {
        if (o.kind == BLOCK ? leaveBlock(i) : round == 0 && leaveMesh(i)) isPushed = true;
        continue;
      }
      if (isFar(o)) continue;
      const isBehind = o.kind == TRIANGLE && o.isOneSided != 0 && heightOver(o, x, y, z) < 0;
      const distance = measure(o, x, y, z);
      if (distance >= enough || (isBehind && distance > 0)) continue;
      let way = reach - distance;
      // The axis crosses the triangle: push until its farther end is in front.
      if (distance == 0 && o.kind == TRIANGLE) {
        way = reach + half * abs(awayZ) - heightOver(o, x, y, z) * (awayX * o.normalX + awayY * o.normalY + awayZ * o.normalZ);
      }
      notePush(o.object, o.triangle, awayX, awayY, awayZ, touchX, touchY, touchZ);
      shiftBy(awayX * way, awayY * way, awayZ * way);
      isPushed = true;
    }
    setSqueezed(isPushed);
    if (!isPushed) break;
  }
  const dx = x - startX, dy = y - startY, dz = z - startZ;
  return sqrt(dx * dx + dy * dy + dz * dz);
}

/** Pushes the axis' middle out of a box through the nearest face. */
function leaveBlock(i: u32): bool {
  const o = obstacleAt(i);
  const px = x - o.middleX, py = y - o.middleY, pz = z - o.middleZ;
  let least = Infinity;
  let nx: f64 = 0, ny: f64 = 0, nz: f64 = 0;
  for (let row: usize = 0; row < 72; row += 24) {
    const at = changetype<usize>(o) + row;
    const rx = load<f64>(at), ry = load<f64>(at, 8), rz = load<f64>(at, 16);
    const u = rx * px + ry * py + rz * pz;
    if (!(abs(u) < 1)) return false;
    const by = (u < 0 ? -1.0 : 1.0) / sqrt(rx * rx + ry * ry + rz * rz);
    const way = (1 - abs(u)) * abs(by) + half * abs(rz * by);
    if (!(way < least)) continue;
    least = way;
    nx = rx * by; ny = ry * by; nz = rz * by;
  }
  leaveBy(o, nx, ny, nz, least);
  return true;
}

/** Pushes the character out of a solid mesh that contained the axis' middle. */
function leaveMesh(i: u32): bool {
  const o = obstacleAt(i);
  leaveBy(o, o.normalX, o.normalY, o.normalZ, o.ax + half * abs(o.normalZ));
  return true;
}

function leaveBy(o: Obstacle, nx: f64, ny: f64, nz: f64, way: f64): void {
  notePush(o.object, o.triangle, nx, ny, nz, x + nx * way, y + ny * way, z + nz * way);
  shiftBy(nx * (way + reach), ny * (way + reach), nz * (way + reach));
}

/**
 * Measures the capsule's own penetration depth if it could not be pushed out of everything; casts never end in a penetration.
 */
export function measureDepth(): void {
  setDepth(0);
  if (!isSqueezed) return;
  for (let i: u32 = 0; i < obstacleCount; i++) {
    const o = obstacleAt(i);
    if (o.kind >= BLOCK || isFar(o)) continue;
    if (o.kind == TRIANGLE && o.isOneSided != 0 && heightOver(o, x, y, z) < 0) continue;
    setDepth(max(depth, radius - measure(o, x, y, z)));
  }
}

/** Returns whether the bounds of an obstacle are out of reach. */
// @ts-ignore: decorator
@inline
function isFar(o: Obstacle): bool {
  const dx = max(max(o.lowX - x, x - o.highX), 0.0);
  const dy = max(max(o.lowY - y, y - o.highY), 0.0);
  const dz = max(max(o.lowZ - z, z - o.highZ) - half, 0.0);
  return dx * dx + dy * dy + dz * dz > reach * reach;
}

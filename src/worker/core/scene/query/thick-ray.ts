// Casts the ray at points and lines, which it hits within a distance. Candidates are those whose bounds reach into the
// volume around the ray, by the descent of descend.ts, or that have a threshold of their own; each is then tested in its
// own space (ray-hit.ts).

import { RAY_CONE_A, RAY_CONE_B, RAY_CONE_RADIUS, SHAPE_POINT_LINE } from '../../../../shared/layout';
import { tangentX, tangentY, tangentZ, bitangentX, bitangentY, bitangentZ, setBasis } from '../../math/basis';
import { ANY } from '../../mesh/query/ray';
import { descend } from '../index/descend';
import { Tree, readProxy, treeOf } from '../index/octree';
import { boxAt, isAlive, slotOf } from '../objects';
import { hasObjectThreshold, thresholdCount, thresholdIdAt, objectThresholdAt, sidesOf, threshold } from './filter';
import {
  directionX, directionY, directionZ, foundDistance, foundObject, mode, originShift, originX, originY, originZ, tMin,
} from './ray-line';
import { castPointLine, coneAlong, coneRadius, isCone } from './ray-point-line';
import { addPlane, beginVolume, swapVolumes } from './volume';

/** The rounding error of the distance of a box from a plane, relative to the coordinates of both: 2^-48. */
const ROUNDING: f64 = 3.552713678800501e-15;

/** Casts the ray that ray-hit.ts holds at all objects of points or lines. Throws OUT_OF_MEMORY. */
export function castThickRays(): void {
  for (let i: u32 = 0; i < thresholdCount; i++) {
    const id = thresholdIdAt(i);
    if (!isAlive(id)) continue;
    const box = boxAt(slotOf(id));
    const tree = treeOf(box.tree);
    const proxy = readProxy(tree, box.position);
    if (proxy.shape != <u8>SHAPE_POINT_LINE || sidesOf(proxy) == 0) continue;
    castPointLine(proxy, tree, box.position, objectThresholdAt(i), true);
    if (mode == ANY && foundObject != 0) return;
  }
  swapVolumes();
  setVolume();
  descend(visitObject);
  swapVolumes();
}

/** Bounds the space near the ray: four planes around it, one at its start and one at its end. */
function setVolume(): void {
  beginVolume();
  const pointError = (abs(originX) + abs(originY) + abs(originZ) + abs(tMin)) * ROUNDING;
  if (isCone()) {
    addSides(
      coneAlong(RAY_CONE_RADIUS, 1, 0, 0), coneAlong(RAY_CONE_RADIUS, 0, 1, 0), coneAlong(RAY_CONE_RADIUS, 0, 0, 1), coneRadius(),
      coneAlong(RAY_CONE_A, 1, 0, 0), coneAlong(RAY_CONE_A, 0, 1, 0), coneAlong(RAY_CONE_A, 0, 0, 1), pointError,
    );
    addSides(
      coneAlong(RAY_CONE_RADIUS, 1, 0, 0), coneAlong(RAY_CONE_RADIUS, 0, 1, 0), coneAlong(RAY_CONE_RADIUS, 0, 0, 1), coneRadius(),
      coneAlong(RAY_CONE_B, 1, 0, 0), coneAlong(RAY_CONE_B, 0, 1, 0), coneAlong(RAY_CONE_B, 0, 0, 1), pointError,
    );
  } else {
    setBasis(directionX, directionY, directionZ);
    addSides(0, 0, 0, threshold, tangentX, tangentY, tangentZ, pointError);
    addSides(0, 0, 0, threshold, bitangentX, bitangentY, bitangentZ, pointError);
  }
  const startMargin = !isCone() && tMin <= -originShift ? threshold : 0;
  const originAlong = originX * directionX + originY * directionY + originZ * directionZ;
  addPlane(directionX, directionY, directionZ, startMargin + 2.0 * pointError - tMin - originAlong);
  if (foundDistance == Infinity) return;
  const endDistance = foundDistance + 2.0 * pointError + abs(foundDistance) * ROUNDING;
  addPlane(-directionX, -directionY, -directionZ, endDistance + originAlong);
}

/** Adds the planes in which the function r ± s is 0, given by gradients and the value of r at the start of the ray. */
function addSides(rx: f64, ry: f64, rz: f64, r: f64, sx: f64, sy: f64, sz: f64, pointError: f64): void {
  addSide(rx + sx, ry + sy, rz + sz, r, pointError);
  addSide(rx - sx, ry - sy, rz - sz, r, pointError);
}

function addSide(x: f64, y: f64, z: f64, r: f64, pointError: f64): void {
  const steepness = abs(x) + abs(y) + abs(z);
  addPlane(x, y, z, r - (x * originX + y * originY + z * originZ) + steepness * pointError * 2.0);
}

function visitObject(tree: Tree, position: u32, _limits: u64): void {
  if (mode == ANY && foundObject != 0) return;
  const proxy = readProxy(tree, position);
  if (proxy.shape != <u8>SHAPE_POINT_LINE || sidesOf(proxy) == 0 || hasObjectThreshold(proxy.id)) return;
  castPointLine(proxy, tree, position, threshold, false);
}

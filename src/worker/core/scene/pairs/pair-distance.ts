// The distance of two objects: that of their shapes (distance/shape-distance.ts), and 0 if a solid mesh contains the other or a
// part of it. It reads nothing of the scene, since it is also part of the interruptible module (pair-module.ts).

import { PRECISION_MESH } from '../../../../shared/layout';
import * as shapes from '../../distance/shape-distance';
import { Item } from '../../shape/item';
import { PlacedShape, setPlacedShape } from '../../shape/placed-shape';
import { insideX, insideY, insideZ, doesOneContainOther } from './containment';

/**
 * The nearest points of two objects (layout.ts, DISTANCE_*): in the world, the same point twice if they meet; and the triangles,
 * -1 for shapes without any.
 */
@unmanaged
export class PairDistance {
  distance: f64;
  pointAX: f64; pointAY: f64; pointAZ: f64;
  pointBX: f64; pointBY: f64; pointBZ: f64;
  triangleA: i32;
  triangleB: i32;
  /** 1 if they are within the given limit; if 0, the other fields mean nothing. */
  isNear: u32;
}

const shapeA = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const shapeB = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));

/** Measures the distance of two objects, if it is no more than `limit`. Throws OUT_OF_MEMORY. */
export function measurePair(out: PairDistance, a: Item, b: Item, limit: f64): void {
  setPlacedShape(shapeA, a, PRECISION_MESH);
  setPlacedShape(shapeB, b, PRECISION_MESH);
  const isNear = shapes.distanceOfShapes(shapeA, shapeB, limit);
  out.isNear = isNear ? 1 : 0;
  out.distance = shapes.distance;
  out.pointAX = shapes.pointAX; out.pointAY = shapes.pointAY; out.pointAZ = shapes.pointAZ;
  out.pointBX = shapes.pointBX; out.pointBY = shapes.pointBY; out.pointBZ = shapes.pointBZ;
  out.triangleA = shapes.triangleA;
  out.triangleB = shapes.triangleB;
  if (isNear && shapes.distance == 0) return;
  if (!doesOneContainOther(shapeA, shapeB)) return;
  out.isNear = 1;
  out.distance = 0;
  out.pointAX = out.pointBX = insideX;
  out.pointAY = out.pointBY = insideY;
  out.pointAZ = out.pointBZ = insideZ;
  out.triangleA = out.triangleB = -1;
}

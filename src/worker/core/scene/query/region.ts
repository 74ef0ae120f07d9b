// Finds the objects in a region of the screen, a rectangle or a lasso, from the near plane to the far plane: exact in float64
// after a conservative descent (descend.ts). Regions are in clip space over w.

import {
  REGION_ENCLOSE, REGION_MAX_X, REGION_MAX_Y, REGION_MIN_X, REGION_MIN_Y, REGION_MODE, REGION_POLYGON,
  REGION_VERTEX_COUNT, PRECISION_MESH, PRECISION_OBB, SHAPE_MESH, SHAPE_POINT_LINE, SIDE_DOUBLE,
} from '../../../../shared/layout';
import { Affine } from '../../math/affine';
import { Mesh } from '../../mesh/tree/layout';
import { PointLine } from '../../point-line/layout';
import { meshEnclosure, meshTouches } from './mesh-volume';
import { pointLineEnclosure, pointLineTouches } from './point-line-volume';
import { Proxy, boundsOf } from '../../shape/proxy';
import { descendTo } from '../index/descend';
import { beginParts, clipVolume, endParts, nextPart, partLimits } from './clipped-parts';
import { objectSetOf } from './clipping';
import { faceSidesOf, isIgnored, precision, setFilter, sidesOf } from './filter';
import { addFound, addWaiting, beginTesting, foundCount, mayTest } from './result-ids';
import { setProjection } from '../view/projection';
import { placedShapeAt, slotOf } from '../objects';
import { Tree, readProxy } from '../index/octree';
import { updateTrees } from '../scene';
import { PlacedShape, mapOf } from '../../shape/placed-shape';
import {
  CROSSING, INSIDE, NONE, OUTSIDE, addRectangle, beginVolume, boxLimits, limitDepth, limitToLasso,
} from './volume';
import { shapeEnclosure, shapeTouches } from './primitive-volume';

let encloses: bool = false;
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));

/**
 * Finds the objects in a region of the screen, of all or of `count` ids at an address, as ids in result-ids.ts, up to a time of
 * the clock: the remaining objects are to be passed as such a list. Returns their number. Throws OUT_OF_MEMORY.
 */
export function pickRegion(view: usize, region: usize, filter: usize, ids: usize, count: u32, deadline: f64): u32 {
  updateTrees();
  setFilter(filter);
  setProjection(view);
  beginVolume();
  addRectangle(
    load<f64>(region, REGION_MIN_X), load<f64>(region, REGION_MIN_Y),
    load<f64>(region, REGION_MAX_X), load<f64>(region, REGION_MAX_Y),
  );
  limitDepth();
  clipVolume();
  const vertexCount = load<u32>(region, REGION_VERTEX_COUNT);
  if (vertexCount != 0) limitToLasso(load<u32>(region, REGION_POLYGON), vertexCount);
  encloses = load<u32>(region, REGION_MODE) == REGION_ENCLOSE;
  beginTesting(ids, deadline);
  descendTo(ids, count, visitObject);
  return foundCount;
}

function visitObject(tree: Tree, position: u32, limits: u64): void {
  const proxy = readProxy(tree, position);
  const sides = sidesOf(proxy);
  if (sides == 0 || isIgnored(proxy.id)) return;
  if (!mayTest(proxy.shape, 1)) addWaiting(proxy.id);
  else if (isInRegion(proxy, limits, sides)) addFound(proxy.id);
}

function isInRegion(proxy: Proxy, limits: u64, sides: u32): bool {
  let isFound = false;
  beginParts(objectSetOf(proxy.id));
  while (nextPart()) {
    const state = stateInPart(proxy, limits | partLimits, sides);
    if (state == NONE) continue;
    isFound = state == INSIDE || !encloses;
    if (isFound != encloses) break;
  }
  endParts();
  return isFound;
}

/** Returns how an object lies relative to the volume; for mode 'touch' INSIDE and CROSSING are not distinguished. */
function stateInPart(proxy: Proxy, limits: u64, sides: u32): u32 {
  const crossed = limitsOf(proxy, limits, precision);
  if (crossed == OUTSIDE) return NONE;
  const isMesh = proxy.shape == SHAPE_MESH && precision == PRECISION_MESH;
  const faceSides: usize = isMesh ? faceSidesOf(proxy) : 0;
  if (crossed == 0 && !(isMesh && (sides != SIDE_DOUBLE || faceSides != 0))) return INSIDE;
  placedShapeAt(solid, slotOf(proxy.id), precision);
  if (encloses) return enclosureOf(solid, crossed, sides, faceSides);
  return touches(solid, crossed, sides, faceSides) ? CROSSING : NONE;
}

/** Reduces the limits that cross the AABB of an object to those that cross its oriented bounds, if these contain the shape. */
export function limitsOf(proxy: Proxy, limits: u64, requestedPrecision: u32): u64 {
  if (limits == 0 || (requestedPrecision != PRECISION_MESH && requestedPrecision != PRECISION_OBB)) return limits;
  return boxLimits(boundsOf(proxy, bounds), limits);
}

/**
 * Returns whether any part of a solid is in the volume. Of a mesh, the triangles count that show one of `sides` to the eye, or
 * the sides that `faceSides` (face-sides.ts, or 0) gives for them.
 */
export function touches(solid: PlacedShape, limits: u64, sides: u32, faceSides: usize): bool {
  if (solid.shape == SHAPE_POINT_LINE) {
    return pointLineTouches(changetype<PointLine>(<usize>solid.mesh), mapOf(solid), limits);
  }
  if (solid.shape != SHAPE_MESH) return shapeTouches(solid, limits);
  return meshTouches(changetype<Mesh>(solid.mesh), mapOf(solid), limits, sides, faceSides);
}

/**
 * Returns whether all of a solid that is kept is in the volume: INSIDE, or NONE if nothing is kept. Of a mesh, the same triangles
 * count as in `touches`.
 */
export function enclosureOf(solid: PlacedShape, limits: u64, sides: u32, faceSides: usize): u32 {
  if (solid.shape == SHAPE_POINT_LINE) {
    return pointLineEnclosure(changetype<PointLine>(<usize>solid.mesh), mapOf(solid), limits);
  }
  if (solid.shape != SHAPE_MESH) return shapeEnclosure(solid, limits);
  return meshEnclosure(changetype<Mesh>(solid.mesh), mapOf(solid), limits, sides, faceSides);
}

// The objects in a region of the screen: a rectangle or a lasso, from the near plane to the far one.

import {
  REGION_ENCLOSE, REGION_HIGH_X, REGION_HIGH_Y, REGION_LOW_X, REGION_LOW_Y, REGION_MODE, REGION_POLYGON,
  REGION_VERTEX_COUNT, PRECISION_MESH, PRECISION_OBB, SHAPE_MESH, SIDE_DOUBLE,
} from '../../../../shared/layout';
import { Affine } from '../../math/affine';
import { Mesh } from '../../mesh/tree/layout';
import { meshIsEnclosed, meshTouches } from './mesh-volume';
import { Candidate, boundsOf } from '../../shape/proxy';
import { descend } from '../index/descend';
import { isIgnored, layers, precision, setFilter, sides } from './filter';
import { addFound, clearFound, foundCount } from './result-ids';
import { setLens } from '../view/projection';
import { slotOf } from '../objects';
import { Tree, candidateAt } from '../index/octree';
import { updateTrees } from '../scene';
import { Solid, mapOf, solidAt } from '../../shape/placed-shape';
import { OUTSIDE, addRectangle, beginVolume, boxLimits, limitDepth, limitToLasso } from './volume';
import { solidIsEnclosed, solidTouches } from './primitive-volume';

let encloses: bool = false;
const solid = changetype<Solid>(memory.data(112, 16)); // SOLID_BYTES
const bounds = changetype<Affine>(memory.data(96, 16));

/** Ids to found.ts; answers how many. */
export function pickRegion(view: usize, region: usize, filter: usize): u32 {
  updateTrees();
  setFilter(filter);
  setLens(view);
  beginVolume();
  addRectangle(
    load<f64>(region, REGION_LOW_X), load<f64>(region, REGION_LOW_Y),
    load<f64>(region, REGION_HIGH_X), load<f64>(region, REGION_HIGH_Y),
  );
  limitDepth();
  const vertexCount = load<u32>(region, REGION_VERTEX_COUNT);
  if (vertexCount != 0) limitToLasso(load<u32>(region, REGION_POLYGON), vertexCount);
  encloses = load<u32>(region, REGION_MODE) == REGION_ENCLOSE;
  clearFound();
  descend(consider);
  return foundCount;
}

function consider(tree: Tree, position: u32, limits: u64): void {
  const candidate = candidateAt(tree, position);
  if (!(candidate.pickable() & layers) || isIgnored(candidate.id)) return;
  if (isIn(candidate, limits)) addFound(candidate.id);
}

function isIn(candidate: Candidate, limits: u64): bool {
  const crossed = limitsOf(candidate, limits, precision);
  if (crossed == OUTSIDE) return false;
  const isMesh = candidate.shape == SHAPE_MESH && precision == PRECISION_MESH;
  if (crossed == 0 && !(isMesh && sides != SIDE_DOUBLE)) return true;
  solidAt(solid, slotOf(candidate.id), precision);
  return encloses ? isEnclosed(solid, crossed, sides) : touches(solid, crossed, sides);
}

/** Of the limits that cross the box about an object, those that cross its oriented bounds, where these hold it. */
export function limitsOf(candidate: Candidate, limits: u64, asked: u32): u64 {
  if (limits == 0 || (asked != PRECISION_MESH && asked != PRECISION_OBB)) return limits;
  return boxLimits(boundsOf(candidate, bounds), limits);
}

/** Whether any of it is in the volume. Of a mesh, triangles count that are turned as `facing` says. */
export function touches(solid: Solid, limits: u64, facing: u32): bool {
  if (solid.shape != SHAPE_MESH) return solidTouches(solid, limits);
  return meshTouches(changetype<Mesh>(solid.mesh), mapOf(solid), limits, facing);
}

/** Whether all of it is. */
export function isEnclosed(solid: Solid, limits: u64, facing: u32): bool {
  if (solid.shape != SHAPE_MESH) return solidIsEnclosed(solid, limits);
  return meshIsEnclosed(changetype<Mesh>(solid.mesh), mapOf(solid), limits, facing);
}

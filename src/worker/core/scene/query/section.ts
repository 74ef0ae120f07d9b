// Cuts objects with a plane: which ones it may cut, by a conservative descent, and the outlines of each (core/section). An
// object that takes long may be left and gone on with; it is cut as it was when it was begun. World units.

import { SHAPE_BOX, SHAPE_MESH, SHAPE_POINT_LINE } from '../../../../shared/layout';
import { Plane, PLANE_BYTES } from '../../math/plane';
import { Mesh } from '../../mesh/tree/layout';
import { beginJoining, freeSegments, joinSegments } from '../../section/crossings';
import { beginMeshSection, stepMeshSection } from '../../section/mesh-section';
import { clearOutlines, freeOutlines, setOutlinedObject } from '../../section/outlines';
import { cutBox, cutRound } from '../../section/shape-section';
import { PlacedShape, boundingRadius, mapOf } from '../../shape/placed-shape';
import { isPosed } from '../../skin/pose';
import { descend } from '../index/descend';
import { Tree, readPlace } from '../index/octree';
import { isAlive, itemAt, placedShapeAt, slotOf } from '../objects';
import { updateTrees } from '../scene';
import { isIgnored, precision, setFilter, sidesOf } from './filter';
import { limitsOf } from './region';
import { addFound, clearFound, foundCount } from './result-ids';
import { OUTSIDE, addPlane, beginVolume } from './volume';

const plane = changetype<Plane>(memory.data(<i32>PLANE_BYTES, 16));
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
/** What the section is asked for: how objects are seen, points of round outlines, and the turn from one to the next. */
let shapes: u32 = 0;
let roundCount: u32 = 0;
let cosine: f64 = 1;
let sine: f64 = 0;
/** How near ends of an outline are one; negative for a share of the object's radius. */
let weld: f64 = 0;

/** Without a tolerance of the caller's, ends are one that are nearer than this share of the object's radius. */
const WELD_SHARE: f64 = 1e-6;
/** No more than 1,000,000 cells are from one end of the object to the other. */
const CELL_SHARE: f64 = 2e-6;

const CUTTING: u32 = 0;
const JOINING: u32 = 1;
const DONE: u32 = 2;
let phase: u32 = DONE;
let tolerance: f64 = 0;
let radius: f64 = 0;
let mayLeave: bool = true;

/**
 * Begins a section by a plane, four f64 n · p + d. Returns how many objects it may cut, as ids in result-ids.ts. Throws
 * OUT_OF_MEMORY.
 */
export function beginSection(at: usize, filter: usize, count: u32, cosineOfTurn: f64, sineOfTurn: f64, within: f64): u32 {
  updateTrees();
  setFilter(filter);
  memory.copy(changetype<usize>(plane), at, PLANE_BYTES);
  shapes = precision;
  roundCount = count;
  cosine = cosineOfTurn;
  sine = sineOfTurn;
  weld = within;
  phase = DONE;
  beginVolume();
  addPlane(plane.x, plane.y, plane.z, plane.w);
  addPlane(-plane.x, -plane.y, -plane.z, -plane.w);
  clearOutlines();
  clearFound();
  descend(consider);
  return foundCount;
}

function consider(tree: Tree, position: u32, limits: u64): void {
  const proxy = readPlace(tree, position);
  if (sidesOf(proxy) == 0 || isIgnored(proxy.id) || proxy.shape == SHAPE_POINT_LINE) return;
  if (limitsOf(proxy, limits, precision) != OUTSIDE) addFound(proxy.id);
}

/** Begins to cut an object as it is now; one that is gone is passed over. Throws OUT_OF_MEMORY. */
export function beginObjectSection(id: u32): void {
  phase = DONE;
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  placedShapeAt(solid, slot, shapes);
  setOutlinedObject(id);
  radius = boundingRadius(itemAt(slot));
  tolerance = weld < 0 ? WELD_SHARE * radius : weld;
  mayLeave = true;
  if (solid.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(<usize>solid.mesh);
    // A pose is moved by the next frame.
    mayLeave = !isPosed(mesh);
    beginMeshSection(mesh, mapOf(solid), plane);
    phase = CUTTING;
  } else if (solid.shape == SHAPE_BOX) {
    cutBox(mapOf(solid), plane);
    beginJoining(0, 0);
    phase = JOINING;
  } else if (solid.shape != SHAPE_POINT_LINE) {
    cutRound(mapOf(solid), solid.half, plane, roundCount, cosine, sine);
  }
}

/** Goes on until a time of the clock. Returns whether the object's outlines are all there. Throws OUT_OF_MEMORY. */
export function stepObjectSection(until: f64): bool {
  const end = mayLeave ? until : Infinity;
  if (phase == CUTTING) {
    if (!stepMeshSection(end)) return false;
    beginJoining(tolerance, CELL_SHARE * radius);
    phase = JOINING;
  }
  if (phase == JOINING) {
    if (!joinSegments(end)) return false;
    phase = DONE;
  }
  return true;
}

/** Gives back what the section took: who asks for none pays nothing. */
export function endSection(): void {
  phase = DONE;
  freeSegments();
  freeOutlines();
}

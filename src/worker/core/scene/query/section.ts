// Cuts objects with a plane: which ones it may cut, by a conservative descent, and the outlines of each (core/section). An
// object that takes long may be suspended and resumed; it is cut in the state in which it was begun. World units.

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
import { Tree, readProxy } from '../index/octree';
import { isAlive, itemAt, placedShapeAt, slotOf } from '../objects';
import { updateTrees } from '../scene';
import { isIgnored, precision, setFilter, sidesOf } from './filter';
import { limitsOf } from './region';
import { addFound, clearFound, foundCount } from './result-ids';
import { OUTSIDE, addPlane, beginVolume } from './volume';

const plane = changetype<Plane>(memory.data(<i32>PLANE_BYTES, 16));
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
/**
 * The parameters of the section: the precision of objects, the number of points of round outlines, and the rotation from
 * one point to the next.
 */
let objectPrecision: u32 = 0;
let roundPointCount: u32 = 0;
let cosine: f64 = 1;
let sine: f64 = 0;
/** The distance within which ends of an outline are merged; negative for a share of the object's radius. */
let weldTolerance: f64 = 0;

/** If the caller gives no tolerance, ends are merged if they are nearer than this share of the object's radius. */
const WELD_SHARE: f64 = 1e-6;
/** There are no more than 1,000,000 cells from one end of the object to the other. */
const CELL_SHARE: f64 = 2e-6;

const CUTTING: u32 = 0;
const JOINING: u32 = 1;
const DONE: u32 = 2;
let phase: u32 = DONE;
let tolerance: f64 = 0;
let radius: f64 = 0;
let isInterruptible: bool = true;

/**
 * Begins a section by a plane, four f64 n · p + d. Returns the number of objects that it may cut, as ids in result-ids.ts.
 * Throws OUT_OF_MEMORY.
 */
export function beginSection(planeAddress: usize, filter: usize, count: u32, cosineOfTurn: f64, sineOfTurn: f64,
  weldDistance: f64): u32 {
  updateTrees();
  setFilter(filter);
  memory.copy(changetype<usize>(plane), planeAddress, PLANE_BYTES);
  objectPrecision = precision;
  roundPointCount = count;
  cosine = cosineOfTurn;
  sine = sineOfTurn;
  weldTolerance = weldDistance;
  phase = DONE;
  beginVolume();
  addPlane(plane.x, plane.y, plane.z, plane.w);
  addPlane(-plane.x, -plane.y, -plane.z, -plane.w);
  clearOutlines();
  clearFound();
  descend(visitObject);
  return foundCount;
}

function visitObject(tree: Tree, position: u32, limits: u64): void {
  const proxy = readProxy(tree, position);
  if (sidesOf(proxy) == 0 || isIgnored(proxy.id) || proxy.shape == SHAPE_POINT_LINE) return;
  if (limitsOf(proxy, limits, precision) != OUTSIDE) addFound(proxy.id);
}

/** Begins to cut an object in its current state; an object that was removed is skipped. Throws OUT_OF_MEMORY. */
export function beginObjectSection(id: u32): void {
  phase = DONE;
  if (!isAlive(id)) return;
  const slot = slotOf(id);
  placedShapeAt(solid, slot, objectPrecision);
  setOutlinedObject(id);
  radius = boundingRadius(itemAt(slot));
  tolerance = weldTolerance < 0 ? WELD_SHARE * radius : weldTolerance;
  isInterruptible = true;
  if (solid.shape == SHAPE_MESH) {
    const mesh = changetype<Mesh>(<usize>solid.mesh);
    // The next frame moves the vertices of a pose.
    isInterruptible = !isPosed(mesh);
    beginMeshSection(mesh, mapOf(solid), plane);
    phase = CUTTING;
  } else if (solid.shape == SHAPE_BOX) {
    cutBox(mapOf(solid), plane);
    beginJoining(0, 0);
    phase = JOINING;
  } else if (solid.shape != SHAPE_POINT_LINE) {
    cutRound(mapOf(solid), solid.half, plane, roundPointCount, cosine, sine);
  }
}

/** Continues until a time of the clock. Returns whether the object's outlines are complete. Throws OUT_OF_MEMORY. */
export function stepObjectSection(deadline: f64): bool {
  const effectiveDeadline = isInterruptible ? deadline : Infinity;
  if (phase == CUTTING) {
    if (!stepMeshSection(effectiveDeadline)) return false;
    beginJoining(tolerance, CELL_SHARE * radius);
    phase = JOINING;
  }
  if (phase == JOINING) {
    if (!joinSegments(effectiveDeadline)) return false;
    phase = DONE;
  }
  return true;
}

/** Frees the memory of the section, so that callers without sections pay nothing. */
export function endSection(): void {
  phase = DONE;
  freeSegments();
  freeOutlines();
}

// Finds what one view sees, or what is on the inner side of planes, outside of a frame. Exact in float64 for the objects'
// representation at the requested precision, after the conservative descent of descend.ts. World units.

import { PRECISION_MESH, PRECISION_OBB, SIDE_DOUBLE } from '../../../../shared/layout';
import { Affine } from '../../math/affine';
import { normalise } from '../../math/plane';
import { Proxy, boundsOf } from '../../shape/proxy';
import { cull, isTooSmall } from '../view/cull';
import { removeOccluded } from '../view/occlusion';
import { descendTo } from '../index/descend';
import { beginParts, clipVolume, nextPart, partLimits } from './clipped-parts';
import { isClipped } from './clipping';
import { isIgnored, layers, precision, setFilter } from './filter';
import { addFound, addWaiting, beginTesting, foundCount, mayTest } from './result-ids';
import { idAt, itemAt, placedShapeAt, slotCount } from '../objects';
import { Tree, readProxy, slotAt } from '../index/octree';
import { enclosureOf, limitsOf, touches } from './region';
import { updateTrees } from '../scene';
import { PlacedShape } from '../../shape/placed-shape';
import { CROSSING, INSIDE, NONE, OUTSIDE, addVolumePlane, beginVolume } from './volume';
import { queryView, beginView, describeView, planeOf, setBit } from '../view/views';
import { planesCrossing } from './primitive-volume';

const bounds = changetype<Affine>(memory.data(<i32>offsetof<Affine>(), 16));
const solid = changetype<PlacedShape>(memory.data(<i32>offsetof<PlacedShape>(), 16));
let insideCount: u32 = 0;
let visibleCount: u32 = 0;
let occludedCount: u32 = 0;

/**
 * Finds what a view sees, of all objects or of `count` ids at an address, as ids in result-ids.ts: first objects wholly
 * inside, then the others that are visible, then occluded objects, then their possible occluders. Meshes are tested up to a
 * time of the clock: the remaining ones are to be passed as such a list. At their precision nothing is occluded. Returns the
 * number of all ids. Throws OUT_OF_MEMORY.
 */
export function frustumOfView(view: usize, filter: usize, ids: usize, count: u32, deadline: f64): u32 {
  describeView(queryView, view);
  return findVisible(filter, ids, count, deadline);
}

/**
 * Finds the objects on the inner side of planes, as `frustumOfView` does. `planes`: four f32 each, normals inwards, of any
 * length. Throws OUT_OF_MEMORY.
 */
export function frustumOfPlanes(
  planes: usize, planeCount: u32, filter: usize, ids: usize, count: u32, deadline: f64,
): u32 {
  queryView.planeCount = planeCount;
  queryView.minPixels = 0;
  queryView.hasOcclusion = 0;
  queryView.layers = 0xffffffff;
  for (let i: u32 = 0; i < planeCount; i++) {
    const at = planes + (<usize>i << 4);
    const plane = planeOf(queryView, i);
    plane.x = load<f32>(at);
    plane.y = load<f32>(at, 4);
    plane.z = load<f32>(at, 8);
    plane.w = load<f32>(at, 12);
    normalise(plane);
  }
  return findVisible(filter, ids, count, deadline);
}

/** Returns how many of the ids found last are visible: the occluded ones follow, then the occluders. */
export function foundSeen(): u32 {
  return visibleCount;
}

export function foundOccluded(): u32 {
  return occludedCount;
}

/** Returns how many of the ids found last are wholly inside. */
export function foundInside(): u32 {
  return insideCount;
}

function findVisible(filter: usize, ids: usize, count: u32, deadline: f64): u32 {
  updateTrees();
  setFilter(filter);
  beginTesting(ids, deadline);
  if (precision == PRECISION_MESH) queryView.hasOcclusion = 0;
  if (ids == 0 && precision == PRECISION_OBB && !isClipped) cull(queryView);
  else classify(ids, count);
  if (queryView.hasOcclusion) {
    removeAbsent(queryView.inside);
    removeAbsent(queryView.crossing);
    removeOccluded(queryView);
  }
  addIds(queryView.inside);
  insideCount = foundCount;
  addIds(queryView.crossing);
  visibleCount = foundCount;
  if (queryView.hasOcclusion) addIds(queryView.occluded);
  occludedCount = foundCount - visibleCount;
  if (queryView.hasOcclusion) addIds(queryView.occluders);
  return foundCount;
}

/** Removes objects that do not exist for the query, so that they occlude nothing. */
function removeAbsent(bitmap: usize): void {
  for (let w: u32 = 0; w < queryView.words; w++) {
    const at = bitmap + (<usize>w << 2);
    for (let bits = load<u32>(at); bits != 0; bits &= bits - 1) {
      const slot = (w << 5) + ctz(bits);
      if (!(itemAt(slot).layers & layers) || isIgnored(idAt(slot))) store<u32>(at, load<u32>(at) & ~(1 << (slot & 31)));
    }
  }
}

function addIds(bitmap: usize): void {
  // If the view sees no other layers, objects need not be read for their layers: a million objects then take half the time.
  const skipsLayerTest = (queryView.layers & ~layers) == 0;
  for (let w: u32 = 0; w < queryView.words; w++) {
    for (let bits = load<u32>(bitmap + (<usize>w << 2)); bits != 0; bits &= bits - 1) {
      const slot = (w << 5) + ctz(bits);
      const id = idAt(slot);
      if ((skipsLayerTest || itemAt(slot).layers & layers) && !isIgnored(id)) addFound(id);
    }
  }
}

/** Culls as `cull` does, by the objects' representation at the requested precision. */
function classify(ids: usize, count: u32): void {
  beginView(queryView, slotCount);
  beginVolume();
  for (let i: u32 = 0; i < queryView.planeCount; i++) {
    addVolumePlane(1, planeOf(queryView, i), 0, planeOf(queryView, i));
  }
  clipVolume();
  descendTo(ids, count, visitObject);
}

function visitObject(tree: Tree, position: u32, limits: u64): void {
  if (!(load<u32>(tree.visibleLayers + (<usize>position << 2)) & queryView.layers)) return;
  const proxy = readProxy(tree, position);
  if (isTooSmall(queryView, boundsOf(proxy, bounds)) || isIgnored(proxy.id)) return;
  if (precision == PRECISION_MESH && (limits != 0 || isClipped) && !mayTest(proxy.shape, 1)) return addWaiting(proxy.id);
  const slot = slotAt(tree, position);
  // The kept part of an object may consist of several pieces.
  let isInside = true, isInVolume = false;
  beginParts(null);
  while (nextPart()) {
    const state = stateInPart(proxy, slot, limits | partLimits);
    if (state == INSIDE || state == CROSSING) isInVolume = true;
    if (state == BESIDE || state == CROSSING) isInside = false;
  }
  if (isInVolume) setBit(isInside ? queryView.inside : queryView.crossing, slot);
}

/** Something of the object is kept, but nothing of that is in the volume. */
const BESIDE: u32 = 3;

function stateInPart(proxy: Proxy, slot: u32, limits: u64): u32 {
  const crossed = limitsOf(proxy, limits, precision);
  if (crossed == OUTSIDE) return NONE;
  if (crossed == 0) return INSIDE;
  placedShapeAt(solid, slot, precision);
  if (precision == PRECISION_MESH) {
    const enclosure = enclosureOf(solid, crossed, SIDE_DOUBLE, 0);
    return enclosure == CROSSING && !touches(solid, crossed, SIDE_DOUBLE, 0) ? BESIDE : enclosure;
  }
  const crossings = planesCrossing(solid, crossed);
  return crossings < 0 ? NONE : crossings == 0 ? INSIDE : CROSSING;
}

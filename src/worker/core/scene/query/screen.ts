// Finds the objects whose centres are drawn near a point of the screen. The octrees are descended with the frustum of
// the square around the point, so that the cost depends on what is near it; a search for only the nearest centre
// shrinks the square with each better one. A clipped centre (clipping.ts) is not drawn.

import {
  HIT_BARYCENTRIC, HIT_DISTANCE, HIT_ELEMENT, HIT_NORMAL, HIT_OBJECT, HIT_PIXELS, HIT_POINT, HIT_TRIANGLE, VIEW_VIEWPORT,
} from '../../../../shared/layout';
import { clearHits, hitAt, hitCount, newHit } from '../../hits';
import { valueAt } from '../../math/plane';
import { Proxy } from '../../shape/proxy';
import { descend } from '../index/descend';
import { objectKeepsPoint } from './clipping';
import { isIgnored, setFilter, sidesOf } from './filter';
import { farPlane, nearPlane, clipW, clipX, clipY, eyeW, eyeX, eyeY, eyeZ, viewZ, setProjection } from '../view/projection';
import { Tree, readProxy } from '../index/octree';
import { updateTrees } from '../scene';
import { addRectangle, beginVolume, limitDepth } from './volume';

// The cursor in clip space over w, and the pixels per unit of it.
let cursorX: f64 = 0, cursorY: f64 = 0;
let pixelsPerUnitX: f64 = 0, pixelsPerUnitY: f64 = 0;
/**
 * How many pixels a centre may be away from the cursor: the given radius with `wantsAll`, else the distance of the best
 * one.
 */
let maxPixels: f64 = 0;
let wantsAll: bool = false;

/**
 * Finds the objects whose centres are drawn near the cursor, as records in hits.ts, in no order: with `findAll` every
 * centre no farther than `radius` pixels, else the nearest one. Returns their number. Throws OUT_OF_MEMORY.
 */
export function pickScreen(view: usize, x: f64, y: f64, radius: f64, filter: usize, findAll: bool): u32 {
  updateTrees();
  setFilter(filter);
  setProjection(view);
  const viewport = view + VIEW_VIEWPORT;
  pixelsPerUnitX = 0.5 * load<f64>(viewport, 16);
  pixelsPerUnitY = 0.5 * load<f64>(viewport, 24);
  cursorX = (x - load<f64>(viewport)) / pixelsPerUnitX - 1.0;
  cursorY = 1.0 - (y - load<f64>(viewport, 8)) / pixelsPerUnitY;
  maxPixels = radius;
  wantsAll = findAll;
  clearHits();
  setSearchVolume();
  descend(visitObject);
  return hitCount;
}

/** Sets the volume to the square around the circle of radius `maxPixels`, and a hair more. */
function setSearchVolume(): void {
  const pixels = maxPixels * 1.000000001 + 1e-9;
  const x = pixels / pixelsPerUnitX, y = pixels / pixelsPerUnitY;
  beginVolume();
  addRectangle(cursorX - x, cursorY - y, cursorX + x, cursorY + y);
  limitDepth();
}

function visitObject(tree: Tree, position: u32, _limits: u64): void {
  const proxy = readProxy(tree, position);
  if (sidesOf(proxy) == 0) return;
  const w = valueAt(clipW, proxy.x, proxy.y, proxy.z);
  if (!(w > 0 && valueAt(nearPlane, proxy.x, proxy.y, proxy.z) >= 0 && valueAt(farPlane, proxy.x, proxy.y, proxy.z) >= 0)) return;
  const x = (valueAt(clipX, proxy.x, proxy.y, proxy.z) / w - cursorX) * pixelsPerUnitX;
  const y = (valueAt(clipY, proxy.x, proxy.y, proxy.z) / w - cursorY) * pixelsPerUnitY;
  const pixels = sqrt(x * x + y * y);
  if (!(pixels <= maxPixels) || isIgnored(proxy.id) || !objectKeepsPoint(proxy.id, proxy.x, proxy.y, proxy.z)) return;
  measure(proxy);
  if (!wantsAll && hitCount != 0) {
    const best = hitAt(0);
    const bestDistance = load<f64>(best, HIT_DISTANCE);
    if (pixels == maxPixels && (distance > bestDistance || (distance == bestDistance && proxy.id > load<u32>(best, HIT_OBJECT))))
      return;
    clearHits();
  }
  record(proxy, pixels);
  if (wantsAll || pixels == maxPixels) return;
  maxPixels = pixels;
  setSearchVolume();
}

// The distance of the centre from the eye, or from the eye's plane, and the unit direction towards the eye.
let distance: f64 = 0;
let towardsX: f64 = 0, towardsY: f64 = 0, towardsZ: f64 = 0;

function measure(proxy: Proxy): void {
  if (eyeW == 0) {
    towardsX = eyeX;
    towardsY = eyeY;
    towardsZ = eyeZ;
    // Along that direction, since the camera's space may have another scale.
    distance = -valueAt(viewZ, proxy.x, proxy.y, proxy.z) / (viewZ.x * eyeX + viewZ.y * eyeY + viewZ.z * eyeZ);
    return;
  }
  const x = eyeX - proxy.x, y = eyeY - proxy.y, z = eyeZ - proxy.z;
  distance = sqrt(x * x + y * y + z * z);
  towardsX = x / distance;
  towardsY = y / distance;
  towardsZ = z / distance;
}

function record(proxy: Proxy, pixels: f64): void {
  const hit = newHit();
  store<u32>(hit, proxy.id, HIT_OBJECT);
  store<i32>(hit, -1, HIT_TRIANGLE);
  store<i32>(hit, -1, HIT_ELEMENT);
  store<f64>(hit, distance, HIT_DISTANCE);
  store<f64>(hit, proxy.x, HIT_POINT);
  store<f64>(hit, proxy.y, HIT_POINT + 8);
  store<f64>(hit, proxy.z, HIT_POINT + 16);
  store<f64>(hit, towardsX, HIT_NORMAL);
  store<f64>(hit, towardsY, HIT_NORMAL + 8);
  store<f64>(hit, towardsZ, HIT_NORMAL + 16);
  memory.fill(hit + HIT_BARYCENTRIC, 0, 24);
  store<f64>(hit, pixels, HIT_PIXELS);
}

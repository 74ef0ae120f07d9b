// The service's correct answers to every query of the driver. If an answer depends on less than the rounding of float32, either
// result is accepted.

import type { ClosestPoint, Hit, QueryOptions, Sight } from 'collision-worker';
import {
  boundsOf,
  difference,
  distanceTo,
  gap,
  length,
  type Point,
  protrusion,
  type RayHits,
  rayHits,
  type Solid,
  sum,
} from './solids.js';
import { excessPixels, eyeOf, frustumOf, isShownTo, pixelOf, type Window } from './windows.js';
import { type ModelObject, partsOf, pickable, solidOf, standIn, TOLERANCE, type World } from './world.js';

export interface Line {
  origin: Point;
  /** Of unit length. */
  direction: Point;
  tMax: number;
}

/**
 * The checked part of an answer: the object, the distance, the number of its box by hand, and its name; null if none is reported.
 */
export type ReportedHit = Pick<Hit, 'object' | 'distance' | 'bone'> & { box?: string | null };

/** Where a ray hits an object; if it has boxes, which one. */
interface Crossing {
  id: number;
  t: number;
  bone: number;
  box: string | undefined;
}

/** Returns whether an answer is that crossing. */
function matchesCrossing(
  { object, distance, bone, box: reportedBox }: ReportedHit,
  { id, t, bone: ownBone, box }: Crossing,
): boolean {
  return (
    object === id &&
    bone === ownBone &&
    Math.abs(distance - t) < TOLERANCE &&
    (reportedBox === null || reportedBox === box)
  );
}

/** Returns whether `ids` are exactly those with a negative `excess`. */
function matchesExcess(objects: readonly [id: number, excess: number][], ids: Iterable<number>): boolean {
  const reported = new Set(ids);
  const knownIds = new Set(objects.map(([id]) => id));
  return (
    objects.every(([id, excess]) => Math.abs(excess) < TOLERANCE || excess < 0 === reported.has(id)) &&
    [...reported].every((id) => knownIds.has(id))
  );
}

export function isFirstHit(world: World, line: Line, options: QueryOptions, answer: ReportedHit | null): boolean {
  const { all, isInDoubt } = hitsOf(world, line, options);
  if (isInDoubt) return true;
  const nearest = Math.min(...all.map(({ t }) => t));
  if (answer === null) return nearest === Infinity;
  const isNearest = Math.abs(answer.distance - nearest) < TOLERANCE;
  return isNearest && all.some((each) => matchesCrossing(answer, each));
}

/** Hits are ordered by distance; for a mesh, each of the triangles that share an edge may be among them. */
export function areAllHits(world: World, line: Line, options: QueryOptions, answers: readonly Hit[]): boolean {
  const { all, isInDoubt } = hitsOf(world, line, options);
  if (isInDoubt) return true;
  const isOrdered = answers.every((hit, i) => i === 0 || hit.distance >= answers[i - 1].distance);
  const isHit = (each: Crossing) => answers.some((hit) => matchesCrossing(hit, each));
  const isTrue = (hit: Hit) => all.some((each) => matchesCrossing(hit, each));
  return isOrdered && all.every(isHit) && answers.every(isTrue);
}

export function isClear(world: World, line: Line, options: QueryOptions, answer: boolean): boolean {
  const { all, isInDoubt } = hitsOf(world, line, options);
  return isInDoubt || (all.length === 0) === answer;
}

/** Hits of all objects. The result is in doubt if a slightly displaced ray would change it. */
function hitsOf(world: World, { origin, direction, tMax }: Line, options: QueryOptions) {
  let isInDoubt = false;
  const all = pickable(world, options).flatMap(([id, object]) =>
    partsOf(world, object, options.precision).flatMap(([solid, bone]) => {
      const crossings = rayHits(solid, origin, direction);
      const hits = hitsOfSide(crossings, options.side);
      isInDoubt ||= crossings.doubt < TOLERANCE || crossings.hits.some((t) => Math.abs(t - tMax) < TOLERANCE);
      const box = object.boxes[bone]?.name;
      return hits.filter((t) => t <= tMax).map((t): Crossing => ({ id, t, bone, box }));
    }),
  );
  return { all, isInDoubt };
}

/** A ray enters through the front and leaves through the back. */
function hitsOfSide({ hits }: RayHits, side: QueryOptions['side']): number[] {
  if (side === 'front') return hits.slice(0, hits.length - 1);
  return side === 'back' ? hits.slice(-1) : hits;
}

export function areOverlapping(world: World, solid: Solid, options: QueryOptions, ids: Iterable<number>): boolean {
  const objects = pickable(world, options);
  return matchesExcess(
    objects.map(([id, object]) => [id, gap(standIn(world, object, options.precision), solid)]),
    ids,
  );
}

export function areContaining(world: World, point: Point, options: QueryOptions, ids: Iterable<number>): boolean {
  const objects = pickable(world, options);
  return matchesExcess(
    objects.map(([id, object]) => [id, distanceTo(standIn(world, object, options.precision), point)]),
    ids,
  );
}

export function isClosest(
  world: World,
  point: Point,
  maxDistance: number,
  options: QueryOptions,
  answer: ClosestPoint | null,
): boolean {
  const distances = pickable(world, options).map(([id, object]): [number, number] => {
    const solid = standIn(world, object, options.precision);
    const distance = distanceTo(solid, point);
    return [id, solid.isHollow ? Math.abs(distance) : Math.max(distance, 0)];
  });
  const minDistance = Math.min(...distances.map(([, distance]) => distance));
  if (Math.abs(minDistance - maxDistance) < TOLERANCE) return true;
  if (answer === null) return minDistance === Number.POSITIVE_INFINITY || minDistance > maxDistance;
  if (minDistance > maxDistance) return false;
  const isMinimal = Math.abs(answer.distance - minDistance) < TOLERANCE;
  const isPointConsistent = Math.abs(length(difference(answer.point as Point, point)) - answer.distance) < TOLERANCE;
  return (
    isMinimal &&
    isPointConsistent &&
    distances.some(([id, each]) => id === answer.object && Math.abs(each - minDistance) < TOLERANCE)
  );
}

/**
 * Returns whether the visible and the occluded objects of a view are right: tested by the bounds, or with precision 'mesh' by the
 * shapes.
 */
export function areVisible(
  world: World,
  window: Window,
  options: QueryOptions,
  { ids: seen, inside, occluded }: { ids: Uint32Array; inside: number; occluded: Uint32Array },
): boolean {
  if (!window.occlusion && occluded.length > 0) return false;
  if (![...occluded].every((id) => isHidden(world, window, options, id))) return false;
  // Occluded objects may be inside or cross the border: `inside` only counts visible ones.
  return areInView(
    world,
    window,
    options,
    [...seen, ...occluded],
    occluded.length > 0 ? null : seen.subarray(0, inside),
  );
}

/** Returns whether each point of a thing's bounds that could be drawn is behind another thing. */
function isHidden(world: World, window: Window, { layers = -1, ignore = [] }: QueryOptions, id: number): boolean {
  const object = world.things.get(id);
  if (object === undefined) return false;
  const frustum = frustumOf({ ...window, margin: 0 });
  const others = [...world.things].filter(
    ([other, each]) =>
      other !== id && each.occluder && isShownTo(window, each) && each.layers & layers && !ignore.includes(other),
  );
  return ninePoints(world, object).every((point) => {
    if (distanceTo(frustum, point) > -TOLERANCE) return true;
    const rayOrigin: Point = [point[0], point[1], window.center[2] + window.half[2]];
    return others.some(([, each]) => {
      const solid = standIn(world, each, 'mesh');
      const { hits, doubt } = rayHits(solid, rayOrigin, [0, 0, -1]);
      return doubt < TOLERANCE || hits.some((t) => t <= rayOrigin[2] - point[2] + TOLERANCE);
    });
  });
}

function areInView(
  world: World,
  window: Window,
  { layers = -1, ignore = [], precision = 'obb' }: QueryOptions,
  ids: readonly number[],
  inside: Uint32Array | null,
): boolean {
  const frustum = frustumOf(window);
  const candidates = [...world.things].filter(
    ([id, object]) => isShownTo(window, object) && object.layers & layers && !ignore.includes(id),
  );
  const excesses: [number, number][] = [];
  for (const [id, object] of candidates) {
    const solid = standIn(world, object, precision);
    const sparePixels = excessPixels(window, solidOf(world, object));
    const frustumGap = precision === 'mesh' ? gap(solid, frustum) : gap(boundsOf(solid), frustum);
    if (Math.abs(sparePixels) < 0.01) excesses.push([id, 0]);
    else excesses.push([id, sparePixels < 0 ? 1 : frustumGap]);
  }
  const insideExcesses = excesses.map(([id, excess]): [number, number] => {
    const beyond = protrusion(frustum, standIn(world, world.things.get(id)!, precision));
    return [id, Math.abs(excess) < TOLERANCE ? 0 : Math.max(excess, beyond)];
  });
  return matchesExcess(excesses, ids) && (inside === null || matchesExcess(insideExcesses, inside));
}

/** Returns whether the numbers of visible points match the targets. */
export function isSight(
  world: World,
  window: Window,
  targets: readonly number[],
  options: QueryOptions,
  { ids, points }: Sight,
): boolean {
  const inSight = targets.filter((_, i) => points[i] > 0);
  if (inSight.join() !== ids.join()) return false;
  const frustum = frustumOf({ ...window, margin: 0 });
  return targets.every((id, i) => {
    const object = world.things.get(id);
    if (!object || !(object.layers & window.layers)) return points[i] === 0;
    const sparePixels = excessPixels(window, solidOf(world, object));
    if (Math.abs(sparePixels) < 0.01) return true;
    if (sparePixels < 0) return points[i] === 0;
    const others = { ...options, ignore: [...(options.ignore ?? []), id] };
    let [min, max] = [0, 0];
    for (const point of ninePoints(world, object)) {
      const beyond = distanceTo(frustum, point);
      const origin: Point = [point[0], point[1], window.center[2] + window.half[2]];
      const line = { origin, direction: [0, 0, -1] as Point, tMax: origin[2] - point[2] };
      const { all, isInDoubt } = hitsOf(world, line, others);
      const isUncertain = isInDoubt || Math.abs(beyond) < TOLERANCE;
      if (isUncertain) max++;
      else if (beyond < 0 && all.length === 0) {
        min++;
        max++;
      }
    }
    return min <= points[i] && points[i] <= max;
  });
}

/** The centre of the bounds, and the points halfway to their corners. */
function ninePoints(world: World, object: ModelObject): Point[] {
  const { center, half } = boundsOf(solidOf(world, object));
  const signs = [-0.5, 0.5];
  const corners = signs.flatMap((x) => signs.flatMap((y) => signs.map((z): Point => [x, y, z])));
  return [center, ...corners.map((s) => sum(center, [s[0] * half[0], s[1] * half[1], s[2] * half[2]]))];
}

/** For picks by screen distance: returns whether no object is drawn nearer than the answer. */
export function isNearestDrawn(
  world: World,
  window: Window,
  x: number,
  y: number,
  radius: number,
  options: QueryOptions,
  answer: Hit | null,
): boolean {
  let isInDoubt = false;
  const pixelDistances = pickable(world, options).flatMap(([id, object]): [number, number][] => {
    const { center } = solidOf(world, object);
    const depth = Math.abs(center[2] - window.center[2]) - window.half[2];
    const [px, py] = pixelOf(window, center);
    const pixels = Math.hypot(px - x, py - y);
    isInDoubt ||= Math.abs(depth) < TOLERANCE || Math.abs(pixels - radius) < 0.01;
    return depth < 0 && pixels <= radius ? [[id, pixels]] : [];
  });
  if (isInDoubt) return true;
  const minPixels = Math.min(...pixelDistances.map(([, pixels]) => pixels));
  if (answer === null) return minPixels === Infinity;
  return pixelDistances.some(([id, pixels]) => id === answer.object && Math.abs(pixels - minPixels) < 0.01);
}

/** The part of a window's frustum behind a rectangle on the screen; null if there is none. */
export function frustumBehind(window: Window, x: number, y: number, width: number, height: number): Solid | null {
  const [left, top] = [Math.max(x, window.left), Math.max(y, window.top)];
  const right = Math.min(x + width, window.left + window.width);
  const bottom = Math.min(y + height, window.top + window.height);
  if (left >= right || top >= bottom) return null;
  const [minCorner, maxCorner] = [eyeOf(window, left, bottom), eyeOf(window, right, top)];
  const { center, half } = window;
  return {
    ...{ radius: 0, isHollow: false },
    center: [(minCorner[0] + maxCorner[0]) / 2, (minCorner[1] + maxCorner[1]) / 2, center[2]],
    half: [(maxCorner[0] - minCorner[0]) / 2, (maxCorner[1] - minCorner[1]) / 2, half[2]],
  };
}

export function areInRegion(
  world: World,
  region: Solid | null,
  mode: 'touch' | 'enclose',
  options: QueryOptions,
  ids: Iterable<number>,
): boolean {
  if (!region) return [...ids].length === 0;
  const excess = (solid: Solid) => (mode === 'touch' ? gap(solid, region) : protrusion(region, solid));
  const objects = pickable(world, options);
  return matchesExcess(
    objects.map(([id, object]) => [id, excess(standIn(world, object, options.precision))]),
    ids,
  );
}

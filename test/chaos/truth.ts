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
  type RayHits,
  rayHits,
  reachBeyond,
  type Solid,
  sum,
} from './solids.js';
import { eyeOf, frustumOf, isShownTo, pixelOf, pixelsToSpare, type Window } from './windows.js';
import { DOUBT, partsOf, pickable, solidOf, standIn, type Thing, type World } from './world.js';

export interface Line {
  origin: Point;
  /** Of unit length. */
  direction: Point;
  tMax: number;
}

/**
 * The checked part of an answer: the object, the distance, the number of its box by hand, and its name; null if none is reported.
 */
export type Struck = Pick<Hit, 'object' | 'distance' | 'bone'> & { box?: string | null };

/** Where a ray hits an object; if it has boxes, which one. */
interface Crossing {
  id: number;
  t: number;
  bone: number;
  box: string | undefined;
}

/** Returns whether an answer is that crossing. */
function isOf({ object, distance, bone, box: told }: Struck, { id, t, bone: own, box }: Crossing): boolean {
  return object === id && bone === own && Math.abs(distance - t) < DOUBT && (told === null || told === box);
}

/** Returns whether `ids` are exactly those with a negative `excess`. */
function areThose(things: readonly [id: number, excess: number][], ids: Iterable<number>): boolean {
  const found = new Set(ids);
  const known = new Set(things.map(([id]) => id));
  return (
    things.every(([id, excess]) => Math.abs(excess) < DOUBT || excess < 0 === found.has(id)) &&
    [...found].every((id) => known.has(id))
  );
}

export function isFirstHit(world: World, line: Line, options: QueryOptions, answer: Struck | null): boolean {
  const { all, isInDoubt } = hitsOf(world, line, options);
  if (isInDoubt) return true;
  const nearest = Math.min(...all.map(({ t }) => t));
  if (answer === null) return nearest === Infinity;
  const isNearest = Math.abs(answer.distance - nearest) < DOUBT;
  return isNearest && all.some((each) => isOf(answer, each));
}

/** Hits are ordered by distance; for a mesh, each of the triangles that share an edge may be among them. */
export function areAllHits(world: World, line: Line, options: QueryOptions, answers: readonly Hit[]): boolean {
  const { all, isInDoubt } = hitsOf(world, line, options);
  if (isInDoubt) return true;
  const isOrdered = answers.every((hit, i) => i === 0 || hit.distance >= answers[i - 1].distance);
  const isHit = (each: Crossing) => answers.some((hit) => isOf(hit, each));
  const isTrue = (hit: Hit) => all.some((each) => isOf(hit, each));
  return isOrdered && all.every(isHit) && answers.every(isTrue);
}

export function isClear(world: World, line: Line, options: QueryOptions, answer: boolean): boolean {
  const { all, isInDoubt } = hitsOf(world, line, options);
  return isInDoubt || (all.length === 0) === answer;
}

/** Hits of all objects. The result is in doubt if a slightly displaced ray would change it. */
function hitsOf(world: World, { origin, direction, tMax }: Line, options: QueryOptions) {
  let isInDoubt = false;
  const all = pickable(world, options).flatMap(([id, thing]) =>
    partsOf(world, thing, options.precision).flatMap(([solid, bone]) => {
      const found = rayHits(solid, origin, direction);
      const hits = ofSide(found, options.side);
      isInDoubt ||= found.doubt < DOUBT || found.hits.some((t) => Math.abs(t - tMax) < DOUBT);
      const box = thing.boxes[bone]?.name;
      return hits.filter((t) => t <= tMax).map((t): Crossing => ({ id, t, bone, box }));
    }),
  );
  return { all, isInDoubt };
}

/** A ray enters through the front and leaves through the back. */
function ofSide({ hits }: RayHits, side: QueryOptions['side']): number[] {
  if (side === 'front') return hits.slice(0, hits.length - 1);
  return side === 'back' ? hits.slice(-1) : hits;
}

export function areMet(world: World, solid: Solid, options: QueryOptions, ids: Iterable<number>): boolean {
  const things = pickable(world, options);
  return areThose(
    things.map(([id, thing]) => [id, gap(standIn(world, thing, options.precision), solid)]),
    ids,
  );
}

export function areAround(world: World, point: Point, options: QueryOptions, ids: Iterable<number>): boolean {
  const things = pickable(world, options);
  return areThose(
    things.map(([id, thing]) => [id, distanceTo(standIn(world, thing, options.precision), point)]),
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
  const all = pickable(world, options).map(([id, thing]): [number, number] => {
    const solid = standIn(world, thing, options.precision);
    const distance = distanceTo(solid, point);
    return [id, solid.isHollow ? Math.abs(distance) : Math.max(distance, 0)];
  });
  const least = Math.min(...all.map(([, distance]) => distance));
  if (Math.abs(least - maxDistance) < DOUBT) return true;
  if (answer === null) return least === Number.POSITIVE_INFINITY || least > maxDistance;
  if (least > maxDistance) return false;
  const isLeast = Math.abs(answer.distance - least) < DOUBT;
  const isThere = Math.abs(length(difference(answer.point as Point, point)) - answer.distance) < DOUBT;
  return isLeast && isThere && all.some(([id, each]) => id === answer.object && Math.abs(each - least) < DOUBT);
}

/**
 * Returns whether the visible and the occluded objects of a view are right: tested by the bounds, or with precision 'mesh' by the
 * shapes.
 */
export function areSeen(
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
  const thing = world.things.get(id);
  if (thing === undefined) return false;
  const frustum = frustumOf({ ...window, margin: 0 });
  const others = [...world.things].filter(
    ([other, each]) =>
      other !== id && each.occluder && isShownTo(window, each) && each.layers & layers && !ignore.includes(other),
  );
  return ninePoints(world, thing).every((point) => {
    if (distanceTo(frustum, point) > -DOUBT) return true;
    const eye: Point = [point[0], point[1], window.center[2] + window.half[2]];
    return others.some(([, each]) => {
      const solid = standIn(world, each, 'mesh');
      const { hits, doubt } = rayHits(solid, eye, [0, 0, -1]);
      return doubt < DOUBT || hits.some((t) => t <= eye[2] - point[2] + DOUBT);
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
  const shown = [...world.things].filter(
    ([id, thing]) => isShownTo(window, thing) && thing.layers & layers && !ignore.includes(id),
  );
  const seen: [number, number][] = [];
  for (const [id, thing] of shown) {
    const solid = standIn(world, thing, precision);
    const spare = pixelsToSpare(window, solidOf(world, thing));
    const over = precision === 'mesh' ? gap(solid, frustum) : gap(boundsOf(solid), frustum);
    if (Math.abs(spare) < 0.01) seen.push([id, 0]);
    else seen.push([id, spare < 0 ? 1 : over]);
  }
  const wholly = seen.map(([id, excess]): [number, number] => {
    const beyond = reachBeyond(frustum, standIn(world, world.things.get(id)!, precision));
    return [id, Math.abs(excess) < DOUBT ? 0 : Math.max(excess, beyond)];
  });
  return areThose(seen, ids) && (inside === null || areThose(wholly, inside));
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
    const thing = world.things.get(id);
    if (!thing || !(thing.layers & window.layers)) return points[i] === 0;
    const spare = pixelsToSpare(window, solidOf(world, thing));
    if (Math.abs(spare) < 0.01) return true;
    if (spare < 0) return points[i] === 0;
    const others = { ...options, ignore: [...(options.ignore ?? []), id] };
    let [least, most] = [0, 0];
    for (const point of ninePoints(world, thing)) {
      const beyond = distanceTo(frustum, point);
      const origin: Point = [point[0], point[1], window.center[2] + window.half[2]];
      const line = { origin, direction: [0, 0, -1] as Point, tMax: origin[2] - point[2] };
      const { all, isInDoubt } = hitsOf(world, line, others);
      const isUnsure = isInDoubt || Math.abs(beyond) < DOUBT;
      if (isUnsure) most++;
      else if (beyond < 0 && all.length === 0) {
        least++;
        most++;
      }
    }
    return least <= points[i] && points[i] <= most;
  });
}

/** The centre of the bounds, and the points halfway to their corners. */
function ninePoints(world: World, thing: Thing): Point[] {
  const { center, half } = boundsOf(solidOf(world, thing));
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
  const all = pickable(world, options).flatMap(([id, thing]): [number, number][] => {
    const { center } = solidOf(world, thing);
    const depth = Math.abs(center[2] - window.center[2]) - window.half[2];
    const [px, py] = pixelOf(window, center);
    const pixels = Math.hypot(px - x, py - y);
    isInDoubt ||= Math.abs(depth) < DOUBT || Math.abs(pixels - radius) < 0.01;
    return depth < 0 && pixels <= radius ? [[id, pixels]] : [];
  });
  if (isInDoubt) return true;
  const least = Math.min(...all.map(([, pixels]) => pixels));
  if (answer === null) return least === Infinity;
  return all.some(([id, pixels]) => id === answer.object && Math.abs(pixels - least) < 0.01);
}

/** The part of a window's frustum behind a rectangle on the screen; null if there is none. */
export function behind(window: Window, x: number, y: number, width: number, height: number): Solid | null {
  const [left, top] = [Math.max(x, window.left), Math.max(y, window.top)];
  const right = Math.min(x + width, window.left + window.width);
  const bottom = Math.min(y + height, window.top + window.height);
  if (left >= right || top >= bottom) return null;
  const [low, high] = [eyeOf(window, left, bottom), eyeOf(window, right, top)];
  const { center, half } = window;
  return {
    ...{ radius: 0, isHollow: false },
    center: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, center[2]],
    half: [(high[0] - low[0]) / 2, (high[1] - low[1]) / 2, half[2]],
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
  const excess = (solid: Solid) => (mode === 'touch' ? gap(solid, region) : reachBeyond(region, solid));
  const things = pickable(world, options);
  return areThose(
    things.map(([id, thing]) => [id, excess(standIn(world, thing, options.precision))]),
    ids,
  );
}

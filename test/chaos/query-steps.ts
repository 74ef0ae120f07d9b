import type { ContactDetail, RayHits } from 'collision-worker';
import type { Actor } from './actor.js';
import { faultOfBounds, faultOfContact, faultOfGap, separationOf } from './contact-truth.js';
import { difference, gap, length, type Point } from './solids.js';
import * as truth from './truth.js';
import { eyeOf, viewOf } from './windows.js';
import { DETAILS, EMPTY_WORLD, type ModelObject, shapeOf, solidOf, TOLERANCE, type World } from './world.js';

export const QUERY_STEPS = {
  raycast,
  raycastAll,
  raycastMany,
  lineOfSight,
  pick,
  'pick with a snap': pickSnap,
  pickAll,
  'pick by screen distance': pickScreen,
  pickRegion,
  frustum,
  sees,
  overlap,
  containing,
  closestPoint,
  contact,
  distance,
};

/**
 * Returns whether an answer about many objects holds in some state or, for each object, in some state of that object: a query
 * that takes longer than a slice sees each object as it is when its turn comes. `holds` is called for whole states, and then for
 * one object in states that contain only that object; `answeredIds` are the objects in the answer.
 */
function holdsPerObject(
  worlds: readonly World[],
  answeredIds: Iterable<number>,
  holds: (world: World, onlyId?: number) => boolean,
): boolean {
  if (worlds.some((world) => holds(world))) return true;
  const ids = new Set([...answeredIds, ...worlds.flatMap(({ things }) => [...things.keys()])]);
  return [...ids].every((id) => worlds.some((world) => holds(withOnly(world, id), id)));
}

function withOnly(world: World, id: number): World {
  const object = world.things.get(id);
  return { ...world, things: new Map(object && [[id, object]]) };
}

/** The part of an answer about one object, or all of it. */
const idsAbout = (ids: Iterable<number>, onlyId: number | undefined): number[] =>
  [...ids].filter((id) => onlyId === undefined || id === onlyId);

export const inSomeWorld = (holds: (world: World) => boolean) => (worlds: readonly World[]) => worlds.some(holds);

/**
 * Returns whether something holds in some state, or between two: commands overtake a frame that was joined by another one, so
 * that sliced queries see the effect of commands on objects that have not moved yet.
 */
export function inMixedWorlds(worlds: readonly World[], holds: (world: World) => boolean): boolean {
  return (
    worlds.some(holds) ||
    worlds.some((newer, i) => worlds.slice(0, i).some((older) => holds(withOldMatrices(older, newer))))
  );
}

function withOldMatrices(older: World, newer: World): World {
  const things = [...newer.things].map(([id, object]) => {
    const olderObject = older.things.get(id);
    return [id, olderObject ? { ...object, matrix: olderObject.matrix } : object] as const;
  });
  return { ...newer, things: new Map(things) };
}

function raycast(actor: Actor): void {
  const [line, options] = [actor.line(), actor.query()];
  actor.life.ask({
    name: 'raycast',
    answer: actor.service.raycast(line, options),
    check: (hit, worlds) => inSomeWorld((world) => truth.isFirstHit(world, line, options, hit))(worlds),
  });
}

function raycastAll(actor: Actor): void {
  const [line, options] = [actor.line(), actor.query()];
  actor.life.ask({
    name: 'raycastAll',
    answer: actor.service.raycastAll(line, options),
    check: (hits, worlds) => inSomeWorld((world) => truth.areAllHits(world, line, options, hits))(worlds),
  });
}

function raycastMany(actor: Actor): void {
  const lines = Array.from({ length: 1 + actor.random.integer(20) }, () => actor.line());
  const options = actor.query();
  const rays = Float32Array.from(lines.flatMap(({ origin, direction, tMax }) => [...origin, 0, ...direction, tMax]));
  actor.life.ask({
    name: 'raycastMany',
    answer: actor.service.raycastMany(rays, options),
    // Each ray sees the objects as they are when its turn comes.
    check: (hits, worlds) => {
      const wrongIndex = lines.findIndex(
        (line, i) => !inMixedWorlds(worlds, (world) => truth.isFirstHit(world, line, options, hitOf(hits, i))),
      );
      return wrongIndex < 0 || `ray ${wrongIndex}: ${JSON.stringify(hitOf(hits, wrongIndex))}`;
    },
  });
}

/** Returns the hit of one of many rays; null if it missed. */
export function hitOf({ objects, distances, bones }: RayHits, i: number): truth.ReportedHit | null {
  if (distances[i] === Number.POSITIVE_INFINITY) return null;
  return { object: objects[i], distance: distances[i], bone: bones[i], box: null };
}

function lineOfSight(actor: Actor): void {
  const [from, to] = [0, 1].map(() => actor.random.point(6).toArray() as Point);
  const options = actor.query();
  const [offset, tMax] = [difference(to, from), length(difference(to, from))];
  const line = { origin: from, direction: offset.map((each) => each / tMax) as unknown as Point, tMax };
  actor.life.ask({
    name: 'lineOfSight',
    answer: actor.service.lineOfSight(from, to, options),
    check: (isClear, worlds) => inSomeWorld((world) => truth.isClear(world, line, options, isClear))(worlds),
  });
}

/** A cursor in a view, its ray, and options. */
function cursor(actor: Actor) {
  const { random, windows } = actor;
  const view = random.pick([...windows.keys()]);
  const window = windows.get(view)!;
  const x = window.left + random.range(0.01, 0.99) * window.width;
  const y = window.top + random.range(0.01, 0.99) * window.height;
  const line = { origin: eyeOf(window, x, y), direction: [0, 0, -1] as Point, tMax: 2 * window.half[2] };
  return { x, y, window, line, options: { ...actor.query(), view, latest: random.chance(0.3) } };
}

function pick(actor: Actor): void {
  const { x, y, line, options } = cursor(actor);
  actor.life.ask({
    name: 'pick',
    latest: options.latest && 'pick',
    answer: actor.service.pick(x, y, options),
    check: (hit, worlds) => inSomeWorld((world) => truth.isFirstHit(world, line, options, hit))(worlds),
  });
}

function pickSnap(actor: Actor): void {
  const { x, y, line, options } = cursor(actor);
  const snap = actor.random.chance(0.5) ? (['vertex', 'midpoint', 'center'] as const) : (['edge', 'face'] as const);
  const given = { ...options, precision: 'mesh' as const, snap };
  actor.life.ask({
    name: 'pick with a snap',
    asked: { x, y, given, line },
    latest: options.latest && 'pick',
    answer: actor.service.pick(x, y, given),
    check: (hit, worlds) => {
      // If the ray misses everything, the hit is the feature's own.
      const isSnapOnly =
        hit?.snap && hit.snap.kind !== 'face' && hit.point.every((value, i) => value === hit.snap?.point[i]);
      const rayHit = hit && { ...hit, snap: undefined };
      return inSomeWorld((world) => truth.isFirstHit(world, line, given, isSnapOnly ? null : rayHit))(worlds);
    },
  });
}

function pickAll(actor: Actor): void {
  const { x, y, line, options } = cursor(actor);
  actor.life.ask({
    name: 'pickAll',
    latest: options.latest && 'pickAll',
    answer: actor.service.pickAll(x, y, options),
    check: (hits, worlds) => inSomeWorld((world) => truth.areAllHits(world, line, options, hits))(worlds),
  });
}

function pickScreen(actor: Actor): void {
  const { x, y, window, options } = cursor(actor);
  const radius = actor.random.range(1, 100);
  actor.life.ask({
    name: 'pick by screen distance',
    asked: { x, y, radius, options, window },
    latest: options.latest && 'pick',
    answer: actor.service.pick(x, y, { ...options, method: 'screen', radius }),
    check: (hit, worlds) =>
      inSomeWorld((world) => truth.isNearestDrawn(world, window, x, y, radius, options, hit))(worlds),
  });
}

function pickRegion(actor: Actor): void {
  const { x, y, window, options } = cursor(actor);
  const [width, height] = [0, 1].map(() => actor.random.range(1, 200));
  const mode = actor.random.pick(['touch', 'enclose'] as const);
  const given = { ...options, mode, side: 'double' } as const;
  const region = truth.frustumBehind(window, x, y, width, height);
  const rect = { x, y, width, height };
  const polygon = Float32Array.of(x, y, x + width, y, x + width, y + height, x, y + height);
  actor.life.ask({
    name: 'pickRegion',
    latest: options.latest && 'pickRegion',
    answer: actor.service.pickRegion(actor.random.chance(0.5) ? rect : polygon, given),
    check: (ids, worlds) =>
      holdsPerObject(worlds, ids, (world, onlyId) =>
        truth.areInRegion(world, region, mode, given, idsAbout(ids, onlyId)),
      ),
  });
}

/** Queries the frustum of a view, given by name or directly. */
function frustum(actor: Actor): void {
  const { random, windows } = actor;
  const name = random.pick([...windows.keys()]);
  const isNamed = random.chance(0.5);
  const window = isNamed ? windows.get(name)! : actor.window();
  const options = actor.query();
  if (random.chance(0.5)) delete options.precision; // its default differs from that of other queries
  actor.life.ask({
    name: 'frustum',
    answer: actor.service.frustum(isNamed ? name : viewOf(window), options),
    check: (seen, worlds) => inSomeWorld((world) => truth.areVisible(world, window, options, seen))(worlds),
  });
}

function sees(actor: Actor): void {
  const window = actor.window();
  const targets = actor.ids(4);
  const { side, ...sightOptions } = actor.query();
  actor.life.ask({
    name: 'sees',
    answer: actor.service.sees(viewOf(window), targets, sightOptions),
    check: (sight, worlds) =>
      inSomeWorld((world) => truth.isSight(world, window, targets, sightOptions, sight))(worlds),
  });
}

function overlap(actor: Actor): void {
  const object = actor.thing();
  const options = actor.query();
  actor.life.ask({
    name: 'overlap',
    answer: actor.service.overlap(shapeOf(object), object.matrix, options),
    check: (ids, worlds) =>
      holdsPerObject(worlds, ids, (world, onlyId) =>
        truth.areOverlapping(world, solidOf(meshSizes(actor, world, object), object), options, idsAbout(ids, onlyId)),
      ),
  });
}

/** The mesh of the query may be missing from later states. */
export function meshSizes({ life }: Actor, world: World, { mesh }: ModelObject): Pick<World, 'meshes'> {
  if (mesh === 0) return EMPTY_WORLD;
  return { meshes: new Map([[mesh, world.meshes.get(mesh) ?? life.sizeOf(mesh)]]) };
}

function containing(actor: Actor): void {
  const point = actor.random.point(6).toArray() as Point;
  const options = actor.query();
  actor.life.ask({
    name: 'containing',
    answer: actor.service.containing(point, options),
    check: (ids, worlds) =>
      holdsPerObject(worlds, ids, (world, onlyId) => truth.areContaining(world, point, options, idsAbout(ids, onlyId))),
  });
}

function closestPoint(actor: Actor): void {
  const point = actor.random.point(8).toArray() as Point;
  const options = actor.query();
  const maxDistance = actor.random.pick([Number.POSITIVE_INFINITY, actor.random.range(0.1, 5)]);
  actor.life.ask({
    name: 'closestPoint',
    answer: actor.service.closestPoint(point, { ...options, maxDistance }),
    check: (closest, worlds) =>
      holdsPerObject(worlds, closest ? [closest.object] : [], (world, onlyId) => {
        const isOther = onlyId !== undefined && onlyId !== closest?.object;
        // None of the other objects is nearer.
        const limit = isOther ? Math.min(maxDistance, closest?.distance ?? maxDistance) : maxDistance;
        return truth.isClosest(world, point, limit, options, isOther ? null : closest);
      }),
  });
}

function contact(actor: Actor): void {
  const [a, b] = actor.ids(2);
  if (b === undefined) return;
  const detail = actor.random.pick(DETAILS.slice(1)) as Exclude<ContactDetail, 'none'>;
  actor.life.ask({
    name: 'contact',
    answer: actor.service.contact(a, b, { detail, ...actor.signal() }),
    check: (report, worlds) => {
      const faults = worlds.map((world) => {
        const [first, second] = [a, b].map((id) => world.things.get(id));
        if (!first || !second) return report ? 'one of the two is gone' : '';
        const solids = [solidOf(world, first), solidOf(world, second)] as const;
        const separation = separationOf(world, first, second, detail);
        const clearance = first.clearance + second.clearance;
        if (Math.abs(separation) < TOLERANCE || Math.abs(separation - clearance) < TOLERANCE) return '';
        if (separation < clearance !== (report !== null)) return `they are ${separation} apart`;
        if (report === null) return '';
        if (detail === 'bounds') return faultOfBounds(world, first, second, report);
        return separation > 0 ? faultOfGap(separation, detail, report) : faultOfContact(...solids, detail, report);
      });
      return faults.includes('') || faults.join('; or ');
    },
  });
}

function distance(actor: Actor): void {
  const [a, b] = actor.ids(2);
  if (b === undefined) return;
  const maxDistance = actor.random.pick([Number.POSITIVE_INFINITY, actor.random.range(0.1, 5)]);
  actor.life.ask({
    name: 'distance',
    answer: actor.service.distance(a, b, { maxDistance, ...actor.signal() }),
    check: (result, worlds) => {
      const faults = worlds.map((world) => {
        const [first, second] = [a, b].map((id) => world.things.get(id));
        if (!first || !second) return result ? 'one of the two is gone' : '';
        const separation = Math.max(gap(solidOf(world, first), solidOf(world, second)), 0);
        if (result === null) return separation > maxDistance - TOLERANCE ? '' : `they are ${separation} apart`;
        if (separation > maxDistance + TOLERANCE) return `${separation} is too far`;
        if (Math.abs(result.distance - separation) > TOLERANCE) return `${result.distance}, expected ${separation}`;
        const pointGap = length(difference(result.pointB, result.pointA));
        return Math.abs(pointGap - result.distance) > TOLERANCE ? `points ${pointGap} apart` : '';
      });
      return faults.includes('') || faults.join('; or ');
    },
  });
}

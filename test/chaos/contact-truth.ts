import type { ContactDetail, ContactPair } from 'collision-worker';
import { distanceTo, filledGap, gap, length, moved, type Point, reachBeyond, type Solid } from './solids.js';
import { boundsParts, DOUBT, detailOf, solidOf, type Thing, type World } from './world.js';

/** Tolerance for depths and points, which come from float32 triangles. */
const ROUGH = 1e-3;

type Contact = Pick<ContactPair, 'contained' | 'points' | 'normals' | 'depths' | 'triangles' | 'segments' | 'bones'>;

/** Returns what is wrong with the pairs of a frame; empty if nothing is. */
export function faultOfPairs(world: World, pairs: Iterable<ContactPair>, waiting: number): string {
  const things = [...world.things].map(([id, thing]) => ({ id, thing, solid: solidOf(world, thing) }));
  things.sort((a, b) => a.id - b.id);
  const found = new Map([...pairs].map((pair) => [`${pair.a}:${pair.b}`, pair]));
  let missing = 0;
  for (let i = 0; i < things.length; i++) {
    for (let j = i + 1; j < things.length; j++) {
      const [a, b] = [things[i], things[j]];
      const key = `${a.id}:${b.id}`;
      const pair = found.get(key);
      found.delete(key);
      if (pair?.stale) continue;
      const detail = detailOf(a.thing, b.thing);
      const reach = a.thing.clearance + b.thing.clearance;
      const apart = apartBy(world, a.thing, b.thing, detail);
      if (Math.abs(apart) < DOUBT || Math.abs(apart - reach) < DOUBT) continue;
      if (pair && pair.time < 1) {
        // The model does not know the previous transforms.
        if (apart < reach) return `pair ${key} is in contact, and told to be so at ${pair.time}`;
        if (!a.thing.continuous && !b.thing.continuous) return `pair ${key} is not continuous`;
        continue;
      }
      if (apart > reach && pair) return `pair ${key} is ${apart} apart`;
      if (apart < reach && !pair && ++missing > waiting) return `pair ${key} is missing, ${-apart} deep`;
      if (!pair) continue;
      if (pair.groupA !== a.thing.group || pair.groupB !== b.thing.group) return `the groups of pair ${key}`;
      const fault =
        detail === 'bounds'
          ? faultOfBounds(world, a.thing, b.thing, pair)
          : apart > 0
            ? faultOfGap(apart, detail, pair)
            : faultOfContact(a.solid, b.solid, detail, pair);
      if (fault) return `pair ${key}: ${fault}`;
    }
  }
  // A stale pair may be of objects that have been removed.
  const [stranger] = [...found.values()].filter((pair) => !pair.stale);
  return stranger ? `pair ${stranger.a}:${stranger.b} is of what is not there` : '';
}

export function apartBy(world: World, a: Thing, b: Thing, detail: ContactDetail): number {
  if (detail === 'none') return Number.POSITIVE_INFINITY;
  if (detail !== 'bounds') return gap(solidOf(world, a), solidOf(world, b));
  return Math.min(...boundsParts(world, a).flatMap(([p]) => boundsParts(world, b).map(([q]) => filledGap(p, q))));
}

/** Checks a pair with detail 'bounds', of two objects or of their boxes by hand: it reports only which boxes meet. */
export function faultOfBounds(world: World, a: Thing, b: Thing, contact: Contact): string {
  const { contained, depths, bones } = contact;
  if (contained || depths.length) return 'more than bounds';
  const told = Array.from({ length: bones.length / 2 }, (_, i) => `${bones[2 * i]} ${bones[2 * i + 1]}`);
  if (a.boxes.length + b.boxes.length === 0) return told.length > 0 ? 'boxes of what has none' : '';
  const reach = a.clearance + b.clearance;
  const known: string[] = [];
  for (const [p, i] of boundsParts(world, a)) {
    for (const [q, j] of boundsParts(world, b)) {
      const [apart, key] = [filledGap(p, q), `${i} ${j}`];
      known.push(key);
      if (apart < -DOUBT && !told.includes(key)) return `boxes ${key} meet`;
      if (apart > reach + DOUBT && told.includes(key)) return `boxes ${key} are ${apart} apart`;
    }
  }
  return told.length > 0 && told.every((key) => known.includes(key)) ? '' : `boxes ${told} of ${known}`;
}

/** Checks a pair that is apart by at most its clearances. */
export function faultOfGap(apart: number, detail: ContactDetail, contact: Contact): string {
  const { contained, points, depths, triangles } = contact;
  const hasPoints = detail === 'manifold' || detail === 'full';
  if (contained !== 0 || triangles.length !== 0) return 'more than a gap';
  if (points.length !== (hasPoints ? 3 : 0)) return `${points.length} coordinates with detail ${detail}`;
  return hasPoints && Math.abs(depths[0] + apart) > ROUGH ? `depth ${depths[0]}, expected ${-apart}` : '';
}

/** Checks a pair that touches. */
export function faultOfContact(a: Solid, b: Solid, detail: ContactDetail, contact: Contact): string {
  const { contained, points, normals, depths, triangles, segments } = contact;
  const hasPoints = detail === 'manifold' || detail === 'full';
  const [ofA, ofB] = [reachBeyond(b, a), reachBeyond(a, b)];
  const isInDoubt = Math.abs(ofA) < DOUBT || Math.abs(ofB) < DOUBT;
  const expected = ofA < 0 ? 1 : ofB < 0 ? 2 : 0;
  if (!isInDoubt && contained !== expected) return `contained is ${contained}, expected ${expected}`;
  if (points.length !== 3 * depths.length || normals.length !== points.length)
    return 'points without normals or depths';
  if (depths.length > 0 !== hasPoints) return `${depths.length} points with detail ${detail}`;
  for (let i = 0; i < depths.length; i++) {
    const fault = faultOfPoint(a, b, triple(points, i), triple(normals, i), depths[i]);
    if (fault) return fault;
  }
  if (triangles.length / 2 !== segments.length / 6) return 'triangles without segments';
  for (let i = 0; i < segments.length / 3; i++) {
    const end = triple(segments, i);
    const off = Math.max(Math.abs(distanceTo(a, end)), Math.abs(distanceTo(b, end)));
    if (off > ROUGH) return `the end ${end} of a segment is ${off} off the surfaces`;
  }
  return '';
}

function faultOfPoint(a: Solid, b: Solid, point: Point, normal: Point, depth: number): string {
  if (Math.abs(length(normal) - 1) > ROUGH) return `a normal of length ${length(normal)}`;
  const off = Math.max(distanceTo(a, point), distanceTo(b, point));
  if (off > ROUGH) return `point ${point} is ${off} outside`;
  const by = normal.map((each) => each * depth) as unknown as Point;
  const left = filledGap(a, moved(b, by));
  if (left < -ROUGH) return `moved by ${depth} along ${normal}, they still overlap by ${-left}`;
  const least = -filledGap(a, b);
  return Math.abs(depth - least) > ROUGH ? `depth ${depth}, expected ${least}` : '';
}

function triple(array: Float32Array, i: number): Point {
  return [array[3 * i], array[3 * i + 1], array[3 * i + 2]];
}

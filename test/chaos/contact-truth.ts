import type { ContactDetail, ContactPair } from 'collision-worker';
import { distanceTo, filledGap, gap, length, type Point, protrusion, type Solid, translated } from './solids.js';
import { boundsParts, detailOf, type ModelObject, solidOf, TOLERANCE, type World } from './world.js';

/** Tolerance for depths and points, which come from float32 triangles. */
const CONTACT_TOLERANCE = 1e-3;

type Contact = Pick<ContactPair, 'contained' | 'points' | 'normals' | 'depths' | 'triangles' | 'segments' | 'bones'>;

/** Returns what is wrong with the pairs of a frame; empty if nothing is. */
export function faultOfPairs(world: World, pairs: Iterable<ContactPair>, waiting: number): string {
  const objects = [...world.things].map(([id, thing]) => ({ id, thing, solid: solidOf(world, thing) }));
  objects.sort((a, b) => a.id - b.id);
  const pairsByKey = new Map([...pairs].map((pair) => [`${pair.a}:${pair.b}`, pair]));
  let missing = 0;
  for (let i = 0; i < objects.length; i++) {
    for (let j = i + 1; j < objects.length; j++) {
      const [a, b] = [objects[i], objects[j]];
      const key = `${a.id}:${b.id}`;
      const pair = pairsByKey.get(key);
      pairsByKey.delete(key);
      if (pair?.stale) continue;
      const detail = detailOf(a.thing, b.thing);
      const clearance = a.thing.clearance + b.thing.clearance;
      const separation = separationOf(world, a.thing, b.thing, detail);
      if (Math.abs(separation) < TOLERANCE || Math.abs(separation - clearance) < TOLERANCE) continue;
      if (pair && pair.time < 1) {
        // The model does not know the previous transforms.
        if (separation < clearance) return `pair ${key} is in contact, and told to be so at ${pair.time}`;
        if (!a.thing.continuous && !b.thing.continuous) return `pair ${key} is not continuous`;
        continue;
      }
      if (separation > clearance && pair) return `pair ${key} is ${separation} apart`;
      if (separation < clearance && !pair && ++missing > waiting) return `pair ${key} is missing, ${-separation} deep`;
      if (!pair) continue;
      if (pair.groupA !== a.thing.group || pair.groupB !== b.thing.group) return `the groups of pair ${key}`;
      const fault =
        detail === 'bounds'
          ? faultOfBounds(world, a.thing, b.thing, pair)
          : separation > 0
            ? faultOfGap(separation, detail, pair)
            : faultOfContact(a.solid, b.solid, detail, pair);
      if (fault) return `pair ${key}: ${fault}`;
    }
  }
  // A stale pair may be of objects that have been removed.
  const [unknownPair] = [...pairsByKey.values()].filter((pair) => !pair.stale);
  return unknownPair ? `pair ${unknownPair.a}:${unknownPair.b} is of what is not there` : '';
}

export function separationOf(world: World, a: ModelObject, b: ModelObject, detail: ContactDetail): number {
  if (detail === 'none') return Number.POSITIVE_INFINITY;
  if (detail !== 'bounds') return gap(solidOf(world, a), solidOf(world, b));
  return Math.min(...boundsParts(world, a).flatMap(([p]) => boundsParts(world, b).map(([q]) => filledGap(p, q))));
}

/** Checks a pair with detail 'bounds', of two objects or of their boxes by hand: it reports only which boxes meet. */
export function faultOfBounds(world: World, a: ModelObject, b: ModelObject, contact: Contact): string {
  const { contained, depths, bones } = contact;
  if (contained || depths.length) return 'more than bounds';
  const reportedKeys = Array.from({ length: bones.length / 2 }, (_, i) => `${bones[2 * i]} ${bones[2 * i + 1]}`);
  if (a.boxes.length + b.boxes.length === 0) return reportedKeys.length > 0 ? 'boxes of what has none' : '';
  const clearance = a.clearance + b.clearance;
  const possibleKeys: string[] = [];
  for (const [p, i] of boundsParts(world, a)) {
    for (const [q, j] of boundsParts(world, b)) {
      const [separation, key] = [filledGap(p, q), `${i} ${j}`];
      possibleKeys.push(key);
      if (separation < -TOLERANCE && !reportedKeys.includes(key)) return `boxes ${key} meet`;
      if (separation > clearance + TOLERANCE && reportedKeys.includes(key))
        return `boxes ${key} are ${separation} apart`;
    }
  }
  return reportedKeys.length > 0 && reportedKeys.every((key) => possibleKeys.includes(key))
    ? ''
    : `boxes ${reportedKeys} of ${possibleKeys}`;
}

/** Checks a pair that is apart by at most its clearances. */
export function faultOfGap(separation: number, detail: ContactDetail, contact: Contact): string {
  const { contained, points, depths, triangles } = contact;
  const hasPoints = detail === 'manifold' || detail === 'full';
  if (contained !== 0 || triangles.length !== 0) return 'more than a gap';
  if (points.length !== (hasPoints ? 3 : 0)) return `${points.length} coordinates with detail ${detail}`;
  return hasPoints && Math.abs(depths[0] + separation) > CONTACT_TOLERANCE
    ? `depth ${depths[0]}, expected ${-separation}`
    : '';
}

/** Checks a pair that touches. */
export function faultOfContact(a: Solid, b: Solid, detail: ContactDetail, contact: Contact): string {
  const { contained, points, normals, depths, triangles, segments } = contact;
  const hasPoints = detail === 'manifold' || detail === 'full';
  const [protrusionA, protrusionB] = [protrusion(b, a), protrusion(a, b)];
  const isInDoubt = Math.abs(protrusionA) < TOLERANCE || Math.abs(protrusionB) < TOLERANCE;
  const expected = protrusionA < 0 ? 1 : protrusionB < 0 ? 2 : 0;
  if (!isInDoubt && contained !== expected) return `contained is ${contained}, expected ${expected}`;
  if (points.length !== 3 * depths.length || normals.length !== points.length)
    return 'points without normals or depths';
  if (depths.length > 0 !== hasPoints) return `${depths.length} points with detail ${detail}`;
  for (let i = 0; i < depths.length; i++) {
    const fault = faultOfPoint(a, b, pointAt(points, i), pointAt(normals, i), depths[i]);
    if (fault) return fault;
  }
  if (triangles.length / 2 !== segments.length / 6) return 'triangles without segments';
  for (let i = 0; i < segments.length / 3; i++) {
    const end = pointAt(segments, i);
    const error = Math.max(Math.abs(distanceTo(a, end)), Math.abs(distanceTo(b, end)));
    if (error > CONTACT_TOLERANCE) return `the end ${end} of a segment is ${error} off the surfaces`;
  }
  return '';
}

function faultOfPoint(a: Solid, b: Solid, point: Point, normal: Point, depth: number): string {
  if (Math.abs(length(normal) - 1) > CONTACT_TOLERANCE) return `a normal of length ${length(normal)}`;
  const error = Math.max(distanceTo(a, point), distanceTo(b, point));
  if (error > CONTACT_TOLERANCE) return `point ${point} is ${error} outside`;
  const offset = normal.map((each) => each * depth) as unknown as Point;
  const remainingGap = filledGap(a, translated(b, offset));
  if (remainingGap < -CONTACT_TOLERANCE)
    return `moved by ${depth} along ${normal}, they still overlap by ${-remainingGap}`;
  const minDepth = -filledGap(a, b);
  return Math.abs(depth - minDepth) > CONTACT_TOLERANCE ? `depth ${depth}, expected ${minDepth}` : '';
}

function pointAt(array: Float32Array, i: number): Point {
  return [array[3 * i], array[3 * i + 1], array[3 * i + 2]];
}

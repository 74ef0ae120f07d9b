// The objects that a shape hits on a straight path without rotation. The distance of two convex solids is a convex function of
// time, and so is how far one protrudes from the other: this determines the first contact, and when it is in doubt.

import type { QueryOptions, SweepHit } from 'collision-worker';
import { filledGap, gap, type Point, protrusion, type Solid, translated } from './solids.js';
import { type ModelObject, pickable, standIn, TOLERANCE, type World } from './world.js';

export type SweepContact = Pick<SweepHit, 'object' | 'time' | 'depth'>;

/** How a solid passes a thing. */
interface Pass {
  id: number;
  /** Time of the first contact, Infinity for none. */
  time: number;
  /** Whether they overlap at the start. */
  isInside: boolean;
  /** Whether the result depends on less than `TOLERANCE`. */
  isInDoubt: boolean;
  /** Distance at a time, negative if they touch. */
  gapAt(time: number): number;
}

const STEPS = 60;

/** Returns whether an answer is the first object that a solid hits on its path; null for none. */
export function isFirstContact(
  world: World,
  solid: Solid,
  displacement: Point,
  options: QueryOptions,
  answer: SweepContact | null,
): boolean {
  const passes = passesOf(world, solid, displacement, options);
  const certain = passes.filter(({ isInDoubt }) => !isInDoubt);
  if (answer === null) return certain.every(({ time }) => time === Number.POSITIVE_INFINITY);
  const pass = passes.find(({ id }) => id === answer.object);
  if (!pass || !matchesPass(pass, answer)) return false;
  return certain.every((each) => !isCertainlyBefore(each, answer.time));
}

/** Returns what is wrong with answers that should be the first contacts with all objects that a solid hits, in order of time. */
export function faultOfAllContacts(
  world: World,
  solid: Solid,
  displacement: Point,
  options: QueryOptions,
  answers: readonly SweepContact[],
): string {
  const passes = passesOf(world, solid, displacement, options);
  const answersById = new Map(answers.map((each) => [each.object, each]));
  if (answersById.size < answers.length) return 'an object is there twice';
  if (answers.some(({ time }, i) => i > 0 && time < answers[i - 1].time)) return 'a later one comes first';
  for (const pass of passes) {
    const answer = answersById.get(pass.id);
    answersById.delete(pass.id);
    const description = `object ${pass.id}, met at ${pass.time}${pass.isInside ? ', from the inside' : ''},`;
    if (answer && !matchesPass(pass, answer)) return `${description} is told at ${answer.time}, ${answer.depth} deep`;
    if (!answer && !pass.isInDoubt && pass.time < Number.POSITIVE_INFINITY) return `${description} is not told`;
  }
  return answersById.size > 0 ? `objects ${[...answersById.keys()]} cannot be met` : '';
}

/** Returns whether a solid certainly overlaps an object, and whether it is certainly free. */
export function freedom(world: World, solid: Solid, options: QueryOptions): { isInside: boolean; isFree: boolean } {
  const passes = passesOf(world, solid, [0, 0, 0], options);
  return {
    isInside: passes.some(({ isInDoubt, isInside }) => !isInDoubt && isInside),
    isFree: passes.every(({ isInDoubt, isInside }) => !isInDoubt && !isInside),
  };
}

function matchesPass(pass: Pass, { time, depth }: SweepContact): boolean {
  if (!(time >= 0 && time <= 1 && depth >= 0) || (depth > 0 && time > 0)) return false;
  if (pass.isInDoubt) return true;
  if (pass.isInside) return time === 0 && depth > 0;
  if (pass.time === Number.POSITIVE_INFINITY || depth > 0) return false;
  // If a path only grazes the object, the time is ill-conditioned, so the gap is checked. After the true time, it would be
  // negative halfway.
  return Math.abs(pass.gapAt(time)) < TOLERANCE && pass.gapAt((time + pass.time) / 2) > -TOLERANCE;
}

function isCertainlyBefore(pass: Pass, time: number): boolean {
  return pass.time < time && pass.gapAt((time + pass.time) / 2) < -TOLERANCE;
}

function passesOf(world: World, solid: Solid, displacement: Point, options: QueryOptions): Pass[] {
  return pickable(world, options).map(([id, object]) => {
    return {
      id,
      ...passOf(standIn(world, object, options.precision), solid, displacement, isOneSided(object, options)),
    };
  });
}

/** Returns whether the triangles of a thing's mesh are hit from one side only: the model then makes no statement. */
function isOneSided({ mesh }: ModelObject, { side, precision = 'mesh' }: QueryOptions): boolean {
  return mesh !== 0 && side !== 'double' && precision === 'mesh';
}

function passOf(target: Solid, solid: Solid, [x, y, z]: Point, isIndeterminate: boolean): Omit<Pass, 'id'> {
  const at = (t: number) => translated(solid, [t * x, t * y, t * z]);
  const gapAt = (t: number) => gap(at(t), target);
  const start = gapAt(0);
  const isInside = start < 0;
  if (isIndeterminate || Math.abs(start) < TOLERANCE) return { time: 0, isInside, isInDoubt: true, gapAt };
  if (isInside) return { time: 0, isInside, isInDoubt: false, gapAt };
  // If one of the two is inside the other, which is hollow, they meet when it starts to protrude.
  const protrusions = [
    ...(solid.isHollow && protrusion(solid, target) < 0 ? [(t: number) => protrusion(at(t), target)] : []),
    ...(target.isHollow && protrusion(target, solid) < 0 ? [(t: number) => protrusion(target, at(t))] : []),
  ];
  if (protrusions.length > 0) {
    const protrusionAt = (t: number) => Math.max(...protrusions.map((each) => each(t)));
    const endProtrusion = protrusionAt(1);
    const time = endProtrusion < 0 ? Number.POSITIVE_INFINITY : findSignChange((t) => -protrusionAt(t), 0, 1);
    return { time, isInside, isInDoubt: Math.abs(endProtrusion) < TOLERANCE, gapAt };
  }
  // From the outside, a hollow solid is hit like a filled one; once one is completely inside the other, their surfaces are
  // separate again.
  const filledAt = (t: number) => filledGap(at(t), target);
  const tNearest = findMinimum(filledAt);
  const minGap = filledAt(tNearest);
  const time = minGap > 0 ? Number.POSITIVE_INFINITY : findSignChange(filledAt, 0, tNearest);
  return { time, isInside, isInDoubt: Math.abs(minGap) < TOLERANCE, gapAt: filledAt };
}

/** Returns a minimum of a convex function between 0 and 1, or a point where it is negative. */
function findMinimum(f: (t: number) => number): number {
  let [min, max] = [0, 1];
  for (let i = 0; i < STEPS; i++) {
    const [a, b] = [min + (max - min) / 3, max - (max - min) / 3];
    if (f(a) < 0) return a;
    if (f(b) < 0) return b;
    if (f(a) < f(b)) max = b;
    else min = a;
  }
  return f(1) < f(min) ? 1 : min;
}

/** Returns the point between two others where a function becomes negative. */
function findSignChange(f: (t: number) => number, start: number, end: number): number {
  let [min, max] = [start, end];
  for (let i = 0; i < STEPS; i++) {
    const midpoint = (min + max) / 2;
    if (f(midpoint) < 0) max = midpoint;
    else min = midpoint;
  }
  return max;
}

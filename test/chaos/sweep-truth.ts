// The objects that a shape hits on a straight path without rotation. The distance of two convex solids is a convex function of
// time, and so is how far one protrudes from the other: this determines the first contact, and when it is in doubt.

import type { QueryOptions, SweepHit } from 'collision-worker';
import { filledGap, gap, moved, type Point, reachBeyond, type Solid } from './solids.js';
import { DOUBT, pickable, standIn, type Thing, type World } from './world.js';

export type Met = Pick<SweepHit, 'object' | 'time' | 'depth'>;

/** How a solid passes a thing. */
interface Pass {
  id: number;
  /** Time of the first contact, Infinity for none. */
  time: number;
  /** Whether they overlap at the start. */
  isInside: boolean;
  /** Whether the result depends on less than `DOUBT`. */
  isInDoubt: boolean;
  /** Distance at a time, negative if they touch. */
  gapAt(time: number): number;
}

const STEPS = 60;

/** Returns whether an answer is the first object that a solid hits on its path; null for none. */
export function isFirstMet(world: World, solid: Solid, way: Point, options: QueryOptions, answer: Met | null): boolean {
  const passes = passesOf(world, solid, way, options);
  const sure = passes.filter(({ isInDoubt }) => !isInDoubt);
  if (answer === null) return sure.every(({ time }) => time === Number.POSITIVE_INFINITY);
  const own = passes.find(({ id }) => id === answer.object);
  if (!own || !isMeeting(own, answer)) return false;
  return sure.every((each) => !isSurelyBefore(each, answer.time));
}

/** Returns what is wrong with answers that should be the first contacts with all objects that a solid hits, in order of time. */
export function faultOfAllMet(
  world: World,
  solid: Solid,
  way: Point,
  options: QueryOptions,
  answers: readonly Met[],
): string {
  const passes = passesOf(world, solid, way, options);
  const found = new Map(answers.map((each) => [each.object, each]));
  if (found.size < answers.length) return 'an object is there twice';
  if (answers.some(({ time }, i) => i > 0 && time < answers[i - 1].time)) return 'a later one comes first';
  for (const pass of passes) {
    const answer = found.get(pass.id);
    found.delete(pass.id);
    const told = `object ${pass.id}, met at ${pass.time}${pass.isInside ? ', from the inside' : ''},`;
    if (answer && !isMeeting(pass, answer)) return `${told} is told at ${answer.time}, ${answer.depth} deep`;
    if (!answer && !pass.isInDoubt && pass.time < Number.POSITIVE_INFINITY) return `${told} is not told`;
  }
  return found.size > 0 ? `objects ${[...found.keys()]} cannot be met` : '';
}

/** Returns whether a solid certainly overlaps an object, and whether it is certainly free. */
export function freedom(world: World, solid: Solid, options: QueryOptions): { isInside: boolean; isFree: boolean } {
  const passes = passesOf(world, solid, [0, 0, 0], options);
  return {
    isInside: passes.some(({ isInDoubt, isInside }) => !isInDoubt && isInside),
    isFree: passes.every(({ isInDoubt, isInside }) => !isInDoubt && !isInside),
  };
}

function isMeeting(pass: Pass, { time, depth }: Met): boolean {
  if (!(time >= 0 && time <= 1 && depth >= 0) || (depth > 0 && time > 0)) return false;
  if (pass.isInDoubt) return true;
  if (pass.isInside) return time === 0 && depth > 0;
  if (pass.time === Number.POSITIVE_INFINITY || depth > 0) return false;
  // If a path only grazes the object, the time is ill-conditioned, so the gap is checked. After the true time, it would be
  // negative halfway.
  return Math.abs(pass.gapAt(time)) < DOUBT && pass.gapAt((time + pass.time) / 2) > -DOUBT;
}

function isSurelyBefore(pass: Pass, time: number): boolean {
  return pass.time < time && pass.gapAt((time + pass.time) / 2) < -DOUBT;
}

function passesOf(world: World, solid: Solid, way: Point, options: QueryOptions): Pass[] {
  return pickable(world, options).map(([id, thing]) => {
    return { id, ...passOf(standIn(world, thing, options.precision), solid, way, isOneSided(thing, options)) };
  });
}

/** Returns whether the triangles of a thing's mesh are hit from one side only: the model then makes no statement. */
function isOneSided({ mesh }: Thing, { side, precision = 'mesh' }: QueryOptions): boolean {
  return mesh !== 0 && side !== 'double' && precision === 'mesh';
}

function passOf(still: Solid, solid: Solid, [x, y, z]: Point, isUnsaid: boolean): Omit<Pass, 'id'> {
  const at = (t: number) => moved(solid, [t * x, t * y, t * z]);
  const gapAt = (t: number) => gap(at(t), still);
  const start = gapAt(0);
  const isInside = start < 0;
  if (isUnsaid || Math.abs(start) < DOUBT) return { time: 0, isInside, isInDoubt: true, gapAt };
  if (isInside) return { time: 0, isInside, isInDoubt: false, gapAt };
  // If one of the two is inside the other, which is hollow, they meet when it starts to protrude.
  const beyond = [
    ...(solid.isHollow && reachBeyond(solid, still) < 0 ? [(t: number) => reachBeyond(at(t), still)] : []),
    ...(still.isHollow && reachBeyond(still, solid) < 0 ? [(t: number) => reachBeyond(still, at(t))] : []),
  ];
  if (beyond.length > 0) {
    const reach = (t: number) => Math.max(...beyond.map((each) => each(t)));
    const end = reach(1);
    const time = end < 0 ? Number.POSITIVE_INFINITY : firstBelow((t) => -reach(t), 0, 1);
    return { time, isInside, isInDoubt: Math.abs(end) < DOUBT, gapAt };
  }
  // From the outside, a hollow solid is hit like a filled one; once one is completely inside the other, their surfaces are
  // separate again.
  const filledAt = (t: number) => filledGap(at(t), still);
  const nearest = leastOf(filledAt);
  const least = filledAt(nearest);
  const time = least > 0 ? Number.POSITIVE_INFINITY : firstBelow(filledAt, 0, nearest);
  return { time, isInside, isInDoubt: Math.abs(least) < DOUBT, gapAt: filledAt };
}

/** Returns a minimum of a convex function between 0 and 1, or a point where it is negative. */
function leastOf(f: (t: number) => number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < STEPS; i++) {
    const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
    if (f(a) < 0) return a;
    if (f(b) < 0) return b;
    if (f(a) < f(b)) high = b;
    else low = a;
  }
  return f(1) < f(low) ? 1 : low;
}

/** Returns the point between two others where a function becomes negative. */
function firstBelow(f: (t: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2;
    if (f(middle) < 0) high = middle;
    else low = middle;
  }
  return high;
}

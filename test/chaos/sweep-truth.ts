// What a shape meets on a straight way on which it does not turn. The distance of two convex solids is convex in time, and so is
// how far one reaches out of another one: that says when they meet first, and when nobody can tell.

import type { QueryOptions, SweepHit } from 'collision-worker';
import { filledGap, gap, moved, type Point, reachBeyond, type Solid } from './solids.js';
import { DOUBT, pickable, standIn, type Thing, type World } from './world.js';

export type Met = Pick<SweepHit, 'object' | 'time' | 'depth'>;

/** How a solid passes a thing. */
interface Pass {
  id: number;
  /** When they meet first, Infinity for never. */
  time: number;
  /** Whether they overlap at the start. */
  isInside: boolean;
  /** Whether less than `DOUBT` decides. */
  isInDoubt: boolean;
  /** How far they are apart at a time, below 0 where they touch. */
  gapAt(time: number): number;
}

const STEPS = 60;

/** Whether an answer is what a solid meets first on its way; null for nothing. */
export function isFirstMet(world: World, solid: Solid, way: Point, options: QueryOptions, answer: Met | null): boolean {
  const passes = passesOf(world, solid, way, options);
  const sure = passes.filter(({ isInDoubt }) => !isInDoubt);
  if (answer === null) return sure.every(({ time }) => time === Number.POSITIVE_INFINITY);
  const own = passes.find(({ id }) => id === answer.object);
  if (!own || !isMeeting(own, answer)) return false;
  return sure.every((each) => !isSurelyBefore(each, answer.time));
}

/** What is wrong with answers that should be the first meetings with all that a solid meets, the earliest first; in words. */
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

/** Whether a solid is surely in something, and whether it is surely free. */
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
  // Where a way only grazes, time says little: the gap does. Halfway to where they part again it would be below.
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

/** Whether the triangles of a thing's mesh are not met from both sides: nothing is said of it then. */
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
  // One may be in the other, which is hollow: then it meets that when it reaches out of it.
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
  // From without, what is hollow is met as what is filled; when one is in the other as a whole, their surfaces are apart again.
  const filledAt = (t: number) => filledGap(at(t), still);
  const nearest = leastOf(filledAt);
  const least = filledAt(nearest);
  const time = least > 0 ? Number.POSITIVE_INFINITY : firstBelow(filledAt, 0, nearest);
  return { time, isInside, isInDoubt: Math.abs(least) < DOUBT, gapAt: filledAt };
}

/** The place between 0 and 1 where a convex function is least, or where it is below 0. */
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

/** The place between two others where a function falls below 0. */
function firstBelow(f: (t: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2;
    if (f(middle) < 0) high = middle;
    else low = middle;
  }
  return high;
}

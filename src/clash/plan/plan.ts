import { checkText, invalid } from '../check.js';
import { type CompiledRule, warnOfRules } from '../rules/rules.js';
import type { PartDescription } from '../rules/selector.js';
import { inChunks } from '../slices.js';
import type { Part } from '../types.js';
import type { Box } from './bounds.js';
import { makeTiles, medianLow, type Tile, type TileLimits } from './tiles.js';

/** A part in a plan: its description, and the number of its mesh. */
export interface PlannedPart extends PartDescription {
  mesh: number;
}

/** The sides of a rule that a part may be on: possibly both, in a set that is checked against itself. */
export const SIDE_A = 1;
export const SIDE_B = 2;

/** Everything that is to be checked. Parts of the first set come first; each set is sorted by id. */
export interface Plan {
  origin: readonly [number, number, number];
  /** A bound of the rounding errors of boxes, in world units. */
  rounding: number;
  parts: readonly PlannedPart[];
  /** 16 per part, column-major. Translations are relative to the origin. */
  matrices: Float64Array;
  /** The box of each part's vertices, relative to the origin. */
  boxes: Float64Array;
  /** The same boxes, grown so that the boxes of all pairs that any rule applies to meet. */
  padded: Float64Array;
  /** The number of parts in the first set. */
  countA: number;
  /** Whether there is only one set, whose parts are checked against each other. */
  isWithin: boolean;
  rules: readonly CompiledRule[];
  /** SIDE_A, SIDE_B, both or neither, by rule and part. */
  sides: readonly Uint8Array[];
  tiles: readonly Tile[];
  warnings: readonly string[];
}

/** A part that is not in a plan yet. */
export interface PlacedPart extends PartDescription {
  mesh: number;
  /** 16, column-major, world. */
  matrix: ArrayLike<number>;
  /** The box about its vertices, world. */
  box: Box;
}

/** Plans what is to be checked; without a second set, the first one against itself. Yields after each step. */
export function* makePlan(
  a: readonly PlacedPart[],
  b: readonly PlacedPart[] | null,
  rules: readonly CompiledRule[],
  bytesOf: (mesh: number) => number,
  limits: TileLimits,
): Generator<void, Plan> {
  const sortedA = sortedById(a);
  yield;
  const parts = [...sortedA, ...(b === null ? [] : sortedById(b))];
  yield;
  const boxes = new Float64Array(6 * parts.length);
  const matrices = new Float64Array(16 * parts.length);
  yield* inChunks(parts.length, (i) => {
    copy(boxes, i, parts[i].box);
    copy(matrices, i, parts[i].matrix);
  });
  const isWithin = b === null;
  const sides: Uint8Array[] = [];
  const margins = new Float64Array(parts.length);
  for (const { kind, limit, isOfA, isOfB } of rules) {
    const side = new Uint8Array(parts.length);
    yield* inChunks(parts.length, (i) => {
      const isFirst = i < a.length;
      side[i] = (isFirst && isOfA(parts[i]) ? SIDE_A : 0) | ((isWithin || !isFirst) && isOfB(parts[i]) ? SIDE_B : 0);
    });
    sides.push(side);
    if (kind !== 'hard') widen(margins, side, limit);
  }
  const rounding = ROUNDING * Math.max(maxMagnitude(boxes), maxMagnitude(margins));
  const all = [...parts.keys()];
  const origin = originOf(all, boxes);
  moveToOrigin(boxes, matrices, origin);
  const padded = padBoxes(boxes, margins, rounding);
  yield;
  const checkedParts = all.filter((i) => sides.some((side) => side[i]));
  const tiles = yield* makeTiles(checkedParts, parts, padded, bytesOf, limits);
  return {
    origin,
    rounding,
    parts,
    matrices,
    boxes,
    padded,
    countA: a.length,
    isWithin,
    rules,
    sides,
    tiles,
    warnings: yield* warnOfRules(rules, a, b),
  };
}

/** Sorts by UTF-16 codes, which is the same everywhere. Throws INVALID_ARGUMENT if two parts have the same id. */
function sortedById(parts: readonly PlacedPart[]): PlacedPart[] {
  const byId = new Map<string, PlacedPart>();
  for (const part of parts) byId.set(part.id, part);
  if (byId.size < parts.length) {
    const duplicate = parts.find((part) => byId.get(part.id) !== part)!;
    invalid('the id of a part', duplicate.id, 'one that no other part of its set has');
  }
  // Four times as fast as with a comparison function.
  return [...byId.keys()].sort().map((id) => byId.get(id)!);
}

/** Copies numbers to a list of as many for each part, one by one, since `set` takes longer for so few. */
function copy(to: Float64Array, part: number, from: ArrayLike<number>): void {
  for (let i = 0; i < from.length; i++) to[part * from.length + i] = from[i];
}

/** Returns the greatest magnitude of the numbers; 0 for none. */
function maxMagnitude(numbers: Float64Array): number {
  return numbers.reduce((max, each) => Math.max(max, Math.abs(each)), 0);
}

/** Makes boxes and matrices relative to the origin. */
function moveToOrigin(boxes: Float64Array, matrices: Float64Array, origin: readonly number[]): void {
  for (let axis = 0; axis < 3; axis++) {
    const at = origin[axis];
    for (let i = axis; i < boxes.length; i += 3) boxes[i] -= at;
    for (let i = 12 + axis; i < matrices.length; i += 16) matrices[i] -= at;
  }
}

/**
 * Widens the margins of parts, so that the boxes of all pairs of a rule meet: by the whole limit on the side that has far fewer
 * parts, or else by half of it on both. Other parts keep theirs: with a margin, all parts near them would be pairs to check.
 */
function widen(margins: Float64Array, side: Uint8Array, limit: number): void {
  const count = (bit: number): number => side.filter((each) => each & bit).length;
  const ratio = count(SIDE_A) / count(SIDE_B);
  const widened = ratio < 0.5 ? SIDE_A : ratio > 2 ? SIDE_B : SIDE_A | SIDE_B;
  const margin = widened === (SIDE_A | SIDE_B) ? 0.5 * limit : limit;
  side.forEach((each, part) => {
    if (each & widened) margins[part] = Math.max(margins[part], margin);
  });
}

/** Returns the boxes, each grown by its margin and the rounding on all sides. */
function padBoxes(boxes: Float64Array, margins: Float64Array, rounding: number): Float64Array {
  return boxes.map((each, i) => each + (i % 6 < 3 ? -1 : 1) * (margins[Math.floor(i / 6)] + rounding));
}

/**
 * Returns a point amid most parts, in whole units: points of contact are float32, which is most precise near it. Between a
 * building and a part that is far away, as at the origin of its map, the building's points would be off by decimetres.
 */
function originOf(list: readonly number[], boxes: Float64Array): [number, number, number] {
  const medianAlong = (axis: number): number => Math.round(medianLow(list, boxes, axis));
  return [medianAlong(0), medianAlong(1), medianAlong(2)];
}

/** A bound of float64's error in transforming and moving a vertex, relative to the greatest coordinate, with ample margin. */
const ROUNDING = 1e-13;

/** Returns whether a rule applies to two parts. */
export function ruleApplies({ rules, sides, parts }: Plan, rule: number, a: number, b: number): boolean {
  const [sideA, sideB] = [sides[rule][a], sides[rule][b]];
  const isMatched = (sideA & SIDE_A && sideB & SIDE_B) || (sideA & SIDE_B && sideB & SIDE_A);
  return isMatched !== 0 && !rules[rule].isLeftOut(parts[a], parts[b]);
}

/** Checks a caller's description of a part, which `argument` names. */
export function describePart(
  argument: () => string,
  { id, name = '', layer = '', properties = {} }: Part,
): PartDescription {
  if (typeof id !== 'string' || id === '') checkText(`${argument()}.id`, id);
  if (typeof name !== 'string') invalid(`${argument()}.name`, name, 'a text');
  if (typeof layer !== 'string') invalid(`${argument()}.layer`, layer, 'a text');
  if (typeof properties !== 'object' || properties === null)
    invalid(`${argument()}.properties`, properties, 'an object');
  return { id, name, layer, properties };
}

import type { CharacterDescription } from '../../shared/commands.js';
import { CHARACTER_IS_PLACED } from '../../shared/layout.js';
import type { CapsuleShape, CharacterOptions } from '../../shared/types.js';
import {
  checkAtLeastZero,
  checkBits,
  checkNumber,
  checkOneOf,
  checkPositive,
  checkVec3,
  guardRead,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { checkIds, sortAscending } from '../query/query-options.js';
import { CAPSULE_KEYS, type Capsule, checkCapsule } from '../scene/object-description.js';
import type { ObjectStore } from '../scene/object-store.js';

export const CHARACTER_KEYS = [
  ...[
    'shape',
    'position',
    'up',
    'skin',
    'slope',
    'stepHeight',
    'snap',
    'gravity',
    'step',
    'layers',
    'ignore',
    'object',
  ],
];

const DEFAULT_SLOPE = Math.PI / 4;
const DEFAULT_GRAVITY = 9.81;
const DEFAULT_STEP = 1 / 60;
/** The default gap, relative to the radius. */
const DEFAULT_SKIN = 0.02;
/** The least gap, relative to the radius; a smaller one would be lost in rounding. */
const MIN_SKIN_RATIO = 1e-4;

/**
 * The cosine of the steepest slope of all. A character walks up a slope at the horizontal speed of level ground: up a wall that
 * leans back by rounding alone, it would rise without end.
 */
const MIN_SLOPE_COSINE = 0.01;

/** The description of a character with no options but its shape. */
const DEFAULTS: CharacterDescription = {
  ...{ from: [], to: [], radius: 0, skin: 0, stepHeight: 0, snap: 0 }, // by its shape
  ...{ up: [0, 1, 0], slope: Math.cos(DEFAULT_SLOPE), gravity: DEFAULT_GRAVITY, step: DEFAULT_STEP },
  ...{ position: [0, 0, 0], speed: 0, time: 0 },
  ...{ layers: 0xffffffff, object: 0, ignore: new Uint32Array(), flags: CHARACTER_IS_PLACED },
};

/**
 * Describes a character by its options, checked and complete: options that are not given are taken from `base`, except
 * lengths that depend on the shape if that changes. Throws INVALID_ARGUMENT, UNKNOWN_ID.
 */
export function describeCharacter(
  operation: string,
  options: Partial<CharacterOptions>,
  objects: ObjectStore,
  base: CharacterDescription = DEFAULTS,
): CharacterDescription {
  if (options === undefined) throwInvalid(operation, 'options', options, 'an object');
  const given = readOptions(operation, 'options', options, CHARACTER_KEYS);
  const { shape, position, up, skin, slope, stepHeight, snap, gravity, step, layers, ignore, object } = given;
  const isNewShape = shape !== undefined || base === DEFAULTS;
  const sizedBase = isNewShape ? { ...base, ...sizesOf(readCapsule(operation, shape)) } : base;
  const { radius } = sizedBase;
  const minSkin = MIN_SKIN_RATIO * radius;
  const newStepHeight =
    stepHeight === undefined ? sizedBase.stepHeight : checkAtLeastZero(operation, 'stepHeight', stepHeight);
  const defaultSnap = stepHeight === undefined ? sizedBase.snap : newStepHeight;
  if (object !== undefined && object !== 0) objects.check(operation, 'object', object);
  return {
    ...sizedBase,
    up: up === undefined ? base.up : readUp(operation, up),
    skin:
      skin === undefined
        ? sizedBase.skin
        : checkNumber(operation, 'skin', skin, minSkin, `at least ${MIN_SKIN_RATIO} of the radius`),
    slope: slope === undefined ? base.slope : readSlope(operation, slope),
    stepHeight: newStepHeight,
    snap: snap === undefined ? defaultSnap : checkAtLeastZero(operation, 'snap', snap),
    gravity: gravity === undefined ? base.gravity : checkAtLeastZero(operation, 'gravity', gravity),
    step: step === undefined ? base.step : checkPositive(operation, 'step', step),
    position: position === undefined ? base.position : [...checkVec3(operation, 'position', position)],
    layers: layers === undefined ? base.layers : checkBits(operation, 'layers', layers),
    object: object ?? base.object,
    ignore: ignore === undefined ? base.ignore : sortAscending(checkIds(operation, 'ignore', ignore, objects)),
    flags: position !== undefined || base === DEFAULTS ? CHARACTER_IS_PLACED : 0,
  };
}

/** Returns the fields that depend on a capsule: itself, and the lengths that are relative to its radius. */
function sizesOf({ from, to, radius }: Capsule): Partial<CharacterDescription> & Capsule {
  return { from, to, radius, skin: DEFAULT_SKIN * radius, stepHeight: radius, snap: radius };
}

function readCapsule(operation: string, shape: unknown): Capsule {
  if (typeof shape !== 'object' || shape === null) throwInvalid(operation, 'shape', shape, 'a capsule');
  const type = guardRead(operation, 'shape', () => (shape as CapsuleShape).type);
  checkOneOf(operation, 'shape.type', type, ['capsule'] as const);
  return checkCapsule(operation, readOptions<CapsuleShape>(operation, 'shape', shape as CapsuleShape, CAPSULE_KEYS));
}

function readUp(operation: string, up: unknown): number[] {
  const [x, y, z] = checkVec3(operation, 'up', up);
  const length = Math.hypot(x, y, z);
  if (!(length > 0)) throwInvalid(operation, 'up', up, 'a direction, of any length but 0');
  return [x / length, y / length, z / length];
}

/** Reads an angle as its cosine. */
function readSlope(operation: string, slope: unknown): number {
  const expected = 'radians from 0 to π / 2';
  const angle = checkNumber(operation, 'slope', slope, 0, expected);
  if (angle > Math.PI / 2) throwInvalid(operation, 'slope', slope, expected);
  return Math.max(Math.cos(angle), MIN_SLOPE_COSINE);
}

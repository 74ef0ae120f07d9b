import { CHARACTER_IS_PLACED } from '../../shared/layout.js';
import type { CharacterDescription } from '../../shared/protocol.js';
import type { CapsuleShape, CharacterOptions } from '../../shared/types.js';
import {
  checkAtLeastZero,
  checkBits,
  checkNumber,
  checkOneOf,
  checkPositive,
  checkVec3,
  invalid,
  reading,
  readOptions,
} from '../check/validate.js';
import { checkIds } from '../query/query-options.js';
import type { ObjectStore } from '../scene/object-store.js';

const KEYS = [
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
const SHAPE_KEYS = ['type', 'radius', 'from', 'to'];

const DEFAULT_SLOPE = Math.PI / 4;
const DEFAULT_GRAVITY = 9.81;
const DEFAULT_STEP = 1 / 60;
/** The gap that is kept, relative to the radius. */
const DEFAULT_SKIN = 0.02;
/** A capsule of a larger gap would not be what it looks like; a smaller one would be rounding. */
const LEAST_SKIN = 1e-4;

/**
 * Describes a character by its options, checked and complete: what is not given is as in `base`. Throws INVALID_ARGUMENT,
 * UNKNOWN_ID.
 */
export function describeCharacter(
  operation: string,
  options: Partial<CharacterOptions>,
  objects: ObjectStore,
  base?: CharacterDescription,
): CharacterDescription {
  if (options === undefined) invalid(operation, 'options', options, 'an object');
  const given = readOptions(operation, 'options', options, KEYS);
  const shape = given.shape === undefined && base ? base : readCapsule(operation, given.shape);
  const { position, up, slope, gravity, step, layers, ignore, object } = given;
  const { radius } = shape;
  const isNewShape = shape !== base;
  const keep = <T>(value: unknown, read: () => T, old: T | undefined, otherwise: () => T): T =>
    value !== undefined ? read() : (old ?? otherwise());
  const skin = keep(
    given.skin,
    () => checkNumber(operation, 'skin', given.skin, LEAST_SKIN * radius, `at least ${LEAST_SKIN} of the radius`),
    isNewShape ? undefined : base?.skin,
    () => DEFAULT_SKIN * radius,
  );
  const stepHeight = keep(
    given.stepHeight,
    () => checkAtLeastZero(operation, 'stepHeight', given.stepHeight),
    isNewShape ? undefined : base?.stepHeight,
    () => radius,
  );
  if (object !== undefined && object !== 0) objects.check(operation, 'object', object);
  return {
    from: shape.from,
    to: shape.to,
    radius,
    up: keep(
      up,
      () => readUp(operation, up),
      base?.up,
      () => [0, 1, 0],
    ),
    skin,
    slope: keep(
      slope,
      () => readSlope(operation, slope),
      base?.slope,
      () => Math.cos(DEFAULT_SLOPE),
    ),
    stepHeight,
    snap: keep(
      given.snap,
      () => checkAtLeastZero(operation, 'snap', given.snap),
      given.stepHeight === undefined && !isNewShape ? base?.snap : undefined,
      () => stepHeight,
    ),
    gravity: keep(
      gravity,
      () => checkAtLeastZero(operation, 'gravity', gravity),
      base?.gravity,
      () => DEFAULT_GRAVITY,
    ),
    step: keep(
      step,
      () => checkPositive(operation, 'step', step),
      base?.step,
      () => DEFAULT_STEP,
    ),
    position: keep(
      position,
      () => [...checkVec3(operation, 'position', position)],
      base?.position,
      () => [0, 0, 0],
    ),
    speed: 0,
    time: 0,
    layers: keep(
      layers,
      () => checkBits(operation, 'layers', layers),
      base?.layers,
      () => 0xffffffff,
    ),
    object: object ?? base?.object ?? 0,
    ignore: keep(
      ignore,
      () => checkIds(operation, 'ignore', ignore, objects).sort(),
      base?.ignore,
      () => new Uint32Array(),
    ),
    flags: position !== undefined || !base ? CHARACTER_IS_PLACED : 0,
  };
}

function readCapsule(operation: string, shape: unknown): CapsuleShape {
  if (typeof shape !== 'object' || shape === null) invalid(operation, 'shape', shape, 'a capsule');
  const type = reading(operation, 'shape', () => (shape as CapsuleShape).type);
  checkOneOf(operation, 'shape.type', type, ['capsule'] as const);
  const { radius, from, to } = readOptions<CapsuleShape>(operation, 'shape', shape as CapsuleShape, SHAPE_KEYS);
  return {
    type: 'capsule',
    radius: checkPositive(operation, 'shape.radius', radius),
    from: checkVec3(operation, 'shape.from', from),
    to: checkVec3(operation, 'shape.to', to),
  };
}

function readUp(operation: string, up: unknown): number[] {
  const [x, y, z] = checkVec3(operation, 'up', up);
  const length = Math.hypot(x, y, z);
  if (!(length > 0)) invalid(operation, 'up', up, 'a direction, of any length but 0');
  return [x / length, y / length, z / length];
}

/** Reads an angle as its cosine. */
function readSlope(operation: string, slope: unknown): number {
  const angle = checkNumber(operation, 'slope', slope, 0, 'radians from 0 to π / 2');
  if (angle > Math.PI / 2) invalid(operation, 'slope', slope, 'radians from 0 to π / 2');
  return Math.cos(angle);
}

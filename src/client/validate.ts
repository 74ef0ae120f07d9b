import { CollisionError, type ErrorCode } from '../shared/errors.js';
import type { Vec3 } from '../shared/types.js';
import { determinantAt, isInvertibleAt } from './affine.js';

/** Throws INVALID_ARGUMENT that names the operation, the argument, its value and what was expected. */
export function invalid(operation: string, argument: string, value: unknown, expected: string): never {
  throw argumentError('INVALID_ARGUMENT', operation, argument, value, expected);
}

export function argumentError(
  code: ErrorCode,
  operation: string,
  argument: string,
  value: unknown,
  expected: string,
): CollisionError {
  return new CollisionError(code, `${operation}: ${argument} is ${show(value)}, expected ${expected}`);
}

/** A value in a few words, for messages. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  try {
    const name = typeOf(value);
    if (!('length' in value)) return name === 'Object' ? 'an object' : `an object of ${name}`;
    const { length } = value as ArrayLike<unknown>;
    if (!(length <= 4)) return `an ${name} of length ${length}`;
    return `[${Array.from(value as ArrayLike<unknown>, (item) => (typeof item === 'object' ? '…' : show(item))).join(', ')}]`;
  } catch {
    return 'an object that cannot be read';
  }
}

function typeOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/** An options object whose keys are all known; `undefined` counts as none. */
export function checkOptions(operation: string, argument: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) invalid(operation, argument, options, 'an object');
  for (const key in options) {
    if (!known.includes(key)) {
      throw new CollisionError(
        'INVALID_ARGUMENT',
        `${operation}: ${argument} has the unknown key ${show(key)}, expected some of ${known.join(', ')}`,
      );
    }
  }
}

export function checkBoolean(operation: string, argument: string, value: unknown): boolean {
  if (typeof value !== 'boolean') invalid(operation, argument, value, 'a boolean');
  return value;
}

export function checkFinite(operation: string, argument: string, value: unknown): number {
  if (!Number.isFinite(value)) invalid(operation, argument, value, 'a finite number');
  return value as number;
}

export function checkAtLeastZero(operation: string, argument: string, value: unknown): number {
  if (!(Number.isFinite(value) && (value as number) >= 0)) invalid(operation, argument, value, 'a finite number >= 0');
  return value as number;
}

export function checkPositive(operation: string, argument: string, value: unknown): number {
  if (!(Number.isFinite(value) && (value as number) > 0)) invalid(operation, argument, value, 'a finite number > 0');
  return value as number;
}

export function checkInteger(operation: string, argument: string, value: unknown, low: number, high: number): number {
  if (!(Number.isInteger(value) && (value as number) >= low && (value as number) <= high)) {
    invalid(operation, argument, value, `an integer in ${low} … ${high}`);
  }
  return value as number;
}

/** A set of 32 layers; as three's masks, it may come signed. */
export function checkBits(operation: string, argument: string, value: unknown): number {
  return checkInteger(operation, argument, value, -0x80000000, 0xffffffff) >>> 0;
}

export function checkOneOf<T extends string>(
  operation: string,
  argument: string,
  value: unknown,
  choices: readonly T[],
): T {
  const choice = choices.find((each) => each === value);
  if (choice === undefined) invalid(operation, argument, value, `one of ${choices.map(show).join(', ')}`);
  return choice;
}

/** A copy, so that the caller may change its array afterwards. */
export function checkVec3(operation: string, argument: string, value: unknown): Vec3 {
  const [x, y, z] = checkNumbers(operation, argument, value, 3);
  return [x, y, z];
}

/** A copy of `length` finite numbers. */
export function checkNumbers(operation: string, argument: string, value: unknown, length: number): number[] {
  if (!isArrayOf(value, length)) invalid(operation, argument, value, `${length} numbers`);
  const copy = Array.from(value);
  for (let i = 0; i < length; i++) checkFinite(operation, `${argument}[${i}]`, copy[i]);
  return copy;
}

function isArrayOf(value: unknown, length: number): value is ArrayLike<number> {
  return typeof value === 'object' && value !== null && (value as ArrayLike<unknown>).length === length;
}

/** Sixteen elements with the bottom row of an affine matrix: all that the calls of every frame look at. */
export function checkAffine(operation: string, argument: string, matrix: ArrayLike<number>): void {
  if (!isArrayOf(matrix, 16)) invalid(operation, argument, matrix, '16 numbers');
  if (!isAffine(matrix, 0)) notAffine(operation, argument, matrix, 0);
}

/** Ids and as many matrices, which are affine. */
export function checkTransforms(operation: string, ids: Uint32Array, matrices: Float32Array | Float64Array): void {
  checkTypedArray(operation, 'ids', ids, ['Uint32Array']);
  checkTypedArray(operation, 'matrices', matrices, ['Float32Array', 'Float64Array']);
  if (matrices.length !== 16 * ids.length) {
    invalid(operation, 'the length of matrices', matrices.length, `16 for each of ${ids.length} ids`);
  }
  for (let at = 0; at < matrices.length; at += 16) {
    if (matrices[at + 3] === 0 && matrices[at + 7] === 0 && matrices[at + 11] === 0 && matrices[at + 15] === 1)
      continue;
    if (!isAffine(matrices, at)) notAffine(operation, `matrices[${at / 16}]`, matrices, at);
  }
}

/** Whether the bottom row is 0, 0, 0, 1. A matrix that is not finite elsewhere passes: the worker rejects it. */
function isAffine(m: ArrayLike<number>, at: number): boolean {
  // Inverting leaves the zeros, and rounds the one: three's matrixWorldInverse has 1 ± 2⁻⁵² there.
  if (m[at + 3] === 0 && m[at + 7] === 0 && m[at + 11] === 0 && Math.abs(m[at + 15] - 1) < 1e-9) return true;
  for (let i = at; i < at + 15; i++) if ((i - at) % 4 !== 3 && !Number.isFinite(m[i])) return true;
  return false;
}

function notAffine(operation: string, argument: string, m: ArrayLike<number>, at: number): never {
  invalid(operation, `the bottom row of ${argument}`, [m[at + 3], m[at + 7], m[at + 11], m[at + 15]], '0, 0, 0, 1');
}

/** A copy of an affine, finite and invertible matrix. */
export function checkMatrix(operation: string, argument: string, matrix: unknown): number[] {
  const m = checkNumbers(operation, argument, matrix, 16);
  checkAffine(operation, argument, m);
  if (!isInvertibleAt(m, 0)) {
    throw new CollisionError(
      'INVALID_ARGUMENT',
      `${operation}: ${argument} has the determinant ${determinantAt(m, 0)}, expected an invertible matrix`,
    );
  }
  return m;
}

/** A view of one of the given kinds on a buffer that is still attached. */
export function checkTypedArray<T extends ArrayBufferView>(
  operation: string,
  argument: string,
  value: unknown,
  kinds: readonly string[],
): T {
  // By name, as an array from an iframe is of another class.
  if (!ArrayBuffer.isView(value) || !kinds.includes(typeOf(value))) {
    invalid(operation, argument, value, kinds.map((kind) => `a ${kind}`).join(' or '));
  }
  if (value.byteLength === 0 && isDetached(value.buffer)) {
    throw new CollisionError(
      'INVALID_ARGUMENT',
      `${operation}: ${argument} is detached, expected an array that was not transferred`,
    );
  }
  return value as T;
}

export function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

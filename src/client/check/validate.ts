import { CollisionError, type ErrorCode } from '../../shared/errors.js';
import type { Vec3 } from '../../shared/types.js';
import { determinantAt, isAffine, isInvertibleAt } from './affine.js';

/** The most prototypes that are followed for the keys of an object; a proxy can have an endless chain. */
const MAX_CHAIN_LENGTH = 1000;

/** Throws INVALID_ARGUMENT with a message that names the operation, the argument, its value and what was expected. */
export function throwInvalid(operation: string, argument: string, value: unknown, expected: string): never {
  throw argumentError('INVALID_ARGUMENT', operation, argument, value, expected);
}

/** Makes an INVALID_ARGUMENT error with this message. */
export function invalidArgumentError(message: string): CollisionError {
  return new CollisionError('INVALID_ARGUMENT', message);
}

export function argumentError(
  code: ErrorCode,
  operation: string,
  argument: string,
  value: unknown,
  expected: string,
): CollisionError {
  return new CollisionError(code, `${operation}: ${argument} is ${describeValue(value)}, expected ${expected}`);
}

/** Shows a value in a few words, for messages. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  try {
    const name = typeOf(value);
    const { length } = value as Partial<ArrayLike<unknown>>;
    // three's vectors have a function named `length`.
    if (typeof length !== 'number') return name === 'Object' ? 'an object' : `an object of ${name}`;
    if (!(length <= 4)) return `a${/^[AIO]/.test(name) ? 'n' : ''} ${name} of length ${length}`;
    // Items are read by their index: the caller's iterator need not end.
    const items: string[] = [];
    for (let i = 0; i < length; i++) {
      const item = (value as ArrayLike<unknown>)[i];
      items.push(typeof item === 'object' ? '…' : describeValue(item));
    }
    return `[${items.join(', ')}]`;
  } catch {
    return 'an object that cannot be read';
  }
}

export function typeOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

/**
 * Reads an object of the caller. If one of its getters, or a proxy, throws, the `cause` of the error is the thrown value; a
 * CollisionError, of a call that a getter made, is rethrown.
 */
export function guardRead<T>(operation: string, argument: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw CollisionError.is(cause) ? cause : unreadableError(operation, argument, cause);
  }
}

export function unreadableError(operation: string, argument: string, cause: unknown): CollisionError {
  const message = `${operation}: ${argument} cannot be read: ${reasonOf(cause)}`;
  return new CollisionError('INVALID_ARGUMENT', message, { cause });
}

/** Describes a thrown value, which may be anything, in a few words. */
export function reasonOf(thrown: unknown): string {
  try {
    const kind = typeof thrown === 'object' && thrown !== null ? typeOf(thrown) : '';
    return kind === 'Error' || kind === 'DOMException' ? String(thrown) : describeValue(thrown);
  } catch {
    return 'an error that cannot be read';
  }
}

/**
 * Copies an options object whose keys must all be known. Each is read once: nothing that was checked can change any more.
 * `undefined` counts as none. The keys of `internalKeys` are known, too, but not to users.
 */
export function readOptions<T extends object>(
  operation: string,
  argument: string,
  options: T | undefined,
  knownKeys: readonly string[],
  internalKeys: readonly string[] = [],
): T {
  const copy: Record<string, unknown> = {};
  if (options === undefined) return copy as T;
  guardRead(operation, argument, () => {
    if (typeof options !== 'object' || options === null || Array.isArray(options) || ArrayBuffer.isView(options)) {
      throwInvalid(operation, argument, options, 'an object');
    }
    const isPlain = Object.getPrototypeOf(options) === Object.prototype;
    const keys = isPlain ? Object.keys(options) : keysOf(options);
    for (const key of keys) {
      if (!knownKeys.includes(key) && !internalKeys.includes(key)) {
        throw invalidArgumentError(
          `${operation}: ${argument} has the unknown key ${describeValue(key)}, expected some of ${knownKeys.join(', ')}`,
        );
      }
    }
    // A getter of a class is not enumerable. Reading all known keys of a plain object takes 2 µs, and this 0.2.
    const keysToRead = isPlain ? keys : [...knownKeys, ...internalKeys];
    for (const key of keysToRead) copy[key] = (options as Record<string, unknown>)[key];
  });
  return copy as T;
}

/** Lists the keys of `for in`, including inherited ones, but does not follow an endless prototype chain. */
function keysOf(object: object): string[] {
  const keys: string[] = [];
  let prototype: object | null = object;
  for (let length = 0; prototype !== null && prototype !== Object.prototype; length++) {
    if (length === MAX_CHAIN_LENGTH) throw new Error(`its chain of prototypes has more than ${MAX_CHAIN_LENGTH} links`);
    keys.push(...Object.keys(prototype));
    prototype = Object.getPrototypeOf(prototype);
  }
  return keys;
}

export function checkBoolean(operation: string, argument: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throwInvalid(operation, argument, value, 'a boolean');
  return value;
}

export function checkFinite(operation: string, argument: string, value: unknown): number {
  if (!Number.isFinite(value)) throwInvalid(operation, argument, value, 'a finite number');
  return value as number;
}

export function checkAtLeastZero(operation: string, argument: string, value: unknown): number {
  if (!(Number.isFinite(value) && (value as number) >= 0))
    throwInvalid(operation, argument, value, 'a finite number >= 0');
  return value as number;
}

export function checkPositive(operation: string, argument: string, value: unknown): number {
  if (!(Number.isFinite(value) && (value as number) > 0))
    throwInvalid(operation, argument, value, 'a finite number > 0');
  return value as number;
}

/** Checks a number that may be infinite. */
export function checkNumber(
  operation: string,
  argument: string,
  value: unknown,
  min: number,
  expected: string,
): number {
  if (!(typeof value === 'number' && value >= min)) throwInvalid(operation, argument, value, expected);
  return value;
}

export function checkInteger(operation: string, argument: string, value: unknown, min: number, max: number): number {
  if (!(Number.isInteger(value) && (value as number) >= min && (value as number) <= max)) {
    throwInvalid(operation, argument, value, `an integer in ${min} … ${max}`);
  }
  return value as number;
}

/** Checks a set of 32 layers; like three's masks, it may be signed. */
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
  if (choice === undefined) throwInvalid(operation, argument, value, `one of ${choices.map(describeValue).join(', ')}`);
  return choice;
}

/** Copies a vector, so that the caller may change its array afterwards. */
export function checkVec3(operation: string, argument: string, value: unknown): Vec3 {
  const copy = checkNumbers(operation, argument, value, 3);
  return [copy[0], copy[1], copy[2]];
}

/** Copies `length` finite numbers. */
export function checkNumbers(operation: string, argument: string, value: unknown, length: number): number[] {
  const copy: number[] = [];
  readNumbers(operation, argument, value, length, copy);
  for (let i = 0; i < length; i++) {
    if (!Number.isFinite(copy[i])) checkFinite(operation, `${argument}[${i}]`, copy[i]);
  }
  return copy;
}

/** Reads `length` numbers, each once and by index, and writes them to `target`. They need not be finite. */
export function readNumbers(
  operation: string,
  argument: string,
  value: unknown,
  length: number,
  target: number[] | Float64Array,
): void {
  try {
    if (copyNumbers(value, length, target)) return;
  } catch (cause) {
    throw unreadableError(operation, argument, cause);
  }
  throwInvalid(operation, argument, value, `${length} numbers`);
}

function copyNumbers(value: unknown, length: number, target: number[] | Float64Array): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const numbers = value as ArrayLike<unknown>;
  if (numbers.length !== length) return false;
  for (let i = 0; i < length; i++) {
    const item = numbers[i];
    if (typeof item !== 'number') return false;
    target[i] = item;
  }
  return true;
}

/** Reads the matrices of calls that are made in every frame, one at a time, without an array for each. */
export class MatrixReader {
  #scratch: Float64Array | undefined;

  /** Reads sixteen numbers, each once. They may be any numbers, and are valid until the next call. */
  read(operation: string, argument: string, matrix: ArrayLike<number>): Float64Array {
    const target = this.#scratch ?? new Float64Array(16);
    // Taken away while it is written to: a getter of the caller may call the service.
    this.#scratch = undefined;
    try {
      // Not by `copyNumbers`, whose two kinds of target arrays double the time.
      if (matrix.length !== 16) throwInvalid(operation, argument, matrix, '16 numbers');
      // One by one: a loop takes half as long again.
      const ax = matrix[0];
      const ay = matrix[1];
      const az = matrix[2];
      const aw = matrix[3];
      const bx = matrix[4];
      const by = matrix[5];
      const bz = matrix[6];
      const bw = matrix[7];
      const cx = matrix[8];
      const cy = matrix[9];
      const cz = matrix[10];
      const cw = matrix[11];
      const x = matrix[12];
      const y = matrix[13];
      const z = matrix[14];
      const w = matrix[15];
      // These checks are free if the array holds nothing but numbers.
      const areNumbers =
        typeof ax === 'number' &&
        typeof ay === 'number' &&
        typeof az === 'number' &&
        typeof aw === 'number' &&
        typeof bx === 'number' &&
        typeof by === 'number' &&
        typeof bz === 'number' &&
        typeof bw === 'number' &&
        typeof cx === 'number' &&
        typeof cy === 'number' &&
        typeof cz === 'number' &&
        typeof cw === 'number' &&
        typeof x === 'number' &&
        typeof y === 'number' &&
        typeof z === 'number' &&
        typeof w === 'number';
      if (!areNumbers) throwInvalid(operation, argument, matrix, '16 numbers');
      target[0] = ax;
      target[1] = ay;
      target[2] = az;
      target[3] = aw;
      target[4] = bx;
      target[5] = by;
      target[6] = bz;
      target[7] = bw;
      target[8] = cx;
      target[9] = cy;
      target[10] = cz;
      target[11] = cw;
      target[12] = x;
      target[13] = y;
      target[14] = z;
      target[15] = w;
    } catch (cause) {
      if (CollisionError.is(cause)) throw cause;
      if (typeof matrix !== 'object' || matrix === null) throwInvalid(operation, argument, matrix, '16 numbers');
      throw unreadableError(operation, argument, cause);
    }
    this.#scratch = target;
    return target;
  }

  /** Reads an affine matrix, which need not be finite or invertible. */
  readAffine(operation: string, argument: string, matrix: ArrayLike<number>): Float64Array {
    const read = this.read(operation, argument, matrix);
    if (!isAffine(read, 0)) throwNotAffine(operation, argument, read);
    return read;
  }
}

/** Checks that there are as many matrices as ids. */
export function checkLengths(operation: string, ids: Uint32Array, matrices: ArrayLike<number>): void {
  if (matrices.length === 16 * ids.length) return;
  throwInvalid(operation, 'the length of matrices', matrices.length, `16 for each of ${ids.length} ids`);
}

function throwNotAffine(operation: string, argument: string, m: ArrayLike<number>): never {
  throwInvalid(operation, `the bottom row of ${argument}`, [m[3], m[7], m[11], m[15]], '0, 0, 0, 1');
}

/** Copies an affine, finite and invertible matrix. */
export function checkMatrix(operation: string, argument: string, matrix: unknown): number[] {
  const m = checkNumbers(operation, argument, matrix, 16);
  if (!isAffine(m, 0)) throwNotAffine(operation, argument, m);
  if (!isInvertibleAt(m, 0)) {
    throw invalidArgumentError(
      `${operation}: ${argument} has the determinant ${determinantAt(m, 0)}, expected an invertible matrix`,
    );
  }
  return m;
}

import { CollisionError, type ErrorCode } from 'collision-worker';

/** Throws INVALID_ARGUMENT with a message that names the argument, its value and what was expected. */
export function invalid(argument: string, value: unknown, expected: string): never {
  throw new CollisionError('INVALID_ARGUMENT', `clash: ${argument} is ${describeValue(value)}, expected ${expected}`);
}

function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of length ${value.length}`;
  return typeof value === 'object' && value ? 'an object' : `${value}`;
}

/** Returns an object after checking that all its keys are known. */
export function checkObject<T extends object>(argument: string, value: unknown, keys: readonly string[]): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) invalid(argument, value, 'an object');
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) {
      const message = `clash: ${argument} has the unknown key ${JSON.stringify(key)}, expected some of ${keys.join(', ')}`;
      throw new CollisionError('INVALID_ARGUMENT', message);
    }
  }
  return value as T;
}

export function checkNumber(argument: string, value: unknown, min: number, expected: string): number {
  if (typeof value === 'number' && value >= min && value < Number.POSITIVE_INFINITY) return value;
  return invalid(argument, value, expected);
}

export function checkInteger(argument: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  return invalid(argument, value, `an integer from ${min} to ${max}`);
}

export function checkText(argument: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : invalid(argument, value, 'a text that is not empty');
}

/** Throws ABORTED if a signal has aborted, with its reason as the cause; INVALID_ARGUMENT if it is not a signal. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof signal?.aborted !== 'boolean') invalid('signal', signal, 'an AbortSignal');
  if (signal?.aborted) throw new CollisionError('ABORTED', 'clash: aborted', { cause: signal.reason });
}

/** Returns whether a thrown value is a CollisionError with one of the codes. */
export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): boolean {
  return CollisionError.is(error) && codes.includes(error.code);
}

/** Describes a thrown value in a few words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

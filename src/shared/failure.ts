// An error on its way to the other side, where its class would be lost.
import { CollisionError, ERROR_CODES, type ErrorCode } from './errors.js';

export interface Failure {
  code: ErrorCode;
  message: string;
}

/** Returns the failure that an error reports to the other side; null for an error that only a bug can throw. */
export function failureOf(error: unknown): Failure | null {
  if (CollisionError.is(error)) return { code: error.code, message: error.message };
  // A memory that cannot grow and a buffer that cannot be allocated are RangeErrors in every engine.
  if (error instanceof RangeError) return { code: 'OUT_OF_MEMORY', message: error.message };
  return null;
}

/** Makes an error that an answer can carry: only its name, message and stack are sent, so the code travels as the name. */
export function errorToWire(error: unknown): unknown {
  const failure = failureOf(error);
  return failure ? Object.assign(new Error(failure.message, { cause: error }), { name: failure.code }) : error;
}

/** Undoes {@link errorToWire}; null for an error without a known code. */
export function failureFromWire(error: unknown): Failure | null {
  if (!(error instanceof Error)) return null;
  const code = ERROR_CODES.find((known) => known === error.name);
  return code ? { code, message: error.message } : null;
}

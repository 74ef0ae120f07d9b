export const ERROR_CODES = [
  'INVALID_ARGUMENT',
  'UNKNOWN_ID',
  'BAD_DATA',
  'ABORTED',
  'WORKER_LOST',
  'OUT_OF_MEMORY',
  'UNSUPPORTED',
  'DISPOSED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What every failing call throws or rejects with. The message names the operation, the argument, its value
 * and what was expected. If the caller's own code, a getter or a proxy, throws while the service reads its arguments,
 * `cause` is that error; if a signal aborts, `cause` is its `reason`.
 */
export class CollisionError extends Error {
  override readonly name = 'CollisionError';
  readonly code: ErrorCode;
  readonly #brand = true;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /**
   * Returns whether a value is a CollisionError. `instanceof` returns the same, but follows the prototype chain,
   * which a proxy can make endless: Firefox then never returns.
   */
  static is(value: unknown): value is CollisionError {
    return typeof value === 'object' && value !== null && #brand in value;
  }
}

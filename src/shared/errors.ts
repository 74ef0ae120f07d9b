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
 * and what was expected. What the caller's own code throws while the service reads its arguments, a getter or a proxy,
 * is the `cause` as it is, and so is the `reason` of a signal that aborts.
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
   * Tells whether a value is a CollisionError. `instanceof` answers the same, but follows the chain of prototypes,
   * which a proxy can make endless: Firefox never comes back then.
   */
  static is(value: unknown): value is CollisionError {
    return typeof value === 'object' && value !== null && #brand in value;
  }
}

export const ERROR_CODES = [
  'INVALID_ARGUMENT',
  'UNKNOWN_ID',
  'BAD_DATA',
  'ABORTED',
  'TIMEOUT',
  'WORKER_LOST',
  'OUT_OF_MEMORY',
  'UNSUPPORTED',
  'DISPOSED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What every failing call throws or rejects with. The message names the operation, the argument, its value
 * and what was expected.
 */
export class CollisionError extends Error {
  override readonly name = 'CollisionError';
  readonly code: ErrorCode;
  readonly #brand = true;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** `instanceof` follows the chain of prototypes, which a proxy may make an endless one: not every engine gives up. */
  static is(value: unknown): value is CollisionError {
    return typeof value === 'object' && value !== null && #brand in value;
  }
}

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

// Held by the global object: a page may have several copies of the package, and hand the objects of one to another.
const registry = globalThis as unknown as Record<symbol, WeakSet<object>>;
const KEY = Symbol.for('collision-worker');
const collisionErrors = registry[KEY] ?? new WeakSet();
registry[KEY] = collisionErrors;

/**
 * What every failing call throws or rejects with. The message names the operation, the argument, its value
 * and what was expected. If the caller's own code, a getter or a proxy, throws while the service reads its arguments,
 * `cause` is that error; if a signal aborts, `cause` is its `reason`.
 */
export class CollisionError extends Error {
  override readonly name = 'CollisionError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    collisionErrors.add(this);
  }

  /**
   * Returns whether a value is a CollisionError, also one of another copy of the package on the page. `instanceof` knows
   * its own copy only, and follows the prototype chain, which a proxy can make endless: Firefox then never returns.
   */
  static is(value: unknown): value is CollisionError {
    return collisionErrors.has(value as object);
  }
}

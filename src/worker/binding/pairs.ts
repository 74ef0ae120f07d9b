import type { ObjectId } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import { type CoreContact, type CoreDistance, readContact, readDistance } from './pair-answers.js';
import { runToEnd, type Steps } from './steps.js';

/** Contacts and distances of two objects. */
export class CorePairs {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;

  constructor(exports: CoreExports, memory: CoreMemory) {
    this.#exports = exports;
    this.#memory = memory;
  }

  /** Returns whether the contact of two objects may take long, because one of them is a mesh. */
  isLongContact(a: ObjectId, b: ObjectId, detail: number): boolean {
    return this.#exports.isLongContact(a, b, detail) !== 0;
  }

  /** Returns whether both objects exist and have a distance. */
  canMeasure(a: ObjectId, b: ObjectId): boolean {
    return this.#exports.canMeasure(a, b) !== 0;
  }

  /** Computes the contact of two objects; null if they do not touch. Normals point from a to b. */
  contact(a: ObjectId, b: ObjectId, detail: number): CoreContact | null {
    return runToEnd(this.beginContact(a, b, detail, Number.POSITIVE_INFINITY)!);
  }

  /**
   * Works on the contact of two objects for `ms` milliseconds. Returns it in steps, or undefined if it is not found by then. In
   * that case `resumeContact` must be called until it returns a contact, and the steps be done, before the narrow phase of any
   * frame and before any other contact that may take long.
   */
  beginContact(a: ObjectId, b: ObjectId, detail: number, ms: number): Steps<CoreContact | null> | undefined {
    const deadline = performance.now() + ms;
    return this.#readContact(a, b, this.#exports.beginContact(Math.min(a, b), Math.max(a, b), detail, deadline));
  }

  /**
   * Copies two objects as they are, for a contact that takes long and has to wait. Returns the argument of `beginKeptContact`,
   * which must follow; until then, their meshes must stay as they are.
   */
  keepContact(a: ObjectId, b: ObjectId, detail: number): number {
    return this.#exports.keepContact(Math.min(a, b), Math.max(a, b), detail) >>> 0;
  }

  /** Begins the contact of two objects as they were copied; returns the same as `beginContact`. */
  beginKeptContact(a: ObjectId, b: ObjectId, snapshot: number, ms: number): Steps<CoreContact | null> | undefined {
    return this.#readContact(a, b, this.#exports.beginKeptContact(snapshot, performance.now() + ms));
  }

  /** Continues the contact of two objects; returns the same as `beginContact`. */
  resumeContact(a: ObjectId, b: ObjectId, ms: number): Steps<CoreContact | null> | undefined {
    return this.#readContact(a, b, this.#exports.resumeContact(performance.now() + ms));
  }

  /**
   * Measures the distance of two objects for `ms` milliseconds; null if it is more than `limit`. Returns undefined if it is not
   * known by then: `resumeDistance` must follow, as with `beginContact`. Throws UNSUPPORTED.
   */
  beginDistance(a: ObjectId, b: ObjectId, limit: number, ms: number): CoreDistance | null | undefined {
    const deadline = performance.now() + ms;
    return this.#readDistance(a, b, this.#exports.beginDistance(Math.min(a, b), Math.max(a, b), limit, deadline));
  }

  /** Begins the distance of two objects as `keepContact` has copied them. */
  beginKeptDistance(
    a: ObjectId,
    b: ObjectId,
    snapshot: number,
    limit: number,
    ms: number,
  ): CoreDistance | null | undefined {
    return this.#readDistance(a, b, this.#exports.beginKeptDistance(snapshot, limit, performance.now() + ms));
  }

  /** Continues the distance of two objects. */
  resumeDistance(a: ObjectId, b: ObjectId, ms: number): CoreDistance | null | undefined {
    return this.#readDistance(a, b, this.#exports.resumeDistance(performance.now() + ms));
  }

  /** Abandons the contact, distance or sweep that was suspended. */
  giveUpQuestion(): void {
    this.#exports.giveUpQuestion();
  }

  #readDistance(a: ObjectId, b: ObjectId, outcome: number): CoreDistance | null | undefined {
    return readDistance(this.#exports, this.#memory, a, b, outcome);
  }

  #readContact(a: ObjectId, b: ObjectId, outcome: number): Steps<CoreContact | null> | undefined {
    return readContact(this.#exports, this.#memory, a, b, outcome);
  }
}

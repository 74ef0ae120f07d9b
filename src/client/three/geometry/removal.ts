const NONE: readonly (() => void)[] = [];

/**
 * Tells a build that nobody needs its mesh any more, as an AbortSignal does. The platform's are objects of the browser's, two
 * for each mesh, which its garbage collector goes through, too.
 */
export class Removal {
  aborted = false;
  readonly reason = undefined;
  /** Not written: each mesh has one, and nearly always nobody listens. */
  #listeners: readonly (() => void)[] = NONE;

  /** Answers what the service takes it for: it reads no more of a signal than is here. */
  get asSignal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const others = this.#listeners.filter((each) => each !== listener);
    this.#listeners = others.length === 0 ? NONE : others;
  }

  abort(): void {
    const listeners = this.#listeners;
    this.aborted = true;
    this.#listeners = NONE;
    for (const listener of listeners) listener();
  }
}

const NO_LISTENERS: readonly (() => void)[] = [];

/**
 * Signals a build that nobody needs its mesh any more, as an AbortSignal does. The platform's signals are browser objects, two
 * per mesh, which the browser's garbage collector has to visit, too.
 */
export class Removal {
  aborted = false;
  readonly reason = undefined;
  /** Never written in place: each mesh has a list, and nearly always there is no listener. */
  #listeners: readonly (() => void)[] = NO_LISTENERS;

  /** This as an AbortSignal for the service, which reads no more of a signal than what is here. */
  get asSignal(): AbortSignal {
    return this as unknown as AbortSignal;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const others = this.#listeners.filter((each) => each !== listener);
    this.#listeners = others.length === 0 ? NO_LISTENERS : others;
  }

  abort(): void {
    const listeners = this.#listeners;
    this.aborted = true;
    this.#listeners = NO_LISTENERS;
    for (const listener of listeners) listener();
  }
}

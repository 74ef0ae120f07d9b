/** Properties that a browser changes when an event's dispatch is over, or computes from its target's position at that time. */
const DISPATCH_KEYS = ['currentTarget', 'target', 'srcElement', 'offsetX', 'offsetY', 'layerX', 'layerY'] as const;

type Values = Partial<Record<(typeof DISPATCH_KEYS)[number], unknown>>;

/** Values at the time of dispatch: an event may be read again later, and may be dispatched again. */
const DISPATCH_VALUES = new WeakMap<Event, Values>();

/** A native event that is read after its dispatch, with its values at the time of dispatch. */
export class EventSnapshot<T extends Event> {
  readonly native: T;
  readonly #values: Values;

  constructor(native: T) {
    this.native = native;
    this.#values = DISPATCH_VALUES.get(native) ?? {};
    if (native.eventPhase === Event.NONE) return;
    this.#values = {};
    for (const key of DISPATCH_KEYS) if (key in native) this.#values[key] = (native as unknown as Values)[key];
    DISPATCH_VALUES.set(native, this.#values);
  }

  /**
   * Runs `callback` while the event has its values at dispatch. The event itself is passed on, not a copy: callers compare
   * and cast it.
   */
  during<R>(callback: () => R): R {
    const { native } = this;
    if (native.eventPhase !== Event.NONE) return callback();
    const overriddenKeys: string[] = [];
    for (const [key, value] of Object.entries(this.#values)) {
      if (Object.is((native as unknown as Values)[key as keyof Values], value)) continue;
      Object.defineProperty(native, key, { value, configurable: true, enumerable: true });
      overriddenKeys.push(key);
    }
    try {
      return callback();
    } finally {
      for (const key of overriddenKeys) delete (native as unknown as Record<string, unknown>)[key];
    }
  }
}

/** Returns whether a capture failed because its pointer has gone. The error may be of another document's class. */
export function isPointerGone(error: unknown): boolean {
  return (error as Partial<DOMException> | null)?.name === 'NotFoundError';
}

type Capturing = Pick<Element, 'setPointerCapture' | 'releasePointerCapture'>;

/**
 * Makes capture on an element forgiving: a pointer may have gone (a finger lifted) when the handler of its event runs, and then
 * the browser throws NotFoundError. Returns a function that undoes that, and does not retain the element.
 */
export function forgiveCapture(element: Element): () => void {
  const overrides: [keyof Capturing, unknown][] = [];
  for (const name of ['setPointerCapture', 'releasePointerCapture'] as const) {
    const native: unknown = element[name];
    if (Object.hasOwn(element, name) || typeof native !== 'function') continue; // somebody else's, or none, as in jsdom
    const value = function (this: Element, id: number): void {
      try {
        native.call(this, id);
      } catch (error) {
        if (!isPointerGone(error)) throw error;
      }
    };
    Object.defineProperty(element, name, { value, configurable: true, writable: true });
    overrides.push([name, value]);
  }
  const reference = new WeakRef<Partial<Capturing>>(element);
  return () => {
    const existing = reference.deref() ?? {};
    for (const [name, value] of overrides) if (existing[name] === value) delete existing[name];
  };
}

import * as three from 'three';

const PLATFORM = new Set<unknown>(
  [Object, Array, Map, Promise, ArrayBuffer, Uint8Array, Uint32Array, Int32Array, Float32Array, Float64Array].map(
    (each) => each.prototype,
  ),
);
/** Properties that no public type declares: the tracker's own in the result of `objectOf`. */
const HIDDEN = ['standIn'];
const ENDS = new Set<unknown>([null, Object.prototype, EventTarget.prototype, Event.prototype]);

/**
 * All names that a caller can access on one of our objects: methods and getters, including inherited ones, except those of the
 * platform.
 */
export function namesOf(object: object): string[] {
  const names = new Set<string>();
  for (
    let prototype = Object.getPrototypeOf(object);
    !ENDS.has(prototype);
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const key of Reflect.ownKeys(prototype)) if (key !== 'constructor') names.add(String(key));
  }
  return [...names].sort();
}

/** Class names of the objects in an answer that are neither plain nor of the platform or of three. */
export function kindsIn(
  answer: unknown,
  kinds = new Map<string, object>(),
  seen = new Set<unknown>(),
): Map<string, object> {
  if (typeof answer === 'function') kinds.set('a function', answer);
  if (typeof answer !== 'object' || answer === null || seen.has(answer)) return kinds;
  seen.add(answer);
  const prototype = Object.getPrototypeOf(answer);
  if (Object.values(three).includes(prototype?.constructor)) return kinds;
  if (!PLATFORM.has(prototype)) {
    kinds.set(prototype.constructor.name, answer);
    for (const name of namesOf(answer)) {
      const { get } = descriptorOf(answer, name) ?? {};
      if (get) kindsIn(get.call(answer), kinds, seen);
    }
  }
  if (ArrayBuffer.isView(answer)) return kinds;
  const own = Object.entries(answer).filter(([key]) => !HIDDEN.includes(key));
  const parts = answer instanceof Map ? answer.values() : own.map(([, part]) => part);
  for (const part of parts) kindsIn(part, kinds, seen);
  return kinds;
}

function descriptorOf(object: object, name: string): PropertyDescriptor | undefined {
  for (let at = object; at !== null; at = Object.getPrototypeOf(at)) {
    const descriptor = Object.getOwnPropertyDescriptor(at, name);
    if (descriptor) return descriptor;
  }
  return undefined;
}

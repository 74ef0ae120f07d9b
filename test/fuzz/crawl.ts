import * as three from 'three';

const PLATFORM_PROTOTYPES = new Set<unknown>(
  [Object, Array, Map, Promise, ArrayBuffer, Uint8Array, Uint32Array, Int32Array, Float32Array, Float64Array].map(
    (each) => each.prototype,
  ),
);
/** Properties that no public type declares: the tracker's own in the result of `objectOf`. */
const HIDDEN_KEYS = ['standIn'];
const END_PROTOTYPES = new Set<unknown>([null, Object.prototype, EventTarget.prototype, Event.prototype]);

/**
 * All names that a caller can access on one of our objects: methods and getters, including inherited ones, except those of the
 * platform.
 */
export function namesOf(object: object): string[] {
  const names = new Set<string>();
  for (
    let prototype = Object.getPrototypeOf(object);
    !END_PROTOTYPES.has(prototype);
    prototype = Object.getPrototypeOf(prototype)
  ) {
    for (const key of Reflect.ownKeys(prototype)) if (key !== 'constructor') names.add(String(key));
  }
  return [...names].sort();
}

/** Class names of the objects in an answer that are neither plain nor of the platform or of three. */
export function classesIn(
  answer: unknown,
  classes = new Map<string, object>(),
  visited = new Set<unknown>(),
): Map<string, object> {
  if (typeof answer === 'function') classes.set('a function', answer);
  if (typeof answer !== 'object' || answer === null || visited.has(answer)) return classes;
  visited.add(answer);
  const prototype = Object.getPrototypeOf(answer);
  if (Object.values(three).includes(prototype?.constructor)) return classes;
  if (!PLATFORM_PROTOTYPES.has(prototype)) {
    classes.set(prototype.constructor.name, answer);
    for (const name of namesOf(answer)) {
      const { get } = descriptorOf(answer, name) ?? {};
      if (get) classesIn(get.call(answer), classes, visited);
    }
  }
  if (ArrayBuffer.isView(answer)) return classes;
  const entries = Object.entries(answer).filter(([key]) => !HIDDEN_KEYS.includes(key));
  const parts = answer instanceof Map ? answer.values() : entries.map(([, part]) => part);
  for (const part of parts) classesIn(part, classes, visited);
  return classes;
}

function descriptorOf(object: object, name: string): PropertyDescriptor | undefined {
  for (let current = object; current !== null; current = Object.getPrototypeOf(current)) {
    const descriptor = Object.getOwnPropertyDescriptor(current, name);
    if (descriptor) return descriptor;
  }
  return undefined;
}

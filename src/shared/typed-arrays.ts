/** Returns a copy, twice as long or at least `length`. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array>(
  array: T,
  length = 0,
): T {
  const copy = new (array.constructor as new (length: number) => T)(Math.max(array.length * 2, length));
  copy.set(array);
  return copy;
}

/** Returns a new array of the numbers of all parts, in order. */
export function concatenate(parts: readonly ArrayLike<number>[]): Uint32Array {
  const result = new Uint32Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    result.set(part, end);
    end += part.length;
  }
  return result;
}

export function areEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Returns a copy, twice as long or at least `length`. */
export function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(array: T, length = 0): T {
  const copy = new (array.constructor as new (length: number) => T)(Math.max(array.length * 2, length));
  copy.set(array);
  return copy;
}

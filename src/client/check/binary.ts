// The caller's typed arrays and buffers, read without calling methods that a subclass or an own property may have
// replaced. They may come from an iframe, and then have another class.
import { invalidArgumentError, throwInvalid } from './validate.js';

type TypedArray = Float32Array | Float64Array | Uint32Array | Uint16Array | Uint8Array;

const KINDS = { Float32Array, Float64Array, Uint32Array, Uint16Array, Uint8Array };
const TYPED_ARRAY = Object.getPrototypeOf(Uint8Array.prototype) as object;
const kindOf = getterOf<string | undefined>(TYPED_ARRAY, Symbol.toStringTag);
export const lengthOf = getterOf<number>(TYPED_ARRAY, 'length');
const offsetOf = getterOf<number>(TYPED_ARRAY, 'byteOffset');
export const bufferOf = getterOf<ArrayBufferLike>(TYPED_ARRAY, 'buffer');
const byteLengthOf = getterOf<number>(ArrayBuffer.prototype, 'byteLength');

/**
 * Returns the caller's numbers as a view of one of the given kinds without own properties, on the same buffer. If the
 * buffer is shared, and may change at any time, it returns a copy.
 */
export function checkTypedArray<T extends TypedArray>(
  operation: string,
  argument: string,
  value: unknown,
  kinds: readonly (keyof typeof KINDS)[],
): T {
  const kind = kindOf(value) as keyof typeof KINDS;
  if (!kinds.includes(kind)) throwInvalid(operation, argument, value, kinds.map((each) => `a ${each}`).join(' or '));
  const buffer = bufferOf(value);
  const length = lengthOf(value);
  // An array with elements has a buffer that is attached; asking the buffer takes as long as everything else here.
  if (length === 0 && isDetached(buffer)) {
    throw invalidArgumentError(`${operation}: ${argument} is detached, expected an array that was not transferred`);
  }
  // An array beyond the end of a buffer that was made smaller has no length either.
  const view = new KINDS[kind](buffer as ArrayBuffer, offsetOf(value), length);
  return (isArrayBuffer(buffer) ? view : new KINDS[kind](view)) as T;
}

export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  try {
    // The getter throws for other values than buffers, which takes longer than all other work for a small mesh.
    if (Object.getPrototypeOf(value) === Object.prototype) return false;
    byteLengthOf(value);
    return true;
  } catch {
    return false;
  }
}

export function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** Returns whether a value is a Float32Array, whatever its properties claim. */
export function isFloat32Array(value: unknown): value is Float32Array {
  return kindOf(value) === 'Float32Array';
}

/** A bound function per getter, which engines inline: one function that calls any given getter takes ten times as long. */
function getterOf<T>(prototype: object, key: PropertyKey): (value: unknown) => T {
  return Function.prototype.call.bind(Object.getOwnPropertyDescriptor(prototype, key)!.get!);
}

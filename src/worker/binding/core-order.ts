/** The header has three lengths of 32 bits and two counts of 16. */
const HEAD_BYTES = 16;

/**
 * Restores core.wasm as it was before scripts/core-order.mjs grouped similar functions: other sections of bytes surround the
 * bodies of both modules' functions, each of which begins with its length.
 */
export function restoreOrder(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset } = packed;
  const lengths = new Uint32Array(buffer, byteOffset, 3);
  const [coreFunctionCount, functionCount] = new Uint16Array(buffer, byteOffset + 12, 2) as unknown as [number, number];
  const positions = new Uint16Array(buffer, byteOffset + HEAD_BYTES, functionCount);
  let at = HEAD_BYTES + 2 * functionCount;
  const takeBytes = (length: number) => {
    at += length;
    return packed.subarray(at - length, at);
  };
  const [head, middle, tail] = Array.from(lengths, takeBytes) as [Uint8Array, Uint8Array, Uint8Array];
  const bodies: Uint8Array[] = [];
  for (const position of positions) bodies[position] = takeBytes(bodyBytes(packed, at));
  const wasm = new Uint8Array(packed.length - HEAD_BYTES - 2 * functionCount);
  let end = 0;
  for (const part of [head, ...bodies.slice(0, coreFunctionCount), middle, ...bodies.slice(coreFunctionCount), tail]) {
    wasm.set(part, end);
    end += part.length;
  }
  return wasm;
}

/** Returns the length of a function's body in bytes, including its own length prefix (LEB128). */
function bodyBytes(bytes: Uint8Array, at: number): number {
  let length = 0;
  for (let i = 0; ; i++) {
    const byte = bytes[at + i]!;
    length += (byte & 127) * 2 ** (7 * i);
    if (byte < 128) return length + i + 1;
  }
}

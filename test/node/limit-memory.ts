/** The module with a memory that cannot grow beyond so many pages of 64 KB. Self-contained: workers get its source. */
export function limitMemory(wasm: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  const readNumber = (at: number): [value: number, end: number] => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = wasm[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return [value, at];
    }
  };
  const number = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...number(Math.floor(value / 128))];
  for (let at = 8; at < wasm.length; ) {
    const [length, start] = readNumber(at + 1);
    if (wasm[at] === 5) {
      // One memory: its flags, then its least number of pages.
      const section = [1, 1, ...number(readNumber(start + 2)[0]), ...number(pages)];
      return Uint8Array.from([...wasm.slice(0, at), 5, section.length, ...section, ...wasm.slice(start + length)]);
    }
    at = start + length;
  }
  throw new Error('there is no memory in the module');
}

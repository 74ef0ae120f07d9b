/** Returns the buffers of an answer's arrays, to be transferred with it. */
export function buffersOf(answer: object): ArrayBuffer[] {
  return Object.values(answer)
    .filter((value) => ArrayBuffer.isView(value))
    .map(({ buffer }) => buffer as ArrayBuffer);
}

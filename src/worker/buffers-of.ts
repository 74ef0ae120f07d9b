/** Returns the buffers of the arrays that an answer has, to be handed over with it. */
export function buffersOf(answer: object): ArrayBuffer[] {
  return Object.values(answer)
    .filter((value) => ArrayBuffer.isView(value))
    .map(({ buffer }) => buffer as ArrayBuffer);
}

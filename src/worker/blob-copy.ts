/** How much is copied between two looks at the clock: half a millisecond. */
const PART_BYTES = 1 << 20;

/** Copies a buffer to a Blob, for about `budget` milliseconds between two calls of `pause`. */
export async function blobCopy(buffer: ArrayBuffer, budget: number, pause: () => Promise<void>): Promise<Blob> {
  const parts: Blob[] = [];
  let end = performance.now() + budget;
  for (let at = 0; at < buffer.byteLength; at += PART_BYTES) {
    if (performance.now() >= end) {
      await pause();
      end = performance.now() + budget;
    }
    parts.push(new Blob([new Uint8Array(buffer, at, Math.min(PART_BYTES, buffer.byteLength - at))]));
  }
  // A Blob of Blobs holds them; nothing is copied again.
  return new Blob(parts);
}

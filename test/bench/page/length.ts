/** Whether a row only has to prove that it works, not how fast it is. */
const isShort = new URLSearchParams(location.search).has('short');

/** Returns how many frames to run, given the number for a measurement. */
export function framesOf(frameCount: number): number {
  return isShort ? Math.min(frameCount, 5) : frameCount;
}

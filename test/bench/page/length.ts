/** Whether a row only has to prove that it works, not how fast it is. */
const isShort = new URLSearchParams(location.search).has('short');

/** Returns how many frames to run, given the number for a measurement. */
export function framesOf(measured: number): number {
  return isShort ? Math.min(measured, 5) : measured;
}

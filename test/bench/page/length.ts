/** Whether a row only has to show that it works, and not how fast it is. */
const isShort = new URLSearchParams(location.search).has('short');

/** Returns how many of the frames that a measurement takes are to be done. */
export function framesOf(measured: number): number {
  return isShort ? Math.min(measured, 5) : measured;
}

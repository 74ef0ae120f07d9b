/** Objects that are done between two readings of the clock. */
const OBJECTS_PER_CLOCK_READING = 8;
/** This many instances count as one object. */
const INSTANCES_PER_OBJECT = 32;
/**
 * An object that has to be built first counts as this many instances: it is not there in the frame in which it is added, and is
 * no reason to continue against the clock. When all of this code runs for the first time, 128 such Meshes took 13 ms.
 */
export const INSTANCES_PER_BUILD = 8 * INSTANCES_PER_OBJECT;

/**
 * Begins a slice of `ms` milliseconds, in which `minCount` objects are done whatever the clock says. The returned function is to
 * be called after each object, with its number of instances: it returns whether the slice is over.
 */
export function beginSlice(ms: number, minCount: number): (instances?: number) => boolean {
  const deadline = performance.now() + ms;
  let [doneCount, sinceClock] = [0, 0];
  return (instances = 1) => {
    const cost = 1 + Math.floor(instances / INSTANCES_PER_OBJECT);
    doneCount += cost;
    sinceClock += cost;
    if (doneCount < minCount || sinceClock < OBJECTS_PER_CLOCK_READING) return false;
    sinceClock = 0;
    return performance.now() > deadline;
  };
}

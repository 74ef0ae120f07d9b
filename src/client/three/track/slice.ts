/** Objects that are done between two readings of the clock. */
const BETWEEN_CLOCKS = 8;
/** This many instances count as one object. */
const INSTANCES_PER_OBJECT = 32;
/**
 * An object that has to be built first counts as this many instances: it is not there in the frame in which it is added, and is
 * no reason to continue against the clock. When all of this code runs for the first time, 128 such Meshes took 13 ms.
 */
export const INSTANCES_OF_A_BUILD = 8 * INSTANCES_PER_OBJECT;

/**
 * Begins a slice of `ms` milliseconds, in which `fewest` objects are done whatever the clock says. The returned function is to
 * be called after each object, with its number of instances: it returns whether the slice is over.
 */
export function sliceOf(ms: number, fewest: number): (instances?: number) => boolean {
  const end = performance.now() + ms;
  let [done, unclocked] = [0, 0];
  return (instances = 1) => {
    const cost = 1 + Math.floor(instances / INSTANCES_PER_OBJECT);
    done += cost;
    unclocked += cost;
    if (done < fewest || unclocked < BETWEEN_CLOCKS) return false;
    unclocked = 0;
    return performance.now() > end;
  };
}

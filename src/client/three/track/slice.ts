/** So many are done between two looks at the clock. */
const BETWEEN_CLOCKS = 8;
/** So many instances count as one. */
const INSTANCES_PER_OBJECT = 32;
/**
 * What has to be built first counts as so many instances: it is not there in the frame in which it comes, and is no reason to go on
 * against the clock. Where all of this is done for the first time, 128 such Meshes took 13 ms.
 */
export const INSTANCES_OF_A_BUILD = 8 * INSTANCES_PER_OBJECT;

/**
 * Begins a slice of so many milliseconds, in which `fewest` objects are done whatever the clock says. What is answered is to be
 * called after each of them, with how many instances it had: it tells whether the slice is over.
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

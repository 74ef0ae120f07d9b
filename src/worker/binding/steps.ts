/** Work that may rest after each of its steps. */
export type Steps<T> = Generator<void, T>;

/** Number of small tasks, of some 10 ns to 1 µs each, that are done in a step. */
export const TASKS_PER_STEP = 1024;

/** Runs interruptible work without a rest. */
export function runToEnd<T>(work: Steps<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Does work, and calls `abort` if that throws. */
export function orAbort<T>(abort: () => void, work: () => T): T {
  try {
    return work();
  } catch (error) {
    abort();
    throw error;
  }
}

/** Wraps a result that is there already, if it is. */
export function finishedSteps<T>(result: T | undefined): Steps<T> | undefined {
  return result === undefined ? undefined : returnAtOnce(result);
}

// biome-ignore lint/correctness/useYield: nothing is left to be done
function* returnAtOnce<T>(result: T): Steps<T> {
  return result;
}

/** Bytes that are copied in a step: that takes a millisecond, or two if the memory is new. */
const BYTES_PER_STEP = 1 << 22;

/**
 * Copies bytes in steps; `read` returns `count` bytes from an offset on, which may have moved to another address
 * after each step.
 */
export function* copyBytes(length: number, read: (from: number, count: number) => Uint8Array): Steps<ArrayBuffer> {
  const copy = new Uint8Array(length);
  for (let at = 0; at < length; at += BYTES_PER_STEP) {
    if (at > 0) yield;
    copy.set(read(at, Math.min(BYTES_PER_STEP, length - at)), at);
  }
  return copy.buffer;
}

/** Runs of this many ids are sorted at once, in half a millisecond. */
const IDS_PER_RUN = 1 << 13;

/** Sorts ids in steps, like `sorted`. It may return another array. */
export function* sortedIds(unsortedIds: Uint32Array<ArrayBuffer>): Steps<Uint32Array<ArrayBuffer>> {
  const count = unsortedIds.length;
  for (let first = 0; first < count; first += IDS_PER_RUN) {
    if (first > 0) yield;
    unsortedIds.subarray(first, first + IDS_PER_RUN).sort();
  }
  let ids = unsortedIds;
  let spare = count > IDS_PER_RUN ? new Uint32Array(count) : unsortedIds;
  for (let run = IDS_PER_RUN; run < count; run *= 2) {
    for (let to = 0; to < count; ) {
      let i = to;
      const middle = Math.min(to + run, count);
      let j = middle;
      const end = Math.min(middle + run, count);
      while (to < end) {
        spare[to++] = j === end || (i < middle && ids[i] < ids[j]) ? ids[i++] : ids[j++];
        if (to % IDS_PER_RUN === 0) yield;
      }
    }
    [ids, spare] = [spare, ids];
  }
  return ids;
}

/**
 * Sorts in steps, as `Array.prototype.sort` does: sorts runs, then merges pairs of them (Knuth 1973, vol. 3, 5.2.4).
 */
export function* sorted<T>(items: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let i = 0; i < items.length; i += TASKS_PER_STEP) {
    if (i > 0) yield;
    runs.push(items.slice(i, i + TASKS_PER_STEP).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) merged.push(yield* merge(runs[i], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(a: T[], b: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    merged.push(j === b.length || (i < a.length && compare(a[i], b[j]) <= 0) ? a[i++] : b[j++]);
    if (merged.length % TASKS_PER_STEP === 0) yield;
  }
  return merged;
}

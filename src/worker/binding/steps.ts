/** Work that may rest after each of its steps. */
export type Steps<T> = Generator<void, T>;

/** Number of small tasks, of some 10 ns to 1 µs each, that are done in a step. */
export const STEP = 1024;

/** Runs interruptible work without a rest. */
export function inOnePiece<T>(work: Steps<T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/** Wraps a result that is there already, if it is. */
export function done<T>(found: T | undefined): Steps<T> | undefined {
  return found === undefined ? undefined : answered(found);
}

// biome-ignore lint/correctness/useYield: nothing is left to be done
function* answered<T>(found: T): Steps<T> {
  return found;
}

/** Bytes that are copied in a step: that takes a millisecond, or two if the memory is new. */
const COPIED_AT_ONCE = 1 << 22;

/**
 * Copies bytes in steps; `read` returns `count` bytes from an offset on, which may have moved to another address
 * after each step.
 */
export function* copied(length: number, read: (from: number, count: number) => Uint8Array): Steps<ArrayBuffer> {
  const copy = new Uint8Array(length);
  for (let at = 0; at < length; at += COPIED_AT_ONCE) {
    if (at > 0) yield;
    copy.set(read(at, Math.min(COPIED_AT_ONCE, length - at)), at);
  }
  return copy.buffer;
}

/** Runs of this many ids are sorted at once, in half a millisecond. */
const ID_RUN = 1 << 13;

/** Sorts ids in steps, like `sorted`. It may return another array. */
export function* sortedIds(given: Uint32Array<ArrayBuffer>): Steps<Uint32Array<ArrayBuffer>> {
  const count = given.length;
  for (let first = 0; first < count; first += ID_RUN) {
    if (first > 0) yield;
    given.subarray(first, first + ID_RUN).sort();
  }
  let ids = given;
  let other = count > ID_RUN ? new Uint32Array(count) : given;
  for (let run = ID_RUN; run < count; run *= 2) {
    for (let to = 0; to < count; ) {
      let i = to;
      const middle = Math.min(to + run, count);
      let j = middle;
      const end = Math.min(middle + run, count);
      while (to < end) {
        other[to++] = j === end || (i < middle && ids[i] < ids[j]) ? ids[i++] : ids[j++];
        if (to % ID_RUN === 0) yield;
      }
    }
    [ids, other] = [other, ids];
  }
  return ids;
}

/**
 * Sorts in steps, as `Array.prototype.sort` does: sorts runs, then merges pairs of them (Knuth 1973, vol. 3, 5.2.4).
 */
export function* sorted<T>(items: T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let i = 0; i < items.length; i += STEP) {
    if (i > 0) yield;
    runs.push(items.slice(i, i + STEP).sort(compare));
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
    if (merged.length % STEP === 0) yield;
  }
  return merged;
}

/** Measurements that only the browser can make of a page; the process that opened the page provides them (browser.ts). */
export interface Probes {
  /** Heap size of this thread in bytes after a garbage collection, including array buffers. */
  heapBytes(): Promise<number>;
  startTrace(): Promise<void>;
  /** Returns the longest tasks of this thread since the mark `TRACE_MARK`, which must be set after `startTrace`. */
  longestTask(): Promise<LongestTask>;
}

/** Milliseconds; each is that of the task with the most of it. */
export interface LongestTask {
  /** Wall-clock time: other load on the machine makes tasks longer. */
  wall: number;
  /** CPU time. */
  cpu: number;
  /** CPU time without garbage collection. */
  ours: number;
}

export const TRACE_MARK = 'traced from here';

/** Starts a trace, and marks where it counts: starting it takes the page some time. */
export async function beginTrace(): Promise<void> {
  await window.startTrace();
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  performance.mark(TRACE_MARK);
  await new Promise((resolve) => setTimeout(resolve));
}

const SETTLING_MS = 100;

declare global {
  interface Window extends Probes {}
}

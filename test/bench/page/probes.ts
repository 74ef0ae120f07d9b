/** What only the browser knows of a page; who opens it answers (browser.ts). */
export interface Probes {
  /** Bytes on the heap of this thread after a garbage collection, buffers of arrays included. */
  heapBytes(): Promise<number>;
  startTrace(): Promise<void>;
  /** Returns what is known of the tasks of this thread since the mark `TRACE_MARK`, which is to be set after `startTrace`. */
  longestTask(): Promise<LongestTask>;
}

/** Milliseconds, each of the task that has most of it. */
export interface LongestTask {
  /** By the wall: what else a machine does makes tasks longer. */
  wall: number;
  /** On the processor. */
  cpu: number;
  /** On the processor, without the collection of garbage. */
  ours: number;
}

export const TRACE_MARK = 'traced from here';

/** Begins a trace, of which what comes after this counts: its beginning takes the page some time. */
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

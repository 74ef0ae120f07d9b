/** What only the browser knows of a page; who opens it answers (browser.ts). */
export interface Probes {
  /** Bytes on the heap of this thread after a garbage collection, buffers of arrays included. */
  heapBytes(): Promise<number>;
  startTrace(): Promise<void>;
  /** Answers the milliseconds of the longest task of this thread since `startTrace`. */
  longestTask(): Promise<number>;
}

declare global {
  interface Window extends Probes {}
}

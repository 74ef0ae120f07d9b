/** What only the browser knows of a page; who opens it answers (browser.ts). */
export interface Probes {
  /** Bytes on the heap of this thread after a garbage collection, buffers of arrays included. */
  heapBytes(): Promise<number>;
  startTrace(): Promise<void>;
  /**
   * Answers the milliseconds of the longest task of this thread since `startTrace`, and of the one that took the processor
   * longest: what else a machine does makes tasks longer.
   */
  longestTask(): Promise<LongestTask>;
}

export interface LongestTask {
  wall: number;
  cpu: number;
}

declare global {
  interface Window extends Probes {}
}

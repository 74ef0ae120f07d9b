/** One row's work in a page. */
export interface PageRow {
  /** By the contender's name: does its part of a round; answers milliseconds for once. */
  contenders: Record<string, (round: number) => Promise<number>>;
  /** What all contenders do beside their work: the scene's motion. */
  idle?: (round: number) => Promise<number>;
  /** What the last round of a contender came to, where that is to be compared. */
  checksums?: Record<string, () => Promise<Record<string, number>>>;
  /** Figures after all rounds. */
  facts?(): PageFact[] | Promise<PageFact[]>;
  close(): void;
}

/** A figure that is no time of a contender's. */
export interface PageFact {
  name: string;
  value: number;
  unit: string;
  /** The target. */
  atMost?: number;
}

/** The mean of the fastest quarter: finer than the clock, and whatever else the machine does only ever adds to it. */
export function typical(samples: readonly number[]): number {
  const fastest = samples.toSorted((a, b) => a - b).slice(0, Math.ceil(samples.length / 4));
  return fastest.reduce((sum, each) => sum + each) / fastest.length;
}

/** The work of one row in a page. */
export interface PageRow {
  /** By contender's name: does its share of a round; returns the milliseconds of one repetition. */
  contenders: Record<string, (round: number) => Promise<number>>;
  /** Work that all contenders do besides their own: the scene's motion. */
  idle?: (round: number) => Promise<number>;
  /** Checksums of a contender's last round, for those that are compared. */
  checksums?: Record<string, () => Promise<Record<string, number>>>;
  /** Returns figures after all rounds. */
  facts?(): PageFact[] | Promise<PageFact[]>;
  close(): void;
}

/** A figure other than a contender's time. */
export interface PageFact {
  name: string;
  value: number;
  unit: string;
  /** Its target. */
  atMost?: number;
}

/** Mean of the fastest quarter: finer than the clock's resolution, and other load on the machine can only add time. */
export function meanOfFastest(samples: readonly number[]): number {
  const fastest = samples.toSorted((a, b) => a - b).slice(0, Math.ceil(samples.length / 4));
  return fastest.reduce((sum, each) => sum + each) / fastest.length;
}

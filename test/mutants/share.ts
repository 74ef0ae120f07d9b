// Summarizes a run: how many mutants the tests noticed.

/** Number of mutants of each kind. */
export interface Counts {
  killed: number;
  /** Killed mutants that loop, or wait forever. */
  byTime: number;
  /** Mutants that survived all tests that reach them. */
  live: number;
  /** Live mutants that no test reaches. */
  unreached: number;
  /** Mutants that outlived the budget while more tests reach them. */
  undecided: number;
  /** Mutants that change nothing, according to test/mutants/equivalent.json. */
  equivalent: number;
  /** Sampled mutants that no test has met yet. */
  notRun: number;
}

/** Describes how many were killed of those that were run and are not equivalent; undecided ones may be either. */
export function describeShare(counts: Counts): string {
  const { killed, byTime, live, unreached, undecided, equivalent, notRun } = counts;
  const all = killed + live + undecided;
  const percent = (part: number): string => (all === 0 ? '–' : ((100 * part) / all).toFixed(1));
  const [least, most] = [percent(killed), percent(killed + undecided)];
  return (
    `${all + equivalent} mutants were run${notRun > 0 ? `, ${notRun} more were drawn` : ''}: ${killed} killed (${byTime} by ` +
    `time), ${live} live (${unreached} reached by no test), ${undecided} undecided, as they outlived the budget and there ` +
    `are more tests; ${equivalent} change nothing. Of those that change something ` +
    `${least === most ? `${least} %` : `${least} to ${most} %`} are killed.`
  );
}

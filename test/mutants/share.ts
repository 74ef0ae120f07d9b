// What a run says of the tests: how many mutants they noticed.

/** How many mutants there are of each kind. */
export interface Counts {
  killed: number;
  /** Of the killed: those that loop, or wait in vain. */
  byTime: number;
  /** All tests that reach them were run, and passed. */
  live: number;
  /** Of the live: those that no test reaches. */
  unreached: number;
  /** They outlived as many tests as the budget gives, while there are more that reach them. */
  undecided: number;
  /** They change nothing, as test/mutants/equivalent.json says. */
  equivalent: number;
  /** They were drawn, and no test has met them yet. */
  notRun: number;
}

/** Says how many were killed of those that were run and change something; what is undecided may be either. */
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

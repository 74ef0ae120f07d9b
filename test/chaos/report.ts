type Counts = Record<string, number>;

export interface ChaosReport {
  seed: number;
  steps: number;
  /** By name, like all counts. */
  operations: Counts;
  faults: Counts;
  /** Number of correct answers. */
  right: Counts;
  /** Number of errors, by code. */
  declared: Counts;
  /** Wrong answers and undeclared errors, in words, with their step. */
  wrong: string[];
  /** Number of calls that never settled. */
  lost: number;
  /** Sum of the calls that the services of the run counted as pending when they had ended. */
  pending: number;
  /** Milliseconds from each loss of a worker until the next one had the whole state. */
  recoveries: number[];
  services: number;
}

export function newReport(seed: number): ChaosReport {
  return {
    ...{ seed, steps: 0, operations: {}, faults: {}, right: {}, declared: {}, wrong: [] },
    ...{ lost: 0, pending: 0, recoveries: [], services: 0 },
  };
}

/** Merges several reports into one. */
export function mergeReports(reports: readonly ChaosReport[]): ChaosReport {
  const combined = newReport(reports[0].seed);
  for (const report of reports) {
    for (const key of ['operations', 'faults', 'right', 'declared'] as const) {
      for (const [name, amount] of Object.entries(report[key]))
        combined[key][name] = (combined[key][name] ?? 0) + amount;
    }
    for (const key of ['lost', 'pending', 'services'] as const) combined[key] += report[key];
    combined.wrong.push(...report.wrong);
    combined.recoveries.push(...report.recoveries);
  }
  combined.steps = total(combined.operations);
  return combined;
}

export function increment(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

export function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, amount) => sum + amount, 0);
}

/** The parts of a report that are worth saving. */
export function summaryOf(report: ChaosReport) {
  const { seed, steps, operations, faults, right, declared, wrong, lost, pending, services } = report;
  const durations = report.recoveries.toSorted((a, b) => a - b);
  const quantile = (fraction: number) => Math.round(durations[Math.floor((durations.length - 1) * fraction)] ?? 0);
  const recovery = { count: durations.length, median: quantile(0.5), p99: quantile(0.99), max: quantile(1) };
  return { seed, steps, services, operations, faults, right, declared, wrong: wrong.length, lost, pending, recovery };
}

export type ChaosSummary = ReturnType<typeof summaryOf>;

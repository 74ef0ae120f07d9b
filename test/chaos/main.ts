import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { thisHost } from '../bench/machine.js';
import { runChaos } from './chaos.js';
import { makeNodeWorker, withShortSlices } from './node-worker.js';
import { RESULT_FILES, type SavedChaos, writeFaults } from './readme.js';
import { type ChaosReport, mergeReports, summaryOf, total } from './report.js';

/** Number of services at a time: they mostly wait, for a worker to be given up and for the next one. */
const LANES = 4;

interface Options {
  root: string;
  seed: number;
  steps: number;
  from: number;
  /** A slice ends at one in this many readings of the clock; undefined for its normal length. */
  slices?: number;
  /** Whether the results are saved for docs/failures.md. */
  write: boolean;
}

/** Prints what happened; returns the exit code. */
export async function chaos({ root, seed, steps, from, slices, write }: Options): Promise<number> {
  const slicesOption = slices === undefined ? '' : ` --slices ${slices}`;
  console.log(
    `${steps} steps of seed ${seed}; npm run chaos -- --seed ${seed} --steps ${steps}${slicesOption} replays them`,
  );
  const startTime = performance.now();
  let lastShown = startTime;
  const latest: ChaosReport[] = [];
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const lanes = steps - from < 2000 ? 1 : LANES;
  const runLane = (_: unknown, i: number) => {
    const firstStepOf = (lane: number) => from + Math.floor(((steps - from) * lane) / lanes);
    const onProgress = (report: ChaosReport) => {
      latest[i] = report;
      if (performance.now() - lastShown < 10_000) return;
      lastShown = performance.now();
      const { steps: done, right, wrong } = mergeReports(Object.values(latest));
      console.log(`  ${done} steps, ${total(right)} answers right, ${wrong.length} wrong`);
    };
    return runChaos({
      seed,
      steps: firstStepOf(i + 1),
      from: firstStepOf(i),
      makeWorker: slices === undefined ? makeNodeWorker : withShortSlices(slices, seed * 1000 + 100 * i),
      onProgress,
      onWrong: (description) => console.error(description),
      signal: stop.signal,
    });
  };
  // Only in these tests does a worker of Node die silently: the handle that would report it normally keeps the process alive.
  const keepAlive = setInterval(() => {}, 1000);
  const report = mergeReports(await Promise.all(Array.from({ length: lanes }, runLane)));
  clearInterval(keepAlive);
  const summary = summaryOf(report);
  const { operations, faults, right, declared, services, recovery } = summary;
  for (const [title, counts] of Object.entries({ operations, faults, right, declared })) printCounts(title, counts);
  console.log(
    '\nRecovery: from the loss until the next worker knows all, with the pause of 0, 250 or 2,000 ms before it starts.',
  );
  console.table({
    'operations tried': summary.steps,
    'services they were tried on': services,
    'faults injected': total(faults),
    'answers checked': total(right) + summary.wrong,
    'answers wrong': summary.wrong,
    'answers lost': summary.lost,
    'errors, all declared': total(declared),
    'pending at the end': summary.pending,
    'workers replaced': recovery.count,
    'recovery, median, ms': recovery.median,
    'recovery, 99th percentile, ms': recovery.p99,
    'recovery, longest, ms': recovery.max,
    seconds: Math.round((performance.now() - startTime) / 1000),
  });
  if (write && !stop.signal.aborted) {
    const saved: SavedChaos = { host: thisHost(), ...summary };
    writeFileSync(join(root, RESULT_FILES.chaos), `${JSON.stringify(saved, null, 2)}\n`);
    writeFaults(root);
  }
  return report.wrong.length > 0 ? 1 : 0;
}

const TITLES = {
  operations: 'operations tried, by kind',
  faults: 'faults injected, by kind',
  right: 'answers that were right, by what was asked',
  declared: 'declared errors, by code',
};

function printCounts(title: string, counts: Record<string, number>): void {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  console.log(`\n${TITLES[title as keyof typeof TITLES]}: ${total(counts)}`);
  console.log(sorted.map(([name, count]) => `  ${String(count).padStart(7)}  ${name}`).join('\n'));
}

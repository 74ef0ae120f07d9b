import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { thisHost } from '../bench/machine.js';
import { runChaos } from './chaos.js';
import { makeNodeWorker, withShortSlices } from './node-worker.js';
import { KEPT, type KeptChaos, writeFaults } from './readme.js';
import { type ChaosReport, merged, summaryOf, total } from './report.js';

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
  const also = slices === undefined ? '' : ` --slices ${slices}`;
  console.log(`${steps} steps of seed ${seed}; npm run chaos -- --seed ${seed} --steps ${steps}${also} replays them`);
  const begin = performance.now();
  let shown = begin;
  const latest: ChaosReport[] = [];
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const lanes = steps - from < 2000 ? 1 : LANES;
  const runLane = (_: unknown, i: number) => {
    const at = (lane: number) => from + Math.floor(((steps - from) * lane) / lanes);
    const onProgress = (report: ChaosReport) => {
      latest[i] = report;
      if (performance.now() - shown < 10_000) return;
      shown = performance.now();
      const { steps: done, right, wrong } = merged(Object.values(latest));
      console.log(`  ${done} steps, ${total(right)} answers right, ${wrong.length} wrong`);
    };
    return runChaos({
      seed,
      steps: at(i + 1),
      from: at(i),
      makeWorker: slices === undefined ? makeNodeWorker : withShortSlices(slices, seed * 1000 + 100 * i),
      onProgress,
      onWrong: (what) => console.error(what),
      signal: stop.signal,
    });
  };
  // Only in these tests does a worker of Node die silently: the handle that would report it normally keeps the process alive.
  const alive = setInterval(() => {}, 1000);
  const report = merged(await Promise.all(Array.from({ length: lanes }, runLane)));
  clearInterval(alive);
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
    seconds: Math.round((performance.now() - begin) / 1000),
  });
  if (write && !stop.signal.aborted) {
    const kept: KeptChaos = { host: thisHost(), ...summary };
    writeFileSync(join(root, KEPT.chaos), `${JSON.stringify(kept, null, 2)}\n`);
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
  console.log(sorted.map(([name, each]) => `  ${String(each).padStart(7)}  ${name}`).join('\n'));
}

import { type ChaosReport, runChaos } from './chaos.js';
import { makeNodeWorker } from './node-worker.js';

/** Prints what happened; answers the exit code. */
export async function chaos({ seed, steps }: { seed: number; steps: number }): Promise<number> {
  console.log(`${steps} steps of seed ${seed}; npm run chaos -- --seed ${seed} --steps ${steps} replays them`);
  const begin = performance.now();
  let shown = begin;
  const onProgress = ({ steps: done, right, wrong }: ChaosReport) => {
    if (performance.now() - shown < 10_000) return;
    shown = performance.now();
    console.log(`  ${done} steps, ${right} answers right, ${wrong.length} wrong`);
  };
  const report = await runChaos({ seed, steps, makeWorker: makeNodeWorker, onProgress });
  const recoveries = report.recoveries.sort((a, b) => a - b);
  const share = (part: number) => recoveries[Math.floor((recoveries.length - 1) * part)]?.toFixed(0);
  console.table({
    'operations tried': report.steps,
    'faults injected': listed(report.faults),
    'answers that were right': report.right,
    'declared errors': listed(report.declared),
    'answers lost or wrong': report.wrong.length,
    services: report.services,
    recoveries: recoveries.length,
    'recovery time, median and longest, ms': `${share(0.5)}, ${share(1)}`,
    seconds: ((performance.now() - begin) / 1000).toFixed(0),
  });
  for (const what of report.wrong) console.error(what);
  return report.wrong.length > 0 ? 1 : 0;
}

function listed(counts: Record<string, number>): string {
  const sum = Object.values(counts).reduce((total, each) => total + each, 0);
  return `${sum} (${Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')})`;
}

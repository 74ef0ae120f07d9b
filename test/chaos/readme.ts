import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../bench/machine.js';
import { readmeWith } from '../fixtures/readme-section.js';
import type { Sample } from '../soak/soak.js';
import { type ChaosSummary, total } from './report.js';

/** Files in which `--write` saves the results. */
export const RESULT_FILES = {
  chaos: 'test/chaos/results.json',
  soak: 'test/soak/results.json',
  chart: 'test/soak/chart.svg',
};

/** Results of `npm run chaos`. */
export interface SavedChaos extends ChaosSummary {
  host: Host;
}

/** Results of `npm run soak`. */
export interface SavedSoak {
  host: Host;
  seed: number;
  frames: number;
  samples: readonly Sample[];
}

/** Writes the results of chaos and soak into docs/failures.md. */
export function writeFaults(root: string): void {
  const path = join(root, 'docs/failures.md');
  writeFileSync(path, readmeWith(readFileSync(path, 'utf8'), 'faults', faultsSection(root)));
}

/** The section of docs/failures.md about both, from their results. */
export function faultsSection(root: string): string {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
  return `${chaosTable(read(RESULT_FILES.chaos))}\n\n${soakTable(read(RESULT_FILES.soak))}`;
}

function chaosTable({
  host,
  seed,
  steps,
  services,
  faults,
  right,
  wrong,
  lost,
  pending,
  recovery,
}: SavedChaos): string {
  const { count, median, p99, max } = recovery;
  const rows = {
    [`operations tried, on ${formatInteger(services)} services`]: formatInteger(steps),
    'faults injected': formatInteger(total(faults)),
    'answers checked': formatInteger(total(right) + wrong),
    'wrong, never given, still pending at the end': [wrong, lost, pending].map(formatInteger).join(', '),
    'workers replaced': formatInteger(count),
    'recovery, median, 99th percentile, longest': [median, p99, max].map((ms) => `${formatInteger(ms)} ms`).join(', '),
  };
  return [
    `| \`npm run chaos -- --seed ${seed} --write\` | |`,
    '|---|---|',
    ...Object.entries(rows).map(([name, figure]) => `| ${name} | ${figure} |`),
    '',
    'Recovery is from the loss to the moment when the next worker knows all, with the pause before it starts: none the first',
    `time within a minute, then 250 ms, then 2,000 ms (${textOf(host)}; four services at a time).`,
  ].join('\n');
}

function soakTable({ seed, frames, samples }: SavedSoak): string {
  const [first, last] = [samples[0], samples[samples.length - 1]];
  const megabytes = (a: number, b: number) => `${a.toFixed(1)} MB, ${b.toFixed(1)} MB`;
  const milliseconds = (a: number, b: number) => `${a.toFixed(2)} ms, ${b.toFixed(2)} ms`;
  const rows: [name: string, figure: (sample: Sample) => string][] = [
    ["main thread's heap, its buffers", ({ heap, buffers }) => megabytes(heap, buffers)],
    ["worker's heap, its buffers", ({ workerHeap, workerBuffers }) => megabytes(workerHeap, workerBuffers)],
    ["core's memory in use, reserved", ({ used, reserved }) => megabytes(used, reserved)],
    ['`update()`, median, 99th percentile', ({ update, update99 }) => milliseconds(update, update99)],
    ['`pick()`, median, 99th percentile', ({ pick, pick99 }) => milliseconds(pick, pick99)],
  ];
  const command = `npm run soak -- --seed ${seed} --frames ${frames} --write`;
  return [
    `| \`${command}\` | up to frame ${formatInteger(first.frame)} | up to frame ${formatInteger(last.frame)} |`,
    '|---|---|---|',
    ...rows.map(([name, figure]) => `| ${name} | ${figure(first)} | ${figure(last)} |`),
    '',
    `![Memory and latency over ${formatInteger(frames)} frames, as lines](../${RESULT_FILES.chart})`,
  ].join('\n');
}

function textOf({ cpu, cores, node }: Host): string {
  return `${cpu}, ${cores} cores, Node ${node}`;
}

function formatInteger(value: number): string {
  return value.toLocaleString('en-US');
}

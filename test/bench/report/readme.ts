import type { RowResult } from '../harness.js';
import type { Machine } from '../machine.js';
import { factLine, formatDigits } from './table.js';

export interface Results {
  machine: Machine;
  rows: readonly RowResult[];
  /** The command that printed the results. */
  command: string;
  /** Path of the chart. */
  chart: string;
}

/** The section of docs/performance.md about a run. */
export function sectionOf({ machine, rows, command, chart }: Results): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    ...tableOf(rows),
    '',
    `Medians of one run of \`${command}\`${sourceOf(machine)} (${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${versions.join(', ')}).`,
    '',
    `![How many times as fast as each peer, as bars](${chart})`,
  ].join('\n');
}

function sourceOf({ commit, date }: Machine): string {
  return `${commit ? ` at commit ${commit}` : ''}, ${date.slice(0, 10)}`;
}

/** The rows in README.md. */
const README_ROWS = ['rays-48k', 'manifolds-10k', 'frustum-100k', 'stream-10k', 'pick-idle'];

/** The table of README.md about a run, with those rows that it has. */
export function shortTableOf(rows: readonly RowResult[]): string {
  return tableOf(README_ROWS.flatMap((name) => rows.find((row) => row.name === name) ?? [])).join('\n');
}

function tableOf(rows: readonly RowResult[]): string[] {
  return ['| | this package | which is |', '|---|---|---|', ...rows.map(tableRow)];
}

function tableRow({ name, work, contenders: [ours, ...peers], facts }: RowResult): string {
  const ratios = peers.map(({ name: peer, ratio: { median }, part }) => {
    const times =
      median >= 1 ? `${formatDigits(median)} times faster than` : `${formatDigits(1 / median)} times slower than`;
    return `${times} ${peer}${part < 1 ? ' (extrapolated)' : ''}`;
  });
  const factText = facts
    .filter(({ isDetail }) => !isDetail)
    .map((fact) => `; ${factLine(fact)}`)
    .join('');
  return `| **${name}**: ${work}${factText} | ${formatDigits(ours.ms.median)} ms | ${ratios.join('<br>')} |`;
}

import type { RowResult } from '../harness.js';
import type { Machine } from '../machine.js';
import { digits, factLine } from './table.js';

export interface Results {
  machine: Machine;
  rows: readonly RowResult[];
  /** What printed them. */
  command: string;
  /** The chart's path. */
  chart: string;
}

/** What README.md says of a run. */
export function sectionOf({ machine, rows, command, chart }: Results): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    '| | this package | times as fast as |',
    '|---|---|---|',
    ...rows.map(tableRow),
    '',
    `Medians of one run of \`${command}\` (${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${versions.join(', ')}).`,
    '',
    `![How many times as fast as each peer, as bars](${chart})`,
  ].join('\n');
}

function tableRow({ name, work, contenders: [ours, ...peers], facts }: RowResult): string {
  const ratios = peers.map(
    (peer) => `${peer.name} ${digits(peer.ratio.median)}×${peer.part < 1 ? ' (extrapolated)' : ''}`,
  );
  const more = facts
    .filter(({ isDetail }) => !isDetail)
    .map((fact) => `; ${factLine(fact)}`)
    .join('');
  return `| **${name}**: ${work}${more} | ${digits(ours.ms.median)} ms | ${ratios.join('<br>')} |`;
}

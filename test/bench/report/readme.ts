import type { RowResult } from '../harness.js';
import type { Machine } from '../machine.js';
import { digits, factLine } from './table.js';

const START = '<!-- bench -->';
const END = '<!-- /bench -->';

/** The README with what is between its two marks replaced. */
export function readmeWith(readme: string, machine: Machine, rows: readonly RowResult[], command: string): string {
  const start = readme.indexOf(START);
  const end = readme.indexOf(END);
  if (start < 0 || end < start) throw new Error(`README.md has no ${START} before an ${END}`);
  return `${readme.slice(0, start + START.length)}\n${section(machine, rows, command)}\n${readme.slice(end)}`;
}

function section(machine: Machine, rows: readonly RowResult[], command: string): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    '| | this package | times as fast as |',
    '|---|---|---|',
    ...rows.map(tableRow),
    '',
    `Medians of one run of \`${command}\` (${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; ${versions.join(', ')}).`,
  ].join('\n');
}

function tableRow({ name, work, contenders: [ours, ...peers], facts }: RowResult): string {
  const ratios = peers.map(
    (peer) => `${peer.name} ${digits(peer.ratio.median)}×${peer.part < 1 ? ' (extrapolated)' : ''}`,
  );
  const more = facts.map((fact) => `; ${factLine(fact)}`).join('');
  return `| **${name}**: ${work}${more} | ${digits(ours.ms.median)} ms | ${ratios.join('<br>')} |`;
}

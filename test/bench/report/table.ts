import type { ContenderResult, Fact, RowResult } from '../harness.js';
import type { Machine } from '../machine.js';
import type { Spread } from '../statistics.js';

const WIDTHS = [38, 14, 24, 10, 20, 10, 0];

export function printHeader({ cpu, cores, node, versions }: Machine): void {
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  console.log(`${cpu}, ${cores} cores, Node ${node}; ${peers.join(', ')}`);
  console.log("Ours is a service in its worker, by the worker's own `ms`, or as long as an answer was awaited.");
  console.log('Ratio: peer / ours, round by round.\n');
  printLine(['', 'median', 'quartiles', 'ratio', 'quartiles', 'target', '']);
}

export function printRow({ name, work, contenders, facts, faults }: RowResult): void {
  console.log(`\n${name}: ${work}`);
  for (const contender of contenders) printLine(cellsOf(contender));
  for (const fact of facts) {
    const { value, atMost } = fact;
    const target = atMost === undefined ? '' : `, target ≤ ${formatTarget(atMost)} ${targetMark(value <= atMost)}`;
    console.log(`  ${factLine(fact)}${target}`);
  }
  for (const fault of faults) console.log(`  DIFFERENT ANSWERS: ${fault}`);
}

/** Prints the rows whose contenders disagree. Returns whether there were any. */
export function printFaults(rows: readonly RowResult[]): boolean {
  const faulty = rows.filter(({ faults }) => faults.length > 0);
  if (faulty.length > 0) console.error(`\nDifferent answers in ${faulty.map(({ name }) => name).join(', ')}`);
  return faulty.length > 0;
}

/** Formats a target without trailing zeros. */
function formatTarget(target: number): string {
  return String(Number(target.toPrecision(3)));
}

function targetMark(isReached: boolean): string {
  return isReached ? '✓' : '✗';
}

export function factLine({ name, value, unit }: Fact): string {
  return `${name} ${formatDigits(value)} ${unit}`;
}

function cellsOf({ name, note, ms, ratio, target, atMost }: ContenderResult): string[] {
  const isFirst = ratio.median === 1 && ratio.lower === 1 && ratio.upper === 1;
  return [
    `  ${name}`,
    `${formatDigits(ms.median)} ms`,
    formatQuartiles(ms),
    isFirst ? '' : `${formatDigits(ratio.median)}×`,
    isFirst ? '' : formatQuartiles(ratio),
    atMost === undefined
      ? targetCell(target, ratio)
      : `≤ ${formatTarget(atMost)} ms ${targetMark(ms.median <= atMost)}`,
    note ? `  ${note}` : '',
  ];
}

function targetCell(target: number | undefined, ratio: Spread): string {
  return target === undefined ? '' : `≥ ${formatTarget(target)} ${targetMark(ratio.median >= target)}`;
}

function printLine([name, ...cells]: string[]): void {
  const [first, ...widths] = WIDTHS;
  console.log((name.padEnd(first) + cells.map((cell, i) => cell.padStart(widths[i])).join('')).trimEnd());
}

/** Formats three significant digits. */
export function formatDigits(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

/** Formats the quartiles. */
export function formatQuartiles({ lower, upper }: Spread): string {
  return `${formatDigits(lower)} – ${formatDigits(upper)}`;
}

import type { ContenderResult, Fact, RowResult } from '../harness.js';
import type { Spread } from '../statistics.js';

const WIDTHS = [36, 12, 20, 9, 18, 9, 0];

export function printHeader(): void {
  printLine(['', 'median', 'quartiles', 'ratio', 'quartiles', 'target', '']);
}

export function printRow({ name, work, contenders, facts, faults }: RowResult): void {
  console.log(`\n${name}: ${work}`);
  for (const contender of contenders) printLine(cellsOf(contender));
  for (const fact of facts) console.log(`  ${factLine(fact)}`);
  for (const fault of faults) console.log(`  DIFFERENT ANSWERS: ${fault}`);
}

export function verdict(isMet: boolean): string {
  return isMet ? '✓' : '✗';
}

export function factLine({ name, value, unit, atMost }: Fact): string {
  const target = atMost === undefined ? '' : `, target ≤ ${atMost} ${verdict(value <= atMost)}`;
  return `${name}: ${digits(value)} ${unit}${target}`;
}

function cellsOf({ name, note, ms, ratio, target }: ContenderResult): string[] {
  const isFirst = ratio.median === 1 && ratio.lower === 1 && ratio.upper === 1;
  return [
    `  ${name}`,
    `${digits(ms.median)} ms`,
    range(ms),
    isFirst ? '' : `${digits(ratio.median)}×`,
    isFirst ? '' : range(ratio),
    target === undefined ? '' : `≥ ${target} ${verdict(ratio.median >= target)}`,
    note ? `  ${note}` : '',
  ];
}

function printLine([name, ...cells]: string[]): void {
  const [first, ...widths] = WIDTHS;
  console.log((name.padEnd(first) + cells.map((cell, i) => cell.padStart(widths[i])).join('')).trimEnd());
}

/** Three that count. */
export function digits(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);
}

function range({ lower, upper }: Spread): string {
  return `${digits(lower)} – ${digits(upper)}`;
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readmeWith } from '../fixtures/readme-section.js';
import { measure, type Row, type RowResult } from './harness.js';
import { type Machine, thisMachine } from './machine.js';
import { missingNativePeers } from './native/native.js';
import { startPeer } from './peer-process.js';
import { chartOf } from './report/chart.js';
import { sectionOf, shortTableOf } from './report/readme.js';
import { printFaults, printHeader, printRow } from './report/table.js';
import { FULL, rowsOf } from './rows/index.js';

export { countTests } from './fitted.js';
export { servePeer } from './peer-process.js';

/** The options, as described by `npm run bench -- --help`. */
export interface BenchOptions {
  root: string;
  native: boolean;
  rows: string[] | undefined;
  rounds: number | undefined;
  json: string | undefined;
  write: boolean;
  /** A script that serves one contender: see peer-process.ts. */
  peerScript: string;
}

const RESULTS = 'test/bench/results.json';
const CHART = 'test/bench/chart.svg';

/** Returns the exit code: 1 if contenders disagree or an option cannot be satisfied. */
export async function bench({
  root,
  native,
  rows: names,
  rounds,
  json,
  write,
  peerScript,
}: BenchOptions): Promise<number> {
  const rows = selectRows(names);
  if (typeof rows === 'string') {
    console.error(rows);
    return 1;
  }
  const missingPeers = native ? await missingNativePeers() : null;
  if (missingPeers) {
    console.error(`--native: ${missingPeers}`);
    return 1;
  }
  const machine = thisMachine(root);
  printHeader(machine);
  const results: RowResult[] = [];
  for (const row of rows) {
    const startApart = (name: string, index: number) => startPeer(peerScript, name, index);
    const result = await measure(row, { native, startApart }, { rounds });
    printRow(result);
    results.push(result);
  }
  if (json !== undefined) writeJson(join(root, json), machine, results);
  if (write) writeResults(root, machine, results, native);
  return printFaults(results) ? 1 : 0;
}

function selectRows(names: string[] | undefined): Row[] | string {
  const allRows = rowsOf(FULL);
  const unknown = names?.filter((name) => !allRows.some((row) => row.name === name)) ?? [];
  if (unknown.length > 0) {
    return `--rows: there is no ${unknown.join(', ')}; there are ${allRows.map(({ name }) => name).join(', ')}`;
  }
  return allRows.filter(({ name, isLarge = false }) => names?.includes(name) ?? !isLarge);
}

function writeJson(path: string, machine: Machine, rows: readonly RowResult[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  console.log(`\nWritten: ${path}`);
}

function writeResults(root: string, machine: Machine, rows: readonly RowResult[], native: boolean): void {
  writeJson(join(root, RESULTS), machine, rows);
  writeFileSync(join(root, CHART), chartOf(rows));
  const command = `npm run bench -- ${native ? '--native ' : ''}--write`;
  const write = (path: string, section: string) => {
    const file = join(root, path);
    writeFileSync(file, readmeWith(readFileSync(file, 'utf8'), 'bench', section));
  };
  write('docs/performance.md', sectionOf({ machine, rows, command, chart: `../${CHART}` }));
  write('README.md', shortTableOf(rows));
}

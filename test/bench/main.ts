import { measure } from './harness.js';
import { printRow } from './report/table.js';
import { FULL, rowsOf } from './rows/index.js';

export interface BenchOptions {
  native: boolean;
  rows: string[] | undefined;
  rounds: number | undefined;
}

/** Answers the exit code. */
export async function bench({ native, rows: names, rounds }: BenchOptions): Promise<number> {
  const all = rowsOf(FULL);
  for (const row of all.filter(({ name }) => names?.includes(name) ?? true)) {
    printRow(await measure(row, { native }, { rounds }));
  }
  return 0;
}

// Equivalent mutants, which change nothing, with the reason: test/mutants/equivalent.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Identified by its file, its text and the change, so that it is still found when lines have moved. */
export interface Equivalent {
  file: string;
  original: string;
  by: string;
  /** Some text of its line, if the same text occurs more than once in the file. */
  line?: string;
  /** The text directly before it, if it occurs more than once in that line. */
  behind?: string;
  reason: string;
}

export interface Change {
  file: string;
  original: string;
  by: string;
  text: string;
  /** The text before it in its line. */
  before?: string;
}

export function readEquivalents(root: string): Equivalent[] {
  return JSON.parse(readFileSync(join(root, 'test/mutants/equivalent.json'), 'utf8'));
}

export function isEquivalent(
  equivalents: readonly Equivalent[],
  { file, original, by, text, before }: Change,
): boolean {
  return equivalents.some((known) => {
    if (known.file !== file || known.original !== original || known.by !== by) return false;
    if (known.line !== undefined && !text.includes(known.line)) return false;
    return known.behind === undefined || before?.endsWith(known.behind) === true;
  });
}

/** Prints those that match no mutant of their part any more, because the code has changed. `all`: all mutants of that part. */
export function reportStale(equivalents: readonly Equivalent[], all: readonly Change[]): void {
  const stale = equivalents.filter((known) => !all.some((change) => isEquivalent([known], change)));
  if (stale.length === 0) return;
  console.log(`\n${stale.length} of test/mutants/equivalent.json name code that is gone:`);
  for (const { file, original, by, line } of stale) {
    console.log(`${file}: ${original} → ${by || 'dropped'}${line === undefined ? '' : `  in  ${line}`}`);
  }
}

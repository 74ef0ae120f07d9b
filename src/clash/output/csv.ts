import type { ClashReport } from '../types.js';

const TITLES = 'clash,group,rule,kind,status,a,a name,a layer,b,b name,b layer,x,y,z,depth,distance,inside\r\n';

/** Writes the clashes of a report as CSV (RFC 4180), a line for each below a line of titles. */
export function toCsv(report: ClashReport): string {
  return [...csvLines(report)].join('');
}

/** Yields the text of `toCsv` line by line: that of three million clashes is longer than a string may be. */
export function* csvLines({ clashes }: ClashReport): Generator<string> {
  yield TITLES;
  for (const { id, group, rule, kind, status, a, b, point, depth, distance, inside } of clashes) {
    const parts = [a.id, a.name, a.layer, b.id, b.name, b.layer];
    const fields = [id, group, rule, kind, status, ...parts, ...point, depth, distance, inside];
    yield `${fields.map(fieldOf)}\r\n`;
  }
}

/** A spreadsheet would evaluate a name that begins like this: an apostrophe makes it text (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t-\r＝＋－]/;

function fieldOf(value: string | number | undefined): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : `${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

import type { ClashReport } from '../types.js';

const TITLES = 'clash,group,rule,kind,status,a,a name,a layer,b,b name,b layer,x,y,z,depth,distance,inside';

/** Writes the clashes of a report as CSV (RFC 4180), a line for each below a line of titles. */
export function toCsv({ clashes }: ClashReport): string {
  const rows = clashes.map(({ id, group, rule, kind, status, a, b, point, depth, distance, inside }) => {
    const names = [a.id, a.name, a.layer, b.id, b.name, b.layer];
    return [id, group, rule, kind, status, ...names, ...point, depth, distance, inside].map(fieldOf).join();
  });
  return [TITLES, ...rows, ''].join('\r\n');
}

/** A spreadsheet would evaluate a name that begins like this: an apostrophe makes it text (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t-\r＝＋－]/;

function fieldOf(value: string | number | undefined): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : `${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

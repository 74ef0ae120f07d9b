/** Status of a mutant that has outlived its budget while more tests reach it: Stryker has no status for that. */
export const UNDECIDED = 'Undecided';

/**
 * Identifies a mutant by its file relative to the package's folder, which may be a copy, its location and its replacement.
 *
 * @param {{ fileName: string, location: { start: Place, end: Place }, replacement: string }} mutant
 * @typedef {{ line: number, column: number }} Place
 */
export function mutantKey({ fileName, location: { start, end }, replacement }) {
  const file = fileName.replaceAll('\\', '/');
  const path = file.slice(file.lastIndexOf('/src/') + 1);
  return `${path}:${start.line}:${start.column}-${end.line}:${end.column} ${replacement}`;
}

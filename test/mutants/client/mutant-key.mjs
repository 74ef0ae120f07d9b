/** The status of a mutant that has outlived its budget while there are more tests that reach it: Stryker has none for it. */
export const UNDECIDED = 'Undecided';

/**
 * A mutant by its file from the package's folder, which may be a copy of it, its place and what stands there instead.
 *
 * @param {{ fileName: string, location: { start: Place, end: Place }, replacement: string }} mutant
 * @typedef {{ line: number, column: number }} Place
 */
export function mutantKey({ fileName, location: { start, end }, replacement }) {
  const file = fileName.replaceAll('\\', '/');
  const path = file.slice(file.lastIndexOf('/src/') + 1);
  return `${path}:${start.line}:${start.column}-${end.line}:${end.column} ${replacement}`;
}

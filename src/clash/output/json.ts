import type { ClashReport } from '../types.js';

/** Writes a report as JSON, with one clash per line, so that two reports can be compared by lines. */
export function toJson(report: ClashReport): string {
  return [...jsonLines(report)].join('');
}

/** Yields the text of `toJson` line by line: that of two million clashes is longer than a string may be. */
export function* jsonLines(report: ClashReport): Generator<string> {
  let separator = '{\n';
  for (const [key, value] of Object.entries(report)) {
    yield `${separator}  "${key}": `;
    separator = ',\n';
    if (Array.isArray(value) && value.length) {
      for (const i of value.keys()) yield `${i ? ',' : '['}\n    ${JSON.stringify(value[i])}`;
      yield '\n  ]';
    } else yield JSON.stringify(value);
  }
  yield '\n}\n';
}

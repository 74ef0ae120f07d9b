import type { ClashReport } from '../types.js';

/** Writes a report as JSON, with one clash per line, so that two reports can be compared by lines. */
export function toJson(report: ClashReport): string {
  const fields = Object.entries(report).map(([key, value]) => {
    const text =
      Array.isArray(value) && value.length
        ? `[\n${value.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]`
        : JSON.stringify(value);
    return `  "${key}": ${text}`;
  });
  return `{\n${fields.join(',\n')}\n}\n`;
}

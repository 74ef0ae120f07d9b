// Replaces rows/page-row.ts in a browser: the page itself measures the row.
import type { Row } from '../harness.js';
import { ROWS } from '../page/rows.js';
import { type PageRowOptions, pageContenders } from '../rows/page-contenders.js';

/** Makes a row that this page measures. It has no facts, which need the tools of a controlled browser. */
export function pageRow(kind: keyof typeof ROWS, options: PageRowOptions): Row {
  const { name, work, count, rounds = 21 } = options;
  return {
    name,
    work: work.replace(', in Chromium', ''),
    rounds,
    async prepare() {
      const row = await ROWS[kind](count);
      const { contenders, checksums = {} } = row;
      return {
        contenders: pageContenders(options, {
          has: Object.keys(checksums),
          measure: (contender, round) => contenders[contender](round),
          checksum: (contender) => checksums[contender](),
        }),
        close: async () => row.close(),
      };
    },
  };
}

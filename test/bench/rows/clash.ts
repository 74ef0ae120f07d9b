import { type ClashReport, clash, type Rule } from 'collision-worker/clash';
import { partsOf } from '../../fixtures/clash-parts.js';
import { type ContenderElsewhere, here, type Row } from '../harness.js';
import { OURS } from '../ours.js';
import { fclClashes } from '../peers/native.js';
import { type ClashWork, clashWork } from '../work/clash.js';

/** All that penetrates. */
const RULES: Rule[] = [{ name: 'all', kind: 'hard', tolerance: 0 }];

/** All that `clash` does is measured: the start of its workers, its trees, planning, messages and the report. */
export function clashRow(count: number): Row {
  return {
    name: 'clash-20k',
    work: `a building of ${count.toLocaleString('en')} parts, all pairs, one worker: ours with depths, groups and the start of the worker, others with their trees built`,
    rounds: 5,
    async prepare({ native }) {
      const work = clashWork(count);
      return {
        contenders: [here(() => ours(OURS, work, 1)), ...(native ? fclClashes(work, 5) : [])],
      };
    },
  };
}

/** Two workers against one: what is shared out is all but the plan and the report. */
export function clashCoresRow(count: number): Row {
  return {
    name: 'clash-cores',
    work: `the same building of ${count.toLocaleString('en')} parts with two workers, against one`,
    rounds: 5,
    async prepare() {
      const work = clashWork(count);
      return {
        contenders: [
          here(() => ours(`${OURS}, two workers`, work, 2)),
          here(async () => ({ ...ours(`${OURS}, one worker`, work, 1), target: 1.8 })),
        ],
      };
    },
  };
}

function ours(name: string, { parts }: ClashWork, workers: number): ContenderElsewhere {
  const input = partsOf(parts);
  let report: ClashReport | undefined;
  return {
    name,
    async measure() {
      const start = performance.now();
      report = await clash(input, null, RULES, { workers });
      return performance.now() - start;
    },
    checksum: () => ({ pairs: report!.clashes.length }),
  };
}

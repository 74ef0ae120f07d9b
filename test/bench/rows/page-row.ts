import type { Page } from 'playwright';
import { type Allocations, allocationsOf } from '../../fixtures/allocations.js';
import { type OpenPage, openPage } from '../browser.js';
import type { Checksum, Fact, Row } from '../harness.js';
import type { BenchPage } from '../page/main.js';
import { type PageRowOptions, pageContenders } from './page-contenders.js';

/** Number of rounds in which garbage is counted. */
const COUNTED_ROUNDS = 10;

/** Makes a row that is measured in a page of Chromium. */
export function pageRow(kind: Parameters<BenchPage['open']>[0], options: PageRowOptions): Row {
  const { name, work, count, rounds = 21, atMost, isLarge = false } = options;
  return {
    name,
    work,
    rounds,
    isLarge,
    async prepare({ isShort = false }) {
      const opened = await openPage(isShort);
      const { page } = opened;
      await page.evaluate(([row, objects]) => window.bench.open(row, objects), [kind, count] as const);
      const has = await page.evaluate(() => Object.keys(window.bench.row.checksums ?? {}));
      return {
        contenders: pageContenders(options, {
          has,
          measure: (contender, round) => page.evaluate(runContender, [contender, round] as const),
          checksum: (contender) => checksumOf(opened, contender),
        }),
        facts: async () => {
          const pageFacts = await page.evaluate(() => window.bench.row.facts?.() ?? []);
          const figures = pageFacts.map((fact): Fact => {
            const limit = atMost?.[fact.name];
            return { ...fact, ...(limit === undefined ? {} : { atMost: limit }) };
          });
          return [...figures, ...(await garbageOf(page, isShort ? 1 : COUNTED_ROUNDS))];
        },
        close: () => opened.close(),
      };
    },
  };
}

function runContender([contender, round]: readonly [string, number]): Promise<number> {
  return window.bench.row.contenders[contender](round);
}

function checksumOf({ page }: OpenPage, contender: string): Promise<Checksum> {
  return page.evaluate((name) => window.bench.row.checksums![name](), contender);
}

/** Returns how much garbage a frame leaves, and the functions that allocate most of it. */
async function garbageOf(page: Page, rounds: number): Promise<Fact[]> {
  const framesOfRound = await page.evaluate(() => (window.bench.row.idle ? window.bench.framesOfRound : 0));
  if (framesOfRound === 0) return [];
  const session = await page.context().newCDPSession(page);
  const allocationsOfRounds = (kind: 'ours' | 'idle'): Promise<Allocations> =>
    allocationsOf(
      (method, params) => session.send(method as 'HeapProfiler.enable', params as undefined),
      () => page.evaluate(runRounds, [kind, rounds] as const),
    );
  const idle = await allocationsOfRounds('idle');
  const ours = await allocationsOfRounds('ours');
  const frames = rounds * framesOfRound;
  const bytesOf = (name: string, bytes: number): Fact => ({ name, value: Math.max(bytes, 0) / frames, unit: 'bytes' });
  return [
    bytesOf('garbage a frame', ours.bytes - idle.bytes),
    ...ours.byFunction.slice(0, 5).map(([name, bytes]) => ({ ...bytesOf(`of it ${name}`, bytes), isDetail: true })),
  ];
}

async function runRounds([kind, rounds]: readonly ['ours' | 'idle', number]): Promise<void> {
  const { row } = window.bench;
  const run = kind === 'idle' ? row.idle! : row.contenders.ours;
  for (let round = 1; round <= rounds; round++) await run(round);
}

import type { Page } from 'playwright';
import { type Allocations, allocationsOf } from '../../fixtures/allocations.js';
import { type OpenPage, openPage } from '../browser.js';
import { type Checksum, type ContenderElsewhere, type Fact, here, type Maker, type Row } from '../harness.js';
import { OURS } from '../ours.js';
import type { BenchPage } from '../page/main.js';

/** Milliseconds, at 60 a second. */
const FRAME = 1000 / 60;
/** In which garbage is counted. */
const COUNTED_ROUNDS = 10;

/** What streaming takes of the main thread, and how long an answer is under way: in a page of Chromium's. */
export function streamRows(count: number): Row[] {
  const objects = count.toLocaleString('en');
  const resting = (5 * count).toLocaleString('en');
  return [
    pageRow('moving', {
      name: 'stream-10k',
      work: `the main thread's share of a frame of ${objects} moving Meshes, the answer included, 60 frames a second, in Chromium`,
      count,
      peers: { 'bare loop': { target: 1 / 3, note: 'copies the same matrices' }, 'bare loop and two messages': {} },
    }),
    pageRow('instances', {
      name: 'stream-instances',
      work: `the same of an InstancedMesh of ${objects}`,
      count,
      peers: { 'one set': { target: 1 / 3, note: 'of its array' }, 'one set and two messages': {} },
    }),
    pageRow('still', {
      name: 'still-50k',
      work: `the main thread's share of a frame of ${resting} Meshes of which none moves, in Chromium`,
      count: 5 * count,
      peers: { "three's updateMatrixWorld": { target: 4, note: 'which its renderers call in every frame' } },
    }),
    pageRow('static', {
      name: 'static-50k',
      work: 'the same where all are static',
      count: 5 * count,
      peers: { "three's updateMatrixWorld": { target: 20 } },
    }),
    pageRow('idle picks', {
      name: 'pick-idle',
      work: `from asking for a pick to its answer, ${objects} objects, nothing else to do, in Chromium`,
      count,
      peers: { 'an empty comlink call': { target: 1 / 1.5 } },
    }),
    pageRow('loaded picks', {
      name: 'pick-loaded',
      work: `the same behind each frame of ${objects} moving objects, 60 frames a second`,
      count,
      peers: { 'an empty comlink call': { note: 'to a worker that has no frames to do' } },
      atMost: { 'p99 of picks': FRAME },
    }),
  ];
}

interface PageRowOptions {
  name: string;
  work: string;
  count: number;
  peers: Record<string, Pick<ContenderElsewhere, 'target' | 'note'>>;
  atMost?: Record<string, number>;
}

function pageRow(kind: Parameters<BenchPage['open']>[0], { name, work, count, peers, atMost }: PageRowOptions): Row {
  return {
    name,
    work,
    rounds: 21,
    async prepare() {
      const opened = await openPage();
      const { page } = opened;
      await page.evaluate(([row, objects]) => window.bench.open(row, objects), [kind, count] as const);
      const has = await page.evaluate(() => Object.keys(window.bench.row.checksums ?? {}));
      const [ours, ...others] = ['ours', ...Object.keys(peers)].map((contender): Maker => {
        const made: ContenderElsewhere = {
          name: contender === 'ours' ? OURS : contender,
          ...peers[contender],
          measure: (round) => page.evaluate(runContender, [contender, round] as const),
          ...(has.includes(contender) ? { checksum: () => checksumOf(opened, contender) } : {}),
        };
        return here(() => made);
      });
      return {
        contenders: [ours, ...others],
        facts: async () => {
          const found = await page.evaluate(() => window.bench.row.facts?.() ?? {});
          const figures = Object.entries(found).map(([fact, value]): Fact => {
            const limit = atMost?.[fact];
            return { name: fact, value, unit: 'ms', ...(limit === undefined ? {} : { atMost: limit }) };
          });
          return [...figures, ...(await garbageOf(page))];
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

/** What a frame leaves to the garbage collector, and which functions most of it. */
async function garbageOf(page: Page): Promise<Fact[]> {
  const framesOfRound = await page.evaluate(() => (window.bench.row.idle ? window.bench.framesOfRound : 0));
  if (framesOfRound === 0) return [];
  const session = await page.context().newCDPSession(page);
  const count = (kind: 'ours' | 'idle'): Promise<Allocations> =>
    allocationsOf(
      (method, params) => session.send(method as 'HeapProfiler.enable', params as undefined),
      () => page.evaluate(runRounds, [kind, COUNTED_ROUNDS] as const),
    );
  const idle = await count('idle');
  const ours = await count('ours');
  const frames = COUNTED_ROUNDS * framesOfRound;
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

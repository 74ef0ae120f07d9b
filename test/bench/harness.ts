import { median, quartiles, type Spread } from './statistics.js';

/** A workload, done by us and by others. */
export interface Row {
  name: string;
  /** One-line description of the work. */
  work: string;
  /** Number of rounds, not counting the warm-up. */
  rounds: number;
  /** True if the row takes so much time or memory that it runs only when it is named, and each of its runs counts. */
  isLarge?: boolean;
  prepare(context: Context): Promise<Prepared>;
}

export interface Context {
  /** Whether the C++ programs take part. */
  native: boolean;
  /** True if rows only have to prove that they work: pages then have no long warm-ups. Default false. */
  isShort?: boolean;
  /** Starts a contender of a row in its own process. Absent: all contenders are made in this process. */
  startApart?: (row: string, index: number) => Promise<SelfTimedContender>;
}

export interface Prepared {
  /** Number of times that `run` does the work; the time shown is per repetition. Default 1. */
  repeats?: number;
  /** The first contender is the reference for the others. */
  contenders: [ContenderFactory, ...ContenderFactory[]];
  /** If it is a function, it is called after the last round. */
  facts?: Fact[] | (() => Promise<Fact[]>);
  /** Checks each contender's answer beyond checksums, after the last round; returns descriptions of what is wrong. */
  verify?(answers: Answer[]): string[];
  /** Called after everything else. */
  close?(): Promise<void>;
}

/** Makes a contender at the beginning of its row. */
export interface ContenderFactory {
  make(): AnyContender | Promise<AnyContender>;
  /** True if it needs its own process: other code compiled earlier changes how its code is compiled. */
  isApart: boolean;
}

/** A contender in this process. */
export function inThisProcess(make: ContenderFactory['make']): ContenderFactory {
  return { make, isApart: false };
}

/**
 * A contender in its own process, as its users would run it: rays of three-mesh-bvh take 5.0 µs alone, and 6.1 µs in one process
 * with the others.
 */
export function inOwnProcess(make: ContenderFactory['make']): ContenderFactory {
  return { make, isApart: true };
}

export interface Contender {
  name: string;
  /** What readers must know about its figures. */
  note?: string;
  /** It does only this first fraction of the work, and its time is divided by it. Default 1. */
  part?: number;
  /** Runs before each run, untimed. */
  before?(): void;
  /** Does the work. */
  run(round: number): void;
  /** Returns the checksum of the last run's answer for this first fraction of the work. Absent: `verify` compares the answers. */
  checksum?(part: number): Checksum | Promise<Checksum>;
  /** Returns the last run's answer, for `verify`. */
  answer?(): Answer | Promise<Answer>;
  /** Relative tolerances of the checksum's numbers, and the reason for them. */
  tolerance?: { of: Record<string, number>; because: string };
  /** Minimum time, as a multiple of ours. */
  target?: number;
  /** Maximum time. */
  atMost?: Milliseconds;
  close?(): void;
}

/** A contender that measures itself: a separate program, a page, or a worker. */
export interface SelfTimedContender extends Omit<Contender, 'run'> {
  /** Does the work; returns the time that it measured itself. */
  measure(round: number): Promise<Milliseconds>;
}

export type AnyContender = Contender | SelfTimedContender;

export type Milliseconds = number;
export type Checksum = Record<string, number>;
/** Indices or distances. */
export type Answer = Uint32Array | Float64Array | undefined;

/** A figure other than a time. */
export interface Fact {
  name: string;
  value: number;
  unit: string;
  /** Its target. */
  atMost?: number;
  /** Too detailed for docs/performance.md. */
  isDetail?: boolean;
}

export interface RowResult {
  name: string;
  work: string;
  contenders: ContenderResult[];
  facts: Fact[];
  /** Disagreements between contenders, in words. */
  faults: string[];
}

export interface ContenderResult {
  name: string;
  note: string | undefined;
  part: number;
  target: number | undefined;
  atMost: Milliseconds | undefined;
  ms: Spread;
  /** Its time divided by that of the first contender in the same round; 1 for the first itself. */
  ratio: Spread;
  samples: Milliseconds[];
  checksum: Checksum | undefined;
}

export interface RunLength {
  /** Default: the row's own. */
  rounds?: number | undefined;
  /** Milliseconds that each contender warms up, at least one run, so that its code is compiled. Default 1,000. */
  warmUp?: number;
}

/**
 * Runs all contenders of a row in turn, round by round, and rotates the order so that each round begins with another one; the
 * first round does not count. Checksums are compared after every round.
 */
export async function measure(row: Row, context: Context, length: RunLength = {}): Promise<RowResult> {
  const { rounds = row.rounds, warmUp = 1000 } = length;
  const { contenders: factories, repeats = 1, facts = [], verify, close } = await row.prepare(context);
  const { startApart } = context;
  const contenders: AnyContender[] = [];
  for (const [i, factory] of factories.entries()) {
    contenders.push(factory.isApart && startApart ? await startApart(row.name, i) : await factory.make());
  }
  const samples = contenders.map((): Milliseconds[] => []);
  const faults = new Set<string>();
  try {
    const firstRound = row.isLarge ? 1 : 0;
    if (!row.isLarge) for (const contender of contenders) await warmUpContender(contender, warmUp);
    for (let round = firstRound; round <= rounds; round++) {
      collectGarbage('major');
      for (let i = 0; i < contenders.length; i++) {
        const index = (i + round) % contenders.length;
        const ms = await timeRun(contenders[index], round);
        if (round > 0) samples[index].push(ms / repeats);
      }
      for (const fault of await disagreements(contenders)) faults.add(`round ${round}: ${fault}`);
    }
    if (verify) {
      const answers = await Promise.all(contenders.map((contender) => contender.answer?.()));
      for (const fault of verify(answers)) faults.add(fault);
    }
    const results: ContenderResult[] = [];
    for (const [i, contender] of contenders.entries()) {
      results.push({
        name: contender.name,
        note: contender.note,
        part: contender.part ?? 1,
        target: contender.target,
        atMost: contender.atMost,
        ms: spreadOf(samples[i]),
        ratio: spreadOf(samples[i].map((ms, k) => ms / samples[0][k])),
        samples: samples[i],
        checksum: await contender.checksum?.(contender.part ?? 1),
      });
    }
    const factList = typeof facts === 'function' ? await facts() : facts;
    return { name: row.name, work: row.work, contenders: results, facts: factList, faults: [...faults] };
  } finally {
    for (const contender of contenders) contender.close?.();
    await close?.();
  }
}

/** Warms up each contender separately: alternating with a slow one, a fast one would not run often enough. */
async function warmUpContender(contender: AnyContender, warmUp: Milliseconds): Promise<void> {
  const start = performance.now();
  for (let round = 0; round === 0 || performance.now() - start < warmUp; round++) await timeRun(contender, round);
}

async function timeRun(contender: AnyContender, round: number): Promise<Milliseconds> {
  contender.before?.();
  collectGarbage('minor');
  return (await milliseconds(contender, round)) / (contender.part ?? 1);
}

/** Runs a contender once; returns how long that took. */
export async function milliseconds(contender: AnyContender, round: number): Promise<Milliseconds> {
  if ('measure' in contender) return contender.measure(round);
  const start = performance.now();
  contender.run(round);
  return performance.now() - start;
}

/** Collects garbage, so that no contender pays for that of the previous one. Does nothing if Node does not expose it. */
export function collectGarbage(type: 'major' | 'minor'): void {
  globalThis.gc?.({ type, execution: 'sync' });
}

async function disagreements(contenders: AnyContender[]): Promise<string[]> {
  const [first, ...others] = contenders;
  const faults: string[] = [];
  for (const other of others) {
    if (!first.checksum || !other.checksum) continue;
    const expected = await first.checksum(other.part ?? 1);
    const actual = await other.checksum(other.part ?? 1);
    // A checksum may have fewer numbers than that of the first contender.
    for (const key of Object.keys(actual)) {
      const tolerance = other.tolerance?.of[key] ?? 0;
      if (Math.abs(actual[key] - expected[key]) <= tolerance * Math.abs(expected[key])) continue;
      faults.push(`${key} of ${other.name}: ${actual[key]}, of ${first.name}: ${expected[key]}`);
    }
  }
  return faults;
}

function spreadOf(values: number[]): Spread {
  return { median: median(values), ...quartiles(values) };
}

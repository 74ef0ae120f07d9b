import { median, quartiles, type Spread } from './statistics.js';

/** One piece of work, done by us and by others. */
export interface Row {
  name: string;
  /** What is done, in a line. */
  work: string;
  /** How often, without the warm-up. */
  rounds: number;
  /** It takes so long, or so much memory, that it is run only where it is named, and every run counts. */
  isLarge?: boolean;
  prepare(context: Context): Promise<Prepared>;
}

export interface Context {
  /** Whether the programs in C++ take part. */
  native: boolean;
  /** Rows only have to show that they work: pages have no long warm-ups. Default false. */
  isShort?: boolean;
  /** Starts a contender of a row in a process of its own. Absent: all are made in this one. */
  startApart?: (row: string, index: number) => Promise<ContenderElsewhere>;
}

export interface Prepared {
  /** Times that `run` does the work; what is shown is the time for once. Default 1. */
  repeats?: number;
  /** The first is what the others are compared with. */
  contenders: [Maker, ...Maker[]];
  /** A function answers them after the last round. */
  facts?: Fact[] | (() => Promise<Fact[]>);
  /** Checks beyond checksums, after the last round, on what each contender answers; says in words what is wrong. */
  verify?(answers: Answer[]): string[];
  /** After all of it. */
  close?(): Promise<void>;
}

/** Makes a contender when the row begins. */
export interface Maker {
  make(): AnyContender | Promise<AnyContender>;
  /** It has a process to itself: the code of others, compiled before, changes what its own is compiled to. */
  isApart: boolean;
}

/** A contender of this process. */
export function here(make: Maker['make']): Maker {
  return { make, isApart: false };
}

/**
 * A contender in a process of its own, as its users would run it: rays of three-mesh-bvh take 5.0 µs alone and 6.1 beside
 * the others.
 */
export function apart(make: Maker['make']): Maker {
  return { make, isApart: true };
}

export interface Contender {
  name: string;
  /** What the reader must know about its figures. */
  note?: string;
  /** It does only the first such part of the work, and its time is divided by it. Default 1. */
  part?: number;
  /** Before each run, not timed. */
  before?(): void;
  /** The work. */
  run(round: number): void;
  /** Of what the last run answered for the first such part of the work. Absent: `verify` compares the answers. */
  checksum?(part: number): Checksum | Promise<Checksum>;
  /** What the last run answered, for `verify`. */
  answer?(): Answer | Promise<Answer>;
  /** Relative, of the checksum's numbers that may differ; with the reason. */
  tolerance?: { of: Record<string, number>; because: string };
  /** How many times as long as us it should take at least. */
  target?: number;
  /** How long it should take at most. */
  atMost?: Milliseconds;
  close?(): void;
}

/** It measures itself: a program of its own, a page, or a worker. */
export interface ContenderElsewhere extends Omit<Contender, 'run'> {
  /** Does the work; answers the time that it measured itself. */
  measure(round: number): Promise<Milliseconds>;
}

export type AnyContender = Contender | ContenderElsewhere;

export type Milliseconds = number;
export type Checksum = Record<string, number>;
/** Indices or distances. */
export type Answer = Uint32Array | Float64Array | undefined;

/** A figure that is no time. */
export interface Fact {
  name: string;
  value: number;
  unit: string;
  /** The target. */
  atMost?: number;
  /** For who looks closely: not in docs/performance.md. */
  isDetail?: boolean;
}

export interface RowResult {
  name: string;
  work: string;
  contenders: ContenderResult[];
  facts: Fact[];
  /** What the contenders disagreed about, in words. */
  faults: string[];
}

export interface ContenderResult {
  name: string;
  note: string | undefined;
  part: number;
  target: number | undefined;
  atMost: Milliseconds | undefined;
  ms: Spread;
  /** Its time by that of the first contender in the same round; of the first itself, 1. */
  ratio: Spread;
  samples: Milliseconds[];
  checksum: Checksum | undefined;
}

export interface Length {
  /** Default: the row's own. */
  rounds?: number | undefined;
  /** Milliseconds that each contender runs before, once at least, so that its code is compiled. Default 1,000. */
  warmUp?: number;
}

/**
 * Runs all contenders of a row one after the other, round by round, each round beginning with another one; the
 * first round does not count. Checksums are compared after every round.
 */
export async function measure(row: Row, context: Context, length: Length = {}): Promise<RowResult> {
  const { rounds = row.rounds, warmUp = 1000 } = length;
  const { contenders: makers, repeats = 1, facts = [], verify, close } = await row.prepare(context);
  const { startApart } = context;
  const contenders: AnyContender[] = [];
  for (const [i, maker] of makers.entries()) {
    contenders.push(maker.isApart && startApart ? await startApart(row.name, i) : await maker.make());
  }
  const samples = contenders.map((): Milliseconds[] => []);
  const faults = new Set<string>();
  try {
    const first = row.isLarge ? 1 : 0;
    if (!row.isLarge) for (const contender of contenders) await warm(contender, warmUp);
    for (let round = first; round <= rounds; round++) {
      collectGarbage('major');
      for (let i = 0; i < contenders.length; i++) {
        const which = (i + round) % contenders.length;
        const ms = await timed(contenders[which], round);
        if (round > 0) samples[which].push(ms / repeats);
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
    const figures = typeof facts === 'function' ? await facts() : facts;
    return { name: row.name, work: row.work, contenders: results, facts: figures, faults: [...faults] };
  } finally {
    for (const contender of contenders) contender.close?.();
    await close?.();
  }
}

/** Each for itself: beside a slow one a fast one would not run often enough. */
async function warm(contender: AnyContender, warmUp: Milliseconds): Promise<void> {
  const start = performance.now();
  for (let round = 0; round === 0 || performance.now() - start < warmUp; round++) await timed(contender, round);
}

async function timed(contender: AnyContender, round: number): Promise<Milliseconds> {
  contender.before?.();
  collectGarbage('minor');
  return (await milliseconds(contender, round)) / (contender.part ?? 1);
}

/** Runs it once; answers how long that took. */
export async function milliseconds(contender: AnyContender, round: number): Promise<Milliseconds> {
  if ('measure' in contender) return contender.measure(round);
  const start = performance.now();
  contender.run(round);
  return performance.now() - start;
}

/** So that nobody pays for the garbage of the one before. Does nothing where Node does not let it. */
export function collectGarbage(type: 'major' | 'minor'): void {
  globalThis.gc?.({ type, execution: 'sync' });
}

async function disagreements(contenders: AnyContender[]): Promise<string[]> {
  const [first, ...others] = contenders;
  const faults: string[] = [];
  for (const other of others) {
    if (!first.checksum || !other.checksum) continue;
    const expected = await first.checksum(other.part ?? 1);
    const found = await other.checksum(other.part ?? 1);
    // An answer may say less than the first one's.
    for (const key of Object.keys(found)) {
      const tolerance = other.tolerance?.of[key] ?? 0;
      if (Math.abs(found[key] - expected[key]) <= tolerance * Math.abs(expected[key])) continue;
      faults.push(`${key} of ${other.name}: ${found[key]}, of ${first.name}: ${expected[key]}`);
    }
  }
  return faults;
}

function spreadOf(values: number[]): Spread {
  return { median: median(values), ...quartiles(values) };
}

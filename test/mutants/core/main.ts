// Tests seeded one-line mutants of the core with the tests that reach them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Random } from '../../oracle/random.js';
import { isEquivalent, readEquivalents, reportStale } from '../equivalent.js';
import { describeShare } from '../share.js';
import { mutationsOf } from './mutations.js';
import { type TestRun, TestRunner } from './test-runner.js';
import {
  type Baseline,
  type Depth,
  hashOf,
  LONGEST,
  measureBaseline,
  nextPart,
  type Outlived,
  type Part,
  testFiles,
} from './tests.js';
import { CORE, coreFiles, type Mutant, Workspace } from './workspace.js';

export interface CoreOptions {
  root: string;
  count: number;
  seed: number;
  /** CPU seconds of tests that reach it which a mutant must survive. */
  budget: number;
  /** Number of mutants that run at a time. */
  lanes: number;
  /** Also runs mutants that survived before, with the current tests. */
  again: boolean;
  /** Reuses the mutants of an earlier run, even if the sources have changed since. */
  asDrawn: boolean;
  /** Runs nothing, and prints the results of the last run so far. */
  report: boolean;
}

/**
 * An `undecided` mutant has survived some tests, and will meet more; a `spent` one has survived as many as the budget allows,
 * with more left.
 */
type Status = 'killed' | 'timeout' | 'survived' | 'unreached' | 'equivalent' | 'undecided' | 'spent';

interface Result {
  status: Status;
  /** The file and the test that killed it. */
  by?: string;
  failure?: string;
  /** Which part of each test file it has outlived; and the CPU time of these parts. */
  outlived?: Record<string, Outlived>;
  spentMs?: number;
}

const LIVE: Status[] = ['survived', 'unreached'];
const UNDECIDED: Status[] = ['undecided', 'spent'];
/** CPU seconds after which a mutant waits until all others have outlived as much: most are killed early. */
const ROUNDS = [4, 16];

/** The state that is saved between runs. */
interface Kept {
  /** Hash of the core's sources, the seed and the count, which determine the mutants. */
  key: string;
  mutants: Mutant[];
  /** Baselines of test files, except for those that fail on the original. */
  baseline: Record<string, Baseline>;
  /** The files that fail on the original, with their hashes. */
  leftOut: Record<string, string>;
  /** By test file: the tests that are known to pass alone on the original. */
  passing: Record<string, string[]>;
  results: Record<number, Result>;
}

const RESULTS = 'build/mutants-core.json';
const WORKSPACE = 'build/mutants-core';
/**
 * Counters for the bench, which are switched off, and files that are not code of the core; the filter is a module of the main
 * thread.
 */
const LEFT_OUT = new Set(['counters.ts', 'host.ts', 'frustum-filter.ts']);
/** A run hangs if it takes this many times as long as on the original, and this many milliseconds longer. */
const PATIENCE = 4;
const LEAST_PATIENCE_MS = 6000;
/** A process that runs test files accumulates leftovers of mutants, so it is replaced after this many files. */
const RUNS_OF_A_PROCESS = 50;

/** Prints what happened; returns the exit code. */
export async function mutateCore(options: CoreOptions): Promise<number> {
  const { root, count, seed, again, asDrawn } = options;
  if (options.report) return reportKept(root);
  const workspace = new Workspace(root, join(root, WORKSPACE));
  const lanes = Array.from({ length: options.lanes }, () => new TestRunner(workspace.root, RUNS_OF_A_PROCESS));
  const stop = () => {
    for (const lane of lanes) lane.close();
  };
  process.once('exit', stop);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    const kept = takeUp(root, workspace, count, seed, asDrawn) ?? (await prepare(root, workspace, count, seed));
    const equivalents = readEquivalents(root);
    const left: Mutant[] = [];
    for (const mutant of kept.mutants) {
      const before = kept.results[mutant.id]?.status;
      if (isEquivalent(equivalents, mutant)) kept.results[mutant.id] = { status: 'equivalent' };
      else if (before === undefined || before === 'equivalent' || before === 'undecided') left.push(mutant);
      else if (again && [...LIVE, 'spent'].includes(before)) {
        kept.results[mutant.id] = { ...kept.results[mutant.id], status: 'undecided', spentMs: 0 };
        left.push(mutant);
      }
    }
    const baselines = new Baselines(kept, workspace);
    const judgeNext = async (lane: TestRunner, mutant: Mutant, seconds: number) => {
      const begin = performance.now();
      const result = await judge(mutant, kept, baselines, lane, seconds, options.budget);
      kept.results[mutant.id] = result;
      const decided = Object.values(kept.results).filter(({ status }) => status !== 'undecided').length;
      console.log(
        `${decided}/${kept.mutants.length} ${result.status.padEnd(9)} ${place(mutant)} ${mutant.kind} ` +
          `${result.by ?? ''} ${((performance.now() - begin) / 1000).toFixed(0)} s`,
      );
      write(root, kept);
    };
    for (const seconds of [...ROUNDS, options.budget]) {
      const queue = left.filter(({ id }) => (kept.results[id]?.status ?? 'undecided') === 'undecided');
      const run = async (lane: TestRunner) => {
        for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
          if ((kept.results[mutant.id]?.spentMs ?? 0) < 1000 * seconds) await judgeNext(lane, mutant, seconds);
        }
      };
      await Promise.all(lanes.map(run));
    }
    reportStale(
      equivalents.filter(({ file }) => file.startsWith(CORE)),
      mutantsOfAll(root),
    );
    report(kept);
    return 0;
  } finally {
    stop();
  }
}

function readKept(root: string): Kept | undefined {
  try {
    return { leftOut: {}, ...JSON.parse(readFileSync(join(root, RESULTS), 'utf8')) };
  } catch {
    return undefined;
  }
}

function reportKept(root: string): number {
  const kept = readKept(root);
  if (kept === undefined) {
    console.log('There is no run to report.');
    return 1;
  }
  const equivalents = readEquivalents(root);
  for (const mutant of kept.mutants) {
    if (isEquivalent(equivalents, mutant)) kept.results[mutant.id] = { status: 'equivalent' };
  }
  report(kept);
  return 0;
}

/** Returns the mutants and results of an earlier run, if they are of the same sources or `asDrawn`. */
function takeUp(root: string, workspace: Workspace, count: number, seed: number, asDrawn: boolean): Kept | undefined {
  const kept = readKept(root);
  if (kept === undefined) return undefined;
  if (!asDrawn && kept.key !== keyOf(root, count, seed)) return undefined;
  if (workspace.exists) workspace.updateTests();
  else {
    workspace.create();
    workspace.build(kept.mutants);
  }
  return kept;
}

async function prepare(root: string, workspace: Workspace, count: number, seed: number): Promise<Kept> {
  workspace.create();
  const mutants = await sample(root, workspace, count, seed);
  console.log(`Building a core of ${mutants.length} mutants…`);
  workspace.build(mutants);
  const kept = { key: keyOf(root, count, seed), mutants, baseline: {}, leftOut: {}, passing: {}, results: {} };
  write(root, kept);
  return kept;
}

/** Draws `count` mutants that compile. */
async function sample(root: string, workspace: Workspace, count: number, seed: number): Promise<Mutant[]> {
  const all = mutantsOfAll(root);
  const random = new Random(seed);
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  let next = 0;
  let chosen: Mutant[] = [];
  console.log(`${all.length} mutants; compiling ${count} of them, drawn with seed ${seed}…`);
  while (chosen.length < Math.min(count, all.length)) {
    chosen.push(...all.slice(next, next + count - chosen.length).map((mutant, i) => ({ ...mutant, id: next + i + 1 })));
    next = chosen.at(-1)!.id;
    for (;;) {
      const invalid = await workspace.compile(chosen);
      if (invalid.size === 0) break;
      chosen = chosen.filter(({ id }) => !invalid.has(id));
    }
    if (next >= all.length) break;
  }
  console.log(`${next - chosen.length} of ${next} do not compile`);
  // Keeps the order of drawing, so that the results so far are an estimate at any time.
  return chosen.map((mutant, i) => ({ ...mutant, id: i + 1 }));
}

function mutantsOfAll(root: string): Mutant[] {
  return coreFiles(root)
    .filter((file) => !LEFT_OUT.has(basename(file)))
    .flatMap((file) => mutantsOf(root, file));
}

function mutantsOf(root: string, file: string): Mutant[] {
  const text = readFileSync(join(root, file), 'utf8');
  return mutationsOf(file, text).map((mutation) => ({
    ...mutation,
    id: 0,
    file,
    line: text.slice(0, mutation.start).split('\n').length,
    original: text.slice(mutation.start, mutation.end),
    before: text.slice(text.lastIndexOf('\n', mutation.start - 1) + 1, mutation.start),
    text: text
      .slice(text.lastIndexOf('\n', mutation.start) + 1)
      .split('\n', 1)[0]!
      .trim(),
  }));
}

/** Times of test files, and the mutants that they reach: each file is measured when it is likely to notice a mutant. */
class Baselines {
  /** Except for those that fail without a mutant. */
  readonly files: string[];
  readonly #kept: Kept;
  readonly #root: string;
  readonly #source: string;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(kept: Kept, { root, source }: Workspace) {
    this.#kept = kept;
    this.#root = root;
    this.#source = source;
    const { baseline, leftOut } = kept;
    const files = testFiles(root);
    for (const file of Object.keys(baseline)) {
      if (!files.includes(file) || baseline[file]!.hash !== hashOf(file, root)) delete baseline[file];
    }
    this.files = files.filter((file) => leftOut[file] !== hashOf(file, root));
  }

  measure(file: string, lane: TestRunner, isThorough: boolean): Promise<void> {
    const running = this.#underWay.get(file) ?? this.#measure(file, lane, isThorough);
    this.#underWay.set(file, running);
    return running.finally(() => this.#underWay.delete(file));
  }

  async #measure(file: string, lane: TestRunner, isThorough: boolean): Promise<void> {
    const { baseline, leftOut } = this.#kept;
    const measured = await measureBaseline(file, this.#root, lane, isThorough);
    if (measured) {
      baseline[file] = measured;
      write(this.#source, this.#kept);
      return;
    }
    delete baseline[file];
    leftOut[file] = hashOf(file, this.#root);
    this.files.splice(this.files.indexOf(file), 1);
  }
}

/** Runs tests that a mutant has not met yet, until the tests so far have taken `seconds`, or the whole budget. */
async function judge(
  mutant: Mutant,
  kept: Kept,
  baselines: Baselines,
  lane: TestRunner,
  seconds: number,
  budget: number,
): Promise<Result> {
  const { id } = mutant;
  const { baseline, results } = kept;
  const outlived = { ...results[id]?.outlived };
  const isLast = seconds >= budget;
  const next = () => {
    const find = (depth: Depth) => nextPart(mutant, baseline, baselines.files, outlived, depth);
    return isLast ? (find('listed') ?? find('all')) : find('first');
  };
  let spentMs = results[id]?.spentMs ?? 0;
  // In the first rounds, the time for measuring test files counts as well, so that mutants that are killed quickly need not wait
  // for all measurements.
  let measuredMs = 0;
  for (let part = next(); part; part = next()) {
    const { file } = part;
    if (spentMs >= 1000 * seconds) return { outlived, spentMs, status: isLast ? 'spent' : 'undecided' };
    if (!isLast && spentMs + measuredMs >= 1000 * seconds) return { outlived, spentMs, status: 'undecided' };
    if (!part.only) {
      await baselines.measure(file, lane, part.isWhole);
      measuredMs += baseline[file]?.processorMs ?? 0;
      continue;
    }
    const { hash } = baseline[file]!;
    let run = await runMutant(part);
    if (run.timedOut) {
      // The machine may have become slower since the original was measured.
      const before = baseline[file]!;
      await baselines.measure(file, lane, !before.isCut);
      const now = baseline[file];
      if (!now) continue;
      const isSlower = now.milliseconds > 1.5 * before.milliseconds || now.processorMs > 1.5 * before.processorMs;
      if (isSlower) run = await runMutant({ ...part, processorMs: part.processorMs * 3 });
    }
    if (run.timedOut) return { status: 'timeout', by: file };
    if (!run.passed) {
      // Work that the run left behind may fail later.
      if (run.isStray) lane.close();
      if (await isKill(part, run)) return { status: 'killed', by: file, ...(run.failure && { failure: run.failure }) };
      console.log(`${place(mutant)}: what fails in ${file} fails alone without it, too: ${run.failure}`);
    }
    outlived[file] = { hash, isWhole: part.isWhole };
    spentMs += run.processorMs;
  }
  if (!isLast) return { outlived, spentMs, status: 'undecided' };
  return { outlived, spentMs, status: Object.keys(outlived).length > 0 ? 'survived' : 'unreached' };

  function runMutant({ file, only, processorMs }: Part): Promise<TestRun> {
    const { milliseconds, processorMs: whole } = baseline[file]!;
    return lane.run(
      { file, mutant: id, ...(only && { only }) },
      {
        milliseconds: LEAST_PATIENCE_MS + (PATIENCE * milliseconds * processorMs) / whole,
        processorMs: LEAST_PATIENCE_MS + PATIENCE * processorMs,
      },
    );
  }

  /**
   * Returns whether the failed test passes on the original: it may have failed by chance, or because other tests were not run.
   */
  async function isKill({ file, only }: Part, { test }: TestRun): Promise<boolean> {
    kept.passing[file] ??= [];
    const passing = kept.passing[file];
    if (test !== undefined && passing.includes(test)) return true;
    const alone = test === undefined ? only : [test];
    if (!(await lane.run({ file, mutant: 0, ...(alone && { only: alone }) }, LONGEST)).passed) return false;
    if (test !== undefined) passing.push(test);
    return true;
  }
}

function report({ mutants, results }: Kept): void {
  const of = (...statuses: Status[]) => mutants.filter(({ id }) => statuses.includes(results[id]?.status as Status));
  for (const mutant of of(...LIVE, ...UNDECIDED)) {
    const { status } = results[mutant.id]!;
    const how =
      status === 'unreached' ? 'lives, as no test reaches it' : status === 'survived' ? 'lives' : 'is undecided';
    console.log(`\n${place(mutant)}  ${how} (${mutant.kind}): ${mutant.text}`);
    console.log(`- ${mutant.original.replaceAll('\n', '\n  ')}\n+ ${mutant.by.replaceAll('\n', '\n  ')}`);
  }
  const counts = {
    killed: of('killed', 'timeout').length,
    byTime: of('timeout').length,
    live: of(...LIVE).length,
    unreached: of('unreached').length,
    undecided: of(...UNDECIDED).length,
    equivalent: of('equivalent').length,
    notRun: mutants.filter(({ id }) => results[id] === undefined).length,
  };
  console.log(`\n${describeShare(counts)}`);
}

function place({ file, line }: Mutant): string {
  return `${file}:${line}`;
}

function keyOf(root: string, count: number, seed: number): string {
  const hash = createHash('sha256').update(`${count} ${seed}\0`);
  for (const file of coreFiles(root)) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function write(root: string, kept: Kept): void {
  mkdirSync(dirname(join(root, RESULTS)), { recursive: true });
  writeFileSync(join(root, RESULTS), JSON.stringify(kept));
}

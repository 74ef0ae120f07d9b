// Seeded one-line mutants of the core against the tests that reach them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Random } from '../../oracle/random.js';
import { type Equivalent, isEquivalent, readEquivalents, reportStale } from '../equivalent.js';
import { mutationsOf } from './mutations.js';
import { type TestRun, TestRunner } from './test-runner.js';
import { type Baseline, type Lane, LONGEST, measureBaseline, testFiles, testsFor, timesOf } from './tests.js';
import { CORE, coreFiles, type Mutant, Workspace } from './workspace.js';

export interface CoreOptions {
  root: string;
  count: number;
  seed: number;
  /** Seconds of the processor's time, of tests that reach it, that a mutant must outlive. */
  budget: number;
  /** How many mutants are run at a time. */
  lanes: number;
  /** Also those that survived before: with the tests as they are now. */
  again: boolean;
  /** The mutants of an earlier run, though the sources have changed since. */
  asDrawn: boolean;
}

type Status = 'killed' | 'timeout' | 'survived' | 'unreached' | 'equivalent';

interface Result {
  status: Status;
  /** The file that killed it, and the test. */
  by?: string;
  failure?: string;
}

const LIVE: Status[] = ['survived', 'unreached'];

/** What is kept between runs. */
interface Kept {
  /** Of the core's sources, the seed and the count: what the mutants follow from. */
  key: string;
  mutants: Mutant[];
  /** Of the test files that were needed. */
  baseline: Record<string, Baseline>;
  /** Of other test files: the tests that were seen to pass on the original. */
  passing: Record<string, string[]>;
  results: Record<number, Result>;
}

const RESULTS = 'build/mutants-core.json';
const WORKSPACE = 'build/mutants-core';
/** These have no part in what the core answers: counters for the bench, switched off. */
const LEFT_OUT = new Set(['counters.ts', 'host.ts']);
/** What takes longer than so many times what it takes on the original, and so many milliseconds, hangs. */
const PATIENCE = 4;
const LEAST_PATIENCE_MS = 10_000;
/** What a file that was not run yet is taken for. */
const UNKNOWN = { processorMs: 15_000, milliseconds: 60_000, isIsolated: false };
/** What mutants leave behind in a process that runs all test files goes with it after so many of them. */
const RUNS_OF_A_PROCESS = 50;

/** Prints what happened; answers the exit code. */
export async function mutateCore(options: CoreOptions): Promise<number> {
  const { root, count, seed, again, asDrawn } = options;
  const workspace = new Workspace(root, join(root, WORKSPACE));
  const lanes: Lane[] = Array.from({ length: options.lanes }, (_, number) => ({
    number,
    quick: new TestRunner(workspace.root, 'quick-runner.mjs', number, RUNS_OF_A_PROCESS),
    isolated: new TestRunner(workspace.root, 'vitest-runner.mjs', number),
  }));
  const stop = () => {
    for (const { quick, isolated } of lanes) for (const runner of [quick, isolated]) runner.close();
  };
  process.once('exit', stop);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    const kept = takeUp(root, workspace, count, seed, asDrawn) ?? (await prepare(root, workspace, count, seed));
    const equivalents = readEquivalents(root);
    const times = timesOf(root);
    const left: Mutant[] = [];
    for (const mutant of kept.mutants) {
      const before = kept.results[mutant.id]?.status;
      if (isEquivalent(equivalents, mutant)) kept.results[mutant.id] = { status: 'equivalent' };
      else if (!before || before === 'equivalent' || (again && LIVE.includes(before))) left.push(mutant);
    }
    // What no likely test reaches comes last, when it is known what the others reach.
    const rest: Mutant[] = [];
    const hasWaited = new Set<Mutant>();
    const run = async (lane: Lane) => {
      for (let mutant = left.shift() ?? rest.shift(); mutant; mutant = left.shift() ?? rest.shift()) {
        const begin = performance.now();
        const isFirstTime = !hasWaited.has(mutant);
        const result = await judge(mutant, kept, workspace, lane, options, times, isFirstTime);
        if (!result) {
          hasWaited.add(mutant);
          rest.push(mutant);
          continue;
        }
        kept.results[mutant.id] = result;
        const done = Object.keys(kept.results).length;
        const seconds = ((performance.now() - begin) / 1000).toFixed(0);
        console.log(
          `${done}/${kept.mutants.length} ${result.status.padEnd(8)} ${place(mutant)} ${mutant.kind} ` +
            `${result.by ?? ''} ${seconds} s`,
        );
        write(root, kept);
      }
    };
    await Promise.all(lanes.map(run));
    reportStale(
      equivalents.filter(({ file }) => file.startsWith(CORE)),
      mutantsOfAll(root),
    );
    return report(kept, equivalents);
  } finally {
    stop();
  }
}

/** The mutants and results of an earlier run, where they are of the same sources or `asDrawn`. */
function takeUp(root: string, workspace: Workspace, count: number, seed: number, asDrawn: boolean): Kept | undefined {
  let kept: Kept;
  try {
    kept = JSON.parse(readFileSync(join(root, RESULTS), 'utf8'));
  } catch {
    return undefined;
  }
  if (!asDrawn && kept.key !== keyOf(root, count, seed)) return undefined;
  workspace.updateTests();
  return kept;
}

async function prepare(root: string, workspace: Workspace, count: number, seed: number): Promise<Kept> {
  workspace.create();
  const mutants = await sample(root, workspace, count, seed);
  console.log(`Building a core of ${mutants.length} mutants…`);
  workspace.build(mutants);
  const kept = { key: keyOf(root, count, seed), mutants, baseline: {}, passing: {}, results: {} };
  write(root, kept);
  return kept;
}

/** So many mutants that compile. */
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
  // As drawn, so that the share of those that were run is an estimate at any time.
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

/** Answers nothing for a mutant that no likely test reaches, where only likely ones are asked for. */
async function judge(
  mutant: Mutant,
  kept: Kept,
  workspace: Workspace,
  lane: Lane,
  { budget }: CoreOptions,
  times: ReadonlyMap<string, number>,
  isLikelyOnly: boolean,
): Promise<Result | undefined> {
  const { id, constant } = mutant;
  const { baseline } = kept;
  let spent = 0;
  let reached = constant !== undefined;
  const { likely, others } = testsFor(mutant, testFiles(workspace.root), times);
  const isKnown = (file: string) => Number(baseline[file]?.reaches.includes(id) ?? false);
  others.sort((a, b) => isKnown(b) - isKnown(a));
  const left = isLikelyOnly ? likely : [...likely, ...others];
  for (let file = left.shift(); file; file = left.shift()) {
    // What no likely test reaches, another one may.
    if (spent >= 1000 * budget || (reached && others.includes(file))) break;
    if (!mayReach(file)) continue;
    let run = await runMutant(file);
    if (run.timedOut) {
      // The machine may have become slower since the original was measured.
      const before = baseline[file] ?? UNKNOWN;
      baseline[file] = await measureBaseline(file, workspace, lane);
      if (!mayReach(file)) continue;
      const now = baseline[file];
      const isSlower = now.milliseconds > 1.5 * before.milliseconds || now.processorMs > 1.5 * before.processorMs;
      if (isSlower) run = await runMutant(file);
    }
    if (run.timedOut) return { status: 'timeout', by: file };
    if (!run.passed) {
      // What it has left under way may fail later.
      if (run.isStray) lane.quick.close();
      if (await isKill(file, run)) return { status: 'killed', by: file, ...(run.failure && { failure: run.failure }) };
      left.unshift(file);
      continue;
    }
    // As nothing has failed, the mutant has gone the way of the original, or nearly so.
    const { milliseconds, processorMs } = run;
    if (!baseline[file]) {
      baseline[file] = { milliseconds, processorMs, reaches: workspace.takeReached(lane.number), isIsolated: false };
      write(workspace.source, kept);
    }
    if (!mayReach(file)) continue;
    reached = true;
    spent += processorMs;
  }
  if (reached) return { status: 'survived' };
  return isLikelyOnly ? undefined : { status: 'unreached' };

  function mayReach(file: string): boolean {
    return constant !== undefined || (baseline[file]?.reaches.includes(id) ?? true);
  }

  function runMutant(file: string): Promise<TestRun> {
    workspace.activate(lane.number, id);
    workspace.takeReached(lane.number);
    const { milliseconds, processorMs, isIsolated } = baseline[file] ?? UNKNOWN;
    return (isIsolated ? lane.isolated : lane.quick).run(file, {
      milliseconds: LEAST_PATIENCE_MS + PATIENCE * milliseconds,
      processorMs: isIsolated ? Number.POSITIVE_INFINITY : LEAST_PATIENCE_MS + PATIENCE * processorMs,
    });
  }

  /** Whether what failed passes on the original, where that is not known yet. */
  async function isKill(file: string, { test }: TestRun): Promise<boolean> {
    if (baseline[file]) return true;
    kept.passing[file] ??= [];
    const passing = kept.passing[file];
    if (test !== undefined && passing.includes(test)) return true;
    workspace.activate(lane.number, 0);
    if (test !== undefined && (await lane.quick.run(file, LONGEST, test)).passed) {
      passing.push(test);
      return true;
    }
    baseline[file] = await measureBaseline(file, workspace, lane);
    return !baseline[file].isIsolated && mayReach(file);
  }
}

function report({ mutants, results }: Kept, equivalents: Equivalent[]): number {
  const of = (...statuses: Status[]) => mutants.filter(({ id }) => statuses.includes(results[id]!.status));
  const survivors = of(...LIVE);
  for (const mutant of survivors) {
    const why = results[mutant.id]!.status === 'unreached' ? ' as no test reaches it' : '';
    console.log(`\n${place(mutant)}  survived${why} (${mutant.kind}): ${mutant.text}`);
    console.log(`- ${mutant.original.replaceAll('\n', '\n  ')}\n+ ${mutant.by.replaceAll('\n', '\n  ')}`);
  }
  const killed = of('killed', 'timeout').length;
  const equal = of('equivalent').length;
  const share = ((100 * killed) / (mutants.length - equal)).toFixed(1);
  console.log(
    `\n${mutants.length} mutants: ${killed} killed (${of('timeout').length} by time), ${survivors.length} survived, ` +
      `${equal} change nothing (of ${equivalents.length} in test/mutants/equivalent.json): ${share} % killed`,
  );
  return 0;
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
  writeFileSync(join(root, RESULTS), JSON.stringify(kept, null, 1));
}

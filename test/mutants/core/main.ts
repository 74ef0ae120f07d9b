// Seeded one-line mutants of the core against the tests that reach them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Random } from '../../oracle/random.js';
import { type Equivalent, isEquivalent, readEquivalents, reportStale } from '../equivalent.js';
import { mutationsOf } from './mutations.js';
import { type TestRun, TestRunner } from './test-runner.js';
import { type Baseline, type Lane, measureBaseline, testFiles, testsFor } from './tests.js';
import { CORE, coreFiles, type Mutant, Workspace } from './workspace.js';

export interface CoreOptions {
  root: string;
  count: number;
  seed: number;
  /** Seconds of tests, by what they take on the original, that a mutant must outlive. */
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
  results: Record<number, Result>;
}

const RESULTS = 'build/mutants-core.json';
const WORKSPACE = 'build/mutants-core';
/** These have no part in what the core answers: counters for the bench, switched off. */
const LEFT_OUT = new Set(['counters.ts', 'host.ts']);
/** A test that takes longer than so many times what it takes on the original, and so many milliseconds, hangs. */
const PATIENCE = 5;
const LEAST_PATIENCE_MS = 30_000;
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
    const left: Mutant[] = [];
    for (const mutant of kept.mutants) {
      const before = kept.results[mutant.id]?.status;
      if (isEquivalent(equivalents, mutant)) kept.results[mutant.id] = { status: 'equivalent' };
      else if (!before || before === 'equivalent' || (again && LIVE.includes(before))) left.push(mutant);
    }
    const run = async (lane: Lane) => {
      for (let mutant = left.shift(); mutant; mutant = left.shift()) {
        const begin = performance.now();
        const result = await judge(mutant, kept, workspace, lane, options);
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
  const kept = { key: keyOf(root, count, seed), mutants, baseline: {}, results: {} };
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

async function judge(
  mutant: Mutant,
  { baseline }: Kept,
  workspace: Workspace,
  lane: Lane,
  { budget }: CoreOptions,
): Promise<Result> {
  let spent = 0;
  let reached = mutant.constant !== undefined;
  const { likely, others } = testsFor(mutant, testFiles(workspace.root));
  const isKnown = (file: string) => Number(baseline[file]?.reaches.includes(mutant.id) ?? false);
  others.sort((a, b) => isKnown(b) - isKnown(a));
  for (const file of [...likely, ...others]) {
    // What no likely test reaches, another one may.
    if (spent >= 1000 * budget || (reached && others.includes(file))) break;
    baseline[file] ??= await measureBaseline(file, workspace, lane);
    const { milliseconds, reaches, isIsolated } = baseline[file];
    const runner = isIsolated ? lane.isolated : lane.quick;
    if (mutant.constant === undefined && !reaches.includes(mutant.id)) continue;
    reached = true;
    spent += milliseconds;
    let run = await runMutant(mutant.id, file, milliseconds);
    if (run.timedOut) {
      // The machine may have become slower since the original was measured.
      const now = await measureBaseline(file, workspace, lane);
      if (now.milliseconds > 2 * milliseconds) run = await runMutant(mutant.id, file, now.milliseconds);
    }
    if (run.timedOut) return { status: 'timeout', by: file };
    // What it has left under way may fail later.
    if (!run.passed && run.isStray) runner.close();
    if (!run.passed) return { status: 'killed', by: file, ...(run.failure && { failure: run.failure }) };
  }
  return reached ? { status: 'survived' } : { status: 'unreached' };

  function runMutant(id: number, file: string, milliseconds: number): Promise<TestRun> {
    workspace.activate(lane.number, id);
    const runner = baseline[file]!.isIsolated ? lane.isolated : lane.quick;
    return runner.run(file, LEAST_PATIENCE_MS + PATIENCE * milliseconds);
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

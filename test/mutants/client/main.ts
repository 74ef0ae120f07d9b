// Mutation tests of the main thread's code and of the worker's TypeScript, with StrykerJS.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { Random } from '../../oracle/random.js';
import { isEquivalent, readEquivalents, reportStale } from '../equivalent.js';
import { describeShare } from '../share.js';
import { mutantKey, UNDECIDED } from './mutant-key.mjs';

export interface ClientOptions {
  root: string;
  /** Number of mutants; all by default. */
  sample?: number;
  seed: number;
  /** CPU seconds of tests that reach it which a mutant must survive. */
  budget: number;
  /** Number of mutants that run at a time. */
  lanes: number;
  /** Also runs mutants that survived before, with the current tests. */
  again: boolean;
  /** Runs nothing, and prints the results of the last run with this sample so far. */
  report: boolean;
}

interface Position {
  line: number;
  column: number;
}

/** Lines and columns count from 0. */
interface Mutant {
  fileName: string;
  replacement: string;
  location: { start: Position; end: Position };
}

/** A line of the results file, after the first one, which identifies the sources and the sample. */
interface Result {
  /** Key of the mutant. */
  key: string;
  /** Stryker's name of the status. */
  status: string;
}

const FOLDERS = ['src/client', 'src/worker', 'src/worker/binding'];
const RESULTS = 'build/mutants-client.jsonl';
/** Coverage and times of test files. */
const DRY_RUN = 'build/mutants-client-dry-run.json';
const SAMPLE = 'build/mutants-client-sample.json';
const SANDBOXES = 'build/stryker';
/** The text of messages is for people; tests check the names in them, and the code. */
const LEFT_OUT = ['StringLiteral'];
const LIVE = ['Survived', 'NoCoverage'];
const NOT_KILLED = [...LIVE, UNDECIDED];

/** Prints what happened; returns the exit code. */
export async function mutateClient(options: ClientOptions): Promise<number> {
  const { root, sample, seed, again } = options;
  const files = sources(root);
  const all = await mutantsOf(root, files);
  const equivalents = readEquivalents(root);
  reportStale(
    equivalents.filter(({ file }) => files.includes(file)),
    all.map((mutant) => changeOf(root, mutant)),
  );
  const isKnown = (mutant: Mutant) => isEquivalent(equivalents, changeOf(root, mutant));
  const chosen = draw(all, sample ?? all.length, seed);
  const drawn = chosen.filter((mutant) => !isKnown(mutant));
  const key = keyOf(root, files, chosen.length, seed);
  if (options.report) return report(root, drawn, chosen.length - drawn.length);
  const results = takeUp(root, key, again);
  const left = drawn.filter((mutant) => !results.has(mutantKey(mutant)));
  console.log(
    `${all.length} mutants, ${chosen.length} of them drawn with seed ${seed}, ${left.length} are left to run`,
  );
  if (left.length > 0) await run(options, key, chosen, left);
  return report(root, drawn, chosen.length - drawn.length);
}

/** Reads the results of an earlier run if they are of the same sources and the same sample; otherwise discards them. */
function takeUp(root: string, key: string, again: boolean): Map<string, string> {
  const [first, ...results] = readResults(root);
  const kept = first?.key !== key ? [] : results.filter(({ status }) => !again || !NOT_KILLED.includes(status));
  mkdirSync(join(root, 'build'), { recursive: true });
  const lines = [{ key, status: 'Drawn' }, ...kept].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(root, RESULTS), lines.join(''));
  return new Map(kept.map((result) => [result.key, result.status]));
}

/** Reads the saved results, except for a line that an interrupted run left incomplete. */
function readResults(root: string): Result[] {
  try {
    const lines = readFileSync(join(root, RESULTS), 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

async function run({ root, budget, lanes }: ClientOptions, key: string, chosen: Mutant[], left: Mutant[]) {
  writeFileSync(join(root, SAMPLE), JSON.stringify(left.map(mutantKey)));
  process.env.MUTANTS_SAMPLE = join(root, SAMPLE);
  process.env.MUTANTS_RESULTS = join(root, RESULTS);
  process.env.MUTANTS_DRY_RUN = join(root, DRY_RUN);
  process.env.MUTANTS_KEY = key;
  process.env.MUTANTS_BUDGET = String(budget);
  process.env.MUTANTS_LANES = String(lanes);
  const stryker = new Stryker({
    // Ranges: without them, sources are full of switches for mutants that are never active, and slow. All sampled ones are
    // listed, so that a mutant has the same number in each run.
    mutate: chosen.map((mutant) => rangeOf(root, mutant)),
    mutator: { excludedMutations: LEFT_OUT },
    testRunner: 'kept-vitest',
    vitest: { configFile: 'test/mutants/client/vitest.config.ts', related: false } as never,
    checkers: ['sample'],
    plugins: ['@stryker-mutator/vitest-runner', join(root, 'test/mutants/client/plugins.mjs')],
    buildCommand: 'node test/mutants/client/build.mjs',
    coverageAnalysis: 'perTest',
    // Modules are loaded anew for each file, so mutants that Stryker considers static are not (setup.ts).
    ignoreStatic: false,
    concurrency: lanes,
    // Of the tree's own build, only the compiled WebAssembly is used.
    ignorePatterns: ['/build/*', '!/build/*.wasm*', '/dist', '/demo', '/artifacts', '/docs', '/test/pictures'],
    tempDirName: SANDBOXES,
    checkerNodeArgs: [],
    reporters: ['results'],
    // The runner detects hangs by CPU time (runner.mjs). On a busy machine, measuring the test files, which the first mutant
    // waits for, takes half an hour and more.
    timeoutMS: 86_400_000,
    timeoutFactor: 3,
    dryRunTimeoutMinutes: 120,
    allowConsoleColors: false,
    disableTypeChecks: false,
    thresholds: { high: 90, low: 90, break: null },
  });
  await stryker.runMutationTest();
}

function sources(root: string): string[] {
  return FOLDERS.flatMap((folder) => {
    const recursive = folder === 'src/client';
    const names = readdirSync(join(root, folder), { recursive, encoding: 'utf8' });
    return names.map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
  })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .sort();
}

/** Lists all mutants that Stryker can make. */
async function mutantsOf(root: string, files: string[]): Promise<Mutant[]> {
  const injector = {
    provideValue: () => injector,
    injectClass: (type: new (...args: unknown[]) => unknown) => new type(SILENT),
  };
  const instrumenter = createInstrumenter(injector as never);
  const contents = files.map((file) => {
    return { name: join(root, file), content: readFileSync(join(root, file), 'utf8'), mutate: true };
  });
  const { mutants } = await instrumenter.instrument(contents, {
    ignorers: [],
    excludedMutations: LEFT_OUT,
    plugins: null,
  } as never);
  return mutants.filter(({ status }) => status === undefined);
}

const SILENT = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };

function draw(all: Mutant[], count: number, seed: number): Mutant[] {
  const random = new Random(seed);
  const left = [...all];
  const drawn: Mutant[] = [];
  while (drawn.length < count && left.length > 0) drawn.push(left.splice(random.integer(left.length), 1)[0]!);
  return drawn;
}

function report(root: string, drawn: Mutant[], equivalent: number): number {
  const results = new Map(readResults(root).map(({ key, status }) => [key, status]));
  const counts: Record<string, number> = {};
  for (const mutant of drawn) {
    const status = results.get(mutantKey(mutant)) ?? 'NotRun';
    counts[status] = (counts[status] ?? 0) + 1;
    if (!NOT_KILLED.includes(status)) continue;
    const { file, text, original, by } = changeOf(root, mutant);
    const { line } = mutant.location.start;
    const how = { Survived: 'lives', NoCoverage: 'lives, as no test reaches it' }[status] ?? 'is undecided';
    console.log(`\n${file}:${line + 1}  ${how}`);
    console.log(`  ${text}\n- ${original.replaceAll('\n', '\n  ')}\n+ ${by.replaceAll('\n', '\n  ')}`);
  }
  const { Killed = 0, Timeout = 0, RuntimeError = 0, Survived = 0, NoCoverage = 0, NotRun = 0 } = counts;
  const share = describeShare({
    killed: Killed + Timeout + RuntimeError,
    byTime: Timeout,
    live: Survived + NoCoverage,
    unreached: NoCoverage,
    undecided: counts[UNDECIDED] ?? 0,
    equivalent,
    notRun: NotRun,
  });
  console.log(`\n${share}`);
  return NotRun === 0 ? 0 : 1;
}

/** The change that a mutant makes, by which known equivalent mutants are found. */
function changeOf(root: string, { fileName, replacement, location: { start, end } }: Mutant) {
  const lines = readFileSync(fileName, 'utf8').split('\n');
  const line = lines[start.line]!;
  return {
    ...{ file: fileIn(root, fileName), original: textAt(lines, start, end), by: replacement },
    ...{ text: line.trim(), before: line.slice(0, start.column) },
  };
}

function fileIn(root: string, fileName: string): string {
  return relative(root, fileName).replaceAll('\\', '/');
}

/** A range for Stryker's options: lines count from 1, columns from 0. */
function rangeOf(root: string, { fileName, location: { start, end } }: Mutant): string {
  return `${fileIn(root, fileName)}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

/** The text between two positions, whose lines and columns count from 0. */
function textAt(lines: string[], start: Position, end: Position): string {
  const part = lines.slice(start.line, end.line + 1);
  part[part.length - 1] = part.at(-1)!.slice(0, end.column);
  part[0] = part[0]!.slice(start.column);
  return part.join('\n');
}

function keyOf(root: string, files: string[], count: number, seed: number): string {
  const hash = createHash('sha256').update(`${count} ${seed}\0`);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

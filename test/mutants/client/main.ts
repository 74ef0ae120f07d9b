// Mutants of the main thread's side and of the worker's TypeScript, by StrykerJS.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { Random } from '../../oracle/random.js';
import { isEquivalent, readEquivalents } from '../equivalent.js';
import { mutantKey } from './mutant-key.mjs';

export interface ClientOptions {
  root: string;
  /** All where it is left out. */
  sample?: number;
  seed: number;
}

interface Position {
  line: number;
  column: number;
}

/** Lines and columns from 0. */
interface Mutant {
  fileName: string;
  replacement: string;
  location: { start: Position; end: Position };
}

interface FileMutant {
  replacement: string;
  status: string;
  location: { start: Position; end: Position };
}

interface Report {
  files: Record<string, { source: string; mutants: FileMutant[] }>;
}

const FOLDERS = ['src/client', 'src/worker', 'src/worker/binding'];
const REPORT = 'build/mutants-client.json';
const SAMPLE = 'build/mutants-client-sample.json';
const SANDBOXES = 'build/stryker';
/** What messages say is for people; tests look for the names in them, and for the code. */
const LEFT_OUT = ['StringLiteral'];

/** Prints what happened; answers the exit code. */
export async function mutateClient({ root, sample, seed }: ClientOptions): Promise<number> {
  const files = sources(root);
  const all = await mutantsOf(root, files);
  const equivalents = readEquivalents(root);
  const isKnown = (mutant: Mutant) => isEquivalent(equivalents, changeOf(root, mutant));
  const chosen = draw(all, sample ?? all.length, seed);
  const drawn = chosen.filter((mutant) => !isKnown(mutant));
  const count = { chosen: chosen.length, equivalent: chosen.length - drawn.length };
  console.log(`${all.length} mutants, ${count.chosen} of them drawn with seed ${seed}`);
  mkdirSync(join(root, 'build'), { recursive: true });
  writeFileSync(join(root, SAMPLE), JSON.stringify(drawn.map(mutantKey)));
  process.env.MUTANTS_SAMPLE = join(root, SAMPLE);
  rmSync(join(root, REPORT), { force: true });
  const stryker = new Stryker({
    // Ranges: without them, sources are full of switches for mutants that are never active, and slow.
    mutate: drawn.map((mutant) => rangeOf(root, mutant)),
    mutator: { excludedMutations: LEFT_OUT },
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutants/client/vitest.config.ts', related: false } as never,
    checkers: ['sample'],
    plugins: ['@stryker-mutator/vitest-runner', join(root, 'test/mutants/client/plugins.mjs')],
    buildCommand: 'node test/mutants/client/build.mjs',
    coverageAnalysis: 'perTest',
    // Modules are loaded anew for each file: what is static to Stryker is not (setup.ts).
    ignoreStatic: false,
    concurrency: 1,
    // Of the tree's own build, only the core is used.
    ignorePatterns: ['/build/mutants*', '/build/stryker', '/dist', '/demo', '/artifacts', '/docs'],
    tempDirName: SANDBOXES,
    checkerNodeArgs: [],
    reporters: ['json', 'survivors'],
    jsonReporter: { fileName: REPORT },
    timeoutMS: 30_000,
    timeoutFactor: 3,
    dryRunTimeoutMinutes: 30,
    allowConsoleColors: false,
    disableTypeChecks: false,
    thresholds: { high: 90, low: 90, break: null },
  });
  await stryker.runMutationTest();
  if (!existsSync(join(root, REPORT))) return 1;
  return report(root, new Set(drawn.map(mutantKey)), count);
}

interface Count {
  chosen: number;
  /** Those of them that change nothing, and were left out. */
  equivalent: number;
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

/** All mutants that Stryker can make. */
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

function report(root: string, drawn: Set<string>, count: Count): number {
  const { files } = JSON.parse(readFileSync(join(root, REPORT), 'utf8')) as Report;
  const counts: Record<string, number> = {};
  for (const [file, { source, mutants }] of Object.entries(files).sort()) {
    const lines = source.split('\n');
    for (const { status, replacement, location } of mutants) {
      const place = fromZero(location);
      if (!drawn.has(mutantKey({ fileName: join(root, file), location: place, replacement }))) continue;
      counts[status] = (counts[status] ?? 0) + 1;
      if (status !== 'Survived' && status !== 'NoCoverage') continue;
      const { start, end } = place;
      console.log(`\n${file}:${start.line + 1}  survived${status === 'NoCoverage' ? ' as no test reaches it' : ''}`);
      console.log(`  ${lines[start.line]!.trim()}`);
      console.log(`- ${textAt(lines, start, end).replaceAll('\n', '\n  ')}\n+ ${replacement.replaceAll('\n', '\n  ')}`);
    }
  }
  const { Killed = 0, Timeout = 0, RuntimeError = 0, Survived = 0, NoCoverage = 0 } = counts;
  const killed = Killed + Timeout + RuntimeError;
  const share = ((100 * killed) / (killed + Survived + NoCoverage)).toFixed(1);
  console.log(
    `\n${count.chosen} mutants: ${killed} killed (${Timeout} by time), ${Survived + NoCoverage} survived, of them ` +
      `${NoCoverage} reached by no test, ${count.equivalent} change nothing: ${share} % killed`,
  );
  return 0;
}

/** What a mutant changes, as those that are known to change nothing are found by it. */
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

/** A range of Stryker's options: lines from 1, columns from 0. */
function rangeOf(root: string, { fileName, location: { start, end } }: Mutant): string {
  return `${fileIn(root, fileName)}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

/** A place of the report, which counts lines and columns from 1, as the mutants have it. */
function fromZero({ start, end }: FileMutant['location']): FileMutant['location'] {
  const less = ({ line, column }: Position) => ({ line: line - 1, column: column - 1 });
  return { start: less(start), end: less(end) };
}

/** The text between two positions, which count lines and columns from 0. */
function textAt(lines: string[], start: Position, end: Position): string {
  const part = lines.slice(start.line, end.line + 1);
  part[part.length - 1] = part.at(-1)!.slice(0, end.column);
  part[0] = part[0]!.slice(start.column);
  return part.join('\n');
}

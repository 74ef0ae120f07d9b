// A copy of the tree with a mutated core, so that build/ and dist/ stay untouched.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import asc from 'assemblyscript/asc';

import { hostExports, type NumberedMutation, type Span, weave } from './schemata.js';

export const CORE = 'src/worker/core';
/** The file that starts cores. */
export const EXPORTS = 'src/worker/binding/exports.ts';
/** Where quick-runner.mjs saves the bundles of test files. */
const BUNDLES = 'build/quick';
/** The core's two modules. */
const ENTRIES = ['index.ts', 'pair-module.ts'];
const COPIED = [
  'src',
  'test',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
];

/** A mutant of one of the core's files. */
export interface Mutant extends NumberedMutation {
  /** Relative to the package's folder. */
  file: string;
  line: number;
  /** The text that is changed; and the whole line in which it begins. */
  original: string;
  text: string;
  /** The text before it in that line. */
  before: string;
}

/** The core's own files, sorted, relative to the package's folder. */
export function coreFiles(root: string): string[] {
  const files = readdirSync(join(root, CORE), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${CORE}/${file.replaceAll('\\', '/')}`)
    .sort();
}

export class Workspace {
  readonly root: string;
  /** The original tree. */
  readonly source: string;

  constructor(source: string, root: string) {
    this.source = source;
    this.root = root;
  }

  /** Whether the copy is still there: it may be deleted between two runs. */
  get exists(): boolean {
    return existsSync(this.root);
  }

  /** Copies the current tree. */
  create(): void {
    rmSync(this.root, { recursive: true, force: true });
    mkdirSync(this.root, { recursive: true });
    for (const path of COPIED) cpSync(join(this.source, path), join(this.root, path), { recursive: true });
    symlinkSync(join(this.source, 'node_modules'), join(this.root, 'node_modules'), 'junction');
    this.#letCoresBeTold();
  }

  /** Copies the current tests; the mutants stay. */
  updateTests(): void {
    rmSync(join(this.root, 'test'), { recursive: true });
    cpSync(join(this.source, 'test'), join(this.root, 'test'), { recursive: true });
    rmSync(join(this.root, BUNDLES), { recursive: true, force: true });
  }

  /**
   * Compiles the core with these mutants. Returns those that do not compile. If only the `values` of a mutant do not compile,
   * they are dropped.
   */
  async compile(mutants: readonly Mutant[]): Promise<Set<number>> {
    for (;;) {
      const guilty = await this.#compile(mutants);
      const better = mutants.filter(({ id, values }) => values && guilty.has(id));
      if (better.length === 0) return guilty;
      for (const mutant of better) delete mutant.values;
    }
  }

  async #compile(mutants: readonly Mutant[]): Promise<Set<number>> {
    const spans = this.#weave(mutants);
    const faults: Fault[] = [];
    const reportDiagnostic = ({ message, category, range }: Diagnostic) => {
      if (category !== ERROR || !range) return;
      faults.push({ file: range.source.normalizedPath, at: range.start, end: range.end, message });
    };
    const flags = ['--noEmit', '--runtime', 'stub', '--enable', 'simd', '--noAssert'];
    let isRight = true;
    for (const entry of ENTRIES) {
      const args = [`${CORE}/${entry}`, '--baseDir', this.root, ...flags];
      const { error } = await asc.main(args, { stderr: { write: () => {} }, reportDiagnostic } as never);
      isRight &&= !error;
    }
    if (isRight) return new Set();
    const guilty = new Set<number>();
    for (const fault of faults) for (const id of this.#blame(fault, mutants, spans)) guilty.add(id);
    if (guilty.size > 0) return guilty;
    // A variable that is never assigned is reported where it is read: each of the file's mutants is compiled alone.
    const suspects = mutants.filter(({ file }) => faults.some((fault) => fault.file === file));
    if (suspects.length === 1) return new Set([suspects[0].id]);
    for (const suspect of suspects) for (const id of await this.#compile([suspect])) guilty.add(id);
    if (guilty.size > 0) return guilty;
    const what = faults.map(({ file, at, message }) => `${file} at ${at}: ${message}`).join('\n');
    throw new Error(`the core does not compile: ${what}`);
  }

  /**
   * Returns the innermost mutant that contains a fault; else the mutants inside it; else the mutants of constants named there.
   */
  #blame({ file, at, end }: Fault, mutants: readonly Mutant[], spans: Map<string, Span[]>): number[] {
    const own = spans.get(file) ?? [];
    const around = own.filter((span) => span.start <= at && at < span.end);
    if (around.length > 0) return [around.reduce((a, b) => (b.end - b.start < a.end - a.start ? b : a)).id];
    const inside = own.filter((span) => at <= span.start && span.end <= end);
    if (inside.length > 0) return inside.map(({ id }) => id);
    const text = readFileSync(join(this.root, file), 'utf8');
    const line = text.slice(text.lastIndexOf('\n', at) + 1).split('\n', 1)[0]!;
    const isNamed = (name: string | undefined) => name !== undefined && new RegExp(`\\b${name}\\b`).test(line);
    const named = mutants.filter(({ constant }) => isNamed(constant)).map(({ id }) => id);
    return named.length > 0 ? named : mutants.filter(({ constant }) => constant !== undefined).map(({ id }) => id);
  }

  /** Builds everything that tests load. */
  build(mutants: readonly Mutant[]): void {
    this.#weave(mutants);
    const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: this.root, stdio: 'inherit' });
    if (status !== 0) throw new Error('the mutated core could not be built');
  }

  #weave(mutants: readonly Mutant[]): Map<string, Span[]> {
    const spans = new Map<string, Span[]>();
    const host = `${CORE}/host.ts`;
    for (const file of coreFiles(this.source)) {
      const own = mutants.filter((mutant) => mutant.file === file);
      const source = readFileSync(join(this.source, file), 'utf8');
      const woven = weave(source, own);
      spans.set(file, woven.spans);
      // Appended at the end, so that the spans stay valid.
      let text = woven.text;
      if (file === host) text += hostExports(Math.max(...mutants.map(({ id }) => id)));
      else if (own.length > 0)
        text += `\nimport { activeMutant, reachMutant, reachWhereOther } from '${pathTo(file, host)}';\n`;
      writeFileSync(join(this.root, file), text);
    }
    return spans;
  }

  /**
   * Provides cores with the imports of a mutated one: when a core starts, its thread's environment data contain the number of the
   * mutant, and where to record those that are reached (quick-runner.mjs).
   */
  #letCoresBeTold(): void {
    const path = join(this.root, EXPORTS);
    writeFileSync(path, tellCores(readFileSync(path, 'utf8')));
  }
}

/** The file that starts cores, extended for mutated ones: each call passes the epoch, because tests begin between calls. */
export function tellCores(text: string): string {
  const told = replaceOnce(
    text,
    'const env = {',
    `
  const told = process.getBuiltinModule('node:worker_threads').getEnvironmentData('mutants') as any;
  const mutantEpoch = new WebAssembly.Global({ value: 'i32', mutable: true }, 1);
  const env = {
    mutantEpoch,
    activeMutant: new WebAssembly.Global({ value: 'i32', mutable: true }, told.active),
    reached: (id: number) => {
      told.reached[id] = 1;
    },`,
  );
  return replaceOnce(
    told,
    'return [core, compiled];',
    `
    const watched: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(core)) {
      watched[name] = typeof value !== 'function' ? value : (...args: unknown[]) => {
        mutantEpoch.value = Atomics.load(told.epoch, 0);
        return (value as any)(...args);
      };
    }
    return [watched as unknown as CoreExports, compiled];`,
  );
}

function replaceOnce(text: string, marker: string, by: string): string {
  if (text.split(marker).length !== 2) throw new Error(`${EXPORTS}: expected one '${marker}'`);
  return text.replace(marker, () => by.trim());
}

function pathTo(from: string, to: string): string {
  const path = relative(join(from, '..'), to).replaceAll('\\', '/').replace(/\.ts$/, '');
  return path.startsWith('.') ? path : `./${path}`;
}

/** An error of the compiler, and the text that it refers to. */
interface Fault {
  file: string;
  at: number;
  end: number;
  message: string;
}

interface Diagnostic {
  message: string;
  category: number;
  range: { start: number; end: number; source: { normalizedPath: string } } | null;
}

/** DiagnosticCategory.Error in AssemblyScript. */
const ERROR = 3;

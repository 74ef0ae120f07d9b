// StrykerJS's runner for Vitest, told which tests to run: of those that reach a mutant, the likeliest and quickest, up to
// a budget of the processor's time. What each test file reaches and takes is kept between runs, as the tests are run
// one file at a time for it. Hangs are judged by the processor's time, and a test that fails must pass on the original.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, relative, resolve } from 'node:path';
import threads from 'node:worker_threads';
import { commonTokens, tokens } from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import { strykerPlugins } from '@stryker-mutator/vitest-runner';

/** What takes so many times as long as on the original, and so many milliseconds longer, hangs. */
const PATIENCE = 4;
const LEAST_PATIENCE_MS = 12_000;
const LOOK_MS = 500;
/** A process that has done less for so long waits in vain, once it took longer than it may. */
const IDLE_MS = 15_000;
const LEAST_WORK_MS = 100;
/** What a test file takes of the processor until its first test begins, at least. */
const START_MS = 300;
/** What is run of a test file against a mutant: the first tests that reach it. */
const MOST_MS = 3000;
/** How much likelier a test is to notice a mutant that shares a word, or a folder, with its file. */
const WORD = 4;
const FOLDER = 2;
const WORD_LENGTH = 4;

/** Threads of this process, which run tests: an endless loop in one of them is ended with it. */
const running = new Set();

threads.Worker = class extends threads.Worker {
  constructor(...parameters) {
    super(...parameters);
    running.add(this);
    this.once('exit', () => running.delete(this));
  }
};
syncBuiltinESMExports();

export function createRunner(injector) {
  return new KeptRunner(injector.injectFunction(strykerPlugins[0].factory));
}
createRunner.inject = tokens(commonTokens.injector);

class KeptRunner {
  #inner;
  /** By test file: its hash, processorMs, milliseconds, its tests with what they reach. */
  #files = {};
  /** Tests that were seen to pass alone on the original. */
  #passing = new Set();

  constructor(inner) {
    this.#inner = inner;
  }

  capabilities() {
    return this.#inner.capabilities();
  }

  init() {
    return this.#inner.init();
  }

  dispose() {
    return this.#inner.dispose();
  }

  async dryRun(options) {
    this.#files = readKept();
    const specifications = await this.#inner.ctx.globTestSpecifications();
    const paths = specifications.map(({ moduleId }) => relative(process.cwd(), moduleId).replaceAll('\\', '/'));
    for (const path of Object.keys(this.#files)) if (!paths.includes(path)) delete this.#files[path];
    for (const path of paths.sort()) {
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      if (this.#files[path]?.hash === hash) continue;
      delete this.#files[path];
      const file = await this.#measure(path, options);
      if (file) this.#files[path] = { hash, ...file };
      writeFileSync(process.env.MUTANTS_DRY_RUN, JSON.stringify({ key: process.env.MUTANTS_KEY, files: this.#files }));
    }
    const coverage = { static: {}, perTest: {} };
    const tests = [];
    for (const [path, file] of Object.entries(this.#files)) {
      for (const { id, name, timeSpentMs, reaches } of file.tests) {
        tests.push({ id, name, timeSpentMs, fileName: resolve(path), status: TestStatus.Success });
        coverage.perTest[id] = Object.fromEntries(reaches.map((mutant) => [mutant, 1]));
      }
    }
    return { status: DryRunStatus.Complete, tests, mutantCoverage: coverage };
  }

  /** Runs a test file on the original. Answers nothing for one that fails there. */
  async #measure(path, options) {
    this.#inner.ctx.state.errorsSet.clear();
    const [begin, processor] = [performance.now(), process.cpuUsage()];
    const result = await this.#inner.dryRun({ ...options, testFiles: [resolve(path)] });
    const failed = result.tests?.find(({ status }) => status === TestStatus.Failed);
    if (result.status !== DryRunStatus.Complete || failed) {
      const why = result.errorMessage ?? `${failed?.name}: ${failed?.failureMessage}`;
      appendLog(`${path} fails without a mutant and is left out: ${why}`);
      return undefined;
    }
    const { perTest = {}, static: beside = {} } = result.mutantCoverage ?? {};
    // What is reached while no test runs is of all tests of the file.
    const always = Object.keys(beside);
    const ran = result.tests.filter(({ status }) => status === TestStatus.Success);
    return {
      processorMs: millisecondsOf(process.cpuUsage(processor)),
      milliseconds: performance.now() - begin,
      tests: ran.map(({ id, name, timeSpentMs }) => {
        return { id, name, timeSpentMs, reaches: [...new Set([...always, ...Object.keys(perTest[id] ?? {})])] };
      }),
    };
  }

  async mutantRun(options) {
    if (Object.keys(this.#files).length === 0) this.#files = readKept();
    const { activeMutant, testFilter } = options;
    let parts = this.#partsFor(activeMutant.fileName, testFilter);
    let result;
    while (parts.length > 0) {
      result = await this.#run(options, parts);
      if (result.status !== MutantRunStatus.Killed) return result;
      const [killer] = result.killedBy;
      if (await this.#passes(options, killer)) return result;
      appendLog(`${killer} fails alone without a mutant, too: ${result.failureMessage}`);
      parts = parts.filter(({ path }) => path !== pathOf(killer));
    }
    return { status: MutantRunStatus.Survived, nrOfTests: result?.nrOfTests ?? 0 };
  }

  /** The parts of test files to run for a mutant, in their order, up to the budget. */
  #partsFor(fileName, ids) {
    const byFile = new Map();
    for (const id of ids) byFile.set(pathOf(id), (byFile.get(pathOf(id)) ?? new Set()).add(id));
    const words = basename(fileName, '.ts')
      .split('-')
      .filter(({ length }) => length >= WORD_LENGTH);
    const folder = /\/src\/client\/three\//.test(fileName)
      ? 'test/three/'
      : /\/src\/worker\//.test(fileName)
        ? 'test/worker/'
        : 'test/client/';
    const parts = [];
    for (const [path, own] of byFile) {
      const { tests, processorMs, milliseconds } = this.#files[path];
      const whole = tests.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0) || 1;
      let left = MOST_MS;
      const chosen = tests
        .filter(({ id }) => own.has(id))
        .filter(({ timeSpentMs }, i) => {
          left -= (timeSpentMs / whole) * processorMs;
          return i === 0 || left >= 0;
        });
      if (chosen.length === 0) continue;
      const share = chosen.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0) / whole;
      const isAkin = words.some((word) => path.includes(word.replace(/s$/, '')));
      const likelihood = (isAkin ? WORD : 1) * (path.startsWith(folder) ? FOLDER : 1);
      const cost = Math.min(processorMs, START_MS + share * processorMs);
      const part = { path, ids: chosen.map(({ id }) => id), cost, milliseconds: milliseconds * share };
      parts.push({ ...part, delay: cost / likelihood });
    }
    parts.sort((a, b) => a.delay - b.delay);
    let left = 1000 * Number(process.env.MUTANTS_BUDGET);
    return parts.filter(({ cost }, i) => {
      left -= cost;
      return i === 0 || left >= 0;
    });
  }

  async #run(options, parts) {
    const sum = (key) => parts.reduce((total, part) => total + part[key], 0);
    const patience = {
      processorMs: LEAST_PATIENCE_MS + PATIENCE * sum('cost'),
      milliseconds: LEAST_PATIENCE_MS + PATIENCE * sum('milliseconds'),
    };
    // The order of the sequencer of vitest.config.ts.
    globalThis.orderOfTests = parts.map(({ path }) => path);
    this.#inner.ctx.state.errorsSet.clear();
    let hasHung = false;
    const watch = watchForHang(patience, () => {
      hasHung = true;
      for (const thread of running) thread.terminate();
    });
    try {
      // Without a limit of hits: they are counted once for each test (setup.ts).
      const result = await this.#inner.mutantRun({
        ...options,
        hitLimit: undefined,
        testFilter: parts.flatMap(({ ids }) => ids),
      });
      return hasHung ? { status: MutantRunStatus.Timeout } : result;
    } catch (error) {
      if (hasHung) return { status: MutantRunStatus.Timeout };
      throw error;
    } finally {
      clearInterval(watch);
    }
  }

  /** Whether a test that failed passes alone on the original. */
  async #passes(options, id) {
    if (this.#passing.has(id)) return true;
    const file = this.#files[pathOf(id)];
    const part = { path: pathOf(id), ids: [id], cost: file.processorMs, milliseconds: file.milliseconds };
    const original = { ...options, activeMutant: { ...options.activeMutant, id: 'none' } };
    const { status } = await this.#run(original, [part]);
    if (status !== MutantRunStatus.Survived) return false;
    this.#passing.add(id);
    return true;
  }
}

function watchForHang({ processorMs, milliseconds }, whenHung) {
  const [begin, processorBegin] = [performance.now(), millisecondsOf(process.cpuUsage())];
  let busy = { at: begin, processor: processorBegin };
  const timer = setInterval(() => {
    const [now, processor] = [performance.now(), millisecondsOf(process.cpuUsage())];
    if (processor - busy.processor > LEAST_WORK_MS) busy = { at: now, processor };
    const isLooping = processor - processorBegin > processorMs;
    const isWaiting = now - begin > milliseconds && now - busy.at > IDLE_MS;
    if (!isLooping && !isWaiting) return;
    clearInterval(timer);
    whenHung();
  }, LOOK_MS);
  return timer;
}

function readKept() {
  if (!existsSync(process.env.MUTANTS_DRY_RUN)) return {};
  const { key, files } = JSON.parse(readFileSync(process.env.MUTANTS_DRY_RUN, 'utf8'));
  return key === process.env.MUTANTS_KEY ? files : {};
}

function appendLog(line) {
  writeFileSync(`${process.env.MUTANTS_DRY_RUN}.log`, `${line}\n`, { flag: 'a' });
}

function pathOf(id) {
  return id.slice(0, id.indexOf('#'));
}

function millisecondsOf({ user, system }) {
  return (user + system) / 1000;
}

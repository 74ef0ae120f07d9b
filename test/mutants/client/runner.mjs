// StrykerJS's runner for Vitest, told which tests to run: of those that reach a mutant, the likeliest and quickest, up to
// a budget of the processor's time. What a test file reaches and takes is measured when it is likely to notice a mutant,
// and kept between runs. Hangs are judged by the processor's time, and a test that fails must pass on the original.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
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
/** What asks again and again while it waits is never idle. */
const FAR_TOO_LATE = 10;
/** What a test file takes of the processor until its first test begins, at least. */
const START_MS = 300;
/** What is run of a test file against a mutant: the first tests that reach it. */
const MOST_MS = 2000;
/** What a file is taken for that was not measured yet. */
const USUAL_MS = 2500;
/** Numbers of mutants are below. */
const MOST_MUTANTS = 1 << 16;
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
  /** The test files, and what they are now. */
  #hashes = new Map();
  /** By test file: its hash, processorMs, milliseconds, its tests with what they reach. */
  #files = readKept();
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

  /** Says that all mutants are reached: what reaches one is found when it is run. */
  async dryRun() {
    const id = 'all#';
    const perTest = { [id]: Object.fromEntries(Array.from({ length: MOST_MUTANTS }, (_, i) => [i, 1])) };
    return {
      status: DryRunStatus.Complete,
      tests: [{ id, name: id, timeSpentMs: 0, status: TestStatus.Success }],
      mutantCoverage: { static: {}, perTest },
    };
  }

  async #prepare() {
    const specifications = await this.#inner.ctx.globTestSpecifications();
    const paths = specifications.map(({ moduleId }) => relative(process.cwd(), moduleId).replaceAll('\\', '/'));
    this.#hashes = new Map(paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]));
  }

  /** Runs a test file on the original. One that fails there is as good as empty. */
  async #measure(path) {
    this.#inner.ctx.state.errorsSet.clear();
    const [begin, processor] = [performance.now(), process.cpuUsage()];
    const result = await this.#inner.dryRun({ files: [], testFiles: [resolve(path)] });
    const failed = result.tests?.find(({ status }) => status === TestStatus.Failed);
    if (result.status !== DryRunStatus.Complete || failed) {
      const why = result.errorMessage ?? `${failed?.name}: ${failed?.failureMessage}`;
      appendLog(`${path} fails without a mutant and is left out: ${why}`);
      return { processorMs: 0, milliseconds: 0, tests: [] };
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
    if (this.#hashes.size === 0) await this.#prepare();
    const { id, fileName } = options.activeMutant;
    const outlived = new Set();
    let left = 1000 * Number(process.env.MUTANTS_BUDGET);
    let nrOfTests = 0;
    for (let part = this.#next(id, fileName, outlived); part; part = this.#next(id, fileName, outlived)) {
      const { path, ids, cost } = part;
      if (!ids) {
        const file = await this.#measure(path);
        this.#files[path] = { hash: this.#hashes.get(path), ...file };
        this.#files = writeKept(this.#files);
        continue;
      }
      if (left < cost && nrOfTests > 0) break;
      left -= cost;
      nrOfTests += ids.length;
      outlived.add(path);
      const result = await this.#run(options, part);
      if (result.status === MutantRunStatus.Survived) continue;
      if (result.status === MutantRunStatus.Timeout) {
        // On a busy machine it may have waited for the processor alone.
        if (await this.#survivesOnOriginal(options, part)) return result;
        appendLog(`${path} hangs without ${fileName} ${id}, too`);
        continue;
      }
      const [killer] = result.killedBy ?? [];
      if (killer === undefined || (await this.#passes(options, killer))) return result;
      appendLog(`${killer} fails alone without a mutant, too: ${result.failureMessage}`);
    }
    return { status: MutantRunStatus.Survived, nrOfTests };
  }

  /**
   * The part of a test file to be run next: of those that reach the mutant and that it has not outlived, the one that
   * notices it the soonest by what is likely. A file that was not measured yet is answered without `ids`.
   */
  #next(id, fileName, outlived) {
    let best;
    for (const [path, hash] of this.#hashes) {
      if (outlived.has(path)) continue;
      const file = this.#files[path];
      const part = file?.hash === hash ? partOf(path, file, id) : { path, cost: USUAL_MS };
      if (!part) continue;
      const delay = part.cost / likelihood(fileName, path);
      if (!best || delay < best.delay) best = { ...part, delay };
    }
    return best;
  }

  async #run(options, { ids, cost, milliseconds }) {
    const patience = {
      processorMs: LEAST_PATIENCE_MS + PATIENCE * cost,
      milliseconds: LEAST_PATIENCE_MS + PATIENCE * milliseconds,
    };
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
        testFilter: ids,
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
    if (!(await this.#survivesOnOriginal(options, part))) return false;
    this.#passing.add(id);
    return true;
  }

  /** Whether the same tests pass on the original, in the same time. */
  async #survivesOnOriginal(options, part) {
    const original = { ...options, activeMutant: { ...options.activeMutant, id: 'none' } };
    const { status } = await this.#run(original, part);
    return status === MutantRunStatus.Survived;
  }
}

function partOf(path, { tests, processorMs, milliseconds }, mutant) {
  const whole = tests.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0) || 1;
  let left = MOST_MS;
  const chosen = tests
    .filter(({ reaches }) => reaches.includes(mutant))
    .filter(({ timeSpentMs }, i) => {
      left -= (timeSpentMs / whole) * processorMs;
      return i === 0 || left >= 0;
    });
  if (chosen.length === 0) return undefined;
  const share = chosen.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0) / whole;
  const cost = Math.min(processorMs, START_MS + share * processorMs);
  return { path, ids: chosen.map(({ id }) => id), cost, milliseconds: milliseconds * share };
}

function likelihood(fileName, test) {
  const words = basename(fileName, '.ts')
    .split('-')
    .filter(({ length }) => length >= WORD_LENGTH)
    .map((word) => word.replace(/s$/, ''));
  const [, folder] = /\/src\/(client\/three|client|worker)\//.exec(fileName.replaceAll('\\', '/')) ?? [];
  const isAkin = words.some((word) => test.includes(word));
  const isInFolder = test.startsWith(`test/${folder === 'client/three' ? 'three' : folder}/`);
  return (isAkin ? WORD : 1) * (isInFolder ? FOLDER : 1);
}

function watchForHang({ processorMs, milliseconds }, whenHung) {
  const [begin, processorBegin] = [performance.now(), millisecondsOf(process.cpuUsage())];
  let busy = { at: begin, processor: processorBegin };
  const timer = setInterval(() => {
    const [now, processor] = [performance.now(), millisecondsOf(process.cpuUsage())];
    if (processor - busy.processor > LEAST_WORK_MS) busy = { at: now, processor };
    const isLooping = processor - processorBegin > processorMs;
    const late = (now - begin) / milliseconds;
    const isWaiting = late > FAR_TOO_LATE || (late > 1 && now - busy.at > IDLE_MS);
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

/** Another process may have written some, too. */
function writeKept(own) {
  const files = { ...readKept(), ...own };
  const path = `${process.env.MUTANTS_DRY_RUN}.${process.pid}`;
  writeFileSync(path, JSON.stringify({ key: process.env.MUTANTS_KEY, files }));
  renameSync(path, process.env.MUTANTS_DRY_RUN);
  return files;
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

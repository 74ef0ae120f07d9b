// StrykerJS's runner for Vitest, told which tests to run: of those that reach a mutant, the likeliest and quickest, up to
// a budget of the processor's time. What a test file reaches and takes is measured when it is likely to notice a mutant,
// and kept between runs. What hangs is told by the processor's time if it loops, and else by the time in which the process
// neither runs nor waits for the processor. A test that fails must pass on the original.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import threads from 'node:worker_threads';
import { commonTokens, tokens } from '@stryker-mutator/api/plugin';
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner';
import { strykerPlugins } from '@stryker-mutator/vitest-runner';
import { UNDECIDED } from './mutant-key.mjs';

/** What takes so many times as long as on the original, and so many milliseconds longer, hangs. */
const PATIENCE = 3;
const LEAST_PATIENCE_MS = 6000;
const LOOK_MS = 500;
/** A process is idle while no thread of it wants the processor, and it had, or waited for, less of it than this part of the time. */
const IDLE_SHARE = 0.3;
/** How long a process waits until it looks again whether there is a lane for it. */
const LANE_MS = 200;
/** What a test file takes of the processor until its first test begins, at least. */
const START_MS = 300;
/** What is run of a test file against a mutant at a time: the next tests that reach it. */
const MOST_MS = 2000;
/** What is measured of a long test file whose first tests were not enough. */
const LONG_MS = 15_000;
/** What a file is taken for that was not measured yet. */
const USUAL_MS = 2500;
/** Numbers of mutants are below. */
const MOST_MUTANTS = 1 << 16;
/** How much likelier a test is to notice a mutant that shares a word, or a folder, with its file. */
const WORD = 4;
const FOLDER = 2;
const WORD_LENGTH = 4;
/** And one that has noticed others of the same file. */
const KILLER = 6;
/** And one that compares all that is sent, and all that is answered, with what is written down. */
const TRANSCRIPT = 3;

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
  /** By test file: its hash, processorMs, idleMs, whether it was cut short and measured for long, its tests with what they reach. */
  #files = readKept();
  /** Tests that were seen to pass alone on the original. */
  #passing = new Set();
  /** By source: the test files that killed a mutant of it. */
  #killers = new Map();

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

  /** Runs a test file on the original. What fails there, twice, is left out: a single test, or the file where it fails itself. */
  async #measure(path, isLong = false, isAgain = false) {
    // For the thread that is started for the file (setup.ts).
    if (isLong) process.env.MUTANTS_MOST_MS = String(LONG_MS);
    else delete process.env.MUTANTS_MOST_MS;
    this.#inner.ctx.state.errorsSet.clear();
    const processor = process.cpuUsage();
    const watch = new IdleWatch();
    const result = await this.#inner.dryRun({ files: [], testFiles: [resolve(path)] });
    watch.end();
    const failed = (result.tests ?? []).filter(({ status }) => status === TestStatus.Failed);
    const isWhole = result.status === DryRunStatus.Complete;
    if (!isWhole || failed.length > 0) {
      if (!isAgain) return this.#measure(path, isLong, true);
      for (const { name, failureMessage } of failed) {
        appendLog(`${path}: ${name} fails without a mutant and is left out: ${failureMessage}`);
      }
      if (!isWhole) {
        appendLog(`${path} fails without a mutant and is left out: ${result.errorMessage}`);
        return { isLong, processorMs: 0, idleMs: 0, tests: [] };
      }
    }
    const { perTest = {}, static: beside = {} } = result.mutantCoverage ?? {};
    // What is reached while no test runs is of all tests of the file.
    const always = Object.keys(beside);
    const ran = result.tests.filter(({ status }) => status === TestStatus.Success);
    return {
      isLong,
      // Of a long file the rest is left out (setup.ts).
      isCut: result.tests.some(({ status }) => status === TestStatus.Skipped),
      processorMs: millisecondsOf(process.cpuUsage(processor)),
      idleMs: watch.idleMs,
      tests: ran.map(({ id, name, timeSpentMs }) => {
        return { id, name, timeSpentMs, reaches: [...new Set([...always, ...Object.keys(perTest[id] ?? {})])] };
      }),
    };
  }

  /** Stryker starts one runner more than there are lanes once its checkers are done. */
  async mutantRun(options) {
    const leave = await takeLane();
    try {
      return await this.#judge(options);
    } finally {
      leave();
      // The one that waits is next.
      await sleep(2 * LANE_MS);
    }
  }

  async #judge(options) {
    // What another process has measured meanwhile.
    this.#files = { ...this.#files, ...readKept() };
    if (this.#hashes.size === 0) await this.#prepare();
    const { id, fileName } = options.activeMutant;
    const outlived = new Set();
    let left = 1000 * Number(process.env.MUTANTS_BUDGET);
    let nrOfTests = 0;
    for (let part = this.#next(id, fileName, outlived); part; part = this.#next(id, fileName, outlived)) {
      const { path, ids, cost, isLong } = part;
      if (!ids) {
        const file = await this.#measure(path, isLong);
        // What fails as a whole only when all of it is run has its first tests still.
        const known = isLong && file.tests.length === 0 ? { ...this.#files[path], isLong } : file;
        this.#files[path] = { hash: this.#hashes.get(path), ...known };
        this.#files = writeKept(this.#files);
        continue;
      }
      // Stryker hands the reason on to the reporter (plugins.mjs).
      if (left < cost && nrOfTests > 0) return { status: MutantRunStatus.Error, errorMessage: UNDECIDED };
      left -= cost;
      nrOfTests += ids.length;
      for (const test of ids) outlived.add(test);
      const result = await this.#run(options, part);
      if (result.status === MutantRunStatus.Survived) continue;
      if (result.status === MutantRunStatus.Timeout) {
        // The machine may have become slower since the original was measured.
        if (await this.#survivesOnOriginal(options, part)) return this.#killed(fileName, path, result);
        appendLog(`${path} hangs without ${fileName} ${id}, too`);
        continue;
      }
      const [killer] = result.killedBy ?? [];
      if (killer === undefined || (await this.#passes(options, killer))) {
        return this.#killed(fileName, path, result);
      }
      appendLog(`${killer} fails alone without a mutant, too: ${result.failureMessage}`);
    }
    const isCut = Object.values(this.#files).some((file) => file.isCut && file.tests.some(isReaching(id)));
    if (isCut) return { status: MutantRunStatus.Error, errorMessage: UNDECIDED };
    return { status: MutantRunStatus.Survived, nrOfTests };
  }

  #killed(fileName, path, result) {
    const killers = this.#killers.get(fileName) ?? new Set();
    this.#killers.set(fileName, killers.add(path));
    return result;
  }

  /**
   * The part of a test file to be run next: of those that reach the mutant and that it has not outlived, the one that
   * notices it the soonest by what is likely. A file that was not measured yet is answered without `ids`; once nothing else
   * is left, so is the likeliest one of which only the first tests were.
   */
  #next(id, fileName, outlived) {
    let best;
    let cut;
    for (const [path, hash] of this.#hashes) {
      const file = this.#files[path];
      const isMeasured = file?.hash === hash;
      const isKiller = this.#killers.get(fileName)?.has(path);
      const chance = likelihood(fileName, path) * (isKiller ? KILLER : 1);
      if (isMeasured && file.isCut && !file.isLong) {
        const own = file.tests.some(isReaching(id)) ? chance * WORD : chance;
        if (own > 1 && (!cut || own > cut.chance)) cut = { path, isLong: true, chance: own };
      }
      const part = isMeasured ? partOf(path, file, id, outlived) : { path, cost: USUAL_MS };
      if (!part) continue;
      const delay = part.cost / chance;
      if (!best || delay < best.delay) best = { ...part, delay };
    }
    return best ?? cut;
  }

  async #run(options, { ids, cost, idleMs }) {
    const patience = {
      processorMs: LEAST_PATIENCE_MS + PATIENCE * cost,
      idleMs: LEAST_PATIENCE_MS + PATIENCE * idleMs,
    };
    this.#inner.ctx.state.errorsSet.clear();
    let hasHung = false;
    const watch = new IdleWatch(patience, () => {
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
      watch.end();
    }
  }

  /** Whether a test that failed passes alone on the original. */
  async #passes(options, id) {
    if (this.#passing.has(id)) return true;
    const file = this.#files[pathOf(id)];
    const part = { path: pathOf(id), ids: [id], cost: file.processorMs, idleMs: file.idleMs };
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

const isReaching = (mutant) => (test) => test.reaches.includes(mutant);

/** The next tests of a file that reach a mutant, of those that it has not outlived. */
function partOf(path, { tests, processorMs, idleMs }, mutant, outlived) {
  const whole = tests.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0) || 1;
  let left = MOST_MS;
  const reaching = tests.filter((test) => isReaching(mutant)(test) && !outlived.has(test.id));
  const chosen = reaching.filter(({ timeSpentMs }, i) => {
    left -= (timeSpentMs / whole) * processorMs;
    return i === 0 || left >= 0;
  });
  if (chosen.length === 0) return undefined;
  const share = chosen.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0) / whole;
  const cost = Math.min(processorMs, START_MS + share * processorMs);
  return { path, ids: chosen.map(({ id }) => id), cost, idleMs };
}

function likelihood(fileName, test) {
  const words = basename(fileName, '.ts')
    .split('-')
    .filter(({ length }) => length >= WORD_LENGTH)
    .map((word) => word.replace(/s$/, ''));
  const [, folder] = /\/src\/(client\/three|client|worker)\//.exec(fileName.replaceAll('\\', '/')) ?? [];
  const isAkin = words.some((word) => test.includes(word));
  const isInFolder = test.startsWith(`test/${folder === 'client/three' ? 'three' : folder}/`);
  const isTranscript = test.includes('/transcripts/');
  return (isAkin ? WORD : 1) * (isInFolder ? FOLDER : 1) * (isTranscript ? TRANSCRIPT : 1);
}

/** Adds up how long this process is idle; calls `whenHung` once it was so for longer, or ran for longer, than it may. */
class IdleWatch {
  idleMs = 0;
  #timer;

  constructor(patience, whenHung) {
    const begin = process.cpuUsage();
    let before = { at: performance.now(), ...load() };
    this.#timer = setInterval(() => {
      const now = { at: performance.now(), ...load() };
      const passed = now.at - before.at;
      if (!now.isWanted && Math.abs(now.busyMs - before.busyMs) < IDLE_SHARE * passed) this.idleMs += passed;
      before = now;
      if (!patience) return;
      const isLooping = millisecondsOf(process.cpuUsage(begin)) > patience.processorMs;
      if (!isLooping && this.idleMs < patience.idleMs) return;
      this.end();
      whenHung();
    }, LOOK_MS);
  }

  end() {
    clearInterval(this.#timer);
  }
}

/**
 * How long this process has had the processor and, where the system tells it, has waited for it while others had it; and
 * whether a thread waits for it now, whose time is added only when it has got it.
 */
function load() {
  let waitedNs = 0;
  let wanting = 0;
  try {
    for (const thread of readdirSync('/proc/self/task')) {
      const read = (name) => readFileSync(`/proc/self/task/${thread}/${name}`, 'utf8');
      waitedNs += Number(read('schedstat').split(' ')[1]);
      if (/\) R/.test(read('stat'))) wanting++;
    }
  } catch {
    // Not Linux, or a thread that has just ended.
  }
  // This thread is one of them.
  return { busyMs: millisecondsOf(process.cpuUsage()) + waitedNs / 1e6, isWanted: wanting > 1 };
}

/** Waits until fewer mutants than there are lanes are judged by all processes; answers what gives the lane back. */
async function takeLane() {
  for (;;) {
    for (let lane = 0; lane < Number(process.env.MUTANTS_LANES); lane++) {
      const path = `${process.env.MUTANTS_DRY_RUN}.lane-${lane}`;
      try {
        writeFileSync(path, String(process.pid), { flag: 'wx' });
        return () => rmSync(path, { force: true });
      } catch {
        if (!isHeld(path)) rmSync(path, { force: true });
      }
    }
    await sleep(LANE_MS);
  }
}

/** Whether the process that took a lane is still there. */
function isHeld(path) {
  try {
    const holder = readFileSync(path, 'utf8');
    // It is about to write it.
    if (holder !== '') process.kill(Number(holder), 0);
    return true;
  } catch {
    return false;
  }
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

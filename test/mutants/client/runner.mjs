// StrykerJS's runner for Vitest with a selection of tests: of those that reach a mutant, it runs the likeliest to notice it and
// the fastest first, up to a budget of CPU time. The coverage and time of a test file are measured when it is likely to notice a
// mutant, and saved between runs. Endless loops are detected by CPU time, other hangs by the time in which the process neither
// runs nor waits for the CPU. A failing test must pass on the original.
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

/** A run hangs if it takes this many times as long as on the original, and this many milliseconds longer. */
const PATIENCE = 3;
const LEAST_PATIENCE_MS = 6000;
const LOOK_MS = 500;
/**
 * A process is idle while none of its threads wants the CPU, and it ran, or waited for the CPU, for less than this share of the
 * time.
 */
const IDLE_SHARE = 0.3;
/** Interval at which a process checks whether a lane is free. */
const LANE_MS = 200;
/** Minimum CPU time of a test file before its first test begins. */
const START_MS = 300;
/** CPU time of a test file that is run against a mutant at a time: the next tests that reach the mutant. */
const MOST_MS = 2000;
/** CPU time that is measured of a long test file whose first tests were not enough. */
const LONG_MS = 15_000;
/** Assumed CPU time of a file that was not measured yet. */
const USUAL_MS = 2500;
/** Upper bound of mutants' numbers. */
const MOST_MUTANTS = 1 << 16;
/** How much likelier a test notices a mutant if its file shares a word, or a folder, with that of the mutant. */
const WORD = 4;
const FOLDER = 2;
const WORD_LENGTH = 4;
/** The same factor if it has noticed other mutants of the same file. */
const KILLER = 6;
/** The same factor for a transcript, which compares everything that is sent and answered with a recording. */
const TRANSCRIPT = 3;

/** Threads of this process that run tests: terminating one ends an endless loop in it. */
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
  /** Hashes of the test files' current contents. */
  #hashes = new Map();
  /**
   * By test file: its hash, processorMs, idleMs, whether it was cut short, whether it was measured for long, and its tests with
   * the mutants that they reach.
   */
  #files = readKept();
  /** Tests that are known to pass alone on the original. */
  #passing = new Set();
  /** By source: the test files that killed one of its mutants. */
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

  /** Reports that all mutants are reached: which tests reach one is determined when it is run. */
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

  /** Runs a test file on the original. If a test fails there twice, it is excluded; if the file itself fails, all of it is. */
  async #measure(path, isLong = false, isAgain = false) {
    // Read by the thread that is started for the file (setup.ts).
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
    // Mutants that are reached while no test runs count for all tests of the file.
    const always = Object.keys(beside);
    const ran = result.tests.filter(({ status }) => status === TestStatus.Success);
    return {
      isLong,
      // The rest of a long file is skipped (setup.ts).
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
      // Lets a waiting runner take the lane.
      await sleep(2 * LANE_MS);
    }
  }

  async #judge(options) {
    // Takes over what other processes have measured meanwhile.
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
        // If a file only fails as a whole when all of it is run, its first tests are still used.
        const known = isLong && file.tests.length === 0 ? { ...this.#files[path], isLong } : file;
        this.#files[path] = { hash: this.#hashes.get(path), ...known };
        this.#files = writeKept(this.#files);
        continue;
      }
      // Stryker passes the reason on to the reporter (plugins.mjs).
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
   * Returns the part of a test file to run next: of those that reach the mutant and that it has not outlived, the one with the
   * shortest expected time until it notices the mutant. For a file that was not measured yet, `ids` is missing; if nothing else
   * is left, this includes the likeliest file of which only the first tests were measured.
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
      // Without a hit limit: hits are counted once per test (setup.ts).
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

  /** Returns whether a failed test passes alone on the original. */
  async #passes(options, id) {
    if (this.#passing.has(id)) return true;
    const file = this.#files[pathOf(id)];
    const part = { path: pathOf(id), ids: [id], cost: file.processorMs, idleMs: file.idleMs };
    if (!(await this.#survivesOnOriginal(options, part))) return false;
    this.#passing.add(id);
    return true;
  }

  /** Returns whether the same tests pass on the original, within the same time. */
  async #survivesOnOriginal(options, part) {
    const original = { ...options, activeMutant: { ...options.activeMutant, id: 'none' } };
    const { status } = await this.#run(original, part);
    return status === MutantRunStatus.Survived;
  }
}

const isReaching = (mutant) => (test) => test.reaches.includes(mutant);

/** Returns the next tests of a file that reach a mutant and that it has not outlived. */
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

/**
 * Sums up the time for which this process is idle; calls `whenHung` once it has been idle, or has run, for longer than allowed.
 */
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
 * Returns the CPU time of this process plus, if the system reports it, the time that it waited for the CPU while others had it;
 * and whether a thread is waiting for the CPU now, whose time is only added once it has run.
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
  // This thread is one of those that are running.
  return { busyMs: millisecondsOf(process.cpuUsage()) + waitedNs / 1e6, isWanted: wanting > 1 };
}

/** Waits until all processes together judge fewer mutants than there are lanes; returns a function that releases the lane. */
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

/** Returns whether the process that took a lane is still running. */
function isHeld(path) {
  try {
    const holder = readFileSync(path, 'utf8');
    // While it is empty, the process is about to write its id.
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

/** Merges the results with those that other processes have saved. */
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

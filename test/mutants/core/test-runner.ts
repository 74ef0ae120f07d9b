// Runs test files one after the other in a child process, which is killed if they never end.
import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request to the child. */
export interface Order {
  file: string;
  /** The active mutant; 0 for the original. */
  mutant: number;
  /** The full names of the only tests to run; all by default. */
  only?: string[];
  /** CPU time after which the rest of the tests is skipped. */
  mostMs?: number;
}

/** A test of a file, with its cost and its coverage. */
export interface TestPart {
  /** Includes the names of its suites. */
  name: string;
  processorMs: number;
  /** The mutants whose code is reached by it, or by a suite that contains it. */
  reaches: number[];
}

export interface TestRun {
  passed: boolean;
  /** True if it took longer than allowed. */
  timedOut: boolean;
  milliseconds: number;
  /** CPU time if known; else the same value. */
  processorMs: number;
  /** The message of the first failure. */
  failure?: string;
  /** The full name of the test that failed; missing if the file itself failed. */
  test?: string;
  /** Whether tests were skipped because the others took too long. */
  isCut?: boolean;
  /** The mutants that are reached outside of any suite; and the tests that were run. */
  outside?: number[];
  tests?: TestPart[];
  /** Whether the failure occurred outside of any test. */
  isStray?: boolean;
}

/** Limits of a run: more CPU time is an endless loop, more wall-clock time while idle is a wait that never ends. */
export interface Patience {
  processorMs: number;
  milliseconds: number;
}

const LOOK_MS = 500;
/** On a busy machine, a process counts as waiting if it has used less CPU time than LEAST_WORK_MS for this long. */
const IDLE_MS = 10_000;
const LEAST_WORK_MS = 50;
/** A process that polls while it waits is never idle. */
const FAR_TOO_LATE = 4;

export class TestRunner {
  readonly #root: string;
  readonly #mostRuns: number;
  #child: ChildProcess | undefined;
  /** Number of files that the child has run. */
  #runs = 0;

  /** `root`: the tree that contains the tests. After `mostRuns` files, a new child replaces the current one. */
  constructor(root: string, mostRuns: number) {
    this.#root = root;
    this.#mostRuns = mostRuns;
  }

  async run(order: Order, patience: Patience): Promise<TestRun> {
    if (this.#runs >= this.#mostRuns) this.close();
    this.#runs++;
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve) => {
      const end = (run: TestRun) => {
        clearInterval(timer);
        child.removeAllListeners();
        resolve(run);
      };
      const begin = performance.now();
      const first = loadOf(child.pid!);
      let before = { at: begin, ...first };
      let busy = before;
      // Wall-clock milliseconds, excluding those in which it waited for the CPU while others had it.
      let own = 0;
      const timer = setInterval(() => {
        const now = { at: performance.now(), ...loadOf(child.pid!) };
        const passed = now.at - before.at;
        own += passed - Math.min(passed, Math.max(0, now.waitedMs - before.waitedMs));
        before = now;
        if (now.processorMs + now.waitedMs - busy.processorMs - busy.waitedMs > LEAST_WORK_MS) busy = now;
        const processorMs = now.processorMs - first.processorMs;
        const isLooping = processorMs > patience.processorMs;
        const late = own / patience.milliseconds;
        const isWaiting = late > FAR_TOO_LATE || (late > 1 && now.at - busy.at > IDLE_MS);
        if (!isLooping && !isWaiting) return;
        this.close();
        end({ passed: false, timedOut: true, milliseconds: own, processorMs });
      }, LOOK_MS);
      child.once('message', (run: TestRun) => end({ ...run, timedOut: false }));
      child.once('exit', (code, signal) => {
        this.#child = undefined;
        const now = performance.now();
        const failure = `the process ended with ${signal ?? `exit code ${code}`}`;
        end({ passed: false, timedOut: false, milliseconds: now - begin, processorMs: now - begin, failure });
      });
      child.send(order);
    });
  }

  /** Kills the child and the processes that it has started. */
  close(): void {
    if (!this.#child) return;
    this.#child.removeAllListeners();
    // Kills the process group, which includes processes started by tests.
    process.kill(-this.#child.pid!, 'SIGKILL');
    this.#child = undefined;
  }

  #start(): Promise<ChildProcess> {
    const script = join(this.#root, 'test/mutants/core/quick-runner.mjs');
    this.#runs = 1;
    const child = fork(script, [this.#root], {
      cwd: this.#root,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    return new Promise((resolve) => child.once('message', () => resolve(child)));
  }
}

/**
 * Returns a process's CPU time, and how long its threads have waited for the CPU, in milliseconds; 0 if the system has no /proc:
 * then wall-clock time counts.
 */
function loadOf(pid: number): { processorMs: number; waitedMs: number } {
  try {
    // The 14th and 15th fields, in hundredths of a second; the 2nd, a name in parentheses, may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return { processorMs: 10 * (Number(user) + Number(system)), waitedMs: waitedBy(pid) };
  } catch {
    return { processorMs: 0, waitedMs: 0 };
  }
}

/** Sums up how long the threads of a process have waited for the CPU while others had it, in milliseconds. */
function waitedBy(pid: number): number {
  let nanoseconds = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1]);
    }
  } catch {
    // A thread that has just ended, or a system that does not report it.
  }
  return nanoseconds / 1e6;
}

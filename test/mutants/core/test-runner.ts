// Test files, run one after the other by a child process that can be killed where they never end.
import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a child is told to run. */
export interface Order {
  file: string;
  /** The active mutant; 0 for the original. */
  mutant: number;
  /** The full names of the only tests to run; all where they are left out. */
  only?: string[];
  /** What tests may use of the processor before the rest of them is left out. */
  mostMs?: number;
}

/** A test of a file, and what it does. */
export interface TestPart {
  /** With the names of its suites. */
  name: string;
  processorMs: number;
  /** The mutants whose code it, or a suite that it is in, reaches. */
  reaches: number[];
}

export interface TestRun {
  passed: boolean;
  /** Where it took longer than it was given. */
  timedOut: boolean;
  milliseconds: number;
  /** Of the processor, where it is known; else the same. */
  processorMs: number;
  /** The first test that failed, and its message. */
  failure?: string;
  /** The name of that test with those of its suites; none where the file itself failed. */
  test?: string;
  /** Whether tests were left out as the others took so much. */
  isCut?: boolean;
  /** The mutants that are reached outside of any suite; and the tests that were run. */
  outside?: number[];
  tests?: TestPart[];
  /** Whether that was an error beside any test. */
  isStray?: boolean;
}

/** What a run may take: more of the processor is an endless loop, more by the clock, while nothing happens, a wait in vain. */
export interface Patience {
  processorMs: number;
  milliseconds: number;
}

const LOOK_MS = 500;
/** A process that has done less for so long, on a machine that does much else as well, waits. */
const IDLE_MS = 10_000;
const LEAST_WORK_MS = 50;
/** What asks again and again while it waits is never idle. */
const FAR_TOO_LATE = 4;

export class TestRunner {
  readonly #root: string;
  readonly #mostRuns: number;
  #child: ChildProcess | undefined;
  /** How many files the child has run. */
  #runs = 0;

  /** `root`: the tree that the tests are in. After `mostRuns` files another child takes the place of the first one. */
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
      // Milliseconds by the clock, but for those in which it waited for the processor, as others had it.
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

  /** Kills the child and what it has started. */
  close(): void {
    if (!this.#child) return;
    this.#child.removeAllListeners();
    // Its group: what tests have started.
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
 * What a process has used of the processor, and how long its threads have waited for it, in milliseconds; 0 where the system
 * has no /proc: then the clock counts.
 */
function loadOf(pid: number): { processorMs: number; waitedMs: number } {
  try {
    // The 14th and 15th field, in hundredths of a second; the 2nd, a name in parentheses, may hold spaces.
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

/** Adds up how long the threads of a process have waited for the processor while others had it, in milliseconds. */
function waitedBy(pid: number): number {
  let nanoseconds = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1]);
    }
  } catch {
    // A thread that has just ended, or a system that does not tell.
  }
  return nanoseconds / 1e6;
}

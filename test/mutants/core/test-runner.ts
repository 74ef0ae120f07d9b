// Test files, run one after the other by a child process that can be killed where they never end.
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANE_VARIABLE } from './workspace.js';

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

export class TestRunner {
  readonly #root: string;
  readonly #script: string;
  readonly #lane: number;
  readonly #mostRuns: number;
  #child: ChildProcess | undefined;
  /** How many files the child has run. */
  #runs = 0;

  /**
   * `root`: the tree that the tests are in; `script`: what the child is, in this folder; `lane`: whose active mutant it
   * runs. After `mostRuns` files another child takes its place.
   */
  constructor(
    root: string,
    script: 'quick-runner.mjs' | 'vitest-runner.mjs',
    lane: number,
    mostRuns = Number.POSITIVE_INFINITY,
  ) {
    this.#root = root;
    this.#script = script;
    this.#lane = lane;
    this.#mostRuns = mostRuns;
  }

  /** `only`: the name, as TestRun has it, of the one test of the file to run. */
  async run(file: string, patience: Patience, only?: string): Promise<TestRun> {
    if (this.#runs >= this.#mostRuns) this.close();
    this.#runs++;
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve, reject) => {
      const end = (run: TestRun) => {
        clearInterval(timer);
        child.removeAllListeners();
        resolve(run);
      };
      const begin = performance.now();
      const processorBegin = processorTimeOf(child.pid!);
      let busy = { at: begin, processor: processorBegin };
      const timer = setInterval(() => {
        const now = performance.now(),
          processor = processorTimeOf(child.pid!);
        if (processor - busy.processor > LEAST_WORK_MS) busy = { at: now, processor };
        const isLooping = processor - processorBegin > patience.processorMs;
        const isWaiting = now - begin > patience.milliseconds && now - busy.at > IDLE_MS;
        if (!isLooping && !isWaiting) return;
        this.close();
        end({ passed: false, timedOut: true, milliseconds: now - begin, processorMs: processor - processorBegin });
      }, LOOK_MS);
      child.once('message', (run: TestRun) => end({ ...run, timedOut: false }));
      child.once('exit', (code) => {
        clearInterval(timer);
        this.#child = undefined;
        reject(new Error(`the process that runs the tests ended with exit code ${code}`));
      });
      child.send({ file, only });
    });
  }

  /** Kills the child and what it has started. */
  close(): void {
    if (!this.#child) return;
    this.#child.removeAllListeners();
    // Its group: the forks of Vitest, which do not hear of its end while they are in an endless loop.
    process.kill(-this.#child.pid!, 'SIGKILL');
    this.#child = undefined;
  }

  #start(): Promise<ChildProcess> {
    const script = join(this.#root, 'test/mutants/core', this.#script);
    this.#runs = 1;
    const child = fork(script, [this.#root], {
      cwd: this.#root,
      env: { ...process.env, [LANE_VARIABLE]: String(this.#lane) },
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    return new Promise((resolve) => child.once('message', () => resolve(child)));
  }
}

/** What a process has used of the processor, in milliseconds; 0 where the system has no /proc: then the clock counts. */
function processorTimeOf(pid: number): number {
  try {
    // The 14th and 15th field, in hundredths of a second; the 2nd, a name in parentheses, may hold spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return 10 * (Number(user) + Number(system));
  } catch {
    return 0;
  }
}

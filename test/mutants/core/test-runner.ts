// Test files, run one after the other by a child process that can be killed where they never end.
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { LANE_VARIABLE } from './workspace.js';

export interface TestRun {
  passed: boolean;
  /** Where it took longer than it was given. */
  timedOut: boolean;
  milliseconds: number;
  /** The first test that failed, and its message. */
  failure?: string;
  /** Whether that was an error beside any test. */
  isStray?: boolean;
}

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

  async run(file: string, timeout: number): Promise<TestRun> {
    if (this.#runs >= this.#mostRuns) this.close();
    this.#runs++;
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve, reject) => {
      const end = (run: TestRun) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(run);
      };
      const timer = setTimeout(() => {
        this.close();
        end({ passed: false, timedOut: true, milliseconds: timeout });
      }, timeout);
      child.once('message', (run: TestRun) => end({ ...run, timedOut: false }));
      child.once('exit', (code) => {
        clearTimeout(timer);
        this.#child = undefined;
        reject(new Error(`the process that runs the tests ended with exit code ${code}`));
      });
      child.send({ file });
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

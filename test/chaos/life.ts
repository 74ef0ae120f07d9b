import { CollisionError, type CollisionService, createCollisionService } from 'collision-worker';
import type { Random } from '../oracle/random.js';
import { FaultInjector } from './accidents.js';
import type { MakeWorker } from './chaos-worker.js';
import type { ChaosReport } from './report.js';
import { increment } from './report.js';
import { EMPTY_WORLD, type ModelObject, type World } from './world.js';

const DECLARED_CODES = ['WORKER_LOST', 'ABORTED', 'DISPOSED'];

export interface LifeOptions {
  makeWorker: MakeWorker;
  /** Milliseconds of silence after which a worker counts as lost. */
  timeout: number;
  pages: number | undefined;
  builders: number;
  contactBudget: number;
  onWrong: ((description: string) => void) | undefined;
}

/** Checks an answer. */
type Check<T> = (answer: T, worlds: readonly World[]) => boolean | string;

export interface ServiceCall<T> {
  name: string;
  answer: Promise<T>;
  /** The arguments, for the report of a wrong answer. */
  asked?: object;
  /** Returns true, or a description of what is wrong; `worlds` are all states of the scene since the question. */
  check: Check<T>;
  /** The service's method, for a call with `latest`: it may get the answer of a newer call. */
  latest?: string | false;
  /** Expected error codes, besides those that any call may get. */
  codes?: readonly string[];
  /** Called after an expected failure. */
  refused?(error: CollisionError): void;
}

/** Maximum number of extensions of the deadline, and the fraction of the time that the process must be busy for one. */
const MAX_EXTENSIONS = 6;
const MIN_BUSY_FRACTION = 0.01;

/** CPU time of this process; 0 in a browser, which does not report it. */
function processorMs(): number {
  if (typeof process === 'undefined' || !process.cpuUsage) return 0;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** One service, and the model of its correct answers. */
export class Life {
  readonly pending = new Map<Promise<void>, string>();
  readonly report: ChaosReport;
  readonly accidents: FaultInjector;
  readonly isLimited: boolean;
  service!: CollisionService;
  /** Checks of all calls with `latest`, by the service's method, in the order of the calls. */
  readonly #latestChecks = new Map<string, Check<never>[]>();
  /** True if there is no worker any more, and will never be one. */
  isOver = false;
  readonly #timeout: number;
  /** The scene after each change that was requested. */
  readonly #worlds: World[] = [EMPTY_WORLD];
  /** The oldest state that the worker may still have; it is older than the current one after a frame that could not be run. */
  #oldestWorld = Number.POSITIVE_INFINITY;
  #lostAt = 0;
  readonly #firstStep: number;
  readonly #onWrong: LifeOptions['onWrong'];

  static async begin(options: LifeOptions, report: ChaosReport, failedStart: Random | undefined): Promise<Life> {
    const life = new Life(options, report);
    report.services++;
    const { timeout, builders, contactBudget } = options;
    if (failedStart) life.accidents.failStart(failedStart);
    const createWorker = () => life.accidents.createWorker();
    try {
      life.service = await createCollisionService({ createWorker, timeout, builders, contactBudget });
    } catch (error) {
      life.declare(error, 'createCollisionService', failedStart ? ['UNSUPPORTED'] : []);
      life.isOver = true;
      return life;
    }
    if (failedStart) life.blame('createCollisionService started without a worker');
    life.service.addEventListener('lost', () => {
      life.#lostAt = performance.now();
    });
    life.service.addEventListener('restored', () => report.recoveries.push(performance.now() - life.#lostAt));
    return life;
  }

  private constructor({ makeWorker, pages, timeout, onWrong }: LifeOptions, report: ChaosReport) {
    this.report = report;
    this.#firstStep = report.steps;
    this.#onWrong = onWrong;
    this.isLimited = pages !== undefined;
    this.#timeout = timeout;
    this.accidents = new FaultInjector(makeWorker, pages, timeout, report.faults);
  }

  /** The current scene. */
  get world(): World {
    return this.#worlds[this.#worlds.length - 1];
  }

  /** Adds a new state of the scene. */
  change(
    edit: (things: Map<number, ModelObject>, meshes: Map<number, number>) => void,
    windows = this.world.windows,
  ): void {
    const things = new Map(this.world.things);
    const meshes = new Map(this.world.meshes);
    edit(things, meshes);
    this.#worlds.push({ things, meshes, windows });
  }

  /** Returns whether an object with this id ever existed. */
  hasSeen(id: number): boolean {
    return this.#worlds.some(({ things }) => things.has(id));
  }

  /** Returns the last size of a mesh that has been removed. */
  sizeOf(mesh: number): number {
    return this.#worlds.findLast(({ meshes }) => meshes.has(mesh))?.meshes.get(mesh) ?? 1;
  }

  /** Checks an answer against every state of the scene between the question and the answer. */
  ask<T>({ name, answer, asked, check: checkOwn, latest = false, codes = [], refused }: ServiceCall<T>): Promise<void> {
    const check = latest ? this.#acceptNewer(latest, checkOwn) : checkOwn;
    const step = this.report.steps;
    const worldIndex = this.#worlds.length - 1;
    const done: Promise<void> = answer
      .then(
        (value) => {
          const verdict = check(value, this.#worlds.slice(Math.min(worldIndex, this.#oldestWorld)));
          if (verdict === true) increment(this.report.right, name);
          else {
            const description = asked ? `, asked with ${textOf(asked)}` : '';
            this.blame(
              `${name} of step ${step} is wrong, ${verdict || 'in all states'}: ${textOf(value)}${description}`,
            );
          }
        },
        (error) => {
          this.declare(error, name, codes);
          if (error instanceof CollisionError) refused?.(error);
        },
      )
      .catch((error) => this.blame(`${name} of step ${step}: its check threw ${error?.stack}`))
      .finally(() => this.pending.delete(done));
    this.pending.set(done, `${name} of step ${step}`);
    return done;
  }

  /** Accepts an answer that is right for a newer call of the same method. */
  #acceptNewer<T>(method: string, ownCheck: Check<T>): Check<T> {
    const checks = (this.#latestChecks.get(method) ?? []) as unknown as Check<T>[];
    this.#latestChecks.set(method, checks as unknown as Check<never>[]);
    const callIndex = checks.push(ownCheck) - 1;
    return (answer, worlds) => {
      const verdict = ownCheck(answer, worlds);
      return verdict === true || checks.slice(callIndex + 1).some((check) => check(answer, worlds) === true) || verdict;
    };
  }

  /** Number of the current state, for `keepFrom`. */
  get age(): number {
    return this.#worlds.length - 1;
  }

  /** Called if the frame requested at that age was not run: the states before it may still be visible. */
  keepFrom(age: number): void {
    this.#oldestWorld = Math.min(this.#oldestWorld, age);
  }

  /** Called when a frame has brought everything up to date. */
  forgetOld(): void {
    this.#oldestWorld = Number.POSITIVE_INFINITY;
  }

  declare(error: unknown, name: string, codes: readonly string[] = []): void {
    if (error instanceof CollisionError && [...DECLARED_CODES, ...codes].includes(error.code)) {
      increment(this.report.declared, error.code);
    } else this.blame(`${name} failed with ${error instanceof Error ? error.stack : String(error)}`);
  }

  blame(description: string): void {
    const wrong = `step ${this.report.steps}, in the life from ${this.#firstStep} on: ${description}`;
    this.report.wrong.push(wrong);
    this.#onWrong?.(wrong);
  }

  async settle(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending.keys());
  }

  /** On a busy machine, late calls may still be in progress; calls that can never settle do not use the CPU. */
  async #isSettledIn(patience: number): Promise<boolean> {
    const settled = this.settle().then(() => true);
    for (let extension = 0; extension < MAX_EXTENSIONS; extension++) {
      const busyBefore = processorMs();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const timedOut = new Promise<boolean>((resolve) => {
        timer = setTimeout(resolve, patience, false);
      });
      const isSettled = await Promise.race([settled, timedOut]);
      clearTimeout(timer);
      if (isSettled || processorMs() - busyBefore < MIN_BUSY_FRACTION * patience) return isSettled;
    }
    return false;
  }

  /** No call may stay pending, whether the service ends normally or is disposed of early. */
  async end(isDisposedEarly: boolean): Promise<void> {
    if (!this.service) return;
    if (isDisposedEarly) this.service.dispose();
    const patience = 20 * this.#timeout + 10_000;
    const isSettled = await this.#isSettledIn(patience);
    if (!isSettled) {
      this.report.lost += this.pending.size;
      const calls = [...this.pending.values()].join(', ');
      this.blame(`${this.pending.size} calls are pending after ${patience} ms: ${calls}`);
    }
    // Aborted calls leave their work behind for a moment.
    for (let i = 0; i < 100 && this.service.stats.pending > 0; i++) await new Promise((next) => setTimeout(next, 50));
    if (this.service.stats.pending > 0) this.blame(`stats.pending is ${this.service.stats.pending}`);
    this.service.dispose();
    this.report.pending += this.service.stats.pending;
  }
}

function textOf(value: unknown): string {
  const toArray = (_: string, each: unknown) => (ArrayBuffer.isView(each) ? Array.from(each as Float32Array) : each);
  return `${JSON.stringify(value, toArray)}`.slice(0, 1000);
}

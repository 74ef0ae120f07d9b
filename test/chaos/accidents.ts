import type { Random } from '../oracle/random.js';
import { ChaosWorker, type MakeWorker, type StartMode } from './chaos-worker.js';

/** Kinds of faults, with their weights. */
const FAULT_WEIGHTS = {
  kill: 4,
  'kill without a word': 2,
  'kill between two answers': 2,
  'kill in place of an answer': 2,
  hang: 2,
  throw: 3,
  'delay answers': 5,
  'delay messages': 5,
  'fail a start': 3,
  'fail three starts': 1,
  'kill a builder': 1,
  'hang a builder': 1,
  'delay a builder': 1,
};
type Fault = keyof typeof FAULT_WEIGHTS;
const FAULT_DECK = Object.entries(FAULT_WEIGHTS).flatMap(([name, weight]) => Array<Fault>(weight).fill(name as Fault));
const BAD_STARTS = ['throw', 'no script', 'silent', 'no wasm'] as const;

/** Creates a service's workers, and injects faults into them. */
export class FaultInjector {
  readonly faults: Record<string, number>;
  readonly #makeWorker: MakeWorker;
  readonly #pages: number | undefined;
  readonly #timeout: number;
  readonly #workers: ChaosWorker[] = [];
  readonly #badStarts: (StartMode | 'throw')[] = [];

  constructor(make: MakeWorker, pages: number | undefined, timeout: number, faults: Record<string, number>) {
    this.#makeWorker = make;
    this.#pages = pages;
    this.#timeout = timeout;
    this.faults = faults;
  }

  createWorker(): ChaosWorker {
    const start = this.#badStarts.shift() ?? 'well';
    if (start === 'throw') throw new Error('no worker today');
    const worker = new ChaosWorker(this.#makeWorker(start, this.#pages));
    this.#workers.push(worker);
    return worker;
  }

  /** Makes the next worker fail to start, whichever it is. */
  failStart(random: Random): void {
    this.#badStarts.push(random.pick(BAD_STARTS));
  }

  strike(random: Random): void {
    const fault = random.pick(FAULT_DECK);
    const delayMs = random.pick([0, 0, random.range(0, 3), random.range(0, 30)]);
    const ms = random.range(1, 0.5 * this.#timeout);
    const count = fault === 'fail three starts' ? 3 : fault === 'fail a start' ? 1 : 0;
    const starts = Array.from({ length: count }, () => random.pick(BAD_STARTS));
    const worker = this.#pickWorker(fault.endsWith('builder'));
    if (!worker) return;
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
    const inject = () => {
      if (fault === 'kill') worker.die(false);
      else if (fault === 'kill without a word') worker.die(true);
      else if (fault === 'hang' || fault === 'hang a builder') worker.hang();
      else if (fault === 'throw') worker.choke();
      else if (fault === 'delay answers' || fault === 'delay a builder') worker.delayAnswers(ms);
      else if (fault === 'delay messages') worker.delayQuestions(ms);
      else if (fault === 'kill between two answers') {
        worker.atNextAnswer((deliver) => {
          deliver();
          worker.die(true);
        });
      } else if (fault === 'kill in place of an answer') worker.atNextAnswer(() => worker.die(false));
      else {
        this.#badStarts.push(...starts);
        worker.die(false);
      }
    };
    if (delayMs === 0) inject();
    else setTimeout(inject, delayMs);
  }

  #pickWorker(isBuilder: boolean): ChaosWorker | undefined {
    return this.#workers.findLast((each) => each.isAlive && each.isService !== isBuilder);
  }
}

import type { ClashProgress } from './types.js';

/** Counts what is done of a phase, and tells how long the rest takes at this pace. */
export class Progress {
  readonly #phase: ClashProgress['phase'];
  readonly #total: number;
  readonly #report: ((progress: ClashProgress) => void) | undefined;
  readonly #start = performance.now();
  /** What was done before this run has taken none of its time. */
  readonly #before: number;
  #done: number;

  constructor(
    phase: ClashProgress['phase'],
    total: number,
    report: ((progress: ClashProgress) => void) | undefined,
    before = 0,
  ) {
    this.#phase = phase;
    this.#total = total;
    this.#report = report;
    this.#before = before;
    this.#done = before;
    this.add(0);
  }

  add(amount: number): void {
    this.#done += amount;
    const fraction = this.#total > 0 ? Math.min(1, this.#done / this.#total) : 1;
    const own = this.#done - this.#before;
    const left = own > 0 ? ((performance.now() - this.#start) * (this.#total - this.#done)) / own : null;
    this.#report?.({ phase: this.#phase, fraction, left });
  }
}

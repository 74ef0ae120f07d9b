import type { ClashProgress } from './types.js';

/** Counts the finished work of a phase, and estimates the remaining time from the pace so far. */
export class Progress {
  readonly #phase: ClashProgress['phase'];
  readonly #total: number;
  readonly #report: ((progress: ClashProgress) => void) | undefined;
  readonly #start = performance.now();
  /** Work that was done before this run took none of its time. */
  readonly #doneBefore: number;
  #done: number;

  constructor(
    phase: ClashProgress['phase'],
    total: number,
    report: ((progress: ClashProgress) => void) | undefined,
    doneBefore = 0,
  ) {
    this.#phase = phase;
    this.#total = total;
    this.#report = report;
    this.#doneBefore = doneBefore;
    this.#done = doneBefore;
    this.add(0);
  }

  add(amount: number): void {
    this.#done += amount;
    const fraction = this.#total > 0 ? Math.min(1, this.#done / this.#total) : 1;
    const doneInRun = this.#done - this.#doneBefore;
    const left = doneInRun > 0 ? ((performance.now() - this.#start) * (this.#total - this.#done)) / doneInRun : null;
    this.#report?.({ phase: this.#phase, fraction, left });
  }
}

export type Task = 'simulate' | 'collide' | 'draw';

/** The main thread's cost of a frame, in ms. */
export interface FrameCost {
  simulate: number;
  /** Collision work: picking, culling, contacts, or handing them to the worker and reading its answers. */
  collide: number;
  draw: number;
  /** Time since the previous frame. */
  interval: number;
}

const MAX_FRAMES = 240;

/** Sums up the main thread's time for each task of a frame. */
export class Meter {
  /** The latest frames, oldest first. */
  readonly frames: FrameCost[] = [];
  #current: FrameCost = { simulate: 0, collide: 0, draw: 0, interval: 0 };
  #lastStart = Number.NaN;

  /** Begins a frame; the cost of answers since the previous frame belongs to that one. */
  begin(): void {
    const now = performance.now();
    if (!Number.isNaN(this.#lastStart)) {
      this.#current.interval = now - this.#lastStart;
      this.frames.push(this.#current);
      if (this.frames.length > MAX_FRAMES) this.frames.shift();
    }
    this.#lastStart = now;
    this.#current = { simulate: 0, collide: 0, draw: 0, interval: 0 };
  }

  measure<T>(task: Task, work: () => T): T {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.#current[task] += performance.now() - start;
    }
  }

  get last(): FrameCost | undefined {
    return this.frames.at(-1);
  }
}

export function costOf({ simulate, collide, draw }: FrameCost): number {
  return simulate + collide + draw;
}

/** The value that a fraction `fraction` of the values do not exceed: 0.5 is the median. NaN for no values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Number.NaN;
}

import type { ObjectId } from '../../shared/types.js';

/** Pixels are told apart to a 64th, so that rounding does not decide between what is at one place. */
const PIXEL_STEPS = 64;
/** So many candidates are enough to look at: where more are drawn near the cursor, the nearest of them come first. */
const ENOUGH = 512;

/** What candidates are told apart by: see `Candidate`. */
export interface Ranked {
  kind: number;
  of: { readonly object: ObjectId };
  pixels: number;
  steps: number;
  depth: number;
  index: number;
}

/** Gathers the candidates of a ring about the cursor: at first of all within a radius, in pixels, but those farther than `best`. */
export class Ring<T extends Ranked> {
  #found: T[] = [];
  readonly #radius: number;
  readonly #last: number;
  /** What is farther than these steps is taken, up to those. */
  #after = -1;
  #most: number;
  #reach: number;

  constructor(radius: number, best: Ranked | null) {
    this.#last = best ? best.steps : stepsOf(radius);
    this.#radius = Math.min(radius, (this.#last + 1) / PIXEL_STEPS);
    this.#most = this.#last;
    this.#reach = this.#radius;
  }

  /** Nothing beyond this is taken, in pixels; it becomes less where much is found. */
  get reach(): number {
    return this.#reach;
  }

  add(candidate: T): void {
    const { steps } = candidate;
    if (steps <= this.#after || steps > this.#most || !(candidate.pixels <= this.#radius)) return;
    this.#found.push(candidate);
    while (this.#found.length > ENOUGH && this.#most - this.#after > 1) {
      this.#most = Math.floor((this.#after + this.#most) / 2);
      this.#reach = Math.min(this.#radius, (this.#most + 1) / PIXEL_STEPS);
      this.#found = this.#found.filter((each) => each.steps <= this.#most);
    }
  }

  /** Answers what was found, the best first. */
  sorted(): readonly T[] {
    return this.#found.sort(compare);
  }

  /** Goes on to what is farther, with nothing found; answers false where all within the radius was. */
  next(): boolean {
    if (this.#most >= this.#last) return false;
    this.#after = this.#most;
    this.#most = this.#last;
    this.#reach = this.#radius;
    this.#found = [];
    return true;
  }
}

/** The fewer pixels, then the nearer one. Zero of what is the same feature. */
export function compare(a: Ranked, b: Ranked): number {
  return a.steps - b.steps || a.depth - b.depth || a.kind - b.kind || a.of.object - b.of.object || a.index - b.index;
}

export function stepsOf(pixels: number): number {
  return Math.round(pixels * PIXEL_STEPS);
}

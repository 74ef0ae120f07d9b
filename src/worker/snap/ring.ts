import type { Steps } from '../binding/steps.js';

/** Pixels are told apart to a 64th, so that rounding does not decide between what is at one place. */
const PIXEL_STEPS = 64;
/**
 * So many candidates are enough to look at first: where more are drawn near the cursor, the nearest of them come first. Of those
 * that follow twice as many are taken, up to MOST, as all is gone through again for them.
 */
const ENOUGH = 512;
const MOST = 2 ** 15;
/** So many candidates are put into order in a step. */
const STEP = 4096;
/** Room for so many is kept from pick to pick: some 6 MB. */
const MOST_KEPT = 2 ** 16;

// The numbers of a candidate's record. By the first five features are told apart, in this order.
/** Pixels, in steps. */
export const STEPS = 0;
/** The order of depths: larger is farther away. */
export const DEPTH = 1;
/** SNAP_*. */
export const KIND = 2;
export const OBJECT = 3;
/** The number of its vertex, circle or edge. */
export const INDEX = 4;
/** The edge by which it was found, as a vertex is once by each of its edges; of a point of a point cloud, its own number. */
export const EDGE = 5;
export const PIXELS = 6;
/** Which of the objects near the cursor it is of. */
export const OF = 7;
/** Where it is, in the shape's own space: three numbers. */
export const AT = 8;
const SIZE = 11;

/**
 * Gathers the candidates of a ring about the cursor, at first of all within a radius, and hands them out, the best first: the
 * fewest pixels, then the nearest one. They are records in one array, in a binary heap (Williams, "Algorithm 232: Heapsort",
 * 1964): of most picks few are looked at.
 */
export class Ring {
  /** The candidates, SIZE numbers each, in no order. */
  records = new Float64Array(SIZE * (ENOUGH + 1));
  #count = 0;
  /** Where the records begin that have not been handed out; the best comes first once they are sorted. */
  #heap = new Int32Array(ENOUGH + 1);
  #enough = ENOUGH;
  #radius = 0;
  #last = 0;
  /** What is farther than these steps is taken, up to those. */
  #after = 0;
  #most = 0;
  #reach = 0;

  /** Begins anew with nothing found. `radius`: pixels. */
  begin(radius: number): void {
    this.#radius = radius;
    this.#last = stepsOf(radius);
    this.#enough = ENOUGH;
    // What a pick among millions of features has left is let go.
    if (this.records.length > SIZE * MOST_KEPT) this.#resize(ENOUGH + 1);
    this.#goTo(-1);
  }

  #goTo(after: number): void {
    this.#after = after;
    this.#most = this.#last;
    this.#reach = this.#radius;
    this.#count = 0;
  }

  /** Nothing beyond this is taken, in pixels; it becomes less where much is found. */
  get reach(): number {
    return this.#reach;
  }

  add(
    of: number,
    object: number,
    kind: number,
    index: number,
    edge: number,
    pixels: number,
    depth: number,
    x: number,
    y: number,
    z: number,
  ): void {
    const steps = stepsOf(pixels);
    if (steps <= this.#after || steps > this.#most) return;
    const at = SIZE * this.#count++;
    if (at === this.records.length) {
      const found = this.records;
      this.#resize((2 * at) / SIZE);
      this.records.set(found);
    }
    const { records } = this;
    records[at + STEPS] = steps;
    records[at + DEPTH] = depth;
    records[at + KIND] = kind;
    records[at + OBJECT] = object;
    records[at + INDEX] = index;
    records[at + PIXELS] = pixels;
    records[at + EDGE] = edge;
    records[at + OF] = of;
    records[at + AT] = x;
    records[at + AT + 1] = y;
    records[at + AT + 2] = z;
    while (this.#count > this.#enough && this.#most - this.#after > 1) this.#narrow();
  }

  #resize(count: number): void {
    this.records = new Float64Array(SIZE * count);
    this.#heap = new Int32Array(count);
  }

  #narrow(): void {
    const { records } = this;
    this.#most = Math.floor((this.#after + this.#most) / 2);
    this.#reach = Math.min(this.#radius, (this.#most + 1) / PIXEL_STEPS);
    let kept = 0;
    for (let at = 0; at < SIZE * this.#count; at += SIZE) {
      if (records[at + STEPS] <= this.#most) records.copyWithin(SIZE * kept++, at, at + SIZE);
    }
    this.#count = kept;
  }

  /** Puts what was found into order, which `take` needs, in steps: at one place of the screen there may be any number. */
  *sort(): Steps<void> {
    const heap = this.#heap;
    for (let i = 0; i < this.#count; i++) heap[i] = SIZE * i;
    for (let i = this.#count >> 1; i-- > 0; ) {
      this.#sink(i, heap[i]);
      if (i % STEP === STEP - 1) yield;
    }
  }

  /** Takes the best candidate out. Answers where its record begins, or -1 where none is left. */
  take(): number {
    const heap = this.#heap;
    if (this.#count === 0) return -1;
    const best = heap[0];
    this.#sink(0, heap[--this.#count]);
    return best;
  }

  /** Puts a record into the heap at a place or below it. */
  #sink(place: number, at: number): void {
    const heap = this.#heap;
    let i = place;
    for (let child = 2 * i + 1; child < this.#count; child = 2 * i + 1) {
      if (child + 1 < this.#count && this.#compare(heap[child + 1], heap[child], EDGE) < 0) child++;
      if (this.#compare(at, heap[child], EDGE) <= 0) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = at;
  }

  /** Tells whether two candidates are the same feature. */
  areSame(a: number, b: number): boolean {
    return this.#compare(a, b, INDEX) === 0;
  }

  #compare(a: number, b: number, last: number): number {
    const { records } = this;
    const difference = records[a + STEPS] - records[b + STEPS];
    if (difference !== 0) return difference;
    for (let k = DEPTH; k <= last; k++) {
      const difference = records[a + k] - records[b + k];
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Goes on to what is farther, with nothing found; answers false where all within the radius was. */
  next(): boolean {
    if (this.#most >= this.#last) return false;
    this.#enough = Math.min(2 * this.#enough, MOST);
    this.#goTo(this.#most);
    return true;
  }
}

function stepsOf(pixels: number): number {
  return Math.round(pixels * PIXEL_STEPS);
}

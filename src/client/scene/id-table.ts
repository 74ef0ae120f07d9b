import { CollisionError } from '../../shared/errors.js';
import { makeId, slotOf } from '../../shared/ids.js';
import { MAX_GENERATION, MAX_OBJECTS } from '../../shared/layout.js';
import { grown } from '../../shared/typed-arrays.js';

const NONE = 0xffffffff;

/**
 * Ids and what they stand for. A freed slot is reused by the next generation, the longest free one first; after
 * the last generation it retires, so that no id is ever given twice.
 */
export class IdTable<T> {
  /** Ids alive. */
  size = 0;
  /** Slots ever used; and of them, those to use again. */
  #slots = 0;
  #free = 0;
  /** Per slot: the id alive in it, 0 where there is none. */
  #alive = new Uint32Array(64);
  /** Per slot: the generation of its next id. */
  #generation = new Uint16Array(64);
  /** Per free slot: the one freed after it. */
  #next = new Uint32Array(64);
  #values: (T | undefined)[] = [];
  #firstFree = NONE;
  #lastFree = NONE;

  /** Checks that `count` ids more fit. Throws OUT_OF_MEMORY when they do not: slots are in use or retired. */
  checkRoom(operation: string, count: number): void {
    const free = MAX_OBJECTS - this.#slots + this.#free;
    if (count <= free) return;
    throw new CollisionError(
      'OUT_OF_MEMORY',
      `${operation}: ${count} more of at most ${MAX_OBJECTS} ids, ${free} are free`,
    );
  }

  /** Gives a value an id; {@link checkRoom} has said that there is room. */
  add(value: T): number {
    const slot = this.#firstFree === NONE ? this.#newSlot() : this.#takeFree();
    const id = makeId(slot, this.#generation[slot]);
    this.#alive[slot] = id;
    this.#values[slot] = value;
    this.size++;
    return id;
  }

  has(id: unknown): id is number {
    // An id is never 0, and a slot out of range reads as undefined.
    return typeof id === 'number' && id !== 0 && this.#alive[slotOf(id)] === id;
  }

  /** Finds the index of the first id that is not alive; -1 when all are. */
  findDead(ids: Uint32Array): number {
    const alive = this.#alive;
    for (let i = 0; i < ids.length; i++) if (alive[slotOf(ids[i])] !== ids[i] || ids[i] === 0) return i;
    return -1;
  }

  get(id: number): T | undefined {
    return this.has(id) ? this.#values[slotOf(id)] : undefined;
  }

  /** Lists all ids that are alive with their values, by slot. */
  *entries(): Generator<[id: number, value: T]> {
    for (let slot = 0; slot < this.#slots; slot++) {
      const id = this.#alive[slot];
      if (id !== 0) yield [id, this.#values[slot] as T];
    }
  }

  /** Changes what an id stands for, which is alive. */
  set(id: number, value: T): void {
    this.#values[slotOf(id)] = value;
  }

  /** Ends an id that is alive. */
  delete(id: number): void {
    const slot = slotOf(id);
    this.#alive[slot] = 0;
    this.#values[slot] = undefined;
    this.size--;
    if (this.#generation[slot] === MAX_GENERATION) return;
    this.#generation[slot]++;
    this.#next[slot] = NONE;
    if (this.#firstFree === NONE) this.#firstFree = slot;
    else this.#next[this.#lastFree] = slot;
    this.#lastFree = slot;
    this.#free++;
  }

  #takeFree(): number {
    const slot = this.#firstFree;
    this.#firstFree = this.#next[slot];
    this.#free--;
    return slot;
  }

  #newSlot(): number {
    if (this.#slots === this.#alive.length) {
      this.#alive = grown(this.#alive);
      this.#generation = grown(this.#generation);
      this.#next = grown(this.#next);
    }
    this.#generation[this.#slots] = 1;
    return this.#slots++;
  }
}

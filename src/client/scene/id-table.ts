import { CollisionError } from '../../shared/errors.js';
import { makeId, slotOf } from '../../shared/ids.js';
import { MAX_GENERATION, MAX_OBJECTS } from '../../shared/layout.js';
import { grown } from '../../shared/typed-arrays.js';

const NO_SLOT = 0xffffffff;

/**
 * Ids. A freed slot is reused by the next generation, the slot that has been free longest first; after the last generation it is
 * retired, so that no id is ever given twice.
 */
export class Ids {
  /** The number of ids alive. */
  size = 0;
  /** The number of slots ever used, and of those that are free to be reused. */
  #slotCount = 0;
  #freeCount = 0;
  /** The id alive in each slot, 0 for none. */
  #aliveIds = new Uint32Array(64);
  /** The generation of each slot's next id. */
  #generations = new Uint16Array(64);
  /** The next slot of the free list for each free slot, which was freed after it. */
  #nextFree = new Uint32Array(64);
  #firstFree = NO_SLOT;
  #lastFree = NO_SLOT;

  /** Checks that `count` more ids fit. Throws OUT_OF_MEMORY if they do not: slots are in use or retired. */
  checkRoom(operation: string, count: number): void {
    const freeCount = MAX_OBJECTS - this.#slotCount + this.#freeCount;
    if (count <= freeCount) return;
    throw new CollisionError(
      'OUT_OF_MEMORY',
      `${operation}: ${count} more of at most ${MAX_OBJECTS} ids, ${freeCount} are free`,
    );
  }

  /** Returns a copy of the ids that are alive. */
  alive(ids: Uint32Array): Uint32Array {
    return this.findDead(ids) < 0 ? ids.slice() : ids.filter((id) => this.has(id));
  }

  /** Makes room for `count` more ids. */
  reserve(count: number): void {
    const slots = Math.min(MAX_OBJECTS, this.#slotCount + Math.max(0, count - this.#freeCount));
    if (slots > this.#aliveIds.length) this.#grow(slots);
  }

  /** The number of slots that have ever been used. */
  get slots(): number {
    return this.#slotCount;
  }

  /** The number of slots that there is room for. */
  get room(): number {
    return this.#aliveIds.length;
  }

  /** Takes an id; {@link checkRoom} must have checked that there is room. */
  take(): number {
    const slot = this.#firstFree === NO_SLOT ? this.#addSlot() : this.#takeFree();
    const id = makeId(slot, this.#generations[slot]);
    this.#aliveIds[slot] = id;
    this.size++;
    return id;
  }

  /** Returns the id that is alive in a slot, 0 for none. */
  at(slot: number): number {
    return this.#aliveIds[slot];
  }

  has(id: unknown): id is number {
    // An id is never 0, and a slot out of range reads as undefined.
    return typeof id === 'number' && id !== 0 && this.#aliveIds[slotOf(id)] === id;
  }

  /** Finds the index of the first id that is not alive; -1 if all are. */
  findDead(ids: Uint32Array): number {
    const aliveIds = this.#aliveIds;
    for (let i = 0; i < ids.length; i++) if (aliveIds[slotOf(ids[i])] !== ids[i] || ids[i] === 0) return i;
    return -1;
  }

  /** Ends an id that is alive. */
  delete(id: number): void {
    const slot = slotOf(id);
    this.#aliveIds[slot] = 0;
    this.size--;
    if (this.#generations[slot] === MAX_GENERATION) return;
    this.#generations[slot]++;
    this.#nextFree[slot] = NO_SLOT;
    if (this.#firstFree === NO_SLOT) this.#firstFree = slot;
    else this.#nextFree[this.#lastFree] = slot;
    this.#lastFree = slot;
    this.#freeCount++;
  }

  #takeFree(): number {
    const slot = this.#firstFree;
    this.#firstFree = this.#nextFree[slot];
    this.#freeCount--;
    return slot;
  }

  #addSlot(): number {
    if (this.#slotCount === this.#aliveIds.length) this.#grow(0);
    this.#generations[this.#slotCount] = 1;
    return this.#slotCount++;
  }

  #grow(length: number): void {
    this.#aliveIds = grown(this.#aliveIds, length);
    this.#generations = grown(this.#generations, length);
    this.#nextFree = grown(this.#nextFree, length);
  }
}

/** Ids and their values. */
export class IdTable<T> extends Ids {
  #values: (T | undefined)[] = [];

  /** Gives a value an id; {@link checkRoom} must have checked that there is room. */
  add(value: T): number {
    const id = this.take();
    this.#values[slotOf(id)] = value;
    return id;
  }

  get(id: number): T | undefined {
    return this.has(id) ? this.#values[slotOf(id)] : undefined;
  }

  /** Lists all ids that are alive with their values, by slot. */
  *entries(): Generator<[id: number, value: T]> {
    for (let slot = 0; slot < this.slots; slot++) {
      const id = this.at(slot);
      if (id) yield [id, this.#values[slot] as T];
    }
  }

  override delete(id: number): void {
    this.#values[slotOf(id)] = undefined;
    super.delete(id);
  }
}

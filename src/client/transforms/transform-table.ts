import { CollisionError } from '../../shared/errors.js';
import { slotOf } from '../../shared/ids.js';
import type { ObjectId } from '../../shared/types.js';
import { invalid, notAffine, unreadable } from '../check/validate.js';
import type { FramePump } from '../frame/frame-pump.js';
import { PLACE_NUMBERS as NUMBERS, type Places } from '../places.js';
import { grown } from '../scene/id-table.js';
import type { ObjectStore } from '../scene/object-store.js';
import { isAffine } from './affine.js';

/**
 * The transforms that were staged last, one by one: an object that is where it was told to be is not staged again. All
 * are in one array, as a frame goes through it from end to end: 10,000 arrays of their own would cost more in cache
 * misses than everything else.
 */
export class Transforms {
  /** How often an object was set that was not known here. */
  entries = 0;

  readonly #pump: FramePump;
  readonly #places: Places;
  /** Per slot: the id of which the transform is there, 0 for none; and the transform. */
  #ids = new Uint32Array(0);
  #values = new Float64Array(0);
  /** At most so many are there. */
  #known = 0;

  constructor(pump: FramePump, places: Places) {
    this.#pump = pump;
    this.#places = places;
  }

  /** `setTransform`. Each number is read once, into a variable: a getter of the caller's cannot change what was checked. */
  set(id: ObjectId, m: ArrayLike<number>, objects: ObjectStore): void {
    let ax = 0;
    let ay = 0;
    let az = 0;
    let bx = 0;
    let by = 0;
    let bz = 0;
    let cx = 0;
    let cy = 0;
    let cz = 0;
    let x = 0;
    let y = 0;
    let z = 0;
    try {
      if (m.length !== 16) invalidMatrix(m);
      ax = m[0];
      ay = m[1];
      az = m[2];
      const aw = m[3];
      bx = m[4];
      by = m[5];
      bz = m[6];
      const bw = m[7];
      cx = m[8];
      cy = m[9];
      cz = m[10];
      const cw = m[11];
      x = m[12];
      y = m[13];
      z = m[14];
      const w = m[15];
      // Free of charge where the array holds nothing but numbers.
      const areNumbers =
        typeof ax === 'number' &&
        typeof ay === 'number' &&
        typeof az === 'number' &&
        typeof bx === 'number' &&
        typeof by === 'number' &&
        typeof bz === 'number' &&
        typeof cx === 'number' &&
        typeof cy === 'number' &&
        typeof cz === 'number' &&
        typeof x === 'number' &&
        typeof y === 'number' &&
        typeof z === 'number';
      if (!areNumbers) invalidMatrix(m);
      if (!(aw === 0 && bw === 0 && cw === 0 && w === 1)) {
        const read = [ax, ay, az, aw, bx, by, bz, bw, cx, cy, cz, cw, x, y, z, w];
        if (!read.every((each) => typeof each === 'number')) invalidMatrix(m);
        if (!isAffine(read, 0)) notAffine('setTransform', 'matrix', read, 0);
      }
    } catch (error) {
      unreadableMatrix(m, error);
    }
    objects.check('setTransform', 'id', id);

    const slot = slotOf(id);
    const at = NUMBERS * slot;
    if (this.#ids[slot] !== id) this.#enter(id, slot);
    else {
      const v = this.#values;
      // The translation first: it changes most often.
      if (
        v[at + 9] === x &&
        v[at + 10] === y &&
        v[at + 11] === z &&
        v[at] === ax &&
        v[at + 1] === ay &&
        v[at + 2] === az &&
        v[at + 3] === bx &&
        v[at + 4] === by &&
        v[at + 5] === bz &&
        v[at + 6] === cx &&
        v[at + 7] === cy &&
        v[at + 8] === cz
      ) {
        return;
      }
    }
    this.#places.newest[slot] = 0;
    const { staging } = this.#pump;
    const to = staging.addSingle(id);
    const values = this.#values;
    const staged = staging.f64;
    values[at] = staged[to] = ax;
    values[at + 1] = staged[to + 1] = ay;
    values[at + 2] = staged[to + 2] = az;
    values[at + 3] = staged[to + 3] = bx;
    values[at + 4] = staged[to + 4] = by;
    values[at + 5] = staged[to + 5] = bz;
    values[at + 6] = staged[to + 6] = cx;
    values[at + 7] = staged[to + 7] = cy;
    values[at + 8] = staged[to + 8] = cz;
    values[at + 9] = staged[to + 9] = x;
    values[at + 10] = staged[to + 10] = y;
    values[at + 11] = staged[to + 11] = z;
  }

  /** What is set next is staged, whatever was staged before. */
  forget(id: ObjectId): void {
    const slot = slotOf(id);
    if (this.#ids[slot] === id) this.#ids[slot] = 0;
  }

  /** The same of many. */
  forgetAll(ids: Uint32Array): void {
    if (this.#known === 0) return;
    for (let i = 0; i < ids.length; i++) this.forget(ids[i]);
  }

  clear(): void {
    this.#ids.fill(0);
    this.#known = 0;
  }

  #enter(id: ObjectId, slot: number): void {
    if (slot >= this.#ids.length) {
      this.#ids = grown(this.#ids, Math.max(64, slot + 1));
      const values = new Float64Array(NUMBERS * this.#ids.length);
      values.set(this.#values);
      this.#values = values;
    }
    this.#ids[slot] = id;
    this.#known++;
    this.entries++;
  }
}

/** Throws what reading the matrix came to. */
function unreadableMatrix(m: unknown, error: unknown): never {
  if (CollisionError.is(error)) throw error;
  if (typeof m !== 'object' || m === null) invalidMatrix(m);
  throw unreadable('setTransform', 'matrix', error);
}

function invalidMatrix(m: unknown): never {
  invalid('setTransform', 'matrix', m, '16 numbers');
}

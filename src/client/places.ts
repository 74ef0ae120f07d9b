import { slotOf } from '../shared/ids.js';
import type { ObjectId } from '../shared/types.js';
import { grown } from './scene/id-table.js';
import { writeAffine } from './transforms/affine.js';

/** Numbers of a transform: the bottom row of an affine matrix says nothing. */
export const PLACE_NUMBERS = 12;

/**
 * Where every object is, by slot. All are in one array, as a frame goes through it from end to end: 10,000 arrays of
 * their own would cost more in cache misses than everything else.
 */
export class Places {
  /** The id of which the transform is there, 0 for none. */
  ids = new Uint32Array(0);
  matrices = new Float64Array(0);
  /** The same ids, but 0 where `setTransform` or `setTransforms` spoke of one: frames that were sent know more then. */
  newest = new Uint32Array(0);

  set(id: ObjectId, matrix: ArrayLike<number>): void {
    const slot = slotOf(id);
    this.#reserve(slot);
    if (this.ids[slot] !== id) this.newest[slot] = id;
    this.ids[slot] = id;
    writeAffine(this.matrices, PLACE_NUMBERS * slot, matrix);
  }

  delete(id: ObjectId): void {
    const slot = slotOf(id);
    if (this.ids[slot] !== id) return;
    this.ids[slot] = 0;
    this.newest[slot] = 0;
  }

  /** Of objects that are alive. */
  tell(ids: Uint32Array): void {
    const { newest } = this;
    for (let i = 0; i < ids.length; i++) newest[slotOf(ids[i])] = 0;
  }

  clear(): void {
    this.ids = new Uint32Array(0);
    this.matrices = new Float64Array(0);
    this.newest = new Uint32Array(0);
  }

  #reserve(slot: number): void {
    if (slot < this.ids.length) return;
    this.ids = grown(this.ids, Math.max(64, slot + 1));
    const { length } = this.ids;
    const matrices = new Float64Array(PLACE_NUMBERS * length);
    matrices.set(this.matrices);
    this.matrices = matrices;
    this.newest = grown(this.newest, length);
  }
}

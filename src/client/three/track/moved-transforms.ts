import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';

/** Collects the transforms of a scene's objects that may have moved, for one call: there are thousands. */
export class MovedTransforms {
  /** The ids of `#count` objects, and their matrices. */
  #ids = new Uint32Array(64);
  readonly #matrices: ArrayLike<number>[] = [];
  #count = 0;

  add(id: ObjectId, matrix: ArrayLike<number>): void {
    if (this.#count === this.#ids.length) this.#ids = grown(this.#ids);
    this.#ids[this.#count] = id;
    this.#matrices[this.#count++] = matrix;
  }

  /** Forgets objects that are removed in the same frame. */
  forget(removed: ArrayLike<ObjectId>): void {
    if (this.#count === 0) return;
    const removedIds = new Set(Array.from(removed));
    let keptCount = 0;
    for (let i = 0; i < this.#count; i++) {
      if (removedIds.has(this.#ids[i])) continue;
      this.#ids[keptCount] = this.#ids[i];
      this.#matrices[keptCount++] = this.#matrices[i];
    }
    this.#count = keptCount;
  }

  /** Hands the transforms to the service, for the update() that follows in the same task. */
  send(service: CollisionService): void {
    const count = this.#count;
    this.#count = 0;
    this.#matrices.length = count; // holds no others
    service.moveObjects(this.#ids, this.#matrices, 0, count);
  }
}

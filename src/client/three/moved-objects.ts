import type { ObjectId } from '../../shared/types.js';
import type { CollisionService } from '../service.js';

/** Where the objects of a scene are that may have moved: all of them in one call, as there are thousands. */
export class MovedObjects {
  #ids = new Uint32Array(64);
  readonly #matrices: ArrayLike<number>[] = [];
  #count = 0;

  add(id: ObjectId, matrix: ArrayLike<number>): void {
    const count = this.#count;
    if (count === this.#ids.length) this.#grow();
    this.#ids[count] = id;
    this.#matrices[count] = matrix;
    this.#count = count + 1;
  }

  clear(): void {
    this.#count = 0;
  }

  /** For the update() that follows in the same task. */
  send(service: CollisionService): void {
    const count = this.#count;
    this.#count = 0;
    this.#matrices.length = count; // what is gone is not held
    service.moveObjects(this.#ids, this.#matrices, count);
  }

  #grow(): void {
    const ids = new Uint32Array(2 * this.#ids.length);
    ids.set(this.#ids);
    this.#ids = ids;
  }
}

import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';

/** Collects where the objects of a scene are that may have moved, for one call: there are thousands. */
export class MovedTransforms {
  /** They hold the ids of `count` objects and their matrices. Who adds many writes here, where `reserve` has made room. */
  ids = new Uint32Array(64);
  readonly matrices: ArrayLike<number>[] = [];
  count = 0;

  add(id: ObjectId, matrix: ArrayLike<number>): void {
    this.reserve(1);
    this.ids[this.count] = id;
    this.matrices[this.count++] = matrix;
  }

  /** Makes room for so many more. */
  reserve(more: number): void {
    const needed = this.count + more;
    if (needed > this.ids.length) this.ids = grown(this.ids, needed);
  }

  clear(): void {
    this.count = 0;
  }

  /** Forgets objects that are removed in the same frame. */
  forget(removed: ArrayLike<ObjectId>): void {
    if (this.count === 0) return;
    const gone = new Set(Array.from(removed));
    let kept = 0;
    for (let i = 0; i < this.count; i++) {
      if (gone.has(this.ids[i])) continue;
      this.ids[kept] = this.ids[i];
      this.matrices[kept++] = this.matrices[i];
    }
    this.count = kept;
  }

  /** Hands the transforms to the service, for the update() that follows in the same task. */
  send(service: CollisionService): void {
    const { count } = this;
    this.count = 0;
    this.matrices.length = count; // what is gone is not held
    service.moveObjects(this.ids, this.matrices, 0, count);
  }
}

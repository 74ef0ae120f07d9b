import type { ObjectId } from '../../../shared/types.js';
import { grown } from '../../scene/id-table.js';
import type { CollisionService } from '../../service.js';

/** Where the objects of a scene are that may have moved: all of them in one call, as there are thousands. */
export class MovedObjects {
  /** Of `count` objects: their ids and matrices. Who adds many writes them here, where `reserve` has made room. */
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

  /** For the update() that follows in the same task. */
  send(service: CollisionService): void {
    const { count } = this;
    this.count = 0;
    this.matrices.length = count; // what is gone is not held
    service.moveObjects(this.ids, this.matrices, count);
  }
}

import { grown } from '../../../shared/typed-arrays.js';
import type { CollisionService } from '../../service.js';
import type { MovedTransforms } from './moved-transforms.js';

/** Collects objects that go, for one call: thousands of Meshes leave a scene, each of which has one. */
export class RemovedObjects {
  readonly #service: CollisionService;
  readonly #moved: MovedTransforms;
  #ids = new Uint32Array(64);
  #count = 0;

  constructor(service: CollisionService, moved: MovedTransforms) {
    this.#service = service;
    this.#moved = moved;
  }

  /** Adds ids that have just left the tracker's tables. */
  add(ids: Uint32Array): void {
    const count = this.#count + ids.length;
    if (count > this.#ids.length) this.#ids = grown(this.#ids, count);
    this.#ids.set(ids, this.#count);
    this.#count = count;
  }

  /** Tells the service: before their meshes are removed, and in the task in which they have left. */
  flush(): void {
    const count = this.#count;
    if (count === 0) return;
    this.#count = 0;
    const ids = this.#ids.subarray(0, count);
    this.#moved.forget(ids);
    this.#service.removeObjects(ids);
  }
}

import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';

/** So many are told at once: their ids are handed over and not copied, and code that has not run yet is compiled in between. */
const MOST = 4096;

/** Collects objects that go to other layers, for one call: an ancestor may hide thousands. */
export class LayerChanges {
  readonly #service: CollisionService;
  #ids = new Uint32Array(64);
  #count = 0;
  #layers = 0;

  constructor(service: CollisionService) {
    this.#service = service;
  }

  set(id: ObjectId, layers: number): void {
    if (layers !== this.#layers || this.#count === MOST) this.flush(); // in order: one may be changed twice
    this.#layers = layers;
    if (this.#count === this.#ids.length) this.#ids = grown(this.#ids);
    this.#ids[this.#count++] = id;
  }

  /** Does it for many in a row. */
  setAll(ids: Uint32Array, layers: number): void {
    this.flush();
    if (ids.length > 0) this.#service.setLayers(ids, layers);
  }

  /** Tells the service. */
  flush(): void {
    const count = this.#count;
    if (count === 0) return;
    this.#count = 0;
    this.#service.setLayers(this.#ids.subarray(0, count), this.#layers);
  }
}

import { slotOf } from '../../../shared/ids.js';
import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';

/** Most objects per call: their ids are handed over without a copy, and code that has not run yet is compiled between calls. */
const MOST = 4096;

/** Objects that change to the same layers. */
interface Group {
  readonly layers: number;
  ids: Uint32Array;
  count: number;
}

/**
 * Collects objects that change layers, to make few calls: an ancestor may hide thousands. Objects to hide and to show may
 * alternate: one call for each of 250,000 took seconds.
 */
export class LayerChanges {
  readonly #service: CollisionService;
  #groups: Group[] = [];
  #last: Group | undefined;
  /** 1 for each slot whose id is in a group. */
  #listed = new Uint8Array(64);

  constructor(service: CollisionService) {
    this.#service = service;
  }

  set(id: ObjectId, layers: number): void {
    const slot = slotOf(id);
    if (slot >= this.#listed.length) this.#listed = grown(this.#listed, slot + 1);
    if (this.#listed[slot] === 1) this.flush(); // a second change must follow the first
    this.#listed[slot] = 1;
    const group = this.#groupOf(layers);
    if (group.count === MOST) this.#tell(group);
    if (group.count === group.ids.length) group.ids = grown(group.ids);
    group.ids[group.count++] = id;
  }

  /** Sets the layers of many objects at once. */
  setAll(ids: Uint32Array, layers: number): void {
    this.flush();
    if (ids.length > 0) this.#service.setLayers(ids, layers);
  }

  /** Sends the changes to the service. */
  flush(): void {
    const groups = this.#groups;
    this.#groups = [];
    this.#last = undefined;
    for (const group of groups) this.#tell(group);
  }

  #groupOf(layers: number): Group {
    if (this.#last?.layers === layers) return this.#last;
    let group = this.#groups.find((each) => each.layers === layers);
    if (group === undefined) {
      group = { layers, ids: new Uint32Array(64), count: 0 };
      this.#groups.push(group);
    }
    this.#last = group;
    return group;
  }

  #tell(group: Group): void {
    const { ids, count, layers } = group;
    if (count === 0) return;
    group.count = 0;
    for (let i = 0; i < count; i++) this.#listed[slotOf(ids[i])] = 0;
    this.#service.setLayers(ids.subarray(0, count), layers);
  }
}

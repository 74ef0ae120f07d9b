import { slotOf } from '../../../shared/ids.js';
import { grown } from '../../../shared/typed-arrays.js';
import type { ObjectId } from '../../../shared/types.js';
import type { CollisionService } from '../../service.js';

/** Most objects per call: their ids are handed over without a copy, and code that has not run yet is compiled between calls. */
const MAX_OBJECTS_PER_CALL = 4096;

/** Objects that change to the same layers. */
interface LayerGroup {
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
  #groups: LayerGroup[] = [];
  #lastGroup: LayerGroup | undefined;
  /** 1 for each slot whose id is in a group. */
  #isSlotListed = new Uint8Array(64);

  constructor(service: CollisionService) {
    this.#service = service;
  }

  set(id: ObjectId, layers: number): void {
    const slot = slotOf(id);
    if (slot >= this.#isSlotListed.length) this.#isSlotListed = grown(this.#isSlotListed, slot + 1);
    if (this.#isSlotListed[slot] === 1) this.flush(); // a second change must follow the first
    this.#isSlotListed[slot] = 1;
    const group = this.#groupOf(layers);
    if (group.count === MAX_OBJECTS_PER_CALL) this.#sendGroup(group);
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
    this.#lastGroup = undefined;
    for (const group of groups) this.#sendGroup(group);
  }

  #groupOf(layers: number): LayerGroup {
    if (this.#lastGroup?.layers === layers) return this.#lastGroup;
    let group = this.#groups.find((each) => each.layers === layers);
    if (group === undefined) {
      group = { layers, ids: new Uint32Array(64), count: 0 };
      this.#groups.push(group);
    }
    this.#lastGroup = group;
    return group;
  }

  #sendGroup(group: LayerGroup): void {
    const { ids, count, layers } = group;
    if (count === 0) return;
    group.count = 0;
    for (let i = 0; i < count; i++) this.#isSlotListed[slotOf(ids[i])] = 0;
    this.#service.setLayers(ids.subarray(0, count), layers);
  }
}

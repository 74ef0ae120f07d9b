import type { ObjectDescription } from '../../shared/commands.js';
import { slotOf } from '../../shared/ids.js';
import { grown } from '../../shared/typed-arrays.js';
import type { MeshId } from '../../shared/types.js';

/**
 * The descriptions of all objects. Each is kept once, and each object has the index of its own: a million pointers would be
 * work for the garbage collector. The layers are kept separately, since an ancestor may hide thousands of objects of as many kinds.
 */
export class Descriptions {
  /** The layers of the object in each slot, which override those of its description. */
  layers = new Uint32Array(64);
  /** The index of the description of the object in each slot. */
  #indices = new Uint32Array(64);
  /** The descriptions by index, and how many objects have each. */
  readonly #descriptions: (ObjectDescription | undefined)[] = [];
  readonly #useCounts: number[] = [];
  readonly #indexOf = new Map<ObjectDescription, number>();
  readonly #freeIndices: number[] = [];
  /** The last description that was derived from another one, for other layers. */
  #derived: { of: ObjectDescription; description: ObjectDescription } | null = null;

  /** Makes room for this many slots. */
  reserve(slots: number): void {
    if (slots <= this.layers.length) return;
    this.layers = grown(this.layers, slots);
    this.#indices = grown(this.#indices, slots);
  }

  /** Returns the description of the object in a slot; the same one for all objects that share it and the layers. */
  at(slot: number): ObjectDescription {
    const layers = this.layers[slot];
    const description = this.#descriptions[this.#indices[slot]]!;
    if (description.layers === layers) return description;
    let derived = this.#derived;
    if (derived?.of !== description || derived.description.layers !== layers) {
      derived = { of: description, description: { ...description, layers } };
      this.#derived = derived;
    }
    this.change(slot, derived.description);
    return derived.description;
  }

  meshOf(slot: number): MeshId {
    return this.#descriptions[this.#indices[slot]]!.mesh;
  }

  /** Describes new objects. */
  set(ids: Uint32Array, description: ObjectDescription): void {
    const index = this.#retain(description, ids.length);
    for (let i = 0; i < ids.length; i++) {
      const slot = slotOf(ids[i]);
      if (slot >= this.layers.length) this.reserve(slot + 1);
      this.#indices[slot] = index;
      this.layers[slot] = description.layers;
    }
  }

  change(slot: number, description: ObjectDescription): void {
    const index = this.#retain(description, 1);
    this.delete(slot);
    this.#indices[slot] = index;
    this.layers[slot] = description.layers;
  }

  /** Forgets the description of the object in a slot. */
  delete(slot: number): void {
    const index = this.#indices[slot];
    if (--this.#useCounts[index] > 0) return;
    this.#indexOf.delete(this.#descriptions[index]!);
    this.#descriptions[index] = undefined;
    this.#freeIndices.push(index);
  }

  #retain(description: ObjectDescription, count: number): number {
    let index = this.#indexOf.get(description);
    if (index === undefined) {
      index = this.#freeIndices.pop() ?? this.#descriptions.length;
      this.#descriptions[index] = description;
      this.#useCounts[index] = 0;
      this.#indexOf.set(description, index);
    }
    this.#useCounts[index] += count;
    return index;
  }
}

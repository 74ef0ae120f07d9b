import type { ObjectDescription } from '../../shared/commands.js';
import { slotOf } from '../../shared/ids.js';
import { grown } from '../../shared/typed-arrays.js';
import type { MeshId } from '../../shared/types.js';

/**
 * The descriptions of all objects. Each is kept once, and each object has the number of its own: a million pointers would be
 * work for the garbage collector. The layers are kept separately, since an ancestor may hide thousands of objects of as many kinds.
 */
export class Descriptions {
  /** The layers of the object in each slot, which override those of its description. */
  layers = new Uint32Array(64);
  /** The number of the description of the object in each slot. */
  #numbers = new Uint32Array(64);
  /** The descriptions by number, and how many objects have each. */
  readonly #all: (ObjectDescription | undefined)[] = [];
  readonly #uses: number[] = [];
  readonly #numberOf = new Map<ObjectDescription, number>();
  readonly #free: number[] = [];
  /** The last description that was derived from another one, for other layers. */
  #other: { of: ObjectDescription; description: ObjectDescription } | null = null;

  /** Makes room for this many slots. */
  reserve(slots: number): void {
    if (slots <= this.layers.length) return;
    this.layers = grown(this.layers, slots);
    this.#numbers = grown(this.#numbers, slots);
  }

  /** Returns the description of the object in a slot; the same one for all objects that share it and the layers. */
  at(slot: number): ObjectDescription {
    const layers = this.layers[slot];
    const description = this.#all[this.#numbers[slot]]!;
    if (description.layers === layers) return description;
    let other = this.#other;
    if (other?.of !== description || other.description.layers !== layers) {
      other = { of: description, description: { ...description, layers } };
      this.#other = other;
    }
    this.change(slot, other.description);
    return other.description;
  }

  meshOf(slot: number): MeshId {
    return this.#all[this.#numbers[slot]]!.mesh;
  }

  /** Describes new objects. */
  set(ids: Uint32Array, description: ObjectDescription): void {
    const number = this.#retain(description, ids.length);
    for (let i = 0; i < ids.length; i++) {
      const slot = slotOf(ids[i]);
      if (slot >= this.layers.length) this.reserve(slot + 1);
      this.#numbers[slot] = number;
      this.layers[slot] = description.layers;
    }
  }

  change(slot: number, description: ObjectDescription): void {
    const number = this.#retain(description, 1);
    this.delete(slot);
    this.#numbers[slot] = number;
    this.layers[slot] = description.layers;
  }

  /** Forgets the description of the object in a slot. */
  delete(slot: number): void {
    const number = this.#numbers[slot];
    if (--this.#uses[number] > 0) return;
    this.#numberOf.delete(this.#all[number]!);
    this.#all[number] = undefined;
    this.#free.push(number);
  }

  #retain(description: ObjectDescription, count: number): number {
    let number = this.#numberOf.get(description);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#all.length;
      this.#all[number] = description;
      this.#uses[number] = 0;
      this.#numberOf.set(description, number);
    }
    this.#uses[number] += count;
    return number;
  }
}

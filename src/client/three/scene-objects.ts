import type { Object3D } from 'three';
import { slotOf } from '../../shared/ids.js';
import type { ObjectId } from '../../shared/types.js';
import type { Part } from './part.js';

/** What an id of the service is in the scene. */
export interface SceneObject {
  readonly object: Object3D;
  /** Number of the instance in an InstancedMesh; undefined for other objects, as in three's Intersection. */
  readonly instanceId: number | undefined;
}

/** The same, with what the tracker knows of it. */
export interface Placement extends SceneObject {
  readonly id: ObjectId;
  readonly part: Part;
}

/** Finds the scene's objects by the service's ids. */
export class SceneObjects {
  readonly #slots: (Placement | undefined)[] = [];
  readonly #left: Placement[] = [];
  #queries = 0;

  get(id: ObjectId): Placement | undefined {
    const placement = this.#slots[slotOf(id)];
    return placement?.id === id ? placement : undefined;
  }

  add(placement: Placement): void {
    this.#slots[slotOf(placement.id)] = placement;
  }

  remove(id: ObjectId): void {
    const placement = this.get(id);
    if (placement === undefined) return;
    this.#slots[slotOf(id)] = undefined;
    if (this.#queries > 0) this.#left.push(placement);
  }

  /**
   * Runs `query` and finds the object of its answer, even if that left the scene meanwhile. The answer holds
   * for the frame that it saw.
   */
  async during<T>(query: (find: (id: ObjectId) => Placement | undefined) => Promise<T>): Promise<T> {
    this.#queries++;
    try {
      return await query((id) => this.get(id) ?? this.#left.find((placement) => placement.id === id));
    } finally {
      if (--this.#queries === 0) this.#left.length = 0;
    }
  }
}

import type { Object3D } from 'three';
import { slotOf } from '../../../shared/ids.js';
import type { ObjectId } from '../../../shared/types.js';
import type { BuiltMesh } from '../geometry/mesh-pool.js';

/** What an id of the service is in the scene. */
export interface SceneObject {
  readonly object: Object3D;
  /** Number of the instance in an InstancedMesh; undefined for other objects, as in three's Intersection. */
  readonly instanceId: number | undefined;
}

/** The same, with what the tracker knows of it. */
export interface Placement extends SceneObject {
  readonly id: ObjectId;
  readonly standIn: Placed;
}

/** What stands in the service under the ids of an object. */
export interface Placed {
  readonly owner: PlacedOwner;
  /** Answers what a query saw, by its number; null where the caller gave the shape. */
  seenBy(query: number): BuiltMesh | null;
}

/** The object in the scene that it stands for. */
export interface PlacedOwner {
  /** Hides an instance of which the service did not take the matrix, unless it has got a better one since. */
  reject(index: number): void;
}

const NONE: ReadonlyMap<ObjectId, Placement> = new Map();

/** Finds the scene's objects by the service's ids. */
export class SceneObjects {
  readonly #slots: (Placement | undefined)[] = [];
  /**
   * What left the scene, with the newest query that may have seen it, until that is answered. These numbers ascend in
   * the map's order; no id is ever given twice.
   */
  readonly #departed = new Map<ObjectId, { placement: Placement; asked: number }>();
  #queries = 0;
  readonly #unanswered = new Set<number>();

  /** Answers the number of the query that was asked last. */
  get newestQuery(): number {
    return this.#queries;
  }

  /** Answers the number of the oldest query without an answer; infinite where there is none. */
  get oldestQuery(): number {
    const [oldest = Number.POSITIVE_INFINITY] = this.#unanswered;
    return oldest;
  }

  /** Copies what left the scene and may be in an answer that is on its way, by its ids. */
  get departed(): ReadonlyMap<ObjectId, Placement> {
    if (this.#departed.size === 0) return NONE;
    return new Map(Array.from(this.#departed, ([id, { placement }]) => [id, placement]));
  }

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
    if (this.#unanswered.size > 0) this.#departed.set(id, { placement, asked: this.#queries });
  }

  /** Runs `query` under a number of its own. Until it is answered, `find` finds what leaves the scene meanwhile. */
  async during<T>(query: (number: number) => Promise<T>): Promise<T> {
    const number = this.begin();
    try {
      return await query(number);
    } finally {
      this.end(number);
    }
  }

  /** Begins a query that `end` is to end, for what comes once a frame; answers its number. */
  begin(): number {
    const number = ++this.#queries;
    this.#unanswered.add(number);
    return number;
  }

  /** Ends the query of that number, and forgets what no other may have seen. */
  end(number: number): void {
    this.#unanswered.delete(number);
    if (this.#departed.size === 0) return;
    const { oldestQuery } = this;
    for (const [id, { asked }] of this.#departed) {
      if (asked >= oldestQuery) return;
      this.#departed.delete(id);
    }
  }

  /** Finds what an id in an answer was in the frame that the answer saw. */
  find(id: ObjectId): Placement | undefined {
    return this.get(id) ?? this.#departed.get(id)?.placement;
  }
}

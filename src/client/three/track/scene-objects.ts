import type { Object3D } from 'three';
import { slotOf } from '../../../shared/ids.js';
import type { ObjectId } from '../../../shared/types.js';
import type { Part } from './stand-in.js';

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

const NONE: readonly Placement[] = [];

/** Finds the scene's objects by the service's ids. */
export class SceneObjects {
  readonly #slots: (Placement | undefined)[] = [];
  /** What left the scene, with the newest query that may have seen it, until that is answered. */
  #left: { placement: Placement; asked: number }[] = [];
  #queries = 0;
  readonly #unanswered = new Set<number>();

  /** Number of the query that was asked last. */
  get newestQuery(): number {
    return this.#queries;
  }

  /** Number of the oldest query without an answer; infinite where there is none. */
  get oldestQuery(): number {
    const [oldest = Number.POSITIVE_INFINITY] = this.#unanswered;
    return oldest;
  }

  /** What left the scene and may be in an answer that is on its way. */
  get departed(): readonly Placement[] {
    return this.#left.length === 0 ? NONE : this.#left.map(({ placement }) => placement);
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
    if (this.#unanswered.size > 0) this.#left.push({ placement, asked: this.#queries });
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

  /** The same in two parts, for what comes once a frame: its number; and that it is answered. */
  begin(): number {
    const number = ++this.#queries;
    this.#unanswered.add(number);
    return number;
  }

  end(number: number): void {
    this.#unanswered.delete(number);
    if (this.#left.length > 0) this.#left = this.#left.filter(({ asked }) => asked >= this.oldestQuery);
  }

  /** As `get`, for an answer: that holds for the frame that it saw. */
  find(id: ObjectId): Placement | undefined {
    return this.get(id) ?? this.#left.find(({ placement }) => placement.id === id)?.placement;
  }
}

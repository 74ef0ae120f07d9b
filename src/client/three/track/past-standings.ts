import type { BuiltMesh } from '../geometry/shared-mesh.js';
import type { SceneObjects } from './scene-objects.js';

/** What stood under the id of an instance, with the newest query that may have seen it. */
interface Past {
  readonly standing: BuiltMesh | null;
  readonly asked: number;
}

/** What stood under the ids of instances before, for as long as an answer may speak of it. */
export class PastStandings {
  readonly #objects: SceneObjects;
  #past: Map<number, Past[]> | null = null;

  constructor(objects: SceneObjects) {
    this.#objects = objects;
  }

  /** Answers what a query saw of an instance; undefined where that is what stands there now. */
  seenBy(query: number, instance: number): BuiltMesh | null | undefined {
    return this.#past?.get(instance)?.find(({ asked }) => query <= asked)?.standing;
  }

  /** Notes that something else stands there from now on. */
  note(instance: number, standing: BuiltMesh | null): void {
    const { oldestQuery, newestQuery } = this.#objects;
    if (oldestQuery > newestQuery) {
      this.#past = null; // nobody waits for an answer
      return;
    }
    this.#past ??= new Map();
    const past = this.#past.get(instance)?.filter(({ asked }) => asked >= oldestQuery) ?? [];
    this.#past.set(instance, [...past, { standing, asked: newestQuery }]);
  }
}

import type { BuiltMesh } from '../geometry/shared-mesh.js';
import type { SceneObjects } from './scene-objects.js';

/** A former mesh of an instance, with the newest query that may have seen it. */
interface Past {
  readonly standing: BuiltMesh | null;
  readonly asked: number;
}

/** The former meshes of instances, for as long as an answer may refer to them. */
export class PastStandings {
  readonly #objects: SceneObjects;
  #past: Map<number, Past[]> | null = null;

  constructor(objects: SceneObjects) {
    this.#objects = objects;
  }

  /** Returns the mesh that a query saw for an instance; undefined if it is the present one. */
  seenBy(query: number, instance: number): BuiltMesh | null | undefined {
    return this.#past?.get(instance)?.find(({ asked }) => query <= asked)?.standing;
  }

  /** Notes that an instance has another mesh from now on; `standing` is the former one. */
  note(instance: number, standing: BuiltMesh | null): void {
    const { oldestQuery, newestQuery } = this.#objects;
    if (oldestQuery > newestQuery) {
      this.#past = null; // no answer is awaited
      return;
    }
    this.#past ??= new Map();
    const past = this.#past.get(instance)?.filter(({ asked }) => asked >= oldestQuery) ?? [];
    this.#past.set(instance, [...past, { standing, asked: newestQuery }]);
  }
}

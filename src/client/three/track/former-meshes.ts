import type { BuiltMesh } from '../geometry/shared-mesh.js';
import type { SceneObjects } from './scene-objects.js';

/** A former mesh of an instance, with the newest query that may have seen it. */
interface FormerMesh {
  readonly standing: BuiltMesh | null;
  readonly asked: number;
}

/** The former meshes of instances, for as long as an answer may refer to them. */
export class FormerMeshes {
  readonly #objects: SceneObjects;
  #formerMeshes: Map<number, FormerMesh[]> | null = null;

  constructor(objects: SceneObjects) {
    this.#objects = objects;
  }

  /** Returns the mesh that a query saw for an instance; undefined if it is the present one. */
  seenBy(queryId: number, instanceId: number): BuiltMesh | null | undefined {
    return this.#formerMeshes?.get(instanceId)?.find(({ asked }) => queryId <= asked)?.standing;
  }

  /** Notes that an instance has another mesh from now on; `mesh` is the former one. */
  note(instanceId: number, mesh: BuiltMesh | null): void {
    const { oldestQuery, newestQuery } = this.#objects;
    if (oldestQuery > newestQuery) {
      this.#formerMeshes = null; // no answer is awaited
      return;
    }
    this.#formerMeshes ??= new Map();
    const formerMeshes = this.#formerMeshes.get(instanceId)?.filter(({ asked }) => asked >= oldestQuery) ?? [];
    this.#formerMeshes.set(instanceId, [...formerMeshes, { standing: mesh, asked: newestQuery }]);
  }
}

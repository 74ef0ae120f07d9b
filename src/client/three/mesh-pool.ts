import type { BufferGeometry } from 'three';
import { CollisionError } from '../../shared/errors.js';
import type { MeshId } from '../../shared/types.js';
import type { CollisionService } from '../service.js';
import { meshDataOfRuns, runsOf, type TriangleRun } from './geometry.js';
import { GeometryVersion } from './geometry-version.js';

/** The service's mesh for a geometry or for some groups of it, built once for all objects that use it. */
export interface SharedMesh {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  /** Null until built, and where that fails. After a change of the geometry: the old one until the new is built. */
  readonly id: MeshId | null;
  /** Where the triangles of `id` are in the geometry. */
  readonly runs: readonly TriangleRun[];
  /** Why there is no `id`, if the last build failed. */
  readonly error: CollisionError | null;
}

/** The meshes of a tracker. They are built in the background; nothing changes for their users but in `sweep`. */
export class MeshPool {
  /** Counts the finished builds: while it stays, no mesh has another id or error. */
  revision = 0;

  readonly #service: CollisionService;
  readonly #onProgress: () => void;
  readonly #meshes = new Map<BufferGeometry, PooledMesh[]>();
  readonly #retired: MeshId[] = [];

  constructor(service: CollisionService, onProgress: () => void) {
    this.#service = service;
    this.#onProgress = onProgress;
  }

  acquire(geometry: BufferGeometry, groups: readonly number[] | null): SharedMesh {
    let meshes = this.#meshes.get(geometry);
    if (meshes === undefined) {
      meshes = [];
      this.#meshes.set(geometry, meshes);
    }
    let mesh = meshes.find((other) => other.groups?.join() === groups?.join());
    if (mesh === undefined) {
      mesh = new PooledMesh(geometry, groups);
      meshes.push(mesh);
      this.#build(mesh);
    }
    mesh.users++;
    return mesh;
  }

  release(shared: SharedMesh): void {
    const meshes = this.#meshes.get(shared.geometry);
    const mesh = meshes?.find((other) => other === shared);
    if (meshes === undefined || mesh === undefined || --mesh.users > 0) return;
    mesh.abort.abort();
    if (mesh.id !== null) this.#retired.push(mesh.id);
    meshes.splice(meshes.indexOf(mesh), 1);
    if (meshes.length === 0) this.#meshes.delete(shared.geometry);
  }

  /** Builds anew what changed. */
  refresh(): void {
    for (const meshes of this.#meshes.values()) {
      for (const mesh of meshes) {
        if (mesh.building === null && !mesh.version.equals(mesh.geometry)) this.#build(mesh);
      }
    }
  }

  /** Removes the meshes that nobody uses any more; call it when the objects that stood on them are gone. */
  sweep(): void {
    for (const id of this.#retired) this.#service.removeMesh(id);
    this.#retired.length = 0;
  }

  /** When all that is being built now is built. */
  async built(): Promise<void> {
    await Promise.all([...this.#meshes.values()].flat().map((mesh) => mesh.building));
  }

  /** Of all triangles, the part that is built. */
  get fraction(): number {
    let built = 0;
    let all = 0;
    for (const { fraction, triangles } of [...this.#meshes.values()].flat()) {
      built += fraction * triangles;
      all += triangles;
    }
    return all === 0 ? 1 : built / all;
  }

  #build(mesh: PooledMesh): void {
    mesh.version.copy(mesh.geometry);
    mesh.fraction = 0;
    mesh.building = this.#run(mesh).finally(() => {
      mesh.building = null;
      mesh.fraction = 1;
      this.revision++;
      this.#onProgress();
    });
  }

  async #run(mesh: PooledMesh): Promise<void> {
    const { signal } = mesh.abort;
    let id: MeshId | null = null;
    try {
      const runs = runsOf(mesh.geometry, mesh.groups);
      mesh.triangles = runs.reduce((sum, run) => sum + (run.end - run.start) / 3, 0);
      id = await this.#service.addMesh(meshDataOfRuns(mesh.geometry, runs), {
        signal,
        onProgress: (fraction) => {
          mesh.fraction = fraction;
          this.#onProgress();
        },
      });
      mesh.runs = runs;
      mesh.error = null;
    } catch (cause) {
      mesh.error = cause instanceof CollisionError ? cause : new CollisionError('BAD_DATA', `${cause}`, { cause });
    }
    if (signal.aborted) {
      if (id !== null) this.#service.removeMesh(id);
      return;
    }
    if (mesh.id !== null) this.#retired.push(mesh.id);
    mesh.id = id;
  }
}

class PooledMesh implements SharedMesh {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly version = new GeometryVersion();
  readonly abort = new AbortController();
  users = 0;
  id: MeshId | null = null;
  runs: readonly TriangleRun[] = [];
  error: CollisionError | null = null;
  /** The build under way; never rejects. */
  building: Promise<void> | null = null;
  /** Of the last build begun, 0 to 1; and its triangles. */
  fraction = 0;
  triangles = 0;

  constructor(geometry: BufferGeometry, groups: readonly number[] | null) {
    this.geometry = geometry;
    this.groups = groups;
  }
}

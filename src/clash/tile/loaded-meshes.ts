import { CollisionError, type CollisionService, type MeshData, type MeshId } from 'collision-worker';
import { hasCode, reasonOf, throwIfAborted } from '../check.js';

/** Provides meshes, by their numbers in the plan. */
export interface MeshSource {
  /** Resolves with a mesh that the caller owns. Rejects if it cannot be read. */
  load(mesh: number): Promise<MeshData | ArrayBuffer>;
}

export interface LoadedMesh {
  id: MeshId;
  closed: boolean;
}

/** The most meshes that are loaded at once: enough to join their messages. */
const MESHES_PER_BATCH = 128;

/** The meshes in a service: those of a tile, and of earlier tiles as many as there is room for (LRU). */
export class LoadedMeshes {
  readonly #service: CollisionService;
  readonly #source: MeshSource;
  readonly #maxSpareBytes: number;
  /** The least recently used first. */
  readonly #loaded = new Map<number, LoadedMesh>();

  /** Keeps no more than `maxSpareBytes` in addition to what a tile needs. */
  constructor(service: CollisionService, source: MeshSource, maxSpareBytes: number) {
    this.#service = service;
    this.#source = source;
    this.#maxSpareBytes = maxSpareBytes;
  }

  /** Loads meshes; resolves with those that could not be loaded, and why. No object may use a mesh meanwhile. */
  async load(meshes: readonly number[], signal: AbortSignal | undefined): Promise<Map<number, string>> {
    const failed = new Map<number, string>();
    const missing: number[] = [];
    const needed = new Set(meshes);
    for (const mesh of needed) {
      const loaded = this.#loaded.get(mesh);
      if (!loaded) missing.push(mesh);
      else {
        this.#loaded.delete(mesh);
        this.#loaded.set(mesh, loaded);
      }
    }
    this.#evict(this.#maxSpareBytes, needed);
    for (let first = 0; first < missing.length; first += MESHES_PER_BATCH) {
      throwIfAborted(signal);
      const batch = missing.slice(first, first + MESHES_PER_BATCH);
      await Promise.all(batch.map((mesh) => this.#loadOne(mesh, needed, failed)));
    }
    this.#evict(this.#maxSpareBytes, needed);
    return failed;
  }

  /** Returns a mesh of the last `load`. */
  get(mesh: number): LoadedMesh {
    return this.#loaded.get(mesh)!;
  }

  async #loadOne(mesh: number, needed: ReadonlySet<number>, failed: Map<number, string>): Promise<void> {
    try {
      this.#loaded.set(mesh, await this.#add(mesh).catch((error) => this.#addAfterEviction(mesh, error, needed)));
    } catch (error) {
      // If the worker is lost, the mesh is not to blame.
      if (hasCode(error, 'WORKER_LOST', 'DISPOSED')) throw error;
      failed.set(mesh, reasonOf(error));
    }
  }

  /** If there was not enough memory, tries once more without all meshes that are not needed. */
  #addAfterEviction(mesh: number, error: unknown, needed: ReadonlySet<number>): Promise<LoadedMesh> {
    if (!hasCode(error, 'OUT_OF_MEMORY')) throw error;
    this.#evict(0, needed);
    return this.#add(mesh);
  }

  async #add(mesh: number): Promise<LoadedMesh> {
    const id = await this.#service.addMesh(await this.#source.load(mesh), { transfer: true });
    const { topology, closed } = this.#service.meshInfo(id);
    if (topology === 'triangles') return { id, closed };
    this.#service.removeMesh(id);
    throw new CollisionError('UNSUPPORTED', `clash: the mesh is one of ${topology}, which have no surface`);
  }

  /** Removes meshes that are not needed, the least recently used first, until they take no more than `maxSpareBytes`. */
  #evict(maxSpareBytes: number, needed: ReadonlySet<number>): void {
    for (const [mesh, { id }] of this.#loaded) {
      if (this.#service.stats.meshBytes <= maxSpareBytes) return;
      if (needed.has(mesh)) continue;
      this.#loaded.delete(mesh);
      this.#service.removeMesh(id);
    }
  }
}

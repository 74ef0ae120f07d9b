import { CollisionError } from '../shared/errors.js';
import type { MeshUpdate, TreeInfo } from '../shared/protocol.js';
import type { MeshData, MeshId } from '../shared/types.js';
import type { Core, MeshAddress } from './binding/core.js';
import { blockLayout } from './snap/corners.js';
import { FeatureStore } from './snap/feature-store.js';
import { bytesWithoutFeatures, readFeatures } from './snap/features.js';

/** The cost of a refitted tree, relative to when it was built, from which on a new one is asked for. */
const REBUILD_COST = 2;

interface Entry {
  address: MeshAddress;
  /** How often all meshes had been kept when this came to its address. */
  keptBefore: number;
  /** The copy that an update is going to move, while the mesh itself is kept. */
  copy: MeshAddress | undefined;
  /** A tree was asked for and did not come yet. */
  isRebuilding: boolean;
  /**
   * The vertices that were given since the tree was asked for. The tree will be of older ones and takes these over when
   * it comes.
   */
  newest: Float32Array | undefined;
}

/**
 * The core's meshes by their ids.
 *
 * Work in slices reads meshes, and the address of a mesh stands for what it reads: so `keep` is called before it, and a
 * mesh that is changed or removed meanwhile leaves its address as it is until `release`. A copy is moved in its place.
 */
export class MeshTable {
  readonly #core: Core;
  readonly #entries = new Map<MeshId, Entry>();
  /** How often all meshes were kept. */
  #keeps = 0;
  #isKept = false;
  /** What nobody but work in slices reads. */
  readonly #retired: MeshAddress[] = [];

  /** What picks snap to. */
  readonly features: FeatureStore;

  constructor(core: Core) {
    this.#core = core;
    this.features = new FeatureStore(core.snaps.memoryOf);
  }

  load(id: MeshId, baked: ArrayBuffer): TreeInfo {
    const address = this.#loadWithFeatures(baked);
    const keptBefore = this.#keeps;
    this.#entries.set(id, { address, keptBefore, copy: undefined, isRebuilding: false, newest: undefined });
    return this.#core.meshInfo(address);
  }

  /** Puts a baked mesh into the core, and the features that are baked with it here. Throws BAD_DATA, OUT_OF_MEMORY. */
  #loadWithFeatures(baked: ArrayBuffer): MeshAddress {
    const bytes = bytesWithoutFeatures(baked);
    const address = this.#core.loadMesh(baked, bytes);
    if (bytes === baked.byteLength) return address;
    const { size, count, lanes } = blockLayout(this.#core.snaps.memoryOf(), address);
    const features = readFeatures(baked, bytes, size, count * lanes);
    if (features !== null) {
      this.features.load(address, features);
      return address;
    }
    this.#core.freeMesh(address);
    const message = `the features that are baked with the mesh were changed (${baked.byteLength} bytes given)`;
    throw new CollisionError('BAD_DATA', message);
  }

  addressOf(id: MeshId): MeshAddress {
    return this.#get(id).address;
  }

  /** Tells whether a mesh is at an address, and not only kept there. */
  hasAt(address: MeshAddress): boolean {
    for (const entry of this.#entries.values()) if (entry.address === address) return true;
    return false;
  }

  remove(id: MeshId): void {
    const entry = this.#get(id);
    this.#dropCopy(entry);
    this.#retire(entry);
    this.#entries.delete(id);
  }

  /** Keeps all meshes as they are now, for work that is going to read them in slices. */
  keep(): void {
    this.#keeps++;
    this.#isKept = true;
  }

  /** Frees what was kept, when no work in slices reads meshes any more. */
  release(): void {
    this.#isKept = false;
    for (const address of this.#retired.splice(0)) this.#free(address);
    for (const entry of this.#entries.values()) this.#dropCopy(entry);
  }

  /** Makes room for the next `update` of a mesh, while it is kept. Throws OUT_OF_MEMORY. */
  prepareUpdate(id: MeshId): void {
    const entry = this.#entries.get(id);
    if (entry && this.#isRead(entry)) entry.copy ??= this.#core.copyMesh(entry.address);
  }

  /** Moves the vertices of a mesh. Where this throws, the mesh is as it was. */
  update(id: MeshId, positions: Float32Array): MeshUpdate {
    this.prepareUpdate(id);
    const entry = this.#get(id);
    const isInEffect = this.#core.refitMesh(entry.copy ?? entry.address, positions);
    if (isInEffect && entry.copy !== undefined) {
      this.features.moved(entry.address, entry.copy);
      this.#moveTo(entry, entry.copy);
      entry.copy = undefined;
    } else if (isInEffect) {
      this.features.moved(entry.address, entry.address);
    }
    const info = this.#core.meshInfo(entry.address);
    let rebuild: MeshData | undefined;
    if (entry.isRebuilding) entry.newest = positions;
    else if (!isInEffect || info.cost >= REBUILD_COST) rebuild = this.#askForTree(entry, positions);
    return { info, isInEffect, rebuild };
  }

  /** Takes the tree that was asked for; null where there will be none. */
  replace(id: MeshId, baked: ArrayBuffer | null): MeshUpdate {
    const entry = this.#get(id);
    const { newest } = entry;
    entry.isRebuilding = false;
    entry.newest = undefined;
    const isInEffect = baked !== null && this.#put(entry, baked, newest);
    const info = this.#core.meshInfo(entry.address);
    const isWanting = baked !== null && (!isInEffect || info.cost >= REBUILD_COST);
    return { info, isInEffect, rebuild: isWanting && newest ? this.#askForTree(entry, newest) : undefined };
  }

  /**
   * Puts a new tree, moved to the newest positions, in the place of the old one. Answers false where it cannot take
   * these positions.
   */
  #put(entry: Entry, baked: ArrayBuffer, newest: Float32Array | undefined): boolean {
    const core = this.#core;
    const address = core.loadMesh(baked);
    try {
      if (newest === undefined || this.#canTake(address, newest)) {
        this.features.replaced(entry.address, address);
        this.#moveTo(entry, address);
        this.#dropCopy(entry);
        return true;
      }
    } catch (error) {
      core.freeMesh(address);
      throw error;
    }
    core.freeMesh(address);
    return false;
  }

  /** Puts a mesh in the place of what an entry has. */
  #moveTo(entry: Entry, address: MeshAddress): void {
    this.#core.replaceMesh(entry.address, address);
    this.#retire(entry);
    entry.address = address;
    entry.keptBefore = this.#keeps;
  }

  /** Frees what is at an entry's address, as soon as nobody reads it. */
  #retire(entry: Entry): void {
    if (this.#isRead(entry)) this.#retired.push(entry.address);
    else this.#free(entry.address);
  }

  #free(address: MeshAddress): void {
    this.features.remove(address);
    this.#core.freeMesh(address);
  }

  /** Tells whether work in slices may read what is at an entry's address. */
  #isRead(entry: Entry): boolean {
    return this.#isKept && entry.keptBefore < this.#keeps;
  }

  #dropCopy(entry: Entry): void {
    if (entry.copy !== undefined) this.#core.freeMesh(entry.copy);
    entry.copy = undefined;
  }

  /**
   * Tells whether a tree can take positions, and moves it to them if so. What one tree takes, another may not: it has
   * other triangles.
   */
  #canTake(address: MeshAddress, positions: Float32Array): boolean {
    try {
      return this.#core.refitMesh(address, positions);
    } catch (error) {
      if (CollisionError.is(error) && error.code === 'BAD_DATA') return false;
      throw error;
    }
  }

  #askForTree(entry: Entry, positions: Float32Array): MeshData {
    const indices = this.#core.meshIndices(entry.address);
    const { topology } = this.#core.meshInfo(entry.address);
    const deform = this.#core.meshDeform(entry.address);
    entry.isRebuilding = true;
    return indices ? { positions, indices, topology, ...deform } : { positions, topology, ...deform };
  }

  #get(id: MeshId): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new CollisionError('UNKNOWN_ID', `mesh is ${id}, which is not in the worker`);
    return entry;
  }
}

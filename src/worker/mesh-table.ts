import { CollisionError } from '../shared/errors.js';
import type { MeshUpdate, TreeInfo } from '../shared/protocol.js';
import type { MeshData, MeshId } from '../shared/types.js';
import type { Core, MeshAddress } from './binding/core.js';

/** The cost of a refitted tree, relative to when it was built, from which on a new one is asked for. */
const REBUILD_COST = 2;

interface Entry {
  address: MeshAddress;
  /** A tree was asked for and did not come yet. */
  isRebuilding: boolean;
  /**
   * The vertices that were given since the tree was asked for. The tree will be of older ones and takes these over when
   * it comes.
   */
  newest: Float32Array | undefined;
}

/** The core's meshes by their ids. */
export class MeshTable {
  readonly #core: Core;
  readonly #entries = new Map<MeshId, Entry>();

  constructor(core: Core) {
    this.#core = core;
  }

  load(id: MeshId, baked: ArrayBuffer): TreeInfo {
    const address = this.#core.loadMesh(baked);
    this.#entries.set(id, { address, isRebuilding: false, newest: undefined });
    return this.#core.meshInfo(address);
  }

  addressOf(id: MeshId): MeshAddress {
    return this.#get(id).address;
  }

  remove(id: MeshId): void {
    this.#core.freeMesh(this.addressOf(id));
    this.#entries.delete(id);
  }

  /** Moves the vertices of a mesh. Where this throws, the mesh is as it was. */
  update(id: MeshId, positions: Float32Array): MeshUpdate {
    const entry = this.#get(id);
    const isInEffect = this.#core.refitMesh(entry.address, positions);
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
        core.replaceMesh(entry.address, address);
        entry.address = address;
        return true;
      }
    } catch (error) {
      core.freeMesh(address);
      throw error;
    }
    core.freeMesh(address);
    return false;
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
    entry.isRebuilding = true;
    return indices ? { positions, indices } : { positions };
  }

  #get(id: MeshId): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new CollisionError('UNKNOWN_ID', `mesh is ${id}, which is not in the worker`);
    return entry;
  }
}

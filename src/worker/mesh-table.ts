import { bytesWithoutBoxes } from '../shared/baked-boxes.js';
import type { BakedSource } from '../shared/baked-source.js';
import { CollisionError } from '../shared/errors.js';
import type { MeshUpdate, TreeInfo } from '../shared/protocol.js';
import type { MeshData, MeshId } from '../shared/types.js';
import type { Core, MeshAddress, MeshLoad, MeshRefit } from './binding/core.js';
import { runToEnd, type Steps } from './binding/steps.js';
import { blockLayout } from './snap/corners.js';
import { FeatureStore } from './snap/feature-store.js';
import { bytesWithoutFeatures, readFeatures } from './snap/features.js';

/** Cost of a refitted tree, relative to its cost when it was built, from which on a new tree is requested. */
const REBUILD_COST = 2;

/**
 * Up to this many bytes (100,000 triangles, or 30 ms), vertices are moved in one piece: the frame that follows should see the
 * mesh as it is drawn. A larger one, of 18 million triangles, takes 5.7 s, and nobody should wait that long.
 */
const ONE_PIECE_BYTES = 8 << 20;

interface Entry {
  address: MeshAddress;
  /** How many times all meshes had been kept when this one came to its address. */
  keptBefore: number;
  /** Whether a tree was requested and has not arrived yet. */
  isRebuilding: boolean;
  /**
   * The vertices that were given since the tree was requested. The tree is built from older ones and is moved to these when it
   * arrives.
   */
  newest: Float32Array | undefined;
}

/**
 * The core's meshes by their ids.
 *
 * Work in slices reads meshes by address. So `keep` is called before it, and if a mesh is changed or removed meanwhile, the data
 * at its address stay as they are until `release`; a copy is moved instead.
 */
export class MeshTable {
  readonly #core: Core;
  readonly #entries = new Map<MeshId, Entry>();
  /** Where the meshes of all entries are. */
  readonly #addresses = new Set<MeshAddress>();
  /** The copies that the next updates will move, while the meshes themselves are kept. */
  readonly #copies = new Map<Entry, MeshAddress>();
  /** Loads that are under way. */
  readonly #loads = new Map<MeshId, MeshLoad>();
  /** How many times all meshes were kept. */
  #keepCount = 0;
  #isKept = false;
  /** Addresses that nobody but work in slices reads any more. */
  readonly #retired: MeshAddress[] = [];

  /** Features that picks snap to. */
  readonly features: FeatureStore;

  constructor(core: Core) {
    this.#core = core;
    this.features = new FeatureStore(core.snaps);
  }

  load(id: MeshId, baked: ArrayBuffer, isTrusted = false): TreeInfo {
    this.beginLoad(id, baked, isTrusted);
    let info: TreeInfo | undefined;
    while (!info) info = this.stepLoad(id, Infinity);
    return info;
  }

  /**
   * Begins to load a mesh in steps, along with the features that are baked with it; a trusted one is not validated. Throws
   * OUT_OF_MEMORY.
   */
  beginLoad(id: MeshId, baked: ArrayBuffer, isTrusted: boolean): void {
    const end = bytesWithoutBoxes(baked);
    const bytes = bytesWithoutFeatures(baked, end);
    const load = this.#core.beginLoad(baked, bytes, isTrusted);
    this.#loads.set(id, bytes === end ? load : this.#withFeatures(load, baked, bytes, end));
  }

  /** Begins to load a mesh whose bytes are still to arrive, with no features behind it. Throws OUT_OF_MEMORY. */
  beginLoadOf(id: MeshId, baked: BakedSource, isTrusted: boolean): void {
    this.#loads.set(id, this.#core.beginLoad(baked, baked.bytes, isTrusted));
  }

  /** Returns whether a load cannot proceed before more bytes arrive. */
  isWaiting(id: MeshId): boolean {
    return this.#loads.get(id)?.isWaiting() === true;
  }

  /**
   * Continues loading for about `budget` milliseconds. Returns the mesh's info when the load is done. Throws BAD_DATA, and
   * ABORTED if the mesh was removed meanwhile.
   */
  stepLoad(id: MeshId, budget: number): TreeInfo | undefined {
    const load = this.#loads.get(id);
    if (!load) throw meshRemoved(id);
    let address: MeshAddress;
    try {
      if (!load.step(budget)) return undefined;
      address = load.finish();
    } catch (error) {
      this.#loads.delete(id);
      throw error;
    }
    this.#loads.delete(id);
    const keptBefore = this.#keepCount;
    this.#entries.set(id, { address, keptBefore, isRebuilding: false, newest: undefined });
    this.#addresses.add(address);
    return this.#core.meshInfo(address);
  }

  /** A load that continues with the features behind the mesh once the mesh is loaded. */
  #withFeatures(load: MeshLoad, baked: ArrayBuffer, bytes: number, end: number): MeshLoad {
    let address: MeshAddress = 0;
    let reading: Steps<void> | undefined;
    const step = (budget: number): boolean => {
      const deadline = performance.now() + budget;
      if (!reading) {
        if (!load.step(budget)) return false;
        address = load.finish();
        reading = this.#readFeatures(address, baked, bytes, end);
      }
      do {
        if (reading.next().done) return true;
      } while (performance.now() < deadline);
      return false;
    };
    const abort = () => (reading ? reading.return() : load.abort());
    return { ...load, step, finish: () => address, abort };
  }

  /** Reads the features that are baked with a mesh. If it ends before it is done, the mesh is freed. Throws BAD_DATA. */
  *#readFeatures(address: MeshAddress, baked: ArrayBuffer, bytes: number, end: number): Steps<void> {
    let isDone = false;
    try {
      const { size, count, lanes } = blockLayout(this.#core.snaps.getMemory(), address);
      const features = yield* readFeatures(baked, bytes, end, size, count * lanes);
      if (features === null) throw new CollisionError('BAD_DATA', 'the baked features were changed');
      yield* this.features.load(address, features);
      isDone = true;
    } finally {
      if (!isDone) this.#core.freeMesh(address);
    }
  }

  addressOf(id: MeshId): MeshAddress {
    return this.#get(id).address;
  }

  /** Returns whether a live mesh is at an address, and not one that is only kept there. */
  hasMeshAt(address: MeshAddress): boolean {
    return this.#addresses.has(address);
  }

  remove(id: MeshId): void {
    const load = this.#loads.get(id);
    if (load) {
      load.abort();
      this.#loads.delete(id);
      return;
    }
    const entry = this.#get(id);
    this.#dropCopy(entry);
    this.#retire(entry);
    this.#entries.delete(id);
  }

  /** Keeps all meshes as they are now, for work that will read them in slices. */
  keep(): void {
    this.#keepCount++;
    this.#isKept = true;
  }

  /** Frees what was kept, once no sliced work reads meshes any more. */
  release(): void {
    this.#isKept = false;
    for (const address of this.#retired.splice(0)) this.#free(address);
    for (const entry of this.#copies.keys()) this.#dropCopy(entry);
  }

  /** Makes room for the next `update` of a mesh while the mesh is kept. Throws OUT_OF_MEMORY. */
  prepareUpdate(id: MeshId): void {
    const entry = this.#entries.get(id);
    if (!entry || !this.#isRead(entry) || this.#copies.has(entry)) return;
    this.#copies.set(entry, this.#core.copyMesh(entry.address));
  }

  /** Returns whether the vertices of a mesh are moved in slices, because it is so large that a pick would have to wait. */
  isLarge(id: MeshId): boolean {
    const entry = this.#entries.get(id);
    return entry !== undefined && this.#core.meshInfo(entry.address).bytes > ONE_PIECE_BYTES;
  }

  /** Moves the vertices of a mesh. If this throws, the mesh is unchanged. */
  update(id: MeshId, positions: Float32Array): MeshUpdate {
    this.prepareUpdate(id);
    const entry = this.#get(id);
    const copy = this.#copies.get(entry);
    const isInEffect = this.#core.refitMesh(copy ?? entry.address, positions);
    if (isInEffect && copy !== undefined) {
      this.#replaceMesh(entry, copy, true);
      this.#copies.delete(entry);
    } else if (isInEffect) {
      this.features.onMoved(entry.address, entry.address);
    }
    return runToEnd(this.#finishUpdate(id, entry, positions, isInEffect));
  }

  /**
   * Like `update`, but moves a copy, which finally replaces the mesh, in slices of `budget` milliseconds; `mayReplace` returns
   * whether it may be replaced now. Nobody else may update or replace the mesh meanwhile. Throws ABORTED if the mesh was removed.
   */
  *updateInSlices(
    id: MeshId,
    positions: Float32Array,
    budget: number,
    mayReplace: () => boolean,
  ): Generator<void, MeshUpdate> {
    const entry = this.#liveEntry(id);
    let refit: MeshRefit | undefined;
    let isInEffect: boolean;
    try {
      refit = this.#core.beginRefit(entry.address, positions, true);
      isInEffect = yield* this.#finish(id, entry, refit, budget);
      if (isInEffect) {
        yield* this.#waitUntil(id, entry, mayReplace);
        this.#replaceOrFree(entry, refit.finish());
      }
      refit.abort();
    } catch (error) {
      refit?.abort();
      // If there is no room for a second mesh, the mesh itself is moved, in one piece.
      if (CollisionError.is(error) && error.code === 'OUT_OF_MEMORY') {
        yield* this.#waitUntil(id, entry, mayReplace);
        return this.update(id, positions);
      }
      throw error;
    }
    return yield* this.#finishUpdate(id, entry, positions, isInEffect);
  }

  /** Records the outcome of an update, and requests a new tree if needed. */
  *#finishUpdate(id: MeshId, entry: Entry, positions: Float32Array, isInEffect: boolean): Generator<void, MeshUpdate> {
    const info = this.#core.meshInfo(entry.address);
    let rebuild: MeshData | undefined;
    if (entry.isRebuilding) entry.newest = positions;
    else if (!isInEffect || info.cost >= REBUILD_COST) rebuild = yield* this.#requestTree(id, entry, positions);
    return { info, isInEffect, rebuild };
  }

  /** Returns whether these are the positions that a requested tree will take over. */
  isNewest(id: MeshId, positions: Float32Array): boolean {
    return this.#entries.get(id)?.newest === positions;
  }

  /** Installs the tree that was requested; null if there will be none. Runs in slices, as `updateInSlices` does. */
  *replaceInSlices(
    id: MeshId,
    baked: ArrayBuffer | null,
    budget: number,
    mayReplace: () => boolean,
  ): Generator<void, MeshUpdate> {
    const entry = this.#liveEntry(id);
    const { newest } = entry;
    entry.isRebuilding = false;
    entry.newest = undefined;
    const isInEffect = baked !== null && (yield* this.#installTree(id, entry, baked, newest, budget, mayReplace));
    const info = this.#core.meshInfo(entry.address);
    const needsRebuild = baked !== null && (!isInEffect || info.cost >= REBUILD_COST);
    return {
      info,
      isInEffect,
      rebuild: needsRebuild && newest ? yield* this.#requestTree(id, entry, newest) : undefined,
    };
  }

  /**
   * Replaces the old tree by a new one, moved to the newest positions. Returns false if the new tree cannot take these positions.
   */
  *#installTree(
    id: MeshId,
    entry: Entry,
    baked: ArrayBuffer,
    newest: Float32Array | undefined,
    budget: number,
    mayReplace: () => boolean,
  ): Generator<void, boolean> {
    const core = this.#core;
    const load = core.beginLoad(baked, baked.byteLength, true); // built by our own builder
    try {
      yield* this.#finish(id, entry, { step: (ms) => load.step(ms) || undefined }, budget);
    } catch (error) {
      load.abort();
      throw error;
    }
    const address = load.finish();
    try {
      if (newest === undefined || (yield* this.#tryRefit(id, entry, address, newest, budget))) {
        yield* this.#waitUntil(id, entry, mayReplace);
        this.#replaceMesh(entry, address, false);
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

  /** Runs all steps of work on an entry. Returns the result of the last step. */
  *#finish<T>(
    id: MeshId,
    entry: Entry,
    work: { step(budget: number): T | undefined },
    budget: number,
  ): Generator<void, T> {
    for (;;) {
      const result = work.step(budget);
      if (result !== undefined) return result;
      yield;
      this.#checkNotRemoved(id, entry);
    }
  }

  *#waitUntil(id: MeshId, entry: Entry, condition: () => boolean): Generator<void> {
    while (!condition()) {
      yield;
      this.#checkNotRemoved(id, entry);
    }
  }

  #checkNotRemoved(id: MeshId, entry: Entry): void {
    if (this.#liveEntry(id) !== entry) throw meshRemoved(id);
  }

  /** Returns the entry of a mesh that existed when a change of it was requested. */
  #liveEntry(id: MeshId): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw meshRemoved(id);
    return entry;
  }

  /** Replaces an entry's mesh by one with moved vertices, or frees the latter if that throws. */
  #replaceOrFree(entry: Entry, address: MeshAddress): void {
    try {
      this.#replaceMesh(entry, address, true);
    } catch (error) {
      this.#core.freeMesh(address);
      throw error;
    }
    this.#dropCopy(entry);
  }

  /** Replaces an entry's mesh: by the same tree, moved, or by another tree. */
  #replaceMesh(entry: Entry, address: MeshAddress, isSameTree: boolean): void {
    this.#core.replaceMesh(entry.address, address);
    if (isSameTree) this.features.onMoved(entry.address, address);
    else this.features.onReplaced(entry.address, address);
    this.#retire(entry);
    this.#addresses.add(address);
    entry.address = address;
    entry.keptBefore = this.#keepCount;
  }

  /** Frees the mesh at an entry's address as soon as nobody reads it. */
  #retire(entry: Entry): void {
    this.#addresses.delete(entry.address);
    if (this.#isRead(entry)) this.#retired.push(entry.address);
    else this.#free(entry.address);
  }

  #free(address: MeshAddress): void {
    this.features.remove(address);
    this.#core.freeMesh(address);
  }

  /** Returns whether sliced work may be reading the mesh at an entry's address. */
  #isRead(entry: Entry): boolean {
    return this.#isKept && entry.keptBefore < this.#keepCount;
  }

  #dropCopy(entry: Entry): void {
    const copy = this.#copies.get(entry);
    if (copy !== undefined) this.#core.freeMesh(copy);
    this.#copies.delete(entry);
  }

  /**
   * Returns whether a tree can take positions, and if so moves it to them. One tree may accept positions that another, with
   * different triangles, does not.
   */
  *#tryRefit(
    id: MeshId,
    entry: Entry,
    address: MeshAddress,
    positions: Float32Array,
    budget: number,
  ): Generator<void, boolean> {
    let refit: MeshRefit | undefined;
    try {
      refit = this.#core.beginRefit(address, positions, false);
      return yield* this.#finish(id, entry, refit, budget);
    } catch (error) {
      if (CollisionError.is(error) && error.code === 'BAD_DATA') return false;
      throw error;
    } finally {
      refit?.abort();
    }
  }

  *#requestTree(id: MeshId, entry: Entry, positions: Float32Array): Generator<void, MeshData> {
    const source = this.#core.meshSource(entry.address);
    let step = source.next();
    for (; !step.done; step = source.next()) {
      yield;
      this.#checkNotRemoved(id, entry);
    }
    entry.isRebuilding = true;
    return { positions, ...step.value };
  }

  #get(id: MeshId): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new CollisionError('UNKNOWN_ID', `mesh is ${id}, which is not in the worker`);
    return entry;
  }
}

function meshRemoved(id: MeshId): CollisionError {
  return new CollisionError('ABORTED', `mesh ${id} was removed`);
}

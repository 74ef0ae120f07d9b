import { readBoxes } from '../../shared/baked-boxes.js';
import { BakedSource, CHUNK_BYTES } from '../../shared/baked-source.js';
import { type Remote, transfer } from '../../shared/calls.js';
import { CollisionError } from '../../shared/errors.js';
import type {
  BakedChunks,
  LoadedChunks,
  LoadedMesh,
  MeshUpdate,
  SmallLoad,
  TreeInfo,
  WorkerApi,
} from '../../shared/protocol.js';
import type {
  AddMeshOptions,
  BakeOptions,
  BoxCheck,
  MeshBoxesOptions,
  MeshData,
  MeshId,
  MeshInfo,
  NamedBox,
  UpdateMeshOptions,
} from '../../shared/types.js';
import { isArrayBuffer } from '../check/binary.js';
import { checkSignal } from '../check/signal.js';
import {
  argumentError,
  checkBoolean,
  checkInteger,
  invalidArgumentError,
  readOptions,
  throwInvalid,
} from '../check/validate.js';
import { askInOrder } from '../frame/ask-in-order.js';
import type { FramePump } from '../frame/frame-pump.js';
import { abortable } from '../link/abort.js';
import type { BuilderPool } from '../link/builder-pool.js';
import { CallBatch } from '../link/call-batch.js';
import type { Deferred, WorkerLink } from '../link/worker-link.js';
import { BakedCopies, type BakedCopy, bytesOf, MAX_BUFFER_COPY_BYTES } from './baked-copies.js';
import { ChunkPool } from './chunk-pool.js';
import { IdTable } from './id-table.js';
import { copyOrTransferData, copyOrTransferPositions, readAddOptions } from './mesh-input.js';
import {
  type Boxes,
  checkBoxable,
  checkBoxes,
  NO_BOXES,
  numberedBoxes,
  packBoxes,
  unpackBoxes,
} from './named-boxes.js';

const UPDATE_KEYS = ['transfer'];
const BAKE_KEYS = ['boxes'];
const MESH_BOXES_KEYS = ['level', 'signal'];
const MAX_LEVEL = 4;

interface Mesh {
  /** Null until the mesh is in the worker. */
  info: MeshInfo | null;
  /** The baked mesh, and the positions to which its vertices have moved since; for another worker. */
  copy: BakedCopy | undefined;
  moved: Float32Array | undefined;
  /** The number of the update that `moved` is of. */
  movedBy: number;
  /** Whether its trees are built quickly. */
  isFast: boolean;
  /** The number of objects that have it as their shape. */
  uses: number;
  /** The last new tree for moved vertices, which may be under way. */
  rebuild: Promise<void> | undefined;
  isRemoved: boolean;
  /** Aborted when the mesh is removed. Made for the first rebuild: for 10,000 meshes it would be 20,000 browser objects. */
  removal: AbortController | null;
}

/** The meshes in the worker. */
export class MeshStore {
  /** The number of loaded meshes, and their triangles and bytes. */
  count = 0;
  triangles = 0;
  bytes = 0;

  #table = new IdTable<Mesh>();
  /** Meshes removed while there was no worker: queries from before their removal are still to be answered. */
  readonly #removedMeshes = new Map<MeshId, Mesh>();
  readonly #link: WorkerLink;
  readonly #builders: BuilderPool;
  /** Loads of meshes that are copied when posted, many in one message. */
  readonly #smallLoads: CallBatch<SmallLoad, LoadedMesh>;
  readonly #pump: FramePump;
  /** Whether copies are kept for another worker. */
  readonly #keepsCopies: boolean;
  /** Chunks for baked meshes. */
  readonly chunks = new ChunkPool();
  readonly #copies = new BakedCopies(this.chunks);
  #updateCount = 0;

  constructor(link: WorkerLink, builders: BuilderPool, pump: FramePump, keepsCopies: boolean) {
    this.#link = link;
    this.#builders = builders;
    this.#pump = pump;
    this.#keepsCopies = keepsCopies;
    this.#smallLoads = new CallBatch(
      link,
      (api, loads) => api.loadMeshes(loads),
      (post) => pump.enqueue(post),
    );
  }

  /** Returns the info of a mesh; undefined for one that is not in the worker. */
  get(id: MeshId): Readonly<MeshInfo> | undefined {
    return this.#table.get(id)?.info ?? undefined;
  }

  /** Returns the info of a mesh. Throws UNKNOWN_ID. */
  info(operation: string, id: MeshId): Readonly<MeshInfo> {
    const info = this.get(id);
    if (!info) throw argumentError('UNKNOWN_ID', operation, 'mesh', id, 'the id of an added mesh');
    return info;
  }

  /** Changes the number of objects that use a mesh; id 0 is no mesh. */
  countUse(id: MeshId, change: number): void {
    const mesh = this.#table.get(id);
    if (mesh) mesh.uses += change;
  }

  async add(operation: string, data: MeshData | ArrayBuffer, options: AddMeshOptions = {}): Promise<MeshId> {
    const { report, signal, isHandedOver, weld, angle, asked, isFast } = readAddOptions(operation, data, options);
    const owned = copyOrTransferData(operation, data, isHandedOver, signal, weld, this.chunks);
    const isBaked = isArrayBuffer(owned) || owned instanceof BakedSource;
    const boxes = asked ?? bakedBoxes(operation, owned);
    if (asked?.length && !isBaked) checkBoxable(operation, asked, infoOfData(owned));

    const baked = isBaked
      ? owned
      : this.#receiveBaked(
          await this.#builders.build(operation, owned, report, signal, weld, angle, isFast, this.chunks),
        );
    this.#table.checkRoom(operation, 1);
    const mesh: Mesh = {
      info: null,
      copy: undefined,
      moved: undefined,
      movedBy: 0,
      isFast,
      uses: 0,
      rebuild: undefined,
      isRemoved: false,
      removal: null,
    };
    const id = this.#table.add(mesh);
    const { info, baked: loaded } = await (baked instanceof BakedSource
      ? this.#loadChunks(operation, id, baked, isBaked ? (data as ArrayBuffer) : undefined, signal)
      : // A builder's mesh that nobody else has had need not be checked.
        this.#load(operation, id, { baked, isTrusted: !isBaked }, signal));
    if (boxes.length > 0 && (info.topology !== 'triangles' || info.bones + info.morphs > 0)) {
      this.#table.delete(id);
      this.#pump.enqueue({ type: 'removeMesh', mesh: id });
      checkBoxable(operation, boxes, info);
    }
    // A small one was copied when it was posted.
    const copy = loaded ?? baked;
    if (this.#keepsCopies) this.#copies.add(mesh, copy);
    else if (copy instanceof BakedSource) this.chunks.give(copy);
    // The worker's answer itself: in V8, a copy that is made by spreading has a hidden class of its own.
    (info as MeshInfo).rebuilds = 0;
    (info as MeshInfo).boxes = boxes;
    mesh.info = info as MeshInfo;
    this.count++;
    this.triangles += info.triangles;
    this.bytes += info.bytes;
    report(1);
    return id;
  }

  async update(operation: string, id: MeshId, positions: Float32Array, options: UpdateMeshOptions = {}): Promise<void> {
    const given = readOptions(operation, 'options', options, UPDATE_KEYS);
    const isHandedOver = checkBoolean(operation, 'transfer', given.transfer ?? false);
    const { vertices } = this.info(operation, id);
    const mesh = this.#table.get(id)!;
    const ownedPositions = copyOrTransferPositions(operation, positions, vertices, isHandedOver);
    const answer = this.#link.defer<MeshUpdate>(operation);
    const post = () => {
      if (answer.settled) return;
      const update = (api: Remote<WorkerApi>) =>
        api.updateMesh(id, transfer(ownedPositions, [ownedPositions.buffer as ArrayBuffer]), this.#keepsCopies);
      this.#link.answerWith(answer, operation, update);
    };
    this.#pump.enqueue({ type: 'call', post });
    const result = await answer.promise;
    const { isInEffect, positions: moved } = result;
    const updateNumber = ++this.#updateCount;
    const recordMoved = () => {
      if (updateNumber < mesh.movedBy) return;
      mesh.moved = moved;
      mesh.movedBy = updateNumber;
    };
    if (isInEffect) recordMoved();
    this.#applyUpdate(operation, id, mesh, result);
    if (isInEffect) return;
    await mesh.rebuild;
    if (mesh.isRemoved) throw new CollisionError('ABORTED', `${operation}: mesh ${id} was removed`);
    recordMoved();
  }

  bake(operation: string, id: MeshId, options: BakeOptions = {}): Promise<ArrayBuffer> {
    const given = readOptions(operation, 'options', options, BAKE_KEYS);
    const info = this.info(operation, id);
    const requestedBoxes = given.boxes === undefined ? info.boxes : checkBoxes(operation, 'boxes', given.boxes);
    if (requestedBoxes.length > 0) checkBoxable(operation, given.boxes, info);
    const boxes = packBoxes(requestedBoxes);
    return this.#ask(operation, undefined, (api) => api.bakeMesh(id, boxes));
  }

  /** Lists boxes of a mesh's tree, named by numbers. */
  async boxes(operation: string, id: MeshId, options: MeshBoxesOptions = {}): Promise<NamedBox[]> {
    const { level = 2, signal } = readOptions(operation, 'options', options, MESH_BOXES_KEYS);
    checkSignal(operation, signal);
    checkInteger(operation, 'level', level, 1, MAX_LEVEL);
    checkTriangles(operation, this.info(operation, id));
    const ask = (api: Remote<WorkerApi>) => api.meshBoxes(id, level, 4 ** level);
    const records = await this.#ask<Float64Array | null>(operation, signal, ask);
    return numberedBoxes(records!); // a level never has more
  }

  /** Checks whether boxes hold all of a mesh. */
  async check(
    operation: string,
    id: MeshId,
    value: readonly NamedBox[] | undefined,
    signal?: AbortSignal,
  ): Promise<BoxCheck> {
    const info = this.info(operation, id);
    checkSignal(operation, signal);
    checkTriangles(operation, info);
    const boxes = value === undefined ? info.boxes : checkBoxes(operation, 'boxes', value);
    if (boxes.length === 0) {
      throwInvalid(operation, 'boxes', value, `at least one${value ? '' : `, as mesh ${id} has none of its own`}`);
    }
    const { records } = packBoxes(boxes)!;
    return this.#ask<BoxCheck>(operation, signal, (api) => api.checkBoxes(id, records));
  }

  #ask<T>(
    operation: string,
    signal: AbortSignal | undefined,
    invoke: (api: Remote<WorkerApi>) => Promise<T>,
  ): Promise<T> {
    return askInOrder(this.#link, this.#pump, operation, signal, invoke);
  }

  remove(operation: string, id: MeshId): void {
    const { triangles, bytes } = this.info(operation, id);
    const mesh = this.#table.get(id)!;
    const { uses } = mesh;
    if (uses > 0) {
      throw invalidArgumentError(
        `${operation}: mesh ${id} is the shape of ${uses} objects, expected none; remove or set those first`,
      );
    }
    this.#table.delete(id);
    this.count--;
    this.triangles -= triangles;
    this.bytes -= bytes;
    mesh.isRemoved = true;
    mesh.removal?.abort();
    if (this.#pump.isDown) this.#removedMeshes.set(id, mesh);
    else this.#copies.drop(mesh);
    this.#pump.enqueue({ type: 'removeMesh', mesh: id });
  }

  /** Notes that the worker is lost: pending calls have been rejected. */
  interrupt(): void {
    this.chunks.close();
    this.#removedMeshes.clear();
  }

  /** Records the result of an update, and starts building the tree that the worker requests, if any. */
  #applyUpdate(operation: string, id: MeshId, mesh: Mesh, { info, rebuild }: MeshUpdate): void {
    this.#recordInfo(mesh, info, 0);
    if (!rebuild || mesh.isRemoved) return;
    mesh.rebuild = this.#rebuild(operation, id, mesh, rebuild);
    // Those who wait for the tree get the error; for everyone else, the old tree does as well.
    mesh.rebuild.catch(() => {});
  }

  /** Builds the tree that the worker requests; and the next, if it then requests one of newer positions. */
  async #rebuild(operation: string, id: MeshId, mesh: Mesh, data: MeshData): Promise<void> {
    mesh.removal ??= new AbortController();
    const { signal } = mesh.removal;
    let next: MeshData | undefined = data;
    while (next) next = await this.#replaceTree(operation, id, mesh, next, signal);
  }

  async #replaceTree(
    operation: string,
    id: MeshId,
    mesh: Mesh,
    data: MeshData,
    signal: AbortSignal,
  ): Promise<MeshData | undefined> {
    const { life } = this.#link;
    let baked: ArrayBuffer | null = null;
    let failure: unknown;
    try {
      // The mesh is in one buffer if there are no lent chunks.
      baked = (await this.#builders.build(operation, data, () => {}, signal, 0, undefined, mesh.isFast)) as ArrayBuffer;
    } catch (error) {
      failure = error;
    }
    await this.#link.up();
    if (signal.aborted) return undefined;
    // The next worker knows newer positions, and has requested a tree of these itself.
    this.#checkLife(operation, life);
    const {
      info,
      isInEffect,
      rebuild,
      baked: loaded,
    } = await this.#link.call(operation, (api) =>
      api.replaceTree(id, baked && transfer(baked, [baked]), this.#keepsCopies),
    );
    if (failure) throw failure;
    if (loaded) this.#copies.add(mesh, loaded);
    this.#recordInfo(mesh, info, isInEffect ? 1 : 0);
    return rebuild;
  }

  /** Loads all meshes into a worker that has none. */
  async replay(): Promise<void> {
    const { life } = this.#link;
    for (const [id, mesh] of [...this.#table.entries(), ...this.#removedMeshes]) {
      if (!mesh.info || !mesh.copy) continue;
      const baked = await bytesOf(mesh.copy);
      this.#checkLife('restart', life);
      await this.#link.call('restart', (api) => api.loadMesh(id, transfer(baked, [baked]), false, true));
      const moved = mesh.moved?.slice();
      if (!moved) continue;
      const update = (api: Remote<WorkerApi>) => api.updateMesh(id, transfer(moved, [moved.buffer]));
      this.#applyUpdate('updateMesh', id, mesh, await this.#link.call('restart', update));
    }
    this.#removedMeshes.clear();
    this.chunks.close(false);
  }

  /** Checks that the worker is still the one of that number. Throws WORKER_LOST. */
  #checkLife(operation: string, life: number): void {
    if (life !== this.#link.life) throw new CollisionError('WORKER_LOST', `${operation}: the worker was lost`);
  }

  /** Releases all meshes, and the copies. */
  clear(): void {
    this.#table = new IdTable();
    this.#removedMeshes.clear();
    this.#copies.clear();
    this.chunks.close();
    this.count = this.triangles = this.bytes = 0;
  }

  /** Records the worker's info of a mesh after a change. */
  #recordInfo(mesh: Mesh, info: TreeInfo, rebuilt: number): void {
    if (!mesh.info || mesh.isRemoved) return;
    this.bytes += info.bytes - mesh.info.bytes;
    mesh.info = { ...info, rebuilds: mesh.info.rebuilds + rebuilt, boxes: mesh.info.boxes };
  }

  /** Loads a mesh of one buffer, which is handed back if it is kept, unless it is small. */
  #load(
    operation: string,
    id: MeshId,
    { baked, isTrusted }: Omit<SmallLoad, 'mesh'>,
    signal: AbortSignal | undefined,
  ): Promise<LoadedMesh> {
    return this.#awaitLoad(operation, id, signal, (loaded) =>
      baked.byteLength <= MAX_BUFFER_COPY_BYTES
        ? this.#smallLoads.add(operation, { mesh: id, baked, isTrusted }, loaded)
        : this.#post(operation, loaded, (api) =>
            api.loadMesh(id, transfer(baked, [baked]), this.#keepsCopies, isTrusted),
          ),
    );
  }

  /** Takes a mesh from a builder, and returns the chunks that the builder did not use to the pool. */
  #receiveBaked(built: ArrayBuffer | BakedChunks): ArrayBuffer | BakedSource {
    if (isArrayBuffer(built)) return built;
    const { bytes, buffers } = built;
    this.chunks.give({ buffers: buffers.splice(Math.ceil(bytes / CHUNK_BYTES)) });
    return new BakedSource(bytes, buffers);
  }

  /**
   * Loads a mesh chunk by chunk: a trusted one as it is, another one copied from a buffer. The worker checks the first ones, if no
   * frame waits, while others are copied here.
   */
  async #loadChunks(
    operation: string,
    id: MeshId,
    baked: BakedSource,
    source: ArrayBuffer | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ info: TreeInfo; baked: BakedSource }> {
    const { bytes, buffers } = baked;
    let isRequested = false;
    let copiedCount = 0;
    let sentCount = 0;
    const post = () => {
      for (; isRequested && sentCount < copiedCount; sentCount++) {
        const chunk = buffers[sentCount];
        this.#link.post({ type: 'chunk', mesh: id, chunk }, chunk instanceof ArrayBuffer ? [chunk] : []);
      }
    };
    const loading = this.#awaitLoad<LoadedChunks>(operation, id, signal, (loaded) =>
      this.#post(operation, loaded, (api) => {
        const answer = api.loadChunks(id, bytes, this.#keepsCopies, !source);
        isRequested = true;
        post();
        return answer;
      }),
    );
    this.#pump.flush();
    for (let at = 0; at < bytes; at += CHUNK_BYTES) {
      if (source)
        new Uint8Array(buffers[copiedCount]).set(new Uint8Array(source, at, Math.min(CHUNK_BYTES, bytes - at)));
      copiedCount++;
      post();
    }
    const { info, chunks } = await loading;
    return { info, baked: chunks.length > 0 ? new BakedSource(bytes, chunks) : baked };
  }

  /** Calls the worker after earlier removals, since it may need their memory. */
  #post<T>(operation: string, answer: Deferred<T>, invoke: (api: Remote<WorkerApi>) => Promise<T>): Promise<boolean> {
    return new Promise((resolve) => {
      this.#pump.enqueue(() => resolve(!answer.settled && this.#link.answerWith(answer, operation, invoke)));
    });
  }

  async #awaitLoad<T>(
    operation: string,
    id: MeshId,
    signal: AbortSignal | undefined,
    load: (loaded: Deferred<T>) => Promise<boolean>,
  ): Promise<T> {
    const loaded = this.#link.defer<T>(operation);
    const done = load(loaded);
    try {
      return await abortable(operation, signal, loaded);
    } catch (error) {
      this.#table.delete(id);
      // If it was loaded in spite of an abort.
      done.then((isDone) => isDone && this.#pump.enqueue({ type: 'removeMesh', mesh: id }));
      throw error;
    }
  }
}

/** Returns the boxes that are baked with a mesh. Throws BAD_DATA. */
function bakedBoxes(operation: string, data: MeshData | ArrayBuffer | BakedSource): Boxes {
  const pack = isArrayBuffer(data) ? readBoxes(data) : undefined;
  return pack === undefined ? NO_BOXES : unpackBoxes(operation, pack);
}

function infoOfData({
  topology = 'triangles',
  skin,
  morphs,
}: MeshData): Pick<MeshInfo, 'topology' | 'bones' | 'morphs'> {
  return { topology, bones: skin?.boneCount ?? 0, morphs: morphs?.targets.length ?? 0 };
}

function checkTriangles(operation: string, { topology }: Readonly<MeshInfo>): void {
  if (topology === 'triangles') return;
  throw new CollisionError('UNSUPPORTED', `${operation}: mesh has ${topology}, expected triangles`);
}

import { appendBoxes, type PackedBoxes } from '../shared/baked-boxes.js';
import { BakedSource } from '../shared/baked-source.js';
import { transfer } from '../shared/calls.js';
import { CollisionError } from '../shared/errors.js';
import type {
  BakedChunks,
  ChunkMessage,
  LoadedChunks,
  LoadedMesh,
  MeshDeform,
  MeshUpdate,
  Outcome,
  SmallBuild,
  SmallLoad,
  TreeInfo,
} from '../shared/protocol.js';
import type { MeshData, MeshId } from '../shared/types.js';
import { answering } from './answering.js';
import type { MeshAddress, MeshBuild, PartSource } from './binding/core.js';
import { copyBytes, runToEnd } from './binding/steps.js';
import { outcomeOf } from './failures.js';
import { FRAME_SLICE_MS } from './long-work.js';
import { QueryService } from './query-service.js';
import { SecondPart } from './second-part.js';
import { SLICE_MS, Slices } from './slices.js';
import { findFeatures, withFeatures } from './snap/features.js';

/** The part of the worker that builds, loads, bakes and changes meshes, in slices if they are large. */
export abstract class MeshService extends QueryService {
  readonly #builds = new Map<number, Pick<MeshBuild, 'abort'>>();
  /** Meshes of which more chunks are expected; `wake` is called when one arrives. */
  readonly #chunks = new Map<MeshId, { source: BakedSource; wake: () => void }>();
  /** The last change of each mesh that is under way in slices. */
  readonly #changes = new Map<MeshId, Promise<unknown>>();

  readonly buildMesh = answering(
    async (
      id: number,
      positions: Float32Array,
      indices: Uint32Array | Uint16Array | undefined,
      weld: number,
      topology: MeshData['topology'],
      deform: MeshDeform,
      featureAngle: number | undefined,
      isFast: boolean,
      port: MessagePort | undefined,
      spare: ArrayBufferLike[] | undefined,
    ): Promise<ArrayBuffer | BakedChunks> => {
      const second = port && new SecondPart(port);
      try {
        const build = this.core.beginBuild(positions, indices, weld, topology, deform, isFast, second?.takePart, spare);
        this.#builds.set(id, build);
        second?.send({ positions, indices, weld, isFast });
        await this.#run(id, build);
        if (spare) {
          const { bytes, buffers } = build.finishChunks();
          this.#builds.delete(id);
          return { bytes, buffers: [...buffers, ...spare] };
        }
        let baked = build.finish();
        if (featureAngle !== undefined) {
          const slices = new Slices(() => this.work.pause());
          const meshFeatures = await slices.run(findFeatures(() => baked, 0, featureAngle));
          baked = await slices.run(withFeatures(baked, meshFeatures));
          if (!this.#builds.has(id)) throw new CollisionError('ABORTED', 'the build was aborted');
        }
        this.#builds.delete(id);
        return transfer(baked, [baked]);
      } catch (error) {
        this.abortBuild(id);
        throw error;
      } finally {
        port?.close();
      }
    },
  );

  readonly buildSecond = answering(async (id: number, port: MessagePort): Promise<void> => {
    try {
      const source = await new Promise<PartSource | undefined>((resolve) => {
        port.onmessage = ({ data }) => resolve(data);
        this.#builds.set(id, { abort: () => resolve(undefined) });
      });
      if (!source) return;
      const build = this.core.beginSecond(source);
      this.#builds.set(id, build);
      for (let partIndex = 0; partIndex < 2; partIndex++) {
        await this.#run(id, build);
        const part = build.finish();
        const isParted = part.byteLength > 0;
        port.postMessage(part, [part]);
        if (!isParted) break;
      }
    } finally {
      this.abortBuild(id);
      port.close();
    }
  });

  async #run(id: number, build: MeshBuild): Promise<void> {
    for (let fraction = build.step(SLICE_MS); fraction < 1; fraction = build.step(SLICE_MS)) {
      this.post({ type: 'progress', build: id, fraction }, []);
      await this.work.pause();
      if (!this.#builds.has(id)) throw new CollisionError('ABORTED', 'the build was aborted');
    }
  }

  protected abortBuild(id: number): void {
    this.#builds.get(id)?.abort();
    this.#builds.delete(id);
  }

  /**
   * Copies the mesh into the core and validates it, in slices: 71 MB take some 16 ms, or 40 if the memory is new, and no pick
   * should wait so long.
   */
  readonly loadMesh = answering(
    async (mesh: MeshId, baked: ArrayBuffer, isReturned: boolean, isTrusted: boolean): Promise<LoadedMesh> => {
      this.meshes.beginLoad(mesh, baked, isTrusted);
      const info = await this.#finishLoad(mesh);
      return isReturned ? transfer({ info, baked }, [baked]) : { info, baked: undefined };
    },
  );

  /** Copies and validates the chunks that are there, while more arrive. */
  readonly loadChunks = answering(
    async (mesh: MeshId, bytes: number, isReturned: boolean, isTrusted: boolean): Promise<LoadedChunks> => {
      const chunks = { source: new BakedSource(bytes, []), wake: () => {} };
      this.meshes.beginLoadOf(mesh, chunks.source, isTrusted);
      this.#chunks.set(mesh, chunks);
      try {
        const info = await this.#finishLoad(mesh);
        const { buffers } = chunks.source;
        const returnedChunks = buffers.filter(
          (buffer): buffer is ArrayBuffer => isReturned && buffer instanceof ArrayBuffer,
        );
        return transfer({ info, chunks: returnedChunks }, returnedChunks);
      } finally {
        this.#chunks.delete(mesh);
      }
    },
  );

  /** Adds the next bytes of a mesh. After an error, nobody wants them. */
  protected addChunk({ mesh, chunk }: ChunkMessage): void {
    const chunks = this.#chunks.get(mesh);
    chunks?.source.buffers.push(chunk);
    chunks?.wake();
  }

  async #finishLoad(mesh: MeshId): Promise<TreeInfo> {
    for (;;) {
      const info = this.meshes.stepLoad(mesh, FRAME_SLICE_MS);
      if (info) return info;
      const chunks = this.#chunks.get(mesh);
      if (chunks && this.meshes.isWaiting(mesh)) {
        await new Promise<void>((resolve) => {
          chunks.wake = resolve;
        });
      }
      // Messages behind the chunks, which may all be here by now, must not wait for them.
      await this.work.pause();
    }
  }

  readonly buildMeshes = answering((builds: SmallBuild[]): Outcome<ArrayBuffer>[] =>
    builds.map(({ positions, indices, weld, isFast }) =>
      outcomeOf(() => {
        const build = this.core.beginBuild(positions, indices, weld, 'triangles', {}, isFast);
        try {
          while (build.step(SLICE_MS) < 1);
          return build.finish();
        } catch (error) {
          build.abort();
          throw error;
        }
      }),
    ),
  );

  readonly loadMeshes = answering((loads: SmallLoad[]): Outcome<LoadedMesh>[] =>
    loads.map(({ mesh, baked, isTrusted }) =>
      outcomeOf(() => ({ info: this.meshes.load(mesh, baked, isTrusted), baked: undefined })),
    ),
  );

  readonly bakeMesh = answering(async (mesh: MeshId, boxes: PackedBoxes | undefined): Promise<ArrayBuffer> => {
    const address = this.meshes.addressOf(mesh);
    const angle = this.meshes.features.bakedAngle(address);
    let baked = await this.#bake(address);
    if (angle !== undefined) {
      const slices = new Slices(() => this.work.pause());
      const meshFeatures = await slices.run(findFeatures(() => baked, 0, angle));
      baked = await slices.run(withFeatures(baked, meshFeatures));
    }
    if (boxes) baked = await new Slices(() => this.work.pause()).run(appendBoxes(baked, boxes));
    return transfer(baked, [baked]);
  });

  /**
   * Bakes a mesh as it is now, in slices. Its memory is kept for as long as the bake reads it. Data that must be derived again,
   * because the vertices have moved, are derived from a copy.
   */
  async #bake(mesh: MeshAddress): Promise<ArrayBuffer> {
    const bake = this.core.beginBake(mesh);
    let fraction = 0;
    try {
      await this.work.inSlices(async () => {
        while (fraction < 1 && bake.isReading) {
          fraction = bake.step(FRAME_SLICE_MS);
          if (fraction < 1) await this.work.pause();
        }
      });
      while (fraction < 1) {
        fraction = bake.step(FRAME_SLICE_MS);
        if (fraction < 1) await this.work.pause();
      }
      return bake.finish();
    } finally {
      bake.abort();
    }
  }

  readonly updateMesh = answering(
    (mesh: MeshId, positions: Float32Array, isReturned?: boolean): MeshUpdate | Promise<MeshUpdate> => {
      if (!this.meshes.isLarge(mesh) && !this.#changes.has(mesh)) {
        const update = this.meshes.update(mesh, positions);
        return withBuffers(isReturned ? runToEnd(this.#withPositions(mesh, positions, update)) : update);
      }
      return this.#change(mesh, () => this.#updateInSlices(mesh, positions, isReturned === true)).then(withBuffers);
    },
  );

  *#updateInSlices(mesh: MeshId, positions: Float32Array, isReturned: boolean): Generator<void, MeshUpdate> {
    const mayReplace = () => this.work.mayChangeScene();
    const update = yield* this.meshes.updateInSlices(mesh, positions, FRAME_SLICE_MS, mayReplace);
    return isReturned ? yield* this.#withPositions(mesh, positions, update) : update;
  }

  /** Adds the positions that an update was given, or a copy of them if the worker still needs them. */
  *#withPositions(mesh: MeshId, positions: Float32Array, update: MeshUpdate): Generator<void, MeshUpdate> {
    const isNeeded = update.rebuild?.positions === positions || this.meshes.isNewest(mesh, positions);
    if (!isNeeded) return { ...update, positions };
    const { buffer, byteOffset, byteLength } = positions;
    const copy = yield* copyBytes(byteLength, (at, count) => new Uint8Array(buffer, byteOffset + at, count));
    return { ...update, positions: new Float32Array(copy) };
  }

  readonly replaceTree = answering(
    async (mesh: MeshId, baked: ArrayBuffer | null, isReturned: boolean): Promise<MeshUpdate> => {
      const update = await this.#change(mesh, () =>
        this.meshes.replaceInSlices(mesh, baked, FRAME_SLICE_MS, () => this.work.mayChangeScene()),
      );
      return withBuffers(baked && isReturned && update.isInEffect ? { ...update, baked } : update);
    },
  );

  /** Changes a mesh in slices, after all changes of it that were requested before. */
  #change(mesh: MeshId, begin: () => Generator<void, MeshUpdate>): Promise<MeshUpdate> {
    const previousChange = this.#changes.get(mesh) ?? Promise.resolve();
    const change = previousChange.then(() => this.#runInSlices(begin()));
    const settled: Promise<unknown> = change.catch(() => {});
    this.#changes.set(mesh, settled);
    settled.then(() => {
      if (this.#changes.get(mesh) === settled) this.#changes.delete(mesh);
    });
    return change;
  }

  /** Runs work in slices; each slice ends when the work yields. */
  async #runInSlices<T>(work: Generator<void, T>): Promise<T> {
    let step = work.next();
    while (!step.done) {
      await this.work.pause();
      step = work.next();
    }
    return step.value;
  }
}

/** Returns an update of a mesh with its buffers marked for transfer. */
function withBuffers(update: MeshUpdate): MeshUpdate {
  const { rebuild, positions, baked } = update;
  const { skin, morphs } = rebuild ?? {};
  const deform = [skin?.bones, skin?.weights, ...(morphs?.targets ?? [])];
  const buffers = [positions, rebuild?.positions, rebuild?.indices, ...deform].flatMap((array) => array?.buffer ?? []);
  return transfer(update, [...buffers, ...(baked ? [baked] : [])] as ArrayBuffer[]);
}

import { transfer } from '../../shared/calls.js';
import { CollisionError } from '../../shared/errors.js';
import type { BakedChunks, MeshDeform, ProgressMessage, SmallBuild } from '../../shared/protocol.js';
import type { MeshData } from '../../shared/types.js';
import { buffersOf } from '../skin/mesh-deform.js';
import { abortable } from './abort.js';
import { CallBatch } from './call-batch.js';
import { type Deferred, type LinkOptions, renameError, WorkerLink } from './worker-link.js';

/** Idle builders are ended after a while, since a WebAssembly memory never shrinks. */
const IDLE_MS = 5_000;

/**
 * Up to this many bytes, a mesh is built with others in one message, and its arrays are copied: transferring a buffer takes
 * longer.
 */
const MAX_SMALL_BUILD_BYTES = 16_384;

/**
 * From this many triangles on, an idle builder builds a part of another one's tree. With two that run already, a dragon of 202,520
 * triangles is added in 0.93 of the time; starting one takes about as long as building fewer triangles.
 */
const MIN_SPLIT_TRIANGLES = 200_000;

/** Approximate bytes per triangle in a baked mesh. */
const TRIANGLE_BYTES = 84;

/** Lends chunks that a builder bakes into. */
type Lender = { lend(bytes: number): ArrayBufferLike[] | undefined };

interface Builder {
  link: WorkerLink;
  batch: CallBatch<SmallBuild, ArrayBuffer>;
  /** Builds under way in it; those of them that are parts of other builders' trees. */
  builds: number;
  parts: number;
  idleTimer?: ReturnType<typeof setTimeout>;
}

/** Builds meshes in workers beside the service, which are started on demand; with a limit of 0, in the service's own worker. */
export class BuilderPool {
  readonly #limit: number;
  readonly #options: LinkOptions;
  readonly #service: Builder;
  readonly #builders: Builder[] = [];
  readonly #progressListeners = new Map<number, (fraction: number) => void>();
  #lastBuild = 0;

  constructor(limit: number, options: LinkOptions, service: WorkerLink) {
    this.#limit = limit;
    this.#options = { ...options, isBeside: true };
    this.#service = newBuilder(service);
  }

  /**
   * Resolves with the baked mesh, with its features if `featureAngle`, an angle in degrees, is given; in chunks, if `chunks`
   * lends some for a mesh without features. The arrays' buffers are transferred. An aborted build ends in its worker and is
   * freed there.
   */
  build(
    operation: string,
    mesh: MeshData,
    onProgress: (fraction: number) => void,
    signal: AbortSignal | undefined,
    weld = 0,
    featureAngle: number | undefined = undefined,
    isFast = false,
    chunks?: Lender,
  ): Promise<ArrayBuffer | BakedChunks> {
    const builder = this.#leastBusy(operation);
    const answer = builder.link.defer<ArrayBuffer | BakedChunks>(operation);
    const { positions, indices, topology = 'triangles', skin, morphs } = mesh;
    const bytes = positions.buffer.byteLength + (indices?.buffer.byteLength ?? 0);
    const isRigidTriangles = topology === 'triangles' && !skin && !morphs;
    if (bytes <= MAX_SMALL_BUILD_BYTES && isRigidTriangles && featureAngle === undefined) {
      this.#runSmall(operation, builder, answer, { positions, indices, weld, isFast });
    } else
      this.#run(operation, builder, answer, mesh, onProgress, weld, featureAngle, isFast, isRigidTriangles, chunks);
    return abortable(operation, signal, answer);
  }

  /** The number of builds under way in workers beside the service. */
  get pending(): number {
    return this.#builders.reduce((sum, { builds, parts }) => sum + builds - parts, 0);
  }

  progress({ build, fraction }: ProgressMessage): void {
    this.#progressListeners.get(build)?.(fraction);
  }

  /** Notes that the service's own worker was replaced. */
  forgetService(): void {
    this.#service.builds = 0;
  }

  close(error: CollisionError): void {
    for (const builder of [...this.#builders]) this.#remove(builder, error);
  }

  async #run(
    operation: string,
    builder: Builder,
    answer: Deferred<ArrayBuffer | BakedChunks>,
    { positions, indices, topology, skin, morphs }: MeshData,
    onProgress: (fraction: number) => void,
    weld: number,
    featureAngle: number | undefined,
    isFast: boolean,
    isRigidTriangles: boolean,
    chunks: Lender | undefined,
  ): Promise<void> {
    const { link } = builder;
    const build = ++this.#lastBuild;
    this.#begin(builder);
    this.#progressListeners.set(build, onProgress);
    answer.promise.catch(() => {
      this.#progressListeners.delete(build);
      link.post({ type: 'abort', build });
    });
    await link.up(); // if no worker follows, answer has the error already
    if (!answer.settled) {
      const deform: MeshDeform = { ...(skin && { skin }), ...(morphs && { morphs }) };
      const triangles = (indices ?? positions).length / (indices ? 3 : 9);
      const port =
        isRigidTriangles && triangles >= MIN_SPLIT_TRIANGLES ? this.#startHelper(operation, answer) : undefined;
      const transferables = new Set<Transferable>([
        positions.buffer,
        (indices ?? positions).buffer,
        ...buffersOf(deform),
      ] as ArrayBuffer[]);
      if (port) transferables.add(port);
      const spareChunks = featureAngle === undefined ? chunks?.lend(triangles * TRIANGLE_BYTES) : undefined;
      await link.answerWith(answer, operation, (api) =>
        api.buildMesh(
          build,
          transfer(positions, [...transferables]),
          indices,
          weld,
          topology,
          deform,
          featureAngle,
          isFast,
          port,
          spareChunks,
        ),
      );
    }
    this.#progressListeners.delete(build);
    this.#end(builder);
  }

  /**
   * Makes an idle builder build the second part of a tree, and returns the port to it. If that fails, the other builder does
   * the whole tree.
   */
  #startHelper(operation: string, answer: Deferred<ArrayBuffer | BakedChunks>): MessagePort | undefined {
    const helper = this.#limit > 1 ? this.#acquireIdle(operation) : undefined;
    if (!helper) return undefined;
    const { port1, port2 } = new MessageChannel();
    const { link } = helper;
    const build = ++this.#lastBuild;
    const done = link.defer<void>(operation);
    const stop = () => link.post({ type: 'abort', build });
    answer.promise.then(stop, stop);
    this.#begin(helper);
    helper.parts++;
    const end = () => {
      helper.parts--;
      this.#end(helper);
    };
    done.promise.then(end, end);
    link.up().then(() => {
      if (answer.settled) done.resolve();
      else link.answerWith(done, operation, (api) => api.buildSecond(build, transfer(port2, [port2])));
    });
    return port1;
  }

  async #runSmall(
    operation: string,
    builder: Builder,
    answer: Deferred<ArrayBuffer | BakedChunks>,
    build: SmallBuild,
  ): Promise<void> {
    this.#begin(builder);
    await builder.batch.add(operation, build, answer as Deferred<ArrayBuffer>);
    this.#end(builder);
  }

  #begin(builder: Builder): void {
    clearTimeout(builder.idleTimer);
    builder.builds++;
  }

  #end(builder: Builder): void {
    builder.builds--;
    if (builder.builds === 0 && this.#builders.includes(builder)) this.#removeLater(builder);
  }

  #leastBusy(operation: string): Builder {
    if (this.#limit === 0 || this.#service.link.error) return this.#service;
    return (
      this.#acquireIdle(operation) ??
      this.#builders.reduce((best, builder) => (builder.builds < best.builds ? builder : best))
    );
  }

  /** Returns an idle builder: a new one, as long as the limit allows it. Throws if the first one cannot be made. */
  #acquireIdle(operation: string): Builder | undefined {
    const idle = this.#builders.find(({ builds }) => builds === 0);
    if (idle || this.#builders.length === this.#limit) return idle;
    let link: WorkerLink;
    try {
      link = new WorkerLink(this.#options, (message) => {
        if (message.type === 'progress') this.progress(message);
      });
    } catch (error) {
      // The existing builders do without another one.
      if (this.#builders.length > 0) return undefined;
      throw renameError(operation, error);
    }
    const builder = newBuilder(link);
    this.#builders.push(builder);
    link.ended.then((error) => this.#remove(builder, error));
    return builder;
  }

  #removeLater(builder: Builder): void {
    const removeIdle = () => this.#remove(builder, new CollisionError('DISPOSED', 'the builder was idle'));
    builder.idleTimer = setTimeout(removeIdle, IDLE_MS);
    builder.idleTimer.unref?.(); // in Node, it must not keep the process alive
  }

  #remove(builder: Builder, error: CollisionError): void {
    const i = this.#builders.indexOf(builder);
    if (i < 0) return;
    this.#builders.splice(i, 1);
    clearTimeout(builder.idleTimer);
    builder.link.close(error);
  }
}

function newBuilder(link: WorkerLink): Builder {
  const batch = new CallBatch<SmallBuild, ArrayBuffer>(
    link,
    (api, builds) => api.buildMeshes(builds),
    (post) => link.up().then(post),
  );
  return { link, batch, builds: 0, parts: 0 };
}

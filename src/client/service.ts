import { CollisionError } from '../shared/errors.js';
import { failureOf } from '../shared/failure.js';
import { MAX_OBJECTS } from '../shared/layout.js';
import type { FromWorker } from '../shared/protocol.js';
import { mayShare, mayShareCopies } from '../shared/shared-memory.js';
import type {
  Character,
  CharacterOptions,
  FrameResult,
  MeshId,
  ObjectId,
  ObjectOptions,
  Pose,
  ServiceStats,
  ViewOptions,
} from '../shared/types.js';
import { CharacterStore } from './character/character-store.js';
import { checkTypedArray } from './check/binary.js';
import { checkBits, checkInteger } from './check/validate.js';
import { FramePump } from './frame/frame-pump.js';
import { type View, ViewTable } from './frame/view-table.js';
import { abortable } from './link/abort.js';
import { BuilderPool } from './link/builder-pool.js';
import { type LinkOptions, WorkerLink } from './link/worker-link.js';
import { Queries } from './query/queries.js';
import { MeshStore } from './scene/mesh-store.js';
import { ObjectStore } from './scene/object-store.js';
import { ObjectTransforms } from './scene/object-transforms.js';
import { ServiceEvent } from './service-events.js';
import { ServiceMeshes } from './service-meshes.js';
import { PoseReader } from './skin/pose-reader.js';
import { type CheckedPose, PoseTable } from './skin/pose-table.js';
import { ReplayLog } from './transforms/replay-log.js';
import { TransformTable } from './transforms/transform-table.js';

/** The options that the service itself uses. */
export interface ServiceSettings {
  builders: number;
  contactBudget: number;
  restart: boolean;
  signal: AbortSignal | undefined;
}

/**
 * Runs collision detection and picking in a worker. Ids are returned at once; calls take effect in order. Every
 * failing call throws or rejects with a CollisionError that names the argument, or with DISPOSED or WORKER_LOST when
 * there is no worker any more. A lost worker is replaced: see `restart`, and `addEventListener`.
 */
export class CollisionService extends ServiceMeshes {
  readonly #link: WorkerLink;
  readonly #builders: BuilderPool;
  readonly #views = new ViewTable();
  readonly #pump: FramePump;
  readonly #meshes: MeshStore;
  readonly #objects: ObjectStore;
  readonly #queries: Queries;
  readonly #characters: CharacterStore;
  readonly #ready: Promise<void>;
  readonly #transforms: ObjectTransforms;
  readonly #poses = new PoseTable();
  readonly #poseReader = new PoseReader();
  /** Every update() after the end returns this promise; the first such call makes it. */
  #afterEnd: Promise<never> | undefined;

  /** @internal */
  constructor({ builders, contactBudget, restart, signal }: ServiceSettings, options: LinkOptions) {
    super(
      (operation) => {
        this.#link.check(operation);
        return this.#meshes;
      },
      (operation) => {
        this.#link.check(operation);
        return this.#queries;
      },
    );
    const revival = { lost: (error: CollisionError) => this.#handleLoss(error), restore: () => this.#restore() };
    const table = new TransformTable();
    const log = new ReplayLog(table, restart);
    this.#link = new WorkerLink(options, (message) => this.#receive(message), restart ? revival : undefined);
    this.#builders = new BuilderPool(builders, options, this.#link);
    this.#pump = new FramePump(this.#link, contactBudget, this.#views, log, table, this.#poses, (out) =>
      this.#characters.take(out),
    );
    this.#meshes = new MeshStore(this.#link, this.#builders, this.#pump, restart);
    this.#objects = new ObjectStore(this.#meshes, this.#pump, log, this.#poses);
    this.#transforms = new ObjectTransforms(table, this.#objects, this.#pump);
    this.#queries = new Queries(this.#link, this.#pump, this.#views, this.#objects);
    this.#characters = new CharacterStore(this.#pump, this.#objects, table, (operation) => this.#link.check(operation));
    const started = this.#link.defer<void>('createCollisionService');
    this.#link.ready.then(
      () => started.resolve(),
      () => {}, // `started` is rejected by the link
    );
    this.#ready = abortable('createCollisionService', signal, started);
    this.#link.ended.then((error) => {
      this.#release(error);
      if (error.code !== 'DISPOSED') this.dispatchEvent(new ServiceEvent('lost', error, true));
    });
  }

  /** @internal */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Returns the mesh that is an object's shape, or null if its shape is not a mesh. Throws UNKNOWN_ID. */
  meshOf(object: ObjectId): MeshId | null {
    this.#link.check('meshOf');
    return this.#objects.meshIdOf('meshOf', object);
  }

  /**
   * Places a shape.
   *
   * ```ts
   * const crate = service.addObject({ shape: { type: 'box', halfExtents: [1, 1, 1] }, motion: 'static' });
   * ```
   */
  addObject(options: ObjectOptions): ObjectId {
    this.#link.check('addObject');
    return this.#objects.add('addObject', options, 1)[0];
  }

  /** Places `count` objects that differ only in their transforms; returns their ids. */
  addInstances(options: ObjectOptions, count: number): Uint32Array {
    this.#link.check('addInstances');
    return this.#objects.add('addInstances', options, count);
  }

  /**
   * Makes room for `count` more objects, for an adapter that adds them in slices, and returns how many slots of ids
   * fit now.
   *
   * @internal
   */
  reserveObjects(count: number): number {
    this.#link.check('addInstances');
    return this.#objects.reserve(checkInteger('addInstances', 'count', count, 0, MAX_OBJECTS));
  }

  /**
   * Changes the given options of an object, and keeps the rest. If it gets another mesh with the same number of bones and
   * morph targets, its pose stays, also for a query before the next update().
   */
  setObject(id: ObjectId, options: Partial<ObjectOptions>): void {
    this.#link.check('setObject');
    const matrix = this.#objects.set('setObject', id, options);
    // Overrides an older transform that is staged for the object.
    if (matrix) this.#pump.staging.setSingle(id, matrix);
  }

  /** Removes an object: queries that follow do not see it. Throws UNKNOWN_ID. */
  removeObject(id: ObjectId): void {
    this.#link.check('removeObject');
    this.#objects.remove('removeObject', id);
    this.#pump.staging.drop(id);
  }

  /**
   * Does `setObject` with `layers`, for an adapter that hides and shows thousands of objects. Ids of removed objects are ignored.
   *
   * @internal
   */
  setLayers(ids: Uint32Array, layers: number): void {
    this.#link.check('setObject');
    const checkedIds = checkTypedArray<Uint32Array>('setObject', 'ids', ids, ['Uint32Array']);
    this.#objects.setLayers(checkedIds, checkBits('setObject', 'layers', layers));
  }

  /**
   * Does `removeObject`, for an adapter that removes thousands of objects.
   *
   * @internal
   */
  removeObjects(ids: Uint32Array): void {
    this.#link.check('removeObject');
    const checkedIds = checkTypedArray<Uint32Array>('removeObject', 'ids', ids, ['Uint32Array']);
    this.#objects.removeAll('removeObject', checkedIds);
    for (let i = 0; i < checkedIds.length; i++) this.#pump.staging.drop(checkedIds[i]);
  }

  /**
   * Stages an object's transform for the next update(): 16 numbers, column-major. A later transform replaces it; one equal
   * to the last costs a comparison and is not sent. A transform that is not finite or not invertible is listed in the
   * frame's `rejected`. Throws UNKNOWN_ID, and INVALID_ARGUMENT for a bottom row other than 0, 0, 0, 1, as that of all zeros.
   */
  setTransform(id: ObjectId, matrix: ArrayLike<number>): void {
    this.#link.check('setTransform');
    this.#transforms.set(id, matrix);
  }

  /**
   * Does `setTransform` for an adapter that moves thousands of objects, from index `first` to before `end`, and calls update()
   * in the same task. Matrices that are not affine are listed in the frame's `rejected`, too.
   *
   * @internal
   */
  moveObjects(ids: Uint32Array, matrices: readonly ArrayLike<number>[], first: number, end: number): void {
    this.#link.check('setTransform');
    this.#transforms.moveObjects(ids, matrices, first, end);
  }

  /**
   * Returns whether this is the transform of an object that an update() sent last, or that this task is about to send: 16
   * numbers. False if a block of transforms or a staged transform changed it last.
   *
   * @internal
   */
  isPlacedAs(id: ObjectId, matrix: ArrayLike<number>): boolean {
    return this.#transforms.isPlacedAs(id, matrix);
  }

  /**
   * Stages the transforms of many objects, each parent · matrix: 16 numbers per object, column-major. The arrays are
   * copied. Objects whose matrix is not affine (all zeros, say), not finite or not invertible are listed in the frame's
   * `rejected` and stay where they are; the rest move.
   *
   * ```ts
   * service.setTransforms(ids, instancedMesh.instanceMatrix.array, instancedMesh.matrixWorld.elements);
   * ```
   */
  setTransforms(ids: Uint32Array, matrices: Float32Array | Float64Array, parent?: ArrayLike<number>): void {
    this.#link.check('setTransforms');
    this.#transforms.setBlock(ids, matrices, parent);
  }

  /**
   * Does `setTransforms` for an adapter that never writes into `ids`, and calls this again after writing into `matrices`:
   * the matrices are not copied for the next worker, but read when it needs them. If the parent is not affine, all
   * objects are listed in the frame's `rejected`.
   *
   * @internal
   */
  moveInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    this.#link.check('setTransforms');
    this.#transforms.moveInstances(ids, matrices, parent);
  }

  /**
   * Does `moveInstances` for objects that have just been added, with matrices that the worker accepts: every query from
   * now on sees the objects in their places, without an update().
   *
   * @internal
   */
  placeInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    this.#link.check('setTransforms');
    this.#transforms.placeInstances(ids, matrices, parent);
  }

  /**
   * Stages the pose of an object whose mesh has a `skin` or `morphs`, for the next update(). Each object has its own pose,
   * and a pose replaces the last one as a whole: options that are not given move nothing. Until it is posed, and after
   * `setPose(id, {})`, an object has the vertices with which its mesh was added. Numbers are copied; objects that are
   * posed by the same array share it.
   *
   * ```ts
   * service.setPose(id, { bones: skeleton.boneMatrices }); // after skeleton.update()
   * const { contacts } = await service.update(); // of the object as it is posed now
   * const hit = await service.pick(400, 300); // → { object: id, bone: 17, … }
   * ```
   *
   * All queries and contacts see the moved triangles. Bounds are those of the moved bones' boxes, a little larger than
   * the posed mesh. `precision` 'sphere' and 'aabb', and views, use bounds of the whole object in its pose. 'obb' does
   * too, except in rays and picks, which hit the boxes of its bones.
   *
   * A pose whose `bones` are not finite or not affine, or that reaches farther than float32 does, is listed in the
   * frame's `rejected`, and the object keeps its last pose.
   *
   * Throws UNKNOWN_ID, and INVALID_ARGUMENT for an object whose mesh has neither, for arrays that do not have the length
   * that the mesh needs, and for a binding or weights that are not finite.
   */
  setPose(id: ObjectId, pose: Pose): void {
    this.#link.check('setPose');
    const mesh = this.#objects.meshOf('setPose', id);
    const checkedPose = this.#poseReader.read('setPose', id, pose, mesh);
    this.#objects.check('setPose', 'id', id); // a getter of the pose may have removed it
    this.#poses.set(id, checkedPose);
  }

  /**
   * Does `setPose` with a pose that an adapter, which poses hundreds of objects in a frame, has already read and checked
   * for the object's mesh.
   *
   * @internal
   */
  poseObject(id: ObjectId, pose: CheckedPose): void {
    this.#link.check('setPose');
    this.#objects.check('setPose', 'id', id);
    this.#poses.set(id, pose);
  }

  /**
   * Makes a character: a capsule that walks through the scene instead of being placed. It slides along walls, climbs
   * steps, stands on slopes that are not too steep and slides off steeper ones, moves along with the ground under it, and
   * is pushed out of objects that move into it. The worker moves it with the next update(); `state` is that of the newest
   * answer.
   *
   * ```ts
   * const hero = service.createCharacter({
   *   shape: { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] },
   *   position: [0, 2, 0],
   * });
   * hero.advance([walk.x, 0, walk.z], deltaSeconds); // units per second; falls by itself, in steps of 1/60 s
   * await service.update();
   * mesh.position.fromArray(hero.state.interpolated);
   * ```
   *
   * It collides with objects that are `pickable` and in its `layers`: with meshes from both sides, with solid meshes and
   * all other shapes as solids. All characters of a frame see the scene as it was before any of them moved. Throws
   * INVALID_ARGUMENT, and UNKNOWN_ID for `ignore` and `object`.
   */
  createCharacter(options: CharacterOptions): Character {
    this.#link.check('createCharacter');
    return this.#characters.add(options);
  }

  /**
   * Sets a camera, by name. Frames list what it sees from the next update() on; picks use it at once, and picks that
   * were asked for before any view was set have waited for this. There may be any number of views.
   */
  setView(view: ViewOptions, name?: string): void;
  /**
   * Sets a view for an adapter, which may have read it already.
   *
   * @internal
   */
  setView(view: ViewOptions, name: string, preparedView: View | undefined): void;
  setView(view: ViewOptions, name = 'main', preparedView?: View): void {
    this.#link.check('setView');
    this.#views.set('setView', name, view, preparedView);
    this.#queries.firstView.set();
  }

  /** Removes a view. Throws INVALID_ARGUMENT for a name that was not set. */
  removeView(name: string): void {
    this.#link.check('removeView');
    const slot = this.#views.delete('removeView', name);
    this.#pump.enqueue({ type: 'removeView', slot });
  }

  /**
   * Sends everything that was staged and resolves with the frame's answer. While another frame is in the worker, further
   * calls share one frame with the newest transforms, and its answer.
   *
   * Rejects with OUT_OF_MEMORY when the worker could not hold this frame or an object added before it. The service
   * continues, and the next update() sends again what could not be run.
   *
   * After the end it rejects with DISPOSED or WORKER_LOST: all calls then return the same promise, so that a loop that
   * continues and handles nothing is reported once.
   */
  update(): Promise<FrameResult> {
    // Not `async`: the promises that `async` would add in every frame are a part of a frame's cost.
    if (this.#afterEnd) return this.#afterEnd;
    try {
      this.#link.check('update');
      return this.#pump.update();
    } catch (error) {
      const answer = Promise.reject(asCollisionError('update', error));
      // A loop that continues after the end asks 60 times a second. All its calls get this one promise: if nobody handles
      // it, it is reported once.
      if (this.#link.error) this.#afterEnd = answer;
      return answer;
    }
  }

  /** Counts, memory and times, at no cost: the worker is not asked. */
  get stats(): ServiceStats {
    const { memory, depth, framesDone, allocations, ms } = this.#pump;
    const { memoryBytes, usedBytes } = memory;
    return {
      objects: this.#objects.size,
      meshes: this.#meshes.count,
      triangles: this.#meshes.triangles,
      meshBytes: this.#meshes.bytes,
      bytesPerTriangle: this.#meshes.bytes / (this.#meshes.triangles || 1),
      memoryBytes,
      usedBytes,
      queueDepth: depth,
      pending: this.#link.pending + this.#builders.pending,
      frames: framesDone,
      frameBuffers: allocations,
      ms,
    };
  }

  /** @internal Whether the worker could not be loaded. */
  get isObstructed(): boolean {
    return this.#link.isObstructed;
  }

  /** @internal Resolves with the reason when there is no worker any more, and none will follow. */
  get ended(): Promise<CollisionError> {
    return this.#link.ended;
  }

  /** Ends the workers. Pending calls and all later calls reject with DISPOSED. */
  dispose(): void {
    this.#link.close(new CollisionError('DISPOSED', 'the service was disposed'));
    this.#release(this.#link.error!);
  }

  #release(error: CollisionError): void {
    this.#builders.close(error);
    this.#pump.clear();
    this.#meshes.clear();
    this.#objects.clear();
    this.#characters.clear();
  }

  #handleLoss(error: CollisionError): void {
    this.#pump.interrupt();
    this.#meshes.interrupt();
    this.#builders.forgetService();
    this.dispatchEvent(new ServiceEvent('lost', error));
  }

  async #restore(): Promise<void> {
    await this.#meshes.replay();
    this.#pump.resume(this.#objects.replay(), this.#characters.replay());
    this.dispatchEvent(new ServiceEvent('restored', null));
  }

  #receive(message: FromWorker): void {
    if (message.type === 'result') this.#pump.receive(message);
    else if (message.type === 'busy') this.#pump.hearBusy();
    else if (message.type === 'progress') this.#builders.progress(message);
    else if (message.type === 'ready') {
      this.#pump.memory = message;
      this.#pump.sharesFrames = mayShare() && message.mayShare === true;
      this.#meshes.chunks.isShared = mayShareCopies() && message.mayShare === true;
    }
  }
}

/** Turns an error of a call into a CollisionError: a buffer that cannot be allocated is a RangeError in every engine. */
function asCollisionError(operation: string, error: unknown): unknown {
  const failure = CollisionError.is(error) ? null : failureOf(error);
  return failure ? new CollisionError(failure.code, `${operation}: ${failure.message}`, { cause: error }) : error;
}

import { CollisionError } from '../shared/errors.js';
import { failureOf } from '../shared/failure.js';
import { MAX_OBJECTS } from '../shared/layout.js';
import type { FromWorker } from '../shared/protocol.js';
import { mayShare } from '../shared/shared-memory.js';
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
import { ViewTable } from './frame/view-table.js';
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

/** What the service itself wants to know of its options. */
export interface ServiceSettings {
  builders: number;
  contactBudget: number;
  restart: boolean;
  signal: AbortSignal | undefined;
}

/**
 * Collision detection and picking in a worker. Ids are given at once; what is asked for takes effect in the order of
 * the calls. Every call fails with a CollisionError that names the argument, and with DISPOSED or WORKER_LOST when
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
  /** Every update() answers this after the end; the first of them makes it. */
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
    const revival = { lost: (error: CollisionError) => this.#lose(error), restore: () => this.#restore() };
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
    this.#characters = new CharacterStore(this.#pump, this.#objects, (operation) => this.#link.check(operation));
    const started = this.#link.defer<void>('createCollisionService');
    this.#link.ready.then(
      () => started.resolve(),
      () => {}, // it is rejected itself
    );
    this.#ready = abortable('createCollisionService', signal, started);
    this.#link.ended.then((error) => {
      this.#letGo(error);
      if (error.code !== 'DISPOSED') this.dispatchEvent(new ServiceEvent('lost', error, true));
    });
  }

  /** @internal */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Answers the mesh that is an object's shape; null where that is none. Throws UNKNOWN_ID. */
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

  /** Places `count` objects that differ only in their transforms; answers their ids. */
  addInstances(options: ObjectOptions, count: number): Uint32Array {
    this.#link.check('addInstances');
    return this.#objects.add('addInstances', options, count);
  }

  /**
   * Makes room for an adapter that is going to add so many objects more in slices, and answers for how many slots of ids
   * there is room.
   *
   * @internal
   */
  reserveObjects(count: number): number {
    this.#link.check('addInstances');
    return this.#objects.reserve(checkInteger('addInstances', 'count', count, 0, MAX_OBJECTS));
  }

  /**
   * Changes the options of an object that are given, and keeps the rest. Its pose stays, too, also for a query before the next
   * update(), where it gets another mesh of as many bones and morph targets.
   */
  setObject(id: ObjectId, options: Partial<ObjectOptions>): void {
    this.#link.check('setObject');
    const matrix = this.#objects.set('setObject', id, options);
    // Over an older transform that is staged for it.
    if (!matrix) return;
    this.#pump.override(id, matrix);
  }

  removeObject(id: ObjectId): void {
    this.#link.check('removeObject');
    this.#objects.remove('removeObject', id);
    this.#pump.staging.drop(id);
  }

  /**
   * Does `setObject` with `layers` for an adapter that hides and shows thousands. Those that are gone are passed over.
   *
   * @internal
   */
  setLayers(ids: Uint32Array, layers: number): void {
    this.#link.check('setObject');
    const targets = checkTypedArray<Uint32Array>('setObject', 'ids', ids, ['Uint32Array']);
    this.#objects.setLayers(targets, checkBits('setObject', 'layers', layers));
  }

  /**
   * Does `removeObject` for an adapter that removes thousands.
   *
   * @internal
   */
  removeObjects(ids: Uint32Array): void {
    this.#link.check('removeObject');
    const targets = checkTypedArray<Uint32Array>('removeObject', 'ids', ids, ['Uint32Array']);
    this.#objects.removeAll('removeObject', targets);
    for (let i = 0; i < targets.length; i++) this.#pump.staging.drop(targets[i]);
  }

  /**
   * Stages an object's transform for the next update(): 16 numbers, column-major. A later one replaces it; one equal to
   * the last costs a comparison and does not travel. One that is not finite or not invertible is listed in the frame's
   * `rejected`.
   */
  setTransform(id: ObjectId, matrix: ArrayLike<number>): void {
    this.#link.check('setTransform');
    this.#transforms.set(id, matrix);
  }

  /**
   * Does `setTransform` for an adapter that moves thousands, those from number `first` to before `end`, and calls
   * update() in the same task. Those that are not affine are listed in the frame's `rejected`, too.
   *
   * @internal
   */
  moveObjects(ids: Uint32Array, matrices: readonly ArrayLike<number>[], first: number, end: number): void {
    this.#link.check('setTransform');
    this.#transforms.moveObjects(ids, matrices, first, end);
  }

  /**
   * Tells whether the transform of an object that an update() has said last, or is about to say in this task, is this one:
   * 16 numbers. False where a block of transforms or a staged one spoke of it last.
   *
   * @internal
   */
  isPlacedAs(id: ObjectId, matrix: ArrayLike<number>): boolean {
    return this.#transforms.isPlacedAs(id, matrix);
  }

  /**
   * Stages the transforms of many objects, parent · matrix each: 16 numbers per object, column-major. The arrays are
   * copied. Objects of which the matrix is not affine (all zeros, say), not finite or not invertible are listed in the
   * frame's `rejected` and stay where they are; the rest moves.
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
   * Does `setTransforms` for an adapter that never writes into `ids`, and calls this again when it has written into
   * `matrices`: these are not copied for the next worker, but read when that needs them. Where the parent is not
   * affine, all of them are listed in the frame's `rejected`.
   *
   * @internal
   */
  moveInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    this.#link.check('setTransforms');
    this.#transforms.moveInstances(ids, matrices, parent);
  }

  /**
   * Does `moveInstances` for objects that have just been added, with matrices that the worker takes: they are in their
   * places before any question that is asked from now on, without an update().
   *
   * @internal
   */
  placeInstances(ids: Uint32Array, matrices: Float32Array | Float64Array, parent: ArrayLike<number>): void {
    this.#link.check('setTransforms');
    this.#transforms.placeInstances(ids, matrices, parent);
  }

  /**
   * Stages the pose of an object whose mesh has a `skin` or `morphs`, for the next update(). It is the object's own, and
   * whole: what is not given moves nothing, and `setPose(id, {})` gives back the vertices as the mesh was added with
   * them, which an object has until it is posed. Numbers are copied; objects that are posed by the same array share it.
   *
   * ```ts
   * service.setPose(id, { bones: skeleton.boneMatrices }); // after skeleton.update()
   * const { contacts } = await service.update(); // of the object as it is posed now
   * const hit = await service.pick(400, 300); // → { object: id, bone: 17, … }
   * ```
   *
   * All queries and contacts see the moved triangles. Bounds are those of the moved bones' boxes and so a little larger
   * than what is posed: `precision` 'sphere' and 'aabb' are bounds of the whole object in its pose, and so is what views
   * see; 'obb' is, too, but for rays and picks, which hit the boxes of its bones. A pose whose `bones` are not finite or not affine, or that reaches farther than float32 does, is listed in
   * the frame's `rejected`, and the object keeps the one that it had.
   *
   * Throws UNKNOWN_ID, and INVALID_ARGUMENT for an object whose mesh has neither, for other lengths than the mesh's and
   * for a binding or weights that are not finite.
   */
  setPose(id: ObjectId, pose: Pose): void {
    this.#link.check('setPose');
    const mesh = this.#objects.meshOf('setPose', id);
    const read = this.#poseReader.read('setPose', id, pose, mesh);
    this.#objects.check('setPose', 'id', id); // a getter of the pose's may have removed it
    this.#poses.set(id, read);
  }

  /**
   * Does `setPose` for an adapter that has read and checked a pose for the object's mesh, as it does for hundreds in a frame.
   *
   * @internal
   */
  poseObject(id: ObjectId, pose: CheckedPose): void {
    this.#link.check('setPose');
    this.#objects.check('setPose', 'id', id);
    this.#poses.set(id, pose);
  }

  /**
   * Makes a character: a capsule that walks through the scene instead of being placed. It slides along walls, climbs steps,
   * stays on slopes that are not too steep and slides off others, goes along with what it stands on, and is pushed out of
   * what moves into it. All of that happens in the worker, with the next update(); `state` is of the newest answer.
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
   * It meets what is `pickable`, in its `layers`: meshes from both sides, solid ones and all other shapes as solids. All
   * characters of a frame see the scene as it was before any of them moved. Throws INVALID_ARGUMENT, and UNKNOWN_ID for
   * `ignore` and `object`.
   */
  createCharacter(options: CharacterOptions): Character {
    this.#link.check('createCharacter');
    return this.#characters.add(options);
  }

  /**
   * Sets a camera, from the next update() on; picks use it at once, and those that were asked for before there was any
   * view have waited for this. Frames answer what each view sees; there may be any number of views.
   */
  setView(view: ViewOptions, name = 'main'): void {
    this.#link.check('setView');
    this.#views.set('setView', name, view);
    this.#queries.firstView.set();
  }

  removeView(name: string): void {
    this.#link.check('removeView');
    const slot = this.#views.delete('removeView', name);
    this.#pump.enqueue({ type: 'removeView', slot });
  }

  /**
   * Sends what was staged and resolves with the frame's answer. While another frame is in the worker, further calls
   * share one frame with the newest transforms, and its answer.
   *
   * Rejects with OUT_OF_MEMORY when the worker could not hold this frame or an object added before it; the service
   * goes on, and the next update() sends again what a frame said that could not be run.
   *
   * After the end, with DISPOSED or WORKER_LOST: all calls answer one and the same promise then, so that a loop that
   * goes on and handles nothing is told once.
   */
  update(): Promise<FrameResult> {
    // It is not `async`: in every frame, the promises that that would add are a part of what a frame costs.
    if (this.#afterEnd) return this.#afterEnd;
    try {
      this.#link.check('update');
      return this.#pump.update();
    } catch (error) {
      const answer = Promise.reject(asCollisionError('update', error));
      // A loop that goes on after the end asks 60 times a second. It gets this one promise for all of them: where
      // nobody handles it, it is reported once.
      if (this.#link.error) this.#afterEnd = answer;
      return answer;
    }
  }

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

  /** @internal Tells whether its worker could not be loaded. */
  get isObstructed(): boolean {
    return this.#link.isObstructed;
  }

  /** @internal Resolves, with the reason, when there is no worker any more, and will be none. */
  get ended(): Promise<CollisionError> {
    return this.#link.ended;
  }

  /** Ends the workers. What is pending rejects with DISPOSED, and so does every later call. */
  dispose(): void {
    this.#link.close(new CollisionError('DISPOSED', 'the service was disposed'));
    this.#letGo(this.#link.error!);
  }

  #letGo(error: CollisionError): void {
    this.#builders.close(error);
    this.#pump.clear();
    this.#meshes.clear();
    this.#objects.clear();
    this.#characters.clear();
  }

  #lose(error: CollisionError): void {
    this.#pump.interrupt();
    this.#meshes.interrupt();
    this.#queries.forgetParts();
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
    else if (message.type === 'part') this.#queries.takePart(message);
    else if (message.type === 'progress') this.#builders.progress(message);
    else if (message.type === 'ready') {
      this.#pump.memory = message;
      this.#pump.sharesFrames = mayShare() && message.mayShare === true;
    }
  }
}

/** Makes a CollisionError of what a call came to: a buffer that cannot be allocated is a RangeError in every engine. */
function asCollisionError(operation: string, error: unknown): unknown {
  const failure = CollisionError.is(error) ? null : failureOf(error);
  return failure ? new CollisionError(failure.code, `${operation}: ${failure.message}`, { cause: error }) : error;
}

import { CollisionError } from '../shared/errors.js';
import { MAX_OBJECTS } from '../shared/layout.js';
import { type FromWorker, failureOf } from '../shared/protocol.js';
import type {
  AddMeshOptions,
  BakeOptions,
  BoxCheck,
  Character,
  CharacterOptions,
  ClosestPoint,
  ContactOptions,
  ContactReport,
  Distance,
  DistanceOptions,
  FrameResult,
  Hit,
  Inspection,
  InspectOptions,
  MeshBoxesOptions,
  MeshData,
  MeshId,
  MeshInfo,
  NamedBox,
  ObjectId,
  ObjectOptions,
  PickOptions,
  Placement,
  Pose,
  QueryOptions,
  Ray,
  RayHits,
  Rect,
  RegionOptions,
  Section,
  SectionOptions,
  ServiceStats,
  Shape,
  Sight,
  SweepHit,
  SweepHits,
  SweepManyOptions,
  SweepOptions,
  Vec3,
  ViewOptions,
  VisibleSet,
} from '../shared/types.js';
import { CharacterStore } from './character/character-store.js';
import { checkTypedArray } from './check/binary.js';
import { checkBits, checkInteger, readOptions } from './check/validate.js';
import { FramePump } from './frame/frame-pump.js';
import { ViewTable } from './frame/view-table.js';
import { abortable } from './link/abort.js';
import { BuilderPool } from './link/builder-pool.js';
import { type LinkOptions, WorkerLink } from './link/worker-link.js';
import { Queries } from './query/queries.js';
import { MeshStore } from './scene/mesh-store.js';
import { ObjectStore } from './scene/object-store.js';
import { ObjectTransforms } from './scene/object-transforms.js';
import { ServiceEvent, ServiceEvents } from './service-events.js';
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
export class CollisionService extends ServiceEvents {
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
    super();
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

  /**
   * Builds the tree of a mesh, of oriented boxes about triangles or of boxes about lines or points (`topology`), or loads a
   * baked one, and resolves with its id. Without `transfer` the data are copied before the call returns.
   *
   * Rejects with BAD_DATA for no triangle of any area, or no line or point with finite vertices, for indices out of range
   * and for damaged baked meshes, with ABORTED by the signal.
   */
  async addMesh(data: MeshData | ArrayBuffer, options?: AddMeshOptions): Promise<MeshId> {
    this.#link.check('addMesh');
    return this.#meshes.add('addMesh', data, options);
  }

  /**
   * Resolves with the mesh's tree as one relocatable buffer, which `addMesh` loads without building; its features and its boxes
   * are part of it.
   */
  async bakeMesh(mesh: MeshId, options?: BakeOptions): Promise<ArrayBuffer> {
    this.#link.check('bakeMesh');
    return this.#meshes.bake('bakeMesh', mesh, options);
  }

  /**
   * Resolves with the top boxes of the mesh's own tree, named 'box 1' and so on: those of a level, and what ends above it. They
   * hold all of the mesh, and are a list to begin with for `boxes` of addMesh and addObject.
   *
   * ```ts
   * const boxes = await service.meshBoxes(mesh, { level: 1 }); // four at most
   * boxes[0].name = 'handle';
   * const { conservative, farthest } = await service.checkBoxes(mesh, boxes);
   * const baked = await service.bakeMesh(mesh, { boxes });
   * ```
   *
   * A mesh that is posed is listed as it is at rest. Rejects with UNSUPPORTED for lines and points.
   */
  async meshBoxes(mesh: MeshId, options?: MeshBoxesOptions): Promise<NamedBox[]> {
    this.#link.check('meshBoxes');
    return this.#meshes.boxes('meshBoxes', mesh, options);
  }

  /**
   * Tells whether boxes hold all of a mesh as its vertices are now, by default the mesh's own, and how far it sticks out where
   * they do not. From each triangle the boxes are cut away, in float64, in the worker: several may hold one together.
   * Rejects with UNSUPPORTED for lines and points.
   */
  async checkBoxes(mesh: MeshId, boxes?: readonly NamedBox[], options?: { signal?: AbortSignal }): Promise<BoxCheck> {
    this.#link.check('checkBoxes');
    const { signal } = readOptions<{ signal?: AbortSignal }>('checkBoxes', 'options', options, ['signal']);
    return this.#meshes.check('checkBoxes', mesh, boxes, signal);
  }

  /**
   * Moves a mesh's vertices: xyz of each, as many as it was added with. They are copied; triangles and objects stay.
   * The next update() and every later query see them.
   *
   * ```ts
   * for (let i = 1; i < positions.length; i += 3) positions[i] = Math.sin(time + positions[i - 1]);
   * service.updateMesh(mesh, positions);
   * const { contacts } = await service.update(); // of the mesh as it is now
   * ```
   *
   * A mesh of more than 8 MiB (100,000 triangles) is moved in slices, beside all else: until the promise resolves, frames and
   * queries see it as it was. That takes as much memory again for as long; where there is none, it is moved in one piece.
   *
   * The tree is refitted: its boxes are exact for the new vertices, but the worse, the farther these are from where it
   * was built. `meshInfo(mesh).cost` says how much; at 2, a new tree is built beside the service and takes the old
   * one's place when it is ready. A tree has no place for a triangle that had no area when it was built; where such a
   * one has an area now, the old vertices stand until a new tree is built, and the promise waits for that.
   *
   * A mesh with a skin or morph targets keeps them: weights are those of its vertices, targets that were given as places
   * stay where they are, and relative ones move along. Its objects keep their poses, of the vertices as they are now; one
   * whose pose would reach farther than float32 does is as the mesh is, without a pose, until the next `setPose`.
   *
   * Rejects with UNKNOWN_ID, with BAD_DATA for another number of vertices, for a vertex that is not finite of a
   * triangle, line or point in the tree and where no triangle has an area, with OUT_OF_MEMORY, with ABORTED when the mesh is removed
   * before its vertices are moved. The mesh is as it was then.
   */
  async updateMesh(mesh: MeshId, positions: Float32Array): Promise<void> {
    this.#link.check('updateMesh');
    return this.#meshes.update('updateMesh', mesh, positions);
  }

  /** Answers counts, bytes and cost of a mesh, as of the worker's last answer. Throws UNKNOWN_ID. */
  meshInfo(mesh: MeshId): MeshInfo {
    this.#link.check('meshInfo');
    return { ...this.#meshes.info('meshInfo', mesh) };
  }

  /** Answers the mesh that is an object's shape; null where that is none. Throws UNKNOWN_ID. */
  meshOf(object: ObjectId): MeshId | null {
    this.#link.check('meshOf');
    return this.#objects.meshIdOf('meshOf', object);
  }

  /** Removes a mesh. Throws INVALID_ARGUMENT as long as objects have it as their shape. */
  removeMesh(mesh: MeshId): void {
    this.#link.check('removeMesh');
    this.#meshes.remove('removeMesh', mesh);
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

  /**
   * Resolves with the nearest hit under a point in CSS pixels, in the space of the view's viewport, between its near
   * and far plane; null outside of the viewport. The view is the one at the time of the call.
   *
   * With `method: 'screen'` the object whose centre of oriented bounds is drawn nearest to the point, no farther than
   * `radius` pixels, hidden or not: for handles, stars and whatever is too small to be hit. Of two in one point, the
   * nearer to the eye, then the one of lower id. `point` is that centre, `distance` is from the eye (with an
   * orthographic projection from its plane), `normal` leads to the eye.
   *
   * With `snap`, the hit's `snap` is the vertex, midpoint, centre, edge or face that is drawn nearest to the point, within `radius`
   * pixels, 10 by default, and that nothing hides. The first such pick near an object has its mesh's features found, in slices,
   * unless it was added with `features`; nothing but this pick waits for that.
   *
   * ```ts
   * const hit = await service.pick(event.offsetX, event.offsetY, { latest: true });
   * const corner = (await service.pick(event.offsetX, event.offsetY, { snap: ['vertex', 'edge'] }))?.snap;
   * const star = await service.pick(event.offsetX, event.offsetY, { method: 'screen', radius: 12 });
   * ```
   *
   * Rejects with ABORTED by the signal. Of several with `latest` that wait, the newest is asked and answers them all.
   */
  async pick(x: number, y: number, options?: PickOptions): Promise<Hit | null> {
    this.#link.check('pick');
    return this.#queries.pick(x, y, options);
  }

  /**
   * Resolves with all hits under a point, nearest first (for method 'screen', on the screen), where `pick` answers the
   * nearest one; none outside of the viewport.
   *
   * ```ts
   * const hits = await service.pickAll(400, 300);
   * const ids = [...new Set(hits.map(({ object }) => object))]; // front to back
   * ```
   *
   * With `method: 'screen'` every object whose centre is drawn in reach, by pixels.
   *
   * Rejects as `pick` does, and with OUT_OF_MEMORY when there are more than the worker can hold.
   */
  async pickAll(x: number, y: number, options?: PickOptions): Promise<Hit[]> {
    this.#link.check('pickAll');
    return this.#queries.pickAll(x, y, options);
  }

  /**
   * Resolves with the nearest hit of a ray.
   *
   * ```ts
   * const hit = await service.raycast({ origin: [0, 10, 0], direction: [0, -1, 0], tMax: 20 });
   * ```
   */
  async raycast(ray: Ray, options?: QueryOptions): Promise<Hit | null> {
    this.#link.check('raycast');
    return this.#queries.raycast(ray, options);
  }

  /**
   * Resolves with all hits of a ray, nearest first: of a mesh every triangle; of a box, sphere or capsule, and of what
   * stands for an object by `precision`, where the ray enters it (front) and where it leaves it (back), which may be
   * the same point. On an edge that triangles share, each of them is a hit.
   *
   * ```ts
   * const hits = await service.raycastAll({ origin: [0, 10, 0], direction: [0, -1, 0] }, { side: 'front' });
   * const depth = hits.length; // surfaces entered
   * ```
   *
   * Rejects with OUT_OF_MEMORY when there are more than the worker can hold; the service goes on.
   */
  async raycastAll(ray: Ray, options?: QueryOptions): Promise<Hit[]> {
    this.#link.check('raycastAll');
    return this.#queries.raycastAll(ray, options);
  }

  /**
   * Resolves with the nearest hits of many rays: eight numbers each, origin, tMin, direction, tMax. They are copied. What
   * takes longer than some milliseconds is done in slices between which all else is answered: each ray is among the
   * objects as they stand at its turn.
   */
  async raycastMany(rays: Float32Array, options?: QueryOptions): Promise<RayHits> {
    this.#link.check('raycastMany');
    return this.#queries.raycastMany(rays, options);
  }

  /** Tells whether nothing is between two points. What is at the points themselves counts, unless it is in `ignore`. */
  async lineOfSight(from: Vec3, to: Vec3, options?: QueryOptions): Promise<boolean> {
    this.#link.check('lineOfSight');
    return this.#queries.lineOfSight(from, to, options);
  }

  /**
   * Finds the objects in a region of a view, hidden ones included, by id: a rectangle in CSS pixels, or a polygon (x
   * and y of each vertex), which need not be convex and may cross itself (inside is where a line from outside crosses
   * it an odd number of times). The region ends at the viewport, the near and the far plane; its border is a part of
   * it, so that a rectangle of no size is a point.
   *
   * Exact: of a mesh every triangle is tested, by a `side` of the query or of the object those alone whose side is
   * turned to the eye, without which it is nowhere; boxes, spheres and capsules are solid. 'enclose' asks that all of
   * it is in the region, whatever the object's own side, and that no edge of the polygon crosses it.
   *
   * ```ts
   * const touched = await service.pickRegion({ x: 100, y: 100, width: 200, height: 150 });
   * const enclosed = await service.pickRegion(new Float32Array(lasso), { mode: 'enclose' });
   * ```
   *
   * Rejects as `pick` does, and with OUT_OF_MEMORY for more vertices than the worker can hold.
   */
  async pickRegion(region: Rect | Float32Array, options?: RegionOptions): Promise<Uint32Array> {
    this.#link.check('pickRegion');
    return this.#queries.pickRegion(region, options);
  }

  /**
   * Finds what a view sees, without a frame: one that was set, by its name, or any other, with its layers, margin and
   * minPixels. Or what is on the inner side of all of 1 to 32 planes: four numbers each, nx, ny, nz and d, inside where
   * n · p + d >= 0, as three's Plane has them, with normals of any length. Objects that are not `cullable` are not
   * listed, whether or not they are `pickable`; `side` does not matter. `entered` and `left` are empty.
   *
   * The default `precision` is 'obb' here: the same answer as that of a frame. As there, 'obb', 'aabb' and 'sphere'
   * list what no single plane has wholly outside, so a bound beyond a corner of the frustum may be listed as crossing.
   * 'mesh' lists what has a point inside: exact to the triangle, and for other shapes as solids.
   *
   * ```ts
   * const { ids, inside } = await service.frustum(viewFromCamera(shadowCamera, { width: 1, height: 1 }));
   * ```
   */
  async frustum(view: string | ViewOptions | Float32Array, options?: QueryOptions): Promise<VisibleSet> {
    this.#link.check('frustum');
    return this.#queries.frustum(view, options);
  }

  /**
   * Finds which of the targets the eye of a view sees: those in its frustum to which it has a clear line. A line goes
   * from the near plane to each of nine points of a target, and only the target itself does not stand in its own way.
   * The view's layers and minPixels are about the targets, its margin does not count; the options are about what may be
   * in the way, which is all that is `pickable`. A target that is removed before the question is answered has no point
   * in sight.
   *
   * ```ts
   * service.setView({ projection, view: guardView, viewport: { width: 1, height: 1 } }, 'guard');
   * const { ids } = await service.sees('guard', intruders, { ignore: [guard] });
   * ```
   */
  async sees(view: string | ViewOptions, targets: ArrayLike<ObjectId>, options?: QueryOptions): Promise<Sight> {
    this.#link.check('sees');
    return this.#queries.sees(view, targets, options);
  }

  /**
   * Finds the objects that a shape meets, by id; touching counts. Meshes are surfaces unless they are `solid`, all
   * other shapes are solid: what is inside of one meets it. `matrix` is any affine, invertible one.
   *
   * ```ts
   * const near = await service.overlap({ type: 'sphere', radius: 5, center: [0, 1, 0] });
   * ```
   */
  async overlap(shape: Shape, matrix?: ArrayLike<number>, options?: QueryOptions): Promise<Uint32Array> {
    this.#link.check('overlap');
    return this.#queries.overlap(shape, matrix, options);
  }

  /**
   * Finds the objects that are solid around a point, by id; their surfaces count. A mesh is around the points that it
   * winds around more than half a time, in either sense (generalised winding number: Jacobson, Kavan and
   * Sorkine-Hornung, 2013; summed fast as Barill, Dickson, Schmidt, Levin and Jacobson, 2018): of a closed mesh these
   * are those inside, small holes do not matter, and a flat sheet has none. Near a large opening the number falls
   * evenly from 1 to 0, so that the inside ends at about a film over the opening; and an open, curved sheet has some in
   * its hollows. Beyond a mesh's own bounds there are none.
   *
   * ```ts
   * const rooms = await service.containing([camera.position.x, camera.position.y, camera.position.z]);
   * ```
   *
   * Rejects with OUT_OF_MEMORY when a mesh that is asked for the first time finds no room for its sums, 64 bytes for
   * each node of its tree; the service goes on.
   */
  async containing(point: Vec3, options?: QueryOptions): Promise<Uint32Array> {
    this.#link.check('containing');
    return this.#queries.containing(point, options);
  }

  /**
   * Finds the point nearest to a given one of all objects no farther than `maxDistance` (any, by default; one as far
   * counts); null if there is none. Meshes are surfaces unless they are `solid`, all other shapes are solid: a point
   * inside of one is its own nearest, at distance 0. Of objects that are as near the one with the lowest id counts, and
   * of its triangles the first.
   *
   * ```ts
   * const nearest = await service.closestPoint([0, 2, 0], { maxDistance: 10 });
   * ```
   */
  async closestPoint(point: Vec3, options?: QueryOptions & { maxDistance?: number }): Promise<ClosestPoint | null> {
    this.#link.check('closestPoint');
    return this.#queries.closestPoint(point, options);
  }

  /**
   * Cuts objects with a plane, four numbers n · p + d with n of any length but zero: answers their outlines in it, joined
   * to loops where meshes are closed, with which loop is directly inside of which. Meshes of points and lines have none;
   * spheres and capsules get polygons of `roundPoints` points.
   *
   * ```ts
   * const { starts, points } = await service.section([0, 1, 0, -1.2]); // 1.2 above the ground
   * for (let i = 0; i + 1 < starts.length; i++) draw(points.subarray(3 * starts[i], 3 * starts[i + 1]));
   * ```
   *
   * Two triangles that share an edge by the positions of its vertices share the point at which the plane crosses it, bit
   * by bit: outlines of a closed mesh are closed by construction, also through vertices and along faces.
   *
   * What takes longer than some milliseconds is cut in slices between which all else is answered, each object as it is
   * when its turn comes.
   *
   * Rejects with INVALID_ARGUMENT for a plane without a normal, UNSUPPORTED with `clip`, and OUT_OF_MEMORY when there is
   * more to say than the worker can hold.
   */
  async section(plane: ArrayLike<number>, options?: SectionOptions): Promise<Section> {
    this.#link.check('section');
    return this.#queries.section(plane, options);
  }

  /**
   * Finds what a shape meets first on its way from one placement to another, where all objects stand; null where the way
   * is free. Meshes are swept as surfaces, and may be swept themselves; points and lines are in no way. What only touches
   * at the start is met where the shape comes nearer to it, and not where it moves away or along.
   *
   * Both matrices are a shape's `matrix`, 16 numbers, column-major. The second must be the first, moved and turned: scale
   * and shear are kept on the way, whatever they are. In between the origin goes straight and evenly, and the shape turns
   * evenly about it, by the shorter way (slerp).
   *
   * Without a rotation the time is exact, and with one early by `tolerance` at most; it is never late but by rounding.
   * By default both sides of faces are met; with `side`, those that the shape comes to from their front, or back.
   *
   * ```ts
   * const from = new Matrix4().makeTranslation(0, 1, 0).elements;
   * const to = new Matrix4().makeTranslation(0, 1, 8).elements;
   * const hit = await service.sweep({ type: 'sphere', radius: 0.3 }, from, to);
   * const free = hit === null ? 8 : 8 * hit.time; // how far it can go
   * ```
   *
   * An object's id instead of a shape stands for its own shape, as its mesh was given, and is not in its own way.
   *
   * Rejects with INVALID_ARGUMENT where `to` is not `from`, moved and turned, and with UNSUPPORTED for `clip`.
   */
  async sweep(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options?: SweepOptions,
  ): Promise<SweepHit | null> {
    this.#link.check('sweep');
    return this.#queries.sweep(shape, from, to, options);
  }

  /** Finds the first contact with each object on the way, earliest first, as if the others were not there. */
  async sweepAll(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    options?: SweepOptions,
  ): Promise<SweepHit[]> {
    this.#link.check('sweepAll');
    return this.#queries.sweepAll(shape, from, to, options);
  }

  /**
   * Finds a free place near a matrix, for what is put down by hand: pushes the shape out of all that it overlaps, each time
   * out of what it is deepest in along the `normal` of a sweep by its `depth`, at most 64 times. It may touch others then.
   * Nothing says that no other free place is nearer. An object's id instead of a shape stands for its own, as in `sweep`.
   * Large meshes are pushed in slices between which all else is answered: `frame` is the one in which the place was free.
   *
   * ```ts
   * const { matrix } = await service.place(crate, new Matrix4().makeTranslation(3, 0.2, 1).elements);
   * service.setTransform(crate, matrix);
   * ```
   *
   * Rejects with INVALID_ARGUMENT where that ends in no free place, as between walls that are too near to each other: the
   * message says how deep it remains in which object; and with UNSUPPORTED for `clip`.
   */
  async place(shape: Shape | ObjectId, matrix?: ArrayLike<number>, options?: QueryOptions): Promise<Placement> {
    this.#link.check('place');
    return this.#queries.place(shape, matrix, options);
  }

  /**
   * Finds what a shape meets first on many ways, 14 numbers each: place (xyz) and unit quaternion (xyzw) at the start, then
   * at the end. Of several shapes, `shapeOf` says by its number which one goes each way. The ways are copied. What takes
   * longer than some milliseconds is done in slices between which all else is answered, also within the way of a mesh: each
   * way is among the objects as they stand when its turn comes. A mesh that goes the ways is as it was at the call, or as
   * `updateMesh` has made it since.
   *
   * ```ts
   * const ways = new Float64Array([0, 1, 0, 0, 0, 0, 1, 0, 1, 8, 0, 0, 0, 1]);
   * const { objects, times } = await service.sweepMany({ type: 'sphere', radius: 0.3 }, ways);
   * ```
   */
  async sweepMany(
    shape: Shape | readonly Shape[],
    ways: Float64Array | Float32Array,
    options?: SweepManyOptions,
  ): Promise<SweepHits> {
    this.#link.check('sweepMany');
    return this.#queries.sweepMany(shape, ways, options);
  }

  /**
   * Tells whether and how two objects touch, by the newest transforms that were sent with update(); null where they do
   * not. Layers, groups, `motion` and the objects' own `contacts` do not matter to it.
   *
   * ```ts
   * const contact = await service.contact(gripper, box);
   * if (contact) console.log(contact.points.length / 3, 'points, deepest', Math.max(...contact.depths));
   * ```
   *
   * What takes longer than some milliseconds is found in slices: other questions are answered between them, and what
   * changes the scene waits. In the midst of a frame, a contact with a mesh is found behind it.
   *
   * Rejects with INVALID_ARGUMENT for an object and itself, with OUT_OF_MEMORY when there is more to say than the
   * worker can hold.
   */
  async contact(a: ObjectId, b: ObjectId, options?: ContactOptions): Promise<ContactReport | null> {
    this.#link.check('contact');
    return this.#queries.contact(a, b, options);
  }

  /**
   * Measures how far two objects are from each other, by the newest transforms that were sent with update(), and finds
   * where they are nearest; null where that is more than `maxDistance` (one as far counts). Meshes are surfaces unless
   * they are `solid`, all other shapes are solid: where they meet, or one is inside of a solid, the distance is 0 and both
   * points are one that they share. Layers, groups, `motion` and `contacts` do not matter to it.
   *
   * ```ts
   * const near = await service.distance(arm, fence, { maxDistance: 0.5 });
   * if (near) console.log(near.distance, 'between', near.pointA, 'and', near.pointB);
   * ```
   *
   * It takes as long as the two are close over much of their surfaces; what takes longer than some milliseconds is found in
   * slices, as a contact is.
   *
   * Rejects with INVALID_ARGUMENT for an object and itself, with UNSUPPORTED for one with a mesh of points or lines.
   */
  async distance(a: ObjectId, b: ObjectId, options?: DistanceOptions): Promise<Distance | null> {
    this.#link.check('distance');
    return this.#queries.distance(a, b, options);
  }

  /**
   * Looks inside: the boxes of objects' trees by level, the octrees' cells with their counts, the bounds of objects with
   * how views see them, and numbers of each. It is for drawing and for finding out, and costs nothing while it is not
   * asked for.
   *
   * ```ts
   * const { trees: [tree], cells } = await service.inspect({ objects: [id], levels: [1, 3], octree: true });
   * console.log(tree.nodes, 'nodes', tree.depth, 'deep', tree.bytes, 'bytes', cells?.counts);
   * ```
   *
   * Boxes are frames of twelve numbers in float64 and world coordinates; with `lines` their edges come as float32, near an
   * `origin`, for a LineSegments there. What is listed is what `update()` has sent before. Answers are as long as `maxBoxes`
   * allows; between the trees of many objects the worker serves other messages.
   *
   * Rejects with UNKNOWN_ID for an object that is not alive, INVALID_ARGUMENT for levels, views or counts that are none,
   * ABORTED by the `signal`, and OUT_OF_MEMORY when there is more to list than the worker can hold.
   */
  async inspect(options?: InspectOptions): Promise<Inspection> {
    this.#link.check('inspect');
    return this.#queries.inspect(options);
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
    else if (message.type === 'ready') this.#pump.memory = message;
  }
}

/** Makes a CollisionError of what a call came to: a buffer that cannot be allocated is a RangeError in every engine. */
function asCollisionError(operation: string, error: unknown): unknown {
  const failure = CollisionError.is(error) ? null : failureOf(error);
  return failure ? new CollisionError(failure.code, `${operation}: ${failure.message}`, { cause: error }) : error;
}

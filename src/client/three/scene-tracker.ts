import { type Camera, type LOD, type Object3D, type Plane, Vector3 } from 'three';
import { CollisionError } from '../../shared/errors.js';
import { nextTask } from '../../shared/next-task.js';
import type {
  ContactOptions,
  DistanceOptions,
  FrameResult,
  ObjectId,
  Rect,
  Shape,
  ViewOptions,
} from '../../shared/types.js';
import { invalid, reading, show, unreadable } from '../check/validate.js';
import type { CollisionService } from '../service.js';
import { type Culled, NOTHING_CULLED } from './culling/culled.js';
import { type Asked, Culling } from './culling/culling.js';
import { MeshPool } from './geometry/mesh-pool.js';
import { Hover, type HoverListener, type HoverOptions } from './query/hover.js';
import type { SceneIntersection } from './query/intersection.js';
import type { SceneQueryOptions } from './query/scene-options.js';
import { type ScenePickOptions, ScenePicks, type SceneRegionOptions } from './query/scene-picks.js';
import {
  type SceneClosestOptions,
  type SceneClosestPoint,
  type SceneContactReport,
  type SceneDistance,
  type SceneLineOptions,
  type SceneMatrix,
  type ScenePlacement,
  SceneQueries,
  type SceneRayOptions,
  type SceneSight,
  type SceneSightOptions,
  type SceneSweepHit,
  type SceneSweepOptions,
} from './query/scene-queries.js';
import { readRay, type ScenePoint, type SceneRay } from './query/scene-ray.js';
import type { SceneSection, SceneSectionOptions } from './query/scene-section.js';
import { idsOf } from './query/target-ids.js';
import { type CharacterScene, SceneCharacter, type SceneCharacterOptions } from './scene-character.js';
import { readDrawn, type SceneTarget } from './scene-target.js';
import { ClipSetTable } from './track/clip-sets.js';
import { LayerChanges } from './track/layer-changes.js';
import { SkeletonTable } from './track/mesh-pose.js';
import { MeshTable } from './track/mesh-table.js';
import { MovedTransforms } from './track/moved-transforms.js';
import { type SceneObject, SceneObjects } from './track/scene-objects.js';
import { SceneWalk } from './track/scene-walk.js';
import type { CullableObject, Facing, ThinObject, Updatable } from './track/stand-in.js';
import { teleport } from './track/teleport.js';
import { isAboutOneObject, type ObjectWishes } from './track/tracked-object.js';
import { faceSprites } from './track/tracked-sprite.js';
import type { TrackOptions } from './track-options.js';
import { SceneFrame } from './view/scene-frame.js';
import { type SceneView, type SceneViewOptions, SceneViews } from './view/scene-views.js';
import type { ViewSize } from './view/view.js';

const NO_IDS = new Uint32Array(0);
const NO_VIEWS: ReadonlyMap<string, SceneView> = new Map();

/** What asks about the scene for as long as there is one. */
export interface Follower {
  ask(): void;
  end(): void;
}

/** What draws or counts what happens: it is told of answers, and asks nothing of its own by this. */
export interface Witness {
  /** A frame is answered; `msMain` milliseconds of `update` were spent on it. */
  answered(frame: SceneFrame, msMain: number): void;
  /** A pick at these pixels is answered; the view is as it was then, null before there was one. */
  picked?(view: ViewOptions | null, x: number, y: number, hit: SceneIntersection | null): void;
  cast?(from: Vector3, direction: Vector3, hit: SceneIntersection | null): void;
  cut?(view: ViewOptions | null, region: Rect | Float32Array): void;
  end(): void;
}

/**
 * Keeps a service in step with the Meshes, SkinnedMeshes, InstancedMeshes, BatchedMeshes, LODs, Sprites, Points and Lines under a
 * root. Made by `trackScene`.
 *
 * - What is invisible, by itself or by an ancestor, is not there: neither seen nor hit nor touched. Its ids stay.
 *   So is what has a scale of zero. A material that is not `visible` only keeps its object out of the views, for
 *   three's Raycaster hits it, too. `layers` are the object's.
 * - Geometries are built in the background, once for all objects that share them, and again when the version of their
 *   index, the number of their vertices, the draw range or the groups change; until then the old triangles answer. When
 *   only the version of their positions changes, the very update moves the vertices (`updateMesh` of the service).
 * - A SkinnedMesh, and a Mesh with morph targets, is as it is posed in the `update`: by its influences, by its binding as
 *   three has it, and by the `boneMatrices` that the last rendering left. A skeleton that was not rendered since the last
 *   `update` (and each, with `updateMatrixWorld`) is updated here, once, by the bones' `matrixWorld`. A pose is sent where
 *   it is another than before, and what is in no layer is not posed. Bones that are not finite are in the frame's
 *   `rejected`; what has such bones, influences or binding is not there until they are better. Geometries are built anew
 *   when the versions of their weights or targets change. `static` ones are posed when they are looked at.
 *   That a Mesh got or lost its influences is noticed within a second, or at once by `changed`. The
 *   instances of an InstancedMesh are moved by the influences of their own (`setMorphAt`), when the texture of these has another
 *   version; one that was never given any is drawn as a point by three, and is not there.
 * - A BatchedMesh is a mesh for each geometry in it, and an id for each number of an instance. An instance is there once its
 *   geometry is built; a deleted one keeps its id, hidden, until three gives its number to another. What is written to what three
 *   keeps of its instances, past its methods, is noticed within a second. What is said here of
 *   geometries is true of those in its buffers; those that only move there are not built again.
 * - Points, Line, LineSegments and LineLoop are hit within a `radius` of the cursor or within the thresholds of `params`, Line2
 *   and LineSegments2 of three's addons as wide as they are drawn. They touch nothing.
 * - A LOD is the level that three shows (its renderer says which by `visible`; with `autoUpdate` off the app does), as one
 *   object whose shape changes: hits name the level's mesh, all other answers the LOD. three's own Raycaster looks at no
 *   `visible` and meets all levels. Where a level draws anything but one Mesh or SkinnedMesh, itself or below it, and where the
 *   app shows several at once, the levels are objects of their own: contacts end and begin with their visibility.
 *   That `autoUpdate` was switched is noticed within a second, or at once by `changed`.
 * - A Sprite is a square that `update` turns to its camera, for all questions: it is there from the first `update` on, and in
 *   other views (`setView`) and for rays it is turned as it is for that camera. It is never `static`. One with a shape is
 *   where the Sprite is, and does not turn.
 * - Matrices are those of the last `render` (see `updateMatrixWorld` of the options). Objects of `motion: 'static'` are
 *   looked at by turns, each within a second, and at once when `changed` says so; all others in every frame.
 * - Where its objects are is the scene's to say: what `setTransform` of the service says of one lasts until the next
 *   `update`, of a static one until it is looked at again, of an instanced one until its own matrix is sent again.
 * - What is wrong with one object, its geometry or its options leaves out that object, which is `untracked` then, and is
 *   said once in the console.
 */
export class SceneTracker {
  readonly #service: CollisionService;
  readonly #root: Object3D;
  readonly #view: string;
  readonly #updatesMatrices: boolean;
  readonly #meshes: MeshPool;
  readonly #walk: SceneWalk;
  readonly #objects = new SceneObjects();
  readonly #sprites = new Set<Facing>();
  readonly #fat = new Set<{ refresh(): void }>();
  readonly #skeletons: SkeletonTable;
  readonly #layers: LayerChanges;
  readonly #views: SceneViews;
  readonly #picks: ScenePicks;
  readonly #queries: SceneQueries;
  readonly #followers = new Set<Follower>();
  readonly #witnesses = new Set<Witness>();
  readonly #characters = new Set<SceneCharacter>();
  readonly #characterScene: CharacterScene;
  readonly #culling: Culling | null;
  #isDisposed = false;
  /** `update` answers this for good. */
  #ended: Promise<SceneFrame> | null = null;
  /** The frame that was asked for last, with the number of the newest update that has joined it. */
  #asked: (Asked & { readonly result: Promise<FrameResult> }) | null = null;

  private constructor(service: CollisionService, root: Object3D, options: TrackOptions) {
    this.#service = service;
    this.#root = root;
    this.#view = options.view ?? 'main';
    this.#updatesMatrices = options.updateMatrixWorld ?? false;
    this.#skeletons = new SkeletonTable(this.#updatesMatrices);
    this.#layers = new LayerChanges(service);
    this.#meshes = new MeshPool(service, () => options.onProgress?.(this.#meshes.fraction), options.quality);
    const context = {
      service,
      meshes: this.#meshes,
      objects: this.#objects,
      moving: new MeshTable(),
      still: new MeshTable(),
      always: new Set<Updatable>(),
      sprites: this.#sprites,
      thin: new Set<ThinObject>(),
      instanced: new Set<CullableObject>(),
      lods: new Set<LOD>(),
      fat: this.#fat,
      skeletons: this.#skeletons,
      stale: new Set<Updatable>(),
      moved: new MovedTransforms(),
      layers: this.#layers,
      isInSlice: false,
      clips: new ClipSetTable(options.renderer),
    };
    const wishes: ObjectWishes = {
      contacts: options.contacts ?? 'none',
      shape: (object) => asking('shapeOf', () => options.shapeOf?.(object) ?? null),
      options: (object) => asking('objectOptions', () => options.objectOptions?.(object) ?? {}),
    };
    this.#walk = new SceneWalk(root, context, wishes, this.#updatesMatrices);
    service.addEventListener('restored', this.#onRestore);
    this.#views = new SceneViews(service, this.#view);
    this.#picks = new ScenePicks(context, this.#walk, this.#views, this.#view);
    this.#queries = new SceneQueries(context, this.#walk, this.#views, this.#view);
    const check = (operation: string): void => this.#assertLive(operation);
    this.#characterScene = { service, walk: this.#walk, objects: this.#objects, check };
    const { objects, instanced, lods } = context;
    const known = { objects, instanced, lods, service, entryOf: (object: Object3D) => this.#walk.entryOf(object) };
    this.#culling = typeof options.culling === 'object' ? new Culling(known, root, options.culling) : null;
  }

  readonly #onRestore = (): void => this.#walk.onRestore();

  /** Does what `trackScene` says, with options that are checked. */
  static async track(service: CollisionService, root: Object3D, options: TrackOptions): Promise<SceneTracker> {
    const { signal } = options;
    const tracker = new SceneTracker(service, root, options);
    const abort = (): void => tracker.dispose();
    const throwIfAborted = (): void => {
      if (signal?.aborted !== true) return;
      throw new CollisionError('ABORTED', 'trackScene: the signal was aborted', { cause: signal.reason });
    };
    signal?.addEventListener('abort', abort);
    try {
      if (signal?.aborted !== true) {
        tracker.#sync();
        await tracker.#walk.settled();
        await tracker.#meshes.built();
        await tracker.#walk.settled();
      }
      throwIfAborted();
      tracker.#sync();
      // It has looked at all of a large scene, as the first frame of the caller does: that is to be another task.
      await nextTask();
      throwIfAborted();
      for (const { error } of tracker.#walk.entries) {
        if (error !== null && !isAboutOneObject(error)) throw error;
      }
      return tracker;
    } catch (error) {
      tracker.dispose();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Lists the objects whose triangles are still being built, or whose moved vertices the service has not answered for
   * yet, and those that have just come, with all below them.
   */
  get pending(): Object3D[] {
    const pending = this.#walk.entries.filter((entry) => entry.pending).map((entry) => entry.object);
    return [...pending, ...this.#walk.arriving];
  }

  /**
   * Lists the objects under the root that the service does not know, and why: the error of the geometry, the skeleton or
   * the options; UNSUPPORTED for a geometry that its shader places. A BatchedMesh is there with the error of one of its
   * geometries, whose instances alone are left out.
   */
  get untracked(): Map<Object3D, CollisionError> {
    const untracked = new Map<Object3D, CollisionError>();
    for (const { object, error } of this.#walk.entries) {
      if (error !== null) untracked.set(object, error);
    }
    return untracked;
  }

  /**
   * Sends what changed in the scene, and the camera; answers what it sees and what touches. Call it once a frame,
   * where you call `render`; awaiting it is not needed for the next.
   *
   * A matrix of an object or an instance that the service does not take (not finite, not invertible, or with a bottom
   * row that is not 0, 0, 0, 1) is listed in the result's `rejected`. What has it is not there until it has a better
   * one.
   *
   * Rejects as `update` of the service does. Once the tracker or its service is disposed, every call answers the same
   * rejected promise (DISPOSED): a loop that nobody ends is reported once, not in every frame.
   *
   * ```ts
   * tracker.update(camera, { width: innerWidth, height: innerHeight }, { margin: 'motion' });
   * ```
   */
  update(camera: Camera, size: ViewSize, options: SceneViewOptions = {}): Promise<SceneFrame> {
    if (this.#ended !== null) return this.#ended;
    // It has the number of a query, as the pairs that end in its answer may name what leaves the scene with it.
    const number = this.#objects.begin();
    const start = this.#witnesses.size > 0 ? performance.now() : 0;
    try {
      this.#assertLive('update');
      this.#culling?.refresh();
      this.#sync(camera);
      this.#culling?.asking(number);
      for (const character of this.#characters) character.refresh();
      this.#views.set(this.#view, camera, size, this.#culling?.optionsFor(camera, options) ?? options);
    } catch (error) {
      this.#objects.end(number);
      const rejected = Promise.reject<SceneFrame>(error);
      if (isEnd(error)) this.#ended = rejected;
      return rejected;
    }
    const answer = this.#answer(number);
    for (const follower of this.#followers) follower.ask();
    if (this.#witnesses.size > 0) {
      const ms = performance.now() - start;
      this.#tell(answer, (witness, frame) => witness.answered(frame, ms));
    }
    return answer;
  }

  /** Tells those that look on of an answer, if it comes. */
  #tell<T>(answer: Promise<T>, tell: (witness: Witness, value: T) => void): void {
    answer.then(
      (value) => {
        for (const witness of this.#witnesses) tell(witness, value);
      },
      () => {}, // who has asked is told
    );
  }

  /** Answers what was sent, for the query of that number. */
  async #answer(number: number): Promise<SceneFrame> {
    const { culled } = this;
    try {
      const answer = this.#service.update();
      const asked = this.#asked?.result === answer ? this.#asked : { result: answer, update: number, views: NO_VIEWS };
      asked.update = number;
      if (this.#culling !== null) asked.views = this.#views.all();
      this.#asked = asked;
      const result = await answer;
      const { rejected } = result;
      for (let i = 0; i < rejected.length; i++) {
        const placement = this.#objects.get(rejected[i]);
        placement?.standIn.owner.reject(placement.instanceId ?? 0);
      }
      this.#layers.flush();
      if (!this.#isDisposed) this.#culling?.answered(result, asked);
      if (!this.#isDisposed) for (const character of this.#characters) character.place();
      // What an update sends of shapes is for what is asked after it, its frame included.
      return new SceneFrame(result, culled, this.#objects, this.#view, asked.update + 1);
    } finally {
      // The other calls that share the answer have it before.
      queueMicrotask(() => this.#objects.end(number));
    }
  }

  /**
   * Sets one more camera on the scene, which picks take at once, and frames from the next `update` on: another part of
   * the canvas, a shadow, someone's eyes.
   *
   * ```ts
   * tracker.setView(mapCamera, { x: 600, y: 0, width: 200, height: 150 }, 'map');
   * const frame = await tracker.update(camera, size);
   * frame.forEachVisible(({ object }) => …, 'map');
   * const hit = await tracker.pick(event.offsetX, event.offsetY, { view: 'map' });
   * ```
   */
  setView(camera: Camera, size: ViewSize, name: string, options: SceneViewOptions = {}): void {
    this.#assertLive('setView');
    this.#views.set(name, camera, size, this.#culling?.optionsFor(camera, options) ?? options);
  }

  /** Removes a view. Throws INVALID_ARGUMENT for a name that was not set here. */
  removeView(name: string): void {
    this.#assertLive('removeView');
    this.#views.remove(name);
  }

  /**
   * Finds what lies under a point of a view, in the CSS pixels of its `ViewSize`; null for nothing. The camera is
   * where it was when the view was last set before the call. The answer is the one of three's Raycaster, and like
   * there, faces are hit from the sides that their material shows. Between the near and the far plane, and what clipping
   * planes leave (of the materials, and of the `renderer` of `trackScene`, where they are now): what is not drawn is not
   * hit.
   *
   * By method 'screen': the object whose centre of bounds is drawn nearest to the point.
   *
   * Lines and points are hit within 4 pixels of the cursor, or another `radius`, or by `params` as three's Raycaster hits them.
   *
   * With `snap`, the answer has a `snap` beside: the vertex, midpoint, centre, edge or face that is drawn nearest to the cursor,
   * within 10 pixels or another `radius`, and not hidden.
   *
   * Before the first `update` it waits for the view that this sets.
   *
   * ```ts
   * const hit = await tracker.pick(event.offsetX, event.offsetY, { latest: true });
   * if (hit) console.log(hit.object.name, hit.distance, hit.point);
   * const snapped = await tracker.pick(event.offsetX, event.offsetY, { snap: ['vertex', 'edge'] });
   * if (snapped?.snap) console.log(snapped.snap.kind, snapped.snap.point);
   * ```
   */
  async pick(x: number, y: number, options: ScenePickOptions = {}): Promise<SceneIntersection | null> {
    this.#beginQuestion('pick');
    const answer = this.#picks.pick(x, y, options);
    if (this.#witnesses.size > 0) {
      const view = this.viewOf(options.view)?.options ?? null;
      this.#tell(answer, (witness, hit) => witness.picked?.(view, x, y, hit));
    }
    return answer;
  }

  /**
   * Calls back with what is under the pointer whenever that is another object, or another instance, and with null when
   * nothing is. It asks by `pick` when the pointer moves over the element, and after each `update`, as objects and the
   * camera may move under a pointer that rests. Answers a function that ends it, as the `signal` does.
   *
   * The element is the renderer's canvas, or what lies over it with the same upper left corner. Of several fingers the
   * first one counts.
   *
   * ```ts
   * tracker.hover(renderer.domElement, (hit, before) => {
   *   before?.object.layers.disable(OUTLINED);
   *   hit?.object.layers.enable(OUTLINED);
   * });
   * ```
   *
   * Throws INVALID_ARGUMENT.
   */
  hover(element: HTMLElement, listener: HoverListener, options: HoverOptions = {}): () => void {
    this.#assertLive('hover');
    const ask = (x: number, y: number, asked: ScenePickOptions) => this.pick(x, y, asked);
    const hover = new Hover(element, listener, options, ask);
    if (!hover.ended.aborted) hover.ended.addEventListener('abort', this.follow(hover));
    return () => hover.end();
  }

  /**
   * Has a follower ask anew with each update, and end with the tracker; answers what ends that.
   *
   * @internal
   */
  follow(follower: Follower): () => void {
    this.#assertLive('follow');
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Tells somebody of frames, picks, rays and regions from now on; answers what ends that.
   *
   * @internal
   */
  witness(witness: Witness): () => void {
    this.#assertLive('witness');
    this.#witnesses.add(witness);
    return () => this.#witnesses.delete(witness);
  }

  /** @internal */
  get service(): CollisionService {
    return this.#service;
  }

  /** @internal */
  get viewName(): string {
    return this.#view;
  }

  /**
   * Lists the ids of an object, or of an instance; none of what is not in the scene or not built yet.
   *
   * @internal
   */
  targetIds(target: SceneTarget): ObjectId[] {
    return Array.from(idsOf(this.#walk, readDrawn('CollisionHelper', 'trees', target)));
  }

  /**
   * Answers a view by its name, by default the one that `update` sets; null where it is not set, or not yet.
   *
   * @internal
   */
  viewOf(name = this.#view): SceneView | null {
    return this.#views.peek(name);
  }

  /**
   * Answers what this tracks.
   *
   * @internal
   */
  get root(): Object3D {
    return this.#root;
  }

  /**
   * Lists all that lies under a point, nearest first (method 'screen': on the screen); as `pick` in everything else.
   */
  async pickAll(x: number, y: number, options: ScenePickOptions = {}): Promise<SceneIntersection[]> {
    this.#beginQuestion('pickAll');
    return this.#picks.pickAll(x, y, options);
  }

  /**
   * Lists the objects in a region of a view, a rectangle or a polygon (xy of its vertices, even-odd), hidden ones
   * too; in the order of their first ids. An InstancedMesh is there when one of its instances is; with `instances`, these
   * are listed by themselves.
   *
   * Mode 'touch', the default: any part of them, of faces that show the side of their material to the camera, unless
   * `side` says otherwise. 'enclose': all of them, whatever the sides. What clipping planes cut away is not there, as
   * for `pick`; but an object of which the groups have materials with different planes is cut by those of the renderer
   * only, as it is in a pick with a `precision` of less than 'mesh'.
   *
   * ```ts
   * const selected = await tracker.pickRegion({ x: 100, y: 50, width: 300, height: 200 }, { mode: 'enclose' });
   * const trees = await tracker.pickRegion(lasso, { instances: true }); // { object, instanceId } each
   * ```
   */
  async pickRegion(
    region: Rect | Float32Array,
    options: SceneRegionOptions & { instances: true },
  ): Promise<SceneObject[]>;
  async pickRegion(
    region: Rect | Float32Array,
    options?: SceneRegionOptions & { instances?: false },
  ): Promise<Object3D[]>;
  async pickRegion(region: Rect | Float32Array, options?: SceneRegionOptions): Promise<Object3D[] | SceneObject[]>;
  async pickRegion(region: Rect | Float32Array, options: SceneRegionOptions = {}): Promise<Object3D[] | SceneObject[]> {
    this.#beginQuestion('pickRegion');
    const answer = this.#picks.pickRegion(region, options);
    if (this.#witnesses.size > 0) {
      const view = this.viewOf(options.view)?.options ?? null;
      const drawn = ArrayBuffer.isView(region) ? region.slice() : { ...region };
      this.#tell(answer, (witness) => witness.cut?.(view, drawn));
    }
    return answer;
  }

  /**
   * Finds the nearest hit of a ray, as three's Raycaster does: `raycaster.ray` will do, or a ray of the service with
   * arrays. Faces are hit from the sides that their material shows, in all layers unless `layers` says which
   * (`raycaster.layers.mask`). Clipping planes of materials do not count, but `clip` does.
   *
   * ```ts
   * const down = new Ray(player.position, new Vector3(0, -1, 0));
   * const ground = await tracker.raycast(down, { ignore: [player] });
   * if (ground) player.position.copy(ground.point);
   * ```
   */
  async raycast(ray: SceneRay, options: SceneRayOptions = {}): Promise<SceneIntersection | null> {
    this.#beginQuestion('raycast');
    const answer = this.#queries.raycast(ray, options);
    if (this.#witnesses.size > 0) {
      const { origin, direction } = readRay('raycast', ray);
      const [from, way] = [new Vector3(...origin), new Vector3(...direction)];
      this.#tell(answer, (witness, hit) => witness.cast?.(from, way, hit));
    }
    return answer;
  }

  /**
   * Lists all hits of a ray, nearest first; as `raycast` in everything else.
   *
   * ```ts
   * const { ray, near, far } = raycaster;
   * const hits = await tracker.raycastAll({ origin: ray.origin, direction: ray.direction, tMin: near, tMax: far });
   * ```
   */
  async raycastAll(ray: SceneRay, options: SceneRayOptions = {}): Promise<SceneIntersection[]> {
    this.#beginQuestion('raycastAll');
    return this.#queries.raycastAll(ray, options);
  }

  /**
   * Tells whether nothing of the scene is between two points: no face that shows the side of its material there, unless
   * `side` says otherwise. What is at the points themselves counts, unless it is in `ignore`.
   *
   * ```ts
   * const isClear = await tracker.lineOfSight(lamp.position, player.position, { ignore: [lamp, player] });
   * ```
   */
  async lineOfSight(from: ScenePoint, to: ScenePoint, options: SceneLineOptions = {}): Promise<boolean> {
    this.#beginQuestion('lineOfSight');
    return this.#queries.lineOfSight(from, to, options);
  }

  /**
   * Finds the objects and instances that a shape meets, in the order of their ids; touching counts. Meshes are surfaces
   * unless `objectOptions` says that they are `solid`, shapes are solid.
   *
   * ```ts
   * const blast = { type: 'sphere', radius: 5 } as const;
   * for (const { object, instanceId } of await tracker.overlap(blast, bomb.matrixWorld)) console.log(object.name, instanceId);
   * ```
   */
  async overlap(shape: Shape, matrix?: SceneMatrix, options: SceneQueryOptions = {}): Promise<SceneObject[]> {
    this.#beginQuestion('overlap');
    return this.#queries.overlap(shape, matrix, options);
  }

  /**
   * Finds the objects and instances that are solid around a point, as `containing` of the service says: any mesh that
   * winds around it.
   *
   * ```ts
   * const rooms = await tracker.containing(camera.position);
   * ```
   */
  async containing(point: ScenePoint, options: SceneQueryOptions = {}): Promise<SceneObject[]> {
    this.#beginQuestion('containing');
    return this.#queries.containing(point, options);
  }

  /**
   * Finds the point nearest to a given one of all that is in the scene, no farther than `maxDistance`; null if there is
   * none.
   *
   * ```ts
   * const nearest = await tracker.closestPoint(cursor.position, { maxDistance: 10, ignore: [cursor] });
   * if (nearest) cursor.position.copy(nearest.point); // snapped to nearest.object, nearest.faceIndex
   * ```
   */
  async closestPoint(point: ScenePoint, options: SceneClosestOptions = {}): Promise<SceneClosestPoint | null> {
    this.#beginQuestion('closestPoint');
    return this.#queries.closestPoint(point, options);
  }

  /**
   * Cuts the scene with a plane, three's or four numbers: answers the outlines of objects and instances in it, joined to loops
   * where meshes are closed, as `section` of the service says. What is invisible is not cut.
   *
   * ```ts
   * const { starts, points, objects } = await tracker.section(new Plane(new Vector3(0, 1, 0), -1.2));
   * objects.forEach(({ object }, i) => draw(object, points.subarray(3 * starts[i], 3 * starts[i + 1])));
   * ```
   */
  async section(plane: Plane | ArrayLike<number>, options: SceneSectionOptions = {}): Promise<SceneSection> {
    this.#beginQuestion('section');
    return this.#queries.section(plane, options);
  }

  /**
   * Finds what a shape meets first in the scene, on its way from one matrix to another; null where the way is free. The
   * second matrix must be the first, moved and turned, as `sweep` of the service says. Of an object of the scene or an
   * instance it sweeps its own shape, as its geometry has it, which is not in its own way; what is not in the scene or not
   * built yet meets nothing.
   *
   * ```ts
   * const from = player.matrixWorld.clone();
   * const to = from.clone().premultiply(new Matrix4().makeTranslation(0, 0, -2));
   * const hit = await tracker.sweep({ type: 'sphere', radius: 0.4 }, from, to, { ignore: [player] });
   * if (hit) console.log(hit.object.name, 'stands in the way after', 2 * hit.time);
   * ```
   */
  async sweep(
    shape: Shape | SceneTarget,
    from: SceneMatrix,
    to: SceneMatrix,
    options: SceneSweepOptions = {},
  ): Promise<SceneSweepHit | null> {
    this.#beginQuestion('sweep');
    return this.#queries.sweep(shape, from, to, options);
  }

  /** Finds the first contact with each object and instance on the way, earliest first, as if the others were not there. */
  async sweepAll(
    shape: Shape | SceneTarget,
    from: SceneMatrix,
    to: SceneMatrix,
    options: SceneSweepOptions = {},
  ): Promise<SceneSweepHit[]> {
    this.#beginQuestion('sweepAll');
    return this.#queries.sweepAll(shape, from, to, options);
  }

  /**
   * Finds a free place near a matrix, for what is put down by hand: a shape, or an object of the scene or an instance, is
   * pushed out of all that it overlaps, as `place` of the service says.
   *
   * ```ts
   * const { matrix } = await tracker.place(crate, crate.matrixWorld);
   * crate.position.setFromMatrixPosition(matrix); // where its parent is the scene
   * ```
   *
   * Rejects with INVALID_ARGUMENT where there is no free place to be pushed to: the message says how deep it remains.
   */
  async place(
    shape: Shape | SceneTarget,
    matrix: SceneMatrix,
    options: SceneLineOptions = {},
  ): Promise<ScenePlacement> {
    this.#beginQuestion('place');
    return this.#queries.place(shape, matrix, options);
  }

  /**
   * Tells whether and how two objects touch, or instances, whatever their `contacts`, layers and groups; null where they
   * do not. What is invisible, not in the scene or not built yet (`pending`, `untracked`) touches nothing.
   *
   * ```ts
   * const contact = await tracker.contact(gripper, { object: crates, instanceId: 7 });
   * if (contact) console.log(contact.normals.subarray(0, 3), 'leads from the gripper to the crate');
   * ```
   *
   * Rejects with INVALID_ARGUMENT for an object and itself, an InstancedMesh or BatchedMesh without the number of an instance, and what
   * can have no triangles, as a Group.
   */
  async contact(a: SceneTarget, b: SceneTarget, options: ContactOptions = {}): Promise<SceneContactReport | null> {
    this.#beginQuestion('contact');
    return this.#queries.contact(a, b, options);
  }

  /**
   * Measures how far two objects are from each other, or instances, and finds where they are nearest; null where that is
   * more than `maxDistance`, and where one is invisible, not in the scene or not built yet.
   *
   * ```ts
   * const near = await tracker.distance(arm, { object: people, instanceId: 3 }, { maxDistance: 1 });
   * if (near) line.geometry.setFromPoints([near.pointA, near.pointB]);
   * ```
   *
   * Rejects as `contact` does, and with UNSUPPORTED for points and lines.
   */
  async distance(a: SceneTarget, b: SceneTarget, options: DistanceOptions = {}): Promise<SceneDistance | null> {
    this.#beginQuestion('distance');
    return this.#queries.distance(a, b, options);
  }

  /**
   * Lists which of the targets the eye of a view sees, in their order: those in its frustum to which it has a clear line,
   * past which only they themselves may stand. Of an InstancedMesh the instances that it sees. What is invisible, not in
   * the scene or not built yet is not seen. The options are about what may be in the way: faces that show the side of
   * their material there, unless `side` says otherwise.
   *
   * ```ts
   * tracker.setView(guardCamera, { width: 1, height: 1 }, 'guard');
   * const seen = await tracker.sees([thief, crowd], { view: 'guard', ignore: [guard] });
   * for (const { object, instanceId, points } of seen) console.log(object.name, instanceId, `${points} of 9`);
   * ```
   *
   * Rejects with INVALID_ARGUMENT for a target that can have no triangles, as a Group.
   */
  async sees(targets: readonly SceneTarget[], options: SceneSightOptions = {}): Promise<SceneSight[]> {
    this.#beginQuestion('sees');
    return this.#queries.sees(targets, options);
  }

  /**
   * Makes a capsule that walks through the scene: along walls and corners, up steps and slopes, down when it falls, and along
   * with what it stands on. It moves with `update`, in the worker, as `createCharacter` of the service says; its `state` names
   * objects of the scene. An object, by itself or in the options, goes with it, and is what has its default form and place.
   *
   * ```ts
   * const hero = tracker.createCharacter({ object: figure, shape: { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } });
   * renderer.setAnimationLoop(() => {
   *   hero.advance(velocity, clock.getDelta()); // it falls, climbs and slides in steps of a sixtieth of a second
   *   renderer.render(scene, camera);
   *   tracker.update(camera, size); // its answer puts the figure where the hero is
   * });
   * console.log(hero.state.ground?.object.name);
   * ```
   *
   * Throws INVALID_ARGUMENT, UNKNOWN_ID.
   */
  createCharacter(options: SceneCharacterOptions | Object3D): SceneCharacter {
    this.#assertLive('createCharacter');
    const end = (character: SceneCharacter): void => {
      this.#characters.delete(character);
    };
    const character = new SceneCharacter(this.#characterScene, options, end);
    this.#characters.add(character);
    return character;
  }

  /**
   * Says what was left out by `culling` when a camera of this tracker was drawn last, beside what three itself leaves out.
   * All is 0 without `culling`.
   */
  get culled(): Culled {
    return this.#culling?.culled ?? NOTHING_CULLED;
  }

  /**
   * Lists the service's ids of an object, for an InstancedMesh or BatchedMesh in the order of its instances (deleted
   * ones included); none until it is built.
   * Under them the service's own questions hit its faces from the sides that their materials show, unless a `side` is
   * given.
   */
  idsOf(object: Object3D): Uint32Array {
    return this.#walk.entryOf(object)?.ids.slice() ?? new Uint32Array(0);
  }

  /**
   * Tells whether the service can answer for what three would hit of an object, for an adapter that asks three itself
   * where it cannot.
   *
   * @internal
   */
  standingOf(object: Object3D): 'yes' | 'soon' | 'no' {
    this.#assertLive('standingOf');
    return this.#walk.standingOf(object);
  }

  /**
   * Looks at what has come, and waits until it stands, as far as it can be built now.
   *
   * @internal
   */
  async settled(): Promise<void> {
    this.#assertLive('settled');
    this.#sync();
    await this.#walk.settled();
    await this.#meshes.built();
    await this.#walk.settled();
    this.#sync();
  }

  /** Finds the object of one of the service's ids. Throws UNKNOWN_ID if it is not in the scene. */
  objectOf(id: ObjectId): SceneObject {
    const found = typeof id === 'number' ? this.#objects.get(id) : undefined;
    if (found === undefined) {
      throw new CollisionError('UNKNOWN_ID', `objectOf: id is ${show(id)}, expected one of an object in the scene`);
    }
    return found;
  }

  /**
   * Has the next `update` look at an object and all that is below it, and asks `objectOptions` and `shapeOf` of them
   * again. Of thousands, that `update` looks at where they are and whether they are visible; the rest is done in slices of
   * a few milliseconds, or at once where a question comes first.
   *
   * Needed only for what is not noticed by itself at once: objects of `motion: 'static'`, which are looked at by turns,
   * each within a second, as is what was put into `children` by hand; and for options that shall be others. Does nothing
   * for what is not below the root.
   *
   * ```ts
   * wall.visible = false; // of motion 'static'
   * tracker.changed(wall);
   * ```
   */
  changed(object: Object3D): void {
    this.#assertLive('changed');
    reading('changed', 'object', () => {
      if (object?.isObject3D !== true) invalid('changed', 'object', object, 'an Object3D of three');
    });
    this.#walk.request(object);
  }

  /**
   * Tells that an object, and all that is below it, was put where it is, and did not move there: what is `continuous` passes
   * nothing in between. Its world matrices are brought up to date. Does nothing for what is not below the root.
   *
   * ```ts
   * player.position.copy(spawn);
   * tracker.teleport(player);
   * ```
   */
  teleport(object: Object3D): void {
    this.#assertLive('teleport');
    reading('teleport', 'object', () => {
      if (object?.isObject3D !== true) invalid('teleport', 'object', object, 'an Object3D of three');
    });
    object.updateWorldMatrix(true, true);
    object.traverse((each) => teleport(this.#service, each, this.#walk.entryOf(each)?.ids ?? NO_IDS));
  }

  /**
   * Removes from the service what this tracker added: the first thousands at once, the rest in slices of a few
   * milliseconds. The scene stays as it is.
   */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const each of [...this.#followers, ...this.#witnesses]) each.end();
    this.#followers.clear();
    this.#witnesses.clear();
    this.#culling?.dispose();
    this.#service.removeEventListener('restored', this.#onRestore);
    try {
      for (const character of this.#characters) character.end();
      this.#characters.clear();
      this.#walk.clear();
      this.#views.clear();
    } catch (error) {
      // Where the service itself is gone, everything is.
      if (!isEnd(error)) throw error;
    }
  }

  /** Brings the service's objects in line with the scene. */
  #sync(camera?: Camera): void {
    reading('trackScene', 'the scene', () => {
      if (this.#updatesMatrices) {
        this.#root.parent?.updateWorldMatrix(true, false);
        this.#root.updateMatrixWorld(this.#root.parent !== null);
      }
      if (camera !== undefined) faceSprites(this.#sprites, camera);
      for (const each of this.#fat) each.refresh();
      this.#skeletons.beginFrame();
      this.#meshes.refresh();
      this.#walk.update();
    });
  }

  /** Makes sure that a question is asked of what the scene was in the last `update`. */
  #beginQuestion(operation: string): void {
    this.#assertLive(operation);
    this.#walk.finishRequests();
  }

  #assertLive(operation: string): void {
    if (this.#isDisposed) {
      throw new CollisionError('DISPOSED', `${operation}: the tracker is disposed, expected one in use`);
    }
  }
}

/** Asks a function of the caller's about one object: whatever it throws is about that one. */
function asking<T>(name: string, ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    if (isAboutOneObject(cause)) throw cause;
    throw unreadable('trackScene', name, cause);
  }
}

/** Answers whether there is no service any more. */
function isEnd(error: unknown): boolean {
  return CollisionError.is(error) && (error.code === 'DISPOSED' || error.code === 'WORKER_LOST');
}

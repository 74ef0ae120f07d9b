import type { Camera, Object3D } from 'three';
import { CollisionError } from '../../shared/errors.js';
import { nextTask } from '../../shared/next-task.js';
import type { FrameResult, ObjectId } from '../../shared/types.js';
import { describeValue, guardRead, throwInvalid } from '../check/validate.js';
import type { CollisionService } from '../service.js';
import { type Culled, NOTHING_CULLED } from './culling/culled.js';
import { Culling, type FrameRequest } from './culling/culling.js';
import { MeshPool } from './geometry/mesh-pool.js';
import { ScenePicks } from './query/scene-picks.js';
import { SceneQueries } from './query/scene-queries.js';
import { idsOf } from './query/target-ids.js';
import { type CharacterScene, SceneCharacter, type SceneCharacterOptions } from './scene-character.js';
import { SceneQuestions } from './scene-questions.js';
import { checkObject, readDrawnTarget, type SceneTarget } from './scene-target.js';
import { isServiceEnded, namedIfEnded } from './track/ended.js';
import { LayerChanges } from './track/layer-changes.js';
import { SkeletonTable } from './track/mesh-pose.js';
import { isAboutOneObject } from './track/object-settings.js';
import { type SceneObject, SceneObjects } from './track/scene-objects.js';
import { SceneWalk } from './track/scene-walk.js';
import type { TrackerContext } from './track/stand-in.js';
import { teleport } from './track/teleport.js';
import { faceSprites } from './track/tracked-sprite.js';
import { trackerContext } from './track/tracker-context.js';
import { settingsOf, type TrackOptions } from './track-options.js';
import { SceneFrame } from './view/scene-frame.js';
import { readSceneView, type SceneView, type SceneViewOptions, SceneViews } from './view/scene-views.js';
import type { ViewSize } from './view/view.js';

const NO_VIEWS: ReadonlyMap<string, SceneView> = new Map();

/**
 * Keeps a service in step with the Meshes, SkinnedMeshes, InstancedMeshes, BatchedMeshes, LODs, Sprites, Points and Lines under
 * a root. `trackScene` creates it.
 *
 * - An object that is invisible, itself or through an ancestor, is absent: it is not seen, hit or touched. The same goes for a
 *   scale of zero. Its ids stay. When an ancestor shows thousands again, the first are there with that very `update`, the
 *   others in slices of a few milliseconds (`pending`), or at once if a query comes first. The same goes for thousands whose
 *   material, geometry, layers or own `visible` change at once. The positions of thousands that an ancestor has just hidden are
 *   sent by the next `update`. A material that is not `visible` only hides its object from views: rays hit it, as in three.
 * - Geometries are built in the background, once for all objects that share them, and again when the version of the index, the
 *   number of vertices, the draw range or the groups change; until then queries use the old triangles. If only the version of
 *   the positions changes, that very `update` moves the vertices (`updateMesh` of the service).
 * - A SkinnedMesh, and a Mesh with morph targets, has the pose that it has at the `update`: by its influences, by its binding
 *   as in three, and by the `boneMatrices` of the last rendering. A skeleton that was not rendered since the last `update`
 *   (with `updateMatrixWorld`, every skeleton) is updated here, once, from its bones' `matrixWorld`. Poses are sent when they
 *   change; an object in no layer is not posed. Bones that are not finite are in the frame's `rejected`; an object with such
 *   bones, influences or binding is absent until they are valid. Geometries are rebuilt when the versions of their weights or
 *   targets change. `static` objects are posed when they are checked. Influences that a Mesh gains or loses are noticed within
 *   a second, or at once by `changed`.
 * - The influences of an InstancedMesh's instances (`setMorphAt`) move them when the version of the texture changes. An
 *   InstancedMesh that was never given any is drawn as a point by three, and is absent.
 * - A BatchedMesh is one mesh per geometry in it, and one id per instance number. An instance is there once its geometry is
 *   built; a deleted one keeps its id, hidden, until three reuses its number. Data written without three's methods is noticed
 *   within a second. What is said of geometries holds for those in its buffers; those that only move there are not rebuilt.
 * - Points, Line, LineSegments and LineLoop are hit within a `radius` of the cursor or within the thresholds of `params`; Line2
 *   and LineSegments2 of three's addons are hit as wide as they are drawn. They touch nothing.
 * - A LOD is the level that three shows (its renderer sets `visible`; with `autoUpdate` off the app does), as one object whose
 *   shape changes: hits name the level's mesh, all other results the LOD. three's Raycaster ignores `visible` and tests all
 *   levels. If a level draws anything but one Mesh or SkinnedMesh, itself or below it, or if the app shows several at once, the
 *   levels are separate objects: contacts end and begin with their visibility. A change of `autoUpdate` is noticed within a
 *   second, or at once by `changed`.
 * - A Sprite is a square that `update` turns to its camera, for all queries: it is there from the first `update` on, and rays
 *   and other views (`setView`) test it as turned for that camera. It is never `static`. One with a shape is where the
 *   Sprite is, and does not turn.
 * - Matrices are those of the last `render` (see `updateMatrixWorld` of the options). Objects of `motion: 'static'` are checked
 *   in turn, each within a second, and at once when `changed` says so; all others in every frame. After a pause, or if frames
 *   take more than 100 milliseconds, an `update` catches up for at most about a millisecond, so tens of thousands may take
 *   longer than a second.
 * - The scene decides where its objects are: what `setTransform` of the service sets lasts until the next `update`, for a
 *   static object until it is checked again, for an instanced one until its own matrix is sent again.
 * - An error of an object, its geometry or its options leaves it out: it is in `untracked`, and the console says so once.
 */
export class SceneTracker extends SceneQuestions {
  readonly #service: CollisionService;
  readonly #root: Object3D;
  readonly #view: string;
  readonly #updatesMatrices: boolean;
  readonly #meshes: MeshPool;
  readonly #walk: SceneWalk;
  readonly #objects = new SceneObjects();
  readonly #context: TrackerContext;
  readonly #views: SceneViews;
  readonly #picks: ScenePicks;
  readonly #queries: SceneQueries;
  readonly #characters = new Set<SceneCharacter>();
  readonly #characterScene: CharacterScene;
  readonly #culling: Culling | null;
  #isDisposed = false;
  /** What `update` returns once the tracker or its service has ended; null before. */
  #ended: Promise<SceneFrame> | null = null;
  /** The frame that was requested last, with the number of the newest update that has joined it, and what that has sent. */
  #request: (FrameRequest & { seen: number; readonly result: Promise<FrameResult> }) | null = null;

  private constructor(service: CollisionService, root: Object3D, options: TrackOptions) {
    super({
      picks: (operation) => {
        this.#beginQuery(operation);
        return this.#picks;
      },
      queries: (operation) => {
        this.#beginQuery(operation);
        return this.#queries;
      },
      check: (operation) => this.#assertLive(operation),
      view: (name) => this.viewOf(name),
    });
    const culling = typeof options.culling === 'object' ? options.culling : null;
    this.#service = service;
    this.#root = root;
    this.#view = options.view ?? 'main';
    this.#updatesMatrices = options.updateMatrixWorld ?? false;
    const layers = new LayerChanges(service);
    const onProgress = (): void => {
      this.#walk.wake();
      if (!this.#isDisposed) options.onProgress?.(this.#meshes.fraction);
    };
    this.#meshes = new MeshPool(service, onProgress, options.quality);
    const skeletons = new SkeletonTable(this.#updatesMatrices);
    const context = trackerContext(
      { service, meshes: this.#meshes, objects: this.#objects, layers, skeletons },
      options.renderer,
    );
    this.#context = context;
    this.#walk = new SceneWalk(root, context, settingsOf(options), this.#updatesMatrices);
    service.addEventListener('restored', this.#onRestore);
    const margin = culling === null ? 0 : (culling.margin ?? 'motion');
    this.#views = new SceneViews(context, this.#view, margin, () => this.#walk.unlisten());
    this.#picks = new ScenePicks(context, this.#walk, this.#views, this.#view);
    this.#queries = new SceneQueries(context, this.#walk, this.#views, this.#view);
    const check = (operation: string): void => this.#assertLive(operation);
    this.#characterScene = { service, walk: this.#walk, objects: this.#objects, check };
    const cullingContext = { ...context, entryOf: (object: Object3D) => this.#walk.entryOf(object) };
    this.#culling = culling === null ? null : new Culling(cullingContext, root, culling);
  }

  readonly #onRestore = (): void => this.#walk.onRestore();

  /** Implements `trackScene`, with options that are already checked. */
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
      if (signal?.aborted !== true) await tracker.#settle();
      throwIfAborted();
      tracker.#sync();
      // All of a large scene was visited here, and the caller's first frame visits it again: that belongs in another task.
      await nextTask();
      throwIfAborted();
      for (const { error } of tracker.#walk.entries()) {
        if (error !== null && !isAboutOneObject(error)) throw error;
      }
      return tracker;
    } catch (error) {
      tracker.dispose();
      throw namedIfEnded('trackScene', error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * Lists the objects whose triangles are still being built, those whose moved vertices the service has not confirmed yet, and
   * those that have just been added, or shown by an ancestor, with all their descendants.
   */
  get pending(): Object3D[] {
    const pending: Object3D[] = [];
    for (const entry of this.#walk.entries()) if (entry.pending) pending.push(entry.object);
    return [...pending, ...this.#walk.arriving];
  }

  /**
   * Lists the objects under the root that the service does not know, each with the error of its geometry, skeleton or options;
   * UNSUPPORTED for a geometry that its shader places. A BatchedMesh is listed with the error of one of its geometries; only
   * the instances of that geometry are left out.
   */
  get untracked(): Map<Object3D, CollisionError> {
    const untracked = new Map<Object3D, CollisionError>();
    for (const { object, error } of this.#walk.entries()) {
      if (error !== null) untracked.set(object, error);
    }
    return untracked;
  }

  /**
   * Sends what changed in the scene, and the camera; resolves with what the camera sees and which objects touch. Call it once a
   * frame, after `render`. You need not await it before the next call.
   *
   * If the service does not accept the matrix of an object or an instance (not finite, not invertible, or with a bottom row
   * that is not 0, 0, 0, 1), it is listed in the result's `rejected`, and is absent until it has a valid one.
   *
   * Rejects as `update` of the service does. Once the tracker or its service is disposed, every call returns the same rejected
   * promise (DISPOSED): a loop that continues and handles nothing is reported once.
   *
   * ```ts
   * tracker.update(camera, { width: innerWidth, height: innerHeight }, { margin: 'motion' });
   * ```
   */
  update(camera: Camera, size: ViewSize, options: SceneViewOptions = {}): Promise<SceneFrame> {
    if (this.#ended !== null) return this.#ended;
    // An update has a query's id: the pairs that end in its result may name objects that leave the scene with it.
    const queryId = this.#objects.begin();
    const start = performance.now();
    try {
      this.#assertLive('update');
      this.#culling?.refresh();
      this.#sync(camera);
      this.#culling?.asking(queryId);
      for (const character of this.#characters) character.refresh();
      this.#setView(camera, size, this.#view, options);
    } catch (error) {
      this.#objects.end(queryId);
      const rejected = Promise.reject<SceneFrame>(namedIfEnded('update', error));
      if (isServiceEnded(error)) {
        this.#ended = rejected;
        this.#culling?.dispose();
      }
      return rejected;
    }
    const answer = this.#requestFrame(queryId);
    this.askFollowers();
    const ms = performance.now() - start;
    this.tell(answer, (observer, frame) => observer.answered(frame, ms));
    return answer;
  }

  /** Asks the service for the frame of what was sent, and resolves with it; `queryId` is the query id of this update. */
  async #requestFrame(queryId: number): Promise<SceneFrame> {
    const { culled } = this;
    try {
      const answer = this.#service.update();
      const newRequest = { result: answer, update: 0, seen: 0, views: NO_VIEWS };
      const request = this.#request?.result === answer ? this.#request : newRequest;
      request.update = queryId;
      request.seen = this.#objects.mark();
      if (this.#culling !== null) request.views = this.#views.all();
      this.#request = request;
      const result = await answer;
      for (const id of result.rejected) {
        const placement = this.#objects.get(id);
        placement?.standIn.owner.reject(placement.instanceId ?? 0);
      }
      this.#context.layers.flush();
      if (!this.#isDisposed) this.#culling?.answered(result, request);
      if (!this.#isDisposed) for (const character of this.#characters) character.place(request.seen);
      return new SceneFrame(result, culled, this.#objects, this.#view, request.seen);
    } finally {
      // Other calls that share the result get it first. A promise reaction, because Chromium's queueMicrotask takes 7 µs.
      void Promise.resolve().then(() => this.#objects.end(queryId));
    }
  }

  /**
   * Adds a camera to the scene: another part of the canvas, a shadow, someone's eyes. Picks use it at once, frames from the
   * next `update` on.
   *
   * ```ts
   * tracker.setView(mapCamera, { x: 600, y: 0, width: 200, height: 150 }, 'map');
   * const frame = await tracker.update(camera, size);
   * frame.forEachVisible(({ object }) => console.log(object.name), 'map');
   * const hit = await tracker.pick(event.offsetX, event.offsetY, { view: 'map' });
   * ```
   */
  setView(camera: Camera, size: ViewSize, name: string, options: SceneViewOptions = {}): void {
    this.#assertLive('setView');
    // The service has a default, which is another view.
    if (name === undefined) throwInvalid('setView', 'name', name, 'a name');
    this.#setView(camera, size, name, options);
  }

  #setView(camera: Camera, size: ViewSize, name: string, options: SceneViewOptions): void {
    const viewOptions = readSceneView(options);
    this.#views.set(name, camera, size, this.#culling?.optionsFor(camera, viewOptions) ?? viewOptions);
  }

  /** Removes a view. Throws INVALID_ARGUMENT for a name that was not set here. */
  removeView(name: string): void {
    this.#assertLive('removeView');
    this.#views.remove(name);
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
   * Lists the ids of an object, or of an instance; empty if it is not in the scene or not built yet.
   *
   * @internal
   */
  targetIds(target: SceneTarget): ObjectId[] {
    return Array.from(idsOf(this.#walk, readDrawnTarget('CollisionHelper', 'trees', target)));
  }

  /**
   * Returns a view by its name, by default the one that `update` sets; null if it has not been set.
   *
   * @internal
   */
  viewOf(name = this.#view): SceneView | null {
    return this.#views.peek(name);
  }

  /**
   * Returns the root of what this tracks.
   *
   * @internal
   */
  get root(): Object3D {
    return this.#root;
  }

  /**
   * Creates a capsule that walks through the scene: it slides along walls and corners, climbs steps and slopes, falls, and
   * rides on what it stands on. The worker moves it with `update`, as described for `createCharacter` of the service; its
   * `state` names objects of the scene. An object, alone or in the options, moves with it, and gives it its default shape and
   * position.
   *
   * ```ts
   * const hero = tracker.createCharacter({ object: figure, shape: { type: 'capsule', radius: 0.3, from: [0, 0.3, 0], to: [0, 1.5, 0] } });
   * renderer.setAnimationLoop(() => {
   *   hero.advance(velocity, timer.update().getDelta()); // it falls, climbs and slides in steps of a sixtieth of a second
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
    const onEnd = (character: SceneCharacter): void => {
      this.#characters.delete(character);
    };
    const character = new SceneCharacter(this.#characterScene, options, onEnd);
    this.#characters.add(character);
    return character;
  }

  /**
   * What `culling` left out, in addition to three itself, when a camera of this tracker was last drawn. All counts are 0
   * without `culling`.
   */
  get culled(): Culled {
    return this.#culling?.culled ?? NOTHING_CULLED;
  }

  /**
   * Lists the service's ids of an object, for an InstancedMesh or BatchedMesh in the order of its instances (deleted ones
   * included); empty until it is built. The service's own queries hit these ids on the sides that their materials show, unless
   * a `side` is given.
   */
  idsOf(object: Object3D): Uint32Array {
    return this.#walk.entryOf(object)?.ids.slice() ?? new Uint32Array(0);
  }

  /**
   * Returns whether the service can answer for what three would hit of an object, for an adapter that otherwise asks three
   * itself.
   *
   * @internal
   */
  standingOf(object: Object3D): 'yes' | 'soon' | 'no' {
    this.#assertLive('standingOf');
    return this.#walk.standingOf(object);
  }

  /**
   * Takes in added objects, and waits until they are built, as far as they can be built now.
   *
   * @internal
   */
  async settled(): Promise<void> {
    this.#assertLive('settled');
    await this.#settle();
    this.#sync();
  }

  async #settle(): Promise<void> {
    this.#sync();
    await this.#walk.settled();
    await this.#meshes.built();
    await this.#walk.settled();
  }

  /** Returns the object of one of the service's ids. Throws UNKNOWN_ID if it is not in the scene. */
  objectOf(id: ObjectId): SceneObject {
    const sceneObject = typeof id === 'number' ? this.#objects.get(id) : undefined;
    if (sceneObject === undefined) {
      const message = `objectOf: id is ${describeValue(id)}, expected one of an object in the scene`;
      throw new CollisionError('UNKNOWN_ID', message);
    }
    return sceneObject;
  }

  /**
   * Makes the next `update` check an object and all its descendants, and call `objectOptions` and `shapeOf` for them again. If
   * there are thousands, that `update` checks their positions and visibility; the rest is done in slices of a few milliseconds,
   * or at once if a query comes first.
   *
   * You need it for objects of `motion: 'static'` and for objects put into `children` by hand, which are otherwise checked in
   * turn, each within a second; and if `objectOptions` or `shapeOf` would now return something else. It does nothing for an
   * object that is not below the root.
   *
   * ```ts
   * wall.visible = false; // of motion 'static'
   * tracker.changed(wall);
   * ```
   */
  changed(object: Object3D): void {
    this.#assertLive('changed');
    checkObject('changed', object);
    this.#walk.request(object);
  }

  /**
   * Declares that an object and its descendants were put where they are and did not move there: `continuous` objects pass
   * nothing in between. Updates their world matrices. Does nothing for an object that is not below the root.
   *
   * ```ts
   * player.position.copy(spawn);
   * tracker.teleport(player);
   * ```
   */
  teleport(object: Object3D): void {
    this.#assertLive('teleport');
    checkObject('teleport', object);
    object.updateWorldMatrix(true, true);
    faceSprites(this.#context, this.viewOf()?.camera);
    try {
      object.traverse((each) => teleport(this.#service, each, this.#walk.entryOf(each)));
    } catch (error) {
      throw namedIfEnded('teleport', error);
    }
  }

  /**
   * Removes from the service what this tracker added: the first thousands at once, the rest in slices of a few milliseconds.
   * The scene itself is not changed.
   */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.endAll();
    this.#culling?.dispose();
    this.#service.removeEventListener('restored', this.#onRestore);
    try {
      for (const character of this.#characters) character.end();
      this.#characters.clear();
      this.#walk.clear();
      this.#views.clear();
    } catch (error) {
      // A service that has ended has removed everything itself.
      if (!isServiceEnded(error)) throw error;
    }
  }

  /** Brings the service's objects into line with the scene. */
  #sync(camera?: Camera): void {
    guardRead('trackScene', 'the scene', () => {
      if (this.#updatesMatrices) {
        this.#root.parent?.updateWorldMatrix(true, false);
        this.#walk.updateMatrices();
      }
      const { fat, skeletons } = this.#context;
      faceSprites(this.#context, camera);
      for (const fatLine of fat) fatLine.refresh();
      skeletons.beginFrame();
      this.#walk.update();
    });
  }

  /** Makes sure that a query sees the scene as of the last `update`. */
  #beginQuery(operation: string): void {
    this.#assertLive(operation);
    this.#walk.finishRequests();
  }

  #assertLive(operation: string): void {
    if (this.#isDisposed) {
      throw new CollisionError('DISPOSED', `${operation}: the tracker is disposed, expected one in use`);
    }
  }
}

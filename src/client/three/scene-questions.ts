import { type Object3D, type Plane, Vector3 } from 'three';
import type { ContactOptions, DistanceOptions, Rect, Shape, ViewOptions } from '../../shared/types.js';
import { Hover, type HoverListener, type HoverOptions } from './query/hover.js';
import type { SceneIntersection } from './query/intersection.js';
import type {
  SceneClosestOptions,
  SceneClosestPoint,
  SceneContactReport,
  SceneDistance,
  SceneLineOptions,
  SceneMatrix,
  ScenePlacement,
  SceneRayOptions,
  SceneSight,
  SceneSightOptions,
  SceneSweepHit,
  SceneSweepOptions,
} from './query/scene-answers.js';
import type { SceneQueryOptions } from './query/scene-options.js';
import type { ScenePickOptions, ScenePicks, SceneRegionOptions } from './query/scene-picks.js';
import type { SceneQueries } from './query/scene-queries.js';
import { readRay, type ScenePoint, type SceneRay } from './query/scene-ray.js';
import type { SceneSection, SceneSectionOptions } from './query/scene-section.js';
import type { SceneTarget } from './scene-target.js';
import type { SceneObject } from './track/scene-objects.js';
import type { SceneFrame } from './view/scene-frame.js';
import type { SceneView } from './view/scene-views.js';

/** Repeats a question about the scene with every update, until the tracker ends. */
export interface RepeatedQuery {
  ask(): void;
  end(): void;
}

/** Draws or counts what happens: it is notified of answers, and causes no queries of its own. */
export interface AnswerObserver {
  /** A frame was answered; `update` spent `msMain` milliseconds on it. */
  answered(frame: SceneFrame, msMain: number): void;
  /** A pick at these pixels was answered; the view is as it was at the call, null if there was none yet. */
  picked?(view: ViewOptions | null, x: number, y: number, hit: SceneIntersection | null): void;
  cast?(from: Vector3, direction: Vector3, hit: SceneIntersection | null): void;
  cut?(view: ViewOptions | null, region: Rect | Float32Array): void;
  end(): void;
}

/** Provides the implementation of the queries, given the operation's name; throws once the tracker is disposed. */
export interface QueryAccess {
  picks(operation: string): ScenePicks;
  queries(operation: string): SceneQueries;
  check(operation: string): void;
  /** Returns a view by its name, by default the one that `update` sets. */
  view(name: string | undefined): SceneView | null;
}

/**
 * The queries of a tracker about its scene, in terms of its objects: picks, rays, regions, sweeps, contacts, distances and
 * sections. Each sees the scene as it was in the last `update` before the call.
 */
export class SceneQuestions {
  readonly #access: QueryAccess;
  readonly #repeatedQueries = new Set<RepeatedQuery>();
  readonly #observers = new Set<AnswerObserver>();

  /** @internal */
  constructor(access: QueryAccess) {
    this.#access = access;
  }

  /**
   * Repeats a query with each update, and ends it with the tracker; returns a function that unsubscribes it.
   *
   * @internal
   */
  follow(query: RepeatedQuery): () => void {
    this.#access.check('follow');
    this.#repeatedQueries.add(query);
    return () => this.#repeatedQueries.delete(query);
  }

  /**
   * Notifies an observer of frames, picks, rays and regions from now on; returns a function that unsubscribes it.
   *
   * @internal
   */
  witness(witness: AnswerObserver): () => void {
    this.#access.check('witness');
    this.#observers.add(witness);
    return () => this.#observers.delete(witness);
  }

  /**
   * Asks all repeated queries again.
   *
   * @internal
   */
  protected askFollowers(): void {
    for (const query of this.#repeatedQueries) query.ask();
  }

  /**
   * Ends repeated queries and observers.
   *
   * @internal
   */
  protected endAll(): void {
    for (const each of [...this.#repeatedQueries, ...this.#observers]) each.end();
    this.#repeatedQueries.clear();
    this.#observers.clear();
  }

  /**
   * Notifies the observers of an answer, if it comes.
   *
   * @internal
   */
  protected tell<T>(answer: Promise<T>, tell: (observer: AnswerObserver, value: T) => void): void {
    if (this.#observers.size === 0) return;
    answer.then(
      (value) => {
        for (const observer of this.#observers) tell(observer, value);
      },
      () => {}, // the caller of the query gets the error
    );
  }

  /**
   * Finds what is under a point of a view, in the CSS pixels of its `ViewSize`; null for nothing. The camera is where it was
   * when the view was last set before the call. The result is that of three's Raycaster: faces are hit on the sides that their
   * material shows. Unlike there, only what is drawn is hit: between the near and the far plane, and not cut away by clipping
   * planes (of the materials, and of the `renderer` of `trackScene`, as they are now).
   *
   * With method 'screen', the result is the object whose centre of bounds is drawn nearest to the point.
   *
   * Lines and points are hit within 4 pixels of the cursor, or another `radius`, or by `params` as three's Raycaster hits them.
   *
   * With `snap`, the result also has a `snap`: the vertex, midpoint, centre, edge or face that is drawn nearest to the cursor,
   * within 10 pixels or another `radius`, and not hidden.
   *
   * A pick before the first `update` waits for the view that the `update` sets.
   *
   * ```ts
   * const hit = await tracker.pick(event.offsetX, event.offsetY, { latest: true });
   * if (hit) console.log(hit.object.name, hit.distance, hit.point);
   * const snapped = await tracker.pick(event.offsetX, event.offsetY, { snap: ['vertex', 'edge'] });
   * if (snapped?.snap) console.log(snapped.snap.kind, snapped.snap.point);
   * ```
   */
  async pick(x: number, y: number, options: ScenePickOptions = {}): Promise<SceneIntersection | null> {
    const answer = this.#access.picks('pick').pick(x, y, options);
    if (this.#observers.size > 0) {
      const view = this.#access.view(options?.view)?.options ?? null;
      this.tell(answer, (observer, hit) => observer.picked?.(view, x, y, hit));
    }
    return answer;
  }

  /**
   * Calls the listener with what is under the pointer whenever that becomes another object, or another instance, and with null
   * when it becomes nothing. It picks when the pointer moves over the element, and after each `update`, because objects and the
   * camera may move under a pointer at rest. The returned function or the `signal` ends it.
   *
   * The element is the renderer's canvas, or an element over it with the same upper left corner. Of several fingers, the first
   * one counts.
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
    this.#access.check('hover');
    const pick = (x: number, y: number, pickOptions: ScenePickOptions) => this.pick(x, y, pickOptions);
    const hover = new Hover(element, listener, options, pick);
    if (!hover.ended.aborted) hover.ended.addEventListener('abort', this.follow(hover));
    return () => hover.end();
  }

  /**
   * Lists everything under a point, nearest first (method 'screen': on the screen); otherwise as `pick`.
   */
  async pickAll(x: number, y: number, options: Omit<ScenePickOptions, 'snap'> = {}): Promise<SceneIntersection[]> {
    return this.#access.picks('pickAll').pickAll(x, y, options);
  }

  /**
   * Lists the objects in a region of a view, a rectangle or a polygon (xy of its vertices, even-odd), including occluded ones,
   * in the order of their first ids. An InstancedMesh is listed when one of its instances is in the region; with `instances`,
   * its instances are listed individually.
   *
   * Mode 'touch', the default, lists objects with any part in the region, by faces that show the side of their material to the
   * camera, unless `side` says otherwise. 'enclose' lists objects that are entirely in it, whatever the sides. Parts cut away
   * by clipping planes do not count, as for `pick`; but an object whose groups have materials with different planes is cut only
   * by those of the renderer, as in a pick with a `precision` of less than 'mesh'.
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
    const answer = this.#access.picks('pickRegion').pickRegion(region, options);
    if (this.#observers.size > 0) {
      const view = this.#access.view(options?.view)?.options ?? null;
      // The keys of a DOMRect are those of its prototype. What is no object has rejected the answer.
      const { x, y, width, height }: Rect = Object(region);
      const regionCopy = ArrayBuffer.isView(region) ? region.slice() : { x, y, width, height };
      this.tell(answer, (observer) => observer.cut?.(view, regionCopy));
    }
    return answer;
  }

  /**
   * Finds the nearest hit of a ray, as three's Raycaster does: pass `raycaster.ray`, or a ray of the service with arrays. Faces
   * are hit on the sides that their material shows, in all layers unless `layers` is a mask of some (`raycaster.layers.mask`).
   * Clipping planes of materials are ignored, but `clip` is not.
   *
   * ```ts
   * const down = new Ray(player.position, new Vector3(0, -1, 0));
   * const ground = await tracker.raycast(down, { ignore: [player] });
   * if (ground) player.position.copy(ground.point);
   * ```
   */
  async raycast(ray: SceneRay, options: SceneRayOptions = {}): Promise<SceneIntersection | null> {
    // An invalid ray rejects the answer; observers are not notified of it.
    const observedRay = this.#observers.size > 0 ? readRay('raycast', ray) : null;
    const answer = this.#access.queries('raycast').raycast(ray, options);
    if (observedRay !== null) {
      const { origin, direction } = observedRay;
      const [rayOrigin, rayDirection] = [new Vector3(...origin), new Vector3(...direction)];
      this.tell(answer, (observer, hit) => observer.cast?.(rayOrigin, rayDirection, hit));
    }
    return answer;
  }

  /**
   * Lists all hits of a ray, nearest first; otherwise as `raycast`.
   *
   * ```ts
   * const { ray, near, far } = raycaster;
   * const hits = await tracker.raycastAll({ origin: ray.origin, direction: ray.direction, tMin: near, tMax: far });
   * ```
   */
  async raycastAll(ray: SceneRay, options: SceneRayOptions = {}): Promise<SceneIntersection[]> {
    return this.#access.queries('raycastAll').raycastAll(ray, options);
  }

  /**
   * Returns whether nothing of the scene is between two points: no face that shows the side of its material there, unless
   * `side` says otherwise. Objects at the points themselves count, unless they are in `ignore`.
   *
   * ```ts
   * const isClear = await tracker.lineOfSight(lamp.position, player.position, { ignore: [lamp, player] });
   * ```
   */
  async lineOfSight(from: ScenePoint, to: ScenePoint, options: SceneLineOptions = {}): Promise<boolean> {
    return this.#access.queries('lineOfSight').lineOfSight(from, to, options);
  }

  /**
   * Finds the objects and instances that overlap a shape, in the order of their ids; touching counts. Meshes are surfaces
   * unless `objectOptions` makes them `solid`; shapes are solid.
   *
   * ```ts
   * const blast = { type: 'sphere', radius: 5 } as const;
   * for (const { object, instanceId } of await tracker.overlap(blast, bomb.matrixWorld)) console.log(object.name, instanceId);
   * ```
   */
  async overlap(shape: Shape, matrix?: SceneMatrix, options: SceneQueryOptions = {}): Promise<SceneObject[]> {
    return this.#access.queries('overlap').overlap(shape, matrix, options);
  }

  /**
   * Finds the objects and instances that contain a point in their solid, as `containing` of the service does: any mesh that
   * winds around the point.
   *
   * ```ts
   * const rooms = await tracker.containing(camera.position);
   * ```
   */
  async containing(point: ScenePoint, options: SceneQueryOptions = {}): Promise<SceneObject[]> {
    return this.#access.queries('containing').containing(point, options);
  }

  /**
   * Finds the point of the scene nearest to a given one, no farther than `maxDistance`; null if there is none.
   *
   * ```ts
   * const nearest = await tracker.closestPoint(cursor.position, { maxDistance: 10, ignore: [cursor] });
   * if (nearest) cursor.position.copy(nearest.point); // snapped to nearest.object, nearest.faceIndex
   * ```
   */
  async closestPoint(point: ScenePoint, options: SceneClosestOptions = {}): Promise<SceneClosestPoint | null> {
    return this.#access.queries('closestPoint').closestPoint(point, options);
  }

  /**
   * Cuts the scene with a plane, three's or four numbers, and resolves with the outlines of objects and instances in it, joined
   * to loops where meshes are closed, as `section` of the service does. Invisible objects are not cut.
   *
   * ```ts
   * const { starts, points, objects } = await tracker.section(new Plane(new Vector3(0, 1, 0), -1.2));
   * objects.forEach(({ object }, i) => draw(object, points.subarray(3 * starts[i], 3 * starts[i + 1])));
   * ```
   */
  async section(plane: Plane | ArrayLike<number>, options: SceneSectionOptions = {}): Promise<SceneSection> {
    return this.#access.queries('section').section(plane, options);
  }

  /**
   * Finds what a shape hits first in the scene, on its way from one matrix to another; null if the way is free. The second
   * matrix must be the first, translated and rotated, as for `sweep` of the service. Given an object of the scene or an
   * instance, it sweeps that object's own shape, as its geometry has it, and that object is not an obstacle to itself; an
   * object that is not in the scene or not built yet hits nothing.
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
    return this.#access.queries('sweep').sweep(shape, from, to, options);
  }

  /** Finds the first contact with each object and instance on the way, earliest first, as if the others were not there. */
  async sweepAll(
    shape: Shape | SceneTarget,
    from: SceneMatrix,
    to: SceneMatrix,
    options: SceneSweepOptions = {},
  ): Promise<SceneSweepHit[]> {
    return this.#access.queries('sweepAll').sweepAll(shape, from, to, options);
  }

  /**
   * Finds a free place near a matrix, for objects that are put down by hand: a shape, or an object of the scene or an instance,
   * is pushed out of everything that it overlaps, as by `place` of the service.
   *
   * ```ts
   * const { matrix } = await tracker.place(crate, crate.matrixWorld);
   * crate.position.setFromMatrixPosition(matrix); // where its parent is the scene
   * ```
   *
   * Rejects with INVALID_ARGUMENT if there is no free place to push it to: the message says how deep it remains.
   */
  async place(
    shape: Shape | SceneTarget,
    matrix: SceneMatrix,
    options: SceneLineOptions = {},
  ): Promise<ScenePlacement> {
    return this.#access.queries('place').place(shape, matrix, options);
  }

  /**
   * Returns whether and how two objects or instances touch, whatever their `contacts`, layers and groups; null if they do not.
   * An object that is invisible, not in the scene or not built yet (`pending`, `untracked`) touches nothing.
   *
   * ```ts
   * const contact = await tracker.contact(gripper, { object: crates, instanceId: 7 });
   * if (contact) console.log(contact.normals.subarray(0, 3), 'leads from the gripper to the crate');
   * ```
   *
   * Rejects with INVALID_ARGUMENT for an object and itself, for an InstancedMesh or BatchedMesh without an instance number, and
   * for an object that can have no triangles, such as a Group.
   */
  async contact(a: SceneTarget, b: SceneTarget, options: ContactOptions = {}): Promise<SceneContactReport | null> {
    return this.#access.queries('contact').contact(a, b, options);
  }

  /**
   * Measures the distance between two objects or instances, and finds their nearest points; null if the distance is more than
   * `maxDistance`, or if one of them is invisible, not in the scene or not built yet.
   *
   * ```ts
   * const near = await tracker.distance(arm, { object: people, instanceId: 3 }, { maxDistance: 1 });
   * if (near) line.geometry.setFromPoints([near.pointA, near.pointB]);
   * ```
   *
   * Rejects as `contact` does, and with UNSUPPORTED for points and lines.
   */
  async distance(a: SceneTarget, b: SceneTarget, options: DistanceOptions = {}): Promise<SceneDistance | null> {
    return this.#access.queries('distance').distance(a, b, options);
  }

  /**
   * Lists which of the targets are seen from the eye of a view, in their order: those in its frustum to which it has a clear
   * line, which only the target itself may cross; for an InstancedMesh, the instances that are seen. A target that is
   * invisible, not in the scene or not built yet is not seen. The options apply to possible obstacles: faces that show the side
   * of their material there, unless `side` says otherwise.
   *
   * ```ts
   * tracker.setView(guardCamera, { width: 1, height: 1 }, 'guard');
   * const seen = await tracker.sees([thief, crowd], { view: 'guard', ignore: [guard] });
   * for (const { object, instanceId, points } of seen) console.log(object.name, instanceId, `${points} of 9`);
   * ```
   *
   * Rejects with INVALID_ARGUMENT for a target that can have no triangles, such as a Group.
   */
  async sees(targets: readonly SceneTarget[], options: SceneSightOptions = {}): Promise<SceneSight[]> {
    return this.#access.queries('sees').sees(targets, options);
  }
}

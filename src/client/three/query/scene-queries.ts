import { Matrix4, type Plane, Vector3 } from 'three';
import type {
  ClosestPoint,
  ContactOptions,
  DistanceOptions,
  Hit,
  ObjectId,
  Ray,
  Shape,
  Sight,
  SweepHit,
  SweepOptions,
} from '../../../shared/types.js';
import { checkSignal } from '../../check/signal.js';
import { checkMatrix, checkNumber, guardRead, readOptions, throwInvalid } from '../../check/validate.js';
import { aborted } from '../../link/abort.js';
import { checkDetail, sightRay } from '../../query/query-options.js';
import { toFaceIndices } from '../geometry/geometry.js';
import { hasInstances, readDrawnTarget, readTargets, type SceneTarget } from '../scene-target.js';
import { classOf } from '../track/name-of.js';
import { type Placement, type SceneObject, seenBy } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import type { TrackerContext } from '../track/stand-in.js';
import { namedParts } from '../view/bone-contact.js';
import type { SceneView, SceneViews } from '../view/scene-views.js';
import type { FatQuery } from './fat-lines.js';
import { intersectionAt, placedFace, type SceneIntersection } from './intersection.js';
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
} from './scene-answers.js';
import { type CheckedOptions, queryOptionsOf, readQueryOptions, type SceneQueryOptions } from './scene-options.js';
import { type RayTolerance, rayToleranceOf, readParams, type SceneParams } from './scene-params.js';
import { eyeOf, readPoint, readRay, type ScenePoint, type SceneRay } from './scene-ray.js';
import { readPlane, type SceneSection, type SceneSectionOptions, sceneSection } from './scene-section.js';
import { idsOf } from './target-ids.js';

const FILTER_KEYS = ['layers', 'ignore', 'precision', 'clip', 'clipIntersection', 'signal'];
const LINE_KEYS = [...FILTER_KEYS, 'side'];
const RAY_KEYS = [...LINE_KEYS, 'params'];
const CLOSEST_KEYS = [...FILTER_KEYS, 'maxDistance'];
const SWEEP_KEYS = [...LINE_KEYS, 'tolerance'];
const SIGHT_KEYS = [...LINE_KEYS, 'view'];
const SECTION_KEYS = ['layers', 'ignore', 'precision', 'signal', 'weld', 'roundPoints', 'caps'];
const CONTACT_KEYS = ['detail', 'signal'];
const DISTANCE_KEYS = ['maxDistance', 'signal'];

/**
 * Asks the service's queries in terms of the scene instead of ids. Objects that others have placed in the service ("strangers")
 * are skipped.
 */
export class SceneQueries {
  readonly #context: TrackerContext;
  readonly #walk: SceneWalk;
  readonly #views: SceneViews;
  /** Name of the view that is asked by default. */
  readonly #defaultView: string;

  constructor(context: TrackerContext, walk: SceneWalk, views: SceneViews, view: string) {
    this.#context = context;
    this.#walk = walk;
    this.#views = views;
    this.#defaultView = view;
  }

  async raycast(given: SceneRay, options: SceneRayOptions): Promise<SceneIntersection | null> {
    const ray = readRay('raycast', given);
    const { params, ...filter } = readQueryOptions('raycast', options, RAY_KEYS);
    const tolerance = this.#toleranceOf('raycast', ray, params);
    const { fat, ...ownTolerance } = tolerance;
    const { objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const hit = await service.raycast(ray, { ...queryOptionsOf(this.#walk, filter), ...ownTolerance });
      if (hit === null) return null;
      if (fat === undefined && objects.find(hit.object) !== undefined)
        return this.#intersections([hit], ray, queryId)[0];
      // Skips the stranger, or a line's neighbourhood that is beyond the line's width.
      return (await this.#castAll(ray, filter, tolerance))[0] ?? null;
    });
  }

  async raycastAll(given: SceneRay, options: SceneRayOptions): Promise<SceneIntersection[]> {
    const ray = readRay('raycastAll', given);
    const { params, ...filter } = readQueryOptions('raycastAll', options, RAY_KEYS);
    return this.#castAll(ray, filter, this.#toleranceOf('raycastAll', ray, params));
  }

  #castAll(
    ray: Ray,
    filter: CheckedOptions<SceneRayOptions>,
    { fat, ...tolerance }: RayTolerance,
  ): Promise<SceneIntersection[]> {
    const { objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const hits = await service.raycastAll(ray, { ...queryOptionsOf(this.#walk, filter), ...tolerance });
      return this.#intersections(hits, ray, queryId, fat);
    });
  }

  /** Returns how near to the ray lines and points are hit. */
  #toleranceOf(operation: string, ray: Ray, params: SceneParams | undefined): RayTolerance {
    const thresholds = readParams(operation, params);
    if (this.#context.thin.size === 0) return {};
    // A width in pixels means nothing without a view.
    const width = { threshold: thresholds?.fat ?? 0, pixels: 0 };
    return rayToleranceOf(this.#context, thresholds, { ray, width, cursor: null });
  }

  async lineOfSight(from: ScenePoint, to: ScenePoint, options: SceneLineOptions): Promise<boolean> {
    const origin = readPoint('lineOfSight', 'from', from);
    const target = readPoint('lineOfSight', 'to', to);
    const filter = readQueryOptions('lineOfSight', options, LINE_KEYS);
    const { objects, service } = this.#context;
    const ray = sightRay(origin, target);
    if (!ray) return true;
    if (ray.tMax === Infinity) throwInvalid('lineOfSight', 'to', target, 'a point nearer to `from`');
    return objects.during(async () => {
      const hit = await service.raycast(ray, queryOptionsOf(this.#walk, filter));
      if (hit === null) return true;
      if (objects.find(hit.object) !== undefined) return false;
      const hits = await service.raycastAll(ray, queryOptionsOf(this.#walk, filter)); // skips the stranger
      return hits.every(({ object }) => objects.find(object) === undefined);
    });
  }

  async overlap(shape: Shape, matrix: SceneMatrix | undefined, options: SceneQueryOptions): Promise<SceneObject[]> {
    const filter = readQueryOptions('overlap', options, FILTER_KEYS);
    const elements = guardRead('overlap', 'matrix', () => elementsOf(matrix));
    const { objects, service } = this.#context;
    return objects.during(async () =>
      this.#sceneObjects(await service.overlap(shape, elements, queryOptionsOf(this.#walk, filter))),
    );
  }

  async containing(point: ScenePoint, options: SceneQueryOptions): Promise<SceneObject[]> {
    const position = readPoint('containing', 'point', point);
    const filter = readQueryOptions('containing', options, FILTER_KEYS);
    const { objects, service } = this.#context;
    return objects.during(async () =>
      this.#sceneObjects(await service.containing(position, queryOptionsOf(this.#walk, filter))),
    );
  }

  async closestPoint(point: ScenePoint, options: SceneClosestOptions): Promise<SceneClosestPoint | null> {
    const position = readPoint('closestPoint', 'point', point);
    const filter = readQueryOptions('closestPoint', options, CLOSEST_KEYS);
    return this.#context.objects.during(async () => {
      const nearest = await this.#closestPointInScene(position, filter);
      if (nearest === null) return null;
      const { placement, queryId, point, distance, triangle } = nearest;
      return { ...placedFace(placement, queryId, triangle), point: new Vector3(...point), distance };
    });
  }

  async sweep(
    shape: Shape | SceneTarget,
    from: SceneMatrix,
    to: SceneMatrix,
    options: SceneSweepOptions,
  ): Promise<SceneSweepHit | null> {
    const filter = readQueryOptions('sweep', options, SWEEP_KEYS);
    const [start, end] = [matrixOf('sweep', 'from', from), matrixOf('sweep', 'to', to)];
    const movingShape = this.#shapeOf('sweep', shape);
    if (movingShape === null) return null;
    const { objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const hit = await service.sweep(movingShape, start, end, this.#sweepOptionsOf(filter));
      if (hit === null) return null;
      const [sweepHit] = this.#sweepHits([hit], queryId);
      if (sweepHit !== undefined) return sweepHit;
      const hits = await this.#findSweepHits(movingShape, start, end, filter); // skips the stranger
      return hits[0] ?? null;
    });
  }

  async sweepAll(
    shape: Shape | SceneTarget,
    from: SceneMatrix,
    to: SceneMatrix,
    options: SceneSweepOptions,
  ): Promise<SceneSweepHit[]> {
    const filter = readQueryOptions('sweepAll', options, SWEEP_KEYS);
    const [start, end] = [matrixOf('sweepAll', 'from', from), matrixOf('sweepAll', 'to', to)];
    const movingShape = this.#shapeOf('sweepAll', shape);
    return movingShape === null ? [] : this.#findSweepHits(movingShape, start, end, filter);
  }

  #findSweepHits(
    shape: Shape | ObjectId,
    from: ArrayLike<number>,
    to: ArrayLike<number>,
    filter: CheckedOptions<SceneSweepOptions>,
  ): Promise<SceneSweepHit[]> {
    const { objects, service } = this.#context;
    return objects.during(async (queryId) =>
      this.#sweepHits(await service.sweepAll(shape, from, to, this.#sweepOptionsOf(filter)), queryId),
    );
  }

  async place(shape: Shape | SceneTarget, matrix: SceneMatrix, options: SceneLineOptions): Promise<ScenePlacement> {
    const filter = readQueryOptions('place', options, LINE_KEYS);
    const start = matrixOf('place', 'matrix', matrix);
    const placedShape = this.#shapeOf('place', shape);
    if (placedShape === null) {
      const elements = checkMatrix('place', 'matrix', start);
      return { matrix: new Matrix4().fromArray(elements), way: new Vector3(), objects: [] };
    }
    const { objects, service } = this.#context;
    return objects.during(async () => {
      let strangers: ObjectId[] = [];
      for (;;) {
        const query = { ...queryOptionsOf(this.#walk, filter), strangers };
        const { matrix: freeMatrix, way, objects: ids } = await service.place(placedShape, start, query);
        const foreignIds = objects.strangersAmong(ids);
        if (foreignIds.length === 0) {
          return {
            matrix: new Matrix4().fromArray(freeMatrix),
            way: new Vector3(...way),
            objects: this.#sceneObjects(ids),
          };
        }
        strangers = strangers.concat(foreignIds);
      }
    });
  }

  /** Returns a shape, or the id of an object that has its own shape; null if the object is not in the scene, or not built yet. */
  #shapeOf(operation: string, given: Shape | SceneTarget): Shape | ObjectId | null {
    const isTarget = guardRead(
      operation,
      'shape',
      () => typeof given === 'object' && given !== null && ('isObject3D' in given || 'object' in given),
    );
    if (!isTarget) return given as Shape;
    const [id] = Array.from(idsOf(this.#walk, readSingleTarget(operation, 'shape', given as SceneTarget)));
    return id ?? null;
  }

  #sweepOptionsOf(filter: CheckedOptions<SceneSweepOptions>): SweepOptions {
    const { tolerance } = filter;
    return { ...queryOptionsOf(this.#walk, filter), ...(tolerance !== undefined && { tolerance }) };
  }

  /** Converts hits to the terms of the scene, without those on objects of others. */
  #sweepHits(hits: readonly SweepHit[], queryId: number): SceneSweepHit[] {
    return hits.flatMap(({ object, triangle, point, normal, time, depth }) => {
      const placement = this.#context.objects.find(object);
      if (placement === undefined) return [];
      const objectAndFace = placedFace(placement, queryId, triangle);
      return [{ ...objectAndFace, time, depth, point: new Vector3(...point), normal: new Vector3(...normal) }];
    });
  }

  async section(plane: Plane | ArrayLike<number>, options: SceneSectionOptions): Promise<SceneSection> {
    const numbers = readPlane('section', plane);
    const { weld, roundPoints, caps, ...filter } = readQueryOptions('section', options, SECTION_KEYS);
    const { objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const query = {
        ...queryOptionsOf(this.#walk, filter),
        ...(weld !== undefined && { weld }),
        ...(roundPoints !== undefined && { roundPoints }),
        ...(caps !== undefined && { caps }),
      };
      return sceneSection(await service.section(numbers, query), objects, queryId);
    });
  }

  async contact(a: SceneTarget, b: SceneTarget, given: ContactOptions): Promise<SceneContactReport | null> {
    const options = readOptions('contact', 'options', given, CONTACT_KEYS);
    checkDetail('contact', options.detail);
    const pair = this.#pairOf('contact', a, b, options.signal);
    if (pair === null) return null;
    const { first, second, idA, idB } = pair;
    const { objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const query = { ...options, isShown: true };
      const report = await service.contact(idA, idB, query);
      if (report === null) return null;
      const { triangles } = report;
      const placements = [objects.find(idA), objects.find(idB)];
      placements.forEach((placement, offset) => {
        const runs = placement === undefined ? undefined : seenBy(placement, queryId)?.runs;
        if (runs !== undefined) toFaceIndices(runs, triangles, offset, 2);
      });
      const namedContacts = namedParts(report.bones, placements[0], placements[1], queryId);
      return { ...report, a: first, b: second, ...namedContacts };
    });
  }

  async distance(a: SceneTarget, b: SceneTarget, given: DistanceOptions): Promise<SceneDistance | null> {
    const options = readOptions('distance', 'options', given, DISTANCE_KEYS);
    const { maxDistance = Number.POSITIVE_INFINITY } = options;
    checkNumber('distance', 'maxDistance', maxDistance, 0, 'a number >= 0');
    const pair = this.#pairOf('distance', a, b, options.signal);
    if (pair === null) return null;
    const { first, second, idA, idB } = pair;
    const { objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const query = { ...options, isShown: true };
      const result = await service.distance(idA, idB, query);
      if (result === null) return null;
      const faces = Uint32Array.of(result.triangleA, result.triangleB);
      const [faceIndexA, faceIndexB] = [idA, idB].map((id, offset) => {
        const placement = objects.find(id);
        const mesh = placement === undefined ? null : seenBy(placement, queryId);
        if (mesh === null || [result.triangleA, result.triangleB][offset] < 0) return null;
        if (mesh.runs !== undefined) toFaceIndices(mesh.runs, faces, offset, 2);
        return faces[offset];
      });
      const { distance, frame } = result;
      const points = { pointA: new Vector3(...result.pointA), pointB: new Vector3(...result.pointB) };
      return { a: first, b: second, distance, ...points, faceIndexA, faceIndexB, frame };
    });
  }

  /** Reads the two objects of a query; null if one of them is not there: then the service is not asked. */
  #pairOf(operation: string, a: SceneTarget, b: SceneTarget, signal: AbortSignal | undefined) {
    checkSignal(operation, signal);
    const first = readSingleTarget(operation, 'a', a);
    const second = readSingleTarget(operation, 'b', b);
    if (first.object === second.object && first.instanceId === second.instanceId) {
      throwInvalid(operation, 'b', b, 'another object or instance than a');
    }
    const [idA] = Array.from(idsOf(this.#walk, first));
    const [idB] = Array.from(idsOf(this.#walk, second));
    if (idA !== undefined && idB !== undefined) return { first, second, idA, idB };
    if (signal !== undefined && guardRead(operation, 'signal', () => signal.aborted)) throw aborted(operation, signal);
    return null;
  }

  async sees(given: readonly SceneTarget[], options: SceneSightOptions): Promise<SceneSight[]> {
    const targets = readTargets('sees', 'targets', given, readDrawnTarget);
    const filter = readQueryOptions('sees', options, SIGHT_KEYS);
    const view = this.#views.get('sees', filter.view ?? this.#defaultView);
    const { layers = view.layers } = filter;
    return this.#context.objects.during(() => this.#findInSight(targets, view, { ...filter, layers }));
  }

  async #findInSight(
    targets: readonly SceneObject[],
    view: SceneView,
    filter: CheckedOptions<SceneLineOptions>,
  ): Promise<SceneSight[]> {
    const { service } = this.#context;
    const strangers = this.#hasStrangers() ? await this.#strangersIn(view, filter) : [];
    const ids: ObjectId[] = [];
    const candidates: SceneObject[] = [];
    for (const target of targets) {
      const targetIds = idsOf(this.#walk, target);
      const { object, instanceId } = target;
      const isInstanced = hasInstances(object);
      for (let i = 0; i < targetIds.length; i++) {
        ids.push(targetIds[i]);
        candidates.push(isInstanced ? { object, instanceId: instanceId ?? i } : target);
      }
    }
    const query = { ...queryOptionsOf(this.#walk, filter), strangers };
    const { points }: Sight = await service.sees(view.options, ids, query);
    return candidates.flatMap((target, i) => (points[i] > 0 ? [{ ...target, points: points[i] }] : []));
  }

  /** Lists the objects that others have placed in the frustum of a view. */
  async #strangersIn({ name, options }: SceneView, filter: CheckedOptions<SceneLineOptions>): Promise<ObjectId[]> {
    const { objects, service } = this.#context;
    const { x = 0, y = 0, width, height } = options.viewport;
    const query = queryOptionsOf(this.#walk, { ...filter, side: 'double' });
    const ids = await service.pickRegion({ x, y, width, height }, { ...query, view: name });
    return objects.strangersAmong(ids);
  }

  /**
   * Finds the nearest point of the scene's own objects. Where a stranger is nearer, there may be thousands of them: all strangers
   * up to twice as far are excluded together. `queryId`: the id of the query that found it.
   */
  async #closestPointInScene(
    point: Ray['origin'],
    filter: CheckedOptions<SceneClosestOptions>,
  ): Promise<(ClosestPoint & { placement: Placement; queryId: number }) | null> {
    const { objects, service } = this.#context;
    const { maxDistance } = filter;
    const strangers: ObjectId[] = [];
    for (;;) {
      const queryId = objects.mark();
      const nearestQuery = { ...queryOptionsOf(this.#walk, filter), strangers };
      const nearest = await service.closestPoint(point, {
        ...nearestQuery,
        ...(maxDistance !== undefined && { maxDistance }),
      });
      if (nearest === null) return null;
      const placement = objects.find(nearest.object);
      if (placement !== undefined) return { ...nearest, placement, queryId };
      strangers.push(nearest.object);
      const radius = 2 * nearest.distance;
      if (!(radius > 0 && Number.isFinite(radius))) continue;
      const overlapQuery = { ...queryOptionsOf(this.#walk, filter), strangers };
      const nearIds = await service.overlap({ type: 'sphere', radius, center: point }, undefined, overlapQuery);
      for (const id of nearIds) if (objects.find(id) === undefined) strangers.push(id);
    }
  }

  /** Returns whether others have placed anything in the service. */
  #hasStrangers(): boolean {
    return this.#context.service.stats.objects > this.#context.objects.count;
  }

  /** Converts ids to the terms of the scene, in their order, without those of others. */
  #sceneObjects(ids: Uint32Array): SceneObject[] {
    return Array.from(ids).flatMap((id) => {
      const placement = this.#context.objects.find(id);
      return placement === undefined ? [] : { object: placement.object, instanceId: placement.instanceId };
    });
  }

  /** Converts hits to the terms of the scene, without those on objects of others. `queryId`: the query's id. */
  #intersections(hits: readonly Hit[], ray: Ray, queryId: number, fat?: FatQuery): SceneIntersection[] {
    const eye = eyeOf(ray);
    const intersections = hits.flatMap((hit) => {
      const placement = this.#context.objects.find(hit.object);
      return (placement === undefined ? null : intersectionAt(hit, placement, queryId, eye, fat)) ?? [];
    });
    return fat === undefined ? intersections : intersections.sort((a, b) => a.distance - b.distance);
  }
}

function matrixOf(operation: string, argument: string, matrix: SceneMatrix): ArrayLike<number> {
  return guardRead(operation, argument, () => elementsOf(matrix))!;
}

/** Reads a target that has one id at most. */
function readSingleTarget(operation: string, argument: string, given: SceneTarget): SceneObject {
  const target = readDrawnTarget(operation, argument, given);
  if (target.instanceId === undefined && hasInstances(target.object)) {
    throwInvalid(operation, argument, classOf(target.object), 'one instance of it, { object, instanceId }');
  }
  return target;
}

function elementsOf(matrix: SceneMatrix | undefined): ArrayLike<number> | undefined {
  if (typeof matrix !== 'object' || matrix === null || !('elements' in matrix)) return matrix;
  return matrix.elements;
}

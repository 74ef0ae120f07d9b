import type { Object3D } from 'three';
import type { Hit, ObjectId, PickOptions, QueryOptions, Rect, RegionOptions } from '../../../shared/types.js';
import { checkBoolean, throwInvalid } from '../../check/validate.js';
import { readView } from '../../frame/view-table.js';
import { pickRay } from '../../query/pick-ray.js';
import type { AdapterQuery } from '../../query/query-options.js';
import { isCutAway } from '../track/clip-sets.js';
import type { Placement, SceneObject } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import type { TrackerContext } from '../track/stand-in.js';
import { eyeOf, type SceneView, type SceneViews } from '../view/scene-views.js';
import { intersectionAt, type SceneIntersection, type SceneSnap } from './intersection.js';
import { LatestOnly } from './latest-only.js';
import { type CheckedOptions, queryOptionsOf, readQueryOptions, type SceneQueryOptions } from './scene-options.js';
import { type RayTolerance, rayToleranceOf, readParams, type SceneParams } from './scene-params.js';
import { sceneSnapOf } from './scene-snap.js';

const VIEW_KEYS = [
  ...['view', 'layers', 'ignore', 'side', 'precision', 'clip', 'clipIntersection', 'signal', 'latest'],
];
const PICK_ALL_KEYS = [...VIEW_KEYS, 'method', 'radius', 'params'];
export const PICK_KEYS = [...PICK_ALL_KEYS, 'snap'];

/** Default radius, in pixels, within which a pick finds features. */
const DEFAULT_SNAP_RADIUS = 10;

/** Default radius, in pixels, within which a pick hits lines and points. */
const DEFAULT_RADIUS = 4;
const REGION_KEYS = [...VIEW_KEYS, 'mode', 'instances'];

interface ViewQueryOptions extends SceneQueryOptions {
  /** Name of a view of the tracker. The default is the one that `update` sets. */
  view?: string;
  /** The default is the layers of the camera. */
  layers?: number;
  /** The default is the side of each object's own material. */
  side?: 'front' | 'back' | 'double';
}

/** The service's options, with objects of the scene instead of ids. */
export interface ScenePickOptions extends ViewQueryOptions, Pick<PickOptions, 'method' | 'latest' | 'snap'> {
  /**
   * Radius in pixels within which lines and points are hit, default 4, and features are snapped to, default 10; with method
   * 'screen' it is the service's.
   */
  radius?: number;
  /**
   * three's `raycaster.params`, instead of a `radius`: lines and points are hit this near to the ray, in world units, as three
   * does. Thresholds that are not given are three's own, 1.
   */
  params?: SceneParams;
}

/** The service's options, with objects of the scene instead of ids. */
export interface SceneRegionOptions extends ViewQueryOptions, Pick<RegionOptions, 'mode' | 'latest'> {
  /** Return single instances, as `{ object, instanceId }`, instead of objects. Default false. */
  instances?: boolean;
}

/** The query to the service, with the planes of what is drawn. */
type PickQuery = QueryOptions & AdapterQuery & PickTolerance;

/** How near lines and points are hit: within a radius in pixels, or by a threshold per object. */
interface PickTolerance extends RayTolerance {
  readonly radius?: number;
}

/** Asks the service's picks in terms of the scene. Objects that others have placed in the same service ("strangers") are skipped. */
export class ScenePicks {
  readonly #context: TrackerContext;
  readonly #walk: SceneWalk;
  readonly #views: SceneViews;
  /** Name of the view that is asked by default. */
  readonly #defaultView: string;
  readonly #latestPick = new LatestOnly<SceneIntersection | null>('pick');
  /** Picks that snap are kept apart: the answer of another pick would have no `snap`. */
  readonly #latestSnap = new LatestOnly<SceneIntersection | null>('pick');
  readonly #latestPickAll = new LatestOnly<SceneIntersection[]>('pickAll');
  readonly #latestRegion = new LatestOnly<Object3D[] | SceneObject[]>('pickRegion');

  constructor(context: TrackerContext, walk: SceneWalk, views: SceneViews, view: string) {
    this.#context = context;
    this.#walk = walk;
    this.#views = views;
    this.#defaultView = view;
  }

  async pick(x: number, y: number, given: ScenePickOptions): Promise<SceneIntersection | null> {
    const options = readViewQuery('pick', given, PICK_KEYS);
    const askView = this.#views.find('pick', options.view ?? this.#defaultView);
    const isSnap = options.snap !== undefined;
    return (isSnap ? this.#latestSnap : this.#latestPick).guard(options, (signal) =>
      askView(signal, (view) =>
        isSnap ? this.#pickSnap(x, y, options, view, signal) : this.#pick(x, y, options, view, signal),
      ),
    );
  }

  /** Asks for the hit and for the feature near the cursor at the same time. */
  async #pickSnap(
    x: number,
    y: number,
    options: CheckedOptions<ScenePickOptions>,
    view: SceneView,
    signal: AbortSignal | undefined,
  ): Promise<SceneIntersection | null> {
    const snapRequest = this.#findSnap(x, y, options, view, signal);
    const [intersection, snapHit] = await Promise.all([this.#pick(x, y, options, view, signal), snapRequest]);
    if (intersection === null) return snapHit && { ...snapHit.intersection, snap: snapHit.snap };
    return { ...intersection, snap: snapHit?.snap ?? null };
  }

  #findSnap(
    x: number,
    y: number,
    options: CheckedOptions<ScenePickOptions>,
    view: SceneView,
    signal: AbortSignal | undefined,
  ): Promise<{ intersection: SceneIntersection; snap: SceneSnap } | null> {
    const { objects, service } = this.#context;
    const { snap = [], radius = DEFAULT_SNAP_RADIUS } = options;
    return objects.during(async (queryId) => {
      const query = this.#query('pick', options, view, signal);
      const strangers = service.stats.objects > objects.count ? await this.#strangersNear(x, y, radius, view) : [];
      const snapOptions = { ...pickOptions({ ...query, strangers }, options, view), snap, radius };
      const hit = await service.pick(x, y, snapOptions);
      const placement = hit?.snap && objects.find(hit.snap.object);
      if (!hit?.snap || !placement) return null;
      const { object, point, element } = hit.snap;
      const featureHit = hit.object === object ? hit : { ...hit, object, point, triangle: -1, element };
      const intersection = intersectionAt(featureHit, placement, queryId, eyeOf(view));
      // The service does not know that a material of several cuts the face away.
      if (!intersection || (hit.snap.face && isCut(query, placement, intersection))) return null;
      return { intersection, snap: sceneSnapOf(hit.snap, placement, queryId) };
    });
  }

  /** Lists the strangers behind the square around the cursor: they may have features there, and may hide others. */
  async #strangersNear(x: number, y: number, radius: number, { name }: SceneView): Promise<ObjectId[]> {
    const { objects, service } = this.#context;
    const rect = { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    const ids = await service.pickRegion(rect, { view: name, side: 'double' });
    return objects.strangersAmong(ids);
  }

  #pick(
    x: number,
    y: number,
    options: CheckedOptions<ScenePickOptions>,
    view: SceneView,
    signal: AbortSignal | undefined,
  ): Promise<SceneIntersection | null> {
    const { clips, objects, service } = this.#context;
    return objects.during(async (queryId) => {
      const tolerance = this.#toleranceOf('pick', x, y, options, view);
      const query = { ...this.#query('pick', options, view, signal), ...tolerance };
      // Which of several clipping sets applies to a triangle is known only from its hit.
      const areMixed = query.clipSets !== undefined && clips.mixedCount > 0;
      if (options.method === 'screen' || areMixed || tolerance.fat !== undefined) {
        return (await this.#pickAll(x, y, options, view, query, queryId))[0] ?? null;
      }
      const hit = await service.pick(x, y, pickOptions(query, options, view));
      if (hit === null) return null;
      if (objects.find(hit.object) !== undefined) return this.#intersections([hit], view, query, queryId)[0] ?? null;
      const { clipSets } = query; // as they were at the first query
      const retryQuery = { ...this.#query('pick', options, view, signal), ...(clipSets && { clipSets }), ...tolerance };
      const retryId = objects.mark();
      // Only a query by view can find objects near the cursor.
      if (tolerance.radius !== undefined) {
        return (await this.#pickAll(x, y, options, view, retryQuery, retryId))[0] ?? null;
      }
      // Skips the stranger on the same ray: the camera may have moved since.
      const hits = await this.#castRay(x, y, retryQuery, view);
      return this.#intersections(hits, view, query, retryId)[0] ?? null;
    });
  }

  async pickAll(x: number, y: number, given: ScenePickOptions): Promise<SceneIntersection[]> {
    const options = readViewQuery('pickAll', given, PICK_ALL_KEYS);
    const askView = this.#views.find('pickAll', options.view ?? this.#defaultView);
    return this.#latestPickAll.guard(options, (signal) =>
      askView(signal, (view) =>
        this.#context.objects.during((queryId) => {
          const tolerance = this.#toleranceOf('pickAll', x, y, options, view);
          const query = { ...this.#query('pickAll', options, view, signal), ...tolerance };
          return this.#pickAll(x, y, options, view, query, queryId);
        }),
      ),
    );
  }

  /** Lists objects, or single instances, depending on the options. */
  async pickRegion(region: Rect | Float32Array, given: SceneRegionOptions): Promise<Object3D[] | SceneObject[]> {
    const options = readViewQuery('pickRegion', given, REGION_KEYS);
    const { objects, service } = this.#context;
    const { mode, instances = false } = options;
    checkBoolean('pickRegion', 'instances', instances);
    const askView = this.#views.find('pickRegion', options.view ?? this.#defaultView);
    return this.#latestRegion.guard(options, (signal) =>
      askView(signal, (view) =>
        objects.during(async () => {
          const ids = await service.pickRegion(region, {
            ...this.#query('pickRegion', options, view, signal),
            view: view.name,
            ...(mode !== undefined && { mode }),
          });
          const placements = Array.from(ids).flatMap((id) => objects.find(id) ?? []);
          if (instances) return placements.map(({ object, instanceId }) => ({ object, instanceId }));
          return [...new Set(placements.map(({ object }) => object))];
        }),
      ),
    );
  }

  async #pickAll(
    x: number,
    y: number,
    options: CheckedOptions<ScenePickOptions>,
    view: SceneView,
    query: PickQuery,
    queryId: number,
  ): Promise<SceneIntersection[]> {
    const hits = await this.#context.service.pickAll(x, y, pickOptions(query, options, view));
    return this.#intersections(hits, view, query, queryId);
  }

  /** Returns how near to the cursor lines and points are hit; with method 'screen', how near the centre of any object. */
  #toleranceOf(
    operation: string,
    x: number,
    y: number,
    { method, radius, params }: CheckedOptions<ScenePickOptions>,
    view: SceneView,
  ): PickTolerance {
    const thresholds = readParams(operation, params);
    if (thresholds !== undefined && radius !== undefined) {
      throwInvalid(operation, 'radius', radius, 'none with `params`; one of both decides');
    }
    const { thin, fat } = this.#context;
    if (method === 'screen') return radius === undefined ? {} : { radius };
    const pixels = radius ?? DEFAULT_RADIUS;
    if (thin.size === 0 || (thresholds === undefined && fat.size === 0)) {
      return thin.size === 0 && radius === undefined ? {} : { radius: pixels };
    }
    const ray = pickRay(readView(operation, view.options), x, y);
    if (ray === null) return {};
    const width = { threshold: thresholds?.fat ?? null, pixels };
    const tolerance = rayToleranceOf(this.#context, thresholds, { ray, width, cursor: { x, y, view: view.options } });
    return thresholds === undefined ? { ...tolerance, radius: pixels } : tolerance;
  }

  /** Casts the ray of a pick in a view that may have changed meanwhile. */
  async #castRay(x: number, y: number, query: QueryOptions, { options }: SceneView): Promise<Hit[]> {
    const { origin, direction, tMin = 0, tMax = 0 } = pickRay(readView('pick', options), x, y)!;
    // An orthographic camera's near plane may be behind the camera, where no ray starts.
    const nearT = tMin / Math.hypot(...direction);
    const start = [0, 1, 2].map((i) => origin[i] + nearT * direction[i]) as [number, number, number];
    const hits = await this.#context.service.raycastAll({ origin: start, direction, tMax: tMax - tMin }, query);
    return hits.map((hit) => ({ ...hit, distance: hit.distance + tMin }));
  }

  /**
   * Converts hits to the terms of the scene, without those on objects of others, and those on triangles that their own material
   * clips away there. `queryId`: the query's id.
   */
  #intersections(hits: readonly Hit[], view: SceneView, query: PickQuery, queryId: number): SceneIntersection[] {
    const { fat } = query;
    const eye = eyeOf(view);
    const intersections = hits.flatMap((hit) => {
      const placement = this.#context.objects.find(hit.object);
      if (placement === undefined) return [];
      try {
        const intersection = intersectionAt(hit, placement, queryId, eye, fat);
        return intersection === null || isCut(query, placement, intersection) ? [] : intersection;
      } catch {
        return []; // its object cannot be read any more, though the service still has its former state
      }
    });
    return fat === undefined ? intersections : intersections.sort((a, b) => a.distance - b.distance);
  }

  #query(
    operation: string,
    options: CheckedOptions<ViewQueryOptions>,
    view: SceneView,
    signal: AbortSignal | undefined,
  ): PickQuery {
    const { layers = view.layers } = options;
    const clipSets = this.#context.clips.read(operation);
    return { ...queryOptionsOf(this.#walk, { ...options, layers, signal }), ...(clipSets && { clipSets }) };
  }
}

/** Returns whether the material of the face that was hit, one of several of its object, clips it away there. */
function isCut({ clipSets }: PickQuery, { standIn }: Placement, { face, point }: SceneIntersection): boolean {
  const clipSet = standIn.materialClipSets?.[face?.materialIndex ?? -1];
  return clipSets !== undefined && clipSet !== undefined && isCutAway(clipSets, clipSet, point);
}

function readViewQuery<T extends ViewQueryOptions & { latest?: boolean }>(
  operation: string,
  given: T,
  keys: readonly string[],
): CheckedOptions<T> {
  const options = readQueryOptions(operation, given, keys);
  const { latest = false }: { latest?: boolean | undefined } = options;
  checkBoolean(operation, 'latest', latest);
  return options;
}

function pickOptions(
  { fat: _, ...query }: PickQuery,
  { method }: Pick<PickOptions, 'method'>,
  { name, options }: SceneView,
): PickOptions & AdapterQuery {
  return { ...query, view: name, asked: readView('pick', options), ...(method !== undefined && { method }) };
}

import type { Object3D } from 'three';
import type { Hit, PickOptions, QueryOptions, Rect, RegionOptions } from '../../../shared/types.js';
import { checkBoolean } from '../../check/validate.js';
import { readView } from '../../frame/view-table.js';
import { pickRay } from '../../query/pick-ray.js';
import type { SceneObject } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import type { TrackerContext } from '../track/stand-in.js';
import type { SceneView, SceneViews } from '../view/scene-views.js';
import { intersectionAt, type SceneIntersection } from './intersection.js';
import { LatestOnly } from './latest-only.js';
import { type Checked, queryOf, readQuery, type SceneQueryOptions } from './scene-options.js';

const VIEW_KEYS = ['view', 'layers', 'ignore', 'side', 'precision', 'signal', 'latest'];
const PICK_KEYS = [...VIEW_KEYS, 'method', 'radius'];
const REGION_KEYS = [...VIEW_KEYS, 'mode', 'instances'];

interface ViewQueryOptions extends SceneQueryOptions {
  /** It names a view of the tracker. The default is the one that `update` sets. */
  view?: string;
  /** The default is the layers of the camera. */
  layers?: number;
  /** The default is the side of each object's own material. */
  side?: 'front' | 'back' | 'double';
}

/** They are the service's, with objects of the scene instead of ids. */
export interface ScenePickOptions extends ViewQueryOptions, Pick<PickOptions, 'method' | 'radius' | 'latest'> {}

/** They are the service's, with objects of the scene instead of ids. */
export interface SceneRegionOptions extends ViewQueryOptions, Pick<RegionOptions, 'mode' | 'latest'> {
  /** Answer each instance by itself, as `{ object, instanceId }`, instead of objects. Default false. */
  instances?: boolean;
}

/** Asks the service in terms of the scene. What is somebody else's in the same service is passed over. */
export class ScenePicks {
  readonly #context: TrackerContext;
  readonly #walk: SceneWalk;
  readonly #views: SceneViews;
  /** It names the view that is asked by default. */
  readonly #view: string;
  readonly #latestPick = new LatestOnly<SceneIntersection | null>('pick');
  readonly #latestPickAll = new LatestOnly<SceneIntersection[]>('pickAll');
  readonly #latestRegion = new LatestOnly<Object3D[] | SceneObject[]>('pickRegion');

  constructor(context: TrackerContext, walk: SceneWalk, views: SceneViews, view: string) {
    this.#context = context;
    this.#walk = walk;
    this.#views = views;
    this.#view = view;
  }

  async pick(x: number, y: number, given: ScenePickOptions): Promise<SceneIntersection | null> {
    const options = readViewQuery('pick', given, PICK_KEYS);
    const view = this.#viewOf('pick', options);
    const { objects, service } = this.#context;
    return this.#latestPick.guard(options, (signal) =>
      objects.during(async (number) => {
        if (options.method === 'screen') return (await this.#pickAll(x, y, options, view, signal, number))[0] ?? null;
        const hit = await service.pick(x, y, pickOptions(this.#query(options, view, signal), options, view));
        if (hit === null) return null;
        if (objects.find(hit.object) !== undefined) return this.#intersections([hit], view, number)[0];
        // It goes past the stranger on the same ray: the camera may have moved since.
        const hits = await this.#castRay(x, y, this.#query(options, view, signal), view);
        return this.#intersections(hits, view, number)[0] ?? null;
      }),
    );
  }

  async pickAll(x: number, y: number, given: ScenePickOptions): Promise<SceneIntersection[]> {
    const options = readViewQuery('pickAll', given, PICK_KEYS);
    const view = this.#viewOf('pickAll', options);
    return this.#latestPickAll.guard(options, (signal) =>
      this.#context.objects.during((number) => this.#pickAll(x, y, options, view, signal, number)),
    );
  }

  /** Lists objects, or instances by themselves, as the options say. */
  async pickRegion(region: Rect | Float32Array, given: SceneRegionOptions): Promise<Object3D[] | SceneObject[]> {
    const options = readViewQuery('pickRegion', given, REGION_KEYS);
    const view = this.#viewOf('pickRegion', options);
    const { objects, service } = this.#context;
    const { mode, instances = false } = options;
    checkBoolean('pickRegion', 'instances', instances);
    return this.#latestRegion.guard(options, (signal) =>
      objects.during(async () => {
        const ids = await service.pickRegion(region, {
          ...this.#query(options, view, signal),
          view: view.name,
          ...(mode !== undefined && { mode }),
        });
        const found = Array.from(ids).flatMap((id) => objects.find(id) ?? []);
        if (instances) return found.map(({ object, instanceId }) => ({ object, instanceId }));
        return [...new Set(found.map(({ object }) => object))];
      }),
    );
  }

  async #pickAll(
    x: number,
    y: number,
    options: Checked<ScenePickOptions>,
    view: SceneView,
    signal: AbortSignal | undefined,
    number: number,
  ): Promise<SceneIntersection[]> {
    const query = this.#query(options, view, signal);
    const hits = await this.#context.service.pickAll(x, y, pickOptions(query, options, view));
    return this.#intersections(hits, view, number);
  }

  /** Casts the ray of a pick in a view that may have changed meanwhile. */
  async #castRay(x: number, y: number, query: QueryOptions, { options }: SceneView): Promise<Hit[]> {
    const { origin, direction, tMin = 0, tMax = 0 } = pickRay(readView('pick', options), x, y)!;
    // An orthographic camera's near plane may be behind it, where no ray starts.
    const near = tMin / Math.hypot(...direction);
    const start = [0, 1, 2].map((i) => origin[i] + near * direction[i]) as [number, number, number];
    const hits = await this.#context.service.raycastAll({ origin: start, direction, tMax: tMax - tMin }, query);
    return hits.map((hit) => ({ ...hit, distance: hit.distance + tMin }));
  }

  /** Answers hits in terms of the scene, without those on objects of others. `query`: the query's number. */
  #intersections(hits: readonly Hit[], { eye }: SceneView, query: number): SceneIntersection[] {
    return hits.flatMap((hit) => {
      const placement = this.#context.objects.find(hit.object);
      return placement === undefined ? [] : intersectionAt(hit, placement, query, eye);
    });
  }

  #viewOf(operation: string, options: { view?: string }): SceneView {
    return this.#views.get(operation, options.view ?? this.#view);
  }

  #query(options: Checked<ViewQueryOptions>, view: SceneView, signal: AbortSignal | undefined): QueryOptions {
    const { layers = view.layers } = options;
    return queryOf(this.#walk, { ...options, layers, signal });
  }
}

function readViewQuery<T extends ViewQueryOptions & { latest?: boolean }>(
  operation: string,
  given: T,
  keys: readonly string[],
): Checked<T> {
  const options = readQuery(operation, given, keys);
  const { latest = false }: { latest?: boolean | undefined } = options;
  checkBoolean(operation, 'latest', latest);
  return options;
}

function pickOptions(
  query: QueryOptions,
  { method, radius }: Pick<PickOptions, 'method' | 'radius'>,
  { name }: SceneView,
): PickOptions {
  return { ...query, view: name, ...(method !== undefined && { method }), ...(radius !== undefined && { radius }) };
}

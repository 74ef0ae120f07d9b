import type { Object3D } from 'three';
import { MAX_OBJECTS } from '../../../shared/layout.js';
import type { Hit, ObjectId, PickOptions, QueryOptions, Rect, RegionOptions } from '../../../shared/types.js';
import { checkSignal } from '../../check/signal.js';
import { checkBoolean, checkInteger, invalid, reading, readOptions } from '../../check/validate.js';
import { readView } from '../../frame/view-table.js';
import { pickRay } from '../../query/pick-ray.js';
import type { SidedQuery } from '../../query/query-options.js';
import type { Placement } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import type { TrackerContext } from '../track/stand-in.js';
import type { SceneView, SceneViews } from '../view/scene-views.js';
import { intersectionOf, type SceneIntersection } from './intersection.js';
import { LatestOnly } from './latest-only.js';

const QUERY_KEYS = ['view', 'layers', 'ignore', 'side', 'precision', 'signal', 'latest'];
const PICK_KEYS = [...QUERY_KEYS, 'method', 'radius'];
const REGION_KEYS = [...QUERY_KEYS, 'mode'];

interface SceneQueryOptions extends Pick<QueryOptions, 'precision' | 'signal'> {
  /** Name of a view of the tracker. Default the one that `update` sets. */
  view?: string;
  /** Default: the layers of the camera. */
  layers?: number;
  /** Objects that are not there for this query. */
  ignore?: readonly Object3D[];
  /** Default: the side of each object's own material. */
  side?: 'front' | 'back' | 'double';
}

/** As the service's, with objects of the scene instead of ids. */
export interface ScenePickOptions extends SceneQueryOptions, Pick<PickOptions, 'method' | 'radius' | 'latest'> {}

/** As the service's, with objects of the scene instead of ids. */
export interface SceneRegionOptions extends SceneQueryOptions, Pick<RegionOptions, 'mode' | 'latest'> {}

/** Asks the service in terms of the scene. What is somebody else's in the same service is passed over. */
export class ScenePicks {
  readonly #context: TrackerContext;
  readonly #walk: SceneWalk;
  readonly #views: SceneViews;
  /** Name of the view that is asked by default. */
  readonly #view: string;
  readonly #latestPick = new LatestOnly();
  readonly #latestPickAll = new LatestOnly();
  readonly #latestRegion = new LatestOnly();

  constructor(context: TrackerContext, walk: SceneWalk, views: SceneViews, view: string) {
    this.#context = context;
    this.#walk = walk;
    this.#views = views;
    this.#view = view;
  }

  async pick(x: number, y: number, given: ScenePickOptions): Promise<SceneIntersection | null> {
    const options = checked('pick', given, PICK_KEYS);
    const view = this.#viewOf('pick', options);
    const { objects, service } = this.#context;
    return this.#latestPick.guard(options, (signal) =>
      objects.during(async (number) => {
        if (options.method === 'screen') return (await this.#pickAll(x, y, options, view, signal, number))[0] ?? null;
        const hit = await service.pick(x, y, pickOptions(this.#query(options, view, signal), options, view));
        if (hit === null) return null;
        if (objects.find(hit.object) !== undefined) return this.#intersections([hit], view, number)[0];
        // Past the stranger, on the same ray: the camera may have moved since.
        const hits = await this.#castRay(x, y, this.#query(options, view, signal), view);
        return this.#intersections(hits, view, number)[0] ?? null;
      }),
    );
  }

  async pickAll(x: number, y: number, given: ScenePickOptions): Promise<SceneIntersection[]> {
    const options = checked('pickAll', given, PICK_KEYS);
    const view = this.#viewOf('pickAll', options);
    return this.#latestPickAll.guard(options, (signal) =>
      this.#context.objects.during((number) => this.#pickAll(x, y, options, view, signal, number)),
    );
  }

  async pickRegion(region: Rect | Float32Array, given: SceneRegionOptions): Promise<Object3D[]> {
    const options = checked('pickRegion', given, REGION_KEYS);
    const view = this.#viewOf('pickRegion', options);
    const { objects, service } = this.#context;
    const { mode } = options;
    return this.#latestRegion.guard(options, (signal) =>
      objects.during(async () => {
        // What does not show cannot be touched; but all of an object is all of it.
        const query = this.#query(options, view, signal, mode !== 'enclose');
        const ids = await service.pickRegion(region, {
          ...query,
          view: view.name,
          ...(mode !== undefined && { mode }),
        });
        const found = Array.from(ids).flatMap((id) => objects.find(id) ?? []);
        const publicId = ({ id, instanceId = 0, standIn: { owner } }: Placement): ObjectId =>
          owner.ids[instanceId] ?? id;
        found.sort((a, b) => publicId(a) - publicId(b));
        return [...new Set(found.map(({ object }) => object))];
      }),
    );
  }

  async #pickAll(
    x: number,
    y: number,
    options: ScenePickOptions,
    view: SceneView,
    signal: AbortSignal | undefined,
    number: number,
  ): Promise<SceneIntersection[]> {
    const query = this.#query(options, view, signal, options.method !== 'screen');
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
      return placement === undefined ? [] : intersectionOf(hit, placement, placement.standIn.seenBy(query), eye);
    });
  }

  #viewOf(operation: string, options: SceneQueryOptions): SceneView {
    return this.#views.get(operation, options.view ?? this.#view);
  }

  /**
   * Answers the options of a query that asks by each material's own side where no other is given, or, not `sided`, by
   * both sides of all.
   */
  #query(
    { side, precision, layers, ignore = [] }: SceneQueryOptions,
    view: SceneView,
    signal: AbortSignal | undefined,
    sided = true,
  ): QueryOptions & SidedQuery {
    return {
      layers: layers ?? view.layers,
      ignore: ignore.flatMap((object) => this.#idsOf(object)),
      ownSides: sided && side === undefined,
      ...(side !== undefined && { side }),
      ...(precision !== undefined && { precision }),
      ...(signal && { signal }),
    };
  }

  /** Lists all ids of an object, those of its faces too. */
  #idsOf(object: Object3D): ObjectId[] {
    return (this.#walk.entryOf(object)?.standIns ?? []).flatMap(({ ids }) => [...ids]);
  }
}

/** Checks and copies the options; what the service is told, it checks itself. */
function checked<T extends SceneQueryOptions & { latest?: boolean }>(
  operation: string,
  given: T,
  keys: readonly string[],
): T {
  const options = readOptions(operation, 'options', given, keys);
  const { ignore, latest = false, signal } = options;
  checkSignal(operation, signal);
  checkBoolean(operation, 'latest', latest);
  if (ignore === undefined) return options;
  return reading(operation, 'ignore', () => {
    if (!Array.isArray(ignore)) invalid(operation, 'ignore', ignore, 'an array of objects');
    checkInteger(operation, 'the length of ignore', ignore.length, 0, MAX_OBJECTS);
    return { ...options, ignore: Array.from({ length: ignore.length }, (_, i) => ignore[i]) };
  });
}

function pickOptions(query: QueryOptions, { method, radius }: ScenePickOptions, { name }: SceneView): PickOptions {
  return { ...query, view: name, ...(method !== undefined && { method }), ...(radius !== undefined && { radius }) };
}

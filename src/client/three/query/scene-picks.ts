import type { Intersection, Object3D } from 'three';
import { MAX_OBJECTS } from '../../../shared/layout.js';
import type { Hit, ObjectId, PickOptions, QueryOptions, Rect, RegionOptions } from '../../../shared/types.js';
import { checkBoolean, checkInteger, invalid, reading, readOptions } from '../../check/validate.js';
import { readView } from '../../frame/view-table.js';
import { checkSignal } from '../../link/abort.js';
import { pickRay } from '../../query/pick-ray.js';
import type { SideQuery } from '../side-index.js';
import type { Placement } from '../track/scene-objects.js';
import type { SceneWalk } from '../track/scene-walk.js';
import type { TrackerContext } from '../track/stand-in.js';
import type { SceneView, SceneViews } from '../view/scene-views.js';
import { intersectionOf } from './intersection.js';
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

/** three's own; for method 'screen' with no more than distance, point, object, instanceId, and `pixels`. */
export interface SceneIntersection extends Intersection {
  /** Method 'screen': how far from the cursor the centre of the object's bounds is drawn, which is the `point` then. */
  pixels?: number;
}

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
        const queries = this.#queries(options, view, signal);
        const strangers: ObjectId[] = [];
        let hits = await Promise.all(queries.map((query) => service.pick(x, y, pickOptions(query, options, view))));
        for (;;) {
          const hit = nearest(hits);
          if (hit === null) return null;
          const placement = objects.find(hit.object);
          if (placement !== undefined) return intersection(hit, placement, view, number);
          // Past the stranger, on the same ray: the camera may have moved since.
          strangers.push(hit.object);
          const past = queries.map((query) => ({ ...query, ignore: [...(query.ignore ?? []), ...strangers] }));
          hits = await Promise.all(past.map((query) => this.#castRay(x, y, query, view)));
        }
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
        const queries = this.#queries(options, view, signal, mode !== 'enclose').map((query) => ({
          ...query,
          view: view.name,
          ...(mode !== undefined && { mode }),
        }));
        const answers = await Promise.all(queries.map((query) => service.pickRegion(region, query)));
        const ids = answers.flatMap((each) => [...each]).sort((a, b) => a - b);
        const found = ids.flatMap((id) => objects.find(id) ?? []);
        const picked = mode === 'enclose' ? this.#withAllParts(found) : found;
        return [...new Set(picked.map(({ object }) => object))];
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
    const { objects, service } = this.#context;
    const byScreen = options.method === 'screen';
    const queries = this.#queries(options, view, signal, !byScreen);
    const answers = await Promise.all(queries.map((query) => service.pickAll(x, y, pickOptions(query, options, view))));
    const hits = answers.flat();
    if (!byScreen) hits.sort((a, b) => a.distance - b.distance);
    const found = hits.flatMap((hit) => {
      const placement = objects.find(hit.object);
      return placement === undefined ? [] : intersection(hit, placement, view, number);
    });
    // By screen distance, an object that is several in the service counts once.
    const isFirst = (one: SceneIntersection, i: number): boolean =>
      i === found.findIndex(({ object, instanceId }) => object === one.object && instanceId === one.instanceId);
    return byScreen ? found.filter(isFirst) : found;
  }

  /** As a pick in a view that has changed meanwhile. */
  async #castRay(x: number, y: number, query: QueryOptions, { options }: SceneView): Promise<Hit | null> {
    const { origin, direction, tMin = 0, tMax = 0 } = pickRay(readView('pick', options), x, y)!;
    // An orthographic camera's near plane may be behind it, where no ray starts.
    const near = tMin / Math.hypot(...direction);
    const start = [0, 1, 2].map((i) => origin[i] + near * direction[i]) as [number, number, number];
    const hit = await this.#context.service.raycast({ origin: start, direction, tMax: tMax - tMin }, query);
    return hit && { ...hit, distance: hit.distance + tMin };
  }

  #viewOf(operation: string, options: SceneQueryOptions): SceneView {
    return this.#views.get(operation, options.view ?? this.#view);
  }

  /** The queries of the service that together see every object from the sides that it shows, or one for all sides. */
  #queries(
    { side, precision, layers, ignore: unseen = [] }: SceneQueryOptions,
    view: SceneView,
    signal: AbortSignal | undefined,
    sided = true,
  ): QueryOptions[] {
    const both: SideQuery = { side: 'double', ignore: [] };
    const own = sided ? this.#context.sides.queries : [both];
    const queries = side === undefined ? own : [{ side, ignore: [] }];
    const ignore = unseen.flatMap((object) =>
      (this.#walk.entryOf(object)?.parts ?? []).flatMap((part) => [...part.ids]),
    );
    return queries.map((query) => ({
      layers: layers ?? view.layers,
      side: query.side,
      ignore: ignore.length === 0 ? query.ignore : [...query.ignore, ...ignore],
      ...(precision !== undefined && { precision }),
      ...(signal && { signal }),
    }));
  }

  /** Of what was found, that of which every part was that rays can hit. */
  #withAllParts(found: readonly Placement[]): Placement[] {
    const ids = new Set(found.map(({ id }) => id));
    return found.filter(({ object, instanceId = 0 }) =>
      (this.#walk.entryOf(object)?.parts ?? []).every(
        (part) => !part.isPickable || part.ids.length <= instanceId || ids.has(part.ids[instanceId]),
      ),
    );
  }
}

/** A copy of the options, of which the service checks what it is told. */
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

function intersection(hit: Hit, placement: Placement, { eye }: SceneView, query: number): SceneIntersection {
  return intersectionOf(hit, placement, placement.part.seenBy(query), eye);
}

function nearest(hits: readonly (Hit | null)[]): Hit | null {
  let best: Hit | null = null;
  for (const hit of hits) {
    if (hit !== null && (best === null || hit.distance < best.distance)) best = hit;
  }
  return best;
}

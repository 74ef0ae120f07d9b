import * as layout from '../../shared/layout.js';
import type { Filter, Region, ViewRecord } from '../../shared/protocol.js';
import type { ClosestPoint, ObjectId, Vec3 } from '../../shared/types.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { QueryMemory } from './query-memory.js';
import { type Steps, sortedIds } from './steps.js';

const NO_IDS = new Uint32Array();
/** Milliseconds for which objects are tested in a step, and how many waiting objects are passed to it at most. */
const STEP_MS = 2;
const IDS_PER_STEP = 1 << 14;

/** Queries the core about all objects, or those of a list if given, until a point in time. Returns how many it found. */
type IdQuery = (ids: number, count: number, deadline: number) => number;

export type IdSteps = Steps<Uint32Array<ArrayBuffer>>;
type NearestPoint = Omit<ClosestPoint, 'frame'>;

/** The objects in a frustum. */
export interface FrustumIds {
  ids: Uint32Array<ArrayBuffer>;
  inside: number;
  occluded: Uint32Array<ArrayBuffer>;
  occluders: Uint32Array<ArrayBuffer>;
}

/** Queries for the objects in a volume, and for the one nearest to a point. */
export class CoreVolumes {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queryMemory: QueryMemory;

  constructor(exports: CoreExports, memory: CoreMemory, queryMemory: QueryMemory) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queryMemory = queryMemory;
  }

  /** Lists the ids of the objects in a screen region, ascending, in steps. */
  pickRegion(view: ViewRecord, { bounds, polygon, mode }: Region, filter: Filter): IdSteps {
    return this.#listIds(filter, (...list) =>
      this.#queryMemory.withArrays([view, polygon], ([record, vertices]) => {
        this.#memory.setFloats(this.#queryMemory.query, bounds, 4);
        const { words } = this.#memory;
        words[(this.#queryMemory.query + layout.REGION_POLYGON) / 4] = vertices;
        words[(this.#queryMemory.query + layout.REGION_VERTEX_COUNT) / 4] = polygon.length / 2;
        words[(this.#queryMemory.query + layout.REGION_MODE) / 4] = mode;
        return this.#exports.pickRegion(record, this.#queryMemory.query, this.#queryMemory.filter, ...list);
      }),
    );
  }

  /**
   * Lists the objects in a view's frustum or on the inner side of all planes, each part sorted by id: `ids[0..inside)` are
   * entirely inside, the others cross. Also lists the occluded objects, and their possible occluders. Meshes are tested in
   * steps, and then what of them is occluded, by their bounds.
   */
  *frustum(volume: ViewRecord | Float32Array, filter: Filter): Steps<FrustumIds> {
    const found: FrustumIds[] = [];
    yield* this.#runQuery(filter, (...list) => found.push(this.#frustumStep(volume, list)));
    let [visible] = found;
    if (found.length > 1) {
      const insideIds = yield* sortedIds(concat(found.map(({ ids, inside }) => ids.subarray(0, inside))));
      const crossingIds = yield* sortedIds(concat(found.map(({ ids, inside }) => ids.subarray(inside))));
      visible = { ...visible, ids: concat([insideIds, crossingIds]), inside: insideIds.length };
    }
    const { ids, inside } = visible;
    const occludes = volume instanceof Uint32Array && volume[layout.VIEW_OCCLUSION / 4] !== layout.OCCLUSION_NONE;
    if (!occludes || filter.precision !== layout.PRECISION_MESH || ids.length === 0) return visible;
    const byBounds = this.#queryMemory.with({ ...filter, precision: layout.PRECISION_OBB }, () =>
      this.#queryMemory.withArray(ids, (at) => this.#frustumStep(volume, [at, ids.length, Infinity])),
    );
    const seen = new Set(byBounds.ids);
    const isSeen = (id: ObjectId): boolean => seen.has(id);
    return { ...byBounds, ids: ids.filter(isSeen), inside: ids.subarray(0, inside).filter(isSeen).length };
  }

  #frustumStep(volume: ViewRecord | Float32Array, list: Parameters<IdQuery>): FrustumIds {
    return this.#queryMemory.withArray(volume, (address) => {
      const { filter } = this.#queryMemory;
      const count =
        volume instanceof Float32Array
          ? this.#exports.frustumOfPlanes(address, volume.length / 4, filter, ...list)
          : this.#exports.frustumOfView(address, filter, ...list);
      const inside = this.#exports.foundInside() >>> 0;
      const visibleEnd = this.#exports.foundSeen() >>> 0;
      const occludedEnd = visibleEnd + (this.#exports.foundOccluded() >>> 0);
      // They are listed by slots, which are the high bits of ids.
      const allIds = this.#queryMemory.ids(count);
      return {
        ids: allIds.slice(0, visibleEnd),
        inside,
        occluded: allIds.slice(visibleEnd, occludedEnd),
        occluders: allIds.slice(occludedEnd),
      };
    });
  }

  /** Lists the ids of the objects that a shape overlaps, ascending, in steps between which its mesh must not change. */
  overlap(description: PlacedDescription, filter: Filter): IdSteps {
    return this.#listIds(filter, (...list) => {
      writeDescription(this.#memory, this.#queryMemory.query, description);
      return this.#exports.overlap(this.#queryMemory.query, this.#queryMemory.filter, ...list);
    });
  }

  /** Lists the ids of the solid objects that contain a point, ascending, in steps. */
  containing([x, y, z]: Vec3, filter: Filter): IdSteps {
    return this.#listIds(filter, (...list) => this.#exports.containing(x, y, z, this.#queryMemory.filter, ...list));
  }

  /** Finds the nearest point of any object, in steps. */
  *closestPoint([x, y, z]: Vec3, maxDistance: number, filter: Filter): Steps<NearestPoint | null> {
    let best: NearestPoint | null = null;
    yield* this.#runQuery(filter, (...list) => {
      const { closestPoint } = this.#exports;
      const limit = best?.distance ?? maxDistance;
      if (!closestPoint(x, y, z, limit, best?.object ?? 0, this.#queryMemory.filter, this.#queryMemory.hit, ...list))
        return 0;
      const { object, point, distance, triangle, element } = this.#queryMemory.readHit();
      best = { object, point, distance, triangle, element };
      return 0;
    });
    return best;
  }

  *#listIds(filter: Filter, query: IdQuery): IdSteps {
    const lists: Uint32Array<ArrayBuffer>[] = [];
    yield* this.#runQuery(filter, (...list) => lists.push(this.#queryMemory.ids(query(...list))));
    return yield* sortedIds(concat(lists));
  }

  /**
   * Queries all objects, and in further steps those that were left when the time of the first step was over: each is tested as it
   * is then, and objects that were removed meanwhile are skipped.
   */
  *#runQuery(filter: Filter, query: IdQuery): Steps<void> {
    const queryIds = (ids: Uint32Array): void => {
      this.#queryMemory.with(filter, () =>
        this.#queryMemory.withArray(ids, (at) => query(at, ids.length, performance.now() + STEP_MS)),
      );
    };
    queryIds(NO_IDS);
    const waitingIds = this.#memory.copyWords(this.#exports.waitingIds() >>> 0, this.#exports.waitingCount() >>> 0);
    for (let first = 0; first < waitingIds.length; first += this.#exports.askedCount()) {
      yield;
      queryIds(waitingIds.subarray(first, first + IDS_PER_STEP));
    }
  }
}

function concat(lists: readonly Uint32Array<ArrayBuffer>[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let count = 0;
  for (const list of lists) {
    all.set(list, count);
    count += list.length;
  }
  return all;
}

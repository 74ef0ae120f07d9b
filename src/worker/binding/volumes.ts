import * as layout from '../../shared/layout.js';
import type { Filter, Region, ViewRecord } from '../../shared/protocol.js';
import type { ClosestPoint, Vec3 } from '../../shared/types.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { Question } from './question.js';
import { type Steps, sortedIds } from './steps.js';

const NO_IDS = new Uint32Array();
/** Milliseconds for which objects are tested in a step, and how many waiting objects are passed to it at most. */
const STEP_MS = 2;
const ASKED_AT_ONCE = 1 << 14;

/** Queries the core about all objects, or those of a list if given, until a point in time. Returns how many it found. */
type Ask = (ids: number, count: number, until: number) => number;

export type IdSteps = Steps<Uint32Array<ArrayBuffer>>;
type FoundPoint = Omit<ClosestPoint, 'frame'>;

/** The objects in a frustum. */
interface FrustumIds {
  ids: Uint32Array<ArrayBuffer>;
  inside: number;
  occluded: Uint32Array<ArrayBuffer>;
  occluders: Uint32Array<ArrayBuffer>;
}

/** Queries for the objects in a volume, and for the one nearest to a point. */
export class CoreVolumes {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #question: Question;

  constructor(exports: CoreExports, memory: CoreMemory, question: Question) {
    this.#exports = exports;
    this.#memory = memory;
    this.#question = question;
  }

  /** Lists the ids of the objects in a screen region, ascending, in steps. */
  pickRegion(view: ViewRecord, { bounds, polygon, mode }: Region, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) =>
      this.#question.withArrays([view, polygon], ([record, vertices]) => {
        this.#memory.setFloats(this.#question.query, bounds, 4);
        const { words } = this.#memory;
        words[(this.#question.query + layout.REGION_POLYGON) / 4] = vertices;
        words[(this.#question.query + layout.REGION_VERTEX_COUNT) / 4] = polygon.length / 2;
        words[(this.#question.query + layout.REGION_MODE) / 4] = mode;
        return this.#exports.pickRegion(record, this.#question.query, this.#question.filter, ...list);
      }),
    );
  }

  /**
   * Lists the objects in a view's frustum or on the inner side of all planes, each part sorted by id: `ids[0..inside)` are
   * entirely inside, the others cross. Also lists the occluded objects, and their possible occluders.
   */
  frustum(volume: ViewRecord | Float32Array, filter: Filter): FrustumIds {
    return this.#question.with(filter, () =>
      this.#question.withArray(volume, (address) => {
        const count =
          volume instanceof Float32Array
            ? this.#exports.frustumOfPlanes(address, volume.length / 4, this.#question.filter)
            : this.#exports.frustumOfView(address, this.#question.filter);
        const inside = this.#exports.foundInside() >>> 0;
        const seen = this.#exports.foundSeen() >>> 0;
        const hidden = seen + (this.#exports.foundOccluded() >>> 0);
        // They are listed by slots, which are the high bits of ids.
        const all = this.#question.ids(count);
        return { ids: all.slice(0, seen), inside, occluded: all.slice(seen, hidden), occluders: all.slice(hidden) };
      }),
    );
  }

  /** Lists the ids of the objects that a shape overlaps, ascending, in steps between which its mesh must not change. */
  overlap(description: PlacedDescription, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) => {
      writeDescription(this.#memory, this.#question.query, description);
      return this.#exports.overlap(this.#question.query, this.#question.filter, ...list);
    });
  }

  /** Lists the ids of the solid objects that contain a point, ascending, in steps. */
  containing([x, y, z]: Vec3, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) => this.#exports.containing(x, y, z, this.#question.filter, ...list));
  }

  /** Finds the nearest point of any object, in steps. */
  *closestPoint([x, y, z]: Vec3, maxDistance: number, filter: Filter): Steps<FoundPoint | null> {
    let best: FoundPoint | null = null;
    yield* this.#ask(filter, (...list) => {
      const { closestPoint } = this.#exports;
      const most = best?.distance ?? maxDistance;
      if (!closestPoint(x, y, z, most, best?.object ?? 0, this.#question.filter, this.#question.hit, ...list)) return 0;
      const { object, point, distance, triangle, element } = this.#question.foundHit();
      best = { object, point, distance, triangle, element };
      return 0;
    });
    return best;
  }

  *#listed(filter: Filter, ask: Ask): IdSteps {
    const lists: Uint32Array<ArrayBuffer>[] = [];
    yield* this.#ask(filter, (...list) => lists.push(this.#question.ids(ask(...list))));
    const [first] = lists;
    const all = lists.length === 1 ? first : new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
    let count = 0;
    for (const list of lists.length === 1 ? [] : lists) {
      all.set(list, count);
      count += list.length;
    }
    return yield* sortedIds(all);
  }

  /**
   * Queries all objects, and in further steps those that were left when the time of the first step was over: each is tested as it
   * is then, and objects that were removed meanwhile are skipped.
   */
  *#ask(filter: Filter, ask: Ask): Steps<void> {
    const askOf = (ids: Uint32Array): void => {
      this.#question.with(filter, () =>
        this.#question.withArray(ids, (at) => ask(at, ids.length, performance.now() + STEP_MS)),
      );
    };
    askOf(NO_IDS);
    const waiting = this.#memory.uint32s(this.#exports.waitingIds() >>> 0, this.#exports.waitingCount() >>> 0);
    for (let first = 0; first < waiting.length; first += this.#exports.askedCount()) {
      yield;
      askOf(waiting.subarray(first, first + ASKED_AT_ONCE));
    }
  }
}

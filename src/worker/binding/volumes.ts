import * as layout from '../../shared/layout.js';
import type { Filter, Region, ViewRecord } from '../../shared/protocol.js';
import type { ClosestPoint, Vec3 } from '../../shared/types.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { Question } from './question.js';
import { type Steps, sortedIds } from './steps.js';

const NO_IDS = new Uint32Array();
/** Milliseconds for which objects are examined in a step, and how many of those that wait are at most. */
const STEP_MS = 2;
const ASKED_AT_ONCE = 1 << 14;

/** Asks the core about all objects, or those of a list where there is one, up to a time of the clock. Returns how many it found. */
type Ask = (ids: number, count: number, until: number) => number;

export type IdSteps = Steps<Uint32Array<ArrayBuffer>>;
type FoundPoint = Omit<ClosestPoint, 'frame'>;

/** What is in a frustum. */
interface FrustumIds {
  ids: Uint32Array<ArrayBuffer>;
  inside: number;
  occluded: Uint32Array<ArrayBuffer>;
  occluders: Uint32Array<ArrayBuffer>;
}

/** Which objects are in a volume, and which is next to a point. */
export class CoreVolumes {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #question: Question;

  constructor(exports: CoreExports, memory: CoreMemory, question: Question) {
    this.#exports = exports;
    this.#memory = memory;
    this.#question = question;
  }

  /** Lists the ids of the objects in a region of the screen, ascending, in steps. */
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
   * Lists what is in a view's frustum or on the inner side of all planes, each part sorted by id: `ids[0..inside)`
   * wholly inside, the others crossing. Beside them, what is occluded, and what may hide it.
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
        // They are listed by slots, which the high bits of ids are.
        const all = this.#question.ids(count);
        return { ids: all.slice(0, seen), inside, occluded: all.slice(seen, hidden), occluders: all.slice(hidden) };
      }),
    );
  }

  /** Lists the ids of the objects that a shape meets, ascending, in steps between which its mesh must stay. */
  overlap(description: PlacedDescription, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) => {
      writeDescription(this.#memory, this.#question.query, description);
      return this.#exports.overlap(this.#question.query, this.#question.filter, ...list);
    });
  }

  /** Lists the ids of the objects that are solid around a point, ascending, in steps. */
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
   * Asks about all objects, and in further steps about those that were left when the time of the first one was over: each is examined
   * as it is then, and one that has gone meanwhile is passed over.
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

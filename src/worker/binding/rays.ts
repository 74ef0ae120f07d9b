import * as layout from '../../shared/layout.js';
import type { PickRay } from '../../shared/packed.js';
import type { Cursor, Filter, ViewRecord } from '../../shared/protocol.js';
import type { Ray } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import { type CoreHit, hitAt, type ManyHits, manyHits } from './hits.js';
import type { CoreMemory } from './memory.js';
import type { Question } from './question.js';
import { inOnePiece, type Steps } from './steps.js';

/** Each target takes nine rays of at least a microsecond: this many take up to a millisecond. */
const TARGETS_AT_ONCE = 64;

/** Numbers per cone, which lie in the core's memory in the same order: two gradients, another one, and a value. */
const CONE_NUMBERS = 10;

/** Queries along lines: hits of rays, objects drawn near a cursor, and visibility. */
export class CoreRays {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #question: Question;

  constructor(exports: CoreExports, memory: CoreMemory, question: Question) {
    this.#exports = exports;
    this.#memory = memory;
    this.#question = question;
  }

  raycast(ray: PickRay, filter: Filter): CoreHit | null {
    return this.#question.with(filter, () => this.raycastAgain(ray));
  }

  /** Casts a ray with the filter that was written last. */
  raycastAgain(ray: PickRay): CoreHit | null {
    this.#setRay(ray);
    const { query, filter, hit } = this.#question;
    return this.#exports.raycast(query, filter, hit) ? this.#question.foundHit() : null;
  }

  /** Finds all hits; they are read in steps, sorted by distance, then object, then element. */
  raycastAll(ray: PickRay, filter: Filter): Steps<CoreHit[]> {
    return this.#question.with(filter, () => {
      this.#setRay(ray);
      return this.#question.hits(
        this.#exports.raycastAll(this.#question.query, this.#question.filter),
        hitAt,
        (a, b) => a.distance - b.distance || a.object - b.object || a.element - b.element,
      );
    });
  }

  /** Returns whether anything is hit; stops at the first hit. */
  anyHit(ray: Ray, filter: Filter): boolean {
    return this.#question.with(filter, () => {
      this.#setRay(ray);
      return this.#exports.anyHit(this.#question.query, this.#question.filter) !== 0;
    });
  }

  /**
   * Finds the nearest hit of each ray, eight numbers per ray: origin, tMin, direction, tMax. Writes the hits to `hits`, from
   * index `first` on. Returns in `done` how many rays were finished by time `until`, in order.
   */
  raycastMany(
    rays: Float32Array,
    filter: Filter,
    until = Number.POSITIVE_INFINITY,
    hits: ManyHits = manyHits(rays.length / layout.RAY_NUMBERS),
    first = 0,
  ): ManyHits & { done: number } {
    const count = rays.length / layout.RAY_NUMBERS;
    return this.#question.with(filter, () =>
      this.#memory.with(count * 68, (input) => {
        // 32 bytes per ray, then 8 + 4 + 4 + 4 + 4 + 12 of its result, the widest first.
        const distances = input + count * 32;
        const objects = distances + count * 8;
        const triangles = objects + count * 4;
        const elements = triangles + count * 4;
        const bones = elements + count * 4;
        const barycentrics = bones + count * 4;
        new Float32Array(this.#memory.buffer, input, rays.length).set(rays);
        const many = [objects, triangles, elements, bones, distances, barycentrics] as const;
        const done = this.#exports.raycastMany(this.#question.filter, input, count, ...many, until);
        const { buffer } = this.#memory;
        hits.objects.set(new Uint32Array(buffer, objects, done), first);
        hits.distances.set(new Float64Array(buffer, distances, done), first);
        hits.triangles.set(new Int32Array(buffer, triangles, done), first);
        hits.elements.set(new Int32Array(buffer, elements, done), first);
        hits.bones.set(new Int32Array(buffer, bones, done), first);
        hits.barycentrics.set(new Float32Array(buffer, barycentrics, done * 3), first * 3);
        return { ...hits, done };
      }),
    );
  }

  /** Finds the object whose bounds' centre is drawn nearest to the cursor. */
  pickScreen(view: ViewRecord, cursor: Cursor, filter: Filter): CoreHit | null {
    return inOnePiece(this.#screenHits(view, cursor, filter, false))[0] ?? null;
  }

  /**
   * Finds all objects whose bounds' centre is drawn within the cursor's reach; they are read in steps, sorted by pixels, then
   * distance, then object.
   */
  pickScreenAll(view: ViewRecord, cursor: Cursor, filter: Filter): Steps<CoreHit[]> {
    return this.#screenHits(view, cursor, filter, true);
  }

  /** Counts for each target how many of its nine points are visible, in steps. Each target is tested as it is at that time. */
  *sees(view: ViewRecord, targets: Uint32Array, filter: Filter): Steps<Uint8Array<ArrayBuffer>> {
    const seen = new Uint8Array(targets.length);
    for (let first = 0; first < targets.length; first += TARGETS_AT_ONCE) {
      if (first > 0) yield;
      const some = targets.subarray(first, first + TARGETS_AT_ONCE);
      this.#question.with(filter, () =>
        this.#question.withArrays([view, some], ([record, ids]) =>
          this.#memory.with(some.length, (points) => {
            this.#exports.sees(record, ids, some.length, this.#question.filter, points);
            seen.set(this.#memory.bytes(points, some.length), first);
          }),
        ),
      );
    }
    return seen;
  }

  #screenHits(view: ViewRecord, { x, y, radius }: Cursor, filter: Filter, all: boolean): Steps<CoreHit[]> {
    return this.#question.with(filter, () =>
      this.#question.withArray(view, (record) =>
        this.#question.hits(
          this.#exports.pickScreen(record, x, y, radius, this.#question.filter, all),
          (view, at, names): CoreHit => ({
            ...hitAt(view, at, names),
            pixels: view.getFloat64(at + layout.HIT_PIXELS, true),
          }),
          (a, b) => a.pixels! - b.pixels! || a.distance - b.distance || a.object - b.object,
        ),
      ),
    );
  }

  #setRay({ origin, direction, tMin = 0, tMax = Number.POSITIVE_INFINITY, cone }: PickRay): void {
    this.#memory.setFloats(this.#question.query + layout.RAY_ORIGIN, origin, 3);
    this.#memory.setFloats(this.#question.query + layout.RAY_DIRECTION, direction, 3);
    const { floats } = this.#memory;
    floats[(this.#question.query + layout.RAY_T_MIN) / 8] = tMin;
    floats[(this.#question.query + layout.RAY_T_MAX) / 8] = tMax;
    this.#memory.words[(this.#question.query + layout.RAY_IS_CONE) / 4] = cone ? 1 : 0;
    if (!cone) return;
    this.#memory.setFloats(this.#question.query + layout.RAY_CONE_A, cone, CONE_NUMBERS);
  }
}

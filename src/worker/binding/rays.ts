import * as layout from '../../shared/layout.js';
import type { PickRay } from '../../shared/packed.js';
import type { Cursor, Filter, ViewRecord } from '../../shared/protocol.js';
import type { Ray } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import { allocateRayHits, type CoreHit, hitAt, type RayHitArrays } from './hits.js';
import type { CoreMemory } from './memory.js';
import type { QueryMemory } from './query-memory.js';
import { runToEnd, type Steps } from './steps.js';

/** Each target takes nine rays of at least a microsecond: this many take up to a millisecond. */
const TARGETS_PER_STEP = 64;

/** Numbers per cone, which lie in the core's memory in the same order: two gradients, another one, and a value. */
const CONE_NUMBERS = 10;

/** Queries along lines: hits of rays, objects drawn near a cursor, and visibility. */
export class CoreRays {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queryMemory: QueryMemory;

  constructor(exports: CoreExports, memory: CoreMemory, queryMemory: QueryMemory) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queryMemory = queryMemory;
  }

  raycast(ray: PickRay, filter: Filter): CoreHit | null {
    return this.#queryMemory.with(filter, () => this.raycastWithLastFilter(ray));
  }

  /** Casts a ray with the filter that was written last. */
  raycastWithLastFilter(ray: PickRay): CoreHit | null {
    this.#setRay(ray);
    const { query, filter, hit } = this.#queryMemory;
    return this.#exports.raycast(query, filter, hit) ? this.#queryMemory.readHit() : null;
  }

  /** Finds all hits; they are read in steps, sorted by distance, then object, then element. */
  raycastAll(ray: PickRay, filter: Filter): Steps<CoreHit[]> {
    return this.#queryMemory.with(filter, () => {
      this.#setRay(ray);
      return this.#queryMemory.hits(
        this.#exports.raycastAll(this.#queryMemory.query, this.#queryMemory.filter),
        hitAt,
        (a, b) => a.distance - b.distance || a.object - b.object || a.element - b.element,
      );
    });
  }

  /** Returns whether anything is hit; stops at the first hit. */
  anyHit(ray: Ray, filter: Filter): boolean {
    return this.#queryMemory.with(filter, () => {
      this.#setRay(ray);
      return this.#exports.anyHit(this.#queryMemory.query, this.#queryMemory.filter) !== 0;
    });
  }

  /**
   * Finds the nearest hit of each ray, eight numbers per ray: origin, tMin, direction, tMax. Writes the hits to `hits`, from
   * index `first` on. Returns in `done` how many rays were finished by time `deadline`, in order.
   */
  raycastMany(
    rays: Float32Array,
    filter: Filter,
    deadline = Number.POSITIVE_INFINITY,
    hits: RayHitArrays = allocateRayHits(rays.length / layout.RAY_NUMBERS),
    first = 0,
  ): RayHitArrays & { done: number } {
    const count = rays.length / layout.RAY_NUMBERS;
    return this.#queryMemory.with(filter, () =>
      this.#memory.with(count * 68, (input) => {
        // 32 bytes per ray, then 8 + 4 + 4 + 4 + 4 + 12 of its result, the widest first.
        const distances = input + count * 32;
        const objects = distances + count * 8;
        const triangles = objects + count * 4;
        const elements = triangles + count * 4;
        const bones = elements + count * 4;
        const barycentrics = bones + count * 4;
        new Float32Array(this.#memory.buffer, input, rays.length).set(rays);
        const outputs = [objects, triangles, elements, bones, distances, barycentrics] as const;
        const done = this.#exports.raycastMany(this.#queryMemory.filter, input, count, ...outputs, deadline);
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
    return runToEnd(this.#screenHits(view, cursor, filter, false))[0] ?? null;
  }

  /**
   * Finds all objects whose bounds' centre is drawn within the cursor's radius; they are read in steps, sorted by pixels, then
   * distance, then object.
   */
  pickScreenAll(view: ViewRecord, cursor: Cursor, filter: Filter): Steps<CoreHit[]> {
    return this.#screenHits(view, cursor, filter, true);
  }

  /** Counts for each target how many of its nine points are visible, in steps. Each target is tested as it is at that time. */
  *sees(view: ViewRecord, targets: Uint32Array, filter: Filter): Steps<Uint8Array<ArrayBuffer>> {
    const visibleCounts = new Uint8Array(targets.length);
    for (let first = 0; first < targets.length; first += TARGETS_PER_STEP) {
      if (first > 0) yield;
      const block = targets.subarray(first, first + TARGETS_PER_STEP);
      this.#queryMemory.with(filter, () =>
        this.#queryMemory.withArrays([view, block], ([record, ids]) =>
          this.#memory.with(block.length, (points) => {
            this.#exports.sees(record, ids, block.length, this.#queryMemory.filter, points);
            visibleCounts.set(this.#memory.bytes(points, block.length), first);
          }),
        ),
      );
    }
    return visibleCounts;
  }

  #screenHits(view: ViewRecord, { x, y, radius }: Cursor, filter: Filter, findsAll: boolean): Steps<CoreHit[]> {
    return this.#queryMemory.with(filter, () =>
      this.#queryMemory.withArray(view, (record) =>
        this.#queryMemory.hits(
          this.#exports.pickScreen(record, x, y, radius, this.#queryMemory.filter, findsAll),
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
    this.#memory.setFloats(this.#queryMemory.query + layout.RAY_ORIGIN, origin, 3);
    this.#memory.setFloats(this.#queryMemory.query + layout.RAY_DIRECTION, direction, 3);
    const { floats } = this.#memory;
    floats[(this.#queryMemory.query + layout.RAY_T_MIN) / 8] = tMin;
    floats[(this.#queryMemory.query + layout.RAY_T_MAX) / 8] = tMax;
    this.#memory.words[(this.#queryMemory.query + layout.RAY_IS_CONE) / 4] = cone ? 1 : 0;
    if (!cone) return;
    this.#memory.setFloats(this.#queryMemory.query + layout.RAY_CONE_A, cone, CONE_NUMBERS);
  }
}

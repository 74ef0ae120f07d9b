import * as layout from '../../shared/layout.js';
import type {
  Clips,
  Cursor,
  Filter,
  Motion,
  OwnThresholds,
  PickRay,
  Region,
  ViewRecord,
} from '../../shared/protocol.js';
import type { ClosestPoint, ObjectId, Ray, Vec3 } from '../../shared/types.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import { type BoxNames, type CoreHit, type CoreSweepHit, hitAt, hitsInOrder, sweepHitAt } from './hits.js';
import { gatherWays, type ManySweeps, scatterHits, type WayHits } from './many-ways.js';
import type { CoreMemory } from './memory.js';
import { type CoreContact, type CoreDistance, readContact, readDistance } from './pair-answers.js';
import { inOnePiece, STEP, type Steps, sortedIds } from './steps.js';

export type { CoreContact, CoreDistance } from './pair-answers.js';

/** No object has a threshold of its own. */
const NONE_OWN: OwnThresholds = { ids: new Uint32Array(), thresholds: new Float64Array() };
/** Nothing is cut away. */
const NO_CLIPS: Clips = { sets: new Uint32Array(), planes: new Float64Array() };

const NO_IDS = new Uint32Array();
/** Milliseconds for which objects are looked at in a step, and how many of those that wait are at most. */
const STEP_MS = 2;
const ASKED_AT_ONCE = 1 << 14;

/** Asks the core about all objects, or those of a list where there is one, up to a time of the clock. Answers how many it found. */
type Ask = (ids: number, count: number, until: number) => number;

/** Each target takes nine rays, of a microsecond and more: so many take up to a millisecond. */
const TARGETS_AT_ONCE = 64;

export type IdSteps = Steps<Uint32Array<ArrayBuffer>>;
export type FoundPoint = Omit<ClosestPoint, 'frame'>;

/** What is in a frustum. */
interface FrustumIds {
  ids: Uint32Array<ArrayBuffer>;
  inside: number;
  occluded: Uint32Array<ArrayBuffer>;
  occluders: Uint32Array<ArrayBuffer>;
}

/** Questions to a core. Each answers about the objects as they are now. */
export class CoreQueries {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  /** Room for a filter, a query and a hit. */
  readonly #filter: number;
  readonly #query: number;
  readonly #hit: number;
  readonly #boxNames: BoxNames;

  constructor(exports: CoreExports, memory: CoreMemory, boxNames: BoxNames) {
    this.#exports = exports;
    this.#memory = memory;
    this.#boxNames = boxNames;
    const motionBytes = Math.max(layout.MOTION_BYTES, 8 * layout.WAY_NUMBERS);
    const queryBytes = Math.max(layout.RAY_BYTES, layout.REGION_BYTES, layout.OBJECT_BYTES + motionBytes);
    this.#filter = memory.allocate(layout.FILTER_BYTES + queryBytes + layout.HIT_BYTES);
    this.#query = this.#filter + layout.FILTER_BYTES;
    this.#hit = this.#query + queryBytes;
  }

  raycast(ray: PickRay, filter: Filter): CoreHit | null {
    return this.#with(filter, () => {
      this.#setRay(ray);
      return this.#exports.raycast(this.#query, this.#filter, this.#hit)
        ? hitAt(this.#memory.view, this.#hit, this.#boxNames)
        : null;
    });
  }

  /** Finds every hit; they are read in steps, sorted by distance, then object, then element. */
  raycastAll(ray: PickRay, filter: Filter): Steps<CoreHit[]> {
    return this.#with(filter, () => {
      this.#setRay(ray);
      return this.#hits(
        this.#exports.raycastAll(this.#query, this.#filter),
        hitAt,
        (a, b) => a.distance - b.distance || a.object - b.object || a.element - b.element,
      );
    });
  }

  /** Tells whether anything is hit at all; stops at the first proof. */
  anyHit(ray: Ray, filter: Filter): boolean {
    return this.#with(filter, () => {
      this.#setRay(ray);
      return this.#exports.anyHit(this.#query, this.#filter) !== 0;
    });
  }

  /**
   * Finds the nearest hit of each ray, eight numbers per ray: origin, tMin, direction, tMax. Answers how many are `done` by a time of
   * the clock, which are the first ones.
   */
  raycastMany(rays: Float32Array, filter: Filter, until = Number.POSITIVE_INFINITY) {
    const count = rays.length / layout.RAY_NUMBERS;
    return this.#with(filter, () =>
      this.#memory.with(count * 68, (input) => {
        // 32 bytes of a ray, then 8 + 4 + 4 + 4 + 4 + 12 of its answer, the widest first.
        const distances = input + count * 32;
        const objects = distances + count * 8;
        const triangles = objects + count * 4;
        const elements = triangles + count * 4;
        const bones = elements + count * 4;
        const barycentrics = bones + count * 4;
        new Float32Array(this.#memory.buffer, input, rays.length).set(rays);
        const many = [objects, triangles, elements, bones, distances, barycentrics] as const;
        const done = this.#exports.raycastMany(this.#filter, input, count, ...many, until);
        const { buffer } = this.#memory;
        return {
          done,
          objects: new Uint32Array(buffer, objects, count).slice(),
          distances: new Float64Array(buffer, distances, count).slice(),
          triangles: new Int32Array(buffer, triangles, count).slice(),
          elements: new Int32Array(buffer, elements, count).slice(),
          bones: new Int32Array(buffer, bones, count).slice(),
          barycentrics: new Float32Array(buffer, barycentrics, count * 3).slice(),
        };
      }),
    );
  }

  /** Finds the object whose centre of bounds is drawn nearest to the cursor. */
  pickScreen(view: ViewRecord, cursor: Cursor, filter: Filter): CoreHit | null {
    return inOnePiece(this.#screenHits(view, cursor, filter, false))[0] ?? null;
  }

  /**
   * Finds all objects whose centre is drawn in the cursor's reach; they are read in steps, sorted by pixels, then distance, then
   * object.
   */
  pickScreenAll(view: ViewRecord, cursor: Cursor, filter: Filter): Steps<CoreHit[]> {
    return this.#screenHits(view, cursor, filter, true);
  }

  /** Lists the ids of the objects in a region of the screen, ascending, in steps. */
  pickRegionInSteps(view: ViewRecord, { bounds, polygon, mode }: Region, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) =>
      this.#withArrays([view, polygon], ([record, vertices]) => {
        this.#memory.setFloats(this.#query, bounds, 4);
        const { words } = this.#memory;
        words[(this.#query + layout.REGION_POLYGON) / 4] = vertices;
        words[(this.#query + layout.REGION_VERTEX_COUNT) / 4] = polygon.length / 2;
        words[(this.#query + layout.REGION_MODE) / 4] = mode;
        return this.#exports.pickRegion(record, this.#query, this.#filter, ...list);
      }),
    );
  }

  pickRegion(view: ViewRecord, region: Region, filter: Filter): Uint32Array<ArrayBuffer> {
    return inOnePiece(this.pickRegionInSteps(view, region, filter));
  }

  /**
   * Lists what is in a view's frustum or on the inner side of all planes, each part sorted by id: `ids[0..inside)`
   * wholly inside, the others crossing. Beside them, what is occluded, and what may hide it.
   */
  frustum(volume: ViewRecord | Float32Array, filter: Filter): FrustumIds {
    return this.#with(filter, () =>
      this.#withArray(volume, (address) => {
        const count =
          volume instanceof Float32Array
            ? this.#exports.frustumOfPlanes(address, volume.length / 4, this.#filter)
            : this.#exports.frustumOfView(address, this.#filter);
        const inside = this.#exports.foundInside() >>> 0;
        const seen = this.#exports.foundSeen() >>> 0;
        const hidden = seen + (this.#exports.foundOccluded() >>> 0);
        const all = this.#ids(count);
        all.subarray(0, inside).sort();
        all.subarray(inside, seen).sort();
        all.subarray(seen, hidden).sort();
        all.subarray(hidden).sort();
        return { ids: all.slice(0, seen), inside, occluded: all.slice(seen, hidden), occluders: all.slice(hidden) };
      }),
    );
  }

  /** Counts for each target how many of its nine points are in sight, in steps. Each is looked at as it is then. */
  *sees(view: ViewRecord, targets: Uint32Array, filter: Filter): Steps<Uint8Array<ArrayBuffer>> {
    const seen = new Uint8Array(targets.length);
    for (let first = 0; first < targets.length; first += TARGETS_AT_ONCE) {
      if (first > 0) yield;
      const some = targets.subarray(first, first + TARGETS_AT_ONCE);
      this.#with(filter, () =>
        this.#withArrays([view, some], ([record, ids]) =>
          this.#memory.with(some.length, (points) => {
            this.#exports.sees(record, ids, some.length, this.#filter, points);
            seen.set(this.#memory.bytes(points, some.length), first);
          }),
        ),
      );
    }
    return seen;
  }

  /** Lists the ids of the objects that a shape meets, ascending, in steps between which its mesh must stay. */
  overlapInSteps(description: PlacedDescription, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) => {
      writeDescription(this.#memory, this.#query, description);
      return this.#exports.overlap(this.#query, this.#filter, ...list);
    });
  }

  overlap(description: PlacedDescription, filter: Filter): Uint32Array<ArrayBuffer> {
    return inOnePiece(this.overlapInSteps(description, filter));
  }

  /** Lists the ids of the objects that are solid around a point, ascending, in steps. */
  containingInSteps([x, y, z]: Vec3, filter: Filter): IdSteps {
    return this.#listed(filter, (...list) => this.#exports.containing(x, y, z, this.#filter, ...list));
  }

  containing(point: Vec3, filter: Filter): Uint32Array<ArrayBuffer> {
    return inOnePiece(this.containingInSteps(point, filter));
  }

  /** Finds the nearest point of any object, in steps. */
  *closestPointInSteps([x, y, z]: Vec3, maxDistance: number, filter: Filter): Steps<FoundPoint | null> {
    let best: FoundPoint | null = null;
    yield* this.#ask(filter, (...list) => {
      const { closestPoint } = this.#exports;
      const most = best?.distance ?? maxDistance;
      if (!closestPoint(x, y, z, most, best?.object ?? 0, this.#filter, this.#hit, ...list)) return 0;
      const { object, point, distance, triangle, element } = hitAt(this.#memory.view, this.#hit, this.#boxNames);
      best = { object, point, distance, triangle, element };
      return 0;
    });
    return best;
  }

  closestPoint(point: Vec3, maxDistance: number, filter: Filter): FoundPoint | null {
    return inOnePiece(this.closestPointInSteps(point, maxDistance, filter));
  }

  *#listed(filter: Filter, ask: Ask): IdSteps {
    const lists: Uint32Array<ArrayBuffer>[] = [];
    yield* this.#ask(filter, (...list) => lists.push(this.#ids(ask(...list))));
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
   * Asks about all objects, and in further steps about those that were left when the time of the first one was over: each is looked at
   * as it is then, and one that has gone meanwhile is passed over.
   */
  *#ask(filter: Filter, ask: Ask): Steps<void> {
    const askOf = (ids: Uint32Array): void => {
      this.#with(filter, () => this.#withArray(ids, (at) => ask(at, ids.length, performance.now() + STEP_MS)));
    };
    askOf(NO_IDS);
    const waiting = this.#memory.uint32s(this.#exports.waitingIds() >>> 0, this.#exports.waitingCount() >>> 0);
    for (let first = 0; first < waiting.length; first += this.#exports.askedCount()) {
      yield;
      askOf(waiting.subarray(first, first + ASKED_AT_ONCE));
    }
  }

  /** Finds what a described shape meets first on its way; undefined as `sweepAll`. */
  sweep(
    description: PlacedDescription,
    motion: Motion,
    filter: Filter,
    most = Number.POSITIVE_INFINITY,
  ): CoreSweepHit | null | undefined {
    return this.#with(filter, () => {
      const at = this.#setMotion(description, motion);
      const count = this.#exports.sweep(this.#query, at, this.#filter, this.#hit, most);
      if (count < 0) return undefined;
      return count > 0 ? sweepHitAt(this.#memory.view, this.#hit) : null;
    });
  }

  /**
   * Finds the first contact with each object, sorted by time, then object; undefined where more objects and triangles would have to be
   * looked at than `most`: then `keepSweep` must begin it.
   */
  sweepAll(
    description: PlacedDescription,
    motion: Motion,
    filter: Filter,
    most = Number.POSITIVE_INFINITY,
  ): CoreSweepHit[] | undefined {
    return this.#with(filter, () => {
      const at = this.#setMotion(description, motion);
      const hits = this.#swept(this.#exports.sweepAll(this.#query, at, this.#filter, most));
      return hits && inOnePiece(hits);
    });
  }

  /**
   * Copies what a sweep is about, for one that may take long. Answers what `beginKeptSweep` takes, which must follow; the
   * meshes must stay as they are until it has ended.
   */
  keepSweep(description: PlacedDescription, motion: Motion, filter: Filter, all: boolean): number {
    return this.#with(filter, () => {
      const at = this.#setMotion(description, motion);
      return this.#exports.keepSweep(this.#query, at, this.#filter, all) >>> 0;
    });
  }

  /** Copies likewise what a shape would meet first on a way, as `sweepMany` has them. */
  keepWay(shape: PlacedDescription, way: Float64Array, tolerance: number, filter: Filter): number {
    return this.#with(filter, () => {
      writeDescription(this.#memory, this.#query, shape);
      const at = this.#query + layout.OBJECT_BYTES;
      this.#memory.setFloats(at, way, layout.WAY_NUMBERS);
      return this.#exports.keepWay(this.#query, at, tolerance, this.#filter) >>> 0;
    });
  }

  /**
   * Sweeps as it was copied for so many milliseconds. Answers the hits in steps, of a `sweep` one or none, or undefined
   * when it was left: then `resumeSweep` must follow until it answers, as `resumeContact` must.
   */
  beginKeptSweep(kept: number, ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#swept(this.#exports.beginKeptSweep(kept, performance.now() + ms));
  }

  /** Goes on with a sweep; answers as `beginKeptSweep`. */
  resumeSweep(ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#swept(this.#exports.resumeSweep(performance.now() + ms));
  }

  /** Gives up the contact, distance or sweep that was left. */
  giveUpQuestion(): void {
    this.#exports.giveUpQuestion();
  }

  #swept(count: number): Steps<CoreSweepHit[]> | undefined {
    if (count < 0) return undefined;
    return this.#hits(count, sweepHitAt, (a, b) => a.time - b.time || a.object - b.object);
  }

  /**
   * Finds what shapes meet first on those of many ways whose numbers `order` has, and writes it where the ways' numbers say.
   * Answers how many are done by a time of the clock: at least one, or -1 - n where `keepWay` must begin the one behind these n, as it
   * may take long.
   */
  sweepMany(
    { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
    order: Uint32Array,
    hits: WayHits,
    until = Number.POSITIVE_INFINITY,
  ): number {
    const count = order.length;
    const which = shapeOf ? order.map((way) => shapeOf[way]) : new Uint32Array();
    const descriptionBytes = shapes.length * layout.OBJECT_BYTES;
    return this.#with(filter, () =>
      this.#withArray(which, (shapesAt) =>
        this.#memory.with(descriptionBytes + count * (8 * layout.WAY_NUMBERS + 60), (descriptions) => {
          shapes.forEach((shape, i) => {
            writeDescription(this.#memory, descriptions + i * layout.OBJECT_BYTES, shape);
          });
          // A way and 8 + 8 + 24 + 4 + 4 + 12 of its answer, the widest first.
          const input = descriptions + descriptionBytes;
          const times = input + count * 8 * layout.WAY_NUMBERS;
          const depths = times + count * 8;
          const points = depths + count * 8;
          const objects = points + count * 24;
          const triangles = objects + count * 4;
          const normals = triangles + count * 4;
          gatherWays(new Float64Array(this.#memory.buffer, input, count * layout.WAY_NUMBERS), ways, order);
          const many = [objects, triangles, times, depths, points, normals] as const;
          const { sweepMany } = this.#exports;
          const done = sweepMany(descriptions, shapesAt, input, count, tolerance, this.#filter, ...many, until);
          const { buffer } = this.#memory;
          scatterHits(hits, order.subarray(0, done < 0 ? -1 - done : done), {
            times: new Float64Array(buffer, times, count),
            depths: new Float64Array(buffer, depths, count),
            points: new Float64Array(buffer, points, count * 3),
            objects: new Uint32Array(buffer, objects, count),
            triangles: new Int32Array(buffer, triangles, count),
            normals: new Float32Array(buffer, normals, count * 3),
          });
          return done;
        }),
      ),
    );
  }

  /** Writes a shape with the motion behind it. Answers where that is. */
  #setMotion(description: PlacedDescription, { way, rotation, tolerance }: Motion): number {
    writeDescription(this.#memory, this.#query, description);
    const at = this.#query + layout.OBJECT_BYTES;
    this.#memory.setFloats(at + layout.MOTION_WAY, way, 3);
    this.#memory.setFloats(at + layout.MOTION_ROTATION, rotation, 4);
    this.#memory.floats[(at + layout.MOTION_TOLERANCE) / 8] = tolerance;
    return at;
  }

  #screenHits(view: ViewRecord, { x, y, radius }: Cursor, filter: Filter, all: boolean): Steps<CoreHit[]> {
    return this.#with(filter, () =>
      this.#withArray(view, (record) =>
        this.#hits(
          this.#exports.pickScreen(record, x, y, radius, this.#filter, all),
          (view, at, names): CoreHit => ({
            ...hitAt(view, at, names),
            pixels: view.getFloat64(at + layout.HIT_PIXELS, true),
          }),
          (a, b) => a.pixels! - b.pixels! || a.distance - b.distance || a.object - b.object,
        ),
      ),
    );
  }

  /** Tells whether the contact of two objects may take long, as one of them is a mesh. */
  isLongContact(a: ObjectId, b: ObjectId, detail: number): boolean {
    return this.#exports.isLongContact(a, b, detail) !== 0;
  }

  /** Tells whether both objects are there and have a distance. */
  canMeasure(a: ObjectId, b: ObjectId): boolean {
    return this.#exports.canMeasure(a, b) !== 0;
  }

  /** Finds the contact of two objects; null where they do not touch. Normals are from a to b. */
  contact(a: ObjectId, b: ObjectId, detail: number): CoreContact | null {
    return inOnePiece(this.beginContact(a, b, detail, Number.POSITIVE_INFINITY)!);
  }

  /**
   * Works on the contact of two objects for so many milliseconds. Answers it in steps, or undefined when it is not found by
   * then: then `resumeContact` must follow until it answers, and the steps be done, before the narrow phase of any frame and any other contact that may
   * take long.
   */
  beginContact(a: ObjectId, b: ObjectId, detail: number, ms: number): Steps<CoreContact | null> | undefined {
    const until = performance.now() + ms;
    return this.#conclude(a, b, this.#exports.beginContact(Math.min(a, b), Math.max(a, b), detail, until));
  }

  /**
   * Copies two objects as they are, for a contact that takes long and has to wait. Answers what `beginKeptContact`
   * takes, which must follow; their meshes must stay as they are before.
   */
  keepContact(a: ObjectId, b: ObjectId, detail: number): number {
    return this.#exports.keepContact(Math.min(a, b), Math.max(a, b), detail) >>> 0;
  }

  /** Begins the contact of these two as they were copied; answers as `beginContact`. */
  beginKeptContact(a: ObjectId, b: ObjectId, kept: number, ms: number): Steps<CoreContact | null> | undefined {
    return this.#conclude(a, b, this.#exports.beginKeptContact(kept, performance.now() + ms));
  }

  /** Goes on with the contact of these two; answers as `beginContact`. */
  resumeContact(a: ObjectId, b: ObjectId, ms: number): Steps<CoreContact | null> | undefined {
    return this.#conclude(a, b, this.#exports.resumeContact(performance.now() + ms));
  }

  /**
   * Measures how far two objects are, for so many milliseconds; null where that is more than `limit`. Answers undefined
   * when it is not known by then: `resumeDistance` must follow as with `beginContact`. Throws UNSUPPORTED.
   */
  beginDistance(a: ObjectId, b: ObjectId, limit: number, ms: number): CoreDistance | null | undefined {
    const until = performance.now() + ms;
    return this.#measured(a, b, this.#exports.beginDistance(Math.min(a, b), Math.max(a, b), limit, until));
  }

  /** Begins the distance of these two as `keepContact` has copied them. */
  beginKeptDistance(
    a: ObjectId,
    b: ObjectId,
    kept: number,
    limit: number,
    ms: number,
  ): CoreDistance | null | undefined {
    return this.#measured(a, b, this.#exports.beginKeptDistance(kept, limit, performance.now() + ms));
  }

  /** Goes on with the distance of these two. */
  resumeDistance(a: ObjectId, b: ObjectId, ms: number): CoreDistance | null | undefined {
    return this.#measured(a, b, this.#exports.resumeDistance(performance.now() + ms));
  }

  #measured(a: ObjectId, b: ObjectId, outcome: number): CoreDistance | null | undefined {
    return readDistance(this.#exports, this.#memory, a, b, outcome);
  }

  #conclude(a: ObjectId, b: ObjectId, contained: number): Steps<CoreContact | null> | undefined {
    return readContact(this.#exports, this.#memory, a, b, contained);
  }

  /** Runs `work` with the filter in its place; it gets the filter's address. */
  withFilter<T>(filter: Filter, work: (address: number) => T): T {
    return this.#with(filter, () => work(this.#filter));
  }

  #with<T>(filter: Filter, work: () => T): T {
    const { layers, side, precision, ignore, threshold = 0, own = NONE_OWN, clips = NO_CLIPS } = filter;
    return this.#withArrays([ignore, own.ids, own.thresholds, clips.planes, clips.sets], (addresses) => {
      const { words, floats } = this.#memory;
      const set = (offset: number, value: number): void => {
        words[(this.#filter + offset) / 4] = value;
      };
      const [ignored, ids, thresholds, planes, sets] = addresses;
      floats[(this.#filter + layout.FILTER_THRESHOLD) / 8] = threshold;
      set(layout.FILTER_LAYERS, layers);
      set(layout.FILTER_SIDE, side);
      set(layout.FILTER_PRECISION, precision);
      set(layout.FILTER_IGNORE, ignored);
      set(layout.FILTER_IGNORE_COUNT, ignore.length);
      set(layout.FILTER_OWN_COUNT, own.ids.length);
      set(layout.FILTER_OWN_IDS, ids);
      set(layout.FILTER_OWN_THRESHOLDS, thresholds);
      set(layout.FILTER_CLIP_PLANES, planes);
      set(layout.FILTER_CLIP_SETS, sets);
      set(layout.FILTER_CLIP_SET_COUNT, clips.sets.length / 4);
      return work();
    });
  }

  /** Runs `work` with copies of the arrays; 0 is the address of an empty one. */
  #withArrays<T>(arrays: readonly ArrayBufferView[], work: (addresses: readonly number[]) => T): T {
    const addresses: number[] = [];
    try {
      for (const array of arrays) {
        const { byteLength } = array;
        const address = byteLength === 0 ? 0 : this.#memory.allocate(byteLength);
        addresses.push(address);
        if (address === 0) continue;
        this.#memory.bytes(address, byteLength).set(new Uint8Array(array.buffer, array.byteOffset, byteLength));
      }
      return work(addresses);
    } finally {
      for (const address of addresses) if (address !== 0) this.#memory.release(address);
    }
  }

  #withArray<T>(array: ArrayBufferView, work: (address: number) => T): T {
    return this.#withArrays([array], ([address]) => work(address));
  }

  #setRay({ origin, direction, tMin = 0, tMax = Number.POSITIVE_INFINITY, cone }: PickRay): void {
    this.#memory.setFloats(this.#query + layout.RAY_ORIGIN, origin, 3);
    this.#memory.setFloats(this.#query + layout.RAY_DIRECTION, direction, 3);
    const { floats } = this.#memory;
    floats[(this.#query + layout.RAY_T_MIN) / 8] = tMin;
    floats[(this.#query + layout.RAY_T_MAX) / 8] = tMax;
    this.#memory.words[(this.#query + layout.RAY_IS_CONE) / 4] = cone ? 1 : 0;
    if (!cone) return;
    this.#memory.setFloats(this.#query + layout.RAY_CONE_A, cone.a, 3);
    this.#memory.setFloats(this.#query + layout.RAY_CONE_B, cone.b, 3);
    this.#memory.setFloats(this.#query + layout.RAY_CONE_REACH, cone.reach, 4);
  }

  #ids(count: number): Uint32Array<ArrayBuffer> {
    return this.#memory.uint32s(this.#exports.foundIds() >>> 0, count >>> 0);
  }

  /** Answers the hits that were found, in steps between which objects may go. */
  #hits<H>(
    count: number,
    read: (view: DataView, at: number, boxNames: BoxNames) => H,
    compare: (a: H, b: H) => number,
  ): Steps<H[]> {
    const names = count < STEP ? this.#boxNames : new Map(this.#boxNames);
    const at = this.#exports.foundHits() >>> 0;
    return hitsInOrder(this.#memory, at, count, (view, each) => read(view, each, names), compare);
  }
}

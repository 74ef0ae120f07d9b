import { CollisionError } from '../../shared/errors.js';
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
import { turnedOrder, turnedPairs } from '../../shared/turned-pairs.js';
import type { ClosestPoint, Distance, Hit, ObjectId, Ray, SweepHit, Vec3 } from '../../shared/types.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';

type CoreHit = Omit<Hit, 'frame'>;
export type CoreDistance = Omit<Distance, 'frame'>;
type CoreSweepHit = Omit<SweepHit, 'frame'>;

/** No object has a threshold of its own. */
const NONE_OWN: OwnThresholds = { ids: new Uint32Array(), thresholds: new Float64Array() };
/** Nothing is cut away. */
const NO_CLIPS: Clips = { sets: new Uint32Array(), planes: new Float64Array() };

/** The core's answer for two objects without a contact. */
const NO_CONTACT = -1;
/** The core's answers where the first or the second object, by their ids, is of points or lines. */
const FIRST_UNMEASURED = -3;
const SECOND_UNMEASURED = -4;

export interface CoreContact {
  contained: 0 | 1 | 2;
  points: Float32Array<ArrayBuffer>;
  normals: Float32Array<ArrayBuffer>;
  depths: Float32Array<ArrayBuffer>;
  triangles: Uint32Array<ArrayBuffer>;
  segments: Float32Array<ArrayBuffer>;
  bones: Int32Array<ArrayBuffer>;
}

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
  readonly #boxNames: ReadonlyMap<ObjectId, readonly string[]>;

  constructor(exports: CoreExports, memory: CoreMemory, boxNames: ReadonlyMap<ObjectId, readonly string[]>) {
    this.#exports = exports;
    this.#memory = memory;
    this.#boxNames = boxNames;
    const queryBytes = Math.max(layout.RAY_BYTES, layout.REGION_BYTES, layout.OBJECT_BYTES + layout.MOTION_BYTES);
    this.#filter = memory.allocate(layout.FILTER_BYTES + queryBytes + layout.HIT_BYTES);
    this.#query = this.#filter + layout.FILTER_BYTES;
    this.#hit = this.#query + queryBytes;
  }

  raycast(ray: PickRay, filter: Filter): CoreHit | null {
    return this.#with(filter, () => {
      this.#setRay(ray);
      return this.#exports.raycast(this.#query, this.#filter, this.#hit) ? this.#hitAt(this.#hit) : null;
    });
  }

  /** Finds every hit, sorted by distance, then object, then element. */
  raycastAll(ray: PickRay, filter: Filter): CoreHit[] {
    return this.#with(filter, () => {
      this.#setRay(ray);
      const hits = this.#hits(this.#exports.raycastAll(this.#query, this.#filter));
      return hits.sort((a, b) => a.distance - b.distance || a.object - b.object || a.element - b.element);
    });
  }

  /** Tells whether anything is hit at all; stops at the first proof. */
  anyHit(ray: Ray, filter: Filter): boolean {
    return this.#with(filter, () => {
      this.#setRay(ray);
      return this.#exports.anyHit(this.#query, this.#filter) !== 0;
    });
  }

  /** Finds the nearest hit of each ray: eight numbers per ray, origin, tMin, direction, tMax. */
  raycastMany(rays: Float32Array, filter: Filter) {
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
        this.#exports.raycastMany(this.#filter, input, count, ...many);
        const { buffer } = this.#memory;
        return {
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
    return this.#screenHits(view, cursor, filter, false)[0] ?? null;
  }

  /** Finds all objects whose centre is drawn in the cursor's reach, sorted by pixels, then distance, then object. */
  pickScreenAll(view: ViewRecord, cursor: Cursor, filter: Filter): CoreHit[] {
    const hits = this.#screenHits(view, cursor, filter, true);
    return hits.sort((a, b) => a.pixels! - b.pixels! || a.distance - b.distance || a.object - b.object);
  }

  pickRegion(view: ViewRecord, { bounds, polygon, mode }: Region, filter: Filter): Uint32Array<ArrayBuffer> {
    return this.#with(filter, () =>
      this.#withArray(view, (record) =>
        this.#withArray(polygon, (vertices) => {
          this.#memory.setFloats(this.#query, bounds, 4);
          const { words } = this.#memory;
          words[(this.#query + layout.REGION_POLYGON) / 4] = vertices;
          words[(this.#query + layout.REGION_VERTEX_COUNT) / 4] = polygon.length / 2;
          words[(this.#query + layout.REGION_MODE) / 4] = mode;
          return this.#ids(this.#exports.pickRegion(record, this.#query, this.#filter)).sort();
        }),
      ),
    );
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

  /** Counts for each target how many of its nine points are in sight. */
  sees(view: ViewRecord, targets: Uint32Array, filter: Filter): Uint8Array<ArrayBuffer> {
    return this.#with(filter, () =>
      this.#withArray(view, (record) =>
        this.#withArray(targets, (ids) =>
          this.#memory.with(targets.length, (points) => {
            this.#exports.sees(record, ids, targets.length, this.#filter, points);
            return this.#memory.bytes(points, targets.length).slice();
          }),
        ),
      ),
    );
  }

  /** Lists the ids of the objects that a shape meets, ascending. */
  overlap(description: PlacedDescription, filter: Filter): Uint32Array<ArrayBuffer> {
    return this.#with(filter, () => {
      writeDescription(this.#memory, this.#query, description);
      return this.#ids(this.#exports.overlap(this.#query, this.#filter)).sort();
    });
  }

  /** Lists the ids of the objects that are solid around a point, ascending. */
  containing([x, y, z]: Vec3, filter: Filter): Uint32Array<ArrayBuffer> {
    return this.#with(filter, () => this.#ids(this.#exports.containing(x, y, z, this.#filter)).sort());
  }

  closestPoint([x, y, z]: Vec3, maxDistance: number, filter: Filter): Omit<ClosestPoint, 'frame'> | null {
    return this.#with(filter, () => {
      if (!this.#exports.closestPoint(x, y, z, maxDistance, this.#filter, this.#hit)) return null;
      const { object, point, distance, triangle, element } = this.#hitAt(this.#hit);
      return { object, point, distance, triangle, element };
    });
  }

  /** Finds what a described shape meets first on its way. */
  sweep(description: PlacedDescription, motion: Motion, filter: Filter): CoreSweepHit | null {
    return this.#with(filter, () => {
      const at = this.#setMotion(description, motion);
      return this.#exports.sweep(this.#query, at, this.#filter, this.#hit) ? this.#sweepHitAt(this.#hit) : null;
    });
  }

  /** Finds the first contact with each object, sorted by time, then object. */
  sweepAll(description: PlacedDescription, motion: Motion, filter: Filter): CoreSweepHit[] {
    return this.#with(filter, () => {
      const at = this.#setMotion(description, motion);
      const count = this.#exports.sweepAll(this.#query, at, this.#filter) >>> 0;
      const hits = Array.from({ length: count }, (_, i) => this.#sweepHitAt(this.#found(i)));
      return hits.sort((a, b) => a.time - b.time || a.object - b.object);
    });
  }

  /** Finds what shapes meet first on many ways: 14 numbers each, place and quaternion at the start and at the end. */
  sweepMany(
    shapes: PlacedDescription[],
    ways: Float64Array,
    shapeOf: Uint32Array | undefined,
    tolerance: number,
    filter: Filter,
  ) {
    const count = ways.length / layout.WAY_NUMBERS;
    return this.#with(filter, () =>
      this.#withArray(shapeOf ?? new Uint32Array(), (which) =>
        this.#memory.with(
          shapes.length * layout.OBJECT_BYTES + count * (8 * layout.WAY_NUMBERS + 60),
          (descriptions) => {
            shapes.forEach((shape, i) => {
              writeDescription(this.#memory, descriptions + i * layout.OBJECT_BYTES, shape);
            });
            // A way and 8 + 8 + 24 + 4 + 4 + 12 of its answer, the widest first.
            const input = descriptions + shapes.length * layout.OBJECT_BYTES;
            const times = input + count * 8 * layout.WAY_NUMBERS;
            const depths = times + count * 8;
            const points = depths + count * 8;
            const objects = points + count * 24;
            const triangles = objects + count * 4;
            const normals = triangles + count * 4;
            new Float64Array(this.#memory.buffer, input, ways.length).set(ways);
            const many = [objects, triangles, times, depths, points, normals] as const;
            this.#exports.sweepMany(descriptions, which, input, count, tolerance, this.#filter, ...many);
            const { buffer } = this.#memory;
            return {
              objects: new Uint32Array(buffer, objects, count).slice(),
              times: new Float64Array(buffer, times, count).slice(),
              points: new Float64Array(buffer, points, count * 3).slice(),
              normals: new Float32Array(buffer, normals, count * 3).slice(),
              triangles: new Int32Array(buffer, triangles, count).slice(),
              depths: new Float64Array(buffer, depths, count).slice(),
            };
          },
        ),
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

  #sweepHitAt(at: number): CoreSweepHit {
    const { view } = this.#memory;
    return {
      object: view.getUint32(at + layout.HIT_OBJECT, true),
      time: view.getFloat64(at + layout.HIT_TIME, true),
      point: vectorAt(view, at + layout.HIT_POINT),
      normal: vectorAt(view, at + layout.HIT_NORMAL),
      triangle: view.getInt32(at + layout.HIT_TRIANGLE, true),
      depth: view.getFloat64(at + layout.HIT_DEPTH, true),
    };
  }

  #screenHits(view: ViewRecord, { x, y, radius }: Cursor, filter: Filter, all: boolean): CoreHit[] {
    return this.#with(filter, () =>
      this.#withArray(view, (record) =>
        this.#hits(this.#exports.pickScreen(record, x, y, radius, this.#filter, all)).map((hit, i) => ({
          ...hit,
          pixels: this.#memory.view.getFloat64(this.#found(i) + layout.HIT_PIXELS, true),
        })),
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
    return this.beginContact(a, b, detail, Number.POSITIVE_INFINITY)!;
  }

  /**
   * Works on the contact of two objects for so many milliseconds. Answers undefined when it is not found by then: then
   * `resumeContact` must follow until it answers, before the narrow phase of any frame and any other contact that may
   * take long.
   */
  beginContact(a: ObjectId, b: ObjectId, detail: number, ms: number): CoreContact | null | undefined {
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
  beginKeptContact(a: ObjectId, b: ObjectId, kept: number, ms: number): CoreContact | null | undefined {
    return this.#conclude(a, b, this.#exports.beginKeptContact(kept, performance.now() + ms));
  }

  /** Goes on with the contact of these two; answers as `beginContact`. */
  resumeContact(a: ObjectId, b: ObjectId, ms: number): CoreContact | null | undefined {
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
    if (outcome === FIRST_UNMEASURED || outcome === SECOND_UNMEASURED) {
      const id = outcome === FIRST_UNMEASURED ? Math.min(a, b) : Math.max(a, b);
      const expected = 'expected a mesh of triangles, a box, a sphere or a capsule';
      throw new CollisionError('UNSUPPORTED', `distance: object ${id} has a mesh of points or lines; ${expected}`);
    }
    if (outcome < 0) return outcome === NO_CONTACT ? null : undefined;
    const at = this.#exports.measuredDistance() >>> 0;
    const { view } = this.#memory;
    const points = [vectorAt(view, at + layout.DISTANCE_POINT_A), vectorAt(view, at + layout.DISTANCE_POINT_B)];
    const triangles = [layout.DISTANCE_TRIANGLE_A, layout.DISTANCE_TRIANGLE_B].map((each) =>
      view.getInt32(at + each, true),
    );
    if (a > b) {
      points.reverse();
      triangles.reverse();
    }
    return {
      distance: view.getFloat64(at + layout.DISTANCE_VALUE, true),
      pointA: points[0],
      pointB: points[1],
      triangleA: triangles[0],
      triangleB: triangles[1],
    };
  }

  #conclude(a: ObjectId, b: ObjectId, contained: number): CoreContact | null | undefined {
    if (contained < 0) return contained === NO_CONTACT ? null : undefined;
    const contact = this.#readContact(contained as 0 | 1 | 2);
    return a > b ? turned(contact) : contact;
  }

  #readContact(contained: 0 | 1 | 2): CoreContact {
    const wasm = this.#exports;
    const { buffer } = this.#memory;
    const points = new Uint32Array(
      buffer,
      wasm.contactPoints() >>> 0,
      ((wasm.contactPointCount() >>> 0) * layout.CONTACT_POINT_BYTES) / 4,
    );
    const crossings = new Uint32Array(
      buffer,
      wasm.contactCrossings() >>> 0,
      ((wasm.contactCrossingCount() >>> 0) * layout.CROSSING_BYTES) / 4,
    );
    const bonePairs = new Uint32Array(
      buffer,
      wasm.contactBonePairs() >>> 0,
      ((wasm.contactBonePairCount() >>> 0) * layout.BONE_PAIR_BYTES) / 4,
    );
    return {
      contained,
      points: floats(picked(points, layout.CONTACT_POINT_BYTES, layout.CONTACT_POINT, 3)),
      normals: floats(picked(points, layout.CONTACT_POINT_BYTES, layout.CONTACT_NORMAL, 3)),
      depths: floats(picked(points, layout.CONTACT_POINT_BYTES, layout.CONTACT_DEPTH, 1)),
      triangles: picked(crossings, layout.CROSSING_BYTES, layout.CROSSING_A, 2),
      segments: floats(picked(crossings, layout.CROSSING_BYTES, layout.CROSSING_SEGMENT, 6)),
      bones: new Int32Array(bonePairs.slice().buffer),
    };
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

  /** Runs `work` with copies of the arrays. */
  #withArrays<T>([first, ...rest]: ArrayBufferView[], work: (addresses: number[]) => T): T {
    return this.#withArray(first, (address) => {
      if (rest.length === 0) return work([address]);
      return this.#withArrays(rest, (others) => work([address, ...others]));
    });
  }

  /** Runs `work` with a copy of the array. */
  #withArray<T>(array: ArrayBufferView, work: (address: number) => T): T {
    if (array.byteLength === 0) return work(0);
    return this.#memory.with(array.byteLength, (address) => {
      const { buffer, byteOffset, byteLength } = array;
      this.#memory.bytes(address, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength));
      return work(address);
    });
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

  #hits(count: number): CoreHit[] {
    return Array.from({ length: count >>> 0 }, (_, i) => this.#hitAt(this.#found(i)));
  }

  #found(i: number): number {
    return (this.#exports.foundHits() >>> 0) + i * layout.HIT_BYTES;
  }

  #hitAt(at: number): CoreHit {
    const { view } = this.#memory;
    const object = view.getUint32(at + layout.HIT_OBJECT, true);
    const triangle = view.getInt32(at + layout.HIT_TRIANGLE, true);
    const barycentric = vectorAt(view, at + layout.HIT_BARYCENTRIC);
    const hit: CoreHit = {
      object,
      distance: view.getFloat64(at + layout.HIT_DISTANCE, true),
      point: vectorAt(view, at + layout.HIT_POINT),
      normal: vectorAt(view, at + layout.HIT_NORMAL),
      triangle,
      element: view.getInt32(at + layout.HIT_ELEMENT, true),
      barycentric,
      bone:
        triangle < 0
          ? view.getInt32(at + layout.HIT_BONE, true)
          : this.#exports.boneOfHit(object, triangle, ...barycentric),
    };
    const box = triangle < 0 ? this.#boxNames.get(object)?.[hit.bone] : undefined;
    if (box !== undefined) hit.box = box;
    // An element that is no triangle is a point or a line.
    if (hit.element >= 0 && hit.triangle < 0) {
      hit.distanceToRay = view.getFloat64(at + layout.HIT_DISTANCE_TO_RAY, true);
    }
    return hit;
  }
}

/** Copies `count` words of each record, which begin at `offset`: of one type of array, as loops of two are slow. */
function picked(records: Uint32Array, recordBytes: number, offset: number, count: number): Uint32Array<ArrayBuffer> {
  const stride = recordBytes / 4;
  const picked = new Uint32Array((records.length / stride) * count);
  for (let i = offset / 4, to = 0; to < picked.length; i += stride) {
    for (let k = 0; k < count; k++) picked[to++] = records[i + k];
  }
  return picked;
}

function floats({ buffer }: Uint32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return new Float32Array(buffer);
}

/** Answers the contact with the other object as the first. */
function turned(contact: CoreContact): CoreContact {
  const { contained, normals } = contact;
  const order = turnedOrder(contact.triangles);
  const triangles = turnedPairs(contact.triangles, order);
  const segments = contact.segments.slice();
  order.forEach((from, to) => {
    segments.set(contact.segments.subarray(6 * from, 6 * from + 6), 6 * to);
  });
  const bones = turnedPairs(contact.bones);
  const turnedContained = contained === 0 ? 0 : contained === 1 ? 2 : 1;
  return { ...contact, contained: turnedContained, normals: normals.map((each) => -each), triangles, segments, bones };
}

function vectorAt(view: DataView, at: number): Vec3 {
  return [view.getFloat64(at, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true)];
}

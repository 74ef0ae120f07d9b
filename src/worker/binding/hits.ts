import * as layout from '../../shared/layout.js';
import type { Hit, ObjectId, SweepHit, Vec3 } from '../../shared/types.js';
import type { CoreMemory } from './memory.js';
import { type Steps, sorted, TASKS_PER_STEP } from './steps.js';

export type CoreHit = Omit<Hit, 'frame'>;
export type CoreSweepHit = Omit<SweepHit, 'frame'>;

/** The names of the boxes that stand for objects, for objects that have such boxes. */
export type BoxNames = ReadonlyMap<ObjectId, readonly string[]>;

/**
 * Reads hit records in steps, and sorts them. The records are copied at once, because the next query overwrites them. 200,000
 * hits take a second.
 */
export function readSortedHits<H>(
  { buffer }: CoreMemory,
  at: number,
  count: number,
  read: (view: DataView, at: number) => H,
  compare: (a: H, b: H) => number,
): Steps<H[]> {
  const view = new DataView(buffer.slice(at, at + count * layout.HIT_BYTES));
  return (function* () {
    const hits: H[] = [];
    while (hits.length < count) {
      hits.push(read(view, hits.length * layout.HIT_BYTES));
      if (hits.length % TASKS_PER_STEP === 0) yield;
    }
    return yield* sorted(hits, compare);
  })();
}

/** Reads a hit record (layout.ts, HIT_*). */
export function hitAt(view: DataView, at: number, boxNames: BoxNames): CoreHit {
  const object = view.getUint32(at + layout.HIT_OBJECT, true);
  const triangle = view.getInt32(at + layout.HIT_TRIANGLE, true);
  const hit: CoreHit = {
    object,
    distance: view.getFloat64(at + layout.HIT_DISTANCE, true),
    point: vectorAt(view, at + layout.HIT_POINT),
    normal: vectorAt(view, at + layout.HIT_NORMAL),
    triangle,
    element: view.getInt32(at + layout.HIT_ELEMENT, true),
    barycentric: vectorAt(view, at + layout.HIT_BARYCENTRIC),
    bone: view.getInt32(at + layout.HIT_BONE, true),
  };
  const box = triangle < 0 ? boxNames.get(object)?.[hit.bone] : undefined;
  if (box !== undefined) hit.box = box;
  // An element that is no triangle is a point or a line.
  if (hit.element >= 0 && hit.triangle < 0) {
    hit.distanceToRay = view.getFloat64(at + layout.HIT_DISTANCE_TO_RAY, true);
  }
  return hit;
}

/** The nearest hits of many rays. */
export type RayHitArrays = ReturnType<typeof allocateRayHits>;

export function allocateRayHits(count: number) {
  return {
    objects: new Uint32Array(count),
    distances: new Float64Array(count),
    triangles: new Int32Array(count),
    elements: new Int32Array(count),
    bones: new Int32Array(count),
    barycentrics: new Float32Array(3 * count),
  };
}

/** Reads the record of a sweep's first contact. */
export function sweepHitAt(view: DataView, at: number): CoreSweepHit {
  return {
    object: view.getUint32(at + layout.HIT_OBJECT, true),
    time: view.getFloat64(at + layout.HIT_TIME, true),
    point: vectorAt(view, at + layout.HIT_POINT),
    normal: vectorAt(view, at + layout.HIT_NORMAL),
    triangle: view.getInt32(at + layout.HIT_TRIANGLE, true),
    depth: view.getFloat64(at + layout.HIT_DEPTH, true),
  };
}

export function vectorAt(view: DataView, at: number): Vec3 {
  return [view.getFloat64(at, true), view.getFloat64(at + 8, true), view.getFloat64(at + 16, true)];
}

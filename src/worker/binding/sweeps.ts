import * as layout from '../../shared/layout.js';
import type { Filter, Motion } from '../../shared/protocol.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import { type CoreSweepHit, sweepHitAt } from './hits.js';
import { gatherWays, type ManySweeps, scatterHits, type WayHits } from './many-motions.js';
import type { CoreMemory } from './memory.js';
import type { QueryMemory } from './query-memory.js';
import { orAbort, runToEnd, type Steps } from './steps.js';

/** Sweeps: what shapes hit along their ways. */
export class CoreSweeps {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queryMemory: QueryMemory;

  constructor(exports: CoreExports, memory: CoreMemory, queryMemory: QueryMemory) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queryMemory = queryMemory;
  }

  /** Finds what a described shape hits first along its way; undefined as in `sweepAll`. */
  sweep(
    description: PlacedDescription,
    motion: Motion,
    filter: Filter,
    maxWork = Number.POSITIVE_INFINITY,
  ): CoreSweepHit | null | undefined {
    return this.#queryMemory.with(filter, () => {
      const at = this.#setMotion(description, motion);
      const count = this.#exports.sweep(
        this.#queryMemory.query,
        at,
        this.#queryMemory.filter,
        this.#queryMemory.hit,
        maxWork,
      );
      if (count < 0) return undefined;
      return count > 0 ? sweepHitAt(this.#memory.view, this.#queryMemory.hit) : null;
    });
  }

  /**
   * Finds the first contact with each object, sorted by time, then object. Returns undefined if more than `maxWork` objects and
   * triangles would have to be examined: then `keepSweep` must begin the sweep.
   */
  sweepAll(
    description: PlacedDescription,
    motion: Motion,
    filter: Filter,
    maxWork = Number.POSITIVE_INFINITY,
  ): CoreSweepHit[] | undefined {
    return this.#queryMemory.with(filter, () => {
      const at = this.#setMotion(description, motion);
      const hits = this.#readHits(
        this.#exports.sweepAll(this.#queryMemory.query, at, this.#queryMemory.filter, maxWork),
      );
      return hits && runToEnd(hits);
    });
  }

  /**
   * Copies the inputs of a sweep that may take long. Returns the argument of `beginKeptSweep`, which must follow; the meshes must
   * stay as they are until the sweep has ended.
   */
  keepSweep(description: PlacedDescription, motion: Motion, filter: Filter, findsAll: boolean): number {
    return this.#queryMemory.with(filter, () => {
      const at = this.#setMotion(description, motion);
      return this.#exports.keepSweep(this.#queryMemory.query, at, this.#queryMemory.filter, findsAll) >>> 0;
    });
  }

  /** Copies the inputs of a sweep along one way of `sweepMany` in the same manner. */
  keepWay(shape: PlacedDescription, way: Float64Array, tolerance: number, filter: Filter): number {
    return this.#queryMemory.with(filter, () => {
      writeDescription(this.#memory, this.#queryMemory.query, shape);
      const at = this.#queryMemory.query + layout.OBJECT_BYTES;
      this.#memory.setFloats(at, way, layout.WAY_NUMBERS);
      return this.#exports.keepWay(this.#queryMemory.query, at, tolerance, this.#queryMemory.filter) >>> 0;
    });
  }

  /**
   * Runs a kept sweep for `ms` milliseconds. Returns the hits in steps, at most one for a `sweep`, or undefined if it was
   * suspended: then `resumeSweep` must be called until it returns hits, as with `resumeContact`.
   */
  beginKeptSweep(snapshot: number, ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#runKept(() => this.#exports.beginKeptSweep(snapshot, performance.now() + ms));
  }

  /** Continues a sweep; returns the same as `beginKeptSweep`. */
  resumeSweep(ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#runKept(() => this.#exports.resumeSweep(performance.now() + ms));
  }

  /**
   * Finds what shapes hit first along those of many ways whose numbers are in `order`, and writes it to the places that these
   * numbers give. Returns how many are done by time `deadline`: at least one, or -1 - n if `keepWay` must begin the way after the
   * first n, because it may take long.
   */
  sweepMany(
    { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
    order: Uint32Array,
    hits: WayHits,
    deadline = Number.POSITIVE_INFINITY,
  ): number {
    const count = order.length;
    // Each block of ways would copy all shapes: if there are more shapes than ways, it copies one shape per way.
    const isShapePerWay = shapeOf !== undefined && shapes.length > count;
    const blockShapes = isShapePerWay ? Array.from(order, (way) => shapes[shapeOf[way]]) : shapes;
    const shapeIndices = shapeOf ? order.map((way, i) => (isShapePerWay ? i : shapeOf[way])) : new Uint32Array();
    const descriptionBytes = blockShapes.length * layout.OBJECT_BYTES;
    return this.#queryMemory.with(filter, () =>
      this.#queryMemory.withArray(shapeIndices, (shapeIndicesAt) =>
        this.#memory.with(descriptionBytes + count * (8 * layout.WAY_NUMBERS + 60), (descriptions) => {
          blockShapes.forEach((shape, i) => {
            writeDescription(this.#memory, descriptions + i * layout.OBJECT_BYTES, shape);
          });
          // A way, and 8 + 8 + 24 + 4 + 4 + 12 bytes of its result, the widest first.
          const input = descriptions + descriptionBytes;
          const times = input + count * 8 * layout.WAY_NUMBERS;
          const depths = times + count * 8;
          const points = depths + count * 8;
          const objects = points + count * 24;
          const triangles = objects + count * 4;
          const normals = triangles + count * 4;
          gatherWays(new Float64Array(this.#memory.buffer, input, count * layout.WAY_NUMBERS), ways, order);
          const outputs = [objects, triangles, times, depths, points, normals] as const;
          const { sweepMany } = this.#exports;
          const done = sweepMany(
            descriptions,
            shapeIndicesAt,
            input,
            count,
            tolerance,
            this.#queryMemory.filter,
            ...outputs,
            deadline,
          );
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

  /** Writes a shape followed by its motion. Returns the motion's address. */
  #setMotion(description: PlacedDescription, { way, rotation, tolerance }: Motion): number {
    writeDescription(this.#memory, this.#queryMemory.query, description);
    const at = this.#queryMemory.query + layout.OBJECT_BYTES;
    this.#memory.setFloats(at + layout.MOTION_DISPLACEMENT, way, 3);
    this.#memory.setFloats(at + layout.MOTION_ROTATION, rotation, 4);
    this.#memory.floats[(at + layout.MOTION_TOLERANCE) / 8] = tolerance;
    return at;
  }

  /** Runs a kept sweep, which is given up if it throws, and reads its hits. */
  #runKept(run: () => number): Steps<CoreSweepHit[]> | undefined {
    return this.#readHits(orAbort(() => this.#exports.giveUpQuestion(), run));
  }

  #readHits(count: number): Steps<CoreSweepHit[]> | undefined {
    if (count < 0) return undefined;
    return this.#queryMemory.hits(count, sweepHitAt, (a, b) => a.time - b.time || a.object - b.object);
  }
}

import * as layout from '../../shared/layout.js';
import type { Filter, Motion } from '../../shared/protocol.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import { type CoreSweepHit, sweepHitAt } from './hits.js';
import { gatherWays, type ManySweeps, scatterHits, type WayHits } from './many-ways.js';
import type { CoreMemory } from './memory.js';
import type { Question } from './question.js';
import { inOnePiece, type Steps } from './steps.js';

/** Sweeps: what shapes hit along their ways. */
export class CoreSweeps {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #question: Question;

  constructor(exports: CoreExports, memory: CoreMemory, question: Question) {
    this.#exports = exports;
    this.#memory = memory;
    this.#question = question;
  }

  /** Finds what a described shape hits first along its way; undefined as in `sweepAll`. */
  sweep(
    description: PlacedDescription,
    motion: Motion,
    filter: Filter,
    most = Number.POSITIVE_INFINITY,
  ): CoreSweepHit | null | undefined {
    return this.#question.with(filter, () => {
      const at = this.#setMotion(description, motion);
      const count = this.#exports.sweep(this.#question.query, at, this.#question.filter, this.#question.hit, most);
      if (count < 0) return undefined;
      return count > 0 ? sweepHitAt(this.#memory.view, this.#question.hit) : null;
    });
  }

  /**
   * Finds the first contact with each object, sorted by time, then object. Returns undefined if more than `most` objects and
   * triangles would have to be examined: then `keepSweep` must begin the sweep.
   */
  sweepAll(
    description: PlacedDescription,
    motion: Motion,
    filter: Filter,
    most = Number.POSITIVE_INFINITY,
  ): CoreSweepHit[] | undefined {
    return this.#question.with(filter, () => {
      const at = this.#setMotion(description, motion);
      const hits = this.#swept(this.#exports.sweepAll(this.#question.query, at, this.#question.filter, most));
      return hits && inOnePiece(hits);
    });
  }

  /**
   * Copies the inputs of a sweep that may take long. Returns the argument of `beginKeptSweep`, which must follow; the meshes must
   * stay as they are until the sweep has ended.
   */
  keepSweep(description: PlacedDescription, motion: Motion, filter: Filter, all: boolean): number {
    return this.#question.with(filter, () => {
      const at = this.#setMotion(description, motion);
      return this.#exports.keepSweep(this.#question.query, at, this.#question.filter, all) >>> 0;
    });
  }

  /** Copies the inputs of a sweep along one way of `sweepMany` in the same manner. */
  keepWay(shape: PlacedDescription, way: Float64Array, tolerance: number, filter: Filter): number {
    return this.#question.with(filter, () => {
      writeDescription(this.#memory, this.#question.query, shape);
      const at = this.#question.query + layout.OBJECT_BYTES;
      this.#memory.setFloats(at, way, layout.WAY_NUMBERS);
      return this.#exports.keepWay(this.#question.query, at, tolerance, this.#question.filter) >>> 0;
    });
  }

  /**
   * Runs a kept sweep for `ms` milliseconds. Returns the hits in steps, at most one for a `sweep`, or undefined if it was
   * suspended: then `resumeSweep` must be called until it returns hits, as with `resumeContact`.
   */
  beginKeptSweep(kept: number, ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#swept(this.#exports.beginKeptSweep(kept, performance.now() + ms));
  }

  /** Continues a sweep; returns the same as `beginKeptSweep`. */
  resumeSweep(ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#swept(this.#exports.resumeSweep(performance.now() + ms));
  }

  /**
   * Finds what shapes hit first along those of many ways whose numbers are in `order`, and writes it to the places that these
   * numbers give. Returns how many are done by time `until`: at least one, or -1 - n if `keepWay` must begin the way after the
   * first n, because it may take long.
   */
  sweepMany(
    { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
    order: Uint32Array,
    hits: WayHits,
    until = Number.POSITIVE_INFINITY,
  ): number {
    const count = order.length;
    // Each block of ways would copy all shapes: if there are more shapes than ways, it copies one shape per way.
    const isOwn = shapeOf !== undefined && shapes.length > count;
    const some = isOwn ? Array.from(order, (way) => shapes[shapeOf[way]]) : shapes;
    const which = shapeOf ? order.map((way, i) => (isOwn ? i : shapeOf[way])) : new Uint32Array();
    const descriptionBytes = some.length * layout.OBJECT_BYTES;
    return this.#question.with(filter, () =>
      this.#question.withArray(which, (shapesAt) =>
        this.#memory.with(descriptionBytes + count * (8 * layout.WAY_NUMBERS + 60), (descriptions) => {
          some.forEach((shape, i) => {
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
          const many = [objects, triangles, times, depths, points, normals] as const;
          const { sweepMany } = this.#exports;
          const done = sweepMany(
            descriptions,
            shapesAt,
            input,
            count,
            tolerance,
            this.#question.filter,
            ...many,
            until,
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
    writeDescription(this.#memory, this.#question.query, description);
    const at = this.#question.query + layout.OBJECT_BYTES;
    this.#memory.setFloats(at + layout.MOTION_WAY, way, 3);
    this.#memory.setFloats(at + layout.MOTION_ROTATION, rotation, 4);
    this.#memory.floats[(at + layout.MOTION_TOLERANCE) / 8] = tolerance;
    return at;
  }

  #swept(count: number): Steps<CoreSweepHit[]> | undefined {
    if (count < 0) return undefined;
    return this.#question.hits(count, sweepHitAt, (a, b) => a.time - b.time || a.object - b.object);
  }
}

import * as layout from '../../shared/layout.js';
import type { Filter, Motion } from '../../shared/protocol.js';
import { type PlacedDescription, writeDescription } from './descriptions.js';
import type { CoreExports } from './exports.js';
import { type CoreSweepHit, sweepHitAt } from './hits.js';
import { gatherWays, type ManySweeps, scatterHits, type WayHits } from './many-ways.js';
import type { CoreMemory } from './memory.js';
import type { Question } from './question.js';
import { inOnePiece, type Steps } from './steps.js';

/** What shapes meet on their way. */
export class CoreSweeps {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #question: Question;

  constructor(exports: CoreExports, memory: CoreMemory, question: Question) {
    this.#exports = exports;
    this.#memory = memory;
    this.#question = question;
  }

  /** Finds what a described shape meets first on its way; undefined as `sweepAll`. */
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
   * Finds the first contact with each object, sorted by time, then object; undefined where more objects and triangles would have to be
   * looked at than `most`: then `keepSweep` must begin it.
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
   * Copies what a sweep is about, for one that may take long. Returns what `beginKeptSweep` takes, which must follow; the
   * meshes must stay as they are until it has ended.
   */
  keepSweep(description: PlacedDescription, motion: Motion, filter: Filter, all: boolean): number {
    return this.#question.with(filter, () => {
      const at = this.#setMotion(description, motion);
      return this.#exports.keepSweep(this.#question.query, at, this.#question.filter, all) >>> 0;
    });
  }

  /** Copies likewise what a shape would meet first on a way, as `sweepMany` has them. */
  keepWay(shape: PlacedDescription, way: Float64Array, tolerance: number, filter: Filter): number {
    return this.#question.with(filter, () => {
      writeDescription(this.#memory, this.#question.query, shape);
      const at = this.#question.query + layout.OBJECT_BYTES;
      this.#memory.setFloats(at, way, layout.WAY_NUMBERS);
      return this.#exports.keepWay(this.#question.query, at, tolerance, this.#question.filter) >>> 0;
    });
  }

  /**
   * Sweeps as it was copied for this many milliseconds. Returns the hits in steps, of a `sweep` one or none, or undefined
   * when it was left: then `resumeSweep` must follow until it answers, as `resumeContact` must.
   */
  beginKeptSweep(kept: number, ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#swept(this.#exports.beginKeptSweep(kept, performance.now() + ms));
  }

  /** Goes on with a sweep; answers as `beginKeptSweep`. */
  resumeSweep(ms: number): Steps<CoreSweepHit[]> | undefined {
    return this.#swept(this.#exports.resumeSweep(performance.now() + ms));
  }

  /**
   * Finds what shapes meet first on those of many ways whose numbers `order` has, and writes it where the ways' numbers say.
   * Returns how many are done by a time of the clock: at least one, or -1 - n where `keepWay` must begin the one behind these n, as it
   * may take long.
   */
  sweepMany(
    { shapes, ways, shapeOf, tolerance, filter }: ManySweeps,
    order: Uint32Array,
    hits: WayHits,
    until = Number.POSITIVE_INFINITY,
  ): number {
    const count = order.length;
    // Each block of ways would copy all shapes that there are: where these are more than its ways, it takes the ways' own.
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

  /** Writes a shape with the motion behind it. Returns where that is. */
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

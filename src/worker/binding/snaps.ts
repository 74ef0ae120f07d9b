import * as layout from '../../shared/layout.js';
import type { Filter, ViewRecord } from '../../shared/protocol.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import type { CoreExports } from './exports.js';
import type { CoreMemory } from './memory.js';
import type { CoreQueries } from './queries.js';

/** What stands for an object in a snapping pick. */
export interface SnapTarget {
  object: ObjectId;
  /** SHAPE_*. */
  shape: number;
  /** Twelve numbers: the columns of the map from the shape's own space to the world. */
  place: readonly number[];
  /** The address of its mesh, in its pose, and of that at rest. */
  mesh: number;
  base: number;
  /** SIDE_*, or undefined where its triangles have sides of their own. */
  sides: number | undefined;
  clipSet: number;
}

/** Sides that a triangle's own go before: core/scene/query/snap.ts. */
const OWN_FACE_SIDES = 4;

/** What a snapping pick asks a core. All is asked within `during`. */
export class CoreSnaps {
  readonly #exports: CoreExports;
  readonly #memory: CoreMemory;
  readonly #queries: CoreQueries;

  constructor(exports: CoreExports, memory: CoreMemory, queries: CoreQueries) {
    this.#exports = exports;
    this.#memory = memory;
    this.#queries = queries;
  }

  /** Answers the core's memory, which is another one after it has grown. */
  readonly memoryOf = (): ArrayBuffer => this.#memory.buffer;

  /**
   * Lists the objects that may be drawn in a rectangle of the view, low xy and high xy in clip space over w, ascending; then
   * runs `work` with them.
   */
  during<T>(view: ViewRecord, bounds: readonly number[], filter: Filter, work: (near: SnapTarget[]) => T): T {
    return this.#queries.withFilter(filter, (address) =>
      this.#memory.with(view.byteLength, (record) => {
        this.#memory.bytes(record, view.byteLength).set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
        const [lowX, lowY, highX, highY] = bounds;
        const { beginSnap, foundIds } = this.#exports;
        const count = beginSnap(record, lowX, lowY, highX, highY, address) >>> 0;
        const ids = this.#memory.uint32s(foundIds() >>> 0, count).sort();
        return work(Array.from(ids, (id) => this.#target(id)));
      }),
    );
  }

  #target(object: ObjectId): SnapTarget {
    const at = this.#exports.snapTarget(object) >>> 0;
    const { words, floats } = this.#memory;
    const place: number[] = [];
    for (let i = (at + layout.SNAP_MAP) / 8, end = i + 12; i < end; i++) place.push(floats[i]);
    const sides = words[(at + layout.SNAP_SIDES) / 4];
    return {
      object,
      shape: words[(at + layout.SNAP_SHAPE) / 4] & 0xffff,
      place,
      mesh: words[(at + layout.SNAP_MESH) / 4],
      base: words[(at + layout.SNAP_BASE) / 4],
      sides: sides & OWN_FACE_SIDES ? undefined : sides,
      clipSet: words[(at + layout.SNAP_CLIP_SET) / 4],
    };
  }

  /** Answers which sides of a triangle of an object show, SIDE_*. */
  sidesOf(object: ObjectId, triangle: number): number {
    return this.#exports.snapSides(object, triangle);
  }

  /** Tells whether something lies on the way from a point along a direction, of length 1, to so far away. */
  isHidden([x, y, z]: Vec3, [alongX, alongY, alongZ]: Vec3, length: number): boolean {
    return length > 0 && Boolean(this.#exports.hidesSnap(x, y, z, alongX, alongY, alongZ, length));
  }

  boneOf(object: ObjectId, triangle: number, [u, v, w]: Vec3): number {
    return triangle < 0 ? -1 : this.#exports.boneOfHit(object, triangle, u, v, w);
  }
}

import {
  type BatchedMesh,
  type BufferGeometry,
  type Camera,
  type DataTexture,
  type Material,
  REVISION,
  Sphere,
  Vector3,
} from 'three';
import { isOccludable } from '../track/opacity.js';
import type { CullableObject } from '../track/stand-in.js';
import { BatchStates } from './batch-states.js';
import {
  DEPTH_ALONG_AXIS,
  DEPTH_BY_DISTANCE,
  type DrawList,
  type Eye,
  type VisibleInstances,
} from './filter-question.js';
import type { DrawnView } from './instance-culling.js';
import { InstanceTest, keepWhere } from './instance-test.js';
import { NO_INSTANCES, type SeenInstances } from './seen-objects.js';

interface IndexRange {
  readonly start: number;
  readonly count: number;
}

/** three's private fields of a BatchedMesh. */
interface DrawListInternals {
  /** three has these from r170 on. */
  readonly _geometryInfo?: readonly IndexRange[];
  /** three had these up to r169. */
  readonly _drawRanges?: readonly IndexRange[];
  readonly _multiDrawStarts: Int32Array;
  readonly _multiDrawCounts: Int32Array;
  /** Exist where three can draw it with WebGPU: consecutive instances of one geometry are drawn at once. */
  readonly _mergedDrawStarts?: Int32Array;
  readonly _mergedDrawCounts?: Int32Array;
  readonly _mergedDrawInstanceCounts?: Int32Array;
  /** three has this from r166 on. */
  readonly _indirectTexture?: DataTexture;
  _multiDrawCount: number;
  _mergedDrawCount?: number;
  _multiDrawBytesPerElement?: number;
}

/** Before this revision three sorts by the distance to the eye, and from it on along the camera's axis. */
const FIRST_AXIS_REVISION = 165;
const DEPTH_MODE = Number.parseInt(REVISION, 10) >= FIRST_AXIS_REVISION ? DEPTH_ALONG_AXIS : DEPTH_BY_DISTANCE;

/** Counts of a written list. */
interface DrawListCounts {
  readonly hidden: number;
  /** How many of the hidden instances nearer objects hide. */
  readonly occluded: number;
  readonly triangles: number;
}

/** Writes the draw list of a BatchedMesh in three's format and order, with only the instances that a camera may see. */
export class BatchDraws {
  readonly #batch: BatchedMesh;
  readonly #entry: CullableObject;
  readonly #internals: DrawListInternals;
  readonly #states: BatchStates;
  readonly #test = new InstanceTest();
  /** Where each geometry's triangles begin, in bytes, and how many indices it has. */
  readonly #forms = { spheres: [] as Sphere[], ranges: new Int32Array(0) };
  readonly #position = new Vector3();
  readonly #forward = new Vector3();
  readonly #eye: Eye & { position: number[]; forward: number[] } = { by: DEPTH_MODE, position: [], forward: [] };

  constructor(batch: BatchedMesh, entry: CullableObject) {
    this.#batch = batch;
    this.#entry = entry;
    this.#internals = batch as unknown as DrawListInternals;
    this.#states = BatchStates.of(batch);
  }

  /** Returns whether the draw list can be written for a material. */
  canDraw(material: Material): boolean {
    const { _multiDrawStarts, _multiDrawCounts, _indirectTexture } = this.#internals;
    const { contents } = this.#states;
    const { customSort } = this.#batch as { customSort?: unknown };
    return (
      Array.isArray(contents.instances) &&
      Array.isArray(this.#geometries) &&
      ArrayBuffer.isView(_multiDrawStarts) &&
      ArrayBuffer.isView(_multiDrawCounts) &&
      (_indirectTexture === undefined || ArrayBuffer.isView(_indirectTexture.image?.data)) &&
      contents.matrices !== null &&
      (customSort === null || customSort === undefined) &&
      (material as { wireframe?: boolean }).wireframe !== true
    );
  }

  get #geometries(): readonly IndexRange[] {
    return (this.#internals._geometryInfo ?? this.#internals._drawRanges)!;
  }

  /** Writes the list of the instances that a view may see. */
  write(view: DrawnView, geometry: BufferGeometry, material: Material, isMerged: boolean): DrawListCounts {
    const internals = this.#internals;
    const batch = this.#batch;
    const states = this.#states;
    states.read();
    const bytes = geometry.index === null ? 1 : geometry.index.array.BYTES_PER_ELEMENT;
    const { sortObjects } = batch;
    this.#updateForms(this.#geometries, bytes);
    const test = this.#test;
    test.begin(view.volume, view.camera, batch.matrixWorld, view.pixels, view.minPixels);
    // The answer is not consulted: to evaluate it takes as long as all of this.
    const eye = sortObjects ? this.#eyeOf(view.camera) : null;
    const visible = test.find(states.contents.matrices!, states.count, this.#forms, states.kinds, eye);
    const occluded = this.#removeOccluded(this.#occludedIn(view), visible);
    const { count } = visible;
    const drawList = test.list(this.#forms, sortObjects ? (material.transparent ? -1 : 1) : 0);
    if (isMerged) this.#writeMerged(drawList, count);
    else {
      internals._multiDrawStarts.set(drawList.starts.subarray(0, count));
      internals._multiDrawCounts.set(drawList.counts.subarray(0, count));
    }
    const { _indirectTexture } = internals;
    if (_indirectTexture !== undefined) {
      (_indirectTexture.image.data as Uint32Array).set(drawList.numbers.subarray(0, count));
      _indirectTexture.needsUpdate = true;
    }
    internals._multiDrawCount = count;
    internals._multiDrawBytesPerElement = bytes;
    states.written();
    let [instances, indices] = [0, 0];
    states.copies.forEach((copies, form) => {
      instances += copies;
      indices += copies * this.#forms.ranges[2 * form + 1];
    });
    return { hidden: instances - count, occluded, triangles: Math.round((indices - drawList.indices) / 3) };
  }

  /** Makes three write all of its own list, after this one's was left unfinished. */
  leave(): void {
    this.#states.leave();
  }

  /** Removes instances that nearer objects hide from the found ones; returns how many they are. */
  #removeOccluded({ numbers, count }: SeenInstances, visible: VisibleInstances): number {
    if (count === 0) return 0;
    const countBefore = visible.count;
    let nextOccluded = 0;
    keepWhere(visible, (i, form) => {
      while (nextOccluded < count && numbers[nextOccluded] < i) nextOccluded++;
      return nextOccluded === count || numbers[nextOccluded] !== i || !this.#entry.standsOnGeometry!(i, form);
    });
    return countBefore - visible.count;
  }

  /** Returns the numbers of the instances that nearer objects hide; none unless that is still true. */
  #occludedIn({ occlusion, seen: { update, view } }: DrawnView): SeenInstances {
    if (
      occlusion === null ||
      this.#entry.standsOnGeometry === undefined ||
      !isOccludable(this.#batch, this.#entry.cullable === true)
    )
      return NO_INSTANCES;
    if (!this.#entry.wasSeenAsItIs(update, view.layers)) return NO_INSTANCES;
    return occlusion.instancesOf(this.#entry) ?? NO_INSTANCES;
  }

  /** Writes consecutive instances of one geometry as one draw. */
  #writeMerged({ starts, counts }: DrawList, count: number): void {
    const internals = this.#internals;
    const instanceCounts = internals._mergedDrawInstanceCounts!;
    let drawCount = 0;
    for (let n = 0; n < count; n++) {
      if (n > 0 && starts[n - 1] === starts[n] && counts[n - 1] === counts[n]) instanceCounts[drawCount - 1]++;
      else {
        internals._mergedDrawStarts![drawCount] = starts[n];
        internals._mergedDrawCounts![drawCount] = counts[n];
        instanceCounts[drawCount++] = 1;
      }
    }
    internals._mergedDrawCount = drawCount;
  }

  /** Looks up the ranges of the geometries, and their spheres, which three computes once for each. */
  #updateForms(geometries: readonly IndexRange[], bytes: number): void {
    const { length } = geometries;
    const forms = this.#forms;
    if (forms.ranges.length < 2 * length) forms.ranges = new Int32Array(2 * length);
    for (let i = 0; i < length; i++) {
      const { start, count, active } = geometries[i] as IndexRange & { active?: boolean };
      forms.ranges[2 * i] = start * bytes;
      forms.ranges[2 * i + 1] = count;
      forms.spheres[i] ??= new Sphere();
      if (active !== false) this.#batch.getBoundingSphereAt(i, forms.spheres[i]);
    }
  }

  /** Returns the camera's position and viewing direction in the space of the batch, as three computes them. */
  #eyeOf(camera: Camera): Eye {
    const toLocal = this.#batch.matrixWorld.clone().invert();
    const eye = this.#eye;
    this.#position.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(toLocal).toArray(eye.position);
    this.#forward.set(0, 0, -1).transformDirection(camera.matrixWorld).transformDirection(toLocal).toArray(eye.forward);
    return eye;
  }
}

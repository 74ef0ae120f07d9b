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
import { canBeHidden } from '../track/opacity.js';
import type { CullableObject } from '../track/stand-in.js';
import { BatchStates } from './batch-states.js';
import { BY_AIR, BY_AXIS, type Eye, type Found, type Listed } from './filter-question.js';
import type { DrawnView } from './instance-culling.js';
import { InstanceTest, keep } from './instance-test.js';
import { NO_INSTANCES, type SeenInstances } from './seen-objects.js';

interface Range {
  readonly start: number;
  readonly count: number;
}

/** three's private fields of a BatchedMesh. */
interface Insides {
  /** three has these from r170 on. */
  readonly _geometryInfo?: readonly Range[];
  /** three had these up to r169. */
  readonly _drawRanges?: readonly Range[];
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
const FIRST_OF_AXIS = 165;
const BY = Number.parseInt(REVISION, 10) >= FIRST_OF_AXIS ? BY_AXIS : BY_AIR;

/** Counts of a written list. */
interface Written {
  readonly hidden: number;
  /** How many of the hidden instances nearer objects hide. */
  readonly occluded: number;
  readonly triangles: number;
}

/** Writes the draw list of a BatchedMesh in three's format and order, with only the instances that a camera may see. */
export class BatchDraws {
  readonly #batch: BatchedMesh;
  readonly #entry: CullableObject;
  readonly #insides: Insides;
  readonly #states: BatchStates;
  readonly #test = new InstanceTest();
  /** Where each geometry's triangles begin, in bytes, and how many indices it has. */
  readonly #forms = { spheres: [] as Sphere[], ranges: new Int32Array(0) };
  readonly #position = new Vector3();
  readonly #forward = new Vector3();
  readonly #eye: Eye & { position: number[]; forward: number[] } = { by: BY, position: [], forward: [] };

  constructor(batch: BatchedMesh, entry: CullableObject) {
    this.#batch = batch;
    this.#entry = entry;
    this.#insides = batch as unknown as Insides;
    this.#states = BatchStates.of(batch);
  }

  /** Returns whether the draw list can be written for a material. */
  canDraw(material: Material): boolean {
    const { _multiDrawStarts, _multiDrawCounts, _indirectTexture } = this.#insides;
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

  get #geometries(): readonly Range[] {
    return (this.#insides._geometryInfo ?? this.#insides._drawRanges)!;
  }

  /** Writes the list of the instances that a view may see. */
  write(view: DrawnView, geometry: BufferGeometry, material: Material, isMerged: boolean): Written {
    const insides = this.#insides;
    const batch = this.#batch;
    const states = this.#states;
    states.read();
    const bytes = geometry.index === null ? 1 : geometry.index.array.BYTES_PER_ELEMENT;
    const { sortObjects } = batch;
    this.#measure(this.#geometries, bytes);
    const test = this.#test;
    test.begin(view.volume, view.camera, batch.matrixWorld, view.pixels, view.minPixels);
    // The answer is not consulted: to evaluate it takes as long as all of this.
    const eye = sortObjects ? this.#eyeOf(view.camera) : null;
    const found = test.find(states.contents.matrices!, states.count, this.#forms, states.kinds, eye);
    const occluded = this.#leaveOut(this.#occludedIn(view), found);
    const { count } = found;
    const listed = test.list(this.#forms, sortObjects ? (material.transparent ? -1 : 1) : 0);
    if (isMerged) this.#writeMerged(listed, count);
    else {
      insides._multiDrawStarts.set(listed.starts.subarray(0, count));
      insides._multiDrawCounts.set(listed.counts.subarray(0, count));
    }
    const { _indirectTexture } = insides;
    if (_indirectTexture !== undefined) {
      (_indirectTexture.image.data as Uint32Array).set(listed.numbers.subarray(0, count));
      _indirectTexture.needsUpdate = true;
    }
    insides._multiDrawCount = count;
    insides._multiDrawBytesPerElement = bytes;
    states.written();
    let [instances, indices] = [0, 0];
    states.copies.forEach((copies, kind) => {
      instances += copies;
      indices += copies * this.#forms.ranges[2 * kind + 1];
    });
    return { hidden: instances - count, occluded, triangles: Math.round((indices - listed.indices) / 3) };
  }

  /** Makes three write all of its own list, after this one's was left unfinished. */
  leave(): void {
    this.#states.leave();
  }

  /** Removes instances that nearer objects hide from the found ones; returns how many they are. */
  #leaveOut({ numbers, count }: SeenInstances, found: Found): number {
    if (count === 0) return 0;
    const before = found.count;
    let next = 0;
    keep(found, (i, kind) => {
      while (next < count && numbers[next] < i) next++;
      return next === count || numbers[next] !== i || !this.#entry.standsOnGeometry!(i, kind);
    });
    return before - found.count;
  }

  /** Returns the numbers of the instances that nearer objects hide; none unless that is still true. */
  #occludedIn({ occlusion, seen: { update, view } }: DrawnView): SeenInstances {
    if (
      occlusion === null ||
      this.#entry.standsOnGeometry === undefined ||
      !canBeHidden(this.#batch, this.#entry.cullable === true)
    )
      return NO_INSTANCES;
    if (!this.#entry.wasSeenAsItIs(update, view.layers)) return NO_INSTANCES;
    return occlusion.instancesOf(this.#entry) ?? NO_INSTANCES;
  }

  /** Writes consecutive instances of one geometry as one draw. */
  #writeMerged({ starts, counts }: Listed, count: number): void {
    const insides = this.#insides;
    const copies = insides._mergedDrawInstanceCounts!;
    let runs = 0;
    for (let n = 0; n < count; n++) {
      if (n > 0 && starts[n - 1] === starts[n] && counts[n - 1] === counts[n]) copies[runs - 1]++;
      else {
        insides._mergedDrawStarts![runs] = starts[n];
        insides._mergedDrawCounts![runs] = counts[n];
        copies[runs++] = 1;
      }
    }
    insides._mergedDrawCount = runs;
  }

  /** Looks up the ranges of the geometries, and their spheres, which three computes once for each. */
  #measure(geometries: readonly Range[], bytes: number): void {
    const { length } = geometries;
    const forms = this.#forms;
    if (forms.ranges.length < 2 * length) forms.ranges = new Int32Array(2 * length);
    for (let i = 0; i < length; i++) {
      const { start, count, active } = geometries[i] as Range & { active?: boolean };
      forms.ranges[2 * i] = start * bytes;
      forms.ranges[2 * i + 1] = count;
      forms.spheres[i] ??= new Sphere();
      if (active !== false) this.#batch.getBoundingSphereAt(i, forms.spheres[i]);
    }
  }

  /** Returns the camera's position and viewing direction in the space of the batch, as three computes them. */
  #eyeOf(camera: Camera): Eye {
    const back = this.#batch.matrixWorld.clone().invert();
    const eye = this.#eye;
    this.#position.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(back).toArray(eye.position);
    this.#forward.set(0, 0, -1).transformDirection(camera.matrixWorld).transformDirection(back).toArray(eye.forward);
    return eye;
  }
}

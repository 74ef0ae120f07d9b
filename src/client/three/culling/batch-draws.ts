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
import { DepthSort } from './depth-sort.js';
import type { DrawnView } from './instance-culling.js';
import { InstanceTest } from './instance-test.js';
import type { SeenInstances } from './seen-objects.js';

interface Range {
  readonly start: number;
  readonly count: number;
}

/** What three keeps for itself in a BatchedMesh. */
interface Insides {
  /** three has these from r170 on. */
  readonly _geometryInfo?: readonly Range[];
  /** three had these up to r169. */
  readonly _drawRanges?: readonly Range[];
  readonly _multiDrawStarts: Int32Array;
  readonly _multiDrawCounts: Int32Array;
  /** three has these where WebGPU can draw it: those of one geometry in a row are drawn at once. */
  readonly _mergedDrawStarts?: Int32Array;
  readonly _mergedDrawCounts?: Int32Array;
  readonly _mergedDrawInstanceCounts?: Int32Array;
  /** three has this from r166 on. */
  readonly _indirectTexture?: DataTexture;
  readonly _matricesTexture: DataTexture;
  _multiDrawCount: number;
  _mergedDrawCount?: number;
  _multiDrawBytesPerElement?: number;
}

/** three sorts by the distance to the eye before this, and along the camera's axis from it on. */
const FIRST_OF_AXIS = 165;
const IS_BY_AXIS = Number.parseInt(REVISION, 10) >= FIRST_OF_AXIS;

/** Part of the instances that is many to be in view. */
const MANY = 0.5;

const NONE: SeenInstances = { numbers: new Uint32Array(0), count: 0 };

/** What came of a list. */
interface Written {
  readonly hidden: number;
  /** So many of the hidden ones are hidden by nearer objects. */
  readonly occluded: number;
  readonly triangles: number;
}

/** Writes the draw list of a BatchedMesh as three itself does, of what a camera may see of it, and in three's order. */
export class BatchDraws {
  readonly #batch: BatchedMesh;
  readonly #entry: CullableObject;
  readonly #insides: Insides;
  readonly #states: BatchStates;
  readonly #test = new InstanceTest();
  readonly #sort = new DepthSort();
  #list = new Uint32Array(0);
  /** The geometry of each in the list. */
  #kinds = new Uint32Array(0);
  /** Where each geometry's triangles begin, in bytes, and how many indices it has. */
  #ranges = new Int32Array(0);
  /** It is about all geometries, where they stand. */
  readonly #around = new Sphere();
  #centres = new Float64Array(0);
  #depths = new Float64Array(0);
  /** Those of all instances that are not certainly out of view. */
  #near = new Uint32Array(0);
  readonly #spheres: Sphere[] = [];
  readonly #eye = new Vector3();
  readonly #forward = new Vector3();

  constructor(batch: BatchedMesh, entry: CullableObject) {
    this.#batch = batch;
    this.#entry = entry;
    this.#insides = batch as unknown as Insides;
    this.#states = BatchStates.of(batch);
  }

  /** Tells whether it can write the list of what is drawn with a material. */
  canDraw(material: Material): boolean {
    const { _multiDrawStarts, _multiDrawCounts, _indirectTexture, _matricesTexture } = this.#insides;
    const { customSort } = this.#batch as { customSort?: unknown };
    return (
      this.#states.canRead &&
      Array.isArray(this.#geometries) &&
      ArrayBuffer.isView(_multiDrawStarts) &&
      ArrayBuffer.isView(_multiDrawCounts) &&
      (_indirectTexture === undefined || ArrayBuffer.isView(_indirectTexture.image?.data)) &&
      _matricesTexture?.image?.data instanceof Float32Array &&
      (customSort === null || customSort === undefined) &&
      (material as { wireframe?: boolean }).wireframe !== true
    );
  }

  get #geometries(): readonly Range[] {
    return (this.#insides._geometryInfo ?? this.#insides._drawRanges)!;
  }

  /** Writes the list of what a view may see. */
  write(view: DrawnView, geometry: BufferGeometry, material: Material, isMerged: boolean): Written {
    const insides = this.#insides;
    const batch = this.#batch;
    this.#states.read();
    const { kinds: states, count: total } = this.#states;
    const geometries = this.#geometries;
    const matrices = insides._matricesTexture.image.data as Float32Array;
    const { sortObjects } = batch;
    this.#makeRoom(total);
    this.#measure(geometries, geometry.index === null ? 1 : geometry.index.array.BYTES_PER_ELEMENT);
    if (sortObjects) this.#lookFrom(view.camera);
    const test = this.#test;
    test.begin(view.volume, view.camera, batch.matrixWorld, view.pixels, view.minPixels);
    const entry = this.#entry;
    // To look through the answer takes longer than to look at a few instances.
    const seen = view.seen.count > MANY * total ? view.seen.instancesOf(entry) : NONE;
    const occluded = this.#occludedIn(view);
    const list = this.#list;
    const kinds = this.#kinds;
    const spheres = this.#spheres;
    const near = this.#near;
    // Where most are in view, it would only take time.
    const nearCount = seen === NONE ? test.select(matrices, null, total, this.#around, near, 0) : -1;
    const seenNumbers = seen.numbers;
    const seenCount = seen.count;
    const occludedNumbers = occluded.numbers;
    const occludedCount = occluded.count;
    let count = 0;
    let nextNear = 0;
    let nextSeen = 0;
    let nextOccluded = 0;
    let hidden = 0;
    let behind = 0;
    let indices = 0;
    for (let i = 0; i < total; i++) {
      const kind = states[i];
      const isNear = nearCount < 0 || (nextNear < nearCount && near[nextNear] === i);
      if (isNear) nextNear++;
      if (kind < 0) continue;
      if (!isNear) {
        hidden++;
        indices += this.#ranges[2 * kind + 1];
        continue;
      }
      while (nextSeen < seenCount && seenNumbers[nextSeen] < i) nextSeen++;
      if (nextSeen === seenCount || seenNumbers[nextSeen] !== i) {
        while (nextOccluded < occludedCount && occludedNumbers[nextOccluded] < i) nextOccluded++;
        const isOccluded =
          nextOccluded < occludedCount && occludedNumbers[nextOccluded] === i && entry.standsOnGeometry!(i, kind);
        if (isOccluded || !test.maySee(matrices, i, spheres[kind])) {
          if (isOccluded) behind++;
          hidden++;
          indices += this.#ranges[2 * kind + 1];
          continue;
        }
      }
      kinds[count] = kind;
      list[count++] = i;
    }
    if (sortObjects) this.#findDepths(matrices, count);
    const order = sortObjects ? this.#sort.sort(this.#depths, count, material.transparent) : null;
    if (isMerged) this.#writeMerged(order, count);
    else this.#write(order, count);
    if (insides._indirectTexture !== undefined) insides._indirectTexture.needsUpdate = true;
    insides._multiDrawCount = count;
    insides._multiDrawBytesPerElement = geometry.index === null ? 1 : geometry.index.array.BYTES_PER_ELEMENT;
    this.#states.written();
    return { hidden, occluded: behind, triangles: Math.round(indices / 3) };
  }

  #makeRoom(total: number): void {
    if (this.#list.length >= total) return;
    this.#list = new Uint32Array(total);
    this.#kinds = new Uint32Array(total);
    this.#depths = new Float64Array(total);
    this.#near = new Uint32Array(total);
  }

  /** Answers the numbers of what nearer objects hide, where that is true. */
  #occludedIn({ occlusion, seen: { update, view } }: DrawnView): SeenInstances {
    if (
      occlusion === null ||
      this.#entry.standsOnGeometry === undefined ||
      !canBeHidden(this.#batch, this.#entry.cullable === true)
    )
      return NONE;
    if (!this.#entry.wasSeenAsItIs(update, view.layers)) return NONE;
    return occlusion.instancesOf(this.#entry) ?? NONE;
  }

  /** Writes what is drawn one by one. */
  #write(order: Uint32Array | null, count: number): void {
    const { _multiDrawStarts: starts, _multiDrawCounts: counts, _indirectTexture } = this.#insides;
    const indirect = (_indirectTexture?.image.data ?? null) as Uint32Array | null;
    const [list, kinds, ranges] = [this.#list, this.#kinds, this.#ranges];
    for (let n = 0; n < count; n++) {
      const place = order === null ? n : order[n];
      const range = 2 * kinds[place];
      starts[n] = ranges[range];
      counts[n] = ranges[range + 1];
      if (indirect !== null) indirect[n] = list[place];
    }
  }

  /** Writes those of one geometry that follow each other as one. */
  #writeMerged(order: Uint32Array | null, count: number): void {
    const insides = this.#insides;
    const [starts, counts, copies] = [
      insides._mergedDrawStarts!,
      insides._mergedDrawCounts!,
      insides._mergedDrawInstanceCounts!,
    ];
    const indirect = insides._indirectTexture!.image.data as Uint32Array;
    let runs = 0;
    for (let n = 0; n < count; n++) {
      const place = order === null ? n : order[n];
      const range = 2 * this.#kinds[place];
      const [start, length] = [this.#ranges[range], this.#ranges[range + 1]];
      if (runs > 0 && starts[runs - 1] === start && counts[runs - 1] === length) copies[runs - 1]++;
      else {
        starts[runs] = start;
        counts[runs] = length;
        copies[runs++] = 1;
      }
      indirect[n] = this.#list[place];
    }
    insides._mergedDrawCount = runs;
  }

  /** Looks up the ranges of the geometries, and their spheres, which three finds once for each. */
  #measure(geometries: readonly Range[], bytes: number): void {
    const { length } = geometries;
    if (this.#ranges.length < 2 * length) {
      this.#ranges = new Int32Array(2 * length);
      this.#centres = new Float64Array(3 * length);
    }
    this.#around.radius = 0;
    for (let i = 0; i < length; i++) {
      const { start, count, active } = geometries[i] as Range & { active?: boolean };
      this.#ranges[2 * i] = start * bytes;
      this.#ranges[2 * i + 1] = count;
      this.#spheres[i] ??= new Sphere();
      const sphere = this.#spheres[i];
      if (active !== false) this.#batch.getBoundingSphereAt(i, sphere);
      this.#around.radius = Math.max(this.#around.radius, sphere.center.length() + sphere.radius);
      sphere.center.toArray(this.#centres, 3 * i);
    }
  }

  /** Takes over where the camera is and where it looks, in the space of the batch. */
  #lookFrom(camera: Camera): void {
    const back = this.#batch.matrixWorld.clone().invert();
    this.#eye.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(back);
    this.#forward.set(0, 0, -1).transformDirection(camera.matrixWorld).transformDirection(back);
  }

  /** Computes the depths of what is in the list, as three does. */
  #findDepths(m: Float32Array, count: number): void {
    const list = this.#list;
    const kinds = this.#kinds;
    const depths = this.#depths;
    const centres = this.#centres;
    const { x: eyeX, y: eyeY, z: eyeZ } = this.#eye;
    const { x: forwardX, y: forwardY, z: forwardZ } = this.#forward;
    for (let n = 0; n < count; n++) {
      const at = 16 * list[n];
      const centre = 3 * kinds[n];
      const x = centres[centre];
      const y = centres[centre + 1];
      const z = centres[centre + 2];
      const px = m[at] * x + m[at + 4] * y + m[at + 8] * z + m[at + 12] - eyeX;
      const py = m[at + 1] * x + m[at + 5] * y + m[at + 9] * z + m[at + 13] - eyeY;
      const pz = m[at + 2] * x + m[at + 6] * y + m[at + 10] * z + m[at + 14] - eyeZ;
      depths[n] = IS_BY_AXIS ? px * forwardX + py * forwardY + pz * forwardZ : Math.sqrt(px * px + py * py + pz * pz);
    }
  }
}

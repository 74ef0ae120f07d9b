import {
  type BatchedMesh,
  type BufferGeometry,
  type Camera,
  type DataTexture,
  type Material,
  Sphere,
  Vector3,
} from 'three';
import { DepthSort } from './depth-sort.js';
import type { InstanceTest } from './instance-test.js';
import type { SeenInstances } from './seen-objects.js';

/** What three keeps for itself in a BatchedMesh, from r170 on. */
interface Insides {
  readonly _instanceInfo: readonly {
    readonly visible: boolean;
    readonly active: boolean;
    readonly geometryIndex: number;
  }[];
  readonly _geometryInfo: readonly { readonly start: number; readonly count: number }[];
  readonly _multiDrawStarts: Int32Array;
  readonly _multiDrawCounts: Int32Array;
  readonly _indirectTexture: DataTexture;
  readonly _matricesTexture: DataTexture;
  _multiDrawCount: number;
  /** Whether the list is to be written anew where three neither culls nor sorts. */
  _visibilityChanged: boolean;
}

/** Writes the draw list of a BatchedMesh as three itself does, of what a camera may see of it, and in three's order. */
export class BatchDraws {
  readonly #batch: BatchedMesh;
  readonly #insides: Insides;
  readonly #sort = new DepthSort();
  #list = new Uint32Array(0);
  /** The geometry of each in the list: what three has of instances is objects, far apart in memory. */
  #kinds = new Uint32Array(0);
  /** Where each geometry's triangles begin, in bytes, and how many indices it has. */
  #ranges = new Int32Array(0);
  #depths = new Float64Array(0);
  #spheres: Sphere[] = [];
  readonly #eye = new Vector3();
  readonly #forward = new Vector3();

  constructor(batch: BatchedMesh) {
    this.#batch = batch;
    this.#insides = batch as unknown as Insides;
  }

  /** Tells whether it can write the list of what is drawn with a material. */
  canDraw(material: Material): boolean {
    const { _instanceInfo, _geometryInfo, _multiDrawStarts, _multiDrawCounts, _indirectTexture, _matricesTexture } =
      this.#insides;
    const { customSort } = this.#batch as { customSort?: unknown };
    return (
      Array.isArray(_instanceInfo) &&
      Array.isArray(_geometryInfo) &&
      ArrayBuffer.isView(_multiDrawStarts) &&
      ArrayBuffer.isView(_multiDrawCounts) &&
      ArrayBuffer.isView(_indirectTexture?.image?.data) &&
      _matricesTexture?.image?.data instanceof Float32Array &&
      (customSort === null || customSort === undefined) &&
      (material as { wireframe?: boolean }).wireframe !== true
    );
  }

  /** Answers how many numbers of instances were given out. */
  get count(): number {
    return this.#insides._instanceInfo?.length ?? 0;
  }

  /** Looks up the spheres of the geometries, which three finds once for each. */
  get spheres(): readonly Sphere[] {
    const { length } = this.#insides._geometryInfo;
    for (let i = 0; i < length; i++) {
      this.#spheres[i] ??= new Sphere();
      if ((this.#insides._geometryInfo[i] as { active?: boolean }).active === false) continue;
      this.#batch.getBoundingSphereAt(i, this.#spheres[i]);
    }
    return this.#spheres;
  }

  /**
   * Writes the list: what is in `seen`, and what the test says may be seen. Answers how many of the visible ones are not
   * in it.
   */
  write(seen: SeenInstances, test: InstanceTest, camera: Camera, geometry: BufferGeometry, material: Material) {
    const insides = this.#insides;
    const { _instanceInfo: instances, _geometryInfo: geometries } = insides;
    const matrices = insides._matricesTexture.image.data as Float32Array;
    const { spheres } = this;
    const { sortObjects } = this.#batch;
    if (this.#list.length < instances.length) {
      this.#list = new Uint32Array(instances.length);
      this.#kinds = new Uint32Array(instances.length);
      this.#depths = new Float64Array(instances.length);
    }
    if (sortObjects) this.#lookFrom(camera);
    const [list, kinds] = [this.#list, this.#kinds];
    const { numbers } = seen;
    let [count, next, hidden, triangles] = [0, 0, 0, 0];
    for (let i = 0; i < instances.length; i++) {
      while (next < seen.count && numbers[next] < i) next++;
      const { visible, active, geometryIndex } = instances[i];
      if (!visible || !active) continue;
      const sphere = spheres[geometryIndex];
      if (!(next < seen.count && numbers[next] === i) && !test.maySee(matrices, i, sphere)) {
        hidden++;
        triangles += Math.floor(geometries[geometryIndex].count / 3);
        continue;
      }
      if (sortObjects) this.#depths[count] = this.#depthOf(matrices, 16 * i, sphere.center);
      kinds[count] = geometryIndex;
      list[count++] = i;
    }
    const order = sortObjects ? this.#sort.sort(this.#depths, count, material.transparent) : null;
    const bytes = geometry.index === null ? 1 : geometry.index.array.BYTES_PER_ELEMENT;
    const indirect = insides._indirectTexture.image.data as Uint32Array;
    const { _multiDrawStarts: starts, _multiDrawCounts: counts } = insides;
    const ranges = this.#rangesOf(geometries, bytes);
    for (let n = 0; n < count; n++) {
      const place = order === null ? n : order[n];
      const range = 2 * kinds[place];
      starts[n] = ranges[range];
      counts[n] = ranges[range + 1];
      indirect[n] = list[place];
    }
    insides._indirectTexture.needsUpdate = true;
    insides._multiDrawCount = count;
    insides._visibilityChanged = true; // for whoever draws it next
    return { hidden, triangles };
  }

  #rangesOf(geometries: Insides['_geometryInfo'], bytes: number): Int32Array {
    if (this.#ranges.length < 2 * geometries.length) this.#ranges = new Int32Array(2 * geometries.length);
    geometries.forEach(({ start, count }, i) => {
      this.#ranges[2 * i] = start * bytes;
      this.#ranges[2 * i + 1] = count;
    });
    return this.#ranges;
  }

  /** Takes over where the camera is and where it looks, in the space of the batch. */
  #lookFrom(camera: Camera): void {
    const back = this.#batch.matrixWorld.clone().invert();
    this.#eye.setFromMatrixPosition(camera.matrixWorld).applyMatrix4(back);
    this.#forward.set(0, 0, -1).transformDirection(camera.matrixWorld).transformDirection(back);
  }

  #depthOf(m: Float32Array, at: number, { x, y, z }: Vector3): number {
    const px = m[at] * x + m[at + 4] * y + m[at + 8] * z + m[at + 12];
    const py = m[at + 1] * x + m[at + 5] * y + m[at + 9] * z + m[at + 13];
    const pz = m[at + 2] * x + m[at + 6] * y + m[at + 10] * z + m[at + 14];
    const [eye, forward] = [this.#eye, this.#forward];
    return (px - eye.x) * forward.x + (py - eye.y) * forward.y + (pz - eye.z) * forward.z;
  }
}

import type { Camera, Matrix4, Sphere } from 'three';
import { DepthSort } from './depth-sort.js';
import {
  DEPTH_ALONG_AXIS,
  type DrawList,
  type Eye,
  type Forms,
  type SortDirection,
  type VisibleInstances,
} from './filter-question.js';
import { chunksOf, frustumFilter } from './frustum-filter.js';
import type { FrustumFilter } from './packed-filter.js';
import { ROUNDING, type ViewVolume } from './view-volume.js';

/** Fewer instances than this are tested one by one. */
const MIN_FILTERED = 64;
/** Indices of the rows x, y and w in a matrix; `#rows` has them one after the other. */
const CLIP_ROWS = [0, 1, 3];

/**
 * Finds which instances a camera may see, by the bounding sphere of their geometry: for an instance that matrix L and translation
 * t place in the mesh's space, the sphere is on the wrong side of a plane n · x + d if n · t + d + (Lᵀ n) · c is below -r |Lᵀ n|,
 * where c is its centre and r its radius. For many instances, a filter keeps at most those near the view, and sorts them
 * (frustum-filter.ts).
 */
export class InstanceTest {
  readonly #planes = new Float64Array(24);
  /** Rows that yield clip x, y and w of a point in the mesh's space. */
  readonly #rows = new Float64Array(12);
  readonly #frustum = { planes: this.#planes, rows: this.#rows };
  /** Row that yields the depth of a point along the camera's axis. */
  readonly #depth = new Float64Array(4);
  readonly #eye: Eye = { by: DEPTH_ALONG_AXIS, position: [0, 0, 0], forward: this.#depth };
  /** What was found without the filter; `#filter` is null then. */
  readonly #unfiltered: VisibleInstances = {
    count: 0,
    numbers: new Uint32Array(0),
    forms: new Uint32Array(0),
    depths: new Float64Array(0),
    matrices: null,
  };
  readonly #sort = new DepthSort();
  #filter: FrustumFilter | null = null;
  /** Pixels per unit of the mesh's space where w is 1, at most. */
  #pixels = 0;
  #minPixels = 0;
  /** Centre of the sphere that was placed last. */
  #x = 0;
  #y = 0;
  #z = 0;

  /**
   * Begins the tests of a mesh at its present place. Spheres that are drawn smaller than `minPixels` across are not seen;
   * `pixels` are those of a unit where clip w is 1.
   */
  begin(volume: ViewVolume, camera: Camera, world: Matrix4, pixels: number, minPixels: number): void {
    const m = world.elements;
    const { planes, clip } = volume;
    // Numbers are read by index: subarrays and lists were a tenth of the garbage of a picture.
    for (let at = 0; at < 24; at += 4) {
      for (let k = 0; k < 4; k++) {
        const value = planes[at] * m[4 * k] + planes[at + 1] * m[4 * k + 1] + planes[at + 2] * m[4 * k + 2];
        this.#planes[at + k] = k < 3 ? value : value + planes[at + 3];
      }
    }
    const c = clip.elements;
    const v = camera.matrixWorldInverse.elements;
    for (let k = 0; k < 4; k++) {
      const x = m[4 * k];
      const y = m[4 * k + 1];
      const z = m[4 * k + 2];
      for (let i = 0; i < CLIP_ROWS.length; i++) {
        const row = CLIP_ROWS[i];
        this.#rows[4 * i + k] = c[row] * x + c[row + 4] * y + c[row + 8] * z + (k < 3 ? 0 : c[row + 12]);
      }
      this.#depth[k] = -(v[2] * x + v[6] * y + v[10] * z + (k < 3 ? 0 : v[14]));
    }
    this.#pixels = pixels * world.getMaxScaleOnAxis();
    this.#minPixels = minPixels;
  }

  /** The eye for depths along the camera's axis. */
  get eye(): Eye {
    return this.#eye;
  }

  /**
   * Finds which of `total` instances the camera may see. `formIds` has the form of each instance, a number below 0 for one
   * that is to be skipped; if null, all have the first form. Depths are computed if there is an `eye`. The result is valid
   * until another test begins. With `collectsMatrices`, `list` may return the matrices of the found instances, too.
   */
  find(
    matrices: ArrayLike<number>,
    total: number,
    forms: Forms,
    formIds: Int32Array | null,
    eye: Eye | null,
    collectsMatrices = false,
  ): VisibleInstances {
    const { spheres } = forms;
    const filter = total >= MIN_FILTERED && matrices instanceof Float32Array ? frustumFilter() : null;
    if (filter === null) {
      const visible = this.begun(total);
      for (let i = 0; i < total; i++) {
        const form = formIds === null ? 0 : formIds[i];
        if (form < 0 || !this.maySee(matrices, i, spheres[form])) continue;
        visible.numbers[visible.count] = i;
        visible.forms[visible.count++] = form;
      }
      if (eye !== null) this.findDepths(matrices, forms, eye);
      return visible;
    }
    this.#filter = filter;
    filter.ask(this.#frustum, forms);
    const filtersBySize = this.#minPixels > 0;
    filter.select(chunksOf(matrices as Float32Array, total), formIds, total, eye, collectsMatrices && !filtersBySize);
    if (filtersBySize) keepWhere(filter, (i, form) => this.maySee(matrices, i, spheres[form]));
    return filter;
  }

  /** Tests only the given instances and appends those that the camera may see to the found ones, which are none after `begun`. */
  findAmong(matrices: ArrayLike<number>, numbers: Uint32Array, count: number, sphere: Sphere): void {
    const visible = this.#unfiltered;
    for (let n = 0; n < count; n++) {
      if (this.maySee(matrices, numbers[n], sphere)) visible.numbers[visible.count++] = numbers[n];
    }
  }

  /** Begins a search among `total` instances with an empty result. */
  begun(total: number): VisibleInstances {
    this.#filter = null;
    const visible = this.#unfiltered;
    if (visible.numbers.length < total) {
      visible.numbers = new Uint32Array(total);
      visible.forms = new Uint32Array(total);
      visible.depths = new Float64Array(total);
    }
    visible.count = 0;
    return visible;
  }

  /** Computes the depths of instances that were found one by one. */
  findDepths(m: ArrayLike<number>, { spheres }: Forms, { by, position, forward }: Eye): void {
    const { count, numbers, forms, depths } = this.#unfiltered;
    const [eyeX, eyeY, eyeZ] = position;
    const [forwardX, forwardY, forwardZ] = forward;
    for (let n = 0; n < count; n++) {
      this.#transformCenter(m, 16 * numbers[n], spheres[forms[n]]);
      const px = this.#x - eyeX;
      const py = this.#y - eyeY;
      const pz = this.#z - eyeZ;
      depths[n] =
        by === DEPTH_ALONG_AXIS
          ? px * forwardX + py * forwardY + pz * forwardZ
          : Math.sqrt(px * px + py * py + pz * pz);
    }
  }

  /** Lists what was found last in an order; the forms are those that it was found with. */
  list({ ranges }: Forms, direction: SortDirection): DrawList {
    if (this.#filter !== null) return this.#filter.list(direction);
    const { count, numbers, forms, depths } = this.#unfiltered;
    const order = direction === 0 ? null : this.#sort.sort(depths, count, direction < 0);
    const drawList = { numbers: new Uint32Array(count), starts: new Int32Array(count), counts: new Int32Array(count) };
    let indices = 0;
    for (let n = 0; n < count; n++) {
      const index = order === null ? n : order[n];
      const range = 2 * forms[index];
      drawList.numbers[n] = numbers[index];
      drawList.starts[n] = ranges[range];
      drawList.counts[n] = ranges[range + 1];
      indices += ranges[range + 1];
    }
    return { ...drawList, indices, matrices: null };
  }

  /** Returns whether the camera may see a sphere that the i-th matrix of an array places. */
  maySee(matrices: ArrayLike<number>, i: number, sphere: Sphere): boolean {
    const planes = this.#planes;
    const { radius } = sphere;
    const at = 16 * i;
    this.#transformCenter(matrices, at, sphere);
    const [px, py, pz] = [this.#x, this.#y, this.#z];
    const ax = matrices[at];
    const ay = matrices[at + 1];
    const az = matrices[at + 2];
    const bx = matrices[at + 4];
    const by = matrices[at + 5];
    const bz = matrices[at + 6];
    const cx = matrices[at + 8];
    const cy = matrices[at + 9];
    const cz = matrices[at + 10];
    for (let plane = 0; plane < 6; plane++) {
      const p = 4 * plane;
      const nx = planes[p];
      const ny = planes[p + 1];
      const nz = planes[p + 2];
      const d = planes[p + 3];
      const gap = nx * px + ny * py + nz * pz + d;
      if (gap < 0) {
        const u = ax * nx + ay * ny + az * nz;
        const v = bx * nx + by * ny + bz * nz;
        const w = cx * nx + cy * ny + cz * nz;
        const slack = ROUNDING * (Math.abs(nx * px) + Math.abs(ny * py) + Math.abs(nz * pz) + Math.abs(d));
        // -gap > r |Lᵀ n| + slack, squared to avoid the root.
        const excess = -gap - slack;
        if (excess > 0 && excess * excess > radius * radius * (u * u + v * v + w * w)) return false;
      }
    }
    return this.#minPixels === 0 || !(this.#pixelsAcross(matrices, at, radius) < this.#minPixels);
  }

  /** Returns how many pixels across the sphere of an instance is drawn at most; Infinity at the eye. */
  sizeOf(m: ArrayLike<number>, i: number, sphere: Sphere): number {
    this.#transformCenter(m, 16 * i, sphere);
    return this.#pixelsAcross(m, 16 * i, sphere.radius);
  }

  /** Returns the same for the sphere that was placed last. */
  #pixelsAcross(m: ArrayLike<number>, at: number, radius: number): number {
    const w = this.#rows;
    const depth = w[8] * this.#x + w[9] * this.#y + w[10] * this.#z + w[11];
    let maxScaleSquared = 0;
    for (let k = at; k < at + 12; k += 4)
      maxScaleSquared = Math.max(maxScaleSquared, m[k] ** 2 + m[k + 1] ** 2 + m[k + 2] ** 2);
    return depth > 0 ? (2 * radius * Math.sqrt(maxScaleSquared) * this.#pixels) / depth : Number.POSITIVE_INFINITY;
  }

  /** Places the centre of a sphere by the matrix that begins at `at`, with the operations in the same order as in three. */
  #transformCenter(m: ArrayLike<number>, at: number, { center: { x, y, z } }: Sphere): void {
    this.#x = m[at] * x + m[at + 4] * y + m[at + 8] * z + m[at + 12];
    this.#y = m[at + 1] * x + m[at + 5] * y + m[at + 9] * z + m[at + 13];
    this.#z = m[at + 2] * x + m[at + 6] * y + m[at + 10] * z + m[at + 14];
  }
}

/** Keeps those of the found instances that a callback accepts. */
export function keepWhere(visible: VisibleInstances, accepts: (instance: number, form: number) => boolean): void {
  const { numbers, forms, depths } = visible;
  let count = 0;
  for (let n = 0; n < visible.count; n++) {
    if (!accepts(numbers[n], forms[n])) continue;
    numbers[count] = numbers[n];
    forms[count] = forms[n];
    depths[count++] = depths[n];
  }
  visible.count = count;
}

import type { Camera, Matrix4, Sphere, Vector3 } from 'three';
import { frustumFilter, MatrixChunks } from './frustum-filter.js';
import { ROUNDING, type ViewVolume } from './view-volume.js';

/** Fewer are looked at one by one. */
const MANY = 64;

/**
 * Tells which instances a camera may see, by the sphere of their geometry: of an instance that matrix L and place t put into
 * the mesh's space, the sphere is on the wrong side of a plane n · x + d where n · t + d + (Lᵀ n) · c is below -r |Lᵀ n|, c its
 * centre and r its radius. Of many, a filter leaves those that are near the view at most (frustum-filter.ts).
 */
export class InstanceTest {
  /** Six planes, and zeros for two more. */
  readonly #planes = new Float64Array(32);
  /** The rows x, y and w of clip space. */
  readonly #rows = new Float64Array(12);
  readonly #chunks = new MatrixChunks();
  /** Clip w of a point of the mesh's space, and its way from the camera along the camera's axis. */
  readonly #w = new Float64Array(4);
  readonly #depth = new Float64Array(4);
  /** Pixels a unit of the mesh's space where w is 1, at most. */
  #pixels = 0;
  #minPixels = 0;

  /** Begins to ask about a mesh as it stands. What is drawn smaller than `minPixels`, of 2 · `pixels` times a unit at w = 1, is not seen. */
  begin(volume: ViewVolume, camera: Camera, world: Matrix4, pixels: number, minPixels: number): void {
    const m = world.elements;
    const { planes, clip } = volume;
    for (let at = 0; at < 24; at += 4) {
      const [x, y, z, d] = planes.subarray(at, at + 4);
      for (let k = 0; k < 4; k++) {
        const own = x * m[4 * k] + y * m[4 * k + 1] + z * m[4 * k + 2];
        this.#planes[at + k] = k < 3 ? own : own + d;
      }
    }
    const c = clip.elements;
    const v = camera.matrixWorldInverse.elements;
    for (let k = 0; k < 4; k++) {
      const [x, y, z] = [m[4 * k], m[4 * k + 1], m[4 * k + 2]];
      for (let row = 0; row < 3; row++) {
        const at = row < 2 ? row : 3;
        this.#rows[4 * row + k] = c[at] * x + c[at + 4] * y + c[at + 8] * z + (k < 3 ? 0 : c[at + 12]);
      }
      this.#w[k] = this.#rows[8 + k];
      this.#depth[k] = -(v[2] * x + v[6] * y + v[10] * z + (k < 3 ? 0 : v[14]));
    }
    this.#pixels = pixels * world.getMaxScaleOnAxis();
    this.#minPixels = minPixels;
  }

  /**
   * Adds those to `list`, behind the first `count` of it, that the camera may see, of so many numbers, or of all below
   * `total` where there are none. Answers how many are in the list then.
   */
  select(
    matrices: ArrayLike<number>,
    numbers: Uint32Array | null,
    total: number,
    sphere: Sphere,
    list: Uint32Array,
    count: number,
  ): number {
    let length = count;
    const filter = numbers === null && total >= MANY && matrices instanceof Float32Array ? frustumFilter() : null;
    if (filter !== null) {
      filter.ask(this.#rows, this.#planes, sphere);
      const end = filter.select(this.#chunks.of(matrices as Float32Array, total), list, count);
      if (this.#minPixels === 0) return end;
      for (let n = count; n < end; n++) if (this.maySee(matrices, list[n], sphere)) list[length++] = list[n];
      return length;
    }
    for (let n = 0; n < total; n++) {
      const i = numbers === null ? n : numbers[n];
      if (this.maySee(matrices, i, sphere)) list[length++] = i;
    }
    return length;
  }

  /** Answers whether the camera may see a sphere that the i-th matrix of an array places. */
  maySee(matrices: ArrayLike<number>, i: number, { center: { x, y, z }, radius }: Sphere): boolean {
    const planes = this.#planes;
    const at = 16 * i;
    const ax = matrices[at];
    const ay = matrices[at + 1];
    const az = matrices[at + 2];
    const bx = matrices[at + 4];
    const by = matrices[at + 5];
    const bz = matrices[at + 6];
    const cx = matrices[at + 8];
    const cy = matrices[at + 9];
    const cz = matrices[at + 10];
    const px = matrices[at + 12] + ax * x + bx * y + cx * z;
    const py = matrices[at + 13] + ay * x + by * y + cy * z;
    const pz = matrices[at + 14] + az * x + bz * y + cz * z;
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
        // -gap > r |Lᵀ n| + slack, squared: without a root.
        const beyond = -gap - slack;
        if (beyond > 0 && beyond * beyond > radius * radius * (u * u + v * v + w * w)) return false;
      }
    }
    return this.#minPixels === 0 || !(this.pixelsOf(matrices, i, px, py, pz, radius) < this.#minPixels);
  }

  /** Writes how far the centres of instances in a list are from the camera, along the camera's axis. */
  findDepths(m: ArrayLike<number>, list: Uint32Array, count: number, { x, y, z }: Vector3, depths: Float64Array): void {
    const depth = this.#depth;
    const u = depth[0];
    const v = depth[1];
    const w = depth[2];
    const one = depth[3];
    for (let n = 0; n < count; n++) {
      const at = 16 * list[n];
      const px = m[at + 12] + m[at] * x + m[at + 4] * y + m[at + 8] * z;
      const py = m[at + 13] + m[at + 1] * x + m[at + 5] * y + m[at + 9] * z;
      const pz = m[at + 14] + m[at + 2] * x + m[at + 6] * y + m[at + 10] * z;
      depths[n] = u * px + v * py + w * pz + one;
    }
  }

  /** Answers how many pixels across a sphere is drawn at most, of which the centre is given as it is placed; Infinity at the eye. */
  pixelsOf(m: ArrayLike<number>, i: number, px: number, py: number, pz: number, ownRadius: number): number {
    const at = 16 * i;
    const w = this.#w;
    const depth = w[0] * px + w[1] * py + w[2] * pz + w[3];
    let squares = 0;
    for (let k = 0; k < 12; k += 4) {
      squares = Math.max(squares, m[at + k] ** 2 + m[at + k + 1] ** 2 + m[at + k + 2] ** 2);
    }
    return depth > 0 ? (2 * ownRadius * Math.sqrt(squares) * this.#pixels) / depth : Number.POSITIVE_INFINITY;
  }

  /** Answers the same of the sphere of an instance. */
  sizeOf(m: ArrayLike<number>, i: number, { center: { x, y, z }, radius }: Sphere): number {
    const at = 16 * i;
    const px = m[at + 12] + m[at] * x + m[at + 4] * y + m[at + 8] * z;
    const py = m[at + 13] + m[at + 1] * x + m[at + 5] * y + m[at + 9] * z;
    const pz = m[at + 14] + m[at + 2] * x + m[at + 6] * y + m[at + 10] * z;
    return this.pixelsOf(m, i, px, py, pz, radius);
  }
}

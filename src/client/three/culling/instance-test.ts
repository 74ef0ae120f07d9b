import type { Matrix4, Sphere } from 'three';
import { ROUNDING, type ViewVolume } from './view-volume.js';

/**
 * Tells which instances a camera may see, by the sphere of their geometry: of an instance that matrix L and place t put into
 * the mesh's space, the sphere is on the wrong side of a plane n · x + d where n · t + d + (Lᵀ n) · c is below -r |Lᵀ n|, c its
 * centre and r its radius. Each is asked first about the plane that it was behind before (the plane-coherency test of
 * Assarsson and Möller, "Optimized View Frustum Culling Algorithms for Bounding Boxes", 2000).
 */
export class InstanceTest {
  /** The plane, 0 to 5, that each was behind when it was looked at last. */
  #behind = new Uint8Array(0);
  readonly #planes = new Float64Array(24);
  /** Clip w of a point of the mesh's space, and pixels a unit where w is 1. */
  readonly #w = new Float64Array(4);
  #pixels = 0;
  #minPixels = 0;

  /** Begins to ask about a mesh as it stands. What is drawn smaller than `minPixels`, of 2 · `pixels` times a unit at w = 1, is not seen. */
  begin(volume: ViewVolume, world: Matrix4, count: number, pixels: number, minPixels: number): void {
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
    for (let k = 0; k < 4; k++) {
      this.#w[k] = c[3] * m[4 * k] + c[7] * m[4 * k + 1] + c[11] * m[4 * k + 2] + (k < 3 ? 0 : c[15]);
    }
    this.#pixels = pixels * world.getMaxScaleOnAxis();
    this.#minPixels = minPixels;
    if (this.#behind.length < count) this.#behind = new Uint8Array(count);
  }

  /** Answers whether the camera may see a sphere that the i-th matrix of an array places. */
  maySee(matrices: ArrayLike<number>, i: number, { center, radius }: Sphere): boolean {
    const planes = this.#planes;
    const { x, y, z } = center;
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
    const first = this.#behind[i];
    for (let k = 0, plane = first; k < 6; k++) {
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
        if (beyond > 0 && beyond * beyond > radius * radius * (u * u + v * v + w * w)) {
          this.#behind[i] = plane;
          return false;
        }
      }
      plane = k === 0 ? (first === 0 ? 1 : 0) : plane + 1 === first ? plane + 2 : plane + 1;
    }
    return this.#minPixels === 0 || !this.#isSmall(matrices, at, px, py, pz, radius);
  }

  /** Tells whether it is certainly drawn with fewer pixels than asked. */
  #isSmall(m: ArrayLike<number>, at: number, px: number, py: number, pz: number, ownRadius: number): boolean {
    const [u, v, w, one] = this.#w;
    const depth = u * px + v * py + w * pz + one;
    let squares = 0;
    for (let k = 0; k < 12; k += 4) {
      squares = Math.max(squares, m[at + k] ** 2 + m[at + k + 1] ** 2 + m[at + k + 2] ** 2);
    }
    const radius = ownRadius * Math.sqrt(squares);
    return depth > 0 && 2 * radius * this.#pixels < this.#minPixels * depth;
  }
}

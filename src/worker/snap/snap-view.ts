import type { PickRay } from '../../shared/packed.js';
import type { SnapRequest } from '../../shared/protocol.js';
import type { Vec3 } from '../../shared/types.js';
import { cross, dot } from './vectors.js';

/** An affine function of a point: three factors and a constant. */
export type Affine = readonly [number, number, number, number];

/** Twelve numbers: the columns of a map from a shape's space to the world. */
export type Place = ArrayLike<number>;

/** How the world is drawn about the cursor: the functions of a SnapRequest. */
export interface Drawing {
  x: Affine;
  y: Affine;
  w: Affine;
  near: Affine;
  far: Affine;
}

/** A view with a cursor in it. */
export class SnapView {
  readonly drawing: Drawing;
  /** The viewport, in pixels from the cursor: minimum x, minimum y, maximum x, maximum y. */
  readonly viewport: Affine;

  constructor(numbers: SnapRequest['drawing']) {
    const four = (at: number): Affine => [numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]];
    this.drawing = { x: four(0), y: four(4), w: four(8), near: four(12), far: four(16) };
    this.viewport = four(20);
  }

  /** Whether the view rays are parallel. */
  get isParallel(): boolean {
    const [x, y, z] = this.drawing.w;
    return x === 0 && y === 0 && z === 0;
  }

  /** Makes a ray through the cursor hit points and lines that are drawn within `radius` pixels. */
  widened(ray: PickRay, radius: number): PickRay {
    const { x, y, w } = this.drawing;
    const reach = [radius * w[0], radius * w[1], radius * w[2], radius * valueAt(w, ray.origin)];
    return { ...ray, cone: [x[0], x[1], x[2], y[0], y[1], y[2], ...reach] };
  }

  /** Returns the part of the viewport within `radius` pixels of the cursor, along each axis. */
  squareOf(radius: number): readonly [number, number, number, number] {
    const [lowX, lowY, highX, highY] = this.viewport;
    return [Math.max(lowX, -radius), Math.max(lowY, -radius), Math.min(highX, radius), Math.min(highY, radius)];
  }

  /**
   * Returns the view ray at a place given in pixels from the cursor: its origin on the near plane, and its unit direction. It is
   * not finite without a near plane.
   */
  wayAt(p: number, q: number): [...Vec3, ...Vec3] {
    const { x, y, w, near } = this.drawing;
    // The ray lies where two functions are 0.
    const a = plus(x, -p, w);
    const b = plus(y, -q, w);
    const [v3, a3, b3] = [near, a, b].map(([s, t, u]): Vec3 => [s, t, u]);
    const along = cross(a3, b3);
    const rise = dot(v3, along);
    const [s, t] = [cross(b3, v3), cross(v3, a3)];
    const unit = Math.sign(rise) / Math.hypot(...along);
    const at = (k: number) => -(near[3] * along[k] + a[3] * s[k] + b[3] * t[k]) / rise;
    return [at(0), at(1), at(2), along[0] * unit, along[1] * unit, along[2] * unit];
  }
}

export function valueAt(f: Affine, point: ArrayLike<number>): number {
  return f[0] * point[0] + f[1] * point[1] + f[2] * point[2] + f[3];
}

/** Returns f + factor · g. */
export function plus(f: Affine, factor: number, g: Affine): Affine {
  return [f[0] + factor * g[0], f[1] + factor * g[1], f[2] + factor * g[2], f[3] + factor * g[3]];
}

export function placed(place: Place, [x, y, z]: ArrayLike<number> & Iterable<number>): Vec3 {
  return [
    place[0] * x + place[3] * y + place[6] * z + place[9],
    place[1] * x + place[4] * y + place[7] * z + place[10],
    place[2] * x + place[5] * y + place[8] * z + place[11],
  ];
}

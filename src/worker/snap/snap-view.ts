import type { PickRay } from '../../shared/packed.js';
import type { SnapRequest } from '../../shared/protocol.js';
import type { Vec3 } from '../../shared/types.js';
import { cross, dot } from './vectors.js';

/** An affine function of a point: three factors and a constant. */
export type AffineFunction = readonly [number, number, number, number];

/** Twelve numbers: the columns of a map from a shape's space to the world. */
export type Transform = ArrayLike<number>;

/** How the world is drawn about the cursor: the functions of a SnapRequest. */
export interface Drawing {
  x: AffineFunction;
  y: AffineFunction;
  w: AffineFunction;
  near: AffineFunction;
  far: AffineFunction;
}

/** A view with a cursor in it. */
export class SnapView {
  readonly drawing: Drawing;
  /** The viewport, in pixels from the cursor: minimum x, minimum y, maximum x, maximum y. */
  readonly viewport: AffineFunction;

  constructor(numbers: SnapRequest['drawing']) {
    const functionAt = (at: number): AffineFunction => [numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]];
    this.drawing = { x: functionAt(0), y: functionAt(4), w: functionAt(8), near: functionAt(12), far: functionAt(16) };
    this.viewport = functionAt(20);
  }

  /** Whether the view rays are parallel. */
  get isParallel(): boolean {
    const [x, y, z] = this.drawing.w;
    return x === 0 && y === 0 && z === 0;
  }

  /** Makes a ray through the cursor hit points and lines that are drawn within `radius` pixels. */
  widenRay(ray: PickRay, radius: number): PickRay {
    const { x, y, w } = this.drawing;
    const radiusFunction = [radius * w[0], radius * w[1], radius * w[2], radius * valueAt(w, ray.origin)];
    return { ...ray, cone: [x[0], x[1], x[2], y[0], y[1], y[2], ...radiusFunction] };
  }

  /** Returns the part of the viewport within `radius` pixels of the cursor, along each axis. */
  clippedSquare(radius: number): readonly [number, number, number, number] {
    const [minX, minY, maxX, maxY] = this.viewport;
    return [Math.max(minX, -radius), Math.max(minY, -radius), Math.min(maxX, radius), Math.min(maxY, radius)];
  }

  /**
   * Returns the view ray at a place given in pixels from the cursor: its origin on the near plane, and its unit direction. It is
   * not finite without a near plane.
   */
  rayAt(p: number, q: number): [...Vec3, ...Vec3] {
    const { x, y, w, near } = this.drawing;
    // The ray lies where two functions are 0.
    const a = addScaled(x, -p, w);
    const b = addScaled(y, -q, w);
    const [v3, a3, b3] = [near, a, b].map(([s, t, u]): Vec3 => [s, t, u]);
    const direction = cross(a3, b3);
    const rise = dot(v3, direction);
    const [s, t] = [cross(b3, v3), cross(v3, a3)];
    const unit = Math.sign(rise) / Math.hypot(...direction);
    const at = (k: number) => -(near[3] * direction[k] + a[3] * s[k] + b[3] * t[k]) / rise;
    return [at(0), at(1), at(2), direction[0] * unit, direction[1] * unit, direction[2] * unit];
  }
}

export function valueAt(f: AffineFunction, point: ArrayLike<number>): number {
  return f[0] * point[0] + f[1] * point[1] + f[2] * point[2] + f[3];
}

/** Returns f + factor · g. */
export function addScaled(f: AffineFunction, factor: number, g: AffineFunction): AffineFunction {
  return [f[0] + factor * g[0], f[1] + factor * g[1], f[2] + factor * g[2], f[3] + factor * g[3]];
}

export function transformPoint(transform: Transform, [x, y, z]: ArrayLike<number> & Iterable<number>): Vec3 {
  return [
    transform[0] * x + transform[3] * y + transform[6] * z + transform[9],
    transform[1] * x + transform[4] * y + transform[7] * z + transform[10],
    transform[2] * x + transform[5] * y + transform[8] * z + transform[11],
  ];
}

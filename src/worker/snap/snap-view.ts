import { VIEW_DEPTH, VIEW_MATRIX, VIEW_PROJECTION, VIEW_REVERSED, VIEW_VIEWPORT } from '../../shared/layout.js';
import type { Cursor, ViewRecord } from '../../shared/protocol.js';
import type { Vec3 } from '../../shared/types.js';
import { cross, dot } from './vectors.js';

/** An affine function of a place: three factors and what is added. */
export type Affine = readonly [number, number, number, number];

/** Twelve numbers: the columns of a map from a shape's space to the world. */
export type Place = ArrayLike<number>;

/**
 * How places of one space are drawn about the cursor: where `w` is positive, x / w and y / w are pixels from the cursor, to the
 * right and up; `near` and `far` are positive between the planes of these names.
 */
export interface Drawing {
  x: Affine;
  y: Affine;
  w: Affine;
  near: Affine;
  far: Affine;
}

/** A view with a cursor in it. */
export class SnapView {
  /** Of the world. */
  readonly drawing: Drawing;
  /** The viewport, in pixels from the cursor: low x, low y, high x, high y. */
  readonly viewport: readonly [number, number, number, number];
  /** What is within the radius and the viewport, likewise, in clip space over w. */
  readonly bounds: readonly [number, number, number, number];

  /** Whether all that is drawn at one place of the screen lies on parallel lines. */
  readonly isParallel: boolean;

  constructor(record: ViewRecord, { x: px, y: py, radius }: Cursor) {
    const floats = new Float64Array(record.buffer, record.byteOffset);
    const [left, top, width, height] = floats.subarray(VIEW_VIEWPORT / 8, VIEW_VIEWPORT / 8 + 4);
    const view = floats.subarray(VIEW_MATRIX / 8, VIEW_MATRIX / 8 + 16);
    const projection = floats.subarray(VIEW_PROJECTION / 8, VIEW_PROJECTION / 8 + 16);
    const row = (k: number): Affine => {
      const [a, b, c, d] = [projection[k], projection[4 + k], projection[8 + k], projection[12 + k]];
      const at = (i: number) => a * view[i] + b * view[i + 1] + c * view[i + 2];
      return [at(0), at(4), at(8), at(12) + d];
    };
    const w = row(3);
    const z = row(2);
    this.isParallel = w[0] === 0 && w[1] === 0 && w[2] === 0;
    const cursorX = ((px - left) / width) * 2 - 1;
    const cursorY = 1 - ((py - top) / height) * 2;
    const low = plus(z, record[VIEW_DEPTH / 4] === 1 ? 0 : 1, w);
    const high = plus(w, -1, z);
    const isReversed = record[VIEW_REVERSED / 4] === 1;
    this.drawing = {
      x: times(plus(row(0), -cursorX, w), width / 2),
      y: times(plus(row(1), -cursorY, w), height / 2),
      w,
      near: isReversed ? high : low,
      far: isReversed ? low : high,
    };
    this.viewport = [left - px, py - top - height, left + width - px, py - top];
    const [lowX, lowY, highX, highY] = this.squareOf(radius);
    const clipOf = (pixels: number, cursor: number, size: number) => cursor + (2 * pixels) / size;
    this.bounds = [
      clipOf(lowX, cursorX, width),
      clipOf(lowY, cursorY, height),
      clipOf(highX, cursorX, width),
      clipOf(highY, cursorY, height),
    ];
  }

  /** Answers the part of the viewport within so many pixels of the cursor, along each axis. */
  squareOf(radius: number): readonly [number, number, number, number] {
    const [lowX, lowY, highX, highY] = this.viewport;
    return [Math.max(lowX, -radius), Math.max(lowY, -radius), Math.min(highX, radius), Math.min(highY, radius)];
  }

  /**
   * Answers the way on from the near plane at a place, in pixels from the cursor: where it begins, and its direction, of length 1.
   * It is not finite without a near plane.
   */
  wayAt(p: number, q: number): [...Vec3, ...Vec3] {
    const { x, y, w, near } = this.drawing;
    // What is drawn there lies where two functions are 0.
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

/** Answers f + factor · g. */
export function plus(f: Affine, factor: number, g: Affine): Affine {
  return [f[0] + factor * g[0], f[1] + factor * g[1], f[2] + factor * g[2], f[3] + factor * g[3]];
}

function times(f: Affine, factor: number): Affine {
  return [f[0] * factor, f[1] * factor, f[2] * factor, f[3] * factor];
}

export function placed(place: Place, [x, y, z]: ArrayLike<number> & Iterable<number>): Vec3 {
  return [
    place[0] * x + place[3] * y + place[6] * z + place[9],
    place[1] * x + place[4] * y + place[7] * z + place[10],
    place[2] * x + place[5] * y + place[8] * z + place[11],
  ];
}

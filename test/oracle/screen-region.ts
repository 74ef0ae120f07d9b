import { Matrix4, Vector3 } from 'three';
import { type HalfSpace, type OwnShape, solidIsIn, solidIsMet, triangleIsIn, triangleIsMet } from './half-spaces.js';
import { type HalfPlane, slabsOf } from './slabs.js';

export interface ScreenView {
  projection: ArrayLike<number>;
  view: ArrayLike<number>;
  viewport: { x: number; y: number; width: number; height: number };
  depth: 'webgl' | 'webgpu';
}

/** Triangles with three corners each, or a solid under a matrix. */
export type Body = { corners: Vector3[][] } | { shape: OwnShape; matrix: Matrix4 };

/** Tolerance in pixels, and of a plane in world units: closer to an edge than this, a result is uncertain. */
export interface Blur {
  pixels: number;
  depth: number;
}

/** A rectangle or a polygon in pixels, as half-spaces of the world; shrunk or expanded by `sign` times the tolerance. */
export class ScreenRegion {
  readonly #rows: HalfSpace[];
  readonly #view: ScreenView;
  readonly #blur: Blur;
  readonly #parts: HalfPlane[][];
  readonly #gaps: HalfPlane[][];
  readonly #kept: readonly (readonly HalfSpace[])[];
  /** Regions for `touches`, by the sign of the tolerance: each part of the region with each part of the kept world. */
  readonly #regions = new Map<number, HalfSpace[][]>();

  /** `kept`: the part of the world that is not clipped, as a union of convex parts, by half-spaces with unit normals. */
  constructor(
    view: ScreenView,
    points: readonly (readonly [number, number])[],
    blur: Blur,
    kept: readonly (readonly HalfSpace[])[] = [[]],
  ) {
    this.#kept = kept;
    this.#view = view;
    this.#blur = blur;
    const m = new Matrix4().fromArray(view.projection).multiply(new Matrix4().fromArray(view.view)).elements;
    this.#rows = [0, 1, 2, 3].map((row) => [m[row], m[4 + row], m[8 + row], m[12 + row]]);
    const slabs = slabsOf(points);
    this.#parts = slabs.inside;
    this.#gaps = slabs.outside;
  }

  /** Returns whether any part of the body is inside; null if that is uncertain. */
  touches(body: Body): boolean | null {
    const [sure, perhaps] = [-1, 1].map((sign) => this.#regionsOf(sign).some((region) => isMet(body, region)));
    return sure === perhaps ? sure : null;
  }

  #regionsOf(sign: number): HalfSpace[][] {
    let regions = this.#regions.get(sign);
    if (!regions) {
      regions = this.#parts.flatMap((part) => {
        const region = [...this.#depths(sign), ...this.#drawn([...part, ...this.#frame()], sign)];
        return this.#keptParts(sign).map((kept) => [...kept, ...region]);
      });
      this.#regions.set(sign, regions);
    }
    return regions;
  }

  /** Returns whether all unclipped parts of the body are inside, and there are any; null if that is uncertain. */
  encloses(body: Body): boolean | null {
    if (this.#kept.some((kept) => kept.length > 0)) return this.#enclosesKept(body);
    const [sure, perhaps] = [-1, 1].map((sign) => {
      if (!isIn(body, [...this.#depths(sign), ...this.#drawn(this.#frame(), sign)])) return false;
      return !this.#gaps.some((gap) => isMet(body, [...this.#depths(1), ...this.#drawn(gap, -sign)]));
    });
    return sure === perhaps ? sure : null;
  }

  #enclosesKept(body: Body): boolean | null {
    const [sure, perhaps] = [-1, 1].map((sign) => {
      if (!this.#keptParts(sign).some((kept) => isMet(body, kept))) return false;
      // No unclipped part is beyond a side of the region.
      const sides = [...this.#depths(sign), ...this.#drawn(this.#frame(), sign)];
      const beyond = sides.map(([x, y, z, w]) => [[-x, -y, -z, -w] as const]);
      const gaps = this.#gaps.map((gap) => [...this.#depths(1), ...this.#drawn(gap, -sign)]);
      return [...beyond, ...gaps].every((part) =>
        this.#keptParts(-sign).every((kept) => !isMet(body, [...part, ...kept])),
      );
    });
    return sure === perhaps ? sure : null;
  }

  /** The unclipped world, expanded by the tolerance. */
  #keptParts(sign: number): HalfSpace[][] {
    return this.#kept.map((part) => part.map(([x, y, z, w]) => [x, y, z, w + sign * this.#blur.depth]));
  }

  /** Converts from pixels, y down, to world space, expanded by the tolerance. */
  #drawn(halfPlanes: readonly HalfPlane[], sign: number): HalfSpace[] {
    const { x, y, width, height } = this.#view.viewport;
    const [rowX, rowY, , rowW] = this.#rows;
    return halfPlanes.map(([a, b, c]) => {
      // Pixels are x + width (1 + X / W) / 2 and y + height (1 - Y / W) / 2.
      const u = (a * width) / 2;
      const v = (-b * height) / 2;
      const w = a * (x + width / 2) + b * (y + height / 2) + c + sign * this.#blur.pixels;
      return [0, 1, 2, 3].map((i) => u * rowX[i] + v * rowY[i] + w * rowW[i]) as unknown as HalfSpace;
    });
  }

  #frame(): HalfPlane[] {
    const { x, y, width, height } = this.#view.viewport;
    return [
      [1, 0, -x],
      [-1, 0, x + width],
      [0, 1, -y],
      [0, -1, y + height],
    ];
  }

  #depths(sign: number): HalfSpace[] {
    const [, , z, w] = this.#rows;
    const low = this.#view.depth === 'webgl' ? 1 : 0;
    const ends = [z.map((value, i) => value + low * w[i]), z.map((value, i) => w[i] - value)];
    const scale = Math.hypot(z[0], z[1], z[2]);
    return ends
      .map((end) => ({ end, length: Math.hypot(end[0], end[1], end[2]) }))
      .filter(({ length }) => length > 1e-13 * scale) // else it is at infinity
      .map(({ end: [a, b, c, d], length }) => [
        a / length,
        b / length,
        c / length,
        d / length + sign * this.#blur.depth,
      ]);
  }
}

export function isMet(body: Body, halfSpaces: readonly HalfSpace[]): boolean {
  if ('shape' in body) return solidIsMet(body.shape, body.matrix, halfSpaces);
  return body.corners.some((corners) => triangleIsMet(corners, halfSpaces));
}

export function isIn(body: Body, halfSpaces: readonly HalfSpace[]): boolean {
  if ('shape' in body) return solidIsIn(body.shape, body.matrix, halfSpaces);
  return body.corners.every((corners) => triangleIsIn(corners, halfSpaces));
}

export function cornersOf({ positions, indices }: { positions: Float32Array; indices: Uint32Array }, matrix: Matrix4) {
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, i) => [corner(3 * i), corner(3 * i + 1), corner(3 * i + 2)]);
}

import { Matrix4, Vector3 } from 'three';
import {
  type HalfSpace,
  solidIntersects,
  solidIsInside,
  triangleIntersects,
  triangleIsInside,
  type UnitShape,
} from './half-spaces.js';
import { type HalfPlane, slabsOf } from './slabs.js';

export interface ScreenView {
  projection: ArrayLike<number>;
  view: ArrayLike<number>;
  viewport: { x: number; y: number; width: number; height: number };
  depth: 'webgl' | 'webgpu';
}

/** Triangles with three corners each, or a solid under a matrix. */
export type RegionBody = { corners: Vector3[][] } | { shape: UnitShape; matrix: Matrix4 };

/** Tolerance in pixels, and of a plane in world units: closer to an edge than this, a result is uncertain. */
export interface Tolerance {
  pixels: number;
  depth: number;
}

/** A rectangle or a polygon in pixels, as half-spaces of the world; shrunk or expanded by `sign` times the tolerance. */
export class ScreenRegion {
  readonly #rows: HalfSpace[];
  readonly #view: ScreenView;
  readonly #tolerance: Tolerance;
  readonly #insideParts: HalfPlane[][];
  readonly #outsideParts: HalfPlane[][];
  readonly #keptRegions: readonly (readonly HalfSpace[])[];
  /** Regions for `touches`, by the sign of the tolerance: each part of the region with each part of the kept world. */
  readonly #regions = new Map<number, HalfSpace[][]>();

  /** `keptRegions`: the part of the world that is not clipped, as a union of convex parts, by half-spaces with unit normals. */
  constructor(
    view: ScreenView,
    points: readonly (readonly [number, number])[],
    tolerance: Tolerance,
    keptRegions: readonly (readonly HalfSpace[])[] = [[]],
  ) {
    this.#keptRegions = keptRegions;
    this.#view = view;
    this.#tolerance = tolerance;
    const m = new Matrix4().fromArray(view.projection).multiply(new Matrix4().fromArray(view.view)).elements;
    this.#rows = [0, 1, 2, 3].map((row) => [m[row], m[4 + row], m[8 + row], m[12 + row]]);
    const slabs = slabsOf(points);
    this.#insideParts = slabs.inside;
    this.#outsideParts = slabs.outside;
  }

  /** Returns whether any part of the body is inside; null if that is uncertain. */
  touches(body: RegionBody): boolean | null {
    const [isCertain, isPossible] = [-1, 1].map((sign) =>
      this.#regionsOf(sign).some((region) => bodyIntersects(body, region)),
    );
    return isCertain === isPossible ? isCertain : null;
  }

  #regionsOf(sign: number): HalfSpace[][] {
    let regions = this.#regions.get(sign);
    if (!regions) {
      regions = this.#insideParts.flatMap((part) => {
        const region = [
          ...this.#depthHalfSpaces(sign),
          ...this.#toHalfSpaces([...part, ...this.#viewportHalfPlanes()], sign),
        ];
        return this.#keptParts(sign).map((keptPart) => [...keptPart, ...region]);
      });
      this.#regions.set(sign, regions);
    }
    return regions;
  }

  /** Returns whether all unclipped parts of the body are inside, and there are any; null if that is uncertain. */
  encloses(body: RegionBody): boolean | null {
    if (this.#keptRegions.some((keptPart) => keptPart.length > 0)) return this.#enclosesKept(body);
    const [isCertain, isPossible] = [-1, 1].map((sign) => {
      if (
        !bodyIsInside(body, [...this.#depthHalfSpaces(sign), ...this.#toHalfSpaces(this.#viewportHalfPlanes(), sign)])
      )
        return false;
      return !this.#outsideParts.some((gap) =>
        bodyIntersects(body, [...this.#depthHalfSpaces(1), ...this.#toHalfSpaces(gap, -sign)]),
      );
    });
    return isCertain === isPossible ? isCertain : null;
  }

  #enclosesKept(body: RegionBody): boolean | null {
    const [isCertain, isPossible] = [-1, 1].map((sign) => {
      if (!this.#keptParts(sign).some((keptPart) => bodyIntersects(body, keptPart))) return false;
      // No unclipped part is beyond a side of the region.
      const sides = [...this.#depthHalfSpaces(sign), ...this.#toHalfSpaces(this.#viewportHalfPlanes(), sign)];
      const outsideParts = sides.map(([x, y, z, w]) => [[-x, -y, -z, -w] as const]);
      const gaps = this.#outsideParts.map((gap) => [...this.#depthHalfSpaces(1), ...this.#toHalfSpaces(gap, -sign)]);
      return [...outsideParts, ...gaps].every((part) =>
        this.#keptParts(-sign).every((keptPart) => !bodyIntersects(body, [...part, ...keptPart])),
      );
    });
    return isCertain === isPossible ? isCertain : null;
  }

  /** The unclipped world, expanded by the tolerance. */
  #keptParts(sign: number): HalfSpace[][] {
    return this.#keptRegions.map((part) => part.map(([x, y, z, w]) => [x, y, z, w + sign * this.#tolerance.depth]));
  }

  /** Converts from pixels, y down, to world space, expanded by the tolerance. */
  #toHalfSpaces(halfPlanes: readonly HalfPlane[], sign: number): HalfSpace[] {
    const { x, y, width, height } = this.#view.viewport;
    const [rowX, rowY, , rowW] = this.#rows;
    return halfPlanes.map(([a, b, c]) => {
      // Pixels are x + width (1 + X / W) / 2 and y + height (1 - Y / W) / 2.
      const u = (a * width) / 2;
      const v = (-b * height) / 2;
      const w = a * (x + width / 2) + b * (y + height / 2) + c + sign * this.#tolerance.pixels;
      return [0, 1, 2, 3].map((i) => u * rowX[i] + v * rowY[i] + w * rowW[i]) as unknown as HalfSpace;
    });
  }

  #viewportHalfPlanes(): HalfPlane[] {
    const { x, y, width, height } = this.#view.viewport;
    return [
      [1, 0, -x],
      [-1, 0, x + width],
      [0, 1, -y],
      [0, -1, y + height],
    ];
  }

  #depthHalfSpaces(sign: number): HalfSpace[] {
    const [, , z, w] = this.#rows;
    const nearFactor = this.#view.depth === 'webgl' ? 1 : 0;
    const depthRows = [z.map((value, i) => value + nearFactor * w[i]), z.map((value, i) => w[i] - value)];
    const scale = Math.hypot(z[0], z[1], z[2]);
    return depthRows
      .map((end) => ({ end, length: Math.hypot(end[0], end[1], end[2]) }))
      .filter(({ length }) => length > 1e-13 * scale) // else it is at infinity
      .map(({ end: [a, b, c, d], length }) => [
        a / length,
        b / length,
        c / length,
        d / length + sign * this.#tolerance.depth,
      ]);
  }
}

export function bodyIntersects(body: RegionBody, halfSpaces: readonly HalfSpace[]): boolean {
  if ('shape' in body) return solidIntersects(body.shape, body.matrix, halfSpaces);
  return body.corners.some((corners) => triangleIntersects(corners, halfSpaces));
}

export function bodyIsInside(body: RegionBody, halfSpaces: readonly HalfSpace[]): boolean {
  if ('shape' in body) return solidIsInside(body.shape, body.matrix, halfSpaces);
  return body.corners.every((corners) => triangleIsInside(corners, halfSpaces));
}

export function worldTriangles(
  { positions, indices }: { positions: Float32Array; indices: Uint32Array },
  matrix: Matrix4,
) {
  const corner = (i: number) => new Vector3().fromArray(positions, 3 * indices[i]).applyMatrix4(matrix);
  return Array.from({ length: indices.length / 3 }, (_, i) => [corner(3 * i), corner(3 * i + 1), corner(3 * i + 2)]);
}

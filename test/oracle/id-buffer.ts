import { type Camera, Matrix4, Vector4 } from 'three';
import { boxMesh } from './meshes.js';
import type { PlacedShape } from './placed.js';

/** The cube that represents a box's bounds. */
const CUBE = boxMesh(2, 2, 2);

/** The sides of an object's faces that are drawn, as in three. */
export type DrawnSide = 'front' | 'back' | 'double';

/** An id buffer: the object at the centre of each pixel, rasterized triangle by triangle in float64. */
export class IdBuffer {
  readonly ids: Uint32Array;
  readonly #depths: Float64Array;
  readonly #width: number;
  readonly #height: number;
  readonly #clip: Matrix4;

  constructor(camera: Camera, width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.ids = new Uint32Array(width * height);
    this.#depths = new Float64Array(width * height).fill(Infinity);
    this.#clip = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  }

  get visible(): Set<number> {
    const visibleIds = new Set<number>();
    // Neighbouring pixels mostly have the same object.
    let previousId = 0;
    for (const id of this.ids) {
      if (id !== previousId && id !== 0) visibleIds.add(id);
      previousId = id;
    }
    return visibleIds;
  }

  draw({ id, shape, matrix }: PlacedShape, side: DrawnSide = 'double'): void {
    const { positions, indices } = shape.mesh ?? CUBE;
    const world = shape.mesh ? matrix : matrix.clone().multiply(shape.bounds);
    const clip = this.#clip.clone().multiply(world);
    const corners: Vector4[] = [];
    for (let i = 0; i < positions.length; i += 3) {
      corners.push(new Vector4(positions[i], positions[i + 1], positions[i + 2], 1).applyMatrix4(clip));
    }
    const isMirrored = world.determinant() < 0;
    for (let t = 0; t < indices.length; t += 3) {
      const triangle = [corners[indices[t]], corners[indices[t + 1]], corners[indices[t + 2]]];
      this.#drawPolygon(id, clipPolygon(clipPolygon(triangle, 1), -1), side, isMirrored);
    }
  }

  #drawPolygon(id: number, polygon: readonly Vector4[], side: DrawnSide, isMirrored: boolean): void {
    const points = polygon.map(({ x, y, z, w }) => [
      (0.5 + (0.5 * x) / w) * this.#width,
      (0.5 + (0.5 * y) / w) * this.#height,
      z / w,
    ]);
    for (let i = 2; i < points.length; i++) {
      const area = signedArea(points[0], points[i - 1], points[i]);
      const isFront = area > 0 !== isMirrored;
      if (area === 0 || (side !== 'double' && isFront !== (side === 'front'))) continue;
      this.#drawTriangle(id, points[0], points[i - 1], points[i], area);
    }
  }

  #drawTriangle(
    id: number,
    [ax, ay, az]: number[],
    [bx, by, bz]: number[],
    [cx, cy, cz]: number[],
    area: number,
  ): void {
    const x0 = Math.max(0, Math.floor(Math.min(ax, bx, cx) - 0.5));
    const x1 = Math.min(this.#width - 1, Math.ceil(Math.max(ax, bx, cx) - 0.5));
    const y0 = Math.max(0, Math.floor(Math.min(ay, by, cy) - 0.5));
    const y1 = Math.min(this.#height - 1, Math.ceil(Math.max(ay, by, cy) - 0.5));
    const [depths, ids, width, inverseArea] = [this.#depths, this.ids, this.#width, 1 / area];
    for (let y = y0; y <= y1; y++) {
      const py = y + 0.5;
      const [rowU, rowV] = [(cx - bx) * (py - by), (ax - cx) * (py - cy)];
      let wasInside = false;
      // A row begins at the leftmost edge that it crosses; a tolerance of one pixel covers rounding.
      const startX = Math.min(
        leftmostX(ax, ay, bx, by, py),
        leftmostX(bx, by, cx, cy, py),
        leftmostX(cx, cy, ax, ay, py),
      );
      for (let x = Math.max(x0, Math.floor(Math.min(startX, x1) - 0.5) - 1); x <= x1; x++) {
        const px = x + 0.5;
        const u = (rowU - (cy - by) * (px - bx)) * inverseArea;
        const v = (rowV - (ay - cy) * (px - cx)) * inverseArea;
        const w = 1 - u - v;
        if (u < 0 || v < 0 || w < 0) {
          // The pixels of a triangle in a row are contiguous.
          if (wasInside) break;
          continue;
        }
        wasInside = true;
        const depth = u * az + v * bz + w * cz;
        const at = y * width + x;
        if (depth >= depths[at]) continue;
        depths[at] = depth;
        ids[at] = id;
      }
    }
  }
}

/**
 * Position of an edge at the height y, or of its start if an end is near that height; beyond everything if the edge does not
 * reach it.
 */
function leftmostX(ax: number, ay: number, bx: number, by: number, y: number): number {
  const left = Math.min(ax, bx);
  if (Math.abs(ay - y) < 1e-3 || Math.abs(by - y) < 1e-3) return left;
  if (ay < y === by < y) return Infinity;
  return Math.max(left, ax + ((y - ay) / (by - ay)) * (bx - ax));
}

function signedArea(a: number[], b: number[], c: number[]): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/**
 * Clips a polygon against the near plane (1) or the far plane (-1) of clip space (Sutherland and Hodgman, Reentrant polygon
 * clipping, 1974).
 */
function clipPolygon(polygon: readonly Vector4[], sign: number): readonly Vector4[] {
  if (polygon.every(({ z, w }) => w + sign * z >= 0)) return polygon;
  return polygon.flatMap((corner, i) => {
    const next = polygon[(i + 1) % polygon.length];
    const [height, nextHeight] = [corner.w + sign * corner.z, next.w + sign * next.z];
    const corners = height >= 0 ? [corner] : [];
    return height >= 0 === nextHeight >= 0
      ? corners
      : [...corners, corner.clone().lerp(next, height / (height - nextHeight))];
  });
}

import { CLIP_SET_BYTES, CLIP_SET_INTERSECTION_COUNT, PRECISION_MESH } from '../../shared/layout.js';
import type { PickRay } from '../../shared/packed.js';
import type { Filter } from '../../shared/protocol.js';
import type { Vec3 } from '../../shared/types.js';
import type { CoreHit } from '../binding/hits.js';
import { type AffineFunction, addScaled, type SnapView, type Transform, transformPoint, valueAt } from './snap-view.js';
import { cross, dot, minus } from './vectors.js';

/** Cells along each axis at the finest level. */
const CELLS_PER_AXIS = 64;
const FINEST_LEVEL = 6;
/** A front is worth its rays if there are this many hidden points per ray: most picks find fewer. */
const HIDDEN_PER_RAY = 256;
/**
 * If more boxes than this turn out to be visible, net of VISIBLE_PER_HIDDEN for each hidden one, no more boxes are tested at this
 * depth.
 */
const MAX_VISIBLE_BOXES = 256;
const VISIBLE_PER_HIDDEN = 8;
/** Pixels by which the square is larger than the tested region, so that rounding leads to no place beyond it. */
const BORDER = 0.01;
/** An object hides points from a quarter of a pixel behind it on; where perspective varies within a cell, from less on. */
const MARGIN_PIXELS = 2;
/** Maximum distance in pixels of the fourth corner behind the plane of the others: rounding, which the margin covers. */
const FLATNESS_PIXELS = 0.01;

/**
 * Knows the foremost surfaces ("fronts") in the square about the cursor: a quadtree of cells, each of which is examined on first
 * use. If the rays at the four corners of a cell hit the same triangle first, that triangle occludes everything that is drawn in
 * the cell behind its plane, since it is convex; the front of a convex solid does the same. The more points have been hidden, the
 * finer are the cells that are examined, so that the rays for the cells never take longer than those that they save.
 */
export class Fronts {
  readonly #view: SnapView;
  readonly #cast: (ray: PickRay) => CoreHit | null;
  /** The square about the cursor: its minimum xy and its size. */
  readonly #minX: number;
  readonly #minY: number;
  readonly #width: number;
  readonly #height: number;
  /** Whether the part of a triangle that clipping planes leave is convex, and whether nothing is clipped off solids. */
  readonly #isConvex: boolean;
  readonly #areSolidsUnclipped: boolean;
  #hiddenPoints = 0;
  /** Number of boxes that were tested and are visible, less VISIBLE_PER_HIDDEN for each that is hidden. */
  #visibleBoxes = 0;
  /** The finest level that is examined, or -1. */
  #depth = -1;
  readonly #corners = new Map<number, (CoreHit & { direction: Vec3 }) | null>();
  /** Linear functions of the world that are negative for hidden points. */
  readonly #planes = new Map<number, AffineFunction | null>();

  /** `cast` returns the nearest hit of a ray. */
  constructor(view: SnapView, radius: number, filter: Filter, cast: (ray: PickRay) => CoreHit | null) {
    this.#view = view;
    this.#cast = cast;
    const [minX, minY, maxX, maxY] = view.clippedSquare(radius);
    this.#minX = minX - BORDER;
    this.#minY = minY - BORDER;
    this.#width = maxX - minX + 2 * BORDER;
    this.#height = maxY - minY + 2 * BORDER;
    const { clips, precision } = filter;
    const isCutOut = (word: number, i: number) =>
      word > 0 && i % (CLIP_SET_BYTES / 4) === CLIP_SET_INTERSECTION_COUNT / 4;
    this.#isConvex = !clips?.sets.some(isCutOut);
    this.#areSolidsUnclipped = clips === undefined && precision === PRECISION_MESH;
  }

  /** The finest level that is examined; it only increases. */
  get depth(): number {
    return this.#depth;
  }

  /** Adds `hiddenPoints` points that were found to be hidden, each by a ray, or that probably are. */
  countHidden(hiddenPoints: number): void {
    this.#hiddenPoints += hiddenPoints;
    const depth = Math.min(Math.max(Math.floor(Math.log2(this.#hiddenPoints / HIDDEN_PER_RAY) / 2), -1), FINEST_LEVEL);
    if (depth === this.#depth) return;
    this.#depth = depth;
    this.#visibleBoxes = 0;
  }

  /** Whether testing boxes is worthwhile: some of the recent ones were hidden. */
  get testsBoxes(): boolean {
    return this.#depth >= 0 && this.#visibleBoxes < MAX_VISIBLE_BOXES;
  }

  /** Returns the function that is negative for points hidden in the whole square; null if none. */
  get squareFront(): AffineFunction | null {
    return this.#planeOf(0, 0, 0);
  }

  /** Returns whether a point that is drawn at a position in the square, xy in pixels from the cursor, is certainly hidden. */
  hides(position: ArrayLike<number>, point: Vec3): boolean {
    const front = this.#frontAt(position[0], position[1], position[0], position[1]);
    return front !== null && valueAt(front, point) < 0;
  }

  /**
   * Returns whether the part of a box that is drawn in the square is certainly hidden. The box is minimum xyz and maximum xyz
   * under a map; `rect`: where it is drawn, minimum xy and maximum xy in pixels from the cursor.
   */
  hidesBox(transform: Transform, box: ArrayLike<number>, rect: ArrayLike<number>): boolean {
    const front = this.#frontAt(rect[0], rect[1], rect[2], rect[3]);
    const isHidden = front !== null && isBehind(front, transform, box);
    this.#visibleBoxes = isHidden ? Math.max(this.#visibleBoxes - VISIBLE_PER_HIDDEN, 0) : this.#visibleBoxes + 1;
    return isHidden;
  }

  /**
   * Finds the front of a screen rectangle, or of its part in the square: in the largest cell that contains it and has a front.
   */
  #frontAt(minX: number, minY: number, maxX: number, maxY: number): AffineFunction | null {
    let front: AffineFunction | null = null;
    for (let level = 0; level <= this.#depth && front === null; level++) {
      const cellOf = (value: number, min: number, size: number) =>
        Math.min(Math.max(Math.floor(((value - min) / size) * 2 ** level), 0), 2 ** level - 1);
      const i = cellOf(minX, this.#minX, this.#width);
      const j = cellOf(minY, this.#minY, this.#height);
      if (cellOf(maxX, this.#minX, this.#width) !== i || cellOf(maxY, this.#minY, this.#height) !== j) break;
      front = this.#planeOf(level, i, j);
    }
    return front;
  }

  #planeOf(level: number, i: number, j: number): AffineFunction | null {
    const key = (level * CELLS_PER_AXIS + j) * CELLS_PER_AXIS + i;
    let plane = this.#planes.get(key);
    if (plane === undefined) {
      plane = this.#frontOf(level, i, j);
      this.#planes.set(key, plane);
    }
    return plane;
  }

  /** Finds the plane of the front of a cell, moved back a little. */
  #frontOf(level: number, i: number, j: number): AffineFunction | null {
    if (!this.#isConvex) return null;
    const step = CELLS_PER_AXIS >> level;
    const cornerOf = (k: number) => this.#cornerAt((i + (k & 1)) * step, (j + (k >> 1)) * step);
    const a = cornerOf(0);
    if (a === null) return null;
    let isFlat = true;
    let isEntered = dot(a.normal, a.direction) < 0;
    const points = [a.point];
    for (let k = 1; k < 4; k++) {
      const b = cornerOf(k);
      if (b === null || b.object !== a.object || b.triangle !== a.triangle || b.bone !== a.bone) return null;
      isFlat &&= b.normal.every((value, axis) => value === a.normal[axis]);
      isEntered &&= dot(b.normal, b.direction) < 0;
      points.push(b.point);
    }
    // All corners lie on one triangle or face, or on a solid that the rays enter there.
    if (a.triangle < 0 && !isFlat && !(this.#areSolidsUnclipped && isEntered)) return null;
    const u = minus(points[1], points[0]);
    const n = cross(u, minus(points[2], points[0]));
    // Towards the origin of the rays.
    const unit = (dot(n, a.direction) > 0 ? -1 : 1) / Math.hypot(...n);
    const normal: Vec3 = [n[0] * unit, n[1] * unit, n[2] * unit];
    const pixel = (Math.hypot(...u) * 2 ** level) / this.#width;
    // A solid contains both triangles between the four points: the plane of one must not be in front of the other.
    if (!(dot(normal, minus(points[3], points[0])) >= -FLATNESS_PIXELS * pixel)) return null;
    const { w } = this.#view.drawing;
    const minDepth = Math.min(...points.map((point) => valueAt(w, point)));
    return addScaled([...normal, -dot(normal, points[0])], (MARGIN_PIXELS * pixel) / minDepth, w);
  }

  #cornerAt(i: number, j: number): (CoreHit & { direction: Vec3 }) | null {
    const key = j * (CELLS_PER_AXIS + 1) + i;
    let corner = this.#corners.get(key);
    if (corner === undefined) {
      const [x, y, z, ...way] = this.#view.rayAt(
        this.#minX + (this.#width * i) / CELLS_PER_AXIS,
        this.#minY + (this.#height * j) / CELLS_PER_AXIS,
      );
      const hit = Number.isFinite(x) ? this.#cast({ origin: [x, y, z], direction: way }) : null;
      // Points and lines hide nothing.
      corner = hit && hit.element === hit.triangle ? { ...hit, direction: way } : null;
      this.#corners.set(key, corner);
    }
    return corner;
  }
}

/** Returns whether a linear function of the world is negative in all of a box under a map. */
function isBehind(f: AffineFunction, transform: Transform, box: ArrayLike<number>): boolean {
  let maxValue = valueAt(f, transformPoint(transform, [0, 0, 0]));
  for (let k = 0; k < 3; k++) {
    const slope = f[0] * transform[3 * k] + f[1] * transform[3 * k + 1] + f[2] * transform[3 * k + 2];
    maxValue += slope * box[slope > 0 ? 3 + k : k];
  }
  return maxValue < 0;
}

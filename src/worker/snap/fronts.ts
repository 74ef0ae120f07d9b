import { CLIP_SET_BYTES, CLIP_SET_INTERSECTION_COUNT, PRECISION_MESH } from '../../shared/layout.js';
import type { Filter, PickRay } from '../../shared/protocol.js';
import type { Vec3 } from '../../shared/types.js';
import type { CoreHit } from '../binding/hits.js';
import { type Affine, type Place, placed, plus, type SnapView, valueAt } from './snap-view.js';
import { cross, dot, minus } from './vectors.js';

/** Cells along each axis at the finest level. */
const CELLS = 64;
const FINEST = 6;
/** So many hidden points for each ray that is cast to find a front make it worth its time: most picks find fewer. */
const HIDDEN_PER_RAY = 256;
/** Where more boxes are seen than this, and so many more for each one that is hidden, no more are asked about at this depth. */
const MOST_SEEN = 256;
const SEEN_PER_HIDDEN = 8;
/** Pixels by which the square is larger than what is asked about, so that rounding leads to no place beyond it. */
const BORDER = 0.01;
/** A thing hides a point from a quarter of a pixel before it; where perspective differs in a cell, less than this. */
const MARGIN_PIXELS = 2;
/** So many pixels the fourth corner may lie behind the plane of the others: rounding, which the margin has room for. */
const FLATNESS_PIXELS = 0.01;

/**
 * Knows what is in front in parts of the square about the cursor: a quadtree of cells, each of which is examined when
 * somebody first asks. Where the rays at the four corners of a cell meet one triangle first, that triangle hides all that is
 * drawn in the cell behind its plane, as it is convex; so does the front of a convex solid. Finer cells are examined the more
 * points have been hidden, so that the rays for them never take longer than those that they save.
 */
export class Fronts {
  readonly #view: SnapView;
  readonly #cast: (ray: PickRay) => CoreHit | null;
  /** The square about the cursor: low xy and its size. */
  readonly #x: number;
  readonly #y: number;
  readonly #width: number;
  readonly #height: number;
  /** Whether what planes leave of a triangle is convex, and whether nothing is cut out of a solid. */
  readonly #isConvex: boolean;
  readonly #isWhole: boolean;
  #hidden = 0;
  /** Boxes that have been asked about and are not hidden, less some for each that is. */
  #boxes = 0;
  /** The finest level that is examined, or -1. */
  #depth = -1;
  readonly #corners = new Map<number, (CoreHit & { way: Vec3 }) | null>();
  /** Functions of the world that are negative for what is hidden. */
  readonly #planes = new Map<number, Affine | null>();

  /** `cast` answers what a ray meets first. */
  constructor(view: SnapView, radius: number, filter: Filter, cast: (ray: PickRay) => CoreHit | null) {
    this.#view = view;
    this.#cast = cast;
    const [lowX, lowY, highX, highY] = view.squareOf(radius);
    this.#x = lowX - BORDER;
    this.#y = lowY - BORDER;
    this.#width = highX - lowX + 2 * BORDER;
    this.#height = highY - lowY + 2 * BORDER;
    const { clips, precision } = filter;
    const isCutOut = (word: number, i: number) =>
      word > 0 && i % (CLIP_SET_BYTES / 4) === CLIP_SET_INTERSECTION_COUNT / 4;
    this.#isConvex = !clips?.sets.some(isCutOut);
    this.#isWhole = clips === undefined && precision === PRECISION_MESH;
  }

  /** The finest level that is examined; it becomes greater. */
  get depth(): number {
    return this.#depth;
  }

  /** Notes that so many more points have been found to be hidden, each by a ray, or are likely to be. */
  count(hidden: number): void {
    this.#hidden += hidden;
    const depth = Math.min(Math.max(Math.floor(Math.log2(this.#hidden / HIDDEN_PER_RAY) / 2), -1), FINEST);
    if (depth === this.#depth) return;
    this.#depth = depth;
    this.#boxes = 0;
  }

  /** Whether it is worth its time to ask about boxes: some of those of late were hidden. */
  get hideBoxes(): boolean {
    return this.#depth >= 0 && this.#boxes < MOST_SEEN;
  }

  /** Returns the function that is negative for what is hidden in the whole square; null where there is none. */
  get whole(): Affine | null {
    return this.#planeOf(0, 0, 0);
  }

  /** Returns whether a point that is drawn at a place of the square, xy in pixels from the cursor, is surely hidden. */
  hides(place: ArrayLike<number>, point: Vec3): boolean {
    const front = this.#frontAt(place[0], place[1], place[0], place[1]);
    return front !== null && valueAt(front, point) < 0;
  }

  /**
   * Returns whether all of a box that is drawn in the square is surely hidden. The box is low xyz and high xyz under a map;
   * `rect`: where it is drawn, low xy and high xy in pixels from the cursor.
   */
  hidesBox(place: Place, box: ArrayLike<number>, rect: ArrayLike<number>): boolean {
    const front = this.#frontAt(rect[0], rect[1], rect[2], rect[3]);
    const isHidden = front !== null && isBehind(front, place, box);
    this.#boxes = isHidden ? Math.max(this.#boxes - SEEN_PER_HIDDEN, 0) : this.#boxes + 1;
    return isHidden;
  }

  /** Finds what is in front of a rectangle of the screen, or of what of it is in the square: in the largest cell that holds it and has a front. */
  #frontAt(lowX: number, lowY: number, highX: number, highY: number): Affine | null {
    let front: Affine | null = null;
    for (let level = 0; level <= this.#depth && front === null; level++) {
      const cellOf = (value: number, low: number, size: number) =>
        Math.min(Math.max(Math.floor(((value - low) / size) * 2 ** level), 0), 2 ** level - 1);
      const i = cellOf(lowX, this.#x, this.#width);
      const j = cellOf(lowY, this.#y, this.#height);
      if (cellOf(highX, this.#x, this.#width) !== i || cellOf(highY, this.#y, this.#height) !== j) break;
      front = this.#planeOf(level, i, j);
    }
    return front;
  }

  #planeOf(level: number, i: number, j: number): Affine | null {
    const key = (level * CELLS + j) * CELLS + i;
    let plane = this.#planes.get(key);
    if (plane === undefined) {
      plane = this.#frontOf(level, i, j);
      this.#planes.set(key, plane);
    }
    return plane;
  }

  /** Finds the plane of what is in front in a cell, a little behind it. */
  #frontOf(level: number, i: number, j: number): Affine | null {
    if (!this.#isConvex) return null;
    const step = CELLS >> level;
    const cornerOf = (k: number) => this.#cornerAt((i + (k & 1)) * step, (j + (k >> 1)) * step);
    const a = cornerOf(0);
    if (a === null) return null;
    let isFlat = true;
    let isEntered = dot(a.normal, a.way) < 0;
    const points = [a.point];
    for (let k = 1; k < 4; k++) {
      const b = cornerOf(k);
      if (b === null || b.object !== a.object || b.triangle !== a.triangle || b.bone !== a.bone) return null;
      isFlat &&= b.normal.every((value, axis) => value === a.normal[axis]);
      isEntered &&= dot(b.normal, b.way) < 0;
      points.push(b.point);
    }
    // All corners lie on one triangle or face, or in a solid that is entered there.
    if (a.triangle < 0 && !isFlat && !(this.#isWhole && isEntered)) return null;
    const u = minus(points[1], points[0]);
    const n = cross(u, minus(points[2], points[0]));
    // Towards where the rays come from.
    const unit = (dot(n, a.way) > 0 ? -1 : 1) / Math.hypot(...n);
    const normal: Vec3 = [n[0] * unit, n[1] * unit, n[2] * unit];
    const pixel = (Math.hypot(...u) * 2 ** level) / this.#width;
    // A solid holds both triangles between the four points: the plane of one must not be before the other.
    if (!(dot(normal, minus(points[3], points[0])) >= -FLATNESS_PIXELS * pixel)) return null;
    const { w } = this.#view.drawing;
    const least = Math.min(...points.map((point) => valueAt(w, point)));
    return plus([...normal, -dot(normal, points[0])], (MARGIN_PIXELS * pixel) / least, w);
  }

  #cornerAt(i: number, j: number): (CoreHit & { way: Vec3 }) | null {
    const key = j * (CELLS + 1) + i;
    let corner = this.#corners.get(key);
    if (corner === undefined) {
      const [x, y, z, ...way] = this.#view.wayAt(
        this.#x + (this.#width * i) / CELLS,
        this.#y + (this.#height * j) / CELLS,
      );
      const hit = Number.isFinite(x) ? this.#cast({ origin: [x, y, z], direction: way }) : null;
      // Points and lines hide nothing.
      corner = hit && hit.element === hit.triangle ? { ...hit, way } : null;
      this.#corners.set(key, corner);
    }
    return corner;
  }
}

/** Returns whether a function of the world is negative in all of a box under a map. */
function isBehind(f: Affine, place: Place, box: ArrayLike<number>): boolean {
  let most = valueAt(f, placed(place, [0, 0, 0]));
  for (let k = 0; k < 3; k++) {
    const slope = f[0] * place[3 * k] + f[1] * place[3 * k + 1] + f[2] * place[3 * k + 2];
    most += slope * box[slope > 0 ? 3 + k : k];
  }
  return most < 0;
}

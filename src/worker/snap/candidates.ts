import {
  SIDE_BACK,
  SIDE_DOUBLE,
  SIDE_FRONT,
  SNAP_CENTER,
  SNAP_EDGE,
  SNAP_MIDPOINT,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { Clips } from '../../shared/protocol.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import type { SnapTarget } from '../binding/snaps.js';
import { type Features, visitItems } from './features.js';
import { keptParts } from './kept-parts.js';
import { ENDS_RUN, STARTS_RUN } from './runs.js';
import { type Affine, type Drawing, placed, plus, type SnapView, times, valueAt } from './snap-view.js';

/** What float64 may make of a plane's value in a box, relative to its terms. */
const ROUNDING = 1e-12;

/** A feature that is drawn near the cursor, if nothing hides it. */
export interface Candidate {
  /** SNAP_*. */
  kind: number;
  object: ObjectId;
  point: Vec3;
  pixels: number;
  /** The order of depths: larger is farther away. */
  depth: number;
  a: Vec3;
  b: Vec3;
  /** Of a centre. */
  radius: number;
  axis: Vec3 | undefined;
  /** The triangle, line or point that it is of, as the mesh was given; -1 of other shapes. */
  element: number;
  /** The corners of that, in the world. */
  corners: Vec3[];
  /** Whether the element is a triangle. */
  isFace: boolean;
  /** Whether the object's map turns it inside out. */
  isMirrored: boolean;
  /** What makes the feature one of its object: candidates with equal numbers are at one place. */
  key: number;
}

/** Reads elements of a mesh by their slots. */
export interface FaceReader {
  corner(slot: number, corner: number): Vec3;
  numberOf(slot: number): number;
}

/** Which sides of a triangle show, SIDE_*. */
export type SidesOf = (object: ObjectId, triangle: number) => number;

/** What a pick asks of all objects. */
export interface SnapQuestion {
  view: SnapView;
  radius: number;
  /** SNAP_*, a bit each. */
  kinds: number;
  clips: Clips | undefined;
  sidesOf: SidesOf;
}

/** What there is to know of an object. */
export interface SnapObject {
  target: SnapTarget;
  features: Features;
  /** Whether vertices are elsewhere than where the features were found. */
  isMoved: boolean;
  faces: FaceReader;
}

/** Lists the features of an object that are drawn within the radius, and of which an element shows. */
export function listCandidates(question: SnapQuestion, object: SnapObject, add: (candidate: Candidate) => void): void {
  new ObjectCandidates(question, object, add).list();
}

class ObjectCandidates {
  readonly #question: SnapQuestion;
  readonly #target: SnapTarget;
  readonly #features: Features;
  readonly #faces: FaceReader;
  readonly #isMoved: boolean;
  readonly #add: (candidate: Candidate) => void;
  readonly #drawing: Drawing;
  /** Bounds of the square about the cursor, and of depth. */
  readonly #planes: readonly Affine[];
  readonly #edgeCount: number;
  /** 1 where a triangle that is drawn counter-clockwise shows its front, -1 where it is the other way. */
  readonly #facing: number;
  readonly #isMirrored: boolean;
  readonly #seen = new Set<number>();

  constructor(
    question: SnapQuestion,
    { target, features, isMoved, faces }: SnapObject,
    add: (candidate: Candidate) => void,
  ) {
    this.#question = question;
    this.#target = target;
    this.#features = features;
    this.#faces = faces;
    this.#isMoved = isMoved;
    this.#add = add;
    this.#drawing = question.view.of(target.place);
    this.#edgeCount = features.edges.length / 2;
    const { x, y, w, near, far } = this.#drawing;
    const [lowX, lowY, highX, highY] = question.view.square;
    this.#planes = [
      plus(x, -lowX, w),
      plus(y, -lowY, w),
      plus(times(w, highX), -1, x),
      plus(times(w, highY), -1, y),
      near,
      far,
    ];
    const { place } = target;
    this.#isMirrored = determinant(columnOf(place, 0), columnOf(place, 1), columnOf(place, 2)) < 0;
    this.#facing = -Math.sign(determinant(x, y, near));
  }

  list(): void {
    const { order } = this.#features;
    const visit = this.#features.size === 1 ? this.#lookAtPoint : this.#lookAt;
    if (this.#isMoved) for (const item of order) visit(item);
    else visitItems(this.#features, this.#isPassed, visit);
  }

  /** Tells whether a box is surely not drawn within the square. */
  readonly #isPassed = (boxes: Float32Array, at: number): boolean => {
    for (const plane of this.#planes) if (isBehind(plane, boxes, at)) return true;
    return false;
  };

  /** Answers a vertex in the space of the shape, where its pose has it. */
  #vertex(i: number): Vec3 {
    const { points, corners, size } = this.#features;
    if (this.#isMoved) return this.#faces.corner(Math.floor(corners[i] / size), corners[i] % size);
    return [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
  }

  readonly #lookAtPoint = (item: number): void => {
    if (this.#question.kinds & SNAP_VERTEX) this.#addVertex(item, this.#features.corners[item]);
  };

  readonly #lookAt = (item: number): void => {
    if (item >= this.#edgeCount) {
      // Circles are of the mesh at rest.
      if (this.#question.kinds & SNAP_CENTER && !this.#isMoved) this.#addCenter(item - this.#edgeCount);
      return;
    }
    const kinds = this.#question.kinds;
    const { edges, flags, runs, middleEdges, middles } = this.#features;
    const [i, k] = [edges[2 * item], edges[2 * item + 1]];
    const [p, q] = [this.#vertex(i), this.#vertex(k)];
    // The part of the edge that is drawn decides for all that is on it.
    const nearest = this.#nearestOf(p, q);
    if (nearest === null) return;
    const slot = this.#shownFace(item);
    if (slot < 0) return;
    if (kinds & SNAP_VERTEX && flags[item] & STARTS_RUN) this.#addVertex(i, slot, p);
    if (kinds & SNAP_VERTEX && flags[item] & ENDS_RUN) this.#addVertex(k, slot, q);
    const run = runs[item];
    if (kinds & SNAP_MIDPOINT && middleEdges[run] === item) {
      this.#addPoint(SNAP_MIDPOINT, between(p, q, middles[run]), slot, 4 * run + 1, () => this.#runEnds(item));
    }
    if (kinds & SNAP_EDGE && this.#isNew(4 * item + 3)) {
      const [a, b] = this.#runEnds(item);
      const { place } = this.#target;
      const point = placed(place, between(p, q, nearest.at));
      this.#emit({ kind: SNAP_EDGE, point, pixels: nearest.pixels, a, b, slot, key: 4 * item + 3 });
    }
  };

  /** Answers the ends of an edge's run, in the world; of a posed mesh, those of the edge itself, as runs bend. */
  #runEnds(edge: number): [Vec3, Vec3] {
    const { edges, runs, runEnds } = this.#features;
    const [from, at] = this.#isMoved ? [edges, edge] : [runEnds, runs[edge]];
    const { place } = this.#target;
    return [placed(place, this.#vertex(from[2 * at])), placed(place, this.#vertex(from[2 * at + 1]))];
  }

  #addVertex(vertex: number, slot: number, at = this.#vertex(vertex)): void {
    this.#addPoint(SNAP_VERTEX, at, slot, 4 * vertex, (point) => [point, point]);
  }

  #addCenter(circle: number): void {
    const { circles, circleEnds, circleStarts, circleEdges } = this.#features;
    let slot = -1;
    for (let i = circleStarts[circle]; slot < 0 && i < circleStarts[circle + 1]; i++) {
      slot = this.#shownFace(circleEdges[i]);
    }
    if (slot < 0) return;
    const [x, y, z, u, v, w, radius] = circles.subarray(7 * circle, 7 * circle + 7);
    const { place } = this.#target;
    const ends = [0, 1].map((k) => placed(place, this.#vertex(circleEnds[2 * circle + k])));
    this.#addPoint(SNAP_CENTER, [x, y, z], slot, 4 * circle + 2, () => [ends[0], ends[1]], {
      axis: normalIn(place, [u, v, w]),
      radius: radiusIn(place, [u, v, w], radius),
    });
  }

  #isNew(key: number): boolean {
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  #addPoint(
    kind: number,
    at: Vec3,
    slot: number,
    key: number,
    ends: (point: Vec3) => [Vec3, Vec3],
    round?: { axis: Vec3; radius: number },
  ): void {
    const { x, y, w, near, far } = this.#drawing;
    const depth = valueAt(w, at);
    if (!(depth > 0 && valueAt(near, at) >= 0 && valueAt(far, at) >= 0)) return;
    const [px, py] = [valueAt(x, at) / depth, valueAt(y, at) / depth];
    const pixels = Math.hypot(px, py);
    const [lowX, lowY, highX, highY] = this.#question.view.viewport;
    if (!(pixels <= this.#question.radius && px >= lowX && px <= highX && py >= lowY && py <= highY)) return;
    if (!this.#isNew(key)) return;
    const point = placed(this.#target.place, at);
    if (keptParts(this.#question.clips, this.#target.clipSet, point, point).length === 0) return;
    const [a, b] = ends(point);
    this.#emit({ kind, point, pixels, a, b, slot, key, ...round });
  }

  #emit(found: {
    kind: number;
    point: Vec3;
    pixels: number;
    a: Vec3;
    b: Vec3;
    slot: number;
    key: number;
    radius?: number;
    axis?: Vec3;
  }): void {
    const { size } = this.#features;
    const { object, place } = this.#target;
    const { slot, radius = 0, axis, ...rest } = found;
    const depth = valueAt(this.#question.view.drawing.near, found.point);
    const corners = Array.from({ length: size }, (_, k) => placed(place, this.#faces.corner(slot, k)));
    this.#add({
      ...rest,
      object,
      depth,
      radius,
      axis,
      element: this.#faces.numberOf(slot),
      corners,
      isFace: size === 3,
      isMirrored: this.#isMirrored,
    });
  }

  /**
   * Finds where what is drawn of a segment is nearest to the cursor: how far along it, and how many pixels away. Null where that
   * is farther than the radius.
   */
  #nearestOf(p: Vec3, q: Vec3): { at: number; pixels: number } | null {
    const { x, y, w, near, far } = this.#drawing;
    const [lowX, lowY, highX, highY] = this.#question.view.viewport;
    const [x0, y0, w0] = [valueAt(x, p), valueAt(y, p), valueAt(w, p)];
    const [x1, y1, w1] = [valueAt(x, q), valueAt(y, q), valueAt(w, q)];
    const part: [number, number] = [0, 1];
    keep(part, w0, w1);
    keep(part, valueAt(near, p), valueAt(near, q));
    keep(part, valueAt(far, p), valueAt(far, q));
    keep(part, x0 - lowX * w0, x1 - lowX * w1);
    keep(part, highX * w0 - x0, highX * w1 - x1);
    keep(part, y0 - lowY * w0, y1 - lowY * w1);
    keep(part, highY * w0 - y0, highY * w1 - y1);
    if (!(part[0] <= part[1])) return null;
    const { place, clipSet } = this.#target;
    let best: { at: number; pixels: number } | null = null;
    const kept =
      this.#question.clips === undefined
        ? [part]
        : keptParts(this.#question.clips, clipSet, placed(place, p), placed(place, q));
    for (const [low, high] of kept) {
      const [s, t] = [Math.max(low, part[0]), Math.min(high, part[1])];
      if (!(s <= t)) continue;
      const ws = w0 + s * (w1 - w0);
      const wt = w0 + t * (w1 - w0);
      if (!(ws > 0 && wt > 0)) continue;
      const [u, v] = [(x0 + s * (x1 - x0)) / ws, (y0 + s * (y1 - y0)) / ws];
      const [du, dv] = [(x0 + t * (x1 - x0)) / wt - u, (y0 + t * (y1 - y0)) / wt - v];
      const square = du * du + dv * dv;
      const end = valueAt(near, p) <= valueAt(near, q) ? 0 : 1;
      const share = square > 0 ? Math.min(Math.max(-(u * du + v * dv) / square, 0), 1) : end;
      const pixels = Math.hypot(u + share * du, v + share * dv);
      if (!(pixels <= this.#question.radius) || (best !== null && pixels >= best.pixels)) continue;
      // Back from the screen, where what is far is drawn shorter.
      best = { at: s + (t - s) * ((share * ws) / (share * ws + (1 - share) * wt)), pixels };
    }
    return best;
  }

  /** Answers the slot of an element beside an edge of which a side shows that is asked for; -1 where there is none. */
  #shownFace(edge: number): number {
    const { faceStarts, faces, size } = this.#features;
    const { object, sides } = this.#target;
    if (size !== 3 || sides === SIDE_DOUBLE) return faces[faceStarts[edge]];
    for (let i = faceStarts[edge]; i < faceStarts[edge + 1]; i++) {
      const slot = faces[i];
      const shown = sides ?? this.#question.sidesOf(object, this.#faces.numberOf(slot));
      if (shown === SIDE_DOUBLE) return slot;
      const turn = this.#turnOf(slot) * this.#facing;
      if ((turn > 0 && shown & SIDE_FRONT) || (turn < 0 && shown & SIDE_BACK)) return slot;
    }
    return -1;
  }

  /**
   * Answers a number that is positive where a triangle is drawn counter-clockwise, whatever of it is behind the eye (Olano and
   * Greer, "Triangle scan conversion using 2D homogeneous coordinates", 1997).
   */
  #turnOf(slot: number): number {
    const { x, y, w } = this.#drawing;
    const rows = [0, 1, 2].map((k): Affine => {
      const corner = this.#faces.corner(slot, k);
      return [valueAt(x, corner), valueAt(y, corner), valueAt(w, corner), 0];
    });
    return determinant(rows[0], rows[1], rows[2]);
  }
}

/** Narrows a part of a segment to where a function is not negative, by its values at both ends. */
function keep(part: [number, number], from: number, to: number): void {
  if (from >= 0 && to >= 0) return;
  if (from < 0 && to < 0) part[1] = -1;
  else if (from < 0) part[0] = Math.max(part[0], from / (from - to));
  else part[1] = Math.min(part[1], from / (from - to));
}

/** Tells whether a function is surely negative in a box. */
function isBehind(plane: Affine, boxes: Float32Array, at: number): boolean {
  let value = plane[3];
  let size = Math.abs(value);
  for (let k = 0; k < 3; k++) {
    const most = plane[k] * (plane[k] > 0 ? boxes[at + 3 + k] : boxes[at + k]);
    value += most;
    size += Math.abs(most);
  }
  return value < -ROUNDING * size;
}

function between(p: Vec3, q: Vec3, share: number): Vec3 {
  return [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1]), p[2] + share * (q[2] - p[2])];
}

function determinant(a: ArrayLike<number>, b: ArrayLike<number>, c: ArrayLike<number>): number {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

function columnOf(place: ArrayLike<number>, k: number): Vec3 {
  return [place[3 * k], place[3 * k + 1], place[3 * k + 2]];
}

/** Answers a normal in the world, of length 1: by the cofactors of the map. */
function normalIn(place: ArrayLike<number>, [x, y, z]: Vec3): Vec3 {
  const columns = [0, 1, 2].map((k) => columnOf(place, k));
  const [a, b, c] = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])];
  const normal = [0, 1, 2].map((k) => x * a[k] + y * b[k] + z * c[k]);
  const length = Math.hypot(...normal);
  return [normal[0] / length, normal[1] / length, normal[2] / length];
}

/** Answers the largest radius of what a map makes of a circle. */
function radiusIn(place: ArrayLike<number>, axis: Vec3, radius: number): number {
  const other: Vec3 = Math.abs(axis[0]) < 0.5 ? [1, 0, 0] : [0, 1, 0];
  const u = cross(axis, other);
  const length = Math.hypot(...u);
  const [p, q] = [
    u.map((each) => each / length) as unknown as Vec3,
    cross(axis, u).map((each) => each / length) as unknown as Vec3,
  ];
  const map = ([x, y, z]: Vec3) => [0, 1, 2].map((k) => place[k] * x + place[3 + k] * y + place[6 + k] * z);
  const [a, b] = [map(p), map(q)];
  const [aa, bb, ab] = [0, 1, 2].reduce(
    (sums, k) => [sums[0] + a[k] * a[k], sums[1] + b[k] * b[k], sums[2] + a[k] * b[k]],
    [0, 0, 0],
  );
  const half = (aa + bb) / 2;
  return radius * Math.sqrt(half + Math.hypot((aa - bb) / 2, ab));
}

function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

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
import { levelsOf, WIDTH } from './box-tree.js';
import type { Features } from './features.js';
import { keptParts } from './kept-parts.js';
import { type Ranked, type Ring, stepsOf } from './ring.js';
import { ENDS_RUN, STARTS_RUN } from './runs.js';
import { type Drawing, placed, type SnapView, valueAt } from './snap-view.js';

/** What float64 may make of a plane's value in a box, relative to its terms. */
const ROUNDING = 1e-12;
/** Four about the cursor, near and far. */
const PLANES = 6;

/** A feature that is drawn near the cursor, if it shows and nothing hides it. */
export interface Candidate extends Ranked {
  /** SNAP_*. */
  kind: number;
  of: ObjectCandidates;
  /** Where it is, in the shape's own space. */
  at: Vec3;
  pixels: number;
  /** The pixels in steps in which they are told apart: ring.ts. */
  steps: number;
  /** The order of depths: larger is farther away. */
  depth: number;
  /** The number of its vertex, run, circle or edge. */
  index: number;
  /** The edge by which it was found; of a point, its own number. */
  edge: number;
}

/** What there is to say of a candidate that is snapped to. */
export interface CandidateDetail {
  object: ObjectId;
  point: Vec3;
  a: Vec3;
  b: Vec3;
  /** Of a centre. */
  radius?: number;
  axis?: Vec3;
  /** The triangle, line or point that it is of, as the mesh was given; -1 of other shapes. */
  element: number;
  /** The corners of that, in the world. */
  corners: Vec3[];
  /** Whether the element is a triangle. */
  isFace: boolean;
  /** Whether the object's map turns it inside out. */
  isMirrored: boolean;
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
  clips: Clips | undefined;
  sidesOf: SidesOf;
}

/** What there is to know of an object. */
export interface SnapObject {
  target: SnapTarget;
  features: Features;
  /** Whether vertices are elsewhere than where the features were found. */
  isMoved: boolean;
  facesOf(): FaceReader;
}

/** Finds what is drawn of an object's features near the cursor. No garbage is made of what is not near: most is not. */
export class ObjectCandidates {
  readonly object: ObjectId;
  readonly #question: SnapQuestion;
  readonly #target: SnapTarget;
  readonly #features: Features;
  readonly #levels: readonly number[];
  readonly #facesOf: () => FaceReader;
  #faces: FaceReader | undefined;
  readonly #isMoved: boolean;
  readonly #drawing: Drawing;
  readonly #edgeCount: number;
  /** Bounds of the square about the cursor that is looked at, and of depth: four numbers each. */
  #planes: ArrayLike<number> = [];
  /** Half the size of that square, in pixels. */
  #reach = -1;
  #kinds = 0;
  #ring!: Ring<Candidate>;
  /** The items that may be drawn within the square of `#nearReach`, which the next kinds are looked for among. */
  #near: number[] = [];
  #nearReach = -1;
  #isDescending = false;

  constructor(question: SnapQuestion, { target, features, isMoved, facesOf }: SnapObject) {
    this.object = target.object;
    this.#question = question;
    this.#target = target;
    this.#features = features;
    this.#levels = levelsOf(features.order.length);
    this.#facesOf = facesOf;
    this.#isMoved = isMoved;
    this.#drawing = question.view.of(target.place);
    this.#edgeCount = features.edges.length / 2;
  }

  /** Reads the elements themselves, which few objects near the cursor are asked for. */
  get #elements(): FaceReader {
    this.#faces ??= this.#facesOf();
    return this.#faces;
  }

  get #isMirrored(): boolean {
    const { place } = this.#target;
    return determinant(columnOf(place, 0), columnOf(place, 1), columnOf(place, 2)) < 0;
  }

  /** Adds features of some kinds (SNAP_*) that are drawn in a ring, whether they show or not. */
  gather(kinds: number, ring: Ring<Candidate>): void {
    this.#kinds = kinds;
    this.#ring = ring;
    if (ring.reach <= this.#nearReach) {
      for (const item of this.#near) this.#lookAt(item);
      return;
    }
    this.#near = [];
    this.#isDescending = true;
    if (this.#isMoved) for (const item of this.#features.order) this.#lookAt(item);
    else if (this.#levels.length > 1) this.#descend(this.#levels.length - 2, 0);
    this.#isDescending = false;
    this.#nearReach = ring.reach;
  }

  #descend(level: number, node: number): void {
    const { order, boxes } = this.#features;
    const levels = this.#levels;
    if (this.#isPassed(boxes, 6 * (levels[level] + node))) return;
    const below = level === 0 ? order.length : levels[level] - levels[level - 1];
    const end = Math.min((node + 1) * WIDTH, below);
    for (let child = node * WIDTH; child < end; child++) {
      if (level === 0) this.#lookAt(order[child]);
      else this.#descend(level - 1, child);
    }
  }

  /** Tells whether a box is surely not drawn within the square about the ring. */
  #isPassed(boxes: Float32Array, at: number): boolean {
    if (this.#reach !== this.#ring.reach) {
      this.#reach = this.#ring.reach;
      this.#planes = planesOf(this.#drawing, this.#question.view.squareOf(this.#reach));
    }
    const planes = this.#planes;
    for (let i = 0; i < 4 * PLANES; i += 4) {
      const x = planes[i] * boxes[planes[i] > 0 ? at + 3 : at];
      const y = planes[i + 1] * boxes[planes[i + 1] > 0 ? at + 4 : at + 1];
      const z = planes[i + 2] * boxes[planes[i + 2] > 0 ? at + 5 : at + 2];
      const w = planes[i + 3];
      const sum = x + y + z + w;
      if (sum < 0 && sum < -ROUNDING * (Math.abs(x) + Math.abs(y) + Math.abs(z) + Math.abs(w))) return true;
    }
    return false;
  }

  #lookAt(item: number): void {
    if (this.#features.size === 1) this.#lookAtPoint(item);
    else if (item < this.#edgeCount) this.#lookAtEdge(item);
    // Circles are of the mesh at rest.
    else if (!this.#isMoved) this.#lookAtCircle(item - this.#edgeCount);
  }

  /** Answers a vertex in the space of the shape, where its pose has it. */
  #vertex(i: number): Vec3 {
    const { points, corners, size } = this.#features;
    if (this.#isMoved) return this.#elements.corner(Math.floor(corners[i] / size), corners[i] % size);
    return [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
  }

  #lookAtPoint(item: number): void {
    if (this.#isDescending) this.#near.push(item);
    if (this.#kinds & SNAP_VERTEX) this.#addPoint(SNAP_VERTEX, this.#vertex(item), item, item);
  }

  /** Looks at an edge, unless it is drawn beyond one border of the square with both of its ends: most are. */
  #lookAtEdge(edge: number): void {
    const { points, edges } = this.#features;
    const { x, y, w } = this.#drawing;
    const [i, j] = [edges[2 * edge], edges[2 * edge + 1]];
    const from = this.#isMoved ? this.#vertex(i) : points;
    const to = this.#isMoved ? this.#vertex(j) : points;
    const p = this.#isMoved ? 0 : 3 * i;
    const q = this.#isMoved ? 0 : 3 * j;
    const [px, py, pz] = [from[p], from[p + 1], from[p + 2]];
    const [qx, qy, qz] = [to[q], to[q + 1], to[q + 2]];
    const { reach } = this.#ring;
    const pw = w[0] * px + w[1] * py + w[2] * pz + w[3];
    const qw = w[0] * qx + w[1] * qy + w[2] * qz + w[3];
    const x0 = x[0] * px + x[1] * py + x[2] * pz + x[3];
    const x1 = x[0] * qx + x[1] * qy + x[2] * qz + x[3];
    const y0 = y[0] * px + y[1] * py + y[2] * pz + y[3];
    const y1 = y[0] * qx + y[1] * qy + y[2] * qz + y[3];
    if (pw > 0 && qw > 0) {
      const [s, t] = [reach * pw, reach * qw];
      if ((x0 > s && x1 > t) || (x0 < -s && x1 < -t) || (y0 > s && y1 > t) || (y0 < -s && y1 < -t)) return;
    }
    if (this.#isDescending) this.#near.push(edge);
    const kinds = this.#kinds;
    const { flags, runs, middleEdges, middles } = this.#features;
    if (kinds & SNAP_VERTEX) {
      if (flags[edge] & STARTS_RUN && isWithin(x0, y0, pw, reach)) this.#addPoint(SNAP_VERTEX, [px, py, pz], i, edge);
      if (flags[edge] & ENDS_RUN && isWithin(x1, y1, qw, reach)) this.#addPoint(SNAP_VERTEX, [qx, qy, qz], j, edge);
    }
    if (kinds & SNAP_MIDPOINT && middleEdges[runs[edge]] === edge) {
      const t = middles[runs[edge]];
      if (isWithin(x0 + t * (x1 - x0), y0 + t * (y1 - y0), pw + t * (qw - pw), reach)) {
        this.#addPoint(SNAP_MIDPOINT, between([px, py, pz], [qx, qy, qz], t), edge, edge);
      }
    }
    if (kinds & SNAP_EDGE) {
      const [a, b]: [Vec3, Vec3] = [
        [px, py, pz],
        [qx, qy, qz],
      ];
      const nearest = this.#nearestOf(a, b);
      if (nearest) this.#add(SNAP_EDGE, between(a, b, nearest.at), nearest.pixels, edge, edge);
    }
  }

  #lookAtCircle(circle: number): void {
    const { circles } = this.#features;
    if (this.#isDescending) this.#near.push(this.#edgeCount + circle);
    if (!(this.#kinds & SNAP_CENTER)) return;
    const at: Vec3 = [circles[7 * circle], circles[7 * circle + 1], circles[7 * circle + 2]];
    this.#addPoint(SNAP_CENTER, at, circle, -1);
  }

  /** Adds what is at a point, unless that is not drawn in the ring. */
  #addPoint(kind: number, at: Vec3, index: number, edge: number): void {
    const { x, y, w, near, far } = this.#drawing;
    const depth = valueAt(w, at);
    if (!(depth > 0)) return;
    const px = valueAt(x, at) / depth;
    const py = valueAt(y, at) / depth;
    const pixels = Math.sqrt(px * px + py * py);
    if (!(pixels <= this.#ring.reach)) return;
    const { viewport } = this.#question.view;
    const isIn = px >= viewport[0] && px <= viewport[2] && py >= viewport[1] && py <= viewport[3];
    if (!isIn || !(valueAt(near, at) >= 0 && valueAt(far, at) >= 0)) return;
    const { clips } = this.#question;
    if (clips !== undefined) {
      const point = placed(this.#target.place, at);
      if (keptParts(clips, this.#target.clipSet, point, point).length === 0) return;
    }
    this.#add(kind, at, pixels, index, edge);
  }

  #add(kind: number, at: Vec3, pixels: number, index: number, edge: number): void {
    const steps = stepsOf(pixels);
    this.#ring.add({ kind, of: this, at, pixels, steps, depth: valueAt(this.#drawing.near, at), index, edge });
  }

  pointOf({ at }: Candidate): Vec3 {
    return placed(this.#target.place, at);
  }

  /** Answers the slot of an element that shows and that a candidate, which this has added, is of; -1 where there is none. */
  shownSlot({ kind, index, edge }: Candidate): number {
    const { size, corners, circleStarts, circleEdges } = this.#features;
    if (size === 1) return corners[index];
    if (kind !== SNAP_CENTER) return this.#shownFace(edge);
    for (let i = circleStarts[index]; i < circleStarts[index + 1]; i++) {
      const slot = this.#shownFace(circleEdges[i]);
      if (slot >= 0) return slot;
    }
    return -1;
  }

  /** Says more of a candidate that this has added. `slot`: of the element that shows. */
  detailOf(candidate: Candidate, slot: number): CandidateDetail {
    const { kind, index } = candidate;
    const { size, runs, runEnds, edges, circles, circleEnds } = this.#features;
    const { place } = this.#target;
    const at = (vertex: number) => placed(place, this.#vertex(vertex));
    const point = this.pointOf(candidate);
    const element = {
      object: this.object,
      point,
      element: this.#elements.numberOf(slot),
      corners: Array.from({ length: size }, (_, k) => placed(place, this.#elements.corner(slot, k))),
      isFace: size === 3,
      isMirrored: this.#isMirrored,
    };
    if (kind === SNAP_VERTEX) return { ...element, a: point, b: point };
    if (kind === SNAP_CENTER) {
      const [x, y, z, radius] = circles.subarray(7 * index + 3, 7 * index + 7);
      const [a, b] = [at(circleEnds[2 * index]), at(circleEnds[2 * index + 1])];
      return { ...element, a, b, axis: normalIn(place, [x, y, z]), radius: radiusIn(place, [x, y, z], radius) };
    }
    // What has moved may be bent where a run goes on straight.
    const [ends, i] = this.#isMoved ? [edges, index] : [runEnds, runs[index]];
    return { ...element, a: at(ends[2 * i]), b: at(ends[2 * i + 1]) };
  }

  /**
   * Finds where what is drawn of a segment is nearest to the cursor: how far along it, and how many pixels away. Null where that
   * is beyond the ring.
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
    const { clips } = this.#question;
    let best: { at: number; pixels: number } | null = null;
    const kept = clips === undefined ? [part] : keptParts(clips, clipSet, placed(place, p), placed(place, q));
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
      if (!(pixels <= this.#ring.reach) || (best !== null && pixels >= best.pixels)) continue;
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
      const shown = sides ?? this.#question.sidesOf(object, this.#elements.numberOf(slot));
      if (shown === SIDE_DOUBLE) return slot;
      const turn = this.#turnOf(slot);
      if ((turn > 0 && shown & SIDE_FRONT) || (turn < 0 && shown & SIDE_BACK)) return slot;
    }
    return -1;
  }

  /**
   * Answers a number that is positive where a triangle shows its front, whatever of it is behind the eye: by how it turns on the
   * screen (Olano and Greer, "Triangle scan conversion using 2D homogeneous coordinates", 1997), and whether the object and the
   * view mirror it.
   */
  #turnOf(slot: number): number {
    const { x, y, w, near } = this.#drawing;
    const elements = this.#elements;
    const [a, b, c] = [elements.corner(slot, 0), elements.corner(slot, 1), elements.corner(slot, 2)];
    const turn = determinant(
      [valueAt(x, a), valueAt(y, a), valueAt(w, a)],
      [valueAt(x, b), valueAt(y, b), valueAt(w, b)],
      [valueAt(x, c), valueAt(y, c), valueAt(w, c)],
    );
    return -turn * Math.sign(determinant(x, y, near));
  }
}

/** Tells whether a place in clip space, about the cursor, may be drawn within so many pixels along each axis. */
function isWithin(x: number, y: number, w: number, reach: number): boolean {
  return Math.abs(x) <= reach * w && Math.abs(y) <= reach * w;
}

/** Answers the borders of the square about the cursor, and of depth, four numbers each: positive within. */
function planesOf(
  { x, y, w, near, far }: Drawing,
  [lowX, lowY, highX, highY]: readonly [number, number, number, number],
): Float64Array {
  const planes = new Float64Array(4 * PLANES);
  for (let k = 0; k < 4; k++) {
    planes[k] = x[k] - lowX * w[k];
    planes[4 + k] = highX * w[k] - x[k];
    planes[8 + k] = y[k] - lowY * w[k];
    planes[12 + k] = highY * w[k] - y[k];
    planes[16 + k] = near[k];
    planes[20 + k] = far[k];
  }
  return planes;
}

/** Narrows a part of a segment to where a function is not negative, by its values at both ends. */
function keep(part: [number, number], from: number, to: number): void {
  if (from >= 0 && to >= 0) return;
  if (from < 0 && to < 0) part[1] = -1;
  else if (from < 0) part[0] = Math.max(part[0], from / (from - to));
  else part[1] = Math.min(part[1], from / (from - to));
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

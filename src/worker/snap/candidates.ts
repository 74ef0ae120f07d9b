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
import { type Affine, type Drawing, placed, type SnapView, valueAt } from './snap-view.js';

/** What float64 may make of a plane's value in a box, relative to its terms. */
const ROUNDING = 1e-12;
/** Four about the cursor, near and far. */
const PLANES = 6;

/** A feature that is drawn near the cursor, if nothing hides it. */
export interface Candidate {
  /** SNAP_*. */
  kind: number;
  object: ObjectId;
  point: Vec3;
  pixels: number;
  /** The order of depths: larger is farther away. */
  depth: number;
  /** The number of its vertex, run, circle or edge. */
  index: number;
  /** Where an element is that it is of, and that shows. */
  slot: number;
}

/** What there is to say of a candidate that is snapped to. */
export interface CandidateDetail {
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

/** Finds what is drawn of an object's features near the cursor. */
export class ObjectCandidates {
  readonly #question: SnapQuestion;
  readonly #target: SnapTarget;
  readonly #features: Features;
  readonly #facesOf: () => FaceReader;
  #faces: FaceReader | undefined;
  readonly #isMoved: boolean;
  readonly #drawing: Drawing;
  readonly #edgeCount: number;
  /** Bounds of the square about the cursor, and of depth: four numbers each. */
  #planes: readonly number[] = [];
  #radius = 0;
  #kinds = 0;
  #found: Candidate[] = [];
  /** The vertices among what was found: few. */
  #vertices: number[] = [];
  /** The items that may be drawn within the square of `#nearRadius`, ascending; the next kinds are looked for among them. */
  #near: number[] = [];
  #nearRadius = -1;

  constructor(question: SnapQuestion, { target, features, isMoved, facesOf }: SnapObject) {
    this.#question = question;
    this.#target = target;
    this.#features = features;
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

  /** Lists features of some kinds (SNAP_*) that are drawn within a radius, and of which an element shows. */
  list(kinds: number, radius: number): Candidate[] {
    this.#radius = radius;
    this.#kinds = kinds;
    this.#found = [];
    this.#vertices = [];
    if (radius > this.#nearRadius) {
      this.#near = [];
      this.#nearRadius = radius;
      this.#findNear();
    }
    const { size } = this.#features;
    for (const item of this.#near) {
      if (size === 1) this.#lookAtPoint(item);
      else this.#lookAt(item);
    }
    return this.#found;
  }

  #findNear(): void {
    const { order } = this.#features;
    if (this.#isMoved) {
      for (const item of order) this.visit(item);
      return;
    }
    this.#planes = planesOf(this.#drawing, this.#question.view.squareOf(this.#nearRadius));
    visitItems(this.#features, this);
  }

  /** Tells whether a box is surely not drawn within the square. */
  isPassed(boxes: Float32Array, at: number): boolean {
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

  /** Notes an item that a leaf has, unless it is drawn beyond one border of the square: most are. */
  visit(item: number): void {
    if (item >= this.#edgeCount || this.#isMoved || !this.#isEdgeBeyond(item)) this.#near.push(item);
  }

  /** Tells whether an edge is drawn beyond one border of the square with both of its ends. */
  #isEdgeBeyond(edge: number): boolean {
    const { points, edges } = this.#features;
    const { x, y, w } = this.#drawing;
    const p = 3 * edges[2 * edge];
    const q = 3 * edges[2 * edge + 1];
    const [px, py, pz] = [points[p], points[p + 1], points[p + 2]];
    const [qx, qy, qz] = [points[q], points[q + 1], points[q + 2]];
    const pw = this.#nearRadius * (w[0] * px + w[1] * py + w[2] * pz + w[3]);
    const qw = this.#nearRadius * (w[0] * qx + w[1] * qy + w[2] * qz + w[3]);
    if (!(pw > 0 && qw > 0)) return false;
    const x0 = x[0] * px + x[1] * py + x[2] * pz + x[3];
    const x1 = x[0] * qx + x[1] * qy + x[2] * qz + x[3];
    if ((x0 > pw && x1 > qw) || (x0 < -pw && x1 < -qw)) return true;
    const y0 = y[0] * px + y[1] * py + y[2] * pz + y[3];
    const y1 = y[0] * qx + y[1] * qy + y[2] * qz + y[3];
    return (y0 > pw && y1 > qw) || (y0 < -pw && y1 < -qw);
  }

  /** Answers a vertex in the space of the shape, where its pose has it. */
  #vertex(i: number): Vec3 {
    const { points, corners, size } = this.#features;
    if (this.#isMoved) return this.#elements.corner(Math.floor(corners[i] / size), corners[i] % size);
    return [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
  }

  #lookAtPoint(item: number): void {
    const at = this.#vertex(item);
    const pixels = this.#kinds & SNAP_VERTEX ? this.#pixelsOf(at) : Number.POSITIVE_INFINITY;
    if (pixels <= this.#radius) this.#add(SNAP_VERTEX, at, pixels, item, this.#features.corners[item]);
  }

  #lookAt(item: number): void {
    const kinds = this.#kinds;
    if (item >= this.#edgeCount) {
      // Circles are of the mesh at rest.
      if (kinds & SNAP_CENTER && !this.#isMoved) this.#lookAtCircle(item - this.#edgeCount);
      return;
    }
    const { edges, flags, runs, middleEdges, middles } = this.#features;
    if (kinds & SNAP_VERTEX) {
      if (flags[item] & STARTS_RUN) this.#lookAtVertex(item, edges[2 * item]);
      if (flags[item] & ENDS_RUN) this.#lookAtVertex(item, edges[2 * item + 1]);
    }
    if (kinds & SNAP_MIDPOINT && middleEdges[runs[item]] === item) {
      const middle = between(this.#vertex(edges[2 * item]), this.#vertex(edges[2 * item + 1]), middles[runs[item]]);
      const pixels = this.#pixelsOf(middle);
      if (pixels <= this.#radius) this.#addShown(SNAP_MIDPOINT, middle, pixels, item, item);
    }
    if (kinds & SNAP_EDGE) {
      const [p, q] = [this.#vertex(edges[2 * item]), this.#vertex(edges[2 * item + 1])];
      const nearest = this.#nearestOf(p, q);
      if (nearest) this.#addShown(SNAP_EDGE, between(p, q, nearest.at), nearest.pixels, item, item);
    }
  }

  #lookAtVertex(edge: number, vertex: number): void {
    const at = this.#vertex(vertex);
    const pixels = this.#pixelsOf(at);
    if (!(pixels <= this.#radius) || this.#vertices.includes(vertex)) return;
    if (this.#addShown(SNAP_VERTEX, at, pixels, vertex, edge)) this.#vertices.push(vertex);
  }

  #lookAtCircle(circle: number): void {
    const { circles, circleStarts, circleEdges } = this.#features;
    const at: Vec3 = [circles[7 * circle], circles[7 * circle + 1], circles[7 * circle + 2]];
    const pixels = this.#pixelsOf(at);
    if (!(pixels <= this.#radius)) return;
    for (let i = circleStarts[circle]; i < circleStarts[circle + 1]; i++) {
      if (this.#addShown(SNAP_CENTER, at, pixels, circle, circleEdges[i])) return;
    }
  }

  /** Answers how far from the cursor a point is drawn, in pixels; infinite where it is not drawn. */
  #pixelsOf(at: Vec3): number {
    const { x, y, w, near, far } = this.#drawing;
    const depth = valueAt(w, at);
    if (!(depth > 0)) return Number.POSITIVE_INFINITY;
    const px = valueAt(x, at) / depth;
    const py = valueAt(y, at) / depth;
    const pixels = Math.sqrt(px * px + py * py);
    if (!(pixels <= this.#radius)) return Number.POSITIVE_INFINITY;
    const { viewport } = this.#question.view;
    const isIn = px >= viewport[0] && px <= viewport[2] && py >= viewport[1] && py <= viewport[3];
    return isIn && valueAt(near, at) >= 0 && valueAt(far, at) >= 0 ? pixels : Number.POSITIVE_INFINITY;
  }

  /** Adds what is of an edge, if an element beside that shows. Answers whether it does. */
  #addShown(kind: number, at: Vec3, pixels: number, index: number, edge: number): boolean {
    const slot = this.#shownFace(edge);
    if (slot >= 0) this.#add(kind, at, pixels, index, slot);
    return slot >= 0;
  }

  #add(kind: number, at: Vec3, pixels: number, index: number, slot: number): void {
    const { clips, view } = this.#question;
    const { object, place, clipSet } = this.#target;
    const point = placed(place, at);
    const isKept = clips === undefined || kind === SNAP_EDGE || keptParts(clips, clipSet, point, point).length > 0;
    if (isKept)
      this.#found.push({ kind, object, point, pixels, depth: valueAt(view.drawing.near, point), index, slot });
  }

  /** Says more of a candidate that this has found. */
  detailOf({ kind, point, index, slot }: Candidate): CandidateDetail {
    const { size, runs, runEnds, edges, circles, circleEnds } = this.#features;
    const { place } = this.#target;
    const at = (vertex: number) => placed(place, this.#vertex(vertex));
    const element = {
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
      if (!(pixels <= this.#radius) || (best !== null && pixels >= best.pixels)) continue;
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
    const rows = [0, 1, 2].map((k): Affine => {
      const corner = this.#elements.corner(slot, k);
      return [valueAt(x, corner), valueAt(y, corner), valueAt(w, corner), 0];
    });
    return -determinant(rows[0], rows[1], rows[2]) * Math.sign(determinant(x, y, near));
  }
}

/** Answers the borders of the square about the cursor, and of depth, four numbers each: positive within. */
function planesOf(
  { x, y, w, near, far }: Drawing,
  [lowX, lowY, highX, highY]: readonly [number, number, number, number],
): number[] {
  return [
    ...[x[0] - lowX * w[0], x[1] - lowX * w[1], x[2] - lowX * w[2], x[3] - lowX * w[3]],
    ...[highX * w[0] - x[0], highX * w[1] - x[1], highX * w[2] - x[2], highX * w[3] - x[3]],
    ...[y[0] - lowY * w[0], y[1] - lowY * w[1], y[2] - lowY * w[2], y[3] - lowY * w[3]],
    ...[highY * w[0] - y[0], highY * w[1] - y[1], highY * w[2] - y[2], highY * w[3] - y[3]],
    ...near,
    ...far,
  ];
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

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
import type { Steps } from '../binding/steps.js';
import { WIDTH } from './box-tree.js';
import type { Features } from './features.js';
import type { Fronts } from './fronts.js';
import { keptParts } from './kept-parts.js';
import type { Ring } from './ring.js';
import { ENDS_RUN, STARTS_RUN } from './runs.js';
import { type Affine, placed, type SnapView } from './snap-view.js';

/** So many nodes and items are looked at between two rests, in some 0.1 ms. */
const STEP = 1024;
/** What float64 may make of a plane's value in a box, relative to its terms. */
const ROUNDING = 1e-12;

// How an object's own space is drawn about the cursor, four numbers each: `Drawing` of snap-view.ts.
const X = 0;
const Y = 4;
const W = 8;
const NEAR = 12;
const FAR = 16;
/** Four planes about the cursor, near and far, four numbers each, which bound what is looked at. */
const PLANES = 20;
/** The numbers that an object is looked at by. */
export const SCRATCH = 44;

/** Reads elements of a mesh by their slots. */
export interface FaceReader {
  corner(slot: number, corner: number): Vec3;
  numberOf(slot: number): number;
}

/** Which sides of a triangle show, SIDE_*. */
export type SidesOf = (object: ObjectId, triangle: number) => number;

/** One of the objects near the cursor, and what there is to know of it. */
export interface NearObject {
  target: SnapTarget;
  features: Features;
  /** Where the levels of the tree of its features begin: box-tree.ts. */
  levels: readonly number[];
  /** Whether vertices are elsewhere than where the features were found. */
  isMoved: boolean;
  /** Reads the elements themselves, which few objects near the cursor are asked for. */
  elements: FaceReader;
  /** Whether what it reads has gone meanwhile. */
  isGone: boolean;
}

/** What a pick asks of all objects. */
export interface SnapQuestion {
  view: SnapView;
  objects: readonly NearObject[];
  clips: Clips | undefined;
  fronts: Fronts;
  sidesOf: SidesOf;
}

/** Finds what is drawn of objects' features near the cursor. No garbage is made for what is near, or is not, but where fronts are looked at. */
export class Candidates {
  readonly #question: SnapQuestion;
  #kinds = 0;
  #ring!: Ring;
  /** The items that may be drawn within the square of `#nearReach`, of one object after the other, and where each one's end. */
  readonly #near: number[] = [];
  readonly #nearEnds: number[] = [];
  #nearReach = -1;
  /** How finely fronts were looked at for it. */
  #nearDepth = -1;
  #isListing = false;
  #looked = 0;
  readonly #rect = [0, 0, 0, 0];

  // Of the object that is looked at.
  #of = -1;
  #object!: NearObject;
  #features!: Features;
  #isMoved = false;
  #edgeCount = 0;
  /** How it is drawn, and the planes; which reach these are of. */
  readonly #drawing: Float64Array;
  #planesReach = -1;

  // The part of a segment that is kept: `keep`.
  #low = 0;
  #high = 1;

  /** `scratch`: SCRATCH numbers, which nobody else uses before the pick is answered. */
  constructor(question: SnapQuestion, scratch: Float64Array) {
    this.#question = question;
    this.#drawing = scratch;
  }

  /** Adds features of some kinds (SNAP_*) that are drawn in a ring, whether they show or not, but for what is surely hidden. */
  *gather(kinds: number, ring: Ring): Steps<void> {
    this.#kinds = kinds;
    this.#ring = ring;
    const { objects, fronts } = this.#question;
    const near = this.#near;
    // What was listed holds what is hidden by the fronts that are known now.
    this.#isListing = ring.reach > this.#nearReach || fronts.depth > this.#nearDepth;
    if (this.#isListing) near.length = 0;
    this.#nearDepth = fronts.depth;
    for (let of = 0, i = 0; of < objects.length; of++) {
      const end = this.#nearEnds[of];
      if (this.#isListing) yield* this.#list(of);
      else if (objects[of].isGone) i = end;
      else if (i < end) {
        this.#enter(of);
        for (; i < end; i++) {
          this.#lookAt(near[i]);
          if (this.#isTired()) yield;
        }
      }
      this.#nearEnds[of] = this.#isListing ? near.length : end;
    }
    if (this.#isListing) this.#nearReach = ring.reach;
  }

  #isTired(): boolean {
    return ++this.#looked % STEP === 0;
  }

  /** Looks at what may be drawn near the cursor of an object, and lists it. */
  *#list(of: number): Steps<void> {
    const object = this.#question.objects[of];
    if (object.isGone) return;
    this.#enter(of);
    const { levels, isMoved } = object;
    const { order } = object.features;
    const top = levels.length - 2;
    if (isMoved) {
      for (const item of order) {
        this.#lookAt(item);
        if (this.#isTired()) yield;
      }
      return;
    }
    // Down to the first child, and on to the next node behind all of what is below one.
    for (let level = top, node = 0; level >= 0 && node < levels[level + 1] - levels[level]; ) {
      if (this.#isTired()) yield;
      const isPassed = this.#isPassed(levels[level] + node);
      if (!isPassed && level > 0) {
        level--;
        node *= WIDTH;
        continue;
      }
      if (!isPassed) {
        const end = Math.min((node + 1) * WIDTH, order.length);
        for (let i = node * WIDTH; i < end; i++) this.#lookAt(order[i]);
      }
      for (node++; level < top && node % WIDTH === 0; level++) node /= WIDTH;
    }
  }

  /** Turns to an object. */
  #enter(of: number): void {
    if (this.#of === of) return;
    const { view, objects } = this.#question;
    const object = objects[of];
    this.#of = of;
    this.#object = object;
    this.#features = object.features;
    this.#isMoved = object.isMoved;
    this.#edgeCount = object.features.edges.length / 2;
    this.#planesReach = -1;
    const { x, y, w, near, far } = view.drawing;
    const { place } = object.target;
    const drawing = this.#drawing;
    setWithin(drawing, X, x, place);
    setWithin(drawing, Y, y, place);
    setWithin(drawing, W, w, place);
    setWithin(drawing, NEAR, near, place);
    setWithin(drawing, FAR, far, place);
  }

  /** Tells whether the box of a node is surely not drawn within the square about the ring, or hidden. */
  #isPassed(node: number): boolean {
    const { boxes } = this.#features;
    const at = 6 * node;
    const { reach } = this.#ring;
    const planes = this.#drawing;
    if (this.#planesReach !== reach) {
      this.#planesReach = reach;
      setPlanes(planes, this.#question.view.squareOf(reach));
    }
    for (let i = PLANES; i < SCRATCH; i += 4) {
      const a = planes[i];
      const b = planes[i + 1];
      const c = planes[i + 2];
      const w = planes[i + 3];
      const x = a * boxes[a > 0 ? at + 3 : at];
      const y = b * boxes[b > 0 ? at + 4 : at + 1];
      const z = c * boxes[c > 0 ? at + 5 : at + 2];
      const sum = x + y + z + w;
      if (sum < 0 && sum < -ROUNDING * (Math.abs(x) + Math.abs(y) + Math.abs(z) + Math.abs(w))) return true;
    }
    const { fronts } = this.#question;
    return (
      fronts.hideBoxes && this.#isDrawn(boxes, at) && fronts.hidesBox(this.#object.target.place, boxes, at, this.#rect)
    );
  }

  /** Finds the rectangle in which a box is drawn; answers false where it reaches behind the eye. */
  #isDrawn(boxes: Float32Array, at: number): boolean {
    const d = this.#drawing;
    const rect = this.#rect;
    rect[0] = rect[1] = Infinity;
    rect[2] = rect[3] = -Infinity;
    for (let corner = 0; corner < 8; corner++) {
      const x = boxes[corner & 1 ? at + 3 : at];
      const y = boxes[corner & 2 ? at + 4 : at + 1];
      const z = boxes[corner & 4 ? at + 5 : at + 2];
      const w = d[W] * x + d[W + 1] * y + d[W + 2] * z + d[W + 3];
      if (!(w > 0)) return false;
      const px = (d[X] * x + d[X + 1] * y + d[X + 2] * z + d[X + 3]) / w;
      const py = (d[Y] * x + d[Y + 1] * y + d[Y + 2] * z + d[Y + 3]) / w;
      rect[0] = Math.min(rect[0], px);
      rect[1] = Math.min(rect[1], py);
      rect[2] = Math.max(rect[2], px);
      rect[3] = Math.max(rect[3], py);
    }
    return true;
  }

  #lookAt(item: number): void {
    if (item < this.#edgeCount) this.#lookAtEdge(item);
    else if (this.#features.size === 1) this.#lookAtPoint(item);
    // Circles are of the mesh at rest.
    else if (!this.#isMoved) this.#lookAtCircle(item - this.#edgeCount);
  }

  #lookAtPoint(item: number): void {
    if (this.#isListing) this.#near.push(item);
    if (!(this.#kinds & SNAP_VERTEX)) return;
    const [x, y, z] = vertexOf(this.#object, item);
    this.#addPoint(SNAP_VERTEX, x, y, z, item, item);
  }

  /** Looks at an edge, unless it is drawn beyond one border of the square with both of its ends: most are. */
  #lookAtEdge(edge: number): void {
    const { points, edges } = this.#features;
    const d = this.#drawing;
    const i = edges[2 * edge];
    const j = edges[2 * edge + 1];
    let px = points[3 * i];
    let py = points[3 * i + 1];
    let pz = points[3 * i + 2];
    let qx = points[3 * j];
    let qy = points[3 * j + 1];
    let qz = points[3 * j + 2];
    if (this.#isMoved) {
      [px, py, pz] = vertexOf(this.#object, i);
      [qx, qy, qz] = vertexOf(this.#object, j);
    }
    const { reach } = this.#ring;
    const w0 = d[W] * px + d[W + 1] * py + d[W + 2] * pz + d[W + 3];
    const w1 = d[W] * qx + d[W + 1] * qy + d[W + 2] * qz + d[W + 3];
    const x0 = d[X] * px + d[X + 1] * py + d[X + 2] * pz + d[X + 3];
    const x1 = d[X] * qx + d[X + 1] * qy + d[X + 2] * qz + d[X + 3];
    const y0 = d[Y] * px + d[Y + 1] * py + d[Y + 2] * pz + d[Y + 3];
    const y1 = d[Y] * qx + d[Y + 1] * qy + d[Y + 2] * qz + d[Y + 3];
    if (w0 > 0 && w1 > 0) {
      const s = reach * w0;
      const t = reach * w1;
      if ((x0 > s && x1 > t) || (x0 < -s && x1 < -t) || (y0 > s && y1 > t) || (y0 < -s && y1 < -t)) return;
    }
    if (this.#isListing) this.#near.push(edge);
    const kinds = this.#kinds;
    const { flags, runs, middleEdges, middles } = this.#features;
    if (kinds & SNAP_VERTEX) {
      if (flags[edge] & STARTS_RUN && isWithin(x0, y0, w0, reach)) this.#addPoint(SNAP_VERTEX, px, py, pz, i, edge);
      if (flags[edge] & ENDS_RUN && isWithin(x1, y1, w1, reach)) this.#addPoint(SNAP_VERTEX, qx, qy, qz, j, edge);
    }
    if (kinds & SNAP_MIDPOINT && middleEdges[runs[edge]] === edge) {
      const t = middles[runs[edge]];
      if (isWithin(x0 + t * (x1 - x0), y0 + t * (y1 - y0), w0 + t * (w1 - w0), reach)) {
        this.#addPoint(SNAP_MIDPOINT, px + t * (qx - px), py + t * (qy - py), pz + t * (qz - pz), edge, edge);
      }
    }
    if (!(kinds & SNAP_EDGE)) return;
    this.#low = 0;
    this.#high = 1;
    const near0 = d[NEAR] * px + d[NEAR + 1] * py + d[NEAR + 2] * pz + d[NEAR + 3];
    const near1 = d[NEAR] * qx + d[NEAR + 1] * qy + d[NEAR + 2] * qz + d[NEAR + 3];
    const far0 = d[FAR] * px + d[FAR + 1] * py + d[FAR + 2] * pz + d[FAR + 3];
    const far1 = d[FAR] * qx + d[FAR + 1] * qy + d[FAR + 2] * qz + d[FAR + 3];
    const { view, clips } = this.#question;
    const lowX = view.viewport[0];
    const lowY = view.viewport[1];
    const highX = view.viewport[2];
    const highY = view.viewport[3];
    this.#keep(w0, w1);
    this.#keep(near0, near1);
    this.#keep(far0, far1);
    this.#keep(x0 - lowX * w0, x1 - lowX * w1);
    this.#keep(highX * w0 - x0, highX * w1 - x1);
    this.#keep(y0 - lowY * w0, y1 - lowY * w1);
    this.#keep(highY * w0 - y0, highY * w1 - y1);
    if (!(this.#low <= this.#high)) return;
    // Where what is drawn of the segment is nearest to the cursor: how far along it, and how many pixels away.
    let best = Infinity;
    let at = 0;
    const { place, clipSet } = this.#object.target;
    const kept = clips && keptParts(clips, clipSet, placed(place, [px, py, pz]), placed(place, [qx, qy, qz]));
    for (let part = 0; part < (kept?.length ?? 1); part++) {
      const s = kept ? Math.max(kept[part][0], this.#low) : this.#low;
      const t = kept ? Math.min(kept[part][1], this.#high) : this.#high;
      if (!(s <= t)) continue;
      const ws = w0 + s * (w1 - w0);
      const wt = w0 + t * (w1 - w0);
      if (!(ws > 0 && wt > 0)) continue;
      const u = (x0 + s * (x1 - x0)) / ws;
      const v = (y0 + s * (y1 - y0)) / ws;
      const du = (x0 + t * (x1 - x0)) / wt - u;
      const dv = (y0 + t * (y1 - y0)) / wt - v;
      const square = du * du + dv * dv;
      const end = near0 <= near1 ? 0 : 1;
      const share = square > 0 ? Math.min(Math.max(-(u * du + v * dv) / square, 0), 1) : end;
      const pixels = Math.sqrt((u + share * du) ** 2 + (v + share * dv) ** 2);
      if (!(pixels <= reach && pixels < best)) continue;
      best = pixels;
      // Back from the screen, where what is far is drawn shorter.
      at = s + (t - s) * ((share * ws) / (share * ws + (1 - share) * wt));
    }
    if (best === Infinity) return;
    const x = px + at * (qx - px);
    const y = py + at * (qy - py);
    const z = pz + at * (qz - pz);
    const depth = d[NEAR] * x + d[NEAR + 1] * y + d[NEAR + 2] * z + d[NEAR + 3];
    this.#ring.add(this.#of, this.#object.target.object, SNAP_EDGE, edge, edge, best, depth, x, y, z);
  }

  /** Narrows the part of a segment to where a function is not negative, by its values at both ends. */
  #keep(from: number, to: number): void {
    if (from >= 0 && to >= 0) return;
    if (from < 0 && to < 0) this.#high = -1;
    else if (from < 0) this.#low = Math.max(this.#low, from / (from - to));
    else this.#high = Math.min(this.#high, from / (from - to));
  }

  #lookAtCircle(circle: number): void {
    const { circles } = this.#features;
    if (this.#isListing) this.#near.push(this.#edgeCount + circle);
    if (!(this.#kinds & SNAP_CENTER)) return;
    const at = 7 * circle;
    this.#addPoint(SNAP_CENTER, circles[at], circles[at + 1], circles[at + 2], circle, -1);
  }

  /** Adds what is at a point, unless that is not drawn in the ring. */
  #addPoint(kind: number, x: number, y: number, z: number, index: number, edge: number): void {
    const d = this.#drawing;
    const w = d[W] * x + d[W + 1] * y + d[W + 2] * z + d[W + 3];
    if (!(w > 0)) return;
    const px = (d[X] * x + d[X + 1] * y + d[X + 2] * z + d[X + 3]) / w;
    const py = (d[Y] * x + d[Y + 1] * y + d[Y + 2] * z + d[Y + 3]) / w;
    const pixels = Math.sqrt(px * px + py * py);
    if (!(pixels <= this.#ring.reach)) return;
    const { clips, view } = this.#question;
    const { viewport } = view;
    if (!(px >= viewport[0] && px <= viewport[2] && py >= viewport[1] && py <= viewport[3])) return;
    const depth = d[NEAR] * x + d[NEAR + 1] * y + d[NEAR + 2] * z + d[NEAR + 3];
    if (!(depth >= 0 && d[FAR] * x + d[FAR + 1] * y + d[FAR + 2] * z + d[FAR + 3] >= 0)) return;
    const { target } = this.#object;
    if (clips !== undefined) {
      const point = placed(target.place, [x, y, z]);
      if (keptParts(clips, target.clipSet, point, point).length === 0) return;
    }
    this.#ring.add(this.#of, target.object, kind, index, edge, pixels, depth, x, y, z);
  }

  /** Answers the slot of an element that shows and that a candidate is of; -1 where there is none. */
  shownSlot(of: number, kind: number, index: number, edge: number): number {
    const { features, isGone } = this.#question.objects[of];
    if (isGone) return -1;
    const { size, corners, circleStarts, circleEdges } = features;
    if (size === 1) return corners[index];
    if (kind !== SNAP_CENTER) return this.#shownFace(of, edge);
    for (let i = circleStarts[index]; i < circleStarts[index + 1]; i++) {
      const slot = this.#shownFace(of, circleEdges[i]);
      if (slot >= 0) return slot;
    }
    return -1;
  }

  /** Answers the slot of an element beside an edge of which a side shows that is asked for; -1 where there is none. */
  #shownFace(of: number, edge: number): number {
    const { features, target, elements } = this.#question.objects[of];
    const { faceStarts, faces, size } = features;
    const { object, sides } = target;
    if (size !== 3 || sides === SIDE_DOUBLE) return faces[faceStarts[edge]];
    this.#enter(of);
    for (let i = faceStarts[edge]; i < faceStarts[edge + 1]; i++) {
      const slot = faces[i];
      const shown = sides ?? this.#question.sidesOf(object, elements.numberOf(slot));
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
    const { elements } = this.#object;
    const turn = determinant(
      this.#drawn(elements.corner(slot, 0)),
      this.#drawn(elements.corner(slot, 1)),
      this.#drawn(elements.corner(slot, 2)),
    );
    const d = this.#drawing;
    return -turn * Math.sign(determinant(d, d.subarray(Y), d.subarray(NEAR)));
  }

  #drawn([x, y, z]: Vec3): Vec3 {
    const d = this.#drawing;
    return [
      d[X] * x + d[X + 1] * y + d[X + 2] * z + d[X + 3],
      d[Y] * x + d[Y + 1] * y + d[Y + 2] * z + d[Y + 3],
      d[W] * x + d[W + 1] * y + d[W + 2] * z + d[W + 3],
    ];
  }
}

/** Sets four numbers to a function of the world as one of a space that a map takes there. */
function setWithin(out: Float64Array, at: number, f: Affine, place: ArrayLike<number>): void {
  const x = f[0];
  const y = f[1];
  const z = f[2];
  out[at] = x * place[0] + y * place[1] + z * place[2];
  out[at + 1] = x * place[3] + y * place[4] + z * place[5];
  out[at + 2] = x * place[6] + y * place[7] + z * place[8];
  out[at + 3] = x * place[9] + y * place[10] + z * place[11] + f[3];
}

/** Tells whether a place in clip space, about the cursor, may be drawn within so many pixels along each axis. */
function isWithin(x: number, y: number, w: number, reach: number): boolean {
  return Math.abs(x) <= reach * w && Math.abs(y) <= reach * w;
}

/** Sets the borders of the square about the cursor, and of depth, four numbers each: positive within. */
function setPlanes(d: Float64Array, [lowX, lowY, highX, highY]: readonly [number, number, number, number]): void {
  for (let k = 0; k < 4; k++) {
    d[PLANES + k] = d[X + k] - lowX * d[W + k];
    d[PLANES + 4 + k] = highX * d[W + k] - d[X + k];
    d[PLANES + 8 + k] = d[Y + k] - lowY * d[W + k];
    d[PLANES + 12 + k] = highY * d[W + k] - d[Y + k];
    d[PLANES + 16 + k] = d[NEAR + k];
    d[PLANES + 20 + k] = d[FAR + k];
  }
}

/** Answers a vertex in the space of the shape, where its pose has it. */
export function vertexOf({ features: { points, corners, size }, isMoved, elements }: NearObject, i: number): Vec3 {
  if (isMoved) return elements.corner(Math.floor(corners[i] / size), corners[i] % size);
  return [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
}

export function determinant(a: ArrayLike<number>, b: ArrayLike<number>, c: ArrayLike<number>): number {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

import { SNAP_CENTER, SNAP_VERTEX } from '../../shared/layout.js';
import type { ObjectId, Vec3 } from '../../shared/types.js';
import type { Features } from './features.js';
import { placed } from './snap-view.js';
import { cross } from './vectors.js';

/** Reads elements of a mesh by their slots. */
export interface FaceReader {
  corner(slot: number, corner: number): Vec3;
  numberOf(slot: number): number;
}

/** The object of a candidate, and what there is to know of it. */
export interface NearObject {
  object: ObjectId;
  /** Twelve numbers: the columns of the map from the shape's own space to the world. */
  place: ArrayLike<number>;
  /** The vertices of an element. */
  size: number;
  /** Answers its features, which vertices need not be asked for. */
  features: () => Omit<Features, 'angle'>;
  /** Whether vertices are elsewhere than where the features were found. */
  isMoved: boolean;
  elements: FaceReader;
}

/** What there is to say of a candidate that is snapped to. */
export interface CandidateDetail {
  object: ObjectId;
  /** SNAP_*. */
  kind: number;
  pixels: number;
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

/** Says more of a candidate at a point of the world. `slot`: of the element that shows. */
export function detailOf(
  near: NearObject,
  kind: number,
  index: number,
  slot: number,
  point: Vec3,
  pixels: number,
): CandidateDetail {
  const { object, place, size, isMoved, elements } = near;
  const detail: CandidateDetail = {
    object,
    kind,
    pixels,
    point,
    a: point,
    b: point,
    element: elements.numberOf(slot),
    corners: Array.from({ length: size }, (_, k) => placed(place, elements.corner(slot, k))),
    isFace: size === 3,
    isMirrored: determinant(columnOf(place, 0), columnOf(place, 1), columnOf(place, 2)) < 0,
  };
  if (kind === SNAP_VERTEX) return detail;
  const features = near.features();
  const { runs, runEnds, edges, circles, circleEnds } = features;
  const at = (vertex: number) => placed(place, vertexOf(near, features, vertex));
  if (kind === SNAP_CENTER) {
    const [x, y, z, radius] = circles.subarray(7 * index + 3, 7 * index + 7);
    detail.a = at(circleEnds[2 * index]);
    detail.b = at(circleEnds[2 * index + 1]);
    detail.axis = normalIn(place, [x, y, z]);
    detail.radius = radiusIn(place, [x, y, z], radius);
    return detail;
  }
  // What has moved may be bent where a run goes on straight.
  const [ends, i] = isMoved ? [edges, index] : [runEnds, runs[index]];
  detail.a = at(ends[2 * i]);
  detail.b = at(ends[2 * i + 1]);
  return detail;
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

type VertexArrays = Pick<Features, 'points' | 'corners' | 'size'>;

/** Answers a vertex in the space of the shape, where its pose has it. */
function vertexOf({ isMoved, elements }: NearObject, { points, corners, size }: VertexArrays, i: number): Vec3 {
  if (isMoved) return elements.corner(Math.floor(corners[i] / size), corners[i] % size);
  return [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
}

function determinant(a: ArrayLike<number>, b: ArrayLike<number>, c: ArrayLike<number>): number {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

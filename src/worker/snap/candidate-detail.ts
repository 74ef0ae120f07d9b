import {
  SNAP_CENTER,
  SNAP_EDGE,
  SNAP_FEATURES,
  SNAP_MAP,
  SNAP_MESH,
  SNAP_MIDPOINT,
  SNAP_OBJECT,
  SNAP_ROOM_ELEMENT,
  SNAP_ROOM_ENDS,
  SNAP_ROOM_INDEX,
  SNAP_ROOM_KIND,
  SNAP_ROOM_OF,
  SNAP_ROOM_PIXELS,
  SNAP_ROOM_POINT,
  SNAP_ROOM_SLOT,
  SNAP_ROOM_TARGETS,
  SNAP_TARGET_BYTES,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { Snap, SnapKind, Vec3 } from '../../shared/types.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { circleAt } from './core-features.js';
import { cubeCorner } from './cube.js';
import { Faces } from './faces.js';
import { placed } from './snap-view.js';
import { cross, dot } from './vectors.js';

const NAMES: Record<number, SnapKind> = {
  [SNAP_VERTEX]: 'vertex',
  [SNAP_MIDPOINT]: 'midpoint',
  [SNAP_CENTER]: 'center',
  [SNAP_EDGE]: 'edge',
};

/** Returns the address of the object that a room's result or question is about. */
export function targetOf(snaps: CoreSnaps, room: number): number {
  return snaps.word(room + SNAP_ROOM_TARGETS) + snaps.word(room + SNAP_ROOM_OF) * SNAP_TARGET_BYTES;
}

/** Returns the snap that a room has found. */
export function snapIn(snaps: CoreSnaps, room: number): Snap {
  const kind = snaps.word(room + SNAP_ROOM_KIND);
  const target = targetOf(snaps, room);
  const point = snaps.vector(room + SNAP_ROOM_POINT);
  const isVertex = kind === SNAP_VERTEX;
  const snap: Snap = {
    kind: NAMES[kind],
    object: snaps.word(target + SNAP_OBJECT),
    point,
    pixels: snaps.float(room + SNAP_ROOM_PIXELS),
    a: isVertex ? point : snaps.vector(room + SNAP_ROOM_ENDS),
    b: isVertex ? point : snaps.vector(room + SNAP_ROOM_ENDS + 24),
    element: snaps.word(room + SNAP_ROOM_ELEMENT) | 0,
  };
  if (kind !== SNAP_CENTER) return snap;
  const circle = circleAt(snaps, snaps.word(target + SNAP_FEATURES), snaps.word(room + SNAP_ROOM_INDEX));
  const place = snaps.floats(target + SNAP_MAP, 12);
  return { ...snap, radius: radiusIn(place, circle.axis, circle.radius), axis: normalIn(place, circle.axis) };
}

/** Returns the world-space corners of the element of a room's result, and whether the object's map mirrors it. */
export function elementIn(snaps: CoreSnaps, room: number): { corners: Vec3[]; isMirrored: boolean } {
  const target = targetOf(snaps, room);
  const mesh = snaps.word(target + SNAP_MESH);
  const place = snaps.floats(target + SNAP_MAP, 12);
  const size = snaps.word(snaps.word(target + SNAP_FEATURES));
  const slot = snaps.word(room + SNAP_ROOM_SLOT);
  const faces = mesh === 0 ? undefined : new Faces(snaps.memoryOf, mesh);
  const cornerOf = (k: number): Vec3 => (faces ? faces.corner(slot, k) : cubeCorner(slot, k));
  const [x, y, z] = [0, 1, 2].map((k) => columnOf(place, k));
  return {
    corners: Array.from({ length: size }, (_, k) => placed(place, cornerOf(k))),
    isMirrored: dot(x, cross(y, z)) < 0,
  };
}

function columnOf(place: ArrayLike<number>, k: number): Vec3 {
  return [place[3 * k], place[3 * k + 1], place[3 * k + 2]];
}

/** Returns a unit normal in the world, by the cofactors of the map. */
function normalIn(place: ArrayLike<number>, [x, y, z]: Vec3): Vec3 {
  const columns = [0, 1, 2].map((k) => columnOf(place, k));
  const [a, b, c] = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])];
  const normal = [0, 1, 2].map((k) => x * a[k] + y * b[k] + z * c[k]);
  const length = Math.hypot(...normal);
  return [normal[0] / length, normal[1] / length, normal[2] / length];
}

/** Returns the largest radius of the ellipse that a map makes of a circle. */
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

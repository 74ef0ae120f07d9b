import {
  SNAP_CENTER,
  SNAP_EDGE,
  SNAP_FEATURES,
  SNAP_MAP,
  SNAP_MESH,
  SNAP_MIDPOINT,
  SNAP_OBJECT,
  SNAP_PICK_ELEMENT,
  SNAP_PICK_ENDS,
  SNAP_PICK_INDEX,
  SNAP_PICK_KIND,
  SNAP_PICK_PIXELS,
  SNAP_PICK_POINT,
  SNAP_PICK_SLOT,
  SNAP_PICK_TARGET,
  SNAP_PICK_TARGETS,
  SNAP_TARGET_BYTES,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { Snap, SnapKind, Vec3 } from '../../shared/types.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { circleAt } from './core-features.js';
import { cubeCorner } from './cube.js';
import { ElementReader } from './faces.js';
import { transformPoint } from './snap-view.js';
import { cross, dot } from './vectors.js';

const KIND_NAMES: Record<number, SnapKind> = {
  [SNAP_VERTEX]: 'vertex',
  [SNAP_MIDPOINT]: 'midpoint',
  [SNAP_CENTER]: 'center',
  [SNAP_EDGE]: 'edge',
};

/** Returns the address of the object that a workspace's result or question is about. */
export function targetOf(snaps: CoreSnaps, workspace: number): number {
  return snaps.word(workspace + SNAP_PICK_TARGETS) + snaps.word(workspace + SNAP_PICK_TARGET) * SNAP_TARGET_BYTES;
}

/** Returns the snap that a workspace holds. */
export function readSnap(snaps: CoreSnaps, workspace: number): Snap {
  const kind = snaps.word(workspace + SNAP_PICK_KIND);
  const target = targetOf(snaps, workspace);
  const point = snaps.vector(workspace + SNAP_PICK_POINT);
  const isVertex = kind === SNAP_VERTEX;
  const snap: Snap = {
    kind: KIND_NAMES[kind],
    object: snaps.word(target + SNAP_OBJECT),
    point,
    pixels: snaps.float(workspace + SNAP_PICK_PIXELS),
    a: isVertex ? point : snaps.vector(workspace + SNAP_PICK_ENDS),
    b: isVertex ? point : snaps.vector(workspace + SNAP_PICK_ENDS + 24),
    element: snaps.word(workspace + SNAP_PICK_ELEMENT) | 0,
  };
  if (kind !== SNAP_CENTER) return snap;
  const circle = circleAt(snaps, snaps.word(target + SNAP_FEATURES), snaps.word(workspace + SNAP_PICK_INDEX));
  const transform = snaps.floats(target + SNAP_MAP, 12);
  return {
    ...snap,
    radius: worldRadius(transform, circle.axis, circle.radius),
    axis: worldNormal(transform, circle.axis),
  };
}

/** Returns the world-space corners of the element of a workspace's result, and whether the object's map mirrors it. */
export function readElement(snaps: CoreSnaps, workspace: number): { corners: Vec3[]; isMirrored: boolean } {
  const target = targetOf(snaps, workspace);
  const mesh = snaps.word(target + SNAP_MESH);
  const transform = snaps.floats(target + SNAP_MAP, 12);
  const size = snaps.word(snaps.word(target + SNAP_FEATURES));
  const slot = snaps.word(workspace + SNAP_PICK_SLOT);
  const faces = mesh === 0 ? undefined : new ElementReader(snaps.getMemory, mesh);
  const cornerOf = (k: number): Vec3 => (faces ? faces.corner(slot, k) : cubeCorner(slot, k));
  const [x, y, z] = [0, 1, 2].map((k) => columnOf(transform, k));
  return {
    corners: Array.from({ length: size }, (_, k) => transformPoint(transform, cornerOf(k))),
    isMirrored: dot(x, cross(y, z)) < 0,
  };
}

function columnOf(transform: ArrayLike<number>, k: number): Vec3 {
  return [transform[3 * k], transform[3 * k + 1], transform[3 * k + 2]];
}

/** Returns a unit normal in the world, by the cofactors of the map. */
function worldNormal(transform: ArrayLike<number>, [x, y, z]: Vec3): Vec3 {
  const columns = [0, 1, 2].map((k) => columnOf(transform, k));
  const [a, b, c] = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])];
  const normal = [0, 1, 2].map((k) => x * a[k] + y * b[k] + z * c[k]);
  const length = Math.hypot(...normal);
  return [normal[0] / length, normal[1] / length, normal[2] / length];
}

/** Returns the largest radius of the ellipse that a map makes of a circle. */
function worldRadius(transform: ArrayLike<number>, axis: Vec3, radius: number): number {
  const reference: Vec3 = Math.abs(axis[0]) < 0.5 ? [1, 0, 0] : [0, 1, 0];
  const u = cross(axis, reference);
  const length = Math.hypot(...u);
  const [p, q] = [
    u.map((each) => each / length) as unknown as Vec3,
    cross(axis, u).map((each) => each / length) as unknown as Vec3,
  ];
  const map = ([x, y, z]: Vec3) => [0, 1, 2].map((k) => transform[k] * x + transform[3 + k] * y + transform[6 + k] * z);
  const [a, b] = [map(p), map(q)];
  const [aa, bb, ab] = [0, 1, 2].reduce(
    (sums, k) => [sums[0] + a[k] * a[k], sums[1] + b[k] * b[k], sums[2] + a[k] * b[k]],
    [0, 0, 0],
  );
  const half = (aa + bb) / 2;
  return radius * Math.sqrt(half + Math.hypot((aa - bb) / 2, ab));
}

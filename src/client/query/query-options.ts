import { CollisionError } from '../../shared/errors.js';
import {
  CLIP_SET_BYTES,
  CLIP_SET_FIRST,
  CLIP_SET_INTERSECTION_COUNT,
  CLIP_SET_UNION_COUNT,
  CONTACTS_NONE,
  MAX_CLIP_PLANES,
  MAX_OBJECTS,
  PRECISION_MESH,
  type PRECISION_OBB,
  REGION_ENCLOSE,
  REGION_TOUCH,
  type SIDE_DOUBLE,
  SIDE_OWN,
  VIEW_VIEWPORT,
} from '../../shared/layout.js';
import type { Clips, Filter, Region } from '../../shared/protocol.js';
import { concatenate } from '../../shared/typed-arrays.js';
import type {
  ContactOptions,
  ObjectId,
  PickOptions,
  QueryOptions,
  Ray,
  Rect,
  RegionOptions,
  SnapKind,
  Vec3,
} from '../../shared/types.js';
import { checkTypedArray } from '../check/binary.js';
import { checkClipPlanes } from '../check/planes.js';
import { checkSignal } from '../check/signal.js';
import {
  checkAtLeastZero,
  checkBits,
  checkBoolean,
  checkFinite,
  checkInteger,
  checkNumber,
  checkOneOf,
  checkVec3,
  guardRead,
  readOptions,
  throwInvalid,
  typeOf,
} from '../check/validate.js';
import type { View } from '../frame/view-table.js';
import { checkSide, contactDetail } from '../scene/object-description.js';
import type { ObjectStore } from '../scene/object-store.js';

export const QUERY_KEYS = [
  ...['layers', 'ignore', 'side', 'precision', 'threshold', 'clip', 'clipIntersection', 'signal'],
];
/** Additional options of the three adapter. */
export const ADAPTER_KEYS = ['strangers', 'ownThresholds', 'clipSets', 'asked'];
const RAY_KEYS = ['origin', 'direction', 'tMin', 'tMax'];
const RECT_KEYS = ['x', 'y', 'width', 'height'];
const PRECISIONS = ['sphere', 'aabb', 'obb', 'mesh'] as const; // PRECISION_*, from 1 on
const REGION_MODES = { touch: REGION_TOUCH, enclose: REGION_ENCLOSE } as const;

/** Margin of a polygon's bounds, so that they do not coincide with its edges: on both at once, nothing is inside or outside. */
const POLYGON_MARGIN = 1e-6;

/** Additional options of the three adapter. */
export interface AdapterQuery {
  /** Ids that are ignored, too. They need not be alive any more. */
  strangers?: readonly ObjectId[];
  /**
   * Objects of points or lines that a ray hits within a threshold in their own space instead of `threshold`, as in three's
   * Raycaster; `distanceToRay` of their hits is in that space, too. They need not be alive any more.
   */
  ownThresholds?: ReadonlyMap<ObjectId, number>;
  /** The planes of the clip sets that objects have; set 0 is empty. */
  clipSets?: Clips | undefined;
  /** The view of a pick, as it was when the caller asked: the one of that name may have changed since, or be gone. */
  asked?: View;
}

/** Reads the filter of a query. `precision` and `side` (SIDE_*) are the defaults. */
export function checkFilter(
  operation: string,
  options: QueryOptions & AdapterQuery,
  objects: ObjectStore,
  precision: typeof PRECISION_MESH | typeof PRECISION_OBB = PRECISION_MESH,
  side: typeof SIDE_OWN | typeof SIDE_DOUBLE = SIDE_OWN,
): Filter {
  const { layers = -1, ignore = [], signal, precision: precisionName = PRECISIONS[precision - 1] } = options;
  const { strangers = [], threshold = 0, ownThresholds, clip, clipIntersection = false, clipSets } = options;
  checkBoolean(operation, 'clipIntersection', clipIntersection);
  const planes = clip === undefined ? undefined : checkClipPlanes(operation, 'clip', clip, MAX_CLIP_PLANES);
  checkSignal(operation, signal);
  const filter: Filter = {
    layers: checkBits(operation, 'layers', layers),
    side: options.side === undefined ? side : checkSide(operation, 'side', options.side),
    precision: 1 + PRECISIONS.indexOf(checkOneOf(operation, 'precision', precisionName, PRECISIONS)),
    clips: planes === undefined || planes.length === 0 ? clipSets : withQueryPlanes(clipSets, planes, clipIntersection),
  };
  const aliveIds = checkIds(operation, 'ignore', ignore, objects);
  const ignoredIds = strangers.length > 0 ? concatenate([aliveIds, strangers]) : aliveIds;
  if (ignoredIds.length > 0) filter.ignore = sortAscending(ignoredIds);
  if (checkAtLeastZero(operation, 'threshold', threshold) > 0) filter.threshold = threshold;
  if (ownThresholds && ownThresholds.size > 0) {
    const ids = Uint32Array.from(ownThresholds.keys()).sort();
    filter.own = { ids, thresholds: Float64Array.from(ids, (id) => ownThresholds.get(id)!) };
  }
  return filter;
}

const NO_CLIPS: Clips = { sets: new Uint32Array(CLIP_SET_BYTES / 4), planes: new Float64Array() };

/** Returns the clip sets with the query's own planes in set 0. */
function withQueryPlanes(clipSets: Clips = NO_CLIPS, planes: Float64Array, isIntersection: boolean): Clips {
  const sets = clipSets.sets.slice();
  sets[CLIP_SET_FIRST / 4] = clipSets.planes.length / 4;
  sets[(isIntersection ? CLIP_SET_INTERSECTION_COUNT : CLIP_SET_UNION_COUNT) / 4] = planes.length / 4;
  return { sets, planes: Float64Array.of(...clipSets.planes, ...planes) };
}

/** The names of SNAP_VERTEX = 1 and the bits above it, in their order. */
const SNAP_NAMES: readonly SnapKind[] = ['vertex', 'midpoint', 'center', 'edge', 'face'];

/** Reads the kinds of features that a pick may snap to, SNAP_*; 0 for none. */
export function checkSnap(operation: string, { snap, method = 'ray', precision = 'mesh' }: PickOptions): number {
  if (snap === undefined) return 0;
  const kinds = guardRead(operation, 'snap', () => {
    if (!Array.isArray(snap)) throwInvalid(operation, 'snap', snap, `a list of ${SNAP_NAMES.join(', ')}`);
    const bitOf = (kind: SnapKind, i: number) =>
      1 << SNAP_NAMES.indexOf(checkOneOf(operation, `snap[${i}]`, kind, SNAP_NAMES));
    return snap.reduce<number>((bits, kind, i) => bits | bitOf(kind, i), 0);
  });
  if (kinds && method !== 'ray') throwInvalid(operation, 'snap', snap, `none with method '${method}'`);
  if (kinds && precision !== 'mesh') throwInvalid(operation, 'snap', snap, `none with precision '${precision}'`);
  return kinds;
}

/** Reads the filter of a query that supports whole objects only, and no clip planes. */
export function checkWholeFilter(
  operation: string,
  options: QueryOptions & AdapterQuery,
  objects: ObjectStore,
  side: typeof SIDE_OWN | typeof SIDE_DOUBLE = SIDE_OWN,
): Filter {
  const filter = checkFilter(operation, options, objects, PRECISION_MESH, side);
  if (!filter.clips) return filter;
  const count = filter.clips.planes.length / 4;
  throw new CollisionError(
    'UNSUPPORTED',
    `${operation}: clip has ${count} planes, expected none, as ${operation} is about whole objects only`,
  );
}

/** Reads the detail of a contact query, as CONTACTS_*. */
export function checkDetail(operation: string, detail: ContactOptions['detail'] = 'manifold'): number {
  const detailCode = contactDetail(operation, 'detail', detail);
  if (detailCode === CONTACTS_NONE) throwInvalid(operation, 'detail', detail, "more than 'none'");
  return detailCode;
}

/** Copies ids, which must all be alive. */
export function checkIds(operation: string, argument: string, value: unknown, objects: ObjectStore): Uint32Array {
  return guardRead(operation, argument, () => {
    const isTyped = ArrayBuffer.isView(value) && 'length' in value;
    if (!Array.isArray(value) && !isTyped) throwInvalid(operation, argument, value, 'an array of object ids');
    const { length } = value as ArrayLike<number>;
    checkInteger(operation, `the length of ${argument}`, length, 0, MAX_OBJECTS);
    const ids = new Uint32Array(length);
    if (value instanceof Uint32Array) {
      ids.set(value); // a million in 1 ms, one by one in 10 ms
      objects.checkAll(operation, argument, ids);
      return ids;
    }
    for (let i = 0; i < length; i++) {
      const id = (value as ArrayLike<number>)[i];
      objects.check(operation, argument, id, i);
      ids[i] = id;
    }
    return ids;
  });
}

/** Sorts ids in place. Ids of instances are usually sorted already: checking a million takes 1 ms, sorting them 20. */
export function sortAscending(ids: Uint32Array): Uint32Array {
  for (let i = 1; i < ids.length; i++) if (ids[i - 1] > ids[i]) return ids.sort();
  return ids;
}

export function checkRay(operation: string, ray: Ray): Ray {
  if (ray === undefined) throwInvalid(operation, 'ray', ray, 'an object');
  const given = readOptions(operation, 'ray', ray, RAY_KEYS);
  const { tMin = 0, tMax = Number.POSITIVE_INFINITY } = given;
  const origin = checkVec3(operation, 'ray.origin', given.origin);
  const direction = checkVec3(operation, 'ray.direction', given.direction);
  if (direction.every((each) => each === 0))
    throwInvalid(operation, 'ray.direction', direction, 'a direction, not zero');
  checkAtLeastZero(operation, 'ray.tMin', tMin);
  checkNumber(operation, 'ray.tMax', tMax, tMin, `a number >= tMin, which is ${tMin}`);
  return { origin, direction, tMin, tMax };
}

/** The rounding error of a hit's distance, relative to the coordinates of a line's ends: some last bits. */
const SIGHT_SLACK = 1e-14;

/**
 * Returns the ray of a line of sight, a little longer at both ends: objects there count, wherever rounding puts them. Null for two
 * points as good as equal, between which there is nothing.
 */
export function sightRay(from: Vec3, to: Vec3): { origin: Vec3; direction: Vec3; tMax: number } | null {
  const direction: Vec3 = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const length = Math.hypot(...direction);
  if (length < 1e-150) return null;
  const slack = SIGHT_SLACK * (1 + Math.hypot(...from) / length);
  const startAlong = (i: number): number => from[i] - slack * direction[i];
  return { origin: [startAlong(0), startAlong(1), startAlong(2)], direction, tMax: (1 + 2 * slack) * length };
}

/** Copies the planes of a query: four finite numbers each, no normal of which is zero. */
export function checkPlanes(operation: string, value: Float32Array): Float32Array {
  const planes = checkTypedArray<Float32Array>(operation, 'planes', value, ['Float32Array']);
  const { length } = planes;
  if (length === 0 || length > 128 || length % 4 > 0) {
    throwInvalid(operation, 'the length of planes', length, 'four numbers for each of 1 to 32 planes');
  }
  for (let i = 0; i < length; i++) checkFinite(operation, `planes[${i}]`, planes[i]);
  for (let i = 0; i < length; i += 4) {
    const [x, y, z] = planes.subarray(i, i + 3);
    if (!x && !y && !z) throwInvalid(operation, `the normal of plane ${i / 4}`, [x, y, z], 'one not zero');
  }
  return planes.slice();
}

/** Reads a region, and returns a function that clips it to a view. */
export function checkRegion(
  operation: string,
  region: Rect | Float32Array,
  mode: RegionOptions['mode'] = 'touch',
): (view: Uint32Array) => Region | null {
  checkOneOf(operation, 'mode', mode, Object.keys(REGION_MODES) as (keyof typeof REGION_MODES)[]);
  const isPolygon = ArrayBuffer.isView(region) || Array.isArray(region);
  const corners = isPolygon
    ? checkPolygon(operation, region as Float32Array).slice()
    : checkRect(operation, region as Rect);
  return (view) => clipRegion(view, corners, isPolygon, mode);
}

/** Clips a region to the view's viewport, in clip space over w; null if nothing is left. */
function clipRegion(
  view: Uint32Array,
  corners: ArrayLike<number>,
  isPolygon: boolean,
  mode: keyof typeof REGION_MODES,
): Region | null {
  const [left, top, width, height] = new Float64Array(view.buffer).subarray(VIEW_VIEWPORT / 8, VIEW_VIEWPORT / 8 + 4);
  if (width === 0 || height === 0) return null;
  const points = new Float64Array(corners.length);
  let minX = Number.POSITIVE_INFINITY;
  let minY = Number.POSITIVE_INFINITY;
  let maxX = Number.NEGATIVE_INFINITY;
  let maxY = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < corners.length; i += 2) {
    const x = ((corners[i] - left) / width) * 2 - 1;
    const y = 1 - ((corners[i + 1] - top) / height) * 2;
    points[i] = x;
    points[i + 1] = y;
    minX = Math.min(minX, x);
    minY = Math.min(minY, y);
    maxX = Math.max(maxX, x);
    maxY = Math.max(maxY, y);
  }
  if (!(minX <= 1 && minY <= 1 && maxX >= -1 && maxY >= -1)) return null;
  const margin = isPolygon ? POLYGON_MARGIN : 0;
  return {
    bounds: [
      ...([Math.max(minX - margin, -1), Math.max(minY - margin, -1)] as const),
      ...([Math.min(maxX + margin, 1), Math.min(maxY + margin, 1)] as const),
    ],
    polygon: isPolygon ? points : new Float64Array(),
    mode: REGION_MODES[mode],
  };
}

/** Reads a rectangle as two opposite corners. */
function checkRect(operation: string, rect: Rect): number[] {
  if (rect === undefined) throwInvalid(operation, 'region', rect, 'a rectangle or a polygon');
  const plainRect = guardRead(operation, 'region', () => {
    // A DOMRect has its keys on its prototype, and more keys than these.
    if (typeof rect !== 'object' || rect === null || !typeOf(rect).startsWith('DOMRect')) return rect;
    return { x: rect.x, y: rect.y, width: rect.width, height: rect.height };
  });
  const fields = readOptions(operation, 'region', plainRect, RECT_KEYS);
  const x = checkFinite(operation, 'region.x', fields.x);
  const y = checkFinite(operation, 'region.y', fields.y);
  const width = checkFinite(operation, 'region.width', fields.width);
  const height = checkFinite(operation, 'region.height', fields.height);
  return [x, y, x + width, y + height];
}

function checkPolygon(operation: string, value: Float32Array): Float32Array {
  const polygon = checkTypedArray<Float32Array>(operation, 'region', value, ['Float32Array']);
  if (polygon.length < 6 || polygon.length % 2 > 0) {
    throwInvalid(operation, 'the length of region', polygon.length, 'x and y of three or more vertices');
  }
  for (let i = 0; i < polygon.length; i++) checkFinite(operation, `region[${i}]`, polygon[i]);
  return polygon;
}

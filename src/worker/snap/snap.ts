import {
  SHAPE_BOX,
  SHAPE_MESH,
  SHAPE_POINT_LINE,
  SNAP_ASKS_BOX,
  SNAP_ASKS_POINT,
  SNAP_BASE,
  SNAP_CENTER,
  SNAP_DRAWING_NUMBERS,
  SNAP_EDGE,
  SNAP_FACE,
  SNAP_FEATURES,
  SNAP_FOUND,
  SNAP_MESH,
  SNAP_MIDPOINT,
  SNAP_MOVED,
  SNAP_ROOM_BOX,
  SNAP_ROOM_HIDDEN_COUNT,
  SNAP_ROOM_PLACE,
  SNAP_ROOM_POINT,
  SNAP_ROOM_RECT,
  SNAP_ROOM_TARGET_COUNT,
  SNAP_SHAPE,
  SNAP_TIRED,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { PickRay } from '../../shared/packed.js';
import type { Filter, SnapRequest } from '../../shared/protocol.js';
import type { FlatFace, Hit, Snap, Vec3 } from '../../shared/types.js';
import type { CoreRays } from '../binding/rays.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { inOnePiece, type Steps } from '../binding/steps.js';
import { elementIn, snapIn, targetOf } from './candidate-detail.js';
import { type CoreFeatures, placeFeatures } from './core-features.js';
import { cubeFeatures, cubeQuadAt } from './cube.js';
import { Faces } from './faces.js';
import type { FeatureStore } from './feature-store.js';
import { faceOf } from './flat-faces.js';
import { Fronts } from './fronts.js';
import { SnapView } from './snap-view.js';
import { cross, dot, minus } from './vectors.js';

const SNAP_POINTS = SNAP_VERTEX | SNAP_MIDPOINT | SNAP_CENTER;

type CoreHit = Omit<Hit, 'frame'>;

/** Features that must be found before a pick can be answered, of meshes by their addresses. */
export interface MissingFeatures {
  features: Set<number>;
  flats: Set<number>;
}

export type SnapAnswer = { hit: CoreHit | null; missing?: undefined } | { missing: MissingFeatures };

/** The radius is the last number of a request's drawing. */
const RADIUS = SNAP_DRAWING_NUMBERS - 1;
/** Objects that are read between two rests, in some 0.1 ms. */
const STEP = 128;
/** If more objects than this are near the cursor, many of them may well be hidden. */
const FEW = 64;
/** Then one object in this many is counted as a hidden point. */
const HIDDEN_SHARE = 16;

/** Picks, and finds the feature near the cursor to which the hit snaps. */
export class Snapper {
  readonly #rays: CoreRays;
  readonly #snaps: CoreSnaps;
  readonly #store: FeatureStore;
  /** The features of boxes, found when the first box is near a cursor. */
  #cube: CoreFeatures | undefined;

  constructor(rays: CoreRays, snaps: CoreSnaps, store: FeatureStore) {
    this.#rays = rays;
    this.#snaps = snaps;
    this.#store = store;
  }

  /**
   * Returns a pick, in steps between which meshes must stay at their addresses. The hit and the features are those of the first
   * step, while occlusion is tested as it is at that time. `sought` has the meshes whose flat faces were searched. If it is
   * given, features whose mesh has moved since they were found are acceptable: except for centres, they are evaluated at the
   * vertices' present positions. Missing flat faces of these meshes, which have moved meanwhile, are acceptable, too.
   */
  *pick(ray: PickRay, filter: Filter, request: SnapRequest, sought?: ReadonlySet<number>): Steps<SnapAnswer> {
    this.#store.keep();
    try {
      return yield* this.#snaps.during(filter, (room) => this.#snapped(room, ray, filter, request, sought));
    } finally {
      this.#store.release();
    }
  }

  *#snapped(
    room: number,
    ray: PickRay,
    filter: Filter,
    { kinds, drawing }: SnapRequest,
    sought: ReadonlySet<number> | undefined,
  ): Steps<SnapAnswer> {
    const snaps = this.#snaps;
    const view = new SnapView(drawing);
    const radius = drawing[RADIUS];
    // Thresholds, if any, determine which points and lines are hit, else the radius does.
    const isWide = radius > 0 && filter.threshold === undefined && filter.own === undefined;
    const hit = this.#rays.raycastAgain(isWide ? view.widened(ray, radius) : ray);
    const struckId = hit?.object ?? 0;
    snaps.begin(room, drawing);
    let ids = snaps.list(room, struckId);
    const fronts = new Fronts(view, radius, filter, (each) => this.#rays.raycastAgain(each));
    if (ids.length > FEW) {
      if (fronts.whole) ids = snaps.list(room, struckId, fronts.whole);
      fronts.count(ids.length / HIDDEN_SHARE);
    }
    const missing: MissingFeatures = { features: new Set(), flats: new Set() };
    const struck = yield* this.#takeTargets(room, ids, kinds, struckId, missing, sought);
    if (missing.features.size + missing.flats.size > 0) return { missing };
    let isFound = false;
    for (const some of [kinds & SNAP_POINTS, kinds & SNAP_EDGE]) {
      if (!isFound && some !== 0) isFound = yield* this.#findVisible(room, fronts, some);
    }
    if (hit === null) return { hit: isFound ? hitOf(snaps, room, view, ray) : null };
    hit.snap = isFound ? snapIn(snaps, room) : struck ? yield* faceSnap(snaps, this.#store, struck, hit) : null;
    return { hit };
  }

  /**
   * Adds the objects near the cursor to a room, with their features. Collects the missing features, and finds the object that was
   * hit.
   */
  *#takeTargets(
    room: number,
    ids: ArrayLike<number>,
    kinds: number,
    struckId: number,
    missing: MissingFeatures,
    sought: ReadonlySet<number> | undefined,
  ): Steps<Struck | undefined> {
    const snaps = this.#snaps;
    let struck: Struck | undefined;
    for (let i = 0; i < ids.length; i++) {
      if (i % STEP === STEP - 1) yield;
      const target = snaps.add(room, ids[i]);
      if (target === 0) continue;
      const shape = snaps.word(target + SNAP_SHAPE) & 0xffff;
      const mesh = snaps.word(target + SNAP_MESH);
      const base = snaps.word(target + SNAP_BASE);
      const found = this.#featuresOf(shape, base);
      if (kinds & ~SNAP_FACE && isMesh(shape) && (!found || (found.isMoved && !sought))) missing.features.add(base);
      if (kinds & SNAP_FACE && ids[i] === struckId) {
        struck = { shape, mesh, base, place: snaps.floats(target, 12).slice() };
        if (this.#areFlatsMissing(struck, sought)) missing.flats.add(base);
      }
      if (found) {
        snaps.setWord(target + SNAP_FEATURES, found.features.address);
        snaps.setWord(target + SNAP_MOVED, found.isMoved || mesh !== base ? 1 : 0);
      } else {
        const count = room + SNAP_ROOM_TARGET_COUNT;
        snaps.setWord(count, snaps.word(count) - 1);
      }
    }
    return struck;
  }

  /** Finds the best visible candidate of some kinds that nothing hides; returns whether there is one. */
  *#findVisible(room: number, fronts: Fronts, kinds: number): Steps<boolean> {
    const snaps = this.#snaps;
    snaps.beginKinds(room, kinds, fronts.depth);
    let counted = snaps.word(room + SNAP_ROOM_HIDDEN_COUNT);
    for (let isHidden = false; ; ) {
      const said = snaps.step(room, fronts.depth, fronts.hideBoxes, fronts.depth >= 0, isHidden);
      const hidden = snaps.word(room + SNAP_ROOM_HIDDEN_COUNT);
      fronts.count(hidden - counted);
      counted = hidden;
      isHidden = false;
      if (said === SNAP_ASKS_BOX) {
        const box = new Float32Array(snaps.memoryOf(), snaps.word(room + SNAP_ROOM_BOX), 6);
        const rect = snaps.floats(room + SNAP_ROOM_RECT, 4);
        isHidden = fronts.hidesBox(snaps.floats(targetOf(snaps, room), 12), box, rect);
      } else if (said === SNAP_ASKS_POINT) {
        isHidden = fronts.hides(snaps.floats(room + SNAP_ROOM_PLACE, 2), snaps.vector(room + SNAP_ROOM_POINT));
      } else if (said === SNAP_TIRED) {
        yield;
      } else {
        return said === SNAP_FOUND;
      }
    }
  }

  #areFlatsMissing({ shape, mesh, base }: Struck, sought: ReadonlySet<number> | undefined): boolean {
    return shape === SHAPE_MESH && mesh === base && !sought?.has(base) && !this.#store.flatsAt(base);
  }

  /** Returns the features of a box or mesh; undefined if there are none, or not yet. */
  #featuresOf(shape: number, mesh: number) {
    if (shape !== SHAPE_BOX) return isMesh(shape) ? this.#store.at(mesh) : undefined;
    this.#cube ??= inOnePiece(placeFeatures(this.#snaps, cubeFeatures()));
    return { features: this.#cube, isMoved: false };
  }
}

/** The object that a pick has hit. */
interface Struck {
  shape: number;
  mesh: number;
  base: number;
  place: ArrayLike<number>;
}

function isMesh(shape: number): boolean {
  return shape === SHAPE_MESH || shape === SHAPE_POINT_LINE;
}

/** Makes a hit of a room's result that the ray itself misses. */
function hitOf(snaps: CoreSnaps, room: number, view: SnapView, { origin, direction }: PickRay): CoreHit {
  const snap = snapIn(snaps, room);
  const { object, point, element } = snap;
  const { corners, isMirrored } = elementIn(snaps, room);
  const isFace = corners.length === 3;
  const way = minus(point, origin);
  const length = Math.hypot(...way);
  const unit = 1 / Math.hypot(...direction);
  const along: Vec3 = [direction[0] * unit, direction[1] * unit, direction[2] * unit];
  const triangle = isFace ? element : -1;
  // A box has no triangles of its own.
  const barycentric = triangle < 0 ? ZERO : weightsIn(corners, point);
  // The distance is measured along the rays if they are parallel.
  return {
    object,
    distance: view.isParallel ? dot(way, along) : length,
    point,
    normal: isFace ? normalOf(corners, isMirrored) : [-along[0], -along[1], -along[2]],
    triangle,
    element,
    barycentric,
    bone: snaps.boneOf(object, triangle, barycentric),
    ...(!isFace && { distanceToRay: distanceFrom(way, along) }),
    snap,
  };
}

const ZERO: Vec3 = [0, 0, 0];

function* faceSnap(snaps: CoreSnaps, store: FeatureStore, target: Struck, hit: CoreHit): Steps<Snap | null> {
  const { object, point, triangle, normal } = hit;
  const face = yield* faceAt(snaps, store, target, triangle, point, normal);
  return face && { kind: 'face', object, point, pixels: 0, a: point, b: point, element: triangle, face };
}

/** Returns the flat face of an object that contains a point; null if there is none, because the object is round or posed. */
function* faceAt(
  snaps: CoreSnaps,
  store: FeatureStore,
  { shape, place, mesh, base }: Struck,
  triangle: number,
  point: Vec3,
  normal: Vec3,
): Steps<FlatFace | null> {
  if (shape === SHAPE_BOX) return cubeQuadAt(place, point, normal);
  const flats = shape === SHAPE_MESH && mesh === base ? store.flatsAt(base) : undefined;
  if (!flats || triangle < 0) return null;
  return yield* faceOf(flats, triangle, new Faces(snaps.memoryOf, mesh), place, normal);
}

function distanceFrom(way: Vec3, along: Vec3): number {
  return Math.hypot(...cross(way, along));
}

/** Returns the normal of a triangle by its winding, reversed under a map that mirrors. */
function normalOf([a, b, c]: Vec3[], isMirrored: boolean): Vec3 {
  const normal = cross(minus(b, a), minus(c, a));
  const unit = (isMirrored ? -1 : 1) / Math.hypot(...normal);
  return [normal[0] * unit, normal[1] * unit, normal[2] * unit];
}

/** Returns the barycentric coordinates of a point in a triangle's plane, clamped to the triangle. */
function weightsIn([a, b, c]: Vec3[], point: Vec3): Vec3 {
  const normal = cross(minus(b, a), minus(c, a));
  const square = dot(normal, normal);
  const way = minus(point, a);
  const v = Math.min(Math.max(dot(cross(way, minus(c, a)), normal) / square, 0), 1);
  const w = Math.min(Math.max(dot(cross(minus(b, a), way), normal) / square, 0), 1 - v);
  return [1 - v - w, v, w];
}

import {
  SHAPE_BOX,
  SHAPE_MESH,
  SHAPE_POINT_LINE,
  SNAP_ASKS_BOX,
  SNAP_ASKS_POINT,
  SNAP_BASE,
  SNAP_CENTER,
  SNAP_EDGE,
  SNAP_FACE,
  SNAP_FEATURES,
  SNAP_FOUND,
  SNAP_MESH,
  SNAP_MIDPOINT,
  SNAP_MOVED,
  SNAP_OBJECT,
  SNAP_ROOM_BOX,
  SNAP_ROOM_HIDDEN_COUNT,
  SNAP_ROOM_INDEX,
  SNAP_ROOM_KIND,
  SNAP_ROOM_OF,
  SNAP_ROOM_PIXELS,
  SNAP_ROOM_PLACE,
  SNAP_ROOM_POINT,
  SNAP_ROOM_RECT,
  SNAP_ROOM_SLOT,
  SNAP_ROOM_TARGET_COUNT,
  SNAP_ROOM_TARGETS,
  SNAP_SHAPE,
  SNAP_TARGET_BYTES,
  SNAP_TIRED,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { Filter, PickRay, SnapRequest } from '../../shared/protocol.js';
import type { FlatFace, Hit, Snap, SnapKind, Vec3 } from '../../shared/types.js';
import type { CoreRays } from '../binding/rays.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { inOnePiece, type Steps } from '../binding/steps.js';
import { type CandidateDetail, detailOf, type NearObject } from './candidate-detail.js';
import { type CoreFeatures, featuresAt, placeFeatures } from './core-features.js';
import { cubeFaces, cubeFeatures, cubeQuadAt } from './cube.js';
import { Faces } from './faces.js';
import type { FeatureStore } from './feature-store.js';
import { faceOf } from './flat-faces.js';
import { Fronts } from './fronts.js';
import { SnapView } from './snap-view.js';
import { cross, dot, minus } from './vectors.js';

const SNAP_POINTS = SNAP_VERTEX | SNAP_MIDPOINT | SNAP_CENTER;

const NAMES: Record<number, SnapKind> = {
  [SNAP_VERTEX]: 'vertex',
  [SNAP_MIDPOINT]: 'midpoint',
  [SNAP_CENTER]: 'center',
  [SNAP_EDGE]: 'edge',
};

type CoreHit = Omit<Hit, 'frame'>;

/** What must be found before a pick can be answered, of meshes by their addresses. */
export interface MissingFeatures {
  features: Set<number>;
  flats: Set<number>;
}

export type SnapAnswer = { hit: CoreHit | null; missing?: undefined } | { missing: MissingFeatures };

/** So many objects are read between two rests, in some 0.1 ms. */
const STEP = 128;
/** Where more objects than these are near the cursor, many of them may well be hidden. */
const FEW = 64;
/** One of so many objects is taken for a hidden point then. */
const HIDDEN_SHARE = 16;

/** Picks, and finds the feature near the cursor that the hit snaps to. */
export class Snapper {
  readonly #rays: CoreRays;
  readonly #snaps: CoreSnaps;
  readonly #store: FeatureStore;
  /** What boxes have to snap to; it is found when the first one is near a cursor. */
  #cube: CoreFeatures | undefined;

  constructor(rays: CoreRays, snaps: CoreSnaps, store: FeatureStore) {
    this.#rays = rays;
    this.#snaps = snaps;
    this.#store = store;
  }

  /**
   * Answers a pick, in steps between which meshes must stay at their addresses: the hit and the features are those of the first step,
   * and what hides them is looked at as it is then. With `sought`, the meshes whose flat faces were looked for, features will do of which
   * the mesh has moved since they were found: they are taken to where its vertices are now, but for centres. So do no faces of those,
   * which have moved meanwhile.
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
    { view: record, cursor, kinds }: SnapRequest,
    sought: ReadonlySet<number> | undefined,
  ): Steps<SnapAnswer> {
    const snaps = this.#snaps;
    const hit = this.#rays.raycastAgain(ray);
    const view = new SnapView(record, cursor);
    const fronts = new Fronts(view, cursor.radius, filter, (each) => this.#rays.raycastAgain(each));
    const struckId = hit?.object ?? 0;
    let ids = snaps.list(record, view.bounds, struckId);
    if (ids.length > FEW) {
      if (fronts.whole) ids = snaps.list(record, view.bounds, struckId, fronts.whole);
      fronts.count(ids.length / HIDDEN_SHARE);
    }
    const { x, y, w, near, far } = view.drawing;
    snaps.begin(room, [x, y, w, near, far], view.viewport, cursor.radius);
    let missing: MissingFeatures | undefined;
    let struck: Struck | undefined;
    for (let i = 0; i < ids.length; i++) {
      if (i % STEP === STEP - 1) yield;
      const target = snaps.add(room, ids[i]);
      if (target === 0) continue;
      const shape = snaps.word(target + SNAP_SHAPE) & 0xffff;
      const mesh = snaps.word(target + SNAP_MESH);
      const base = snaps.word(target + SNAP_BASE);
      if (kinds & ~SNAP_FACE && this.#areMissing(shape, base, sought)) {
        missing ??= { features: new Set(), flats: new Set() };
        missing.features.add(base);
      }
      if (kinds & SNAP_FACE && ids[i] === struckId) {
        struck = { shape, mesh, base, place: snaps.floats(target, 12).slice() };
        if (this.#areFlatsMissing(struck, sought)) {
          missing ??= { features: new Set(), flats: new Set() };
          missing.flats.add(base);
        }
      }
      const found = shape === SHAPE_BOX ? this.#cubeFound() : isMesh(shape) ? this.#store.at(base) : undefined;
      if (found) {
        snaps.setWord(target + SNAP_FEATURES, found.features.address);
        snaps.setWord(target + SNAP_MOVED, found.isMoved || mesh !== base ? 1 : 0);
      } else {
        const count = room + SNAP_ROOM_TARGET_COUNT;
        snaps.setWord(count, snaps.word(count) - 1);
      }
    }
    if (missing) return { missing };
    let found: CandidateDetail | null = null;
    for (const some of [kinds & SNAP_POINTS, kinds & SNAP_EDGE]) {
      if (found || some === 0) continue;
      if (yield* this.#findVisible(room, fronts, some)) found = this.#detail(room);
    }
    if (hit === null) return { hit: found && hitOf(snaps, view, ray, found) };
    const snap = found ? snapOf(found) : struck ? faceSnap(snaps, this.#store, struck, hit) : null;
    return { hit: { ...hit, snap } };
  }

  /** Finds the best candidate of some kinds that shows and that nothing hides; answers whether there is one. */
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
        isHidden = fronts.hidesBox(snaps.floats(this.#targetOf(room), 12), box, rect);
      } else if (said === SNAP_ASKS_POINT) {
        isHidden = fronts.hides(snaps.floats(room + SNAP_ROOM_PLACE, 2), this.#pointOf(room));
      } else if (said === SNAP_TIRED) {
        yield;
      } else {
        return said === SNAP_FOUND;
      }
    }
  }

  /** Answers the address of the object that a room has found something of, or asks about. */
  #targetOf(room: number): number {
    const of = this.#snaps.word(room + SNAP_ROOM_OF);
    return this.#snaps.word(room + SNAP_ROOM_TARGETS) + of * SNAP_TARGET_BYTES;
  }

  #pointOf(room: number): Vec3 {
    const [x, y, z] = this.#snaps.floats(room + SNAP_ROOM_POINT, 3);
    return [x, y, z];
  }

  #detail(room: number): CandidateDetail {
    const snaps = this.#snaps;
    const memory = snaps.memoryOf;
    const target = this.#targetOf(room);
    const features = snaps.word(target + SNAP_FEATURES);
    const mesh = snaps.word(target + SNAP_MESH);
    const near: NearObject = {
      object: snaps.word(target + SNAP_OBJECT),
      place: snaps.floats(target, 12),
      size: snaps.word(features),
      features: () => featuresAt(memory(), features),
      isMoved: snaps.word(target + SNAP_MOVED) === 1,
      elements: mesh === 0 ? cubeFaces : new Faces(memory, mesh),
    };
    const word = (offset: number) => snaps.word(room + offset);
    const [pixels] = snaps.floats(room + SNAP_ROOM_PIXELS, 1);
    return detailOf(
      near,
      word(SNAP_ROOM_KIND),
      word(SNAP_ROOM_INDEX),
      word(SNAP_ROOM_SLOT),
      this.#pointOf(room),
      pixels,
    );
  }

  /** Tells whether the features of a mesh must be found first. */
  #areMissing(shape: number, base: number, sought: ReadonlySet<number> | undefined): boolean {
    const found = this.#store.at(base);
    return isMesh(shape) && (!found || (found.isMoved && !sought));
  }

  #areFlatsMissing({ shape, mesh, base }: Struck, sought: ReadonlySet<number> | undefined): boolean {
    return shape === SHAPE_MESH && mesh === base && !sought?.has(base) && !this.#store.flatsAt(base);
  }

  #cubeFound() {
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

function snapOf({ kind, object, point, pixels, a, b, element, radius, axis }: CandidateDetail): Snap {
  const snap: Snap = { kind: NAMES[kind], object, point, pixels, a, b, element };
  return axis === undefined || radius === undefined ? snap : { ...snap, radius, axis };
}

/** Makes a hit of a feature that the ray itself passes by. */
function hitOf(snaps: CoreSnaps, view: SnapView, { origin, direction }: PickRay, candidate: CandidateDetail): CoreHit {
  const { object, point, element, corners, isFace } = candidate;
  const way = minus(point, origin);
  const length = Math.hypot(...way);
  const unit = 1 / Math.hypot(...direction);
  const along: Vec3 = [direction[0] * unit, direction[1] * unit, direction[2] * unit];
  const triangle = isFace ? element : -1;
  // A box has no triangles that anybody has given.
  const barycentric = triangle < 0 ? ZERO : weightsIn(corners, point);
  // What is drawn by parallel rays is as far away as it is along them.
  return {
    object,
    distance: view.isParallel ? dot(way, along) : length,
    point,
    normal: isFace ? normalOf(corners, candidate.isMirrored) : [-along[0], -along[1], -along[2]],
    triangle,
    element,
    barycentric,
    bone: snaps.boneOf(object, triangle, barycentric),
    ...(!isFace && { distanceToRay: distanceFrom(way, along) }),
    snap: snapOf(candidate),
  };
}

const ZERO: Vec3 = [0, 0, 0];

function faceSnap(snaps: CoreSnaps, store: FeatureStore, target: Struck, hit: CoreHit): Snap | null {
  const { object, point, triangle, normal } = hit;
  const face = faceAt(snaps, store, target, triangle, point, normal);
  return face && { kind: 'face', object, point, pixels: 0, a: point, b: point, element: triangle, face };
}

/** Answers the flat face of an object that has a point; null where it has none, as it is round or posed. */
function faceAt(
  snaps: CoreSnaps,
  store: FeatureStore,
  { shape, place, mesh, base }: Struck,
  triangle: number,
  point: Vec3,
  normal: Vec3,
): FlatFace | null {
  if (shape === SHAPE_BOX) return cubeQuadAt(place, point, normal);
  const flats = shape === SHAPE_MESH && mesh === base ? store.flatsAt(base) : undefined;
  return flats && triangle >= 0 ? faceOf(flats, triangle, new Faces(snaps.memoryOf, mesh), place, normal) : null;
}

function distanceFrom(way: Vec3, along: Vec3): number {
  return Math.hypot(...cross(way, along));
}

/** The normal of a triangle by its winding; under a map that mirrors, the other way round in the world. */
function normalOf([a, b, c]: Vec3[], isMirrored: boolean): Vec3 {
  const normal = cross(minus(b, a), minus(c, a));
  const unit = (isMirrored ? -1 : 1) / Math.hypot(...normal);
  return [normal[0] * unit, normal[1] * unit, normal[2] * unit];
}

/** The weights of a triangle's corners for a point in its plane; within the triangle. */
function weightsIn([a, b, c]: Vec3[], point: Vec3): Vec3 {
  const normal = cross(minus(b, a), minus(c, a));
  const square = dot(normal, normal);
  const way = minus(point, a);
  const v = Math.min(Math.max(dot(cross(way, minus(c, a)), normal) / square, 0), 1);
  const w = Math.min(Math.max(dot(cross(minus(b, a), way), normal) / square, 0), 1 - v);
  return [1 - v - w, v, w];
}

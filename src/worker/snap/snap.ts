import {
  SHAPE_BOX,
  SHAPE_MESH,
  SHAPE_POINT_LINE,
  SNAP_CENTER,
  SNAP_EDGE,
  SNAP_FACE,
  SNAP_MIDPOINT,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { Filter, PickRay, SnapRequest } from '../../shared/protocol.js';
import type { FlatFace, Hit, Snap, SnapKind, Vec3 } from '../../shared/types.js';
import type { CoreRays } from '../binding/rays.js';
import type { CoreSnaps, SnapTarget } from '../binding/snaps.js';
import type { Steps } from '../binding/steps.js';
import { type CandidateDetail, detailOf } from './candidate-detail.js';
import { Candidates, type NearObject, SCRATCH } from './candidates.js';
import { cubeFaces, cubeFeatures, cubeQuadAt } from './cube.js';
import { Faces } from './faces.js';
import type { FeatureStore } from './feature-store.js';
import { faceOf } from './flat-faces.js';
import { Fronts } from './fronts.js';
import { AT, EDGE, INDEX, KIND, OF, PIXELS, Ring } from './ring.js';
import { placed, SnapView } from './snap-view.js';
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

/** So many objects are read, or points looked at, between two rests, in some 0.1 to 1 ms. */
const STEP = 128;
/** Where more objects than these are near the cursor, many of them may well be hidden. */
const FEW = 64;
/** One of so many objects is taken for a hidden point then. */
const HIDDEN_SHARE = 16;

/** What a pick writes to. */
interface Room {
  scratch: Float64Array;
  ring: Ring;
}

/** Picks, and finds the feature near the cursor that the hit snaps to. */
export class Snapper {
  readonly #rays: CoreRays;
  readonly #snaps: CoreSnaps;
  readonly #store: FeatureStore;
  /** Those that no pick writes to now: one, but while picks are between two steps. */
  readonly #rooms: Room[] = [];

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
  pick(ray: PickRay, filter: Filter, request: SnapRequest, sought?: ReadonlySet<number>): Steps<SnapAnswer> {
    const posed: NearObject[] = [];
    const hit = this.#rays.raycast(ray, filter);
    const work = this.#snapped(hit, ray, filter, request, posed, sought);
    return this.#snaps.during(filter, work, () => this.#forgetGone(posed));
  }

  *#snapped(
    hit: CoreHit | null,
    ray: PickRay,
    filter: Filter,
    { view: record, cursor, kinds }: SnapRequest,
    posed: NearObject[],
    sought: ReadonlySet<number> | undefined,
  ): Steps<SnapAnswer> {
    const snaps = this.#snaps;
    const view = new SnapView(record, cursor);
    const fronts = new Fronts(view, cursor.radius, filter, (each) => this.#rays.raycastAgain(each));
    const struckId = hit?.object ?? 0;
    let ids = snaps.list(record, view.bounds, struckId);
    if (ids.length > FEW) {
      if (fronts.whole) ids = snaps.list(record, view.bounds, struckId, fronts.whole);
      fronts.count(ids.length / HIDDEN_SHARE);
    }
    const objects: NearObject[] = [];
    const missing: MissingFeatures = { features: new Set(), flats: new Set() };
    let struck: SnapTarget | undefined;
    for (let i = 0; i < ids.length; i++) {
      if (i % STEP === STEP - 1) yield;
      const target = snaps.target(ids[i]);
      if (!target) continue;
      if (kinds & ~SNAP_FACE && areMissing(this.#store, target, sought)) missing.features.add(target.base);
      if (kinds & SNAP_FACE && target.object === struckId) {
        struck = target;
        if (areFlatsMissing(this.#store, target, sought)) missing.flats.add(target.base);
      }
      const object = objectOf(snaps, this.#store, target);
      if (!object) continue;
      objects.push(object);
      if (target.mesh !== target.base) posed.push(object);
    }
    if (missing.features.size + missing.flats.size > 0) return { missing };
    const sidesOf = (object: number, triangle: number) => snaps.sidesOf(object, triangle);
    const room = this.#rooms.pop() ?? { scratch: new Float64Array(SCRATCH), ring: new Ring() };
    const candidates = new Candidates({ view, objects, clips: filter.clips, fronts, sidesOf }, room.scratch);
    const { ring } = room;
    let found: CandidateDetail | null = null;
    for (const some of [kinds & SNAP_POINTS, kinds & SNAP_EDGE]) {
      if (!found && some !== 0)
        found = yield* this.#firstVisible(candidates, ring, objects, view, fronts, some, cursor.radius);
    }
    this.#rooms.push(room);
    if (hit === null) return { hit: found && hitOf(snaps, view, ray, found) };
    const snap = found ? snapOf(found) : struck ? faceSnap(snaps, this.#store, struck, hit) : null;
    return { hit: { ...hit, snap } };
  }

  /** Notes which posed meshes have gone between two steps: nobody keeps these. */
  #forgetGone(posed: readonly NearObject[]): void {
    for (const object of posed) object.isGone = this.#snaps.target(object.target.object)?.mesh !== object.target.mesh;
  }

  /**
   * Answers the best candidate of some kinds that shows and that nothing hides. All are gathered before one is looked at: a ray
   * is cast only to what is better than the answer.
   */
  *#firstVisible(
    candidates: Candidates,
    ring: Ring,
    objects: readonly NearObject[],
    view: SnapView,
    fronts: Fronts,
    kinds: number,
    radius: number,
  ): Steps<CandidateDetail | null> {
    ring.begin(radius);
    do {
      yield* candidates.gather(kinds, ring);
      yield* ring.sort();
      const { records } = ring;
      let looked = 0;
      for (let at = ring.take(), hidden = -1; at >= 0; at = ring.take()) {
        if (++looked % STEP === 0) yield;
        if (hidden >= 0 && ring.areSame(hidden, at)) continue;
        const of = records[at + OF];
        const kind = records[at + KIND];
        const index = records[at + INDEX];
        const slot = candidates.shownSlot(of, kind, index, records[at + EDGE]);
        if (slot < 0) continue;
        const point = placed(objects[of].target.place, [records[at + AT], records[at + AT + 1], records[at + AT + 2]]);
        view.findWayTo(point[0], point[1], point[2]);
        hidden = at;
        if (fronts.hides(view.place, point)) continue;
        if (!this.#snaps.isHidden(view.way)) {
          return detailOf(objects[of], kind, index, slot, point, records[at + PIXELS]);
        }
        fronts.count(1);
      }
    } while (ring.next());
    return null;
  }
}

function isMesh({ shape }: SnapTarget): boolean {
  return shape === SHAPE_MESH || shape === SHAPE_POINT_LINE;
}

/** Tells whether the features of a mesh must be found first. */
function areMissing(store: FeatureStore, target: SnapTarget, sought: ReadonlySet<number> | undefined): boolean {
  const found = store.at(target.base);
  return isMesh(target) && (!found || (found.isMoved && !sought));
}

function areFlatsMissing(store: FeatureStore, target: SnapTarget, sought: ReadonlySet<number> | undefined): boolean {
  const { shape, mesh, base } = target;
  return shape === SHAPE_MESH && mesh === base && !sought?.has(base) && !store.flatsAt(base);
}

/** Answers what is known of an object; null of one that has no features, as it is round. */
function objectOf(snaps: CoreSnaps, store: FeatureStore, target: SnapTarget): NearObject | null {
  if (target.shape === SHAPE_BOX) return { target, ...cubeFeatures(), elements: cubeFaces, isGone: false };
  const found = isMesh(target) ? store.at(target.base) : undefined;
  if (!found) return null;
  const isMoved = found.isMoved || target.mesh !== target.base;
  const elements = new Faces(snaps.memoryOf, target.mesh);
  return { target, features: found.features, levels: found.levels, isMoved, elements, isGone: false };
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
  const barycentric = isFace ? weightsIn(corners, point) : ZERO;
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

function faceSnap(snaps: CoreSnaps, store: FeatureStore, target: SnapTarget, hit: CoreHit): Snap | null {
  const { object, point, triangle, normal } = hit;
  const face = faceAt(snaps, store, target, triangle, point, normal);
  return face && { kind: 'face', object, point, pixels: 0, a: point, b: point, element: triangle, face };
}

/** Answers the flat face of an object that has a point; null where it has none, as it is round or posed. */
function faceAt(
  snaps: CoreSnaps,
  store: FeatureStore,
  { shape, place, mesh, base }: SnapTarget,
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

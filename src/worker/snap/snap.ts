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
import type { CoreQueries } from '../binding/queries.js';
import type { CoreSnaps, SnapTarget } from '../binding/snaps.js';
import { type CandidateDetail, detailOf } from './candidate-detail.js';
import { Candidates, type NearObject, SCRATCH } from './candidates.js';
import { cubeFaces, cubeFeatures, cubeQuadAt } from './cube.js';
import { Faces } from './faces.js';
import type { FeatureStore } from './feature-store.js';
import { faceOf } from './flat-faces.js';
import { AT, EDGE, INDEX, KIND, OF, PIXELS, Ring } from './ring.js';
import { placed, SnapView } from './snap-view.js';

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
  features: number[];
  flats: number[];
}

/** Candidates that are looked at between two signs of life: some 0.1 s. */
const PER_SIGN = 8192;

export type SnapAnswer = { hit: CoreHit | null; missing?: undefined } | { missing: MissingFeatures };

/** Picks, and finds the feature near the cursor that the hit snaps to. */
export class Snapper {
  readonly #queries: CoreQueries;
  readonly #snaps: CoreSnaps;
  readonly #store: FeatureStore;
  /** Of the pick under way. */
  readonly #scratch = new Float64Array(SCRATCH);
  readonly #ring = new Ring();

  readonly #sayBusy: () => void;

  /** `sayBusy`: tells the main thread that the worker is alive, in the midst of a pick where very much is near the cursor. */
  constructor(queries: CoreQueries, snaps: CoreSnaps, store: FeatureStore, sayBusy: () => void) {
    this.#sayBusy = sayBusy;
    this.#queries = queries;
    this.#snaps = snaps;
    this.#store = store;
  }

  /**
   * Answers a pick. With `sought`, the meshes whose flat faces were looked for, features will do of which the mesh has moved since they
   * were found: they are taken to where its vertices are now, but for centres. So do no faces of those, which have moved meanwhile.
   */
  pick(
    ray: PickRay,
    filter: Filter,
    { view: record, cursor, kinds }: SnapRequest,
    sought?: ReadonlySet<number>,
  ): SnapAnswer {
    const snaps = this.#snaps;
    const view = new SnapView(record, cursor);
    const hit = this.#queries.raycast(ray, filter);
    const isFaceWanted = (kinds & SNAP_FACE) !== 0 && hit !== null;
    return snaps.during(record, view.bounds, filter, hit, (targets): SnapAnswer => {
      const struck = isFaceWanted ? targets.find(({ object }) => object === hit.object) : undefined;
      const missing = missingOf(this.#store, targets, struck, (kinds & ~SNAP_FACE) !== 0, sought);
      if (missing) return { missing };
      const objects: NearObject[] = [];
      for (const target of targets) {
        const object = objectOf(snaps, this.#store, target);
        if (object) objects.push(object);
      }
      const sidesOf = (object: number, triangle: number) => snaps.sidesOf(object, triangle);
      const candidates = new Candidates({ view, objects, clips: filter.clips, sidesOf }, this.#scratch);
      const found =
        this.#firstVisible(candidates, objects, view, kinds & SNAP_POINTS, cursor.radius) ??
        this.#firstVisible(candidates, objects, view, kinds & SNAP_EDGE, cursor.radius);
      if (hit === null) return { hit: found && hitOf(snaps, view, ray, found) };
      const snap = found ? snapOf(found) : struck ? faceSnap(snaps, this.#store, struck, hit) : null;
      return { hit: { ...hit, snap } };
    });
  }

  /**
   * Answers the best candidate of some kinds that shows and that nothing hides. All are gathered before one is looked at: a ray
   * is cast only to what is better than the answer.
   */
  #firstVisible(
    candidates: Candidates,
    objects: readonly NearObject[],
    view: SnapView,
    kinds: number,
    radius: number,
  ): CandidateDetail | null {
    if (kinds === 0) return null;
    const ring = this.#ring;
    ring.begin(radius);
    do {
      candidates.gather(kinds, ring);
      const { records } = ring;
      let looked = 0;
      for (let at = ring.take(), hidden = -1; at >= 0; at = ring.take()) {
        if (++looked % PER_SIGN === 0) this.#sayBusy();
        if (hidden >= 0 && ring.areSame(hidden, at)) continue;
        const of = records[at + OF];
        const kind = records[at + KIND];
        const index = records[at + INDEX];
        const slot = candidates.shownSlot(of, kind, index, records[at + EDGE]);
        if (slot < 0) continue;
        const point = placed(objects[of].target.place, [records[at + AT], records[at + AT + 1], records[at + AT + 2]]);
        view.findWayTo(point[0], point[1], point[2]);
        if (!this.#snaps.isHidden(view.way)) {
          return detailOf(objects[of], kind, index, slot, point, records[at + PIXELS]);
        }
        hidden = at;
      }
    } while (ring.next());
    return null;
  }
}

function isMesh({ shape }: SnapTarget): boolean {
  return shape === SHAPE_MESH || shape === SHAPE_POINT_LINE;
}

function missingOf(
  store: FeatureStore,
  targets: SnapTarget[],
  struck: SnapTarget | undefined,
  areFeaturesWanted: boolean,
  sought: ReadonlySet<number> | undefined,
): MissingFeatures | undefined {
  const features = new Set<number>();
  if (areFeaturesWanted) {
    for (const target of targets) {
      const found = store.at(target.base);
      if (isMesh(target) && (!found || (found.isMoved && !sought))) features.add(target.base);
    }
  }
  const isFlat = struck?.shape === SHAPE_MESH && struck.mesh === struck.base && !sought?.has(struck.base);
  const flats = isFlat && !store.flatsAt(struck.base) ? [struck.base] : [];
  return features.size + flats.length > 0 ? { features: [...features], flats } : undefined;
}

/** Answers what is known of an object; null of one that has no features, as it is round. */
function objectOf(snaps: CoreSnaps, store: FeatureStore, target: SnapTarget): NearObject | null {
  if (target.shape === SHAPE_BOX) return { target, ...cubeFeatures(), elements: cubeFaces };
  const found = isMesh(target) ? store.at(target.base) : undefined;
  if (!found) return null;
  const isMoved = found.isMoved || target.mesh !== target.base;
  const elements = new Faces(snaps.memoryOf, target.mesh);
  return { target, features: found.features, levels: found.levels, isMoved, elements };
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

function minus(a: Vec3, b: Vec3): Vec3 {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function dot(a: Vec3, b: Vec3): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Vec3, b: Vec3): Vec3 {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
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

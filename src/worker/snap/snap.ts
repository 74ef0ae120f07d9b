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
  SNAP_PAUSED,
  SNAP_PICK_BOX,
  SNAP_PICK_HIDDEN_COUNT,
  SNAP_PICK_POINT,
  SNAP_PICK_RECT,
  SNAP_PICK_SCREEN_POINT,
  SNAP_PICK_TARGET_COUNT,
  SNAP_SHAPE,
  SNAP_VERTEX,
} from '../../shared/layout.js';
import type { PickRay } from '../../shared/packed.js';
import type { Filter, SnapRequest } from '../../shared/protocol.js';
import type { FlatFace, Hit, Snap, Vec3 } from '../../shared/types.js';
import type { CoreRays } from '../binding/rays.js';
import type { CoreSnaps } from '../binding/snaps.js';
import { runToEnd, type Steps } from '../binding/steps.js';
import { readElement, readSnap, targetOf } from './candidate-detail.js';
import { type CoreFeatures, storeFeatures } from './core-features.js';
import { cubeFaceAt, cubeFeatures } from './cube.js';
import { ElementReader } from './faces.js';
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
  flatFaces: Set<number>;
}

export type SnapResult = { hit: CoreHit | null; missing?: undefined } | { missing: MissingFeatures };

/** The radius is the last number of a request's drawing. */
const RADIUS_INDEX = SNAP_DRAWING_NUMBERS - 1;
/** Objects that are read between two rests, in some 0.1 ms. */
const OBJECTS_PER_STEP = 128;
/** If more objects than this are near the cursor, many of them may well be hidden. */
const FEW_OBJECTS = 64;
/** Then one object in this many is counted as a hidden point. */
const OBJECTS_PER_HIDDEN = 16;

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
   * step, while occlusion is tested as it is at that time. `searchedMeshes` has the meshes whose flat faces were searched. If
   * it is given, features whose mesh has moved since they were found are acceptable: except for centres, they are evaluated
   * at the vertices' present positions. Missing flat faces of these meshes, which have moved meanwhile, are acceptable, too.
   */
  *pick(ray: PickRay, filter: Filter, request: SnapRequest, searchedMeshes?: ReadonlySet<number>): Steps<SnapResult> {
    this.#store.keep();
    try {
      return yield* this.#snaps.runQueries(filter, (workspace) =>
        this.#findSnap(workspace, ray, filter, request, searchedMeshes),
      );
    } finally {
      this.#store.release();
    }
  }

  *#findSnap(
    workspace: number,
    ray: PickRay,
    filter: Filter,
    { kinds, drawing }: SnapRequest,
    searchedMeshes: ReadonlySet<number> | undefined,
  ): Steps<SnapResult> {
    const snaps = this.#snaps;
    const view = new SnapView(drawing);
    const radius = drawing[RADIUS_INDEX];
    // Thresholds, if any, determine which points and lines are hit, else the radius does.
    const isWide = radius > 0 && filter.threshold === undefined && filter.own === undefined;
    const hit = this.#rays.raycastWithLastFilter(isWide ? view.widenRay(ray, radius) : ray);
    const hitObject = hit?.object ?? 0;
    snaps.begin(workspace, drawing);
    // A face is always that of the object that was hit.
    let ids = kinds === SNAP_FACE ? Uint32Array.of(hitObject) : snaps.list(workspace, hitObject);
    const fronts = new Fronts(view, radius, filter, (cornerRay) => this.#rays.raycastWithLastFilter(cornerRay));
    if (ids.length > FEW_OBJECTS) {
      if (fronts.squareFront) ids = snaps.list(workspace, hitObject, fronts.squareFront);
      fronts.countHidden(ids.length / OBJECTS_PER_HIDDEN);
    }
    const missing: MissingFeatures = { features: new Set(), flatFaces: new Set() };
    const hitTarget = yield* this.#addTargets(workspace, ids, kinds, hitObject, missing, searchedMeshes);
    if (missing.features.size + missing.flatFaces.size > 0) return { missing };
    let isFound = false;
    for (const kindsToFind of [kinds & SNAP_POINTS, kinds & SNAP_EDGE]) {
      if (!isFound && kindsToFind !== 0) isFound = yield* this.#findVisible(workspace, fronts, kindsToFind);
    }
    if (hit === null) return { hit: isFound ? hitAtSnap(snaps, workspace, view, ray) : null };
    hit.snap = isFound
      ? readSnap(snaps, workspace)
      : hitTarget
        ? yield* faceSnap(snaps, this.#store, hitTarget, hit)
        : null;
    return { hit };
  }

  /**
   * Adds the objects near the cursor to a workspace, with their features. Collects the missing features, and finds the object
   * that was hit.
   */
  *#addTargets(
    workspace: number,
    ids: ArrayLike<number>,
    kinds: number,
    hitObject: number,
    missing: MissingFeatures,
    searchedMeshes: ReadonlySet<number> | undefined,
  ): Steps<HitTarget | undefined> {
    const snaps = this.#snaps;
    let hitTarget: HitTarget | undefined;
    for (let i = 0; i < ids.length; i++) {
      if (i % OBJECTS_PER_STEP === OBJECTS_PER_STEP - 1) yield;
      const target = snaps.add(workspace, ids[i]);
      if (target === 0) continue;
      const shape = snaps.word(target + SNAP_SHAPE) & 0xffff;
      const mesh = snaps.word(target + SNAP_MESH);
      const base = snaps.word(target + SNAP_BASE);
      const meshFeatures = this.#featuresOf(shape, base);
      if (kinds & ~SNAP_FACE && isMesh(shape) && (!meshFeatures || (meshFeatures.isMoved && !searchedMeshes)))
        missing.features.add(base);
      if (kinds & SNAP_FACE && ids[i] === hitObject) {
        hitTarget = { shape, mesh, base, transform: snaps.floats(target, 12).slice() };
        if (this.#areFlatFacesMissing(hitTarget, searchedMeshes)) missing.flatFaces.add(base);
      }
      if (meshFeatures) {
        snaps.setWord(target + SNAP_FEATURES, meshFeatures.features.address);
        snaps.setWord(target + SNAP_MOVED, meshFeatures.isMoved || mesh !== base ? 1 : 0);
      } else {
        const count = workspace + SNAP_PICK_TARGET_COUNT;
        snaps.setWord(count, snaps.word(count) - 1);
      }
    }
    return hitTarget;
  }

  /** Finds the best visible candidate of some kinds that nothing hides; returns whether there is one. */
  *#findVisible(workspace: number, fronts: Fronts, kinds: number): Steps<boolean> {
    const snaps = this.#snaps;
    snaps.beginKinds(workspace, kinds, fronts.depth);
    let hiddenBefore = snaps.word(workspace + SNAP_PICK_HIDDEN_COUNT);
    for (let isHidden = false; ; ) {
      const status = snaps.step(workspace, fronts.depth, fronts.testsBoxes, fronts.depth >= 0, isHidden);
      const hiddenCount = snaps.word(workspace + SNAP_PICK_HIDDEN_COUNT);
      fronts.countHidden(hiddenCount - hiddenBefore);
      hiddenBefore = hiddenCount;
      isHidden = false;
      if (status === SNAP_ASKS_BOX) {
        const box = new Float32Array(snaps.getMemory(), snaps.word(workspace + SNAP_PICK_BOX), 6);
        const rect = snaps.floats(workspace + SNAP_PICK_RECT, 4);
        isHidden = fronts.hidesBox(snaps.floats(targetOf(snaps, workspace), 12), box, rect);
      } else if (status === SNAP_ASKS_POINT) {
        isHidden = fronts.hides(
          snaps.floats(workspace + SNAP_PICK_SCREEN_POINT, 2),
          snaps.vector(workspace + SNAP_PICK_POINT),
        );
      } else if (status === SNAP_PAUSED) {
        yield;
      } else {
        return status === SNAP_FOUND;
      }
    }
  }

  #areFlatFacesMissing({ shape, mesh, base }: HitTarget, searchedMeshes: ReadonlySet<number> | undefined): boolean {
    return shape === SHAPE_MESH && mesh === base && !searchedMeshes?.has(base) && !this.#store.flatFacesAt(base);
  }

  /** Returns the features of a box or mesh; undefined if there are none, or not yet. */
  #featuresOf(shape: number, mesh: number) {
    if (shape !== SHAPE_BOX) return isMesh(shape) ? this.#store.featuresAt(mesh) : undefined;
    this.#cube ??= runToEnd(storeFeatures(this.#snaps, cubeFeatures()));
    return { features: this.#cube, isMoved: false };
  }
}

/** The object that a pick has hit. */
interface HitTarget {
  shape: number;
  mesh: number;
  base: number;
  transform: ArrayLike<number>;
}

function isMesh(shape: number): boolean {
  return shape === SHAPE_MESH || shape === SHAPE_POINT_LINE;
}

/** Makes a hit of a workspace's result that the ray itself misses. */
function hitAtSnap(snaps: CoreSnaps, workspace: number, view: SnapView, { origin, direction }: PickRay): CoreHit {
  const snap = readSnap(snaps, workspace);
  const { object, point, element } = snap;
  const { corners, isMirrored } = readElement(snaps, workspace);
  const isFace = corners.length === 3;
  const offset = minus(point, origin);
  const length = Math.hypot(...offset);
  const unit = 1 / Math.hypot(...direction);
  const unitDirection: Vec3 = [direction[0] * unit, direction[1] * unit, direction[2] * unit];
  const triangle = isFace ? element : -1;
  // A box has no triangles of its own.
  const barycentric = triangle < 0 ? ZERO : barycentricIn(corners, point);
  // The distance is measured along the rays if they are parallel.
  return {
    object,
    distance: view.isParallel ? dot(offset, unitDirection) : length,
    point,
    normal: isFace ? normalOf(corners, isMirrored) : [-unitDirection[0], -unitDirection[1], -unitDirection[2]],
    triangle,
    element,
    barycentric,
    bone: snaps.boneOf(object, triangle, barycentric),
    ...(!isFace && { distanceToRay: distanceFrom(offset, unitDirection) }),
    snap,
  };
}

const ZERO: Vec3 = [0, 0, 0];

function* faceSnap(snaps: CoreSnaps, store: FeatureStore, target: HitTarget, hit: CoreHit): Steps<Snap | null> {
  const { object, point, triangle, normal } = hit;
  const face = yield* faceAt(snaps, store, target, triangle, point, normal);
  return face && { kind: 'face', object, point, pixels: 0, a: point, b: point, element: triangle, face };
}

/** Returns the flat face of an object that contains a point; null if there is none, because the object is round or posed. */
function* faceAt(
  snaps: CoreSnaps,
  store: FeatureStore,
  { shape, transform, mesh, base }: HitTarget,
  triangle: number,
  point: Vec3,
  normal: Vec3,
): Steps<FlatFace | null> {
  if (shape === SHAPE_BOX) return cubeFaceAt(transform, point, normal);
  const flatFaces = shape === SHAPE_MESH && mesh === base ? store.flatFacesAt(base) : undefined;
  if (!flatFaces || triangle < 0) return null;
  return yield* faceOf(flatFaces, triangle, new ElementReader(snaps.getMemory, mesh), transform, normal);
}

function distanceFrom(offset: Vec3, direction: Vec3): number {
  return Math.hypot(...cross(offset, direction));
}

/** Returns the normal of a triangle by its winding, reversed under a map that mirrors. */
function normalOf([a, b, c]: Vec3[], isMirrored: boolean): Vec3 {
  const normal = cross(minus(b, a), minus(c, a));
  const unit = (isMirrored ? -1 : 1) / Math.hypot(...normal);
  return [normal[0] * unit, normal[1] * unit, normal[2] * unit];
}

/** Returns the barycentric coordinates of a point in a triangle's plane, clamped to the triangle. */
function barycentricIn([a, b, c]: Vec3[], point: Vec3): Vec3 {
  const normal = cross(minus(b, a), minus(c, a));
  const normalLengthSquared = dot(normal, normal);
  const offset = minus(point, a);
  const v = Math.min(Math.max(dot(cross(offset, minus(c, a)), normal) / normalLengthSquared, 0), 1);
  const w = Math.min(Math.max(dot(cross(minus(b, a), offset), normal) / normalLengthSquared, 0), 1 - v);
  return [1 - v - w, v, w];
}

import type { CoreSnaps } from '../binding/snaps.js';
import { type CoreFeatures, storeFeatures } from './core-features.js';
import { ElementReader } from './faces.js';
import { type Features, findFeatures } from './features.js';
import { type FlatFaces, flatFacesOf } from './flat-faces.js';

/** The features that were found of a mesh. */
interface MeshFeatures {
  features: CoreFeatures;
  /** Whether the mesh's vertices have moved, in the same tree, since the features were found. */
  isMoved: boolean;
}

/** A search for features that is under way: the address of its mesh now, 0 if the mesh is gone. */
interface FeatureSearch {
  mesh: number;
  isMoved: boolean;
}

/**
 * Edges are feature edges if the surface bends by more than this there, in degrees, unless a mesh specifies its own
 * angle.
 */
export const FEATURE_ANGLE = 35;

/** The snapping features of meshes in the core, by the meshes' addresses: they are found on the first request. */
export class FeatureStore {
  readonly #snaps: CoreSnaps;
  readonly #features = new Map<number, MeshFeatures>();
  readonly #flatFaces = new Map<number, FlatFaces>();
  /** The angles of meshes that specify their own; their features are baked with them. */
  readonly #angles = new Map<number, number>();
  readonly #searches = new Set<FeatureSearch>();
  /** Number of picks that may read dropped features; and the addresses of these features. */
  #readers = 0;
  readonly #dropped: number[] = [];

  constructor(snaps: CoreSnaps) {
    this.#snaps = snaps;
  }

  /** Keeps features at their addresses, for a pick that reads them in steps, until `release`. */
  keep(): void {
    this.#readers++;
  }

  release(): void {
    if (--this.#readers > 0) return;
    for (const address of this.#dropped.splice(0)) this.#snaps.release(address);
  }

  featuresAt(mesh: number): Readonly<MeshFeatures> | undefined {
    return this.#features.get(mesh);
  }

  flatFacesAt(mesh: number): FlatFaces | undefined {
    return this.#flatFaces.get(mesh);
  }

  /**
   * Returns the angle with which the mesh at an address is to be baked with its features; undefined if it is to be
   * baked without.
   */
  bakedAngle(mesh: number): number | undefined {
    return this.#angles.get(mesh);
  }

  /** Stores features that were loaded with the mesh at an address, in steps. Throws OUT_OF_MEMORY. */
  *load(mesh: number, features: Features): Generator<void, void> {
    this.#setFeatures(mesh, yield* storeFeatures(this.#snaps, features), false);
    this.#angles.set(mesh, features.angle);
  }

  /** Finds the features of the mesh at an address, which must not change meanwhile. It may rest after each step. */
  *find(mesh: number): Generator<void, void> {
    const search: FeatureSearch = { mesh, isMoved: false };
    this.#searches.add(search);
    try {
      const features = yield* findFeatures(this.#snaps.getMemory, mesh, this.#angles.get(mesh) ?? FEATURE_ANGLE);
      const stored = yield* storeFeatures(this.#snaps, features);
      if (search.mesh !== 0) this.#setFeatures(search.mesh, stored, search.isMoved);
      else this.#snaps.release(stored.address);
    } finally {
      this.#searches.delete(search);
    }
  }

  /**
   * Finds the flat faces of a mesh of triangles in the same way; if the mesh has moved meanwhile, the result is
   * discarded.
   */
  *findFlatFaces(mesh: number): Generator<void, void> {
    const search: FeatureSearch = { mesh, isMoved: false };
    this.#searches.add(search);
    try {
      const flatFaces = yield* flatFacesOf(this.#snaps.getMemory, mesh, new ElementReader(this.#snaps.getMemory, mesh));
      if (search.mesh !== 0 && !search.isMoved) this.#flatFaces.set(mesh, flatFaces);
    } finally {
      this.#searches.delete(search);
    }
  }

  /** Called when the vertices of a mesh have moved, in the same tree; it may be at another address now. */
  onMoved(from: number, to: number): void {
    const meshFeatures = this.#features.get(from);
    this.#features.delete(from);
    this.#moveAngle(from, to);
    if (meshFeatures) this.#features.set(to, { ...meshFeatures, isMoved: true });
    for (const search of this.#searches) {
      if (search.mesh !== from) continue;
      search.mesh = to;
      search.isMoved = true;
    }
  }

  /** Called when a mesh with another tree has replaced one. */
  onReplaced(from: number, to: number): void {
    this.#moveAngle(from, to);
    for (const search of this.#searches) if (search.mesh === from) search.mesh = 0;
  }

  /** Gives the mesh at one address the angle of the mesh at another, and no features. */
  #moveAngle(from: number, to: number): void {
    const angle = this.#angles.get(from);
    for (const mesh of [from, to]) {
      this.#drop(mesh);
      this.#flatFaces.delete(mesh);
      this.#angles.delete(mesh);
    }
    if (angle !== undefined) this.#angles.set(to, angle);
  }

  remove(mesh: number): void {
    this.#drop(mesh);
    this.#flatFaces.delete(mesh);
    this.#angles.delete(mesh);
    for (const search of this.#searches) if (search.mesh === mesh) search.mesh = 0;
  }

  #setFeatures(mesh: number, features: CoreFeatures, isMoved: boolean): void {
    this.#drop(mesh);
    this.#features.set(mesh, { features, isMoved });
  }

  #drop(mesh: number): void {
    const meshFeatures = this.#features.get(mesh);
    if (!meshFeatures) return;
    this.#features.delete(mesh);
    if (this.#readers > 0) this.#dropped.push(meshFeatures.features.address);
    else this.#snaps.release(meshFeatures.features.address);
  }
}

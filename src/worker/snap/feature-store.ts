import type { CoreSnaps } from '../binding/snaps.js';
import { type CoreFeatures, placeFeatures } from './core-features.js';
import { Faces } from './faces.js';
import { type Features, findFeatures } from './features.js';
import { type FlatFaces, flatFacesOf } from './flat-faces.js';

/** The features that were found of a mesh. */
interface Found {
  features: CoreFeatures;
  /** Whether the mesh's vertices have moved, in the same tree, since the features were found. */
  isMoved: boolean;
}

/** A search for features that is under way: the address of its mesh now, 0 if the mesh is gone. */
interface Finding {
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
  readonly #found = new Map<number, Found>();
  readonly #flats = new Map<number, FlatFaces>();
  /** The angles of meshes that specify their own; their features are baked with them. */
  readonly #angles = new Map<number, number>();
  readonly #findings = new Set<Finding>();
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

  at(mesh: number): Readonly<Found> | undefined {
    return this.#found.get(mesh);
  }

  flatsAt(mesh: number): FlatFaces | undefined {
    return this.#flats.get(mesh);
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
    this.#put(mesh, yield* placeFeatures(this.#snaps, features), false);
    this.#angles.set(mesh, features.angle);
  }

  /** Finds the features of the mesh at an address, which must not change meanwhile. It may rest after each step. */
  *find(mesh: number): Generator<void, void> {
    const finding: Finding = { mesh, isMoved: false };
    this.#findings.add(finding);
    try {
      const features = yield* findFeatures(this.#snaps.memoryOf, mesh, this.#angles.get(mesh) ?? FEATURE_ANGLE);
      const placed = yield* placeFeatures(this.#snaps, features);
      if (finding.mesh !== 0) this.#put(finding.mesh, placed, finding.isMoved);
      else this.#snaps.release(placed.address);
    } finally {
      this.#findings.delete(finding);
    }
  }

  /**
   * Finds the flat faces of a mesh of triangles in the same way; if the mesh has moved meanwhile, the result is
   * discarded.
   */
  *findFlats(mesh: number): Generator<void, void> {
    const finding: Finding = { mesh, isMoved: false };
    this.#findings.add(finding);
    try {
      const flats = yield* flatFacesOf(this.#snaps.memoryOf, mesh, new Faces(this.#snaps.memoryOf, mesh));
      if (finding.mesh !== 0 && !finding.isMoved) this.#flats.set(mesh, flats);
    } finally {
      this.#findings.delete(finding);
    }
  }

  /** Called when the vertices of a mesh have moved, in the same tree; it may be at another address now. */
  moved(from: number, to: number): void {
    const found = this.#found.get(from);
    this.#found.delete(from);
    this.#follow(from, to);
    if (found) this.#found.set(to, { ...found, isMoved: true });
    for (const finding of this.#findings) {
      if (finding.mesh !== from) continue;
      finding.mesh = to;
      finding.isMoved = true;
    }
  }

  /** Called when a mesh with another tree has replaced one. */
  replaced(from: number, to: number): void {
    this.#follow(from, to);
    for (const finding of this.#findings) if (finding.mesh === from) finding.mesh = 0;
  }

  /** Gives the mesh at one address the angle of the mesh at another, and no features. */
  #follow(from: number, to: number): void {
    const angle = this.#angles.get(from);
    for (const mesh of [from, to]) {
      this.#drop(mesh);
      this.#flats.delete(mesh);
      this.#angles.delete(mesh);
    }
    if (angle !== undefined) this.#angles.set(to, angle);
  }

  remove(mesh: number): void {
    this.#drop(mesh);
    this.#flats.delete(mesh);
    this.#angles.delete(mesh);
    for (const finding of this.#findings) if (finding.mesh === mesh) finding.mesh = 0;
  }

  #put(mesh: number, features: CoreFeatures, isMoved: boolean): void {
    this.#drop(mesh);
    this.#found.set(mesh, { features, isMoved });
  }

  #drop(mesh: number): void {
    const found = this.#found.get(mesh);
    if (!found) return;
    this.#found.delete(mesh);
    if (this.#readers > 0) this.#dropped.push(found.features.address);
    else this.#snaps.release(found.features.address);
  }
}

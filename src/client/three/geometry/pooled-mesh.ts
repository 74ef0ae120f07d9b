import type { BufferGeometry } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { Queued } from './build-queue.js';
import { type Deformers, DeformVersion, RIGID } from './deformers.js';
import type { Primitive } from './geometry.js';
import type { GeometryOwner } from './geometry-table.js';
import { GeometryVersion } from './geometry-version.js';
import { Removal } from './removal.js';
import type { BuiltMesh, MeshUse, MeshUser, SharedMesh } from './shared-mesh.js';

/** Not written. */
const NO_USES: PooledUse[] = [];

/** A mesh of a pool's, with what the pool knows of it. */
export class PooledMesh implements SharedMesh, GeometryOwner, Queued {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly weld: number;
  readonly primitive: Primitive;
  readonly deformers: Deformers;
  readonly version = new GeometryVersion();
  /** Null where nothing moves its vertices. */
  readonly #deformVersion: DeformVersion | null;
  readonly removal = new Removal();
  /** They are in no order: each knows its place. */
  uses: PooledUse[] = NO_USES;
  /** Counts those of them that are looked at in every frame. */
  watching = 0;
  /** It has this number among those that are looked at by turns, or -1. */
  turn = -1;
  line = -1;
  built: BuiltMesh | null = null;
  error: CollisionError | null = null;
  /** The geometry could not be read, or not be moved, when it was looked at last. */
  isUnread = false;
  /** It was to be looked at while it was built or moved. */
  isMissed = false;
  isBuilding = false;
  build = 0;
  /** They count the triangles of the last build begun, and of these those that are built. */
  triangles = 0;
  builtTriangles = 0;

  constructor(
    geometry: BufferGeometry,
    groups: readonly number[] | null,
    weld: number,
    primitive: Primitive,
    deformers: Deformers,
  ) {
    this.geometry = geometry;
    this.groups = groups;
    this.weld = weld;
    this.primitive = primitive;
    this.deformers = deformers;
    this.#deformVersion = deformers === RIGID ? null : new DeformVersion();
  }

  /** Tells whether the geometry is as it was noted. */
  get isUnchanged(): boolean {
    try {
      return this.version.equals(this.geometry) && this.#areDeformersUnchanged;
    } catch {
      return false;
    }
  }

  /** Tells whether nothing but the positions of its vertices can be another. */
  get isMovable(): boolean {
    return this.version.hasSameTriangles(this.geometry) && this.#areDeformersUnchanged;
  }

  get #areDeformersUnchanged(): boolean {
    return this.#deformVersion === null || this.#deformVersion.equals(this.geometry, this.deformers);
  }

  get isUnneeded(): boolean {
    return this.removal.aborted;
  }

  /** Notes what the geometry is now. */
  noteVersion(): void {
    const { geometry, deformers } = this;
    this.version.copy(geometry);
    this.#deformVersion?.copy(geometry, deformers);
  }
}

/** One use of it, which begins when it is made. */
export class PooledUse implements MeshUse {
  readonly mesh: PooledMesh;
  readonly user: MeshUser;
  readonly isWatching: boolean;
  /** Its place among the uses of its mesh; -1 where it has ended. */
  #place: number;

  constructor(mesh: PooledMesh, user: MeshUser) {
    this.mesh = mesh;
    this.user = user;
    this.isWatching = !user.isStatic;
    this.#place = mesh.uses.length;
    // An array that is made empty has room for 17 as soon as there is one: there are thousands of these.
    if (this.#place === 0) mesh.uses = [this];
    else mesh.uses.push(this);
  }

  /** Ends it; tells whether it had not ended before. */
  end(): boolean {
    const { uses } = this.mesh;
    const place = this.#place;
    if (place < 0) return false;
    const last = uses.pop()!;
    if (last !== this) uses[place] = last;
    last.#place = place;
    this.#place = -1;
    return true;
  }
}

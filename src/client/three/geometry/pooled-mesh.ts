import type { BufferGeometry } from 'three';
import type { CollisionError } from '../../../shared/errors.js';
import type { QueueItem } from './build-queue.js';
import { type Deformers, DeformVersion, RIGID } from './deformers.js';
import type { Primitive } from './geometry.js';
import type { GeometryOwner } from './geometry-table.js';
import { GeometryVersion } from './geometry-version.js';
import { Removal } from './removal.js';
import type { BuiltMesh, MeshUse, MeshUser, SharedMesh } from './shared-mesh.js';

/** Shared by all, and never written. */
const NO_USES: PooledUse[] = [];

/** A mesh of a pool, with the pool's own state of it. */
export class PooledMesh implements SharedMesh, GeometryOwner, QueueItem {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly weld: number;
  readonly primitive: Primitive;
  readonly deformers: Deformers;
  readonly version = new GeometryVersion();
  /** Null if nothing moves its vertices. */
  readonly #deformVersion: DeformVersion | null;
  readonly removal = new Removal();
  /** The uses, in no order: each knows its index. */
  uses: PooledUse[] = NO_USES;
  /** How many of the uses are checked in every frame. */
  watching = 0;
  /** Its index among the meshes that are checked in turn, or -1. */
  turn = -1;
  line = -1;
  built: BuiltMesh | null = null;
  error: CollisionError | null = null;
  /** Whether the geometry could not be read, or its vertices not be moved, at the last check. */
  isUnread = false;
  /** Whether a check was skipped because it was being built or moved. */
  isMissed = false;
  isBuilding = false;
  build = 0;
  /** Triangles of the last build that began, and how many of them are built. */
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

  /** Whether the geometry is as it was noted. */
  get isUnchanged(): boolean {
    try {
      return this.version.equals(this.geometry) && this.#areDeformersUnchanged;
    } catch {
      return false;
    }
  }

  /** Whether at most the positions of its vertices can have changed. */
  get isMovable(): boolean {
    return this.version.hasSameTriangles(this.geometry) && this.#areDeformersUnchanged;
  }

  get #areDeformersUnchanged(): boolean {
    return this.#deformVersion === null || this.#deformVersion.equals(this.geometry, this.deformers);
  }

  get isUnneeded(): boolean {
    return this.removal.aborted;
  }

  /** Notes the current state of the geometry. */
  noteVersion(): void {
    const { geometry, deformers } = this;
    this.version.copy(geometry);
    this.#deformVersion?.copy(geometry, deformers);
  }
}

/** One use of a mesh, which begins with its construction. */
export class PooledUse implements MeshUse {
  readonly mesh: PooledMesh;
  readonly user: MeshUser;
  readonly isWatching: boolean;
  /** Its index among the uses of its mesh; -1 once it has ended. */
  #index: number;

  constructor(mesh: PooledMesh, user: MeshUser) {
    this.mesh = mesh;
    this.user = user;
    this.isWatching = !user.isStatic;
    this.#index = mesh.uses.length;
    // A push to an empty array reserves room for 17 elements, an array literal does not: there are thousands of these.
    if (this.#index === 0) mesh.uses = [this];
    else mesh.uses.push(this);
  }

  /** Ends the use; returns whether it had not ended before. */
  end(): boolean {
    const { uses } = this.mesh;
    const index = this.#index;
    if (index < 0) return false;
    const last = uses.pop()!;
    if (last !== this) uses[index] = last;
    last.#index = index;
    this.#index = -1;
    return true;
  }
}

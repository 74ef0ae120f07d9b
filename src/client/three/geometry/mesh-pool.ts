import type { BufferAttribute, BufferGeometry } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { nextTask } from '../../../shared/next-task.js';
import type { AddMeshOptions, MeshData, MeshId } from '../../../shared/types.js';
import { reasonOf } from '../../check/validate.js';
import type { CollisionService } from '../../service.js';
import { Turns } from '../turns.js';
import { areSameDeformers, copyDeform, type Deformers, DeformVersion, RIGID } from './deformers.js';
import {
  copyMeshData,
  meshDataOfRuns,
  type Primitive,
  positionsOfRuns,
  runsOf,
  sizeOf,
  type TriangleRun,
} from './geometry.js';
import { type GeometryOwner, GeometryTable } from './geometry-table.js';
import { GeometryVersion } from './geometry-version.js';
import { Removal } from './removal.js';

type Quality = NonNullable<AddMeshOptions['quality']>;

/** A mesh of the service, and where its triangles are in the scene. */
export interface BuiltMesh {
  readonly id: MeshId;
  readonly geometry: BufferGeometry;
  readonly index: BufferAttribute | null;
  readonly runs: readonly TriangleRun[];
  readonly primitive: Primitive;
  /** How many bones and morph targets move its vertices. */
  readonly bones: number;
  readonly morphs: number;
}

/** The service's mesh for a geometry or for some groups of it, built once for all objects that use it. */
export interface SharedMesh {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly deformers: Deformers;
  /**
   * Null until it is built, and where that fails. After a change of the geometry: the old one until the new is built.
   */
  readonly built: BuiltMesh | null;
  /** It says why there is none, if the last build failed. */
  readonly error: CollisionError | null;
  /** The build or update under way; never rejects. */
  readonly building: Promise<void> | null;
  /** The geometry is as it was when it was built or updated last. */
  readonly isUnchanged: boolean;
}

/** It stands on a mesh. */
export interface MeshUser {
  /** It is looked at by turns: its geometry is, too, where nobody else has it. */
  readonly isStatic: boolean;
  /** The mesh was built, or could not be. */
  onMeshChange(): void;
}

/** One use of a mesh, for `release`. */
export interface MeshUse {
  readonly mesh: SharedMesh;
}

/** A build that is lost with its worker begins again, unless it seems to be what its workers die of. */
const ATTEMPTS = 3;

/**
 * So many builds are under way at once: enough for the builders not to wait, and few enough that no task of ours hands
 * over thousands.
 */
const MOST_BUILDS = 64;

/** So many begin at once, and each other one in a task of its own: all of them take 4 ms, beside the slice that found them. */
const MOST_IN_ONE_TASK = 16;

/** A geometry of so many numbers, a quarter of a megabyte, is copied at once; larger ones are in slices. */
const MOST_AT_ONCE = 65_536;
/** Milliseconds of such a slice. */
const SLICE_MS = 4;

/** The meshes of a tracker. They are built in the background; what an old one stood for is removed by `sweepOne`. */
export class MeshPool {
  readonly #service: CollisionService;
  readonly #quality: Quality;
  readonly #onProgress: () => void;
  readonly #meshes = new Map<BufferGeometry, PooledMesh[]>();
  /** Each of these has a user who is looked at in every frame. */
  readonly #watched = new GeometryTable<PooledMesh>();
  /** These are all others. */
  readonly #unwatched: PooledMesh[] = [];
  readonly #turns = new Turns();
  readonly #retired: MeshId[] = [];
  #builds = 0;
  /** Builds that wait for others to end, in the order in which they came. */
  readonly #waiting = new Set<() => void>();
  /** Resolves when no large geometry is being copied any more. */
  #copying: Promise<unknown> = Promise.resolve();
  /** They count the triangles of all meshes, and of these those that are built. */
  #triangles = 0;
  #builtTriangles = 0;

  constructor(service: CollisionService, onProgress: () => void, quality: Quality = 'good') {
    this.#service = service;
    this.#quality = quality;
    this.#onProgress = onProgress;
  }

  acquire(
    geometry: BufferGeometry,
    groups: readonly number[] | null,
    weld: number,
    user: MeshUser,
    primitive: Primitive = 'triangles',
    deformers: Deformers = RIGID,
  ): MeshUse {
    let meshes = this.#meshes.get(geometry);
    if (meshes === undefined) {
      meshes = [];
      this.#meshes.set(geometry, meshes);
    }
    let mesh = meshes.find(
      (other) =>
        other.weld === weld &&
        other.primitive === primitive &&
        other.groups?.join() === groups?.join() &&
        areSameDeformers(other.deformers, deformers),
    );
    if (mesh === undefined) {
      mesh = new PooledMesh(geometry, groups, weld, primitive, deformers);
      this.#build(mesh); // throws for what is no geometry
      meshes.push(mesh);
    }
    const use = new PooledUse(mesh, user);
    mesh.uses.add(use);
    if (use.isWatching) mesh.watching++;
    this.#watch(mesh, mesh.watching > 0);
    return use;
  }

  release(given: MeshUse): void {
    const use = given as PooledUse;
    const { mesh } = use;
    if (!mesh.uses.delete(use)) return;
    if (use.isWatching) mesh.watching--;
    if (mesh.uses.size > 0) {
      this.#watch(mesh, mesh.watching > 0);
      return;
    }
    this.#watch(mesh, null);
    this.#count(mesh, 0, 0);
    mesh.removal.abort();
    if (mesh.built !== null) this.#retired.push(mesh.built.id);
    const meshes = this.#meshes.get(mesh.geometry)!;
    meshes.splice(meshes.indexOf(mesh), 1);
    if (meshes.length === 0) this.#meshes.delete(mesh.geometry);
  }

  /** Has a mesh looked at in every frame, by turns, or (null) not at all. */
  #watch(mesh: PooledMesh, isWatched: boolean | null): void {
    if (isWatched === true) this.#watched.add(mesh);
    else this.#watched.remove(mesh);
    const unwatched = this.#unwatched;
    if (isWatched === false && mesh.turn < 0) {
      mesh.turn = unwatched.length;
      unwatched.push(mesh);
    } else if (isWatched !== false && mesh.turn >= 0) {
      const last = unwatched.pop()!;
      if (last !== mesh) unwatched[mesh.turn] = last;
      last.turn = mesh.turn;
      mesh.turn = -1;
    }
  }

  /** Looks at what somebody has who is looked at in every frame, and at the others by turns. */
  refresh(): void {
    this.#watched.forEachOther(this.#reviewOne);
    this.#turns.take(this.#unwatched.length, (first, end) => {
      for (let i = first; i < end; i++) this.#review(this.#unwatched[i]);
    });
  }

  /** Looks at a geometry at once. */
  review(geometry: BufferGeometry): void {
    for (const mesh of this.#meshes.get(geometry) ?? []) this.#review(mesh);
  }

  readonly #reviewOne = (mesh: PooledMesh): void => this.#review(mesh);

  /** Moves the vertices of what changed in nothing else, and builds anew what changed in more. */
  #review(mesh: PooledMesh): void {
    if (mesh.building !== null) return;
    try {
      if (!mesh.isUnread && mesh.isUnchanged) {
        if (mesh.deformers === RIGID) this.#watched.note(mesh); // what moves the vertices of others may be another, too
        return;
      }
      if (!mesh.isUnread && mesh.built !== null && mesh.error === null && mesh.isMovable) this.#move(mesh, mesh.built);
      else this.#build(mesh);
      mesh.isUnread = false;
    } catch (cause) {
      if (mesh.isUnread && mesh.built === null) return; // its users know
      mesh.isUnread = true;
      mesh.error = badData(cause);
      this.#replace(mesh, null);
      for (const { user } of mesh.uses) user.onMeshChange();
    }
  }

  /** Tells whether there is a mesh that nobody uses any more. */
  get hasRetired(): boolean {
    return this.#retired.length > 0;
  }

  /** Removes a mesh that nobody uses any more; call it when the objects that stood on it are gone. */
  sweepOne(): void {
    const id = this.#retired.pop();
    if (id !== undefined) this.#service.removeMesh(id);
  }

  /** Waits until all that is being built now is built. */
  async built(): Promise<void> {
    await Promise.all([...this.#meshes.values()].flat().map((mesh) => mesh.building));
  }

  /** Answers the part of all triangles that is built, 0 to 1. */
  get fraction(): number {
    return this.#triangles === 0 ? 1 : this.#builtTriangles / this.#triangles;
  }

  /** Moves its vertices: the service's next frame sees that, and its objects stay. */
  #move(mesh: PooledMesh, built: BuiltMesh): void {
    this.#watched.forget(mesh);
    mesh.noteVersion();
    mesh.building = this.#update(built).then((isMoved) => {
      mesh.building = null;
      if (isMoved || mesh.removal.aborted) return;
      mesh.isUnread = true; // so that it is built, and not moved again
      this.#review(mesh);
    });
  }

  /** Sends the vertices; false for what cannot be moved: a vertex that is not finite, for one, may still be built. */
  async #update({ id, geometry, runs }: BuiltMesh): Promise<boolean> {
    try {
      await this.#service.updateMesh(id, positionsOfRuns(geometry, runs));
      return true;
    } catch {
      return false;
    }
  }

  /** Keeps the sums over all meshes: each of them reports its progress, and none is to go through all the others. */
  #count(mesh: PooledMesh, triangles: number, fraction: number): void {
    if (mesh.removal.aborted) return;
    const builtTriangles = Math.floor(fraction * triangles); // whole ones add up exactly
    this.#triangles += triangles - mesh.triangles;
    this.#builtTriangles += builtTriangles - mesh.builtTriangles;
    mesh.triangles = triangles;
    mesh.builtTriangles = builtTriangles;
  }

  #build(mesh: PooledMesh): void {
    this.#watched.forget(mesh);
    mesh.noteVersion();
    this.#count(mesh, trianglesOf(mesh), 0);
    // What its users stand on is retired in the task in which they hear of it, however early a build fails.
    mesh.building = this.#inTurn(() => this.#run(mesh)).then((built) => {
      mesh.building = null;
      this.#replace(mesh, built);
      this.#count(mesh, mesh.triangles, 1);
      for (const { user } of mesh.uses) user.onMeshChange();
      this.#onProgress();
    });
  }

  #replace(mesh: PooledMesh, built: BuiltMesh | null): void {
    if (mesh.removal.aborted) {
      if (built !== null) this.#service.removeMesh(built.id);
      return;
    }
    if (mesh.built !== null) this.#retired.push(mesh.built.id);
    mesh.built = built;
  }

  /** Begins a build, when there is room for it. */
  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#builds >= MOST_BUILDS) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    } else if (++this.#builds > MOST_IN_ONE_TASK) {
      await nextTask();
    }
    try {
      return await run();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) {
        this.#builds--;
      } else {
        this.#waiting.delete(next);
        next();
      }
    }
  }

  /** Builds a mesh; null where that fails. Never rejects. */
  async #run(mesh: PooledMesh): Promise<BuiltMesh | null> {
    const { geometry, weld, primitive, deformers } = mesh;
    const signal = mesh.removal;
    let built: BuiltMesh | null = null;
    let attempts = 0;
    if (signal.aborted) return null;
    do {
      mesh.error = null;
      try {
        let runs = this.#look(mesh);
        let data: MeshData;
        const isLarge = sizeOf(geometry, runs, primitive) > MOST_AT_ONCE;
        if (isLarge) ({ data, runs } = await this.#copyInTurn(mesh));
        else
          data = { ...meshDataOfRuns(geometry, runs, primitive), ...resultOf(copyDeform(geometry, runs, deformers)) };
        const { index } = geometry;
        const { triangles } = mesh;
        const id = await this.#service.addMesh(data, {
          signal: signal.asSignal,
          transfer: isLarge,
          weld,
          quality: primitive === 'triangles' ? this.#quality : 'good',
          onProgress: (fraction) => {
            this.#count(mesh, triangles, fraction);
            this.#onProgress();
          },
        });
        const morphs = data.morphs?.targets.length ?? 0;
        built = { id, geometry, index, runs, primitive, bones: data.skin?.boneCount ?? 0, morphs };
      } catch (cause) {
        mesh.error = badData(cause);
      }
    } while (mesh.error?.code === 'WORKER_LOST' && !signal.aborted && ++attempts < ATTEMPTS);
    return built;
  }

  /** Notes what a geometry is now, as it is about to be read. Throws for what has no triangles. */
  #look(mesh: PooledMesh): TriangleRun[] {
    const { geometry, groups, primitive } = mesh;
    mesh.noteVersion();
    const runs = runsOf(geometry, groups, primitive);
    this.#count(mesh, trianglesIn(runs), 0);
    return runs;
  }

  /** Does `#copy` when those before it have done it: each slice is a task's. */
  async #copyInTurn(mesh: PooledMesh): Promise<CopiedMesh> {
    const before = this.#copying;
    const copy = (async () => {
      await before;
      return this.#copy(mesh);
    })();
    this.#copying = copy.catch(() => {});
    return copy;
  }

  /**
   * Copies a large geometry in slices, in tasks of their own. Where it changes meanwhile, what was copied is of no use; one
   * that does so again and again is copied at once.
   */
  async #copy(mesh: PooledMesh): Promise<CopiedMesh> {
    const signal = mesh.removal;
    for (let attempts = 1; ; attempts++) {
      const runs = this.#look(mesh);
      const copy = copyAll(mesh, runs);
      let isSame = true;
      for (let end = 0; isSame; ) {
        const { done, value } = copy.next();
        if (done) return { data: value, runs };
        if (attempts === ATTEMPTS || performance.now() < end) continue;
        await nextTask();
        if (signal.aborted) throw new CollisionError('ABORTED', 'trackScene: nobody needs the geometry any more');
        isSame = mesh.isUnchanged;
        end = performance.now() + SLICE_MS;
      }
    }
  }
}

/** Arrays of our own, and which triangles of the geometry they have. */
interface CopiedMesh {
  readonly data: MeshData;
  readonly runs: TriangleRun[];
}

function* copyAll(
  { geometry, primitive, deformers }: PooledMesh,
  runs: readonly TriangleRun[],
): Generator<void, MeshData> {
  const data = yield* copyMeshData(geometry, runs, primitive);
  return { ...data, ...(yield* copyDeform(geometry, runs, deformers)) };
}

/** Takes all steps at once. */
function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function badData(cause: unknown): CollisionError {
  return CollisionError.is(cause) ? cause : new CollisionError('BAD_DATA', reasonOf(cause), { cause });
}

class PooledMesh implements SharedMesh, GeometryOwner {
  readonly geometry: BufferGeometry;
  readonly groups: readonly number[] | null;
  readonly weld: number;
  readonly primitive: Primitive;
  readonly deformers: Deformers;
  readonly version = new GeometryVersion();
  readonly #deformVersion = new DeformVersion();
  readonly removal = new Removal();
  readonly uses = new Set<PooledUse>();
  /** Counts those of them that are looked at in every frame. */
  watching = 0;
  /** It has this number among those that are looked at by turns, or -1. */
  turn = -1;
  line = -1;
  built: BuiltMesh | null = null;
  error: CollisionError | null = null;
  /** The geometry could not be read, or not be moved, when it was looked at last. */
  isUnread = false;
  building: Promise<void> | null = null;
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
  }

  /** Tells whether the geometry is as it was noted. */
  get isUnchanged(): boolean {
    const { geometry, deformers } = this;
    try {
      return this.version.equals(geometry) && this.#deformVersion.equals(geometry, deformers);
    } catch {
      return false;
    }
  }

  /** Tells whether nothing but the positions of its vertices can be another. */
  get isMovable(): boolean {
    const { geometry, deformers } = this;
    return this.version.hasSameTriangles(geometry) && this.#deformVersion.equals(geometry, deformers);
  }

  /** Notes what the geometry is now. */
  noteVersion(): void {
    const { geometry, deformers } = this;
    this.version.copy(geometry);
    this.#deformVersion.copy(geometry, deformers);
  }
}

class PooledUse implements MeshUse {
  readonly mesh: PooledMesh;
  readonly user: MeshUser;
  readonly isWatching: boolean;

  constructor(mesh: PooledMesh, user: MeshUser) {
    this.mesh = mesh;
    this.user = user;
    this.isWatching = !user.isStatic;
  }
}

/** Counts the triangles of a build that is to begin; as many as before where they cannot be counted. */
function trianglesOf({ geometry, groups, primitive, triangles }: PooledMesh): number {
  try {
    return trianglesIn(runsOf(geometry, groups, primitive));
  } catch {
    return triangles; // the build says what is wrong
  }
}

function trianglesIn(runs: readonly TriangleRun[]): number {
  return runs.reduce((sum, run) => sum + (run.end - run.start) / 3, 0);
}

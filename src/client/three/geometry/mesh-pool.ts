import type { BufferGeometry } from 'three';
import { CollisionError } from '../../../shared/errors.js';
import { nextTask } from '../../../shared/next-task.js';
import type { AddMeshOptions, MeshData, MeshId } from '../../../shared/types.js';
import { reasonOf } from '../../check/validate.js';
import type { CollisionService } from '../../service.js';
import { Turns } from '../turns.js';
import { BuildQueue } from './build-queue.js';
import { areSameDeformers, copyDeform, type Deformers, RIGID } from './deformers.js';
import {
  copyMeshData,
  copySizeOf,
  meshDataOfRuns,
  type Primitive,
  positionsOfRuns,
  runsOf,
  type TriangleRun,
} from './geometry.js';
import { GeometryTable } from './geometry-table.js';
import { PooledMesh, PooledUse } from './pooled-mesh.js';
import type { BuiltMesh, MeshUse, MeshUser } from './shared-mesh.js';

type Quality = NonNullable<AddMeshOptions['quality']>;

/** A build that is lost with its worker is started again, unless it seems to be what kills its workers. */
const MAX_ATTEMPTS = 3;

/** A geometry of at most this many numbers, a quarter of a megabyte, is copied at once; larger ones are copied in slices. */
const MAX_NUMBERS_AT_ONCE = 65_536;
/** Milliseconds of such a slice. */
const SLICE_MS = 4;

/** The meshes of a tracker. They are built in the background; meshes that are no longer used are removed by `sweepOne`. */
export class MeshPool {
  readonly #service: CollisionService;
  readonly #quality: Quality;
  readonly #onProgress: () => void;
  readonly #meshes = new Map<BufferGeometry, PooledMesh[]>();
  /** Meshes that have a user that is checked in every frame. */
  readonly #watched = new GeometryTable<PooledMesh>();
  /** All other meshes. */
  readonly #unwatched: PooledMesh[] = [];
  readonly #turns = new Turns();
  readonly #retired: MeshId[] = [];
  readonly #builds = new BuildQueue<PooledMesh, BuiltMesh | null>(
    (mesh) => this.#runBuild(mesh),
    (mesh, built) => this.#onBuilt(mesh, built),
  );
  /** Resolves when no large geometry is being copied any more. */
  #copying: Promise<unknown> = Promise.resolve();
  /** Triangles of all meshes, and how many of them are built. */
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
    const meshes = this.#meshes.get(geometry);
    let mesh = meshes?.find(
      (other) =>
        other.weld === weld &&
        other.primitive === primitive &&
        other.groups?.join() === groups?.join() &&
        areSameDeformers(other.deformers, deformers),
    );
    if (mesh === undefined) {
      mesh = new PooledMesh(geometry, groups, weld, primitive, deformers);
      this.#queueBuild(mesh); // throws if it is not a geometry
      // A push to an empty array reserves room for 17 elements, an array literal does not: there are thousands of these.
      if (meshes === undefined) this.#meshes.set(geometry, [mesh]);
      else meshes.push(mesh);
    }
    const use = new PooledUse(mesh, user);
    if (use.isWatching) mesh.watching++;
    this.#setWatched(mesh, mesh.watching > 0);
    return use;
  }

  release(given: MeshUse): void {
    const use = given as PooledUse;
    const { mesh } = use;
    if (!use.end()) return;
    if (use.isWatching) mesh.watching--;
    if (mesh.uses.length > 0) {
      this.#setWatched(mesh, mesh.watching > 0);
      return;
    }
    this.#setWatched(mesh, null);
    this.#updateProgress(mesh, 0, 0);
    mesh.removal.abort();
    if (mesh.built !== null) this.#retired.push(mesh.built.id);
    const meshes = this.#meshes.get(mesh.geometry)!;
    if (meshes.length === 1) this.#meshes.delete(mesh.geometry);
    else meshes.splice(meshes.indexOf(mesh), 1);
  }

  /** Makes a mesh be checked in every frame (true), in turn (false), or not at all (null). */
  #setWatched(mesh: PooledMesh, isWatched: boolean | null): void {
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

  /** Checks the meshes of users that are checked in every frame, and some of the others in turn. */
  refresh(): void {
    this.#watched.forEachOther(this.#reviewOne);
    this.#turns.take(this.#unwatched.length, (first, end) => {
      for (let i = first; i < end; i++) this.#review(this.#unwatched[i]);
    });
  }

  /** Checks the meshes of a geometry at once. */
  review(geometry: BufferGeometry): void {
    for (const mesh of this.#meshes.get(geometry) ?? []) this.#review(mesh);
  }

  readonly #reviewOne = (mesh: PooledMesh): void => this.#review(mesh);

  /** Moves the vertices if nothing else has changed, and rebuilds the mesh otherwise. */
  #review(mesh: PooledMesh): void {
    mesh.isMissed = mesh.isBuilding;
    if (mesh.isBuilding) return;
    try {
      if (!mesh.isUnread && mesh.isUnchanged) {
        if (mesh.deformers === RIGID) this.#watched.note(mesh); // the table would miss changes of deformers
        return;
      }
      if (!mesh.isUnread && mesh.built !== null && mesh.error === null && mesh.isMovable)
        this.#moveVertices(mesh, mesh.built);
      else this.#queueBuild(mesh);
      mesh.isUnread = false;
    } catch (cause) {
      if (mesh.isUnread && mesh.built === null) return; // its users are notified already
      mesh.isUnread = true;
      mesh.error = toBadData(cause);
      this.#replaceBuilt(mesh, null);
      for (const { user } of mesh.uses) user.onMeshChange();
    }
  }

  /** Makes up for the check that an `update` skipped because of a build under way: there may be no further `update`. */
  #reviewMissed(mesh: PooledMesh): void {
    if (mesh.isMissed && !mesh.removal.aborted) this.#review(mesh);
  }

  /** Whether there is a mesh that nobody uses any more. */
  get hasRetired(): boolean {
    return this.#retired.length > 0;
  }

  /** Removes a mesh that nobody uses any more; call it once the objects with this shape are removed. */
  sweepOne(): void {
    const id = this.#retired.pop();
    if (id !== undefined) this.#service.removeMesh(id);
  }

  /** Waits until every build that is under way or queued has ended. */
  built(): Promise<void> {
    return this.#builds.ended();
  }

  /** The fraction of all triangles that is built, 0 to 1. */
  get fraction(): number {
    return this.#triangles === 0 ? 1 : this.#builtTriangles / this.#triangles;
  }

  /** Moves the vertices of a mesh: the service's next frame sees them, and its objects stay. */
  #moveVertices(mesh: PooledMesh, built: BuiltMesh): void {
    this.#watched.forget(mesh);
    mesh.noteVersion();
    this.#builds.begin(mesh);
    const notifyUsers = (): void => {
      for (const { user } of mesh.uses) user.onMeshMove?.();
    };
    notifyUsers();
    this.#update(built).then((isMoved) => {
      this.#builds.end(mesh);
      notifyUsers();
      if (!isMoved) mesh.isMissed = mesh.isUnread = true; // so that it is built, and not moved again
      this.#reviewMissed(mesh);
    });
  }

  /** Sends the vertices; resolves with false if they cannot be moved: with one that is not finite, a build may still succeed. */
  async #update({ id, geometry, runs }: BuiltMesh): Promise<boolean> {
    try {
      await this.#service.updateMesh(id, positionsOfRuns(geometry, runs));
      return true;
    } catch {
      return false;
    }
  }

  /** Keeps the sums over all meshes up to date: each mesh reports its progress, which must not visit all the others. */
  #updateProgress(mesh: PooledMesh, triangles: number, fraction: number): void {
    if (mesh.removal.aborted) return;
    const builtTriangles = Math.floor(fraction * triangles); // whole ones add up exactly
    this.#triangles += triangles - mesh.triangles;
    this.#builtTriangles += builtTriangles - mesh.builtTriangles;
    mesh.triangles = triangles;
    mesh.builtTriangles = builtTriangles;
  }

  #queueBuild(mesh: PooledMesh): void {
    this.#watched.forget(mesh);
    mesh.noteVersion();
    this.#updateProgress(mesh, countTriangles(mesh), 0);
    this.#builds.add(mesh);
  }

  /** Retires the previous mesh in the same task in which its users are notified, however early a build fails. */
  #onBuilt(mesh: PooledMesh, built: BuiltMesh | null): void {
    this.#replaceBuilt(mesh, built);
    this.#updateProgress(mesh, mesh.triangles, 1);
    for (const { user } of mesh.uses) user.onMeshChange();
    this.#reviewMissed(mesh);
    this.#onProgress();
  }

  #replaceBuilt(mesh: PooledMesh, built: BuiltMesh | null): void {
    if (mesh.removal.aborted) {
      if (built !== null) this.#service.removeMesh(built.id);
      return;
    }
    if (mesh.built !== null) this.#retired.push(mesh.built.id);
    mesh.built = built;
  }

  /** Builds a mesh; resolves with null if that fails. Never rejects. */
  async #runBuild(mesh: PooledMesh): Promise<BuiltMesh | null> {
    const { geometry, weld, primitive, deformers } = mesh;
    const signal = mesh.removal;
    let built: BuiltMesh | null = null;
    let attempts = 0;
    if (signal.aborted) return null;
    do {
      mesh.error = null;
      try {
        let runs = this.#readRuns(mesh);
        let data: MeshData;
        const isLarge = copySizeOf(geometry, runs, primitive) > MAX_NUMBERS_AT_ONCE;
        if (isLarge) ({ data, runs } = await this.#copyInTurn(mesh));
        else
          data = { ...meshDataOfRuns(geometry, runs, primitive), ...runToEnd(copyDeform(geometry, runs, deformers)) };
        const { index } = geometry;
        const { triangles } = mesh;
        const id = await this.#service.addMesh(data, {
          signal: signal.asSignal,
          transfer: isLarge,
          weld,
          quality: primitive === 'triangles' ? this.#quality : 'good',
          onProgress: (fraction) => {
            this.#updateProgress(mesh, triangles, fraction);
            this.#onProgress();
          },
        });
        const morphs = data.morphs?.targets.length ?? 0;
        built = { id, geometry, index, runs, primitive, bones: data.skin?.boneCount ?? 0, morphs };
      } catch (cause) {
        mesh.error = toBadData(cause);
      }
    } while (mesh.error?.code === 'WORKER_LOST' && !signal.aborted && ++attempts < MAX_ATTEMPTS);
    return built;
  }

  /** Notes the state of a geometry right before it is read. Throws if it has no triangles. */
  #readRuns(mesh: PooledMesh): TriangleRun[] {
    const { geometry, groups, primitive } = mesh;
    mesh.noteVersion();
    const runs = runsOf(geometry, groups, primitive);
    this.#updateProgress(mesh, countRunTriangles(runs), 0);
    return runs;
  }

  /** Runs `#copy` after those before it, so that each slice has a task to itself. */
  async #copyInTurn(mesh: PooledMesh): Promise<CopiedMesh> {
    const previousCopy = this.#copying;
    const copy = (async () => {
      await previousCopy;
      return this.#copy(mesh);
    })();
    this.#copying = copy.catch(() => {});
    return copy;
  }

  /**
   * Copies a large geometry in slices, each in its own task. If the geometry changes meanwhile, the copy is discarded and
   * started again; one that keeps changing is copied at once.
   */
  async #copy(mesh: PooledMesh): Promise<CopiedMesh> {
    const signal = mesh.removal;
    for (let attempts = 1; ; attempts++) {
      const runs = this.#readRuns(mesh);
      const copy = copyAll(mesh, runs);
      let isSame = true;
      for (let deadline = 0; isSame; ) {
        const { done, value } = copy.next();
        if (done) return { data: value, runs };
        if (attempts === MAX_ATTEMPTS || performance.now() < deadline) continue;
        await nextTask();
        if (signal.aborted) throw new CollisionError('ABORTED', 'trackScene: nobody needs the geometry any more');
        isSame = mesh.isUnchanged;
        deadline = performance.now() + SLICE_MS;
      }
    }
  }
}

/** Arrays of our own, and the triangles of the geometry that they hold. */
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

/** Runs all steps at once. */
function runToEnd<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function toBadData(cause: unknown): CollisionError {
  return CollisionError.is(cause) ? cause : new CollisionError('BAD_DATA', reasonOf(cause), { cause });
}

/** Counts the triangles of a build that is about to begin; the previous count if they cannot be counted. */
function countTriangles({ geometry, groups, primitive, triangles }: PooledMesh): number {
  try {
    return countRunTriangles(runsOf(geometry, groups, primitive));
  } catch {
    return triangles; // the build reports what is wrong
  }
}

function countRunTriangles(runs: readonly TriangleRun[]): number {
  return runs.reduce((sum, run) => sum + (run.end - run.start) / 3, 0);
}

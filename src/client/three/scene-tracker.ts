import { type Camera, type Intersection, type Object3D, Vector4 } from 'three';
import { CollisionError } from '../../shared/errors.js';
import type { Hit, ObjectId, PickOptions } from '../../shared/types.js';
import type { CollisionService } from '../service.js';
import { intersectionOf } from './intersection.js';
import { LatestOnly } from './latest-only.js';
import { SentMatrices } from './matrices.js';
import { MeshPool } from './mesh-pool.js';
import { SceneFrame } from './scene-frame.js';
import { type SceneObject, SceneObjects } from './scene-objects.js';
import { SceneWalk } from './scene-walk.js';
import { SideIndex, type SideQuery } from './side-index.js';
import type { TrackOptions } from './track-scene.js';
import { isAboutOneObject } from './tracked-object.js';
import { type ViewSize, viewFromCamera } from './view.js';

/** As the service's, with objects of the scene instead of ids. */
export interface ScenePickOptions extends Pick<PickOptions, 'precision' | 'signal' | 'latest'> {
  /** Default: the layers of the camera. */
  layers?: number;
  /** Objects that are not there for this pick. */
  ignore?: readonly Object3D[];
  /** Default: the side of each object's own material. */
  side?: 'front' | 'back' | 'double';
}

/**
 * Keeps a service in step with the Meshes and InstancedMeshes under a root. Made by `trackScene`.
 *
 * - What is invisible, by itself or by an ancestor, is not there: neither seen nor hit nor touched. Its ids stay.
 *   So is what has a scale of zero. A material that is not `visible` only keeps its object out of the views, for
 *   three's Raycaster hits it, too. `layers` are the object's.
 * - Geometries are built in the background, once for all objects that share them, and again when the version of their
 *   index, the number of their vertices, the draw range or the groups change; until then the old triangles answer. When
 *   only the version of their positions changes, the very update moves the vertices (`updateMesh` of the service).
 *   Morphs are not followed.
 */
export class SceneTracker {
  readonly #service: CollisionService;
  readonly #root: Object3D;
  readonly #view: string;
  readonly #updatesMatrices: boolean;
  readonly #meshes: MeshPool;
  readonly #walk: SceneWalk;
  readonly #objects = new SceneObjects();
  readonly #sides = new SideIndex(() => this.#walk.entries);
  /** Where the rays of the camera of the last update start, or with w = 0 the direction of all of them. */
  readonly #eye = new Vector4();
  #cameraLayers = 0;
  readonly #latestPick = new LatestOnly();
  readonly #latestPickAll = new LatestOnly();
  #hasView = false;
  #isDisposed = false;

  private constructor(service: CollisionService, root: Object3D, options: TrackOptions) {
    this.#service = service;
    this.#root = root;
    this.#view = options.view ?? 'main';
    this.#updatesMatrices = options.updateMatrixWorld ?? true;
    this.#meshes = new MeshPool(service, () => options.onProgress?.(this.#meshes.fraction));
    this.#walk = new SceneWalk(
      root,
      { service, meshes: this.#meshes, objects: this.#objects, sides: this.#sides, sent: new SentMatrices() },
      {
        shape: (object) => options.shapeOf?.(object) ?? null,
        options: (object) => options.objectOptions?.(object) ?? {},
      },
    );
  }

  /** `trackScene`. */
  static async track(service: CollisionService, root: Object3D, options: TrackOptions): Promise<SceneTracker> {
    const { signal } = options;
    const tracker = new SceneTracker(service, root, options);
    const abort = (): void => tracker.dispose();
    signal?.addEventListener('abort', abort);
    try {
      if (signal?.aborted !== true) {
        tracker.#sync();
        await tracker.#meshes.built();
      }
      if (signal?.aborted === true) {
        throw new CollisionError('ABORTED', 'trackScene: the signal was aborted', { cause: signal.reason });
      }
      tracker.#sync();
      for (const { error } of tracker.#walk.entries) {
        if (error !== null && !isAboutOneObject(error)) throw error;
      }
      return tracker;
    } catch (error) {
      tracker.dispose();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Objects whose triangles are still being built, or whose moved vertices the service has not answered for yet. */
  get pending(): Object3D[] {
    return this.#walk.entries.filter((entry) => entry.pending).map((entry) => entry.object);
  }

  /**
   * Objects under the root that the service does not know, and why: UNSUPPORTED for what is drawn but is no Mesh or
   * InstancedMesh (SkinnedMesh, BatchedMesh, lines, points, sprites), else the error of its geometry or options.
   */
  get untracked(): Map<Object3D, CollisionError> {
    const untracked = new Map<Object3D, CollisionError>();
    for (const { object, error } of this.#walk.entries) {
      if (error !== null) untracked.set(object, error);
    }
    return untracked;
  }

  /**
   * Sends what changed in the scene, and the camera; answers what it sees and what touches. Call it once a frame,
   * where you call `render`; awaiting it is not needed for the next.
   */
  async update(camera: Camera, size: ViewSize): Promise<SceneFrame> {
    this.#assertLive('update');
    this.#sync();
    const view = viewFromCamera(camera, size);
    this.#service.setView(view, this.#view);
    this.#hasView = true;
    this.#cameraLayers = camera.layers.mask >>> 0;
    const { elements } = camera.matrixWorld;
    // The projection's bottom row tells whether lines of sight meet in the eye or run along its axis.
    if (view.projection[15] === 0) this.#eye.set(elements[12], elements[13], elements[14], 1);
    else this.#eye.set(-elements[8], -elements[9], -elements[10], 0);

    const result = await this.#service.update();
    for (const id of result.rejected) {
      const rejected = this.#objects.get(id);
      rejected?.part.owner.reject(rejected.instanceId ?? 0);
    }
    return new SceneFrame(result, this.#objects, this.#view);
  }

  /**
   * What lies under a point of the last `update`'s view, in CSS pixels from its upper left corner; null for nothing.
   * The answer is the one of three's Raycaster, and like there, faces are hit from the sides that their material shows.
   *
   * ```ts
   * const hit = await tracker.pick(event.offsetX, event.offsetY, { latest: true });
   * if (hit) console.log(hit.object.name, hit.distance, hit.point);
   * ```
   */
  async pick(x: number, y: number, options: ScenePickOptions = {}): Promise<Intersection | null> {
    this.#assertLive('pick');
    const eye = this.#eye.clone();
    const layers = options.layers ?? this.#cameraLayers;
    const strangers: ObjectId[] = [];
    return this.#latestPick.guard(options, (signal) =>
      this.#objects.during(async (number) => {
        for (;;) {
          const queries = this.#queries(options, layers, signal, strangers);
          const hit = nearest(await Promise.all(queries.map((query) => this.#service.pick(x, y, query))));
          if (hit === null) return null;
          const placement = this.#objects.find(hit.object);
          if (placement !== undefined) return intersectionOf(hit, placement, placement.part.seenBy(number), eye);
          strangers.push(hit.object); // of somebody else in the same service: look past it
        }
      }),
    );
  }

  /** All that lies under a point, nearest first; as `pick` in everything else. */
  async pickAll(x: number, y: number, options: ScenePickOptions = {}): Promise<Intersection[]> {
    this.#assertLive('pickAll');
    const eye = this.#eye.clone();
    return this.#latestPickAll.guard(options, (signal) =>
      this.#objects.during(async (number) => {
        const queries = this.#queries(options, options.layers ?? this.#cameraLayers, signal);
        const hits = await Promise.all(queries.map((query) => this.#service.pickAll(x, y, query)));
        const ordered = hits.flat().sort((a, b) => a.distance - b.distance);
        return ordered.flatMap((hit) => {
          const placement = this.#objects.find(hit.object);
          // What is somebody else's in the same service is not of this scene.
          return placement === undefined ? [] : intersectionOf(hit, placement, placement.part.seenBy(number), eye);
        });
      }),
    );
  }

  /** The service's ids of an object, for an InstancedMesh in the order of its instances; none until it is built. */
  idsOf(object: Object3D): Uint32Array {
    return this.#walk.entryOf(object)?.parts[0]?.ids.slice() ?? new Uint32Array(0);
  }

  /** The object of one of the service's ids. Throws UNKNOWN_ID if it is not in the scene. */
  objectOf(id: ObjectId): SceneObject {
    const found = this.#objects.get(id);
    if (found === undefined) {
      throw new CollisionError('UNKNOWN_ID', `objectOf: id is ${id}, expected one of an object in the scene`);
    }
    return found;
  }

  /** Removes from the service what this tracker added. The scene stays as it is. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    try {
      this.#walk.clear();
      this.#meshes.sweep();
      if (this.#hasView) this.#service.removeView(this.#view);
    } catch (error) {
      // With the service itself, everything is gone already.
      if (!(error instanceof CollisionError && error.code === 'DISPOSED')) throw error;
    }
  }

  /** Brings the service's objects in line with the scene. */
  #sync(): void {
    if (this.#updatesMatrices) {
      this.#root.parent?.updateWorldMatrix(true, false);
      this.#root.updateMatrixWorld(this.#root.parent !== null);
    }
    this.#meshes.refresh();
    this.#walk.update();
    this.#meshes.sweep();
  }

  /** The picks of the service that together see every object from the sides that it shows. */
  #queries(
    { side, precision, ignore: unseen = [] }: ScenePickOptions,
    layers: number,
    signal: AbortSignal | undefined,
    strangers: readonly ObjectId[] = [],
  ): PickOptions[] {
    const queries: readonly SideQuery[] = side === undefined ? this.#sides.queries : [{ side, ignore: [] }];
    const ignore = unseen.flatMap((object) => this.#allIdsOf(object)).concat(strangers);
    return queries.map((query) => ({
      view: this.#view,
      layers,
      side: query.side,
      ignore: ignore.length === 0 ? query.ignore : [...query.ignore, ...ignore],
      ...(precision && { precision }),
      ...(signal && { signal }),
    }));
  }

  #allIdsOf(object: Object3D): ObjectId[] {
    return this.#walk.entryOf(object)?.parts.flatMap((part) => [...part.ids]) ?? [];
  }

  #assertLive(operation: string): void {
    if (this.#isDisposed) {
      throw new CollisionError('DISPOSED', `${operation}: the tracker is disposed, expected one in use`);
    }
  }
}

function nearest(hits: readonly (Hit | null)[]): Hit | null {
  let best: Hit | null = null;
  for (const hit of hits) {
    if (hit !== null && (best === null || hit.distance < best.distance)) best = hit;
  }
  return best;
}

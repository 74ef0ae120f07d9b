import { type CollisionService, createCollisionService } from 'collision-worker';
import {
  boxFromGeometry,
  type SceneFrame,
  type SceneTracker,
  trackScene,
  viewFromCamera,
} from 'collision-worker/three';
import type { Intersection, Object3D } from 'three';
import type { Engine, Viewer } from './engine.js';
import type { Meter } from './meter.js';
import { Outcome } from './outcome.js';
import type { World } from './world.js';

/** The worker does the work; the main thread sends matrices and reads answers. */
export class WorkerEngine implements Engine {
  readonly outcome = new Outcome();
  readonly #service: CollisionService;
  readonly #tracker: SceneTracker;
  readonly #world: World;
  readonly #meter: Meter;
  readonly #onError: (error: unknown) => void;

  static async create(
    world: World,
    meter: Meter,
    onProgress: (fraction: number) => void,
    onError: (error: unknown) => void,
  ): Promise<WorkerEngine> {
    // #region code
    const service = await createCollisionService();
    const tracker = await trackScene(service, world.root, {
      updateMatrixWorld: true, // the tracker updates before three renders
      onProgress,
      shapeOf: (object) => (object === world.boxes ? boxFromGeometry(object.geometry) : undefined),
      contacts: 'any',
      objectOptions: (object) => ({ motion: object === world.dragons[0] ? 'static' : 'moving' }),
    });
    // #endregion
    return new WorkerEngine(service, tracker, world, meter, onError);
  }

  private constructor(
    service: CollisionService,
    tracker: SceneTracker,
    world: World,
    meter: Meter,
    onError: (error: unknown) => void,
  ) {
    this.#service = service;
    this.#tracker = tracker;
    this.#world = world;
    this.#meter = meter;
    this.#onError = onError;
  }

  step({ camera, culler, size }: Viewer): void {
    const isFrozen = culler !== camera;
    if (isFrozen) this.#service.setView(viewFromCamera(culler, size), 'frozen');
    // #region code
    this.#tracker
      .update(camera, size)
      .then((frame) => this.#meter.measure('collide', () => this.#read(frame, isFrozen ? 'frozen' : 'main')))
      .catch(this.#onError);
    // #endregion
  }

  pick(x: number, y: number, latest: boolean): Promise<Intersection | null> {
    // #region code
    return this.#tracker.pick(x, y, { latest });
    // #endregion
  }

  #read(frame: SceneFrame, view: string): void {
    const { outcome } = this;
    const { boxes } = this.#world;
    const dragons: readonly Object3D[] = this.#world.dragons;
    outcome.clear();
    frame.forEachVisible(({ object, instanceId }) => {
      if (object === boxes) outcome.visible[outcome.visibleCount++] = instanceId!;
      else outcome.visibleDragons[dragons.indexOf(object)] = true;
    }, view);
    frame.forEachContact((a, b) => {
      for (const { object, instanceId } of [a, b]) {
        if (object === boxes) outcome.touching[instanceId!] = 1;
        else outcome.touchingDragons[dragons.indexOf(object)] = true;
      }
    });
    outcome.pairs = frame.result.contacts.count;
    outcome.workerMs = frame.result.ms.total;
  }
}

import {
  type CollisionService,
  createCollisionService,
  type FrameResult,
  type MeshData,
  type ObjectOptions,
  type ViewOptions,
} from 'collision-worker';
import type { Contender, SelfTimedContender } from './harness.js';

export const OURS = 'collision-worker';

/** Many objects of one shape in a service, as in an app: the measured path is the one that apps call. */
export class Scene {
  readonly service: CollisionService;
  readonly ids: Uint32Array;
  readonly #indices: Map<number, number>;

  /** Creates unit boxes of which only pairs are requested. `options` override that. */
  static async ofBoxes(count: number, options: Partial<ObjectOptions> = {}): Promise<Scene> {
    const service = await createCollisionService();
    const shape = { type: 'box', halfExtents: [0.5, 0.5, 0.5] } as const;
    return new Scene(service, service.addInstances({ shape, contacts: 'any', ...options }, count));
  }

  /** Creates the same for one mesh. */
  static async ofMeshes(count: number, data: MeshData, options: Partial<ObjectOptions> = {}): Promise<Scene> {
    const service = await createCollisionService();
    const shape = { type: 'mesh', mesh: await service.addMesh(data) } as const;
    return new Scene(service, service.addInstances({ shape, contacts: 'any', ...options }, count));
  }

  private constructor(service: CollisionService, ids: Uint32Array) {
    this.service = service;
    this.ids = ids;
    this.#indices = new Map(Array.from(ids, (id, i) => [id, i]));
  }

  indexOf(id: number): number {
    return this.#indices.get(id)!;
  }

  setTransforms(ids: Uint32Array, matrices: Float32Array): void {
    this.service.setTransforms(ids, matrices);
  }

  setView(view: ViewOptions): void {
    this.service.setView(view);
  }

  /** The result is valid until the next call. */
  update(): Promise<FrameResult> {
    return this.service.update();
  }

  close(): void {
    this.service.dispose();
  }
}

/** A contender that is timed here although it awaits answers; the time includes messages. */
export function timeAwaited(
  contender: Omit<Contender, 'run'> & { run(round: number): Promise<void> },
): SelfTimedContender {
  const { run, ...rest } = contender;
  return {
    ...rest,
    async measure(round) {
      const start = performance.now();
      await run(round);
      return performance.now() - start;
    },
  };
}

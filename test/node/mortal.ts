import { type CollisionService, type CollisionServiceOptions, createCollisionService } from 'collision-worker';
import { onTestFinished } from 'vitest';
import { HeldWorker } from './held-worker.js';

/** A service of which the worker can be killed. */
export class Mortal {
  readonly workers: HeldWorker[] = [];
  readonly events: string[] = [];
  service!: CollisionService;

  static async create(options: CollisionServiceOptions = {}): Promise<Mortal> {
    const mortal = new Mortal();
    const createWorker = () => {
      mortal.workers.push(new HeldWorker());
      return mortal.workers.at(-1)!;
    };
    mortal.service = await createCollisionService({ createWorker, builders: 0, ...options });
    for (const type of ['lost', 'restored'] as const) {
      mortal.service.addEventListener(type, () => mortal.events.push(type));
    }
    onTestFinished(() => mortal.service.dispose());
    return mortal;
  }

  /** Resolves when the next worker knows all. */
  async kill(): Promise<void> {
    const restored = new Promise((resolve) => this.service.addEventListener('restored', resolve, { once: true }));
    await this.workers.at(-1)!.worker.terminate();
    await restored;
  }
}

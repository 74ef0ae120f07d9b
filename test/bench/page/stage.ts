import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { PerspectiveCamera, Scene } from 'three';
import type { PageFact } from './page-row.js';
import { beginTrace, type LongestTask } from './probes.js';
import { SIZE } from './streamed.js';

/** Maximum milliseconds of one task. */
const MAX_TASK_MS = 8;

/** A tracked scene in which large objects are added, changed and removed. */
export class Stage {
  readonly facts: PageFact[] = [];
  readonly scene: Scene;
  readonly tracker: SceneTracker;
  readonly service: Awaited<ReturnType<typeof createCollisionService>>;
  readonly #camera = new PerspectiveCamera();

  static async open(): Promise<Stage> {
    const service = await createCollisionService();
    const scene = new Scene();
    scene.updateMatrixWorld();
    return new Stage(service, scene, await trackScene(service, scene));
  }

  private constructor(service: Stage['service'], scene: Scene, tracker: SceneTracker) {
    this.service = service;
    this.scene = scene;
    this.tracker = tracker;
  }

  /** Runs a frame; returns how many milliseconds `update` took. */
  async frame(): Promise<number> {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    this.tracker.update(this.#camera, SIZE);
    return performance.now() - start;
  }

  /**
   * Records the longest task from the beginning of `action` until everything is done: by wall-clock time, by CPU time, and by CPU
   * time without garbage collection. Returns the milliseconds until then.
   */
  async during(description: string, action: () => void, isDone: () => boolean): Promise<number> {
    await this.frame();
    await window.heapBytes(); // excludes the scene's own garbage
    await beginTrace();
    for (let i = 0; i < 2; i++) await this.frame(); // so that no slices are due from the time of the two calls above
    const start = performance.now();
    action();
    for (let frames = 0; frames === 0 || !isDone(); frames++) await this.frame();
    const ms = performance.now() - start;
    await new Promise(requestAnimationFrame);
    this.facts.push(...factsOf(await window.longestTask(), ` while ${description}`));
    return ms;
  }

  get isQuiet(): boolean {
    return this.tracker.pending.length === 0;
  }

  close(): void {
    this.tracker.dispose();
    this.service.dispose();
  }
}

/** Returns figures of the longest task: the bound is on what users of a page notice, the others tell our share of it. */
export function factsOf({ wall, cpu, ours }: LongestTask, suffix = ''): PageFact[] {
  return [
    { name: `longest task${suffix}`, value: wall, unit: 'ms', atMost: MAX_TASK_MS },
    { name: `longest task on the processor${suffix}`, value: cpu, unit: 'ms' },
    { name: `longest task on the processor without the collection of garbage${suffix}`, value: ours, unit: 'ms' },
  ];
}

import { createCollisionService } from 'collision-worker';
import { type SceneTracker, trackScene } from 'collision-worker/three';
import { PerspectiveCamera, Scene } from 'three';
import type { PageFact } from './page-row.js';
import { beginTrace, type LongestTask } from './probes.js';
import { SIZE } from './streamed.js';

/** Milliseconds of one task. */
const MOST_MS = 8;

/** A tracked scene, in which something large comes, changes and goes. */
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

  /** A frame; answers how many milliseconds `update` took. */
  async frame(): Promise<number> {
    await new Promise(requestAnimationFrame);
    const start = performance.now();
    this.tracker.update(this.#camera, SIZE);
    return performance.now() - start;
  }

  /**
   * Notes the longest task from what `act` does until all is done: by the wall, on the processor, and there without
   * the collection of garbage. Answers the milliseconds until then.
   */
  async during(what: string, act: () => void, isDone: () => boolean): Promise<number> {
    await this.frame();
    await window.heapBytes(); // the garbage of the scene is not ours
    await beginTrace();
    for (let i = 0; i < 2; i++) await this.frame(); // no turns are due from the time that these two took
    const start = performance.now();
    act();
    for (let frames = 0; frames === 0 || !isDone(); frames++) await this.frame();
    const ms = performance.now() - start;
    await new Promise(requestAnimationFrame);
    this.facts.push(...factsOf(await window.longestTask(), ` while ${what}`));
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

/** Says what is known of the longest task: the bound is of what a page feels, the others say what of it is ours. */
export function factsOf({ wall, cpu, ours }: LongestTask, when = ''): PageFact[] {
  return [
    { name: `longest task${when}`, value: wall, unit: 'ms', atMost: MOST_MS },
    { name: `longest task on the processor${when}`, value: cpu, unit: 'ms' },
    { name: `longest task on the processor without the collection of garbage${when}`, value: ours, unit: 'ms' },
  ];
}

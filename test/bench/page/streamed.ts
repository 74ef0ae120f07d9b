import { type CollisionService, createCollisionService } from 'collision-worker';
import { type SceneFrame, type SceneTracker, type TrackOptions, trackScene } from 'collision-worker/three';
import { type Object3D, PerspectiveCamera } from 'three';
import * as layout from '../../../src/shared/layout.js';
import { framesOf } from './length.js';
import { meanOfFastest } from './page-row.js';

export const FRAMES_A_ROUND = framesOf(30);
/** Half a minute's frames: code that runs once per frame is then compiled, as in a page that has been running for a while. */
const WARM_UP_FRAMES = 1800;
export const SIZE = { width: 1600, height: 900 };

/** A scene with its service, and the time that they take on the main thread. */
export class StreamedScene {
  service!: CollisionService;
  tracker!: SceneTracker;
  camera = new PerspectiveCamera(55, SIZE.width / SIZE.height, 0.1, 1000);
  /** Content of the last frame that was recorded. */
  recorded = { objects: 0, sum: 0 };
  #isRecording = false;
  #receiveMs = 0;
  #startTime = 0;
  #resolveAnswer: (() => void) | undefined;

  static async of(root: Object3D, options: TrackOptions = {}): Promise<StreamedScene> {
    const streamed = new StreamedScene();
    let worker: Worker | undefined;
    streamed.service = await createCollisionService({
      builders: 0,
      createWorker: () => {
        worker = new Worker(new URL('../../../dist/worker.js', import.meta.url), { type: 'module' });
        streamed.#watch(worker);
        return worker;
      },
    });
    // Runs after all other listeners: the microtasks queued by earlier ones have run by now.
    worker!.addEventListener('message', () => {
      streamed.#receiveMs += performance.now() - streamed.#startTime;
      streamed.#resolveAnswer?.();
    });
    streamed.tracker = await trackScene(streamed.service, root, {
      shapeOf: () => ({ type: 'box', halfExtents: [0.5, 0.5, 0.5] }),
      ...options,
    });
    streamed.camera.position.z = 60;
    return streamed;
  }

  /** Runs frames in sequence until everything is compiled. */
  async warmUp(move: (frame: number) => void, frames = WARM_UP_FRAMES): Promise<void> {
    for (let frame = 0; frame < framesOf(frames); frame++) {
      move(frame);
      await this.share();
    }
  }

  update(): Promise<SceneFrame> {
    return this.tracker.update(this.camera, SIZE);
  }

  /**
   * Returns the main thread's milliseconds for a frame: from the call until its messages are sent, and for handling the answer.
   */
  async share(): Promise<number> {
    this.#receiveMs = 0;
    const start = performance.now();
    const frame = this.update();
    const sendMs = performance.now() - start;
    // Continues from the last listener instead of the frame's answer, so that the listeners' time excludes the code below.
    await new Promise<void>((resolve) => {
      this.#resolveAnswer = resolve;
    });
    await frame;
    return sendMs + this.#receiveMs;
  }

  /** Runs a frame, and returns what was sent for it. */
  async record(): Promise<{ objects: number; sum: number }> {
    this.#isRecording = true;
    await this.update();
    this.#isRecording = false;
    return this.recorded;
  }

  close(): void {
    this.tracker.dispose();
    this.service.dispose();
  }

  #watch(worker: Worker): void {
    const send = worker.postMessage.bind(worker) as (message: unknown, transfer: Transferable[]) => void;
    worker.postMessage = (message: { input?: ArrayBuffer }, transfer?: unknown) => {
      if (this.#isRecording && message.input) this.recorded = readFrame(message.input);
      send(message, transfer as Transferable[]);
    };
    worker.addEventListener('message', () => {
      this.#startTime = performance.now();
    });
  }
}

/** Returns the number of transforms in a frame, and the sum of their numbers. */
function readFrame(input: ArrayBuffer): { objects: number; sum: number } {
  const u32 = new Uint32Array(input);
  const word = (at: number) => u32[at / 4];
  let objects = word(layout.IN_TRANSFORM_COUNT);
  let sum = 0;
  for (const each of new Float64Array(input, word(layout.IN_MATRICES), 12 * objects)) sum += each;
  let block = word(layout.IN_BLOCKS);
  for (let n = word(layout.IN_BLOCK_COUNT); n > 0; n--) {
    const count = word(block + layout.BLOCK_COUNT);
    const numbers = new Float32Array(input, word(block + layout.BLOCK_MATRICES), 16 * count);
    objects += count;
    sum += sumOf(numbers);
    block = word(block + layout.BLOCK_NEXT);
  }
  return { objects, sum };
}

/** Sums up matrices without the bottom row. */
export function sumOf(numbers: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) if (i % 4 !== 3) sum += numbers[i];
  return sum;
}

/**
 * Times `work` in each frame of a round, after `move`, at the screen's refresh rate, as in a page. Between two frames the CPU's
 * caches lose much of their content, of all contenders alike: in a tight loop, one `set` takes half as long.
 */
export async function roundOf(
  round: number,
  move: (frame: number) => void,
  work: () => number | Promise<number>,
): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < FRAMES_A_ROUND; i++) {
    await new Promise(requestAnimationFrame);
    move(round * FRAMES_A_ROUND + i);
    samples.push(await work());
  }
  return meanOfFastest(samples);
}

export function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
